"""`manage.py evaluate`: the papers' figures from the published files, and each kind from lines of our own. The command
must not touch a database: these tests are not given one."""

import json

import pytest
from django.core.management import CommandError, call_command

from benchmarks.predictions import stored
from benchmarks.predictions.kinds import HARD_POSITIVE
from tests.benchmarks.bad_inputs.case import written


def line(item, question: str, value: float | str, **fields) -> dict:
    return {
        "item": item,
        "question": question,
        "score" if isinstance(value, int | float) else "choice": value,
        **fields,
    }


def scores(item, named: dict[str, float], **fields) -> list[dict]:
    return [line(item, f"s({name})", score, **fields) for name, score in named.items()]


def evaluated(capsys, kind: str, *paths, **options) -> dict:
    call_command("evaluate", kind, predictions=list(paths), json=True, **options)
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def given(tmp_path, capsys):
    """`given(kind, lines)`: the report on them."""

    def run(kind: str, lines: list[dict], **options) -> dict:
        path = written(tmp_path, "x.jsonl", "".join(json.dumps(one) + "\n" for one in lines))
        return evaluated(capsys, kind, path, **options)

    return run


# The published files

TABLE_3 = {
    "results_ViT-B-32.csv": (75.83, 52.40, 49.06, 84.32, 89.50, 69.21, 82.82),
    "results_CLIP_COCO.csv": (82.75, 63.89, 60.96, 89.06, 91.75, 72.79, 90.86),
}
TABLE_4 = {
    "results_ViT-B-32.csv": ((82.09, 60.36, 57.27), (46.52, 16.16, 13.65), (70.32, 44.63, 39.58)),
    "results_CLIP_COCO.csv": ((87.99, 72.42, 69.94), (51.53, 25.07, 20.89), (83.16, 55.58, 51.58)),
}
SEVEN = ("i2t", "t2i", "group", "i_pos2t", "i_neg2t", "t_pos2i", "t_neg2i")


@pytest.mark.real
@pytest.mark.parametrize("file", TABLE_3)
def test_bivlcs_tables_3_and_4(real, capsys, file):
    found = evaluated(capsys, "bivlc", real / "data" / "bivlc" / file)
    assert (tuple(round(found[name], 2) for name in SEVEN), found["n"]) == (TABLE_3[file], 2933)
    types = found["by_type"]
    rows = tuple(tuple(round(types[kind][name], 2) for name in SEVEN[:3]) for kind in ("replace", "swap", "add"))
    assert rows == TABLE_4[file]
    counts = {"add_att": 76, "add_obj": 399, "replace_att": 437, "replace_obj": 1200, "replace_rel": 462,
              "swap_att": 278, "swap_obj": 81}  # fmt: skip
    assert {name: group["n"] for name, group in found["by_subtype"].items()} == counts


@pytest.mark.real
def test_sugarcrepes_7656(real, capsys):
    found = evaluated(capsys, "sugarcrepe", real / "data/bivlc/sugarcrepe_correct_ViT-B-32.csv")
    assert (round(found["overall"], 2), found["n"], len(found["subsets"])) == (76.56, 7512, 7)
    assert found["mean_of_subsets"] == pytest.approx(sum(found["subsets"].values()) / 7)


GPT4V = {
    "swap_att": (607, 666), "swap_obj": (211, 246), "add_att": (604, 692), "replace_att": (734, 788),
    "replace_rel": (1240, 1406),
}  # fmt: skip


@pytest.mark.real
def test_gpt4vs_five_subsets(real, capsys):
    files = sorted((real / "data/sugarcrepe/gpt4v_positive_first").glob("*.json"))
    found = evaluated(capsys, "sugarcrepe", *files)
    assert {name: (of["right"], of["n"]) for name, of in found["figures"]["subsets"].items()} == GPT4V
    assert found["subsets"] == pytest.approx({name: 100 * right / n for name, (right, n) in GPT4V.items()})
    assert found["notes"] == []


@pytest.mark.real
def test_what_matches_no_item_is_reported(real, capsys):
    files = sorted((real / "data/sugarcrepe/gpt4v_positive_first").glob("*.json"))
    found = evaluated(capsys, "sugarcrepe", *files, items=real / "data/sugarcrepe")["matching"]
    assert (found["items"], found["matched"], found["unmatched"], found["unanswered"]) == (7511, 3797, 1, 3714)
    assert found["unmatched_first"][0]["item"] == "swap_obj-108"


@pytest.mark.real
def test_results_find_their_items_by_captions(real, capsys):
    folder = real / "data/bivlc"
    found = evaluated(capsys, "bivlc", folder / "results_ViT-B-32.csv", items=folder / "BiVLC_negative_imgs.csv")
    assert (found["matching"]["matched"], found["matching"]["unmatched"]) == (found["n"], 2933 - found["n"])
    assert found["n"] == 2927
    assert {one["reason"] for one in found["matching"]["unmatched_first"]} == {"several items have these captions"}


# Lines of our own

GOOD = {"c0,i0": 0.9, "c0,i1": 0.2, "c1,i0": 0.1, "c1,i1": 0.8}


def test_bivlc_from_scores(given):
    found = given("bivlc", scores("1", GOOD, type="swap", subtype="att") + scores("2", {**GOOD, "c1,i0": 0.9}))
    assert {name: found[name] for name in SEVEN} == {
        "i2t": 50, "t2i": 50, "group": 50, "i_pos2t": 50, "i_neg2t": 100, "t_pos2i": 100, "t_neg2i": 50,
    }  # fmt: skip
    assert found["n"] == 2 and found["by_type"]["swap"]["i2t"] == found["by_subtype"]["swap_att"]["group"] == 100
    told = found["figures"]["group"]
    assert (told["percent"], told["right"], told["n"], told["interval"]) == (50, 1, 2, "wilson")
    assert told["low"] < 50 < told["high"] and round(told["chance"], 2) == 16.67


def test_bivlc_from_choices(given):
    said = {"i_pos2t": "positive", "i_neg2t": "positive", "t_pos2i": "right", "t_neg2i": "none"}
    found = given("bivlc", [line("1", name, choice) for name, choice in said.items()])
    assert [found[name] for name in SEVEN] == [0, 0, 0, 100, 0, 100, 0]


def test_visla_of_a_text_encoder_alone(given):
    lines = scores("1", {"p1,p2": 0.9, "p1,n": 0.5, "p2,n": 0.6}) + scores(
        "2", {"p1,p2": 0.6, "p1,n": 0.6, "p2,n": 0.1}
    )
    found = given("visla", lines)
    assert [found[name] for name in ("t2t", "i2t", "p1_n", "p2_n", "n")] == [50, None, None, None, 2]


def test_halves_of_t2t_need_the_captions(given, tmp_path):
    """From the items, or from answers that name their item by captions."""
    texts = {
        "positive": "A cup on two books.",
        "second_positive": "Two books under it.",
        "negative": "A cup on a book.",
    }
    said = {"p1,p2": 0.6, "p1,n": 0.8, "p2,n": 0.1}
    captions = [{"role": role, "text": text} for role, text in texts.items()]
    items = written(tmp_path, "items.jsonl", json.dumps({"id": "1", "captions": captions}))
    for found in (given("visla", scores("1", said), items=items), given("visla", scores(texts, said))):
        assert [found[name] for name in ("t2t", "t2t_p1_n", "t2t_p2_n")] == [0, 100, 0]
    assert given("visla", scores("1", said))["t2t_p1_n"] is None


def test_visla_with_images(given):
    found = given("visla", scores("1", {"i,p1": 0.9, "i,p2": 0.4, "i,n": 0.5}))
    assert [found[name] for name in ("t2t", "i2t", "p1_n", "p2_n", "n")] == [None, 0, 100, 0, 1]


def test_hard_positives(given):
    lines = scores("1", {"c": 3, "cp": 2, "cn": 1}, type="replace", subtype="att")
    lines += scores("2", {"c": 3, "cp": 1, "cn": 2}, type="replace", subtype="att")
    lines += scores("3", {"c": 1, "cp": 2, "cn": 3}, type="replace", subtype="rel")
    found = given("hard_positive", lines)
    assert [round(found[name], 2) for name in ("original", "augmented", "brittleness", "n")] == [66.67, 33.33, 33.33, 3]
    assert found["mean_of_subtypes"]["replace"] == {"original": 50, "augmented": 25, "brittleness": 25}
    assert found["mean_scores"]["replace"] == pytest.approx({"s(c)": 7 / 3, "s(cp)": 5 / 3, "s(cn)": 2})
    assert found["mean_scores"]["replace_att"] == {"s(c)": 3, "s(cp)": 1.5, "s(cn)": 1.5}


def test_classification(given):
    """ARO Table 6, Hard Positive Truth Table 10: of seven classes, the own one first, fifth, tied, and last."""
    names = "abcdefg"
    ranked = {"1": ("a", "abcdefg"), "2": ("b", "cdefbag"), "3": ("c", "cabdefg"), "4": ("c", "abdefgc")}
    lines = []
    for item, (own, order) in ranked.items():
        named = {name: -order.index(name) for name in names}
        named |= {"a": 0} if item == "3" else {}  # level with the own class
        lines += scores(item, named, type=own)
    found = given("classification", lines)
    assert [found[name] for name in ("acc1", "acc5", "n")] == [25, 75, 4]
    assert {name: found["by_type"][name]["acc5"] for name in "abc"} == {"a": 100, "b": 100, "c": 50}
    assert found["figures"]["acc5"]["chance"] == pytest.approx(100 * 5 / 7)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (scores("1", {"a": 1}, type="c"), "Name the class"),
        (scores("1", {"a": 1}, type="a"), "no score for this class"),
        ([line("1", "a", 1)], "s(CLASS)"),
    ],
)
def test_a_class_that_is_missing_is_a_problem(given, capsys, wrong, words):
    with pytest.raises(CommandError):
        given("classification", [*wrong, *scores("2", {"a": 1, "b": 2}, type="b")])
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answers", "brittle"),
    [
        (scores("1", {"c": 3, "cp": 1, "cn": 2}), 100),
        (scores("1", {"c": 2, "cp": 1, "cn": 1}), 0),
        (scores("1", {"c": 1, "cp": 2, "cn": 1}), 0),
        ([line("1", "original", "c"), line("1", "hard_positive", "cn")], 100),
        ([line("1", "original", "c"), line("1", "hard_positive", "wrong")], 100),
        ([line("1", "original", "none"), line("1", "hard_positive", "cp")], 0),
    ],
)
def test_a_tie_and_no_choice_are_not_brittle(given, answers, brittle):
    """Of files here, and of what an import stored."""
    assert given("hard_positive", answers)["brittleness"] == brittle
    said = [(one["question"], one.get("score"), one.get("choice")) for one in answers]
    columns = {question: stored.Column([1], [score], [choice]) for question, score, choice in said}
    found = stored.summarize(stored.records(columns, {1: ("", "")}, HARD_POSITIVE), HARD_POSITIVE)
    assert found["measures"]["brittleness"]["share"] * 100 == brittle


def test_sugarcrepe_without_types_has_no_subsets_and_says_so(given):
    found = given("sugarcrepe", [line("1", "caption", "positive"), line("2", "caption", "negative")])
    assert (found["overall"], found["mean_of_subsets"], found["subsets"]) == (50, None, {})
    assert "type" in found["notes"][0]


def test_aro(given):
    pair = {"positive": 0.9, "negative": 0.1}
    lines = scores("1", pair, type="relation", subtype="on") + scores("2", pair, type="relation", subtype="wearing")
    lines += [line("3", "caption", "negative", type="relation", subtype="wearing")]
    lines += scores("4", pair, type="attribution", subtype="black vs white")
    lines += [line("5", "order", "negative-2", type="order", subtype="coco")]
    found = given("aro", lines)
    assert [found[name] for name in ("relation", "spatial", "verbs", "attribution", "order", "n")] == [
        75,
        100,
        50,
        100,
        0,
        5,
    ]
    assert round(found["relation_overall"], 2) == 66.67 and found["relations"] == {"on": 100, "wearing": 50}
    assert (found["figures"]["order"]["chance"], found["figures"]["relation"]["interval"]) == (20, "mover")


def test_retrieval(given):
    table = {
        ("1", "1/0"): 0.9,
        ("1", "1/1"): 0.1,
        ("1", "2/0"): 0.2,
        ("2", "1/0"): 0.3,
        ("2", "1/1"): 0.4,
        ("2", "2/0"): 0.5,
    }
    found = given("retrieval", [line(image, f"s({caption})", score) for (image, caption), score in table.items()])
    assert (found["i2t_r1"], round(found["t2i_r1"], 2), found["t2i_r5"], found["n"]) == (100, 66.67, 100, 5)


def test_items_give_types_and_take_their_own_answers_alone(given, tmp_path):
    captions = [{"role": "positive", "text": "A red cup."}, {"role": "negative", "text": "A blue cup."}]
    item = {"id": "1", "type": "swap", "subtype": "att", "captions": captions}
    items = written(tmp_path, "items.jsonl", json.dumps(item))
    found = given("sugarcrepe", [line("1", "caption", "positive"), line("2", "caption", "negative")], items=items)
    assert (found["subsets"], found["matching"]["unmatched"]) == ({"swap_att": 100}, 1)


# What is refused


@pytest.mark.parametrize(
    ("kind", "lines", "says"),
    [
        ("bivlc", [line("1", "i_pos2t", "right")] * 2, "DUPLICATE_ID · x.jsonl · 2 · i_pos2t"),
        ("bivlc", [*scores("1", GOOD), line("1", "i_pos2t", "right")], "WRONG_VALUE · x.jsonl · 5 · i_pos2t"),
        ("bivlc", scores("1", GOOD) + scores("2", {"c0,i0": 1}), "INCOMPLETE_ROW · x.jsonl · 5 · i_pos2t, i_neg2t"),
        ("bivlc", scores("1", {"c0,i0": 1}), "INCOMPLETE_ROW · x.jsonl · 1"),
        ("bivlc", [line("1", "i_pos2t", "right", type="swap"), line("1", "i_neg2t", "right", type="add")],
         "WRONG_VALUE · x.jsonl · 2 · type"),
        ("aro", [line("1", "caption", "right")], "WRONG_VALUE · x.jsonl · 1 · type"),
        ("aro", [line("1", "caption", "right", type="relation")], "VALUE_MISSING · x.jsonl · 1 · subtype"),
        ("retrieval", scores("1", {"1/0": 1, "2/0": 0}), "UNKNOWN_ID · x.jsonl"),
        ("retrieval", scores("1", {"1/0": 1}) + scores("2", {"2/0": 1}), "INCOMPLETE_ROW · x.jsonl · 1 · s(2/0)"),
        ("retrieval", scores("1", {"1/0": 1}) + scores("2", {"1/0": 1}), "VALUE_MISSING · x.jsonl · 2"),
        ("retrieval", scores({"positive": "A cup."}, {"1/0": 1}), "WRONG_VALUE · x.jsonl · 1 · item"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_is_refused_by_name(given, capsys, kind, lines, says):
    with pytest.raises(CommandError, match="Nothing was computed"):
        given(kind, lines)
    assert says in capsys.readouterr().out


def test_items_that_lack_an_answer_may_be_left_out(given):
    found = given("bivlc", scores("1", GOOD) + scores("2", {"c0,i0": 1}), skip_incomplete=True)
    assert (found["n"], found["left_out"]) == (1, 1) and "INCOMPLETE_ROW" in found["left_out_first"][0]


def test_nothing_whole_is_nothing_computed(given):
    with pytest.raises(CommandError):
        given("bivlc", scores("1", {"c0,i0": 1}), skip_incomplete=True)


def test_the_same_file_twice_is_not_two_models(tmp_path, capsys):
    path = written(tmp_path, "x.jsonl", json.dumps(line("1", "caption", "right")))
    with pytest.raises(CommandError):
        evaluated(capsys, "sugarcrepe", path, path)


def test_the_table_reads(given, tmp_path, capsys):
    path = written(tmp_path, "x.jsonl", "".join(json.dumps(one) + "\n" for one in scores("1", GOOD, type="swap")))
    call_command("evaluate", "bivlc", predictions=[path])
    rows = [row.split() for row in capsys.readouterr().out.splitlines()]
    assert rows[1] == ["i2t", "100.00", "20.65", "to", "100.00", "25.00", "1"]
    assert [row[0] for row in rows[1:4]] == ["i2t", "t2i", "group"]


def test_items_that_a_model_reads_alike_are_left_out_and_counted(given):
    """An item has its answers or the mark, whatever its list."""
    lines = scores("a", {"positive": 2, "negative": 1}, type="relation", subtype="under")
    marked = {"item": "b", "read_alike": True, "type": "order", "subtype": "coco"}
    found = given("aro", [marked, *lines])
    of_b = {"type": "order", "subtype": "coco", "count": 1}
    assert (found["n"], found["left_out"]) == (1, 0)
    assert found["cut"] == {"alike": {"count": 1, "keys": ["b"], "by_type": [of_b]}}
    found = given("aro", [{**marked, "cut": True}])
    assert (found["n"], found["cut"]["in_items"]) == (0, {"count": 1, "keys": ["b"]})
    with pytest.raises(CommandError):
        given("aro", [*lines, {"item": "a", "read_alike": True}])
    with pytest.raises(CommandError):
        given("aro", [*lines, {**marked, "read_alike": False}])
