"""Detectors of generated content: a CLIP with frozen encoders, and a sigmoid neuron each for images and captions.

A detector returns the probability that an image or caption is synthetic. benchmarks/scoring/detected.py turns these
into BiVLC's choices (§5.3).
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from workers.contents import Contents
from workers.models import clip, losses
from workers.models import device as devices
from workers.models.model_name import FOLDER, ModelName, versions
from workers.models.refusals import CannotScore
from workers.models.training import (
    DETECTOR,
    Checkpoints,
    Plot,
    draw,
    plain,
    reproducible,
    sha256,
    vectors,
    write,
    write_model,
)
from workers.models.training_task import Curve, Example, Task, Trained, Watch

SIDES = ("text", "image")  # in training order


def load(model_name: ModelName, device: str) -> "Detector":
    """Load a detector from its folder. Raises CannotScore."""
    folder = Path(model_name.name)
    if not (folder / DETECTOR).is_file():
        advice = f"“{model_name.title}” is not a detector: its folder has no {DETECTOR}."
        raise CannotScore("WEIGHTS_WRONG", f"{advice} Train one with the preset detector.")
    found = clip.load(ModelName("open_clip", f"{FOLDER}:{folder}"), device, Detector)
    assert isinstance(found, Detector)
    with devices.explained(model_name.title):
        found.take(load_file(folder / DETECTOR))
    return found


class Features(clip.Clip):
    """The encoders' raw vectors, of any length, in float32."""

    def part(self, part: torch.Tensor, encode: Callable) -> torch.Tensor:
        return encode(part.to(self.device)).float()


class Detector(Features):
    """A loaded detector (workers.models.encoder.Encoder): vectors of one dimension, the probability of a synthetic
    image or caption."""

    def take(self, neurons: dict[str, torch.Tensor]) -> None:
        """Take its neurons, which are part of the fingerprint."""
        digest = hashlib.sha256(self.loaded.fingerprint.encode())
        for name in sorted(neurons):
            digest.update(name.encode() + neurons[name].numpy().tobytes())
        self.loaded = replace(self.loaded, fingerprint=digest.hexdigest())
        self.neurons = {side: neuron(neurons, side).to(self.device) for side in SIDES}

    def images(self, files: Iterable[Contents]) -> Iterator[np.ndarray]:
        yield from map(self.probability("image"), super().images(files))

    def texts(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        yield from map(self.probability("text"), super().texts(texts))

    def probability(self, side: str) -> Callable[[np.ndarray], np.ndarray]:
        one = self.neurons[side]

        def of(features: np.ndarray) -> np.ndarray:
            with torch.inference_mode():
                return one(torch.tensor(features, device=self.device)).sigmoid().cpu().numpy()

        return of


def neuron(weights: dict[str, torch.Tensor], side: str) -> torch.nn.Linear:
    found = torch.nn.Linear(weights[f"{side}.weight"].shape[1], 1)
    found.load_state_dict({"weight": weights[f"{side}.weight"], "bias": weights[f"{side}.bias"]})
    return found


class DetectorTrainer:
    """See workers.models.training_task.Trainer. The encoders are frozen, so everything is encoded once; the neuron for
    captions is trained first, then the one for images."""

    def __init__(self, task: Task):
        self.task, self.settings = task, task.settings
        found = clip.load(task.model, task.device, Features)
        assert isinstance(found, Features)
        self.clip = found
        self.key = task.key(found.loaded.fingerprint)
        self.checkpoints = Checkpoints(task.folder / self.key)
        self.epochs = {"text": self.settings.epochs, "image": self.settings.image_epochs}
        batches = math.ceil(2 * len(task.train) / self.settings.batch)
        self.batches, self.plot = batches, Plot(Curve(batches * sum(self.epochs.values())))
        self.epoch = {"text": 0, "image": 0}  # done
        self.best: dict[str, Any] = {side: {"accuracy": -1.0, "epoch": 0} for side in SIDES}
        self.state: dict[str, Any] = {side: {} for side in SIDES}  # state of neuron and optimizer

    def run(self, watch: Watch) -> Trained:
        with self.checkpoints.locked(), reproducible(self.clip.device, self.settings.seed):
            self._resume()
            for side in SIDES:
                if self.epoch[side] < self.epochs[side]:
                    self._train(side, watch)
            best = {name: value for side in SIDES for name, value in self.best[side]["weights"].items()}
            write(self.checkpoints.folder / DETECTOR, lambda path: save_file(best, path))
        accuracies = {side: self.best[side]["accuracy"] for side in SIDES}
        facts = {
            "device": str(self.clip.device), "precision": self.clip.loaded.precision, "versions": versions(),
            "base": self.clip.loaded.fingerprint, "accuracies": accuracies,
        }  # fmt: skip
        mean, epoch = sum(accuracies.values()) / 2, self.best["text"]["epoch"]
        return Trained(sha256(self.checkpoints.folder / DETECTOR), mean, epoch, self.plot.curve, facts)

    def _train(self, side: str, watch: Watch) -> None:
        watch.begin(f"encoding {side}s", None)
        learn, check = self._features(side, self.task.train), self._features(side, self.task.validation)
        generator = torch.get_rng_state()
        one = torch.nn.Linear(learn[0].shape[1], 1)
        adam = torch.optim.Adam(
            one.parameters(), lr=self.settings.rate, betas=self.settings.betas, eps=self.settings.epsilon
        )
        if self.state[side]:
            torch.set_rng_state(generator)  # the checkpoint's generator had already drawn this neuron's initial values
            one.load_state_dict(self.state[side]["neuron"])
            adam.load_state_dict(self.state[side]["optimizer"])
        left = (self.epochs[side] - self.epoch[side]) * (self.batches + 1)  # the end of an epoch also counts as a step
        watch.begin(f"training the neuron for {side}s", left)
        while self.epoch[side] < self.epochs[side]:
            done = self.epoch["text"] + self.epoch["image"]
            for number, places in enumerate(self._batches(side, len(learn[0])), 1):
                loss = losses.detector(one(learn[0][places])[:, 0], learn[1][places])
                adam.zero_grad()
                loss.backward()
                adam.step()
                self.plot.add(done * self.batches + number, loss.item())
                watch.step(self.plot.curve)
            self.epoch[side] += 1
            with torch.no_grad():
                right = (one(check[0])[:, 0] > 0) == (check[1] > 0.5)
            self._end_epoch(side, one, adam, float(right.float().mean()), done + 1)
            watch.step(self.plot.curve)

    def _features(self, side: str, examples: list[Example]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return features and labels: 0 for natural, 1 for generated."""
        if side == "text":
            natural, made = [one.text for one in examples], [one.negatives[0] for one in examples]
            found = vectors(sorted({*natural, *made}), self.clip.texts)
        else:
            natural, made = [one.image for one in examples], [one.negative_image for one in examples]
            found = vectors(sorted({*natural, *made}), lambda names: self.clip.images(map(self.task.open_image, names)))
        rows = torch.from_numpy(np.stack([found[name] for name in (*natural, *made)]))
        return rows, torch.cat([torch.zeros(len(natural)), torch.ones(len(made))])

    def _batches(self, side: str, count: int) -> Iterator[torch.Tensor]:
        """Yield positions in the order of this epoch, a hash of seed, epoch and position."""
        facts = self.settings.seed, side, self.epoch[side]
        places = sorted(range(count), key=lambda place: draw(*facts, place))
        yield from torch.tensor(places).split(self.settings.batch)

    def _end_epoch(
        self, side: str, one: torch.nn.Linear, adam: torch.optim.Optimizer, accuracy: float, epochs: int
    ) -> None:
        self.plot.curve.accuracies.append([epochs * self.batches, accuracy])
        if accuracy > self.best[side]["accuracy"]:
            weights = {f"{side}.{name}": value for name, value in plain(one.state_dict()).items()}
            self.best[side] = {"accuracy": accuracy, "epoch": self.epoch[side], "weights": weights}
        self.state[side] = {"neuron": one.state_dict(), "optimizer": adam.state_dict()}
        self.checkpoints.save(
            {
                "epoch": self.epoch, "best": self.best, "state": self.state, "plot": self.plot.state(),
                "random": torch.get_rng_state(),
            }
        )  # fmt: skip

    def _resume(self) -> None:
        state = self.checkpoints.load()
        if state is None:
            return
        self.epoch, self.best, self.state = state["epoch"], state["best"], state["state"]
        self.plot = Plot.from_state(state["plot"])
        torch.set_rng_state(state["random"])

    def export(self, folder: Path) -> None:
        write_model(folder, self.task.model, plain(self.clip.model.state_dict()), self.clip)
        found = load_file(self.checkpoints.folder / DETECTOR)
        write(folder / DETECTOR, lambda path: save_file(found, path))

    def forget(self) -> None:
        self.checkpoints.forget()
