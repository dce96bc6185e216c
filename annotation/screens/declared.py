"""The screens of protocol files that have no template of their own: blocks of material, then questions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Lease
from annotation.protocols.base import SubmittedFields
from annotation.protocols.declared import answers, schema, values
from annotation.protocols.declared.compile import is_plain
from annotation.protocols.declared.keys import given_keys
from annotation.protocols.declared.layout import layout_of
from annotation.protocols.declared.schema import ProtocolFile
from annotation.screens.material import Part

_SHOWN_AS = {
    schema.Picture: "picture", schema.Pictures: "pictures", schema.Sentence: "sentence", schema.Listed: "list",
    schema.OnRequest: "on_request",
}  # fmt: skip


def context(
    file: ProtocolFile,
    lease: Lease,
    options: Sequence[Mapping[str, Any]],
    parts: Mapping[str, Part],
    given: SubmittedFields,
) -> dict[str, Any]:
    """What `judging/_declared.html` needs beside the context of every screen.

    `blocks`: each with `kind`, `label`, `layout` and its `parts`. `answers`: the questions of a form, each with `name`,
    `kind`, `ask`, `required`, `when` (JSON), and what it needs to be answered: `options` (with their `place` in this
    question), `fixed` answers with keys, `points`, `statements` (name, text and what was `given`), the `text`.
    """
    layout = layout_of(file, lease.task.shows)
    blocks = [
        {
            "kind": _SHOWN_AS[type(block)],
            "label": getattr(block, "label", None),
            "layout": getattr(block, "layout", "row"),
            "parts": [parts[identity] for identity in identities],
        }
        for block, identities in layout.blocks
    ]
    plain = is_plain(file)
    asked = [] if plain else _questions(file, lease, options, parts, layout.asked, given)
    return {"blocks": blocks, "answers": asked, "form": None if plain else "declared"}


def _questions(
    file: ProtocolFile,
    lease: Lease,
    options: Sequence[Mapping[str, Any]],
    parts: Mapping[str, Part],
    asked: Mapping[str, Sequence[str]],
    given: SubmittedFields,
) -> list[dict[str, Any]]:
    keys, shown = given_keys(file), dict(zip(lease.shown, options, strict=True))
    found = []
    for answer in file.answers:
        question: dict[str, Any] = {
            "name": answer.name, "kind": answer.kind, "ask": answer.ask or file.ask, "required": answer.required,
            "when": json.dumps(answer.when.model_dump(exclude_defaults=True)) if answer.when else "",
            "given": given.get(answer.name, ""), "fixed": keys[answer.name],
        }  # fmt: skip
        texts = [parts[identity] for identity in asked.get(answer.name, ())]
        match answer:
            case schema.Pick() | schema.Pair() | schema.Rank():
                named = answers.option_names(file, answer, lease.shown)
                question["options"] = [
                    {**shown[one], "place": place, "given": given.get(f"{answer.name}-{place}", "")}
                    for place, one in enumerate(named, 1)
                ]
                question["many"] = isinstance(answer, schema.Pick) and answer.many
            case schema.Scale():
                question["points"] = [(one, answer.anchors.get(one, "")) for one in values.points(answer)]
            case schema.Check():
                said = list(answer.statements.items()) or [
                    (str(place), part["text"]) for place, part in enumerate(texts, 1)
                ]
                question["statements"] = [
                    {"name": name, "text": text, "given": given.get(f"{answer.name}-{name}", "")} for name, text in said
                ]
                question["unsure"] = answer.unsure
            case schema.Words() | schema.Edit():
                question["text"] = texts[0]["text"]
                question["unmarked"] = getattr(answer, "unmarked", "")
            case schema.Text():
                question["shortest"] = answer.shortest
        question["longest"] = getattr(answer, "longest", None)
        found.append(question)
    return found
