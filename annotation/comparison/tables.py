"""The tables on the page about a benchmark's models and humans."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html

from annotation.comparison.paired import Row as PairedRow
from annotation.comparison.paired import rows_of
from annotation.comparison.table import HUMANS, RESULT, Entry, Gap, Row, Section, chances, entries_in, read_alike
from annotation.templatetags.figures import decimals, exact_percent, exact_to_percent, points
from benchmarks.models import Benchmark, Run
from benchmarks.predictions.names import MeasureName
from benchmarks.tables import NOTHING, Column, Table, bdi, exact, number, only_in_file, with_sub

WIDE = 0.5  # a wider interval doesn't even show on which side of one half the share is
MARKS = {1: "<b>{}</b>", 2: "<u>{}</u>"}  # for the best and the second best


@dataclass(frozen=True, slots=True)
class Deletes:
    """The user who requests a benchmark's page, and which of its runs they may delete."""

    request: HttpRequest
    benchmark: Benchmark
    runs: Collection[int]

    def cell(self, row: Row) -> str:
        if row.entry.run not in self.runs:
            return ""
        shown = {"entry": row.entry, "benchmark": self.benchmark}
        return render_to_string("comparison/_run_delete.html", shown, self.request)


def by_measure(
    sections: Sequence[Section], columns: Sequence[MeasureName], label: str, deletes: Deletes | None = None,
    items: int = 0,
) -> Table:  # fmt: skip
    """People and models, and chance of models in the foot. With `deletes`: of the whole benchmark and all its `items`,
    with n and sources; without, by type.
    """
    whole = deletes is not None

    def named(row: Row) -> object:
        some = row.entry.stands not in (HUMANS, RESULT) and row.n is not None and row.n < items
        answered = some and f"answered {row.n:,} of {items:,} items"
        return with_sub(titled(row.entry), whole and row.entry.source and bdi(row.entry.source), answered)

    telling = 1 < len(columns) == len({one.long for one in columns})  # a value that several columns share is useless
    heads = [
        number(
            with_sub(one.short, telling and one.long), html=lambda row, at=at: _cell(row, at, row.n if whole else -1)
        )
        for at, one in enumerate(columns)
    ]
    counts = [number("n", "n"), *([left_out("entry.read_alike")] if read_alike(sections) else [])] if whole else []
    acts = [Column("delete", html=deletes.cell, quiet_head=True)] if deletes and deletes.runs else []
    shown = [Column("who", html=named), *counts, *heads, *acts]
    foot = [
        [name, *[""] * len(counts), *(exact(level, exact_percent) for level in levels), *[""] * len(acts)]
        for name, levels in chances(entries_in(sections), columns)
    ]
    caption = "People and models, and chance at the bottom"
    groups = [(section.title, section.rows) for section in sections]
    return Table("", shown, sections=groups, foot=foot, label=label, caption=caption, css="figures models", cards=True)


def left_out(of: str) -> Column:
    """Return how many items are left out of n because the model reads their captions alike."""
    return number("read alike", of, "{:,}".format, name="read_alike")


def titled(entry: Entry) -> object:
    return format_html("{}{}", bdi(entry.title), "†" if entry.reported else "")


def _cell(row: Row, at: int, n: int | None) -> object:
    """Return a share, marked if best or second-best, with its interval, and its n if that is not `n`. Shares have as
    many decimals as in papers.
    """
    cell = row.cells[at]
    share = exact(cell.share, exact_percent)
    share = format_html(MARKS[cell.rank], share) if cell.rank in MARKS else share
    if cell.low is None or cell.high is None:
        return share
    if cell.high - cell.low > WIDE:
        return with_sub(share, f"n {cell.n:,}", "too few")
    return with_sub(share, exact_to_percent(cell.low, cell.high), cell.n != n and f"n {cell.n:,}")


def difference(value: float, low: float | None, high: float | None, *further: object) -> object:
    """Return a difference in points, with any interval below it, and further notes."""
    ends = low is not None and format_html("{} to {}", exact(low, points), exact(high, points))
    return with_sub(exact(value, points), ends, *further)


def gaps(
    groups: Iterable[tuple[str, Sequence[tuple[Entry, Sequence[Gap | None]]]]], columns: Sequence[MeasureName]
) -> Table:
    def shown(gap: Gap | None) -> object:
        counts = gap and gap.n and "n {:,} and {:,}".format(*gap.n)
        return NOTHING if gap is None else difference(gap.value, gap.low, gap.high, counts)

    heads = [number(one.short, html=lambda row, at=at: shown(row[1][at])) for at, one in enumerate(columns)]
    return Table(
        "", [Column("model", html=lambda row: titled(row[0])), *heads], sections=list(groups), label="gap-title",
        caption="People − model, unpaired, in percentage points", css="figures models", cards=True,
    )  # fmt: skip


def correlated(pairs: Sequence[Sequence], here: MeasureName, there: MeasureName) -> Table:
    def rank(place: float) -> str:
        return f"{place:g}"

    columns = [
        Column("model", "0", bdi),
        number(f"{here.short} here", "1", exact_percent), number("rank", "2", rank),
        number(f"{there.short} there", "3", exact_percent), number("rank", "4", rank),
    ]  # fmt: skip
    return Table("", columns, pairs, label="ranks-title")


def item_by_item(runs: Sequence[Run], rows: Sequence[PairedRow], request: HttpRequest) -> Table:
    """Compare two runs; the file also has every type and subtype, with shares in 0–1 and differences in -1–1."""
    first, second = runs

    def shown(row: PairedRow) -> object:
        return difference(row.found.difference, row.found.low, row.found.high)

    def p(row: PairedRow) -> str:
        written = "< 0.001" if row.found.p < 0.001 else decimals(row.found.p, 3)
        return written if row.found.exact else f"{written} *"

    def file_only(name: str, value: object) -> Column:
        return Column(name, lambda row: value, name=name, page=False)

    columns = [
        file_only("first_model", first.title), file_only("second_model", second.title), *only_in_file("type"),
        Column("subtype", lambda row: row.subtype or "", name="subtype", page=False),
        Column("measure", "measure", html=lambda row: f"{row.short}{' ↓' if row.lower else ''}"),
        number("items", "found.n", name="n"),
        number(bdi(first.title), "found.first", exact_percent, name="first"),
        number(bdi(second.title), "found.second", exact_percent, name="second"),
        number("difference in points", "found.difference", html=shown, name="difference"),
        *(Column(end, f"found.{end}", name=end, page=False) for end in ("low", "high")),
        number("only the first is right", "found.only_first", name="only_first"),
        number("only the second is right", "found.only_second", name="only_second"),
        number("p", "found.p", html=p, name="p"),
        Column("groups", "found.groups", name="groups", page=False),
        Column("test", lambda row: "mcnemar_exact" if row.found.exact else "permutation", name="test", page=False),
    ]  # fmt: skip
    return Table(
        "paired-models", columns, rows, label="paired-title", css="figures models", request=request, download=True,
        empty="These models have not answered any items in common.", file_rows=lambda: rows_of(runs, by_type=True),
    )  # fmt: skip
