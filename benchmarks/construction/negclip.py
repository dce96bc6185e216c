"""NegCLIP's negative captions (ARO §4, App. C.1): two elements of one sort are swapped. Pure.

Elements are found in the tags of words: a verb phrase is a run of verbs (`is eating`), a noun phrase a run of
determiners and numbers, adjectives with their adverbs, and nouns. The paper parses with spaCy, without details.
"""

import re
from itertools import combinations
from random import Random

from benchmarks.construction.batch import Dropped
from benchmarks.construction.order import Words, words_of
from benchmarks.construction.tagging import ADJECTIVE, ADVERB, DETERMINER, NOUN, VERB, Tags

Span = tuple[int, int]  # positions of an element's words: start and end, exclusive
LETTERS = {NOUN: "n", ADJECTIVE: "a", ADVERB: "r", VERB: "v", DETERMINER: "d"}
SORTS = {"nouns": "n", "adjectives": "a", "adverbs": "r", "verb phrases": "v+", "noun phrases": "d*(?:r*a)*n+"}
SHORTEST = 3  # words in a noun phrase, so that it does not overlap with swapped nouns


def negatives(caption: str, tags: Tags, seed: int) -> tuple[str, dict[str, str]]:
    """Return the normalised caption, and up to five negatives by the sort of element swapped, each drawn by the seed.

    Raises Dropped if nothing can be swapped: ARO removes such captions.
    """
    words = words_of(caption)
    letters = "".join(LETTERS.get(tag, "-") for tag in tags(words))
    text, made = " ".join(words), dict[str, str]()
    for sort, pattern in SORTS.items():
        spans = [found.span() for found in re.finditer(pattern, letters)]
        if sort == "noun phrases":
            spans = [(start, end) for start, end in spans if end - start >= SHORTEST]
        pairs = list(combinations(spans, 2))
        Random(f"{seed}/{sort}/{text}").shuffle(pairs)
        others = {text, *made.values()}
        new = next((one for one in (swapped(words, *pair) for pair in pairs) if one not in others), None)
        made |= {sort: new} if new else {}
    if not made:
        raise Dropped("no two elements can be swapped")
    return text, made


def swapped(words: Words, one: Span, other: Span) -> str:
    """Swap two elements of the words, of which `one` comes first."""
    (start, end), (later, last) = one, other
    return " ".join([*words[:start], *words[later:last], *words[end:later], *words[start:end], *words[last:]])
