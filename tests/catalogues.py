"""The annotator's pages in other languages: which English texts there are, and what the catalogues make of them.

Texts of pages and code are marked there; of the protocol files in the library, everything that annotators read is one.

`python -m tests.catalogues` brings `annotation/locale` up to date: texts that came stand there untranslated, texts that
went are gone, and what Django reads (`.mo`) is compiled.
"""

import functools
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

from annotation.protocols import library
from annotation.protocols.schema import Strict

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "annotation" / "locale"
SINCE = datetime(2026, 11, 22, tzinfo=UTC)
LANGUAGES = ("es", "de", "zh_Hans", "ar", "eu")
KEYWORDS = DEFAULT_KEYWORDS | {
    **dict.fromkeys(("gettext", "gettext_noop", "gettext_lazy"), None),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}
OPTIONS = {"parse_template_string": True}  # `${gettext("…")}` in scripts
SOURCES = {  # domain → how its files are read, and which they are
    "django": (("javascript", ["templates/base.html", "templates/judging/*.html"]), ("python", ["annotation/**/*.py"])),
    "djangojs": (("javascript", ["static/js/judging/*.js"]),),
}


@functools.cache
def english(domain: str) -> Catalog:
    """Every text that the sources mark, without translation."""
    found = Catalog(fuzzy=False)
    for method, patterns in SOURCES[domain]:
        for pattern in patterns:
            for path in sorted(ROOT.glob(pattern)):
                text = path.read_text()
                if path.suffix == ".py" and "gettext" not in text:
                    continue
                source = io.BytesIO((templatize(text) if path.suffix == ".html" else text).encode())
                for line, message, _, context in extract(method, source, KEYWORDS, options=OPTIONS):
                    found.add(message, locations=[(str(path.relative_to(ROOT)), line)], context=context)
    if domain == "django":
        for name in library.names():
            location = str((library.FOLDER / f"{name}.yaml").relative_to(ROOT))
            for text in dict.fromkeys(read_by_annotators(library.shipped(name))):
                found.add(text, locations=[(location, 1)])
    return found


_READ = {"ask", "shown", "instructions", "label", "anchors", "statements", "not_applicable"}


def read_by_annotators(part: object, key: str = "") -> Iterator[str]:
    """The texts of a protocol file that stand on an annotator's pages, in its order."""
    if isinstance(part, str):
        yield from [part] if key in _READ else []
    elif isinstance(part, Strict):
        for name, value in part:
            yield from read_by_annotators(value, name)
    elif isinstance(part, dict):
        for value in part.values():
            yield from read_by_annotators(value, key)
    elif isinstance(part, list):
        for value in part:
            yield from read_by_annotators(value, key)


def path_of(domain: str, language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{domain}.po"


def translated(domain: str, language: str) -> Catalog:
    path = path_of(domain, language)
    if not path.exists():
        return Catalog(locale=language, domain=domain, fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=language, domain=domain)


def compiled(catalog: Catalog) -> bytes:
    out = io.BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def update() -> None:
    for domain in SOURCES:
        template = english(domain)
        for language in LANGUAGES:
            catalog = translated(domain, language)
            catalog.update(template, no_fuzzy_matching=True)
            catalog.obsolete.clear()
            store(catalog, domain, language)
            lacking = sum(not (all(one.string) if one.pluralizable else one.string) for one in catalog if one.id)
            print(f"{language} {domain}: {len(catalog)} texts, {lacking} not translated")


def store(catalog: Catalog, domain: str, language: str) -> None:
    """What is written depends on the texts alone."""
    catalog.project, catalog.version, catalog.header_comment = (
        "Winnow",
        "",
        f"# Winnow's pages for annotators: {language}",
    )
    catalog.creation_date = catalog.revision_date = SINCE
    catalog.msgid_bugs_address = catalog.last_translator = catalog.language_team = ""
    path = path_of(domain, language)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalog, width=100, include_lineno=False, sort_by_file=True)
    path.with_suffix(".mo").write_bytes(compiled(catalog))


if __name__ == "__main__":
    update()
