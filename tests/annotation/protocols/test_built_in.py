"""The built-in protocols that are files, by literals: what each asks of an item, and what its answers mean."""

from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.measures.papers.rank import is_right, ranks
from annotation.protocols.base import Answer, InvalidAnswer, TaskSpec, UnsuitableItem
from annotation.protocols.registry import PROTOCOLS
from tests.annotation.protocols.items import BOTH, item
from tests.annotation.protocols.phrases import in_english

CHOOSE, DISAMBIGUATE, I2T, T2I, VERIFY = "bivlc-choose", "bivlc-disambiguate", "bivlc-i2t", "bivlc-t2i", "verify"
RANK, COMPARE = "hard-positive-rank", "sugarcrepe-compare"
MEASURED = (I2T, T2I, RANK, COMPARE)

FOUR = tuple(f"candidate-{n}" for n in range(4))
CHOSEN = {"negative": "candidate-3"}
ORIGINAL_AND_CHOSEN = ("positive-0", "candidate-3")
POSITIVE, NEGATIVE = "caption-positive-0", "caption-negative-0"
PAIR = TaskSpec(("positive-0", POSITIVE), (), "positive")
ROLES = ("positive", "second_positive", "negative")
RANKED = tuple(f"caption-{role}-0" for role in ROLES)
TWO = ("positive", "negative", "negative")
COMPARED = (NEGATIVE, "caption-negative-1")
LATER = item(images=["positive", *["candidate"] * 5], rounds=[1, 1, 1, 1, 2, 2])

TASKS = [
    (CHOOSE, item(), {}, [TaskSpec((NEGATIVE,), FOUR)]),
    (CHOOSE, LATER, {}, [TaskSpec((NEGATIVE,), ("candidate-3", "candidate-4"))]),  # of several rounds the last
    (DISAMBIGUATE, item(), CHOSEN, [TaskSpec((POSITIVE,), ORIGINAL_AND_CHOSEN)]),
    (DISAMBIGUATE, item(images=BOTH), {}, [TaskSpec((POSITIVE,), ("positive-0", "negative-0"))]),
    (DISAMBIGUATE, item(images=BOTH), CHOSEN, [TaskSpec((POSITIVE,), ORIGINAL_AND_CHOSEN)]),  # not its own
    (I2T, item(), CHOSEN, [
        TaskSpec(("positive-0",), (POSITIVE, NEGATIVE), "positive"),
        TaskSpec(("candidate-3",), (POSITIVE, NEGATIVE), "negative"),
    ]),
    (I2T, item(images=BOTH), {}, [
        TaskSpec(("positive-0",), (POSITIVE, NEGATIVE), "positive"),
        TaskSpec(("negative-0",), (POSITIVE, NEGATIVE), "negative"),
    ]),
    (T2I, item(), CHOSEN, [
        TaskSpec((POSITIVE,), ORIGINAL_AND_CHOSEN, "positive"), TaskSpec((NEGATIVE,), ORIGINAL_AND_CHOSEN, "negative"),
    ]),
    (T2I, item(images=BOTH), {}, [
        TaskSpec((POSITIVE,), ("positive-0", "negative-0"), "positive"),
        TaskSpec((NEGATIVE,), ("positive-0", "negative-0"), "negative"),
    ]),
    (VERIFY, item(captions=["positive"], images=["positive"]), {}, [PAIR]),
    (VERIFY, item(images=BOTH), {}, [PAIR, TaskSpec(("negative-0", NEGATIVE), (), "negative")]),
    (VERIFY, item(images=["positive"]), CHOSEN, [PAIR, TaskSpec(("candidate-3", NEGATIVE), (), "negative")]),
    (VERIFY, item(captions=["positive"], images=BOTH), {}, [PAIR]),
    (VERIFY, item(), {}, [PAIR]),  # nobody chose a candidate
    (RANK, item(captions=ROLES, images=["positive"]), {}, [TaskSpec(("positive-0",), RANKED)]),
    (COMPARE, item(captions=TWO, images=[]), {}, [TaskSpec((POSITIVE,), COMPARED)]),
    (COMPARE, item(captions=TWO, images=["positive"]), {}, [TaskSpec((POSITIVE,), COMPARED)]),
]  # fmt: skip
LACKING = [
    (CHOOSE, item(images=["positive", "candidate"]), "has 1 candidate image;"),
    (CHOOSE, item(images=["candidate"] * 10), "has 10 candidate images"),
    (CHOOSE, item(captions=["positive"]), "has no hard negative"),
    (DISAMBIGUATE, item(captions=["negative"], images=BOTH), "has no caption"),
    (DISAMBIGUATE, item(images=["negative"]), "has no positive image"),
    (DISAMBIGUATE, item(), "has no negative image, and no earlier stage has chosen one"),
    *((name, made, words) for name in (I2T, T2I) for made, words in (
        (item(captions=["positive"], images=BOTH), "has no hard negative"),
        (item(captions=["negative"], images=BOTH), "has no caption"),
        (item(images=["negative"]), "has no positive image"),
        (item(), "has no negative image"),
    )),
    (VERIFY, item(images=["negative"]), "has no positive image"),
    (VERIFY, item(captions=["negative"]), "has no caption"),
    (RANK, item(captions=["positive", "negative"]), "has no second positive"),
    (RANK, item(captions=["positive", "second_positive"]), "has no hard negative"),
    (RANK, item(captions=["second_positive", "negative"]), "has no caption"),
    (RANK, item(captions=ROLES, images=["negative"]), "has no positive image"),
    (COMPARE, item(captions=["negative", "negative"]), "has no caption"),
    (COMPARE, item(captions=["positive"]), "has no hard negatives; sugarcrepe-compare needs 2"),
    (COMPARE, item(captions=["positive", "negative"]), "has 1 hard negative;"),
    (COMPARE, item(captions=["positive", *["negative"] * 3]), "has 3 hard negatives"),
]  # fmt: skip
REASONS = {
    CHOOSE: {"none": "no_image_fits", "cannot_judge": "cannot_judge", "candidate-3": ""},
    DISAMBIGUATE: {
        "positive-0": "", "candidate-2": "ambiguous_generated", "negative-0": "ambiguous_generated",
        "both": "ambiguous_both", "cannot_judge": "cannot_judge",
    },
    VERIFY: {"yes": "", "no": "does_not_hold", "cannot_tell": "cannot_tell", "cannot_judge": "cannot_judge"},
    **{name: dict.fromkeys((POSITIVE, NEGATIVE, "positive-0", "cannot_judge"), "") for name in MEASURED},
}  # fmt: skip
VIEWS = [
    (CHOOSE, "any or none", {"candidate-0": "any", "candidate-3": "any", "none": "none"}),
    (DISAMBIGUATE, "original or not", {"positive-0": "original", "candidate-2": "not", "both": "not"}),
    (VERIFY, "holds or not", {"yes": "holds", "no": "not", "cannot_tell": "not"}),
    (COMPARE, "sense", {"negative-1/tie": "negative-1"}),
    (COMPARE, "fluency", {"negative-1/tie": "tie"}),
]
RIGHT = {"positive=second_positive>negative", "positive>second_positive>negative", "second_positive>positive>negative"}
WRONG = {
    "positive=second_positive=negative", "positive=negative>second_positive", "second_positive=negative>positive",
    "positive>second_positive=negative", "second_positive>positive=negative", "negative>positive=second_positive",
    "positive>negative>second_positive", "second_positive>negative>positive", "negative>positive>second_positive",
    "negative>second_positive>positive",
}  # fmt: skip


@pytest.mark.parametrize(("name", "made", "carried", "tasks"), TASKS)
def test_what_is_asked_of_an_item(name, made, carried, tasks):
    assert PROTOCOLS[name].tasks(made, carried) == tasks


@pytest.mark.parametrize(("name", "made", "words"), LACKING)
def test_an_item_that_lacks_something_is_named_with_what_it_lacks(name, made, words):
    with pytest.raises(UnsuitableItem, match=f"item 7 {words}"):
        PROTOCOLS[name].tasks(made, {})


def test_a_second_positive_that_an_earlier_stage_wrote_is_enough():
    made = item(captions=["positive", "negative"])
    assert PROTOCOLS[RANK].tasks_for(made, {"caption-second_positive": "A hound."})[0].options == RANKED


@pytest.mark.parametrize(("name", "reasons"), REASONS.items())
def test_which_answers_drop_an_item(name, reasons):
    assert {answer: PROTOCOLS[name].reason(answer) for answer in reasons} == reasons
    assert PROTOCOLS[name].measures is (name in MEASURED)


@pytest.mark.parametrize(("name", "view", "seen"), VIEWS)
def test_what_agreement_is_looked_at_on(name, view, seen):
    project = PROTOCOLS[name].projections[view]
    assert {answer: project(answer) for answer in seen} == seen and project("cannot_judge") == "cannot_judge"


@pytest.mark.parametrize(
    ("name", "options", "rights"),
    [
        (I2T, (POSITIVE, NEGATIVE), {"positive": POSITIVE, "negative": NEGATIVE}),
        (I2T, (NEGATIVE, POSITIVE), {"positive": POSITIVE, "negative": NEGATIVE}),
        (T2I, ORIGINAL_AND_CHOSEN, {"positive": "positive-0", "negative": "candidate-3"}),
        (T2I, ("negative-0", "positive-0"), {"positive": "positive-0", "negative": "negative-0"}),
    ],
)
def test_the_caption_of_the_image_and_the_image_of_the_caption_are_right(name, options, rights):
    assert {asked: PROTOCOLS[name].right_answer(asked, options) for asked in rights} == rights


def test_who_knows_the_answer_from_another_stage_is_not_asked():
    leaks = {name: PROTOCOLS[name].leaks for name in (DISAMBIGUATE, I2T, T2I, RANK)}
    assert leaks == {
        DISAMBIGUATE: {CHOOSE},
        I2T: {CHOOSE, DISAMBIGUATE},
        T2I: {CHOOSE, DISAMBIGUATE},
        RANK: {CHOOSE, DISAMBIGUATE, "visla-paraphrase", "visla-triplet"},
    }


# The two forms

ANSWERS = ("negative-0", "negative-1", "tie")
LABELS = {RANK: RIGHT | WRONG, COMPARE: {f"{sense}/{fluency}" for sense in ANSWERS for fluency in ANSWERS}}
OPTIONS = {RANK: RANKED, COMPARE: COMPARED}
FIELDS = {RANK: ("step-1", "step-2", "step-3"), COMPARE: ("sense", "fluency")}
VALUES = {RANK: ("1", "2", "3"), COMPARE: ("1", "2", "tie")}
forms = pytest.mark.parametrize("name", [RANK, COMPARE])


def label(name, *values, shown=()) -> str:
    sent = dict(zip(FIELDS[name], values, strict=True))
    return PROTOCOLS[name].form.parse(sent, shown or OPTIONS[name], dict.fromkeys(OPTIONS[name], "A dog.")).label


@forms
def test_what_can_be_sent_are_the_labels_and_each_comes_back_whatever_the_order_drawn(name):
    """The 27 ways to fill three steps are 13 orders: an empty step changes nothing."""
    form = PROTOCOLS[name].form
    for shown in permutations(OPTIONS[name]):
        sent = list(product(VALUES[name], repeat=len(FIELDS[name])))
        assert {label(name, *values, shown=shown) for values in sent} == LABELS[name]
        for known in LABELS[name]:
            fields = form.fill(Answer(known), shown)
            assert set(fields) == set(FIELDS[name]) and label(name, *fields.values(), shown=shown) == known
    assert max(map(len, LABELS[name])) <= 40


@pytest.mark.parametrize(
    ("name", "values", "shown", "found"),
    [
        (RANK, ("3", "1", "1"), (RANKED[2], *RANKED[:2]), "positive=second_positive>negative"),
        (RANK, ("1", "2", "3"), (RANKED[2], *RANKED[:2]), "negative>positive>second_positive"),
        (RANK, ("2", "2", "3"), RANKED, "positive=second_positive>negative"),
        (COMPARE, ("2", "tie"), COMPARED, "negative-1/tie"),
        (COMPARE, ("2", "tie"), COMPARED[::-1], "negative-0/tie"),
        (COMPARE, ("tie", "1"), COMPARED[::-1], "tie/negative-1"),
    ],
)
def test_places_are_read_in_the_order_shown(name, values, shown, found):
    assert label(name, *values, shown=shown) == found


junk = st.sampled_from(["1", "2", "3", "tie", "", "0", "4", "²", "1 ", "01", "Tie", "negative-0"]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=4
)


@forms
@given(data=st.data())
def test_anything_else_is_no_answer(name, data):
    sent = data.draw(st.dictionaries(st.sampled_from([*FIELDS[name], "step-4", "answer"]), junk))
    form, texts = PROTOCOLS[name].form, dict.fromkeys(OPTIONS[name], "A dog.")
    if all(sent.get(field) in VALUES[name] for field in FIELDS[name]):
        assert form.parse(sent, OPTIONS[name], texts).label in LABELS[name]
        return
    with pytest.raises(InvalidAnswer):
        form.parse(sent, OPTIONS[name], texts)


def test_what_is_made_up_of_a_comparison_does_not_hang_on_the_order_drawn():
    form, texts = PROTOCOLS[COMPARE].form, dict.fromkeys(COMPARED, "A dog.")
    for seed in range(50):
        said = {
            form.parse(form.simulate(Random(seed), shown, texts), shown, texts).label
            for shown in permutations(COMPARED)
        }
        assert len(said) == 1 and said <= LABELS[COMPARE]


def test_simulated_annotators_rank_mostly_right_and_tie_often():
    rng, form, texts = Random(1), PROTOCOLS[RANK].form, dict.fromkeys(RANKED, "A dog.")
    labels = [form.parse(form.simulate(rng, RANKED, texts), RANKED, texts).label for _ in range(2000)]
    assert 0.85 < sum(map(is_right, labels)) / 2000 < 0.95
    assert 0.25 < labels.count("positive=second_positive>negative") / 2000 < 0.4


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        (RANK, "positive=second_positive>negative", "positive and second positive, then negative"),
        (COMPARE, "negative-1/tie", "sense: negative 2; fluency: Tie"),
        (COMPARE, "cannot_judge", "cannot judge"),
    ],
)
def test_managers_read_what_was_said(name, answer, words):
    assert PROTOCOLS[name].form.describe(Answer(answer)) == words


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        (RANK, ("1", "2", "1"), "Your order: “A dog.” = “A cat.” > “A hound.”"),
        (COMPARE, ("2", "tie"), "Which makes more sense? “A hound.” Which is more fluent? Tie"),
    ],
)
def test_annotators_read_their_answer_by_the_sentences_they_saw(name, values, words):
    texts = ["A dog.", "A hound.", "A cat."][: len(OPTIONS[name])]
    fields = dict(zip(FIELDS[name], values, strict=True))
    assert in_english(PROTOCOLS[name].form.describe_fields(fields, texts, OPTIONS[name])) == words


# Ranks


@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        ("positive=second_positive>negative", (1, 1, 2)),
        ("negative>positive=second_positive", (2, 2, 1)),
        ("positive=second_positive=negative", (1, 1, 1)),
        ("second_positive>negative>positive", (3, 1, 2)),
    ],
)
def test_those_that_tie_have_the_same_rank(order, wanted):
    assert ranks(order) == dict(zip(ROLES, wanted, strict=True))


@pytest.mark.parametrize("order", ["cannot_judge", "", "positive>negative", "positive>second_positive>other"])
def test_what_is_no_order_has_no_ranks_and_is_not_right(order):
    assert ranks(order) == {} and not is_right(order)


def test_it_is_right_when_both_positives_stand_above_the_negative():
    project = PROTOCOLS[RANK].projections["both above the negative"]
    assert {order for order in RIGHT | WRONG if is_right(order)} == RIGHT
    assert {project(order) for order in RIGHT} == {"right"} and {project(order) for order in WRONG} == {"wrong"}
    assert project("cannot_judge") == "cannot_judge"
