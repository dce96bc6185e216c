"""docs/reference/predictions.md: its examples are read and come to figures, and it names every question and score."""

import re
from pathlib import Path

import pytest

from benchmarks.formats.base import ProblemLog
from benchmarks.predictions.collecting import collect
from benchmarks.predictions.evaluating import evaluate
from benchmarks.predictions.jsonl import MAX_ANSWERS
from benchmarks.predictions.kinds import KINDS
from benchmarks.predictions.reading import read_answers
from tests.benchmarks.bad_inputs.case import written

PAGE = (Path(__file__).resolve().parents[3] / "docs/reference/predictions.md").read_text()


@pytest.mark.parametrize("name", KINDS)
def test_the_examples_come_to_figures(tmp_path, name):
    log = ProblemLog()
    example = re.search(rf"```{name}\n(.*?)```", PAGE, re.S)[1]
    answers = read_answers([written(tmp_path, "x.jsonl", example)], KINDS[name], log)
    found = evaluate(collect(answers, log), KINDS[name], log)
    assert log.problems == [] and found.n > 0


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_questions_and_scores_are_named(kind):
    section = PAGE.split(f"### `{kind.name}`")[1].split("\n#")[0]
    implied = {"s(negative-1)", "s(negative-2)"}  # within negative-0 … negative-3
    assert {name for name in (*kind.questions, *kind.scores) if f"`{name}`" not in section} <= implied


def test_the_limit_is_named():
    assert f"{MAX_ANSWERS:,}" in PAGE
