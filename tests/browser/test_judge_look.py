"""The judging screen as it is seen: sizes, layouts, accessibility, and how soon the next screen is there."""

import pytest
from playwright.sync_api import Page, expect

from annotation.assignment import leases
from annotation.models import Annotator, Stage
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Caption
from tests.browser.conftest import press, submit_button
from tests.browser.looking import DESK, PHONE, fits, flaws, in_windows, outside, send
from tests.builders import every_protocol, pictures, studies

LONG = ("A very long sentence about a red cup that stands on a blue plate beside a green bottle and " * 4)[:300]


TARGETS = """[...document.querySelectorAll('button, summary, a.button, .choice, .card-option')]
  .map(one => one.getBoundingClientRect()).filter(box => box.width).map(box => Math.min(box.width, box.height))"""


def side(page: Page) -> float:
    box = page.locator(".card-option").first.bounding_box()
    return min(box["width"], box["height"])


LEAST_SIDE = {2: 520, 3: 420, 4: 355, 5: 300, 6: 300, 7: 240, 9: 235}  # pixels, by the number of candidates
SMALL = [(390, 844, "light"), (683, 384, "light"), (320, 640, "light")]


def test_everything_is_in_sight_and_pictures_are_large(sit):
    """Also with a caption of 300 characters, and on a phone; in a small window everything can be reached."""
    benchmark = studies.benchmark(0)
    for candidates in (*LEAST_SIDE, 2, 4, 9):
        studies.item(benchmark, candidates)
    Caption.objects.filter(item__position__gte=len(LEAST_SIDE)).update(text=LONG)
    desk, found = sit(annotator=studies.annotator(pictures.paint(studies.study(benchmark=benchmark)))), []
    page = desk.page
    for number in range(len(LEAST_SIDE) + 3):
        candidates, is_long = page.locator(".card-option").count(), len(page.locator(".caption").inner_text()) > 250
        found.append((candidates, is_long))
        assert outside(page) == [], found
        assert side(page) >= (200 if is_long else LEAST_SIDE[candidates]), found
        assert is_long or page.evaluate("document.documentElement.scrollHeight <= innerHeight"), found
        for _ in in_windows(page) if candidates in (2, 4) and not is_long else ():
            assert outside(page) == [] and fits(page), found
            assert min(page.evaluate(TARGETS)) >= 24, found
        for _ in in_windows(page, DESK, *SMALL) if candidates == 9 and not is_long else ():
            assert fits(page)
            for name in (".card-option >> nth=8", "#submit", "#skip"):
                page.locator(name).scroll_into_view_if_needed()
                page.locator(name).click(trial=True)
        send(desk, "1", "Enter") if number < len(LEAST_SIDE) + 2 else None
    assert sorted(found) == sorted([*((count, False) for count in LEAST_SIDE), *((count, True) for count in (2, 4, 9))])


def test_wide_and_tall_pictures_are_shown_whole_and_a_sentence_from_right_to_left_reads_so(sit):
    study = studies.study(items=1)
    Caption.objects.update(text="كوب أزرق وصحن أحمر على الطاولة.")
    pictures.paint(study, [pictures.draw(n, 640, 427) for n in range(5)])
    page = sit(annotator=studies.annotator(study)).page
    box = page.locator(".card-option").first.bounding_box()
    assert box["width"] / box["height"] == pytest.approx(640 / 427, rel=0.02)
    assert outside(page) == []
    assert page.evaluate("getComputedStyle(document.querySelector('.caption')).direction") == "rtl"


@pytest.mark.parametrize(("script", "least"), [(True, 55), (False, 40)], ids=["script", "no script"])
def test_on_a_phone_a_narrow_picture_beside_a_wide_one_is_not_tiny(open_page, site, script, least):
    study = studies.study(items=1, candidates=2)
    narrow, wide = (100, 300), (1800, 300)
    pictures.paint(study, [pictures.draw(number, *size) for number, size in enumerate([wide, narrow, wide])])
    page = open_page(width=390, height=844, java_script_enabled=script)
    page.goto(at(site, studies.annotator(study)))
    expect(page.locator("#desk.ready" if script else "#desk")).to_be_visible()
    for picture in page.locator(".card-option img").all():
        box, frame = picture.bounding_box(), [int(picture.get_attribute(side)) for side in ("width", "height")]
        scale = min(box["width"] / frame[0], box["height"] / frame[1])
        for shape in (narrow, wide):
            assert scale * min(shape) * min(frame[0] / shape[0], frame[1] / shape[1]) >= least


BOXES = """() => JSON.stringify([...document.querySelectorAll(".status, .status *, .prompt, .pictures")].map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return [one.id || one.className, x, y, width, height];
}))"""
CHIP = """([state, words]) => {
  const chip = document.getElementById("chip");
  chip.dataset.state = state;
  if (words) chip.textContent = words;
}"""


def test_nothing_moves_when_the_chip_says_something_else(sit):
    """Where the pictures are below the words, and beside them."""
    benchmark = studies.benchmark(0)
    for candidates in (2, 4):
        studies.item(benchmark, candidates)
    study = studies.study(benchmark=benchmark, name="A study with rather a long name")
    desk, layouts = sit(annotator=studies.annotator(pictures.paint(study))), set()
    for _ in range(2):
        layouts.add(desk.page.locator("#desk").get_attribute("data-layout"))
        for window in in_windows(desk.page, DESK, PHONE, (1000, 700, "light")):
            found = set()
            for state, words in (("", "saved"), ("saving", "saving"), ("unsaved", "not saved, retrying (12)")):
                desk.page.evaluate(CHIP, [state, words])
                found.add(desk.page.evaluate(BOXES))
            assert len(found) == 1, (window, found)
        send(desk, "1", "Enter")
    assert layouts == {"side", "top"}


def test_where_there_is_a_keyboard_keys_are_hinted_at(sit):
    hints_at_keys(sit(items=1, width=390, height=844).page)


def hints_at_keys(page: Page, touch: bool = False) -> None:
    """None where there is no keyboard, but the numbers of pictures; at the end the rules are open."""
    assert page.locator("#submit kbd").is_visible() != touch
    assert page.locator(".choice kbd").is_visible() != touch
    assert all(number.is_visible() for number in page.locator(".card-option kbd").all())
    page.locator("#rules").click()
    assert page.get_by_role("heading", name="Keys").is_visible() != touch
    assert page.get_by_text("submit your answer").is_visible() != touch


def test_sentences_that_do_not_fit_say_that_there_are_more(sit):
    study = studies.study(benchmark=every_protocol.benchmark(1), protocol="bivlc-i2t")
    annotator = studies.annotator(pictures.paint(study))
    Caption.objects.update(text=LONG * 4)
    page = sit(annotator=annotator).page
    more = page.locator(".texts.more")
    expect(more).to_have_count(1)
    page.locator(".texts").evaluate("words => words.scrollTo(0, words.scrollHeight)")
    expect(more).to_have_count(0)


def test_on_a_phone_a_tap_picks_and_two_fingers_or_the_wheel_enlarge_the_zoomed_pictures(open_page, site):
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True, reduced_motion="no-preference")
    page.goto(at(site, pictures.desk(items=2)))
    expect(page.locator("#desk.ready")).to_be_visible()
    hints_at_keys(page, touch=True)
    page.keyboard.press("Escape")
    page.locator(".card-option").nth(2).tap()
    expect(page.locator("input[value='3']")).to_be_checked()
    submit_button(page).tap()
    expect(page.locator("#done")).to_have_text("1")
    page.locator("#zoom").tap()
    scale = "() => Number(document.getElementById('desk').style.getPropertyValue('--zoom'))"
    box = page.locator(".card-option").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = page.context.new_cdp_session(page)
    for kind, apart in (("touchStart", 20), ("touchMove", 22), ("touchMove", 40), ("touchMove", 44), ("touchEnd", 0)):
        points = [{"x": x + sign * apart, "y": y, "id": number} for number, sign in enumerate((-1, 1)) if apart]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    pinched = page.evaluate(scale)
    assert pinched == pytest.approx(5, rel=0.15)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -100)
    page.wait_for_function(f"before => ({scale})() > before", arg=pinched)
    expect(page.locator("#desk.zoomed")).to_be_visible()


def test_submit_stays_where_it_is_from_item_to_item(sit):
    study = studies.study(items=6, candidates=2)
    shapes = [(512, 512), (800, 300), (300, 800)]  # items of one shape each: pictures beside the words or below them
    pictures.paint(study, [pictures.draw(0, *shapes[n // 3 % 3]) for n in range(18)])
    for number, caption in enumerate(Caption.objects.order_by("item__position")):
        Caption.objects.filter(pk=caption.pk).update(text=LONG[: 30 + 130 * (number // 3)])
    desk, found = sit(annotator=studies.annotator(study)), {}
    for _ in range(6):
        layout = desk.page.locator("#desk").get_attribute("data-layout")
        for window in in_windows(desk.page):
            box = desk.page.locator("#submit").bounding_box()
            found.setdefault(window[0], set()).add(tuple(box.values()))
            found.setdefault("layouts", set()).add(layout)
            assert outside(desk.page) == []
        send(desk, "1", "Enter")
    assert found.pop("layouts") == {"side", "top"} and all(len(places) == 1 for places in found.values()), found


# A quick annotator on a slow network: time from Enter to the next sentence; whether pictures move when they have come.
QUICK = """async (count) => {
  const place = document.getElementById("place"), found = [];
  const rest = (time) => new Promise((done) => setTimeout(done, time));
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const boxes = () => JSON.stringify([...place.querySelectorAll("img")].map((one) => one.getBoundingClientRect()));
  while (found.length < count) {
    const end = performance.now() + 30_000;
    while (![...place.querySelectorAll("img")].every((one) => one.complete && one.naturalWidth)) {
      if (performance.now() > end) throw new Error("the pictures do not come");
      await rest(10);
    }
    const before = place.firstElementChild, start = performance.now();
    press("1"), press("Enter");
    while (place.firstElementChild === before || !place.querySelector(".caption")) {
      if (performance.now() > end) throw new Error("the next screen does not come");
      await rest(1);
    }
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const [time, at] = [Math.round(performance.now() - start), boxes()];
    await rest(500);
    found.push({ time, kept: at === boxes() && at.length > 9 });
  }
  return found;
}"""


@pytest.mark.parametrize("answers", [6, pytest.param(20, marks=pytest.mark.nightly)])
def test_on_a_slow_network_a_quick_annotator_never_waits_for_a_sentence(open_page, site, answers):
    """From the first screen on, the network takes 400 ms for each request and 1.5 s for the four pictures of a screen;
    the annotator answers once they are there. More answers come than a page holds screens, so that pictures are on the
    way when some appear.
    """
    study = studies.study(items=answers + 6)
    drawn = [pictures.noise(number) for number in range(8)]
    pictures.paint(study, (drawn[n % 8] for n in range(5 * (answers + 6))))
    page = open_page(unshared=True, reduced_motion="no-preference")
    network = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 400, "downloadThroughput": 100_000, "uploadThroughput": 100_000}
    page.goto(at(site, studies.annotator(study)))
    expect(page.locator("#desk.ready")).to_be_visible()
    network.send("Network.emulateNetworkConditions", slow)
    found = page.evaluate(QUICK, answers)
    network.send(
        "Network.emulateNetworkConditions", slow | {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    )
    times = sorted(one["time"] for one in found)
    print("milliseconds from Enter to the next sentence:", times)
    assert times[len(times) // 2] < 100 and times[-1] < 300, times  # less than any request takes
    assert all(one["kept"] for one in found), found
    expect(page.locator("#chip")).to_have_text("saved")


def test_a_phone_loads_smaller_pictures_until_it_zooms(open_page, site):
    study = studies.study(items=1)
    pictures.paint(study, [pictures.draw(0, 1000, 300)] * 5)
    annotator, found = studies.annotator(study), {}
    for width, height in ((390, 844), (1366, 768)):
        page = open_page(width=width, height=height, **({"device_scale_factor": 3} if width < 400 else {}))
        page.on("response", lambda answer, width=width: found.setdefault(width, []).append(answer.url.split("/")[3]))
        page.goto(at(site, annotator))
        expect(page.locator("#desk.ready")).to_be_visible()
        page.wait_for_function("() => [...document.images].every(one => one.complete && one.naturalWidth)")
        assert {one for one in found[width] if len(one) == 1} == {"s" if width < 400 else "i"}
        page.keyboard.press("z")
        page.wait_for_function("() => [...document.images].every(one => one.currentSrc.includes('/i/'))")
        assert page.errors == []


def pressed(*keys: str):
    return lambda page: press(page, *keys)


# How to come there, what is in sight then, and where anything is new. The first state has an answer picked.
STATES = {
    "screen": (pressed("2"), "#place label:has(input[value='2']:checked)", "html"),
    "zoomed": (pressed("z"), "#desk.zoomed", "#screen"),
    "rules": (pressed("h"), "#rules-dialog", "#rules-dialog"),
    "flag": (pressed("f"), "#flag .sheet", "#flag"),
    "cannot judge": (lambda page: page.get_by_text("Cannot judge").first.click(), "#cannot .sheet", "#cannot"),
    "offline": (
        lambda page: (page.context.set_offline(True), press(page, "1", "Enter")),
        "#chip:has-text('not saved, retrying')",
        ".status",
    ),
    "looking back": (pressed("1", "Enter", "ArrowLeft"), "#banner", "#banner"),
}


def test_every_state_of_the_screen_is_accessible(sit, axe_violations):
    desk = sit(items=4)
    for name, (enter, there, new) in STATES.items():
        enter(desk.page)
        expect(desk.page.locator(there).first).to_be_visible()
        assert flaws(desk.page, axe_violations, new) == [], name
        desk.press("Escape")
        if name in ("zoomed", "rules", "flag", "cannot judge"):  # keys mean nothing until it is closed
            expect(desk.page.locator(there).first).to_be_hidden()
        desk.page.context.set_offline(False)


def at(site: str, annotator: Annotator) -> str:
    return f"{site}/judge/{annotator.token}/"


def test_every_page_around_it_is_accessible(page, site, axe_violations):
    stage = studies.stage(items=2, overlap=1, pay_per_hour="12.00")
    newcomer, holder, worker = (studies.annotator(stage.study, ready=ready) for ready in (False, True, True))
    look(page, f"{site}/join/{stage.study.invite}/", "You are invited", axe_violations)
    look(page, at(site, newcomer), "Before you start", axe_violations)
    leases.hold(annotator=holder, stage=stage, wanted=1)
    studies.judgment(worker, stage)
    look(page, at(site, worker), "Waiting for a screen", axe_violations)
    studies.judgment(holder, stage)
    look(page, at(site, worker), "All done. Thank you!", axe_violations)
    study_lifecycle.move_study(study=stage.study, to="paused", by="test")
    look(page, at(site, worker), "The study is paused", axe_violations)


def look(page: Page, address: str, words: str, axe_violations) -> None:
    page.goto(address)
    expect(page.get_by_text(words)).to_be_visible()
    for window in in_windows(page, (*PHONE[:2], "light"), PHONE):
        assert axe_violations(page, again=window == PHONE) == [], (words, window)


def test_the_code_can_be_copied(page, site):
    stage = studies.stage(items=1)
    annotator = studies.annotator(stage.study)
    studies.judgment(annotator, stage)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(at(site, annotator))
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == Stage.objects.get().study.completion_code
    page.context.clear_permissions()


def test_without_script_a_screen_is_judged_all_the_same(open_page, site):
    page = open_page(java_script_enabled=False)
    annotator = pictures.desk(items=2)
    page.goto(at(site, annotator))
    page.locator(".card-option").nth(1).click()
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#done")).to_have_text("1")
