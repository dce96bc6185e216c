"""A training's task and result, in plain values. Importing this does not import torch."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from workers.contents import Contents
from workers.models.model_name import ModelName
from workers.models.presets import Settings

POINTS = 200  # points of the loss: about this many over a training at most


@dataclass(frozen=True, slots=True)
class Example:
    """An item to learn from. Images are contents (SHA-256); `negative_image` shows the first of the `negatives`."""

    key: str
    image: str
    text: str
    negatives: tuple[str, ...] = ()
    negative_image: str = ""
    positives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """`open_image` returns an image by its content. Checkpoints are kept below `folder`, under the training's key."""

    model: ModelName
    device: str
    settings: Settings
    train: list[Example]
    validation: list[Example]
    open_image: Callable[[str], Contents]
    folder: Path

    def key(self, fingerprint: str) -> str:
        """Hash everything that determines the weights: the base model (by fingerprint), the settings and the items."""
        found = hashlib.sha256(json.dumps([fingerprint, self.settings.as_json()]).encode())
        for side in (self.train, self.validation):
            found.update(json.dumps(len(side)).encode())
            for example in side:
                found.update(json.dumps(astuple(example)).encode())
        return found.hexdigest()


@dataclass(slots=True)
class Curve:
    """`losses` and `accuracies`: pairs of a step and the mean loss since the last pair, or the accuracy."""

    steps: int
    losses: list[list[float]] = field(default_factory=list)
    accuracies: list[list[float]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {"steps": self.steps, "losses": self.losses, "accuracies": self.accuracies}


class Watch(Protocol):
    """Receives a training's progress, and may end it by raising an exception."""

    def begin(self, phase: str, left: int | None) -> None:
        """Begin a phase; `left`: steps, counted by `step`."""

    def step(self, curve: Curve) -> None: ...

    def say(self, note: str) -> None:
        """Report something that the manager should know afterwards."""


@dataclass(frozen=True, slots=True)
class Trained:
    """`weights`: SHA-256 of the file with the trained weights. `accuracy` was reached after `epoch` epochs."""

    weights: str
    accuracy: float
    epoch: int
    curve: Curve
    facts: dict[str, Any]


class Trainer(Protocol):
    """A loaded base model and its task. `key` names the training: the same key gives the same weights."""

    key: str

    def run(self, watch: Watch) -> Trained:
        """Train, from the last checkpoint if there is one."""

    def export(self, folder: Path) -> None:
        """Write the best weights as a folder that can be loaded by its path. Call after `run`."""

    def forget(self) -> None:
        """Delete the checkpoints."""
