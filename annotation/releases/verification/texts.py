"""Check the texts that people wrote (texts.jsonl) against the judgments and verdicts that contain them."""

import json
from collections.abc import Iterator, Mapping, Sequence

from annotation.protocols import in_data
from annotation.protocols.schema import ProtocolFile
from annotation.releases.verification.judgments import edit_name, is_edit

Row = Mapping
WORDS = "caption-"
OF_ROW = ("stage", "item", "position", "question", "round", "kind", "live")


def check_texts(
    texts: Sequence[Row], task: Row, rows: Sequence[Row], confirms: bool, file: ProtocolFile | None = None
) -> Iterator[str]:
    """Check that every revision of every text is listed once, as in its judgment or the adjudicator's verdict. `rows`
    are the task's judgments, `file` is that of the stage's protocol, if it has one.
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


def _content_of(row: Row) -> dict:
    return json.loads(row["content"] or "{}")


def _text_key(text: Row) -> tuple:
    return text["annotator"], text["screen"], text["revision"], text["role"]


def _written(task: Row, rows: Sequence[Row], confirms: bool, file: ProtocolFile | None) -> Iterator[dict]:
    """Yield the lines as they should be; without `before` if the files don't show it."""
    edits = {edit_name(row): _content_of(row).get("texts", {}) for row in rows} if confirms else {}
    withdrawn = {(row["annotator"], row["screen"], row["revision"]): row["withdrawn"] for row in rows}
    for row in rows:
        edited = confirms and (row["answer"] == "edited" or is_edit(row["answer"] or ""))
        about = {
            "annotator": row["annotator"],
            "screen": row["screen"],
            "revision": row["revision"],
            "by": "annotator",
            "counted": row["counted"],
            "withdrawn": withdrawn.get((row["annotator"], row["screen"], row["revision"] + 1), False),
            "created_at": row["created_at"] and row["created_at"].isoformat(),
            "edit": edit_name(row) if edited else None,
        }
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
