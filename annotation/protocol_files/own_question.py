"""A user's own question from a form: the protocol file made from the form's fields, and the fields of such a file.

The file is valid by construction, as long as labels don't look like keys; a test tries every combination.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from django.utils.text import slugify

from annotation.protocols import schema, values
from annotation.protocols.layout import shown_name
from annotation.protocols.reading import Core
from annotation.protocols.schema import MOST_KEYS, VERSION, ProtocolFile
from annotation.protocols.tasks import members
from benchmarks.records import ItemRecord, is_own, role_order

Fields = Mapping[str, Any]  # the form's fields (forms.py)
Counts = Mapping[str, int]  # `images.scene` → how many an item has

KINDS = {
    "choose": "Choose one of several texts or pictures",
    "yes_no": "Yes or no",
    "rate": "Rate on a scale",
    "rank": "Rank from best to worst",
    "compare": "Compare two",
}
OF_OPTIONS = ("choose", "rank", "compare")  # kinds whose answers are parts of the item
LABELS = {  # kind → its answers that are not parts of the item, and their usual labels
    "choose": {"both": "Both", "neither": "Neither"},
    "yes_no": {values.YES: "Yes", values.NO: "No", "cannot_tell": "Cannot tell"},
    "rate": {"low": "Not at all", "high": "Completely", values.NOT_APPLICABLE: ""},
    "rank": {},
    "compare": {values.TIE: "Tie", values.BOTH_BAD: "Both bad"},
}
# Names with a special meaning in a rule or an answer, which no option can have.
RESERVED = {values.ELSE, values.TIE, values.BOTH_BAD, "cannot_judge", "right"}
MOST_COMPARED = 45  # most members of a role, since each pair is a task and an item can have only so many
_PARTS = ("images", "captions", "texts")
_KINDS = {"rank": "rank", "pair": "compare"}  # kinds of answers whose options are parts of the item
_ANSWER, _SAME = "answer", "_answer"
_LONGEST_TITLE, _LONGEST_NAME, _WIDTH = 60, 32, 100


class _Dumper(yaml.SafeDumper):
    """Writes texts so that they are read back as texts, and indents lists as in the library's files."""

    yaml_implicit_resolvers = Core.yaml_implicit_resolvers

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _represented(to: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return to.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represented)


def counts_of(item: ItemRecord) -> dict[str, int]:
    """Return how many members each of the item's roles has."""
    texts, images = ({one.role for one in of} for of in (item.captions, item.images))
    roles = [f"images.{one}" for one in sorted(images, key=role_order)]
    roles += [f"{'texts' if is_own(one) else 'captions'}.{one}" for one in sorted(texts, key=role_order)]
    return {role: len(members(item, {}, role)) for role in roles}


def guess(counts: Counts) -> dict[str, Any]:
    """Return the fields for a first question about items with these parts."""
    pictures, texts = ([one for one in counts if one.startswith("images.") is wanted] for wanted in (True, False))
    free = [one for one in counts if _name(one) not in RESERVED]
    several = [one for one in free if counts[one] > 1]
    known = [one for one in texts if _name(one) in ("positive", "negative") and counts[one] == 1]
    kind, options, ask = "yes_no", [], "Is the text true of the picture?"
    if pictures and (len(known) == 2 or any(one in texts for one in several)):
        options = known if len(known) == 2 else [one for one in several if one in texts][:1]
        kind, ask = "choose", "Which text is true of the picture?"
    elif several:
        kind, options, ask = "compare", several[:1], "Which of the two is better?"
    shown = [one for one in (*pictures[:1], *texts[:1]) if one not in options]
    found: dict[str, Any] = {
        "kind": kind, "ask": ask, "shown": [*shown, *options[:1]], "options": options,
        "points": 5, "ties": True, "judgments": 3, "least": 2, "mean": None, "instructions": "",
        "keep_option": options[0] if len(options) > 1 else "", "keep_answer": values.YES,
    }  # fmt: skip
    return found | {name: label for labels in LABELS.values() for name, label in labels.items()}


def name_of(ask: str, taken: set[str]) -> str:
    """Return an unused name for the protocol, from its question's words: `which-text-is-true`."""
    base = re.sub(r"[^a-z0-9]+", "-", slugify(ask)).lstrip("-0123456789")
    if len(base) > _LONGEST_NAME:
        base = base[: _LONGEST_NAME + 1].rpartition("-")[0] or base[:_LONGEST_NAME]
    base = base.strip("-") or "question"
    number, found = 1, base
    while found in taken:
        number += 1
        found = f"{base[: _LONGEST_NAME - 4]}-{number}"
    return found


# From fields to a file


def text_of(fields: Fields, counts: Counts, name: str) -> str:
    """Return the file that asks the question about items with these parts."""
    ask, options = fields["ask"], fields["options"] if fields["kind"] in OF_OPTIONS else []
    shown = [one for one in fields["shown"] if one not in options]
    pairs = fields["kind"] == "compare" and len(options) == 1
    seen = _in_words(shown, {**counts, options[0]: 2} if pairs else counts, options)
    parts = {one: "first" if counts[one] == 1 else "1.." for one in shown} | _options(fields["kind"], options, counts)
    data = {
        "winnow": VERSION,
        "name": name,
        "title": ask if len(ask) <= _LONGEST_TITLE else f"{ask[: _LONGEST_TITLE - 1].rstrip()}…",
        "ask": ask,
        "shown": seen,
        "instructions": fields["instructions"] or _instructions(fields, seen),
        "item": {kind: of for kind in _PARTS if (of := {_name(one): parts[one] for one in parts if _is(one, kind)})},
        "tasks": {"pairs": options[0]} if pairs else {},
        "screen": [{_block(one, counts[one]): _name(one)} for one in shown],
        "answers": [{"name": _ANSWER, **_answer(fields, options)}],
        "judgments": fields["judgments"],
        "decide": [{"answer": _ANSWER, **rule} for rule in _rules(fields, options)],
        "measure": {_ANSWER: _measure(fields)},
    }
    data = {key: value for key, value in data.items() if value}
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=None)


def _name(role: str) -> str:
    return role.partition(".")[2]


def _is(role: str, kind: str) -> bool:
    return role.startswith(f"{kind}.")


def _block(role: str, count: int) -> str:
    one, several = ("picture", "pictures") if role.startswith("images.") else ("sentence", "list")
    return one if count == 1 else several


def _options(kind: str, options: list[str], counts: Counts) -> dict[str, str]:
    """Return the roles with their counts per item. If only one role has several members, other items may have more."""
    if kind == "compare":
        return dict.fromkeys(options, "2.." if len(options) == 1 else "first")
    several = [one for one in options if counts[one] > 1]
    least, room = (2, MOST_KEYS) if len(options) == 1 else (1, MOST_KEYS - len(options) + 1)
    most = {one: max(counts[one], room) if len(several) == 1 else counts[one] for one in several}
    return {one: f"{least}..{most[one]}" if one in most else "first" for one in options}


def _answer(fields: Fields, options: list[str]) -> dict[str, Any]:
    kind = fields["kind"]
    labels = {name: fields[name] for name in LABELS[kind] if fields[name]}
    match kind:
        case "choose":
            fixed = {_fixed(name, options): label for name, label in labels.items()}
            return {"kind": "pick", "of": options, **({"fixed": fixed} if fixed else {})}
        case "yes_no":
            return {"kind": "pick", "fixed": labels}
        case "rate":
            ends = {"low": 1, "high": fields["points"]}
            anchors = {ends[name]: label for name, label in labels.items() if name in ends}
            rest = {name: label for name, label in labels.items() if name not in ends}
            return {"kind": "scale", "points": fields["points"], **({"anchors": anchors} if anchors else {}), **rest}
        case "rank":
            return {"kind": "rank", "of": options, "ties": fields["ties"]}
    return {"kind": "pair", "of": "pair" if len(options) == 1 else options, **labels}


def _fixed(name: str, options: list[str]) -> str:
    """Return the name of a fixed answer, which must not be that of an option."""
    return name + _SAME if name in map(_name, options) else name


def _rules(fields: Fields, options: list[str]) -> Iterator[dict[str, Any]]:
    kind = fields["kind"]
    if kind == "rank":
        yield {"rule": "mean_rank"}
    elif kind == "rate":
        if fields["mean"] is not None:
            yield {"rule": "mean", "at_least": fields["mean"], "below": "too_low"}
    elif keep := _kept(fields):
        reasons = {_name(one): f"answered_{_name(one)}" for one in options}
        reasons |= {_fixed(name, options): f"answered_{name}" for name in LABELS[kind] if fields[name]}
        del reasons[keep]
        yield {"rule": "at_least", "of": keep, "m": fields["least"], "drop": {**reasons, values.ELSE: "no_agreement"}}


def _kept(fields: Fields) -> str:
    """Return the answer that keeps an item; "" if every item is kept."""
    return fields["keep_answer"] if fields["kind"] == "yes_no" else _name(fields["keep_option"])


def _measure(fields: Fields) -> dict[str, str]:
    if fields["kind"] == "rate":
        return {"agreement": "ordinal", "score": "mean"}
    if fields["kind"] == "rank":
        return {"agreement": "rank"}
    return {"agreement": "nominal", **({"score": keep} if (keep := _kept(fields)) else {})}


def _in_words(shown: list[str], counts: Counts, options: list[str]) -> str:
    """Return `a picture and two texts`."""
    found = []
    for noun, of_images in (("picture", True), ("text", False)):
        count = sum(counts[one] for one in (*shown, *options) if _is(one, "images") is of_images)
        if count:
            found.append({1: f"a {noun}", 2: f"two {noun}s"}.get(count, f"several {noun}s"))
    return " and ".join(found)


def _instructions(fields: Fields, parts: str) -> str:
    kind = fields["kind"]
    label = {name: f"“{fields[name]}”" for name in LABELS[kind] if fields[name]}
    says = {
        "low": f"1 means {label.get('low')}.",
        "high": f"{fields.get('points')} means {label.get('high')}.",
        "both": "if more than one answer is right.",
        "neither": "if no other answer is right.",
        "cannot_tell": "if what you see is not enough to tell.",
        values.NOT_APPLICABLE: "if the question makes no sense here.",
        values.TIE: "if neither is better.",
        values.BOTH_BAD: "if neither is good.",
    }
    lines = ["Look at everything before you answer."]
    lines += [
        says[name] if name in ("low", "high") else f"Answer {label[name]} {says[name]}"
        for name in says
        if name in label
    ]
    if kind == "rank" and fields["ties"]:
        lines.append("Give the same rank to those that are equally good.")
    return f"You will see {parts}. {fields['ask']}\n\n" + "".join(f"- {line}\n" for line in lines)


# From a file to fields


def fields_in(file: ProtocolFile | None, text: str, counts: Counts) -> dict[str, Any] | None:
    """Return the fields that produce the file's text; None if no fields do."""
    fields = _fields(file) if file else {}
    if not file or not all(isinstance(fields[name], int) for name in ("points", "least")):
        return None
    if not {*fields["shown"], *fields["options"]} <= counts.keys():
        return None
    for instructions in ("", file.instructions):
        tried = {**guess(counts), **fields, "instructions": instructions}
        if text_of(tried, counts, file.name) == text:
            return tried
    return None


def _fields(file: ProtocolFile) -> dict[str, Any]:
    """Return form fields for the file, which may express less than the file does."""
    [answer, *_], rule = file.answers, file.decide[0].model_dump() if file.decide else {}
    given, fixed = answer.model_dump(), {name: one.label for name, one in values.fixed_of(answer).items()}
    options = [file.tasks.pairs] if isinstance(file.tasks, schema.Pairs) else given.get("of") or []
    kind = _KINDS.get(answer.kind, "choose") if options else "rate" if answer.kind == "scale" else "yes_no"
    points, keep = given.get("points", 5), rule.get("of", "")
    labels = {name: fixed.get(name) or fixed.get(name + _SAME, "") for name in LABELS[kind]}
    if kind == "rate":
        labels |= {name: given["anchors"].get(f"{point}", "") for name, point in (("low", 1), ("high", points))}
    kept = {"keep_answer": keep} if kind == "yes_no" else {}
    return {
        "kind": kind, "ask": file.ask, "judgments": file.judgments, "options": options, **labels, **kept,
        "shown": [*(role for block in file.screen for role in _shown_by(file, block)), *options[:1]],
        "points": points, "ties": given.get("ties", True), "mean": rule.get("at_least"), "least": rule.get("m", 2),
        "keep_option": next((one for one in options if _name(one) == keep), ""),
    }  # fmt: skip


def _shown_by(file: ProtocolFile, block: schema.Block) -> list[str]:
    name, kinds = shown_name(block)
    return [role for kind in kinds if (role := f"{kind}.{name}") in file.roles]
