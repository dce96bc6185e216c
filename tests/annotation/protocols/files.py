"""Protocol files that tests change."""

import contextlib
import copy
import json
from typing import Any

import yaml

from annotation.protocols.reading import read_protocol
from annotation.protocols.schema import ProtocolFile
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.records import Problem

PICK = {
    "winnow": "protocol/1",
    "name": "fits",
    "title": "Which fits",
    "ask": "Which sentence is true?",
    "instructions": "Pick one.",
    "item": {
        "images": {"scene": 1}, "captions": {"positive": 1, "negative": 1, "more": "1.."}, "attributes": ["model"],
    },
    "screen": [{"picture": "scene"}],
    "answers": [
        {
            "name": "fit", "ask": "Which?", "kind": "pick", "of": ["captions.positive", "captions.negative"],
            "fixed": {"both": "Both"},
        },
        {"name": "sure", "ask": "How sure?", "kind": "scale", "points": 3, "when": {"fit": ["both"]}},
    ],
    "judgments": 3,
    "decide": [
        {
            "answer": "fit", "rule": "majority", "keep": ["positive"],
            "drop": {"negative": "foil_fits", "both": "both_fit"},
        },
    ],
}  # fmt: skip


def changed(*changes: tuple[str, Any], of: dict | None = None) -> dict:
    """The file's data with values put at dotted paths; None removes the key."""
    found = copy.deepcopy(of or PICK)
    for path, value in changes:
        *way, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
        place: Any = found
        for step in way:
            place = place[step]
        if value is None:
            del place[last]
        elif isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value
    return found


def read(data: dict) -> ProtocolFile:
    return read_protocol(yaml.safe_dump(data, sort_keys=False), "p.yaml", ProblemLog())


def problems(text: str | dict) -> list[Problem]:
    log = ProblemLog()
    with contextlib.suppress(Unreadable):
        read_protocol(text if isinstance(text, str) else json.dumps(text, indent=1), "p.yaml", log)
    return log.problems
