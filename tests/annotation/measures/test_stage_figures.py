"""Which figure of agreement a page shows first: from literals."""

import pytest

from annotation.measures.stage_figures import headline


def stage(**values: float | None) -> dict:
    """Figures of a stage whose answers are looked at on “fit”, with the values of its measures."""
    found = {key: {"value": value, "note": "" if value else "one label"} for key, value in values.items()}
    return {"by_type_on": "fit", "agreement": [{"on": "answer", "measures": {}}, {"on": "fit", "measures": found}]}


@pytest.mark.parametrize(
    ("alpha", "ac1", "shares", "measure"),
    [
        (0.4, 0.7, (0.6, 0.4), "alpha_nominal"),
        (0.1, 0.7, (0.9, 0.1), "ac1"),
        (None, 1.0, (1.0,), "ac1"),
        (None, None, (), "percent"),
    ],
)
def test_the_chief_measure_comes_first_or_else_the_share_of_equal_answers(alpha, ac1, shares, measure):
    found = headline(stage(percent=0.8, cohen_mean=0.3, alpha_nominal=alpha, ac1=ac1), shares)
    assert (found["on"], found["measure"]) == ("fit", measure)


def test_where_nothing_is_compared_the_reason_is_given():
    found = headline(stage(percent=None, alpha_nominal=None, ac1=None), ())
    assert (found["value"], found["note"]) == (None, "one label")
