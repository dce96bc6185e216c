"""A release says how the captions that a model made came about."""

import json

import pytest

from annotation.releases import lifecycle
from benchmarks.generation import caption_order, captions
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark
from tests.builders import crowds, releases, studies
from tests.builders.chat_server import chat_server
from tests.builders.pipelines import with_originals

pytestmark = pytest.mark.django_db(transaction=True)


def test_from_positives_to_a_release_the_provenance_stays(tmp_path):
    """The benchmark is generated, people judge it, and the release has prompt, answer, model and settings."""
    source = studies.benchmark(6)
    with chat_server(lambda caption: f"Idea: it begins anew\nNew caption: There: {caption}.") as server:
        order = caption_order.CaptionOrder("Generated", ["second-positive"], "tiny", server.address, seed=7)
        job = caption_order.queue_captions(benchmark=source, order=order, by="test")
        job = jobs.run(job_id=job.pk, by="test", work=captions.Generation.do)
    assert job.state == "done", job.problems
    study = with_originals(crowds.stage(benchmark=Benchmark.objects.get(name="Generated"), people=3, overlap=3).study)
    with lifecycle.open_release(releases.frozen(study)) as files:
        [name] = [name for name in files.names() if name.endswith("items.jsonl")]
        items = [json.loads(line) for line in files.read(name).splitlines()]
    for item in items:
        [said] = item["meta"]["generated"]
        assert {part: said[part] for part in ("kind", "model", "endpoint", "seed", "temperature", "benchmark")} == {
            "kind": "second-positive", "model": "tiny", "endpoint": server.address, "seed": 7, "temperature": 0.0,
            "benchmark": source.name,
        }  # fmt: skip
        assert "{caption}" in said["prompt"] and said["answer"].startswith("Idea: it begins anew")
    assert items
