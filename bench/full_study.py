"""A pipeline of 500 items, from drawn scenes to an export whose figures are computed again.

    python -m bench.full_study [--items 500] [--annotators 10]

Ten simulated annotators with 10 % errors work through its selecting stages over HTTP; then disambiguation is closed, so
that the baseline's sample is drawn, and ten more come for that. The split is exported twice. The two must have the same
bytes, and figures.json must agree with the product's second computation to 1e-9.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from bench import scratch, throughput

STUDY = "Demo: drawn scenes"


def seconds(what: str, began: float) -> None:
    print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)


def truth_kept(split: Path) -> tuple[int, int]:
    """(kept items whose chosen image is a right one, kept items)."""
    from benchmarks.models import Item

    kept = [json.loads(line) for line in (split / "items.jsonl").read_text().splitlines()]
    truth = {item.key: item.truth["bivlc-choose"] for item in Item.objects.all()}
    chosen = [(row["id"], next(image["key"] for image in row["images"] if image["chosen"])) for row in kept]
    return sum(image in truth[item] for item, image in chosen), len(kept)


def close_selection() -> None:
    from annotation.models import Stage
    from annotation.studies.lifecycle import move_stage

    for stage in Stage.objects.filter(name__in=["choose", "disambiguate"], state="open"):
        move_stage(stage=stage, to="closed", by="measure")


def run(items: int, annotators: int) -> bool:
    with scratch.winnow() as var:
        from django.core.management import call_command

        from annotation.releases.verification.differences import differences
        from config import preparation
        from tests.independent.recomputed import figures as told
        from tests.independent.recomputed import recompute

        preparation.collect_static()
        began = time.monotonic()
        call_command("create_demo", items=items, verbosity=0)
        seconds(f"{items} items drawn and imported", began)
        with throughput.web_server(var) as port:
            for _ in range(2):
                url = f"http://127.0.0.1:{port}"
                call_command("simulate", STUDY, annotators=annotators, error_rate=0.1, url=url)
                close_selection()
        splits = [var / "one", var / "two"]
        for split in splits:
            began = time.monotonic()
            call_command("export_split", STUDY, out=split)
            seconds("exported", began)
        figures = json.loads((splits[0] / "figures.json").read_text())
        found = differences(recompute(splits[0]), told(splits[0]))
        same = all(file.read_bytes() == (splits[1] / file.name).read_bytes() for file in splits[0].iterdir())
        right, kept = truth_kept(splits[0])
        print(
            json.dumps({name: figures["funnel"][name] for name in ("imported", "kept", "dropped", "open", "reasons")})
        )
        for stage in figures["stages"]:
            print(json.dumps([stage["progress"], [(a["on"], a["percent"], a["alpha"]) for a in stage["agreement"]]]))
    print("\n".join(found))
    print(
        f"{len(found)} figures differ by more than 1e-9; the two exports have {'the same' if same else 'OTHER'} bytes"
    )
    print(f"{right} of {kept} kept items have a right image")
    return not found and same


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--items", type=int, default=500)
    options.add_argument("--annotators", type=int, default=10)
    given = options.parse_args()
    return 0 if run(given.items, given.annotators) else 1


if __name__ == "__main__":
    sys.exit(main())
