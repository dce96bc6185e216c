"""BiVLC's step 1 on sentences, and on the real captions."""

import csv
import re

import pytest

from benchmarks.construction.captions import (
    Evidence,
    format_caption,
    format_groups,
    format_records,
    gather_evidence,
    without_form,
    written_forms,
)
from benchmarks.records import CaptionRecord, ItemRecord


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a man on a surfboard ", "A man on a surfboard."),
        ("THERE IS A LIVING ROOM WITH A TABLE AND TV ", "There is a living room with a table and tv."),
        ("A view of New York and the Eiffel tower", "A view of New York and the Eiffel tower."),
        ("A Big Slice Of Pizza With A TV Behind It.", "A big slice of pizza with a TV behind it."),
        ("a DJ and I watch TV", "A DJ and I watch TV."),
        ("an  old\tman,\nsitting,", "An old man, sitting."),
        ("Is this a cow?", "Is this a cow?"),
        ('A sign that says "stop."', 'A sign that says "stop."'),
        ('a sign that says "Fish"', 'A sign that says "Fish".'),
        ("iPad on a desk", "iPad on a desk."),
        ("2 women with a cake", "2 women with a cake."),
        ('"hello" on a wall', '"Hello" on a wall.'),
        ("A man. Another man", "A man. Another man."),
        ("éclair on a plate", "Éclair on a plate."),
        ("ﬁreworks at night", "Fireworks at night."),  # one letter, in capitals two
        ("컵 두 개", "컵 두 개."),
        ("A man.. ", "A man."),
        ("A man .", "A man."),
        ("A man...", "A man."),
        ("homes?.", "Homes?"),
        ("Look out!!", "Look out!"),
        ('A sign that says "stop.".', 'A sign that says "stop."'),
        ('A sign that says "stop" .', 'A sign that says "stop".'),
        ("a cat ,a dog,and 1,000 birds", "A cat, a dog, and 1,000 birds."),
        ("我。", "我。"),
        ("...", "..."),
        ("", ""),
        ("  ", ""),
    ],
)
def test_one_caption(given, expected):
    assert format_caption(given) == expected
    assert format_caption(expected) == expected


def test_words_that_the_set_writes_small_are_lowered():
    common = ["A red frisbee by a big house."] * 8
    given = ["A man with a Frisbee.", "A view of Big Ben", "A THREE red ball", *common]
    assert flat(given)[:3] == ["A man with a frisbee.", "A view of Big Ben.", "A THREE red ball."]


def flat(texts) -> list[str]:
    """Each caption as an item of its own."""
    return [text for (text,) in format_groups([text] for text in texts)]


COMMON = ["A big pizza in a new pan."] * 8  # `pizza`, `big` and `new` are small as a rule


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("a sofa and a tv", "a dog and a TV"), ("A sofa and a TV.", "A dog and a TV.")),
        (("the plains of africa", "A zoo in Africa."), ("The plains of Africa.", "A zoo in Africa.")),
        (("plates of Pizza", "plates of Vegan Pizza"), ("Plates of pizza.", "Plates of Vegan pizza.")),
        (("TV on a wall", "a wall with a tv", "tv on a wall"), ("TV on a wall.", "A wall with a TV.", "TV on a wall.")),
        (("THERE IS A TV", "There is a huge TV."), ("There is a TV.", "There is a huge TV.")),
        (("a tv and a TV", "one TV", "one tv"), ("A TV and a TV.", "One TV.", "One TV.")),
        (("A man. tv on", "the TV"), ("A man. tv on.", "The TV.")),
        # Words that are two things in English: `new` and `New York` stand together in the first caption
        (("a new car in New York", "a man in New York"), ("A new car in New York.", "A man in New York.")),
        (("Africa is hot", "a hot desert"), ("Africa is hot.", "A hot desert.")),
        (("an iPad", "an ipad"), ("An iPad.", "An iPad.")),
        (("", "a cat"), ("", "A cat.")),
    ],
)
def test_captions_of_an_item_write_a_word_alike(given, expected):
    made = format_groups([given, COMMON])
    assert tuple(made[0]) == expected
    assert format_groups(made) == made


def test_evidence_counts_mid_sentence_words_alone():
    found = gather_evidence(
        ["Paris is a city. Paris is old.", "I saw Paris's tower", "THE PARIS HILL", "the paris of the north"]
    )
    assert (found.capital["paris"], found.lower["paris"]) == (1, 1)
    assert not found.ordinary("Paris") and Evidence().ordinary("Paris") is False


def test_records_keep_everything_else():
    question = CaptionRecord("question", "is it  a cat", {"parents": [1]})  # a role of the user's own
    captions = (CaptionRecord("positive", "a cat"), question, CaptionRecord("negative", "a dog"))
    made = format_records([ItemRecord("1", "swap", "att", captions, (), meta={"x": 1})])
    assert made[0].captions == (CaptionRecord("positive", "A cat."), question, CaptionRecord("negative", "A dog."))
    assert (made[0].key, made[0].meta) == ("1", {"x": 1})


def letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


@pytest.fixture(scope="session")
def captions(real) -> list[str]:
    """The 15,024 captions of the real table, positive and negative in turn."""
    return [row[name] for row in rows(real, "BiVLC_negative_imgs.csv") for name in ("caption", "negative_caption")]


@pytest.fixture(scope="session")
def pairs(captions) -> list[list[str]]:
    """The 7,512 pairs, formatted."""
    return format_groups(zip(captions[::2], captions[1::2], strict=True))


@pytest.fixture(scope="session")
def released(real, captions) -> list[tuple[str, str]]:
    """(caption in the table, the authors' formatted one) of the 2,933 released items."""
    given = {letters(caption): caption for caption in captions}
    texts = [row[name] for row in rows(real, "results_ViT-B-32.csv") for name in ("caption", "negative_caption")]
    return [(given[letters(text)], text) for text in texts]


def rows(real, name: str) -> list[dict]:
    with (real / "data/bivlc" / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.real
@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_real_captions_change_little_and_only_once(captions, pairs, every):
    assert format_groups(pairs[::every]) == pairs[::every]
    made = [text for pair in pairs for text in pair]
    assert sum(one != other for one, other in zip(captions, made, strict=True)) == 1695
    assert all(without_form(one) == without_form(other) for one, other in zip(captions, made, strict=True))


@pytest.mark.real
def test_no_real_pair_is_told_apart_by_case_or_end(pairs):
    """Before captions of an item were formatted together, 49 pairs were, and always on the positive's side."""
    for pair in pairs:
        first, second = map(written_forms, pair)
        assert all(first[word].keys() == second[word].keys() for word in first.keys() & second.keys()), pair
        assert all(re.search(r"\w(\"\.|[.?]|\.\")$", text) and not re.search(r"\s[,.;:!?]", text) for text in pair)


def format_as_released(text: str) -> str:
    """The rule of BiVLC's released captions: names lose their capitals, any other end gets a full stop."""
    text = text.strip().capitalize()
    return text if not text or text.endswith(".") else f"{text}."


@pytest.mark.real
def test_the_released_captions_are_met_to_the_letter_by_their_own_rule(released):
    assert len(released) == 5866
    assert [text for given, text in released if format_as_released(given) != text] == []


@pytest.mark.real
def test_the_papers_rule_differs_from_the_release_by_names_alone(captions, pairs, released):
    made = dict(zip(captions, (text for pair in pairs for text in pair), strict=True))
    different = [(made[given], text) for given, text in released if made[given] != text]
    assert 1 - len(different) / len(released) >= 0.957
    plain = [(ours, theirs) for ours, theirs in different if format_as_released(ours) != " ".join(theirs.split())]
    assert all(re.search(r"[,?. ][.\"]*\.$", theirs) for _, theirs in plain)  # "bay,.", "hoses.." and "together ."
