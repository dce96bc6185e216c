"""The study page in a real browser: what is live, what must not move, accessibility."""

import pytest
from playwright.sync_api import Page, expect

from annotation.designs.plan import StagePlan
from annotation.models import Study
from annotation.studies.lifecycle import move_study
from tests.browser.looking import DESK, flaws, in_windows
from tests.builders import crowds, studies
from tests.builders.pictures import paint


@pytest.fixture
def study() -> Study:
    benchmark = studies.benchmark(items=6)
    return crowds.work(
        paint(studies.study(benchmark=benchmark, overlap=3, pay_per_hour=12)), people=4, undone=0.4
    ).study


def at(study: Study, path: str = "") -> str:
    return f"/studies/{study.pk}/{path}"


def judge_one(study: Study) -> None:
    assert studies.judgment(studies.annotator(study), study.stages.get(), "none")


@pytest.fixture
def clocked(open_page):
    """A page whose clock the test moves on: `next_look(page)` is when it asks again what is new."""

    def make(width=1366, height=768, **options) -> Page:
        page = open_page(width, height, unshared=True, **options)
        page.clock.install()
        return page

    return make


def next_look(page: Page) -> None:
    page.clock.fast_forward(4_000)


def test_a_new_judgment_appears_and_nothing_moves_until_the_study_is_closed(visit, clocked, study, site):
    page = visit(clocked(390, 844, permissions=["clipboard-read", "clipboard-write"]), at(study))
    page.click("a:text-is('Invite')")
    page.click("#copy")
    page.wait_for_selector("text=Copied.")
    assert study.invite in page.evaluate("navigator.clipboard.readText()")

    page.click(".rail a:has-text('Stages')")
    page.click("#stage-details-summary")
    page.locator("#series").scroll_into_view_if_needed()
    page.wait_for_selector("#series svg")
    page.click("#series-table summary")
    page.evaluate("document.getElementById('stage-people-scroll').scrollLeft = 60")
    page.focus("#headline-link")
    page.evaluate("scrollTo(0, 700)")
    drawing = page.evaluate_handle("document.querySelector('#series svg')")
    judge_one(study)
    next_look(page)
    page.wait_for_selector("#live-annotators th:has-text('A-05')")
    assert page.evaluate("scrollY") == 700
    assert page.evaluate("document.getElementById('stage-people-scroll').scrollLeft") == 60
    assert page.evaluate("document.activeElement.id") == "headline-link"
    assert page.evaluate("document.getElementById('series-table').open")
    assert page.evaluate("drawing => drawing.isConnected", drawing)
    assert page.errors == []

    page.route("**/live/**", lambda route: route.abort())
    next_look(page)
    page.wait_for_selector("#freshness.bad")
    assert "cannot reach the server" in page.inner_text("#freshness")
    page.unroute("**/live/**")

    move_study(study=study, to="closed", by="test")
    next_look(page)
    page.wait_for_selector("#live-poll:not([hx-get])", state="attached")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.fast_forward(60_000)
    page.evaluate("fetch('/healthz')")  # comes after what the minute would have brought
    assert asked == [f"{site}/healthz"]


def test_the_band_of_an_audit_narrows_and_its_open_table_stays_open(visit, clocked):
    stage = studies.stage(items=8, strategy="audit", target_half_width=0.01)
    annotator = studies.annotator(stage.study)

    def see(page: Page, n: int, high: str) -> None:
        """The drawing's scale ends at `n` items; nothing is wrong."""
        page.wait_for_selector(f"#live-audit .headline:has-text('0 of {n} judged items, 95% interval 0.0 – {high}%')")
        page.locator("#audit").scroll_into_view_if_needed()
        page.wait_for_selector(f"#audit .drawing[aria-label*='to {high}%.'] text:text-is('{n}')")
        page.wait_for_function("n => document.querySelectorAll('#audit tbody tr').length === n", arg=n)

    for _ in range(2):
        assert studies.judgment(annotator, stage, "candidate-0")
    page = visit(clocked(), at(stage.study, "stages/1/"))
    see(page, 2, "62.2")
    page.click("#audit-table summary")
    for _ in range(4):
        assert studies.judgment(annotator, stage, "candidate-0")
    next_look(page)
    see(page, 6, "15.5")
    assert page.evaluate("document.getElementById('audit-table').open")
    assert page.errors == []


INSIDE = """name => {
  const { left, right } = document.querySelector(name).getBoundingClientRect();
  return left >= 0 && right <= innerWidth;
}"""


STAGES = [
    StagePlan("bivlc-choose", name="choose",
              settings={"carries": "negative", "agreement_items": 4, "agreement_overlap": 2}),
    StagePlan("bivlc-disambiguate", name="disambiguate", source="choose", apart_from=[],
              settings={"strategy": "batches", "batch_size": 3, "overlap": 2}),
    StagePlan("bivlc-i2t", name="i2t", source="disambiguate", apart_from=[], settings={"sample": 4}),
    StagePlan("bivlc-t2i", name="t2i", source="disambiguate", after="i2t", apart_from=[], settings={"sample": 4}),
]  # fmt: skip


TILES_FIRST = """() => {
  const place = name => document.querySelector(name).getBoundingClientRect();
  const tiles = [...document.querySelectorAll('.tile')].map(tile => tile.getBoundingClientRect());
  const bottom = Math.max(...tiles.map(tile => tile.bottom));
  return tiles.length <= 4 && new Set(tiles.map(tile => tile.top)).size === 1
    && place('.next').bottom <= tiles[0].top && bottom + scrollY <= innerHeight && bottom < place('#where-title').top;
}"""


AT_ITS_WIDEST = """() => document.querySelectorAll('#live-annotators tbody tr').forEach(row => {
  row.querySelector('th').textContent = 'A-100 simulated excluded';
  row.querySelectorAll('td').forEach(cell => { cell.textContent = '1,234 $'; });
  row.lastElementChild.textContent = 'fast · side · agreement';
})"""
CUT_OFF = """() => [...document.querySelectorAll('main .scroll')]
  .filter(box => box.checkVisibility() && box.scrollWidth > box.clientWidth)
  .map(box => box.id || box.getAttribute('aria-labelledby'))"""


def test_the_pages_of_several_stages(visit, clocked, open_page, axe_violations):
    """A judgment changes the overview; it and a stage are accessible and fit; from stage to stage without script."""
    study = paint(studies.study(benchmark=studies.benchmark(items=12), stages=STAGES, pay_per_hour=12))
    crowds.work(study, people=4, undone=0.1, seed=2)
    page = visit(clocked(), at(study))
    page.click("#funnel-types > summary")
    before = page.inner_text(".path")
    assert studies.judgment(studies.annotator(study), study.stages.get(position=1), "none")
    next_look(page)
    page.wait_for_function("text => document.querySelector('.path').innerText !== text", arg=before)
    assert page.evaluate("document.getElementById('funnel-types').open")
    assert page.evaluate(TILES_FIRST)
    assert page.locator(".funnel rect.kept").count() == 2 and page.evaluate("!window.echarts")
    assert (flaws(page, axe_violations), page.errors) == ([], [])

    visit(page, at(study, "stages/2/"))
    page.evaluate(AT_ITS_WIDEST)
    for summary in ("stage-details", "kappas", "series"):
        page.click(f"#{summary}-summary")
    for window in in_windows(page, DESK, (1024, 768, "light"), (1920, 1080, "light")):
        assert page.evaluate(CUT_OFF) == [], window
    page.click("#move-stage")  # asks first
    expect(page.locator("#close-anyway")).to_be_visible()
    assert (flaws(page, axe_violations), page.errors) == ([], [])

    page = visit(open_page(java_script_enabled=False), at(study, "stages/"))
    page.focus("main a:has-text('Find ambiguous items')")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Find ambiguous items")
    page.click("#stage-details-summary")
    assert page.locator("#series tbody tr").first.is_visible()
    page.click("#move-stage")
    expect(page.locator("main")).to_contain_text("still open")
    page.click("#close-anyway")
    sampled = "1 item was sampled for each of stages 3 (Image to text) and 4 (Text to image), "
    closed = f"Stage 2 (Find ambiguous items) is closed. {sampled}"
    expect(page.locator(".messages")).to_contain_text(closed)
    assert page.inner_text("#move-stage") == "Reopen this stage"
    visit(page, at(study))
    with page.expect_navigation():
        page.click("button:has-text('Pause')")
    study.refresh_from_db()
    assert study.state == "paused"


def test_pages_are_accessible_and_fit_with_the_box_of_a_link_inside(visit, page, axe_violations, study):
    """The study's own pages: test_the_pages_of_several_stages, test_plots.py."""
    for path in ("../", "settings/instructions/"):
        visit(page, at(study, path))
        assert (flaws(page, axe_violations), page.errors) == ([], []), path
    visit(page, at(study, "stages/1/"))
    page.click("#stage-invite summary")
    for window in in_windows(page, *((width, 800, "light") for width in (1366, 390, 1024, 1920))):
        assert page.evaluate(INSIDE, "#stage-invite .card"), window
