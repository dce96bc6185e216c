"""Classifiers of captions: how plausible or how grammatical a caption is, from 0 to 1; by a folder or a hub id.

A sequence classifier of transformers gives the probability of its second label, as CoLA's models order theirs
(unacceptable, acceptable); with one label, its sigmoid. A T5 encoder without a head is read as Vera is published: the
weights, bias and temperature of its head are in rows of the embedding that no text uses.
"""

import warnings
from collections.abc import Iterable, Iterator

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, T5EncoderModel

from workers.contents import Contents
from workers.models import device as devices
from workers.models.checkpoints import checked
from workers.models.halving import Halving
from workers.models.model_name import ModelName
from workers.models.prefetch import batches
from workers.models.refusals import CannotScore

BATCH = {"cpu": 16, "mps": 32, "cuda": 128}
LONGEST = 512  # tokens of a caption
SAMPLE = "The quick brown fox jumps over 13 lazy dogs, café-style."
WEIGHT, BIAS, TEMPERATURE = 32_099, 32_098, 32_097  # rows of Vera's embedding


def load(model_name: ModelName, device: str) -> "Classifier":
    where = devices.chosen(device)
    with devices.explained(model_name.title), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = AutoConfig.from_pretrained(model_name.name, trust_remote_code=False)
        made_for = " ".join(config.architectures or ())
        tokenizer = AutoTokenizer.from_pretrained(model_name.name, trust_remote_code=False)
        if made_for == "T5EncoderModel" and config.vocab_size > WEIGHT:
            return Classifier(checked(T5EncoderModel, model_name.name, model_name.title), tokenizer, where)
        if "SequenceClassification" not in made_for or config.num_labels > 2:
            advice = (
                f"it is {made_for or 'of no stated kind'} with {config.num_labels} labels. Choose one with one or two."
            )
            raise CannotScore("WEIGHTS_WRONG", f"“{model_name.title}” does not classify captions: {advice}")
        return Classifier(
            checked(AutoModelForSequenceClassification, model_name.name, model_name.title), tokenizer, where
        )


class Classifier(Halving):
    """A loaded model (workers.models.encoder.Encoder): vectors of one dimension. It sees no images."""

    def __init__(self, model: torch.nn.Module, tokenizer, device: torch.device):
        super().__init__(BATCH[device.type])
        self.loaded = devices.describe(model.eval(), device, tokens=tokenizer(SAMPLE)["input_ids"], score="probability")
        self.model, self.tokenizer, self.device = model.to(device), tokenizer, device

    def images(self, files: Iterable[Contents]) -> Iterator[np.ndarray]:
        raise CannotScore("TEXT_ALONE", "This model reads only captions.")

    def texts(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        for batch in batches(texts, self.most):
            with devices.explained("these captions"):
                yield np.concatenate(self.parts(batch, self.scores, "one caption at a time"))

    def cut(self, text: str) -> list[int] | None:
        tokens = self.tokenizer(text, verbose=False)["input_ids"]
        return tokens[:LONGEST] if len(tokens) > LONGEST else None

    def scores(self, texts: list[str]) -> np.ndarray:
        """Shape (len(texts), 1), from 0 to 1."""
        rows = self.tokenizer(texts, truncation=True, max_length=LONGEST)["input_ids"]
        width, padding = max(map(len, rows)), self.tokenizer.pad_token_id or 0
        ids = torch.tensor([row + [padding] * (width - len(row)) for row in rows], device=self.device)
        there = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=self.device)
        return devices.computed(self.device, lambda: self.probabilities(ids, there))

    def probabilities(self, ids: torch.Tensor, there: torch.Tensor) -> np.ndarray:
        if isinstance(self.model, T5EncoderModel):
            hidden = self.model(input_ids=ids, attention_mask=there).last_hidden_state.float()
            last = hidden[torch.arange(len(ids), device=ids.device), there.sum(1) - 1]
            head = self.model.shared.weight.float()
            logits = (last @ head[WEIGHT] + head[BIAS, 0]) / head[TEMPERATURE, 0]
            return torch.sigmoid(logits)[:, None].cpu().numpy()
        logits = self.model(input_ids=ids, attention_mask=there).logits.float()
        found = torch.sigmoid(logits) if logits.shape[1] == 1 else torch.softmax(logits, dim=-1)[:, 1:]
        return found.cpu().numpy()
