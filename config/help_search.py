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
SELECT (setweight(to_tsvector('english', heading), 'A') || to_tsvector('english', body))::text
FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS section (heading, body, place) ORDER BY place
"""
# Sections with all words come before those with some; words in headings count more than those in the text.
QUERY = """
WITH question AS (
  SELECT websearch_to_tsquery('english', %(question)s) AS all_words,
         replace(plainto_tsquery('english', %(question)s)::text, ' & ', ' | ')::tsquery AS any_word
), found AS (
  SELECT place, body, any_word
  FROM question, unnest(%(vectors)s::tsvector[], %(bodies)s::text[]) WITH ORDINALITY AS section (words, body, place)
  WHERE words @@ all_words OR words @@ any_word
  ORDER BY words @@ all_words DESC, ts_rank(words, any_word, 1) DESC, place LIMIT %(at_most)s
)
SELECT place, ts_headline('english', body, any_word, %(marks)s) FROM found
"""


@dataclass(frozen=True)
class Section:
    """A part of a page: its text up to the next heading, with its link."""

    address: str
    title: str
    heading: str
    body: str


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
        "marks": f"StartSel={START}, StopSel={STOP}, MaxWords=32, MinWords=16",
        "at_most": AT_MOST,
    }
    with connection.cursor() as cursor:
        cursor.execute(QUERY, values)
        return [Found(sections[place - 1], _marked(excerpt)) for place, excerpt in cursor.fetchall()]


@lru_cache(maxsize=1)
def _vectors(sections: tuple[Section, ...]) -> list[str]:
    headings = [f"{section.title} {section.heading}" for section in sections]
    with connection.cursor() as cursor:
        cursor.execute(VECTORS, [headings, [section.body for section in sections]])
        return [vector for (vector,) in cursor.fetchall()]


def _marked(excerpt: str) -> SafeString:
    return mark_safe(escape(excerpt).replace(START, "<b>").replace(STOP, "</b>"))
