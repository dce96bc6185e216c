"""Each stage's progress: what closing it would pass on, and what became of all items."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import prefetch_related_objects

from annotation.dashboard.next_step import passed_on_by, waits_for_closing
from annotation.models import Kind, Stage, StageState, Study, StudyState
from annotation.protocols.registry import protocol_named
from annotation.templatetags.figures import data, percent

PARTS = {"kept": "Kept", "dropped": "Dropped", "waiting": "Waiting for a decision", "open": "Still to be judged",
         "not_asked": "Not asked about"}  # fmt: skip
NOT_RATED = {"open": "Not rated"}  # for a study in which nobody judges
OF_AUDIT = {"kept": "Judged right", "dropped": "Judged wrong", "open": "Left open: an audit needs only some items"}

BEING_JUDGED = "being judged"


@dataclass(frozen=True)
class Part:
    """The items of a `kind`, with their `share` of all items and their position in the bar, in percent of its width."""

    kind: str
    words: str
    items: int
    share: str
    x: float
    width: float
    reasons: Sequence[Mapping] = ()


def stages_of(study: Study) -> list[Stage]:
    """In order, each with its source. One query, whoever asks for the study's stages later."""
    prefetch_related_objects([study], "stages")
    return with_sources(study.stages.all())


def with_sources(stages: Iterable[Stage]) -> list[Stage]:
    """All stages of a study, each with its source."""
    known = {stage.pk: stage for stage in stages}
    for stage in known.values():
        if stage.source_id is not None:
            stage.source = known[stage.source_id]
    return [*known.values()]


def main_stage(stages: Sequence[Stage]) -> Stage:
    """Return the first stage that is open and has unanswered questions, or the last one that selects."""
    waiting = set(
        Stage.objects.filter(
            pk__in=[stage.pk for stage in stages], state=StageState.OPEN, slots__judgment=None, slots__live=True,
            slots__task__kind=Kind.JUDGE,
        ).values_list("pk", flat=True).distinct()
    )  # fmt: skip
    selecting = [stage for stage in stages if not protocol_named(stage.protocol).measures]
    return next((stage for stage in stages if stage.pk in waiting), (selecting or list(stages))[-1])


def progress(stage: Stage, whole: Mapping) -> dict:
    """Return how much of a stage is `done`, in items or questions; what an empty one `waits_for`; state in `words`."""
    step = next(one for one in (*whole["stages"], *whole["measuring"]) if one["stage"] == stage.position)
    entered = step.get("entered", step.get("tasks", 0))
    done = step["answered"] if "answered" in step else entered - step["open"]
    total = step.get("needed", entered)
    before = stage.source if not total and waits_for_closing(stage) else None
    waits_for = before.position if before and before.state == StageState.OPEN else None
    return {"total": total, "done": done, "waits_for": waits_for, "words": _state_in_words(stage, done, total)}


def _state_in_words(stage: Stage, done: int, total: int) -> str:
    """Describe what an open stage is doing, which *open* does not show."""
    if stage.state == StageState.CLOSED:
        return "closed"
    return "waiting" if not total else "all judged" if done == total else BEING_JUDGED


def closing(stage: Stage, stages: list[Stage], whole: dict) -> list[dict]:
    """Return what closing the stage would pass on (`passed_on_by`); nothing if it measures."""
    steps = {step["stage"]: step for step in whole["stages"]}
    if stage.position not in steps:
        return []
    step = steps[stage.position]
    return passed_on_by(
        stage, stages, {"kept": step["kept"]} | {row["reason"]: row["items"] for row in step["reasons"]}
    )


def asks_nobody(study: Study) -> bool:
    """Return whether all judgments were made elsewhere, and nobody can judge here."""
    people = study.annotators.order_by("imported").values_list("imported", flat=True)
    return study.state != StudyState.OPEN and people.first() is True


def has_people(study: Study) -> bool:
    """Whether somebody has joined who could judge here."""
    people = study.annotators.all() if study.state == StudyState.OPEN else study.annotators.filter(imported=False)
    return people.exists()


def parts_of(whole: Mapping, audits: bool = False, asks: bool = True) -> list[Part]:
    """Return what became of all items, each share rounded separately. A study that `audits` may end before the open
    items are judged, so shares of all items, which could be taken for its result, are left out. `asks`: whether anybody
    can judge.
    """
    named = PARTS | (OF_AUDIT if audits else {} if asks else NOT_RATED)
    reasons = {"dropped": whole["reasons"], "not_asked": whole["not_asked_in"]}
    counts = {kind: whole[kind] for kind in PARTS} | {"open": whole["open"] - whole["waiting"]}
    found, x = [], 0.0
    for kind, words in named.items():
        share = counts[kind] / (whole["imported"] or 1)
        if counts[kind] or kind in ("kept", "dropped"):
            shown = "" if audits else data(share, percent(share))
            found.append(Part(kind, words, counts[kind], shown, 100 * x, 100 * share, reasons.get(kind, ())))
        x += share
    return found
