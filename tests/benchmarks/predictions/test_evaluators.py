"""The figures of ARO and SugarCrepe, from records made by hand and from ARO's Table 2."""

import pytest

from benchmarks.metrics import aro, sugarcrepe
from benchmarks.predictions.evaluators import EVALUATORS, missing_subsets
from benchmarks.predictions.kinds import ARO, SUGARCREPE

# Table 2, CLIP: accuracy in percent, by relation.
SPATIAL_CLIP = {
    "above": 48, "at": 59, "behind": 56, "below": 56, "beneath": 80, "in": 63, "in front of": 54, "inside": 50,
    "on": 52, "on top of": 43, "to the left of": 49, "to the right of": 49, "under": 64,
}  # fmt: skip
VERBS_CLIP = {
    "carrying": 33, "covered by": 47, "covered in": 79, "covered with": 56, "covering": 39, "cutting": 75,
    "eating": 57, "feeding": 90, "grazing on": 10, "hanging on": 79, "holding": 58, "leaning on": 67,
    "looking at": 84, "lying in": 47, "lying on": 60, "parked on": 67, "reflected in": 64, "resting on": 38,
    "riding": 71, "sitting at": 62, "sitting in": 57, "sitting on": 58, "sitting on top of": 50, "standing by": 67,
    "standing in": 73, "standing on": 60, "surrounded by": 64, "using": 84, "walking in": 70, "walking on": 79,
    "watching": 45, "wearing": 47,
}  # fmt: skip


def relations(percents: dict[str, int]) -> list[aro.Answered]:
    return [
        aro.Answered(caption=place < percent, type=aro.RELATION, subtype=name)
        for name, percent in percents.items()
        for place in range(100)
    ]


def test_clips_rows_of_table_2_give_the_papers_means():
    assert (SPATIAL_CLIP.keys(), VERBS_CLIP.keys()) == (aro.SPATIAL, aro.VERBS)
    items = relations(SPATIAL_CLIP | VERBS_CLIP)
    found = EVALUATORS["aro"](items, ARO).figures
    assert (round(found["spatial"].share, 2), round(found["verbs"].share, 2)) == (0.56, 0.61)
    assert round(found["relation"].share, 2) == 0.59
    assert [found[name].groups for name in ("spatial", "verbs", "relation")] == [13, 32, 45]


def test_a_relation_that_the_paper_does_not_name_is_in_neither_half():
    items = relations({"above": 100, "wearing": 100, "juggling": 0})
    found = EVALUATORS["aro"](items, ARO)
    assert [found.figures[name].share for name in ("spatial", "verbs")] == [1, 1]
    assert found.figures["relation"].share == pytest.approx(2 / 3)
    assert found.notes == ["Not in the paper's lists of spatial relations and verbs: juggling."]


def test_the_mean_over_pairs_and_the_share_of_items_differ_where_sizes_do():
    items = [aro.Answered(True, type=aro.ATTRIBUTION, subtype="black vs white")] * 9
    items.append(aro.Answered(False, type=aro.ATTRIBUTION, subtype="old vs open"))
    found = EVALUATORS["aro"](items, ARO)
    assert (found.figures["attribution_overall"].share, found.figures["attribution"].share) == (0.9, 0.5)
    assert [(name, one.n) for name, one in found.parts["attribute_pairs"].items()] == [
        ("black vs white", 9),
        ("old vs open", 1),
    ]
    assert found.figures["relation_overall"].share is None


@pytest.mark.parametrize(
    "typed",
    [lambda type, subtype: (type, subtype), lambda *both: ("_".join(both), ""), lambda *both: ("", "_".join(both))],
)
def test_sugarcrepes_rows_count_in_one_figure_and_its_subsets_in_the_other(typed):
    """Whether type and subtype have a column each, or one of them names both."""
    given = [(True, "swap", "obj")] * 3 + [(False, "add", "att"), (None, "add", "obj")]
    rows = [(right, *typed(*both)) for right, *both in given]
    found = EVALUATORS["sugarcrepe"]([sugarcrepe.Answered(*row) for row in rows], SUGARCREPE)
    assert (found.figures["overall"].right, found.figures["overall"].n) == (3, 4)
    shares = {name: one.share for name, one in found.parts["subsets"].items()}
    assert shares == {"add_att": 0, "add_obj": None, "swap_obj": 1}
    assert (found.figures["mean_of_subsets"].share, found.figures["mean_of_subsets"].groups) == (0.5, 2)


def test_sugarcrepes_subsets_need_the_type_of_every_item():
    found = EVALUATORS["sugarcrepe"]([sugarcrepe.Answered(True, "swap", "obj"), sugarcrepe.Answered(True)], SUGARCREPE)
    assert found.figures["overall"].n == 2 and found.figures["mean_of_subsets"].share is None
    assert not found.parts["subsets"] and found.notes == ["Subsets: not every item has a type and subtype."]
    assert [(one.type, one.subtype) for one in found.groups] == [("", None), ("", ""), ("swap", None), ("swap", "obj")]


@pytest.mark.parametrize(
    ("asked", "alike", "notes"),
    [
        ((), (), []),
        ([("swap", "obj"), ("add", "att")], (), ["No item of swap_obj is answered"]),
        ([("swap", "obj"), ("add", "obj")], [("swap", "obj"), ("add", "att")], [
            "No item of add_obj is answered",
            "No item of swap_obj is scored, since the model reads their captions alike",
        ]),
    ],
)  # fmt: skip
def test_a_subset_is_missing_only_if_the_benchmark_has_it(asked, alike, notes):
    found = missing_subsets(SUGARCREPE, [sugarcrepe.Answered(True, "add", "att")], asked, alike)
    assert [note.partition(":")[0] for note in found] == notes
