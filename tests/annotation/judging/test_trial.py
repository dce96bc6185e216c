"""Trying a stage: the screens and answers of judging, of which nothing is stored."""

import re
import uuid
from html.parser import HTMLParser
from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.designs.presets import PRESETS
from annotation.judging.trial_views import SCREENS
from annotation.models import Judgment, Kind, Lease, Stage
from annotation.protocols.registry import PROTOCOLS, protocol_named
from annotation.screens.screens import build_screens
from annotation.screens.trial import tasks_of_items, trial_leases
from benchmarks import queries
from tests.builders import declared, every_protocol, studies

pytestmark = pytest.mark.django_db
SEED = 7
JSON = {"HTTP_ACCEPT": "application/json"}


@pytest.fixture
def stage(manager) -> Stage:
    return studies.stage(items=8, state="paused")


def home_of(stage: Stage) -> str:
    return reverse("study-try-screens", args=[stage.study_id, stage.position, SEED])


def act(client, stage: Stage, do: str, lease: Lease | None = None, **fields):
    sent = {"key": uuid.uuid4(), "lease": lease.token if lease else "", **fields}
    return client.post(f"{home_of(stage)}{do}/", sent, **JSON).json()


def rows(html: str) -> list[list[str]]:
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in re.findall(r"<tr>(.*?)</tr>", html, re.S)]
    return [[re.sub(r"<[^>]+>", "", cell).strip() for cell in row] for row in cells[1:]]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stage_is_tried_to_the_end_and_nothing_is_written(client, manager, protocol):
    stage = studies.stage(benchmark=every_protocol.benchmark(items=3), protocol=protocol, state="paused")
    leases, rng = trial_leases(stage, SEED, SCREENS), Random(1)
    with CaptureQueriesContext(connection) as asked:
        client.get(reverse("study-try", args=[stage.study_id, 1]))
        page = client.get(home_of(stage)).text
        assert f'data-lease="{leases[0].token}"' in page and f'data-lease="{leases[2].token}"' not in page
        for done, lease in enumerate(leases, 1):
            told = act(client, stage, "submit", lease, **every_protocol.answer(rng, lease, PROTOCOLS[protocol]))
            assert (told["receipt"], told["done"], told["state"]) == (
                "saved",
                done,
                "screen" if done < len(leases) else "done",
            )
        end = client.get(home_of(stage)).text
    assert [query["sql"] for query in asked if not query["sql"].lstrip().startswith(("SELECT", "WITH"))] == []
    assert "Nothing was stored." in end and all(label and words for _, label, words in rows(end))
    assert not Lease.objects.exists() and not Judgment.objects.exists()


def test_what_is_shown_at_the_end_is_what_judging_would_store(client, stage):
    for lease, place in zip(trial_leases(stage, SEED, SCREENS), ("1", "2", "none", "4", None), strict=True):
        answer = {"answer": place} if place else {"cannot_judge": 1, "reason": "It is blurred."}
        act(client, stage, "submit", lease, **answer)
    leases = trial_leases(stage, SEED, SCREENS)
    labels = [leases[0].shown[0], leases[1].shown[1], "none", leases[3].shown[3], "cannot_judge"]
    found = rows(client.get(home_of(stage)).text)
    assert [row[:2] for row in found] == [[one.task.item.key, label] for one, label in zip(leases, labels, strict=True)]
    assert found[-1][2] == "It is blurred."


def test_its_screens_are_those_of_judging(stage):
    """Apart from what is drawn for each lease."""
    tried = trial_leases(stage, SEED, 1)[0]
    real = Lease(token=tried.token, task=stage.tasks.get(item=tried.task.item), shown=tried.shown)
    assert [one.html() for one in build_screens([tried], stage)] == [one.html() for one in build_screens([real], stage)]
    again, other = trial_leases(stage, SEED, SCREENS), trial_leases(stage, SEED + 1, SCREENS)
    drawn = [[(one.token, one.task.item_id, one.shown) for one in leases] for leases in (again, other)]
    assert (tried.token, tried.task.item_id, tried.shown) == drawn[0][0] and drawn[0] != drawn[1]
    assert len({item for _, item, _ in drawn[0]}) == SCREENS


@pytest.mark.parametrize("items", [1, 3, 8])
def test_a_small_stage_has_fewer_screens_and_none_twice(items):
    for seed in range(5):
        leases = trial_leases(studies.stage(items=items) if not seed else Stage.objects.get(), seed, SCREENS)
        assert len({lease.task_id for lease in leases}) == len(leases) == min(items, SCREENS)


def test_checks_and_practice_are_not_tried(stage):
    stage.tasks.filter(item__position__lt=6).update(kind=Kind.PRACTICE, gold=["none"])
    assert {lease.task.kind for lease in trial_leases(stage, SEED, SCREENS)} == {Kind.JUDGE}


def test_a_later_stage_is_tried_before_anything_reaches_it(manager):
    stages = PRESETS["bivlc"].stages
    study = studies.study(items=4, stages=list(stages))
    for stage in study.stages.all():
        leases = trial_leases(stage, SEED, SCREENS)
        assert leases and all("…" not in screen.html() for screen in build_screens(leases, stage))
    assert not study.stages.get(name="i2t").tasks.exists()


def test_words_that_an_earlier_stage_would_write_stand_in_only_where_there_are_none():
    made = queries.with_material(every_protocol.benchmark(items=1).items.all())
    carried = {"caption-second_positive": "…", "caption-elsewhere": "…"}
    [task] = tasks_of_items(PROTOCOLS["visla-triplet"], made, carried, SEED)
    assert task.carried == {"caption-elsewhere": "…"} and task.pk is None


def test_undo_skip_and_history_work_as_in_judging(client, stage):
    first, second, third, *_ = trial_leases(stage, SEED, SCREENS)
    assert "refused" in act(client, stage, "undo")
    act(client, stage, "submit", first, answer="2")
    told = act(client, stage, "skip", second)
    assert told["done"] == 1 and str(second.token) not in told["held"] and str(third.token) in told["held"]
    [past] = client.get(f"{home_of(stage)}history/").json()["past"]
    assert (past["lease"], past["answer"]) == (str(first.token), "2")
    act(client, stage, "submit", first, answer="3")
    again = act(client, stage, "undo")
    assert again["again"]["lease"] == str(first.token) and 'data-picked="3"' in again["again"]["html"]
    assert again["done"] == 0 and f'data-lease="{first.token}"' in client.get(home_of(stage)).text
    assert act(client, stage, "flag", first, flag_reason="Odd") == {"flagged": True}


def test_a_wrong_answer_is_refused_with_and_without_script(client, stage):
    [lease] = trial_leases(stage, SEED, 1)
    for sent in (
        {"answer": "9"}, {"answer": ""}, {"cannot_judge": 1}, {"answer": "1", "lease": "x"},
        {"answer": "1", "lease": uuid.UUID(int=5)},
    ):  # fmt: skip
        sent = {"key": uuid.uuid4(), "lease": lease.token, **sent}
        assert "refused" in client.post(f"{home_of(stage)}submit/", sent, **JSON).json(), sent
        page = client.post(f"{home_of(stage)}submit/", sent)
        assert page.status_code in {404, 422} and f'href="{home_of(stage)}"' in page.text, sent


def test_it_works_as_a_plain_form(client, stage):
    for lease in trial_leases(stage, SEED, SCREENS):
        answer = client.post(f"{home_of(stage)}submit/", {"key": uuid.uuid4(), "lease": lease.token, "answer": "1"})
        assert answer.url == home_of(stage)
    assert len(rows(client.get(home_of(stage)).text)) == SCREENS


def test_long_texts_fit_the_cookies_and_a_foreign_cookie_is_nothing(client, manager):
    stage = studies.stage(benchmark=every_protocol.benchmark(items=8), protocol="visla-paraphrase")
    words = Random(1)
    for lease in trial_leases(stage, SEED, SCREENS):
        long = "".join(words.choices("abcdefghij klmnopqrstuvwxyz", k=900))
        act(client, stage, "submit", lease, answer="1", edit="1", words=long)
    assert sum(len(cookie.OutputString()) for cookie in client.cookies.values()) < 8000
    assert [row[1] for row in rows(client.get(home_of(stage)).text)] == ["edited"] * SCREENS
    client.cookies["trial-3"] = client.cookies["trial-2"].value
    assert 'id="desk"' in client.get(home_of(stage)).text


def test_answers_that_cross_on_their_way_are_both_there(client, stage):
    """Neither request has the other's cookie."""
    first, second, *_ = trial_leases(stage, SEED, SCREENS)
    act(client, stage, "submit", first, answer="1")
    kept = client.cookies.pop("trial-0")
    act(client, stage, "submit", second, answer="1")
    client.cookies["trial-0"] = kept.value
    assert client.get(home_of(stage), **JSON).json()["done"] == 2


class Texts(HTMLParser):
    """The texts in the place of the screen and in the templates of the next ones that a browser may translate."""

    VOID = ("area", "br", "hr", "img", "input", "link", "meta", "wbr")

    def __init__(self, page: str):
        super().__init__()
        self.open: list[tuple[str, bool, bool]] = []  # tag, within a screen, kept from translation
        self.translated: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        of, (inside, kept) = dict(attrs), self.open[-1][1:] if self.open else (False, False)
        inside |= of.get("id") in ("place", "say") or tag == "template"
        if tag not in self.VOID:
            self.open.append((tag, inside, kept or tag == "textarea" or of.get("translate") == "no"))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if data.strip() and self.open and self.open[-1][1]:
            self.translated += [] if self.open[-1][2] else [data.strip()]


@pytest.mark.parametrize("protocol", [*PROTOCOLS, *declared.SAMPLED, "unusual"])
def test_no_browser_translates_the_material_of_a_screen_but_its_question(client, manager, protocol):
    """Every text of it, also of those fetched ahead."""
    if protocol in PROTOCOLS:
        stage = studies.stage(benchmark=every_protocol.benchmark(items=3), protocol=protocol, state="paused")
    else:
        stage = declared.asked(protocol).stages.get()
    taken = Texts(client.get(home_of(stage)).text).translated
    assert [text for text in taken if re.search(r"\b(cups?|plates?)\b", text)] == []
    assert protocol_named(stage.protocol).question in [" ".join(text.split()) for text in taken]
