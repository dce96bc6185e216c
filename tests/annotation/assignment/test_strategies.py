"""Who is given what, through their turns: batches, pairs, everyone, what earlier stages send, what is kept apart."""

from collections import Counter, defaultdict

import pytest
from django.db.models import Q

from annotation.assignment import seats
from annotation.designs.plan import StagePlan
from annotation.judging import next_step
from annotation.models import Annotator, Lease, Seat, Slot, Stage, Task
from annotation.permissions import desk
from annotation.pipeline import promotion
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Event
from tests.builders import studies

pytestmark = pytest.mark.django_db
BATCHES = {"strategy": "batches", "batch_size": 3}
CHOOSE = StagePlan("bivlc-choose", "choose", settings={"carries": "negative"})
FITS = {"bivlc-choose": "candidate-1", "bivlc-disambiguate": "positive-0"}


def work(annotator: Annotator, screens: int = 1000, answers: dict = FITS) -> list[tuple[str, str]]:
    """The annotator takes what they are given, as their page would; returns stage and item of each screen judged."""
    done = []
    while len(done) < screens:
        here = desk(annotator.token)
        now = next_step.claim_next(here)
        if now.state == "rules":
            studies.read(annotator, here.stage)
        elif now.state == "screen":
            lease = now.leases[0]
            answer = answers[here.stage.protocol]
            place = str(lease.shown.index(answer) + 1) if answer in lease.shown else answer
            studies.submit(annotator, lease, place)
            done.append((here.stage.name, lease.task.item.key))
        elif now.state != "moved":
            break
    return done


def join(study, number: int = 1, **who) -> list[Annotator]:
    return [studies.annotator(study, ready=False, **who) for _ in range(number)]


def judges(stage: Stage) -> dict[str, set[int]]:
    """Who was given each item."""
    found = defaultdict(set)
    for key, number in Lease.objects.filter(task__stage=stage).values_list("task__item__key", "annotator__number"):
        found[key].add(number)
    return found


def sizes(stage: Stage) -> list[int]:
    """How many items each batch has, in order."""
    counts = Counter(dict.fromkeys(stage.tasks.order_by("batch").values_list("batch", "item")))
    return list(Counter(batch for batch, _ in counts).values())


# Batches


def test_batches_hold_each_item_once_and_the_last_has_what_is_left():
    stage = studies.stage(items=8, **BATCHES)
    assert sizes(stage) == [3, 3, 2]
    assert not stage.tasks.filter(batch=None).exists()


def test_the_same_seed_makes_the_same_batches():
    benchmark = studies.benchmark(items=9)
    one, again, other = (studies.stage(benchmark=benchmark, seed=seed, **BATCHES) for seed in (4, 4, 5))
    groups = lambda stage: sorted(stage.tasks.values_list("item", "batch"))  # noqa: E731
    assert groups(one) == groups(again) != groups(other)


def test_each_annotator_is_in_one_batch_at_a_time_whoever_asks_in_between():
    stage = studies.stage(items=6, **BATCHES)
    ana, ben = join(stage.study, 2)
    for _ in range(3):
        assert len(work(ana, 1)) == len(work(ben, 1)) == 1
    assert sorted(Counter(map(tuple, judges(stage).values())).values()) == [3, 3]
    assert work(ana) == work(ben) == []


def test_without_a_quota_whoever_is_through_is_given_the_next_batch():
    stage = studies.stage(items=7, **BATCHES)
    (ana,) = join(stage.study)
    assert len(work(ana)) == 7


def test_with_a_quota_of_a_batch_one_batch_is_all():
    stage = studies.stage(items=7, quota=3, **BATCHES)
    ana, ben, eve = join(stage.study, 3)
    assert [len(work(person)) for person in (ana, ben, eve)] == [3, 3, 1]


def test_a_batch_has_as_many_places_as_its_overlap_and_each_is_one_annotators():
    stage = studies.stage(items=6, overlap=2, quota=3, **BATCHES)
    people = join(stage.study, 5)
    assert [len(work(person)) for person in people] == [3] * 4 + [0]
    groups = Counter(frozenset(who) for who in judges(stage).values())
    assert sorted(groups.values()) == [3, 3] and {len(group) for group in groups} == {2}
    assert not stage.slots.filter(judgment=None).exists()


def test_nobody_has_two_places_of_one_batch():
    stage = studies.stage(items=3, overlap=2, **BATCHES)
    (ana,) = join(stage.study)
    assert len(work(ana)) == 3
    assert stage.slots.filter(judgment=None).count() == 3


# Pairs


def test_pairs_share_their_batches_to_the_end_and_the_rest_has_one_judgment_each():
    stage = studies.stage(items=12, quota=3, agreement_items=6, agreement_overlap=2, **BATCHES)
    people = join(stage.study, 6)
    for _ in range(3):
        for person in people:
            work(person, 1)
    pairs = Counter(frozenset(who) for who in judges(stage).values())
    assert sorted((len(group), items) for group, items in pairs.items()) == [(1, 3), (1, 3), (2, 3), (2, 3)]
    assert not stage.slots.filter(judgment=None).exists()
    shared = set(stage.tasks.filter(shared=True).values_list("item__key", flat=True))
    assert {key for key, who in judges(stage).items() if len(who) == 2} == shared


def test_batches_of_the_agreement_sample_hold_nothing_else():
    stage = studies.stage(items=10, agreement_items=4, agreement_overlap=2, **BATCHES)
    kinds = {frozenset(stage.tasks.filter(batch=batch).values_list("shared", flat=True)) for batch in range(1, 5)}
    assert kinds == {frozenset({True}), frozenset({False})}
    assert sorted(sizes(stage)) == [1, 3, 3, 3]


# Everyone


def test_everyone_judges_every_item_as_many_annotators_as_the_overlap():
    stage = studies.stage(items=4, strategy="everyone", overlap=3)
    people = join(stage.study, 4)
    for _ in range(4):
        for person in people:
            work(person, 1)
    assert set(map(frozenset, judges(stage).values())) == {frozenset({1, 2, 3})}
    assert next_step.claim_next(desk(people[3].token)).state == "done"


def test_what_a_later_import_brings_goes_to_everyone_who_is_in():
    stage = studies.stage(items=2, strategy="everyone", overlap=2)
    ana, ben, eve = join(stage.study, 3)
    for person in (ana, ben):
        assert len(work(person)) == 2
    studies.item(stage.study.benchmark, key="late")
    promotion.take_in(stage.study)
    assert (work(eve), work(ana), work(ben)) == ([], *[[("bivlc-choose", "late")]] * 2)


# Later imports


def test_a_later_import_fills_the_batch_that_nobody_has_and_opens_new_ones():
    stage = studies.stage(items=4, **BATCHES)
    for number in range(6):
        studies.item(stage.study.benchmark, key=f"late-{number}")
    promotion.take_in(stage.study)
    assert sizes(stage) == [3, 3, 3, 1]


def test_a_later_import_leaves_a_batch_that_somebody_has_as_it_is():
    stage = studies.stage(items=4, **BATCHES)
    ana, ben = join(stage.study, 2)
    assert [len(work(person, 1)) for person in (ana, ben)] == [1, 1]
    studies.item(stage.study.benchmark, key="late")
    promotion.take_in(stage.study)
    assert sizes(stage) == [3, 1, 1]
    assert ("bivlc-choose", "late") in work(ben)


# What an earlier stage sends


def two(items: int, size: int = 3, **settings) -> tuple[Stage, Stage]:
    later = StagePlan(
        "bivlc-choose", "again", "choose", apart_from=settings.pop("apart", []),
        settings={**BATCHES, "batch_size": size, **settings},
    )  # fmt: skip
    study = studies.study(items=items, stages=[CHOOSE, later])
    return tuple(study.stages.select_related("study"))


def test_what_is_promoted_one_by_one_is_given_out_in_full_batches():
    first, second = two(items=5)
    ana, ben = join(first.study, stage=first)[0], join(first.study, stage=second)[0]
    for judged in (1, 1):
        work(ana, judged)
        assert work(ben) == []
    work(ana, 1)
    assert len(work(ben)) == 3
    work(ana, 1)
    assert work(ben) == []  # one item: the batch may still fill
    work(ana, 1)
    assert len(work(ben)) == 2  # nothing more will come


def test_a_batch_that_is_not_full_is_given_out_once_the_stage_before_is_closed():
    first, second = two(items=5)
    ana, ben = join(first.study, stage=first)[0], join(first.study, stage=second)[0]
    work(ana, 2)
    assert work(ben) == []
    study_lifecycle.move_stage(stage=first, to="closed", by="test")
    assert len(work(ben)) == 2


def test_a_batch_waits_as_long_as_any_stage_before_may_send_more():
    """The stage before has settled all it has, but the one before that has not: more may come."""
    last = StagePlan("bivlc-choose", "last", "again", apart_from=[], settings=BATCHES)
    again = StagePlan("bivlc-choose", "again", "choose", apart_from=[])
    study = studies.study(items=3, stages=[CHOOSE, again, last])
    first, second, third = study.stages.all()
    ana, ben, eve = (join(study, stage=stage)[0] for stage in (first, second, third))
    for _ in range(2):
        work(ana, 1)
        assert len(work(ben)) == 1
        assert work(eve) == []
    work(ana, 1)
    work(ben)
    assert len(work(eve)) == 3


def test_items_that_fall_out_leave_no_batch_waiting():
    first, second = two(items=4)
    ana, ben = join(first.study, stage=first)[0], join(first.study, stage=second)[0]
    work(ana, 2)
    work(ana, answers={"bivlc-choose": "none"})
    assert len(work(ben)) == 2


# Kept apart


def met(stage: Stage, annotator: Annotator) -> set[str]:
    return set(Lease.objects.filter(annotator=annotator, task__stage=stage).values_list("task__item__key", flat=True))


def pipeline(items: int = 6, **settings) -> tuple[Stage, Stage]:
    stages = [CHOOSE, StagePlan("bivlc-disambiguate", "disambiguate", "choose", settings=settings)]
    return tuple(studies.study(items=items, stages=stages).stages.select_related("study"))


@pytest.mark.parametrize("given", [{}, {"strategy": "batches", "batch_size": 2}], ids=["pool", "batches"])
def test_nobody_disambiguates_an_item_whose_image_they_chose(given):
    first, second = pipeline(**given)
    assert second.apart_from == [first.position]
    ana, ben = join(first.study, 2)
    work(ana, 4)
    work(ben)
    work(ana)
    for person in (ana, ben):
        assert not met(first, person) & met(second, person)
    assert met(second, ben) <= met(first, ana) and met(second, ben)


def test_everything_comes_to_somebody_in_the_pool():
    first, second = pipeline()
    ana, ben = join(first.study, 2)
    for person in (ana, ben, ana, ben):
        work(person, 4)
    assert len(met(second, ana) | met(second, ben)) == 6


def test_a_batch_with_one_item_that_was_met_is_not_given_at_all():
    first, second = pipeline(items=4, strategy="batches", batch_size=4)
    ana, ben, eve = join(first.study, 3)
    work(ana, 1)
    work(ben)
    work(ana)  # the screen that she held
    assert not second.seats.filter(batch__isnull=False).exists()
    assert len(work(eve)) == 4


def test_a_plan_may_keep_nothing_apart():
    stages = [CHOOSE, StagePlan("bivlc-disambiguate", "disambiguate", "choose", apart_from=[])]
    first, second = studies.study(items=3, stages=stages).stages.select_related("study")
    (ana,) = join(first.study)
    assert len(work(ana)) == 6 and met(first, ana) == met(second, ana)


def image_to_text(**given) -> Stage:
    """A stage of two questions an item, which nobody is to get both."""
    benchmark = studies.benchmark(items=2)
    for item in benchmark.items.all():
        item.item_images.create(image=studies.image(), role="negative", position=0, source_name="n")
    plan = StagePlan("bivlc-i2t", "i2t", apart_from=["i2t"], settings=given)
    return studies.study(benchmark=benchmark, stages=[plan]).stages.get()


def test_a_stage_apart_from_itself_gives_nobody_two_questions_of_one_item():
    stage = image_to_text()
    people = join(stage.study, 2)
    assert [len(work(one, answers={"bivlc-i2t": "caption-positive-0"})) for one in people] == [2, 2]
    assert {len(who) for who in judges(stage).values()} == {2}


@pytest.mark.parametrize("given", [BATCHES, {"strategy": "everyone"}], ids=["batches", "everyone"])
def test_a_batch_holds_all_questions_of_its_items_so_it_cannot_be_kept_apart_from_itself(given):
    with pytest.raises(study_lifecycle.CannotCreate, match="apart_from: A batch contains all questions"):
        image_to_text(**given)


def test_whoever_came_for_one_stage_stays_in_it():
    first, second = pipeline(items=3)
    (ana,) = join(first.study, stage=first)
    work(ana)
    assert met(second, ana) == set() and len(met(first, ana)) == 3


def test_no_task_ever_has_more_judgments_than_places():
    first, second = pipeline(items=4, strategy="batches", batch_size=2, overlap=2)
    for person in join(first.study, 5):
        work(person)
    for task in Task.objects.filter(stage__in=(first, second)):
        assert Slot.objects.filter(task=task, judgment__isnull=False).count() <= task.overlap


def test_what_comes_later_is_kept_for_nobody_who_met_it_in_a_stage_kept_apart():
    plans = [
        StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"}),
        StagePlan(
            "bivlc-choose", name="again", source="choose", apart_from=["choose"], settings={"strategy": "everyone"}
        ),
    ]
    study = studies.study(items=2, stages=plans)
    choose, again = study.stages.all()
    first, second = studies.annotator(study), studies.annotator(study)
    studies.judgment(first, choose)
    seats.sit(annotator=second, stage=again)
    studies.judgment(second, choose)  # goes on to the stage where their place is, which is not for it
    studies.read(second, again)
    assert studies.judgment(second, again) and not studies.judgment(second, again)
    third = studies.annotator(study)
    seats.sit(annotator=third, stage=again)
    studies.read(third, again)
    assert studies.judgment(third, again) and not Slot.objects.filter(judgment=None).exists()


def rows_of(person: Annotator) -> list:
    """Everything that joining and accepting the instructions wrote, but for keys, numbers, tokens, times and places."""
    own = ("id", "token", "joined_at", "created_at", "at", "ready_at", "annotator_id", "number", "place", "_state")
    by, seats_of = f"annotator:{person.pk}", Seat.objects.filter(annotator=person)
    events = Event.objects.filter(Q(by=by) | Q(data__annotator=person.pk)).order_by("pk")
    rows = [Annotator.objects.get(pk=person.pk), *seats_of, *events]
    found = [{name: value for name, value in vars(row).items() if name not in own} for row in rows]
    for row in found[1 + len(seats_of) :]:
        told = {name: value and name != "annotator" and value for name, value in row["data"].items() if name != "place"}
        row |= {"by": row["by"].replace(by, "them"), "data": told}
    slots = Slot.objects.filter(reserved=person).values_list("task__item__key", "task__kind", "live")
    return [*found, [seat.ready_at is not None for seat in seats_of], sorted(slots)]


@pytest.mark.parametrize(
    ("who", "how"),
    [
        ({}, {}),
        ({"name": "Ana", "simulated": True}, {}),
        ({}, {"check_rate": 0.5}),
        ({}, {"strategy": "everyone"}),
        ({}, {"strategy": "batches", "batch_size": 3, "check_rate": 0.25}),
        ({}, {"stages": [StagePlan("bivlc-choose", "one"), StagePlan("bivlc-choose", "two", source="one")]}),
    ],
)
def test_the_builder_makes_the_annotator_who_would_have_joined(who, how):
    study = studies.study(items=4, **({} if "stages" in how else {"overlap": 2}), **how)
    if "check_rate" in how:
        checked = Task.objects.filter(stage__study=study, item__position=0)
        checked.update(kind="check", gold=["none"])
        Slot.objects.filter(task__in=checked).delete()
    built = studies.annotator(study, **who)
    joined = seats.join(study=study, by="test", **who)
    studies.read(joined, joined.stage)
    assert rows_of(built) == rows_of(joined)
    assert (built.number, joined.number) == (1, 2)


def test_the_builder_seats_people_as_they_sit_down():
    plans = [StagePlan("bivlc-choose", "one"), StagePlan("bivlc-choose", "two", apart_from=[])]
    study = studies.study(stages=plans)
    two, people = study.stages.get(name="two"), studies.people(study, 2, ready=False)
    assert rows_of(people[0]) == rows_of(seats.join(study=study, by="test"))
    studies.seat(two, people[:1])
    seats.sit(annotator=people[1], stage=two)
    assert people[0].stage == people[1].stage == two
    assert rows_of(people[0]) == rows_of(people[1])
