"""A pick of many: what may be chosen together, what it decides, how agreement and right answers are counted."""

import itertools
from random import Random

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.measures.agreement import RatingTable
from annotation.measures.agreement_measures import Compared
from annotation.measures.declared import agreement
from annotation.measures.label_scale import label_scale
from annotation.measures.scores import scores
from annotation.protocols import answers, option_sets, walk
from annotation.protocols.base import SET, Answer, InvalidAnswer, Scale, View
from annotation.protocols.compile import as_protocol
from annotation.protocols.decisions import decide_item
from annotation.protocols.ratings import read_rated
from annotation.protocols.rules import rule_for
from annotation.protocols.simulated import simulate
from benchmarks.formats.base import ProblemLog
from tests.annotation.measures.test_scores import rows, tasks
from tests.annotation.protocols.files import problems, read

# WinoGAViL: the images that a cue goes with, among others, as many as the question says.
CUE: dict = {
    "winnow": "protocol/1", "name": "cue", "title": "Cue", "ask": "Which go with the cue?", "instructions": "Choose.",
    "item": {"texts": {"cue": 1}, "images": {"fit": "1..3", "other": "2..9"}},
    "screen": [{"sentence": "cue"}], "judgments": 3, "right": {"a": ["fit"]},
    "answers": [{"name": "a", "kind": "pick", "of": ["images.fit", "images.other"], "many": "1..2"}],
    "decide": [{"answer": "a", "rule": "majority", "keep": "fit", "drop": {"other": "other_fits", "else": "unclear"}}],
}  # fmt: skip
SHOWN = ("other-1", "fit-0", "other-0", "fit-1")


def cue(many: object = "1..2", fixed: bool = False, **more):
    data = {**CUE, **more, "answers": [{**CUE["answers"][0], "many": many, "fixed": {"none": "None"} if fixed else {}}]}
    assert problems(data) == []
    return read(data)


@pytest.mark.parametrize(
    ("many", "ticked", "says"),
    [
        (True, "1 2 3 4", ""), (True, "none", ""), (2, "1 4", ""), (2, "none", ""), ("1..3", "1 2 3", ""),
        (2, "1", "Choose exactly 2. You have chosen 1."), (2, "1 2 3", "Choose exactly 2. You have chosen 3."),
        ("1..3", "1 2 3 4", "Choose at most 3. You have chosen 4."),
        ("2..", "1", "Choose at least 2. You have chosen 1."),
        (True, "1 none", "“None” cannot be chosen with others."), ("2..", "5", "not one of the answers"),
        (2, "", "Answer this question"),
    ],
)  # fmt: skip
def test_only_as_many_as_the_file_says_can_be_chosen(many, ticked, says):
    fixed = {"decide": [{**CUE["decide"][0], "drop": {**CUE["decide"][0]["drop"], "none": "no_fit"}}]}
    of, sent = cue(many, fixed=True, **fixed), {f"a-{one}": "1" for one in ticked.split()}
    if says:
        with pytest.raises(InvalidAnswer, match=says):
            answers.parse(of, sent, SHOWN, {})
    else:
        given = answers.parse(of, sent, SHOWN, {})
        assert answers.fill(of, given, SHOWN) == sent and given.label.endswith(";2+2")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"many": "3..2"}, "WRONG_COUNT"), ({"many": 1}, "WRONG_COUNT"), ({"many": 4}, "WRONG_COUNT"),
        ({"many": 0}, "WRONG_VALUE"), ({"many": "some"}, "WRONG_VALUE"),
        ({"many": True, "alike": True}, "RULE_DOES_NOT_FIT"), ({"many": 3, "fixed": {"none": "None"}}, ""),
        ({"many": "2..200"}, ""),
    ],
)  # fmt: skip
def test_numbers_that_no_item_could_meet_are_refused(changes, code):
    drop = CUE["decide"][0]["drop"] | ({"none": "no_fit"} if "fixed" in changes else {})
    data = {**CUE, "answers": [CUE["answers"][0] | changes], "decide": [{**CUE["decide"][0], "drop": drop}]}
    assert [one.code for one in problems(data)] == ([code] if code else [])


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ({"rule": "dawid_skene"}, "RULE_DOES_NOT_FIT"), ({"rule": "at_least", "m": 2, "of": "fit"}, "UNKNOWN_KEY"),
        ({"rule": "majority", "drop": {"other": "x"}}, "DROP_NOT_TOTAL"),
        ({"rule": "majority", "keep": []}, "DROP_NOT_TOTAL"),
    ],
)  # fmt: skip
def test_rules_that_do_not_decide_sets_are_refused(rule, code):
    assert [one.code for one in problems({**CUE, "decide": [{**CUE["decide"][0], **rule}]})] == [code]


def test_at_least_needs_the_value_that_others_must_give_unless_options_are_chosen_together():
    single = {**CUE, "right": {}, "answers": [{**CUE["answers"][0], "many": False}]}
    rule = {**CUE["decide"][0], "rule": "at_least", "m": 2}
    assert [(one.code, one.column) for one in problems({**single, "decide": [rule]})] == [
        ("MISSING_KEY", "decide.0.of")
    ]
    assert problems({**CUE, "decide": [rule]}) == []


MAJORITY, TIES = {"rule": "majority"}, {"rule": "majority", "tie": "first"}
OPEN, TWO = {"rule": "majority", "tie": "adjudicate"}, {"rule": "at_least", "m": 2}
ALL = {"rule": "unanimous"}


@pytest.mark.parametrize(
    ("rule", "labels", "wanted"),
    [
        (MAJORITY, "fit-0,fit-1;2+2 fit-0;2+2 fit-1;2+2", "kept fit-0,fit-1  majority"),
        (MAJORITY, "fit-0,other-1 fit-0,other-1 fit-1", "dropped fit-0,other-1 other_fits majority"),
        (MAJORITY, "fit-0 fit-1 fit-2", "dropped  unclear no_agreement"),
        (MAJORITY, "fit-0,fit-1 fit-1,fit-2 fit-0,fit-2", "dropped fit-0,fit-1,fit-2 unclear no_agreement"),
        (MAJORITY, "fit-0 cannot_judge cannot_judge", "dropped cannot_judge cannot_judge majority"),
        (MAJORITY, "fit-0 fit-0 fit-1 fit-1", "dropped  tie_unresolved tie_rule"),
        (TIES, "fit-1 fit-0 fit-0 fit-1", "kept fit-1  tie_rule"),
        (OPEN, "fit-0 fit-0 fit-1 fit-1", "open  awaiting_adjudication "),
        (TWO, "fit-0,fit-1 fit-0 other-0", "kept fit-0  majority"),
        (TWO, "fit-0 fit-0;1+2 fit-0", "kept fit-0  unanimous"),
        (ALL, "fit-0,fit-1 fit-0,fit-1 fit-0,fit-1", "kept fit-0,fit-1  unanimous"),
        (ALL, "fit-0,fit-1 fit-0,fit-1 fit-0", "dropped  unclear no_agreement"),
        (ALL, "other-0 other-0 other-0", "dropped other-0 other_fits unanimous"),
    ],
)  # fmt: skip
def test_an_item_is_decided_by_the_options_that_win(rule, labels, wanted):
    found = decide_item(cue(decide=[{**CUE["decide"][0], **rule}]), labels.split())
    assert f"{found.state} {found.outcome} {found.reason} {found.by}" == wanted


@pytest.mark.parametrize(
    ("labels", "split", "votes"),
    [
        ("fit-0 fit-0 fit-1", False, "yes yes no"), ("fit-0,fit-1 fit-1,fit-2", True, "yes no"),
        ("fit-0 fit-1 fit-2", True, "yes no no"), ("fit-0,fit-1 fit-0,fit-1", False, "yes yes"),
        ("cannot_judge cannot_judge fit-0", False, "yes yes no"),
    ],
)  # fmt: skip
def test_more_judgments_are_asked_for_where_options_are_level_or_win_no_set(labels, split, votes):
    rule = rule_for(as_protocol(cue(), "cue@1"), 3, "drop")
    assert rule.is_split(labels.split()) is split and rule.votes(labels.split()) == votes.split()


SAID = [
    (0, 1, "fit-0,fit-1;2+2"), (0, 2, "fit-0,other-0;2+2"), (0, 3, "fit-0;2+2"), (1, 1, "fit-0;1+3"),
    (1, 2, "other-2;1+3"), (2, 1, "fit-0,other-1;1+2"), (2, 3, "fit-0,other-1;1+2"), (3, 2, "cannot_judge"),
]  # fmt: skip


def by_option() -> list[tuple]:
    """(item, option, annotator, whether chosen) of what was said."""
    of = cue()
    return [
        (item, option, who, int(option in option_sets.chosen(label)))
        for item, who, label in SAID
        if label != "cannot_judge"
        for option in option_sets.all_options(of, of.answers[0], label) or ()
    ]


def test_agreement_of_sets_and_by_option_is_that_of_second_formulas():
    found = agreement(cue(), SAID)["a"]
    assert found["level"] == SET and found["n_ratings"] == 7
    sets = {(item, who): option_sets.chosen(label) for item, who, label in SAID if label != "cannot_judge"}
    pairs = [(one, other) for one, other in itertools.combinations(sets, 2) if one[0] == other[0]]
    index = [len(sets[one] & sets[other]) / len(sets[one] | sets[other]) for one, other in pairs]
    assert found["measures"]["jaccard"]["value"] == pytest.approx(np.mean(index))
    # Krippendorff (2011): coincidences of values with a weight of 1 / (m − 1) each, all against all by chance
    sizes = {item: sum(one[0] == item for one in sets) for item, _ in sets}
    observed = sum(2 * (1 - of) / (sizes[one[0]] - 1) for (one, _), of in zip(pairs, index, strict=True))
    apart = [1 - len(sets[one] & sets[other]) / len(sets[one] | sets[other]) for one in sets for other in sets]
    n = len(sets)
    assert found["measures"]["alpha_jaccard"]["value"] == pytest.approx(1 - observed / n / (sum(apart) / n / (n - 1)))
    means = [np.mean([of for pair, of in zip(pairs, index, strict=True) if {pair[0][1], pair[1][1]} == two])
             for two in ({1, 2}, {1, 3}, {2, 3})]  # fmt: skip
    assert found["measures"]["jaccard_mean"]["value"] == pytest.approx(np.mean(means))
    units = {(item, option): place for place, (item, option) in enumerate(sorted({one[:2] for one in by_option()}))}
    table = np.full((3, len(units)), np.nan)
    for item, option, who, chose in by_option():
        table[who - 1, units[item, option]] = chose
    of_options = found["views"]["by option"]["measures"]["alpha_nominal"]
    assert of_options["value"] == pytest.approx(krippendorff.alpha(table, level_of_measurement="nominal"))
    assert of_options["n"] == len(units) == 11


def test_the_distance_of_sets_gives_nominal_alpha_where_no_two_sets_share_an_option():
    dice = Random(7)
    ratings = [(item, who, dice.choice("abcd")) for item in range(40) for who in range(3)]
    table = RatingTable(ratings)
    sets = table.projected(View(lambda label: label, Scale(SET)))
    scale = label_scale(table.labels)
    measure = {
        one.key: one for one in __import__("annotation.measures.agreement_measures", fromlist=["MEASURES"]).MEASURES
    }
    nominal, of_sets = (measure[key].compute(Compared(on), scale) for key, on in
                        (("alpha_nominal", table), ("alpha_jaccard", sets)))  # fmt: skip
    assert {name: pytest.approx(of_sets[name]) for name in ("value", "low", "high", "n")} == {
        name: nominal[name] for name in ("value", "low", "high", "n")
    }


def test_scores_against_the_right_set():
    said = [(item, "", who, label) for item, who, label in SAID]
    (found,) = scores(cue(), rows(said), tasks(said), {})["answers"]
    exact, index = [1, 0, 0, 1, 0, 0, 0], [1, 1 / 3, 1 / 2, 1, 0, 1 / 2, 1 / 2]
    assert found["right"]["whole"]["value"] == pytest.approx(np.mean(exact))
    assert found["jaccard"]["whole"]["value"] == pytest.approx(np.mean(index))
    sets = [10, 10, 10, 10, 10, 6, 6]  # of one or two of four options, and of three
    assert found["right"]["chance"] == pytest.approx(np.mean([1 / n for n in sets]))
    chosen = [chose for *_, chose in by_option()]
    right = [int(option.startswith("fit")) for _, option, *_ in by_option()]
    assert found["kappa"] == {"value": pytest.approx(cohen_kappa_score(chosen, right)), "n": len(right)}


def test_what_the_crowd_chooses_can_be_chosen_and_is_right_but_for_its_errors():
    of, dice = cue(), Random(3)
    walked, whole = walk.every_answer(of, walk.Screen(SHOWN, {}, ""), dice)
    assert whole and len(walked) == 10
    for sent in walked:
        assert answers.fill(of, answers.parse(of, sent, SHOWN, {}), SHOWN) == sent
    right = 0
    for item in range(200):
        label = answers.parse(of, simulate(of, dice, SHOWN, {}, item=item), SHOWN, {}).label
        right += option_sets.chosen(label) == {"fit-0", "fit-1"}
    assert 100 < right < 180
    free = cue("2..", right={})
    drawn = {answers.parse(free, simulate(free, dice, SHOWN, {}, item=item), SHOWN, {}).label for item in range(50)}
    assert len(drawn) > 5


@pytest.mark.parametrize(
    ("cell", "label", "fine"),
    [
        ("fit-1, fit-0", "fit-0,fit-1", True), ("fit-0;2+2", "fit-0;2+2", True), ("fit-0,fit-0", "", False),
        ("fit-0;2", "", False), ("fit-0;9+2", "", False), ("fit-2;2+2", "", False), ("dog", "", False),
        ("fit-0,fit-1,fit-2", "", False),
    ],
)  # fmt: skip
def test_a_table_of_ratings_has_sets_as_they_are_stored(tmp_path, cell, label, fine):
    path, log = tmp_path / "votes.csv", ProblemLog()
    path.write_text(f'item,annotator,answer\nx,ann,"{cell}"\n')
    found = read_rated(path, cue(), log)
    assert ([one.label for one in found.rows] == [label] and not log.problems) if fine else log.problems


@pytest.mark.parametrize(("given", "comes"), [("fit-0,odd;2+2", True), ("none;2+2", True), ("fit-0,fit-1;2+2", False)])
def test_a_question_comes_after_a_set_that_has_one_of_the_values(given, comes):
    first = {**CUE["answers"][0], "ask": "Which?", "fixed": {"odd": "Something odd", "none": "None"}}
    why = {"name": "why", "ask": "Why?", "kind": "text", "when": {"a": ["odd", "none"]}}
    of = read({**CUE, "right": {}, "decide": [], "answers": [first, why]})
    assert answers.is_asked(of.answers[1], {"a": given}, of) is comes


def test_in_words():
    of = cue()
    assert answers.in_words(of, Answer("fit-0,other-1;2+2")) == "fit 1, other 2"
