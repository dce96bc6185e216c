"""What the papers report of text protocols, from literal rows; published tables from answers that come to them."""

import itertools

import pytest

from annotation.measures.papers import compare, edits, rank
from annotation.measures.papers.base import CountedJudgment, JudgedTask
from annotation.measures.papers.compare import QUESTIONS
from annotation.measures.papers.rank import ROLES
from annotation.protocols import visla_paraphrase, visla_triplet
from annotation.protocols.base import Answer
from annotation.protocols.decision_rule import Rule
from annotation.protocols.rankings import weak_orders
from benchmarks.metrics import hard_positive

CAPTION, SECOND, NEGATIVE = "caption-positive-0", "caption-second_positive-0", "caption-negative-0"
FIRST, OTHER = "caption-candidate-0", "caption-candidate-1"
TEXTS = {
    CAPTION: "A cat sits on a red mat.",
    NEGATIVE: "A cat sits under a red mat.",
    FIRST: "On a red mat sits a cat.",
    OTHER: "A cat is seated on a red rug.",
}
PARAPHRASE = Rule(visla_paraphrase.PROTOCOL, 1, "drop")
TRIPLET = Rule(visla_triplet.PROTOCOL, 1, "drop")


# VISLA: accepted, edited, rejected, and who


def took(option: str, words: str = "") -> Answer:
    return Answer(option, {"texts": {"second_positive": words or TEXTS[option]}, "from": {"second_positive": option}})


def edited(words: str, of: str = FIRST) -> Answer:
    return Answer("edited", {"texts": {"second_positive": words}, "from": {"second_positive": of}})


def rejected(*codes: str) -> Answer:
    return Answer("reject", {"guidelines": dict.fromkeys(codes, False), "reason": ""})


def asked(*answers: Answer, rule: Rule = PARAPHRASE, **fields) -> JudgedTask:
    """A task whose outcome is what the rule makes of the answers, given by annotators 1, 2, 3 …"""
    said = [CountedJudgment(number, answer) for number, answer in enumerate(answers, 1)]
    came = rule.settle(answers) if answers else None
    decided = {} if came is None or came.state == "open" else {
        "state": came.state, "outcome": came.outcome, "reason": came.reason, "by": came.by, "content": came.content,
    }  # fmt: skip
    return JudgedTask("", "", 1, said, texts=TEXTS, **{**decided, **fields})


MENDED = "On the red mat sits a cat."
FATES = {
    "accepted": asked(took(FIRST)),
    "confirmed": asked(edited(MENDED), took("edit-7", MENDED)),
    "edited": asked(
        edited(MENDED), state="kept", outcome="edited", by="adjudicator", content={"texts": {"second_positive": MENDED}}
    ),
    "dropped": asked(rejected("same", "fluent")),
    "to_confirm": asked(edited(MENDED)),
    "to_adjudicate": asked(edited(MENDED), edited("A mat."), took(OTHER)),
    "open": asked(),
}


@pytest.mark.parametrize("name", FATES)
def test_what_became_of_an_item(name):
    assert edits.fates([FATES[name]], PARAPHRASE) == {**dict.fromkeys(edits.FATES, 0), name: 1}


NEXT = {
    "confirmed": asked(edited(MENDED), took("edit-7", MENDED)),
    "edited_again": asked(edited(MENDED), edited("The cat sits on a mat.", of="edit-7")),
    "rejected": asked(edited(MENDED), rejected("same")),
    "otherwise": asked(edited(MENDED), took(OTHER)),
    "waiting": asked(edited(MENDED)),
}


@pytest.mark.parametrize("name", NEXT)
def test_what_the_next_annotator_said_of_an_edit(name):
    first = edits.annotators([NEXT[name]], PARAPHRASE.protocol)[0]
    assert first["edited"] == 1
    assert first["of_edits"] == {**dict.fromkeys(edits.RESPONSES, 0), name: 1}


def test_who_did_what():
    rows = edits.annotators(list(NEXT.values()), PARAPHRASE.protocol)
    assert [row["annotator"] for row in rows] == ["A-01", "A-02"]
    second = {name: rows[1][name] for name in edits.JUDGMENT_KINDS}
    assert second == {"accepted": 1, "edited": 1, "rejected": 1, "confirms": 1, "cannot_judge": 0}
    assert sum(rows[1]["of_edits"].values()) == 1


def test_which_guidelines_were_broken():
    taken_back = asked(rejected("same"), state="kept", outcome=FIRST, by="adjudicator")
    found = edits.broken_guidelines(
        [asked(rejected("same", "fluent")), taken_back, asked(took(FIRST))], PARAPHRASE.protocol
    )
    assert {row["code"]: (row["judgments"], row["dropped"]) for row in found if row["judgments"]} == {
        "same": (2, 1),
        "fluent": (1, 1),
    }
    assert [row["code"] for row in found] == [one.code for one in visla_paraphrase.GUIDELINES]


def test_how_far_edits_go():
    again = "On the red rug sits a cat."
    tasks = [
        asked(edited(MENDED), took("edit-7", MENDED)),  # to confirm is no edit
        asked(edited(again, of="edit-9"), edits={"edit-9": {"second_positive": MENDED}}),
    ]
    (row,) = edits.figures(tasks, PARAPHRASE)["edits"]
    assert (row["role"], row["n"], row["exchanged"]) == ("second_positive", 2, 0)
    assert row["characters"] == {"mean": 3, "median": 3, "most": 3}  # "a" to "the", and "mat" to "rug"
    assert row["words"] == {"mean": 1, "median": 1, "most": 1}
    assert row["by_words"] == [0, 2, *[0] * 9]


def test_likeness_is_of_the_words_that_stand_in_kept_items():
    tasks = [asked(took(OTHER)), asked(rejected("same")), asked(edited(MENDED)), asked()]
    found = edits.figures(tasks, PARAPHRASE)["lexical"]
    assert {pair: one["n"] for pair, one in found.items()} == {"P1-P2": 1, "P1-N": 1, "P2-N": 1}
    assert found["P1-N"]["words"]["mean"] == 1
    assert list(edits.final_captions(tasks)) == [(TEXTS[CAPTION], TEXTS[OTHER], TEXTS[NEGATIVE])]


def lines(**broken: bool) -> dict:
    return {"guidelines": {one.code: True for one in visla_triplet.GUIDELINES} | broken}


def test_a_triplet_edited_stands_without_a_second_annotator():
    exchanged = {"texts": {"negative": TEXTS[OTHER]}, "from": {"negative": OTHER}}
    changed = {"texts": {"positive": "A cat sits on one red mat."}, "from": {"positive": CAPTION}}
    tasks = [
        asked(Answer("valid", lines()), rule=TRIPLET),
        asked(Answer("edited", {**lines(), **exchanged}), rule=TRIPLET),
        asked(Answer("edited", {**lines(), **changed}), rule=TRIPLET),
        asked(Answer("dropped", {**lines(same=False, fluent=False), "reason": "…"}), rule=TRIPLET),
    ]
    found = edits.figures_of_triplets(tasks, TRIPLET)
    assert {name: count for name, count in found["fates"].items() if count} == {
        "accepted": 1,
        "edited": 2,
        "dropped": 1,
    }
    assert [(row["role"], row["n"], row["exchanged"]) for row in found["edits"]] == [
        ("negative", 0, 1),
        ("positive", 1, 0),
    ]
    assert found["annotators"][0]["of_edits"] is None
    assert {row["code"]: row["share"] for row in found["holds"]} == {
        **{one.code: 1 for one in visla_triplet.GUIDELINES},
        "same": 0.75,
        "fluent": 0.75,
    }


def test_the_same_edit_by_two_of_a_triplet_confirms_nothing():
    answer = Answer("edited", {**lines(), "texts": {"positive": "A cat."}, "from": {"positive": CAPTION}})
    rows = edits.annotators([asked(answer, answer, rule=TRIPLET)], TRIPLET.protocol)
    assert [(row["edited"], row["confirms"]) for row in rows] == [(1, 0), (1, 0)]


# SugarCrepe, Table 9

COLUMNS = ["ARO+CREPE", "SUGARCREPE"]
TABLE_9 = {
    ("replace", "sense"): (11, 29, 60),
    ("replace", "fluency"): (4, 33, 63),
    ("swap", "sense"): (4, 68, 28),
    ("swap", "fluency"): (4, 46, 50),
    ("add", "sense"): (1, 26, 73),
    ("add", "fluency"): (1, 35, 64),
}


def as_published(kind: str, origins: list[str]) -> list[JudgedTask]:
    """A hundred examples whose judgments come to the table's rows; which negative is whose is the caller's."""
    named = {origin: f"negative-{place}" for place, origin in enumerate(origins)} | {"tie": "tie"}
    both = [
        [name for name, count in zip([*COLUMNS, "tie"], TABLE_9[kind, criterion], strict=True) for _ in range(count)]
        for criterion in QUESTIONS
    ]
    labels = ["/".join(named[one] for one in pair) for pair in zip(*both, strict=True)]
    return [JudgedTask(kind, kind[:3], 1, [CountedJudgment(1, Answer(label))], origins=origins) for label in labels]


def test_the_published_table_comes_out():
    tasks = [
        *as_published("replace", COLUMNS),
        *as_published("swap", COLUMNS[::-1]),  # the place of an origin differs between examples
        *as_published("add", COLUMNS[::-1]),
    ]
    found = compare.figures(tasks, None)
    assert found["origins"] == COLUMNS
    assert {(row["type"], row["criterion"]): (*row["better"], row["tie"]) for row in found["rows"]} == TABLE_9
    assert {row["n"] for row in found["rows"]} == {100}
    assert [(row["criterion"], *row["better"], row["tie"]) for row in found["all"]] == [
        ("sense", 16, 123, 161),
        ("fluency", 9, 114, 177),
    ]


def test_each_judgment_counts_and_who_cannot_judge_compares_nothing():
    said = [
        CountedJudgment(1, Answer("negative-0/tie")),
        CountedJudgment(2, Answer("tie/negative-1")),
        CountedJudgment(3, Answer("cannot_judge")),
    ]
    found = compare.figures([JudgedTask("swap", "obj", 3, said, origins=COLUMNS)], None)
    assert [(*row["better"], row["tie"], row["n"]) for row in found["rows"]] == [(1, 0, 1, 2), (0, 1, 1, 2)]
    assert (found["judgments"], found["cannot_judge"]) == (3, 1)


def test_negatives_without_an_origin_are_told_apart_by_their_place():
    found = compare.figures([JudgedTask("swap", "obj", 1, [CountedJudgment(1, Answer("negative-1/tie"))])], None)
    assert found["origins"] == ["negative 1", "negative 2"]
    assert [(*row["better"], row["tie"]) for row in found["rows"]] == [(0, 1, 0), (0, 0, 1)]


# Hard Positive Truth, §4.1

BOTH, TOP = "positive=second_positive>negative", "second_positive>positive>negative"
WRONG = "positive>second_positive=negative"
TIED = "positive=second_positive=negative"
BELOW, MIRRORED = "positive>negative>second_positive", "second_positive>negative>positive"


def ranked(*labels: str, kind: tuple[str, str] = ("replace", "rel"), overlap: int = 2) -> JudgedTask:
    return JudgedTask(
        *kind, overlap, [CountedJudgment(number, Answer(label)) for number, label in enumerate(labels, 1)]
    )


@pytest.mark.parametrize(
    "labels, right",
    [((BOTH, TOP), True), ((BOTH, WRONG), False), ((TIED, BOTH), False), ((BOTH, "cannot_judge"), False)],
)
def test_right_only_when_everybody_ranks_both_above(labels, right):
    assert rank.right_tasks([ranked(*labels)])["right"] == right


@pytest.mark.parametrize(
    ("labels", "measures"),
    [
        ((BOTH, TOP), {"original", "augmented"}),
        ((WRONG, BOTH), {"original"}),  # level with the negative for one of them: neither above nor below
        ((BELOW, BELOW), {"original", "brittleness"}),
        ((BELOW, WRONG), {"original"}),
        ((BELOW, BOTH), {"original"}),
        ((MIRRORED, MIRRORED), {"brittleness"}),
        ((MIRRORED, BELOW), set()),  # each of them is brittle, but the other way round
        ((TIED, TIED), set()),
        ((BELOW, "cannot_judge"), set()),
    ],
)
def test_people_are_measured_as_models_are(labels, measures):
    [found] = rank.as_models_answer([ranked(*labels), ranked(BOTH)])
    assert {name for name in hard_positive.MEASURES if hard_positive.FAMILY.right(found, name)} == measures


def test_the_augmented_items_of_people_are_the_right_ones():
    every = [*weak_orders(ROLES), "cannot_judge"]
    tasks = [ranked(*labels) for labels in itertools.product(every, repeat=2)]
    found = hard_positive.accuracies(rank.as_models_answer(tasks))
    assert (found["augmented"].right, found["augmented"].n) == (rank.right_tasks(tasks)["right"], len(tasks))
    assert found["brittleness"].right == 2  # all others are pairs that disagree, or tie


def test_the_papers_row_of_people_comes_out():
    """97, 97 and 0 of a hundred; an item that waits for a judgment is not counted."""
    tasks = [ranked(BOTH, TOP)] * 97 + [ranked(TIED, BOTH)] * 3 + [ranked(BELOW)]
    found = hard_positive.accuracies(rank.as_models_answer(tasks))
    assert [(of.right, of.n) for of in found.values()] == [(97, 100), (97, 100), (0, 100)]


def test_an_item_counts_once_it_has_all_its_judgments():
    found = rank.right_tasks([ranked(BOTH, BOTH), ranked(WRONG, BOTH), ranked(BOTH), ranked()])
    assert (found["right"], found["n"], found["share"], found["waiting"]) == (1, 2, 0.5, 2)
    assert found["low"] < 0.5 < found["high"]
    nothing = rank.right_tasks([ranked(BOTH)])
    assert (nothing["share"], nothing["reason"]) == (None, "nothing is counted yet")


def test_the_published_shares_come_out():
    """97 and 100 of a hundred; the intervals are Wilson's."""
    replace = [ranked(BOTH, TOP) for _ in range(97)] + [ranked(BOTH, WRONG) for _ in range(3)]
    swap = [ranked(BOTH, BOTH, kind=("swap", "att")) for _ in range(100)]
    rows = {(row["type"], row["subtype"]): row for row in rank.figures([*replace, *swap], None)["by_type"]}
    assert list(rows) == [("replace", None), ("replace", "rel"), ("swap", None), ("swap", "att")]
    assert (rows["replace", None]["share"], rows["swap", None]["share"]) == (0.97, 1)
    assert rows["replace", None]["low"] == pytest.approx(0.9155, abs=1e-4)
    assert rows["swap", None]["low"] == pytest.approx(0.9630, abs=1e-4)


def test_by_annotator_counts_own_judgments():
    rows = rank.annotators([ranked(BOTH, WRONG), ranked(TOP)])
    assert [(row["annotator"], row["right"], row["n"]) for row in rows] == [("A-01", 2, 2), ("A-02", 0, 1)]


def test_each_of_the_thirteen_orders_has_its_judgments_and_three_are_right():
    found = rank.figures([ranked(*weak_orders(ROLES), "cannot_judge")], None)
    assert [row["judgments"] for row in found["orders"]] == [1] * 13
    assert [row["right"] for row in found["orders"]] == [True] * 3 + [False] * 10
    assert found["cannot_judge"] == 1
