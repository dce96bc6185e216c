"""Models' answers about a benchmark's items, as columns. Since runs never change, columns are cached."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock

import numpy as np
from django.db import connection

from benchmarks.models import Benchmark, Prediction, Run, RunOrigin
from benchmarks.predictions.kinds import KINDS
from benchmarks.runs.margins import AnsweredItems, Column, answers

MOST = 200  # cached columns per process: 7,512 items take 130 KB
_CACHE: dict[tuple, AnsweredItems] = {}  # the oldest first
_LOCK = Lock()


@dataclass(frozen=True, slots=True)
class _RunQuestions:
    """A run, and its questions that must all be answered correctly."""

    run: Run
    questions: tuple[str, ...]

    @property
    def key(self) -> tuple:
        """The cache key, with the time of creation: ids repeat when a database is recreated."""
        return self.run.pk, self.run.made_at, self.questions


# NaN and null are not scores, as in statistics (`predictions/stored.py`). A column as bytes: item numbers and scores,
# big-endian, in the items' order. Rows would take ten times as long.
SCORES = """
SELECT run_id, question, string_agg(int8send(item_id), '' ORDER BY item_id),
       string_agg(float8send(score), '' ORDER BY item_id)
FROM benchmarks_prediction WHERE run_id = ANY(%s) AND question = ANY(%s) AND score <> 'NaN'
GROUP BY run_id, question
"""


def runs_of(benchmark: Benchmark | int) -> list[Run]:
    """Return runs with predictions on the benchmark as imported, the newest of each model, by title. One query.

    A model used without images counts as a different one; the same weights on different hardware count as one.
    """
    found = Run.objects.filter(benchmark=benchmark, study=None, origin__in=(RunOrigin.MEASURED, RunOrigin.IMPORTED))
    newest: dict[tuple, Run] = {}
    for run in found.select_related("model").order_by("made_at", "pk"):
        weights = (run.model.name, run.model.pretrained) if run.model else ()
        newest[run.title, run.source, run.kind, run.origin, run.blind, weights] = run
    return sorted(newest.values(), key=lambda run: (run.title.lower(), run.pk))


def answers_by_run(runs: Iterable[Run], questions: Mapping[str, Collection[str]]) -> dict[int, AnsweredItems]:
    """Return each run's answers to the questions in `questions` for its kind; at most two queries, none if cached."""
    asked = {run.pk: _RunQuestions(run, tuple(questions[run.kind])) for run in runs if questions.get(run.kind)}
    kept = {pk: found for pk, one in asked.items() if (found := _CACHE.get(one.key))}
    new = {pk: one for pk, one in asked.items() if pk not in kept}
    fresh = _read(new) if new else {}
    with _LOCK:
        _CACHE.update({asked[pk].key: found for pk, found in fresh.items()})
        for key in list(_CACHE)[: max(0, len(_CACHE) - MOST)]:
            del _CACHE[key]
    return kept | fresh


def _read(asked: Mapping[int, _RunQuestions]) -> dict[int, AnsweredItems]:
    names = {name for one in asked.values() for name in scores_of(one.run.kind, one.questions)}
    questions = {name for one in asked.values() for name in one.questions}
    columns: dict[int, dict[str, Column]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(SCORES, [list(asked), list(names)])
        for run, name, items, values in cursor.fetchall():
            scores = np.frombuffer(values, ">f8").astype(float)
            columns[run][name] = np.frombuffer(items, ">i8").astype(np.int64), scores
    choices: dict[int, dict[str, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    chosen = Prediction.objects.filter(run__in=list(asked), question__in=questions)
    for run, name, item, choice in chosen.values_list("run", "question", "item", "choice"):
        if choice is not None:
            choices[run][name][item] = choice
    return {pk: answers(KINDS[one.run.kind], columns[pk], choices[pk], one.questions) for pk, one in asked.items()}


def scores_of(kind: str, questions: Iterable[str]) -> list[str]:
    """Return the names of the scores that these questions compare."""
    pairs = KINDS[kind].measured.questions
    return list(dict.fromkeys(name for one in questions for pair in pairs[one] for name in pair))
