"""An order's fields are described once: its form, a command's options and its check come from them."""

from argparse import ArgumentParser
from dataclasses import MISSING

import pytest

from benchmarks.generation.caption_order import CaptionOrder
from benchmarks.generation.images import ImagesOrder
from benchmarks.generation.views import ImagesForm
from benchmarks.jobs.orders import checked, default_of, options_of
from benchmarks.management.orders import add_options, values_of
from benchmarks.records import Refused
from benchmarks.runs.import_predictions import PredictionsOrder
from benchmarks.scoring.ask import AskOrder
from benchmarks.scoring.score import ScoreOrder
from benchmarks.training.train import TrainOrder

ORDERS = [AskOrder, CaptionOrder, ImagesOrder, PredictionsOrder, ScoreOrder, TrainOrder]
VALUES = {
    "source": "s",
    "model": "m",
    "name": "n",
    "address": "https://a.example",
    "preset": "negclip",
    "kinds": ["swap-obj"],
}


@pytest.mark.parametrize("order", ORDERS)
def test_a_command_without_options_orders_the_defaults(order):
    parser = ArgumentParser()
    add_options(parser, order)
    needed = {name: VALUES[name] for name in options_of(order) if default_of(order, name) is MISSING}
    given = []
    for name, value in needed.items():
        option = options_of(order)[name].option or name
        given += [f"--{option}", value if isinstance(value, str) else value[0]]
    read = order(**values_of(order, vars(parser.parse_args(given))))
    assert read == order(**needed)
    assert checked(read) == read


def test_form_and_check_hold_the_same_limits():
    given = {"model": "m", "count": 17, "steps": 50, "guidance": 5, "seed": 0, "device": "auto"}
    form = ImagesForm(given)
    assert form.errors == {"count": ["Ensure this value is less than or equal to 16."]}
    with pytest.raises(Refused, match="Images per item: Ensure this value is less than or equal to 16"):
        checked(ImagesOrder(**given))


def test_what_a_form_leaves_empty_has_the_orders_default():
    form = ImagesForm(
        {"model": "m", "count": 2, "steps": 50, "guidance": 5, "seed": 0, "device": "auto", "keys": " a \n\na"}
    )
    assert form.is_valid()
    assert form.order == ImagesOrder("m", count=2, keys=("a",))
