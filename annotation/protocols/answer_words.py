"""Answers as managers read them: which are the same, what they say, and which every task has beside its options."""

from annotation.protocols.answers import PARTING
from annotation.protocols.base import CANNOT_JUDGE, Answer, Choice, Protocol
from annotation.protocols.decision_rule import verdict
from annotation.wording import readable_label


def agreement_key(protocol: Protocol, answer: Answer) -> str:
    """What two answers have in common that say the same. Where an edit is to be confirmed, that is the words."""
    return verdict(answer) if protocol.confirms else answer.label


def answer_in_words(protocol: Protocol, answer: Answer) -> str:
    """What an annotator said, or an adjudicator; without its content, a label alone."""
    choice = next((one for one in protocol.fixed if one.identity == answer.label), None)
    if protocol.file and choice:  # a point of a scale says what it stands for
        return choice.label
    if protocol.form is None or (not answer.content and answer.label in fixed_labels(protocol)):
        return readable_label(answer.label)
    return protocol.form.describe(answer)


def outcome_in_words(protocol: Protocol, outcome: Answer) -> str:
    """What was decided. Under a protocol file with several answers, judgments decide a value and not a whole answer."""
    decides_value = protocol.file and len(protocol.file.answers) > 1 and PARTING not in outcome.label
    return readable_label(outcome.label) if decides_value else answer_in_words(protocol, outcome)


def fixed_choices(protocol: Protocol) -> list[Choice]:
    """The answers that every task has: those of the protocol, what drops an item by its form, and cannot judge.

    The rules of a protocol file drop items by values, of which an answer has several.
    """
    found = list(protocol.fixed)
    if protocol.form and not protocol.file:
        drops = {label: why for label, why in protocol.drops.items() if label != CANNOT_JUDGE}
        found += [Choice(label, f"Drop: {readable_label(why)}", (label[0],)) for label, why in drops.items()]
    return [*found, Choice(CANNOT_JUDGE, "Cannot judge", ("c",))]


def fixed_labels(protocol: Protocol) -> list[str]:
    return [choice.identity for choice in fixed_choices(protocol)]
