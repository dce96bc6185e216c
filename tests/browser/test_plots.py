"""Figures in a real Chromium: drawn from their tables, taken away as files, kept through swaps, for all to read."""

import csv
import io
import struct
from functools import cache
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.models import Study
from annotation.participants import lifecycle as participant_lifecycle
from annotation.templatetags import figures
from benchmarks.formats import csv_text
from benchmarks.models import Image
from tests.benchmarks.formats.test_csv_text import RUN
from tests.browser.looking import PHONE, fits, in_windows
from tests.builders import cohorts, crowds
from tests.builders.pictures import draw, put
from workers.images import check_and_render

WHO = ("honest", "honest", "fast honest", "always left")
PAGES = {
    "stages/1/": {"kappas", "series"},
    "quality/?by=pair": {"agreement-by-pair", "kappa-matrix"},
    "people/?plots=1": {"answers", "times"},
}
render = cache(check_and_render)
PICTURED = {"kappas", "kappa-matrix"}  # saved as PNG too: a picture is made of the same drawing as an SVG
DRAWN = """name => {  // within its figure: once all drawings lay over the top of the page
  if (!window.echarts) document.getElementById(name).scrollIntoView({ block: "center" });  // what loads it
  const place = one => document.querySelector(one).getBoundingClientRect();
  const [inner, outer] = [place(`#${name} .drawing`), place(`#${name}`)];
  const shapes = document.querySelectorAll(`#${name} .drawing svg path, #${name} .drawing svg text`);
  return shapes.length > 4 && inner.top >= outer.top && inner.bottom <= outer.bottom + 1;
}"""


@pytest.fixture
def study(site) -> Study:
    """Its name begins as a formula does."""
    made = cohorts.study(WHO, judgments=20)[0].study
    Study.objects.filter(pk=made.pk).update(name="=Pilot")
    for number, image in enumerate(Image.objects.all()):
        put(image, render(draw(number)))
    return Study.objects.get(pk=made.pk)


@pytest.fixture
def visit(visit, study):
    def go(page: Page, path: str = "stages/1/", drawn: bool = True) -> Page:
        visit(page, f"/studies/{study.pk}/{path}")
        if path == "stages/1/":
            page.click("#stage-details-summary")
        for name in PAGES[path] if drawn else ():
            page.wait_for_function(DRAWN, arg=name)
        return page

    return go


def table_of(page: Page, name: str) -> list[list[str]]:
    """The figure's table: the keys of its columns, then each cell's exact value."""
    return page.evaluate(
        """name => [...document.querySelectorAll(`#${name} tr`)].map(row => [...row.cells].map(cell =>
             cell.dataset.key ?? cell.dataset.value ?? cell.textContent.trim()))""",
        name,
    )


def drawing(page: Page, name: str) -> dict:
    return page.evaluate(
        "name => echarts.getInstanceByDom(document.querySelector(`#${name} .drawing`)).getOption()", name
    )


def saved(page: Page, name: str, kind: str) -> tuple[str, bytes]:
    with page.expect_download() as found:
        page.click(f"#{name}-{kind}")
    return found.value.suggested_filename, found.value.path().read_bytes()


def test_every_figure_is_drawn_from_its_table_told_in_words_and_taken_away(visit, page, axe_violations, study):
    for path, names in PAGES.items():
        page.emulate_media(reduced_motion="no-preference" if path == "stages/1/" else "reduce")
        visit(page, path)
        assert {figure.get_attribute("id") for figure in page.locator("figure.plot").all()} == names
        DRAWN_AS[path](page)
        for name in names:
            assert len(table_of(page, name)) > 1 and not page.locator(f"#{name}-table").get_attribute("open")
            assert page.get_attribute(f"#{name} .drawing", "aria-label").endswith(".")
            file = f"study-{study.pk}-stage-1-{name}"
            for kind, check in SAVED.items():
                if kind == "png" and name not in PICTURED:
                    continue
                named, found = saved(page, name, kind)
                assert named == f"{file}.{kind}"
                check(found, page, name)
            if name != "agreement-by-pair":  # which the page has a larger table of
                page.click(f"#{name}-summary")
        for window in in_windows(page):
            for name in names:
                page.wait_for_function(DRAWN, arg=name)
            found = axe_violations(page, again=window == PHONE), page.errors, fits(page)
            assert found == ([], [], True), (path, window)


def progress_is_drawn(page: Page) -> None:
    counts = [int(row[1]) for row in table_of(page, "series")[1:]]
    series = drawing(page, "series")
    assert [bar["value"] for bar in series["series"][0]["data"]] == counts and series["animation"] is False
    spans = [[float(row[2]), float(row[3])] for row in table_of(page, "kappas")[1:] if row[2]]
    assert [span[1:] for span in drawing(page, "kappas")["series"][0]["data"]] == spans != []


def agreement_is_drawn(page: Page) -> None:
    assert len(drawing(page, "kappa-matrix")["series"][0]["data"]) == 2 * 6  # of 4 annotators each pair, both ways


def annotators_are_drawn(page: Page) -> None:
    mark = page.locator("#times data").get_attribute("value")
    assert drawing(page, "times")["series"][0]["markLine"]["data"][0]["xAxis"] == float(mark)
    (_, judgments, any_, *_), *_ = table_of(page, "answers")[1:]
    assert drawing(page, "answers")["series"][0]["data"][0] == int(any_) / int(judgments)


DRAWN_AS = dict(zip(PAGES, (progress_is_drawn, agreement_is_drawn, annotators_are_drawn), strict=True))


def is_drawing(found: bytes, page: Page, name: str) -> None:
    """With the title, the study and the moment, on a white ground."""
    root = ElementTree.fromstring(found)
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    said = " ".join(texts)
    assert [text for text in texts if "  " in text] == []  # the space around a cell's words in the page
    assert page.get_attribute(f"#{name}", "data-title") in said
    assert "=Pilot" in said and "as of " in said
    assert 'fill="#ffffff"' in found.decode().partition("</rect>")[0] or "#fff" in found.decode()[:600]


def is_picture(found: bytes, page: Page, name: str) -> None:
    assert found[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", found[16:24])
    assert width == 3 * 760 and height > 3 * 150


def is_table(found: bytes, page: Page, name: str) -> None:
    assert list(csv.reader(io.StringIO(found.decode()))) == table_of(page, name)


SAVED = {"svg": is_drawing, "png": is_picture, "csv": is_table}


def test_a_spreadsheet_takes_no_cell_for_a_formula(site, page):
    page.goto(f"{site}/login/")
    safe = "async cells => cells.map((await import('/static/js/charts/table.js')).safe)"
    cells = ["=1+1", "+1", "-1", "-1.5e-07", "@SUM(A1)", "-x", "\tx", "a,b", 'say "so"', "−0.5", ""]
    assert page.evaluate(safe, cells) == [
        "'=1+1", "'+1", "-1", "-1.5e-07", "'@SUM(A1)", "'-x", "'\tx", '"a,b"', '"say ""so"""', "−0.5", "",
    ]  # fmt: skip
    harmless = "async cells => cells.map((await import('/static/js/charts/table.js')).harmless)"
    cells = [*RUN, "a; =1;b", "a\n+1", "a;b", "2-1"]
    assert page.evaluate(harmless, cells) == [csv_text.harmless(cell) for cell in cells]


def test_a_swap_leaves_tables_focus_scroll_and_drawings_where_they_are(visit, open_page, study):
    """As does a page that is fetched whole."""
    page = open_page(390, 844, unshared=True)
    page.clock.install()
    visit(page)
    page.click("#kappas-summary")
    page.focus("#kappas-svg")
    page.evaluate("scrollTo(0, 900)")
    svg = page.evaluate_handle("document.querySelector('#kappas svg')")
    said = page.get_attribute("#series .drawing", "aria-label")
    exclude_one(study)
    page.clock.fast_forward(4_000)
    page.wait_for_function("said => document.querySelector('#series .drawing').ariaLabel !== said", arg=said)
    assert page.evaluate(
        "document.getElementById('kappas-table').open && !document.getElementById('series-table').open"
    )
    assert page.evaluate("document.activeElement.id") == "kappas-svg"
    assert (
        abs(page.evaluate("scrollY") - 900) < 60
    )  # the browser follows what is in view where a line above it wraps anew
    assert page.evaluate("svg => svg.isConnected", svg)
    counts = [int(row[1]) for row in table_of(page, "series")[1:]]
    assert [bar["value"] for bar in drawing(page, "series")["series"][0]["data"]] == counts
    assert page.errors == []


@pytest.mark.nightly
def test_the_page_of_agreement_stays_as_it_is_too(visit, open_page, study):
    page = open_page(unshared=True)
    page.clock.install()
    stays_when_fetched_whole(visit, page, study, "quality/?by=pair", number=4)


def stays_when_fetched_whole(visit, page: Page, study: Study, path: str, number: int) -> None:
    visit(page, path)
    name = sorted(PAGES[path])[0]
    page.click(f"#{name}-summary")
    page.focus(f"#{name}-csv")
    page.evaluate("scrollTo(0, 300)")
    before = page.evaluate("scrollY")
    old = page.locator(f"#{name}").element_handle()
    exclude_one(study, number)
    page.clock.fast_forward(31_000)
    page.wait_for_function("old => !old.isConnected", arg=old)
    assert page.evaluate("name => document.getElementById(`${name}-table`).open", name)
    assert page.evaluate("document.activeElement.id") == f"{name}-csv"
    assert page.evaluate("scrollY") == before > 0
    assert page.evaluate(DRAWN, name) and page.errors == []
    assert drawing(page, name)["animation"] is True  # only what changes moves; a new box would be empty at first


def exclude_one(study: Study, number: int = 4) -> None:
    """Every figure changes."""
    participant_lifecycle.exclude(annotator=study.annotators.get(number=number), reason="Always left", by="test")


def test_colours_and_motion_are_the_readers_and_tables_stand_open_without_script(visit, open_page):
    """Or without the library of charts."""
    page = visit(open_page(dark=True, reduced_motion="reduce"))
    is_filled = "colour => document.querySelector(`#series svg path[fill='${colour}']`) !== null"
    page.wait_for_function(is_filled, arg="#7db5de")
    page.emulate_media(color_scheme="light")
    page.wait_for_function(is_filled, arg="#1f5f8b")
    assert drawing(page, "series")["animation"] is False
    assert b"#1f5f8b" in saved(page, "series", "svg")[1]
    page.emulate_media(color_scheme="dark")
    assert b"#1f5f8b" in saved(page, "series", "svg")[1]  # paper is white
    page.route("**/echarts*", lambda route: route.abort())
    plain = open_page(java_script_enabled=False)
    for without in (page, plain):
        visit(without, drawn=False)
        for name in PAGES["stages/1/"]:
            without.locator(f"#{name}").scroll_into_view_if_needed()
            expect(without.locator(f"#{name} table")).to_be_visible()
    assert not any(plain.locator(f"#{name} .saves").is_visible() for name in PAGES["stages/1/"])


def test_a_matrix_of_many_is_cut_and_drawn_at_once(sign_in, open_page, site):
    many = crowds.stage(items=40, people=30, overlap=6)
    page = open_page(390, 844)
    sign_in(page, User.objects.create_superuser("ana", password="x"))
    page.goto(f"{site}/studies/{many.study_id}/quality/?by=pair")
    page.wait_for_function(DRAWN, arg="kappa-matrix")
    assert "The 25 with the most judgments of shared items, of 30" in page.inner_text("#kappa-matrix figcaption")
    assert len({row[0] for row in table_of(page, "kappa-matrix")[1:]}) <= 25 and fits(page)


def test_plots_round_as_tables_do(page, site):
    values = [0.9125, 0.9175, 0.00125, 0.15, 0.4805, 1, 0]
    page.goto(f"{site}/login/")
    written = page.evaluate(
        "values => import('/static/js/charts/parts.js').then(parts => values.map(parts.percent))", values
    )
    assert written == [figures.percent(value) for value in values]
