"""Tag the words of captions with spaCy's small English model or HanTa. Pure.

ARO (§2.2) tags with spaCy. Its model is not on a package index, so it is used only if installed (`python -m spacy
download en_core_web_sm`); otherwise HanTa's English model is used, which is part of its wheel.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

NOUN, ADJECTIVE, ADVERB, VERB, DETERMINER, OTHER = "noun", "adjective", "adverb", "verb", "determiner", "other"
PENN = {"NN": NOUN, "JJ": ADJECTIVE, "RB": ADVERB, "VB": VERB, "MD": VERB} | dict.fromkeys(
    ("DT", "PDT", "PRP$", "CD"), DETERMINER
)
CLAWS = {"N": NOUN, "UNC": NOUN, "AJ": ADJECTIVE, "AV0": ADVERB, "V": VERB} | dict.fromkeys(
    ("AT0", "DT0", "DPS", "CRD", "ORD"), DETERMINER
)
Tags = Callable[[Sequence[str]], Sequence[str]]  # words of a sentence → one of these tags for each
SPACY_MODEL = "en_core_web_sm"
HANTA_MODEL = "morphmodel_en.pgz"
LONGEST = 40  # letters of a word passed to HanTa, whose time grows with their square


@dataclass(frozen=True, slots=True)
class Tagger:
    """`name`, with the version, is recorded in reports, because perturbations depend on the tagger."""

    name: str
    tags: Tags


@cache
def tagger() -> Tagger:
    """Return the installed tagger: spaCy with its model, otherwise HanTa. Loading takes up to a second."""
    if find_spec("spacy") and find_spec(SPACY_MODEL):
        import spacy

        model = spacy.load(SPACY_MODEL)
        return Tagger(f"spaCy {spacy.__version__}, {SPACY_MODEL} {model.meta['version']}", by_spacy(model))
    return Tagger(f"HanTa {version('HanTa')}", by_hanta())


def by_spacy(model: Any) -> Tags:
    """Return tags from a loaded spaCy pipeline, given words as split in this module, so that each gets one tag."""
    from spacy.tokens import Doc

    return lambda words: [penn(token.tag_) for token in model(Doc(model.vocab, words=list(words)))]


def by_hanta() -> Tags:
    from HanTa.HanoverTagger import HanoverTagger

    model = HanoverTagger(HANTA_MODEL)
    return lambda words: [claws(tag) for tag in model.tag_sent([word[:LONGEST] for word in words], taglevel=0)]


def penn(tag: str) -> str:
    """Map a tag of the Penn Treebank: NN NNS NNP NNPS, JJ JJR JJS …; numbers are determiners."""
    return _sort(tag, PENN)


def claws(tag: str) -> str:
    """Map a CLAWS 5 tag, as in the British National Corpus. UNC, an unknown word, counts as a noun."""
    return _sort(tag, CLAWS)


def _sort(tag: str, sorts: Mapping[str, str]) -> str:
    return next((sort for beginning, sort in sorts.items() if tag.startswith(beginning)), OTHER)
