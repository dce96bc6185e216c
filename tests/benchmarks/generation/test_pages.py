"""The estimate of captions, and what their job's page shows; how they are ordered: jobs/test_order_pages.py."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from benchmarks.generation import caption_order, captions
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Caption, ItemImage, Job, JobState
from tests.builders import studies
from tests.builders.chat_server import chat_server

pytestmark = pytest.mark.django_db
LOCAL = {"name": "New", "kinds": ["swap-obj"], "address": "", "model": "some/model", "max_tokens": 100, "seed": 3}
LOCAL |= {"percent": 35, "device": "auto", "input_price": "2", "output_price": "8"}


@pytest.fixture
def benchmark(client) -> Benchmark:
    """Of texts, each of its own."""
    client.force_login(User.objects.create_superuser("ana"))
    made = studies.benchmark(6)
    ItemImage.objects.filter(item__benchmark=made).delete()
    for number, caption in enumerate(Caption.objects.filter(item__benchmark=made, role="positive")):
        Caption.objects.filter(pk=caption.pk).update(text=f"A cup beside {number + 2} plates")
    return made


def post(client, benchmark: Benchmark, **fields):
    return client.post(reverse("captions-new", args=[benchmark.pk]), LOCAL | fields)


def test_an_estimate_starts_nothing(client, benchmark):
    page = post(client, benchmark, estimate="1")
    assert (page.status_code, Job.objects.exists()) == (200, False)
    assert "About 6 questions" in page.text
    found = caption_order.estimate_for(
        benchmark, caption_order.CaptionOrder("N", ["swap-obj"], "m", input_price=2, output_price=8)
    )
    assert (found.questions, found.cost > 0) == (6, True)
    assert f"{found.prompt_tokens:,} tokens in prompts" in page.text


def test_the_jobs_page_shows_the_funnel_and_what_it_took(client, benchmark, media, settings, monkeypatch):
    """While it asks, too; the key is nowhere in the database."""
    monkeypatch.setenv("WINNOW_LLM_KEY", "sk-very-secret")
    shown: list[str] = []
    with chat_server(lambda caption: f"Idea: <b>none</b>\nNew caption: So {caption}.") as server:
        settings.LLM_ENDPOINTS = [server.address]
        url = post(client, benchmark, address=server.address, model="tiny", kinds=["second-positive"]).url
        job = Job.objects.get(kind="generate")

        def tell(phase: str, done: int, total: int | None) -> None:
            if phase == "asking the model":
                shown.append(client.get(url).text)

        monkeypatch.setattr(jobs, "WRITE_EVERY", 0)
        job = jobs.run(job_id=job.pk, by="test", work=captions.Generation.do, tell=tell)
        assert server.keys == {"Bearer sk-very-secret"}
    assert job.state == JobState.DONE, job.problems
    assert "new answers so far" in shown[-1] and "Estimate when last started" in shown[-1]
    page = client.get(url).text
    assert "6 items generated" in page and "Follow the template" in page
    assert "sk-very-secret" not in str(job.report) + str(job.params) + page
    assert "<b>none</b>" not in page


def test_a_failed_job_says_what_to_do_and_what_is_kept(client, benchmark, settings):
    with chat_server(str, always=401) as server:
        settings.LLM_ENDPOINTS = [server.address]
        url = post(client, benchmark, address=server.address).url
        jobs.run(job_id=Job.objects.get(kind="generate").pk, by="test", work=captions.Generation.do)
    page = client.get(url).text
    assert "No captions were generated: 1 problem" in page and "ENDPOINT_REFUSES" in page
    assert "WINNOW_LLM_KEY" in page and "Generate again" in page


def test_a_cancelled_job_leads_back_to_its_form(client, benchmark):
    url = post(client, benchmark).url
    client.post(f"{url}cancel/")
    page = client.get(url).text
    assert "Answers received so far are kept" in page
    assert f"?again={Job.objects.get(kind='generate').pk}" in page
