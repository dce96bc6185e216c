"""What can change about a study that people judge in, and what stays."""

import contextlib
import threading
import time
from datetime import datetime
from decimal import Decimal

import pytest
from django.db import connections, transaction

from annotation.assignment import leases
from annotation.models import Judgment, Slot, Stage, Study
from annotation.pipeline import promotion, task_creation
from annotation.screens import read_answer
from annotation.studies import lifecycle, settings
from annotation.studies.settings import CannotChange
from benchmarks.corrections.correct import Change, correct
from benchmarks.models import Action, Event
from tests.annotation.judging.test_closing_races import somebody_waits
from tests.builders import declared, studies, visla_items

pytestmark = pytest.mark.django_db


def judged(stage: Stage, *rounds: tuple[str, ...]) -> None:
    """Each round is a new annotator's answers, in the order of screens."""
    for answers in rounds:
        who = studies.annotator(stage.study)
        for answer in answers:
            studies.judgment(who, stage, answer)


@pytest.mark.parametrize(
    "given", [{"name": "Autumn"}, {"consent": "You can stop."}, {"pay_per_hour": Decimal("9.50")}, {"currency": "EUR"}]
)
def test_a_change_is_stored_and_logged_with_both_values(given):
    study = studies.study(name="Spring")
    [(name, value)] = given.items()
    before = getattr(study, name)
    settings.change_study(study=study, by="test", **given)
    event = Event.objects.get(verb=settings.CHANGED)
    assert (getattr(Study.objects.get(), name), event.data["after"]) == (value, str(value))
    assert (event.subject, event.data["setting"], event.data["before"]) == (f"study:{study.pk}", name, str(before))


def test_what_is_the_same_is_no_change():
    study = studies.study(name="Spring")
    settings.change_study(study=study, by="test", name="Spring")
    assert not Event.objects.filter(verb=settings.CHANGED).exists()


def test_the_currency_stays_once_somebody_has_judged_for_pay():
    stage = studies.stage()
    judged(stage, ("none",))
    settings.change_study(study=stage.study, by="test", currency="EUR")  # nobody was paid
    settings.change_study(study=stage.study, by="test", pay_per_hour=Decimal(9))
    with pytest.raises(CannotChange, match="worked for pay in this currency"):
        settings.change_study(study=stage.study, by="test", currency="USD")


def test_another_pay_counts_from_now_on_and_until_somebody_judges_for_all():
    stage = studies.stage(items=2, pay_per_hour=Decimal(6))
    settings.change_study(study=stage.study, by="test", pay_per_hour=Decimal(10))
    assert Study.objects.get().earlier_pay == []
    judged(stage, ("none",))
    settings.change_study(study=stage.study, by="test", pay_per_hour=Decimal(20))
    [(until, rate)] = Study.objects.get().earlier_pay
    assert rate == 10 and datetime.fromisoformat(until) > Judgment.objects.get().created_at


def test_a_name_that_is_taken_is_refused():
    studies.study(name="Spring")
    with pytest.raises(CannotChange, match="already exists"):
        settings.change_study(study=studies.study(name="Autumn"), by="test", name="Spring")


# Judgments per item


def test_more_judgments_are_asked_of_what_is_open_and_settled_items_keep_theirs():
    stage = studies.stage(items=3, overlap=1)
    judged(stage, ("none",))
    settled, *others = stage.tasks.order_by("rank")
    settings.change_stage(stage=stage, by="test", overlap=3)
    assert settled.slots.count() == 1 and settled.decided.reason
    for task in others:
        task.refresh_from_db()
        assert task.overlap == 3
        assert list(task.slots.order_by("number").values_list("number", "live")) == [(1, True), (2, True), (3, True)]
    judged(stage, ("none", "none"), ("none", "none"))
    assert not any(hasattr(stage.tasks.get(pk=task.pk), "decided") for task in others)
    judged(stage, ("none", "none"))
    assert all(stage.tasks.get(pk=task.pk).decided.by == "unanimous" for task in others)


def test_a_tie_that_waits_gets_the_further_judgments_instead():
    stage = studies.stage(overlap=2, tie_rule="adjudicate")
    judged(stage, ("none",), ("candidate-0",))
    assert stage.tasks.get().waits
    settings.change_stage(stage=stage, by="test", overlap=3)
    assert not stage.tasks.get().waits
    judged(stage, ("none",))
    assert stage.tasks.get().decided.outcome == "none"


@pytest.mark.parametrize(
    "has, overlap, why",
    [
        ({"overlap": 3}, 2, "from 3 to 50: it can only grow"),
        ({"overlap": 2, "cap": 3}, 4, "from 2 to 3"),
        ({"agreement_items": 1, "agreement_overlap": 2}, 3, "from 1 to 2"),
        ({"strategy": "batches", "batch_size": 1}, 2, "Each batch"),
        ({"strategy": "everyone"}, 2, "Each batch"),
        ({"strategy": "audit", "target_half_width": 0.1}, 2, "audit"),
    ],
)
def test_the_overlap_has_bounds_and_reasons(has, overlap, why):
    stage = studies.stage(**has)
    with pytest.raises(CannotChange, match=why):
        settings.change_stage(stage=stage, by="test", overlap=overlap)
    assert Stage.objects.get().overlap == stage.overlap


def test_where_one_confirms_anothers_edits_nothing_is_chosen():
    stage = visla_items.study("visla-paraphrase").stages.get()
    assert set(settings.locked_in([stage])[stage.pk]) == {"overlap", "tie_rule", "check_rate"}


@pytest.mark.parametrize("question, is_locked", [("verify", False), ("image-caption-foil", True)])
def test_a_files_number_of_judgments_grows_where_shares_of_votes_decide(question, is_locked):
    stage = declared.study(question).stages.get()
    assert ("overlap" in settings.locked_in([stage])[stage.pk]) == is_locked


def test_a_closed_stage_asks_for_no_more():
    stage = studies.stage()
    lifecycle.move_stage(stage=stage, to="closed", by="test")
    with pytest.raises(CannotChange, match="is closed"):
        settings.change_stage(stage=stage, by="test", overlap=2)


def test_a_quota_can_change_at_any_time():
    stage = studies.stage(items=2)
    judged(stage, ("none",))
    settings.change_stage(stage=stage, by="test", quota=1)
    assert Stage.objects.get().quota == 1
    settings.change_stage(stage=stage, by="test", quota=None)
    assert Stage.objects.get().quota is None


# Ties


def test_another_tie_rule_settles_the_ties_that_wait_and_is_then_locked():
    stage = studies.stage(overlap=2, tie_rule="adjudicate")
    judged(stage, ("none",), ("candidate-0",))
    settings.change_stage(stage=stage, by="test", tie_rule="first")
    assert (stage.tasks.get().decided.outcome, stage.tasks.get().decided.by) == ("none", "tie_rule")
    with pytest.raises(CannotChange, match="It has settled ties"):
        settings.change_stage(stage=stage, by="test", tie_rule="drop")


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_waits_for_the_change_is_settled_by_the_new_rule():
    stage = studies.stage(overlap=2, tie_rule="drop")
    judged(stage, ("none",))
    who = studies.annotator(stage.study)
    [lease] = leases.hold(annotator=who, stage=stage, wanted=1)
    place = read_answer.place_on_screen(lease, "candidate-0")
    with meanwhile(lambda: studies.submit(who, lease, place)):
        settings.change_stage(stage=stage, by="test", tie_rule="first")
    decided = stage.tasks.get().decided
    assert (decided.by, decided.outcome) == ("tie_rule", "none")


@pytest.mark.django_db(transaction=True)
def test_items_that_come_in_meanwhile_get_the_further_judgments():
    stage = studies.stage()
    studies.item(stage.study.benchmark)
    items = stage.study.benchmark.items.filter(tasks=None)
    with meanwhile(lambda: task_creation.create_tasks(stage, promotion.new_tasks(stage, items))):
        settings.change_stage(stage=Stage.objects.get(), by="test", overlap=2)
    assert list(Slot.objects.order_by("task", "number").values_list("number", flat=True)) == [1, 2, 1, 2]


@pytest.mark.django_db(transaction=True)
def test_a_judged_item_that_is_corrected_meanwhile_gets_the_further_judgments():
    stage = studies.stage()
    judged(stage, ("none",))
    item = stage.study.benchmark.items.get()
    change = Change(item=item.key, action=Action.CAPTION, place="caption-negative-0", new="A new cup.", reason="Typo.")
    with meanwhile(lambda: correct(benchmark=stage.study.benchmark, changes=[change], by="test")):
        settings.change_stage(stage=Stage.objects.get(), by="test", overlap=2)
    assert list(Slot.objects.filter(task__live=True).values_list("number", flat=True).order_by("number")) == [1, 2]


@contextlib.contextmanager
def meanwhile(act):
    """Inside is one transaction; before its commit somebody else acts, and comes as far as they can."""

    def acts() -> None:
        with transaction.atomic():
            act()
        connections.close_all()

    thread = threading.Thread(target=acts)
    with transaction.atomic():
        yield
        thread.start()
        while thread.is_alive() and not somebody_waits():
            time.sleep(0.01)
    thread.join()
