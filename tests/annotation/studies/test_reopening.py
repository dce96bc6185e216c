"""A closed stage, opened again for the items alone that came open after it was closed."""

import pytest

from annotation.assignment import by_name, leases, seats
from annotation.designs.plan import StagePlan
from annotation.figures import blocked_items
from annotation.models import Annotator, Outcome, Slot, Stage, Task
from annotation.participants import lifecycle as participant_lifecycle
from annotation.studies import lifecycle as study_lifecycle
from annotation.studies import reopening
from benchmarks.models import Event
from tests.builders import studies, text_items

pytestmark = pytest.mark.django_db


def judged(stage: Stage, items: int, answer: str = "candidate-0", **who) -> Annotator:
    person = studies.annotator(stage.study, **who)
    seat(person, stage)
    for _ in range(items):
        assert studies.judgment(person, stage, answer)
    return person


def seat(person: Annotator, stage: Stage) -> None:
    seats.sit(annotator=person, stage=stage)
    studies.read(person, stage)


def close(stage: Stage) -> None:
    study_lifecycle.move_stage(stage=stage, to="closed", by="test")


def exclude(person: Annotator) -> None:
    participant_lifecycle.exclude(annotator=person, reason="Careless.", by="test")


def fresh(stage: Stage) -> Stage:
    return Stage.objects.select_related("study", "source").get(pk=stage.pk)


def came_open(stage: Stage) -> set[str]:
    """Items that the page offers; what gives them out says the same."""
    stage = fresh(stage)
    rows = blocked_items.blocked_items(stage)["rows"].get(blocked_items.REOPEN, [])
    offered = {row["item"] for row in rows}
    assert offered == set(reopening.came_open(stage).values_list("item__key", flat=True))
    return offered


def reopen(stage: Stage) -> int:
    return reopening.reopen(stage=stage, by="user:1")


def given_out(stage: Stage) -> set[str]:
    return set(Slot.objects.filter(stage=stage, live=True, judgment=None).values_list("task__item__key", flat=True))


@pytest.mark.parametrize(
    ("how", "done"),
    [
        ({"items": 6}, (2, 2)),
        ({"items": 4, "strategy": "batches", "batch_size": 2}, (0, 2)),
        ({"items": 3, "strategy": "everyone", "overlap": 2}, (3, 3)),
    ],
    ids=["pool", "batches", "everyone"],
)
def test_what_an_exclusion_left_open_is_given_out_and_nothing_else(how, done):
    stage = studies.stage(**how)
    careful, careless = [judged(stage, count) if count else None for count in done]
    close(stage)
    lost = {lease.task.item.key for lease in careless.leases.filter(state="judged").select_related("task__item")}
    assert came_open(stage) == set()  # what was open at the closing stays so
    exclude(careless)
    assert came_open(stage) == lost
    assert reopen(stage) == len(lost) == done[1]
    assert given_out(stage) == lost and came_open(stage) == set() and fresh(stage).state == "closed"
    newcomer = judged(fresh(stage), 0)
    if careful:
        theirs = set(careful.leases.filter(state="judged").values_list("task", flat=True))
        got = leases.hold(annotator=careful, stage=fresh(stage), wanted=9)
        assert not {lease.task_id for lease in got} & theirs  # nobody twice
        participant_lifecycle.leave(annotator=careful, by="test")
    got = leases.hold(annotator=newcomer, stage=fresh(stage), wanted=9)
    assert {lease.task.item.key for lease in got} == lost


def test_a_quota_holds_in_what_is_opened_again():
    stage = studies.stage(items=4, quota=2)
    careless, other = judged(stage, 2), judged(stage, 1)
    judged(stage, 1)
    close(stage)
    exclude(careless)
    reopen(stage)
    assert len(leases.hold(annotator=other, stage=fresh(stage), wanted=9)) == 1


def test_what_was_given_by_name_is_given_to_somebody_else_by_name():
    stage = studies.stage(items=2, strategy="named")
    careless, other = (studies.annotator(stage.study) for _ in range(2))
    keys = [task.item.key for task in stage.tasks.select_related("item")]
    by_name.assign(stage=stage, annotators=[careless], keys=keys, by="test")
    studies.judgment(careless, stage)
    close(stage)
    exclude(careless)
    [lost] = came_open(stage)
    reopen(stage)
    by_name.assign(stage=fresh(stage), annotators=[other], keys=keys, by="test")
    assert [lease.task.item.key for lease in leases.hold(annotator=other, stage=fresh(stage), wanted=9)] == [lost]


def test_the_event_says_who_did_what_and_the_page_what_became_of_it():
    stage = studies.stage(items=2)
    careless = judged(stage, 2)
    close(stage)
    with pytest.raises(study_lifecycle.CannotMove, match="No items came open"):
        reopen(stage)
    exclude(careless)
    assert reopening.reopened(fresh(stage)) is None
    reopen(stage)
    event = Event.objects.get(verb=reopening.REOPENED)
    assert (event.by, event.data["items"], len(event.data["tasks"])) == ("user:1", 2, 2)
    judged(fresh(stage), 1)
    found = reopening.reopened(fresh(stage))
    assert (found.items, found.decided, found.left) == (2, 1, 1)
    close(stage)  # for the one that is left too
    assert given_out(stage) == set() and reopening.reopened(fresh(stage)) is None
    assert len(came_open(stage)) == 1


def test_an_open_stage_is_not_opened_again():
    stage = studies.stage(items=1)
    with pytest.raises(study_lifecycle.CannotMove, match="This stage is open"):
        reopen(stage)
    close(stage)
    with pytest.raises(study_lifecycle.CannotMove, match="No items came open"):
        reopen(stage)


def test_who_was_excluded_twice_over_leaves_the_same_item_open_twice():
    stage = studies.stage(items=1)
    one = judged(stage, 1)
    close(stage)
    exclude(one)
    reopen(stage)
    exclude(judged(fresh(stage), 1))
    assert reopen(stage) == 1
    judged(fresh(stage), 1)
    assert Outcome.objects.count() == 1


def test_an_adjudicated_item_and_one_that_was_never_finished_are_not_offered():
    stage = studies.stage(items=2, overlap=2)
    careless = judged(stage, 2)
    judged(stage, 1)
    close(stage)
    exclude(careless)
    [finished] = came_open(stage)  # the other lacked a judgment when the stage was closed
    assert Task.objects.get(item__key=finished).slots.filter(judgment__isnull=False).count() == 1
    task = Task.objects.get(item__key=finished)
    Outcome.objects.create(task=task, state="kept", outcome="candidate-0", by="adjudicator", note="Sure.")
    assert came_open(stage) == set()


def two_closed() -> tuple[Stage, Stage, Annotator]:
    """Choose and disambiguate, both judged and closed; who chose is careless."""
    plans = [
        StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"}),
        StagePlan("bivlc-disambiguate", name="fits", source="choose"),
    ]
    choose, fits = studies.study(items=2, stages=plans).stages.select_related("study")
    careless = judged(choose, 2, "candidate-0")
    judged(fits, 2, "positive-0")
    close(choose)
    close(fits)
    return choose, fits, careless


def test_what_rested_on_an_excluded_answer_comes_back_with_its_judgments_if_decided_alike():
    choose, fits, careless = two_closed()
    exclude(careless)
    assert not fits.tasks.filter(live=True).exists()
    reopen(choose)
    judged(fresh(choose), 2, "candidate-0")
    assert fits.tasks.filter(live=True, decided__state="kept").count() == 2 and came_open(fits) == set()


def test_an_item_that_is_decided_otherwise_is_asked_anew_in_the_closed_stage_after_it():
    choose, fits, careless = two_closed()
    exclude(careless)
    reopen(choose)
    person = judged(fresh(choose), 1, "candidate-1")
    studies.judgment(person, fresh(choose), "none")  # this one goes no further
    [key] = came_open(fits)
    assert given_out(fits) == set()  # until a manager says so there too
    assert reopen(fits) == 1 and given_out(fits) == {key}
    judged(fresh(fits), 1, "positive-0")
    live = fits.tasks.get(live=True)
    assert (live.round, live.carried["negative"], live.decided.state) == (2, "candidate-1", "kept")
    assert fits.tasks.filter(live=False).count() == 2


def test_a_confirmation_that_an_item_needs_is_given_out_too():
    stage = text_items.stage()
    careless = studies.annotator(stage.study)
    text_items.send(careless, text_items.hold(careless, stage), answer="1")
    close(stage)
    exclude(careless)
    reopen(stage)
    editor, other = (studies.annotator(stage.study) for _ in range(2))
    text_items.send(editor, text_items.hold(editor, fresh(stage)), answer="1", edit="1", words="Something new.")
    assert text_items.hold(other, fresh(stage)) is not None
