"""A kept item's texts, images and votes, by their place in a split. Pure: items are lines of items.jsonl.

A part is `caption:negative` for the first caption of that role, `caption:negative-1` for the second; `image:` and
`text:` likewise. `image:negative` is the negative image that was chosen, `text:` has what annotators wrote besides the
captions, `votes` the answers behind its decisions. The writer of a split takes its columns from here, and
verification compares them with the items.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from annotation.protocols.in_data import answers_of
from annotation.protocols.schema import ProtocolFile
from benchmarks.formats.base import further_columns
from benchmarks.records import is_own

KINDS = CAPTION, IMAGE, TEXT = ("caption:", "image:", "text:")
NEGATIVE = f"{IMAGE}negative"
VOTES = "votes"
Written = Mapping[str, Mapping[str, list[str]]]  # by item and role


def written_texts(lines: Iterable[Mapping]) -> Written:
    """Return the counted texts in lines of texts.jsonl, in order."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if line["kind"] == "judge" and line["live"] and line["counted"]:
            found[line["item"]][line["role"]].append(line["text"])
    return found


def texts_beside(captions: Iterable[Mapping], written: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return annotators' texts about an item by role, without those among its captions of that role."""
    kept = {(caption["role"], caption["text"]) for caption in captions}
    found = {role: [text for text in texts if (role, text) not in kept] for role, texts in sorted(written.items())}
    return {role: texts for role, texts in found.items() if texts}


def parts_of(line: Mapping[str, Any]) -> dict[str, list]:
    """Return the item's texts or images (as in the line) in order, by kind and role: `{"caption:negative": ["…",
    "…"]}`.

    A chosen candidate is the first negative image, and no longer among the candidates.
    """
    found: dict[str, list] = defaultdict(list)
    for caption in line["captions"]:
        found[f"{CAPTION}{caption['role']}"].append(caption["text"])
    for role, texts in line.get("texts", {}).items():
        found[f"{TEXT}{role}"] += texts
    chosen = [image for image in line["images"] if image["key"] == line["negative_image"]]
    found[NEGATIVE] += chosen or [None]
    for image in line["images"]:
        role = image["key"].rpartition("-")[0]
        if image not in chosen or is_own(role):
            found[f"{IMAGE}{role}"].append(image)
    return found


def part_of(parts: Mapping[str, list], part: str) -> Any:
    """Return one of `parts_of`; None if the item doesn't have it."""
    of, _, place = part.partition("-")
    members = parts.get(of, ())
    return members[int(place or 0)] if len(members) > int(place or 0) else None


def votes_of(line: Mapping[str, Any], files: Mapping[str, ProtocolFile]) -> str:
    """Return each decision's counted judgments, as JSON: for each answer on its screen, how many gave each value, and
    their shares (a soft label). `files` are protocol files by stage, whose words the values then use.

    `[{"stage": "1", "question": "", "round": 0, "answer": "fit", "votes": {"both": 1, "positive": 2}, "shares": …}]`
    """
    found = []
    for decision in line["decisions"]:
        file = files.get(decision["stage"])
        names = [answer.name for answer in file.answers] if file else [""]
        counts: dict[str, Counter[str]] = {name: Counter() for name in names}
        for label, votes in decision["votes"].items():
            said = (answers_of(file, label) if file else None) or dict.fromkeys(names, label)
            for name, value in said.items():
                counts[name][value] += votes
        about = {name: decision[name] for name in ("stage", "question", "round")}
        for name, count in counts.items():
            shares = {value: votes / count.total() for value, votes in sorted(count.items())}
            found.append({**about, "answer": name, "votes": dict(sorted(count.items())), "shares": shares})
    return json.dumps(found, ensure_ascii=False)


def columns_of(split: Mapping[str, str], lines: Iterable[Mapping]) -> dict[str, str]:
    """Return parts by column: the format's columns, one for every further text and image of any item, and the votes if
    there are decisions.

    If items have user-defined roles, columns for other roles that no item has are left out.
    """
    most: Counter[str] = Counter()
    decided = False
    for line in lines:
        decided |= bool(line.get("decisions"))
        parts = parts_of(line)
        most |= Counter({of: len(members) for of, members in parts.items() if members != [None]})
    if any(is_own(of.partition(":")[2]) for of in most):
        split = {
            name: part for name, part in split.items() if not part.startswith(KINDS) or part.partition("-")[0] in most
        }
    found = {**split, **further_columns(most, split)}
    name = VOTES
    while name in found:
        name += "_"
    return {**found, name: VOTES} if decided else found
