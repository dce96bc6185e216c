"""People and models on a stage's questions, task by task, for the page about their disagreements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from annotation.adjudication import answers_shown
from annotation.adjudication.answers_shown import Seen
from annotation.comparison.disagreements_with_models import UNKNOWN, Table
from annotation.comparison.question_map import asked_in, people_right
from annotation.models import Stage, Task
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch
from benchmarks.models import Prediction, Run, RunOrigin
from benchmarks.predictions.kinds import KINDS, RIGHT
from benchmarks.runs.answers import answers_by_run, runs_of, scores_of
from benchmarks.runs.margins import NOTHING

# Tasks that are decided or split, in item order. `chosen`: an image that people chose is compared. Models did not see
# captions that an earlier stage wrote, so such tasks are left out.
TASKS = """
SELECT task.id, task.item_id, task.question, array_to_string(task.options, ' '), task.entropy, outcome.outcome,
       array_to_string(task.shows || task.options, ' ') LIKE '%%candidate-%%'
FROM annotation_task task JOIN benchmarks_item item ON item.id = task.item_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.stage_id = %(stage)s AND task.live AND task.kind = 'judge'
  AND (outcome.task_id IS NOT NULL OR task.entropy > 0) AND task.carried::text NOT LIKE '%%"caption-%%'
  AND (%(type)s = '' OR item.type = %(type)s) AND (%(subtype)s = '' OR item.subtype = %(subtype)s)
ORDER BY item.position, task.id
"""

CODES = {None: UNKNOWN, True: 1, False: 0}
PEOPLE = {code: right for right, code in CODES.items()}

people_right = lru_cache(4096)(people_right)  # few answers, many tasks


@dataclass(frozen=True, slots=True)
class Answer:
    """One model's answer to a task. `scores`: by name; `margin` in the model's own units, None if it only chose."""

    run: Run
    right: bool
    margin: float | None
    scores: Mapping[str, float]
    choice: str


@dataclass(frozen=True, slots=True)
class Case:
    """A task to show. `right` is the right option according to the material, "" if there is none."""

    seen: Seen
    people: bool | None
    right: str
    answers: Sequence[Answer]

    @property
    def wrong(self) -> int:
        return sum(not answer.right for answer in self.answers)

    @property
    def note(self) -> str:
        """Return the note for an adjudicator who is sent to this case."""
        people = {None: "people undecided", True: "people right", False: "people wrong"}[self.people]
        return f"Models disagree: {people}, {self.wrong} of {len(self.answers)} models wrong."


def comparable(stage: Stage) -> list[Run]:
    """Return the models that answer this stage's questions."""
    kinds = {kind for asked in asked_in(stage.protocol).values() for kind in asked}
    return [run for run in runs_of(stage.study.benchmark_id) if run.kind in kinds] if kinds else []


def table(stage: Stage, runs: Sequence[Run], type: str = "", subtype: str = "") -> Table:
    """Compile the table in one query, plus two per question for models that this process has not read yet."""
    rows = fetch(TASKS, stage=stage.pk, type=type, subtype=subtype)
    columns = list(zip(*rows, strict=True)) or [()] * 7
    tasks, items = np.array(columns[0], np.int64), np.array(columns[1], np.int64)
    people = [
        CODES[people_right(stage.protocol, question, tuple(options.split()), outcome or "")]
        for _, _, question, options, _, outcome, _ in rows
    ]
    models = np.full((len(runs), len(rows)), UNKNOWN, np.int8)
    margins = np.full((len(runs), len(rows)), np.nan)
    questions, chosen = np.array(columns[2], object), np.array(columns[6], bool)
    for question, asked in asked_in(stage.protocol).items():
        found = answers_by_run(runs, asked)
        for place, run in enumerate(runs):
            here = (questions == question) & ~(chosen & (run.origin == RunOrigin.MEASURED))
            about = found.get(run.pk, NOTHING).scaled.about(items[here])
            models[place, here], margins[place, here] = about
    return Table(tasks, np.array(people, np.int8), np.array(columns[4], float), models, margins)


def cases(stage: Stage, runs: Sequence[Run], tasks: Sequence[int], whole: Table) -> list[Case]:
    """Return the tasks that somebody judged, in this order. Makes six queries, however many tasks."""
    seen = answers_shown.as_seen(stage, tasks, agreed=True)
    asked = Task.objects.only("question", "options").in_bulk(tasks)
    given = _predictions(runs, [one.item.pk for one in seen])
    places = {task: place for place, task in enumerate(whole.tasks.tolist())}
    found = []
    for one in seen:
        task, place = asked[one.task], places[one.task]
        questions = asked_in(stage.protocol)[task.question]
        said_here = zip(runs, whole.models[:, place].tolist(), strict=True)
        answers = [
            _answer(run, questions[run.kind], bool(right), given.get((run.pk, one.item.pk), {}))
            for run, right in said_here
            if right != UNKNOWN
        ]
        right = protocol_named(stage.protocol).right_answer(task.question, task.options)
        found.append(Case(one, PEOPLE[int(whole.people[place])], right, answers))
    return found


def _predictions(runs: Sequence[Run], items: Sequence[int]) -> dict[tuple[int, int], dict[str, tuple]]:
    """Return scores and choices by name, for each run and item."""
    rows = Prediction.objects.filter(run__in=[run.pk for run in runs], item__in=items)
    found: dict[tuple[int, int], dict[str, tuple]] = {}
    for run, item, name, score, choice in rows.values_list("run", "item", "question", "score", "choice"):
        found.setdefault((run, item), {})[name] = score, choice
    return found


def _answer(run: Run, questions: Sequence[str], right: bool, given: Mapping[str, tuple]) -> Answer:
    """Collect the scores or choices for these questions."""
    pairs = [pair for one in questions for pair in KINDS[run.kind].measured.questions[one]]
    scores = {name: given[name][0] for name in scores_of(run.kind, questions) if name in given}
    whole = bool(pairs) and all(name in scores for pair in pairs for name in pair)
    margin = min(scores[one] - scores[other] for one, other in pairs) if whole else None
    choices = {one: given[one][1] for one in questions if one in given}
    # A choice in words; if the source states only that it was right, the right option.
    words = (KINDS[run.kind].questions[one].right if said == RIGHT else said for one, said in choices.items())
    return Answer(run, right, margin, scores, ", ".join(words))
