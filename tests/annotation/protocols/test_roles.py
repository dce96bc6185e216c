"""Protocol files in a benchmark's own names for roles."""

from dataclasses import replace
from random import Random

import pytest

from annotation.protocols import answers, checks, library, roles, schema
from annotation.protocols.compile import as_protocol, is_plain
from annotation.protocols.decisions import decide_item
from annotation.protocols.registry import base_name, is_known, name_and_version, protocol_named
from annotation.protocols.roles import CannotMap, read_roles, with_roles
from annotation.protocols.schema import ProtocolFile
from annotation.protocols.tasks import tasks_of
from annotation.protocols.walk import Screen, every_answer, made_up_item, texts_of
from tests.annotation.protocols.files import changed, read

FOIL = library.shipped("image-caption-foil")


def new_names(of):
    return {role: f"own_{place}" for place, role in enumerate(roles.mappable(of))}


@pytest.mark.parametrize("name", library.names())
def test_every_file_asks_and_decides_the_same_under_other_names(name):
    of = library.shipped(name)
    mapping = new_names(of)
    other = with_roles(of, mapping)
    back = {f"{role.partition('.')[0]}.{to}": role.partition(".")[2] for role, to in mapping.items()}
    assert with_roles(other, back) == of
    record = made_up_item(of, most=True, limit=9)
    own = {(role.startswith("images."), role.partition(".")[2]): to for role, to in mapping.items()}
    renamed = replace(
        record,
        captions=tuple(replace(one, role=own[False, one.role]) for one in record.captions),
        images=tuple(replace(one, role=own[True, one.role]) for one in record.images),
    )
    tasks, others = tasks_of(of, record, {}), tasks_of(other, renamed, {})
    assert [(len(one.shows), len(one.options)) for one in tasks] == [(len(o.shows), len(o.options)) for o in others]
    assert not {word for one in others for word in (*one.shows, *one.options) if "own_" not in word}
    for one, task in list(zip(tasks, others, strict=True))[:12]:
        screens = (
            Screen(one.options, texts_of(record), one.question),
            Screen(task.options, texts_of(renamed), task.question),
        )
        for fields in every_answer(of, screens[0], Random(3), 20)[0]:
            decisions = []
            for file, screen in zip((of, other), screens, strict=True):
                label = answers.parse(file, fields, screen.shown, screen.texts, screen.question).label
                decisions.append(decide_item(file, [label] * file.judgments))
            assert {(found.state, found.reason) for found in decisions} == {(decisions[0].state, decisions[0].reason)}
    for answer in of.right:
        for one, task in zip(tasks, others, strict=True):
            right = [answers.right_answer(file, answer, of_.question) for file, of_ in ((of, one), (other, task))]
            assert bool(right[0]) == bool(right[1])


def test_values_are_renamed_where_they_are_options_of_their_answer():
    other = with_roles(FOIL, {"captions.negative": "foil", "images.positive": "scene"})
    assert other.roles == {"images.scene": "1", "captions.positive": "1", "captions.foil": "1"}
    assert other.screen[0].picture == "scene" and other.answers[0].of == ["captions.positive", "captions.foil"]
    assert other.decide[0].of == "positive" and other.right == {"fit": "positive"}  # the caption keeps its name
    assert other.decide[0].drop["foil"] == "foil_fits" and "negative" not in other.decide[0].drop


def test_roles_can_change_places():
    other = with_roles(FOIL, {"captions.positive": "negative", "captions.negative": "positive"})
    assert other.right == {"fit": "negative"} and other.decide[0].drop["positive"] == "foil_fits"


def test_what_is_drawn_on_a_picture_and_the_picture_that_is_marked_have_other_names():
    marked = {"name": "spots", "ask": "Where?", "kind": "points", "of": "scene"}
    drawn = {"picture": "scene", "boxes": "regions", "points": "model"}
    of = changed(("item.texts", {"regions": 1}), ("screen", [drawn]), ("answers", [marked]), ("decide", None))
    other = with_roles(read(of), {"images.scene": "picture", "texts.regions": "parts"})
    assert other.screen == [schema.Picture(picture="picture", boxes="parts", points="model")]
    assert other.answers[0].of == "picture" and not list(checks.problems(other))


@pytest.mark.parametrize("given, says", [
    ("captions.positive=negative", "cannot both be negative"),
    ("scene=picture", "no role scene"),
    ("positive=scene", "with its kind: images.positive, captions.positive"),
    ("negative", "as in picture=scene"),
    ("negative=Foil!", "as in picture=scene"),
    ("negative=both", "both"),
])  # fmt: skip
def test_what_cannot_be_mapped_is_refused_with_its_reason(given, says):
    with pytest.raises(CannotMap, match=says):
        with_roles(FOIL, *read_roles(given, [FOIL]))


def test_a_mapped_protocol_has_a_name_from_which_it_is_made_again():
    name = roles.joined("image-caption-foil@2", {"images.positive": "scene", "captions.positive": "positive"})
    assert name == "image-caption-foil@2:images.positive=scene"
    assert roles.split(name) == ("image-caption-foil@2", {"images.positive": "scene"})
    assert base_name(name) == "image-caption-foil" and name_and_version(name) == ("image-caption-foil", 2)
    for other in ("x@2:", "x@2:scene=b", "x@2:images.b=c,images.a=c", "x@2:images.a=a"):
        with pytest.raises(KeyError):
            roles.split(other)


@pytest.mark.parametrize("name, decides", [("verify", False), ("image-caption-foil", True)])
def test_files_of_the_library_can_be_mapped_as_they_are(name, decides):
    mapped = protocol_named(f"{name}:images.positive=scene")
    assert "images.scene" in mapped.made_from.roles and bool(mapped.file) == decides
    assert not is_known("visla-triplet:images.positive=scene") and not is_known(f"{name}:images.none=scene")


def test_names_of_tasks_and_rankings_follow():
    of = read(changed(
        ("item", {"images": {"scene": "2"}, "captions": {"good": 1, "bad": 1}}),
        ("tasks", {"each": {"picture": ["images.scene"]}}),
        ("screen", [{"picture": "picture"}]),
        ("answers", [{"name": "fit", "kind": "rank", "of": ["captions.good", "captions.bad"]}]),
        ("decide", []),
        ("measure", {"fit": {"agreement": "rank", "views": {"best": {"good>bad": "good", "else": "other"}}}}),
    ))  # fmt: skip
    other = with_roles(of, {"captions.good": "caption", "images.scene": "photo"})
    assert list(other.measure["fit"].views["best"]) == ["caption>bad", "else"]
    assert not is_plain(other) and as_protocol(other, "x").made_from is other


def test_conditions_on_items_and_what_data_mean_have_the_new_names():
    one = {"name": "fit", "kind": "pick", "of": ["captions.positive", "captions.negative"], "when": {
        "item": {"captions.positive": "1", "images.positive": "1", "images.positive.model": ["sd-3"], "style": ["oil"]},
    }}  # fmt: skip
    right = {"fit": {"from": "label", "values": {"1": "negative"}}}
    of = FOIL.model_dump(exclude_unset=True) | {"answers": [one], "right": right, "measure": {}, "decide": []}
    of["item"] |= {"attributes": ["model"]}
    of = ProtocolFile.model_validate(of)
    other = with_roles(of, {"captions.negative": "foil", "images.positive": "scene"})
    assert list(other.answers[0].when.item) == [
        "captions.positive", "images.scene", "images.scene.model", "style"
    ]  # fmt: skip
    assert (other.right["fit"].column, other.right["fit"].values) == ("label", {"1": "foil"})
    swapped = with_roles(of, {"captions.positive": "negative", "captions.negative": "positive"})
    assert next(iter(swapped.answers[0].when.item)) == "captions.negative"
