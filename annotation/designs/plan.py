"""Plans for stages before a study exists: contradictions in their settings, and the expected effort."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb, floor
from typing import Any

from annotation.measures.audits.plan import Target
from annotation.measures.audits.plan import plan as plan_of_audit
from annotation.protocols.base import Form, Protocol
from annotation.protocols.decision_rule import DAWID_SKENE
from annotation.protocols.registry import base_name, protocol_named
from annotation.protocols.rules import least_judgments
from annotation.wording import hours_in_words

Settings = Mapping[str, Any]  # fields of models.Stage by name

_HOUR = 3600
_LEAST = 0.501  # a tie is 50% certain
_POOL, _BATCHES, _EVERYONE, _AUDIT = "pool", "batches", "everyone", "audit"  # as in models.choices.Strategy
_ADJUDICATE = "adjudicate"  # as in models.choices.TieRule
NO_CHECKS = "Checks and practice need one correct option per item; answers in this stage are more than that."
_TOO_FEW = "The estimate compares annotators on the same items. At least some items must be judged twice."
_NOT_LEFT = "Estimated probabilities are almost never tied. The estimate decides every item that you don’t adjudicate."
_NO_MIXING = "Use a pool or an audit. Elsewhere, annotators could tell which items are contested."
_ONE_DECIDES = "One annotator decides here, and a second one confirms edits: "


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage. `source` and `after` name earlier stages; `apart_from` names earlier stages or the stage itself.

    `name` defaults to the protocol's, without its version; with `apart_from` None the protocol decides
    (`Protocol.leaks`).
    `settings` are the other fields of Stage: overlap, strategy, batch_size, sample, carries …
    `instructions` defaults to the protocol's; `translations` has them in other languages.
    """

    protocol: str
    name: str = ""
    source: str = ""
    after: str = ""
    apart_from: Sequence[str] | None = None
    instructions: str = ""
    settings: Settings = field(default_factory=dict)
    translations: Mapping[str, str] = field(default_factory=dict)

    @property
    def stage_name(self) -> str:
        return self.name or base_name(self.protocol)

    def with_settings(self, **settings: object) -> "StagePlan":
        """Return the same plan with these settings changed."""
        return replace(self, settings={**self.settings, **settings})


def contradictions(
    settings: Settings, own_items_apart: bool = False, protocol: Protocol | None = None
) -> dict[str, str]:
    """Find settings that contradict each other, or the protocol: field to correct → a sentence for the manager.

    `own_items_apart`: its items have several questions each, and no annotator may get two about one item.
    """
    found = _form_contradictions(protocol.form, settings) if protocol and protocol.form else {}
    if protocol and protocol.file:
        least, why = least_judgments(protocol.file)
        if (settings.get("overlap") or 1) < least:
            found["overlap"] = f"{why}. Enter {least} or more."
    if own_items_apart and settings.get("strategy") in (_BATCHES, _EVERYONE):
        found["apart_from"] = "A batch contains all questions about its items. To separate them, use the pool."
    if settings.get("strategy") == _BATCHES and not settings.get("batch_size"):
        found["batch_size"] = "Enter the number of items per batch."
    if settings.get("strategy") == _AUDIT:
        found |= _audit_contradictions(settings)
    items, overlap = settings.get("agreement_items"), settings.get("agreement_overlap")
    if bool(items) != bool(overlap):
        found["agreement_overlap" if items else "agreement_items"] = "For an agreement sample, enter both numbers."
    if settings.get("cap") and settings["cap"] < (settings.get("overlap") or 1):
        found["cap"] = "Enter at least the number of judgments per item."
    if (certainty := settings.get("certainty")) is not None:
        if not settings.get("cap"):
            found["cap"] = "Adaptive overlap needs a maximum."
        if certainty < _LEAST:
            found["certainty"] = "Even a tie is 50% certain. Enter more."
        elif settings.get("strategy", _POOL) not in (_POOL, _AUDIT):
            found["certainty"] = _NO_MIXING
    if settings.get("rule") == DAWID_SKENE:
        if settings.get("tie_rule") == _ADJUDICATE:
            found = {"tie_rule": _NOT_LEFT, **found}
        elif max(settings.get("overlap") or 1, settings.get("agreement_overlap") or 1) < 2:
            found = {"rule": _TOO_FEW, **found}
    return found


def _audit_contradictions(settings: Settings) -> dict[str, str]:
    found = {}
    half_width, bound = settings.get("target_half_width"), settings.get("target_bound")
    if (half_width is None) == (bound is None):
        found["target_half_width"] = "An audit stops at a half-width or at a bound. Enter one of them."
    elif bound is not None and not settings.get("any_look"):
        found["any_look"] = "An audit with a bound stops when the rate looks good, so it needs this."
    if settings.get("stratify") and settings.get("scores_run") is not None:
        found["stratify"] = "An audit uses either strata or a model’s scores. Choose one of them."
    if settings.get("sample"):
        found["sample"] = "An audit draws its own order and stops by itself. Leave this empty."
    if settings.get("agreement_items"):
        found["agreement_items"] = "All items of an audit get the same number of judgments. Leave this empty."
    if settings.get("rule") == DAWID_SKENE:
        found["rule"] = "An audit needs each item’s outcome at once. Use the majority vote."
    return found


def _form_contradictions(form: Form, settings: Settings) -> dict[str, str]:
    """Return settings that don't suit answers that are more than a choice of option."""
    found = {"check_rate": NO_CHECKS} if settings.get("check_rate") else {}
    if not form.confirms:
        return found
    if settings.get("rule") == DAWID_SKENE:
        found["rule"] = f"{_ONE_DECIDES}there is nothing to estimate."
    if (settings.get("overlap") or 1) > 1:
        found["overlap"] = f"{_ONE_DECIDES}set this to 1."
    if settings.get("agreement_items"):
        found["agreement_items"] = f"{_ONE_DECIDES}leave this empty."
    if settings.get("strategy") in (_BATCHES, _EVERYONE):
        found["strategy"] = f"{_ONE_DECIDES}a batch would never reach the second. Use pool or named."
    return found


SAMPLED = 2_000  # items by whose parts a plan counts the tasks per item, if there are twice as many


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Assumptions about a stage: seconds per screen, and the share of items that it keeps.

    `tasks` is the mean number of tasks per item, `types` the number of item types, `people` the minimum number of
    annotators whatever the overlap: two if another has to confirm an edit. `wrong` is a guess at the share of wrong
    items an audit will find.
    """

    seconds: float
    kept: float = 1.0
    tasks: float = 1
    types: int = 1
    people: int = 1
    wrong: float | None = None


@dataclass(frozen=True, slots=True)
class ExpectedEffort:
    """The expected effort of a stage. `screens` are judgments and checks; `annotators`: how many are needed.

    For an audit it follows from the guess, or else is the most that it can take (`is_most`); `at_most` is that maximum,
    and `of` the benchmark's items.
    """

    stage: str
    items: int
    judgments: int
    screens: int
    hours: float
    cost: float
    annotators: int
    follows: bool = False  # the same annotators as in the stage before it
    assumed: bool = False  # the number of incoming items is an assumption
    is_most: bool = False
    at_most: "ExpectedEffort | None" = None
    of: int = 0


def expected_effort(
    stages: Sequence[StagePlan], *, items: int, assumed: Mapping[str, Assumptions], pay: float = 0
) -> list[ExpectedEffort]:
    """Return the effort for each stage, in order, for a benchmark with this many items; `pay` is per hour.

    Judgments beyond the overlap, up to the cap, are not included.
    """
    found: dict[str, ExpectedEffort] = {}
    for stage in stages:
        before = found.get(stage.source)
        coming = items if before is None else int(round_half_up(before.items * assumed[stage.source].kept))
        found[stage.stage_name] = (
            _audit_effort(stage, coming, assumed[stage.stage_name], pay)
            if stage.settings.get("strategy") == _AUDIT
            else _stage_effort(stage, coming, assumed[stage.stage_name], pay, before is not None)
        )
    return list(found.values())


def _audit_effort(stage: StagePlan, items: int, assumed: Assumptions, pay: float) -> ExpectedEffort:
    half_width, bound = stage.settings.get("target_half_width"), stage.settings.get("target_bound")
    if not items or (half_width is None) == (bound is None):
        return _stage_effort(stage, items, assumed, pay, later=False)
    target = Target(half_width, bound, bool(stage.settings.get("any_look") or bound is not None))
    needed = plan_of_audit(items, target, assumed.wrong)
    at_most = _stage_effort(stage, needed.most, assumed, pay, later=False)
    if needed.expected is None:
        return replace(at_most, is_most=True, at_most=at_most, of=items)
    return replace(_stage_effort(stage, needed.expected, assumed, pay, later=False), at_most=at_most, of=items)


def _stage_effort(stage: StagePlan, coming: int, assumed: Assumptions, pay: float, later: bool) -> ExpectedEffort:
    given = stage.settings
    sample = (given.get("sample") or coming) * (assumed.types if given.get("sample_each") else 1)
    items = min(coming, sample)
    overlap = given.get("overlap") or 1
    shared = min(items, given.get("agreement_items") or 0)
    shared_overlap = (given.get("agreement_overlap") or overlap) if shared else 0
    judgments = int(round_half_up(((items - shared) * overlap + shared * shared_overlap) * assumed.tasks))
    rate = given.get("check_rate") or 0
    screens = judgments + int(round_half_up(judgments * rate / (1 - rate)))
    hours = screens * assumed.seconds / _HOUR
    people = _places(given, judgments, ((items - shared, overlap), (shared, shared_overlap)), assumed.people)
    # For only some of the items, the mean of all is a guess
    drawn = items < coming or shared or coming >= 2 * SAMPLED
    guessed = later or (bool(drawn) and assumed.tasks != int(assumed.tasks))
    return ExpectedEffort(
        stage.stage_name, items, judgments, screens, hours, hours * pay, people, bool(stage.after), guessed
    )


def _places(given: Settings, judgments: int, parts: Sequence[tuple[int, int]], people: int) -> int:
    """Return the annotators needed if each has one batch or judges up to the quota; at least overlap and `people`."""
    if not judgments:
        return 0
    size: int | None = given.get("batch_size")
    quota: int | None = given.get("quota")
    if given.get("strategy") == _BATCHES and size:
        return max(people, sum(-(-items // size) * overlap for items, overlap in parts))
    return max(people, -(-judgments // quota) if quota else 0, *(overlap for items, overlap in parts if items))


def total_effort(stages: Sequence[ExpectedEffort]) -> ExpectedEffort:
    """Return the total for all stages. Annotators who continue from one stage to the next are counted once."""
    return ExpectedEffort(
        stage="all",
        items=stages[0].items if stages else 0,
        judgments=sum(stage.judgments for stage in stages),
        screens=sum(stage.screens for stage in stages),
        hours=sum(stage.hours for stage in stages),
        cost=sum(stage.cost for stage in stages),
        annotators=sum(stage.annotators for stage in stages if not stage.follows),
        assumed=any(stage.assumed for stage in stages),
        is_most=any(stage.is_most for stage in stages),
    )


def round_half_up(value: float, digits: int = 0) -> float:
    """Return `value` rounded to `digits` decimals, halves up."""
    scale: int = 10**digits
    return floor(value * scale + 0.5) / scale


def audit_in_words(stage: StagePlan, expected: ExpectedEffort, assumed: Assumptions, currency: str) -> str:
    """Describe what an audit takes, as expected from the guess and at most; empty for other stages."""
    if expected.at_most is None:
        return ""

    def words(one: ExpectedEffort) -> str:
        judgments = f"{one.judgments:,} judgment{'' if one.judgments == 1 else 's'}"
        cost = f", {round_half_up(one.cost, 2):,.2f} {currency}" if one.cost else ""
        return f"{one.items:,} of {expected.of:,} items ({judgments}{cost})"

    most = f"at most {words(expected.at_most)}"
    needs = f"the audit needs {most}"
    if not expected.is_most:
        guess = f"{round_half_up(100 * (assumed.wrong or 0), 2):g}%"
        needs = f"if {guess} of the items are wrong, the audit needs {words(expected)}, {most}"
    return f"{needs[0].upper()}{needs[1:]}.{_errors_count(stage.settings)}"


_WRONG, _FALSE_ALARMS, _MISSED = 0.03, 0.05, 0.1  # for the example: wrong items, and errors on right and on wrong ones


def found_wrong(judgments: int) -> float:
    """Return the share of items that a majority of `judgments` finds wrong, if annotators err as in the example; ties
    don't count.
    """
    most = judgments // 2 + 1
    chances = ((_WRONG, 1 - _MISSED), (1 - _WRONG, _FALSE_ALARMS))
    return sum(
        share * comb(judgments, n) * p**n * (1 - p) ** (judgments - n)
        for share, p in chances
        for n in range(most, judgments + 1)
    )


def _errors_count(settings: Settings) -> str:
    """Describe how only one or two judgments per item affect an audit; empty for more."""
    judgments = settings.get("overlap") or 1
    if max(judgments, settings.get("cap") or 0) > 2:
        return ""
    few = "One judgment per item counts" if judgments == 1 else "Two judgments per item count"
    percent = {n: f"{100 * found_wrong(n):.1f}%" for n in (judgments, 3)}
    ties = "" if judgments == 1 else ", and many items are tied"
    return (
        f" {few} annotators’ errors as the benchmark’s: if they take {100 * _FALSE_ALARMS:g}% of right items for "
        f"wrong and miss {100 * _MISSED:g}% of wrong ones, an audit finds {percent[judgments]} where "
        f"{100 * _WRONG:g}% are wrong{ties}; with three judgments it finds {percent[3]}. Use three, or check items, "
        "so that the result can be corrected."
    )


def effort_in_words(expected: ExpectedEffort, currency: str = "") -> dict[str, str]:
    """Return the numbers as text, with ≈ if they assume how many items come in, and ≤ if they are the most an audit
    takes. `each` has the time per annotator.
    """
    unpaid = expected.hours and not expected.cost
    return {
        "items": f"{expected.items:,}",
        "judgments": ("≤ " if expected.is_most else "≈ " if expected.assumed else "") + f"{expected.judgments:,}",
        "hours": hours_in_words(60 * expected.hours),
        "cost": "unpaid" if unpaid else f"{round_half_up(expected.cost, 2):,.2f} {currency}".strip(),
        "annotators": f"{expected.annotators:,}",
        "each": hours_in_words(60 * expected.hours / (expected.annotators or 1)),
    }


_NO_AGREEMENT = ", so agreement cannot be measured, which needs two."
_MISTAKEN = 0.1  # assumed share of mistakes, to show their effect on majorities
_WRONG_ITEMS = 0.05  # assumed share of wrong items, to show how closely a sample estimates it
_Z_95 = 1.96  # the normal quantile for a 95% interval


def enough_in_words(stage: StagePlan, items: int, of: int) -> str:
    """Describe what the stage's number of judgments, and its sample of `items` out of `of`, suffice for."""
    protocol, given = protocol_named(stage.protocol), stage.settings
    judgments, shared = given.get("overlap") or 1, given.get("agreement_items")
    if protocol.confirms:
        return "One annotator decides about an item, and a second one confirms edits."
    if judgments == 1:
        words = "An item gets one judgment" if protocol.measures else "One judgment decides about an item"
        words += f"; {shared:,} items with more show agreement." if shared else _NO_AGREEMENT
    else:
        if not protocol.projections:
            return f"{judgments} judgments per item; of texts there is neither agreement nor a majority."
        words = f"{judgments} judgments per item show how well people agree"
        least, slip = judgments // 2 + 1, _MISTAKEN
        lost = sum(comb(judgments, n) * slip**n * (1 - slip) ** (judgments - n) for n in range(least, judgments + 1))
        outvotes = f". If {slip:.0%} of answers are mistakes, {100 * lost:.1f}% of majority answers are wrong"
        words += "." if protocol.measures else f"{outvotes if judgments > 2 else ', but neither outvotes the other'}."
    if 0 < items < of and not protocol.measures and given.get("strategy") != _AUDIT:
        wrong = _WRONG_ITEMS
        error = 100 * _Z_95 * (wrong * (1 - wrong) / items * (1 - items / of)) ** 0.5
        words += f" If {wrong:.0%} of all {of:,} items are wrong, {items:,} show it to within ±{error:.1f} points."
    return words
