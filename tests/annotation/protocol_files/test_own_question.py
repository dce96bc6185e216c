"""The form that makes a question of one's own: whatever is chosen in it, its file can be read and asked."""

import itertools
from collections.abc import Iterator

import pytest

from annotation.protocol_files import drafts, own_question
from annotation.protocol_files.forms import OwnQuestionForm
from annotation.protocol_files.publish import publish
from annotation.protocol_files.rehearsal import rehearse
from annotation.protocols import library, schema
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord

pytestmark = pytest.mark.django_db
FOIL = {"images.positive": 1, "captions.positive": 1, "captions.negative": 1}
SEVERAL = {"images.picture": 3, "images.shot": 1, "captions.positive": 2, "texts.prompt": 1, "texts.both": 2}
BASE = {"ask": "  Which one,\tthen: yes? ", "judgments": 3, "least": 2, "points": 5, "yes": "Yes", "no": "No"}


def item_with(counts: dict[str, int]) -> ItemRecord:
    parts = [(role.split("."), place) for role, count in counts.items() for place in range(count)]
    texts = [CaptionRecord(role, f"{place} red cups: “blue”.") for (kind, role), place in parts if kind != "images"]
    images = [ImageRecord(role, f"{role}-{place}.jpg") for (kind, role), place in parts if kind == "images"]
    return ItemRecord("item", "", "", tuple(texts), tuple(images))


def form_of(counts: dict[str, int], **given) -> OwnQuestionForm:
    return OwnQuestionForm(
        {**BASE, **given}, item=item_with(counts), name_of=lambda ask: own_question.name_of(ask, set())
    )


def choices(counts: dict[str, int]) -> Iterator[dict]:
    """Every kind with every choice of its fields: each label given or not, each way to keep, few judgments or more."""
    pictures, texts = ([one for one in counts if one.startswith("images.") is of] for of in (True, False))
    shown = [[*pictures[:1], *texts[:1]], list(counts), texts[-1:]]
    sets = [*itertools.combinations(texts, 2), *itertools.combinations(pictures, 2), tuple(texts), tuple(pictures)]
    sets += [(one,) for one in counts if counts[one] > 1]
    for kind, labels in own_question.LABELS.items():
        of_parts = kind in own_question.OF_OPTIONS
        for options, seen in itertools.product(dict.fromkeys(sets) if of_parts else [()], shown):
            if kind == "compare" and len(options) not in (1, 2):
                continue
            optional = [name for name in labels if name not in ("yes", "no")]
            for has, few in itertools.product(itertools.product((True, False), repeat=len(optional)), (True, False)):
                given = {name: f"“{name}” it is" for name, there in zip(optional, has, strict=True) if there}
                many = {"judgments": 1, "least": 1} if few else {"judgments": 4, "least": 3}
                common = {"kind": kind, "shown": seen, "options": options, **given, **many}
                if kind == "rate":
                    yield from ({**common, "mean": mean, "points": 11 if few else 2} for mean in ("", 1.5))
                elif kind == "rank":
                    yield from ({**common, **ties} for ties in ({}, {"ties": "on"}))
                elif kind == "yes_no":
                    yield from ({**common, "keep_answer": keep} for keep in ("", "yes", "no"))
                else:
                    keeps = ["", *options] if kind == "choose" or len(options) == 2 else [""]
                    yield from ({**common, "keep_option": keep} for keep in keeps)


@pytest.mark.parametrize(
    ("counts", "every"),
    [(FOIL, 1), (SEVERAL, 7), pytest.param(SEVERAL, 1, marks=pytest.mark.nightly)],
    ids=["one of each", "several", "several, all of it"],
)
def test_whatever_is_chosen_makes_a_file_that_can_be_read_and_asked(counts, every):
    """Of one in 11, which shares no factor with the choices, screens are rendered and every answer to them is read."""
    tried, whole = 0, item_with(counts)
    for place, given in enumerate(itertools.islice(choices(counts), 0, None, every)):
        form = form_of(counts, **given)
        if not form.is_valid():
            assert sum(counts[one] for one in given["options"]) not in range(2, 10), (given, form.errors)
            continue
        reading = drafts.reading_of(form.text)
        assert reading.file is not None and reading.file.ask == "Which one, then: yes?", (given, reading.problems)
        assert reading.protocol.tasks_for(whole, {}), given
        fields = own_question.fields_in(reading.file, form.text, counts)
        assert fields, form.text
        assert own_question.text_of(fields, counts, reading.file.name) == form.text
        tried += 1
        if place % 11 == 0:
            found = rehearse(form.text, reading.file, None, 1, 3)
            assert (found.failures, found.unpainted, found.unsuitable.total()) == ([], {}, 0), form.text
            assert found.screens and (given["judgments"] == 1 or not found.unreachable), (form.text, found.unreachable)
    assert tried > 100


def file_of(**given) -> schema.ProtocolFile:
    form = form_of(FOIL, **given)
    assert form.is_valid(), form.errors
    return drafts.reading_of(form.text).file


def test_what_a_file_says_is_what_was_chosen():
    given = {"kind": "choose", "shown": ["images.positive"], "options": ["captions.positive", "captions.negative"]}
    file = file_of(**given, both="Beide", keep_option="captions.positive")
    [answer], [rule] = file.answers, file.decide
    assert isinstance(answer, schema.Pick) and answer.of == given["options"] and list(answer.fixed) == ["both"]
    assert answer.fixed["both"].label == "Beide" and (rule.of, rule.m, file.judgments) == ("positive", 2, 3)
    assert rule.drop == {"negative": "answered_negative", "both": "answered_both", "else": "no_agreement"}
    assert [block.picture for block in file.screen] == ["positive"] and file.name == "which-one-then-yes"
    rated = {"kind": "rate", "shown": ["images.positive"], "points": 7, "low": "Bad", "high": "Good", "mean": 4.5}
    file = file_of(**rated, instructions="Look.\r\n\r\n- Well: twice")
    [answer], [rule] = file.answers, file.decide
    assert (answer.points, answer.anchors, rule.at_least) == (7, {"1": "Bad", "7": "Good"}, 4.5)
    assert file.instructions.rstrip("\n") == "Look.\n\n- Well: twice"


CHOOSE = {"kind": "choose", "options": ["captions.positive", "captions.negative"]}


@pytest.mark.parametrize(
    ("field", "given", "says"),
    [
        ("ask", {"kind": "yes_no", "shown": ["images.positive"], "ask": " "}, "required"),
        ("shown", {"kind": "rate"}, "Tick at least one part of the item."),
        ("options", {"kind": "rank", "options": ["captions.positive"]}, "Tick at least two"),
        (
            "options",
            {"kind": "choose", "options": ["images.positive", "captions.positive"]},
            "only pictures or only texts",
        ),
        ("options", {"kind": "compare", "options": ["captions.positive"]}, "Tick two parts"),
        ("keep_option", {**CHOOSE, "options": CHOOSE["options"], "keep_option": "images.positive"}, "ticked above"),
        ("least", {**CHOOSE, "keep_option": "captions.positive", "least": 4}, "at most 3"),
        ("mean", {"kind": "rate", "shown": ["images.positive"], "mean": 6}, "from 1 to 5"),
        ("__all__", {"kind": "yes_no", "shown": ["images.positive"], "yes": "H"}, "Label it in words"),
        ("__all__", {**CHOOSE, "both": "Same", "neither": "Same"}, "the same label"),
    ],
)
def test_what_cannot_be_asked_is_said_at_its_field(field, given, says):
    form = form_of(FOIL, **given)
    assert not form.is_valid() and list(form.errors) == [field] and says in str(form.errors[field]), form.errors


def test_fields_of_other_kinds_are_not_looked_at():
    given = {"kind": "yes_no", "shown": ["images.positive"], "points": "x", "mean": "y", "keep_option": "nothing"}
    assert form_of(FOIL, **given, options=["nothing"]).is_valid()


def test_a_name_is_made_of_the_words_and_is_nobody_elses(manager):
    names = {
        "Is it true?": "is-it-true",
        "这是真的吗？": "question",
        "3 of 4?": "of-4",
        "Wahr – oder nicht": "wahr-oder-nicht",
    }
    assert {ask: own_question.name_of(ask, set()) for ask in names} == names
    long = own_question.name_of("Which of these many sentences is it?", set())
    assert long == "which-of-these-many-sentences-is" and own_question.name_of(long, {long}) == f"{long[:28]}-2"
    assert drafts.name_for("Verify?", manager) == "verify-2", "the library has this name"
    for name, user in (("theirs", None), ("mine", manager)):
        publish(text=library.text_of("verify").replace("name: verify", f"name: {name}"), by="test", user=user)
    assert [drafts.name_for(ask, manager) for ask in ("Theirs?", "Mine?")] == ["theirs-2", "mine-2"]
    for name, wanted in (("theirs", "new-words"), ("mine", "mine")):  # the next version of one's own
        draft = drafts.start_draft(start=f"{name}@1", user=manager, by="test")
        assert drafts.name_for("New words?", manager, draft) == wanted


@pytest.mark.parametrize("name", library.names())
def test_a_file_that_says_more_than_the_form_is_for_the_editor(name):
    counts = {role: max(1, schema.bounds(count)[0]) for role, count in library.shipped(name).roles.items()}
    assert own_question.fields_in(library.shipped(name), library.text_of(name), counts) is None
