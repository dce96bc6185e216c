"""The judgments of a task against the task and each other, and the texts that people wrote against their judgments."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from annotation.protocols import in_data
from annotation.protocols.schema import ProtocolFile

Row = Mapping
SAME = ("position", "type", "subtype", "live")  # of a judgment as of its task
EDIT, WORDS = "edit-", "caption-"
FLAGGED = ("stage", "item", "question", "round", "annotator")
OF_ROW = ("stage", "item", "position", "question", "round", "kind", "live")


@dataclass(frozen=True, slots=True)
class Known:
    """What other files say: who is excluded, and what (stage, item, question, round, annotator) was flagged with."""

    excluded: Mapping[str, bool]
    flagged: Mapping[tuple, set[str]]
    quiet: bool  # free comments are not public


def check_judgment(row: Row, task: Row, versions: set[int], known: Known) -> Iterator[str]:
    """What one judgment says that its task, its annotator or its stage says otherwise."""
    for name in SAME:
        if row[name] != task[name]:
            yield f"{name} is {row[name]!r}, but {task[name]!r} in tasks.jsonl"
    if row["excluded"] != known.excluded.get(row["annotator"], row["excluded"]):
        yield f"excluded is {row['excluded']}, unlike for {row['annotator']} in annotators.jsonl"
    if row["instructions_version"] not in versions:
        yield f"instructions_version is {row['instructions_version']}, whose text is not in the manifest"
    if sorted(one for one in row["shown"] if not one.startswith(EDIT)) != sorted(task["options"]):
        yield f"shown is {row['shown']!r:.80}, but the task has other options"
    if row["place"] != _place_of(row):
        yield f"place is {row['place']}, but in shown the answer is at {_place_of(row)}"
    if row["withdrawn"] != (row["answer"] is None):
        yield f"withdrawn is {row['withdrawn']}, unlike the answer"
    if row["kind"] == "judge" and not 1 <= row["slot"] <= task["overlap"]:
        yield f"slot is {row['slot']}, but the task has {task['overlap']}"
    if odd := {*(row["flags"] or ())} - known.flagged.get(tuple(row[name] for name in FLAGGED), set()):
        yield f"flags has {min(odd)!r:.60}, which is not in flags.jsonl"
    if known.quiet and _content_of(row).get("reason") is not None:
        yield "its content has a reason, which is not public"


def _place_of(row: Row) -> int | None:
    return row["shown"].index(row["answer"]) + 1 if row["answer"] in row["shown"] else None


def _content_of(row: Row) -> dict:
    return json.loads(row["content"] or "{}")


def check_proposals(task: Row, rows: Sequence[Row]) -> Iterator[str]:
    if odd := {*task["proposals"]} - {*map(_edit_name, rows)}:
        yield f"proposals has {min(odd)}, which is not a judgment of the task"
    if task["gold"] and task["kind"] == "judge":
        yield f"gold is {task['gold']}, but the task is not a check"


def check_judgments(rows: Sequence[Row]) -> Iterator[str]:
    """What its judgments cannot all be together."""
    if sorted(row["given"] for row in rows) != list(range(1, len(rows) + 1)):
        yield "given is not numbered from 1"
    times = [row["created_at"] for row in sorted(rows, key=lambda row: row["given"]) if row["created_at"]]
    if times != sorted(times):
        yield "given and created_at have different orders"
    for name in ("slot", "annotator"):
        if max(Counter(row[name] for row in rows if row["counted"]).values(), default=0) > 1:
            yield f"two of the same {name} count"
    screens = [list(group) for _, group in groupby(sorted(rows, key=_screen_of), key=_screen_of)]
    for screen in screens:
        yield from _of_screen(screen)
    for who, numbers in groupby((_screen_of(screen[0]) for screen in screens), key=lambda key: key[0]):
        found = [number for _, number in numbers]
        if found != list(range(1, len(found) + 1)):
            yield f"the screens of {who} are not numbered from 1"
    unknown = {one for row in rows for one in row["shown"] if one.startswith(EDIT)} - {*map(_edit_name, rows)}
    if unknown:
        yield f"{min(unknown)} was shown, which is not a judgment of the task"


def _of_screen(rows: Sequence[Row]) -> Iterator[str]:
    """Revisions of one answer."""
    rows = sorted(rows, key=lambda row: row["revision"])
    who = f"screen {rows[0]['screen']} of {rows[0]['annotator']}"
    if [row["revision"] for row in rows] != list(range(1, len(rows) + 1)):
        yield f"revision: the revisions of {who} are not numbered from 1"
    if len({(row["slot"], *row["shown"]) for row in rows}) > 1:
        yield f"slot or shown differs between the revisions of {who}"
    mine = [row for row in rows if not row["surplus"]]  # who came back counts with what they said before they went
    if any(row["counted"] for row in mine[:-1]):
        yield f"counted is set for a revision of {who} that was replaced"


def _screen_of(row: Row) -> tuple[str, int]:
    return row["annotator"], row["screen"]


def _edit_name(row: Row) -> str:
    return f"{EDIT}{row['annotator']}-{row['screen']}-{row['revision']}"


# Texts


def check_texts(
    texts: Sequence[Row], task: Row, rows: Sequence[Row], confirms: bool, file: ProtocolFile | None = None
) -> Iterator[str]:
    """Every revision of every text is listed once, as its judgment or the adjudicator's verdict has it. `file` is that
    of the stage's protocol, if it has one.
    """
    there = {_text_key(text): text for text in texts}
    if len(there) < len(texts):
        yield "a text is listed twice"
    wanted = {_text_key(one): one for one in _written(task, rows, confirms, file)}
    for key in sorted(there.keys() ^ wanted.keys(), key=str):
        who, screen, revision, role = key
        words = f"the {role} of {who or 'an adjudicator'} ({screen}, {revision})"
        yield f"{words} is missing" if key in wanted else f"{words} is not in any judgment"
    for key, one in wanted.items():
        for name in one if key in there else ():
            if there[key][name] != one[name]:
                yield f"{name} is {there[key][name]!r:.60}, but {one[name]!r:.60} by the judgments and the task"


def _text_key(text: Row) -> tuple:
    return text["annotator"], text["screen"], text["revision"], text["role"]


def _written(task: Row, rows: Sequence[Row], confirms: bool, file: ProtocolFile | None) -> Iterator[dict]:
    """Lines as they should be; without `before` where the files cannot tell what it was."""
    edits = {_edit_name(row): _content_of(row).get("texts", {}) for row in rows} if confirms else {}
    revisions = {(*_screen_of(row), row["revision"]): row["withdrawn"] for row in rows}
    for row in rows:
        edited = confirms and (row["answer"] == "edited" or (row["answer"] or "").startswith(EDIT))
        about = {
            "annotator": row["annotator"], "screen": row["screen"], "revision": row["revision"], "by": "annotator",
            "counted": row["counted"], "withdrawn": revisions.get((*_screen_of(row), row["revision"] + 1), False),
            "created_at": row["created_at"] and row["created_at"].isoformat(),
            "edit": _edit_name(row) if edited else None,
        }  # fmt: skip
        content = _content_of(row)
        yield from _declared_texts(about, task, content, file) if file else _texts(about, task, content, edits)
    if task["decided_by"] == "adjudicator":
        about = dict.fromkeys(("annotator", "screen", "revision", "edit"))
        about |= {"by": "adjudicator", "counted": True, "withdrawn": False}
        yield from _texts(about, task, task["content"] or {}, edits)


def _declared_texts(about: Row, task: Row, content: Row, file: ProtocolFile) -> Iterator[dict]:
    roles = in_data.text_roles(file)
    for name, text in content.get("texts", {}).items():
        made_of = in_data.edited_identity(file, name, task["texts"], task["question"]) or None
        same = {name: task[name] for name in OF_ROW}
        before = task["texts"].get(made_of or "")
        yield {**same, **about, "role": roles[name], "made_of": made_of, "text": text, "before": before}


def _texts(about: Row, task: Row, content: Row, edits: Mapping[str, Mapping]) -> Iterator[dict]:
    for role, text in content.get("texts", {}).items():
        made_of = content.get("from", {}).get(role)
        words = {made_of: edits[made_of].get(role)} if made_of in edits else task["texts"]
        was = made_of or f"{WORDS}{role}-0"
        before = {"before": words[was]} if was in words else {}
        same = {name: task[name] for name in OF_ROW}
        yield {**same, **about, "role": role, "made_of": made_of, "text": text, **before}
