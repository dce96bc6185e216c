"""The managers' page of checks, practice and questions."""

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.assignment import leases as assignment_leases
from annotation.checks import attention_checks
from annotation.models import Kind, Strategy
from tests.annotation.checks.test_attention_checks import gold_benchmark, with_checks, work_through
from tests.annotation.checks.test_qualification import QUESTIONS, practise, questions, stage_with
from tests.annotation.pipeline.test_audits import audit_stage
from tests.builders import every_protocol, studies
from tests.collapsed import collapsed

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


def pick(client, stage, *items, query="", **fields):
    """Press an answer of an item, or the button for several."""
    there = reverse("study-checks-pick", args=[stage.study_id, stage.position]) + query
    return client.post(there, {"item": [item.pk for item in items], **fields}, follow=True)


def items_of(stage):
    return list(stage.study.benchmark.items.order_by("position"))


def picker(client, stage, **asked):
    return client.get(reverse("study-checks-pick", args=[stage.study_id, stage.position]), asked)


def test_a_press_on_the_right_answer_makes_a_check_and_the_page_says_what_leaves(staff):
    stage = studies.stage(items=3)
    before = picker(staff, stage)
    assert "share of checks is 0. Items that you pick leave the study: 3 are left." in collapsed(before.text)
    first, *_ = items_of(stage)
    assert f'value="{first.pk}"' in before.text and before.text.count('name="answer"') > 3
    page = pick(staff, stage, first, answer=["candidate-1"])
    assert "“item-0” is a check now. This item left the study: 2 are left." in page.text
    assert "1 check picked." in page.text and page.redirect_chain[-1][0].endswith(f"#item-{first.pk}")
    assert [(task.item, task.gold) for task in stage.tasks.filter(kind=Kind.CHECK)] == [(first, ["candidate-1"])]
    assert "✓ right" in staff.get(address(stage)).text


def test_several_answers_can_be_right(staff):
    stage = studies.stage(items=1)
    page = pick(staff, stage, *items_of(stage), answer=["candidate-2", "candidate-1"])
    assert stage.tasks.get(kind=Kind.CHECK).gold == ["candidate-1", "candidate-2"]
    assert page.text.count("✓ right") == 2


def test_checks_are_drawn_from_another_benchmark_and_nothing_leaves(staff):
    stage, source = studies.stage(), gold_benchmark(5)
    shown = picker(staff, stage, benchmark=source.pk, draw=3)
    assert "No item leaves the study." in shown.text and len(shown.context["rows"]) == 3
    pick(staff, stage, *source.items.filter(pk__in=shown.context["drawn"]), query="?draw=3")
    assert stage.tasks.filter(kind=Kind.CHECK, item__benchmark=source, gold=["candidate-1"]).count() == 3
    left = picker(staff, stage, benchmark=source.pk, draw=9)
    assert "Only 2 of these items" in collapsed(left.text)


def test_what_a_draw_takes_out_is_said_before(staff):
    stage = studies.stage(items=5)
    stage.study.benchmark.items.update(truth={stage.protocol: ["none"]})
    assert "These 2 items leave the study: 3 are left." in picker(staff, stage, draw=2).text
    assert not stage.tasks.exclude(kind=Kind.JUDGE).exists()


def test_items_are_found_by_words_type_and_known_answers_and_none_that_was_seen(staff):
    stage = studies.stage(items=3)
    one, two, three = items_of(stage)
    three.truth, three.type = {stage.protocol: ["none"]}, "odd"
    three.save()
    seen = assignment_leases.hold(annotator=studies.annotator(stage.study), stage=stage, wanted=1)[0].task.item

    def found(**asked):
        return [row.case.item for row in picker(staff, stage, **asked).context["rows"]]

    assert found() == [item for item in (one, two, three) if item != seen]
    wanted = [three][: three != seen]
    assert [found(q="item-2"), found(type="odd"), found(known="on")] == [wanted] * 3


def test_what_cannot_be_set_is_said(staff):
    stage = studies.stage()
    [item] = items_of(stage)
    for given, answer, reason in (
        ([], [], "Pick at least one item"),
        ([item], ["candidate-7"], "has no answer candidate-7"),
        ([item], [], "was imported without a known answer"),
    ):
        page = pick(staff, stage, *given, answer=answer)
        assert page.status_code == 422 and reason in page.text and 'id="problems"' in page.text, reason
    assert not stage.tasks.exclude(kind=Kind.JUDGE).exists()


def test_an_item_of_several_questions_is_used_with_its_known_answers(staff):
    stage = studies.stage(benchmark=every_protocol.benchmark(items=1), protocol="bivlc-t2i")
    page = picker(staff, stage).text
    assert "Use the known answers to its 2 questions" in collapsed(page) and 'name="answer"' not in page
    assert "is a check now" in pick(staff, stage, *items_of(stage)).text
    assert stage.tasks.filter(kind=Kind.CHECK).count() == 2


def test_checks_of_an_audit_come_from_another_benchmark(staff):
    stage = audit_stage(items=3)
    assert "An audit’s checks come from another benchmark." in picker(staff, stage).text
    source = gold_benchmark(1)
    page = picker(staff, stage)
    assert [row.case.item.benchmark for row in page.context["rows"]] == [source] and "No item leaves" in page.text


def test_practice_has_notes(staff):
    stage = studies.stage(items=2)
    item, _ = items_of(stage)
    assert 'name="note"' in picker(staff, stage, **{"as": "practice"}).text
    page = pick(staff, stage, item, query="?as=practice", answer=["none"], note="Look at the plate.")
    assert "Look at the plate." in page.text
    assert stage.tasks.get(kind=Kind.PRACTICE).note == "Look at the plate."


def test_a_pick_is_taken_back_where_it_was_made(staff):
    stage = studies.stage(items=2)
    item, _ = items_of(stage)
    pick(staff, stage, item, answer=["none"])
    page = pick(staff, stage, item, task=[stage.tasks.get(kind=Kind.CHECK).pk])
    assert (
        "that you pick leave the study: 2 are left." in collapsed(page.text)
        and not stage.tasks.exclude(kind=Kind.JUDGE).exists()
    )


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
        with django_assert_max_num_queries(30):
            assert len(picker(staff, stage, benchmark=stage.tasks.last().item.benchmark_id).context["rows"]) == known


def test_anything_else_does_nothing(staff):
    stage = studies.stage()
    assert send(staff, stage, "nonsense").status_code == 200
    assert send(staff, stage, "remove").status_code == 200
