"""Training with the real libraries on a CPU: what is learnt, what a killed training leaves, what is refused."""

import dataclasses
import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.builders import trainings
from tests.builders.killed import Killed
from tests.lazy import LazyModule
from workers.models import loading
from workers.models.presets import PRESETS, settings_of
from workers.models.refusals import CannotScore
from workers.models.training_task import Task

torch, encoder_trainer = LazyModule("torch"), LazyModule("workers.models.encoder_trainer")
devices, clip = LazyModule("workers.models.device"), LazyModule("workers.models.clip")
QUICK = {"batch": 16, "epochs": 2, "rate": 2e-3}
FEW = {  # scenes, and how they are learnt by heart in seconds
    "clip_coco": (8, {"batch": 4, "epochs": 25, "rate": 2e-3}),
    "negclip": (8, {"batch": 8, "epochs": 25, "rate": 3e-3}),
    "trohn_img": (8, {"batch": 8, "epochs": 30, "rate": 2e-3, "style": True}),
    "hard_positive": (8, {"batch": 4, "epochs": 10, "rate": 3e-3}),
    "detector": (16, {"batch": 8, "epochs": 30, "rate": 0.3}),
}
ALL = {
    "clip_coco": {"batch": 16, "epochs": 100, "rate": 1e-3},
    "negclip": {"batch": 16, "epochs": 60, "rate": 2e-3, "choose": "accuracy"},
    "trohn_text": {"batch": 16, "epochs": 60, "rate": 2e-3},
    "trohn_img": {"batch": 16, "epochs": 120, "rate": 1e-3},
    "hard_positive": {"batch": 16, "epochs": 60, "rate": 2e-3},
    "detector": {"batch": 16, "epochs": 30, "rate": 0.3},
}


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    return trainings.tiny_base(tmp_path_factory.mktemp("base") / "clip")


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """A test shares the machine with others."""
    monkeypatch.setattr("workers.models.device.cores", lambda: 1)


# What is learnt


@pytest.mark.parametrize("preset", FEW)  # trohn_text has negclip's loss
def test_each_preset_learns_a_few_scenes_by_heart(base, tmp_path, preset):
    count, changes = FEW[preset]
    _, found = trainings.trained(trainings.task(base, tmp_path, preset, count, warmup=10, **changes))
    assert found.accuracy >= 0.95


@pytest.mark.nightly
@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_learns_sixty_four_scenes_by_heart(base, tmp_path, preset):
    """From chance: the accuracy of the untrained base."""
    task = trainings.task(base, tmp_path, preset, 64, warmup=20, **ALL[preset])
    trainer = loading.load_trainer(task)
    if preset != "detector":  # whose neurons do not exist before
        assert trainer.validate() <= {"clip_coco": 0.1, "hard_positive": 0.5}.get(preset, 0.65)
    found = trainer.run(trainings.Unresponsive())
    assert found.accuracy >= 0.95
    assert all(accuracy >= 0.95 for accuracy in found.facts.get("accuracies", {}).values())


@pytest.mark.parametrize(
    ("presets", "count", "changes"),
    [
        (("negclip", "hard_positive"), 8, {"batch": 8, "rate": 3e-3, "epochs": 10, "warmup": 10}),
        pytest.param(
            ("negclip", "trohn_text", "trohn_img", "hard_positive"),
            64,
            {"batch": 16, "rate": 1e-3, "epochs": 90, "warmup": 20},
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_hard_negatives_tell_swaps_apart_better_than_plain_infonce(base, tmp_path, presets, count, changes):
    """After as many steps on the same scenes, by the share of images that prefer their caption to the swapped one."""
    shares = {}
    for preset in ("clip_coco", *presets):
        task = trainings.task(base, tmp_path, preset, count, **changes)
        trainer, _ = trainings.trained(task)
        shares[preset] = prefers_own(trainer.clip, task)
    assert all(share > shares["clip_coco"] for preset, share in shares.items() if preset != "clip_coco"), shares


def prefers_own(model: "clip.Clip", task: Task) -> float:
    model.most = len(task.train)
    images = next(model.images(task.open_image(one.image) for one in task.train))
    sides = [[one.text for one in task.train], [one.negatives[0] for one in task.train]]
    own, swapped = (next(model.texts(texts)) for texts in sides)
    return float(((images * own).sum(1) > (images * swapped).sum(1)).mean())


def test_the_weight_of_the_hard_negative_loss_is_a_setting(base, tmp_path):
    """Hard Positive §5.3, Table 3: the loss is linear in it, and with 0 the negatives have no part at all."""
    vectors = torch.nn.functional.normalize(torch.arange(48.0).sin().reshape(8, 6), dim=-1)
    images, texts, scale = vectors[:2], vectors[2:], torch.tensor(2.0)
    found = {}
    for weight in (0, 0.25, 0.5, 1):
        trainer = loading.load_trainer(trainings.task(base, tmp_path, "hard_positive", hard_negative=weight))
        found[weight] = trainer._loss(2, images, texts, scale).item()
        other = torch.cat([texts[:2], -texts[2:4], texts[4:]])
        assert (trainer._loss(2, images, other, scale).item() == found[weight]) == (weight == 0)
    assert found[1] - found[0.5] == pytest.approx(2 * (found[0.5] - found[0.25]))


def test_each_image_brings_one_of_its_nearest_ones_into_the_batch(base, tmp_path):
    """ARO §4, C.2: another one in another epoch, with its own caption and negative, and none twice."""
    trainer = loading.load_trainer(trainings.task(base, tmp_path, "negclip", 12, batch=3))
    trainer.similar = trainer._similar()
    images = {
        one.image: next(trainer.clip.images([trainer.task.open_image(one.image)]))[0] for one in trainer.task.train
    }
    for image, near in trainer.similar.items():
        others = sorted((float(images[image] @ other) for name, other in images.items() if name != image), reverse=True)
        assert min(float(images[image] @ images[one]) for one in near) == pytest.approx(others[2], abs=1e-6)
    seen = set()
    for trainer.epoch in range(8):
        found = trainer._with_alternatives([0, 1, 2])
        assert found[:3] == [0, 1, 2] and 3 <= len(found) == len({*found}) <= 6
        near = {one for place in (0, 1, 2) for one in trainer.similar[trainer.task.train[place].image]}
        assert {trainer.task.train[place].image for place in found[3:]} <= near
        seen.add(tuple(found))
    batch = next(trainer._batches())
    assert len(seen) > 1 and len(batch.pixels) == batch.count > 3 and len(batch.tokens) == 2 * batch.count


def test_the_nearest_of_few_images_are_all_others():
    rows = np.array([[1, 0], [0.6, 0.8], [0, 1]])
    assert encoder_trainer.nearest(rows, 1) == [[1], [2], [1]]
    assert encoder_trainer.nearest(rows, 3) == [[1, 2], [0, 2], [0, 1]]
    assert encoder_trainer.nearest(rows[:1], 3) == [[]]


def test_the_best_of_several_rates_is_stored_as_if_it_had_been_the_only_one(base, tmp_path):
    """ARO C.3, also after a death while the second rate learns. A rate of 1e-9 learns nothing."""
    changes = {"count": 8, "batch": 4, "epochs": 3, "warmup": 2}
    task = trainings.task(base, tmp_path / "three", "negclip", rate=1e-9, rates=(3e-3, 1e-8), **changes)
    with pytest.raises(Killed):
        loading.load_trainer(task).run(DiesAfter(12))
    found = weights(task, tmp_path / "best")
    assert found == weights(trainings.task(base, tmp_path, "negclip", rate=3e-3, **changes), tmp_path / "alone")
    _, trained = trainings.trained(task)
    assert trained.facts["rate"] == 3e-3 and trained.accuracy == trained.facts["rates"][1][1]
    assert len(trained.curve.accuracies) == 9 and 1 <= trained.epoch <= 3


def test_retrieval_chooses_among_all_validation_items(base, tmp_path):
    """Whatever the batch; the preset's own questions are asked where it says so."""
    tasks = [trainings.task(base, tmp_path, "negclip", 12, batch=2, choose=by) for by in ("retrieval", "accuracy")]
    by_retrieval, by_accuracy = (loading.load_trainer(task).validate() for task in tasks)
    trainer = loading.load_trainer(tasks[0])
    images, texts = (
        {name: next(encode([name]))[0] for name in names}
        for names, encode in (
            ({one.image for one in tasks[0].train}, lambda names: trainer.clip.images(map(tasks[0].open_image, names))),
            ({one.text for one in tasks[0].train}, trainer.clip.texts),
        )
    )
    assert by_retrieval == encoder_trainer.retrieval(tasks[0].train, images, texts, 12)
    assert by_accuracy == prefers_own(trainer.clip, tasks[0])


# What a killed training leaves


class DiesAfter(trainings.Unresponsive):
    def __init__(self, steps: int):
        super().__init__()
        self.left = steps

    def step(self, curve) -> None:
        super().step(curve)
        self.left -= 1
        if not self.left:
            raise Killed


def weights(task: Task, folder: Path) -> bytes:
    trainer = loading.load_trainer(task)
    trainer.run(trainings.Unresponsive())
    folder.mkdir()
    trainer.export(folder)
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.safetensors")))


@pytest.mark.parametrize(("preset", "deaths"), [("negclip", (7, 4)), ("detector", (10, 4))])
def test_a_resumed_training_gives_the_same_weights(base, tmp_path, preset, deaths, monkeypatch):
    """Killed in the middle of an epoch, after a checkpoint within it, and once more."""
    monkeypatch.setattr("workers.models.encoder_trainer.EVERY", 2)
    changes = {"count": 8, "batch": 2, "epochs": 3, "rate": 2e-3, "warmup": 2}
    whole = weights(trainings.task(base, tmp_path / "one", preset, **changes), tmp_path / "whole")
    task = trainings.task(base, tmp_path / "two", preset, **changes)
    for steps in deaths:
        with pytest.raises(Killed):
            loading.load_trainer(task).run(DiesAfter(steps))
    assert weights(task, tmp_path / "resumed") == whole


def test_other_seeds_give_other_weights(base, tmp_path):
    made = [
        weights(trainings.task(base, tmp_path, "negclip", seed=seed, **QUICK), tmp_path / f"{seed}") for seed in (0, 1)
    ]
    assert made[0] != made[1]


def test_a_base_with_other_weights_has_checkpoints_of_its_own(base, tmp_path):
    other = trainings.tiny_base(tmp_path / "other", seed=1)
    keys = {loading.load_trainer(trainings.task(model, tmp_path, "negclip", **QUICK)).key for model in (base, other)}
    assert len(keys) == 2


@pytest.mark.nightly
def test_a_training_that_was_killed_gives_the_same_weights(base, tmp_path):
    """kill -9 of a process, twice, and a third one that ends."""
    command = [sys.executable, "-m", "tests.workers.killed_training", base]
    done = [
        subprocess.run([*command, str(tmp_path / folder), str(steps)], capture_output=True, text=True)
        for folder, steps in (("killed", 5), ("killed", 6), ("killed", 0), ("whole", 0))
    ]
    assert [one.returncode for one in done] == [-signal.SIGKILL, -signal.SIGKILL, 0, 0], done[-1].stderr
    assert done[2].stdout == done[3].stdout != ""


@pytest.mark.nightly
def test_two_processes_learn_what_one_learns(base, tmp_path):
    """As `torchrun` starts them for several GPUs: the loss is of the whole batch, whoever computes its rows."""
    script = ["tests.workers.killed_training", base]
    one, two = ([str(tmp_path / name), "0"] for name in ("one", "two"))
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = [
        subprocess.run([sys.executable, *command], capture_output=True, text=True)
        for command in (["-m", *script, *one], [*torchrun, "-m", *script, *two])
    ]
    assert [one.returncode for one in done] == [0, 0], done[1].stderr
    alone, shared = (json.loads(one.stdout.splitlines()[-1])[1] for one in done)
    assert shared["losses"] == [[step, pytest.approx(loss, abs=1e-4)] for step, loss in alone["losses"]]


# What goes wrong


def test_memory_that_runs_out_halves_the_parts_and_leaves_the_batch(base, tmp_path, monkeypatch):
    """The loss is of the whole batch, so the weights are those of enough memory but for rounding."""
    _, found = trainings.trained(trainings.task(base, tmp_path / "one", "negclip", **QUICK))
    encode = encoder_trainer.Towers.encode

    def small(self, encoder, rows):
        if min(self.part, len(rows)) > 6:
            raise torch.OutOfMemoryError
        return encode(self, encoder, rows)

    monkeypatch.setattr(encoder_trainer.Towers, "encode", small)
    trainer = loading.load_trainer(trainings.task(base, tmp_path / "two", "negclip", **QUICK))
    watch = trainings.Unresponsive()
    assert trainer.run(watch).curve.losses == [
        [step, pytest.approx(loss, abs=1e-4)] for step, loss in found.curve.losses
    ]
    assert watch.notes[-1].endswith("computed 4 rows at a time.")


def test_memory_for_not_even_one_item_is_a_sentence(base, tmp_path, monkeypatch):
    monkeypatch.setattr(encoder_trainer.Towers, "encode", lambda *args: (_ for _ in ()).throw(torch.OutOfMemoryError()))
    with pytest.raises(CannotScore, match="OUT_OF_MEMORY"):
        trainings.trained(trainings.task(base, tmp_path, "negclip", **QUICK))


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), RuntimeError("PytorchStreamWriter failed writing file")]
)
def test_a_full_disk_is_a_sentence_and_the_last_checkpoint_stays(base, tmp_path, monkeypatch, error):
    task = trainings.task(base, tmp_path, "negclip", **QUICK)
    save, calls = torch.save, []

    def full(state, path):
        calls.append(path)
        save(state, path)
        if len(calls) == 2:
            raise error

    with monkeypatch.context() as patch, pytest.raises(CannotScore, match="STORAGE_FULL") as refused:
        patch.setattr("torch.save", full)
        trainings.trained(task)
    assert "continues from there" in refused.value.advice
    assert sorted(path.name for path in next(tmp_path.iterdir()).iterdir() if path.suffix == ".pt") == ["checkpoint.pt"]
    watch = trainings.Unresponsive()
    loading.load_trainer(task).run(watch)
    assert watch.steps == 2  # the step of the second epoch, and its end


def test_a_damaged_checkpoint_is_a_sentence_and_runs_no_code(base, tmp_path):
    task = trainings.task(base, tmp_path, "negclip", **QUICK)
    trainer = loading.load_trainer(task)
    trainer.checkpoints.folder.mkdir(parents=True)
    torch.save({"model": Harmful()}, trainer.checkpoints.folder / "checkpoint.pt")
    with pytest.raises(CannotScore, match="CHECKPOINT_DAMAGED"):
        trainer.run(trainings.Unresponsive())
    assert not os.environ.get("HARMED")


class Harmful:
    def __reduce__(self):
        return os.putenv, ("HARMED", "1")


def test_a_loss_that_is_no_number_is_a_sentence(base, tmp_path, monkeypatch):
    monkeypatch.setattr(encoder_trainer.losses, "with_negative_texts", lambda *args: args[0].sum() * float("nan"))
    with pytest.raises(CannotScore, match="DIVERGED"):
        trainings.trained(trainings.task(base, tmp_path, "negclip", **QUICK))


def test_two_jobs_do_not_write_the_same_checkpoints(base, tmp_path):
    trainer, other = (loading.load_trainer(trainings.task(base, tmp_path, "negclip", **QUICK)) for _ in range(2))
    with trainer.checkpoints.locked(), pytest.raises(CannotScore, match="ALREADY_TRAINING"):
        other.run(trainings.Unresponsive())


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "open_clip_pytorch_model.bin").write_bytes(b"no weights"), "WEIGHTS_WRONG"),
        (lambda folder: change(folder, embed_dim=16), "WEIGHTS_WRONG"),
    ],
)
def test_a_base_that_is_none_is_a_sentence(tmp_path, spoil, words):
    model = trainings.tiny_base(tmp_path / "clip")
    spoil(tmp_path / "clip")
    with pytest.raises(CannotScore, match=words) as refused:
        loading.load_trainer(trainings.task(model, tmp_path, "negclip", **QUICK))
    assert "\n" not in refused.value.advice


def change(folder: Path, **fields) -> None:
    path = folder / "open_clip_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "model_cfg": config["model_cfg"] | fields}))


# The numbers


def test_the_rate_rises_over_the_warm_up_and_falls_as_a_cosine():
    rates = [encoder_trainer.rate_at(step, 110, 1e-6, 10) for step in (0, 9, 10, 60, 110)]
    assert rates == pytest.approx([1e-7, 1e-6, 1e-6, 5e-7, 0])


def test_presets_carry_the_numbers_of_bivlc():
    coco, detector = settings_of("clip_coco"), settings_of("detector")
    assert dataclasses.astuple(coco)[1:8] == (400, 10, 1e-6, 50, (0.9, 0.98), 1e-6, 0.1)
    assert (detector.batch, detector.epochs, detector.image_epochs, detector.betas) == (400, 10, 1, (0.9, 0.999))
    assert {settings_of(name).batch for name in ("trohn_text", "trohn_img")} == {200}


@pytest.mark.parametrize(
    ("preset", "changes", "code"),
    [
        ("clip", {}, "PRESET_UNKNOWN"),
        ("negclip", {"batch": 1}, "BAD_SETTING"),
        ("negclip", {"rate": 0}, "BAD_SETTING"),
        ("negclip", {"hard_negative": -0.25}, "BAD_SETTING"),
        ("clip_coco", {"hard_negative": 0.25}, "BAD_SETTING"),
        ("trohn_img", {"hard_negative": 0.25}, "BAD_SETTING"),
        ("detector", {"neighbours": 3}, "BAD_SETTING"),
        ("negclip", {"rates": (1e-5, 0.0)}, "BAD_SETTING"),
    ],
)
def test_settings_that_make_no_sense_are_refused(preset, changes, code):
    with pytest.raises(CannotScore, match=code):
        settings_of(preset, **changes)
