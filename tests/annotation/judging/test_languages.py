"""The annotator's pages in six languages: nothing English is left on them, and each answer keeps its language."""

import ast
import re
from html.parser import HTMLParser

import pytest
import yaml
from django.template.base import Lexer, TokenType

from annotation.models import Annotator, Judgment
from annotation.protocols import library
from annotation.protocols.registry import PROTOCOLS
from annotation.studies import lifecycle
from annotation.studies.instructions import default_instructions
from tests import catalogues
from tests.annotation.judging.test_pages import home, screen, send
from tests.builders import declared, studies

ROOT = catalogues.ROOT
PLACEHOLDER = re.compile(r"%\(\w+\)s")
WORD = re.compile(r"[^\W\d_]{2,}")
SAME_EVERYWHERE = {"UTC", "Winnow", "Shift"}
REFUSALS = {"Refused", "UnknownLease", "KeyReused", "BadAnswer", "NotOpen", "NothingToUndo", "InvalidAnswer"}


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
@pytest.mark.parametrize("domain", catalogues.SOURCES)
def test_a_catalogue_translates_every_text_and_is_compiled(domain, language):
    catalog = catalogues.translated(domain, language)
    texts = [one for one in catalog if one.id]
    english = [one for one in catalogues.english(domain) if one.id]
    assert {(one.context, one.id) for one in texts} == {(one.context, one.id) for one in english}
    for one in texts:
        forms = one.string if isinstance(one.string, tuple) else (one.string,)
        assert all(forms) and len(forms) == (catalog.num_plurals if one.pluralizable else 1), one.id
        wanted = sorted(PLACEHOLDER.findall(one.id[1] if one.pluralizable else one.id))
        assert sorted(PLACEHOLDER.findall(forms[-1])) == wanted, one.id
    assert catalogues.path_of(domain, language).with_suffix(".mo").read_bytes() == catalogues.compiled(catalog)


def test_every_text_in_a_script_is_found():
    """The extractor reads a template string only in part."""
    scripts = " ".join(path.read_text() for path in ROOT.glob("static/js/judging/*.js"))
    there = {one.id[0] if one.pluralizable else one.id for one in catalogues.english("djangojs")}
    marked = re.findall(r'(?:\bn?gettext\(|\bpgettext\("[^"]*", )"([^"]+)"', scripts)
    assert len(marked) > 80 and set(marked) - there == set()


class _Words(HTMLParser):
    """What is read on a page or read out of it, without keys and codes."""

    READ_OUT = ("aria-label", "title", "alt", "placeholder")
    SILENT = ("script", "style", "code", "kbd", "title")

    def __init__(self):
        super().__init__()
        self.found: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in self.READ_OUT and value]
        if tag in self.SILENT:
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if not self.inside:
            self.found.append(data)


def untranslated(template: str) -> set[str]:
    """Words that stand in a template outside of its translated texts."""
    text, translated = "", False
    for token in Lexer(template).tokenize():
        if token.token_type == TokenType.BLOCK:
            name = token.split_contents()[0]
            classes = token.contents == "block body_class"
            translated = (
                name == "blocktranslate" or classes or (translated and name not in ("endblocktranslate", "endblock"))
            )
        elif token.token_type == TokenType.TEXT and not translated:
            text += token.contents
    reader = _Words()
    reader.feed(text)
    return {word for found in reader.found for word in WORD.findall(found)} - SAME_EVERYWHERE


def test_templates_say_nothing_outside_of_their_translated_texts():
    found = {path.name: untranslated(path.read_text()) for path in (ROOT / "templates/judging").glob("*.html")}
    assert len(found) > 40 and {name: words for name, words in found.items() if words} == {}


def test_the_reading_of_templates_finds_what_is_not_translated():
    page = '<p title="Odd"><kbd>Enter</kbd> Left {{ name }} {% blocktranslate %}In{% endblocktranslate %} out UTC</p>'
    assert untranslated(page) == {"Odd", "Left", "out"}


def _literal(node: ast.AST | None) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


@pytest.mark.parametrize("room", ["judging", "screens", "protocols"])
def test_a_refusal_is_translated(room):
    found = []
    for path in (ROOT / "annotation" / room).glob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        for call in calls:
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in REFUSALS and call.args and _literal(call.args[0]):
                found.append(f"{path.name}:{call.lineno}")
    assert found == []


def test_scripts_say_nothing_untranslated():
    """Strings of two words and more, which are no selectors, keys or addresses."""
    paths, found = [*(ROOT / "static/js/judging").glob("*.js")], []
    for path in paths:
        code = re.sub(r"^\s*//.*$|\s// .*$", "", path.read_text(), flags=re.MULTILINE)
        code = re.sub(r'\bn?p?gettext\((?:"[^"]*"(?:, )?)+', "", code)
        strings = [text for text in re.findall(r'"([^"\n]*)"|`([^`]*)`', code) for text in text if text]
        words = [text for text in strings if re.search(r"[A-Z][a-z]+ [a-z]+|[a-z]{3,} [a-z]{3,} [a-z]{3,}", text)]
        found += [f"{path.name}: {text}" for text in words]
    assert len(paths) > 20 and found == []


# Which language a page is in


pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> Annotator:
    return studies.annotator(studies.study(items=3))


def language_of(page) -> str:
    return re.search(r'<html lang="([\w-]+)"', page.text)[1]


def test_a_page_is_in_the_browsers_language_until_another_is_chosen(client, ann):
    wanted = {"eu,es;q=0.5": "eu", "zh-CN,en;q=0.1": "zh-hans", "fr": "en", "de-AT": "de"}
    assert language_of(client.get(home(ann))) == "en"
    assert {asked: language_of(client.get(home(ann), headers={"accept-language": asked})) for asked in wanted} == wanted
    headers = {"accept-language": "de-AT"}
    assert client.post(f"{home(ann)}language/", {"language": "ar"}, headers=headers).url == home(ann)
    page = client.get(home(ann), headers=headers)
    assert language_of(page) == "ar" and '<html lang="ar" dir="rtl">' in page.text
    client.post(f"{home(ann)}language/", {"language": "tlh"}, headers=headers)
    assert language_of(client.get(home(ann), headers=headers)) == "ar"


def test_an_invitation_changes_its_language_and_keeps_it_for_who_joins(client):
    link = f"/join/{studies.study().invite}/"
    assert language_of(client.get(link, {"language": "es"}, headers={"accept-language": "de"})) == "es"
    assert not Annotator.objects.exists()
    client.post(f"{link}?language=es")
    client.post(f"{link}?language=tlh", headers={"accept-language": "de"})
    assert sorted(Annotator.objects.values_list("language", flat=True)) == ["", "es"]


def test_a_wrong_link_is_refused_in_the_language_that_was_chosen(client):
    study = studies.annotator(studies.study(), prolific_pid="p1").study
    refused = client.post(f"/join/{study.invite}/?PROLIFIC_PID=p1&language=es", {"link": "wrong"})
    assert refused.status_code == 403 and language_of(refused) == "es"


def test_an_answer_keeps_the_language_that_it_was_given_in(client, ann):
    for asked in ("en", "eu"):
        client.defaults["HTTP_ACCEPT_LANGUAGE"] = asked
        send(client, ann, screen(client, ann))
    assert list(Judgment.objects.order_by("pk").values_list("language", flat=True)) == ["en", "eu"]


def test_material_keeps_its_own_language(client):
    ann = studies.annotator(studies.study(language="eu"))
    page = client.get(home(ann), headers={"accept-language": "es"}).text
    assert re.search(r'<h1 class="caption[^>]* lang="eu"', page) and '<html lang="es">' in page


# Instructions


def test_default_instructions_come_in_every_language(client, ann):
    stage = ann.stage
    first = stage.instructions.get()
    assert set(first.translations) == {"es", "de", "zh-hans", "ar", "eu"}
    protocol = PROTOCOLS[stage.protocol]
    shapes = {
        tuple(line[:2] == "- " for line in default_instructions(protocol, code).splitlines() if line)
        for code in ("en", *first.translations)
    }
    assert len(shapes) == 1  # as many paragraphs and points in each
    page = client.get(f"{home(ann)}?rules", headers={"accept-language": "de"}).text
    assert first.translations["de"][:20] in page and '<div class="prose" lang="de" dir="auto">' in page


@pytest.mark.parametrize("name", declared.SAMPLED)
def test_a_protocol_of_the_library_speaks_the_annotators_language(client, name):
    """Its screen and its instructions, published as it is."""
    who, file = studies.annotator(declared.asked(name)), library.shipped(name)
    headers = {"accept-language": "es"}
    reader = _Words()
    for address in (home(who), f"{home(who)}?rules"):
        reader.feed(client.get(address, headers=headers).text)
    read = {" ".join(words.split()) for words in reader.found}
    spanish = {one.id: one.string for one in catalogues.translated("django", "es")}
    english = {text for text in catalogues.read_by_annotators(file) if spanish[text] != text}
    assert read & {text.splitlines()[0] for text in english} == set()
    assert any(spanish[file.ask] in one for one in read)


def test_statements_of_a_check_are_translated(client):
    study = declared.of_file(yaml.safe_load(declared.MIXED.replace("It is sharp", "Both"))).study
    page = client.get(home(studies.annotator(study)), headers={"accept-language": "de"}).text
    assert 'aria-label="Beide"' in page and 'aria-label="It is whole"' in page


def test_own_instructions_are_shown_as_they_are_where_they_are_not_translated(client, ann):
    lifecycle.revise_instructions(
        stage=ann.stage, text="Look twice.", by="test", translations={"es": "Mira dos veces."}
    )
    for asked, words, written in (("es", "Mira dos veces.", "es"), ("de", "Look twice.", "en")):
        page = client.get(f"{home(ann)}?rules", headers={"accept-language": asked}).text
        assert f'<div class="prose" lang="{written}" dir="auto">' in page and words in page


def test_the_scripts_words_are_served_in_each_language_and_may_be_kept(client):
    for code in ("en", "es"):
        answer = client.get(f"/judge-words/{code}.js")
        assert answer["Content-Type"].startswith("text/javascript") and "max-age" in answer["Cache-Control"]
    assert client.get("/judge-words/tlh.js").status_code == 404
