"""Adaptive overlap: a task gets more judgments only while its leading answer is not certain enough, up to the cap."""

import threading
import time

import pytest
from django.db import connection, connections, transaction

from annotation.adjudication import decisions
from annotation.assignment import leases
from annotation.models import Outcome, Slot, Stage, Task
from annotation.pipeline import audits
from annotation.screens import read_answer
from annotation.studies import lifecycle
from annotation.studies.starting_points import of_study
from tests.builders import declared, studies

ADAPTIVE = {"overlap": 2, "cap": 5, "certainty": 0.8}

pytestmark = pytest.mark.django_db


def adaptive(items: int = 1, **settings) -> Stage:
    return studies.study(items=items, **{**ADAPTIVE, **settings}).stages.select_related("study").get()


def judged(here: Stage, *answers: str) -> None:
    """Each by a new annotator, on the next screen."""
    for answer in answers:
        assert studies.judgment(studies.annotator(here.study), here, answer, reason="I cannot tell.")


def places(task: Task | None = None) -> tuple[int, int, int]:
    """The overlap, the slots, and how many of them are judged."""
    task = Task.objects.get(**({"pk": task.pk} if task else {}))
    slots = Slot.objects.filter(task=task)
    return task.overlap, slots.count(), slots.filter(judgment__isnull=False).count()


@pytest.mark.parametrize(
    ("given", "answers", "overlap"),
    [
        ({}, ["none", "none"], 2),
        ({}, ["none", "candidate-0"], 3),
        ({}, ["candidate-1", "candidate-0"], 2),  # any image
        ({}, ["none", "candidate-0", "none"], 4),  # 69% certain
        ({}, ["none", "candidate-0", "none", "none"], 4),  # 81%
        ({}, ["none", "candidate-0", "none", "candidate-0", "none"], 5),  # the cap
        ({"overlap": 1}, ["none"], 2),
        ({"certainty": 0.9}, ["none", "none"], 3),
        ({"certainty": 0.9, "cap": 3}, ["none", "none"], 2),  # the third could change nothing
        ({"rule": "dawid-skene"}, ["none", "candidate-0"], 3),
    ],
)
def test_more_are_asked_for_only_while_it_is_unsure(given, answers, overlap):
    here = adaptive(**given)
    judged(here, *answers)
    assert places() == (overlap, overlap, len(answers))
    settled = Outcome.objects.exists()
    assert settled == (overlap == len(answers) and not given.get("rule"))


def test_tasks_with_unequal_numbers_of_judgments_are_decided_by_their_votes():
    here = adaptive(items=3, overlap=1)
    while studies.judgment(studies.annotator(here.study), here, "none"):
        pass
    assert {task.overlap for task in Task.objects.all()} == {2}
    assert {(one.outcome, one.by) for one in Outcome.objects.all()} == {("none", "unanimous")}


def test_nothing_is_added_once_an_adjudicator_has_decided():
    here = adaptive()
    judged(here, "none")
    word = {"state": "kept", "outcome": "candidate-0", "reason": "", "by": "adjudicator", "note": "I looked."}
    Outcome.objects.create(task=Task.objects.get(), **word)
    judged(here, "candidate-0")
    assert places() == (2, 2, 2)


@pytest.mark.parametrize("to_come", [0, 1])
def test_a_manager_can_ask_for_more_than_it_would(to_come):
    """Beyond the cap too; and what the manager's judgment makes unsure asks for the next one."""
    here = adaptive(cap=2 + to_come)
    judged(here, "none", "none")
    task = Task.objects.get()
    decisions.send_back(task=task, by="test", seen=decisions.seen(task), note="Look again.")
    assert places() == (3, 3, 2)
    judged(here, "candidate-0")
    assert places() == (3, 3, 3) and Outcome.objects.get().outcome == "none"


def test_an_added_judgment_is_one_of_the_next_screens_and_not_always_the_first():
    """The next annotator must not learn from the order which items are contested (law 4)."""
    here = adaptive(items=30, overlap=1)
    one = studies.annotator(here.study)
    for _ in range(10):
        studies.judgment(one, here, "none")
    added = Slot.objects.filter(number=2).select_related("task")
    assert len(added) == 10 and sum(slot.rank == slot.task.rank for slot in added) < 2
    assert len({slot.rank for slot in added}) > 5
    two = studies.annotator(here.study)
    came = [studies.judgment(two, here, "none").lease.slot.number for _ in range(20)]
    assert came[:10] != [2] * 10 and 1 in came[:5] and 2 in came


def test_where_nothing_else_is_left_it_comes_next():
    here = adaptive()
    judged(here, "none", "candidate-0")
    assert Slot.objects.get(number=3).rank == Task.objects.get().rank
    judged(here, "none")


@pytest.mark.django_db(transaction=True)
def test_the_last_two_judgments_at_once_are_seen_together():
    """Each transaction alone would see one judgment of two, and neither would ask for the third."""
    here = adaptive()
    held = [leases.hold(annotator=studies.annotator(here.study), stage=here, wanted=1)[0] for _ in range(2)]
    answers = [
        read_answer.place_on_screen(lease, said) for lease, said in zip(held, ("none", "candidate-0"), strict=True)
    ]

    def second():
        studies.submit(held[1].annotator, held[1], answers[1])
        connections.close_all()

    other = threading.Thread(target=second)
    with transaction.atomic():
        studies.submit(held[0].annotator, held[0], answers[0])
        other.start()
        while other.is_alive() and not somebody_waits():
            time.sleep(0.01)
    other.join(20)
    assert places() == (3, 3, 2)
    assert not Outcome.objects.exists()


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return cursor.fetchone()[0]


class TestAudits:
    def test_an_item_counts_once_it_is_sure(self):
        here = adaptive(items=12, strategy="audit", target_half_width=0.001)
        first = here.tasks.order_by("rank").first()
        judged(here, "none", "candidate-0")
        assert places(first) == (3, 3, 2) and audits.progress_of(here).n == 0
        assert Slot.objects.get(task=first, number=3).rank in range(12)
        two = [studies.annotator(here.study) for _ in range(3)]
        while any(studies.judgment(person, here, "none") for person in two):
            pass
        here.refresh_from_db()
        found = audits.progress_of(here)
        assert (found.n, found.wrong) == (12, 12) and places(first) == (4, 4, 4)


class TestSetUp:
    @pytest.mark.parametrize(
        ("given", "word"),
        [
            ({"cap": None}, "cap: Adaptive overlap needs a maximum."),
            ({"strategy": "batches", "batch_size": 5}, "certainty: Use a pool or an audit"),
            ({"certainty": 0.5}, "certainty: Even a tie is 50% certain"),
            ({"certainty": 1.5}, "certainty: "),
            ({"protocol": "visla-paraphrase", "overlap": 1}, "needs votes"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, given, word):
        with pytest.raises(lifecycle.CannotCreate, match=word):
            adaptive(**given)

    def test_a_copy_has_it_too(self):
        here = adaptive()
        (plan,) = of_study(here.study).stages
        assert plan.settings["certainty"] == 0.8

    def test_a_protocol_file_must_decide_by_votes(self):
        with pytest.raises(lifecycle.CannotCreate, match="decides in a different way"):
            declared.study("image-caption-foil", items=1, cap=5, certainty=0.9)
