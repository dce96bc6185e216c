"""What must hold of every paper's measures: chance, ties, that only the order of scores matters, and types."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics.bivlc import FAMILY, Answered
from benchmarks.predictions.kinds import ARO, BIVLC, KINDS, SUGARCREPE, VISLA
from tests.benchmarks.metrics.records import records_of

CAPTIONS = {"positive": "A cup on two books.", "second_positive": "Two books under a cup.", "negative": "A cup."}
every_kind = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS.values() if kind.family], ids=lambda kind: kind.name
)
WHOLE = st.lists(st.lists(st.integers(-3, 3), min_size=8, max_size=8), min_size=1, max_size=20)


def records(kind, rows) -> list:
    return records_of(kind, kind.scores, rows, captions=CAPTIONS)


@every_kind
def test_chance_is_what_random_scores_come_to(kind):
    found = kind.measured.accuracies(records(kind, np.random.default_rng(5).random((10_000, len(kind.scores)))))
    for name, measure in kind.measured.measures.items():
        assert (found[name].n, found[name].chance) == (10_000, measure.chance)
        assert found[name].share == pytest.approx(measure.chance, abs=0.015)


@every_kind
@given(WHOLE)
def test_only_the_order_of_scores_matters(kind, rows):
    scores = np.array(rows, dtype=float)[:, : len(kind.scores)]
    assert records(kind, scores**3 * 5 - 2) == records(kind, scores)


@every_kind
def test_ties_are_not_right(kind):
    found = kind.measured.accuracies(records(kind, np.ones((3, len(kind.scores)))))
    assert {(one.right, one.n) for one in found.values()} == {(0, 3)}


@pytest.mark.parametrize(
    ("kind", "first", "second"),  # scores that change places, and the measures that then do
    [
        (BIVLC, {"s(c0,i0)": "s(c1,i1)", "s(c0,i1)": "s(c1,i0)"}, {"i_pos2t": "i_neg2t", "t_pos2i": "t_neg2i"}),
        (VISLA, {"s(p1,n)": "s(p2,n)", "s(i,p1)": "s(i,p2)"}, {"p1_n": "p2_n"}),
        (ARO, {"s(negative-0)": "s(negative-3)", "s(negative-1)": "s(negative-2)"}, {}),
    ],
)
@given(rows=WHOLE)
def test_what_plays_the_same_part_may_change_places(kind, first, second, rows):
    scores, names = np.array(rows, dtype=float)[:, : len(kind.scores)], list(kind.scores)
    places = {**first, **{two: one for one, two in first.items()}}
    measures = {**second, **{two: one for one, two in second.items()}}
    turned = scores[:, [names.index(places.get(name, name)) for name in names]]
    one, other = (kind.measured.accuracies(records(kind, of)) for of in (scores, turned))
    for name in set(one) - {"t2t_p1_n", "t2t_p2_n"}:  # these tell the two apart
        assert one[name].share == other[measures.get(name, name)].share, name


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=30))
def test_changed_roles_turn_the_answer_round(rows):
    found, other = (
        SUGARCREPE.measured.accuracy(records(SUGARCREPE, of), "accuracy").right
        for of in (np.array(rows), np.array(rows)[:, ::-1])
    )
    assert found + other == sum(one != two for one, two in rows)


def test_types_come_with_their_subtypes_and_add_up():
    items = [Answered(*[True] * 4, "swap", "obj"), Answered(*[False] * 4, "swap", "att"), Answered(type="add")]
    groups = FAMILY.by_type(items)
    assert [(g.type, g.subtype, g.items) for g in groups] == [
        ("add", None, 1), ("add", "", 1), ("swap", None, 2), ("swap", "att", 1), ("swap", "obj", 1)
    ]  # fmt: skip
    assert [g.measures["group"].share for g in groups] == [None, None, 0.5, 0.0, 1.0]
