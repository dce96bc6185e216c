"""What a manager can do next about a study, from what its stages have reached. Nothing is read or written here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from django.urls import reverse

from annotation.models import DecisionRule, Promotion, Stage, StageState, Strategy, StudyState
from annotation.studies.lifecycle import Moved
from annotation.wording import counted


@dataclass(frozen=True)
class NextStep:
    """A sentence, and where its button leads; `fields` are what a button that changes something sends, else None.

    `is_last`: the study is done and released, so nothing has to be done. `signs`: the annotators with warning signs,
    who are shown beside the step since a sign never acts by itself.
    """

    sentence: str
    label: str = ""
    url: str = ""
    fields: Mapping[str, str] | None = None
    is_last: bool = False
    signs: int = 0


@dataclass(frozen=True)
class Reached:
    """How far a stage is: `done` of the `total` items or questions in it; of an audit, of those that it will need."""

    stage: Stage
    done: int
    total: int

    @property
    def is_done(self) -> bool:
        return bool(self.total) and self.done == self.total

    @property
    def is_under_way(self) -> bool:
        return bool(self.total) and not self.is_done and self.stage.state == StageState.OPEN

    def __str__(self) -> str:
        return f"Stage {self.stage.position} ({self.stage.name})"


def under_way(reached: Sequence[Reached]) -> Stage | None:
    """The first stage that is open and has open items or questions."""
    return next((one.stage for one in reached if one.is_under_way), None)


def waits_for_closing(stage: Stage) -> bool:
    """Whether items come in only when the stage before closes."""
    return stage.source_id is not None and (stage.promotion == Promotion.CLOSING or stage.sample is not None)


def next_step(
    shown: Stage, reached: Sequence[Reached], closing: Mapping[int, Sequence[Mapping]], *,
    adjudicate: Mapping[int, int], reopen: int, joined: bool, released: bool,
    unstaffed: Mapping[int, int] = MappingProxyType({}),
) -> NextStep:  # fmt: skip
    """The first thing that holds the study up, in the order of its stages. `closing`: by a stage's key, what closing it
    would pass on (stage_progress.closing). `adjudicate`: by a stage's key, its items that a person must decide;
    `reopen`: the items that `shown` can be opened again for, once closed. `joined`: the study has annotators.
    `unstaffed`: by a stage's position, its items that no annotator is left to judge, if that is known.
    """
    study = shown.study
    if study.state == StudyState.PAUSED:
        move = reverse("study-move", args=[study.pk])
        return NextStep("The study is paused, so nobody can judge.", "Open the study", move, {"to": StudyState.OPEN})
    url = reverse("release-new", args=[study.pk])
    if not joined and study.state != StudyState.CLOSED:
        invite = f"{reverse('study-detail', args=[study.pk])}?invite=1#invite"
        return NextStep("Nobody has joined yet. Send the link to annotators.", "Invite", invite)
    for one in reached:
        if waiting := adjudicate.get(one.stage.pk):
            cases = f"{reverse('study-adjudicate', args=[study.pk])}?stage={one.stage.position}"
            return NextStep(f"{one}: {counted(waiting, 'item')} to decide by hand.", "Adjudicate", cases)
    if study.state == StudyState.CLOSED:
        return NextStep("The study is closed. Freeze the result in a release.", "New release", url)
    if reopen:
        move = reverse("stage-reopen", args=[study.pk, shown.position])
        sentence = f"Stage {shown.position} ({shown.name}) is closed, but {counted(reopen, 'item')} came open again."
        return NextStep(sentence, f"Reopen it for {counted(reopen, 'item')}", move, {})
    for one in reached:
        if one.is_done and one.stage.state == StageState.OPEN and (went := closing.get(one.stage.pk)):
            move = reverse("stage-move", args=[study.pk, one.stage.position])
            sentence = f"{one} is done ({one.done:,} of {one.total:,}). Close it {_passed_on(went)}."
            return NextStep(sentence, f"Close stage {one.stage.position}", move, {"to": StageState.CLOSED})
    if going := next((one for one in reached if one.is_under_way), None):
        return _until_done(going, unstaffed)
    if released:
        sentence = "The study is done and released. Make another release if anything changes."
        return NextStep(sentence, "New release", url, is_last=True)
    return NextStep(f"{_all_stages(reached)}. Freeze the result in a release.", "New release", url)


def _all_stages(reached: Sequence[Reached]) -> str:
    unsettled = sum(one.total - one.done for one in reached)
    return f"All stages are closed, with {counted(unsettled, 'item')} open" if unsettled else "All stages are done"


def _until_done(going: Reached, unstaffed: Mapping[int, int]) -> NextStep:
    """While a stage is under way: more annotators, if some of its items have none left."""
    about = "about " if going.stage.strategy == Strategy.AUDIT else ""
    sentence = f"{going} is under way: {going.done:,} of {about}{going.total:,} done."
    items = unstaffed.get(going.stage.position)
    if items is None:
        return NextStep(sentence)
    if items:
        return NextStep(f"{sentence} No annotator is left to judge {counted(items, 'item')}: invite more.")
    return NextStep(f"{sentence} Nothing to do but watch.")


def passed_on_by(stage: Stage, stages: Sequence[Stage], settled: Mapping[str, int]) -> list[dict]:
    """What closing the stage would pass on: to which stages, and how many of the currently settled items.

    `settled`: the stage's items by what they are, kept or the reason why they were dropped.
    """
    found = []
    for taker in stages:
        if taker.source_id == stage.pk and waits_for_closing(taker):
            ready = sum(count for label, count in settled.items() if label in taker.takes)
            found.append({"to": taker, "ready": ready, "drawn": taker.sample and min(taker.sample, ready)})
    return found


def _passed_on(went: Sequence[Mapping]) -> str:
    """ "to draw 10 items for i2t and to move 49 items on to t2i" """
    parts = [
        (f"to draw {counted(one['drawn'], 'item')} for", one["to"].name)
        if one["drawn"] is not None
        else (f"to move {counted(one['ready'], 'item')} on to", one["to"].name)
        for one in went
    ]
    return " and ".join(_same_together(parts))


def _same_together(parts: Sequence[tuple[str, str]]) -> list[str]:
    """A phrase for each distinct start: with what follows it, joined by "and"."""
    found: dict[str, list[str]] = {}
    for start, name in parts:
        found.setdefault(start, []).append(name)
    return [f"{start} {' and '.join(names)}" for start, names in found.items()]


def after_move(moved: Moved, still_open: int) -> str:
    """What happened when a manager closed a stage or opened it again; `still_open`: its items without an outcome."""
    stage = moved.stage
    name = f"Stage {stage.position} ({stage.name})"
    if stage.state == StageState.OPEN:
        return f"{name} is open again."
    if stage.rule == DecisionRule.DAWID_SKENE:
        return f"{name} is closed. Its items are decided, and passed on, when the estimate has finished."
    parts = _same_together(
        [
            (f"{counted(count, 'item')} {_was(count)} {'moved on to' if to.sample is None else 'sampled for'}", to.name)
            for to, count in moved.promoted.items()
        ]
    )
    parts += [f"{counted(still_open, 'item')} {'stays' if still_open == 1 else 'stay'} open"] if still_open else []
    return f"{name} is closed. {', '.join(parts)}." if parts else f"{name} is closed."


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
