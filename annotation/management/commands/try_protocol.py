"""`manage.py try_protocol FILE --benchmark NAME --json`: show what a protocol file would do, storing nothing."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management.named import named
from annotation.measures.declared import agreement_in_words
from annotation.protocol_files import rehearsal
from annotation.protocol_files.drafts import starting_text
from annotation.protocols import item_data, library
from annotation.protocols.reading import read_protocol
from annotation.protocols.registry import VERSION_SIGN
from annotation.protocols.roles import CannotMap, read_roles, with_roles
from annotation.protocols.schema import ProtocolFile
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.management.files import write_result
from benchmarks.models import Benchmark


class Command(BaseCommand):
    help = (
        "Check a protocol file, render its screens, walk through its answers, and let simulated annotators answer. "
        "Nothing is stored. The exit code is 1 if there are problems."
    )

    def add_arguments(self, parser):
        parser.add_argument("protocol", help="the path of a file, a library protocol, or a published version (NAME@2)")
        parser.add_argument("--benchmark", help="the benchmark's name or number; default: items made up to suit")
        parser.add_argument("--roles", default="", metavar="ROLE=NAME,…", help="the benchmark's names for roles")
        parser.add_argument("--items", type=int, default=10, help="items to try (10)")
        parser.add_argument("--people", type=int, default=5, help="simulated annotators (5)")
        parser.add_argument("--json", action="store_true", help="print all results as JSON")

    def handle(self, *, protocol, benchmark, roles, items, people, **options):
        if min(items, people) < 1:
            raise CommandError("Use at least 1 item and 1 annotator.")
        source = named(Benchmark.objects.all(), benchmark) if benchmark else None
        log = ProblemLog()
        result: dict[str, Any] = {"protocol": None, "problems": []}
        try:
            text = _text(protocol, log)
            file = read_protocol(text, protocol, log)
        except Unreadable:
            result["problems"] = [
                {"code": one.code, "line": one.row, "key": one.column, "advice": one.advice} for one in log.problems
            ]
        else:
            file = _mapped(file, roles)
            found = rehearsal.rehearse(text, file, source, items, people)
            problems = _problems(found)
            needed = [one for one in problems if one["code"] != "NO_ATTRIBUTE" or one["attribute"] in _needed(file)]
            notes = [one for one in problems if one not in needed]
            result = {"problems": needed, "notes": notes, **rehearsal.as_json(file, source, people, found)}
        write_result(result, written, options["json"], self.stdout)
        if count := len(result["problems"]):
            raise CommandError(f"{count} problem{'s' * (count != 1)}.")


def _text(given: str, log: ProblemLog) -> str:
    """Return the protocol's text. Raises Unreadable."""
    if VERSION_SIGN in given:
        try:
            return starting_text(given)
        except KeyError:
            log.error("NO_SUCH_PROTOCOL", given, None, "", "That version has not been published.")
            raise Unreadable from None
    return library.text_of_named_or_file(given, log)


def _mapped(file: ProtocolFile, roles: str) -> ProtocolFile:
    """Return the file with the benchmark's names for its roles."""
    try:
        return with_roles(file, *read_roles(roles, [file]))
    except CannotMap as refusal:
        raise CommandError(f"--roles {refusal}") from None


def _needed(file: ProtocolFile) -> set[str | None]:
    """Return the attributes that a rule or an answer depends on; others only give further statistics."""
    named = {getattr(one, name, None) for one in (*file.decide, *file.answers) for name in ("over", "parents")}
    return named | {*item_data.columns(file)}


def _problems(found: rehearsal.Rehearsal) -> list[dict[str, Any]]:
    """Yield what keeps a study from using the file with these items."""
    lost = [
        _problem("ANSWER_LOST", "answers", f"This is a bug in Winnow, please report it: {one}.")
        for one in found.failures[:20]
    ]
    unpainted = [
        _problem("NOT_PAINTED", "screen", f"A browser cannot show item {key}: it {lacks}. Require 1 or more of its  "
                 "roles, or ask about other roles.")
        for lacks, key in found.unpainted.items()
    ]  # fmt: skip
    unsuitable = [
        _problem("UNSUITABLE_ITEMS", "item", f"{count} items do not suit: the file needs {lacks}. Change `item`, or "
                 "leave these items out: a study needs every item to suit.")
        for lacks, count in found.unsuitable.most_common(20)
    ]  # fmt: skip
    unsaid = [
        _problem("NO_ATTRIBUTE", "item.attributes", f"No tried item or part has {name}. Import items with  "
                 "this attribute, or remove it here.", attribute=name)
        for name in found.no_attribute
    ]  # fmt: skip
    none = [] if found.items or found.unsuitable else [_problem("NO_ITEMS", "", "The benchmark has no items.")]
    return [*lost, *unpainted, *unsuitable, *unsaid, *none]


def _problem(code: str, key: str, advice: str, **more: str) -> dict[str, Any]:
    return {"code": code, "line": None, "key": key, **more, "advice": advice}


def written(result: dict[str, Any]) -> str:
    lines = [
        " · ".join(filter(None, [one["code"], one["line"] and f"line {one['line']}", one["key"], one["advice"]]))
        for one in result["problems"]
    ]
    if result["protocol"] is None:
        return "\n".join(lines)
    lines += [f"Note: {one['advice']}" for one in result["notes"]]
    crowd, walked = result["crowd"], "all" if result["all_answers_walked"] else "a sample"
    made = result["tasks"] + result["tasks_left_out"]
    tried = f", of which {result['tasks']} are tried: all would take too long" if result["tasks_left_out"] else ""
    lines += [
        f"{result['items']} items make {made:,} tasks{tried}; {result['screens_rendered']} screens rendered",
        f"{result['answers_walked']:,} answers walked through ({walked}); each is read back as it was given"
        if not any(one["code"] == "ANSWER_LOST" for one in result["problems"])
        else f"{result['answers_walked']:,} answers walked through ({walked})",
        f"{crowd['people']} simulated annotators, {crowd['judgments']} judgments: {crowd['kept']} tasks kept, "
        f"{sum(crowd['dropped'].values())} dropped, {crowd['open']} open",
        *(f"  dropped, {reason.replace('_', ' ')}: {count}" for reason, count in crowd["dropped"].items()),
    ]
    lines += agreement_in_words(result["agreement"], digits=2)
    lines += [f"Unreachable, line {one['line']}, {one['key']}: {one['advice']}" for one in result["unreachable"]]
    return "\n".join(lines)
