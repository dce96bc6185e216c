"""The screens of protocol files, unless a single pick with a special template is enough: material, then questions.

Options are identified by their place, even if one leads to a further question: no role is revealed (law 4).
"""

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import groupby
from typing import Any

from django.utils.translation import gettext, pgettext

from annotation.models import Lease
from annotation.protocols import answers, marks, numbers, option_sets, schema, values
from annotation.protocols.base import CAPTION_PREFIX, SubmittedFields
from annotation.protocols.compile import is_plain
from annotation.protocols.conditions import Never
from annotation.protocols.keys import given_keys, keys_on_screen
from annotation.protocols.layout import Layout, drawn_by, layout_of
from annotation.protocols.schema import ProtocolFile
from annotation.screens import drawn
from annotation.screens.material import Part, attribute_of
from annotation.screens.numbers import decimal_sign
from annotation.screens.questions import file_for

_LONG = 24  # characters from which an answer does not fit a row with others
_LONG_ANCHOR = 40  # the same for the words of a point
_ROW = 4  # answers in a row
_NARROW = 5  # points; with more, labels are below them all
_LETTERS = 56  # letters in a row on a phone; labels that do not fit are below the points, too
_CHOSEN = schema.Pick | schema.Pair

Context = dict[str, Any]


def context(
    file: ProtocolFile, lease: Lease, options: Sequence[Part], parts: Mapping[str, Part], given: SubmittedFields
) -> Context:
    """Return the context that `judging/_declared.html`, or a layout's template, needs besides that of every screen.
    `texts`: the sentences above all, each with its `label`; `shown`: groups of pictures, each a row or not;
    `requested`: pictures. `questions`: see `_question`. Options shared by several questions, or ranked, are shown once:
    `numbered` sentences, and pictures in `shown`. `columns`: whether there are pictures, words or both below the
    sentences.
    """
    layout = layout_of(file, lease.task.shows)
    file = file_for(file, lease.task)
    here = [one for one in file.answers if not isinstance(one.when, Never)]
    asked = [_question(file, one, lease, options, parts, layout, given) for one in here]
    shared = _shared(asked)
    apart = [one for group in shared for one in group]
    texts = [
        {"label": block.label, "parts": [parts[identity] for identity in identities]}
        for block, identities in layout.blocks
        if isinstance(block, schema.Sentence | schema.Listed) and identities
    ]
    pictures = _groups(layout, lease, parts, {one["on"] for one in asked if "on" in one})
    _point_to_pictures(asked, pictures)
    requested = [
        parts[identity]
        for block, identities in layout.blocks
        if isinstance(block, schema.OnRequest)
        for identity in identities
    ]
    beside = pictures or requested or any("url" in one for one in apart) or any(one["cards"] for one in asked)
    words = any(not one["cards"] for one in asked)
    return {
        "form": "" if is_plain(file) else "declared",
        "texts": texts,
        "shown": pictures,
        "compared": [group for group in shared if "url" in group[0]],
        "numbered": [group for group in shared if "text" in group[0]],
        "requested": requested,
        "questions": asked,
        "columns": "both" if beside and words else "pictures" if beside else "words",
    }


def _point_to_pictures(asked: Sequence[Context], groups: Sequence[Context]) -> None:
    """Name pictures by place in questions about them, so that no role is revealed."""
    marked = [one for group in groups for one in group["pictures"] if one["marked"]]
    for place, picture in enumerate(marked, 1):
        picture["place"] = place
        for one in asked:
            if one.get("on") == picture["marked"]:
                one["on"] = place


def _groups(layout: Layout, lease: Lease, parts: Mapping[str, Part], marked: Container[str]) -> list[Context]:
    """Return the pictures that are shown, in `rows` or in grids: consecutive `picture` blocks form a row, if it has
    room for them. In a row, each is named by its label or its place, in the order of the file.
    """
    blocks = [(block, of) for block, of in layout.blocks if isinstance(block, schema.Picture | schema.Pictures) and of]
    found: list[Context] = []
    for single, run in groupby(blocks, key=lambda one: isinstance(one[0], schema.Picture)):
        together = list(run)
        for group in [together] if single else [[one] for one in together]:
            shown = [(block, identity) for block, of in group for identity in of]
            row = len(shown) <= schema.MOST_IN_ROW if single else _is_row(group[0][0])
            names = _places(len(shown)) if row and len(shown) > 1 else [""] * len(shown)
            pictures = [
                {**_shown(block, parts[identity], name, marked), "drawing": _drawing(block, lease, identity, parts)}
                for (block, identity), name in zip(shown, names, strict=True)
            ]
            found.append({"pictures": pictures, "row": row and len(shown) > 1})
    return found


def _shown(block: schema.Block, part: Part, name: str, marked: Container[str]) -> Context:
    """Return a picture with its label, or else this name, and what is `marked` on it: the name of its block, or ""."""
    called = gettext(block.label) if isinstance(block, schema.Picture) and block.label else name
    role = block.picture if isinstance(block, schema.Picture) and block.picture in marked else ""
    inside = " ".join(f"{share:.6f}" for share in part.get("inside", drawn.FULL))
    return {**part, "badge": called, "called": called, "marked": role, "inside": inside}


def _drawing(block: schema.Block, lease: Lease, identity: str, parts: Mapping[str, Part]) -> drawn.Drawing | None:
    """Return the item's own marks on the picture, coloured by kind, with their labels, or numbers for several."""
    part = parts[identity]
    found: list[drawn.Tagged] = []
    for tone, (kind, name) in enumerate(drawn_by(block) if isinstance(block, schema.Picture) else (), 1):
        text = parts.get(f"{CAPTION_PREFIX}{name}-0")
        said = text["text"] if text else attribute_of(lease.task.item_id, identity, name)
        there = marks.from_data(kind, said, _pixels(part)) if said else []
        numbers = map(str, range(1, len(there) + 1)) if len(there) > 1 else [""]
        found += [(mark.label or number, tone, mark) for mark, number in zip(there, numbers, strict=False)]
    inside = part.get("inside", drawn.FULL)
    return drawn.drawing((int(part["width"]), int(part["height"])), found, inside)


def _pixels(part: Part) -> tuple[int, int]:
    return part.get("pixels") or (int(part["width"]), int(part["height"]))


def _is_row(block: schema.Block) -> bool:
    return isinstance(block, schema.Pictures) and block.layout == "row"


def _places(count: int) -> list[str]:
    """Return the names of pictures in a row."""
    if count == 2:
        return [pgettext("picture", "Left"), pgettext("picture", "Right")]
    return [_called({"url": ""}, place) for place in range(1, count + 1)]


def _question(
    file: ProtocolFile,
    answer: schema.Answer,
    lease: Lease,
    options: Sequence[Part],
    parts: Mapping[str, Part],
    layout: Layout,
    given: SubmittedFields,
) -> Context:
    """Return a question: `name`, `kind`, `ask` (`alone`: the screen's own), whether it is `required`, `when` it comes
    as JSON, or that it has `none` to ask of this item, and by kind `options`, `fixed` answers, `points`, `rows`,
    `lines`, `tokens`, a text, or marks `on` a picture.

    Each option has its `field`, `value` and `keys`, and whether it is `checked`.
    """
    name = "answer" if is_plain(file) else answer.name
    alone = len(file.answers) == 1
    found: Context = {
        "name": name,
        "kind": answer.kind,
        "ask": answer.ask or file.ask,
        "alone": alone,
        "required": answer.required,
        "when": _when(file, answer, lease.shown),
        "none": answers.asks_nothing(answer, layout.asked.get(answer.name, ())),
        "cards": False,
        "options": [],
    }
    many = isinstance(answer, schema.Pick) and bool(answer.many)

    def choice(value: str, keys: Sequence[str], **shown: Any) -> Context:
        field, sent = (f"{name}-{value}", "1") if many else (name, value)
        shown |= {"field": field, "value": sent, "checked": given.get(field) == sent}
        shown |= {"keys": " ".join(keys), "key": keys[0].upper() if keys else ""}
        return shown | {"apart": many and value == option_sets.NONE}

    points = values.points(answer) if isinstance(answer, schema.Scale) and not numbers.is_typed(answer) else []
    given_here = given_keys(file)[answer.name]
    scale, fixed = given_here[: len(points)], given_here[len(points) :]
    texts = [parts[identity] for identity in layout.asked.get(answer.name, ())]
    match answer:
        case schema.Pick() | schema.Pair():
            there = _named(file, answer, lease, options)
            keys, own = keys_on_screen([part.get("text", "") for _, part in there], [one.keys for one in fixed])
            fixed = [replace(one, keys=of) for one, of in zip(fixed, own, strict=True)]
            found["options"] = [
                choice(str(n), of, place=n, part=part, called=_called(part, "".join(of[:1]).upper() or n))
                for (n, part), of in zip(there, keys, strict=True)
            ]
            found |= {"many": many, "cards": any("url" in part for _, part in there)}
            found["long"] = len(there) > schema.MOST_KEYS
            if many and isinstance(answer, schema.Pick):
                found |= _how_many(answer)
        case schema.Rank():
            rows = [(answers.LETTERS[n - 1], f"{name}-{n}", part) for n, part in _named(file, answer, lease, options)]
            found["rows"] = [_row(letter, field, part, given) for letter, field, part in rows]
            found |= {"ties": answer.ties, "ranks": [str(n) for n in range(1, len(rows) + 1)], "last": str(len(rows))}
        case schema.Scale() | schema.Number() if numbers.is_typed(answer):
            found["number"] = _number(answer, name, given)
        case schema.Scale():
            found["points"] = [
                choice(one.identity, one.keys, point=one.identity, label=answer.anchors.get(one.identity, ""),
                       shows_key=one.keys[0] != one.identity)
                for one in scale
            ]  # fmt: skip
            longest = max(len(one["label"]) for one in found["points"])
            word = max((len(word) for one in found["points"] for word in one["label"].split()), default=0)
            narrow = len(points) > _NARROW or word * len(points) > _LETTERS
            found |= {"listed": longest > _LONG_ANCHOR, "narrow": narrow and 0 < longest <= _LONG_ANCHOR}
        case schema.Check():
            found["lines"] = _lines(answer, name, texts, given)
            found["labels"] = _said(answer)
        case schema.Words():
            words = enumerate(texts[0]["text"].split(), 1)
            fields = ((place, word, f"{name}-{place}") for place, word in words)
            found["tokens"] = [
                {"word": word, "field": field, "given": given.get(field, "")} for _, word, field in fields
            ]
            found |= {"unmarked": answer.unmarked, "marks": fixed}
        case schema.Points() | schema.Boxes():
            none = marks.NONE if answer.least == 0 else ""
            found |= {"labels": fixed, "on": answer.of, "now": given.get(name) or none}
            found |= {"few": answer.least, "many": answer.most}
        case schema.Text():
            found |= {"now": given.get(name, ""), "least": answer.shortest, "most": answer.longest}
        case schema.Edit():
            was = texts[0]["text"]
            found |= {"was": was, "now": given.get(name) or was, "least": 1, "most": answer.longest}
    if not isinstance(answer, schema.Words | schema.Points | schema.Boxes):
        found["fixed"] = [choice(one.identity, one.keys, label=one.label) for one in fixed]
        labels = [one.label for one in fixed]
        found["stacked"] = len(labels) > _ROW or any(len(one) > _LONG for one in labels)
    return found


def _how_many(answer: schema.Pick) -> Context:
    """Return how many may be chosen, `from` and `to`, and in words."""
    least, most = option_sets.limits(answer)
    words = {"number": least, "least": least, "most": most}
    if least == most:
        says = gettext("Choose exactly %(number)s.") % words
    elif most is None:
        says = gettext("Choose at least %(number)s.") % words if least > 1 else gettext("Choose all that apply.")
    else:
        says = gettext("Choose %(least)s to %(most)s.") % words
    return {"how_many": says, "from": least, "to": most or ""}


def _named(
    file: ProtocolFile, answer: answers.Choosing, lease: Lease, options: Sequence[Part]
) -> list[tuple[int, Part]]:
    """Return the options of one answer with their places among them."""
    shown = dict(zip(lease.shown, options, strict=True))
    return [(n, shown[one]) for n, one in enumerate(answers.option_names(file, answer, lease.shown), 1)]


def _row(letter: str, field: str, part: Part, given: SubmittedFields) -> Context:
    called, now = _called(part, letter), given.get(field, "")
    says = called if "url" in part else f"{letter}: {part['text']}"
    return {"part": part, "letter": letter, "called": called, "says": says, "field": field, "given": now}


def _called(part: Part, number: object) -> str:
    if part.get("video"):
        return gettext("Video %(place)s") % {"place": number}
    if "url" in part:
        return gettext("Picture %(place)s") % {"place": number}
    return gettext("Sentence %(number)s") % {"number": number}


def _number(answer: schema.Scale | schema.Number, name: str, given: SubmittedFields) -> Context:
    """Return the field of a number, written in the annotator's language, with `advice` on what to type. A scale has a
    `slider`, with `anchors` at their places on it, in percent.
    """
    field, sign, span = f"{name}-{numbers.FIELD}", decimal_sign(), numbers.span_of(answer)
    message, said = numbers.advice(answer, sign)
    anchors = answer.anchors if isinstance(answer, schema.Scale) else {}
    in_order = sorted(anchors, key=Decimal)
    places = [float(100 * (Decimal(point) - span.least) / (span.most - span.least)) for point in in_order]
    return {
        "field": field,
        "now": given.get(field, "").replace(".", sign),
        "sign": sign,
        **{end: values.written(of) for end, of in span._asdict().items()},
        "advice": gettext(message) % said,
        "slider": isinstance(answer, schema.Scale),
        "keyboard": "text" if span.least < 0 else "numeric" if span.step % 1 == 0 else "decimal",
        "anchors": [
            {"at": at, "point": point, "label": anchors[point]} for at, point in zip(places, in_order, strict=True)
        ],
        "in_places": sum(map(len, anchors.values())) <= _LETTERS,
    }


def _lines(answer: schema.Check, name: str, texts: Sequence[Part], given: SubmittedFields) -> list[Context]:
    """Return the statements, or the texts of the list by their places."""
    said = [(one, gettext(text)) for one, text in answer.statements.items()]
    said = said or [(str(n), part["text"]) for n, part in enumerate(texts, 1)]
    own = bool(answer.statements)
    fields = [(f"{name}-{one}", text) for one, text in said]
    return [{"field": field, "text": text, "given": given.get(field, ""), "own": own} for field, text in fields]


def _said(answer: schema.Check) -> list[tuple[str, str, str, str]]:
    """Return the possible answers to a statement: value and label, the keys, and the key that is shown."""
    found = [(values.YES, gettext("Yes"), "y 1", "Y"), (values.NO, gettext("No"), "n 2", "N")]
    return [*found, (values.UNSURE, gettext("Not sure"), "0 3", "0")] if answer.unsure else found


def _when(file: ProtocolFile, answer: schema.Answer, shown: Sequence[str]) -> str:
    """Return `{"all": {"fit": ["both"]}}`, with options by their places as the page sends them."""
    if answer.when is None:
        return ""
    found = answer.when.model_dump(exclude_defaults=True)
    for listed in found.values():
        listed |= {address: _sent(file, address, wanted, shown) for address, wanted in listed.items()}
    return json.dumps(found)


def _sent(file: ProtocolFile, address: str, wanted: Sequence[str], shown: Sequence[str]) -> list[str]:
    answer = file.answer(address.partition(".")[0])
    if not isinstance(answer, _CHOSEN):
        return list(wanted)
    named = answers.option_names(file, answer, shown).values()
    places = [str(n) for n, name in enumerate(named, 1) if values.in_table(name, wanted) in wanted]
    return [*places, *(one for one in wanted if one in values.fixed_of(answer))]


def _shared(asked: Sequence[Context]) -> list[list[Context]]:
    """Return options shown separately: pictures that are ranked, and options of several questions.

    The questions then only name them: Picture A, Sentence 2.
    """
    groups: dict[tuple[str, ...], list[Context]] = {}
    ranked: dict[str, Context] = {}
    for one in asked:
        parts = tuple(option["part"].get("url") or option["part"]["text"] for option in one["options"])
        groups.setdefault(parts, []).append(one)
        ranked |= {
            row["part"]["url"]: {**row["part"], "badge": row["letter"], "called": row["called"]}
            for row in one.get("rows", ())
            if "url" in row["part"]
        }
    found = [list(ranked.values())] if ranked else []
    for parts, questions in groups.items():
        if parts and len(questions) > 1:
            first = questions[0]["options"]
            badges = [one["key"] or one["place"] for one in first]
            named = zip(first, badges, strict=True)
            found.append([{**one["part"], "badge": badge, "called": one["called"]} for one, badge in named])
            for one in questions:
                one |= {"names": one["options"], "options": [], "cards": False}
    return found
