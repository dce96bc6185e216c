"""The screens behind an annotator's signs in a stage, with the annotator's and the others' answers.

The number of queries does not depend on the number of screens.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from annotation.figures.edit_names import edits_of, name_of_edit
from annotation.figures.judgments import judgments_of
from annotation.measures import annotator_behaviour, warning_signs
from annotation.measures.counts import EPOCH
from annotation.measures.judgments import JudgmentRow, TaskKey
from annotation.models import Annotator, Kind, Stage
from annotation.pipeline.stage_rules import rule_of
from annotation.protocols.base import main_view
from annotation.sql import fetch

SCREENS = """
SELECT task.kind, item.position, task.question, task.round, task.id, item.key, task.gold,
       array_remove(
         array_agg(CASE WHEN slot.annotator_id <> %(annotator)s THEN judgment.answer END ORDER BY judgment.id), NULL)
FROM annotation_task task JOIN benchmarks_item item ON item.id = task.item_id
LEFT JOIN annotation_slot slot ON slot.task_id = task.id
LEFT JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
WHERE task.stage_id = %(stage)s AND task.id IN (SELECT task_id FROM annotation_lease WHERE annotator_id = %(annotator)s)
GROUP BY item.id, task.id
"""


@dataclass(frozen=True, slots=True)
class Screen:
    """A judgment with its task; `others` are the other counted answers, the most frequent first."""

    row: JudgmentRow
    task: int
    key: str
    gold: Sequence[str]
    others: Sequence[str] = field(repr=False)

    @property
    def seconds(self) -> float | None:
        return self.row.active_ms / 1000 if self.row.active_ms else None

    @property
    def at(self) -> datetime:
        return EPOCH + timedelta(microseconds=self.row.at)

    @property
    def tally(self) -> list[tuple[str, int]]:
        return Counter(self.others).most_common()


@dataclass(frozen=True, slots=True)
class Evidence:
    """`judged` and `checks` are in the order given; `picks` are those of `judged` with a position on the screen."""

    judged: list[Screen]
    checks: list[Screen]

    @property
    def picks(self) -> list[Screen]:
        return [screen for screen in self.judged if screen.row.place]


def evidence(stage: Stage, who: Annotator) -> Evidence:
    rows, excluded = judgments_of(stage, annotator=who.pk), who.excluded_at is not None
    tasks = _tasks(stage, who)
    checks = annotator_behaviour.latest_of_screens(rows[rows.kind.equals(Kind.CHECK)])
    return Evidence(
        [_screen(row, tasks) for row in annotator_behaviour.judgments_considered(rows, excluded)],
        [_screen(row, tasks) for row in checks if not row.withdrawn],
    )


def _tasks(stage: Stage, who: Annotator) -> dict[tuple[str, TaskKey], tuple]:
    """Return for each task, by kind and place: its id, its item's key, any right answers, the others' answers."""
    edits = edits_of([stage])
    return {
        (kind, (item, question, round)): (*rest, [name_of_edit(edits, answer) for answer in others])
        for kind, item, question, round, *rest, others in fetch(SCREENS, stage=stage.pk, annotator=who.pk)
    }


def _screen(row: JudgmentRow, tasks: Mapping[tuple[str, TaskKey], tuple]) -> Screen:
    return Screen(row, *tasks[row.kind, row.task])


# The screens behind a sign


def behind(found: Evidence, row: Mapping, stage: Stage, view: str, typical: float | None) -> dict[str, list[Screen]]:
    """Return the screens behind each kind of sign. `row` has the annotator's statistics, `view` is the one on which
    they are compared with the others; `typical` is in seconds.
    """
    views = rule_of(stage).projections()
    run, labels = row["runs"], row["labels_test"]
    coarse = views[main_view(views)]
    return {
        "all": found.judged,
        "agreement": _apart(found.judged, views[view]),
        "answers": [one for one in found.judged if coarse(one.row.answer) == labels.get("label")],
        "side": [one for one in found.picks if one.row.place == warning_signs.top_place(row["side"])],
        "runs": found.picks[run["from"] : run["from"] + run["longest"]],
        "fast": quickest(found.judged, typical),
        "checks": [one for one in found.checks if one.row.answer not in one.gold],
    }


def _apart(screens: Sequence[Screen], view: Callable[[str], str]) -> list[Screen]:
    """Return screens on which the annotator’s answer differs from the others' (annotator_behaviour.agrees), only for
    tasks still in the stage, as in comparisons.
    """
    return [
        one for one in screens if one.row.live and not all(annotator_behaviour.agrees(view, one.row.answer, one.others))
    ]


def quickest(screens: Sequence[Screen], typical: float | None) -> list[Screen]:
    """Return screens answered in under half of the stage's median time, the fastest first."""
    found = [one for one in screens if one.seconds and one.seconds < warning_signs.FAST_SHARE * (typical or 0)]
    return sorted(found, key=lambda one: one.row.active_ms)
