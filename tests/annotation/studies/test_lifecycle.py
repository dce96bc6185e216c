from decimal import Decimal

import pytest

from annotation.assignment import seats
from annotation.models import Slot, Study, StudyState
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Benchmark, Event
from tests.builders import studies

pytestmark = pytest.mark.django_db


def test_every_item_becomes_a_task_with_as_many_slots_as_the_overlap():
    stage = studies.stage(items=3, overlap=2)
    assert stage.tasks.count() == 3
    ranks = sorted(stage.tasks.values_list("rank", flat=True))
    assert sorted(Slot.objects.values_list("rank", "number")) == [(r, n) for r in ranks for n in (1, 2)]


def test_the_order_is_drawn_from_the_seed():
    benchmark = studies.benchmark(items=20)
    one, again, other = (studies.stage(benchmark=benchmark, seed=seed) for seed in (1, 1, 2))
    order = lambda stage: list(stage.tasks.order_by("rank").values_list("item_id", flat=True))  # noqa: E731
    assert order(one) == order(again) != order(other)


def test_items_that_do_not_suit_are_named_and_nothing_is_made():
    benchmark = studies.benchmark(items=2)
    studies.item(benchmark, candidates=1, key="lonely")
    with pytest.raises(study_lifecycle.CannotCreate, match="item lonely has 1 candidate"):
        studies.study(benchmark=benchmark)
    assert not Study.objects.exists()


def test_an_empty_benchmark_makes_no_study():
    with pytest.raises(study_lifecycle.CannotCreate, match="no items"):
        studies.study(items=0)


def test_a_benchmark_deleted_in_the_meantime_is_refused_by_name():
    benchmark = studies.benchmark(0, name="Cups")
    Benchmark.objects.all().delete()
    with pytest.raises(study_lifecycle.CannotCreate, match="Cups has been deleted"):
        studies.study(benchmark=benchmark)


@pytest.mark.parametrize(
    "wrong",
    [{"overlap": 0}, {"overlap": 51}, {"lease_seconds": 5}, {"quota": 0}, {"pay_per_hour": Decimal(-1)}, {"name": ""}],
)
def test_settings_out_of_range_are_refused_by_name(wrong):
    with pytest.raises(study_lifecycle.CannotCreate, match=next(iter(wrong))):
        studies.study(**wrong)


def test_an_unknown_protocol_is_refused_with_what_there_is():
    with pytest.raises(study_lifecycle.CannotCreate, match="bivlc-choose"):
        studies.study(protocol="bivlc-chose")


def test_instructions_start_with_the_protocols_and_grow_by_versions():
    stage = studies.stage()
    revised = study_lifecycle.revise_instructions(stage=stage, text="New rules.", by="test")
    assert (revised.version, stage.instructions.count()) == (2, 2)
    assert study_lifecycle.revise_instructions(stage=stage, text="New rules.", by="test") == revised


def test_a_closed_study_can_be_opened_again_but_not_paused():
    study = studies.study()
    for _ in range(2):
        study_lifecycle.move_study(study=study, to=StudyState.CLOSED, by="test")
    assert Event.objects.filter(verb="moved to closed").count() == 1
    with pytest.raises(study_lifecycle.CannotMove):
        study_lifecycle.move_study(study=study, to=StudyState.PAUSED, by="test")
    assert study_lifecycle.move_study(study=study, to=StudyState.OPEN, by="test").state == StudyState.OPEN


def test_a_prolific_participant_is_one_annotator():
    study = studies.study()
    first, other = (seats.join(study=study, by="test", prolific_pid=pid) for pid in ("P1", "P2"))
    with pytest.raises(seats.AlreadyJoined) as again:
        seats.join(study=study, by="test", prolific_pid="P1")
    assert again.value.annotator == first != other
    assert [first.pseudonym, other.pseudonym] == ["A-01", "A-02"]
