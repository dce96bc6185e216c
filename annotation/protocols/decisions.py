"""Decide by a protocol file: each rule on its own answer, then the item by all rules.

An item is kept if every rule keeps it. The reason for dropping it comes from the file's first rule that does; while a
rule waits for judgments, an estimate or an adjudicator, the item is open.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from types import MappingProxyType

from annotation.protocols import answers, marks, option_sets, schema, values
from annotation.protocols.base import CANNOT_JUDGE, Attributes
from annotation.protocols.decision_rule import AWAITING_ADJUDICATION, DROPPED, KEPT, OPEN, Decision, Posterior, decide
from annotation.protocols.measuring import is_set, parents_of
from annotation.protocols.rankings import mean_ranks
from annotation.protocols.schema import ProtocolFile
from annotation.protocols.values import ELSE
from annotation.wording import exact

_AWAITING_ESTIMATE = "awaiting_estimate"
_AWAITING_RIGHT = "awaiting_right_answer"  # reason for an item known only from ratings
_FIRST, _DROP = "first", "drop"


def decide_item(
    protocol: ProtocolFile, labels: Sequence[str], judgments: int | None = None,
    posteriors: Mapping[str, Posterior] | None = None, of_item: Attributes = MappingProxyType({}),
) -> Decision:  # fmt: skip
    """Decide a task from its stored labels, in the order given.

    `judgments` is how many the task needs, by default the file's number. Dawid and Skene's rule needs
    `posteriors` (answer → value → probability), a check with `parents` the attributes of the item's texts (`of_item`).
    `outcome` is that of the first rule.
    """
    if len(labels) < (judgments or protocol.judgments):
        return Decision(OPEN)
    found = by_each_rule(protocol, labels, posteriors, of_item)
    if not found:  # a file that only measures
        return _unanimous_or_not(labels)
    for state in (DROPPED, OPEN):
        for one in found:
            if one.state == state:
                return one
    return found[0]


def by_each_rule(
    protocol: ProtocolFile, labels: Sequence[str], posteriors: Mapping[str, Posterior] | None = None,
    of_item: Attributes = MappingProxyType({}),
) -> list[Decision]:  # fmt: skip
    """Return the decision of each rule of the file, in its order."""
    return [_by_rule(protocol, rule, labels, posteriors or {}, of_item) for rule in protocol.decide]


def _unanimous_or_not(labels: Sequence[str]) -> Decision:
    winner, count = Counter(labels).most_common(1)[0]
    if count * 2 <= len(labels):
        return Decision(KEPT, by="no_majority")
    by = "only_answer" if len(labels) == 1 else "unanimous" if count == len(labels) else "majority"
    return Decision(KEPT, winner, by=by)


def _by_rule(
    protocol: ProtocolFile, rule: schema.Decision, labels: Sequence[str], posteriors: Mapping[str, Posterior],
    of_item: Attributes,
) -> Decision:  # fmt: skip
    said = [CANNOT_JUDGE if label == CANNOT_JUDGE else answers.given(label, rule.answer, protocol) for label in labels]
    said = [one for one in said if one]  # leave out annotators who were not asked
    if not said:
        return Decision(KEPT, by="not_asked")
    if isinstance(rule, schema._Table) and "." not in rule.answer and is_set(answer := protocol.answer(rule.answer)):
        return _by_options(answer, rule, said)
    match rule:
        case schema.AtLeast() if values.is_of_right(protocol, rule):
            right = answers.right_answer(protocol, rule.answer, "", of_item)
            return _by_table(rule, said, right) if right else Decision(OPEN, reason=_AWAITING_RIGHT)
        case schema.AtLeast(of=of):
            return _by_table(rule, said, of)
        case schema.Unanimous():
            return _by_table(rule, said)
        case schema.Majority():
            return _by_votes(protocol, rule, said)
        case schema.DawidSkene():
            if (posterior := posteriors.get(rule.answer)) is None:
                return Decision(OPEN, reason=_AWAITING_ESTIMATE)
            return _by_votes(protocol, rule, said, posterior)
    if sum(label == CANNOT_JUDGE for label in labels) * 2 > len(labels):
        return Decision(DROPPED, CANNOT_JUDGE, CANNOT_JUDGE, "majority")
    said = [one for one in said if one != CANNOT_JUDGE]
    if not said:
        return Decision(KEPT, by="not_asked")
    match rule:
        case schema.Mean() | schema.Median():
            return _by_bound(protocol, rule, said, of_item)
        case schema.Agreement():
            return _by_agreement(protocol, rule, said)
        case schema.MeanRank():
            return _by_mean_rank(rule, said)
        case schema.Latest():
            return Decision(KEPT, said[-1], by="latest")
    return Decision(KEPT, by="measured")


def _by_votes(
    protocol: ProtocolFile, rule: schema.Majority | schema.DawidSkene, said: Sequence[str],
    posterior: Posterior | None = None,
) -> Decision:  # fmt: skip
    alike, reason = _alike(protocol, rule, said), _reasons(rule)
    return decide(said, overlap=1, tie_rule=rule.tie, reason=reason, alike=alike, posterior=posterior)


def kinds_of(protocol: ProtocolFile, rule: schema._Decided, said: Sequence[str]) -> list[str]:
    """Return the kinds that votes and an estimate distinguish: options that are alike are of one kind."""
    alike = _alike(protocol, rule, said)
    return ["any" if one in alike else one for one in said]


def _alike(protocol: ProtocolFile, rule: schema._Decided, said: Sequence[str]) -> set[str]:
    answer = protocol.answer(rule.answer.partition(".")[0])
    if not (isinstance(answer, schema.Pick) and answer.alike):
        return set()
    return {one for one in said if one not in answer.fixed and one != CANNOT_JUDGE}


def _reasons(rule: schema._Table) -> Callable[[str], str]:
    """Return the reasons for dropping the item by outcome, "" if kept."""

    def reason(outcome: str) -> str:
        value = values.in_table(outcome, [*rule.keep, *rule.drop])
        if value in rule.keep:
            return ""
        return rule.drop.get(value, CANNOT_JUDGE if value == CANNOT_JUDGE else "")

    return reason


def _by_table(rule: schema.AtLeast | schema.Unanimous, said: Sequence[str], of: str = "") -> Decision:
    """Decide by a table; `of` is the value that enough people must have given."""
    named = [*rule.keep, *rule.drop, *([of] if of else [])]
    counts = Counter(values.in_table(one, named) for one in said)
    (leader, most), *others = counts.most_common()
    by = "only_answer" if len(said) == 1 else "unanimous" if not others else "majority"
    if isinstance(rule, schema.AtLeast):
        if rule.is_met(counts[of], len(said)):
            return Decision(KEPT, of, by=by)
        unclear = leader == of or any(count == most for _, count in others)
        unclear |= leader not in named and leader != CANNOT_JUDGE  # a wrong value that no table names
    else:
        unclear = bool(others)
    if unclear:
        return Decision(DROPPED, "", rule.drop[ELSE], "no_agreement")
    why = _reasons(rule)(leader)
    return Decision(DROPPED if why else KEPT, leader, why, by)


def _by_options(answer: schema.Pick, rule: schema._Table, said: Sequence[str]) -> Decision:
    """Decide between sets of options: the winning options, if they may be chosen together. The first value of `drop`
    among them drops the item. *Cannot judge* counts like an option.
    """
    given = [option_sets.chosen(one) for one in said]
    counts = Counter(option for one in given for option in sorted(one))
    by = "only_answer" if len(given) == 1 else "unanimous" if len(set(given)) == 1 else "majority"
    match rule:
        case schema.Unanimous():
            won = set(given[0]) if by != "majority" else set()
        case schema.AtLeast():
            won = {option for option, count in counts.items() if rule.is_met(count, len(given))}
        case _:
            won = {option for option, count in counts.items() if count * 2 > len(given)}
            level = {option for option, count in counts.items() if count * 2 == len(given)}
            tie = rule.tie if level and isinstance(rule, schema.Majority) else ""
            if tie == _DROP:
                return Decision(DROPPED, reason="tie_unresolved", by="tie_rule")
            if tie == "adjudicate":
                return Decision(OPEN, reason=AWAITING_ADJUDICATION)
            if tie == _FIRST:
                won |= level & given[0]
            if tie == option_sets.NONE and not won:
                won = {option_sets.NONE}
            by = "tie_rule" if tie else by
    outcome, reason = option_sets.as_label(won), _reasons(rule)
    if CANNOT_JUDGE in won:
        return Decision(DROPPED, CANNOT_JUDGE, reason(CANNOT_JUDGE) or CANNOT_JUDGE, by)
    if not won or not option_sets.is_allowed(answer, frozenset(won)):
        return Decision(DROPPED, outcome, rule.drop[ELSE], "no_agreement")
    drops = [
        value for value in rule.drop if any(values.in_table(one, [*rule.keep, *rule.drop]) == value for one in won)
    ]
    return Decision(DROPPED if drops else KEPT, outcome, rule.drop[drops[0]] if drops else "", by)


def _by_bound(
    protocol: ProtocolFile, rule: schema.Mean | schema.Median, said: Sequence[str], of_item: Attributes
) -> Decision:
    answer = protocol.answer(rule.answer)
    parents = parents_of(answer, of_item)
    numbers = [answers.number(answer, one, parents) for one in said]
    there = [one for one in numbers if one is not None]
    if len(there) * 2 <= len(numbers):
        return Decision(DROPPED, "", rule.no_value, rule.rule)
    level = (fmean if rule.rule == "mean" else median)(there)
    is_point = isinstance(answer, schema.Scale | schema.Number) and level in there
    outcome = exact(level) if is_point else _rounded(level)
    if rule.at_least is None or level >= rule.at_least - 1e-9:  # rounding must not put thirds below a third
        return Decision(KEPT, outcome, by=rule.rule)
    return Decision(DROPPED, outcome, rule.below, rule.rule)


def _by_agreement(protocol: ProtocolFile, rule: schema.Agreement, said: Sequence[str]) -> Decision:
    answer = protocol.answer(rule.answer)
    level = marks.mean_likeness(answer.kind, said, getattr(answer, "radius", 0))
    if level >= rule.at_least - 1e-9:
        return Decision(KEPT, _rounded(level), by=rule.rule)
    return Decision(DROPPED, _rounded(level), rule.below, rule.rule)


def _rounded(level: float) -> str:
    """Round to six digits, or to two decimals if there are more before the point."""
    return format(level, f".{max(6, len(str(int(abs(level)))) + 2)}g")


def _by_mean_rank(rule: schema.MeanRank, said: Sequence[str]) -> Decision:
    ranks = mean_ranks(said)
    best = min(ranks.values())
    leaders = [option for option, rank in ranks.items() if rank - best < 1e-9]
    if len(leaders) == 1 or rule.tie == _FIRST:
        return Decision(KEPT, leaders[0], by="mean_rank" if len(leaders) == 1 else "tie_rule")
    if rule.tie == _DROP:
        return Decision(DROPPED, reason="tie_unresolved", by="tie_rule")
    return Decision(OPEN, reason=AWAITING_ADJUDICATION)
