"""The decision rule: what a task's counted judgments make of its item. Pure.

With an overlap of one, the answer decides. With more, two steps:

1. *What kind of answer?* Each answer is a kind of its own, except that in a protocol whose options are alike (any image
   that fits) every option is of the kind `any`. The kind with the most answers wins. Where two kinds or more have the
   most, the stage's tie rule speaks: `drop` drops the item (`tie_unresolved`), `first` takes the kind of the answer
   that was given first among the tied kinds, `none` takes the fixed answer `none`, `adjudicate` leaves the task open
   (`awaiting_adjudication`) until an adjudicator decides.
   Under Dawid and Skene's rule a kind has no count but a probability, which rests on the answers of the whole stage
   (pipeline/dawid_skene.py): of the kinds that somebody gave the most probable wins, and those within 1e-6 of it are level.
2. *Which option?* Only when `any` won: the option with the most answers; among equals, the one given first. This is no
   tie in the sense of the tie rule: annotators are told to pick any image that fits, so two different picks are two
   statements that an image fits, and each pick was vouched for by somebody.

Where an edit is to be confirmed, `confirm` decides instead: the first verdict that two annotators gave stands, and one
annotator is enough for what needs no edit. Two gave the same verdict when the words that they want are the same.

An outcome for which the protocol has a reason drops the item; every other keeps it. A task with fewer counted answers
than its overlap stays open, however clear its answers are so far.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from annotation.protocols.base import CANNOT_JUDGE, Answer, Projection, Protocol

_ANY = "any"
_NONE = "none"
_TIE_UNRESOLVED = "tie_unresolved"
AWAITING_ADJUDICATION = "awaiting_adjudication"
AWAITING_CONFIRMATION = "awaiting_confirmation"
_AWAITING_ESTIMATE = "awaiting_estimate"
MAJORITY, DAWID_SKENE = "majority", "dawid-skene"  # decision rules: what tells the kind of answer
_TIE_MARGIN = 1e-6  # probabilities closer than this are level
ADJUDICATOR = "adjudicator"
EDITED = "edited"
EDIT_PREFIX = "edit-"  # of an identity: what a judgment made of one sentence, as an option for whoever comes next
_CONFIRMATIONS = 2  # annotators behind an edit
CONFIRM_CAP = 3  # whom an edit is shown to before an adjudicator is asked, where the stage says nothing

KEPT, DROPPED, OPEN = "kept", "dropped", "open"


@dataclass(frozen=True, slots=True)
class Decision:
    """`outcome` is the winning answer's identity, empty while open and on an unresolved tie.

    `reason` says why an item was dropped, or what an open task waits for; `by` how it was decided: only_answer,
    unanimous, majority, dawid_skene, tie_rule or, where the kind was clear and images were level, first_of_equals; or,
    where level answers are just measured, no_majority. `content` is that of the first answer that won
    (protocols.base.Answer), `posterior` the probability of its kind where that decided.
    """

    state: str
    outcome: str = ""
    reason: str = ""
    by: str = ""
    content: Mapping[str, object] = field(default_factory=dict)
    posterior: float | None = None


DropReason = Callable[[str], str]  # why an outcome drops the item, or ""
Posterior = Mapping[str, float]  # kind of answer → its probability


def decide(
    answers: Sequence[str],
    *,
    overlap: int,
    tie_rule: str,
    reason: DropReason,
    alike: Iterable[str] = (),
    posterior: Posterior | None = None,
) -> Decision:
    """`answers` in the order in which they were given; `alike` are the options that are of one kind. With a `posterior`
    it is Dawid and Skene's rule, else the majority's.
    """
    options = set(alike)
    if len(answers) < overlap:
        return Decision(OPEN)
    kinds = _kinds_of(answers, options)
    if posterior is None and len(set(answers)) == 1:
        return _settled(answers[0], "only_answer" if len(answers) == 1 else "unanimous", reason)
    leaders = _leaders(kinds) if posterior is None else _likeliest(kinds, posterior)
    if len(leaders) > 1 and tie_rule != "first":
        return _tied(tie_rule, reason)
    kind, clear = leaders[0], "majority" if posterior is None else "dawid_skene"
    by, certain = "tie_rule" if len(leaders) > 1 else clear, posterior and posterior[kind]
    if kind != _ANY:
        return _settled(kind, by, reason, certain)
    images = _leaders([answer for answer in answers if answer in options])
    return _settled(images[0], "first_of_equals" if by == clear and len(images) > 1 else by, reason, certain)


def confirm(given: Sequence[Answer], *, cap: int, reason: DropReason, overlap: int = 1) -> Decision:
    """`given` in the order of giving; where `cap` of them hold no two alike, an adjudicator is asked."""
    if not given:
        return Decision(OPEN)
    if len(given) < overlap or (len(given) == 1 and is_edit(given[0].label)):
        return Decision(OPEN, reason=AWAITING_CONFIRMATION)
    if len(given) == 1:
        return _with_content(given[0], _settled(given[0].label, "only_answer", reason))
    votes = Counter(map(verdict, given))
    for answer in given:
        if votes[verdict(answer)] >= _CONFIRMATIONS:
            by = "unanimous" if len(votes) == 1 else "majority"
            return _with_content(answer, _settled(answer.label, by, reason))
    return Decision(OPEN, reason=AWAITING_ADJUDICATION if len(given) >= cap else AWAITING_CONFIRMATION)


def is_edit(label: str) -> bool:
    """Whether it is somebody's own edit, or another's that was taken as it is."""
    return label == EDITED or label.startswith(EDIT_PREFIX)


def verdict(answer: Answer) -> str:
    """What two annotators must have in common to be of one mind: the words, or the label where there are none."""
    return json.dumps(answer.texts, sort_keys=True) if answer.texts else answer.label


def _with_content(answer: Answer, decision: Decision) -> Decision:
    return replace(decision, content=answer.content)


def _content_of(outcome: str, given: Sequence[Answer]) -> Mapping[str, object]:
    """What comes with an outcome: the content of the first answer of that label."""
    return next((answer.content for answer in given if answer.label == outcome), {})


def _kinds_of(answers: Iterable[str], options: Collection[str]) -> list[str]:
    """Each answer's kind: `options` are alike."""
    return [_ANY if answer in options else answer for answer in answers]


def is_split(answers: Sequence[str], alike: Iterable[str] = ()) -> bool:
    """Whether no kind of answer has more than half of the judgments: one more would say something."""
    counts = Counter(_kinds_of(answers, set(alike)))
    return bool(counts) and max(counts.values()) * 2 <= len(answers)


def without_ties(decision: Decision) -> Decision:
    """The same in a stage that measures: nothing is dropped there because its answers are level."""
    level = decision.reason == _TIE_UNRESOLVED
    return Decision(KEPT, by="no_majority") if level else decision


def _leaders(votes: Sequence[str]) -> list[str]:
    """What has the most votes, in the order of first appearance."""
    counts = Counter(votes)  # keeps the order of first appearance
    most = max(counts.values())
    return [vote for vote, count in counts.items() if count == most]


def _likeliest(kinds: Sequence[str], posterior: Posterior) -> list[str]:
    """Of the kinds that were given the most probable, in the order of first appearance."""
    most = max(posterior[kind] for kind in kinds)
    return [kind for kind in dict.fromkeys(kinds) if most - posterior[kind] <= _TIE_MARGIN]


def _tied(tie_rule: str, reason: DropReason) -> Decision:
    if tie_rule == "none":
        return _settled(_NONE, "tie_rule", reason)
    if tie_rule == "adjudicate":
        return Decision(OPEN, reason=AWAITING_ADJUDICATION)
    if tie_rule != "drop":
        raise ValueError(f"there is no tie rule {tie_rule!r}")
    return Decision(DROPPED, reason=_TIE_UNRESOLVED, by="tie_rule")


def _settled(outcome: str, by: str, reason: DropReason, posterior: float | None = None) -> Decision:
    why = reason(outcome)
    return Decision(DROPPED if why else KEPT, outcome, why, by, posterior=posterior)


class Rule(NamedTuple):
    """What the decision needs to know of a stage."""

    protocol: Protocol
    overlap: int
    tie_rule: str
    cap: int | None = None
    rule: str = MAJORITY

    def settle(
        self, given: Sequence[Answer], overlap: int | None = None, posterior: Posterior | None = None
    ) -> Decision:
        """What the answers come to, with what goes with it."""
        if self.protocol.confirms:
            wanted = overlap or self.overlap
            return confirm(given, cap=self.cap or CONFIRM_CAP, reason=self.protocol.reason, overlap=wanted)
        decision = self.decide([answer.label for answer in given], overlap, posterior)
        return replace(decision, content=_content_of(decision.outcome, given))

    def alike(self, answers: Sequence[str]) -> set[str]:
        """Those of the answers that are votes for one thing."""
        fixed = {choice.identity for choice in self.protocol.fixed} | {CANNOT_JUDGE}
        return set(answers) - fixed if self.protocol.alike else set()

    def kinds(self, answers: Sequence[str]) -> list[str]:
        return _kinds_of(answers, self.alike(answers))

    def estimated_kinds(self, answers: Sequence[str]) -> list[str]:
        """The kinds as an estimate tells them apart: where a task has one candidate, its place says nothing of it."""
        return ["candidate" if kind.startswith("candidate-") else kind for kind in self.kinds(answers)]

    def decide(
        self, answers: Sequence[str], overlap: int | None = None, posterior: Posterior | None = None
    ) -> Decision:
        """`overlap` of the task, where it is not the stage's. Dawid and Skene's rule needs the task's `posterior`."""
        wanted = overlap or self.overlap
        if self.rule != MAJORITY and posterior is None:
            return Decision(OPEN, reason=_AWAITING_ESTIMATE if len(answers) >= wanted else "")
        if posterior is not None:
            known = zip(self.kinds(answers), self.estimated_kinds(answers), strict=True)
            posterior = {kind: posterior[estimated] for kind, estimated in known}
        decision = decide(
            answers,
            overlap=wanted,
            tie_rule=self.tie_rule,
            reason=self.protocol.reason,
            alike=self.alike(answers),
            posterior=posterior,
        )
        return without_ties(decision) if self.protocol.measures else decision

    def projections(self) -> dict[str, Projection]:
        """What agreement is computed on, by name: the answer, and the protocol's projections. Who takes somebody's edit
        says what its author said.
        """
        return {"answer": lambda answer: EDITED if is_edit(answer) else answer, **self.protocol.projections}
