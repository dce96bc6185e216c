"""Blind runs part by part, and where a warning stands."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from annotation.exports.export import export_split
from benchmarks.caption_only import shares, warning
from benchmarks.metrics import base
from tests.builders import predictions, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark():
    """40 items, half of them of swap att, half of add obj."""
    found = studies.benchmark()
    for number in range(1, 40):
        studies.item(found, 4, **({"type": "add", "subtype": "obj"} if number % 2 else {}))
    return found


def reader(benchmark, right, **fields):
    """A run that sees no image; right about the items at the places for which `right` holds."""
    pairs = {item: (1.0, 0.0) if right(item.position) else (0.0, 1.0) for item in benchmark.items.all()}
    of = {item: predictions.pairs(*scores) for item, scores in pairs.items()}
    return predictions.model(benchmark, of, kind="sugarcrepe", **{"blind": True, "title": "Reader", **fields})


def test_a_type_is_warned_of_where_the_whole_is_not(benchmark):
    reader(benchmark, lambda place: place % 2 or place % 4)  # add always, swap half of the time
    found = {one.name: one for one in warning.blindness_of(benchmark).found}
    assert (found["added"].share, found["added"].n, found["added"].warns) == (1, 20, True)
    assert (found["swapped"].share, found["swapped"].warns) == (0.5, False)
    assert found["all"].n == 40 and found["added object"].warns


def test_within_its_interval_nothing_is_warned_of(benchmark):
    reader(benchmark, lambda place: place % 5 < 3)  # 60% of 40: from 44.6%
    assert warning.blindness_of(benchmark).found and not warning.blindness_of(benchmark).warnings


def test_whoever_sees_images_is_not_meant(benchmark):
    reader(benchmark, lambda place: True, blind=False)
    assert warning.blindness_of(benchmark).runs == []


def test_a_warning_has_its_figures_and_the_other_parts(benchmark):
    reader(benchmark, lambda place: True)
    (told,) = warning.blindness_of(benchmark).warnings
    for said in ("Reader, which sees no image", "100.0%", "95% from 91.2 to 100.0%", "n = 40", "with chance at 50.0%"):
        assert said in told
    assert "The same is true of added object (accuracy), swapped attribute (accuracy), added (accuracy)" in told


@pytest.mark.django_db(transaction=True)
def test_an_export_says_it_in_its_card(benchmark, tmp_path):
    reader(benchmark, lambda place: True)
    export_split(study=studies.study(benchmark=benchmark), out=tmp_path / "split", by="test")
    assert "**Warning.** Reader, which sees no image" in (tmp_path / "split/README.md").read_text()


@pytest.mark.parametrize(("right", "n", "chance"), [(1, 1, 1 / 6), (2, 2, 1 / 3), (4, 4, 1 / 2), (7, 18, 1 / 5)])
def test_what_chance_does_often_is_no_warning_however_short_the_interval(right, n, chance):
    found = base.figure([True] * right + [False] * (n - right), chance)
    share = shares.Part(1, "Reader", "all", "group", "Group", found.share, found.low, found.high, chance, n)
    (mean,) = shares.with_warnings([share])
    assert mean.warns  # a mean of groups, of which only the interval is known
    (exact,) = shares.with_warnings([replace(share, right=right)])
    assert not exact.warns


def test_a_coin_is_rarely_warned_of_however_many_parts_are_looked_at():
    """Of SugarCrepe's sizes: seven subtypes, three types and the whole. Each part by itself warned of 17% of coins."""
    dice, sizes, kinds = np.random.default_rng(8), [494, 1406, 788, 244, 664, 692, 222], [[0, 1, 2], [3, 4], [5, 6]]
    groups, warned = [*([one] for one in range(7)), *kinds, [*range(7)]], []
    for _ in range(500):
        right, parts = dice.binomial(sizes, 0.5), []
        for of in groups:
            hits, n = int(right[of].sum()), int(np.array(sizes)[of].sum())
            low, high = base.wilson(hits, n)
            parts.append(shares.Part(1, "Coin", "all", "accuracy", "accuracy", hits / n, low, high, 0.5, n, hits))
        warned.append(any(part.warns for part in shares.with_warnings(parts)))
    assert np.mean(warned) <= 0.06


def test_what_chance_does_is_counted_exactly():
    assert shares.by_chance(4, 4, 1 / 2) == pytest.approx(1 / 16)
    assert shares.by_chance(6, 17, 1 / 6) == pytest.approx(binom.sf(5, 17, 1 / 6))
    assert shares.by_chance(7_000, 7_512, 1 / 2) < 1e-300
