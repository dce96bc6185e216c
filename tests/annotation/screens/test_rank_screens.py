"""The screens on which sentences are ranked or compared, as the server makes them: also without script."""

import html
import re
import uuid
from itertools import permutations

import pytest

from annotation.assignment import leases as assignment_leases
from annotation.models import Judgment, Lease, Outcome, Stage
from benchmarks.models import Item, ItemImage
from tests.annotation.screens.test_screens import FRAGMENT, JSON, WORDS, found_words
from tests.builders import ranking_screens

pytestmark = pytest.mark.django_db
RANK, COMPARE = {"step-1": "1", "step-2": "3", "step-3": "3"}, {"sense": "2", "fluency": "tie"}
BOTH = pytest.mark.parametrize(
    ("made", "fields"), [(ranking_screens.ranking, RANK), (ranking_screens.comparing, COMPARE)], ids=["rank", "compare"]
)


def home(who) -> str:
    return f"/judge/{who.token}/"


def held(who) -> Lease:
    return Lease.objects.filter(annotator=who, state="held").order_by("granted_at", "pk").first()


def send(client, who, fields: dict[str, str], **asked):
    return client.post(home(who) + "submit/", {"lease": held(who).token, "key": uuid.uuid4(), **fields}, **asked)


def checked(page: str) -> dict[str, str]:
    """Field → value of what is filled in on the first screen of a page."""
    found = re.findall(r'name="([\w-]+)"\s+value="(\w+)"(?: data-keys="[^"]*")? checked', FRAGMENT.search(page)[0])
    return dict(found)


def work(client, who, fields) -> list[str]:
    """Everything that somebody gets who answers, forgets something, takes back, looks back and reads the rules."""
    got = [client.get(f"/join/{who.study.invite}/").text]
    for turn in range(2):
        got.append(client.get(home(who)).text)
        if held(who) is None:
            break
        got.append(send(client, who, {}, **JSON).text)
        got.append(send(client, who, fields, **JSON).text)
        if turn == 1:
            got.append(client.post(home(who) + "undo/", {"undo_key": uuid.uuid4()}, **JSON).text)
    return got + [client.get(home(who) + path).text for path in ("", "?rules", "history/")]


@BOTH
def test_no_byte_tells_which_sentence_is_which(client, made, fields):
    who = made(name="A study")
    Item.objects.update(subtype="canary", meta={"origins": ["CANARY", "SUGARCREPE"]}, truth={"note": "CANARY"})
    ItemImage.objects.update(source_name="CANARY.jpg")
    got = work(client, who, fields)
    assert sum(bool(FRAGMENT.search(page)) or '"html"' in page for page in got) >= 4
    words = [*WORDS, "second_", "sugarcrepe", "aro+", "hard-"]
    assert found_words(got, words, who) == []


@pytest.mark.parametrize(
    ("made", "items", "orders"),
    [(ranking_screens.ranking, 100, 6), (ranking_screens.comparing, 30, 2)],
    ids=["rank", "compare"],
)
def test_every_order_is_drawn(made, items, orders):
    leases = assignment_leases.hold(annotator=made(items), stage=Stage.objects.get(), wanted=items)
    drawn = {tuple(lease.shown) for lease in leases}  # by chance: one of six is missing in one of ten million runs
    assert drawn == set(permutations(leases[0].shown)) and len(drawn) == orders


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
    assert re.findall(r'dir="auto" lang="en">([^<]+)<', page) == texts
    assert [f"{letter}: {text}" for letter, text in zip("ABC", texts, strict=True)] == re.findall(
        r'aria-label="([ABC]: [^"]+)"', page
    )


@pytest.mark.parametrize("steps", [("1", "1", "2"), ("3", "1", "2"), ("1", "1", "1"), ("2", "1", "2")])
def test_an_order_is_stored_by_identity_and_comes_back_as_it_was_given(client, steps):
    who = ranking_screens.ranking()
    shown, fields = held_after(client, who).shown, {f"step-{n}": step for n, step in enumerate(steps, 1)}
    assert send(client, who, fields).status_code == 302
    placed = {identity.split("-")[1]: int(step) for identity, step in zip(shown, steps, strict=True)}
    tiers = [[role for role in ranking_screens.RANKED if placed[role] == step] for step in (1, 2, 3)]
    assert Judgment.objects.get().answer == ">".join("=".join(tier) for tier in tiers if tier)
    again = client.post(home(who) + "undo/", {"undo_key": uuid.uuid4()}, **JSON).json()["again"]
    assert checked(again["html"]) == fields and "data-answered" in again["html"]


def held_after(client, who) -> Lease:
    client.get(home(who))
    return held(who)


@pytest.mark.parametrize(("sense", "fluency"), [("1", "2"), ("tie", "tie"), ("2", "tie")])
def test_a_comparison_is_stored_by_identity_and_comes_back_as_it_was_given(client, sense, fluency):
    who = ranking_screens.comparing()
    shown, fields = held_after(client, who).shown, {"sense": sense, "fluency": fluency}
    send(client, who, fields)
    names = {"tie": "tie"} | {str(n): identity.removeprefix("caption-") for n, identity in enumerate(shown, 1)}
    assert Judgment.objects.get().answer == f"{names[sense]}/{names[fluency]}"
    past = client.get(home(who) + "history/").json()["past"]
    assert checked(past[0]["html"]) == fields


@pytest.mark.parametrize(("texts", "tie"), [(["2", "1"], "0 t"), (["T", "A long one."], "0"), (["0", "1"], "t")])
def test_a_compared_sentence_that_looks_like_a_key_has_that_key(client, texts, tie):
    """In both questions, whatever its place; and no tie has it."""
    who = ranking_screens.comparing([ranking_screens.COMPARED | {"negative": texts}])
    shown = [texts[int(identity[-1])] for identity in held_after(client, who).shown]
    found = re.findall(r'name="(sense|fluency)"\s+value="(\w+)" data-keys="([\w ]+)"', client.get(home(who)).text)
    assert len(found) == 6 and {keys for _, value, keys in found if value == "tie"} == {tie}
    own = {shown[int(value) - 1]: keys for _, value, keys in found if value != "tie"}
    assert all(own[text] == text.lower() for text in texts if len(text) == 1)


@pytest.mark.parametrize(
    ("made", "fields", "asks"),
    [
        (ranking_screens.ranking, {"step-1": "1", "step-3": "2"}, "How well does each sentence describe"),
        (
            ranking_screens.ranking,
            {"step-1": "1", "step-2": "2", "step-3": "4"},
            "not one of the answers on this screen",
        ),
        (ranking_screens.comparing, {"sense": "1"}, "Answer this question: Which is more fluent?"),
        (ranking_screens.comparing, {"fluency": "1", "sense": "none"}, "not one of the answers"),
    ],
)
def test_what_is_missing_is_asked_for_and_nothing_is_stored(client, made, fields, asks):
    who = made()
    held_after(client, who)
    refused = send(client, who, fields, **JSON)
    assert refused.status_code == 422 and asks in refused.json()["refused"]
    plain = send(client, who, fields)
    assert plain.status_code == 422 and asks in plain.text
    assert not Judgment.objects.exists()


@BOTH
def test_cannot_judge_takes_a_reason_and_nothing_else(client, made, fields):
    who = made()
    held_after(client, who)
    assert send(client, who, {"cannot_judge": "1", "reason": " "}, **JSON).status_code == 422
    assert send(client, who, {"cannot_judge": "1", "reason": "It is cut off."}, **JSON).status_code == 200
    assert list(Judgment.objects.values_list("answer", "reason")) == [("cannot_judge", "It is cut off.")]
    assert Outcome.objects.get().state == "kept"  # it measures: no item is dropped
    again = client.post(home(who) + "undo/", {"undo_key": uuid.uuid4()}, **JSON).json()["again"]
    assert checked(again["html"]) == {}


@BOTH
def test_no_answer_drops_an_item(client, made, fields):
    who = made(items=1)
    held_after(client, who)
    send(client, who, fields)
    assert [(one.state, one.reason) for one in Outcome.objects.all()] == [("kept", "")]


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


def test_released_hard_positives_are_ranked(client, real):
    who = ranking_screens.ranking(ranking_screens.hard_positives(real, 4))
    for _ in range(4):
        shown = held_after(client, who).shown
        steps = {"positive": "1", "second_positive": "1", "negative": "2"}
        send(client, who, {f"step-{n}": steps[identity.split("-")[1]] for n, identity in enumerate(shown, 1)})
    answers = list(Judgment.objects.values_list("answer", flat=True))
    assert answers == ["positive=second_positive>negative"] * 4
