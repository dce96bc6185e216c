"""Describe in sentences how a stage's judgments decide an item. Pure.

`deciding` is for a stage, whether the protocol file or settings decide; `each_rule` is for a file on its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from annotation.protocols import schema, values
from annotation.protocols.base import CANNOT_JUDGE, Protocol
from annotation.protocols.decision_rule import CONFIRM_CAP, DAWID_SKENE, DROPPED, MAJORITY
from annotation.protocols.measuring import is_set
from annotation.protocols.schema import ProtocolFile
from annotation.wording import counted, exact, listed, readable_label
from benchmarks.naming import part_name

_SCORED = "Every answer is scored, and no item is dropped."
_CONFIRMED = (
    "One person is enough for words taken as they are and for a rejection; an edit goes to another person, and the "
    "first verdict that two share stands. After {} judgments without one, an adjudicator decides."
)
_ALIKE = " Different images count as the same answer; the one picked most often wins."


@dataclass(frozen=True, slots=True)
class Asked:
    """The number of people who judge a task: `overlap`, or one at a time up to `cap`; `agreement_overlap` on some
    items.

    `overlap` is 0 if it is not decided yet.
    """

    overlap: int = 0
    cap: int | None = None
    certainty: float | None = None
    agreement_items: int | None = None
    agreement_overlap: int | None = None

    @property
    def is_alone(self) -> bool:
        return self.overlap == 1 and not self.cap and not self.agreement_items

    @property
    def people(self) -> str:
        """Return `3 people`, `2 to 5 people`."""
        if not self.overlap:
            return "people"
        return f"{self.overlap} to {self.cap} people" if (self.cap or 0) > self.overlap else _people(self.overlap)

    def at_least(self, m: int | str) -> str:
        """Return `at least 2 of 3 people`; a share of a number that varies between tasks stays a share."""
        if isinstance(m, str) and (self.cap or self.agreement_items or not self.overlap):
            return f"at least {m} of the people"
        least = m if isinstance(m, int) else ceil(Fraction(m) * self.overlap)
        if self.overlap == 1:
            return "the person"
        if least == self.overlap and not self.cap:
            return "both people" if least == 2 else f"all {self.people}"
        return f"at least {least} of {self.people}" if self.overlap else f"at least {_people(least)}"

    def more(self) -> str:
        """Return a sentence about tasks that more people judge; "" if there are none."""
        found = ""
        if self.agreement_items:
            items = counted(self.agreement_items, "item")
            found += f" {items} drawn for agreement get {_people(self.agreement_overlap or 1)}."
        if self.certainty:
            found += f" One more is asked while the leading answer is less than {100 * self.certainty:.4g}% certain."
        elif self.cap:
            found += " One more is asked while no answer has more than half."
        return found


def deciding(protocol: Protocol, asked: Asked, rule: str = MAJORITY, tie: str = "drop") -> str:
    """Return sentences about what keeps an item and what drops it. A file that decides has its own rule and tie."""
    if protocol.confirms:
        return f"{_CONFIRMED.format(asked.cap or CONFIRM_CAP)} {_dropped_if(_of_protocol(protocol))}"
    if protocol.file and protocol.file.decide:
        found = each_rule(protocol.file, asked)
        every = "An item is kept if every question keeps it. " if len(found) > 1 else ""
        return f"{every}{' '.join(found)}{asked.more()}"
    if protocol.file or protocol.measures:
        who = f"{asked.people[:1].upper()}{asked.people[1:]} {'judges' if asked.overlap == 1 else 'judge'} each task."
        return f"{who}{asked.more()} {_SCORED}"
    none = next((one.label for one in protocol.fixed if one.identity == "none"), "None")
    first = _voted(asked, rule == DAWID_SKENE, tie, none)
    return f"{first}{asked.more()}{_ALIKE if protocol.alike else ''} {_dropped_if(_of_protocol(protocol))}"


def _of_protocol(protocol: Protocol) -> dict[str, str]:
    """Return why an item is dropped, by what drops it, in words. An image from an earlier stage is an option."""
    labels = {one.identity: f"“{one.label}”" for one in protocol.fixed} | {CANNOT_JUDGE: "“Cannot judge”"}
    if (file := protocol.made_from) and len(file.decide) == 1:
        drops: Mapping[str, str] = getattr(file.decide[0], "drop", {})
        return {value_in_words(file, file.decide[0].answer, one): why for one, why in drops.items()} | {
            labels[CANNOT_JUDGE]: CANNOT_JUDGE
        }
    return {labels.get(one, f"“{readable_label(one).capitalize()}”"): why for one, why in protocol.drops.items()}


def each_rule(file: ProtocolFile, asked: Asked = Asked()) -> list[str]:
    """Return, for each rule, what keeps an item and what drops it, after its question if there are several answers."""
    return [f"{_asks(file, one.answer)}{_rule(file, one, asked)}" for one in file.decide]


def _asks(file: ProtocolFile, address: str) -> str:
    """Return the question that the rule is about: `“Does it hold?” `; "" if there is only one."""
    name, _, statement = address.partition(".")
    answer = file.answer(name)
    asked = answer.statements[statement] if isinstance(answer, schema.Check) and statement else answer.ask
    if not statement and len(file.answers) == 1:
        return ""
    return f"“{asked}” " if asked else f"{readable_label(name).capitalize()}: "


def _rule(file: ProtocolFile, rule: schema.Decision, asked: Asked) -> str:
    of_sets = "." not in rule.answer and is_set(file.answer(rule.answer))
    drops = {value_in_words(file, rule.answer, one): why for one, why in getattr(rule, "drop", {}).items()}
    match rule:
        case schema.Majority() | schema.DawidSkene() if not of_sets:
            fixed = values.fixed_of(file.answer(rule.answer.partition(".")[0]))
            none = fixed["none"].label if "none" in fixed else "None"
            first = _voted(asked, isinstance(rule, schema.DawidSkene), rule.tie, none)
            return f"{first} {_dropped_if(drops | {'“Cannot judge”': CANNOT_JUDGE})}"
        case schema.Majority(tie=tie):
            first = f"An option counts if more than half of {asked.people} choose it; {_tie(tie, 'None')}."
        case schema.AtLeast(m=m) if of_sets:
            first = f"An option counts if {asked.at_least(m)} choose{'s' if asked.overlap == 1 else ''} it."
        case schema.AtLeast(m=m):
            return f"{_kept_from(file, rule, asked.at_least(m), asked.overlap == 1)} {_otherwise(drops)}"
        case schema.Unanimous() if of_sets:
            first = f"{_all(asked)} must choose the same options."
        case schema.Unanimous():
            others = drops.pop(_ELSE, DROPPED)
            rest = f" Dropped if it is {_either(drops)}." if drops else ""
            return f"Kept if {_all(asked)[0].lower()}{_all(asked)[1:]} give the same answer, otherwise dropped " \
                   f"({readable_label(others)}).{rest}"  # fmt: skip
        case _:
            return _of_numbers(file, rule, asked)
    return f"{first} {_dropped_if(drops, 'it has', 'no option counts, or those that do exclude one another')}"


def _of_numbers(file: ProtocolFile, rule: schema.Decision, asked: Asked) -> str:
    """Describe rules that don't count votes."""
    match rule:
        case schema.Mean() | schema.Median():
            level = (
                "the answer of one person" if asked.is_alone else f"the {rule.rule} of the answers of {asked.people}"
            )
            why = f" ({readable_label(rule.no_value)})"
            none = f"half of them or more give no number{why}" if values.fixed_of(file.answer(rule.answer)) else ""
            if rule.at_least is None:
                return f"{level[0].upper()}{level[1:]} counts.{f' Dropped if {none}.' if none else ''}"
            least = f"Kept if {level} is at least {exact(rule.at_least)}"
            below = f"Dropped if it is less ({readable_label(rule.below)})"
            return f"{least}. {below}{f', or if {none}' if none else ''}."
        case schema.Agreement(at_least=bound):
            below = readable_label(rule.below)
            return f"Kept if the marks of {asked.people} have a mean agreement of at least {exact(bound)}, otherwise " \
                   f"dropped ({below})."  # fmt: skip
        case schema.MeanRank(tie=tie, over=over):
            more = f" Each {over} has a mean rank over all items." if over else ""
            return f"The option with the best mean rank over {asked.people} counts; {_tie(tie, '')}.{more}"
        case schema.BradleyTerry(over=over):
            return f"The Bradley–Terry model gives each {over} a strength over all items, and no item is dropped."
    return "The text written last counts."


def _voted(asked: Asked, is_estimate: bool, tie: str, none: str) -> str:
    if asked.is_alone and not is_estimate:
        return "The answer of one person decides."
    if is_estimate:
        return f"The most probable answer decides, by Dawid and Skene’s model of all judgments; {_tie(tie, none)}."
    return f"The most common answer{f' of {asked.people}' if asked.overlap else ''} decides; {_tie(tie, none)}."


def _tie(tie: str, none: str) -> str:
    return {
        "drop": "a tie drops the item",
        "adjudicate": "a tie waits for an adjudicator",
        "first": "a tie goes to the answer given first",
        "none": f"a tie counts as “{none}”",
    }[tie]


def _kept_from(file: ProtocolFile, rule: schema.AtLeast, who: str, is_one: bool) -> str:
    """Return `Kept if at least 2 of 3 people pick the caption.`"""
    s = "s" if is_one else ""
    if values.is_of_right(file, rule):
        does = f"give{s} the right answer"
    else:
        value = value_in_words(file, rule.answer, rule.of)
        does = f"answer{s} {value}" if value.startswith("“") else f"pick{s} {value}"
    also = [value_in_words(file, rule.answer, one) for one in rule.keep if one != rule.of]
    return f"Kept if {who} {does}{f', or if the most common answer is {_either_of(also)}' if also else ''}."


def _otherwise(drops: Mapping[str, str]) -> str:
    """Return what drops an item that is not kept; the last is everything else."""
    if len(drops) == 1:
        return f"Otherwise dropped{_why('', *drops.values())}."
    return f"Otherwise dropped by the most common answer: {_either(drops)}."


def _dropped_if(drops: Mapping[str, str], it: str = "it is", others: str = "anything else") -> str:
    said = {(others if one == _ELSE else one): why for one, why in drops.items()}
    return f"Dropped if {it} {_either(said)}." if said else ""


def _either(drops: Mapping[str, str]) -> str:
    return _either_of([f"{one}{_why(one, why)}" for one, why in drops.items()])


def _either_of(found: list[str]) -> str:
    return listed(found, "or")


def _why(value: str, reason: str) -> str:
    """Return the reason in brackets, unless the answer is worded the same."""
    words = readable_label(reason)
    return "" if words.casefold() == value.strip("“”").casefold() else f" ({words})"


def _all(asked: Asked) -> str:
    if asked.overlap in (1, 2) and not asked.cap:
        return "The person" if asked.overlap == 1 else "Both people"
    return f"All {asked.people}"


def _people(count: int) -> str:
    return "one person" if count == 1 else f"{count:,} people"


_ELSE = "anything else"


def value_in_words(file: ProtocolFile, address: str, value: str) -> str:
    """Return a table's value in plain words: `the caption`, `“Both sentences”`, `“4 (Good)”`, `anything else`."""
    if value == values.ELSE:
        return _ELSE
    name, _, statement = address.partition(".")
    answer = file.answer(name)
    if not statement and (fixed := values.fixed_of(answer).get(value)):
        return f"“{fixed.label}”"
    if isinstance(answer, schema.Pick | schema.Pair):
        role = values.role_of(value)
        kind = next((one.partition(".")[0] for one in values.options_of(file, answer) if one.endswith(f".{role}")), "")
        if kind:
            one_of = "the" if values.is_alone(file, f"{kind}.{role}") else "one of the"
            return f"{one_of} {part_name(kind, role, several=one_of != 'the')}"
    if isinstance(answer, schema.Scale) and value in answer.anchors:
        return f"“{value} ({answer.anchors[value]})”"
    return f"“{readable_label(value).capitalize()}”"
