"""Log messages with their time, and without secrets."""

import json
import logging
import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime

# Tokens and Prolific ids in URLs, and in PostgreSQL's messages about a key or a whole row.
SECRET = re.compile(
    r"(/(?:judge|join|shared)/|(?i:PROLIFIC_PID|STUDY_ID|SESSION_ID)=|\(token\)=\(|prolific_pid\)=\(\d+, )[\w%.~+-]+"
    r"|(Failing row contains \().*?(?=\)\.$)",
    re.MULTILINE | re.DOTALL,
)
# gunicorn's message about an invalid request: the client's address, and whatever it sent.
NO_REQUEST = re.compile(r"(Invalid request from )ip=.*?: ([^:'\"]*).*", re.DOTALL)


request_id: ContextVar[str] = ContextVar("request_id", default="")  # of the request that this thread handles


class Redacted(logging.Formatter):
    """Format the time in UTC, the level, the request's id, and the message with its traceback, as text or JSON.

    Annotators' links and ids, invitations and shared pages are masked, also in gunicorn's messages (buffering.py).
    """

    def __init__(self, as_json: bool = False):
        super().__init__()
        self.as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        message = _masked(NO_REQUEST.sub(r"\1a client: \2…", super().format(record)))
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        facts: dict[str, object] = {"time": time, "level": record.levelname, "request": request_id.get()}
        facts["message"] = message
        if self.as_json:
            if record.name == "winnow.access" and isinstance(record.args, Mapping):
                facts |= {name: _masked(of) if isinstance(of, str) else of for name, of in record.args.items()}
            return json.dumps({**facts, "logger": record.name, "process": record.process}, ensure_ascii=False)
        return " ".join(str(fact) for fact in facts.values() if fact)


def _masked(text: str) -> str:
    return SECRET.sub(r"\1\2…", text)
