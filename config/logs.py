"""Log messages without secrets."""

import logging
import re

CAPABILITY = re.compile(r"(/(?:judge|join)/|\(token\)=\()[\w-]+")  # in a URL; in PostgreSQL's message about a key


class Redacted(logging.Formatter):
    """Format message and traceback with the tokens of annotators' links and invitations masked."""

    def format(self, record: logging.LogRecord) -> str:
        return CAPABILITY.sub(r"\1…", super().format(record))
