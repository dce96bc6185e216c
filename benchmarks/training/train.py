"""Train a model: deal the items, train with checkpoints, store the weights and one row of provenance.

Checkpoints are in the folder of models under a key of everything that determines the weights, so a killed or cancelled
job, or a second one like it, continues from them. The row is stored with the job's report once the weights exist.
"""

import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.db import IntegrityError, transaction

from benchmarks import audit
from benchmarks.jobs import jobs, orders
from benchmarks.jobs.benchmark_work import BenchmarkWork, refused
from benchmarks.models import Benchmark, Image, Job, TrainedModel
from benchmarks.storage.files import kept
from benchmarks.training import material
from benchmarks.training.released import ReleasedSplit, to_train_on
from workers.contents import Contents
from workers.models.loading import load_trainer
from workers.models.model_name import ModelName, check_device, parse_model
from workers.models.presets import ACCURACY, LIMITS, PRESETS, RETRIEVAL, Settings, settings_from, settings_of
from workers.models.refusals import CannotScore
from workers.models.training_task import Curve, Task, Trained, Trainer

KIND = "train"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
TRAINED, UNFINISHED = "trained", "training"  # subfolders of the folder of models
CHANGES = ("epochs", "batch", "rate", "rates", "hard_negative", "neighbours", "choose", "seed")
AGAIN = "nothing new: this model still applies"


def _setting(name: str, label: str, help_text: str = "") -> Any:
    """Make a field for a number that overrides the preset's."""
    low, high = LIMITS[name]
    kind: type = forms.FloatField if isinstance(low, float) else forms.IntegerField
    return orders.described(kind(min_value=low, max_value=high, required=False, label=label, help_text=help_text))


@dataclass(frozen=True)
class TrainOrder:
    """The model to train, its initial weights, and the items. Numbers that are None default to the preset's."""

    preset: str = orders.choice(
        "Preset", [(name, preset.title) for name, preset in PRESETS.items()], "The losses and numbers of a paper."
    )
    name: str = orders.text("Name of the new model", "Letters, digits, dots, underscores and hyphens.", max_length=80)
    model: str = orders.model(
        "Base model",
        "An open_clip architecture, `hf-hub:ORG/MODEL`, or `local-dir:FOLDER` for a folder in the "
        "server’s model folder, such as a model that was trained here.",
    )
    pretrained: str = orders.weights()
    release: str = orders.text(
        "Items",
        "A release’s training side (its name and version), or the whole benchmark, which is then split "
        "80/20 by item and image. Items in the test split of any release are rejected.",
        required=False,
    )
    epochs: int | None = _setting("epochs", "Epochs")
    batch: int | None = _setting("batch", "Items per batch")
    rate: float | None = _setting("rate", "Learning rate")
    rates: str = orders.model(
        "Other learning rates to try",
        "Separated by commas: `5e-6, 1e-5`. Each starts from the base model, and the best epoch overall "
        "is stored (ARO).",
        required=False,
    )
    choose: str = orders.choice(
        "Criterion for the best epoch",
        [("", "The preset’s"), (ACCURACY, "The questions of its loss"), (RETRIEVAL, "Retrieval")],
        "On the validation items. Retrieval: images find their captions, and captions their images.",
        required=False,
        initial="",
    )
    hard_negative: float | None = _setting(
        "hard_negative",
        "Weight of the hard-negative loss",
        "For presets with negative captions but no negative images.",
    )
    neighbours: int | None = _setting(
        "neighbours",
        "Similar images to draw from",
        "For each image in a batch, one of this many most similar images joins "
        "the batch with its caption (ARO). 0: none.",
    )
    seed: int | None = _setting("seed", "Seed", "0 if empty. On a CPU the same seed gives the same weights.")
    device: str = orders.device()


def queue_train(*, benchmark: Benchmark, order: TrainOrder, by: str, created_by=None, foreground=False) -> Job:
    """Create a training job. Raises Refused for invalid orders; the worker reports further problems."""
    params = params_of(benchmark, order, created_by) | {"foreground": foreground, "by": by}
    title = f"Train {order.name} on {order.release or benchmark.name}"
    return jobs.queue_job(kind=KIND, title=title, params=params, by=by, created_by=created_by)


def params_of(benchmark: Benchmark, order: TrainOrder, user=None) -> dict:
    """Return the order in a job's form, with all of the preset's settings. Raises Refused."""
    with refused():
        given = {name: None if value == "" else value for name in CHANGES for value in [getattr(order, name)]}
        chosen = settings_of(order.preset, **given | {"rates": _rates(order.rates) or None})
        check_base(parse_model(order.model, order.pretrained, settings.MODELS))
        check_device(order.device)
        check_name(order.name)
        if order.release:
            release_of(benchmark, order.release, user)
    names = ("model", "pretrained", "device", "name", "release")
    return {"benchmark": benchmark.pk, "settings": chosen.as_json()} | {name: getattr(order, name) for name in names}


def _rates(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(one) for one in text.split(",") if one.strip())
    except ValueError:
        advice = "Write learning rates as numbers with commas between them, for example 5e-6, 1e-5."
        raise CannotScore("BAD_SETTING", advice) from None


def follow(params: dict) -> None:
    """Run each further process started by `torchrun`, which computes rows of every batch and stores nothing."""
    with refused():
        job = Job(params=params)
        training = Training(job, jobs.Progress(job))
        trainer = load_trainer(training.task())
        if not training.preset.detects and not stored(trainer.key):
            trainer.run(Unwatched())


class Unwatched:
    """A Watch for a process whose training is reported by another one."""

    def begin(self, phase: str, left: int | None) -> None: ...

    def step(self, curve: Curve) -> None: ...

    def say(self, note: str) -> None: ...


def check_base(model_name: ModelName) -> None:
    if model_name.kind != "open_clip":
        advice = (
            "Only models of open_clip can be trained. Give an architecture with its weights, hf-hub: or local-dir:."
        )
        raise CannotScore("MODEL_UNCLEAR", advice)


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        advice = (
            "Name the model with 1 to 80 letters, digits, dots, underscores and hyphens, beginning with a letter or"
        )
        raise CannotScore("NAME_UNCLEAR", f"{advice} digit.")
    if TrainedModel.objects.filter(name=name).exists():
        raise CannotScore("NAME_TAKEN", f"There is already a trained model {name}. Choose another name.")


def release_of(benchmark: Benchmark, title: str, user=None) -> ReleasedSplit:
    """Return the release to train on, if the user may see it."""
    there = to_train_on(benchmark, user)
    found = next((one for one in there if one.title == title), None)
    if found is None:
        known = ", ".join(one.title for one in there) or "none"
        advice = f"“{benchmark.name}” has no release “{title[:120]}” with a training side; it has {known}."
        raise CannotScore("RELEASE_UNKNOWN", advice)
    return found


class Training(BenchmarkWork):
    """The work of a job of kind `train`; also the `Watch` of the trainer."""

    def __init__(self, job: Job, progress: jobs.Progress):
        super().__init__(job, progress)
        self.settings = settings_from(job.params["settings"])
        self.preset = PRESETS[self.settings.preset]
        self.model_name = parse_model(job.params["model"], job.params["pretrained"], settings.MODELS)
        self.notes: list[str] = []
        self.counts: dict = {}
        self.shown = 0.0
        self.steps = 0  # in this attempt; a resumed one has fewer than the training

    def run(self) -> None:
        self.progress.begin("reading items")
        task = self.task()
        self.progress.begin("loading the model")
        trainer = load_trainer(task)
        if same := stored(trainer.key):
            trainer.forget()  # from a job killed just after storing the row
            return self.finish_with(same, note=AGAIN)
        check_name(self.job.params["name"])
        self.store(trainer, trainer.run(self))

    def task(self) -> Task:
        title = self.job.params["release"]
        release = release_of(self.benchmark, title) if title else None
        sides = material.sides(self.benchmark, release, self.preset, self.settings.seed)
        self.counts = {"train": len(sides.train), "validation": len(sides.validation), "lacking": sides.lacking}
        folder = settings.MODELS / UNFINISHED
        return Task(
            self.model_name, self.job.params["device"], self.settings, sides.train, sides.validation, image, folder
        )

    # While it trains

    def begin(self, phase: str, left: int | None) -> None:
        self.progress.begin(phase, left)

    def step(self, curve: Curve) -> None:
        if time.monotonic() - self.shown >= jobs.WRITE_EVERY:
            self.shown = time.monotonic()
            Job.objects.filter(pk=self.job.pk).update(report={"curve": curve.as_json(), **self.counts})
        self.steps += 1
        self.progress.step()

    def say(self, note: str) -> None:
        self.notes = [note]

    # Afterwards

    def store(self, trainer: Trainer, trained: Trained) -> None:
        """Write the weights to a folder named by their hash, then the row with the job's report."""
        self.progress.begin("storing the model")
        name = self.job.params["name"]
        path = f"{TRAINED}/{name}-{trained.weights[:12]}"
        self.export(trainer, settings.MODELS / path)
        facts = trained.facts | {"notes": self.notes}
        if "rates" in facts:
            tried = ", ".join(f"{rate:g} ({accuracy:.3f})" for rate, accuracy in facts["rates"])
            facts["notes"] = [*self.notes, f"The learning rate {facts['rate']:g} was chosen. Accuracies: {tried}."]
        spent = time.monotonic() - self.began
        whole = trained.curve.steps + self.settings.all_epochs  # as `step` counts
        seconds = round(spent * whole / self.steps if self.steps else spent, 1)
        try:
            with transaction.atomic():
                if not stored(trainer.key):
                    TrainedModel.objects.filter(key=trainer.key).delete()  # its files are gone
                model = TrainedModel.objects.create(
                    name=name, key=trainer.key, preset=self.preset.name, base=self.job.params["model"],
                    base_weights=self.job.params["pretrained"], hyperparameters=self.settings.as_json(),
                    benchmark=Benchmark.objects.filter(pk=self.benchmark.pk).first(),
                    source=self.job.params["release"] or self.benchmark.name, counts=self.counts,
                    accuracy=trained.accuracy, epoch=trained.epoch, curve=trained.curve.as_json(), facts=facts,
                    weights=trained.weights, path=path, seconds=seconds, job=self.job,
                    created_by_id=self.job.created_by_id,
                )  # fmt: skip
                audit.record(by=self.by, verb="trained", subject=self.benchmark, model=model.name)
                self.finish_with(model)
        except IntegrityError:
            if not TrainedModel.objects.filter(path=path).exists():
                shutil.rmtree(settings.MODELS / path, ignore_errors=True)
            raise CannotScore("NAME_TAKEN", f"There is already a trained model {name}. Choose another name.") from None
        trainer.forget()

    def export(self, trainer: Trainer, folder: Path) -> None:
        """Export completely or not at all: a killed job leaves a hidden folder, which the next one replaces."""
        partial = folder.with_name(f".{folder.name}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            trainer.export(partial)
            shutil.rmtree(folder, ignore_errors=True)  # from a job killed before storing the row
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def finish_with(self, model: TrainedModel, note: str = "") -> None:
        report = {
            "benchmark": self.benchmark.pk, "trained": model.pk, "name": model.name, "model": model.asked,
            "preset": model.preset, "accuracy": model.accuracy, "epoch": model.epoch, "curve": model.curve,
            "device": model.facts["device"], "precision": model.facts["precision"], "notes": model.facts["notes"],
            "accuracies": model.facts.get("accuracies", {}), "weights": model.weights,
            **model.counts, **({"note": note} if note else {}),
        }  # fmt: skip
        self.finish(report)


def stored(key: str) -> TrainedModel | None:
    """Return that training's model, if its files exist: a backup does not contain them."""
    found = TrainedModel.objects.filter(key=key).first()
    return found if found and (settings.MODELS / found.path).is_dir() else None


def image(content: str) -> Contents:
    return kept.contents(Image(sha256=content).original_path)


def estimate(benchmark: Benchmark, chosen: Settings) -> float | None:
    """Estimate a training's seconds at the pace of the last one with this preset; None if unknown."""
    last = TrainedModel.objects.filter(preset=chosen.preset).first()
    if last is None:
        return None
    past = last.hyperparameters
    epochs = past["epochs"] * (1 + len(past.get("rates", ()))) + past["image_epochs"]
    pace = last.seconds / (last.counts["train"] * epochs)
    return pace * 0.8 * benchmark.present.count() * chosen.all_epochs
