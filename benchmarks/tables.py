"""Tables, each declared once as columns: the page, its cards on phones, the printed report and the CSV file.

A table is a line for each column and rows, which may be mappings, objects, sequences or a query:

    PEOPLE = [
        Column("annotator", "name", link),
        number("judgments", "judgments", unit="judgments"),
        number("agreement", "same.share", percent),
        Column("last answer", "last_at", moment),
        Column("release the place", html=release_form, quiet_head=True),
    ]
    people = Table(
        "people", PEOPLE, rows, caption="Annotators", cards=True, request=request, per_page=50, download=True,
        empty="Nobody has joined yet.", advice="Send the link to the first annotators.", button=("Invite", address),
    )
    return page_or_csv(request, "dashboard/people.html", {"people": people})

Its template is `{{ people }}`. `value` is what sorting and the file use from a row: the path of a field
(`same.share`), or a function of the row; `write` formats that value for the page, and `html` makes the whole cell from
the row. A column without `value` is only on the page. Without `request` there are no links, and rows keep their order.
A name that a row lacks raises an error, so that a misspelt column does not look like an empty one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date
from functools import cached_property
from itertools import groupby
from types import MethodType
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import F, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from benchmarks.formats import csv_text

NOTHING = "–"

Path = str | Callable[[Any], Any]
Text = str | Promise


@dataclass(frozen=True, slots=True)
class Column:
    """`name`: in files and addresses; by default the path of its value. `unit`: text after the cell in a card on
    phones, instead of the head before it. `sort`: the sort key, if not the value, or False. `page`: False if it is only
    in the file. `quiet_head`: only for screen readers. `group`: the head above it and its neighbours. `title`: the
    meaning of the head, shown on hovering.
    """

    head: Text
    value: Path | None = None
    write: Callable[[Any], object] | None = None
    html: Callable[[Any], object] | None = None
    number: bool = False
    name: str = ""
    unit: Text | None = None
    css: str = ""
    sort: Path | bool = True
    page: bool = True
    quiet_head: bool = False
    group: Text = ""
    title: Text = ""

    @property
    def key(self) -> str:
        return self.name or (self.value if isinstance(self.value, str) else "")

    @property
    def order(self) -> Path | None:
        return (self.value if self.sort is True else self.sort or None) if self.key else None

    @property
    def classes(self) -> str:
        return f"number {self.css}".strip() if self.number else self.css

    def cell(self, row: Any) -> object:
        if self.html:
            return self.html(row)
        return "" if self.value is None else self.written(found(row, self.value))

    def written(self, value: Any) -> object:
        if self.write:
            return exact(value, self.write) if isinstance(value, float) else self.write(value)
        if value is None:
            return NOTHING if self.number else ""
        return f"{value:,}" if self.number and isinstance(value, int) else value


def number(head: Text, value: Path | None = None, write: Callable[[Any], object] | None = None, **more: Any) -> Column:
    """Make a column of numbers, aligned to the right."""
    return Column(head, value, write, number=True, **more)


def exact(value: float | None, write: Callable[[Any], object]) -> object:
    """Write a number, with all of its digits in a `data` element."""
    shown = write(value)
    if value is None or isinstance(shown, SafeString):
        return shown
    return format_html('<data value="{}">{}</data>', repr(float(value)), shown)


def bdi(text: object) -> SafeString:
    """Isolate a text from outside, whatever its direction."""
    return format_html('<bdi dir="auto">{}</bdi>', text)


def with_sub(cell: object, *below: object) -> SafeString:
    """Add quiet lines below a cell; empty ones are left out."""
    lines = ((one,) for one in below if one)
    return format_html("{}{}", cell, format_html_join("", '<span class="sub">{}</span>', lines))


def only_in_file(*paths: str) -> list[Column]:
    return [Column(path, path, page=False) for path in paths]


def found(row: Any, path: Path) -> Any:
    """Return the value at a path (`same.share`, `0.name`) of a mapping, object or sequence; after None it is None."""
    if callable(path):
        return path(row)
    for name in path.split("."):
        if row is None:
            return None
        row = row[name] if isinstance(row, Mapping) else row[int(name)] if name.isdigit() else getattr(row, name)
        if isinstance(row, MethodType):
            row = row()
    return row


@dataclass
class Table:
    """Put it into a template as it is. `name`: its id, and its part of the address. `label`: the id of the heading that
    names it; without one, its `caption` does.
    """

    name: str
    columns: Iterable[Column]
    rows: Any = ()
    _: KW_ONLY
    caption: Text = ""
    label: str = ""
    css: str = "figures"
    shown_caption: bool = False
    cards: bool = False  # on phones, each row a card; otherwise the table scrolls sideways
    head: bool = True
    row_head: bool = True  # a row's first cell names it
    row_css: Callable[[Any], str] | None = None
    row_id: Callable[[Any], str] | None = None
    beneath: Callable[[Any], object] | None = None  # shown below a row, across all columns, if not empty
    sections: Sequence[tuple[object, Sequence[Any]]] = ()  # titles and their rows, instead of `rows`
    foot: Sequence[Sequence[object]] = ()  # rows of values, one for each column of the page
    empty: Text = ""  # shown instead of a table without rows, with advice and a button
    advice: Text = ""
    button: tuple[Text, str] | None = None
    request: HttpRequest | None = None  # its query has the sorting and the page
    order: str = ""  # default sorting: `-name`
    per_page: int = 0
    download: bool = False  # a link to the CSV file, which `page_or_csv` answers
    file_rows: Callable[[], Iterable[Any]] | None = None  # the file's rows, if different from the page's

    def __post_init__(self) -> None:
        self.columns = list(self.columns)
        self.rows = self.rows if isinstance(self.rows, Sequence | QuerySet) else list(self.rows)

    def __html__(self) -> SafeString:
        return render_to_string("components/table.html", {"table": self})

    __str__ = __html__

    def __bool__(self) -> bool:
        return bool(self.sections or (self.paged.paginator.count if self.paged else self.ordered))

    # Order and pages

    @cached_property
    def sorted_by(self) -> tuple[Column | None, bool]:
        """Return the column, and whether the largest come first."""
        wanted = (self.request.GET.get(f"{self.name}-sort") if self.request else None) or self.order
        sortable = {column.key: column for column in self.columns if self._sortable(column)}
        return sortable.get(wanted.removeprefix("-")), wanted.startswith("-")

    def _sortable(self, column: Column) -> bool:
        """Return whether it can be sorted; a query sorts only by its fields."""
        return isinstance(column.order, str) or bool(column.order and not isinstance(self.rows, QuerySet))

    @cached_property
    def ordered(self) -> Any:
        return self._in_order(self.rows)

    def _in_order(self, rows: Any) -> Any:
        """Sort the rows; unknown values come last in either order."""
        column, down = self.sorted_by
        if not column or not (path := column.order):
            return rows
        if isinstance(rows, QuerySet):
            by = F(str(path).replace(".", "__"))
            return rows.order_by(by.desc(nulls_last=True) if down else by.asc(nulls_last=True), "pk")
        keyed = [(found(row, path), row) for row in rows]
        known = [(key.casefold() if isinstance(key, str) else key, row) for key, row in keyed if key is not None]
        known.sort(key=lambda pair: pair[0], reverse=down)
        return [row for _, row in known] + [row for key, row in keyed if key is None]

    @cached_property
    def paged(self) -> "Page[Any] | None":
        if not self.per_page or self.sections:
            return None
        wanted = self.request.GET.get(f"{self.name}-page") if self.request else None
        return Paginator(self.ordered, self.per_page).get_page(wanted)

    def _link(self, key: str, value: object) -> str:
        """Return the page's URL with that value. Another order starts at the first page."""
        query = self.request.GET.copy() if self.request else QueryDict(mutable=True)
        for gone in (f"{self.name}-page", "csv", "seen"):
            query.pop(gone, None)
        query[key] = str(value)
        return f"?{query.urlencode()}"

    def _to_page(self, number: int) -> str:
        return f"{self._link(f'{self.name}-page', number)}#{self.name}"

    @property
    def previous(self) -> str:
        return self._to_page(self.paged.previous_page_number()) if self.paged and self.paged.has_previous() else ""

    @property
    def next(self) -> str:
        return self._to_page(self.paged.next_page_number()) if self.paged and self.paged.has_next() else ""

    @property
    def file(self) -> str:
        return self._link("csv", self.name) if self.download else ""

    # The page

    @cached_property
    def shown(self) -> list[Column]:
        return [column for column in self.columns if column.page]

    @property
    def heads(self) -> list[SafeString]:
        """Return a row of heads, or two if columns are grouped."""
        rows: list[list[SafeString]] = [[], []]
        down = 2 if any(column.group for column in self.shown) else 0
        for group, columns in groupby(self.shown, key=lambda column: column.group):
            if group:
                inside = list(columns)
                given = {"scope": "colgroup", "colspan": len(inside), "class": inside[0].classes}
                rows[0].append(_element("th", given, group))
                rows[1] += [self._head(column) for column in inside]
            else:
                rows[0] += [self._head(column, down) for column in columns]
        return [mark_safe("".join(cells)) for cells in rows if cells]

    def _head(self, column: Column, rows: int = 0) -> SafeString:
        link, by = self._sorting(column)
        shown: object = column.head
        if link:
            shown = format_html('<a href="{}">{}</a>', link, column.head)
        elif column.quiet_head:
            shown = format_html('<span class="visually-hidden">{}</span>', column.head)
        role = "columnheader" if self.cards else ""
        given = {"scope": "col", "rowspan": rows, "role": role, "class": column.classes, "aria-sort": by}
        given["title"] = column.title
        return _element("th", given, shown) if column.head else _element("td", {}, "")

    def _sorting(self, column: Column) -> tuple[str, str]:
        """Return the link that sorts by a column, numbers largest first and reversed on the second click, and the
        column's current sorting.
        """
        if not self.request or not self._sortable(column):
            return "", ""
        by, down = self.sorted_by
        sign = "-" if (not down if by is column else column.number) else ""
        link = f"{self._link(f'{self.name}-sort', sign + column.key)}#{self.name}"
        return link, ("descending" if down else "ascending") if by is column else ""

    @property
    def body(self) -> Iterable[tuple[object, list[SafeString]]]:
        """Yield sections with their rows; a table without sections is a single one without a title."""
        if not self.sections:
            return [("", [self._row(row) for row in (self.paged.object_list if self.paged else self.ordered)])]
        return [(title, [self._row(row) for row in self._in_order(rows)]) for title, rows in self.sections]

    def _row(self, row: Any) -> SafeString:
        css = self.row_css and self.row_css(row)
        found = self._cells(
            [column.cell(row) for column in self.shown], {"id": self.row_id and self.row_id(row), "class": css}
        )
        if not (beneath := self.beneath and self.beneath(row)):
            return found
        cell = _element("td", {"colspan": len(self.shown), "role": "cell" if self.cards else ""}, beneath)
        given = {"class": f"beneath {css or ''}".strip(), "role": "row" if self.cards else ""}
        return found + _element("tr", given, cell)

    @property
    def feet(self) -> list[SafeString]:
        return [
            self._cells([
                value if isinstance(value, str) else column.written(value)
                for column, value in zip(self.shown, values, strict=True)
            ])
            for values in self.foot
        ]  # fmt: skip

    def _cells(self, cells: Iterable[object], given: Mapping[str, object] | None = None) -> SafeString:
        role = {"role": "row" if self.cards else ""}
        pairs = enumerate(zip(self.shown, cells, strict=True))
        inside = [self._cell(column, cell, place == 0) for place, (column, cell) in pairs]
        return _element("tr", {**(given or {}), **role}, mark_safe("".join(inside)))

    def _cell(self, column: Column, cell: object, first: bool) -> SafeString:
        names = first and self.row_head
        given: dict[str, object] = {"scope": "row" if names else "", "class": column.classes}
        if self.cards:
            given["role"] = "rowheader" if names else "cell"
            if not names and not column.quiet_head:
                given |= {"data-label": column.head} if column.unit is None else {"data-unit": column.unit}
        return _element("th" if names else "td", given, cell)

    # The file

    def csv(self) -> str:
        """Return every row, whichever page is shown, in the order requested."""
        columns = [(column.key, column.value) for column in self.columns if column.key and column.value is not None]
        if self.file_rows:
            rows = self._in_order(self.file_rows())
        else:
            rows = [row for _, rows in self.sections for row in self._in_order(rows)] or self.ordered
        lines = ([_in_file(found(row, value)) for _, value in columns] for row in rows)
        return csv_text.table([[key for key, _ in columns], *lines])


def _element(tag: str, given: Mapping[str, object], inside: object) -> SafeString:
    """Make an element, leaving out empty attributes."""
    attributes = format_html_join("", ' {}="{}"', ((name, value) for name, value in given.items() if value))
    return format_html("<{}{}>{}</{}>", mark_safe(tag), attributes, inside, mark_safe(tag))


def _in_file(value: object) -> object:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)


def page_or_csv(request: HttpRequest, template: str, context: Mapping[str, Any], file: str = "") -> HttpResponse:
    """Return the page, or the file of the context's table named in `?csv=`."""
    asked = request.GET.get("csv")
    if not asked:
        return render(request, template, dict(context))
    for table in context.values():
        if isinstance(table, Table) and table.download and table.name == asked:
            return csv_file(table.csv(), file or table.name)
    raise Http404("This page does not have this table, or not yet: it may still be computing.")


def csv_file(text: str, name: str) -> HttpResponse:
    disposition = f'attachment; filename="{name}.csv"'
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers={"Content-Disposition": disposition})
