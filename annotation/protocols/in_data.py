"""Answers and decisions under a protocol file, as exports, releases and the API show them: in the file's words, beside
stored labels and identities.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from annotation.protocols import answers, schema, values
from annotation.protocols.base import CANNOT_JUDGE, AnswerContent, Attributes
from annotation.protocols.compile import in_own_names, is_plain, value_of
from annotation.protocols.decision_rule import OPEN, Posterior
from annotation.protocols.decisions import by_each_rule
from annotation.protocols.schema import ProtocolFile


def answers_of(file: ProtocolFile, label: str | None, content: AnswerContent | None = None) -> dict[str, str] | None:
    """Return values by answer (for a text, the text itself), without questions that were not asked or answered.

    None for a withdrawn answer, or if the annotator could not judge. ValueError if the label has a different number of
    parts than the file has answers.
    """
    if not label or label == CANNOT_JUDGE:
        return None
    texts = (content or {}).get("texts", {})
    parts = answers.parts_of(in_own_names(file, label), file)
    return {name: texts.get(name, value) for name, value in parts.items() if value}


def names_of(file: ProtocolFile, shows: Iterable[str], options: Sequence[str]) -> dict[str, str]:
    """Return the file's names by identity: `caption-positive-0` → `positive`."""
    found = {one: values.option_name(file, one) for one in [*shows, *options]}
    for answer in file.answers:
        if is_plain(file):
            found |= {one: value_of(file, one) for one in options}
        elif isinstance(answer, answers.Choosing):
            found |= answers.option_names(file, answer, options)
    return found


def rules_of(
    file: ProtocolFile, labels: Sequence[str], judgments: int, posteriors: Mapping[str, Posterior] | None = None,
    of_item: Attributes = MappingProxyType({}),
) -> list[dict[str, str | None]]:  # fmt: skip
    """Return each rule's decision from a task's counted judgments, in the order given; none if there are too few.

    An adjudicator's decision does not change it. `posteriors` and `of_item` as in `decide_item`.
    """
    if len(labels) < judgments:
        return []
    named = [in_own_names(file, label) for label in labels]
    return [
        {
            "answer": rule.answer,
            "rule": rule.rule,
            "state": one.state,
            "outcome": one.outcome or None,
            "reason": one.reason or None if one.state != OPEN else None,
        }
        for rule, one in zip(file.decide, by_each_rule(file, named, posteriors, of_item), strict=True)
    ]


def text_roles(file: ProtocolFile) -> dict[str, str]:
    """Return, for answers that are texts, the text's role in the next stage, or else the answer's own name."""
    carried = {name: reference.partition(".")[2] for reference, name in file.carry.items()}
    return {
        one.name: carried.get(one.name, one.name) for one in file.answers if isinstance(one, schema.Text | schema.Edit)
    }


def edited_identity(file: ProtocolFile, name: str, texts: Iterable[str], question: str) -> str:
    """Return the identity of the text an answer changed; "" for a free text."""
    answer = file.answer(name)
    return answers.text_identity(file, answer, texts, question) if isinstance(answer, schema.Edit) else ""
