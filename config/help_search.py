"""Search over the documentation, by PostgreSQL's full-text search, so that "dropping" finds "dropped"."""

from dataclasses import dataclass
from functools import lru_cache

from django.db import connection
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

AT_MOST = 12  # results
START, STOP = "\x02", "\x03"  # around a word found; these never occur in texts

# The query includes the sections, because they are files: a table would have to be kept in sync with them.
VECTORS = """
SELECT (setweight(to_tsvector('english', heading), 'A') || setweight(to_tsvector('english', title), 'B')
        || to_tsvector('english', body))::text
FROM unnest(%s::text[], %s::text[], %s::text[]) WITH ORDINALITY AS section (title, heading, body, place) ORDER BY place
"""
# Sections with every word come before those with some. Of each, the paragraph that has most of the words is shown.
QUERY = """
WITH question AS (
  SELECT websearch_to_tsquery('english', %(question)s) AS all_words,
         replace(plainto_tsquery('english', %(question)s)::text, ' & ', ' | ')::tsquery AS any_word
), found AS (
  SELECT place, body, any_word, row_number() OVER (
    ORDER BY words @@ all_words DESC, ts_rank('{0.02, 0.2, 0.5, 1}', words, any_word) DESC, place) AS rank
  FROM question, unnest(%(vectors)s::tsvector[], %(bodies)s::text[]) WITH ORDINALITY AS section (words, body, place)
  WHERE words @@ all_words OR words @@ any_word
)
SELECT place, ts_headline('english', coalesce(shown, ''), any_word, %(marks)s) FROM found LEFT JOIN LATERAL (
  SELECT regexp_replace(line, '^(.{250}\\S*) .*', '\\1 …') AS shown
  FROM unnest(string_to_array(body, E'\\n')) WITH ORDINALITY AS paragraph (line, nth)
  ORDER BY ts_rank(to_tsvector('english', left(line, 250)), any_word) DESC, nth LIMIT 1
) AS paragraph ON true WHERE rank <= %(at_most)s ORDER BY rank
"""


@dataclass(frozen=True)
class Section:
    """A part of a page up to the next heading: a line for each paragraph and row."""

    address: str
    title: str
    heading: str
    body: str

    @property
    def name(self) -> str:
        return self.title if self.heading == self.title else f"{self.title} › {self.heading}"


@dataclass(frozen=True)
class Found:
    section: Section
    excerpt: SafeString


def search(sections: tuple[Section, ...], question: str) -> list[Found]:
    """Return at most AT_MOST sections matching the question, the best first, with the words found in bold."""
    values: dict[str, str | int | list[str]] = {
        "question": question,
        "vectors": _vectors(sections),
        "bodies": [section.body for section in sections],
        "marks": f"StartSel={START}, StopSel={STOP}, HighlightAll=true",
        "at_most": AT_MOST,
    }
    with connection.cursor() as cursor:
        cursor.execute(QUERY, values)
        return [Found(sections[place - 1], _marked(excerpt)) for place, excerpt in cursor.fetchall()]


@lru_cache(maxsize=1)
def _vectors(sections: tuple[Section, ...]) -> list[str]:
    columns = [[getattr(section, name) for section in sections] for name in ("title", "heading", "body")]
    with connection.cursor() as cursor:
        cursor.execute(VECTORS, columns)
        return [vector for (vector,) in cursor.fetchall()]


def _marked(excerpt: str) -> SafeString:
    return mark_safe(escape(excerpt).replace(START, "<b>").replace(STOP, "</b>"))
