"""A person decides what annotators left open; their word stands until they lift it."""

import threading
import uuid

import pytest
from django.db import connection

from annotation.adjudication import cases, decisions
from annotation.assignment import leases as assignment_leases
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Flag, Outcome, Slot, Stage, Task
from annotation.pipeline import promotion
from annotation.pipeline.item_results import results
from annotation.screens import read_answer
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Event
from tests.builders import studies

pytestmark = pytest.mark.django_db
BY = "user:7"


def stage(items=1, **settings) -> Stage:
    made = studies.study(items=items, **{"overlap": 2, "tie_rule": "adjudicate", **settings})
    return made.stages.select_related("study").get(position=1)


def judged(here: Stage, *answers: str) -> list:
    """New people judge the tasks in their order, one answer each."""
    people = [studies.annotator(here.study) for _ in answers]
    for person, answer in zip(people, answers, strict=True):
        assert studies.judgment(person, here, answer, reason="I cannot tell.")
    return people


@pytest.fixture
def tied() -> Task:
    judged(stage(), "none", "candidate-1")
    return Task.objects.get()


def how(task: Task, **more) -> dict:
    return {"task": task, "by": BY, "seen": decisions.seen(task), **more}


def decide(task: Task, answer: str = "candidate-1", note: str = "It is all there.", **more) -> Outcome:
    said = {} if "reason" in more else {"answer": answer}
    return decisions.decide(**{**how(task), "note": note, **said, **more})


def stands(task: Task) -> tuple | None:
    found = Outcome.objects.filter(task=task).first()
    return found and (found.state, found.outcome, found.reason, found.by)


class TestDeciding:
    def test_an_answer_is_the_outcome_with_who_and_why(self, tied, django_user_model):
        boss = django_user_model.objects.create_user("boss")
        decide(tied, "candidate-1", adjudicator=boss)
        outcome = Outcome.objects.get()
        assert stands(tied) == ("kept", "candidate-1", "", "adjudicator")
        assert (outcome.note, outcome.adjudicator) == ("It is all there.", boss)
        event = Event.objects.get(verb="adjudicated")
        assert (event.by, event.data["answer"], event.data["note"]) == (BY, "candidate-1", "It is all there.")

    def test_an_answer_that_the_protocol_drops_drops_the_item(self, tied):
        decide(tied, "none")
        assert stands(tied) == ("dropped", "none", "no_image_fits", "adjudicator")

    def test_broken_material_is_dropped_as_flagged(self, tied):
        decide(tied, reason="flagged")
        assert stands(tied) == ("dropped", "", "flagged", "adjudicator")

    def test_what_is_no_decision_is_refused(self, tied):
        for said in (
            {"answer": "candidate-9"}, {"answer": ""}, {"answer": "both"}, {"answer": "", "reason": "no_image_fits"},
            {"answer": "none", "reason": "flagged"}, {"note": "  "},
        ):  # fmt: skip
            with pytest.raises(decisions.Unfit):
                decisions.decide(**{**how(tied), "answer": "none", "note": "So.", **said})
            assert stands(tied) is None and not Event.objects.filter(verb="adjudicated").exists(), said

    def test_it_stands_whatever_is_judged_later(self, tied):
        person = tied.stage.study.annotators.last()
        decide(tied, "none")
        lease = submissions.history(annotator=person)[0]
        studies.submit(person, lease, read_answer.place_on_screen(lease, "none"))
        studies.submit(person, lease, read_answer.place_on_screen(lease, "candidate-2"))
        submissions.undo(annotator=person, key=uuid.uuid4())
        assert stands(tied) == ("dropped", "none", "no_image_fits", "adjudicator")

    def test_a_task_that_is_not_all_judged_may_be_decided_too(self):
        here = stage()
        judged(here, "candidate-0")
        task = Task.objects.get()
        decide(task, reason="flagged")
        judged(here, "candidate-0")
        assert stands(task)[3] == "adjudicator"

    def test_it_may_be_decided_anew(self, tied):
        decide(tied, "none")
        decide(tied, "candidate-0", note="I looked again.")
        assert stands(tied) == ("kept", "candidate-0", "", "adjudicator")
        assert Event.objects.filter(verb="adjudicated").count() == 2

    def test_flags_are_settled_with_it_where_asked(self, tied):
        lease = tied.leases.first()
        submissions.flag(annotator=lease.annotator, token=lease.token, reason="Odd")
        decide(tied, "none")
        assert decisions.open_flags(tied)
        decide(tied, "candidate-0", settles=True)
        assert not decisions.open_flags(tied) and Event.objects.filter(verb="settled").exists()

    def test_in_a_closed_stage_too(self, tied):
        study_lifecycle.move_stage(stage=tied.stage, to="closed", by="test")
        decide(tied)
        assert stands(tied)[0] == "kept"


class TestSendingBack:
    def test_one_judgment_more_is_asked_for_and_then_the_rule_speaks(self, tied):
        decisions.send_back(**how(tied), note="Look again.")
        tied.refresh_from_db()
        assert tied.overlap == 3 and stands(tied) is None
        judged(tied.stage, "candidate-1")
        assert stands(tied) == ("kept", "candidate-1", "", "majority")
        assert Event.objects.get(verb="sent back").data["note"] == "Look again."

    def test_a_settled_task_is_open_again_until_it_is_there(self):
        here = stage()
        judged(here, "none", "none")
        task = Task.objects.get()
        decisions.send_back(**how(task), note="Really?")
        assert stands(task) is None
        judged(here, "candidate-0")
        assert stands(task) == ("dropped", "none", "no_image_fits", "majority")

    def test_an_adjudication_is_lifted(self, tied):
        decide(tied)
        decisions.send_back(**how(tied), note="I am not sure.")
        assert stands(tied) is None

    def test_what_waits_already_is_not_asked_for_twice(self, tied):
        decisions.send_back(**how(tied), note="Look again.")
        with pytest.raises(decisions.Refused, match="already waiting for a judgment"):
            decisions.send_back(**how(tied), note="And again.")
        decide(tied)
        decisions.send_back(**how(tied), note="No, let them.")
        tied.refresh_from_db()
        assert tied.overlap == 3 and stands(tied) is None

    def test_beyond_fifty_nothing_more(self):
        here = stage(overlap=50)
        people = [studies.annotator(here.study) for _ in range(50)]
        for number, person in enumerate(people):
            studies.judgment(person, here, "none" if number % 2 else "candidate-0")
        task = Task.objects.get()
        with pytest.raises(decisions.Refused, match="50"):
            decisions.send_back(**how(task), note="Look again.")
        assert task.slots.count() == 50 and not Event.objects.filter(verb="sent back").exists()

    def test_in_a_closed_stage_it_alone_is_given_out(self):
        here = stage(items=2)
        one, two = studies.annotator(here.study), studies.annotator(here.study)
        studies.judgment(one, here, "none"), studies.judgment(two, here, "candidate-0")
        task = next(task for task in Task.objects.all() if task.slots.filter(judgment__isnull=False).count() == 2)
        study_lifecycle.move_stage(stage=here, to="closed", by="test")
        decisions.send_back(**how(task), note="Look again.")
        third = studies.annotator(here.study)
        here = Stage.objects.select_related("study").get(pk=here.pk)
        assert studies.judgment(third, here, "none").lease.task == task
        assert studies.judgment(third, here) is None and stands(task)[3] == "majority"


class TestWithdrawing:
    def test_the_rule_speaks_again(self):
        here = stage()
        judged(here, "none", "none")
        task = Task.objects.get()
        decide(task, "candidate-0")
        decisions.withdraw(**how(task))
        assert stands(task) == ("dropped", "none", "no_image_fits", "unanimous")

    def test_a_tie_is_open_again_and_may_be_decided_as_before(self, tied):
        before = decisions.seen(tied)
        decide(tied)
        decisions.withdraw(**how(tied))
        assert stands(tied) is None and decisions.seen(tied) == before
        decide(tied)
        assert stands(tied)[0] == "kept"

    def test_where_nobody_decided_there_is_nothing_to_withdraw(self, tied):
        with pytest.raises(decisions.Refused, match="no adjudication"):
            decisions.withdraw(**how(tied))


class TestAtOnce:
    def test_the_same_request_again_is_the_same_decision(self, tied):
        request = how(tied, answer="none", note="So it is.")
        decisions.decide(**request)
        decisions.decide(**request)
        sent = how(tied, note="Look again.")
        decisions.send_back(**sent)
        decisions.send_back(**sent)
        assert tied.slots.count() == 3
        assert [Event.objects.filter(verb=verb).count() for verb in ("adjudicated", "sent back")] == [1, 1]

    def test_a_second_adjudicator_is_told_and_nothing_is_overwritten(self, tied):
        first, second = how(tied), {**how(tied), "by": "user:8"}
        decisions.decide(**first, answer="none", note="No.")
        with pytest.raises(decisions.Changed, match="in the meantime"):
            decisions.decide(**second, answer="candidate-1", note="Yes.")
        with pytest.raises(decisions.Changed):
            decisions.send_back(**second, note="Hm.")
        with pytest.raises(decisions.Changed):  # nor the first one, with another answer to what they saw then
            decisions.decide(**first, answer="candidate-1", note="Yes.")
        assert stands(tied)[1] == "none"

    def test_whoever_saw_fewer_judgments_is_told(self):
        here = stage()
        judged(here, "none")
        task = Task.objects.get()
        old = how(task)
        judged(here, "candidate-0")
        with pytest.raises(decisions.Changed):
            decisions.decide(**old, answer="none", note="So.")

    def test_whoever_saw_another_answer_is_told(self, tied):
        """There are as many judgments as before, and still no outcome."""
        old, person = how(tied), tied.stage.study.annotators.last()
        lease = submissions.history(annotator=person)[0]
        studies.submit(person, lease, read_answer.place_on_screen(lease, "candidate-2"))
        with pytest.raises(decisions.Changed):
            decisions.decide(**old, answer="none", note="So.")

    def test_a_task_that_has_left_the_stage_is_refused(self, tied):
        Task.objects.filter(pk=tied.pk).update(live=False)
        with pytest.raises(decisions.Refused, match="no longer in this stage"):
            decide(tied)

    @pytest.mark.django_db(transaction=True)
    def test_two_adjudicators_at_the_same_moment(self):
        judged(stage(), "none", "candidate-1")
        task, came, start = Task.objects.get(), [], threading.Barrier(2)
        seen = decisions.seen(task)

        def one(by, answer):
            start.wait()
            try:
                decisions.decide(task=Task.objects.get(), by=by, seen=seen, answer=answer, note="I looked.")
                came.append("done")
            except decisions.Changed:
                came.append("told")
            finally:
                connection.close()

        threads = [threading.Thread(target=one, args=pair) for pair in (("user:1", "none"), ("user:2", "candidate-1"))]
        [thread.start() for thread in threads], [thread.join() for thread in threads]
        assert sorted(came) == ["done", "told"] and Event.objects.filter(verb="adjudicated").count() == 1


class TestPromotion:
    @pytest.fixture
    def first(self):
        plans = [
            StagePlan(
                "bivlc-choose", name="choose", settings={"carries": "negative", "overlap": 2, "tie_rule": "adjudicate"}
            ),
            StagePlan("bivlc-disambiguate", name="second", source="choose"),
        ]
        here = studies.study(items=1, stages=plans).stages.select_related("study").get(position=1)
        judged(here, "none", "candidate-1")
        return Task.objects.get()

    def second(self):
        return Task.objects.filter(stage__position=2, live=True)

    def test_what_is_decided_goes_on_and_comes_back(self, first):
        decide(first, "candidate-3")
        assert self.second().get().carried == {"negative": "candidate-3"}
        decide(first, reason="flagged")
        assert not self.second().exists()
        decide(first, "candidate-3", note="It does fit.")
        assert self.second().get().round == 1
        decisions.withdraw(**how(first))
        assert not self.second().exists()

    def test_sending_back_takes_it_out_of_the_next_stage(self, first):
        decide(first, "candidate-3")
        decisions.send_back(**how(first), note="Look again.")
        assert not self.second().exists()

    def test_the_funnel_says_flagged(self, first):
        decide(first, reason="flagged")
        assert [result.label for result in results(first.stage).values()] == ["flagged"]
        assert promotion.fallen_out(first.stage.study) == {first.item_id}


class TestQueue:
    """One item of each sort: a tie, one flagged, one of two kinds, one of two images, one clear, one half judged."""

    ANSWERS = (
        ("none", "candidate-0"),
        ("candidate-2", "candidate-2"),
        ("none", "candidate-0", "candidate-1"),
        ("candidate-0", "candidate-1"),
        ("candidate-3", "candidate-3"),
        ("candidate-3",),
    )

    @pytest.fixture
    def tasks(self):
        here = stage(items=6)
        tasks = list(Task.objects.order_by("rank"))
        adjudicated = [studies.annotator(here.study) for _ in range(3)]
        adjudication_task = tasks[2]
        Task.objects.filter(pk=adjudication_task.pk).update(overlap=3)
        Slot.objects.create(task=adjudication_task, stage=here, number=3, rank=adjudication_task.rank)
        for place, person in enumerate(adjudicated):
            leases = {lease.task_id: lease for lease in self.held(person, here)}
            for task, answers in zip(tasks, self.ANSWERS, strict=True):
                if place < len(answers) and task.pk in leases:
                    studies.submit(
                        person, leases[task.pk], read_answer.place_on_screen(leases[task.pk], answers[place])
                    )
                elif task.pk in leases:
                    Slot.objects.filter(task=task, annotator=person).update(annotator=None, held_until=None)
                    task.leases.filter(annotator=person).update(state="lapsed")
        Flag.objects.create(lease=tasks[1].leases.first(), reason="Broken")
        return tasks

    def held(self, person, here):
        return assignment_leases.hold(annotator=person, stage=here, wanted=50)

    def test_ties_first_then_flags_and_nothing_else_as_many_as_are_counted(self, tasks):
        """What the rule decided although people disagree is in the list of disagreements."""
        stage = tasks[0].stage
        assert cases.queue(stage) == [(tasks[0].pk, "awaiting"), (tasks[1].pk, "flagged")]
        assert cases.undecided([stage]) == {stage.pk: 2}

    def test_what_was_decided_is_in_the_other_list(self, tasks):
        decide(tasks[2], "none")
        decide(tasks[0], "none")
        assert [pk for pk, _ in cases.queue(tasks[0].stage)] == [tasks[1].pk]
        assert [pk for pk, _ in cases.queue(tasks[0].stage, decided=True)] == [tasks[0].pk, tasks[2].pk]

    def test_what_left_the_stage_is_in_neither(self, tasks):
        Task.objects.filter(pk=tasks[0].pk).update(live=False)
        assert tasks[0].pk not in dict(cases.queue(tasks[0].stage))

    def test_a_settled_flag_alone_does_not_bring_it_here(self, tasks):
        decisions.settle_flag(flag=Flag.objects.get(), by="test")
        assert tasks[1].pk not in dict(cases.queue(tasks[0].stage))


def test_the_order_in_which_options_come_says_nothing():
    """Over many items the original stands in each place about as often."""
    places = [
        cases.options_in_order(Task(pk=pk, options=["positive-0", "candidate-1"])).index("positive-0")
        for pk in range(2000)
    ]
    assert 900 < sum(places) < 1100
    task = Task(pk=5, options=["candidate-0", "candidate-1"])
    assert [cases.picked_identity(task, str(n)) for n in (1, 2)] == cases.options_in_order(task)
    assert [cases.picked_identity(task, said) for said in ("none", "3", "0", "candidate-0")] == ["none", "3", "0", ""]
