"""Stages with the strategy audit: the order, the end by itself, and what may change afterwards."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections, transaction

from annotation.adjudication import decisions
from annotation.checks import gold_items
from annotation.checks.parsing import Known
from annotation.designs.plan import StagePlan, contradictions
from annotation.measures.audits.order import order_hash, sampling_order, scores_hash
from annotation.measures.audits.plan import plan
from annotation.measures.audits.replay import Truth, replay
from annotation.models import Kind, Lease, Stage, StageState
from annotation.pipeline import audit_order, audits, promotion, task_creation
from annotation.studies import audit_scores, audit_target
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.corrections.correct import Change, correct
from benchmarks.models import Action, Event, Item
from tests.builders import predictions, studies

pytestmark = pytest.mark.django_db


def audit_stage(items=30, **settings):
    return studies.stage(items=items, strategy="audit", **{"target_half_width": 0.2, **settings})


def judge(stage, n, wrong=()):
    """One annotator judges n items; the places in `wrong` get None."""
    annotator = stage.study.annotators.first() or studies.annotator(stage.study)
    judged = stage.slots.filter(judgment__isnull=False).count()
    for place in range(judged, judged + n):
        studies.judgment(annotator, stage, "none" if place in wrong else "candidate-0")


def test_items_come_in_the_order_whose_hash_was_kept_before_the_first_judgment():
    stage = audit_stage(items=6)
    order = sampling_order([f"item-{place}" for place in range(6)], stage.seed)
    event = Event.objects.get(verb=audit_order.DREW)
    assert stage.order_sha256 == order.sha256 == event.data["sha256"] and event.data["seed"] == stage.seed
    judge(stage, 6)
    assert list(Lease.objects.order_by("pk").values_list("task__item__key", flat=True)) == list(order.keys)


def test_the_order_is_drawn_once():
    stage = audit_stage(items=3)
    drawn = stage.order_sha256, list(stage.tasks.order_by("rank").values_list("item", flat=True))
    later = studies.item(stage.study.benchmark)
    asked = list(promotion.new_tasks(stage, stage.study.benchmark.items.all()))
    assert later.pk in {one.item for one in asked}
    assert task_creation.create_tasks(Stage.objects.get(pk=stage.pk), asked) == []
    stage.refresh_from_db()
    assert (stage.order_sha256, list(stage.tasks.order_by("rank").values_list("item", flat=True))) == drawn
    assert Event.objects.filter(verb=audit_order.DREW).count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_orders_drawn_at_once_the_first_stays():
    stage = audit_stage(items=6)
    asked = list(promotion.new_tasks(stage, stage.study.benchmark.items.order_by("position")))
    stage.tasks.all().delete()
    Stage.objects.update(order_sha256="")
    at_once = threading.Barrier(2)

    @transaction.atomic
    def draw(tasks):
        mine = Stage.objects.get(pk=stage.pk)
        at_once.wait()  # neither sees the other's order
        return len(task_creation.create_tasks(mine, tasks))

    def act(tasks):
        try:
            return draw(tasks)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(act, (asked[:4], asked[2:])))
    assert sorted(made) == [0, 4]
    keys = [row.key for row in Item.objects.filter(tasks__stage=stage).order_by("tasks__rank")]
    stage.refresh_from_db()
    assert stage.order_sha256 == order_hash(keys)


@pytest.mark.parametrize(("any_look", "proportional"), [(False, True), (True, False)])
def test_a_stratified_order_is_proportional_unless_every_order_has_to_be_equally_likely(any_look, proportional):
    benchmark = studies.benchmark(20)
    benchmark.items.filter(position__lt=10).update(type="add")
    stage = audit_stage(benchmark=benchmark, stratify=True, any_look=any_look)
    kinds = [row.stratum for row in audits.audited(stage)]
    assert all(kinds[place] != kinds[place + 1] for place in range(0, 20, 2)) is proportional


def test_the_audit_stops_by_itself_and_resumes_for_a_tighter_target():
    stage = audit_stage()
    judge(stage, 9, wrong={0, 4})
    assert not audits.stop_if_over(stage)
    late = studies.annotator(stage.study)
    lease = studies.assignment_leases.hold(annotator=late, stage=stage, wanted=1)[0]  # the tenth
    judge(stage, 4)  # beyond what is still open
    assert audits.progress_of(stage).n == 9 and not audits.stop_if_over(stage)
    studies.submit(late, lease)
    assert audits.stop_if_over(stage) and not audits.stop_if_over(stage)
    stage.refresh_from_db()
    found = audits.progress_of(stage)
    assert (stage.state, found.met, found.n, found.wrong) == (StageState.CLOSED, True, 10, 2)
    closed = Event.objects.get(verb=study_lifecycle.CLOSED).data
    assert (closed["judged"], closed["met"]) == (10, True)
    judge(stage, 1)
    assert stage.slots.filter(judgment__isnull=False).count() == 14  # nothing more is given out
    stage = audit_target.set_target(stage=stage, share=0.1, by="test")
    assert stage.state == StageState.OPEN
    audits.check_target(stage.pk)
    assert Stage.objects.get(pk=stage.pk).state == StageState.OPEN
    judge(stage, 16)
    audits.check_target(stage.pk)
    assert Stage.objects.get(pk=stage.pk).state == StageState.CLOSED
    assert audit_target.set_target(stage=stage, share=0.2, by="test").state == StageState.CLOSED


def test_a_target_that_is_met_already_closes_the_stage():
    stage = audit_stage(target_half_width=0.05)
    judge(stage, 10)
    assert audit_target.set_target(stage=stage, share=0.3, by="test").state == StageState.CLOSED


def test_a_bound_that_is_not_met_closes_the_stage_once_all_items_are_judged():
    stage = audit_stage(items=10, target_half_width=None, target_bound=0.5, any_look=True)
    judge(stage, 9, wrong=set(range(6)))
    assert audits.progress_of(stage).met is False and not audits.stop_if_over(stage)
    assert sum(audits.needs(stage).to_come) == 1
    judge(stage, 1)
    assert audits.stop_if_over(stage) and not audits.progress_of(stage).met
    assert Event.objects.get(verb=study_lifecycle.CLOSED).data["met"] is False
    assert audit_target.set_target(stage=stage, share=0.4, by="test").state == StageState.CLOSED


@pytest.mark.parametrize("share", [0, 0.6])
def test_an_impossible_target_is_refused(share):
    with pytest.raises(audit_target.CannotAim):
        audit_target.set_target(stage=audit_stage(items=1), share=share, by="test")


def test_only_an_audit_has_a_target():
    with pytest.raises(audit_target.CannotAim, match="not an audit"):
        audit_target.set_target(stage=studies.stage(), share=0.1, by="test")


def test_the_worker_is_asked_after_each_outcome(monkeypatch, django_capture_on_commit_callbacks):
    asked = []
    monkeypatch.setattr(audits.check_target, "delay", asked.append)
    stage = audit_stage(items=4)
    with django_capture_on_commit_callbacks(execute=True):
        judge(stage, 1)
    assert asked == [stage.pk]
    task = stage.tasks.order_by("rank")[1]
    with django_capture_on_commit_callbacks(execute=True):
        decisions.decide(task=task, answer="none", by="test", seen=decisions.seen(task), note="seen")
    assert asked == [stage.pk, stage.pk]


def test_an_audit_whose_message_was_lost_is_found_by_the_worker():
    stage, other = audit_stage(target_half_width=0.3), studies.stage()
    judge(stage, 10)
    audits.check_all()
    stage.refresh_from_db()
    other.refresh_from_db()
    assert (stage.state, other.state) == (StageState.CLOSED, StageState.OPEN)


def test_disagreements_hold_the_audit_up_until_they_are_adjudicated():
    stage = audit_stage(overlap=2, tie_rule="adjudicate")
    people = [studies.annotator(stage.study) for _ in range(2)]
    for answer in ("candidate-0", "none"):
        studies.judgment(people.pop(), stage, answer)
    judge(stage, 0)
    assert audits.progress_of(stage).n == 0
    task = stage.tasks.order_by("rank").first()
    decisions.decide(task=task, answer="none", by="test", seen=decisions.seen(task), note="seen")
    found = audits.progress_of(stage)
    assert (found.n, found.wrong) == (1, 1)


def test_while_items_wait_no_more_are_given_out_than_the_plan_needs_at_most():
    """Of 30 items the plan needs 20 at most. All were judged while the first waited for an adjudicator."""
    stage = audit_stage(overlap=2, tie_rule="adjudicate")
    people = [studies.annotator(stage.study) for _ in range(2)]
    for answer, person in zip(("candidate-0", "none"), people, strict=True):
        studies.judgment(person, stage, answer)
    for person in people:
        while leases := studies.assignment_leases.hold(annotator=person, stage=stage, wanted=1):
            studies.submit(person, leases[0])
    found = audits.progress_of(stage)
    assert plan(30, audits.target_of(stage)).most == 20
    assert stage.slots.filter(judgment__isnull=False).count() == 2 * 20
    assert (found.n, found.later, found.ahead.open, found.ahead.items) == (0, 19, 1, 20)
    assert found.ahead.if_wrong - found.ahead.if_right == pytest.approx(1 / 20)
    audit_target.set_target(stage=stage, share=0.05, by="test")  # which needs more
    assert studies.assignment_leases.hold(annotator=people[0], stage=stage, wanted=1)


def test_an_item_withdrawn_from_those_given_out_lets_the_next_in_and_back_in_it_takes_its_place():
    stage = audit_stage()
    first = stage.tasks.order_by("rank").first()
    for action, given_out in ((Action.WITHDRAW, range(1, 21)), (Action.RESTORE, range(20))):
        change = Change(item=first.item.key, action=action, place="", new="", reason="Twice in it.")
        correct(benchmark=stage.study.benchmark, changes=[change], by="test")
        live = stage.slots.filter(live=True).order_by("task__rank").values_list("task__rank", flat=True)
        assert list(live) == list(given_out)


def test_an_audit_stops_when_its_bound_is_out_of_reach_if_a_manager_has_asked():
    stage = audit_stage(items=20, target_half_width=None, target_bound=0.5, any_look=True)
    judge(stage, 9, wrong=set(range(9)))
    assert audits.progress_of(stage).futile and not audits.stop_if_over(stage)
    stage = audit_target.set_target(stage=stage, share=0.5, by="test", stops_if_futile=True)
    found = audits.progress_of(stage)
    assert (stage.state, found.ended, found.met) == (StageState.CLOSED, True, False) and found.n < 9
    assert audits.settings_of(stage)["stops_if_futile"] and audits.changes_of(stage) == []
    stage = audit_target.set_target(stage=stage, share=0.5, by="test", stops_if_futile=False)
    assert stage.state == StageState.OPEN and "stops_if_futile" not in audits.settings_of(stage)


def test_changes_of_the_target_are_kept_with_what_had_been_judged():
    stage = audit_stage()
    audit_target.set_target(stage=stage, share=0.1, by="test")  # before the first judgment
    judge(stage, 4)
    audit_target.set_target(stage=stage, share=0.15, by="test")
    assert audits.settings_of(stage)["changes"] == [{"before": 0.1, "after": 0.15, "judged": 4}]


def test_ties_and_cannot_judge_are_wrong_only_if_they_are_chosen():
    stage, chosen = audit_stage(), audit_stage(wrong_reasons=["no_image_fits", "cannot_judge"])
    for one in (stage, chosen):
        for answer in ("cannot_judge", "none", "candidate-0"):
            studies.judgment(one.study.annotators.first() or studies.annotator(one.study), one, answer, reason="?")
    assert stage.wrong_reasons == ["no_image_fits"]
    assert (audits.progress_of(stage).wrong, audits.progress_of(chosen).wrong) == (1, 2)
    assert [row.undecided for row in audits.audited(stage)[:3]] == [True, False, False]


def test_wrong_are_the_reasons_that_are_named():
    stage = audit_stage(wrong_reasons=["no_image_fits"])
    judge(stage, 2, wrong={0})
    stage.tasks.filter(decided__state="dropped").first().decided.delete()
    assert audits.progress_of(stage).n == 0
    stage.wrong_reasons = ["cannot_judge"]
    judge(stage, 0)
    assert audits.progress_of(stage).wrong == 0


def test_the_items_are_fixed_from_the_start():
    stage = audit_stage(items=3)
    studies.item(stage.study.benchmark)
    assert promotion.take_in(stage.study) == 0
    item = stage.study.benchmark.items.first()
    with pytest.raises(gold_items.CannotSet, match="belongs to the audited benchmark"):
        gold_items.set_known(stage=stage, kind=Kind.CHECK, known={item: Known(["none"], "")}, by="test")


def scored(benchmark, wrong=()):
    """A run whose margin is the smaller, the likelier an item in `wrong` is."""
    margins = {one: 0.1 if one.key in wrong else 1 + one.position % 7 / 10 for one in benchmark.items.all()}
    return predictions.model(benchmark, {one: predictions.bivlc(margin=margin) for one, margin in margins.items()})


@pytest.mark.parametrize(("any_look", "half_width"), [(False, 0.1), (True, 0.25)])
def test_an_audit_with_a_model_s_scores_says_what_the_replay_of_the_same_says(any_look, half_width):
    benchmark = studies.benchmark(60, candidates=1)
    wrong = {f"item-{place}" for place in range(0, 60, 4)}
    run = scored(benchmark, wrong)
    stage = audit_stage(
        benchmark=benchmark, any_look=any_look, target_half_width=half_width, scores_run=run.pk, protocol="verify"
    )
    rows = stage.tasks.order_by("rank").values_list("item__key", "score")
    scores = dict(rows)
    assert stage.scores_sha256 == scores_hash(list(scores), list(scores.values())) and run.title in stage.scores_of
    kept = Event.objects.get(verb=audit_scores.KEPT)
    assert kept.data["sha256"] == stage.scores_sha256
    annotator = studies.annotator(stage.study)
    for key in scores:
        studies.judgment(annotator, stage, "no" if key in wrong else "yes")
        if audits.stop_if_over(stage):
            break
    truth = Truth({key: key in wrong for key in scores}, scores=scores)
    replayed, found = replay(truth, audits.target_of(stage), seed=stage.seed), audits.progress_of(stage)
    assert (found.n, found.wrong, found.low, found.high) == (replayed.n, replayed.wrong, replayed.low, replayed.high)
    assert found.met and found.n < 60


def test_scores_that_an_audit_cannot_use():
    benchmark = studies.benchmark(3)
    run = scored(benchmark)
    studies.item(benchmark)
    with pytest.raises(study_lifecycle.CannotCreate, match="no answers to 1 of the 4 items"):
        audit_stage(benchmark=benchmark, scores_run=run.pk)
    with pytest.raises(study_lifecycle.CannotCreate, match="not the benchmark of this study"):
        audit_stage(benchmark=studies.benchmark(3), scores_run=run.pk)
    assert not Stage.objects.exists()


AUDIT = {"strategy": "audit", "target_half_width": 0.03}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"target_half_width": None}, "target_half_width"),
        ({"target_bound": 0.05, "any_look": True}, "target_half_width"),
        ({"target_half_width": None, "target_bound": 0.05}, "any_look"),
        ({"sample": 10}, "sample"),
        ({"stratify": True, "scores_run": 1}, "stratify"),
        ({"agreement_items": 3, "agreement_overlap": 2}, "agreement_items"),
        ({"rule": "dawid-skene", "overlap": 2}, "rule"),
    ],
)
def test_settings_that_an_audit_cannot_have(given, field):
    assert list(contradictions({**AUDIT, **given})) == [field]


def test_settings_that_an_audit_can_have():
    assert not contradictions(AUDIT)
    assert not contradictions({"strategy": "audit", "target_bound": 0.05, "any_look": True})


@pytest.mark.parametrize(
    ("stages", "why"),
    [
        (
            [StagePlan("bivlc-choose"), StagePlan("bivlc-disambiguate", source="bivlc-choose", settings=AUDIT)],
            "earlier",
        ),
        ([StagePlan("bivlc-choose"), StagePlan("bivlc-i2t", settings=AUDIT)], "drop any items"),
    ],
)
def test_stages_that_cannot_be_audits(stages, why):
    with pytest.raises(study_lifecycle.CannotCreate, match=why):
        studies.study(stages=stages)
