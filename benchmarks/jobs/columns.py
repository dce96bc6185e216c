"""The page for columns' meanings, after a job has read only the first rows of a table and guessed them.

Each room that reads tables has a page for its kind of job (`page_of`): the choices, the possible meanings of a column,
and the first rows read accordingly. The page's form sends the order again, with the choices in place of a mapping.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.http import QueryDict

from benchmarks.audit import named
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.own import rows
from benchmarks.formats.own.answer_columns import AnswerMapping
from benchmarks.formats.own.choices import Choice
from benchmarks.formats.own.mapping import NotAMapping, Row, as_text, cell, members
from benchmarks.jobs import jobs, uploads
from benchmarks.jobs.kept_forms import KeptFilesForm
from benchmarks.models import Benchmark, Item, Job
from benchmarks.records import Origin, Refused

ROWS, VALUES = 8, 12  # first rows kept; values kept of a column, to assign their meanings
EXAMPLES, MEMBERS = 3, 3  # shown for a column, and for a list in a cell
LONGEST = 120  # characters of a value shown
OTHER = "+"  # instead of a role: use the one typed beside it
FIRST = 6  # answers, and problems, shown
_SAME = (  # ways to write an answer, or whether a model was right, if both occur
    {"yes", "true", "t", "y", "1", "right"},
    {"no", "false", "f", "n", "0", "wrong"},
)


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a column of answers that is not one of the answer's own: `meant` is the one it stands for, or ""."""

    what: str
    value: str
    meant: str
    known: tuple[str, ...]


@dataclass(slots=True)
class Page:
    """`whats`: a column's possible meanings; `roles`: suggestions, if choices have a role; `template` shows the first
    rows read so, `first` under `title`, and `problems`. `mapped`: further selects; `checks`: the job can check only.
    """

    choices: Sequence[Choice]
    whats: Mapping[str, str]
    template: str
    title: str
    first: Sequence[Any] = ()
    problems: list[str] = field(default_factory=list)
    roles: Sequence[str] = ()
    values: Sequence[Value] = ()
    mapped: Sequence[Mapping[str, Any]] = ()
    checks: bool = False


PAGES: dict[str, Callable[[Job, QueryDict | None], Page]] = {}
FIELDS: dict[str, Sequence[str]] = {}  # of the form, by kind of job
Found = TypeVar("Found", bound=AnswerMapping)


def page_of(kind: str, *fields: str) -> Callable[[Callable], Callable]:
    """Register the function that makes the page for that kind of job, from the job and any form data. `fields`: those
    of the order's form."""
    FIELDS[kind] = [name for name in fields if name not in ("look", "check_only")]
    return lambda make: PAGES.setdefault(kind, make)


# What a job reports


def first_rows(path: Path, log: ProblemLog) -> tuple[list[str], list[Row]]:
    """Return the columns and first rows of a table. Raises Refused if there are none."""
    try:
        sample = rows.sampled(path, log)
    except Unreadable:
        raise Refused(log.problems, log.count, log.kinds) from None
    return rows.columns(sample), [*sample]


def keys_of(benchmark: Benchmark) -> frozenset[str]:
    """Return the ids of its items, to recognise the column of ids."""
    return frozenset(benchmark.items.values_list("key", flat=True))


def looked(file: str, names: Iterable[str], sample: Sequence[Row], mapping: Mapping[str, Any]) -> dict[str, Any]:
    columns = [{"name": name, "examples": examples(name, sample), "values": _values(name, sample)} for name in names]
    return {"file": file, "columns": columns, "mapping": dict(mapping), "rows": [*_kept(sample)]}


def examples(place: str, sample: Iterable[Row]) -> list[str]:
    """Return the first values; for a list, its first members and their number."""
    shown = (_shown(value) for row in sample if (value := cell(row, place)) is not None)
    return list(dict.fromkeys(shown))[:EXAMPLES]


def _shown(value: object) -> str:
    found = [_short(as_text(one)) for one in members(value)]
    more = f" · … ({len(found)})" if len(found) > MEMBERS else ""
    return " · ".join(found[:MEMBERS]) + more if found else _short(as_text(value))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _values(name: str, sample: Iterable[Row]) -> list[str]:
    """Return all values of a column that has few."""
    found = list(dict.fromkeys(as_text(one).strip() for row in sample for one in members(cell(row, name))))
    return found if len(found) <= VALUES and all(len(one) <= LONGEST for one in found) else []


def _kept(sample: Sequence[Row]) -> Iterator[Row]:
    """Yield the first rows, as far as they are small enough for a report."""
    room = 100_000
    for row in sample[:ROWS]:
        room -= len(json.dumps(row))
        if room < 0:
            return
        yield row


def rows_of(job: Job) -> list[tuple[Origin, Row]]:
    """Return the first rows from a job's report."""
    return [(Origin(job.report["file"], number), row) for number, row in enumerate(job.report["rows"], 1)]


# Its page


def columns_page(job: Job, sent: QueryDict | None = None) -> dict[str, Any]:
    """Return the page for the template, with a row for each choice. `sent`: the form's data."""
    page = PAGES[job.kind](job, sent)
    known = {one["name"]: one["examples"] for one in job.report["columns"]}
    shown = [
        {"choice": one, "name": one.place, "own": one.role if one.role not in page.roles else "",
         "examples": known[one.place] if one.place in known else examples(one.place, job.report["rows"])}
        for one in page.choices
    ]  # fmt: skip
    whats = {**page.whats, **{one.what: one.what for one in page.choices if one.what not in page.whats}}
    return {"of": page, "rows": shown, "whats": whats}


def sent_again(job: Job) -> list[tuple[str, str]]:
    """Return the fields of a job's order as hidden fields, except whether to look or only check."""
    params = {**job.params, **job.params.get("options", {})}
    params |= dict(zip(("first_origin", "second_origin"), params.get("origins") or (), strict=False))
    given = [(name, "on" if params[name] is True else params[name]) for name in FIELDS[job.kind] if params.get(name)]
    return [*given, *((f"{name}_kept", id) for name, ids in params.get("kept", {}).items() for id in ids)]


def choices_in(sent: Any) -> list[Choice]:
    """Read the form's choice for each column."""
    places, whats, roles, own = (sent.getlist(name) for name in ("place", "what", "role", "own_role"))
    roles = [other if role == OTHER else role for role, other in zip_longest(roles, own, fillvalue="")]
    return [Choice(*one) for one in zip(places, whats, roles or [""] * len(places), strict=False)]


def values_in(sent: Any) -> list[tuple[str, str, str]]:
    """Read the form's values: answer, value in the file, and the answer's own value."""
    return [*zip(*(sent.getlist(name) for name in ("value_of", "value", "meant")), strict=False)]


def answers_page(
    job: Job, sent: QueryDict | None, kind: type[Found], whats: Mapping[str, str], known: Mapping[str, tuple[str, ...]]
) -> tuple[Page, Found | None]:
    """Return the page for a table of answers, and the mapping, if the choices make one. `known`: each answer's own
    values, if it has any, by the possible meanings of a column."""
    report = job.report
    names = [one["name"] for one in report["columns"]]
    guessed = kind.from_json(report["mapping"], whole=False)
    choices = choices_in(sent) if sent is not None else guessed.by_column(names)
    said = {(what, value): meant for what, value, meant in values_in(sent or QueryDict())}
    of_column = {one["name"]: one["values"] for one in report["columns"]}
    values = [
        Value(one.what, value, said.get((one.what, value), _like(value, own)), own)
        for one in choices
        for own in [known.get(one.what, ())]
        for value in of_column.get(one.place, ())
        if own and not _is_among(value, own)
    ]
    page = Page(choices, whats, "jobs/_first_answers.html", "The first answers would be")
    page.values = list(dict.fromkeys(values))
    try:
        return page, kind.chosen(choices, [(one.what, one.value, one.meant) for one in values])
    except NotAMapping as error:
        page.problems.append(str(error))
        return page, None


def _is_among(value: str, known: Sequence[str]) -> bool:
    with suppress(ValueError):  # 2.0 is the point 2
        return f"{float(value):g}" in known
    return value in known


def _like(value: str, known: Sequence[str]) -> str:
    """Return the answer's value that is spelt like this one, or ""."""
    word = value.casefold()
    same = [{*one} - {"right"} if "wrong" not in known else one for one in _SAME]  # right may be a side too
    return next((one for one in known if one.casefold() == word or any({one, word} <= alike for alike in same)), "")


def show_first(page: Page, job: Job, answers: Iterable[tuple[str, str, str]], log: ProblemLog) -> None:
    """Put the first answers on the page (item, annotator and answer), and the rows' first problems."""
    first = list(islice(answers, FIRST))
    keys = {item for item, _, _ in first}
    there = {*Item.objects.filter(benchmark=job.params["benchmark"], key__in=keys).values_list("key", flat=True)}
    page.first = [{"item": item, "annotator": who, "said": said, "is_known": item in there}
                  for item, who, said in first]  # fmt: skip
    told = (f"{one.column}: {one.advice}" if one.column else one.advice for one in log.problems)
    page.problems += list(dict.fromkeys(told))[:FIRST]


# Its form


class AnswersForm(KeptFilesForm):
    """An order with one or more tables of answers. `mapped`: the kind of mapping for its columns."""

    mapped: type[AnswerMapping]

    def clean(self) -> None:
        super().clean()
        try:
            if found := choices_in(self.data):
                mapping = self.mapped.chosen(found, values_in(self.data))
                self.cleaned_data["mapping"] = json.dumps(mapping.as_json(), ensure_ascii=False)
        except NotAMapping as error:
            self.add_error("mapping", str(error))


def queue_answers(
    user: User, benchmark: Benchmark, form: AnswersForm, queue: Callable[..., Job], looks_first: bool = False
) -> Job:
    """Keep the files of a valid form and `queue` their import. `looks_first`: without a mapping, read only the first
    rows of a table, unless it does not need one. Raises CannotKeep or NoRoom."""
    with uploads.arriving() as folder:
        _, kept = form.keep(user, folder, replaces=looks_first)
    return queue(
        benchmark=benchmark, order=form.order, by=named(user), created_by=user, upload=str(folder), kept=kept,
        files=[folder / "files" / one.name for one in form.cleaned_data["files"]],
        looks_first=looks_first and not form.order.mapping,
    )  # fmt: skip


def queue_files(
    kind: str, title: str, *, benchmark: Benchmark, order: Any, files: Sequence[Path], by: str, created_by=None, **more
) -> Job:
    """Create the job of a checked order about files of answers. `more`: params of some jobs, such as `upload`, a folder
    to delete when the job has ended, `kept`, ids of the linked uploads by field, and `foreground`."""
    params = {"benchmark": benchmark.pk, "files": [str(file) for file in files], "by": by, **asdict(order)}
    params |= {"upload": None, "foreground": False, "looks_first": False, **more}
    return jobs.queue_job(kind=kind, title=title, params=params, by=by, created_by=created_by)
