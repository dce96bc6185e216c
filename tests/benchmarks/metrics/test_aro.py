"""ARO's order tasks; its other figures: predictions/test_evaluators.py."""

from benchmarks.metrics.aro import ORDER, groups, ordered, overall


def test_order_is_one_of_five_and_a_tie_with_any_is_not_right():
    items = ordered([[5, 1, 2, 3, 4], [5, 5, 1, 1, 1], [1, 2, 3, 4, 5]], ["coco"] * 2 + ["flickr30k"])
    assert [item.order for item in items] == [True, False, False]
    assert overall(items, ORDER).chance == 0.2
    assert {name: found.right for name, found in groups(items, ORDER).items()} == {"coco": 1, "flickr30k": 0}


def test_what_is_no_number_is_never_right():
    assert [item.order for item in ordered([[float("nan"), 1, 1, 1, 1], [5, 1, float("nan"), 1, 1]], ["", ""])] == [
        False,
        False,
    ]
