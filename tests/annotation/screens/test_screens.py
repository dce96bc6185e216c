"""The screens of every protocol: what they show. judging/test_blinding.py: no byte tells one part from another."""

import re
import uuid
from collections.abc import Iterable
from random import Random

import pytest

from annotation.assignment import leases as assignment_leases
from annotation.assignment import seats
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Judgment, Lease, Stage, Task
from annotation.protocols.registry import PROTOCOLS, protocol_named
from annotation.screens import read_answer
from annotation.screens.material import texts_of
from annotation.screens.screens import build_screens, text_size
from annotation.simulation.browser import FormReader
from benchmarks.models import Caption, ItemImage
from tests.builders import studies

pytestmark = pytest.mark.django_db
JSON = {"HTTP_ACCEPT": "application/json"}
WORDS = ["candidate", "negative", "positive", "original", "caption-", "swap", "canary", "i2t", "t2i"]
FRAGMENT = re.compile(r'<fieldset class="screen".*?</fieldset>', re.DOTALL)
TOLD_APART = re.compile(r'data-lease="[^"]*"|value="[0-9a-f-]{36}"|/i/[0-9a-f]{32}|\d+(?=, )')


def benchmark(items: int = 3):
    """Items with both images; names that must not get out are planted."""
    made = studies.benchmark(items)
    for item in made.items.all():
        ItemImage.objects.create(
            item=item, image=studies.image(), role="negative", position=0, source_name="CANARY.jpg"
        )
        for role, place in (("second_positive", 0), ("negative", 1)):
            text = f"Another of the sentences, {place + 2 * item.position}."
            Caption.objects.create(item=item, role=role, position=place, text=text)
    made.items.update(subtype="canary", meta={"note": "CANARY"}, truth={"verify": ["yes"], "note": ["CANARY"]})
    return made


def annotator(protocol: str, items: int = 3):
    return studies.annotator(studies.study(benchmark=benchmark(items), protocol=protocol, name="A study"))


def home(who) -> str:
    return f"/judge/{who.token}/"


def found_words(pages: Iterable[str], words: Iterable[str], who) -> list[str]:
    """Those that the pages have, leaving out tokens: three of their random letters may well be such a word."""
    texts = [page.replace(who.token, "").replace(who.study.invite, "").lower() for page in pages]
    return [word for text in texts for word in words if word in text]


def held(who) -> Lease:
    return Lease.objects.filter(annotator=who, state="held").select_related("task").order_by("granted_at", "pk").first()


def seated(who, stage: Stage) -> None:
    """They go on to the stage, and have read its rules."""
    seats.sit(annotator=who, stage=stage)
    studies.read(who, stage)


def answer_of(lease: Lease, seed: int = 1) -> dict[str, str]:
    """The fields of some answer to it."""
    protocol = protocol_named(lease.task.stage.protocol)
    if protocol.form:
        return protocol.form.simulate(Random(seed), lease.shown, texts_of(lease.task, lease.shown), lease.task.question)
    places = [*map(str, range(1, len(lease.shown) + 1)), *(choice.identity for choice in protocol.fixed)]
    return {"answer": places[seed % len(places)]}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_which_of_two_tabs_answers_counts_is_asked_by_their_places_and_chosen_without_script(client, protocol):
    who = annotator(protocol, items=1)
    client.get(home(who))
    lease, kinds = held(who), {}
    for answer in (answer_of(lease, seed) for seed in range(1, 60)):
        kinds.setdefault(read_answer.parse_answer(lease, protocol, answer).label, answer)
    first, *others = [{"lease": lease.token, "key": uuid.uuid4(), **answer} for answer in kinds.values()]
    client.post(home(who) + "submit/", first)
    for answer in others[:2]:
        before = Judgment.objects.latest("pk")
        asked = client.post(home(who) + "submit/", answer)
        assert (asked.status_code, Judgment.objects.latest("pk")) == (409, before)
        assert "in two tabs" in asked.text
        assert found_words([asked.text], WORDS, who) == []
        page = FormReader(asked.request["PATH_INFO"])
        page.feed(asked.text)
        [form] = page.forms
        client.post(form.action, form.values)
        assert Judgment.objects.filter(key=answer["key"], counted_on__isnull=False).exists()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_screens_of_all_questions_and_orders_are_the_same_but_for_what_they_show(client, protocol):
    who = annotator(protocol, items=6)
    Caption.objects.update(text="The same words.")
    leases = assignment_leases.hold(annotator=who, stage=Stage.objects.get(), wanted=20)
    assert len({lease.task.question for lease in leases}) == len(set(Task.objects.values_list("question", flat=True)))
    shapes = {TOLD_APART.sub("x", screen.html()) for screen in build_screens(leases, Stage.objects.get())}
    assert len(leases) >= 6 and len(shapes) == 1


@pytest.mark.parametrize(
    ("protocol", "pictures", "sentences", "radios", "keys", "other_keys"),
    [
        ("bivlc-choose", 4, 1, 5, ["1 – 9", "None of them"], ["Both", "pick a sentence"]),
        ("bivlc-disambiguate", 2, 1, 3, ["1 2", "<kbd>B</kbd>", "Both"], ["None of them", "1 – 9"]),
        ("bivlc-i2t", 1, 2, 2, ["1 2", "pick a sentence"], ["Both", "None of them", "pick a picture"]),
        ("bivlc-t2i", 2, 1, 2, ["1 2", "pick a picture"], ["Both", "None of them"]),
        ("verify", 1, 1, 3, ["<kbd>T</kbd>", "Cannot tell", "<kbd>Y</kbd>"], ["pick a", "Both", "None of them"]),
    ],
)
def test_a_screen_shows_its_parts_and_its_help_the_keys(
    client, protocol, pictures, sentences, radios, keys, other_keys
):
    who = annotator(protocol)
    page, rules = client.get(home(who)).text, client.get(home(who) + "?rules").text
    html = FRAGMENT.search(page)[0]
    assert (html.count("<img"), html.count("A red cup") + html.count("A blue cup")) == (pictures, sentences)
    assert (html.count('type="radio"'), html.count("<h1")) == (radios, 1)
    for text in (page, rules):
        shown = text[text.index('<dl class="keys">') :]
        shown = shown[: shown.index("</dl>")]
        assert all(words in shown for words in keys) and not any(words in shown for words in other_keys)


def test_options_stand_in_the_leases_order():
    who = annotator("bivlc-i2t")
    [lease] = assignment_leases.hold(annotator=who, stage=Stage.objects.get(), wanted=1)
    places = {}
    for order in (lease.shown, lease.shown[::-1]):
        lease.shown = order
        html = build_screens([lease], Stage.objects.get())[0].html()
        places[tuple(order)] = html.index("A red cup") < html.index("A blue cup")
    assert places == {
        ("caption-positive-0", "caption-negative-0"): True,
        ("caption-negative-0", "caption-positive-0"): False,
    }


def test_the_image_that_was_chosen_is_the_one_that_is_shown():
    plans = [StagePlan("bivlc-choose", "choose", settings={"carries": "negative"}), StagePlan("verify", "v", "choose")]
    study = studies.study(stages=plans)
    who, (first, then) = studies.annotator(study), study.stages.all()
    studies.judgment(who, first, "candidate-2")
    seated(who, then)
    shown = {part["url"] for lease in assignment_leases.hold(annotator=who, stage=then, wanted=2)
             for part in build_screens([lease], then)[0].shown["pictures"]}  # fmt: skip
    uses = ItemImage.objects.filter(role__in=("positive", "candidate"), position__in=(0, 2)).exclude(
        role="candidate", position=0
    )
    assert shown == {f"/i/{use.opaque}.jpg" for use in uses}


@pytest.mark.parametrize("protocol", ["bivlc-t2i", "visla-paraphrase", "visla-triplet"])
@pytest.mark.parametrize("wanted", [1, 3])
def test_screens_take_one_query_however_many(django_assert_num_queries, protocol, wanted):
    who = annotator(protocol, items=4)
    leases = assignment_leases.hold(annotator=who, stage=Stage.objects.get(), wanted=wanted)
    with django_assert_num_queries(1):
        assert len(build_screens(leases, who.stage)) == wanted


def two_stages():
    """Somebody who has answered the one item of the first stage and may judge the second."""
    study = studies.study(stages=[StagePlan("bivlc-choose", "a", settings={"carries": "negative"}),
                               StagePlan("bivlc-disambiguate", "b", "a", apart_from=())])  # fmt: skip
    who, (first, then) = studies.annotator(study), study.stages.all()
    studies.judgment(who, first, "candidate-1")
    seated(who, then)
    return who, first, then


def test_each_screen_is_asked_as_its_own_stage_asks_it(django_assert_num_queries):
    who, _, then = two_stages()
    earlier = Lease.objects.select_related("task").get()
    [now] = assignment_leases.hold(annotator=who, stage=then, wanted=1)
    with django_assert_num_queries(2):
        one, two = build_screens([earlier, now], then)
    assert "None of them" in one.html() and "Both" in two.html()


def test_taking_back_an_answer_of_the_stage_before_says_to_load_its_page(client):
    who, _, _ = two_stages()
    client.get(home(who))  # goes on to the second stage
    assert "</kbd> Both" in client.get(home(who)).text
    assert client.post(home(who) + "undo/", {"undo_key": uuid.uuid4()}, **JSON).json() == {"moved": True}
    page = client.get(home(who)).text
    place = read_answer.place_on_screen(Lease.objects.order_by("pk").first(), "candidate-1")
    assert "</kbd> None of them" in page and f'value="{place}" checked' in page


@pytest.mark.parametrize(
    ("length", "name"), [(110, ""), (111, "long"), (220, "long"), (221, "very-long"), (900, "tiny")]
)
def test_long_sentences_are_set_smaller(length, name):
    assert text_size([{"text": "short"}, {"text": "x" * length}]) == name


def test_fixed_answers_are_marked_where_they_were_picked():
    who = annotator("verify")
    studies.judgment(who, Stage.objects.get(), "no")
    [lease] = submissions.history(annotator=who)
    html = build_screens([lease], Stage.objects.get())[0].html()
    assert re.findall(r'value="(\w+)"[^>]* checked', html) == ["no"] and 'data-picked="no"' in html
