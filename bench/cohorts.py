"""Which made-up annotators the signs recognise, and how often honest ones show one.

    python -m bench.cohorts                               (about a quarter of an hour)
    python -m bench.cohorts --studies 5 --judgments 50

Studies of twelve annotators (tests/builders/cohorts.py: six honest, two fast and honest, one of each other habit; at
last ten honest and two fast and honest) are written into a PostgreSQL of its own and computed as the pages do. `to look
at` is a sign that is not about speed alone.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence

from bench import scratch


def rows(studies: int, judgments: int, overlap: int, who: Sequence[str]) -> dict[str, list[set[str]]]:
    """By cohort: the kinds of signs that each of its annotators shows."""
    from annotation.figures.annotators import annotators
    from tests.builders import cohorts

    found = defaultdict(list)
    for seed in range(1, studies + 1):
        stage, named = cohorts.study(who, judgments, overlap, seed)
        for row in annotators(stage)["whole"]:
            found[named[row["number"]]].append({sign["kind"] for sign in row["signs"]})
    return found


def table(found: dict[str, list[set[str]]]) -> list[str]:
    """In Markdown: the share of each cohort that shows each sign."""
    from annotation.measures import warning_signs

    kinds = [kind for kind in warning_signs.KINDS if kind not in ("comprehension", "training")]
    head = ["cohort", "n", "to look at", *kinds]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for cohort, shown in found.items():
        counts = Counter(kind for one in shown for kind in one)
        looked = sum(warning_signs.concern_answers(one) for one in shown)
        shares = [looked, *(counts[kind] for kind in kinds)]
        lines.append(f"| {cohort} | {len(shown)} | {' | '.join(f'{100 * n / len(shown):.1f} %' for n in shares)} |")
    return lines


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--studies", type=int, default=40)
    reader.add_argument("--judgments", type=int, nargs="+", default=[25, 50, 100])
    reader.add_argument("--overlap", type=int, nargs="+", default=[3, 2])
    asked = reader.parse_args()
    with scratch.winnow(durable=False):
        from tests.builders.cohorts import HONEST, TWELVE

        sizes = [(overlap, judgments, TWELVE) for overlap in asked.overlap for judgments in asked.judgments]
        for overlap, judgments, who in [*sizes, (asked.overlap[0], asked.judgments[-1], HONEST)]:
            print(f"\n{asked.studies} studies, about {judgments} judgments each, overlap {overlap}\n")
            print("\n".join(table(rows(asked.studies, judgments, overlap, who))), flush=True)


if __name__ == "__main__":
    main()
