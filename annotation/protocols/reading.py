"""Parse a protocol file, YAML or JSON, into its protocol, or report every problem with its line and a remedy."""

import math
import re
from collections.abc import Callable
from itertools import islice
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from annotation.protocols import checks
from annotation.protocols.schema import FACT, LARGEST, POINTS, VERSION, ProtocolFile, json_schema
from benchmarks.formats.base import KEPT, ProblemLog, Unreadable
from benchmarks.formats.table import nearest

LONGEST = 100_000  # characters in a file
_LONGEST_NUMBER = 400  # characters; Python refuses to parse numbers of some thousand digits
_DEEPEST = 30
_MOST_PARTS = 5_000  # keys and values; the library's largest file has 230
_TAG = "tag:yaml.org,2002:"

Path = tuple[str | int, ...]


class _Unread(ValueError):
    """Raised for YAML that no protocol file needs; the message is a remedy."""

    def __init__(self, node: yaml.Node | None, advice: str, code: str = "NOT_YAML", path: Path = ()):
        super().__init__(advice)
        self.path = path
        self.line: int | None = node.start_mark.line + 1 if node else None
        self.code = code


_TOO_MUCH = f"Shorten this. A file can have at most {_MOST_PARTS:,} keys and values."
_TOO_DEEP = f"Nest keys and lists at most {_DEEPEST} deep."


class Core(yaml.SafeLoader):
    """YAML 1.2's core types: `yes` and `no` are texts, as in JSON, and so are dates."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    parts = depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Stop before much has been read, because a long file's nodes take 40 times its length."""
        self.parts += 1
        self.depth += 1
        if self.parts > _MOST_PARTS:
            raise _Unread(parent, _TOO_MUCH, "TOO_LONG")
        if self.depth > _DEEPEST:
            raise _Unread(None, _TOO_DEEP)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


# How each type is written, and its value. The library's own constructors accept more if tagged: 1:30, 0b11.
_TYPES: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    f"{_TAG}{kind}": (re.compile(rf"(?:{pattern})\Z"), value)
    for kind, pattern, value in (
        ("bool", r"true|false", "true".__eq__),
        ("null", r"null|~|", lambda _: None),
        ("int", r"[-+]?[0-9]+", int),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", float),
        ("str", r"(?s:.*)", str),
    )
}
for tag, (pattern, _) in islice(_TYPES.items(), 4):  # everything else is a text
    Core.add_implicit_resolver(tag, pattern, None)
# Control characters except tab and line break, and lone surrogates: databases and pages cannot hold them.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def read_protocol(text: str, file: str, log: ProblemLog) -> ProtocolFile:
    """Return the protocol in the text. Raises Unreadable if it has problems, which are then in the log: `row` is the
    line, `column` the path of the key, such as `answers.0.of`.
    """
    data, lines = _parse(text, file, log)
    try:
        protocol = ProtocolFile.model_validate(data)
    except ValidationError as error:
        told: set[Path] = set()  # a value with several possible forms has an error for each
        for one in error.errors(include_url=False)[:KEPT]:
            path = _path_in(data, one["loc"])
            if one["type"] == "union_tag_invalid":
                path = (*path, one["ctx"]["discriminator"].strip("'"))
            if path not in told:
                told.add(path)
                code = _CODES.get(one["type"], "WRONG_VALUE")
                log.error(code, file, _line(lines, path), _dotted(path), _advice(one))
        raise Unreadable from None
    before = log.count
    for code, path, advice in islice(checks.problems(protocol), KEPT):
        log.error(code, file, _line(lines, path), _dotted(path), advice)
    if log.count > before:
        raise Unreadable
    return protocol


def line_of(text: str, path: Path) -> int:
    """Return the line of a key in a text without problems: ("decide", 0, "drop")."""
    return _line(_parse(text, "", ProblemLog())[1], path)


def _parse(text: str, file: str, log: ProblemLog) -> tuple[dict[str, Any], dict[Path, int]]:
    """Return the data, and the line of each path. Raises Unreadable."""
    if len(text) > LONGEST:
        log.error("TOO_LONG", file, None, "", f"Shorten this to {LONGEST:,} characters.")
        raise Unreadable
    try:
        node = yaml.compose(text.replace("\t", "  ") if text.lstrip().startswith("{") else text, Loader=Core)
        lines: dict[Path, int] = {}
        before = log.count
        data = _build(node, (), lines, file, log)
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        advice = _yaml_advice(error)
        log.error("NOT_YAML", file, at.line + 1 if at else None, "", advice)
        raise Unreadable from None
    except _Unread as error:
        log.error(error.code, file, error.line, _dotted(error.path), str(error))
        raise Unreadable from None
    except (yaml.YAMLError, ValueError) as error:
        log.error("NOT_YAML", file, None, "", f"This is not YAML: {str(error)[:200]}.")
        raise Unreadable from None
    if log.count > before:
        raise Unreadable
    if not isinstance(data, dict):
        advice = "Write keys and values, beginning with winnow: protocol/1."
        log.error("NOT_A_PROTOCOL", file, 1, "", advice)
        raise Unreadable
    if (version := data.get("winnow")) != VERSION:
        advice = f"Begin the file with winnow: {VERSION}" + (f" instead of {version}." if version else ".")
        log.error("WRONG_VERSION", file, lines.get(("winnow",), 1), "winnow", advice)
        raise Unreadable
    return data, lines


def _build(node: yaml.Node | None, path: Path, lines: dict[Path, int], file: str, log: ProblemLog) -> Any:
    """Return the node's value. Every path gets its line in `lines`; duplicate keys are logged."""
    if node is None:
        return None
    if len(path) > _DEEPEST or path in lines:  # an alias for another part has its own path
        raise _Unread(node, _TOO_DEEP)
    lines[path] = node.start_mark.line + 1
    if len(lines) > _MOST_PARTS:  # aliases count, too
        raise _Unread(node, _TOO_MUCH, "TOO_LONG")
    if isinstance(node, yaml.SequenceNode):
        return [_build(one, (*path, place), lines, file, log) for place, one in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, path)
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _Unread(key_node, "Write a text as the key; a list or an object cannot be a key.")
        key = key_node.value
        _require_characters(key_node, path)
        if key in found:
            log.error("KEY_TWICE", file, key_node.start_mark.line + 1, _dotted((*path, key)), "Keep one of the two.")
            continue
        found[key] = _build(value_node, (*path, key), lines, file, log)
        lines[(*path, key)] = key_node.start_mark.line + 1
    return found


def _scalar(node: yaml.ScalarNode, path: Path) -> Any:
    """Return the value of a node without parts, as in JSON; its tag may ask for another."""
    if node.tag not in _TYPES:
        advice = f"Remove the tag {node.tag:.60}: a file can have only texts, numbers, true and false."
        raise _Unread(node, advice, path=path)
    pattern, value_of = _TYPES[node.tag]
    if not pattern.match(node.value):
        advice = "Put the text in quotes, and remove its tag: it is not a number, true or false."
        raise _Unread(node, advice, path=path)
    too_long = node.tag == f"{_TAG}int" and len(node.value) > _LONGEST_NUMBER
    value = math.inf if too_long else value_of(node.value)
    if isinstance(value, str):
        _require_characters(node, path)
    if isinstance(value, int | float) and abs(value) > LARGEST:
        advice = f"Write a number of at most {LARGEST:,} instead of {node.value:.60}."
        raise _Unread(node, advice, "WRONG_VALUE", path)
    return value


def _require_characters(node: yaml.ScalarNode, path: Path) -> None:
    if wrong := _UNWRITABLE.search(node.value):
        advice = f"Remove the character U+{ord(wrong[0]):04X}, or write the whole character: it cannot be shown."
        raise _Unread(node, advice, "BAD_CHARACTER", path)


def _path_in(data: Any, location: tuple[int | str, ...]) -> Path:
    """Return the steps of an error's location that are keys of the data. The others name the form tried."""
    path: list[int | str] = []
    for place, step in enumerate(location):
        if isinstance(data, dict) and step in data:
            path.append(step)
            data = data[str(step)]
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            path.append(step)
            data = data[step]
        elif place == len(location) - 1 and isinstance(data, dict) and isinstance(step, str) and step != "[key]":
            path.append(step)  # a missing key
    return tuple(path)


_CODES = {
    "extra_forbidden": "UNKNOWN_KEY",
    "missing": "MISSING_KEY",
    "union_tag_not_found": "MISSING_KEY",
    "string_too_long": "TOO_LONG",
    "too_long": "TOO_LONG",
}
_WANTED = {
    "a valid dictionary": "keys with values, such as {key: value},",
    "a valid list": "a list, such as [one, two],",
    "a valid string": "a text",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "true or false",
}
_EXAMPLES = {  # for required keys
    "name": "name: my-question",
    "title": "title: My question",
    "ask": "ask: Is the sentence true of the picture?",
    "instructions": "instructions: | with the text below it, indented by two spaces",
    "item": "item: {images: {picture: 1}, captions: {sentence: 1}}",
    "answers": "answers: with a list below it, - {name: fit, kind: scale, points: 5}",
    "answer": "answer: fit",
    "answers.name": "name: fit",
    "answers.points": "points: 5",
    "answers.most": "most: 20",
    "answers.marks": "marks: {wrong: Not in the picture}",
    "m": "m: 2, or a share, m: 2/3",
    "at_least": "at_least: 3.5",
    "below": "below: too_low",
    "over": "over: model",
}
_YAML = {  # the parser's message → what to do
    "found character '\\t'": "Replace the tab in this line with spaces.",
    "mapping values are not allowed": "Put the text in quotes if it has a colon. Otherwise correct the indentation.",
    "could not find expected ':'": "Write a colon and a space after the key, in this line or the one before.",
    "expected <block end>": "Indent this line like the ones that it belongs with.",
    "expected ',' or": "Close the bracket or brace that was opened before this line.",
    "expected alphabetic or numeric character": "Put the text in quotes: its first character has a special meaning.",
    "expected the node content, but found": "Put the text in quotes: its first character has a special meaning.",
    "found undefined alias": "Put the text in quotes: ** at the beginning has a special meaning.",
    "found unexpected end of stream": "Close the quotes that were opened before.",
    "found unknown escape": "Put the text in single quotes, or write \\\\ for one \\.",
    "cannot start any token": "Put the text in quotes: its first character has a special meaning.",
}

_IN_BRACKETS = re.compile(r"expected ',' or .* but got '([?\[{:]|<scalar>)'")


def _yaml_advice(error: yaml.MarkedYAMLError) -> str:
    problem, begun, at = str(error.problem or error.context), error.context_mark, error.problem_mark
    known = next((advice for says, advice in _YAML.items() if says in problem), "Check indentation, colons and quotes.")
    if found := _IN_BRACKETS.search(problem):
        on_one_line = begun and at and begun.line == at.line  # otherwise the bracket may have been left open
        if found[1] in "?[{" or (found[1] == ":" and on_one_line):
            known = f"Put the text in quotes: between brackets or braces, {found[1]} ends it here."
        elif on_one_line:
            known = "Put the whole text in quotes, or a comma before the part after it."
    return f"{known} (YAML: {problem:.200}.)"


_PATTERNS = {
    r"^[a-z][a-z0-9_]*$": "Use lower-case letters, digits and _, beginning with a letter.",
    r"^[a-z][a-z0-9-]*$": "Use lower-case letters, digits and -, beginning with a letter.",
    r"^(images|captions|texts|lists)\.[a-z][a-z0-9_]*$": "Name a role with its kind, such as images.scene.",
    r"^([0-9]{1,3}(\.\.[0-9]{0,3})?|(0\.\.)?first)$": (
        "Write how many there are: 2, 2..9, 1.. for one or more, or first for the first of them."
    ),
    POINTS: "Write how many points there are, 5, or from one to another, 0..100.",
    FACT: "Name a role with its kind (images.second), an attribute of it (images.second.model), or an item attribute.",
    r"^[^\r\n]*$": "Write this on one line.",
    r"^[a-z0-9]$": "A key is one lower-case letter or digit.",
    r"^[1-9][0-9]?/[1-9][0-9]?$": "Write a number of judgments, or a share of them as a fraction, such as 2/3.",
}


def _advice(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            known = _keys_at(error["loc"][:-1])
            near = nearest(str(error["loc"][-1]), known)
            use = f" Did you mean “{near}”?" if near else f" Use {', '.join(known)}." if known else " Remove it."
            return f"There is no such key here.{use}"
        case "missing":
            in_answer = error["loc"][0] == "answers" and len(error["loc"]) > 1
            example = _EXAMPLES.get(f"answers.{error['loc'][-1]}" if in_answer else str(error["loc"][-1]))
            return f"Add this key, for example {example}" if example else "Add this key."
        case "union_tag_not_found":
            by = str(context["discriminator"]).strip("'")
            keys = f"one of the keys {', '.join(_keys_at(error['loc']))}" if "(" in by else f"the key {by}"
            return f"State what this is, using {keys}."
        case "union_tag_invalid":
            return f"There is no {context['tag']!r} here. Use one of {context['expected_tags']}.".replace("'", "")
        case "string_pattern_mismatch":
            return _PATTERNS[context["pattern"]]
        case "string_too_long":
            return f"Write at most {context['max_length']:,} characters."
        case "too_long":
            return f"There can be at most {context['max_length']:,} entries here."
        case "less_than_equal":
            return f"Write a number of at most {context['le']:,}."
        case "greater_than_equal":
            return f"Write a number of at least {context['ge']:,}."
        case "too_short":
            return f"There must be at least {context['min_length']:,} here."
        case "string_too_short":
            return "Write something here."
    return _wanted_kind(error)


def _wanted_kind(error: ErrorDetails) -> str:
    """Return what to write instead of a value of another kind."""
    match error["type"], error["input"]:
        case "bool_type", str():
            words = "tie, both_bad and not_applicable"
            return f"Write true or false here, or yes or no. Words that annotators see belong to {words}."
        case "string_type", list(several):
            return _one_instead_of(error["loc"], several)
        case "string_type", bool():
            return "Put this in quotes: without them, true and false are not texts."
    wanted = error["msg"].partition(" or instance of")[0].removeprefix("Input should be ")
    return f"Write {_WANTED.get(wanted, wanted)} here."


def _one_instead_of(location: tuple[int | str, ...], several: list[object]) -> str:
    """Return what to do about a list where one text belongs. A block of the screen shows one role."""
    if location[0] != "screen":
        return "Write one text here, not a list."
    key = {"pictures": "picture"}.get(str(location[-1]), location[-1])
    blocks = " and ".join(f"- {key}: {one}" for one in several[:3])
    return f"Name one role here. Several roles need a block each: {blocks}." if blocks else "Name one role here."


def _keys_at(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the schema allows at an error's location; if there are several forms, one from each."""
    schema = json_schema()
    node: dict[str, Any] = schema
    for step in location:
        node = _resolved(node, schema)
        one_of = [node, *(_resolved(one, schema) for one in node.get("anyOf", []) + node.get("oneOf", []))]
        node = next(
            (
                found
                for one in one_of
                for found in [
                    one.get("properties", {}).get(step)
                    or schema["$defs"].get(step)
                    or _tagged(one, step, schema)
                    or (one.get("items") if isinstance(step, int) else _any_key(one))
                ]
                if found
            ),
            {},
        )
    node = _resolved(node, schema)
    forms = [_resolved(one, schema) for one in node.get("oneOf", []) + node.get("anyOf", [])] or [node]
    if len(forms) > 1:
        return [next(iter(one["properties"])) for one in forms if "properties" in one]
    return list(forms[0].get("properties", {}))


def _any_key(node: dict[str, Any]) -> Any:
    """Return the schema (if any) of the values in an object whose keys are the file's own."""
    return next(iter(node.get("patternProperties", {}).values()), node.get("additionalProperties"))


def _tagged(node: dict[str, Any], step: int | str, schema: dict[str, Any]) -> dict[str, Any] | None:
    reference = node.get("discriminator", {}).get("mapping", {}).get(step)
    return _resolved({"$ref": reference}, schema) if reference else None


def _resolved(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    return schema["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node


def _line(lines: dict[Path, int], path: Path) -> int:
    """Return the line of the path, or of its nearest container, skipping steps that a short form leaves out."""
    found: Path = ()
    for step in path:
        found = (*found, step) if (*found, step) in lines else found
    return lines.get(found, 1)


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))
