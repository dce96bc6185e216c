"""Setting a study up in a real browser: the plan as one types, the keyboard, both sizes, accessibility."""

import re

import pytest
from playwright.sync_api import expect

from annotation.models import Study
from tests.browser.looking import flaws
from tests.builders import pictures, studies

FINE = {"choose-overlap": "3", "choose-quota": "7", "choose-seconds": "17.5", "choose-kept": "33.3"}
CHANGES = {  # one after another
    "as it comes": {},
    "small batches": {
        "choose-batch_size": "4",
        "choose-agreement_items": "5",
        "i2t-sample": "3",
        "i2t-batch_size": "2",
    },
    "everyone": {"disambiguate-strategy": "everyone", "disambiguate-overlap": "5"},
    "other numbers": {**FINE, "choose-strategy": "pool", "choose-check_rate": "12.5", "pay_per_hour": "9.55"},
    "another currency": {"currency": "eur"},  # shown once there is pay
}


def go_to(page, step: str) -> None:
    page.locator(f".way a[href='#{step}']:visible").click()
    expect(page.locator(f"#{step}")).to_be_visible()


def errors(page) -> list[str]:
    """But those of pictures without files."""
    return [error for error in page.errors if "404" not in error]


def fill(page, changes: dict[str, str]) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    for name, value in changes.items():
        field = page.locator(f"[name='{name}']")
        if not field.is_visible():
            go_to(page, field.evaluate("one => one.closest('.step').id"))
        if field.evaluate("one => one.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


CELL = r'data-of="\w+">([^<]*)<'


def plan(html: str) -> list[str]:
    return re.findall(CELL, html)


def test_the_plan_as_one_types_is_the_servers(visit, page, client):
    benchmark = studies.benchmark(items=23)
    visit(page, f"/studies/new/?preset=bivlc&benchmark={benchmark.pk}")
    fill(page, {"name": "Round 1"})
    for case, changes in CHANGES.items():
        fill(page, changes)
        expect(page.locator("#work-out")).to_be_hidden()
        sent = page.evaluate("Object.fromEntries(new FormData(document.getElementById('new-study')))")
        served = plan(client.post("/studies/new/", sent | {"plan": "1"}).content.decode())
        page.wait_for_function(
            "want => [...document.querySelectorAll('#plan [data-of]')].every((one, n) => one.textContent === want[n])",
            arg=served,
        )
        assert plan(page.content()) == served, case
        assert len(served) == 6 + 4 * 4 and "–" not in served, case
        assert errors(page) == [] and not Study.objects.exists(), case


def test_the_server_plans_an_audit_as_one_types(visit, page):
    visit(page, f"/studies/new/?protocol=verify&benchmark={studies.benchmark(items=40).pk}")
    judgments = page.locator("#plan [data-of=judgments]")
    target, batch = page.locator("[name=verify-target_half_width]"), page.locator("[name=verify-batch_size]")
    expect(target).to_be_hidden()  # as only audits have one
    fill(page, {"verify-strategy": "batches"})
    expect(batch).to_be_visible()
    fill(page, {"verify-strategy": "audit", "verify-overlap": "1"})
    expect(page.locator("#plan")).to_contain_text("Correct these to see the plan: Audit: stop at ± (%)")
    expect(batch).to_be_hidden()
    fill(page, {"verify-target_half_width": "15"})
    expect(page.locator("#plan")).to_contain_text("needs at most 20 of 40 items")
    fill(page, {"verify-wrong": "5"})
    expect(judgments).to_have_text("10")
    fill(page, {"verify-strategy": "pool"})
    expect(judgments).to_have_text("40")
    expect(page.locator("#plan")).to_contain_text("agreement cannot be measured, which needs two.")
    assert errors(page) == []


def test_where_edits_are_confirmed_the_plan_has_two_people(visit, page, client):
    path = f"/studies/new/?protocol=visla-paraphrase&benchmark={studies.benchmark(items=3).pk}"
    visit(page, path)
    expect(page.locator("#work-out")).to_be_hidden()
    people = page.locator("[data-of=annotators]")
    assert people.all_inner_texts() == ["2"] and plan(page.content()) == plan(client.get(path).text)
    assert errors(page) == []


def test_another_benchmark_changes_the_plan_and_what_it_can_start_from(visit, page):
    studies.benchmark(items=7, name="With candidates")
    studies.benchmark(items=3, name="Without", candidates=0)
    visit(page, "/studies/new/?preset=verify")
    go_to(page, "question")
    choose = page.get_by_role("button", name="BiVLC, complete")
    for name, judgments, buttons in (("With candidates", "21", 1), ("Without", "9", 0), ("With candidates", "21", 1)):
        page.get_by_label("Benchmark").select_option(name)
        expect(page.locator("#plan [data-of=judgments]")).to_have_text(judgments)
        expect(choose).to_have_count(buttons)
    assert errors(page) == []


def test_a_question_takes_two_clicks_from_the_list_of_studies(visit, page):
    benchmark = studies.benchmark(items=2, candidates=0)
    pictures.paint_benchmark(benchmark)
    visit(page, "/studies/")
    page.get_by_role("link", name=re.compile("New study|Create a study")).click()
    screen = page.locator(".ask", has_text="Caption or hard negative").frame_locator("iframe")
    expect(screen.locator("#desk.ready")).to_contain_text(benchmark.items.first().captions.get(role="negative").text)
    expect(page.locator(".ask", has_text="Verify").first).to_contain_text("not shown: hard negative")
    expect(page.locator("#unfit summary")).to_be_visible()
    expect(page.locator("#unfit dl")).to_be_hidden()
    page.get_by_role("button", name="Create it now").click()  # asks what fits best
    page.wait_for_url(re.compile(r"/studies/\d+/$"))
    study = Study.objects.get()
    assert (study.title, study.stages.get().protocol) == (benchmark.name, "image-caption-foil@1")
    assert page.errors == []


def test_a_study_is_set_up_by_keyboard_alone(visit, page):
    benchmark = studies.benchmark(items=2)
    visit(page, f"/studies/new/?preset=verify&benchmark={benchmark.pk}")
    page.get_by_role("link", name="Continue to the texts").press("Enter")
    page.get_by_label("Study name").fill("By keyboard")
    go_to(page, "question")
    page.get_by_role("button", name="BiVLC, complete").press("Space")
    expect(page.locator("[data-stage]:visible")).to_have_count(4)
    page.locator("[name=choose-overlap]").press("Enter")  # leads on
    name = page.get_by_label("Study name")
    expect(name).to_be_visible()  # what is hidden cannot be focused, and the first Enter would be pressed again
    expect(name).to_have_value("By keyboard")
    name.press("Enter")  # creates the study, though the questions' buttons come first
    page.wait_for_url(re.compile(r"/studies/\d+/$"))
    assert Study.objects.get().stages.count() == 4


@pytest.mark.parametrize("script", [True, False])
def test_steps_go_back_and_forward_and_keep_what_was_typed(visit, open_page, script):
    page = open_page(java_script_enabled=script)
    visit(page, f"/studies/new/?benchmark={studies.benchmark(items=2, candidates=0).pk}")
    page.get_by_role("link", name="Continue with").click()
    quota, name = page.get_by_label("Most judgments per person"), page.get_by_label("Study name")
    quota.fill("5")
    page.get_by_role("link", name="Continue to the texts").click()
    name.fill("Kept")
    page.go_back()
    expect(quota).to_have_value("5")
    page.go_back()
    expect(page.get_by_role("link", name="Continue with")).to_be_visible()
    page.go_forward()
    page.go_forward()
    expect(name).to_have_value("Kept")
    name.fill("")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("alert").get_by_role("link")).to_have_text("Study name")
    expect(name).to_be_visible()
    expect(quota).to_be_hidden()
    go_to(page, "people")
    expect(quota).to_have_value("5")


def test_the_form_breaks_no_rule_and_fits_even_with_errors(visit, page, axe_violations):
    benchmark = studies.benchmark(items=2)
    pictures.paint_benchmark(benchmark)
    visit(page, f"/studies/new/?preset=bivlc&benchmark={benchmark.pk}")
    fill(page, {"choose-overlap": "0", "i2t-lease_seconds": "1", "name": ""})
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("alert").get_by_role("listitem")).to_have_count(3)
    fill(page, {})
    assert flaws(page, axe_violations) == []
    page.get_by_role("alert").get_by_role("link", name="Study name").click()
    expect(page.get_by_label("Study name")).to_be_visible()
    assert flaws(page, axe_violations, within="#texts") == []
    page.get_by_role("alert").get_by_role("link", name="Reservation time (seconds)").click()
    assert page.evaluate("location.hash") == "#id_i2t-lease_seconds"
    expect(page.locator("#id_i2t-lease_seconds")).to_be_visible()
    go_to(page, "question")
    assert flaws(page, axe_violations, within="#question") == []


def test_who_judges_what_breaks_no_rule_and_fits(visit, page, axe_violations):
    stage = studies.stage(items=4, strategy="named")
    studies.annotator(stage.study, name="Ana Lima")
    visit(page, f"/studies/{stage.study_id}/stages/1/assign/")
    page.get_by_label("A-01 Ana Lima").check()
    page.get_by_label("Items", exact=True).select_option("all items of the stage")
    page.get_by_role("button", name="Assign").click()
    expect(page.locator("#given td").first).to_have_text("4")
    page.locator("details summary").first.click()
    assert flaws(page, axe_violations) == []
    page.get_by_role("button", name="Take item-2 back from A-01").click()
    expect(page.locator("#given td").first).to_have_text("3")
