"""Find out what a manager can do next in a study, from its stages' progress. Nothing is read or written here."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from django.urls import reverse

from annotation.models import DecisionRule, Promotion, Stage, StageState, Strategy, Study, StudyState
from annotation.studies.lifecycle import Moved
from annotation.wording import counted, listed, pseudonym


class Kind(StrEnum):
    """Kinds of step, in the order in which they hold a study up."""

    INVITE = "invite"
    JUDGE = "judge"
    REVIEW = "review"
    DECIDE = "decide"
    CLOSE = "close"
    RELEASE = "release"


@dataclass(frozen=True)
class NextStep:
    """What to do, why, and where its button leads; `fields` are sent by a button that changes something, else None.

    `is_last`: the study is done and released, so there is nothing to do, and its link leads to the release.
    """

    kind: Kind
    title: str
    sentence: str
    label: str = ""
    url: str = ""
    fields: Mapping[str, str] | None = None
    is_last: bool = False


@dataclass(frozen=True)
class Released:
    """A study's newest release, and whether answers, decisions or exclusions came after it."""

    pk: int
    version: str
    changed: bool


@dataclass(frozen=True)
class Point:
    """One of the steps from the invitation to a study's goal, described in `words`; `state`: done, part, now or
    nothing.
    """

    name: str
    words: str
    state: str


@dataclass(frozen=True)
class Reached:
    """A stage's progress: `done` of the `total` items or questions in it; for an audit, of those that it will need
    (`so_far` in words), and its target and what it has reached (`precision`).
    """

    stage: Stage
    done: int
    total: int
    precision: str = ""
    so_far: str = ""

    @property
    def is_done(self) -> bool:
        return bool(self.total) and self.done == self.total

    @property
    def is_under_way(self) -> bool:
        return bool(self.total) and not self.is_done and self.stage.state == StageState.OPEN

    def __str__(self) -> str:
        return f"Stage {self.stage.position} ({self.stage.title})"


def under_way(reached: Sequence[Reached]) -> Stage | None:
    """Return the first stage that is open and has open items or questions."""
    return next((one.stage for one in reached if one.is_under_way), None)


def waits_for_closing(stage: Stage) -> bool:
    """Return whether items come in only when the previous stage closes."""
    return stage.source_id is not None and (stage.promotion == Promotion.CLOSING or stage.sample is not None)


def next_step(
    shown: Stage, reached: Sequence[Reached], closing: Mapping[int, Sequence[Mapping]], *,
    adjudicate: Mapping[int, int], reopen: int, joined: bool, released: Released | None, review: Sequence[int] = (),
    unstaffed: Mapping[int, int] = MappingProxyType({}), flagged: Mapping[int, int] = MappingProxyType({}),
    asks: bool = True,
) -> NextStep:  # fmt: skip
    """Return the first thing that holds the study up, in the order of its stages. `closing`: what closing each stage,
    by key, would pass on (stage_progress.closing). `adjudicate`: items that a person must decide, by stage key, of
    which `flagged` are there only because annotators flagged them;
    `reopen`: items for which `shown`, once closed, can be opened again. `joined`: the study has annotators;
    `review`: numbers of annotators with warning signs on which nobody has decided. `unstaffed`: items that no annotator
    is left to judge, by stage position, if known. Without `asks`, all judgments were made elsewhere, and nobody has to
    judge here.
    """
    study = shown.study
    over = not asks or study.state == StudyState.CLOSED
    if study.state == StudyState.PAUSED and asks:
        move = reverse("study-move", args=[study.pk])
        why = "Nobody can judge until you let them."
        return NextStep(Kind.JUDGE, "The study is paused", why, "Let people judge", move, {"to": StudyState.OPEN})
    if not joined and study.state != StudyState.CLOSED:
        why = f"{_wanted(reached)}Send the link to annotators, or try the screens first: trial answers don’t count."
        return _invite(study.pk, "Waiting for annotators", why)
    if review:
        return _review(study.pk, review)
    for one in reached:
        if waiting := adjudicate.get(one.stage.pk):
            return _decide(one, waiting, flagged.get(one.stage.pk, 0))
    if reopen and not over:
        return _reopen(shown, counted(reopen, "item"))
    if not over and (step := _going(reached, closing, unstaffed)):
        return step
    return _release(study, reached, released, asks)


def _invite(study: int, title: str, why: str) -> NextStep:
    return NextStep(Kind.INVITE, title, why, "Invite people", f"{reverse('study-annotators', args=[study])}#invite")


def _wanted(reached: Sequence[Reached]) -> str:
    """Describe how much work waits in the first stage, if it asks about each item equally often."""
    one = reached[0]
    if not one.total or one.stage.strategy == Strategy.AUDIT or one.stage.agreement_items:
        return ""
    each = counted(one.stage.overlap, "judgment")
    return f"{counted(one.total, 'item')}, {each} each: {one.total * one.stage.overlap:,} judgments. "


def _decide(one: Reached, waiting: int, flagged: int) -> NextStep:
    cases = reverse("study-adjudicate", args=[one.stage.study_id], query={"stage": one.stage.position})
    left, all_of = waiting - flagged, "it" if waiting == 1 else "them"
    why = f"{one} leaves {left if flagged else all_of} to a person; a release leaves out what is undecided."
    if flagged:
        why = f"{why} Annotators flagged {flagged}." if left else f"{one}: annotators flagged {all_of}."
    return NextStep(Kind.DECIDE, f"Decide {counted(waiting, 'item')} by hand", why, "Decide", cases)


def _release(study: Study, reached: Sequence[Reached], released: Released | None, asks: bool) -> NextStep:
    url = reverse("release-new", args=[study.pk])
    if released is None:
        done = "The study is closed" if study.state == StudyState.CLOSED else _all_stages(reached, asks)
        if _only_audits(reached):
            why = " ".join(filter(None, (f"{done}.", reached[-1].precision, "You can make a release next.")))
            report = reverse("study-report", args=[study.pk])
            return NextStep(Kind.RELEASE, "Read the report on the error rate", why, "Open the report", report)
        return NextStep(Kind.RELEASE, "Freeze the result in a release", f"{done}.", "New release", url)
    if released.changed:
        why = f"Answers, decisions or exclusions came after {released.version}, which stays as it is."
        return NextStep(Kind.RELEASE, "Release what has changed", why, "New release", url)
    url = reverse("release-detail", args=[released.pk])
    why = "After new answers, decisions or exclusions, you can release a new version."
    version = released.version
    return NextStep(Kind.RELEASE, f"Released {version}", why, f"See release {version}", url, is_last=True)


def _reopen(stage: Stage, items: str) -> NextStep:
    move = reverse("stage-reopen", args=[stage.study_id, stage.position])
    why = f"Stage {stage.position} ({stage.title}) is closed, but {items} came open again."
    return NextStep(Kind.CLOSE, f"Ask about {items} again", why, f"Reopen it for {items}", move, {})


def _review(study: int, review: Sequence[int]) -> NextStep:
    names = [pseudonym(number) for number in review]
    who = names[0] if len(names) == 1 else counted(len(names), "annotator")
    url = reverse("study-annotators", args=[study], query={"show": "signs"})
    why = "A warning sign is a reason to look, never a verdict."
    return NextStep(Kind.REVIEW, f"Look at {who}", why, f"Look at {who}", url)


def _going(
    reached: Sequence[Reached], closing: Mapping[int, Sequence[Mapping]], unstaffed: Mapping[int, int]
) -> NextStep | None:
    """Close a stage that others wait for, or continue with the one under way."""
    for one in reached:
        if one.is_done and one.stage.state == StageState.OPEN and (went := closing.get(one.stage.pk)):
            move = reverse("stage-move", args=[one.stage.study_id, one.stage.position])
            title, why = f"Close stage {one.stage.position}", f"{one} is done: {one.total:,} items. {passed_on(went)}"
            return NextStep(Kind.CLOSE, title, why, title, move, {"to": StageState.CLOSED})
    going = next((one for one in reached if one.is_under_way), None)
    return _until_done(going, unstaffed) if going else _close(reached)


def _close(reached: Sequence[Reached]) -> NextStep | None:
    """Close the only open stage, or the study with all its stages, once everything is settled."""
    still_open = [one.stage for one in reached if one.stage.state == StageState.OPEN]
    if not still_open or not any(one.total for one in reached):
        return None
    stage, several = still_open[0], len(still_open) > 1
    what = "the study" if several else f"stage {stage.position}" if len(reached) > 1 else "the stage"
    done = "All stages are done" if len(reached) > 1 else f"All {counted(reached[0].total, 'item')} are settled"
    why = f"{done}. Once closed, it won’t give out any more screens. Answers stay, and you can open it again."
    move = (
        reverse("study-move", args=[stage.study_id]) if several
        else reverse("stage-move", args=[stage.study_id, stage.position])
    )  # fmt: skip
    fields = {"to": StageState.CLOSED, "back": "overview"}
    return NextStep(Kind.CLOSE, f"Close {what}", why, f"Close {what}", move, fields)


def way(
    step: NextStep, reached: Sequence[Reached], *, joined: int, active: int, review: int, tested: bool | None,
    undecided: int, released: Released | None, asks: bool = True,
) -> list[Point]:  # fmt: skip
    """Return the points from the invitation to the release, or to an audit's report, with what waits at each and which
    one `step` is at. `active`: those who `joined` and have not left or been excluded. `tested`: whether there were
    enough judgments to test somebody for signs, None if not known yet. A stage still open after a release is frozen is
    open by choice.
    """
    done, all_settled = sum(one.done for one in reached), all(one.is_done for one in reached)
    closed = all(StageState.CLOSED in (one.stage.state, one.stage.study.state) for one in reached)
    begun, goal = bool(joined and done), "Report" if _only_audits(reached) else "Release"
    points = {
        Kind.INVITE: ("Invite", _joined(joined, active), bool(joined)),
        Kind.JUDGE: ("Judge", settled(reached), all_settled),
        Kind.REVIEW: ("Look at people", *_signs(review, tested if begun else None)),
        Kind.DECIDE: ("Decide", *(_to_decide(undecided) if begun else ("", False))),
        Kind.CLOSE: ("Close", "closed" if closed else "left open" if released else "", closed),
        Kind.RELEASE: (goal, f"version {released.version}" if released else "", bool(released)),
    }
    partly = {Kind.JUDGE: bool(done) and not all_settled, Kind.CLOSE: bool(released) and not closed}
    return [
        Point(
            name, words,
            "now" if kind == step.kind and not step.is_last else "part" if partly.get(kind) else
            "done" if is_done and begun else "",
        )
        for kind, (name, words, is_done) in points.items()
        if asks or kind != Kind.CLOSE
    ]  # fmt: skip


def _signs(review: int, tested: bool | None) -> tuple[str, bool]:
    if review:
        return f"{counted(review, 'annotator')} to look at", False
    if tested is None:
        return "", False
    return ("no annotator stands out" if tested else "too few judgments to test anybody"), tested


def _to_decide(undecided: int) -> tuple[str, bool]:
    return (f"{counted(undecided, 'item')} to decide" if undecided else "nothing to decide"), not undecided


def _joined(joined: int, active: int) -> str:
    return f"{active:,} of {joined:,} still active" if active < joined else f"{joined:,} joined" if joined else ""


def settled(reached: Sequence[Reached]) -> str:
    """Return the share of the items and questions, or how many stages are done if some have nothing to ask about yet.
    An audit needs only some items.
    """
    if _only_audits(reached):
        return " · ".join(one.so_far for one in reached)
    done, total = sum(one.done for one in reached), sum(one.total for one in reached)
    if total and done == total and not all(one.is_done for one in reached):
        return f"{sum(one.is_done for one in reached)} of {counted(len(reached), 'stage')} settled"
    return f"{math.floor(1000 * done / total) / 10:g}% settled" if total else "nothing settled"


def _only_audits(reached: Sequence[Reached]) -> bool:
    """Return whether all stages are audits; the study's goal is then the error rate in its report."""
    return all(one.stage.strategy == Strategy.AUDIT for one in reached)


def _all_stages(reached: Sequence[Reached], asks: bool) -> str:
    unsettled = sum(one.total - one.done for one in reached)
    if not asks:
        return f"{counted(unsettled, 'item')} not rated" if unsettled else "All items are rated"
    which = "The stage is" if len(reached) == 1 else "All stages are"
    return f"{which} closed, with {counted(unsettled, 'item')} open" if unsettled else f"{which} done"


def _until_done(going: Reached, unstaffed: Mapping[int, int]) -> NextStep:
    """Return the step while a stage is under way: more annotators if nobody is left for some items."""
    audits = going.stage.strategy == Strategy.AUDIT
    sentence = f"{going}: {going.so_far or f'{going.done:,} of {going.total:,}'} settled."
    sentence += f" {going.precision}" if going.precision else ""
    if items := unstaffed.get(going.stage.position, 0):
        why = f"{sentence} Nobody is left to judge {'the next items' if audits else f'the other {items:,}'}."
        return _invite(going.stage.study_id, "Invite more people", why)
    return NextStep(Kind.JUDGE, "Nothing to do but watch", sentence)


def passed_on_by(stage: Stage, stages: Sequence[Stage], settled: Mapping[str, int]) -> list[dict]:
    """Return what closing the stage would pass on: to which stages, and how many of the items settled so far.

    `settled`: the stage's items, by kept or the reason why they were dropped.
    """
    found = []
    for taker in stages:
        if taker.source_id == stage.pk and waits_for_closing(taker):
            ready = sum(count for label, count in settled.items() if label in taker.takes)
            found.append({"to": taker, "ready": ready, "drawn": taker.sample and min(taker.sample, ready)})
    return found


def passed_on(went: Sequence[Mapping]) -> str:
    """ "Then 10 of its 32 kept items go to each of stages 3 (Image to text) and 4 (Text to image)." """
    parts = [(f"{_share_that_goes(one)} to", one["to"]) for one in went]
    return f"Then {', and '.join(_same_together(parts))}." if parts else ""


def _share_that_goes(one: Mapping) -> str:
    ready = counted(one["ready"], "kept item" if one["to"].takes == ["kept"] else "settled item")
    count = one["ready"] if one["drawn"] is None else one["drawn"]
    return f"{f'{count:,} of ' if count < one['ready'] else ''}its {ready} {'goes' if count == 1 else 'go'}"


def _same_together(parts: Sequence[tuple[str, Stage]]) -> list[str]:
    """Return a phrase for each distinct start, with the stages that follow it."""
    found: dict[str, list[str]] = {}
    for start, to in parts:
        found.setdefault(start, []).append(f"{to.position} ({to.title})")
    return [f"{start} {'each of stages' if len(to) > 1 else 'stage'} {listed(to)}" for start, to in found.items()]


def after_move(moved: Moved, still_open: int) -> str:
    """Describe the result of closing a stage or opening it again; `still_open`: its items without an outcome."""
    stage = moved.stage
    name = f"Stage {stage.position} ({stage.title})"
    if stage.state == StageState.OPEN:
        return f"{name} is open again."
    if stage.rule == DecisionRule.DAWID_SKENE:
        return f"{name} is closed. Its items will be decided and passed on when the estimate has finished."
    how = {True: "moved on to", False: "sampled for"}
    parts = _same_together([
        (f"{counted(n, 'item')} {'was' if n == 1 else 'were'} {how[to.sample is None]}", to)
        for to, n in moved.promoted.items()
    ])  # fmt: skip
    parts += [f"{counted(still_open, 'item')} {'stays' if still_open == 1 else 'stay'} open"] if still_open else []
    return f"{name} is closed. {', '.join(parts)}." if parts else f"{name} is closed."
