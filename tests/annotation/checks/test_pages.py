"""The managers' page of checks, practice and questions."""

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.checks import attention_checks
from annotation.models import Kind, Strategy
from tests.annotation.checks.test_attention_checks import gold_benchmark, with_checks, work_through
from tests.annotation.checks.test_qualification import QUESTIONS, practise, questions, stage_with
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client, django_user_model):
    user = django_user_model.objects.create_superuser("manager", password="x")
    client.force_login(user)
    return client


def address(stage):
    return reverse("study-checks", args=[stage.study_id, stage.position])


def send(client, stage, do, **fields):
    return client.post(address(stage), {"do": do, **fields}, follow=True)


def add(client, stage, lines, do="check", benchmark=None, **fields):
    source = benchmark or stage.study.benchmark
    return send(client, stage, do, benchmark=source.pk, lines=lines, **fields)


def test_checks_are_pasted_and_shown(staff):
    stage = studies.stage(items=3)
    page = add(staff, stage, "item-0 candidate-1|candidate-2\nitem-2 none")
    assert page.status_code == 200 and "Added 2." in page.content.decode()
    found = {task.item.key: task.gold for task in stage.tasks.filter(kind=Kind.CHECK)}
    assert found == {"item-0": ["candidate-1", "candidate-2"], "item-2": ["none"]}
    assert "candidate-1 or candidate-2" in page.content.decode()


def test_checks_come_from_another_benchmark_by_what_the_import_brought(staff):
    stage, source = studies.stage(), gold_benchmark(5)
    add(staff, stage, "item-3", benchmark=source, draw_known=2)
    assert stage.tasks.filter(kind=Kind.CHECK, item__benchmark=source, gold=["candidate-1"]).count() == 3


def test_lines_that_are_wrong_for_different_reasons_are_all_named(staff):
    html = add(staff, studies.stage(items=2), "item-0 candidate-9\nitem-7 none").content.decode()
    assert "Line 2: the benchmark has no item item-7." in html and "Item item-0 has no answer candidate-9" in html


def test_one_wrong_line_and_nothing_is_set(staff):
    stage = studies.stage(items=2)
    page = add(staff, stage, "item-0 none\nitem-7 none")
    html = page.content.decode()
    assert page.status_code == 422 and "Line 2: the benchmark has no item item-7." in html
    assert "item-0 none\nitem-7 none" in html and not stage.tasks.exclude(kind=Kind.JUDGE).exists()


def test_what_cannot_be_set_is_said(staff):
    stage = studies.stage()
    for lines, fields, reason in (
        ("", {}, "Name at least one item"),
        ("item-0 candidate-7", {}, "has no answer candidate-7"),
        ("item-0", {}, "was imported without a known answer"),
        ("", {"draw_known": 3}, "has only 0 free items with a known answer"),
        ("", {"draw_known": 0}, "greater than or equal to 1"),
    ):
        page = add(staff, stage, lines, **fields)
        assert page.status_code == 422 and reason in page.content.decode(), reason


def test_practice_has_notes(staff):
    stage = studies.stage(items=2)
    page = add(staff, stage, "item-0 none # Look at the plate.", do="practice")
    assert "Look at the plate." in page.content.decode()
    assert stage.tasks.get(kind=Kind.PRACTICE).note == "Look at the plate."


def test_marked_ones_are_removed(staff):
    stage, made = with_checks(known=3)
    page = send(staff, stage, "remove", task=[made[0].pk, made[1].pk, "x"])
    assert "Removed 2, retired 0." in page.content.decode()
    assert stage.tasks.filter(kind=Kind.CHECK).count() == 1


def test_settings_are_saved_and_held_within_their_bounds(staff):
    stage = studies.stage()
    given = {"check_rate": "12.5", "practice_pass": "70", "practice_tries": "3", "on_failure": "screen_out"}
    send(staff, stage, "settings", **given)
    stage.refresh_from_db()
    assert (stage.check_rate, stage.practice_pass, stage.practice_tries) == (0.125, 0.7, 3)
    assert send(staff, stage, "settings", **{**given, "check_rate": "51"}).status_code == 422
    assert send(staff, stage, "settings", **{**given, "practice_tries": ""}).status_code == 422


def test_questions_are_saved_and_shown_as_they_were_typed(staff):
    stage = studies.stage()
    text = "What counts?\n- looks\n* content"
    page = send(staff, stage, "questions", text=text.replace("\n", "\r\n"))
    stage.refresh_from_db()
    assert stage.comprehension == [{"question": "What counts?", "options": ["looks", "content"], "answer": 1}]
    assert text in page.content.decode()
    wrong = send(staff, stage, "questions", text="What counts?\n- looks\n- content")
    assert wrong.status_code == 422 and "0 options are marked correct" in wrong.content.decode()


def test_how_checks_and_annotators_did_is_shown(staff):
    stage, _ = with_checks(check_rate=0.5, known=4, items=4, strategy=Strategy.EVERYONE)
    annotator = studies.annotator(stage.study)
    while studies.judgment(annotator, stage, "none"):
        pass
    html = staff.get(address(stage)).content.decode()
    assert annotator.pseudonym in html and "failed checks" in html and strip_tags(html).count("0% –") == 5
    assert attention_checks.results(stage)[annotator.number].failed


def test_how_questions_and_practice_went_is_shown(staff):
    stage = stage_with(practice_items=2, comprehension=QUESTIONS)
    annotator = studies.annotator(stage.study)
    questions(annotator, stage, 1, [1, 2])
    questions(annotator, stage, 2, [1, 0])
    for _ in range(2):
        practise(annotator, stage, right=False)
    html = staff.get(address(stage)).content.decode()
    assert "50%, 100%" in strip_tags(html) and "failed practice" in html and "failed questions" not in html


def test_the_number_of_queries_does_not_grow_with_checks(staff, django_assert_max_num_queries):
    for known in (1, 6):
        stage, _ = with_checks(check_rate=0.5, known=known, items=6, strategy=Strategy.EVERYONE, overlap=3)
        for _ in range(known // 2):
            work_through(studies.annotator(stage.study), stage)
        with django_assert_max_num_queries(25):
            staff.get(address(stage))


def test_anything_else_does_nothing(staff):
    stage = studies.stage()
    assert send(staff, stage, "nonsense").status_code == 200
    assert send(staff, stage, "remove").status_code == 200
