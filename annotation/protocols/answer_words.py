"""Answers as managers read them: when two count as equal, how they are worded, and the answers that every task has."""

from annotation.protocols.answers import PARTING
from annotation.protocols.base import CANNOT_JUDGE, Answer, Choice, Protocol
from annotation.protocols.decision_rule import verdict
from annotation.wording import readable_label


def agreement_key(protocol: Protocol, answer: Answer) -> str:
    """Return a key that equal answers share. If edits need confirming, it is their text."""
    return verdict(answer) if protocol.confirms else answer.label


def answer_in_words(protocol: Protocol, answer: Answer) -> str:
    """Return the answer of an annotator or adjudicator in words; without its content, only its label."""
    choice = next((one for one in protocol.fixed if one.identity == answer.label), None)
    if protocol.file and choice:  # a scale point is shown with its label
        return choice.label
    if protocol.form is None or (not answer.content and answer.label in fixed_labels(protocol)):
        return readable_label(answer.label)
    return protocol.form.describe(answer)


def outcome_in_words(protocol: Protocol, outcome: Answer) -> str:
    """Return the outcome in words. Under a file with several answers, judgments decide a value, not a whole answer."""
    decides_value = protocol.file and len(protocol.file.answers) > 1 and PARTING not in outcome.label
    return readable_label(outcome.label) if decides_value else answer_in_words(protocol, outcome)


def fixed_choices(protocol: Protocol) -> list[Choice]:
    """Return the answers of every task: the protocol's, those that drop an item by its form, and “cannot judge”.

    The rules of a protocol file drop items by values, and an answer has several values.
    """
    found = list(protocol.fixed)
    if protocol.form and not protocol.file:
        drops = {label: why for label, why in protocol.drops.items() if label != CANNOT_JUDGE}
        found += [Choice(label, f"Drop: {readable_label(why)}", (label[0],)) for label, why in drops.items()]
    return [*found, Choice(CANNOT_JUDGE, "Cannot judge", ("c",))]


def fixed_labels(protocol: Protocol) -> list[str]:
    return [choice.identity for choice in fixed_choices(protocol)]
