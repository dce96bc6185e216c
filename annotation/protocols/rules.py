"""The rule that decides a stage's tasks: its protocol file's, or the one in its own settings."""

from collections.abc import Sequence
from dataclasses import replace

from annotation.protocols import answers, marks, option_sets, rankings, schema, values
from annotation.protocols.base import (
    CANNOT_JUDGE,
    NEAR,
    NO_ATTRIBUTES,
    Answer,
    AnswerContent,
    Attributes,
    Projection,
    Protocol,
)
from annotation.protocols.certainty import certainty
from annotation.protocols.compile import in_own_names, is_plain
from annotation.protocols.decision_rule import (
    ADJUDICATOR,
    DAWID_SKENE,
    DROPPED,
    KEPT,
    MAJORITY,
    OPEN,
    Decision,
    Posterior,
    Rule,
)
from annotation.protocols.decisions import decide_item, kinds_of
from annotation.protocols.measuring import is_set, labels_offered, view_of, views
from annotation.protocols.numbers import is_typed
from annotation.protocols.schema import ProtocolFile


class FileRule(Rule):
    """A rule from a file; only the overlap comes from the stage's settings."""

    of_item: Attributes = NO_ATTRIBUTES  # attributes of the item and its parts

    @property
    def file(self) -> ProtocolFile:
        assert self.protocol.file is not None
        return self.protocol.file

    def settle(
        self, given: Sequence[Answer], overlap: int | None = None, posterior: Posterior | None = None
    ) -> Decision:
        """Return the decision; its content has the last written text for each role that the next stage gets."""
        decision = self.decide([answer.label for answer in given], overlap, posterior)
        if decision.state == OPEN:
            return decision
        written = [answer for answer in given if answer.texts]
        return replace(decision, content=self._carried(written[-1])) if written else decision

    def adjudicated(self, answer: Answer) -> Decision:
        """Return the decision as if every annotator had given this answer."""
        kinds = {
            rule.answer: {self.estimated_kinds([answer.label])[0]: 1.0}
            for rule in self.file.decide
            if isinstance(rule, schema.DawidSkene)
        }
        named = self._named([answer.label]) * self.file.judgments
        decision = decide_item(self.file, named, posteriors=kinds, of_item=self.of_item)
        why = decision.reason if decision.state == DROPPED else ""
        return Decision(DROPPED if why else KEPT, answer.label, why, ADJUDICATOR, self._carried(answer))

    def _carried(self, answer: Answer) -> AnswerContent:
        """Return the answer's texts that the next stage gets, by role."""
        roles = {name: reference.partition(".")[2] for reference, name in self.file.carry.items()}
        texts = {roles[name]: words for name, words in answer.texts.items() if name in roles}
        return AnswerContent(texts=texts) if texts else AnswerContent()

    def alike(self, labels: Sequence[str]) -> set[str]:
        return super().alike(labels) if self.protocol.form is None else set()

    def estimated_kinds(self, labels: Sequence[str]) -> list[str]:
        """Return the values of the answer that the file's estimate is about; "" for those who were not asked."""
        rule = next((one for one in self.file.decide if isinstance(one, schema.DawidSkene)), None)
        if rule is None:
            return super().estimated_kinds(labels)
        return kinds_of(self.file, rule, [self._said(one, rule.answer) for one in self._named(labels)])

    def decide(self, labels: Sequence[str], overlap: int | None = None, posterior: Posterior | None = None) -> Decision:
        named = self._named(labels)
        estimated = next((one.answer for one in self.file.decide if isinstance(one, schema.DawidSkene)), "")
        posteriors = {estimated: posterior} if posterior is not None else {}
        decision = decide_item(self.file, named, overlap or self.overlap, posteriors, self.of_item)
        return replace(decision, outcome=self._stored(decision.outcome, labels, named))

    @property
    def asks_items(self) -> bool:
        """Return whether an item's own data affect the decision: `parents` of its texts, or its right answer."""
        bounds = [rule for rule in self.file.decide if isinstance(rule, schema.Mean | schema.Median)]
        has_parents = any(getattr(self.file.answer(rule.answer), "parents", None) for rule in bounds)
        return has_parents or any(values.is_of_right(self.file, rule) for rule in self.file.decide)

    def about(self, of_item: Attributes) -> "FileRule":
        """Return the rule for an item whose parts have these attributes."""
        found = FileRule(*self)
        found.of_item = of_item
        return found

    def is_split(self, labels: Sequence[str]) -> bool:
        """Return whether annotators are on both sides of a bound; if votes decide nothing, whether they are more
        than a step apart on a scale, or no option is first in more than half of the rankings; for a set of options,
        whether what more than half chose is not an answer; else whether no answer has more than half.
        """
        match self.file.answers:
            case [schema.Pick() as pick] if pick.many:
                return option_sets.is_split(pick, labels)
        bound = next((one for one in self.file.decide if isinstance(one, schema.Mean | schema.Median)), None)
        answer = self.file.answer(bound.answer) if bound else None
        if bound is None or bound.at_least is None or not isinstance(answer, schema.Scale | schema.Number):
            said = [one for one in labels if one != CANNOT_JUDGE]
            votes = (
                any(
                    isinstance(one, schema.Majority | schema.DawidSkene | schema.AtLeast | schema.Unanimous)
                    for one in self.file.decide
                )
                or len(self.file.answers) > 1
            )
            return super().is_split(labels) if votes else self._differ(self.file.answers[0], said, labels)
        said = [answers.given(one, bound.answer, self.file) for one in labels if one != CANNOT_JUDGE]
        numbers = [one for label in said if (one := answers.number(answer, label)) is not None]
        return bool(numbers) and min(numbers) < bound.at_least <= max(numbers)

    def votes(self, labels: Sequence[str]) -> list[str]:
        """Return the votes on the least certain answer; "" for those who were not asked."""
        found = []
        for rule in self.file.decide:
            if isinstance(rule, schema.Majority | schema.DawidSkene | schema.AtLeast):
                said = [self._said(one, rule.answer) for one in self._named(labels)]
                of_sets = "." not in rule.answer and is_set(self.file.answer(rule.answer))
                found.append(option_sets.closest_vote(said) if of_sets else kinds_of(self.file, rule, said))
        return min(found, key=certainty) if found else super().votes(labels)

    def _said(self, label: str, answer: str) -> str:
        return label if label == CANNOT_JUDGE else answers.given(label, answer, self.file)

    def _differ(self, answer: schema.Answer, said: Sequence[str], labels: Sequence[str]) -> bool:
        if is_typed(answer):
            there = [one for label in said if (one := answers.number(answer, label)) is not None]
            scale = view_of(self.file, answer.name, str).scale
            return bool(there) and scale.ends is not None and scale.share(min(there), max(there)) > NEAR
        if isinstance(answer, schema.Scale):
            order = values.points(answer)
            places = [order.index(one) for one in said if one in order]
            return bool(places) and max(places) - min(places) > 1
        if isinstance(answer, schema.Points | schema.Boxes):
            return bool(said) and marks.mean_likeness(answer.kind, said, getattr(answer, "radius", 0)) < marks.HALF
        if isinstance(answer, schema.Rank):
            return super().is_split(["=".join(sorted(rankings.tiers(one)[0])) for one in said])
        return super().is_split(labels)

    def projections(self) -> dict[str, Projection]:
        """Return each view with its scale (measuring.views)."""
        return dict(views(self.file, self.protocol.projections))

    def offered(self, view: str, options: Sequence[str]) -> set[str] | None:
        if is_plain(self.file):
            return super().offered(view, options)
        return labels_offered(self.file, view, options)

    def _named(self, labels: Sequence[str]) -> list[str]:
        return [in_own_names(self.file, label) for label in labels]

    def _stored(self, outcome: str, labels: Sequence[str], named: Sequence[str]) -> str:
        """Return the first stored answer with the decided outcome; for a mean, and for forms, the value itself."""
        if not is_plain(self.file):
            return outcome
        found = zip(labels, named, strict=True)
        return next((label for label, name in found if outcome in (name, values.role_of(name))), outcome)


def rule_for(protocol: Protocol, overlap: int, tie_rule: str, cap: int | None = None, rule: str = MAJORITY) -> Rule:
    """Return the rule of the protocol's file if it decides, otherwise the one in the stage's own settings."""
    return (FileRule if protocol.file else Rule)(protocol, overlap, tie_rule, cap, rule)


def least_judgments(file: schema.ProtocolFile) -> tuple[int, str]:
    """Return the fewest judgments per task that the file's rules need, and why; 1 and "" if any number is enough."""
    alike = [one.m for one in file.decide if isinstance(one, schema.AtLeast) and isinstance(one.m, int)]
    if max(alike, default=1) > 1:
        return max(alike), f"At least {max(alike)} people must give the same answer"
    if any(isinstance(one, schema.Agreement) for one in file.decide) and file.judgments > 1:
        return 2, "The rule compares the marks of two or more people"
    return 1, ""


def settings_of_file(file: schema.ProtocolFile) -> dict[str, object]:
    """Return the stage settings that its protocol's file decides."""
    estimates = any(isinstance(rule, schema.DawidSkene) for rule in file.decide)
    chosen = (reference.partition(".")[2] for reference in file.carry if reference.startswith("images."))
    return {"overlap": file.judgments, "rule": DAWID_SKENE if estimates else MAJORITY, "carries": next(chosen, "")}
