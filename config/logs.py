"""Log messages without secrets."""

import logging
import re
from contextvars import ContextVar

# Tokens and Prolific's ids in an address; in PostgreSQL's message about a key, or about a whole row.
SECRET = re.compile(
    r"(/(?:judge|join)/|(?i:PROLIFIC_PID|STUDY_ID|SESSION_ID)=|\(token\)=\(|prolific_pid\)=\(\d+, )[\w%.~+-]+"
    r"|(Failing row contains \().*?(?=\)\.$)",
    re.MULTILINE | re.DOTALL,
)
# gunicorn's message about what is no request: the client's address, and whatever it sent.
NO_REQUEST = re.compile(r"(Invalid request from )ip=.*?: ([^:'\"]*).*", re.DOTALL)


request_id: ContextVar[str] = ContextVar("request_id", default="")  # of the request that this thread answers


class Redacted(logging.Formatter):
    """Format message and traceback with annotators' links and ids, and invitations, masked, after the request's id; of
    gunicorn's messages too (buffering.py)."""

    def format(self, record: logging.LogRecord) -> str:
        told = SECRET.sub(r"\1\2…", NO_REQUEST.sub(r"\1a client: \2…", super().format(record)))
        return f"{one} {told}" if (one := request_id.get()) else told
