"""Dawid and Skene's estimate as a stage's rule: when it speaks, what it says, and what follows from it."""

import random
import uuid

import pytest
from django.db import IntegrityError, transaction

from annotation.adjudication import decisions
from annotation.assignment import leases
from annotation.designs.plan import StagePlan
from annotation.figures import cache
from annotation.judging import submissions
from annotation.models import Annotator, Outcome, Stage, Study, Task
from annotation.participants import lifecycle as participant_lifecycle
from annotation.pipeline import dawid_skene
from annotation.pipeline.outcomes import rule_of
from annotation.protocols.decision_rule import Decision, decide
from annotation.screens import read_answer
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Event, Job
from tests.builders import studies
from tests.independent.deciding import posteriors

pytestmark = pytest.mark.usefixtures("savepoint")
RIGHT = [0.97, 0.97, 0.6, 0.55, 0.6]  # of each annotator's answers
ITEMS = 24


def truth(place: int) -> str:
    return "yes" if place % 3 else "no"


@pytest.fixture(scope="module")
def shared(module_world) -> Stage:
    return judged()


@pytest.fixture
def stage(shared, savepoint) -> Stage:
    return Stage.objects.get(pk=shared.pk)


def judged() -> Stage:
    """In full: two who know against three who mostly guess."""
    made = studies.stage(items=ITEMS, protocol="verify", rule="dawid-skene", overlap=len(RIGHT))
    for seed, share in enumerate(RIGHT):
        work(studies.annotator(made.study), made, share, random.Random(seed))
    return made


def work(who: Annotator, stage: Stage, share: float, dice: random.Random) -> None:
    while lease := next(iter(leases.hold(annotator=who, stage=stage, wanted=1)), None):
        right = truth(lease.task.item.position)
        answer = right if dice.random() < share else {"yes": "no", "no": "yes"}[right]
        studies.submit(who, lease, read_answer.place_on_screen(lease, answer))


def outcomes(stage: Stage) -> dict[int, str]:
    return dict(Outcome.objects.filter(task__stage=stage).values_list("task__item__position", "outcome"))


def plain(stage: Stage) -> list[tuple]:
    return [
        (task, who, answer.label)
        for task, given in dawid_skene.counted_answers(stage).items()
        for _, who, answer in given
    ]


def test_no_judgment_decides_and_the_estimate_does(stage):
    assert outcomes(stage) == {}
    report = dawid_skene.estimate(stage, "test")
    assert (report["judgments"], report["decided"], report["changed"]) == (ITEMS * len(RIGHT), ITEMS, ITEMS)
    assert report["converged"]


def test_it_knows_whom_to_believe(stage):
    dawid_skene.estimate(stage, "test")
    votes = [[answer.label for *_, answer in given] for given in dawid_skene.counted_answers(stage).values()]
    majority = {place: max(set(said), key=said.count) for place, said in enumerate(votes)}
    wrong = [sum(found[place] != truth(place) for place in range(ITEMS)) for found in (outcomes(stage), majority)]
    assert wrong[0] < wrong[1]


def test_outcomes_and_posteriors_are_those_of_a_plain_computation(stage):
    dawid_skene.estimate(stage, "test")
    likely = posteriors(plain(stage))
    for row in Outcome.objects.filter(task__stage=stage):
        assert row.by == "dawid_skene"
        assert row.posterior == pytest.approx(likely[row.task_id][row.outcome], abs=1e-6)
        assert row.posterior == max(row.posterior, *(likely[row.task_id].values())) or row.posterior > 0.5


def test_the_confusion_of_each_annotator_is_kept(stage):
    dawid_skene.estimate(stage, "test")
    kept = dawid_skene.last_estimate(stage).data
    assert set(kept["confusion"]) == {"1", "2", "3", "4", "5"}
    knows, guesses = (kept["confusion"][number]["yes"]["yes"] for number in ("1", "4"))
    assert knows > 0.9 > guesses
    assert sum(kept["class_shares"].values()) == pytest.approx(1)


def test_a_second_estimate_of_the_same_changes_nothing(stage):
    dawid_skene.estimate(stage, "test")
    before = list(Outcome.objects.order_by("pk").values())
    assert dawid_skene.estimate(stage, "test")["changed"] == 0
    assert list(Outcome.objects.order_by("pk").values()) == before
    assert Event.objects.filter(verb="estimated").count() == 1


def test_what_no_longer_counts_leaves_its_tasks_open_until_the_next(stage):
    dawid_skene.estimate(stage, "test")
    participant_lifecycle.exclude(annotator=stage.study.annotators.get(number=4), reason="guesses", by="test")
    assert outcomes(stage) == {}
    assert dawid_skene.estimate(stage, "test")["open"] == ITEMS  # each lacks a judgment now
    work(studies.annotator(stage.study), stage, 1, random.Random(9))
    assert dawid_skene.estimate(stage, "test")["decided"] == ITEMS


def test_an_answer_taken_back_opens_its_task_alone(stage):
    dawid_skene.estimate(stage, "test")
    who = stage.study.annotators.get(number=5)
    submissions.undo(annotator=who, key=uuid.uuid4())
    assert len(outcomes(stage)) == ITEMS - 1


@pytest.mark.parametrize("how", ["another", "changed"])
def test_answers_that_came_while_it_was_fitted_are_not_passed_off_as_fitted(stage, how):
    seen = dawid_skene.counted_answers(stage)
    who = stage.study.annotators.get(number=5)
    lease = submissions.history(annotator=who)[0]
    task = lease.task_id
    if how == "another":
        seen[task] = seen[task][:-1]
    else:
        studies.submit(who, lease, "no" if lease.previous["answer"] == "yes" else "yes")
    did = dawid_skene.decide(stage, seen, dawid_skene.fit(stage, seen).posteriors, "test")
    assert (did["passed_over"], did["decided"]) == (1, ITEMS - 1)
    assert not Outcome.objects.filter(task=task).exists()


def test_cut_short_it_leaves_no_figures_that_pass_for_those_of_now(stage, monkeypatch):
    before = cache.state_of(5).state
    assert cache.lasts(stage.study, before)
    monkeypatch.setattr(dawid_skene, "BATCH", ITEMS // 2)
    with pytest.raises(InterruptedError):
        dawid_skene.estimate(stage, "test", stopped)
    assert len(outcomes(stage)) == ITEMS // 2
    assert not cache.lasts(stage.study, before)


def stopped(done: int, total: int) -> None:
    raise InterruptedError


def test_an_adjudicators_word_stands(stage):
    dawid_skene.estimate(stage, "test")
    task = Task.objects.filter(stage=stage).first()
    decisions.decide(task=task, by="test", seen=decisions.seen(task), note="dark", answer="cannot_tell")
    dawid_skene.estimate(stage, "test")
    assert Outcome.objects.values_list("outcome", "posterior").get(task=task) == ("cannot_tell", None)


@pytest.fixture
def in_two() -> Study:
    """All chose the same images of six items; four of these are to be drawn when that stage is closed."""
    rule = {"rule": "dawid-skene", "overlap": 2, "carries": "negative"}
    plans = [
        StagePlan("bivlc-choose", name="choose", settings=rule),
        StagePlan("bivlc-disambiguate", name="sort", source="choose", settings={"sample": 4}),
    ]
    study = studies.study(items=6, stages=plans)
    choose = study.stages.get(position=1)
    for _ in range(2):
        who = studies.annotator(study)
        while studies.judgment(who, choose, "candidate-1"):
            pass
    return study


def test_an_export_does_not_pass_by_what_a_closing_is_still_to_send_on(in_two):
    """Else the items that wait would be told as dropped, since no sample has them."""
    choose, sort = in_two.stages.order_by("position")
    study_lifecycle.move_stage(stage=choose, to="closed", by="test")
    dawid_skene.bring_up_to_date(in_two, "test")
    assert sort.tasks.count() == 4
    dawid_skene.bring_up_to_date(in_two, "test")
    assert sort.tasks.count() == 4


def test_closing_estimates_and_then_promotes(in_two, eager_tasks, django_capture_on_commit_callbacks):
    choose, sort = in_two.stages.order_by("position")
    assert not sort.tasks.exists()
    with django_capture_on_commit_callbacks(execute=True):
        study_lifecycle.move_stage(stage=choose, to="closed", by="test")
    assert (outcomes(choose), sort.tasks.count()) == (dict.fromkeys(range(6), "candidate-1"), 4)
    assert Job.objects.get(kind=dawid_skene.KIND).report["promoted"] == 4


def test_a_kind_that_nobody_gave_cannot_win():
    posterior = {"none": 0.9, "any": 0.1}
    found = decide(["c0", "c0"], overlap=2, tie_rule="drop", reason=lambda _: "", alike=["c0"], posterior=posterior)
    assert found == Decision("kept", "c0", "", "dawid_skene", posterior=0.1)


def test_level_probabilities_are_a_tie():
    posterior = {"yes": 0.5, "no": 0.5}
    ask = {"overlap": 2, "reason": lambda _: "", "posterior": posterior}
    assert decide(["yes", "no"], tie_rule="drop", **ask).reason == "tie_unresolved"
    assert decide(["no", "yes"], tie_rule="first", **ask) == Decision("kept", "no", "", "tie_rule", posterior=0.5)


def test_the_one_candidate_of_an_item_is_one_kind_whatever_its_place():
    rule = rule_of(Stage(protocol="bivlc-disambiguate", overlap=2, rule="dawid-skene"))
    assert rule.estimated_kinds(["candidate-3", "candidate-0", "positive-0"]) == [
        "candidate",
        "candidate",
        "positive-0",
    ]
    found = rule.decide(["candidate-3", "positive-0"], posterior={"candidate": 0.8, "positive-0": 0.2, "both": 0.0})
    assert (found.outcome, found.reason, found.posterior) == ("candidate-3", "ambiguous_generated", 0.8)


def test_until_it_is_estimated_a_task_waits():
    rule = rule_of(Stage(protocol="verify", overlap=1, rule="dawid-skene"))
    assert rule.decide(["yes"]).reason == "awaiting_estimate"
    assert rule.decide([]) == Decision("open")


@pytest.mark.parametrize(
    "given, sentence",
    [({"overlap": 1}, "judged twice"), ({"overlap": 2, "tie_rule": "adjudicate"}, "almost never tied")],
)
def test_what_does_not_go_with_it_is_refused(given, sentence):
    with pytest.raises(study_lifecycle.CannotCreate, match=sentence):
        studies.study(rule="dawid-skene", **given)


def test_an_edit_is_confirmed_and_not_estimated():
    with pytest.raises(study_lifecycle.CannotCreate, match="nothing to estimate"):
        studies.study(protocol="visla-paraphrase", rule="dawid-skene")


def test_the_database_knows_it_too(stage):
    with pytest.raises(IntegrityError), transaction.atomic():
        Stage.objects.filter(pk=stage.pk).update(tie_rule="adjudicate")
    with pytest.raises(IntegrityError), transaction.atomic():
        Stage.objects.filter(pk=stage.pk).update(rule="oracle")
