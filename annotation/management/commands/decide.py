"""`manage.py decide --protocol NAME_OR_FILE --ratings FILE.csv --json`: a protocol's decisions on given ratings."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from annotation.management.ratings_file import read_or_refuse
from annotation.measures.declared import agreement, decided
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN
from annotation.protocols.declared import library
from annotation.protocols.declared.ratings import read_rated


class Command(BaseCommand):
    help = "Apply a protocol's decision rules to the ratings in a CSV file: item, annotator, and a column per answer."

    def add_arguments(self, parser):
        parser.add_argument("--protocol", required=True, help="a protocol of the library, or the path of a file")
        parser.add_argument("--ratings", type=Path, required=True, help="the CSV file of ratings")
        parser.add_argument("--items", action="store_true", help="list each item with its decision too")
        parser.add_argument("--json", action="store_true", help="print all results as JSON")

    def handle(self, *, protocol, ratings, items, **options):
        said = read_or_refuse(lambda log: library.named_or_file(protocol, log), self.stdout)
        rows = read_or_refuse(lambda log: read_rated(ratings, said, log), self.stdout)
        found = decided(said, rows)
        states = Counter(one.state for one in found.values())
        result: dict[str, Any] = {
            "protocol": said.name,
            "items": len(found),
            "kept": states[KEPT],
            "dropped": dict(sorted(Counter(one.reason for one in found.values() if one.state == DROPPED).items())),
            "open": states[OPEN],
            "agreement": agreement(said, [(row.item, row.annotator, row.label) for row in rows]),
        }
        if items:
            result["decisions"] = {
                item: {"state": one.state, "outcome": one.outcome, "reason": one.reason} for item, one in found.items()
            }
        self.stdout.write(json.dumps(result, ensure_ascii=False, indent=2) if options["json"] else written(result))


def written(result: dict) -> str:
    dropped = sum(result["dropped"].values())
    lines = [f"{result['items']:,} items: {result['kept']:,} kept, {dropped:,} dropped, {result['open']:,} open"]
    lines += [f"  dropped, {reason.replace('_', ' ')}: {count:,}" for reason, count in result["dropped"].items()]
    for answer, figures in result["agreement"].items():
        said = [f"{name} {value:.4f}" for name, value in figures.items() if isinstance(value, float)]
        lines.append(f"{answer} ({figures['level']}): {', '.join(said) or 'no agreement is defined'}")
    for item, one in result.get("decisions", {}).items():
        lines.append(f"{item}: {one['state']} {one['outcome']} {one['reason']}".rstrip())
    return "\n".join(lines)
