"""The report in a real browser: on screen, by keyboard, on paper."""

import re

from tests.browser.looking import PHONE, flaws, tab_to
from tests.builders import crowds

SHOWN = "selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility()).length"
WIDE = 700  # pixels between the margins of A4


def test_it_fits_breaks_no_rule_and_is_printed_and_downloaded(visit, page, axe_violations):
    study = crowds.stage(items=12, people=3, overlap=2).study
    visit(page, f"/studies/{study.pk}/results/report/")
    assert (flaws(page, axe_violations), page.errors) == ([], [])

    # A phone shows its headings first.
    width, height, _ = PHONE
    page.set_viewport_size({"width": width, "height": height})
    page.reload()
    assert page.evaluate("document.documentElement.scrollHeight") < 4 * height
    assert page.evaluate(SHOWN, ".appendix h2") > 8 and page.evaluate(SHOWN, ".appendix table") == 0
    page.get_by_text("Show Agreement").click()
    assert page.evaluate(SHOWN, "#agreement table") > 0

    # By keyboard it is printed and downloaded.
    page.evaluate("window.print = () => { window.printed = true; }")
    tab_to(page, page.get_by_role("button", name="Print"))
    page.keyboard.press("Enter")
    assert page.evaluate("window.printed")
    tab_to(page, page.get_by_role("link", name="Download JSON"))
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert re.fullmatch(r"report-study-\d+\.json", download.value.suggested_filename)

    # Paper is black on white, without what leads elsewhere.
    page.set_viewport_size({"width": WIDE, "height": 1000})
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(SHOWN, "header.bar, .skip-link, .actions, .contents, button") == 0
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(SHOWN, ".appendix table") == page.locator(".appendix table").count()
    cut = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > innerWidth + 1).length"
    assert page.evaluate(cut) == 0
    heads = "[...new Set([...document.querySelectorAll('thead')].map(one => getComputedStyle(one).display))]"
    assert page.evaluate(heads) == ["table-header-group"]
    assert page.pdf(format="A4").startswith(b"%PDF")
