"""Predictions made elsewhere become a run: what is stored, what is refused, what the report says."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks.formats.base import ProblemLog
from benchmarks.models import Event, Job, Prediction, Run
from benchmarks.predictions.kinds import BIVLC
from benchmarks.runs import figures as run_figures
from benchmarks.runs import reported
from tests.benchmarks.bad_inputs.case import written
from tests.builders import compared_models

pytestmark = pytest.mark.django_db
TABLE_3 = [75.83, 52.40, 49.06, 84.32, 89.50, 69.21, 82.82]


@pytest.fixture
def benchmark():
    return compared_models.pairs(4)


def percents(run: Run) -> list[float]:
    return [round(100 * of["share"], 2) for of in run_figures.of_runs([run]).figures[run.pk]["measures"].values()]


def codes(job: Job) -> list[str]:
    return [problem["code"] for problem in job.problems]


def test_answers_become_a_run_with_its_figures(benchmark, tmp_path):
    run = compared_models.imported(benchmark, tmp_path, right=1)
    assert (run.origin, run.title, run.source, run.predictions.count()) == ("imported", "CLIP", "a repository", 16)
    assert percents(run) == [100, 25, 25, 100, 100, 25, 25]
    assert Event.objects.filter(verb="took in predictions", data__run=run.pk).exists()


def test_the_papers_table_comes_from_the_published_file(real, tmp_path):
    file = real / "data" / "bivlc" / "results_ViT-B-32.csv"
    benchmark = compared_models.real_bivlc(file)
    job = compared_models.run(compared_models.queued(benchmark, file))
    assert (job.report["matched"], job.report["by_captions"], job.report["unanswered"]) == (2933, 2933, 0)
    assert percents(Run.objects.get()) == TABLE_3


def test_the_same_file_twice_is_refused(benchmark, tmp_path):
    compared_models.imported(benchmark, tmp_path, right=1)
    job = compared_models.run(
        compared_models.queued(benchmark, tmp_path / "CLIP-1.jsonl", model="clip", source="again")
    )
    assert (job.state, codes(job)) == ("failed", ["ALREADY_IMPORTED"])
    job = compared_models.run(compared_models.queued(benchmark, tmp_path / "CLIP-1.jsonl", skip_stored=True))
    assert job.report["run"] == Run.objects.get().pk


def test_the_refusal_names_the_options_that_differ(benchmark, tmp_path):
    compared_models.imported(benchmark, tmp_path, right=1, asked_in_both_orders=True)
    job = compared_models.run(compared_models.queued(benchmark, tmp_path / "CLIP-1.jsonl", skip_stored=True))
    (problem,) = job.problems
    assert "as “CLIP” from a repository, but with “Asked in both orders”. To change that" in problem["advice"]


def test_two_models_may_choose_alike_but_no_two_score_alike(benchmark, tmp_path):
    for model, state in (("One", "done"), ("Other", "done"), ("one", "failed")):
        file = tmp_path / "answers.jsonl"
        file.write_text(compared_models.lines(benchmark, 4))
        assert compared_models.run(compared_models.queued(benchmark, file, model=model)).state == state
    scores = [
        {"item": item.key, "question": f"s(c{c},i{i})", "score": c == i}
        for item in benchmark.items.all()
        for c in (0, 1)
        for i in (0, 1)
    ]
    file.write_text("".join(json.dumps({**row, "score": float(row["score"])}) + "\n" for row in scores))
    for model, state in (("One", "done"), ("Other", "failed")):
        assert compared_models.run(compared_models.queued(benchmark, file, model=model)).state == state


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda text: text.replace("i_pos2t", "i_pos2x"), "WRONG_VALUE"),
        (lambda text: text.replace('"item": "', '"item": "x'), "UNKNOWN_ID"),
        (lambda text: text.partition("\n")[2], "INCOMPLETE_ROW"),
        (lambda text: text + text.partition("\n")[0], "DUPLICATE_ID"),
        (lambda text: text.replace('"question"', '"quest\\u0000ion"'), "UNKNOWN_FIELD"),
        (lambda text: text.replace('"question"', '"quest\\ud83dion"'), "UNKNOWN_FIELD"),
        (lambda text: "", "EMPTY_FILE"),
    ],
)
def test_nothing_is_stored_of_a_file_that_is_not_right(benchmark, tmp_path, change, code):
    file = tmp_path / "answers.jsonl"
    file.write_text(change(compared_models.lines(benchmark, 1)))
    job = compared_models.run(compared_models.queued(benchmark, file))
    assert job.state == "failed" and code in codes(job)
    assert not Run.objects.exists() and not Prediction.objects.exists()


def test_incomplete_items_are_left_out_where_that_is_asked(benchmark, tmp_path):
    file = tmp_path / "answers.jsonl"
    file.write_text(compared_models.lines(benchmark, 4).partition("\n")[2])
    job = compared_models.run(compared_models.queued(benchmark, file, skip_incomplete=True))
    assert (job.report["left_out"], job.report["answers"]) == (1, 12)
    assert run_figures.of_runs([Run.objects.get()]).figures[job.report["run"]]["n"] == 3


def test_a_model_that_reads_all_items_alike_has_a_run_without_scores(benchmark, tmp_path, client, manager):
    file = tmp_path / "answers.jsonl"
    keys = list(benchmark.items.values_list("key", flat=True))
    file.write_text("".join(json.dumps({"item": key, "read_alike": True}) + "\n" for key in keys))
    job = compared_models.run(compared_models.queued(benchmark, file))
    assert (job.report["answers"], job.report["cut"]["alike"]["count"]) == (0, len(keys))
    shown = " ".join(client.get(reverse("benchmark-models", args=[benchmark.pk])).content.decode().split())
    assert "answered 0 of 4 items" in shown and "No model" not in shown
    assert "4 items are left out, because two of the captions are alike to the model" in shown


def test_the_command_tells_what_did_not_match(benchmark, tmp_path, capsys):
    file = tmp_path / "answers.jsonl"
    line = {"item": "nowhere", "question": "i_pos2t", "choice": "positive"}
    file.write_text(compared_models.lines(benchmark, 2) + json.dumps(line))
    call_command("import_predictions", benchmark.name, str(file), model="CLIP", source="here", kind="bivlc")
    told = capsys.readouterr().out
    assert "4 matched (4 by id, 0 by captions), 0 not" in told
    assert "no item has this id: nowhere" in told
    with pytest.raises(CommandError, match="Nothing was stored: 1 problem"):
        call_command("import_predictions", benchmark.name, str(file), model="CLIP", source="here", kind="bivlc")
    assert "ALREADY_IMPORTED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("GPT-4o (2024-08-06)\xa0· 0\u202fshot", "GPT-4o (2024-08-06) · 0 shot"), ("=1+1", "=1+1"), ("-", "-"),
        ("نمونه\u200cها", "نمونه\u200cها"),
        ("👩\u200d💻 <b>&amp;</b> %s {x} $y_1$ \\", "👩\u200d💻 <b>&amp;</b> %s {x} $y_1$ \\"),
        ("model's \"best\", 'v2'; --x", "model's \"best\", 'v2'; --x"), ("../../a/b.pt", "../../a/b.pt"),
    ],
)  # fmt: skip
def test_a_model_may_have_any_name(benchmark, tmp_path, given, title):
    file = tmp_path / "scores of\na model"
    file.write_text(compared_models.lines(benchmark, 1))
    call_command("import_predictions", benchmark.name, str(file), model=given, source=given)
    run = Run.objects.get()
    assert (run.title, run.source) == (title, title)
    row = {"model": given, "measure": "group", "value": 1, "source": given}
    figures = written(tmp_path, "figures.json", json.dumps([row]))
    [found] = reported.read_reported(figures, BIVLC, ProblemLog())
    assert (found.model, found.source) == (title, title)


@pytest.mark.parametrize("given", ["", " ", "a\nb", "a\u202eb", "a\u200bb", "\u200d", "\x1b[2J", "x" * 301])
def test_but_no_name_that_changes_how_others_are_shown(benchmark, tmp_path, given):
    file = tmp_path / "answers.jsonl"
    file.write_text(compared_models.lines(benchmark, 1))
    with pytest.raises(CommandError, match="Model: "):
        call_command("import_predictions", benchmark.name, str(file), model=given, source="here")


def test_a_table_of_ones_own_becomes_a_run_by_its_mapping(benchmark, tmp_path):
    scores = {"a": "s(c0,i0)", "b": "s(c1,i0)", "c": "s(c1,i1)", "d": "s(c0,i1)"}
    mapping = {"winnow": "predictions/1", "item": "uid", "scores": {name: column for column, name in scores.items()}}
    rows = "".join(f"{item.key};4;1;3;2\n" for item in benchmark.items.all())
    file, how = written(tmp_path, "mine.csv", f"uid;a;b;c;d\n{rows}"), written(tmp_path, "m.json", json.dumps(mapping))
    call_command("import_predictions", benchmark.name, str(file), model="CLIP", source="here", mapping=how)
    assert percents(Run.objects.get()) == [100] * 7


def test_a_deleted_run_leaves_its_event_and_may_come_again(benchmark, tmp_path):
    run = compared_models.imported(benchmark, tmp_path, right=1)
    reported.delete_run(run=run, by="test")
    assert not Prediction.objects.exists()
    assert Event.objects.get(verb="deleted a run").data["title"] == "CLIP"
    compared_models.imported(benchmark, tmp_path, right=1)


def test_much_is_left_to_the_worker(benchmark, tmp_path, monkeypatch):
    run = compared_models.imported(benchmark, tmp_path, right=1)
    monkeypatch.setattr(run_figures, "INLINE", 15)
    assert run_figures.of_runs([run]) == run_figures.Found({}, [run.pk])
    assert run_figures.to_be_asked([run.pk]) == [run.pk] and run_figures.to_be_asked([run.pk]) == []
    run_figures.compute_missing([run.pk])
    assert run_figures.of_runs([run]).missing == []
