"""Scores, right answers, groups, strengths and mean ranks of declared protocols: against values computed by hand."""

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from annotation.measures.bradley_terry import FEW_ITEMS, Compared, bradley_terry
from annotation.measures.counts import TaskRow
from annotation.measures.judgments import JudgmentRow
from annotation.measures.over_annotators import ANNOTATORS, ITEMS
from annotation.measures.scored import Range, Scored, differences, intervals, summary
from annotation.measures.scores import scores, task_scores
from annotation.measures.types import Figures
from annotation.protocols import answers, library
from annotation.protocols.item_data import attributes_of
from annotation.protocols.measuring import parents_of
from bench.coverage import scores as made_up
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own.format import FORMAT
from benchmarks.metrics.base import wilson
from benchmarks.records import ItemRecord
from tests.annotation.protocols.files import changed, read


def rows(said: list[tuple], places: int = 2) -> list[JudgmentRow]:
    """Of (item, question, annotator, label) tuples, items of two types in turn."""
    return [
        JudgmentRow((item, question, 1), "judge", True, "ab"[item % 2], "", 1, who, label, None, places, 1000, True,
                    False, False, 0)
        for item, question, who, label in said
    ]  # fmt: skip


def tasks(said: list[tuple], open_: tuple = ()) -> list[TaskRow]:
    keys = dict.fromkeys((item, question, 1) for item, question, *_ in said)
    return [TaskRow(key, "ab"[key[0] % 2], "", 3, None if key in open_ else "kept", "", "majority") for key in keys]


def models(*names: str) -> dict:
    return {place: {"picture-0": {"model": name}} for place, name in enumerate(names)}


def test_a_mean_score_by_type_and_by_model_with_what_has_no_part_counted_aside():
    said = [
        (0, "", 1, "5"),
        (0, "", 2, "4"),
        (1, "", 1, "1"),
        (1, "", 2, "cannot_judge"),
        (2, "", 1, "2"),
        (2, "", 2, "3"),
    ]
    found = scores(library.shipped("prompt-fit"), rows(said), tasks(said), models("x", "y", "x"))
    (one,) = found["answers"]
    assert (one["whole"]["value"], one["whole"]["n_items"], one["whole"]["n_judgments"]) == (3, 3, 5)
    assert (one["cannot_judge"], one["from"], one["to"], one["is_share"]) == (1, 1, 5, False)
    assert one["points"] == [[1, 1], [2, 1], [3, 1], [4, 1], [5, 1]]
    assert [(row["type"], row["value"]) for row in one["by_type"]] == [("a", 3.5), ("b", 1)]
    assert [(row["name"], row["value"], row["n_items"]) for row in one["by"]["model"]] == [("x", 3.5, 2), ("y", 1, 1)]
    deviations = [(9 - 3 * 2), (1 - 3), (5 - 3 * 2)]  # each item's sum less what the mean would give it
    error = math.sqrt(sum(value**2 for value in deviations) * 3 / 2) / 5
    effective = 0.25 / (error / 4) ** 2 * (1.959963984540054 / 4.302652729911275) ** 2  # of the scale's range
    low, high = wilson(effective / 2, effective)
    assert (one["whole"]["these_low"], one["whole"]["these_high"]) == pytest.approx((1 + 4 * low, 1 + 4 * high))
    assert (one["whole"]["n_annotators"], one["whole"]["over"]) == (2, ANNOTATORS)
    assert task_scores(library.shipped("prompt-fit"), ["5", "4", "cannot_judge"], {}) == {"fit": (4.5, 2)}


def test_a_share_has_the_interval_of_as_many_answers_as_carry_its_information():
    said = [(item, "", who, "yes" if who else "no") for item in range(4) for who in range(2)]
    file = read(changed(
        ("decide", []), ("answers", [{"name": "ok", "kind": "pick", "fixed": {"yes": "Y", "no": "N"}}]),
        ("measure", {"ok": {"score": "yes"}}),
    ))  # fmt: skip
    (one,) = scores(file, rows(said), tasks(said), {})["answers"]
    low, high = wilson(2, 4)  # every item has the same mean, so there is no more than one answer of each to go by
    assert (one["whole"]["value"], one["whole"]["these_low"], one["whole"]["these_high"]) == (0.5, low, high)


@pytest.mark.parametrize(
    ("point", "low", "high"), [("5", 5 - 4 * 0.0711, 5), ("1", 1, 1 + 4 * 0.0711), ("4", 4 - 3 * 0.0711, 4 + 0.0711)]
)
def test_a_mean_of_items_that_are_all_alike_has_an_interval_with_width(point, low, high):
    """Of 50 items in a row without an exception, more than 7.11% can be exceptions with a probability of 2.5%."""
    said = [(item, "", who, point) for item in range(50) for who in range(3)]
    (one,) = scores(library.shipped("prompt-fit"), rows(said), tasks(said), {})["answers"]
    assert (one["whole"]["low"], one["whole"]["high"]) == pytest.approx((low, high), abs=2e-4)


def test_what_rounding_leaves_of_no_variance_is_none():
    found = summary([Scored(item, "", "", "", 1 / 3) for item in range(7) for _ in range(3)], Range(0.0, 1.0))
    assert found["high"] - found["low"] > 0.3


@pytest.mark.parametrize("items", [10, 50])
def test_means_near_the_end_of_a_scale_cover_the_truth(items):
    """`python -m bench.coverage scores` has 1,000 studies of every cell."""
    assert made_up.mean_of_scale(items, 0.005, 300)[0] >= 0.95


def of_two(second: Sequence[float]) -> list[Figures]:
    """Each of 20 items has a picture of x and of y, whose points `second` repeats; three of ten annotators judge it."""
    people = [[(item * 3 + at) % 10 for at in range(3)] for item in range(20)]
    x = [Scored(item, "", "", "", 3.0 + who % 2, who) for item, of in enumerate(people) for who in of]
    y = [one._replace(value=one.value - second[at % len(second)]) for at, one in enumerate(x)]
    return differences({"x": x, "y": y}, Range(1.0, 5.0))


def test_the_difference_of_two_models_is_paired_by_items_and_annotators():
    """What lenient annotators add to both is not in the difference."""
    (apart,) = of_two([0, 1, 1, 1, 1, 1, 2])
    assert (apart["first"], apart["second"], apart["n_items"]) == ("x", "y", 20)
    assert apart["value"] == pytest.approx(59 / 60)
    assert apart["high"] - apart["low"] < 0.6
    (alike,) = of_two([1])
    assert alike["value"] == 1 and alike["high"] - alike["low"] > 0.5  # not of width 0


def test_of_more_than_ten_models_no_two_are_compared():
    groups = {str(name): [Scored(0, "", "", "", 1.0), Scored(1, "", "", "", 2.0)] for name in range(11)}
    assert differences(groups, Range(1.0, 5.0)) == []
    del groups["0"]
    assert len(differences(groups, Range(1.0, 5.0))) == 45


@pytest.mark.parametrize(
    ("low", "over", "words"),
    [
        (2.0, ANNOTATORS, ["for these annotators and for others like them"]),
        (1.5, ANNOTATORS, ["for these annotators", "for others like them"]),
        (2.0, ITEMS, ["for these annotators only, as the judgments do not show how annotators differ"]),
        (None, None, []),
    ],
)
def test_an_interval_says_whom_it_holds_for(low, over, words):
    ends = (None, None) if low is None else (2.0, 4.0)
    found = {"low": low, "high": ends[1], "over": over, "these_low": ends[0], "these_high": ends[1]}
    assert [whom for *_, whom in intervals(found)] == words


def test_groups_count_where_all_their_tasks_are_right_beside_chance():
    labels = {  # 2 x 2: the right ones are yes, no, no, yes
        0: ("yes", "no", "no", "yes"),  # everything
        1: ("yes", "no", "yes", "yes"),  # the second image is wrong, the first text too
        2: ("no", "no", "no", "yes"),
    }
    names = ("positive/positive", "positive/negative", "negative/positive", "negative/negative")
    said = [(item, name, 1, label) for item, given in labels.items() for name, label in zip(names, given, strict=True)]
    said += [(3, name, 1, "yes") for name in names]
    waiting = ((3, names[0], 1),)
    found = scores(library.shipped("winoground-pairs"), rows(said, places=0), tasks(said, waiting), {})
    groups = {one["group"]: one for one in found["groups"]}
    got = {name: (one["whole"]["value"], one["whole"]["n_judgments"], one["chance"]) for name, one in groups.items()}
    assert got["all_four"] == (pytest.approx(1 / 3), 3, 1 / 16)
    right = found["answers"][0]["right"]
    assert (right["whole"]["value"], right["chance"]) == ((4 + 3 + 3 + 2) / 16, 0.5)


def test_tasks_with_the_same_part_can_be_a_group_of_their_own():
    file = library.shipped("winoground-pairs").model_copy(update={"group": {"same_image": ["image"]}})
    names = ("positive/positive", "positive/negative", "negative/positive", "negative/negative")
    said = [(0, name, 1, label) for name, label in zip(names, ("yes", "no", "yes", "yes"), strict=True)]
    (group,) = scores(file, rows(said, places=0), tasks(said), {})["groups"]
    assert (group["whole"]["value"], group["whole"]["n_judgments"], group["chance"]) == (0.5, 2, 0.25)


def test_shares_of_annotators_are_compared_within_each_part_as_winoground_does():
    """Of ten votes, those for yes: of item 0 the texts are told apart, of 1 the images too, of 2 nothing."""
    votes = {0: (6, 2, 7, 8), 1: (9, 2, 5, 8), 2: (5, 5, 5, 5)}
    names = ("positive/positive", "positive/negative", "negative/positive", "negative/negative")
    said = [
        (item, name, who, "yes" if who < count else "no")
        for item, counts in votes.items()
        for name, count in zip(names, counts, strict=True)
        for who in range(10)
    ]
    found = scores(library.shipped("winoground-pairs"), rows(said, places=0), tasks(said), {})["groups"]
    values = {one["group"]: one["whole"]["value"] for one in found}
    assert {name: values[name] for name in ("text", "image", "group")} == {
        "text": pytest.approx(2 / 3),
        "image": pytest.approx(1 / 3),
        "group": pytest.approx(1 / 3),
    }


def test_a_combined_score_is_the_geometric_mean_of_each_judgment():
    said = [(0, "", 1, "1/0.5"), (0, "", 2, "0/1"), (1, "", 1, "cannot_judge")]
    *_, one = scores(library.shipped("two-scores"), rows(said), tasks(said), models("x", "y"))["answers"]
    assert (one["answer"], one["cannot_judge"], one["to"]) == ("overall", 1, 1)
    assert one["whole"]["value"] == pytest.approx(math.sqrt(0.5) / 2) == one["by"]["model"][0]["value"]


@pytest.mark.parametrize(
    ("score", "value", "ends", "words"),
    [
        ({"mean": ["fit", "style"]}, 3, (0, 4), "The mean of fit and style."),
        ({"mean": {"fit": 3, "style": 1}}, 3.5, (0.5, 4.5), "The mean of 3 × fit and style."),
        ({"sum": {"fit": 0.5, "style": -1}}, 0, (-2.5, 3.5), "The sum of 0.5 × fit and −1 × style."),
        ({"min": {"fit": 1, "style": 2}}, 4, (-2, 5), "The lowest of fit and 2 × style."),
        ({"product": ["fit", "style"]}, 8, (-5, 15), "The product of fit and style."),
        (
            {"geometric_mean": ["fit", "style"]},
            math.sqrt(8),
            (0, math.sqrt(15)),
            "The geometric mean of fit and style.",
        ),
    ],
)
def test_combined_scores_with_weights_and_signs_and_where_they_end(score, value, ends, words):
    file = read(changed(
        ("decide", []),
        ("answers", [{"name": "fit", "ask": "Fit?", "kind": "scale", "points": 5},
                     {"name": "style", "ask": "Style?", "kind": "scale", "points": [-1, 2, 3], "required": False}]),
        ("scores", {"all": score}),
    ))  # fmt: skip
    said = [(0, "", 1, "4/2"), (0, "", 2, "5/"), (0, "", 3, "cannot_judge")]
    (one,) = scores(file, rows(said), tasks(said), {})["answers"]
    assert (one["whole"]["value"], one["from"], one["to"]) == pytest.approx((value, *ends))
    assert (one["whole"]["n_judgments"], one["no_value"], one["cannot_judge"], one["ask"]) == (1, 1, 1, words)


def test_chance_counts_options_and_fixed_answers():
    said = [(0, "", 1, "caption-positive-0"), (1, "", 1, "both")]
    (one,) = scores(library.shipped("image-caption-foil"), rows(said), tasks(said), {})["answers"]
    assert one["right"]["chance"] == 1 / 4 and one["whole"]["value"] == 0.5
    said = [(0, "", 1, "caption-positive-0"), (1, "", 1, "caption-negative-2")]
    (one,) = scores(library.shipped("one-of-four"), rows(said, places=4), tasks(said), {})["answers"]
    assert one["right"]["chance"] == 1 / 4 and one["right"]["whole"]["value"] == 0.5


def test_strengths_over_an_attribute_with_ties():
    of = {
        item: {"picture-0": {"model": "x"}, "picture-1": {"model": "y"}, "picture-2": {"model": "y"}}
        for item in range(9)
    }
    answers = ["picture-0", "picture-0", "picture-1", "tie", "both_bad", "picture-0", "picture-1", "cannot_judge"]
    said = [(item, "picture-0/picture-1", 1, label) for item, label in enumerate(answers)]
    said.append((8, "picture-1/picture-2", 1, "picture-1"))
    (found,) = scores(library.shipped("preference"), rows(said), tasks(said), of)["strengths"]
    points = [1, 1, 0, 0.5, 0.5, 1, 0]
    expected = bradley_terry([Compared(item, "x", "y", score) for item, score in enumerate(points)]).rows
    assert [(row["name"], row["value"], row["low"], row["high"]) for row in found["rows"]] == [
        (one.name, one.value, None, None) for one in expected
    ]
    assert (found["n"], found["ties"], found["same"]) == (7, 2, 1)
    assert found["reason"] == f"no interval for x, y: {FEW_ITEMS}"
    assert {name: found["rows"][0][name] for name in ("won", "ties", "lost")} == {"won": 3, "ties": 2, "lost": 2}
    (none,) = scores(library.shipped("preference"), rows(said[:2]), tasks(said), of)["strengths"]
    assert none["rows"][0]["value"] is None and "lost or won all" in none["reason"]


def test_mean_ranks_over_an_attribute():
    of = {0: {f"picture-{place}": {"model": name} for place, name in enumerate("xyz")}}
    said = [(0, "", 1, "picture-0>picture-1>picture-2"), (0, "", 2, "picture-1>picture-0>picture-2")]
    (found,) = scores(library.shipped("rank-images"), rows(said), tasks(said), of)["mean_ranks"]
    assert [(row["name"], row["value"]) for row in found["rows"]] == [("x", 1.5), ("y", 1.5), ("z", 3)]


@pytest.mark.parametrize("parents", [({}, [1], [2]), ({"parents": []}, 1, 2), ({"parents": "0"}, "1", " 2, 0")])
def test_a_question_counts_only_where_its_direct_parents_are_answered_yes(parents):
    """As the manifest writes them, and as a table does: 0 is none in DSG's file."""
    file = library.shipped("image-questions")
    first, second, third = parents
    of = {
        0: {"caption-question-0": first, "caption-question-1": {"parents": second},
            "caption-question-2": {"parents": third}},
    }  # fmt: skip
    assert parents_of(file.answers[0], of[0]) == [[], [1], [2]]
    said = [(0, "", 1, "no,yes,yes"), (1, "", 1, "no,yes,yes")]
    (one,) = scores(file, rows(said), tasks(said), of)["answers"]
    assert [row["value"] for row in one["by_type"]] == [pytest.approx(1 / 3), pytest.approx(2 / 3)]


@pytest.mark.parametrize("yes", list(itertools.product([True, False], repeat=4)))
def test_the_order_of_a_list_does_not_change_the_score_of_its_questions(yes):
    """Against DSG's own rule: a question whose direct parent was answered no counts 0."""
    parents = {0: [], 1: [0], 2: [1], 3: [0, 2]}
    expected = sum(yes[one] and all(yes[parent] for parent in of) for one, of in parents.items()) / 4
    check = library.shipped("image-questions").answers[0]
    for order in itertools.permutations(parents):
        said = ",".join("yes" if yes[one] else "no" for one in order)
        places = [[order.index(parent) + 1 for parent in parents[one]] for one in order]
        assert answers.number(check, said, places) == expected


YES_NO = changed(
    ("decide", []), ("answers", [{"name": "ok", "kind": "pick", "fixed": {"yes": "Y", "no": "N"}}]),
    ("right", {"from": "label"}),
)  # fmt: skip


def of_items(file, metas: list[dict]) -> dict:
    """By position, as figures and verification have it."""
    return {
        place: attributes_of(file, ItemRecord(str(place), "", "", (), (), meta=meta))
        for place, meta in enumerate(metas)
    }


@pytest.mark.parametrize(
    ("group", "right", "n"),
    [
        ({"over": "sentence"}, 2 / 3, 3),  # d, and f with its one item
        ({"over": ["sentence", "figure"]}, 3 / 4, 4),  # the third has no figure; the two others of c are apart
        ({"every": 2}, 1 / 3, 3),
        ({"every": 4, "over": "sentence"}, 3 / 4, 4),
        ([], 4 / 6, 6),
    ],
)
def test_groups_over_items_count_where_all_tasks_of_all_their_items_are_right(group, right, n):
    """Everybody says yes; of two sentences' items that is right, of one it is wrong twice in three."""
    metas = [
        {"label": 0, "sentence": "c", "figure": "1"}, {"label": 1, "sentence": "c", "figure": "2"},
        {"label": 0, "sentence": "c"}, {"label": 1, "sentence": "d", "figure": "1"},
        {"label": 1, "sentence": "d", "figure": "1"}, {"label": 1, "sentence": "f", "figure": 1},
    ]  # fmt: skip
    file = read(changed(("group", {"all": group}), of=YES_NO))
    said = [(item, "", who, "yes") for item in range(6) for who in range(3)]
    found = scores(file, rows(said, places=0), tasks(said), of_items(file, metas))
    (one,) = found["groups"]
    assert (one["whole"]["value"], one["whole"]["n_judgments"]) == (pytest.approx(right), n)
    assert found["answers"][0]["right"]["whole"]["value"] == pytest.approx(4 / 6)


def test_a_group_over_items_waits_for_each_of_them_and_is_one_unit_by_chance_of_all():
    metas = [{"label": 1, "of": place // 2} for place in range(8)]
    file = read(changed(("group", {"all": {"over": "of"}}), of=YES_NO))
    said = [(item, "", who, "yes" if item else "no") for item in range(8) for who in range(2)]
    (one,) = scores(file, rows(said, places=0), tasks(said, ((7, "", 1),)), of_items(file, metas))["groups"]
    assert (one["waiting"], one["chance"], one["whole"]["n_items"]) == (1, 0.25, 3)
    assert (one["whole"]["low"], one["whole"]["high"]) == pytest.approx(wilson(2, 3))  # as of any three units
    assert [row["type"] for row in one["by_type"]] == [""]  # its items are of two types


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "label", "mapping", "groups"),
    [
        (
            "HallusionBench.json", "gt_answer",
            {"texts": {"question": "question"}, "images": {"picture": "filename"}, "type": "category",
             "subtype": "subcategory"},
            {"pair": {"over": ["type", "subtype", "set_id", "question_id"]},
             "figure": {"over": ["type", "subtype", "set_id", "figure_id", "picture"]}},
        ),
        (
            "nlvr2_dev.json", "label",
            {"id": "identifier", "texts": {"caption": "sentence"}},
            {"consistency": {"over": "caption"}},
        ),
        (
            "naturalbench_test_set.json", "3", {"texts": {"question": "1"}, "images": {"picture": "2"}},
            {"q": {"every": 4, "over": "question"}, "i": {"every": 4, "over": "picture"}, "g": {"every": 4}},
        ),
    ],
)  # fmt: skip
def test_published_benchmarks_have_the_groups_of_their_own_code(name, label, mapping, groups):
    """Two judges, who say yes to all, and to two items in three; the groups are found again from the file's rows."""
    path = Path(__file__).resolve().parents[4] / "shared" / "data" / "foreign" / name
    file = read(changed(("right", {"from": label}), ("group", groups), of=YES_NO))
    records = list(FORMAT.read(path, ProblemLog(), mapping=json.dumps({"winnow": "mapping/1", **mapping})))
    for judge in (lambda place: "yes", lambda place: "yes" if place % 3 else "no"):
        said = [(place, "", 1, judge(place)) for place in range(len(records))]
        attributes = {place: attributes_of(file, record) for place, record in enumerate(records)}
        found = scores(file, rows(said, places=0), tasks(said), attributes)["groups"]
        got = {one["group"]: (one["whole"]["value"], one["whole"]["n_judgments"]) for one in found}
        assert got == published(name, path, judge)


def published(name: str, path: Path, judge) -> dict[str, tuple[float, int]]:
    """HallusionBench's `get_eval_pair_all` and `get_eval_fig`, NLVR2's consistency, NaturalBench's three scores."""
    text = path.read_text()
    given = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    keys: dict[str, list] = {}
    for place, row in enumerate(given):
        if name.startswith("Hall"):
            right, start = row["gt_answer"] == "1", (row["category"], row["subcategory"], row["set_id"])
            keys.setdefault("pair", []).append(((*start, row["question_id"]), place, right))
            if not (row["category"] == "VS" and row["figure_id"] == "0"):
                keys.setdefault("figure", []).append(((*start, row["figure_id"]), place, right))
        elif name.startswith("nlvr"):
            keys.setdefault("consistency", []).append((row["sentence"], place, row["label"] == "True"))
        else:
            for key, of in (("q", row[0]), ("i", row[1]), ("g", "")):
                keys.setdefault(key, []).append(((place // 4, of), place, row[2] == "Yes"))
    found = {}
    for key, of in keys.items():
        all_right: dict[object, bool] = {}
        for group, place, right in of:
            all_right[group] = all_right.get(group, True) and (judge(place) == "yes") == right
        found[key] = (sum(all_right.values()) / len(all_right), len(all_right))
    return found
