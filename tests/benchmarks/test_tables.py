"""A table declared once: its page, its cards on phones, its order, its pages and its file."""

import csv
from dataclasses import dataclass
from datetime import date
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.http import Http404
from django.test import RequestFactory
from django.utils.html import format_html

from benchmarks.tables import Column, Table, bdi, exact, found, number, only_in_file, page_or_csv, with_sub

ROWS = [
    {"name": "B", "share": {"value": 0.25, "n": 4}, "at": date(2026, 1, 2), "note": None},
    {"name": "a", "share": {"value": None, "n": 0}, "at": date(2026, 1, 1), "note": "<b>"},
    {"name": "=C", "share": {"value": 0.5, "n": 1200}, "at": None, "note": ""},
]
COLUMNS = [
    Column("who", "name", bdi),
    number("share", "share.value", lambda share: "–" if share is None else f"{share:.0%}"),
    number("answers", "share.n", unit="answers"),
    *only_in_file("at"),
    Column("note", "note"),
    Column("remove", html=lambda row: format_html("<button>{}</button>", row["name"]), quiet_head=True),
]


def at(address: str = "", **more: object) -> Table:
    request = RequestFactory().get(f"/people/{address}")
    return Table("people", COLUMNS, ROWS, **{"caption": "People", "request": request, **more})


def names(table: Table) -> list[str]:
    return [row["name"] for row in table.ordered]


@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ("", ["B", "a", "=C"]),
        ("?people-sort=name", ["=C", "a", "B"]),
        ("?people-sort=-name", ["B", "a", "=C"]),
        ("?people-sort=share.value", ["B", "=C", "a"]),  # what is not known is last in both orders
        ("?people-sort=-share.value", ["=C", "B", "a"]),
        ("?people-sort=-at", ["B", "a", "=C"]),
        ("?people-sort=remove", ["B", "a", "=C"]),
        ("?others-sort=-name", ["B", "a", "=C"]),
    ],
)
def test_the_address_sorts(asked, order):
    assert names(at(asked)) == order


def test_a_head_is_a_link_that_sorts_and_keeps_the_query():
    text = str(at("?stage=2&people-sort=-share.n&people-page=3&seen=x"))
    assert '<th scope="col"><a href="?stage=2&amp;people-sort=name#people">who</a></th>' in text
    assert '<a href="?stage=2&amp;people-sort=-share.value#people">share' in text  # the largest first
    assert 'aria-sort="descending"><a href="?stage=2&amp;people-sort=share.n#people">answers' in text
    assert text.count("people-sort=") == 4 and "<a" not in str(at(request=None))


def test_pages_lead_on_and_back_and_a_page_that_is_none_is_the_last():
    second = at("?stage=2&people-page=2&people-sort=name", per_page=1)
    assert "2 to 2 of 3" in str(second) and [row["name"] for row in second.paged.object_list] == ["a"]
    assert (second.previous, second.next) == (
        "?stage=2&people-sort=name&people-page=1#people",
        "?stage=2&people-sort=name&people-page=3#people",
    )
    assert at("?people-page=99", per_page=2).paged.number == 2
    assert at("?people-page=x", per_page=2).paged.number == 1


def test_a_table_without_rows_says_so_with_one_way_on():
    table = Table("people", COLUMNS, [], empty="Nobody yet.", advice="Send the link.", button=("Invite", "/?a=1&b"))
    assert not table
    text = str(table)
    assert "<table" not in text and 'id="people"' in text and 'href="/?a=1&amp;b">Invite' in text
    assert "<table" in str(Table("people", COLUMNS, []))


def test_a_row_is_named_by_its_first_cell_and_texts_are_escaped():
    text = str(at())
    assert '<th scope="row"><bdi dir="auto">=C</bdi></th>' in text
    assert "<td>&lt;b&gt;</td>" in text
    assert '<td class="number"><data value="0.25">25%</data></td><td class="number">4</td>' in text
    assert '<td class="number">1,200</td>' in text
    assert '<span class="visually-hidden">remove</span>' in text
    assert "role=" not in text.replace('role="group"', "") and "data-label" not in text and ">at<" not in text


def test_on_phones_rows_are_cards_with_labels_and_still_a_table():
    text = str(at(cards=True))
    for role in ("table", "rowgroup", "row", "columnheader", "rowheader", "cell"):
        assert f'role="{role}"' in text
    assert 'role="cell" data-label="share"' in text and 'role="cell" data-unit="answers"' in text
    assert 'role="cell"><button>' in text


def test_heads_over_several_columns():
    columns = [Column("who", "name"), number("n", "share.n", group="share"), number("value", "share.n", group="share")]
    upper, lower = Table("people", columns, ROWS).heads
    assert upper == ('<th scope="col" rowspan="2">who</th><th scope="colgroup" colspan="2" class="number">share</th>')
    assert lower == '<th scope="col" class="number">n</th><th scope="col" class="number">value</th>'


def test_sections_and_feet():
    table = at(sections=[("Here", ROWS[:2]), ("Elsewhere", ROWS[2:])], foot=[["all", 0.5, 1204, "", ""]])
    text = str(table)
    assert text.count("<tbody") == 2 and 'colspan="5"' in text
    assert '<th scope="row">all</th><td class="number"><data value="0.5">50%</data></td>' in text
    assert len(table.csv().splitlines()) == 4


def test_the_file_has_all_digits_all_rows_and_no_formula():
    rows = list(csv.DictReader(at("?people-sort=share.n", per_page=1).csv().splitlines()))
    assert [(row["name"], row["share.value"], row["at"]) for row in rows] == [
        ("a", "", "2026-01-01"), ("B", "0.25", "2026-01-02"), ("'=C", "0.5", ""),
    ]  # fmt: skip
    assert list(rows[0]) == ["name", "share.value", "share.n", "at", "note"]
    assert at(file_rows=lambda: ROWS[:1]).csv().count("\n") == 2


def test_a_page_answers_with_the_file_that_is_asked_for():
    def answer(address: str, download: bool):
        table = at(address, download=download)
        return page_or_csv(table.request, "components/table.html", {"table": table}, "people-1")

    file = answer("?csv=people", True)
    assert file["Content-Disposition"] == 'attachment; filename="people-1.csv"'
    assert file["Content-Type"] == "text/csv; charset=utf-8" and file.text.startswith('"name"')
    page = answer("?stage=2", True)
    assert 'href="?stage=2&amp;csv=people"' in page.text
    for asked, download in [("?csv=people", False), ("?csv=x", True)]:
        with pytest.raises(Http404):
            answer(asked, download)


@dataclass
class Pair:
    first: object
    second: object = None

    def total(self) -> int:
        return 7


def test_a_path_leads_through_mappings_objects_and_sequences_and_misses_nothing():
    row = Pair({"of": [SimpleNamespace(name="x")]})
    assert found(row, "first.of.0.name") == "x" and found(row, "total") == 7
    assert found(row, "second.share") is None
    for wrong in ("third", "first.for", "first.of.0.title"):
        with pytest.raises((AttributeError, KeyError)):
            found(row, wrong)


def test_a_query_is_sorted_and_paged_by_the_database(db, django_assert_num_queries):
    User.objects.bulk_create(User(username=name, last_name=last) for name, last in [("x", "1"), ("z", "3"), ("y", "2")])
    columns = [Column("name", "username"), Column("last", lambda user: user.last_name, name="last", sort="last_name")]
    request = RequestFactory().get("/?users-sort=-last&users-page=2")
    users = User.objects.filter(username__in="xyz")
    with django_assert_num_queries(2):
        text = str(Table("users", columns, users, request=request, per_page=2, empty="None."))
    assert '<th scope="row">x</th>' in text and "users-sort=last#users" in text
    by_function = Table("users", [Column("name", lambda user: user.username, name="name")], users, request=request)
    assert "<a" not in str(by_function)


def test_cells_of_several_lines():
    assert with_sub("<i>", "", None, "below") == '&lt;i&gt;<span class="sub">below</span>'
    assert exact(1, str) == '<data value="1.0">1</data>' and exact(None, lambda of: "–") == "–"
