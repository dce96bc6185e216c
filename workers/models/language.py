"""Language models: how likely a caption is, without its image; by a folder or a hub id of transformers.

The score of a caption is the mean over its tokens of log p(token | the tokens before), natural logarithm. The first
token counts where the model has a token that begins a text. The mean, not the sum: a sum would prefer short captions.
"""

import warnings
from collections.abc import Iterable, Iterator

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from workers.contents import Contents
from workers.models import device as devices
from workers.models.checkpoints import checked
from workers.models.halving import Halving
from workers.models.model_name import ModelName
from workers.models.prefetch import batches
from workers.models.refusals import CannotScore

BATCH = {"cpu": 16, "mps": 16, "cuda": 64}
LONGEST = 512  # tokens of a caption
SAMPLE = "The quick brown fox jumps over 13 lazy dogs, café-style."


def load(model_name: ModelName, device: str) -> "Language":
    where = devices.chosen(device)
    with devices.explained(model_name.title), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_predicts(model_name.name, model_name.title)
        model = checked(AutoModelForCausalLM, model_name.name, model_name.title)
        return Language(model, AutoTokenizer.from_pretrained(model_name.name, trust_remote_code=False), where)


def check_predicts(name: str, title: str) -> None:
    """CannotScore: WEIGHTS_WRONG, if the model of that id or folder does not predict the next token."""
    made_for = " ".join(AutoConfig.from_pretrained(name, trust_remote_code=False).architectures or ())
    if "CausalLM" not in made_for and "LMHead" not in made_for:
        advice = f"it is {made_for or 'of no stated kind'}. Choose one whose config names a …ForCausalLM."
        raise CannotScore("WEIGHTS_WRONG", f"“{title}” does not predict the next token: {advice}")


class Language(Halving):
    """A loaded model (workers.models.encoder.Encoder): vectors of one dimension. It sees no images."""

    def __init__(self, model: torch.nn.Module, tokenizer, device: torch.device):
        super().__init__(BATCH[device.type])
        ends = (tokenizer.bos_token_id, tokenizer.eos_token_id)
        self.first = next((token for token in ends if token is not None), None)
        tokens = tokenizer(SAMPLE, add_special_tokens=False)["input_ids"]
        self.loaded = devices.describe(model, device, tokens=tokens, first=self.first)
        self.model, self.tokenizer, self.device = model.to(device), tokenizer, device

    def images(self, files: Iterable[Contents]) -> Iterator[np.ndarray]:
        raise CannotScore("TEXT_ALONE", "This model reads only captions.")

    def texts(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        for batch in batches(texts, self.most):
            with devices.explained("these captions"):
                yield np.concatenate(self.parts(batch, self.scores, "one caption at a time"))

    def scores(self, texts: list[str]) -> np.ndarray:
        """Shape (len(texts), 1)."""
        rows = [self.tokens(text) for text in texts]
        width = max(map(len, rows))
        ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], device=self.device)
        there = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=self.device)
        return devices.computed(self.device, lambda: self.means(ids, there))

    def means(self, ids: torch.Tensor, there: torch.Tensor) -> np.ndarray:
        """Both of shape (texts, tokens); `there` is 1 where there is a token, 0 where a row is padded."""
        logits = self.model(input_ids=ids, attention_mask=there).logits[:, :-1].float()
        likelihoods = torch.log_softmax(logits, dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
        counted = there[:, 1:]
        sums = likelihoods.masked_fill(counted == 0, 0).sum(1, keepdim=True)
        return (sums / counted.sum(1, keepdim=True)).float().cpu().numpy()

    def cut(self, text: str) -> list[int] | None:
        tokens = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return tokens[:LONGEST] if len(tokens) > LONGEST else None

    def tokens(self, text: str) -> list[int]:
        """At least two, so that something is predicted."""
        found = self.tokenizer(text, add_special_tokens=False)["input_ids"][:LONGEST]
        found = found if self.first is None else [self.first, *found]
        return found if len(found) > 1 else found * 2
