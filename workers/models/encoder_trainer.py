"""Training of a CLIP model's two encoders: the loop, its batches and validation."""

import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import accelerate
import numpy as np
import open_clip
import torch
from safetensors.torch import load_file, save_file
from torch.distributed.nn.functional import all_gather
from torch.nn import functional
from torch.utils.checkpoint import checkpoint as recomputed

from workers.models import clip, losses
from workers.models import device as devices
from workers.models.model_name import versions
from workers.models.prefetch import prefetched
from workers.models.presets import IMAGE, PRESETS, RETRIEVAL, SECOND
from workers.models.training import (
    Checkpoints,
    Plot,
    draw,
    nearest,
    no_memory,
    order,
    plain,
    rate_at,
    reproducible,
    retrieval,
    sha256,
    vectors,
    write,
    write_model,
)
from workers.models.training_task import Curve, Example, Task, Trained, Watch

Option = TypeVar("Option")
EVERY = 500  # steps between two checkpoints within an epoch
RETRIEVED = 5000  # items for retrieval to choose from, as many as COCO has validation images
HOTTEST = math.log(100)  # CLIP's limit on its learned temperature


@dataclass(frozen=True, slots=True)
class Batch:
    """`pixels` of n images and, if the preset has them, n negative ones; `tokens` of n captions, n negatives and n hard
    positives."""

    count: int
    pixels: torch.Tensor
    tokens: torch.Tensor


class Towers(torch.nn.Module):
    """The two encoders as one module, so that accelerate can prepare it. `part`: rows computed at once; if not all fit,
    their activations are recomputed for the gradients."""

    def __init__(self, model: open_clip.CLIP, finish: Callable, part: int):
        super().__init__()
        self.model, self.finish, self.part = model, finish, part

    def forward(self, pixels: torch.Tensor, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return length-1 vectors of the images and of the captions, and the temperature."""
        images = self.encode(lambda part: self.model.encode_image(self.finish(part)), pixels)
        texts = self.encode(self.model.encode_text, tokens)
        return images, texts, self.model.logit_scale.float().exp()

    def encode(self, encode: Callable, rows: torch.Tensor) -> torch.Tensor:
        if len(rows) <= self.part:
            found = encode(rows)
        else:
            found = torch.cat([recomputed(encode, part, use_reentrant=False) for part in rows.split(self.part)])
        return functional.normalize(found.float(), dim=-1)


class EncoderTrainer:
    """See workers.models.training_task.Trainer."""

    def __init__(self, task: Task):
        self.task, self.settings, self.preset = task, task.settings, PRESETS[task.settings.preset]
        place, own = os.environ.get("LOCAL_RANK"), task.device in {"auto", "cuda"} and torch.cuda.is_available()
        self.clip = clip.load(task.model, f"cuda:{place}" if place and own else task.device)
        self.key = task.key(self.clip.loaded.fingerprint)
        self.checkpoints = Checkpoints(task.folder / self.key)
        self.model, self.device = self.clip.model, self.clip.device
        for weight in self.model.parameters():
            weight.requires_grad_(True)
        half = devices.precision(self.device) == "float16"
        if self.device.type == "cuda":
            os.environ.setdefault("ACCELERATE_TORCH_DEVICE", str(self.device))
        self.accelerator = accelerate.Accelerator(
            mixed_precision="fp16" if half else "no", cpu=self.device.type == "cpu"
        )
        towers = Towers(self.model, self.clip.finish, max(3 * self.settings.batch, 1))
        self.towers, self.optimizer = self.accelerator.prepare(towers, self._optimizer())
        self.rates = (self.settings.rate, *self.settings.rates)
        self.base = plain(self.model.state_dict()) if self.settings.rates else {}
        self.batches = math.ceil(len(task.train) / self.settings.batch)
        self.plot = Plot(Curve(self.batches * self.settings.all_epochs))
        self.epoch = self.step = 0  # epochs done, over all rates, and steps of the current one
        self.best: tuple[float, int] = (-1.0, 0)  # accuracy, after how many epochs
        self.similar: dict[str, list[str]] = {}  # image → the images most similar to it
        self.places: dict[str, list[int]] = defaultdict(list)  # image → its items
        for number, one in enumerate(task.train):
            self.places[one.image].append(number)

    def _optimizer(self) -> torch.optim.Optimizer:
        """Make AdamW. Biases, gains and the temperature do not decay, as in open_clip."""
        weights = list(self.model.named_parameters())
        without = [w for name, w in weights if w.ndim < 2 or "bias" in name or "ln" in name or "logit_scale" in name]
        named = {id(weight) for weight in without}
        groups = [
            {"params": without, "weight_decay": 0.0},
            {"params": [w for _, w in weights if id(w) not in named], "weight_decay": self.settings.decay},
        ]
        return torch.optim.AdamW(groups, lr=0.0, betas=self.settings.betas, eps=self.settings.epsilon)

    # The loop

    def run(self, watch: Watch) -> Trained:
        main = self.accelerator.is_main_process
        with self.checkpoints.locked() if main else nullcontext(), reproducible(self.device, self.settings.seed):
            if self.settings.neighbours:
                watch.begin("comparing images", None)
                self.similar = self._similar()
            self._resume()
            self.accelerator.wait_for_everyone()  # before the main process writes
            curve, epochs = self.plot.curve, self.settings.all_epochs
            if self.epoch < epochs:
                ends = epochs - self.epoch  # the end of an epoch, with its validation, also counts as a step
                watch.begin("training", curve.steps - self.epoch * self.batches - self.step + ends)
            while self.epoch < epochs:
                self._train_epoch(watch)
                self._end_epoch()
                watch.step(curve)
        self.accelerator.wait_for_everyone()
        accuracy, epoch = self.best
        facts = {
            "processes": self.accelerator.num_processes, "device": str(self.device),
            "precision": self.clip.loaded.precision, "versions": versions(), "base": self.clip.loaded.fingerprint,
        }  # fmt: skip
        if self.settings.rates:
            facts |= {"rate": self.rates[(epoch - 1) // self.settings.epochs], "rates": self._best_of_rates()}
        of_rate = (epoch - 1) % self.settings.epochs + 1
        return Trained(sha256(self._best_file(epoch)) if main else "", accuracy, of_rate, curve, facts)

    def _best_of_rates(self) -> list[list[float]]:
        """Return each rate with its highest accuracy."""
        found, each = [one for _, one in self.plot.curve.accuracies], self.settings.epochs
        return [[rate, max(found[place * each : (place + 1) * each])] for place, rate in enumerate(self.rates)]

    def _train_epoch(self, watch: Watch) -> None:
        self.towers.train()
        steps, epochs = self.batches, self.settings.epochs
        if self.epoch and not self.step and self.epoch % epochs == 0:  # the next rate starts where the first did
            self.model.load_state_dict(self.base)
            self.optimizer.state.clear()
        for batch in self._batches():
            place = self.epoch % epochs * steps + self.step
            peak = self.rates[self.epoch // epochs]
            loss = self._learn(batch, rate_at(place, epochs * steps, peak, self.settings.warmup), watch)
            self.step += 1
            self.plot.add(self.epoch * steps + self.step, loss)
            if self.step % EVERY == 0 and self.step < steps:
                self._save()
            watch.step(self.plot.curve)

    def _end_epoch(self) -> None:
        self.epoch, self.step = self.epoch + 1, 0
        accuracy = self.validate()
        self.plot.curve.accuracies.append([self.epoch * self.batches, accuracy])
        if accuracy > self.best[0]:
            self.best = accuracy, self.epoch
            if self.accelerator.is_main_process:
                write(self._best_file(self.epoch), lambda path: save_file(plain(self.model.state_dict()), path))
        self._save()
        for old in self.checkpoints.folder.glob("best-*.safetensors") if self.accelerator.is_main_process else ():
            if old != self._best_file(self.best[1]):
                old.unlink()

    def _learn(self, batch: Batch, rate: float, watch: Watch) -> float:
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        while True:
            try:
                loss = self._gradients(batch)
                break
            except RuntimeError as error:
                if not devices.out_of_memory(error):
                    raise
                self.optimizer.zero_grad()
                self._halve(batch, watch, error)
        self.optimizer.step()
        self.optimizer.zero_grad()
        with torch.no_grad():
            self.model.logit_scale.clamp_(0, HOTTEST)
        return loss

    def _gradients(self, batch: Batch) -> float:
        with self.accelerator.autocast():
            images, texts, scale = self.towers(self._own(batch.pixels), self._own(batch.tokens))
        images, texts = self._gathered(images, len(batch.pixels)), self._gathered(texts, len(batch.tokens))
        loss = self._loss(batch.count, images, texts, scale)
        self.accelerator.backward(loss)
        return loss.item()

    def _own(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the rows that this process computes, on its device: equally many, so the last may repeat one."""
        among, each = self.accelerator.num_processes, math.ceil(len(rows) / self.accelerator.num_processes)
        if among > 1:
            first = self.accelerator.process_index * each
            rows = rows[torch.arange(first, first + each).clamp(max=len(rows) - 1)]
        return rows.to(self.device)

    def _gathered(self, vectors: torch.Tensor, count: int) -> torch.Tensor:
        """Return the vectors of all processes, in order: each computes the loss of the whole batch."""
        if self.accelerator.num_processes == 1:
            return vectors
        return torch.cat(all_gather(vectors))[:count]

    def _halve(self, batch: Batch, watch: Watch, error: Exception) -> None:
        """Compute fewer rows at once; the batch and its loss stay the same."""
        towers = self.accelerator.unwrap_model(self.towers)
        if towers.part == 1 or self.accelerator.num_processes > 1:  # the other processes would wait for this one
            raise no_memory() from error
        towers.part = max(1, min(towers.part, len(batch.pixels)) // 2)
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        watch.say(
            f"Memory ran out with the whole batch at once, so each batch was computed {towers.part:,} rows at a time."
        )

    def _loss(self, n: int, images: torch.Tensor, texts: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        own, shown = texts[:n], images[:n]
        if IMAGE in self.preset.needs:
            return losses.with_negative_pairs(shown, own, images[n:], texts[n:], scale)
        negatives, positives = texts[n : 2 * n], texts[2 * n :]
        only_positives = SECOND in self.preset.needs and not self.settings.hard_negative
        loss = losses.with_negative_texts(shown, own, negatives[:0] if only_positives else negatives, scale)
        if self.settings.hard_negative:
            loss = loss + self.settings.hard_negative * losses.hard_negative(shown, own, negatives, scale)
        if self.settings.hard_positive:
            loss = loss + self.settings.hard_positive * losses.hard_positive(shown, own, positives, scale)
        return loss

    # The batches

    def _similar(self) -> dict[str, list[str]]:
        """Map each image to its most similar ones under the base model, which this still is (ARO §4, C.2)."""
        self.towers.eval()
        names = sorted({one.image for one in self.task.train})
        rows = vectors(names, lambda asked: self.clip.images(map(self.task.open_image, asked)))
        found = nearest(np.stack([rows[name] for name in names]), self.settings.neighbours)
        among = [{name: [names[one] for one in near] for name, near in zip(names, found, strict=True)}]
        if self.accelerator.num_processes > 1:  # all need the same batches, and devices may round differently
            accelerate.utils.broadcast_object_list(among)
        return among[0]

    def _with_alternatives(self, places: list[int]) -> list[int]:
        """Return the positions, and for each one that of an item with one of its most similar images, unless already
        included: ARO adds the image and its caption to the batch (§4, C.2)."""
        found = dict.fromkeys(places)
        for one in (self.task.train[place] for place in places):
            if near := self.similar.get(one.image):
                image = self._one_of(near, one.key, "alternative")
                found |= {self._one_of(self.places[image], one.key, "its item"): None}
        return list(found)

    def _batches(self) -> Iterator[Batch]:
        """Yield this epoch's remaining batches, prepared ahead on threads."""
        places, size = order(self.task.train, self.settings.seed, self._of_rate), self.settings.batch
        starts = range(self.step * size, len(places), size)
        chosen = [self._with_alternatives(places[start : start + size]) for start in starts]
        with ThreadPoolExecutor(devices.cores(), thread_name_prefix="decode") as pool:
            make = lambda batch: self._batch([self.task.train[place] for place in batch], pool)  # noqa: E731
            for made in prefetched(make, chosen, 1, 1, self.clip.depth):
                yield made[0]

    def _batch(self, examples: list[Example], pool: ThreadPoolExecutor) -> Batch:
        images, texts = [one.image for one in examples], [one.text for one in examples]
        if self.preset.needs:
            texts += [self._chosen(one) for one in examples]
        if IMAGE in self.preset.needs:
            images += [one.negative_image for one in examples]
        if SECOND in self.preset.needs:
            texts += [self._one_of(one.positives, one.key, "positive") for one in examples]
        pixels = pool.map(lambda content: self.clip.pixels(self.task.open_image(content)), images)
        return Batch(len(examples), torch.stack(list(pixels)), self.clip.tokenizer(texts))

    def _chosen(self, example: Example) -> str:
        """Return this epoch's negative caption: any of them, or that of the negative image, if there is one."""
        if IMAGE in self.preset.needs:
            return example.negatives[0]
        return self._one_of(example.negatives, example.key, "negative")

    def _one_of(self, options: Sequence[Option], key: str, what: str) -> Option:
        return options[int.from_bytes(draw(self.settings.seed, self._of_rate, key, what)) % len(options)]

    @property
    def _of_rate(self) -> int:
        """Return the epoch within those of its learning rate: all rates see the same batches."""
        return self.epoch % self.settings.epochs

    # Validation

    def validate(self) -> float:
        """Return the accuracy by which the best weights are chosen (docs/guide/training.md)."""
        self.towers.eval()
        by_retrieval = self.settings.choose == RETRIEVAL
        side, needs = self.task.validation, () if by_retrieval else self.preset.needs
        files = {one.image for one in side} | ({one.negative_image for one in side} if IMAGE in needs else set())
        texts = {one.text for one in side}
        if needs:
            texts |= {text for one in side for text in one.negatives}
        if SECOND in needs:
            texts |= {text for one in side for text in one.positives}
        images = vectors(sorted(files), lambda names: self.clip.images(map(self.task.open_image, names)))
        captions = vectors(sorted(texts), self.clip.texts)
        if not needs:
            return retrieval(side, images, captions, RETRIEVED if by_retrieval else self.settings.batch)
        return sum(self._right(one, images, captions) for one in side) / len(side)

    def _right(self, one: Example, images: dict[str, np.ndarray], texts: dict[str, np.ndarray]) -> float:
        """Return the share of an item's questions answered correctly; a tie does not count."""
        image, text = images[one.image], texts[one.text]
        if IMAGE in self.preset.needs:
            other, wrong = images[one.negative_image], texts[one.negatives[0]]
            own, others = (image @ text, other @ wrong), (image @ wrong, other @ text)
            return sum(float(right > not_right) for right in own for not_right in others) / 4
        least = min([image @ text, *(image @ texts[more] for more in one.positives if SECOND in self.preset.needs)])
        return float(least > max(image @ texts[wrong] for wrong in one.negatives))

    # Checkpoints

    def _best_file(self, epoch: int) -> Path:
        return self.checkpoints.folder / f"best-{epoch}.safetensors"

    def _save(self) -> None:
        if not self.accelerator.is_main_process:
            return
        scaler, cuda = self.accelerator.scaler, self.device.type == "cuda"
        self.checkpoints.save(
            {
                "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "epoch": self.epoch,
                "step": self.step, "best": list(self.best), "plot": self.plot.state(), "random": torch.get_rng_state(),
                "scaler": scaler.state_dict() if scaler else {},
                "random_cuda": torch.cuda.get_rng_state(self.device) if cuda else None,
            }
        )  # fmt: skip

    def _resume(self) -> None:
        state = self.checkpoints.load()
        if state is None:
            return
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.accelerator.scaler and state["scaler"]:
            self.accelerator.scaler.load_state_dict(state["scaler"])
        if state["random_cuda"] is not None and self.device.type == "cuda":
            torch.cuda.set_rng_state(state["random_cuda"], self.device)
        torch.set_rng_state(state["random"])
        self.epoch, self.step, self.best = state["epoch"], state["step"], tuple(state["best"])
        self.plot = Plot.from_state(state["plot"])

    # Afterwards

    def export(self, folder: Path) -> None:
        write_model(folder, self.task.model, load_file(self._best_file(self.best[1])), self.clip)

    def forget(self) -> None:
        self.checkpoints.forget()
