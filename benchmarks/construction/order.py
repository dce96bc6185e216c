"""ARO's order perturbations (§2.2, Table 1): a caption's words in four wrong orders, and in random order (§3.1). Pure.

Captions are first normalised to lower-case words without punctuation around them: otherwise a capital or full stop in
mid-sentence would reveal a shuffled caption. Punctuation inside a word (`t-shirt`, `man's`, `7:30`) stays. The same
seed and words give the same order, whatever else is perturbed.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import combinations
from random import Random

from benchmarks.construction.batch import Dropped
from benchmarks.construction.tagging import ADJECTIVE, NOUN, Tags

Words = Sequence[str]
Chunks = list[list[str]]
SIZE = 3  # words of a trigram
DRAWS = 100


def words_of(caption: str) -> list[str]:
    """Return the words in lower case, without punctuation around them; punctuation by itself is not a word."""
    stripped = (word.strip(edges(word)) for word in caption.lower().split())
    return [word for word in stripped if word]


def edges(word: str) -> str:
    """Strip characters other than letters and digits from the ends of the word."""
    return "".join({character for character in word if not character.isalnum()})


def shuffle_nouns_adjectives(words: Words, tags: Words, rng: Random) -> list[str]:
    """Permute nouns among nouns, and adjectives among adjectives, as in the example in ARO's Table 1."""
    groups = ([place for place, tag in enumerate(tags) if tag == kind] for kind in (NOUN, ADJECTIVE))
    return at_places(words, list(groups), rng)


def shuffle_others(words: Words, tags: Words, rng: Random) -> list[str]:
    """Permute everything except nouns and adjectives (ARO Table 1)."""
    return at_places(words, [[place for place, tag in enumerate(tags) if tag not in (NOUN, ADJECTIVE)]], rng)


def shuffle_trigrams(words: Words, tags: Words, rng: Random) -> list[str]:
    """Permute groups of three words, keeping each group whole (ARO Table 1).

    If words are left over, the shorter group's position is random: in the paper's example it is the third.
    """
    splits = [chunks for chunks in all_splits(words) if movable(chunks)]
    if not splits:
        raise Dropped("nothing would change")
    chunks = rng.choice(splits)
    return until_changed(list(words), lambda: joined(rng.sample(chunks, len(chunks))))


def shuffle_within_trigrams(words: Words, tags: Words, rng: Random) -> list[str]:
    """Permute the words within each group of three, counted from the left (ARO Table 1)."""
    places = range(len(words))
    return at_places(words, [list(places[start : start + SIZE]) for start in places[::SIZE]], rng)


def shuffle_all(words: Words, tags: Words, rng: Random) -> list[str]:
    """Permute all words (ARO §3.1)."""
    return at_places(words, [list(range(len(words)))], rng)


SHUFFLES: dict[str, Callable[[Words, Words, Random], list[str]]] = {  # in the order of ARO's Table 3
    "nouns and adjectives": shuffle_nouns_adjectives,
    "all words": shuffle_all,
    "all but nouns and adjectives": shuffle_others,
    "trigrams": shuffle_trigrams,
    "within trigrams": shuffle_within_trigrams,
}
PERTURBATIONS = {name: shuffle for name, shuffle in SHUFFLES.items() if name != "all words"}  # those of Table 1


def shuffled(name: str, words: Words, tags: Words, seed: int) -> str:
    """Reorder the words by the shuffle of that name, differently from the original if possible."""
    text = " ".join(words)
    try:
        return " ".join(SHUFFLES[name](words, tags, Random(f"{seed}/{name}/{text}")))
    except Dropped:
        return text


def perturbed(caption: str, tags: Tags, seed: int) -> tuple[str, dict[str, str]]:
    """Return the normalised caption, and its four wrong orders by name (ARO §2.2, Table 1).

    Each is drawn from the orders that differ from the caption, and redrawn if it equals an earlier one. Raises Dropped,
    with the perturbation's name, if there is none: chance is one in five only if there are all four.
    """
    words = words_of(caption)
    told = list(tags(words))
    if len(told) != len(words):
        raise ValueError(f"The tagger gave {len(told)} tags for {len(words)} words.")
    text = " ".join(words)
    made: dict[str, str] = {}
    for name in PERTURBATIONS:
        made[name] = unlike(made.values(), name, words, told, f"{seed}/{name}/{text}")
    return text, made


def unlike(others: Collection[str], name: str, words: Words, tags: Words, seed: str) -> str:
    """Return the first of DRAWS by this seed that differs from the others. Raises Dropped if none does."""
    for draw in range(DRAWS):
        found = " ".join(one(name, words, tags, Random(f"{seed}/{draw}" if draw else seed)))
        if found not in others:
            return found
    raise Dropped(f"{name}: identical to another order")


def one(name: str, words: Words, tags: Words, rng: Random) -> list[str]:
    """Apply the perturbation of that name, and add its name to any reason for dropping the caption."""
    try:
        return PERTURBATIONS[name](words, tags, rng)
    except Dropped as dropped:
        raise Dropped(f"{name}: {dropped.reason}") from dropped


def at_places(words: Words, groups: list[list[int]], rng: Random) -> list[str]:
    """Reorder the words within each group of positions only. Raises Dropped if none can move."""
    if all(len({words[place] for place in group}) < 2 for group in groups):
        raise Dropped("nothing would change")

    def drawn() -> list[str]:
        made = list(words)
        for group in groups:
            for place, source in zip(group, rng.sample(group, len(group)), strict=True):
                made[place] = words[source]
        return made

    return until_changed(list(words), drawn)


def until_changed(words: list[str], draw: Callable[[], list[str]]) -> list[str]:
    """Draw until the order changes; if any order differs, at least every second does, so this ends."""
    while (made := draw()) == words:
        pass
    return made


def all_splits(words: Words) -> list[Chunks]:
    """Split the words into groups of three, with a shorter group in every possible position."""
    rest = len(words) % SIZE
    if not rest:
        return [cut(words, [SIZE] * (len(words) // SIZE))]
    full = len(words) // SIZE
    return [cut(words, [SIZE] * place + [rest] + [SIZE] * (full - place)) for place in range(full + 1)]


def movable(chunks: Chunks) -> bool:
    """Return whether some order of the chunks differs; not if any two chunks are interchangeable."""
    return any(one + other != other + one for one, other in combinations(chunks, 2))


def cut(words: Words, sizes: list[int]) -> Chunks:
    rest = iter(words)
    return [[next(rest) for _ in range(size)] for size in sizes]


def joined(chunks: Chunks) -> list[str]:
    return [word for chunk in chunks for word in chunk]
