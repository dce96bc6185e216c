"""The page of models beside humans in a real browser, with the forms that lead to it."""

from django.urls import reverse

from tests.annotation.comparison.test_pages import address, two_models, with_models
from tests.browser.looking import flaws
from tests.builders import compared_models, studies
from tests.builders.scored_benchmarks import ordered, retrieved


def test_axe_finds_nothing(open_page, visit, axe_violations, tmp_path):
    study = with_models(tmp_path)
    other = studies.benchmark()
    compared_models.reported(other, "sugarcrepe")
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    first, second = two_models(study.benchmark)
    retrieved(study.benchmark)
    ordered(study.benchmark, "CLIP")
    visit(page, f"{address(study.benchmark)}?other={other.pk}&first={first.pk}&second={second.pk}")
    page.locator("#plane").scroll_into_view_if_needed()
    page.locator("#plane svg").wait_for()
    page.get_by_role("button", name="Copy").last.click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("\\begin{tabular}")
    page.get_by_text("Delete", exact=True).first.click()
    assert flaws(page, axe_violations) == []
    for name in ("predictions-new", "reported-new", "score-new"):
        visit(page, reverse(name, args=[study.benchmark_id]))
        assert flaws(page, axe_violations) == [], name
    page.get_by_label("Sentence encoder").check()
    assert page.input_value("#id_model") == ""
    page.get_by_label("CLIP An architecture").check()
    assert page.input_value("#id_model") == "ViT-B-32-quickgelu"
    assert page.errors == []
