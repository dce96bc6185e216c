"""Asking a vision endpoint: both orders, refusals and unparsable answers apart, nothing asked twice."""

import base64
import io
import json
import re
import zlib

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from PIL import Image as Picture

from benchmarks.jobs import jobs
from benchmarks.management.commands.ask import Command
from benchmarks.models import Benchmark, Job, JobState, ModelAnswer, Run
from benchmarks.predictions import choices
from benchmarks.predictions.plan import Place
from benchmarks.records import Refused
from benchmarks.runs import figures
from benchmarks.scoring import ask
from benchmarks.templatetags import job_tables
from tests.builders.killed import Killed
from tests.builders.scored_benchmarks import cups
from workers.models import chat, endpoint

pytestmark = pytest.mark.django_db
ADDRESS = "http://127.0.0.1:9/v1"


class Model:
    """Answers as told, and keeps what it was sent. `says`: from the request's text and images to the answer's text."""

    def __init__(self, says):
        self.says, self.sent = says, []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        parts = json.loads(request.content)["messages"][0]["content"]
        self.sent.append(parts)
        said = self.says(" ".join(part.get("text") or part["image_url"]["url"] for part in parts))
        if isinstance(said, httpx.Response):
            return said
        finish = "content_filter" if said is None else "stop"
        choice = {"message": {"role": "assistant", "content": said or ""}, "finish_reason": finish}
        usage = {"prompt_tokens": 1000, "completion_tokens": 1}
        return httpx.Response(200, json={"choices": [choice], "usage": usage})


@pytest.fixture
def asking(media, tmp_path, monkeypatch):
    """Asks a model about a benchmark, by default of two items."""
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0)
    there: dict[int, Benchmark] = {}

    def asked(says, count=2) -> tuple[Job, Model]:
        benchmark = there.get(count) or there.setdefault(count, cups(tmp_path, count=count))
        model = Model(says)
        loaded = lambda name, keyed: endpoint.Endpoint(name, transport=httpx.MockTransport(model))  # noqa: E731
        monkeypatch.setattr(ask.loading, "load_chat", loaded)
        job = ask.queue_ask(benchmark=benchmark, order=ask.AskOrder(ADDRESS, "m", 2.0, 5.0), by="test")
        return jobs.run(job_id=job.pk, by="test", work=ask.Asking.do), model

    return asked


def always_the_red_one(text: str) -> str:
    """The letter of the caption with red, which is the positive one; of images the first one."""
    found = re.search(r"([AB])\. A red", text)
    return f"{found[1]}." if found else "Image A"


def test_a_choice_counts_if_both_orders_agree(asking):
    job, model = asking(always_the_red_one)
    assert job.state == JobState.DONE, job.problems
    assert len(model.sent) == 16
    assert job.report["outcomes"] == {"agreed": 4, "order": 4, "refused": 0, "unparsable": 0}
    assert (job.report["first"], job.report["named"]) == (12, 16)
    run = Run.objects.get()
    said = dict(run.predictions.filter(item__key="i0").values_list("question", "choice"))
    assert said == {"i_pos2t": "positive", "i_neg2t": "positive", "t_pos2i": "none", "t_neg2i": "none"}
    found = figures.compute(run)["measures"]
    assert [found[name]["right"] for name in ("i_pos2t", "i_neg2t", "t_pos2i", "i2t")] == [2, 0, 0, 0]
    assert job.report["usage"] == {"answered": 16, "prompt_tokens": 16000, "completion_tokens": 16, "cost": 0.03208}
    image = next(part for part in model.sent[0] if part["type"] == "image_url")["image_url"]["url"]
    assert Picture.open(io.BytesIO(base64.b64decode(image.partition(",")[2]))).size == (40, 30)


COIN = {"i_pos2t": (1 / 2, 1 / 4), "i2t": (1 / 4, 1 / 16), "group": (1 / 16, 1 / 256)}  # asked once, asked twice


def test_a_coin_is_as_good_as_chance_in_each_order_and_in_both(asking):
    """Of the figures of each order alone, of both, of the command and of the page."""
    job, _ = asking(lambda text: "AB"[zlib.crc32(text.encode()) >> 7 & 1], count=60)
    run = Run.objects.get()
    both, report = figures.compute(run), job.report
    for name, chances in COIN.items():
        found = [report["orders"][order][name] for order in ask.ORDERS]
        for one, chance in (*((of, chances[0]) for of in found), (both["measures"][name], chances[1])):
            assert (one["n"], one["chance"]) == (60, chance)
            assert one["low"] <= chance <= one["high"], name
    assert {of["measures"]["group"]["chance"] for of in both["groups"]} == {1 / 256}
    said = "\n".join(Command().summary(job))
    assert re.search(r"^group +\d+\.\d\d +\S+ to \S+ +0\.39 +60$", said, re.MULTILINE), said
    assert ", n 60, chance 6.25)" in said.partition("In the first order")[2] and "In the second order" in said
    assert "in the second order" in job_tables.asked_facts(report, "label").__html__()


def test_refusals_and_answers_without_an_option_are_counted_apart(asking):
    job, _ = asking(lambda text: None if "Which caption" in text else "Both images are lovely.")
    assert job.report["outcomes"] == {"agreed": 0, "order": 0, "refused": 4, "unparsable": 4}
    assert set(Run.objects.get().predictions.values_list("choice", flat=True)) == {"none"}


def test_what_the_endpoint_does_not_answer_is_missing_and_asked_again(asking):
    wrong = httpx.Response(400, json={"error": {"message": "this image is too small"}})
    job, _ = asking(lambda text: wrong if "Caption: A blue cup, 1." in text else "A")
    assert (job.state, job.report["unanswered"]) == (JobState.DONE, 1)
    assert Run.objects.get().predictions.count() == 7
    job, model = asking(lambda text: "B")
    assert (len(model.sent), job.report["known"], job.report["unanswered"]) == (2, 14, 0)
    job, model = asking(lambda text: "B")
    assert (len(model.sent), job.report["note"]) == (0, ask.AGAIN)
    assert Run.objects.count() == 2


def test_a_worker_goes_on_where_a_dead_one_was(asking, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(ask.model_answers.Asker, "_step", lambda self, count: (_ for _ in ()).throw(Killed()))
        asking(lambda text: "A")
    there = ModelAnswer.objects.count()
    assert 0 < there < 16
    model = Model(lambda text: "A")
    monkeypatch.setattr(
        ask.loading, "load_chat", lambda name, keyed: endpoint.Endpoint(name, transport=httpx.MockTransport(model))
    )
    job = jobs.run(job_id=Job.objects.get(kind="ask").pk, by="test", work=ask.Asking.do)
    assert (job.state, len(model.sent), job.report["usage"]["answered"]) == (JobState.DONE, 16 - there, 16)


# Which questions


CAPTIONS: dict[Place, str] = {
    ("positive", 0): "p",
    ("second_positive", 0): "s",
    **{("negative", n): "n" for n in range(4)},
}
IMAGES: dict[Place, str] = {("positive", 0): "i", ("negative", 0): "j"}


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("sugarcrepe", {"caption": ("positive", "negative")}),
        ("visla", {"p1_n": ("p1", "n"), "p2_n": ("p2", "n")}),
        ("hard_positive", {"original": ("c", "cn"), "hard_positive": ("cp", "cn")}),
        ("aro", {"order": ("positive", *(f"negative-{n}" for n in range(4)))}),
    ],
)
def test_the_questions_about_images_are_asked(kind, found):
    asked = {one.question: one for one in choices.choices(kind, CAPTIONS, IMAGES)}
    assert {name: one.names for name, one in asked.items()} == found
    assert all(one.captions and one.options[0] == one.options[one.orders()[0][0]] for one in asked.values())
    assert not list(choices.choices(kind, CAPTIONS, {}))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A", 0), ("b", 1), (" (B) ", 1), ("**A**", 0), ("The answer is B.", 1), ("Image A", 0), ("B. A blue cup.", 1),
        ("A blue cup", 1), ("“A red cup.”", 0), ("A red cup or a blue cup", None), ("", None), ("I cannot say.", None),
        ("A or B", None), ("Caption", None), ("F", None), ("Option A", 0), ("The right choice is: (B)", 1), ("[A]", 0),
        ("**Answer:**\nB", 1), ("B)\nbecause it is blue", 1),
    ],
)  # fmt: skip
def test_an_answer_names_one_option_or_none(text, found):
    assert choices.letter(text, ["A red cup.", "A blue cup."]) == found


# Requests


def test_requests_that_make_no_sense_are_refused(media, tmp_path):
    benchmark = cups(tmp_path, count=1)
    for order, code in [
        (ask.AskOrder("", "m"), "ENDPOINT_UNCLEAR"),
        (ask.AskOrder("ftp://example.org", "m"), "ENDPOINT_UNCLEAR"),
        (ask.AskOrder(ADDRESS, " "), "MODEL_UNCLEAR"),
        (ask.AskOrder(ADDRESS, "m", -1.0), "WRONG_VALUE"),
        (ask.AskOrder(ADDRESS, "m", max_tokens=0), "WRONG_VALUE"),
    ]:
        with pytest.raises(Refused, match=code):
            ask.queue_ask(benchmark=benchmark, order=order, by="test")


def test_the_cost_is_shown_before_anything_is_asked(media, tmp_path, capsys, client, django_user_model, settings):
    benchmark = cups(tmp_path, count=2)
    call_command("ask", "Cups", address=ADDRESS, model="m", input_price=1.0, output_price=1.0, estimate=True)
    assert "To ask: 16 times" in capsys.readouterr().out
    with pytest.raises(CommandError, match="MODEL_UNCLEAR"):
        call_command("ask", "Cups", address=ADDRESS, model=" ")
    settings.LLM_ENDPOINTS = [ADDRESS]
    client.force_login(django_user_model.objects.create_superuser("ana"))
    url, said = reverse("ask-new", args=[benchmark.pk]), {"address": ADDRESS, "model": "m", "max_tokens": 16}
    said |= {"input_price": "1000", "output_price": "0"}
    assert "16 requests" in client.post(url, said | {"estimate": "1"}).text
    assert not Job.objects.filter(kind="ask").exists()
    job = Job.objects.get(pk=int(client.post(url, said).url.strip("/").rpartition("/")[2]))
    assert (job.kind, job.params["order"]["input_price"]) == ("ask", 1000.0)
    assert Benchmark.objects.get() == benchmark
    assert chat.endpoint_identity(ask.AskOrder(**job.params["order"]).chat_name) == f"{ADDRESS} m"
