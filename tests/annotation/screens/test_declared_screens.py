"""The screens of protocol files, for each of the library: blind, answered and shown again as they were answered."""

import re
import uuid
from html.parser import HTMLParser

import pytest

from annotation.adjudication import cases
from annotation.models import Judgment, Lease, Stage
from annotation.protocols.base import Answer
from annotation.protocols.registry import PROTOCOLS, protocol_named
from annotation.protocols.schema import ProtocolFile
from annotation.screens import read_answer, trial
from annotation.screens.painted import unpainted
from annotation.screens.screens import build_screens
from benchmarks.models import Caption, ItemImage
from tests.annotation.screens.test_screens import JSON, WORDS, answer_of, found_words, held, home
from tests.builders import declared, every_protocol, studies

pytestmark = pytest.mark.django_db


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
        elif tag == "input" and "name" in given and (given["type"] in ("hidden", "text") or "checked" in given):
            self.fields[given["name"]] = given["value"]

    def handle_endtag(self, tag):
        self.area = "" if tag == "textarea" else self.area

    def handle_data(self, data):
        if self.area:
            self.fields[self.area] = data.strip()


def tells(file: ProtocolFile, screen: Filled) -> set[str]:
    """Names of options in the screen's attributes."""
    roles = {reference.partition(".")[2] for reference in file.roles} - {one.name for one in file.answers}
    words = {word for value in screen.named for word in re.split(r"[^\w-]+|-(?=\d)", value)}
    return words & roles


def in_two_tabs(client, who, lease: Lease) -> str:
    """What the server asks when the same screen gets another answer, if there is one."""
    stored = Judgment.objects.get().answer
    for seed in range(1, 20):
        sent = answer_of(lease, seed)
        if read_answer.parse_answer(lease, lease.task.stage.protocol, sent).label != stored:
            asked = client.post(home(who) + "submit/", {"lease": lease.token, "key": uuid.uuid4(), **sent}, **JSON)
            assert (asked.status_code, Judgment.objects.count()) == (409, 1) and "<dd" in asked.json()["html"]
            return asked.text
    return ""


@pytest.mark.parametrize("name", [*declared.SAMPLED, "unusual"])
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
    sent = {"lease": lease.token, "key": uuid.uuid4(), **answer_of(lease)}
    got = [page, client.post(home(who) + "submit/", {"lease": lease.token, "key": uuid.uuid4()}, **JSON).text]
    assert "refused" in got[-1] and not Judgment.objects.exists()
    got.append(client.post(home(who) + "submit/", sent, **JSON).text)
    [judgment] = Judgment.objects.all()
    got.append(in_two_tabs(client, who, lease))
    got.append(client.get(home(who) + "history/").text)
    again = client.post(home(who) + "undo/", {"undo_key": uuid.uuid4()}, **JSON).json()["again"]["html"]
    filled = {field: value for field, value in Filled(again).fields.items() if value and field != "lease"}
    answer = Answer(judgment.answer, judgment.content)
    assert filled == (protocol.form.fill(answer, lease.shown) if protocol.form else {"answer": sent["answer"]})
    own = [f"{reference.partition('.')[2]}-0" for reference in file.roles]
    words = [word for word in [*WORDS, *own] if word not in file.instructions]
    assert found_words([*got, again], words, who) == [] and unpainted(page) == unpainted(again) == ""
    page = page.replace('id="left"', "")  # how many are left, also where an option is called that
    assert [tells(file, Filled(html)) for html in (page, again)] == [set(), set()]


class Choices(HTMLParser):
    """What can be picked on a screen by key: for each field, value → keys, the key that is shown, and the words."""

    def __init__(self, html: str):
        super().__init__()
        self.found: dict[str, dict[str, tuple[list[str], str, str]]] = {}
        self.at: tuple[str, str] | None = None
        self.in_kbd = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.in_kbd = tag == "kbd"
        if tag == "input" and given["type"] in ("radio", "checkbox") and "name" in given:
            many = given["type"] == "checkbox"
            self.at = (given["name"].partition("-")[0], given["name"]) if many else (given["name"], given["value"])
            keys = (given.get("data-keys") or given["value"]).split()
            self.found.setdefault(self.at[0], {})[self.at[1]] = keys, "", ""

    def handle_endtag(self, tag):
        self.in_kbd = False
        self.at = None if tag == "label" else self.at

    def handle_data(self, data):
        if self.at:
            field, value = self.at
            keys, key, words = self.found[field][value]
            self.found[field][value] = (keys, key + data.strip(), words) if self.in_kbd else (keys, key, words + data)


def looking_alike(html: str) -> list[str]:
    """Keys that are not shown, that do two things, or that look like another answer."""
    wrong: list[str] = []
    if "data-form" in html and 'data-form="declared"' not in html:
        return wrong  # of a protocol in Python whose script has its own keys, with none for words of the material
    for field, choices in Choices(html).found.items():
        pressed = [key for keys, _, _ in choices.values() for key in keys]
        wrong += [f"{field}: {key} twice" for key in set(pressed) if pressed.count(key) > 1]
        for value, (keys, shown, words) in choices.items():
            first = (words.split() or [""])[0]  # of a point, which may have an anchor; else words stand for a key alone
            look = first.casefold() if value == first or words.strip() == first else ""
            others = [key for other, (own, _, _) in choices.items() if other != value for key in own]
            if look in others or (len(look) == 1 and look.isdecimal() and keys != [look]):
                wrong.append(f"{field}: {value} looks like {look}, but has {keys}")
            if (shown or look).lower() not in keys:
                wrong.append(f"{field}: {value} shows {shown!r} and has {keys}")
    return wrong


def screens_of(stage: Stage) -> list[str]:
    return [one.html() for one in build_screens(trial.trial_leases(stage, 1, 3), stage)]


@pytest.mark.parametrize("name", [*declared.SAMPLED, "unusual"])
def test_no_key_of_a_file_looks_like_another_answer(name):
    screens = screens_of(declared.asked(name).stages.get())
    assert screens and [looking_alike(html) for html in screens] == [[]] * len(screens)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_key_of_a_built_in_protocol_looks_like_another_answer(name):
    study = studies.study(benchmark=every_protocol.benchmark(items=2), protocol=name)
    screens = screens_of(study.stages.get())
    assert screens and [looking_alike(html) for html in screens] == [[]] * len(screens)


OF_OBJECTS = {
    "winnow": "protocol/1", "name": "objects", "title": "Objects", "ask": "What is there?", "instructions": "Look.",
    "item": {"images": {"picture": 1}, "texts": {"first": 1, "second": "0..1"}},
    "screen": [{"picture": "picture"}, {"sentence": "first"}, {"sentence": "second"}],
    "answers": [
        {"name": "count", "ask": "How many of the first?", "kind": "scale", "points": 3},
        {"name": "other", "ask": "How many of the second?", "kind": "scale", "points": 3,
         "when": {"item": {"texts.second": 1}}},
        {"name": "left", "ask": "Is one left of the other?", "kind": "pick", "fixed": {"yes": "Yes", "no": "No"},
         "when": {"other": ["2", "3"]}},
    ],
}  # fmt: skip


@pytest.mark.parametrize(("lacking", "label"), [(True, "1//"), (False, "1/2/no")])
def test_a_question_about_what_an_item_lacks_is_not_on_its_screen(client, lacking, label):
    stage = declared.of_file(OF_OBJECTS, 1, lacking=lacking)
    who = studies.annotator(stage.study)
    page = client.get(home(who)).text
    assert [name in page for name in ("of the first?", "of the second?", "left of the other?")] == [
        True,
        *[not lacking] * 2,
    ]
    sent = {"lease": held(who).token, "key": uuid.uuid4(), "count": "1", "other": "2", "left": "no"}
    if not lacking:
        without = {name: value for name, value in sent.items() if name != "other"}
        assert "refused" in client.post(home(who) + "submit/", without, **JSON).text
    client.post(home(who) + "submit/", sent, **JSON)
    assert Judgment.objects.get().answer == label


OF_NUMBERS = {
    "winnow": "protocol/1", "name": "counts", "title": "Counts", "ask": "How many?", "instructions": "Count.",
    "item": {"images": {"picture": 1}, "captions": {"option": 4}}, "screen": [{"picture": "picture"}],
    "answers": [{"name": "count", "kind": "pick", "of": ["captions.option"],
                 "fixed": {"none": {"label": "None of them", "keys": ["n", "0"]}}}],
}  # fmt: skip
LONG = {**OF_NUMBERS, "screen": [{"picture": "picture", "label": "The picture"}]}  # of the generic template
POINTS = {**OF_NUMBERS, "screen": [{"sentence": "text"}], "item": {"captions": {"text": 1}}}


@pytest.mark.parametrize("data", [OF_NUMBERS, LONG])
@pytest.mark.parametrize(
    ("texts", "others", "cannot_judge"),
    [
        ({"0": "0", "3": "3", "2.": "2", "many": "a"}, ["n"], "c"),
        ({"A": "a", "n": "n", "C": "c", "Ф": "?ф"}, ["0"], "b"),
    ],
)
def test_a_caption_that_looks_like_a_key_is_picked_with_it(data, texts, others, cannot_judge):
    stage = declared.of_file(data, 1)
    for place, text in enumerate(texts):
        Caption.objects.filter(position=place).update(text=text)
    [html] = screens_of(stage)
    assert looking_alike(html) == []
    [choices] = Choices(html).found.values()
    keys = {words.split()[0]: of for of, _, words in choices.values()}
    assert keys.pop("None") == others
    case = cases.case(stage.tasks.get(), stage)
    of_case = {one.part.text: one.keys.split() for one in case.options if one.part}
    for found in (keys, of_case):  # ?: the place, which is drawn
        assert {text: re.sub("^[1-4](?=ф)", "?", "".join(of)) for text, of in found.items()} == texts
    assert [one.keys for one in case.fixed] == [*others, cannot_judge]


@pytest.mark.parametrize("points", [[1000000, 1000001], [-2, -1, 0, 1, 2], [0.1, 0.12345678]])
def test_points_stay_apart_on_the_screen(points):
    stage = declared.of_file({**POINTS, "answers": [{"name": "count", "kind": "scale", "points": points}]}, 1)
    [html] = screens_of(stage)
    [choices] = Choices(html).found.values()
    assert [*choices] == [words.strip() for _, _, words in choices.values()] == [*map(str, points)]
    assert looking_alike(html) == []


@pytest.mark.parametrize("lacks", [False, True])
def test_a_picture_that_an_item_lacks_leaves_no_frame(lacks):
    stage = declared.of_file({
        **OF_NUMBERS, "item": {"images": {"picture": "0..1"}, "captions": {"text": 1}},
        "screen": [{"picture": "picture"}, {"sentence": "text"}],
        "answers": [{"name": "fit", "kind": "pick", "fixed": {"yes": "Yes", "no": "No"}}],
    }, 1)  # fmt: skip
    stage.tasks.update(shows=["caption-text-0"] if lacks else ["picture-0", "caption-text-0"])
    [html] = screens_of(stage)
    assert html.count('class="cards"') == html.count("<img") == (0 if lacks else 1)
