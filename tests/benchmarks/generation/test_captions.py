"""Captions by a language model, from a benchmark to a benchmark; the endpoint misbehaves where it can."""

from collections import Counter

import pytest
from django.core.management import CommandError, call_command

from benchmarks.generation import caption_order, captions
from benchmarks.generation.caption_order import CaptionOrder
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Embedding, Image, Item, Job, JobState, ModelAnswer
from benchmarks.records import Refused
from benchmarks.runs import model_answers
from tests.builders import imports
from tests.builders.chat_server import ChatServer, chat_server
from tests.builders.killed import Killed
from tests.builders.scored_benchmarks import tiny_classifier, tiny_writer
from workers.models import endpoint

pytestmark = pytest.mark.django_db
COLOURS = ["red", "green", "old", "new", "big", "small"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch) -> None:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)


def cups(folder, colours=COLOURS, name: str = "Cups") -> Benchmark:
    """Items with a caption and an image each: “A red cup”."""
    items = [
        imports.item(number, captions=[{"role": "positive", "text": f"A {colour} cup"}],
                     images=[{"role": "positive", "file": f"{number}.jpg"}])
        for number, colour in enumerate(colours)
    ]  # fmt: skip
    files = {f"{number}.jpg": imports.jpeg(number, (40, 30)) for number in range(len(colours))}
    return imports.benchmark_of(folder, items, files, name)


def reply(caption: str) -> str:
    """A cup becomes a bowl."""
    return f"Chosen: cup\nNew: bowl\nNew caption: {caption.replace('cup', 'bowl')}."


def order(server: ChatServer, **more) -> CaptionOrder:
    wanted = {"name": "Bowls", "kinds": ["replace-obj"], "model": "tiny", "address": server.address}
    return CaptionOrder(**wanted | more)


def run(benchmark: Benchmark, wanted: CaptionOrder, tell=None) -> Job:
    job = caption_order.queue_captions(benchmark=benchmark, order=wanted, by="test")
    return jobs.run(job_id=job.pk, by="test", work=captions.Generation.do, tell=tell)


def funnel(job: Job) -> dict[str, int]:
    assert job.state == JobState.DONE, job.problems
    return {step["step"]: step["count"] for step in job.report["funnel"]}


def reasons(job: Job, step: int) -> dict[str, int]:
    return {one["reason"]: one["count"] for one in job.report["funnel"][step]["dropped"]}


def test_an_endpoint_that_misbehaves_loses_nothing_and_doubles_nothing(media, tmp_path):
    """429, 500, a timeout, nonsense, half an answer, an answer that is cut off, and one that is talkative."""
    faults = [["busy", 500], ["slow"], ["nonsense", "half"], [], ["cut_off"], []]
    asked = dict(zip((f"A {colour} cup" for colour in COLOURS), faults, strict=True))

    def talkative(caption: str) -> str:
        return ("Sure!\n" if "new" in caption else "") + reply(caption).replace("A small", "Is it a small")

    with chat_server(talkative, asked) as server:
        job = run(cups(tmp_path), order(server, timeout=1.0))
        assert [server.asked[caption] for caption in asked] == [3, 2, 3, 1, 1, 1]
        again = run(Benchmark.objects.get(name="Cups"), order(server, name="Bowls again"))
        assert server.asked.total() == 11  # every answer was kept
    assert (
        funnel(job)
        == funnel(again)
        == {"asked": 6, "answered": 6, "follow the template": 3, "no question or near-duplicate": 3}
    )
    assert reasons(job, 2) == {
        "the answer has text besides the template’s lines": 1,
        "the answer is cut off": 1,
        "the new caption changes other words too": 1,
    }
    assert ModelAnswer.objects.count() == 6
    assert job.report["usage"] == {"answered": 6, "prompt_tokens": 600, "completion_tokens": 60, "cost": 0.0}
    assert (job.report["known"], again.report["known"], again.report["usage"]["answered"]) == (0, 6, 0)


def test_the_result_is_a_benchmark_whose_items_say_how_they_came_about(media, tmp_path):
    source = cups(tmp_path)
    with chat_server(reply) as server:
        wanted = order(server, seed=7, input_price=2.0, output_price=10.0, kinds=["replace-obj", "second-positive"])
        job = run(source, wanted)
    made = Benchmark.objects.get(pk=job.report["benchmark"])
    assert (made.name, made.items.count(), job.report["items"], job.report["kept"]) == ("Bowls", 6, 6, 6)
    assert reasons(job, 2) == {"the answer has text besides the template’s lines": 6}  # the other kind's answers
    assert [step["kinds"] for step in job.report["funnel"]] == [[6, 6], [6, 6], [6, 0], [6, 0]]
    item = made.items.first()
    assert (item.key, item.type, item.subtype) == ("i0-replace-obj", "replace", "obj")
    assert dict(item.captions.values_list("role", "text")) == {"positive": "A red cup.", "negative": "A red bowl."}
    assert item.item_images.get().image == source.items.first().item_images.get().image
    assert Image.objects.count() == 6
    [said] = item.meta["generated"]
    assert {name: said[name] for name in ("kind", "role", "item", "benchmark", "model", "endpoint", "seed")} == {
        "kind": "replace-obj", "role": "negative", "item": "i0", "benchmark": "Cups", "model": "tiny",
        "endpoint": server.address, "seed": 7,
    }  # fmt: skip
    assert (said["temperature"], said["answer"]) == (1.0, reply("A red cup"))
    assert "{caption}" in said["prompt"]
    assert said["answered_by"] == {"model": "tiny-1"}
    assert job.report["usage"]["cost"] == pytest.approx((1200 * 2 + 120 * 10) / 1e6)
    assert job.report["estimate"]["questions"] == 12


def test_sugarcrepes_three_questions_have_three_temperatures(media, tmp_path):
    """App. D.2: what to replace and the caption at 0, what is new at 1.5; swaps are asked for once. A caption with
    nothing to replace, and a line too many, end there."""

    def line(question: str) -> str:
        caption, *said = filter(None, question.splitlines())
        if not said:
            return reply(caption)  # about a swap, which that does not answer
        chosen = "Chosen: none" if "old" in caption else "Chosen: cup"
        lines = [chosen, "New: bowl\nNew: jug" if "big" in caption else "New: bowl", reply(caption).splitlines()[-1]]
        return lines[len(said) - 1]

    with chat_server(line) as server:
        job = run(cups(tmp_path), order(server, three_steps=True, kinds=["replace-obj", "swap-obj"]))
        asked = Counter((body["temperature"], body["messages"][-1]["content"][-9:]) for body in server.bodies)
    counts = {key: count for key, count in asked.items() if key[1].endswith(":”.")}
    assert sorted((temperature, count) for (temperature, _), count in counts.items()) == [(0.0, 4), (0.0, 6), (1.5, 5)]
    steps = [(step["step"], step["kinds"]) for step in job.report["funnel"][:5]]
    assert steps == [
        ("asked", [6, 6]), ("answered in step 1", [5, 6]), ("answered in step 2", [4, 6]), ("answered", [4, 6]),
        ("follow the template", [4, 0]),
    ]  # fmt: skip
    assert reasons(job, 1) == {"the model finds nothing to change": 1}
    assert job.report["estimate"]["questions"] == 3 * 6 + 6
    [said] = Item.objects.get(benchmark__name="Bowls", key="i0-replace-obj").meta["generated"]
    assert (said["answer"], said["temperatures"]) == (reply("A red cup"), [0.0, 1.5, 0.0])


def test_a_second_positive_joins_the_captions_that_an_item_has(media, tmp_path):
    with chat_server(reply) as server:
        run(cups(tmp_path, ["red"]), order(server))
    with chat_server(lambda caption: "Idea: a mug\nNew caption: There is a red mug.") as server:
        again = order(server, name="Mugs", kinds=["second-positive"])
        job = run(Benchmark.objects.get(name="Bowls"), again)
    item = Item.objects.get(benchmark__pk=job.report["benchmark"])
    assert item.key == "i0-replace-obj-second-positive"
    assert (item.type, item.subtype) == ("replace", "obj")
    assert dict(item.captions.values_list("role", "text")) == {
        "positive": "A red cup.",
        "negative": "A red bowl.",
        "second_positive": "There is a red mug.",
    }
    assert [one["kind"] for one in item.meta["generated"]] == ["replace-obj", "second-positive"]
    with chat_server(reply) as server, pytest.raises(AssertionError, match="NOTHING_TO_ASK"):
        funnel(run(item.benchmark, order(server, name="More", kinds=["second-positive"])))


def test_a_second_positive_that_does_not_say_the_same_gives_way(media, tmp_path):
    """The one that the check confirms stays; a check that breaks its template drops the caption."""

    def mistaken(asked: str) -> str:
        first, _, second = asked.partition("\nParaphrase: ")
        if not second:
            return f"Idea: say it otherwise\nNew caption: There is {first[2:]}."
        return {
            "There is red cup.": "Consistent: yes\nCaption: There is red cup.",
            "There is green cup.": "Consistent: no\nCaption: One cup, which is green.",
        }.get(second, "They are the same.")

    with chat_server(mistaken, split=r"Original: |Caption: ") as server:
        wanted = order(server, kinds=["second-positive"], check=True)
        job = run(cups(tmp_path, ["red", "green", "old"]), wanted)
    assert funnel(job)["pass the check of meaning"] == 2
    assert reasons(job, 3) == {"the answer has text besides the template’s lines": 1}
    assert job.report["usage"]["answered"] == 6
    items = Item.objects.filter(benchmark__name="Bowls")
    made = {item.key: item.captions.get(role="second_positive").text for item in items}
    assert made == {"i0-second-positive": "There is red cup.", "i1-second-positive": "One cup, which is green."}
    said = Item.objects.get(key="i1-second-positive").meta["generated"][0]
    assert said["answer"].startswith("Idea") and said["check"]["answer"].startswith("Consistent: no")


def test_a_negative_that_is_true_of_the_image_or_was_made_before_is_dropped(media, tmp_path):
    """Two items have one image; “A red bowl” is true of it."""
    texts = [("A red cup", 0), ("A red bowl", 0), ("The red cup", 1), ("A cup", 2), ("A red cup", 3)]
    items = [
        imports.item(
            number, captions=[{"role": "positive", "text": text}], images=[{"role": "positive", "file": f"{file}.jpg"}]
        )
        for number, (text, file) in enumerate(texts)
    ]
    files = {f"{number}.jpg": imports.jpeg(number, (40, 30)) for number in range(4)}
    imports.imported(imports.manifest(tmp_path, items), imports.archive(tmp_path, [], files), name="Cups")
    with chat_server(reply) as server:
        job = run(Benchmark.objects.get(name="Cups"), order(server))
    assert reasons(job, 2) == {"the new caption has the same words in the same order": 1}
    assert reasons(job, 3) == {
        "the new caption is another caption of the image or item": 1,
        "the same caption was made before": 1,
    }
    assert funnel(job)["no question or near-duplicate"] == 2


def test_the_most_plausible_share_stays_and_is_refined(media, tmp_path):
    """Each model prefers the positive caption in half of what is kept; scores are kept for the next run."""
    source = cups(tmp_path / "cups")
    judges = [str(tiny_classifier(tmp_path / f"judge-{seed}", 2, seed)) for seed in (0, 1)]
    with chat_server(reply) as server:
        wanted = order(server, plausibility=judges[0], grammar=judges[1], share=0.5)
        job = run(source, wanted)
        refined = run(source, order(server, **{"name": "Fewer", "plausibility": judges[0], "grammar": judges[1],
                                               "share": 1.0, "refine": True}))  # fmt: skip
    assert funnel(job)["plausible"] == 3
    assert reasons(job, 4) == {"not among the best 50%": 3}
    assert Embedding.objects.count() == 2 * 12
    item = Item.objects.filter(benchmark__name="Bowls").first()
    assert {"grammar_positive", "grammar_negative", "plausibility_positive", "plausibility_negative"} < set(item.meta)
    assert item.meta["generated"][0]["classifiers"]["grammar"]["weights"]
    last = refined.report["funnel"][-1]
    assert last["step"] == "kept by the refinement"
    assert last["count"] + sum(one["count"] for one in last["dropped"]) == 6
    if not last["count"]:
        assert not Benchmark.objects.filter(name="Fewer").exists()


def test_nothing_that_is_kept_is_a_report_and_no_benchmark(media, tmp_path):
    with chat_server(lambda caption: "I cannot help with that.") as server:
        job = run(cups(tmp_path), order(server))
    assert funnel(job)["follow the template"] == job.report["kept"] == 0
    assert job.report["funnel"][2]["dropped"][0]["examples"][0] == {
        "item": "i0",
        "caption": "A red cup",
        "answer": "I cannot help with that.",
    }
    assert not Benchmark.objects.filter(name="Bowls").exists()


def test_an_endpoint_that_goes_down_keeps_what_it_answered(media, tmp_path):
    with chat_server(reply, {"A new cup": [401]}) as server:
        benchmark = cups(tmp_path)
        job = run(benchmark, order(server, parallel=1))
        assert (job.state, job.problems[0]["code"]) == (JobState.FAILED, "ENDPOINT_REFUSES")
        assert ModelAnswer.objects.count() == 3
        assert funnel(run(benchmark, order(server)))["answered"] == 6
        assert set(server.answered.values()) == {1}


def assert_goes_on(job: Job, server: ChatServer) -> None:
    """A worker was killed when 2 answers were kept; the next one asks only for the rest, and counts all tokens."""
    job.refresh_from_db()
    assert (job.state, ModelAnswer.objects.count()) == (JobState.RUNNING, 2)
    job = jobs.run(job_id=job.pk, by="test", work=captions.Generation.do)
    assert funnel(job)["answered"] == 6
    assert server.answered.total() == 6
    assert job.report["usage"]["answered"] == 6
    assert Item.objects.filter(benchmark__name="Bowls").count() == 6


def test_a_worker_goes_on_where_a_dead_one_was(media, tmp_path, monkeypatch):
    with chat_server(reply) as server:
        job = caption_order.queue_captions(benchmark=cups(tmp_path), order=order(server, parallel=1), by="test")
        stepped = jobs.Progress.step

        def die(progress, count=1):
            if ModelAnswer.objects.count() == 2:
                raise Killed
            stepped(progress, count)

        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(jobs.Progress, "step", die)
            jobs.run(job_id=job.pk, by="test", work=captions.Generation.do)
        assert_goes_on(job, server)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_goes_on_where_it_was(media, tmp_path, settings):
    with chat_server(reply) as server:
        job = caption_order.queue_captions(benchmark=cups(tmp_path), order=order(server, parallel=1), by="test")
        done = imports.alone("benchmarks/generation/killed_captions.py", settings, str(job.pk))
        assert done.returncode == -9, done.stderr
        assert_goes_on(job, server)


def test_cancelling_keeps_the_answers(media, tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "WRITE_EVERY", 0)
    with chat_server(reply) as server:
        job = caption_order.queue_captions(benchmark=cups(tmp_path), order=order(server, parallel=2), by="test")

        def tell(phase: str, done: int, total: int | None) -> None:
            if phase == "asking the model" and done == 2:
                jobs.cancel_job(job=job, by="test")

        job = jobs.run(job_id=job.pk, by="test", work=captions.Generation.do, tell=tell)
        assert job.state == JobState.CANCELLED
        assert 2 < ModelAnswer.objects.count() == server.answered.total() < 6
        assert job.report["usage"]["answered"] == ModelAnswer.objects.count()


def test_a_model_on_this_machine_writes_too(media, tmp_path):
    """Its random words never follow the template; what it wrote is known by its weights."""
    folder = tiny_writer(tmp_path / "writer")
    wanted = CaptionOrder(
        "Bowls", ["replace-obj"], str(folder), max_tokens=8, prompt="Change it: {caption}", device="cpu"
    )
    job = run(cups(tmp_path / "cups", ["red", "green"]), wanted)
    assert funnel(job) == {"asked": 2, "answered": 2, "follow the template": 0, "no question or near-duplicate": 0}
    assert len(job.report["model"]["weights"]) == 64
    again = run(Benchmark.objects.get(name="Cups"), wanted)
    assert again.report["known"] == 2


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"name": "Cups"}, "NAME_TAKEN"),
        ({"kinds": []}, "KIND_UNKNOWN"),
        ({"kinds": ["replace-all"]}, "KIND_UNKNOWN"),
        ({"prompt": "Change it."}, "PROMPT_WRONG"),
        ({"prompt": "{caption}" + "a" * 20_000}, "PROMPT_WRONG"),
        ({"prompt": "{caption}", "kinds": ["replace-obj", "swap-obj"]}, "PROMPT_WRONG"),
        ({"refine": True, "grammar": "some/model"}, "REFINE_NEEDS_TWO"),
        ({"share": 0.0}, "WRONG_VALUE"),
        ({"share": float("nan")}, "WRONG_VALUE"),
        ({"output_price": -1.0}, "WRONG_VALUE"),
        ({"max_tokens": 0}, "WRONG_VALUE"),
        ({"model": " "}, "MODEL_UNCLEAR"),
        ({"address": "https://user:secret@example.org/v1"}, "ENDPOINT_UNCLEAR"),
        ({"device": "toaster"}, "DEVICE_UNKNOWN"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused_in_a_sentence(wrong, code):
    wanted = CaptionOrder(**{"name": "Bowls", "kinds": ["replace-obj"], "model": "tiny"} | wrong)
    with pytest.raises(Refused) as refused:
        caption_order.check_order(Benchmark(name="Cups"), wanted)
    assert refused.value.problems[0].code == code


def test_the_command_estimates_and_makes_captions(media, tmp_path, capsys):
    cups(tmp_path)
    with chat_server(reply) as server:
        common = ["generate_captions", "Cups", "--kind", "replace-obj", "--name", "Bowls", "--model", "tiny"]
        common += ["--address", server.address, "--input-price", "1", "--output-price", "5"]
        call_command(*common, "--estimate")
        assert "6 questions" in capsys.readouterr().out
        assert not server.asked and not Job.objects.filter(kind="generate").exists()
        call_command(*common, "--now")
        out = capsys.readouterr().out
        assert "6 asked" in out and "“Bowls”: 6 items" in out
        with pytest.raises(CommandError, match="already has the new item"):
            call_command(*common, "--now")


def test_a_benchmark_can_be_extended_and_has_keys_of_any_source(media, tmp_path):
    """What is there is not asked for again; the longest key leaves room for the kind."""
    source = cups(tmp_path)
    Item.objects.filter(key="i0").update(key="k" * 200)
    with chat_server(reply) as server:
        run(source, order(server, kinds=["replace-obj"]))
        job = run(source, order(server, kinds=["replace-obj", "replace-att"]))
        assert job.report["funnel"][0]["kinds"] == [0, 6]
        assert reasons(job, 0) == {"“Bowls” already has the new item": 6}
    keys = set(Item.objects.filter(benchmark__name="Bowls").values_list("key", flat=True))
    assert {len(key) for key in keys} == {200, len("i1-replace-obj")} and "i1-replace-obj" in keys


def test_answers_that_another_job_has_stored_are_kept(media, tmp_path):
    job = jobs.queue_job(kind="generate", title="x", params={}, by="test")
    with chat_server(reply) as server:
        run(cups(tmp_path, ["red"]), order(server))
    assert model_answers.usage_of(job) == model_answers.Usage()
