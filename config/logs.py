"""What is logged, without what opens somebody's door."""

import logging
import re

CAPABILITY = re.compile(r"(/(?:judge|join)/|\(token\)=\()[\w-]+")  # in an address; in what PostgreSQL says of a key


class Redacted(logging.Formatter):
    """The message and the traceback; of an annotator's link and an invitation only that there was one."""

    def format(self, record: logging.LogRecord) -> str:
        return CAPABILITY.sub(r"\1…", super().format(record))
