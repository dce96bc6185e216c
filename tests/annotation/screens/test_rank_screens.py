"""The screens on which sentences are ranked or compared. That they are blind, and come back as they were answered, show
test_declared_screens.py and judging/test_blinding.py.
"""

import html
import re
import uuid

import pytest

from annotation.models import Judgment, Outcome
from tests.annotation.screens.test_screens import FRAGMENT, JSON, held, home
from tests.builders import ranking_screens

pytestmark = pytest.mark.django_db
BOTH = pytest.mark.parametrize("made", [ranking_screens.ranking, ranking_screens.comparing], ids=["rank", "compare"])


def send(client, who, fields: dict[str, str], **asked):
    return client.post(home(who) + "submit/", {"lease": held(who).token, "key": uuid.uuid4(), **fields}, **asked)


def test_a_rank_screen_shows_the_picture_and_three_sentences_and_nothing_is_ranked(client):
    page = FRAGMENT.search(client.get(home(ranking_screens.ranking())).text)[0]
    assert (page.count("<img"), page.count('role="radiogroup"'), page.count('type="radio"')) == (1, 3, 9)
    assert page.count("<h1") == 1 and " checked" not in page and "data-answered" not in page


def test_a_compare_screen_shows_three_sentences_and_two_questions_and_no_picture(client):
    page = FRAGMENT.search(client.get(home(ranking_screens.comparing())).text)[0]
    assert (page.count("<img"), page.count('role="radiogroup"'), page.count('type="radio"')) == (0, 2, 6)
    assert [page.count(words) for words in ("A man rides", "A horse rides", "A man not rides")] == [1, 1, 1]
    assert page.count("<h1") == 1 and " checked" not in page


def test_sentences_stand_in_the_leases_order(client):
    who = ranking_screens.ranking()
    page = html.unescape(FRAGMENT.search(client.get(home(who)).text)[0])
    texts = [ranking_screens.RANKED[identity.split("-")[1]][0] for identity in held(who).shown]
    assert re.findall(r'dir="auto" lang="en" translate="no">([^<]+)<', page) == texts
    assert [f"{letter}: {text}" for letter, text in zip("ABC", texts, strict=True)] == re.findall(
        r'aria-label="([ABC]: [^"]+)"', page
    )


@pytest.mark.parametrize(("texts", "tie"), [(["2", "1"], "0 t"), (["T", "A long one."], "0"), (["0", "1"], "t")])
def test_a_compared_sentence_that_looks_like_a_key_has_that_key(client, texts, tie):
    """In both questions, whatever its place; and no tie has it."""
    who = ranking_screens.comparing([ranking_screens.COMPARED | {"negative": texts}])
    found = re.findall(r'name="(sense|fluency)"\s+value="(\w+)" data-keys="([\w ]+)"', client.get(home(who)).text)
    shown = [texts[int(identity[-1])] for identity in held(who).shown]
    assert len(found) == 6 and {keys for _, value, keys in found if value == "tie"} == {tie}
    own = {shown[int(value) - 1]: keys for _, value, keys in found if value != "tie"}
    assert all(own[text] == text.lower() for text in texts if len(text) == 1)


@BOTH
def test_cannot_judge_takes_a_reason_and_nothing_else(client, made):
    who = made()
    client.get(home(who))
    assert send(client, who, {"cannot_judge": "1", "reason": " "}, **JSON).status_code == 422
    assert send(client, who, {"cannot_judge": "1", "reason": "It is cut off."}, **JSON).status_code == 200
    assert list(Judgment.objects.values_list("answer", "reason")) == [("cannot_judge", "It is cut off.")]
    assert Outcome.objects.get().state == "kept"  # it measures: no item is dropped
    again = client.post(home(who) + "undo/", {"undo_key": uuid.uuid4()}, **JSON).json()["again"]
    assert " checked" not in again["html"]


@pytest.mark.parametrize(
    ("made", "there"),
    [
        (ranking_screens.ranking, ["1 2 3", "↑ ↓", "A B C", "rank the marked sentence"]),
        (ranking_screens.comparing, ["1 2", "0 T", "↑ ↓", "with a tie"]),
    ],
)
@pytest.mark.parametrize("path", ["", "?rules"])
def test_the_help_lists_the_keys_that_do_something_here(client, made, there, path):
    page = client.get(home(made()) + path).text
    keys = page[page.index('<dl class="keys">') : page.index("</dl>")]
    assert all(words in keys for words in there) and "pick a picture" not in keys
