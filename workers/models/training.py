"""Common parts of all trainings: order, learning rate, checkpoints, the curve, and the folder of the trained model.

On a CPU the same task gives the same weights, bit for bit, whether or not it was interrupted: order and choice of
negatives are hashes of the seed, and a checkpoint has the weights, the optimizer and the state of torch's generator.
"""

import errno
import fcntl
import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import torch
from open_clip.factory import _get_hf_config
from safetensors.torch import save_file
from torch.nn.attention import SDPBackend, sdpa_kernel

from workers.models import clip
from workers.models import device as devices
from workers.models.model_name import FOLDER, HUB, ModelName
from workers.models.refusals import CannotScore
from workers.models.training_task import POINTS, Curve, Example

CHECKPOINT, CONFIG, WEIGHTS = "checkpoint.pt", "open_clip_config.json", "open_clip_model.safetensors"
DETECTOR = "detector.safetensors"
COMPARED = 1024  # images compared with all others at once


def order(examples: Sequence[Example], seed: int, epoch: int) -> list[int]:
    """Return positions of the examples in the order of that epoch: a hash of seed, epoch and key."""
    return sorted(range(len(examples)), key=lambda place: draw(seed, epoch, examples[place].key))


def draw(*facts: object) -> bytes:
    return hashlib.sha256("/".join(map(str, facts)).encode()).digest()


def rate_at(step: int, steps: int, peak: float, warmup: int) -> float:
    """Return a step's learning rate, counted from 0: it rises over the warm-up and falls to 0 as a cosine."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return 0.5 * peak * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


class Checkpoints:
    """One training's files in a folder that a single process uses at a time. Each appears complete or not at all."""

    def __init__(self, folder: Path):
        self.folder = folder

    @contextmanager
    def locked(self) -> Iterator[None]:
        with explained_disk():
            self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system releases it when the process dies
            except OSError:
                raise CannotScore("ALREADY_TRAINING", "Another job is training exactly this. Wait for it.") from None
            yield

    def load(self) -> dict[str, Any] | None:
        """Return the last state; None if there is none."""
        path = self.folder / CHECKPOINT
        if not path.exists():
            return None
        try:
            return torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            advice = f"The checkpoint {path} cannot be read: {devices.short(error)}. Delete it to train from the start."
            raise CannotScore("CHECKPOINT_DAMAGED", advice) from error

    def save(self, state: dict[str, Any]) -> None:
        write(self.folder / CHECKPOINT, lambda path: torch.save(state, path))

    def forget(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def write(path: Path, make: Callable[[Path], object]) -> None:
    """Let `make` write a file, and move it to `path` once it is on the disk. Raises CannotScore: STORAGE_FULL."""
    partial = path.with_name(f".{path.name}")
    try:
        with explained_disk():
            make(partial)
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def explained_disk() -> Iterator[None]:
    """Explain torch's and safetensors' own errors for a full disk."""
    try:
        yield
    except Exception as error:
        number = getattr(error, "errno", None)
        words = ("no space left", "os error 28", "file write failed", "pytorchstreamwriter failed")
        full = number in {errno.ENOSPC, errno.EDQUOT} or any(part in str(error).lower() for part in words)
        if not full:
            raise
        advice = "The disk with the models is full. The last checkpoint is kept: make room, then train again."
        raise CannotScore("STORAGE_FULL", f"{advice} The training continues from there.") from error


def write_model(folder: Path, model_name: ModelName, state: dict[str, torch.Tensor], base: clip.Clip) -> None:
    """Write the base model with this state, as a folder for `local-dir:`."""
    config = {"model_cfg": model_config(model_name), "preprocess_cfg": open_clip.get_model_preprocess_cfg(base.model)}
    write(folder / CONFIG, lambda path: path.write_text(json.dumps(config, indent=2)))
    write(folder / WEIGHTS, lambda path: save_file(state, path))
    if hasattr(base.tokenizer, "save_pretrained"):  # a transformers tokenizer, which open_clip looks for
        base.tokenizer.save_pretrained(folder)


def model_config(model_name: ModelName) -> dict[str, Any]:
    if model_name.name.startswith(f"{FOLDER}:"):
        return json.loads((Path(model_name.name.removeprefix(f"{FOLDER}:")) / CONFIG).read_text())["model_cfg"]
    if model_name.name.startswith(f"{HUB}:"):
        return _get_hf_config(model_name.name.removeprefix(f"{HUB}:"))["model_cfg"]
    return open_clip.get_model_config(model_name.name.replace("/", "-"))


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def plain(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copy to the CPU without shared memory, as safetensors requires."""
    return {name: value.detach().to("cpu", copy=True).contiguous() for name, value in state.items()}


@contextmanager
def reproducible(device: torch.device, seed: int) -> Iterator[None]:
    """Use only deterministic algorithms on a CPU; the process's own state is restored.

    Attention uses plain products: with torch 2.15's fused one, a process that had run other models before got NaN
    gradients in 6 of 24 trainings, and with plain products in none of 30.
    """
    before, generator = torch.are_deterministic_algorithms_enabled(), torch.get_rng_state()
    torch.manual_seed(seed)
    if device.type == "cpu":
        torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with sdpa_kernel(SDPBackend.MATH) if device.type == "cpu" else nullcontext():
            yield
    finally:
        torch.use_deterministic_algorithms(before)
        torch.set_rng_state(generator)


def no_memory() -> CannotScore:
    advice = "Choose a smaller model, a smaller batch or a device with more memory. The last checkpoint is kept."
    return CannotScore("OUT_OF_MEMORY", f"There is not enough memory to train, even one item at a time. {advice}")


class Plot:
    """Collects the losses of steps into the points of a curve."""

    def __init__(self, curve: Curve):
        self.curve, self.every = curve, max(1, curve.steps // POINTS)
        self.sum, self.count = 0.0, 0

    def add(self, step: int, loss: float) -> None:
        if not math.isfinite(loss):
            advice = f"The loss is no longer a number after step {step}. Train with a lower learning rate."
            raise CannotScore("DIVERGED", advice)
        self.sum, self.count = self.sum + loss, self.count + 1
        if self.count == self.every:
            self.curve.losses.append([step, self.sum / self.count])
            self.sum, self.count = 0.0, 0

    def state(self) -> dict[str, Any]:
        return self.curve.as_json() | {"sum": self.sum, "count": self.count}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Plot":
        made = cls(Curve(state["steps"], state["losses"], state["accuracies"]))
        made.sum, made.count = state["sum"], state["count"]
        return made


def vectors(names: list[str], encode: Callable[[Iterable[str]], Iterator[np.ndarray]]) -> dict[str, np.ndarray]:
    """Return vectors by name."""
    return dict(zip(names, (row for batch in encode(names) for row in batch), strict=True))


def nearest(rows: np.ndarray, count: int) -> list[list[int]]:
    """Return the positions of the `count` other rows with the highest cosine to each row, in ascending order."""
    count = min(count, len(rows) - 1)
    found: list[list[int]] = []
    for start in range(0, len(rows) if count else 0, COMPARED):
        cosines = rows[start : start + COMPARED] @ rows.T
        cosines[range(len(cosines)), range(start, start + len(cosines))] = -np.inf
        found += np.sort(np.argpartition(-cosines, count - 1, axis=1)[:, :count]).tolist()
    return found or [[] for _ in rows]


def retrieval(side: Sequence[Example], images: dict[str, np.ndarray], texts: dict[str, np.ndarray], size: int) -> float:
    """Return, over groups of `size` items in order, the mean share of images that score highest with their own caption,
    and of captions with their own image. Material that another item shares does not compete; a tie is not right."""
    right = 0
    for start in range(0, len(side), size):
        part = side[start : start + size]
        scores = np.stack([images[one.image] for one in part]) @ np.stack([texts[one.text] for one in part]).T
        names, words = np.array([one.image for one in part]), np.array([one.text for one in part])
        same = (names[:, None] == names[None, :]) | (words[:, None] == words[None, :])
        others = np.where(same, -np.inf, scores)
        right += int((scores.diagonal() > others.max(1)).sum() + (scores.diagonal() > others.max(0)).sum())
    return right / (2 * len(side))
