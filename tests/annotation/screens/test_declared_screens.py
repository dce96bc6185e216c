"""The screens of protocol files, for each file of the library: blind, answered and shown again as they were answered.

Where a protocol in Python asks the same, the screens are the same, byte for byte.
"""

import re
import uuid
from html.parser import HTMLParser
from random import Random

import pytest

from annotation.models import Judgment, Lease, Stage, Study
from annotation.protocols.base import Answer, Protocol
from annotation.protocols.declared import library
from annotation.protocols.declared.schema import ProtocolFile
from annotation.protocols.registry import PROTOCOLS, protocol_named
from annotation.screens import read_answer, trial
from annotation.screens.material import texts_of
from annotation.screens.screens import build_screens
from benchmarks import queries
from benchmarks.models import Caption, ItemImage
from tests.annotation.screens.test_screens import JSON, WORDS, found_words, held, home
from tests.builders import declared, studies

pytestmark = pytest.mark.django_db
BOTH = [name for name in PROTOCOLS if name in library.names()]


class Filled(HTMLParser):
    """What a browser without scripts would send of a screen as it stands."""

    def __init__(self, html: str):
        super().__init__()
        self.fields: dict[str, str] = {}
        self.named: set[str] = set()  # every value of an attribute that tells parts or answers apart
        self.area = self.select = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.named |= {given[name] for name in ("id", "name", "value") if name in given}
        self.named |= {value for name, value in given.items() if name.startswith("data-")}
        if tag == "select":
            self.select = given["name"]
        elif tag == "option" and "selected" in given:
            self.fields[self.select] = given["value"]
        elif tag == "textarea":
            self.area = given["name"]
        elif tag == "input" and "name" in given and (given["type"] == "hidden" or "checked" in given):
            self.fields[given["name"]] = given["value"]

    def handle_endtag(self, tag):
        self.area = "" if tag == "textarea" else self.area

    def handle_data(self, data):
        if self.area:
            self.fields[self.area] = data.strip()


def answered(protocol: Protocol, lease: Lease, seed: int = 0) -> dict[str, str]:
    """The fields of some answer to it."""
    if protocol.form:
        texts = texts_of(lease.task, lease.shown)
        return protocol.form.simulate(Random(seed), lease.shown, texts, lease.task.question)
    places = [*map(str, range(1, len(lease.shown) + 1)), *(one.identity for one in protocol.fixed)]
    return {"answer": places[seed % len(places)]}


def tells(file: ProtocolFile, screen: Filled) -> set[str]:
    """Names of options in the screen's attributes."""
    roles = {reference.partition(".")[2] for reference in file.roles} - {one.name for one in file.answers}
    words = {word for value in screen.named for word in re.split(r"[^\w-]+|-(?=\d)", value)}
    return words & roles


def in_two_tabs(client, who, protocol: Protocol, lease: Lease) -> str:
    """What the server asks when the same screen gets another answer, if there is one."""
    stored = Judgment.objects.get().answer
    for seed in range(1, 20):
        sent = answered(protocol, lease, seed)
        if read_answer.parse_answer(lease, protocol.name, sent).label != stored:
            asked = client.post(home(who) + "submit/", {"lease": lease.token, "key": uuid.uuid4(), **sent}, **JSON)
            assert (asked.status_code, Judgment.objects.count()) == (409, 1) and "<dd" in asked.json()["html"]
            return asked.text
    return ""


@pytest.mark.parametrize("name", [*library.names(), "unusual"])
def test_a_screen_is_blind_and_comes_back_as_it_was_answered(client, name):
    study = declared.asked(name)
    study.name = "A study"
    study.save()
    study.benchmark.items.update(subtype="canary", meta={"note": "CANARY"}, truth={"note": ["CANARY"]})
    ItemImage.objects.update(source_name="CANARY.jpg", attributes={"model": "CANARY"})
    Caption.objects.update(attributes={"parents": "CANARY"})
    who, protocol = studies.annotator(study), protocol_named(study.stages.get().protocol)
    file = protocol.file
    page = client.get(home(who)).text
    lease = held(who)
    sent = {"lease": lease.token, "key": uuid.uuid4(), **answered(protocol, lease)}
    got = [page, client.post(home(who) + "submit/", {"lease": lease.token, "key": uuid.uuid4()}, **JSON).text]
    assert "refused" in got[-1] and not Judgment.objects.exists()
    got.append(client.post(home(who) + "submit/", sent, **JSON).text)
    [judgment] = Judgment.objects.all()
    got.append(in_two_tabs(client, who, protocol, lease))
    got.append(client.get(home(who) + "history/").text)
    again = client.post(home(who) + "undo/", {"undo_key": uuid.uuid4()}, **JSON).json()["again"]["html"]
    filled = {field: value for field, value in Filled(again).fields.items() if value and field != "lease"}
    answer = Answer(judgment.answer, judgment.content)
    assert filled == (protocol.form.fill(answer, lease.shown) if protocol.form else {"answer": sent["answer"]})
    own = [f"{reference.partition('.')[2]}-0" for reference in file.roles]
    words = [word for word in [*WORDS, *own] if word not in file.instructions]
    assert found_words([*got, again], words, who) == []
    assert [tells(file, Filled(html)) for html in (page, again)] == [set(), set()]


@pytest.mark.parametrize("name", BOTH)
def test_a_file_shows_the_bytes_that_the_protocol_in_python_shows(name):
    published, python = declared.published(name), PROTOCOLS[name]
    made = queries.with_material(declared.benchmark(library.shipped(name)).items.all())
    leases = [trial.lease_of(task, 1) for task in trial.tasks_of_items(python, made, {}, 1)]
    for lease in leases:
        given = answered(python, lease)
        for previous in ({}, given):
            lease.previous = previous
            stages = [Stage(protocol=one, study=Study(language="en")) for one in (name, published)]
            one, other = [build_screens([lease], stage)[0].html() for stage in stages]
            assert one == other and ("checked" in one) == bool(previous)
    assert len(leases) >= 2
