"""Check answers to a protocol file against it, in words and as labels, and the file's names for a task's parts."""

import json
from collections.abc import Iterator, Mapping

from annotation.protocols import answers, compile, in_data
from annotation.protocols.base import CANNOT_JUDGE, Answer, InvalidAnswer
from annotation.protocols.schema import ProtocolFile

Row = Mapping


def check_answers(row: Row, task: Row, file: ProtocolFile | None) -> Iterator[str]:
    """Check a judgment, whose label the file must allow on this screen. Without a file it has no `answers`."""
    if file is None:
        if row["answers"] is not None:
            yield "answers has a value, but the stage uses no protocol file"
        return
    content = json.loads(row["content"] or "{}")
    if not _is_allowed(Answer(row["answer"] or "", content), row, task, file):
        yield f"answer is {row['answer']!r:.60}, which {file.name} does not allow here"
        return
    ours = in_data.answers_of(file, row["answer"], content)
    theirs = row["answers"] and json.loads(row["answers"])
    if ours != theirs:
        yield f"answers is {theirs!r:.80}, but {ours!r:.80} by the protocol file"


def _is_allowed(answer: Answer, row: Row, task: Row, file: ProtocolFile) -> bool:
    """Return whether a screen could have sent it: parsed again from its fields, it is the same."""
    if answer.label in ("", CANNOT_JUDGE):
        return not answer.content
    if compile.is_plain(file):
        return answer.label in (*row["shown"], *compile.fixed_values(file)) and not answer.content
    try:
        fields = answers.fill(file, answer, row["shown"])
        return answers.parse(file, fields, row["shown"], task["texts"], task["question"]) == answer
    except (InvalidAnswer, LookupError, ValueError):
        return False


def check_names(task: Row, file: ProtocolFile | None) -> Iterator[str]:
    ours = file and in_data.names_of(file, task["shows"], task["options"])
    if task["names"] != ours:
        yield f"names is {task['names']!r:.80}, but {ours!r:.80} by the protocol file"
    asks_live = file is not None and task["live"] and task["kind"] == "judge"
    if (task["rules"] is not None) != asks_live:
        yield f"rules is {task['rules']!r:.60}, but only live tasks of stages with a protocol file have rules"
