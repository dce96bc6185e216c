"""Points and boxes on a picture: read, refused by name, and compared by where they are."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from annotation.protocols import marks
from annotation.protocols.base import BOXES, POINTS
from annotation.protocols.marks import Mark


@pytest.mark.parametrize(
    ("kind", "said", "labels"),
    [(POINTS, "0:10000", ()), (POINTS, "1:2:hand,3:4:face", ("hand", "face")), (BOXES, "0:0:1:10000,5:5:6:6", ())],
)
def test_marks_are_stored_as_they_were_set(kind, said, labels):
    assert marks.written(marks.read(kind, said, labels)) == said
    assert marks.read(kind, "none", labels) == [] and marks.written([]) == "none"


@pytest.mark.parametrize(
    ("kind", "said", "labels", "wrong"),
    [
        (POINTS, "1", (), "not written"),
        (POINTS, "-1:5", (), "not written"),
        (POINTS, "1:٣", (), "not written"),
        (POINTS, "1:2,", (), "not written"),
        (POINTS, "10001:5", (), "outside the picture"),
        (POINTS, "1:2:foot", ("hand",), "none of this"),
        (POINTS, "1:2", ("hand",), "none of this"),
        (POINTS, "1:2:3", (), "none of this"),
        (BOXES, "5:5:5:9", (), "without a size"),
        (BOXES, "5:5:4:9", (), "without a size"),
    ],
)
def test_what_is_no_mark_is_refused_by_name(kind, said, labels, wrong):
    with pytest.raises(marks.NotMarks, match=wrong):
        marks.read(kind, said, labels)


@pytest.mark.parametrize(
    ("kind", "said", "found"),
    [
        (BOXES, "[[0.1, 0.2, 0.5, 1]]", [Mark((1000, 2000, 5000, 10000))]),
        (BOXES, [20, 10, 100, 50], [Mark((1000, 2000, 5000, 10000))]),
        (BOXES, '[{"bbox": [20, 10, 80, 40], "label": "cat"}]', [Mark((1000, 2000, 5000, 10000), "cat")]),
        (BOXES, [{"x": 20, "y": 10, "width": 80, "height": 40}], [Mark((1000, 2000, 5000, 10000))]),
        (BOXES, [{"x1": 20, "y1": 10, "x2": 100, "y2": 50}], [Mark((1000, 2000, 5000, 10000))]),
        (POINTS, [{"x": 0.5, "y": 0.25}, [100, 25]], [Mark((5000, 2500)), Mark((5000, 5000))]),
        (POINTS, [], []),
        (BOXES, {"width": 100, "height": 25, "boxes": [[10, 5, 50, 30]]}, [Mark((1000, 2000, 5000, 10000))]),
    ],
)
def test_marks_of_the_material_are_shares_or_pixels(kind, said, found):
    assert marks.from_data(kind, said, (200, 50)) == found


@pytest.mark.parametrize(
    ("said", "wrong"),
    [("a cat", "not a JSON"), ('"x"', "not a list"), ([[1, 2]], "4 numbers"), ({"boxes": []}, "a width"),
     ([{"bbox": "x"}], "4 numbers"), ([[0, 0, float("nan"), 1]], "4 numbers")],
)  # fmt: skip
def test_material_without_marks_says_what_is_wrong(said, wrong):
    with pytest.raises(marks.NotMarks, match=wrong):
        marks.from_data(BOXES, said, (200, 50))


def test_pairs_are_those_of_the_largest_sum():
    draw = np.random.default_rng(7)
    for rows, columns in draw.integers(1, 9, (200, 2)):
        worth = draw.random((rows, columns)).round(1) * (draw.random((rows, columns)) < 0.6)
        ours = marks.best_pairs(worth.tolist())
        assert len({row for row, _ in ours}) == len(ours) == len({column for _, column in ours})
        theirs = worth[linear_sum_assignment(worth, maximize=True)].sum()
        assert sum(worth[pair] for pair in ours) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(
    ("one", "other", "f1"),
    [
        ("none", "none", 1),
        ("1000:1000", "none", 0),
        ("1000:1000,5000:5000", "1300:1400,9000:9000", 0.5),  # 500 away
        ("1000:1000", "1300:1401", 0),
        ("1000:1000,1600:1000", "1300:1000", 2 / 3),  # one point has one pair
        ("1000:1000:hand", "1000:1000:face", 0),
    ],
)
def test_points_agree_within_the_radius(one, other, f1):
    assert marks.likeness(POINTS, one, other, 0.05) == marks.likeness(POINTS, other, one, 0.05) == pytest.approx(f1)


def test_boxes_agree_by_the_share_that_they_have_in_common():
    assert marks.iou((0, 0, 10, 10), (5, 0, 15, 10)) == pytest.approx(1 / 3)
    one, other = "0:0:100:100,500:500:600:600", "50:0:150:100"
    assert marks.likeness(BOXES, one, other) == pytest.approx(1 / 6) and marks.box_f1(one, other) == 0
    assert marks.box_f1("0:0:100:100", "0:0:100:60") == 1
    assert (
        marks.mean_likeness(BOXES, ["none", "none", one]) == pytest.approx(1 / 3)
        and marks.mean_likeness(BOXES, [one]) == 1
    )
