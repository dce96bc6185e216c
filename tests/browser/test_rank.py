"""Ranking three sentences in a real Chromium: by key, mouse, button and finger; and how it looks."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from annotation.models import Judgment, Lease
from tests.browser.conftest import Sitting, press, submit_button
from tests.browser.looking import PHONE, fits, flaws, in_windows, outside
from tests.builders import ranking_screens

PUTS = "[...document.querySelectorAll('.put')].map(one => one.getBoundingClientRect().height)"
ROLES = ("positive", "second_positive", "negative")
PARTS = [
    ".rank-option",
    ".step",
    ".order",
    ".rank-picture",
    ".put",
    "#submit",
    "#zoom",
    "#skip",
    "#undo",
    "#rules",
    "h1",
]
LONG = "A red cup stands on a blue plate beside a green bottle and behind a very long loaf of bread on a table."
LONG_WORDS = {role: [f"{LONG} {number}"] for number, role in enumerate(ROLES)}

Steps = dict[str, int]  # role → step
Put = Callable[[Page, str, int], None]  # a sentence, by its letter, onto a step
Way = tuple[Steps, Put, Callable[[Page], None]]  # an order, how it is entered and how it is submitted


def label(steps: Steps) -> str:
    tiers = [[role for role in ROLES if steps[role] == step] for step in sorted(set(steps.values()))]
    return ">".join("=".join(tier) for tier in tiers)


# Each sentence once on each step, and all on one.
FEW = [dict(zip(ROLES, steps, strict=True)) for steps in ((3, 2, 1), (2, 1, 3), (1, 3, 2), (2, 2, 2))]


def by_key(page: Page, letter: str, step: int) -> None:
    page.keyboard.press(str(step))  # the sentence that is marked


def drag(page: Page, letter: str, step: int) -> None:
    x, y = centre(page, f'[data-letter="{letter}"] .says')
    to_x, to_y = centre(page, f'.step[data-step="{step}"]')
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move((x + to_x) / 2, (y + to_y) / 2)
    page.mouse.move(to_x, to_y)
    page.mouse.up()


def click(page: Page, letter: str, step: int) -> None:
    page.locator(f'[data-letter="{letter}"] input[value="{step}"]').click()


def finger(page: Page) -> Put:
    send = page.context.new_cdp_session(page).send

    def touch(kind: str, *points: tuple[float, float]) -> None:
        send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    def pull(page: Page, letter: str, step: int) -> None:
        (x, y), to = centre(page, f'[data-letter="{letter}"] .says'), centre(page, f'.step[data-step="{step}"]')
        touch("touchStart", (x, y))
        touch("touchMove", ((x + to[0]) / 2, (y + to[1]) / 2))
        touch("touchMove", to)
        touch("touchEnd")

    return pull


def centre(page: Page, css: str) -> tuple[float, float]:
    box = page.locator(f"#place {css}").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def walk(desk: Sitting, ways: list[Way]) -> None:
    """Each order on a screen of its own; what the page shows and what the database holds is what was entered."""
    entered = {}
    for count, (wanted, put, submit) in enumerate(ways, 1):
        entered[desk.lease] = wanted
        shown = Lease.objects.get(token=desk.lease).shown
        steps = [wanted[identity.split("-")[1]] for identity in shown]
        for letter, step in zip("ABC", steps, strict=True):
            put(desk.page, letter, step)
        assert ranked(desk.page) == dict(zip("ABC", steps, strict=True))
        submit(desk.page)
        if count < len(ways):
            desk.counts(count)
    desk.all_done()
    stored = {str(one.lease.token): one.answer for one in Judgment.objects.select_related("lease")}
    assert stored == {lease: label(wanted) for lease, wanted in entered.items()}
    assert len(stored) == len(ways) and desk.page.errors == []


def ranked(page: Page) -> dict[str, int]:
    """Letter → step, of the sentences that are on one."""
    found = page.evaluate("""[...document.querySelectorAll("#place .rank-option")].map(one =>
      [one.dataset.letter, Number(one.querySelector("input:checked")?.value ?? 0)])""")
    return {letter: step for letter, step in found if step}


def marked(desk: Sitting) -> str:
    return desk.page.locator(".rank-option[aria-current]").get_attribute("data-letter")


def says(desk: Sitting, words: str) -> None:
    expect(desk.page.locator("#place .order")).to_have_text(words)


def test_orders_are_stored_as_they_were_entered_by_key_and_by_mouse(sit):
    """With a mouse two of them by dragging, two by buttons. All 13 orders: test_built_in.py."""
    ways = [(order, by_key, lambda page: press(page, "Enter")) for order in FEW]
    ways += [
        (order, put, lambda page: submit_button(page).click())
        for order, put in zip(FEW, [drag, click] * 2, strict=True)
    ]
    walk(sit(annotator=ranking_screens.ranking(len(ways))), ways)


def test_a_finger_taps_a_button_or_pulls_and_the_order_is_stored(open_page, site):
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True, reduced_motion="no-preference")
    desk = Sitting(page, site, ranking_screens.ranking(2)).open()
    page.evaluate(
        "window.kinds = new Set(); addEventListener('pointerup', event => kinds.add(event.pointerType), true)"
    )
    page.locator('[data-letter="B"] .put').nth(2).tap()
    assert ranked(page) == {"B": 3}
    walk(desk, [(order, finger(page), touched_submit) for order in FEW[1:3]])


def touched_submit(page: Page) -> None:
    assert page.evaluate("[...kinds]") == ["touch"]
    submit_button(page).tap()


def test_keys_mark_and_rank_and_what_is_missing_is_asked_for(sit):
    """Nothing is ranked at first; a digit marks the next; up and down go by what is above and below."""
    desk = sit(annotator=ranking_screens.ranking(4))
    says(desk, "Not ranked yet: A, B, C.")
    desk.press("Enter").told("Rank sentence A")
    desk.press("1", "ArrowDown", "2")
    says(desk, "A: Best. C: Middle. Not ranked yet: B.")
    desk.press("Enter").told("Rank sentence B").counts(0)
    desk.press("2")
    says(desk, "Your order: A > B = C")
    desk.press("Enter").counts(1).says("saved")
    assert marked(desk) == "A"
    desk.press("b", "3")
    assert marked(desk) == "C"
    desk.press("1")
    assert marked(desk) == "A"
    desk.press("2")
    assert marked(desk) == "B" and ranked(desk.page) == {"A": 2, "B": 3, "C": 1}
    desk.press("1", "1", "1")
    assert ranked(desk.page) == {"A": 1, "B": 1, "C": 1}
    says(desk, "Your order: A = B = C")
    desk.press("Enter").counts(2)
    desk.press("3", "2", "1")  # C stands on top, A at the bottom
    seen = []
    for _ in range(3):
        desk.press("ArrowUp")
        seen.append(marked(desk))
    assert seen == ["B", "C", "A"]
    desk.press("ArrowDown").told("Marked. Best.")
    assert marked(desk) == "C"
    desk.press("4", "0", "Shift+A")
    assert ranked(desk.page) == {"A": 3, "B": 2, "C": 1} and marked(desk) == "C"
    desk.press("Enter").counts(3)
    a_drag_that_ends_beside_the_steps_or_with_escape_changes_nothing(desk)


def a_drag_that_ends_beside_the_steps_or_with_escape_changes_nothing(desk: Sitting) -> None:
    page = desk.page
    for end in ("beside", "Escape"):
        page.mouse.move(*centre(page, '[data-letter="A"] .says'))
        page.mouse.down()
        page.mouse.move(*centre(page, '.step[data-step="2"]'), steps=3)
        expect(page.locator(".step.over")).to_have_text("2 Middle")
        assert page.evaluate("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.rank'))")
        if end == "beside":
            page.mouse.move(*centre(page, ".rank-picture"))
        else:
            desk.press("1", "Enter", "Escape")  # no key acts while it is held
        expect(page.locator(".step.over")).to_have_count(0)
        page.mouse.up()
        assert ranked(page) == {} and page.locator(".dragged").count() == 0
    drag(page, "A", 2)
    assert ranked(page) == {"A": 2} and page.errors == []


def test_an_answer_comes_back_and_buttons_are_native_radio_buttons(sit):
    """Undone, looked back at, and over a reload; arrows mark again after a click."""
    desk = sit(annotator=ranking_screens.ranking(4))
    desk.press("2", "2", "3", "Enter").counts(1).says("saved").press("u").told("Undone").counts(0)
    says(desk, "Your order: A = B > C")
    desk.press("Enter").counts(1).says("saved").press("3", "1")
    desk.page.reload()
    desk.at_desk()
    assert ranked(desk.page) == {"A": 3, "B": 1} and marked(desk) == "C"
    desk.press("ArrowLeft")
    says(desk, "Your order: A = B > C")
    desk.press("c", "1", "Enter").says("saved").counts(1)
    assert ranked(desk.page) == {"A": 3, "B": 1}  # the screen that was in front, as it was
    tied = "positive=second_positive=negative"
    assert list(Judgment.objects.order_by("pk").values_list("answer", flat=True))[-1] == tied
    desk.press("2", "Enter").counts(2)
    click(desk.page, "B", 1)
    assert marked(desk) == "C"
    desk.press("ArrowUp")
    assert ranked(desk.page) == {"B": 1} and marked(desk) == "A"
    desk.page.locator('[data-letter="C"] .says').click()
    assert marked(desk) == "C"
    desk.press("1", "1", "Enter").counts(3)
    first = desk.page.get_by_role("radiogroup").first
    expect(first).to_have_accessible_name(f"A: {first.locator('.says').text_content()}")
    first.get_by_role("radio", name="1 best").focus()
    desk.press("Space", "ArrowRight")
    assert ranked(desk.page) == {"A": 2}
    desk.press("3")
    assert ranked(desk.page) == {"A": 3}
    expect(desk.page.locator('[data-letter="B"] input').first).to_be_focused()
    desk.press("Enter").told("Rank sentence B")


def test_all_of_it_works_without_script(open_page, site):
    page = open_page(java_script_enabled=False)
    page.goto(f"{site}/judge/{ranking_screens.ranking(1).token}/")
    for letter, step in (("A", 2), ("B", 1), ("C", 1)):
        page.locator(f'[data-letter="{letter}"] input[value="{step}"]').check()
    tops = [page.locator(f'[data-letter="{letter}"]').bounding_box()["y"] for letter in "BCA"]
    assert tops == sorted(tops)  # each below its step
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert Judgment.objects.get().answer.count("=") == 1


def test_where_less_motion_is_wanted_nothing_moves_by_itself(open_page, site):
    page = open_page(reduced_motion="reduce")
    desk = Sitting(page, site, ranking_screens.ranking(1)).open()
    drag(page, "A", 3)
    desk.press("1", "2")
    assert page.evaluate("document.getAnimations().length") == 0 and ranked(page) == {"A": 3, "B": 1, "C": 2}


def under(page: Page) -> list[str]:
    """The sentences and steps whose middle is covered by something else."""
    return page.evaluate("""[...document.querySelectorAll("#place .rank-option, #place .step")].filter(one => {
      const box = one.getBoundingClientRect();
      return !one.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2));
    }).map(one => one.textContent)""")


def test_long_sentences_can_all_be_reached_without_scrolling_sideways(sit):
    desk = sit(annotator=ranking_screens.ranking([LONG_WORDS]))
    sizes = [(1366, 768), (390, 844), (683, 384), (320, 640)]
    for step, _ in zip((2, 1, 3, 2), in_windows(desk.page, *((*size, "light") for size in sizes)), strict=True):
        for letter in "ABC":
            click(desk.page, letter, step)
        assert ranked(desk.page) == dict.fromkeys("ABC", step)
        assert fits(desk.page)


def test_everything_is_in_sight_and_accessible_in_every_state(sit, axe_violations):
    """In sight whatever is ranked; accessible as it comes, ranked, with the rules open, and looked back at."""
    desk = sit(annotator=ranking_screens.ranking(2))
    for step in ("", "1", "1", "3"):
        desk.press(*step)
        for window in in_windows(desk.page):
            assert outside(desk.page, PARTS) == [], window
            assert under(desk.page) == [], window
            assert fits(desk.page), window
            sizes = desk.page.evaluate(PUTS)
            assert len(sizes) == 9 and (window[0] > 390 or min(sizes) >= 24), (window, sizes)
            assert step or axe_violations(desk.page, again=window == PHONE) == [], window
    assert flaws(desk.page, axe_violations, "#place") == []
    desk.press("h")
    assert flaws(desk.page, axe_violations, "#rules-dialog") == []
    desk.press("Escape", "Enter").counts(1).says("saved").press("ArrowLeft")
    assert flaws(desk.page, axe_violations, "#banner") == []
