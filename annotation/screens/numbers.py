"""Numbers as annotators of a language write them."""

from collections.abc import Mapping

from django.utils.formats import get_format

from annotation.protocols import numbers
from annotation.protocols.schema import ProtocolFile
from annotation.protocols.values import written


def decimal_sign() -> str:
    """Return the decimal sign of the page's language."""
    return get_format("DECIMAL_SEPARATOR")


def in_english(file: ProtocolFile, sent: Mapping[str, str]) -> dict[str, str]:
    """Return the submitted fields, with numbers as `answers.parse` reads them. Raises InvalidAnswer."""
    found = dict(sent)
    for answer in file.answers:
        field = f"{answer.name}-{numbers.FIELD}"
        if numbers.is_typed(answer) and (number := numbers.read(sent.get(field, ""), decimal_sign())) is not None:
            found[field] = written(number)
    return found
