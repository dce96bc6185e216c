"""Log messages without secrets."""

import logging
import re

# Tokens and Prolific's ids in an address; in PostgreSQL's message about a key, or about a whole row.
SECRET = re.compile(
    r"(/(?:judge|join)/|(?:PROLIFIC_PID|STUDY_ID|SESSION_ID)=|\(token\)=\(|prolific_pid\)=\(\d+, )[\w-]+"
    r"|(Failing row contains \().*?(?=\)\.$)",
    re.MULTILINE | re.DOTALL,
)


class Redacted(logging.Formatter):
    """Format message and traceback with annotators' links and ids, and invitations, masked."""

    def format(self, record: logging.LogRecord) -> str:
        return SECRET.sub(r"\1\2…", super().format(record))
