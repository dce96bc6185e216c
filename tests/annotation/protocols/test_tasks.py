"""Which tasks an item makes, and what each shows and offers."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from annotation.protocols import library
from annotation.protocols.base import UnsuitableItem
from annotation.protocols.measuring import parents_of
from annotation.protocols.tasks import tasks_of
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own.format import FORMAT
from benchmarks.records import CaptionRecord
from tests.annotation.protocols.files import changed, problems, read
from tests.annotation.protocols.items import item

BETTER = {"name": "better", "kind": "pair", "of": "pair", "tie": "Tie"}
YES = {"name": "holds", "kind": "pick", "fixed": {"yes": "Yes", "no": "No"}}


def protocol(*changes: tuple):
    data = changed(("decide", []), *changes)
    assert problems(data) == []
    return read(data)


def made(of, record, carried=None) -> list[tuple]:
    return [(one.question, one.shows, one.options) for one in tasks_of(of, record, carried or {})]


def test_one_task_for_an_item():
    record = item(images=["positive"])
    options = ("caption-positive-0", "caption-negative-0")
    assert made(library.shipped("image-caption-foil"), record) == [("", ("positive-0",), options)]


def test_a_task_for_each_combination():
    of = protocol(
        ("item", {"images": {"pictures": 2}, "captions": {"said": "1.."}}),
        ("answers", [YES]),
        ("tasks", {"each": {"picture": "images.pictures", "sentence": "captions.said"}}),
        ("screen", [{"picture": "picture"}, {"sentence": "sentence"}]),
    )
    record = item(captions=["said", "said"], images=["pictures"] * 2)
    assert [(question, shows) for question, shows, _ in made(of, record)] == [
        (f"pictures-{one}/said-{other}", (f"pictures-{one}", f"caption-said-{other}"))
        for one in (0, 1)
        for other in (0, 1)
    ]


def test_rows_that_an_item_lacks_a_part_for_make_no_task():
    of = protocol(
        ("item", {"images": {"positive": 1, "negative": "0..1"}, "captions": {"positive": 1, "negative": 1}}),
        ("tasks", {"rows": {role: {"picture": f"images.{role}", "sentence": f"captions.{role}"}
                            for role in ("positive", "negative")}}),
        ("screen", [{"picture": "picture"}, {"sentence": "sentence"}]), ("answers", [YES]),
    )  # fmt: skip
    assert [question for question, *_ in made(of, item(images=["positive"]))] == ["positive"]
    assert [question for question, *_ in made(of, item(images=["positive", "negative"]))] == ["positive", "negative"]


def pairs(design: str, per_item: int | None, members: int, key: str = "7") -> list[tuple]:
    tasks = {"pairs": "images.outputs", "design": design} | ({"per_item": per_item} if per_item else {})
    of = protocol(("item", {"images": {"outputs": "2.."}}), ("tasks", tasks), ("screen", []), ("answers", [BETTER]))
    record = replace(item(captions=[], images=["outputs"] * members), key=key)
    return [options for _, _, options in made(of, record)]


def test_pairs_are_drawn_by_the_items_key():
    assert len(pairs("all", None, 5)) == 10
    drawn = [pairs("random", 4, 5, key) for key in ("a", "a", "b", "c", "d")]
    assert drawn[0] == drawn[1] and len({*map(str, drawn)}) > 2 and all(len(set(one)) == 4 for one in drawn)


@pytest.mark.parametrize(("members", "per_item"), [(4, 2), (5, 5), (6, 3), (7, 9), (9, 12)])
def test_in_a_balanced_design_each_comes_equally_often(members, per_item):
    for key in "abcde":
        often = Counter(one for pair in pairs("balanced", per_item, members, key) for one in pair)
        counts = [often.get(f"outputs-{number}", 0) for number in range(members)]
        assert sum(counts) == 2 * per_item and max(counts) - min(counts) <= 1


def test_what_an_earlier_stage_chose_is_the_role_and_later_rounds_replace_earlier_ones():
    of = protocol(("item", {"images": {"negative": 1, "candidate": "2..9"}}), ("screen", [{"picture": "negative"}]),
                  ("answers", [{"name": "best", "kind": "rank", "of": "images.candidate"}]))  # fmt: skip
    record = item(images=["candidate"] * 4, rounds=[1, 1, 2, 2])
    assert made(of, record, {"negative": "candidate-1"}) == [("", ("candidate-1",), ("candidate-2", "candidate-3"))]


@pytest.mark.parametrize(
    ("count", "captions", "images", "made_of"),
    [
        ("first", ["positive", "positive"], ["scene", "scene"], [("scene-0", "caption-positive-0")]),
        ("first", ["positive"], ["scene"], [("scene-0", "caption-positive-0")]),
        ("0..first", ["positive", "positive"], [], []),
    ],
)
def test_of_several_the_first_is_used_where_the_file_says_so(count, captions, images, made_of):
    """Whatever round it is of: what an earlier stage chose comes before it."""
    of = protocol(
        ("item", {"images": {"scene": count, "picture": "0..1"}, "captions": {"positive": "first"}}),
        ("tasks", {"rows": {role: {"image": f"images.{role}", "text": "captions.positive"}
                            for role in ("scene", "picture")}}),
        ("screen", [{"picture": "image"}, {"sentence": "text"}]), ("answers", [YES]),
    )  # fmt: skip
    record = item(captions, [*images, "picture"], rounds=[*range(1, len(images) + 1), 1])
    other = ("picture", ("picture-0", "caption-positive-0"), ())
    assert made(of, record) == [*(("scene", shows, ()) for shows in made_of), other]
    assert made(of, record, {"scene": "candidate-2"})[0] == ("scene", ("candidate-2", "caption-positive-0"), ())


def test_a_check_is_of_all_texts_of_its_role():
    check = {"name": "ok", "kind": "check", "of": "captions.more"}
    [found] = problems(changed(("decide", []), ("item.captions.more", "first"), ("answers", [check])))
    assert (found.code, found.column) == ("WRONG_COUNT", "answers.0.of") and "every text" in found.advice


def test_what_uses_the_first_refuses_none():
    of = protocol(("item.images.scene", "first"), ("answers", [YES]))
    with pytest.raises(
        UnsuitableItem, match="no image as “scene”, and no earlier stage has chosen one; fits needs 1 or more"
    ):
        made(of, item(["positive", "negative", "more"], []))


@pytest.mark.parametrize(
    ("captions", "images", "words"),
    [
        (["positive"], ["positive"], "no hard negative; image-caption-foil needs 1"),
        (["positive", "negative"], ["positive", "positive"], "2 positive images; image-caption-foil needs 1"),
    ],
)
def test_an_item_that_does_not_fit_is_refused_by_what_it_lacks(captions, images, words):
    with pytest.raises(UnsuitableItem, match=words):
        made(library.shipped("image-caption-foil"), item(captions, images))


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        *(
            ([], wrong, "parents of text 2 of lists.question has .*; it must name places from 1 to 2")
            for wrong in (3, [1, 3], "1,3", "one", "", [1.0], [True], None)
        ),
        ([], [1, 2], "texts in lists.question depend on themselves: 2 → 2"),
        ([2], [1], "texts in lists.question depend on themselves: [12] → [12] → [12]"),
    ],
)
def test_what_a_question_rests_on_must_be_another_of_its_list(first, second, words):
    questions = tuple(
        CaptionRecord("question", f"Is it {colour}?", {"parents": parents})
        for colour, parents in (("red", first), ("blue", second))
    )
    with pytest.raises(UnsuitableItem, match=words):
        tasks_of(library.shipped("image-questions"), replace(item([], ["picture"]), captions=questions), {})


@pytest.mark.real
def test_the_questions_of_dsg_rest_on_others_as_its_table_says(real):
    questions = {"from": "question_natural_language", "attributes": {"parents": "dependency"}}
    mapping = {"winnow": "mapping/1", "id": "item_id", "together": ["item_id"], "texts": {"question": questions}}
    file = library.shipped("image-questions")
    records = list(FORMAT.read(real / "data/foreign/dsg-1k-anns.csv", ProblemLog(), mapping=json.dumps(mapping)))
    assert len(records) == 20
    for record in records:
        assert len(tasks_of(file, replace(record, images=item([], ["picture"]).images), {})) == 1
    places = parents_of(file.answers[0], records[1].attributes())
    assert places == [[], [1], [1], [], [1, 4]]


def test_an_item_makes_at_most_a_thousand_tasks():
    through = {name: f"captions.{name}" for name in ("one", "two", "three")}
    of = protocol(
        ("item", {"captions": dict.fromkeys(through, "1..")}),
        ("tasks", {"each": through}),
        ("answers", [YES]),
        ("screen", [{"sentence": name} for name in through]),
    )
    assert len(made(of, item([*through] * 10, []))) == 1000
    with pytest.raises(UnsuitableItem, match="would make 1,331 tasks under fits, and an item can have at most 1,000"):
        made(of, item([*through] * 11, []))
    with pytest.raises(UnsuitableItem, match="would make 1,035 tasks"):
        pairs("all", None, 46)
