"""The decision rule: how a task's counted judgments decide about its item.

With an overlap of one, the answer decides. With more, there are two steps:

1. *Which kind of answer?* Each answer is a kind of its own, except that in a protocol whose options are alike (any
   image that fits) all options are of the kind `any`. The kind with the most answers wins. If several kinds have the
   most, the stage's tie rule decides: `drop` drops the item (`tie_unresolved`), `first` takes the tied kind that was
   answered first, `none` takes the fixed answer `none`, and `adjudicate` leaves the task open
   (`awaiting_adjudication`) until an adjudicator decides.
   Under Dawid and Skene's rule a kind has a probability instead of a count, estimated from the answers of the whole
   stage (pipeline/dawid_skene.py): the most probable kind that an annotator gave wins, and kinds within 1e-6 of it tie.
2. *Which option?* Only if `any` won: the option with the most answers, and among equals the one answered first. This is
   not a tie in the sense of the tie rule: annotators are told to pick any image that fits, so two different picks are
   two statements that an image fits.

If edits have to be confirmed, `confirm` decides instead: the first verdict that two annotators gave wins, and one
annotator is enough for an answer that is not an edit. Two verdicts are the same if their words are the same.

An outcome for which the protocol has a reason drops the item; every other outcome keeps it. A task with fewer counted
answers than its overlap stays open, however clear the answers are so far.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from annotation.protocols.base import CANNOT_JUDGE, Answer, AnswerContent, Projection, Protocol

_ANY = "any"
_NONE = "none"
_TIE_UNRESOLVED = "tie_unresolved"
AWAITING_ADJUDICATION = "awaiting_adjudication"
AWAITING_CONFIRMATION = "awaiting_confirmation"
_AWAITING_ESTIMATE = "awaiting_estimate"
MAJORITY, DAWID_SKENE = "majority", "dawid-skene"  # decision rules: how the kind of answer is decided
_TIE_MARGIN = 1e-6  # probabilities closer than this are tied
ADJUDICATOR = "adjudicator"
EDITED = "edited"
EDIT_PREFIX = "edit-"  # begins the identity of an edited sentence that is offered to the next annotator
_CONFIRMATIONS = 2  # annotators an edit needs
CONFIRM_CAP = 3  # people an edit is shown to before an adjudicator decides, by default

KEPT, DROPPED, OPEN = "kept", "dropped", "open"


@dataclass(frozen=True, slots=True)
class Decision:
    """`outcome` is the winning answer's identity, empty while open and on an unresolved tie.

    `reason` is why an item was dropped, or what an open task is waiting for; `by` is how it was decided: only_answer,
    unanimous, majority, dawid_skene, tie_rule or, if the kind was clear and images were tied, first_of_equals; or,
    if tied answers are only measured, no_majority. `content` is that of the first winning answer
    (protocols.base.Answer), `posterior` the probability of its kind if that decided.
    """

    state: str
    outcome: str = ""
    reason: str = ""
    by: str = ""
    content: AnswerContent = field(default_factory=AnswerContent)
    posterior: float | None = None


DropReason = Callable[[str], str]  # why an outcome drops the item, or ""
Posterior = Mapping[str, float]  # kind of answer → its probability


def decide(
    answers: Sequence[str], *, overlap: int, tie_rule: str, reason: DropReason, alike: Iterable[str] = (),
    posterior: Posterior | None = None,
) -> Decision:  # fmt: skip
    """Decide a task from its labels, in the order given.

    `alike` are the options of one kind. With a `posterior` (kind → probability) Dawid and Skene's rule decides, without
    it the majority. ValueError for an unknown tie rule.
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
    by, certain = "tie_rule" if len(leaders) > 1 else clear, posterior[kind] if posterior else None
    if kind != _ANY:
        return _settled(kind, by, reason, certain)
    images = _leaders([answer for answer in answers if answer in options])
    return _settled(images[0], "first_of_equals" if by == clear and len(images) > 1 else by, reason, certain)


def confirm(given: Sequence[Answer], *, cap: int, reason: DropReason, overlap: int = 1) -> Decision:
    """Decide a task whose edits need a second annotator, from its answers in the order given.

    If no two of `cap` answers are equal verdicts, the task waits for an adjudicator.
    """
    if not given:
        return Decision(OPEN)
    if len(given) < overlap or (len(given) == 1 and is_edit(given[0].label)):
        return Decision(OPEN, reason=AWAITING_CONFIRMATION)
    if len(given) == 1:
        return replace(_settled(given[0].label, "only_answer", reason), content=given[0].content)
    votes = Counter(map(verdict, given))
    for answer in given:
        if votes[verdict(answer)] >= _CONFIRMATIONS:
            by = "unanimous" if len(votes) == 1 else "majority"
            return replace(_settled(answer.label, by, reason), content=answer.content)
    return Decision(OPEN, reason=AWAITING_ADJUDICATION if len(given) >= cap else AWAITING_CONFIRMATION)


def is_edit(label: str) -> bool:
    """Return whether the label is an annotator's own edit, or another's that they accepted unchanged."""
    return label == EDITED or label.startswith(EDIT_PREFIX)


def verdict(answer: Answer) -> str:
    """Return a key that answers with the same verdict share: the text, or the label if there is none."""
    return json.dumps(answer.texts, sort_keys=True) if answer.texts else answer.label


def _kinds_of(answers: Iterable[str], options: Collection[str]) -> list[str]:
    """Return each answer's kind: all `options` are of one kind."""
    return [_ANY if answer in options else answer for answer in answers]


def without_ties(decision: Decision) -> Decision:
    """Return the decision for a stage that measures, where a tie does not drop the item."""
    level = decision.reason == _TIE_UNRESOLVED
    return Decision(KEPT, by="no_majority") if level else decision


def _leaders(votes: Sequence[str]) -> list[str]:
    """Return the answers with the most votes, by first appearance."""
    counts = Counter(votes)  # keeps the order of first appearance
    most = max(counts.values())
    return [vote for vote, count in counts.items() if count == most]


def _likeliest(kinds: Sequence[str], posterior: Posterior) -> list[str]:
    """Return the most probable of the kinds given, by first appearance."""
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
    """The settings by which a stage decides its tasks."""

    protocol: Protocol
    overlap: int
    tie_rule: str
    cap: int | None = None
    rule: str = MAJORITY

    def settle(
        self, given: Sequence[Answer], overlap: int | None = None, posterior: Posterior | None = None
    ) -> Decision:
        """Return the decision from answers in the order given, with the content of the first winning answer."""
        if self.protocol.confirms:
            wanted = overlap or self.overlap
            return confirm(given, cap=self.cap or CONFIRM_CAP, reason=self.protocol.reason, overlap=wanted)
        decision = self.decide([answer.label for answer in given], overlap, posterior)
        winning = (answer.content for answer in given if answer.label == decision.outcome)
        return replace(decision, content=next(winning, AnswerContent()))

    def adjudicated(self, answer: Answer) -> Decision:
        """Return the decision for an adjudicator's answer."""
        why = self.protocol.reason(answer.label)
        return Decision(DROPPED if why else KEPT, answer.label, why, ADJUDICATOR, answer.content)

    def alike(self, answers: Sequence[str]) -> set[str]:
        """Return the answers that are options of one kind; none in a protocol whose options are not alike."""
        fixed = {choice.identity for choice in self.protocol.fixed} | {CANNOT_JUDGE}
        return set(answers) - fixed if self.protocol.alike else set()

    def kinds(self, answers: Sequence[str]) -> list[str]:
        return _kinds_of(answers, self.alike(answers))

    def is_split(self, answers: Sequence[str]) -> bool:
        """Return whether no kind of answer has more than half of the judgments, so that one more could decide."""
        counts = Counter(self.kinds(answers))
        return bool(counts) and max(counts.values()) * 2 <= len(answers)

    def votes(self, answers: Sequence[str]) -> list[str]:
        """Return what each judgment is a vote for, if certainty decides whether a task gets more."""
        return self.kinds(answers)

    def estimated_kinds(self, answers: Sequence[str]) -> list[str]:
        """Return the kinds that an estimate distinguishes: the number of a task's only candidate is dropped."""
        return ["candidate" if kind.startswith("candidate-") else kind for kind in self.kinds(answers)]

    def decide(
        self, answers: Sequence[str], overlap: int | None = None, posterior: Posterior | None = None
    ) -> Decision:
        """Return the decision from labels in the order given, without content.

        `overlap` is the task's, if it differs from the stage's. Dawid and Skene's rule needs the task's `posterior`;
        without it the task stays open.
        """
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
        """Return the views that agreement is computed on, by name: `answer` and the protocol's projections.

        An annotator who accepts another's edit gave the same answer as its author.
        """
        return {"answer": lambda answer: EDITED if is_edit(answer) else answer, **self.protocol.projections}

    def offered(self, view: str, options: Sequence[str]) -> set[str] | None:
        """Return the labels that an annotator could give under a view, except *cannot judge*, if screens have these
        options; None if they cannot be listed.
        """
        see, form = self.projections()[view], self.protocol.form
        if form is not None:
            return {see(label) for label in form.labels(options)} if form.labels else None
        return {see(label) for label in (*options, *(choice.identity for choice in self.protocol.fixed))}
