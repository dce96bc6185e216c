"""`manage.py decide --protocol NAME_OR_FILE --ratings FILE --json`: a protocol's decisions on given ratings.

`manage.py decide --export DIR_OR_ZIP`: decide the judgments of an export or release by its protocol files.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management import rating_files
from annotation.measures.declared import agreement, agreement_in_words, decided, rated_scores, scores_in_words
from annotation.protocols import library
from annotation.protocols.base import Attributes
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN
from annotation.protocols.ratings import Rated, read_rated
from annotation.protocols.schema import ProtocolFile
from annotation.releases.archive_reader import Files, NotARelease
from annotation.releases.judged_stages import JudgedStage, judged_stages
from benchmarks.formats.own.ratings import ALL, FIRST, LAST, REFUSE
from benchmarks.management.files import read_or_refuse, write_result

_BOTH_OR_EXPORT = "Give --protocol and --ratings, or --export."


class Command(BaseCommand):
    help = (
        "Apply a protocol's decision rules to a file of ratings (any table; a mapping gives each column's meaning), "
        "or decide the judgments of an export or release by its own protocol files."
    )
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("--protocol", help="a library protocol, or the path of a file")
        parser.add_argument("--ratings", type=Path, help="the file of ratings")
        rating_files.add_options(parser)
        parser.add_argument(
            "--repeated",
            choices=[REFUSE, FIRST, LAST, ALL],
            default=REFUSE,
            help="if an annotator rated an item twice: refuse the file, count one rating, or count each",
        )
        parser.add_argument("--export", type=Path, help="the folder or .zip of an export or a release, instead of both")
        parser.add_argument("--items", action="store_true", help="also list each item with its decision")
        parser.add_argument("--json", action="store_true", help="print all results as JSON")

    def handle(self, *, protocol, ratings, export, items, repeated, mapping, look, skip_incomplete, **options):
        if bool(export) == bool(protocol or ratings) or bool(protocol) != bool(ratings):
            raise CommandError(_BOTH_OR_EXPORT)
        if export:
            self._print_stages(self._stages(export), items, options["json"])
            return
        said = read_or_refuse(lambda log: library.named_or_file(protocol, log), self.stdout)
        if look:
            rating_files.look(ratings, self.stdout, [one.name for one in said.answers])
            return
        how = rating_files.mapping_in(mapping)
        read = partial(read_rated, ratings, said, mapping=how, repeated=repeated)
        given = read_or_refuse(lambda log: read(log=log), self.stdout, self.stderr, skip_incomplete)
        result = _result(given.with_attributes(said), given.rows, items, attributes=given.attributes)
        write_result(result, written, options["json"], self.stdout)

    def _stages(self, export: Path) -> list[JudgedStage]:
        try:
            with Files(export) as files:
                found = read_or_refuse(lambda log: judged_stages(files, log), self.stdout)
        except NotARelease as why:
            raise CommandError(str(why)) from None
        if not found:
            raise CommandError("None of its stages uses a protocol file.")
        return found

    def _print_stages(self, stages: Sequence[JudgedStage], items: bool, as_json: bool) -> None:
        found = {stage.name: _result(stage.file, stage.rows, items, stage.wanted, stage.attributes) for stage in stages}
        write_result({"stages": found}, written_stages, as_json, self.stdout)


def _result(
    protocol: ProtocolFile,
    rows: Sequence[Rated],
    items: bool,
    wanted: Mapping[str, int] = MappingProxyType({}),
    attributes: Mapping[str, Attributes] = MappingProxyType({}),
) -> dict[str, Any]:
    found = decided(protocol, rows, wanted, attributes)
    states = Counter(one.state for one in found.values())
    given = Counter(row.task for row in rows)
    short = Counter(
        (needs, has) for item, has in given.items() if has < (needs := wanted.get(item, protocol.judgments))
    )
    result: dict[str, Any] = {
        "protocol": protocol.name,
        "items": len(found),
        "kept": states[KEPT],
        "dropped": dict(sorted(Counter(one.reason for one in found.values() if one.state == DROPPED).items())),
        "open": states[OPEN],
        "too_few_judgments": [
            {"needs": needs, "has": has, "items": count} for (needs, has), count in sorted(short.items())
        ],
        "scores": rated_scores(protocol, rows, found, attributes),
        "agreement": agreement(protocol, [(row.task, row.annotator, row.label) for row in rows]),
    }
    if items:
        result["decisions"] = {
            item: {"state": one.state, "outcome": one.outcome, "reason": one.reason} for item, one in found.items()
        }
    return result


def written_stages(result: dict) -> str:
    stages = result["stages"].items()
    return "\n".join(f"{name} ({found['protocol']})\n{written(found)}" for name, found in stages)


def written(result: dict) -> str:
    dropped = sum(result["dropped"].values())
    lines = [f"{result['items']:,} items: {result['kept']:,} kept, {dropped:,} dropped, {result['open']:,} open"]
    lines += [f"  dropped, {reason.replace('_', ' ')}: {count:,}" for reason, count in result["dropped"].items()]
    lines += [
        f"  open, needs {one['needs']} judgments and has {one['has']}: {one['items']:,}"
        for one in result["too_few_judgments"]
    ]
    lines += scores_in_words(result["scores"], digits=4)
    lines += agreement_in_words(result["agreement"], digits=4)
    for item, one in result.get("decisions", {}).items():
        lines.append(f"{item}: {one['state']} {one['outcome']} {one['reason']}".rstrip())
    return "\n".join(lines)
