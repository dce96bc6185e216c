"""Checks: where they come from, where they stand among the screens, and what they say."""

import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta
from itertools import pairwise

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.assignment import by_name, seats
from annotation.assignment import leases as assignment_leases
from annotation.checks import attention_checks, gold_items
from annotation.designs.plan import StagePlan
from annotation.judging import next_step, submissions
from annotation.measures import pass_rules
from annotation.models import Flag, Kind, Slot, Strategy, Task
from annotation.models.choices import StageState
from annotation.participants import lifecycle as participant_lifecycle
from annotation.pipeline import promotion
from annotation.screens import read_answer
from annotation.studies import lifecycle as study_lifecycle
from tests.builders import every_protocol, studies

pytestmark = pytest.mark.django_db


def first_items(stage, count=1):
    return list(stage.study.benchmark.items.order_by("position")[:count])


def gold_benchmark(items):
    made = studies.benchmark(items=items)
    made.items.update(truth={"bivlc-choose": ["candidate-1"]})
    return made


def with_checks(check_rate=0.25, items=30, known=10, **settings):
    """A stage and its checks, which come from another benchmark."""
    stage = studies.stage(items=items, check_rate=check_rate, **settings)
    answers = {item: [] for item in gold_benchmark(known).items.all()}
    return stage, attention_checks.set_checks(stage=stage, answers=answers, by="test")


def work_through(annotator, stage, screens=10_000):
    """Judges as many screens as there are; the kinds of the tasks in the order given."""
    kinds = []
    while len(kinds) < screens and (leases := assignment_leases.hold(annotator=annotator, stage=stage, wanted=1)):
        kinds.append(leases[0].task.kind)
        studies.submit(annotator, leases[0])
    return kinds


# Setting them


def test_an_item_of_the_study_becomes_a_check_and_is_not_judged():
    stage = studies.stage(items=3)
    item = first_items(stage)[0]
    [task] = attention_checks.set_checks(stage=stage, answers={item: ["candidate-1"]}, by="test")
    assert (task.kind, task.gold, task.overlap) == (Kind.CHECK, ["candidate-1"], 0)
    assert stage.tasks.filter(item=item).count() == 1 and not Slot.objects.filter(task=task).exists()
    assert item.pk not in promotion.results(stage)


def test_a_later_import_makes_no_ordinary_task_for_a_check():
    stage = studies.stage(items=2)
    attention_checks.set_checks(stage=stage, answers={first_items(stage)[0]: ["none"]}, by="test")
    studies.item(stage.study.benchmark)
    assert promotion.take_in(stage.study) == 1
    assert stage.tasks.filter(kind=Kind.CHECK).count() == 1 and stage.tasks.count() == 3


def test_an_item_that_somebody_met_is_refused_by_name_and_nothing_is_set():
    stage = studies.stage(items=2)
    annotator = studies.annotator(stage.study)
    met = assignment_leases.hold(annotator=annotator, stage=stage, wanted=1)[0].task.item
    other = next(item for item in first_items(stage, 2) if item != met)
    with pytest.raises(gold_items.CannotSet, match=f"already seen item {met.key}"):
        attention_checks.set_checks(stage=stage, answers={other: ["none"], met: ["none"]}, by="test")
    assert not stage.tasks.filter(kind=Kind.CHECK).exists()


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (["candidate-9"], "has no answer candidate-9; use one of: candidate-0"),
        ([], "was imported without a known answer"),
        (["candidate-0", "candidate-1", "candidate-2", "candidate-3", "none"], "would be correct"),
    ],
)
def test_answers_are_held_against_what_can_be_answered(answers, reason):
    stage = studies.stage(items=1)
    with pytest.raises(gold_items.CannotSet, match=reason):
        attention_checks.set_checks(stage=stage, answers={first_items(stage)[0]: answers}, by="test")


@pytest.mark.parametrize(
    ("protocol", "what_to_do"),
    [("bivlc-t2i", "leave out the answers"), ("verify", "choose one that makes only one question")],
)
def test_one_answer_is_not_taken_for_two_questions(protocol, what_to_do):
    stage = studies.stage(benchmark=every_protocol.benchmark(items=1), protocol=protocol)
    answers = {stage.study.benchmark.items.get(): ["yes"]}
    with pytest.raises(gold_items.CannotSet, match=f"makes 2 questions here; {what_to_do}"):
        attention_checks.set_checks(stage=stage, answers=answers, by="test")


def test_a_check_has_the_answer_that_the_import_brought_and_cannot_be_set_twice():
    stage, made = with_checks()
    assert made[0].gold == ["candidate-1"]
    with pytest.raises(gold_items.CannotSet, match="is already a check here"):
        attention_checks.set_checks(stage=stage, answers={made[0].item: []}, by="test")


def test_a_check_that_nobody_met_is_judged_again_after_its_removal():
    stage = studies.stage(items=2, overlap=2)
    [task] = attention_checks.set_checks(stage=stage, answers={first_items(stage)[0]: ["none"]}, by="test")
    assert attention_checks.remove_checks(stage=stage, tasks=[task.pk], by="test") == (1, 0)
    task.refresh_from_db()
    assert (task.kind, task.gold, task.overlap) == (Kind.JUDGE, [], 2)
    assert task.slots.filter(live=True, reserved=None).count() == 2


def test_a_check_that_somebody_met_is_retired_and_what_was_answered_stays():
    stage, _ = with_checks(check_rate=0.5, known=1, strategy=Strategy.EVERYONE)
    one, two = studies.annotator(stage.study), studies.annotator(stage.study)
    work_through(one, stage)
    task = stage.tasks.get(kind=Kind.CHECK)
    assert attention_checks.remove_checks(stage=stage, tasks=[task.pk], by="test") == (0, 1)
    assert attention_checks.results(stage)[one.number].n == 1
    assert work_through(two, stage).count("check") == 0


# Where they stand


@pytest.mark.django_db(transaction=True)
def test_a_check_that_is_removed_while_somebody_gets_it_is_retired():
    """Its lease refers to it, which is checked at the commit of whoever is last."""
    stage, [task] = with_checks(items=4, known=1, check_rate=0.5, strategy=Strategy.EVERYONE)
    who = studies.annotator(stage.study)
    seats.sit(annotator=who, stage=stage)
    Slot.objects.exclude(task=task).update(live=False)

    def remove():
        try:
            return attention_checks.remove_checks(stage=stage, tasks=[task.pk], by="test")
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as manager:
        with transaction.atomic():
            [lease] = assignment_leases.hold(annotator=who, stage=stage, wanted=1)
            removing = manager.submit(remove)
            wait([removing], 0.3)
        assert (lease.task_id, removing.result(10)) == (task.pk, (0, 1))


@pytest.mark.parametrize(("screens", "rate", "wanted"), [(90, 0.1, 10), (75, 0.25, 25), (10, 0.1, 1), (4, 0.1, 0)])
def test_so_many_checks_go_with_so_many_screens(screens, rate, wanted):
    assert pass_rules.number_of_checks(screens, rate) == wanted


@pytest.mark.parametrize(("strategy", "size"), [(Strategy.EVERYONE, 9), (Strategy.BATCHES, 6)])
def test_a_batch_brings_exactly_its_share_of_checks(strategy, size):
    stage, _ = with_checks(strategy=strategy, batch_size=size, items=9 if strategy == Strategy.EVERYONE else 12)
    annotator = studies.annotator(stage.study)
    assert next_step.total(annotator, stage) == next_step.total(None, stage) == size + size // 3
    assert Counter(work_through(annotator, stage)) == {"judge": size, "check": size // 3}
    if strategy == Strategy.BATCHES:
        seats.sit(annotator=annotator, stage=stage)
        assert Counter(work_through(annotator, stage)) == {"judge": size, "check": size // 3}


def test_checks_stand_at_every_place_of_a_batch_alike():
    stage, _ = with_checks(strategy=Strategy.EVERYONE, items=6, known=2, overlap=25, check_rate=0.25)
    places = Counter()
    for annotator in studies.people(stage.study, 25):
        mine = Slot.objects.filter(reserved=annotator).order_by("rank", "number").select_related("task")
        places.update(place for place, slot in enumerate(mine) if slot.task.kind == Kind.CHECK)
    expected = 25 * 2 / 8
    assert sum((places[place] - expected) ** 2 / expected for place in range(8)) < 24.3  # chi², 7 df, p = 0.001


def test_checks_set_half_way_stand_among_what_is_left():
    stage = studies.stage(items=28, strategy=Strategy.EVERYONE, check_rate=0.2)
    annotator = studies.annotator(stage.study)
    work_through(annotator, stage, screens=14)
    answers = {item: [] for item in gold_benchmark(7).items.all()}
    attention_checks.set_checks(stage=stage, answers=answers, by="test")
    kinds = work_through(annotator, stage)
    assert Counter(kinds) == {"judge": 14, "check": 7}
    assert kinds[:7] != ["check"] * 7 != kinds[-7:]


def test_a_pool_gives_one_check_in_each_block_and_begins_anywhere():
    stage, _ = with_checks(check_rate=0.2, items=12, known=3, overlap=3)
    first = []
    for annotator in studies.people(stage.study, 3):
        kinds = work_through(annotator, stage)
        places = [place for place, kind in enumerate(kinds) if kind == "check"]
        assert len(places) == pytest.approx(len(kinds) * 0.2, abs=1.5)
        assert all(later - earlier < 10 for earlier, later in pairwise(places))
        first.append(places[0])
    assert len(set(first)) > 1


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_every_screen_of_a_pool_is_a_check_with_the_rate_that_was_set(monkeypatch, rate):
    stage = studies.stage(check_rate=rate)
    annotator = studies.annotator(stage.study)
    due = Counter()
    for number in range(1, 401):
        annotator.number, since = number, 0
        for given in range(10):
            monkeypatch.setattr(attention_checks, "fetch", lambda *_, now=(given, since), **__: [now])
            is_check = attention_checks.is_due(annotator, stage)
            due[given] += is_check
            since = 0 if is_check else since + 1
    error = (rate * (1 - rate) / 400) ** 0.5
    assert all(abs(due[given] / 400 - rate) < 4 * error for given in range(10)), due


def test_a_pool_whose_checks_are_used_up_goes_on_without():
    stage, _ = with_checks(check_rate=0.5, items=5, known=2)
    assert next_step.total(None, stage) == 7 and Slot.objects.filter(stage=stage, task__kind=Kind.JUDGE).count() == 5
    assert Counter(work_through(studies.annotator(stage.study), stage)) == {"judge": 5, "check": 2}


def test_a_quota_counts_checks_as_screens():
    stage, _ = with_checks(check_rate=0.5, items=20, known=10, quota=8)
    annotator = studies.annotator(stage.study)
    assert next_step.total(annotator, stage) == 8
    assert Counter(work_through(annotator, stage)) == {"judge": 4, "check": 4}


def test_a_check_is_met_once_and_by_everybody_at_a_place_of_their_own():
    stage, made = with_checks(check_rate=0.5, known=3, items=3, strategy=Strategy.EVERYONE, overlap=3)
    for _ in range(3):
        assert work_through(studies.annotator(stage.study), stage).count("check") == 3
    assert {task.slots.count() for task in made} == {3}


def test_a_check_whose_item_was_met_in_a_stage_kept_apart_is_not_given():
    plans = [StagePlan("bivlc-choose", "one"), StagePlan("bivlc-choose", "two", apart_from=["one"])]
    study = studies.study(items=4, stages=plans)
    one, two = study.stages.all()
    two.check_rate = 0.5
    two.save()
    annotator = studies.annotator(study)
    met = assignment_leases.hold(annotator=annotator, stage=one, wanted=1)[0].task.item
    others = [item for item in study.benchmark.items.all() if item != met]
    attention_checks.set_checks(stage=two, answers={met: ["none"], others[0]: ["none"]}, by="test")
    seat = seats.sit(annotator=annotator, stage=two)
    assert seat and [s.task.item for s in Slot.objects.filter(reserved=annotator)] == [others[0]]


def test_another_rate_brings_or_takes_places_that_nobody_has_seen():
    stage, _ = with_checks(check_rate=0.25, items=12, known=10, strategy=Strategy.EVERYONE)
    annotator = studies.annotator(stage.study)
    mine = Slot.objects.filter(reserved=annotator, task__kind=Kind.CHECK)
    assert mine.count() == 4
    for rate, wanted in ((0.4, 8), (0.1, 1), (0.0, 0)):
        stage.check_rate = rate
        stage.save()
        attention_checks.top_up(stage=stage)
        assert mine.count() == wanted


# What works on them as on any screen


def next_check(annotator, stage):
    while leases := assignment_leases.hold(annotator=annotator, stage=stage, wanted=1):
        if leases[0].task.kind == Kind.CHECK:
            return leases[0]
        studies.submit(annotator, leases[0])
    raise AssertionError("no check came")


def test_a_skipped_check_comes_to_nobody_and_counts_as_not_answered():
    stage, _ = with_checks(check_rate=0.5, known=1, items=3, overlap=2, strategy=Strategy.EVERYONE)
    one, two = studies.annotator(stage.study), studies.annotator(stage.study)
    lease = next_check(one, stage)
    assignment_leases.skip(annotator=one, token=lease.token)
    assert "check" not in work_through(one, stage)
    assert work_through(two, stage).count("check") == 1
    assert set(attention_checks.results(stage)) == {two.number}


@pytest.mark.parametrize("strategy", [Strategy.POOL, Strategy.BATCHES, Strategy.EVERYONE])
def test_a_skipped_check_changes_the_total_as_any_skipped_screen_does(strategy):
    settings = {"strategy": strategy, "batch_size": 8, "check_rate": 0.2}
    stage = studies.stage(items=8, **settings)
    attention_checks.set_checks(
        stage=stage, answers={one: ["candidate-0"] for one in studies.benchmark(items=2).items.all()}, by="test"
    )
    ann, changes = studies.annotator(stage.study), {}
    while len(changes) < 2:
        [lease] = assignment_leases.hold(annotator=ann, stage=stage, wanted=1)
        before = next_step.total(ann, stage)
        assignment_leases.skip(annotator=ann, token=lease.token)
        changes[lease.task.kind] = next_step.total(ann, stage) - before
    assert len(set(changes.values())) == 1


def test_undo_flag_and_cannot_judge_work_on_a_check():
    stage, _ = with_checks(check_rate=0.5, known=1, items=3, strategy=Strategy.EVERYONE)
    annotator = studies.annotator(stage.study)
    lease = next_check(annotator, stage)
    studies.submit(annotator, lease, read_answer.place_on_screen(lease, "candidate-1"))
    assert attention_checks.results(stage)[annotator.number].right == 1
    submissions.undo(annotator=annotator, key=uuid.uuid4())
    assert attention_checks.results(stage) == {}
    studies.submit(annotator, lease, "cannot_judge", reason="It does not load.")
    submissions.flag(annotator=annotator, token=lease.token, reason="It does not load.")
    assert attention_checks.results(stage)[annotator.number].right == 0
    assert Flag.objects.get().lease == lease


def test_answers_to_checks_make_no_outcome():
    stage, _ = with_checks(check_rate=0.5, known=3, items=3, strategy=Strategy.EVERYONE)
    work_through(studies.annotator(stage.study), stage)
    assert not Task.objects.filter(kind=Kind.CHECK, decided__isnull=False).exists()
    assert Task.objects.filter(kind=Kind.JUDGE, decided__isnull=False).count() == 3


def test_a_stage_that_closes_gives_out_no_check():
    stage, _ = with_checks(check_rate=0.5)
    annotator = studies.annotator(stage.study)
    study_lifecycle.move_stage(stage=stage, to=StageState.CLOSED, by="test")
    assert work_through(annotator, stage) == []


# What somebody with several desks sees


def held(annotator, stage, wanted=4) -> list[Task]:
    return [lease.task for lease in assignment_leases.hold(annotator=annotator, stage=stage, wanted=wanted)]


@pytest.mark.parametrize("overlap", [1, 2])
def test_a_check_that_is_held_is_given_to_no_more_desks_than_another_screen(overlap):
    stage, _ = with_checks(check_rate=0.5, items=40, known=6, overlap=overlap)
    on_screens = Counter(task for one in studies.people(stage.study, 6) for task in held(one, stage))
    kinds = Counter(task.kind for task in on_screens)
    assert max(on_screens.values()) == overlap and kinds["check"] == 6


def test_checks_come_again_only_when_all_have_been_seen():
    stage, _ = with_checks(check_rate=0.5, items=40, known=8)
    seen = Counter()
    for one in studies.people(stage.study, 6):
        work_through(one, stage, screens=4)
    for task in stage.tasks.filter(kind=Kind.CHECK):
        seen[task] = task.leases.count()
    assert max(seen.values()) - min(seen.values()) <= 1


def test_desks_in_batches_have_different_checks_while_there_are_enough():
    stage, _ = with_checks(check_rate=0.2, items=16, known=4, strategy=Strategy.BATCHES, batch_size=8)
    people = studies.people(stage.study, 2)
    theirs = [{slot.task_id for slot in attention_checks.slots_of(one, stage)} for one in people]
    assert [len(one) for one in theirs] == [2, 2] and not theirs[0] & theirs[1]


def let_go(stage, annotator, how: str) -> list[Task]:
    """The annotator gives up six screens, one after the other; returns these, with a check among them."""
    gone = []
    for _ in range(6 if how == "skip" else 1):
        leases = assignment_leases.hold(annotator=annotator, stage=stage, wanted=1 if how == "skip" else 6)
        gone += [lease.task for lease in leases]
        for lease in leases if how == "skip" else ():
            assignment_leases.skip(annotator=annotator, token=lease.token)
    if how == "lapse":
        Slot.objects.filter(annotator=annotator).update(held_until=timezone.now() - timedelta(hours=1))
    if how == "leave":
        participant_lifecycle.leave(annotator=annotator, by="test")
    assert {task.kind for task in gone} == {"judge", "check"}
    return gone


@pytest.mark.parametrize("overlap", [1, 2])
@pytest.mark.parametrize("how", ["skip", "lapse", "leave"])
def test_what_one_desk_lets_go_comes_to_the_next_whether_it_is_a_check_or_not(how, overlap):
    stage, _ = with_checks(check_rate=0.5, items=40, known=30, overlap=overlap)
    one, other = studies.people(stage.study, 2)
    gone = let_go(stage, one, how)
    found = held(other, stage, wanted=16)
    again = [task for task in found if task in gone]
    assert again == gone if how != "lapse" else {*again} == {*gone}
    assert how != "skip" or not {task.pk for task in gone} & {task.pk for task in held(one, stage)}


def test_a_late_answer_to_a_check_that_went_on_is_kept_like_any_other():
    stage, _ = with_checks(check_rate=0.5, items=10, known=5)
    one, other = studies.people(stage.study, 2)
    leases = assignment_leases.hold(annotator=one, stage=stage, wanted=4)
    Slot.objects.filter(annotator=one).update(held_until=timezone.now() - timedelta(hours=1))
    assert len(held(other, stage, wanted=8)) == 8
    receipts = [studies.submit(one, lease) for lease in leases]
    assert {lease.task.kind for lease in leases} == {"judge", "check"}
    assert [receipt.judgment.surplus for receipt in receipts] == [True] * 4


def test_an_excluded_annotators_checks_go_to_nobody():
    stage, _ = with_checks(check_rate=0.5, items=6, known=2)
    one = studies.annotator(stage.study)
    work_through(one, stage, screens=4)
    participant_lifecycle.exclude(annotator=one, reason="No", by="test")
    assert not Slot.objects.filter(task__kind=Kind.CHECK, reserved=None).exists()


# What they say


def test_results_of_annotators_and_of_checks():
    stage, made = with_checks(check_rate=0.5, known=2, items=2, overlap=2, strategy=Strategy.EVERYONE)
    good, bad = studies.annotator(stage.study), studies.annotator(stage.study)
    for annotator, answer in ((good, "candidate-1"), (bad, "none")):
        while studies.judgment(annotator, stage, answer):
            pass
    found = attention_checks.results(stage)
    assert {number: (r.n, r.right) for number, r in found.items()} == {good.number: (2, 2), bad.number: (2, 0)}
    assert found[good.number].guess_rate == pytest.approx(0.2)
    of_checks = [(task.pk, result.n, result.right) for task, result in attention_checks.table(stage)]
    assert of_checks == [(task.pk, 2, 1) for task in made]


@pytest.mark.parametrize(
    ("n", "right", "guess", "sign"),
    [(0, 0, 0.2, False), (5, 0, 0.2, True), (5, 1, 0.2, False), (20, 7, 0.2, True), (20, 8, 0.2, False),
     (20, 11, 0.5, True), (20, 12, 0.5, False), (3, 3, 0.5, False), (2, 0, 0.5, False), (3, 0, 0.5, True)],
)  # fmt: skip
def test_the_sign_is_a_one_sided_binomial_test_against_half_way_from_guessing(n, right, guess, sign):
    assert pass_rules.fails_checks(n, right, guess) is sign


def test_the_share_has_wilsons_interval():
    assert attention_checks.Result(10, 8, 0.2).interval == pytest.approx((0.490162, 0.943318), abs=1e-6)
    assert attention_checks.Result(0, 0, 0.2).interval is None


def test_enough_does_not_stumble_over_floating_point():
    assert pass_rules.enough_right(4, 5, 0.8) and not pass_rules.enough_right(3, 5, 0.8)
    assert pass_rules.required_right(5, 0.8) == 4 and pass_rules.required_right(10, 0.7) == 7


def two_stages(**second):
    """A stage and one that takes from it what was dropped there, so that the same candidates can be asked again."""
    plans = [
        StagePlan("bivlc-choose", "one"),
        StagePlan("bivlc-choose", "two", source="one", settings={"takes": ["no_image_fits"], **second}),
    ]
    study = studies.study(items=3, stages=plans)
    return [study, *study.stages.all()]


def drop_all(stage):
    annotator = studies.annotator(stage.study)
    while studies.judgment(annotator, stage, "none"):
        pass


@pytest.mark.parametrize("second", [{"promotion": "settled"}, {"promotion": "closing"}, {"sample": 2}], ids=str)
def test_what_is_promoted_makes_no_ordinary_task_for_a_check(second):
    """A sample is drawn among what is no check."""
    study, one, two = two_stages(**second)
    item = study.benchmark.items.first()
    attention_checks.set_checks(stage=two, answers={item: ["none"]}, by="test")
    drop_all(one)
    study_lifecycle.move_stage(stage=one, to=StageState.CLOSED, by="test")
    assert two.tasks.filter(item=item).count() == 1
    assert two.tasks.filter(kind=Kind.JUDGE, live=True).count() == 2


def test_a_check_of_a_later_stage_is_judged_again_after_its_removal():
    study, one, two = two_stages()
    item = study.benchmark.items.first()
    [task] = attention_checks.set_checks(stage=two, answers={item: ["none"]}, by="test")
    drop_all(one)
    attention_checks.remove_checks(stage=two, tasks=[task.pk], by="test")
    assert two.tasks.get(item=item).kind == Kind.JUDGE


def test_who_is_assigned_more_meets_more_checks():
    stage, _ = with_checks(check_rate=0.5, strategy=Strategy.NAMED)
    annotator = studies.annotator(stage.study)
    keys = [item.key for item in first_items(stage, 6)]
    by_name.assign(stage=stage, annotators=[annotator], keys=keys, by="test")
    assert Counter(work_through(annotator, stage)) == {"judge": 6, "check": 6}
