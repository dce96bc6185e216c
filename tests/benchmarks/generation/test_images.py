"""Candidate images by a small random pipeline: what diffusers alone draws, what is kept, what is refused."""

import copy
import hashlib
import io
import shutil
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image as Picture

from benchmarks.generation import images
from benchmarks.jobs import jobs
from benchmarks.jobs.orders import MOST_SEED
from benchmarks.models import Benchmark, ItemImage, Job, JobState
from benchmarks.records import Refused
from benchmarks.storage.files import kept
from tests.builders import imports
from tests.builders.killed import Killed
from tests.builders.scored_benchmarks import cups
from tests.lazy import LazyModule
from workers.models import loading
from workers.models.model_name import PRESETS, PipelineName, parse_pipeline
from workers.models.refusals import CannotScore

torch, diffusers = map(LazyModule, ("torch", "diffusers"))
painter = LazyModule("workers.models.painter")
pytestmark = pytest.mark.django_db
ASKED = {"unet": "", "count": 2, "steps": 2, "guidance": 5.0, "seed": 7, "device": "cpu"}


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> str:
    from tests.builders.tiny_models import tiny_pipeline

    return str(tiny_pipeline(tmp_path_factory.mktemp("models") / "diffusion"))


@pytest.fixture(scope="session")
def loaded(tiny):
    return loading.load_painter(PipelineName(tiny), "cpu")


@pytest.fixture(autouse=True)
def loaded_once(loaded, monkeypatch) -> None:
    """Jobs get the pipeline as it was when it was loaded."""

    def load(pipeline, device):
        found = copy.copy(loaded)
        found.most = 2
        return found

    monkeypatch.setattr(images, "load_painter", load)


def queued(benchmark: Benchmark, model: str, **asked) -> Job:
    order = images.ImagesOrder(model, **ASKED | asked)
    return images.queue_images(benchmark=benchmark, order=order, by="test")


def run(job: Job) -> Job:
    return jobs.run(job_id=job.pk, by="test", work=images.Drawing.do)


def candidates(key: str) -> list[ItemImage]:
    return list(ItemImage.objects.filter(item__key=key, role="candidate").select_related("image").order_by("position"))


def test_images_are_what_diffusers_draws_and_say_what_made_them(media, tmp_path, tiny):
    benchmark = cups(tmp_path, count=2)
    job = run(queued(benchmark, tiny))
    assert (job.state, job.report["items"], job.report["new_candidates"]) == (JobState.DONE, 2, 4), job.problems
    use = candidates("i1")[1]
    said = use.attributes
    assert said.keys() == {
        "model", "weights", "prompt", "seed", "steps", "guidance", "scheduler", "precision", "versions"
    }  # fmt: skip
    assert (said["prompt"], said["steps"], said["guidance"]) == (use.item.captions.get(role="negative").text, 2, 5.0)
    assert f"diffusers {version('diffusers')}" in said["versions"]
    alone = diffusers.StableDiffusionPipeline.from_pretrained(tiny)
    seed = torch.Generator("cpu").manual_seed(said["seed"])
    drawn = alone(said["prompt"], generator=seed, num_inference_steps=2, guidance_scale=5.0).images[0]
    found = np.array(Picture.open(io.BytesIO(kept.read(use.image.original_path))), dtype=int)
    assert np.abs(found - np.array(drawn)).max() <= 1
    assert len({one.image.sha256 for key in ("i0", "i1") for one in candidates(key)}) == 4
    assert not list(kept.below(images.FOLDER))


def test_another_job_adds_another_round_of_other_images(media, tmp_path, tiny):
    benchmark = cups(tmp_path, count=2)
    run(queued(benchmark, tiny, count=1))
    job = run(queued(benchmark, tiny, count=1, keys=["i1"]))
    assert [(one.round, one.position) for one in candidates("i1")] == [(1, 0), (2, 1)]
    assert len(candidates("i0")) == 1
    assert len({one.image_id for one in candidates("i1")}) == 2
    assert len({one.attributes["seed"] for one in candidates("i1")}) == 2
    assert (job.state, job.report["items"]) == (JobState.DONE, 1)


def test_seeds_follow_from_the_items_id_alone():
    assert images.seed_of(7, "i1", 0) == images.seed_of(7, "i1", 0)
    found = {images.seed_of(*one) for one in ((7, "i1", 0), (7, "i1", 1), (7, "i2", 0), (8, "i1", 0))}
    assert len(found) == 4
    assert all(0 <= seed <= MOST_SEED for seed in found)


def assert_goes_on(job: Job) -> None:
    """A worker was killed when 3 of 4 images were kept; the next one draws the last."""
    job.refresh_from_db()
    finished = {hashlib.sha256(kept.read(file.name)).hexdigest() for file in kept.below(images.FOLDER)}
    assert (job.state, len(finished), candidates("i0")) == (JobState.RUNNING, 3, [])
    drawn: list[int] = []
    tell = lambda phase, done, total: drawn.append(total) if phase == "drawing images" else None  # noqa: E731
    job = jobs.run(job_id=job.pk, by="test", work=images.Drawing.do, tell=tell)
    assert (job.state, job.report["new_candidates"], set(drawn)) == (JobState.DONE, 4, {1})
    assert finished <= {one.image.sha256 for key in ("i0", "i1") for one in candidates(key)}


def test_a_worker_goes_on_where_a_dead_one_was(media, tmp_path, tiny, monkeypatch):
    job, drawn = queued(cups(tmp_path, count=2), tiny), []

    def step_thrice(self, count: int = 1) -> None:
        drawn.append(count)
        if len(drawn) == 3:
            raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(jobs.Progress, "step", step_thrice)
        run(job)
    assert_goes_on(job)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_goes_on_where_it_was(media, tmp_path, tiny, settings):
    job = queued(cups(tmp_path, count=2), tiny)
    done = imports.alone("benchmarks/generation/killed_images.py", settings, str(job.pk))
    assert done.returncode == -9, done.stderr
    assert_goes_on(job)


def test_cancelling_stores_nothing_and_keeps_finished_images(media, tmp_path, tiny, monkeypatch):
    monkeypatch.setattr(jobs, "WRITE_EVERY", 0)
    job = queued(cups(tmp_path, count=2), tiny)

    def tell(phase: str, done: int, total: int | None) -> None:
        if phase == "drawing images" and done == 2:
            jobs.cancel_job(job=job, by="test")

    done = jobs.run(job_id=job.pk, by="test", work=images.Drawing.do, tell=tell)
    assert (done.state, ItemImage.objects.filter(role="candidate").count()) == (JobState.CANCELLED, 0)
    assert 0 < len(list(kept.below(images.FOLDER))) < 4
    monkeypatch.setattr(images, "FORGOTTEN", -1)
    images.sweep()
    assert not list(kept.below(images.FOLDER))


def test_batches_are_halved_and_withheld_images_left_out(media, tmp_path, tiny, loaded, monkeypatch):
    class Drawn:
        def __init__(self, images, flags):
            self.images, self.nsfw_content_detected = images, flags

    def two_at_once(*, prompt, generator, **settings):
        if len(prompt) > 1:
            raise torch.OutOfMemoryError
        number = generator[0].initial_seed()
        return Drawn([Picture.new("RGB", (8, 8), (number % 256, number // 256 % 256, 0))], [number == withheld])

    benchmark = cups(tmp_path, count=1)
    withheld = images.seed_of(7, "i0", 1)
    monkeypatch.setattr(loaded, "pipeline", two_at_once)
    job = run(queued(benchmark, tiny))
    assert (job.state, job.report["new_candidates"]) == (JobState.DONE, 1)
    assert {note["code"] for note in job.report["notes"]} == {"SMALLER_BATCHES", "IMAGE_WITHHELD"}


# Refusals


def test_requests_that_make_no_sense_are_refused(media, tmp_path, tiny):
    benchmark = cups(tmp_path, count=1)
    wrong = {"count": 0, "steps": 501, "guidance": -1.0, "seed": 2**31, "keys": ["i9"], "device": "toaster"}
    for name, value in wrong.items():
        with pytest.raises(Refused) as refused:
            queued(benchmark, tiny, **{name: value})
        assert refused.value.problems[0].code in {"WRONG_VALUE", "UNKNOWN_ID", "DEVICE_UNKNOWN"}, name
    with pytest.raises(Refused, match="MODEL_UNCLEAR"):
        queued(benchmark, " ")
    benchmark.items.get().captions.filter(role="negative").delete()
    assert imports.codes(run(queued(benchmark, tiny))) == ["NOTHING_TO_DRAW"]


def as_pickle(folder: Path) -> None:
    """Weights whose unpickling leaves a file, in the place of safetensors."""
    (folder / "unet" / "diffusion_pytorch_model.safetensors").unlink()
    torch.save(Evil(folder / "ran"), folder / "unet" / "diffusion_pytorch_model.bin")


class Evil:
    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def damaged(folder: Path) -> None:
    (folder / "unet" / "diffusion_pytorch_model.safetensors").write_bytes(b"no weights")


def of_no_pipeline(folder: Path) -> None:
    (folder / "model_index.json").unlink()


def without_a_weight(folder: Path, name: str = "unet/diffusion_pytorch_model.safetensors") -> None:
    from safetensors.torch import load_file, save_file

    file = folder / name
    weights = load_file(file)
    weights.pop(sorted(weights)[0])
    save_file(weights, file, metadata={"format": "pt"})


def whose_text_encoder_lacks_a_weight(folder: Path) -> None:
    without_a_weight(folder, "text_encoder/model.safetensors")


@pytest.mark.parametrize(
    "change", [whose_text_encoder_lacks_a_weight, as_pickle, damaged, of_no_pipeline, without_a_weight]
)
def test_a_pipeline_that_cannot_be_loaded_is_one_sentence(tmp_path, tiny, change):
    folder = tmp_path / "model"
    shutil.copytree(tiny, folder)
    change(folder)
    with pytest.raises(CannotScore) as refused:
        loading.load_painter(PipelineName(str(folder)), "cpu")
    assert refused.value.code in {"WEIGHTS_WRONG", "MODEL_UNKNOWN"}
    assert "\n" not in refused.value.advice
    assert not (folder / "ran").exists()


def test_another_unet_takes_the_place_of_the_pipelines_own(tmp_path, tiny, loaded):
    from tests.builders.tiny_models import tiny_unet

    torch.manual_seed(1)
    tiny_unet().save_pretrained(tmp_path / "other")
    other = loading.load_painter(PipelineName(tiny, str(tmp_path / "other")), "cpu")
    assert other.loaded.fingerprint != loaded.loaded.fingerprint
    draw = lambda one: next(iter(one.images([("A red cup", 1)], 2, 5.0)))  # noqa: E731
    assert draw(other) != draw(loaded)
    without_a_weight_of_its_own = tmp_path / "part"
    shutil.copytree(tiny, without_a_weight_of_its_own)
    without_a_weight(without_a_weight_of_its_own)
    with pytest.raises(CannotScore, match="lacks 1 of the network's weights"):
        loading.load_painter(PipelineName(tiny, str(without_a_weight_of_its_own)), "cpu")


def test_the_preset_names_the_pipeline_and_its_network(tmp_path):
    assert parse_pipeline("sdxl-dpo") == PRESETS["sdxl-dpo"]
    assert parse_pipeline("org/model", "org/unet").title == "org/model · org/unet"


# The command


def test_the_command_draws_and_says_what_it_did(media, tmp_path, tiny, capsys):
    cups(tmp_path, count=2)
    (tmp_path / "ids").write_text("i1\n")
    asked = {name: ASKED[name] for name in ("count", "steps", "device")}
    call_command("generate_images", "Cups", model=tiny, ids=tmp_path / "ids", now=True, **asked)
    assert "2 new candidates for 1 items of Cups" in capsys.readouterr().out
    with pytest.raises(CommandError, match="WRONG_VALUE"):
        call_command("generate_images", "Cups", model=tiny, count=99)
