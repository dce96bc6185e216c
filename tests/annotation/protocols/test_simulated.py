"""Simulated answers to declared protocols: the screen takes them, and they agree about as far as the rate lets them."""

from random import Random

import pytest

from annotation.measures.declared import agreement
from annotation.protocols import answers, library
from annotation.protocols.simulated import simulate
from annotation.protocols.tasks import tasks_of
from annotation.protocols.walk import made_up_item, texts_of


def said(name: str, error_rate: float, items: int, people: int = 3) -> list[tuple]:
    """(item and question, annotator, stored label in the file's words) of the library's protocol."""
    of = library.shipped(name)
    record = made_up_item(of, most=True, limit=9)
    texts = texts_of(record)
    found = []
    for item in range(items):
        for task in tasks_of(of, record, {})[:2]:
            for who in range(people):
                rng = Random(f"{item}{task.question}{who}")
                shown = rng.sample(task.options, len(task.options))
                sent = simulate(of, rng, shown, texts, task.question, item, error_rate)
                label = answers.parse(of, sent, shown, texts, task.question).label
                found.append(((item, task.question), who, label))
    return found


@pytest.mark.parametrize("name", library.names())
def test_without_errors_everybody_says_the_same(name):
    assert {len({label for at, _, label in said(name, 0, 2) if at == place}) for place, *_ in said(name, 0, 2)} == {1}


@pytest.mark.parametrize(
    "name, measure", [("prompt-fit", "alpha_ordinal"), ("two-scores", "alpha_ordinal"), ("rank-images", "tau_b"),
                      ("image-questions", "alpha_nominal"), ("word-by-word", "alpha_nominal"),
                      ("winoground-pairs", "alpha_nominal"), ("preference", "alpha_nominal")],
)  # fmt: skip
def test_with_errors_they_agree_far_above_chance(name, measure):
    of = library.shipped(name)
    for found in agreement(of, said(name, 0.1, 40)).values():
        assert 0.4 < found["measures"][measure]["value"] < 0.99


def test_errors_on_a_scale_are_neighbours():
    truth = {at: label for at, _, label in said("prompt-fit", 0, 60)}
    apart = [abs(int(label) - int(truth[at])) for at, _, label in said("prompt-fit", 0.3, 60)]
    assert set(apart) == {0, 1} and 0.2 < sum(apart) / len(apart) < 0.4
