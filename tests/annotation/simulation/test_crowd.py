"""Simulated annotators against a running site: they finish, they err as often as they say, they keep the laws."""

from io import StringIO
from random import Random

import pytest
from django.core.management import CommandError, call_command

from annotation.adjudication import cases
from annotation.checks import gold_items
from annotation.checks.parsing import Known
from annotation.designs.plan import StagePlan
from annotation.figures.funnel import funnel
from annotation.figures.human_baseline import baselines
from annotation.models import Annotator, Attempt, Judgment, Kind, Slot, Study, Task
from annotation.simulation import crowd
from annotation.simulation.browser import FormReader, Unreachable
from annotation.simulation.crowd import running_at
from benchmarks.models import Item
from tests.builders import declared, studies, text_items

pytestmark = pytest.mark.django_db(transaction=True)
STEADY = {"skip_rate": 0, "undo_rate": 0}


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """Whoever waits for screens looks again sooner."""
    monkeypatch.setattr(crowd, "REST", 0.05)


def study(items: int = 6, overlap: int = 2, truth: bool = True, **settings) -> Study:
    made = studies.study(items=items, overlap=overlap, **settings)
    if truth:
        for number, item in enumerate(Item.objects.order_by("pk")):
            item.truth = {"bivlc-choose": ["none"] if number == 0 else [f"candidate-{number % 4}"]}
            item.save()
    return made


def run(study: Study, site: str, **plan) -> crowd.Report:
    plan = {"annotators": 3, "error_rate": 0, "concurrency": 3, **STEADY, **plan}
    return crowd.simulate(study=study, plan=crowd.Plan(url=site, **plan))


def right() -> list[bool]:
    judged = Judgment.objects.filter(withdrawn=False).select_related("lease__task__item")
    return [j.answer in j.lease.task.item.truth["bivlc-choose"] for j in judged]


def test_three_finish_six_items_at_overlap_two_and_share_the_work_out(site):
    report = run(study(items=6), site)
    assert report.judgments == 12 and report.errors == []
    assert Slot.objects.filter(judgment__isnull=False).count() == Slot.objects.count() == 12
    assert all(right())
    assert [tally.pseudonym for tally in report.tallies] == ["A-01", "A-02", "A-03"]
    assert min(tally.judgments for tally in report.tallies) >= 3
    for judgment in Judgment.objects.all():
        assert 500 < judgment.active_ms <= judgment.elapsed_ms <= 1.26 * judgment.active_ms
    assert list(Annotator.objects.values_list("simulated", flat=True)) == [True, True, True]
    assert Annotator.objects.filter(simulated=True).count() == 3


def test_an_error_rate_of_one_never_tells_the_truth(site):
    run(study(items=2), site, error_rate=1)
    assert right() == [False] * 4


@pytest.mark.parametrize("name", ["prompt-fit", "two-scores"])
def test_they_answer_protocol_files(site, name):
    report = run(declared.study(name, 2), site, error_rate=0)
    assert report.judgments == 6 and report.errors == []
    assert Judgment.objects.values("lease__task", "answer").distinct().count() == 2


def test_answers_taken_back_are_given_again_and_skipped_screens_go_to_others(site):
    report = run(study(items=8, overlap=1), site, undo_rate=0.4, skip_rate=0.1, seed=3)
    assert sum(tally.undone for tally in report.tallies) == Judgment.objects.filter(withdrawn=True).count() > 0
    assert report.judgments == Slot.objects.filter(judgment__isnull=False).count()
    assert report.errors == []


def test_an_undo_that_comes_too_late_is_no_error(site):
    made = study(items=8, overlap=1)
    made.stages.update(undo_seconds=0)
    report = run(made, site, undo_rate=0.4, seed=3)
    assert (report.errors, sum(tally.undone for tally in report.tallies)) == ([], 0)


def test_the_same_seed_gives_the_same_crowd_and_another_one_another(site):
    def times(seed: int) -> list[int]:
        run(made := study(items=4, overlap=1), site, annotators=1, seed=seed)
        mine = Judgment.objects.filter(lease__annotator__study=made).order_by("pk")
        return list(mine.values_list("active_ms", flat=True))

    first, again, other = times(1), times(1), times(2)
    assert len(first) == 4 and first == again != other


def test_nobody_answers_a_screen_that_no_browser_could_show(site, monkeypatch):
    monkeypatch.setattr(crowd, "unpainted", lambda html: "asks nothing" if 'name="lease"' in html else "no screen")
    report = run(study(items=2), site, annotators=1)
    assert report.judgments == Judgment.objects.count() == 0 and "it asks nothing" in report.errors[0]


def test_a_limit_is_kept(site):
    report = run(study(), site, limit=5)
    assert report.judgments == Judgment.objects.count() == 5
    assert not Slot.objects.filter(held_until__isnull=False).exists()


def test_it_gives_up_waiting_for_screens_in_others_hands(site):
    busy = study(items=1, overlap=1)
    stranger = studies.annotator(busy)
    studies.assignment_leases.hold(annotator=stranger, stage=busy.stages.get(), wanted=1)
    report = run(busy, site, patience=0.2)
    assert report.judgments == 0 and report.seconds < 5


def test_the_command_prints_counts(site):
    said = StringIO()
    name = study(items=2).name
    call_command("simulate", name, annotators=2, error_rate=0, url=site, concurrency=1, stdout=said)
    assert "4 judgments in" in said.getvalue() and "0 errors" in said.getvalue()


def test_where_nothing_answers_it_says_so():
    with pytest.raises(CommandError, match="No server responds"):
        call_command("simulate", study(items=1).name, url="http://127.0.0.1:9")


def test_a_closed_study_lets_nobody_join(site):
    closed = study(items=1)
    Study.objects.update(state="closed")
    with pytest.raises(Unreachable, match="does not let anyone join"):
        run(closed, site)


def test_a_truth_that_is_not_known_is_the_same_for_everybody():
    options = ["candidate-0", "candidate-1", "candidate-2", "candidate-3"]
    drawn = [truth(number, options) for number in range(200)]
    assert drawn == [truth(number, options[::-1]) for number in range(200)]
    assert {answers[0] for answers in drawn} == {*options, "none"}


def truth(item: int, options: list[str], protocol: str = "bivlc-choose", **fields) -> list[str]:
    task = Task(item=Item(pk=item, truth=fields.pop("known", {})), options=options, **fields)
    return crowd.truth_of(task, protocol)


def test_a_known_truth_is_the_checks_the_items_or_the_questions():
    captions = ["caption-negative-0", "caption-positive-0"]
    assert truth(1, captions, "bivlc-i2t", question="negative") == ["caption-negative-0"]
    known = {"bivlc-choose": ["candidate-1"]}
    assert truth(1, ["candidate-0", "candidate-1"], known=known) == ["candidate-1"]
    assert truth(1, ["candidate-0", "candidate-1"], known=known, gold=["none"]) == ["none"]


PIPELINE = [
    StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"}),
    StagePlan("bivlc-disambiguate", name="fits", source="choose", settings={"strategy": "batches", "batch_size": 2}),
    StagePlan("bivlc-i2t", name="i2t", source="fits", apart_from=[]),
    StagePlan("bivlc-t2i", name="t2i", source="fits", after="i2t", apart_from=[]),
]


def pipeline(items: int = 3) -> Study:
    made = studies.study(items=items, stages=PIPELINE)
    known = {"bivlc-choose": ["candidate-1"], "bivlc-disambiguate": ["positive-0"]}
    Item.objects.update(truth=known)
    Item.objects.filter(position=0).update(truth={**known, "bivlc-choose": ["none"]})
    return made


def test_they_go_through_every_stage(site):
    made = pipeline()
    report = run(made, site)
    whole = funnel(made)
    assert report.errors == []
    assert (whole["imported"], whole["kept"], whole["open"]) == (3, 2, 0)
    assert [(row["tasks"], row["open"]) for row in whole["measuring"]] == [(4, 0), (4, 0)]
    (measured,) = baselines(made)
    assert (measured["measures"]["group"]["n"], measured["measures"]["group"]["share"]) == (2, 1.0)


def test_they_consent_and_pass_the_questions_and_the_practice(site):
    questions = [{"question": "How many?", "options": ["One", "Two"], "answer": 1}]
    made = studies.study(items=3, comprehension=questions, consent="You may stop at any time.")
    known = {Item.objects.get(position=0): Known(["none"])}
    gold_items.set_known(kind=Kind.PRACTICE, stage=made.stages.get(), known=known, by="test")
    report = run(made, site, annotators=2)
    assert report.errors == [] and report.judgments == 2
    assert Attempt.objects.filter(passed=True).count() == 4
    assert not Annotator.objects.filter(consented_at=None).exists()


def test_errors_come_as_often_as_stated_and_fall_on_every_other_answer():
    rng = Random(1)
    given = [crowd.choose(["a"], ["a", "b", "c", "none"], 0.2, rng) for _ in range(5000)]
    wrong = [answer for answer in given if answer != "a"]
    assert 0.18 < len(wrong) / 5000 < 0.22
    assert all(0.28 < wrong.count(answer) / len(wrong) < 0.39 for answer in ("b", "c", "none"))


def test_thinking_times_have_the_stated_median():
    rng = Random(1)
    actives = sorted(crowd.thinking_ms(rng)[0] for _ in range(4001))
    assert 5700 < actives[2000] < 6300
    assert 2000 < actives[100] < 2600


def test_a_page_is_read_as_its_forms():
    reader = FormReader("http://x/judge/t/")
    reader.feed('<form action="send/"><input type="hidden" name="lease" value="7"><input type="radio" name="answer">')
    reader.feed('<button formaction="/skip/">Skip</button></form><input type="hidden" name="outside">')
    (form,) = reader.forms
    assert (form.action, form.values) == ("http://x/judge/t/send/", {"lease": "7"})
    assert form.others == ["http://x/skip/"]


def test_the_default_address_is_the_running_winnows(tmp_path, monkeypatch):
    monkeypatch.setenv("PORT", "8123")
    assert running_at(tmp_path) == "http://127.0.0.1:8123"
    (tmp_path / "lock").write_text('{"what": "up", "url": "http://localhost:8500", "pid": 1}')
    assert running_at(tmp_path) == "http://localhost:8500"


@pytest.mark.parametrize("protocol", ["visla-triplet", "hard-positive-rank", "sugarcrepe-compare"])
def test_they_fill_in_answers_that_are_more_than_a_pick(site, protocol):
    negatives = ["A mat lies on a cat.", "A cat sits on a hat."]
    texts = {**text_items.TEXTS, "second_positive": ["A cat rests on a mat."]}
    texts["negative"] = negatives if protocol == "sugarcrepe-compare" else negatives[:1]
    made = text_items.study(protocol, items=2, texts=texts)
    report = run(made, site, annotators=2)
    assert (report.judgments, report.errors) == (2, [])
    assert Task.objects.filter(decided=None).count() == 0


def test_an_edit_is_confirmed_and_its_words_go_on_to_the_end(site):
    plans = [StagePlan("visla-paraphrase", "one"), StagePlan("visla-triplet", "two", source="one")]
    made = text_items.study(*plans, items=6)
    report = run(made, site, annotators=3, undo_rate=0.1, skip_rate=0.05)
    whole = funnel(made)
    queue = cases.queue(made.stages.select_related("study").get(position=1))
    waiting = [task for task, why in queue if why == "awaiting"]
    lacking = Task.objects.filter(live=True, slots__judgment=None).distinct()  # whoever could have it had gone by then
    assert report.errors == [] and whole["open"] == len(waiting) + lacking.count()
    assert Judgment.objects.filter(answer="edited").exists() and whole["kept"]
