"""Sentence encoders: captions to vectors, named by a folder or a sentence-transformers hub id."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from workers.contents import Contents
from workers.models import device as devices
from workers.models.model_name import ModelName
from workers.models.prefetch import batches
from workers.models.refusals import CannotScore
from workers.models.text_scorer import no_images

BATCH = {"cpu": 32, "mps": 64, "cuda": 256}
CHUNK = 1024  # captions sorted by length together, to reduce padding


def load(model_name: ModelName, device: str) -> "Sentences":
    where = devices.chosen(device)
    with devices.loading(model_name.title):
        if Path(model_name.name).is_dir() and not (Path(model_name.name) / "modules.json").exists():
            advice = "the folder has no modules.json. Give one written by sentence-transformers."
            raise CannotScore("WEIGHTS_WRONG", f"“{model_name.title}” is not a sentence encoder: {advice}")
        model = SentenceTransformer(model_name.name, device="cpu", trust_remote_code=False).eval()
        return Sentences(model, where, model_name.prompt)


class Sentences:
    """A loaded encoder (workers.models.encoder.Encoder). It does not see images. Before each caption it reads the
    `prompt`, or by default the one in its own configuration."""

    def __init__(self, model: SentenceTransformer, device: torch.device, prompt: str = ""):
        tokens = model.tokenizer(devices.SAMPLE)["input_ids"]
        self.prompt = prompt or model.prompts.get(model.default_prompt_name or "") or ""
        told = {"prompt": self.prompt} if self.prompt else {}
        self.loaded = devices.describe(model, device, tokens=tokens, longest=model.max_seq_length, **told)
        self.model, self.device, self.most = model.to(device), device, BATCH[device.type]
        self.reduced_to = None

    def images(self, files: Iterable[Contents]) -> Iterator[np.ndarray]:
        raise no_images()

    def texts(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        for chunk in batches(texts, CHUNK if self.device.type != "cpu" else 4 * self.most):
            with devices.explained("these captions"):
                yield self.vectors(chunk)

    def cut(self, text: str) -> list[int] | None:
        tokens = self.model.tokenizer(self.prompt + text, truncation=False, verbose=False)["input_ids"]
        longest = self.model.max_seq_length
        return tokens[:longest] if longest and len(tokens) > longest else None

    def vectors(self, texts: list[str]) -> np.ndarray:
        found = devices.computed(self.device, lambda: self.encoded(texts))
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def encoded(self, texts: list[str]) -> np.ndarray:
        found = self.model.encode(texts, prompt=self.prompt, batch_size=self.most, show_progress_bar=False)
        return found.astype(np.float32)
