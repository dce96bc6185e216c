"""Language models: how likely a caption is, without its image; named by a folder or a transformers hub id.

The score of a caption is the mean over its tokens of log p(token | the tokens before), natural logarithm. The first
token counts if the model has a token that begins a text. It is a mean because a sum would favour short captions.
"""

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from workers.models import device as devices
from workers.models.checkpoints import checked
from workers.models.model_name import ModelName
from workers.models.refusals import CannotScore
from workers.models.text_scorer import LONGEST, TextScorer

BATCH = {"cpu": 16, "mps": 16, "cuda": 64}


def load(model_name: ModelName, device: str) -> "Language":
    where = devices.chosen(device)
    with devices.loading(model_name.title):
        check_predicts(model_name.name, model_name.title)
        model = checked(AutoModelForCausalLM, model_name.name, model_name.title)
        return Language(model, AutoTokenizer.from_pretrained(model_name.name, trust_remote_code=False), where)


def check_predicts(name: str, title: str) -> None:
    """Raise CannotScore (WEIGHTS_WRONG) if the model of that id or folder does not predict the next token."""
    made_for = " ".join(AutoConfig.from_pretrained(name, trust_remote_code=False).architectures or ())
    if "CausalLM" not in made_for and "LMHead" not in made_for:
        advice = f"it is {made_for or 'of no stated kind'}. Choose one whose config names a …ForCausalLM."
        raise CannotScore("WEIGHTS_WRONG", f"“{title}” does not predict the next token: {advice}")


class Language(TextScorer):
    """A loaded model (workers.models.encoder.Encoder). It does not see images."""

    special = False

    def __init__(self, model: torch.nn.Module, tokenizer, device: torch.device):
        ends = (tokenizer.bos_token_id, tokenizer.eos_token_id)
        self.first = next((token for token in ends if token is not None), None)
        super().__init__(model, tokenizer, device, BATCH[device.type], first=self.first)

    def rows(self, texts: list[str]) -> list[list[int]]:
        """Return at least two tokens each, so that something is predicted."""
        # Not truncated by the tokenizer, because some truncate on the left
        found = [self.tokenizer(text, add_special_tokens=False)["input_ids"][:LONGEST] for text in texts]
        found = [row if self.first is None else [self.first, *row] for row in found]
        return [row if len(row) > 1 else row * 2 for row in found]

    def numbers(self, ids: torch.Tensor, there: torch.Tensor) -> np.ndarray:
        logits = self.model(input_ids=ids, attention_mask=there).logits[:, :-1].float()
        likelihoods = torch.log_softmax(logits, dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
        counted = there[:, 1:]
        sums = likelihoods.masked_fill(counted == 0, 0).sum(1, keepdim=True)
        return (sums / counted.sum(1, keepdim=True)).float().cpu().numpy()
