"""Splits without a leak: components by image, shares, order, what an earlier version said."""

import random
from collections import Counter, defaultdict
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.releases.plan import SPLIT_NAMES, SPLITS
from annotation.releases.splitting import Earlier
from benchmarks.construction.splitting import Unit, assign, components

KINDS = [("replace", "obj"), ("replace", "att"), ("swap", "obj")]
SHARES = list(SPLITS.values())
hashes = st.frozensets(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), max_size=2)
units_of = st.lists(st.tuples(st.sampled_from(KINDS), hashes), max_size=40).map(
    lambda rows: [Unit(f"item-{number}", kind, found) for number, (kind, found) in enumerate(rows)]
)
plans = st.tuples(units_of, st.sampled_from(SHARES), st.integers(0, 5))


def unit(key: str, *contents: str, kind: tuple[str, str] = KINDS[0]) -> Unit:
    return Unit(key, kind, frozenset(contents))


def alone(count: int) -> list[Unit]:
    return [unit(f"item-{number}", kind=KINDS[number % 3]) for number in range(count)]


@given(plans)
def test_no_image_is_in_two_splits_and_every_item_in_one(plan):
    units, shares, seed = plan
    splits = assign(units, shares, seed).splits
    assert set(splits) == {one.key for one in units} and set(splits.values()) <= set(shares)
    where = defaultdict(set)
    for one in units:
        for content in one.hashes:
            where[content].add(splits[one.key])
    assert all(len(found) == 1 for found in where.values())


@given(plans, st.randoms(use_true_random=False), st.sampled_from([{}, {"item-1": "train", "item-2": "test"}]))
def test_the_order_of_the_input_does_not_matter(plan, dice, fixed):
    units, shares, seed = plan
    mixed, turned = dice.sample(units, len(units)), dict(reversed(shares.items()))
    assert repr(assign(mixed, turned, seed, fixed)) == repr(assign(units, shares, seed, fixed))


@given(plans)
def test_no_split_is_further_from_its_share_than_the_largest_component(plan):
    units, shares, seed = plan
    largest = max((len(one) for one in components(units)), default=0)
    counts = Counter(assign(units, shares, seed).splits.values())
    assert all(abs(counts[split] - len(units) * share / 100) <= largest for split, share in shares.items())


@given(plans, st.dictionaries(st.integers(0, 40).map("item-{}".format), st.sampled_from(SPLIT_NAMES)))
def test_what_was_in_a_split_stays_there_or_is_told(plan, fixed):
    units, shares, seed = plan
    found = assign(units, shares, seed, fixed)
    there = {key: split for key, split in fixed.items() if key in found.splits}
    assert found.moved == {key: split for key, split in there.items() if found.splits[key] != split}
    for component in components(units):
        stood = {fixed[one.key] for one in component if one.key in fixed} & set(shares)
        if stood:
            assert {found.splits[one.key] for one in component} == {max(stood, key=SPLIT_NAMES.index)}


def test_items_hang_together_through_others():
    chain = [unit("d", "3"), unit("a", "1"), unit("c", "2", "3"), unit("b", "1", "2"), unit("e"), unit("f")]
    assert [[one.key for one in component] for component in components(chain)] == [["a", "b", "c", "d"], ["e"], ["f"]]


@pytest.mark.parametrize(("shares", "seed"), product(SHARES[1:], range(5)))
def test_each_kind_has_the_shares_too(shares, seed):
    dice, sizes = random.Random(seed), {("replace", "obj"): 700, ("swap", "att"): 91, ("add", "att"): 17, ("x", "y"): 3}
    units = [unit(f"{kind}-{number}", kind=kind) for kind, size in sizes.items() for number in range(size)]
    splits = assign(dice.sample(units, len(units)), shares, seed).splits
    counts = Counter((one.kind, splits[one.key]) for one in units)
    off = {
        (kind, split): abs(counts[kind, split] - size * share / 100)
        for kind, size in sizes.items()
        for split, share in shares.items()
    }
    assert max(off.values()) < 2, off


def test_kinds_of_one_item_each_make_the_shares_together():
    units = [unit(f"item-{number}", kind=("rare", str(number))) for number in range(50)]
    assert Counter(assign(units, SPLITS["80/10/10"], 3).splits.values()) == {"train": 40, "validation": 5, "test": 5}


def test_another_seed_deals_otherwise_and_the_same_one_the_same():
    one, again, other = (assign(alone(60), SPLITS["80/20"], seed).splits for seed in (1, 1, 2))
    assert one == again != other


def test_a_component_of_two_splits_goes_to_the_last_and_says_which_items_moved():
    units = [unit("a", "1"), unit("b", "1"), unit("c", "1"), unit("d")]
    found = assign(units, SPLITS["80/10/10"], 0, {"a": "train", "b": "validation", "d": "train", "gone": "test"})
    assert {key: found.splits[key] for key in "abcd"} == dict(zip("abcd", ["validation"] * 3 + ["train"], strict=True))
    assert found.moved == {"a": "train"}


def test_a_later_version_fills_the_shares_with_what_is_new():
    earlier = assign(alone(50), SPLITS["80/20"], 1).splits
    later = assign(alone(100), SPLITS["80/20"], 9, earlier)
    assert later.splits | earlier == later.splits and not later.moved
    assert Counter(later.splits.values()) == {"train": 80, "validation": 20}
    every = assign(alone(100), SPLITS["80/20"], 1, dict.fromkeys(earlier, "validation"))
    assert Counter(every.splits.values()) == {"train": 50, "validation": 50}


def test_a_split_that_there_is_no_more_holds_nobody():
    found = assign(alone(3), SPLITS["one"], 0, {"item-0": "train", "item-1": "test"})
    assert set(found.splits.values()) == {"test"} and found.moved == {"item-0": "train"}


def test_these_items_are_dealt_so_for_ever():
    splits = assign(alone(10), SPLITS["80/20"], 7).splits
    assert [key for key, split in splits.items() if split == "validation"] == ["item-4", "item-9"]


# What earlier versions had


def test_an_image_that_a_version_had_stays_in_its_split_with_another_item():
    earlier = Earlier()
    earlier.add([line("gone", "train", "a"), line("kept", "test", "b")])
    earlier.add([line("kept", "test", "b", "c")])
    found = {"kept": {"b"}, "new": {"a"}, "both": {"a", "c"}, "fresh": {"d"}}
    assert {key: earlier.split_of(unit(key, *hashes)) for key, hashes in found.items()} == {
        "kept": "test", "new": "train", "both": "test", "fresh": "",
    }  # fmt: skip


def line(key: str, split: str, *hashes: str) -> dict:
    return {"id": key, "split": split, "images": [{"sha256": one} for one in hashes]}
