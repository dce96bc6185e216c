"""What no two runs share, replaced by its name. README.md lists each substitution."""

import re
from datetime import UTC, datetime

from bench.golden.material import SHARED

STARTED = datetime.now(UTC)
TOKEN = re.compile(r"[A-Za-z0-9_-]{9,}")
# Columns whose values are drawn at random, wherever they are.
SECRET = ("invite", "token", "opaque", "key", "completion_code", "screened_out_code", "no_consent_code")
PATTERNS = [
    (re.compile(r"/static/(?:[\w.-]+/)*([\w-]+(?:[.-]\d+\.\d+\.\d+)?)(?:\.min)?\.[0-9a-f]{12}\."), r"/static/\1."),
    (re.compile(r"http://(?:127\.0\.0\.1|localhost|testserver)(?::\d+)?"), "http://<host>"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\b(?:[Dd]one in|in|took) \d[\d.,]* s\b"), "in <seconds>"),
    (re.compile(r"\bseen=[^&\s\"]+"), "seen=<seen>"),
    (re.compile(r"\b\d[\d.,]* (?:s|min) from start to end"), "<seconds> from start to end"),
    (re.compile(r"\d[\d.,]* (a|per) second\b"), r"<rate> \1 second"),
    (re.compile(r'("seconds": )\d[\d.]*'), r"\1<seconds>"),
]


class Normaliser:
    """`scratch` is the run's own folder."""

    def __init__(self, scratch: str):
        self.scratch = scratch
        self.names: dict[str, str] = {}

    def refresh(self) -> None:
        """Learn what is random from the database: the value of a row's column is named by table, column and id."""
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT table_name, column_name FROM information_schema.columns "
                "WHERE table_schema = 'public' AND column_name = ANY(%s) "
                "AND (column_name <> 'key' OR data_type = 'uuid') AND table_name ~ '^(annotation|benchmarks)_'",
                [list(SECRET)],
            )
            for table, column in cursor.fetchall():
                row = "coalesce(to_jsonb(one)->>'id', to_jsonb(one)->>'study_id')"  # one for each study
                cursor.execute(f'SELECT {row}, one."{column}"::text FROM "{table}" one')
                short = table.partition("_")[2]
                self.names |= {value: f"<{short} {number} {column}>" for number, value in cursor.fetchall() if value}

    def __call__(self, text: str) -> str:
        text = text.replace(self.scratch, "<scratch>").replace(str(SHARED.resolve()), "<shared>")
        text = TOKEN.sub(lambda found: self.names.get(found[0], found[0]), text)
        for pattern, name in PATTERNS:
            text = pattern.sub(name, text)
        return _today().sub("<now>", text)


def _today() -> re.Pattern[str]:
    """A date of the run's own days, with the time of day that follows."""
    days = {moment.strftime(form) for moment in (STARTED, datetime.now(UTC)) for form in FORMS}
    dates = "|".join(re.escape(day) for day in sorted(days, key=len, reverse=True))
    return re.compile(rf"\b(?:{dates})(?!\d)(?:,? (?:at )?|T)?(?:\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|\+00:00| UTC)?")


FORMS = ("%Y-%m-%d", "%-d %b %Y", "%-d %B %Y", "%-d %b", "%a %d %b", "%d/%b/%Y")
