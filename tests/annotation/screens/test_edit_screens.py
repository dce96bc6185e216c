"""The screens on which sentences are rewritten, as the server makes them."""

import re
import uuid

import pytest

from annotation.judging import submissions
from annotation.models import Judgment
from annotation.protocols.visla_triplet import GUIDELINES
from annotation.screens import read_answer
from annotation.screens.screens import build_screens
from benchmarks.models import Caption, ItemImage
from tests.annotation.screens.test_screens import FRAGMENT, JSON, found_words, held, home
from tests.builders import studies, text_items, visla_items
from tests.collapsed import collapsed

pytestmark = pytest.mark.django_db
BOTH = pytest.mark.parametrize("protocol", ["visla-paraphrase", "visla-triplet"])
ALL = {one.code: "holds" for one in GUIDELINES}
SITS = "A cat sits in the basket."
FORBIDDEN = ["candidate", "negative", "positive", "caption-", "edit-1", "basket-canary"]


def somebody(protocol: str, items=1):
    return studies.annotator(visla_items.study(protocol, items))


def send(client, who, **fields):
    lease = held(who)
    if fields.get("answer", "").startswith(("caption-", "edit-")):
        fields["answer"] = read_answer.place_on_screen(lease, fields["answer"])
    return client.post(home(who) + "submit/", {"lease": lease.token, "key": uuid.uuid4(), **fields}, **JSON)


def fragment(page: str) -> str:
    return FRAGMENT.search(page)[0]


def test_all_sentences_are_there_once_and_the_picture(client):
    html = fragment(client.get(home(somebody("visla-paraphrase"))).text)
    for words in ("A cat is in", "The basket holds", "A cat is beside", "A cat is under", "In the basket"):
        assert html.count(words) == 1
    assert (html.count("<img"), html.count('name="answer"'), html.count("<h1")) == (1, 4, 1)


def test_without_an_image_there_is_no_picture_to_ask_for(client):
    source = studies.benchmark(0)
    ItemImage.objects.filter(item=text_items.item(source, visla_items.CAT)).delete()
    html = fragment(
        client.get(home(studies.annotator(studies.study(benchmark=source, protocol="visla-paraphrase")))).text
    )
    assert "<img" not in html and "Picture" not in html


@BOTH
def test_no_byte_says_whose_words_they_are(client, protocol):
    who = somebody(protocol, 3)
    who.study.benchmark.items.update(meta={"note": "basket-canary"})
    got = [client.get(home(who)).text]
    fields = {"answer": "1", "edit": "1", "words": SITS} if protocol == "visla-paraphrase" else {**ALL, "first": SITS}
    got.append(send(client, who, **fields).text)
    got.append(client.post(home(who) + "undo/", {"undo_key": uuid.uuid4()}, **JSON).text)
    got += [client.get(home(who) + path).text for path in ("", "?rules", "history/")]
    if protocol == "visla-paraphrase":
        send(client, who, **fields)
        got.append(client.get(home(studies.annotator(who.study))).text)
    assert found_words(got, FORBIDDEN, who) == []


def test_an_edit_comes_back_as_it_was_sent(client):
    who = somebody("visla-paraphrase")
    client.get(home(who))
    send(client, who, answer="caption-candidate-0", edit="1", words=f" {SITS}\n")
    [lease] = submissions.history(annotator=who)
    html = collapsed(build_screens([lease], who.stage)[0].html())
    place = read_answer.place_on_screen(lease, "caption-candidate-0")
    assert "data-answered" in html and f">{SITS}</textarea>" in html
    assert re.findall(r'name="answer" value="(\w+)" checked', html) == [place]
    assert re.findall(r'name="edit" value="1" checked', html)


def test_a_rejection_comes_back_with_its_ticks(client):
    who = somebody("visla-paraphrase")
    client.get(home(who))
    send(client, who, answer="reject", same="broken", why="No <b>.")
    html = collapsed(build_screens(submissions.history(annotator=who), who.stage)[0].html())
    assert re.findall(r'name="(\w+)" value="broken" checked', html) == ["same"]
    assert 'value="reject" checked' in html and ">No &lt;b&gt;.</textarea>" in html
    asks = [html.index(words) for words in ("Tick every problem", 'value="broken"', "Or explain")]
    assert asks == sorted(asks)


def test_a_mended_triplet_comes_back_with_what_was_there(client):
    who = somebody("visla-triplet")
    client.get(home(who))
    send(client, who, **ALL, first=SITS, use=read_answer.place_on_screen(held(who), "caption-candidate-1"))
    html = collapsed(build_screens(submissions.history(annotator=who), who.stage)[0].html())
    assert 'data-was="A cat is in the basket."' in html and f">{SITS}</textarea>" in html
    assert len(re.findall(r'value="holds" checked', html)) == len(GUIDELINES)
    assert ">In the basket there is a cat.</textarea>" in html


def test_somebody_elses_edit_is_marked_and_is_no_other(client):
    who = somebody("visla-paraphrase")
    client.get(home(who))
    send(client, who, answer="caption-candidate-0", edit="1", words=SITS)
    other = studies.annotator(who.study)
    html = fragment(client.get(home(other)).text)
    [marked] = re.findall(
        r'<span class="words" dir="auto" lang="en" translate="no">([^<]*)</span> <span class="by">', html
    )
    assert marked == SITS and html.count('name="answer"') == 5
    submissions.undo(annotator=who, key=uuid.uuid4())
    assert fragment(client.get(home(other)).text) == html  # what was drawn for them stays as it is


@BOTH
def test_words_are_never_markup(client, protocol):
    who = somebody(protocol)
    Caption.objects.update(text='<script>alert("x")</script> & "more"')
    html = fragment(client.get(home(who)).text)
    assert "<script" not in html and "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("protocol", "fields", "sentence"),
    [
        ("visla-paraphrase", {}, "Pick a sentence, edit one or reject all."),
        ("visla-paraphrase", {"answer": "9"}, "not one of the sentences"),
        ("visla-paraphrase", {"answer": "1", "edit": "1", "words": "x" * 1001}, "longer than 1,000"),
        ("visla-triplet", {}, "every line"),
        ("visla-triplet", {**ALL, "drop": "1"}, "before you drop"),
    ],
)
def test_what_is_no_answer_is_refused_with_a_sentence(client, protocol, fields, sentence):
    who = somebody(protocol)
    client.get(home(who))
    refused = send(client, who, **fields)
    assert refused.status_code == 422 and sentence in refused.json()["refused"]
    assert not Judgment.objects.exists()


@BOTH
def test_cannot_judge_is_an_answer_here_too_and_comes_back(client, protocol):
    who = somebody(protocol)
    client.get(home(who))
    assert send(client, who, cannot_judge="1", reason="Blank.").status_code == 200
    [lease] = submissions.history(annotator=who)
    assert "data-answered" in build_screens([lease], who.stage)[0].html() and Judgment.objects.get().reason == "Blank."


@BOTH
def test_its_script_style_and_keys_are_on_the_page(client, protocol):
    page = client.get(home(somebody(protocol))).text
    assert "judging/edit.js" in page and "judge-edit.css" in page and "<kbd>E</kbd>" in page
