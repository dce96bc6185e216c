"""List every answer that a screen can send, as its form's fields, or a sample if there are too many or free texts; and
make up items that suit a protocol.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from annotation.protocols import answers, base, marks, numbers, option_sets, schema, values
from annotation.protocols.conditions import suiting
from annotation.protocols.item_data import with_right_answers
from annotation.protocols.layout import drawn_by
from annotation.protocols.schema import ProtocolFile, bounds
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord

MOST = 300  # most answers to a screen
_FEW = 64  # answers to one question that has too many to list
_LISTED = 5  # options or statements up to which all combinations are listed
_DRAWN = {"points": "[[0.5, 0.5]]", "boxes": "[[0.1, 0.2, 0.5, 0.6]]"}  # marks on a made-up picture
SEVERAL = 4  # members of a role that may have any number

Fields = dict[str, str]


def made_up_item(file: ProtocolFile, number: int = 0, most: bool = False, limit: int = SEVERAL) -> ItemRecord:
    """Return an item with the fewest members of each role, or the most it may have up to `limit`, and with the data
    questions need from items.
    """
    captions, images = [], []
    attributes, own = suiting(file) if most else ({}, {})
    blocks = (block for block in file.screen if isinstance(block, schema.Picture))
    drawn = {name: _DRAWN[kind] for block in blocks for kind, name in drawn_by(block)}
    for role, count in file.roles.items():
        kind, _, name = role.partition(".")
        least, highest = bounds(count)
        members = max(least, min(limit, limit if highest is None else highest)) if most else least
        if kind == "images":
            files = [f"{name}{place}.jpg" for place in range(members)]
            images += [ImageRecord(name, file, attributes=attributes.get(role, {})) for file in files]
        else:
            words = drawn.get(name, f"The {name} words, number %s.")
            texts = [words.replace("%s", str(place)) for place in range(members)]
            captions += [CaptionRecord(name, text, attributes.get(role, {})) for text in texts]
    kind, subtype = own.pop("type", ""), own.pop("subtype", "")
    made = ItemRecord(f"made-up-{number}", kind, subtype, tuple(captions), tuple(images), own)
    return with_right_answers(file, made, number)


def texts_of(record: ItemRecord) -> dict[str, str]:
    """Return the texts of the item's captions by identity."""
    found: dict[str, str] = {}
    for role in dict.fromkeys(one.role for one in record.captions):
        own = [one.text for one in record.captions if one.role == role]
        found |= dict(zip(record.captions_as(role), own, strict=True))
    return found


@dataclass(frozen=True, slots=True)
class Screen:
    """The data of a screen: the options in the order shown, the item's texts, the task's question."""

    shown: Sequence[str]
    texts: base.TextsByIdentity
    question: str


def every_answer(file: ProtocolFile, screen: Screen, dice: Random, most: int = MOST) -> tuple[list[Fields], bool]:
    """Return the fields of each answer except *cannot judge*, and whether these are all."""
    listed = {answer.name: _possible(file, answer, screen, dice) for answer in file.answers}
    found = list(itertools.islice(_paths(file, screen, {name: of for name, (of, _) in listed.items()}), most + 1))
    if len(found) <= most:
        return found, all(whole for _, whole in listed.values())
    shuffled = {name: of for name, (of, _) in listed.items()}
    return [_at_random(file, screen, shuffled, dice) for _ in range(most)], False


def _paths(file: ProtocolFile, screen: Screen, listed: dict[str, list[Fields]]) -> Iterator[Fields]:
    def after(place: int, said: dict[str, str], fields: Fields) -> Iterator[Fields]:
        if place == len(file.answers):
            yield fields
            return
        answer = file.answers[place]
        if not answers.is_asked(answer, said, file):
            yield from after(place + 1, {**said, answer.name: ""}, fields)
            return
        for one in listed[answer.name]:
            yield from after(place + 1, {**said, answer.name: _said(file, answer, one, screen)}, {**fields, **one})

    return after(0, {}, {})


def _at_random(file: ProtocolFile, screen: Screen, listed: dict[str, list[Fields]], dice: Random) -> Fields:
    fields: Fields = {}
    said: dict[str, str] = {}
    for answer in file.answers:
        one = dice.choice(listed[answer.name]) if answers.is_asked(answer, said, file) else {}
        said[answer.name] = _said(file, answer, one, screen) if one else ""
        fields |= one
    return fields


def _said(file: ProtocolFile, answer: schema.Answer, fields: Fields, screen: Screen) -> str:
    return answers.parse_one(file, answer, fields, screen.shown, screen.texts, screen.question, {}) if fields else ""


def _possible(file: ProtocolFile, answer: schema.Answer, screen: Screen, dice: Random) -> tuple[list[Fields], bool]:
    """Return what can be sent for one question, and whether that is all."""
    found, whole = _given(file, answer, screen, dice)
    return ([*found, {}], whole) if not answer.required else (found, whole)


def _given(file: ProtocolFile, answer: schema.Answer, screen: Screen, dice: Random) -> tuple[list[Fields], bool]:
    name = answer.name
    match answer:
        case schema.Pick(many=False) | schema.Pair():
            return [{name: one} for one in answers.choices_of(file, answer, screen.shown)], True
        case schema.Pick():
            return _sets(file, answer, screen, dice)
        case schema.Number():
            return _numbers(answer, dice)
        case schema.Scale():
            if numbers.is_typed(answer):
                return _numbers(answer, dice)
            return [{name: one} for one in [*values.points(answer), *values.fixed_of(answer)]], True
        case schema.Rank():
            return _rankings(file, answer, screen, dice)
        case schema.Check():
            known = [values.YES, values.NO, *([values.UNSURE] if answer.unsure else [])]
            asked = answers.statements_of(answer, screen.texts)
            whole = len(asked) <= _LISTED
            drawn_values = (tuple(dice.choices(known, k=len(asked))) for _ in range(_FEW))
            said = itertools.product(known, repeat=len(asked)) if whole else drawn_values
            return [{f"{name}-{one}": value for one, value in zip(asked, of, strict=True)} for of in said], whole
        case schema.Words():
            return _marked(answer, answers.text_of(file, answer, screen.texts, screen.question)), False
        case schema.Points() | schema.Boxes():
            return _marks(answer), False
        case schema.Edit():
            return _edited(answer, answers.text_of(file, answer, screen.texts, screen.question)), False
    shortest, lines = max(answer.shortest, 1), "One line.\nAnother: 一句话."
    written = ["x" * shortest, "x" * answer.longest, *([lines] if shortest <= len(lines) <= answer.longest else [])]
    return [{name: one} for one in dict.fromkeys(written)], False


def _sets(file: ProtocolFile, answer: schema.Pick, screen: Screen, dice: Random) -> tuple[list[Fields], bool]:
    """Return the sets that may be chosen, and whether these are all."""
    choices = answers.choices_of(file, answer, screen.shown)
    options = [one for one in choices if one != option_sets.NONE]
    least, most = option_sets.limits(answer)
    counts = range(least, len(options) + 1 if most is None else min(most, len(options)) + 1)
    whole = option_sets.how_many_sets(answer, choices) <= _FEW
    every = (some for count in counts for some in itertools.combinations(options, count))
    drawn = (dice.sample(options, dice.choice(counts)) for _ in range(_FEW if counts else 0))
    apart = [[one] for one in choices if one == option_sets.NONE]
    return [{f"{answer.name}-{one}": "1" for one in some} for some in (*(every if whole else drawn), *apart)], whole


def _numbers(answer: schema.Scale | schema.Number, dice: Random) -> tuple[list[Fields], bool]:
    """Return all numbers, or the ends and some between, and the fixed answers."""
    span = numbers.span_of(answer)
    whole = span.size <= _FEW
    places = range(span.size) if whole else sorted({0, span.size - 1, *dice.sample(range(span.size), _FEW)})
    typed = [{f"{answer.name}-{numbers.FIELD}": span.at(place)} for place in places]
    return [*typed, *({answer.name: one} for one in values.fixed_of(answer))], whole


def _rankings(file: ProtocolFile, answer: schema.Rank, screen: Screen, dice: Random) -> tuple[list[Fields], bool]:
    count = len(answers.option_names(file, answer, screen.shown))
    whole, ranks = count < _LISTED, range(1, count + 1)
    every = itertools.product(ranks, repeat=count) if whole else (tuple(dice.sample(ranks, count)) for _ in range(_FEW))
    orders = [
        steps
        for steps in every
        if set(steps) == set(range(1, max(steps) + 1)) and (answer.ties or len(set(steps)) == count)
    ]
    return [{f"{answer.name}-{place}": str(step) for place, step in enumerate(steps, 1)} for steps in orders], whole


def _marked(answer: schema.Words, text: str) -> list[Fields]:
    """Return the fields with no word marked, single words, and all."""
    places = [f"{answer.name}-{place}" for place in range(1, len(text.split()) + 1)]
    marked = [{}, *({place: mark} for place in places for mark in answer.marks)][:_FEW]
    return [{answer.name: answer.unmarked, **of} for of in [*marked, *(dict.fromkeys(places, m) for m in answer.marks)]]


def _marks(answer: schema.Points | schema.Boxes) -> list[Fields]:
    """Return the fewest marks allowed, one, and the most, in a row to the far corner."""
    labels, size = [*answer.labels] or [""], marks.WHOLE // answer.most
    ends = range(size, marks.WHOLE + 1, size)
    corners = [(end, end) if answer.kind == "points" else (end - size, 0, end, end) for end in ends]
    every = [marks.Mark(at, labels[place % len(labels)]) for place, at in enumerate(corners[: answer.most])]
    return [
        {answer.name: marks.written(every[:count])}
        for count in sorted({answer.least, max(1, answer.least), answer.most})
    ]


def _edited(answer: schema.Edit, text: str) -> list[Fields]:
    """Return the text unchanged, as long as it may be, and changed."""
    found = [text[: answer.longest], "x" * answer.longest, "Ein Wort, 一句话."[: answer.longest]]
    return [{answer.name: one} for one in dict.fromkeys(found) if one]
