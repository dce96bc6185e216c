"""Phrases of `Form.describe_fields` as their annotator reads them in English."""

from collections.abc import Iterable

from annotation.protocols.base import Phrase


def in_english(phrases: Iterable[Phrase]) -> str:
    return " ".join(message % values for message, values in phrases)
