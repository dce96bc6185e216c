"""Print the tables, which bench/coverage/__init__.py describes."""

import argparse
import sys
import time

import bench.coverage
from bench.coverage import adaptive, agreement, human_baseline, judges, rare, scores, signs, speed, strata

PARTS = {
    "baseline": human_baseline,
    "agreement": agreement,
    "strata": strata,
    "judges": judges,
    "rare": rare,
    "adaptive": adaptive,
    "scores": scores,
    "signs": signs,
    "speed": speed,
}


def main(argv: list[str]) -> None:
    options = argparse.ArgumentParser(
        prog="python -m bench.coverage",
        description=bench.coverage.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("parts", nargs="*", metavar="part", help=f"one or more of {', '.join(PARTS)}; all by default")
    options.add_argument("--studies", type=int, default=1000, help="studies per cell")
    asked = options.parse_args(argv)
    if unknown := set(asked.parts) - set(PARTS):
        options.error(f"unknown part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    if asked.studies < 1:
        options.error("--studies must be 1 or more")
    for name in asked.parts or PARTS:
        begun = time.monotonic()
        print(f"\n{name}, {asked.studies:,} studies a cell\n")
        print(_line(PARTS[name].HEADS), _line("---" for _ in PARTS[name].HEADS), sep="\n", flush=True)
        for row in PARTS[name].rows(asked.studies):
            print(_line(row), flush=True)
        print(f"\n{time.monotonic() - begun:.0f} s", flush=True)


def _line(cells) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main(sys.argv[1:])
