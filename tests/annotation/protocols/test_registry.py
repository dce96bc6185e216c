"""What every protocol must be, whatever it asks."""

import re
from pathlib import Path
from random import Random

import pytest
from django.template.loader import render_to_string

from annotation.designs.presets import SPECIMEN
from annotation.protocols.registry import PROTOCOLS
from annotation.protocols.rules import rule_for

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES, KEYS = ROOT / "templates", ROOT / "static" / "js" / "judging" / "keys.js"
TEXTS = [
    f"caption-{one}-{place}" for one in ("positive", "negative", "second_positive", "candidate") for place in range(9)
]
ROLES = ("positive", "negative", "candidate", "original")
every = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda one: one.name)


@every
def test_it_has_a_template_and_words_that_name_no_role(protocol):
    assert (TEMPLATES / protocol.template).is_file() and protocol.shown
    words = f"{protocol.title} {protocol.question} {protocol.shown} {protocol.instructions} {protocol.picks}".lower()
    assert not [role for role in ROLES if role in words]


@every
def test_its_questions_of_an_item_are_told_apart_and_have_answers(protocol):
    asks = protocol.tasks(SPECIMEN, {"negative": "candidate-2"})
    assert len({ask.question for ask in asks}) == len(asks)
    assert all(ask.shows and (ask.options or protocol.fixed or protocol.form) for ask in asks)


@every
def test_what_can_be_answered_is_listed_for_agreement(protocol):
    """Under each view two labels or more, of which simulated annotators give no other."""
    rule = rule_for(protocol, 1, "drop")
    for ask in protocol.tasks(SPECIMEN, {"negative": "candidate-2"}):
        labels = [*ask.options, *(choice.identity for choice in protocol.fixed)]
        if protocol.form:
            texts = {identity: f"Words {identity}." for identity in TEXTS}
            sent = [protocol.form.simulate(Random(seed), ask.options, texts, ask.question) for seed in range(40)]
            labels = [protocol.form.parse(one, ask.options, texts, ask.question).label for one in sent]
        for view, see in rule.projections().items():
            offered = rule.offered(view, ask.options)
            assert {see(label) for label in labels} <= offered and len(offered) > 1, view


@every
def test_its_keys_are_shown_and_each_does_one_thing(protocol):
    keys = [key for choice in protocol.fixed for key in choice.keys]
    options = protocol.tasks(SPECIMEN, {"negative": "candidate-2"})[0].options
    assert len(set(keys)) == len(keys)
    assert bool(protocol.form.keys) if protocol.form else bool(protocol.picks[0]) == bool(options)
    assert not set(keys) & {str(place) for place in range(1, len(options) + 1)}


@every
def test_its_keys_are_none_of_the_pages(protocol):
    """U, F, H and whatever else judging/keys.js means by itself. Skipping is S with Shift: guidelines may have S."""
    taken = set(re.findall(r"\b([a-z]): \"", KEYS.read_text())) | {"z", "?"}
    guidelines = [one.key for one in protocol.guidelines]
    fixed = [key for choice in protocol.fixed for key in choice.keys]
    assert taken >= {"u", "f", "h"} and not taken & {*guidelines, *fixed} and "s" not in fixed
    assert len(set(guidelines)) == len(guidelines) and not set(guidelines) & set("ade0")


@every
def test_what_it_leaks_from_is_there(protocol):
    assert protocol.leaks <= set(PROTOCOLS) - {protocol.name}


@every
def test_the_key_for_the_picture_is_told_once_and_only_where_there_is_one(protocol):
    told = render_to_string("judging/_keys.html", {"protocol": protocol})
    assert told.count("<kbd>Z</kbd>") == (protocol.name != "sugarcrepe-compare")
