"""Caption classifiers: how plausible or grammatical a caption is, from 0 to 1; named by a folder or a hub id.

A transformers sequence classifier returns the probability of its second label, as ordered in CoLA models (unacceptable,
acceptable); with one label, its sigmoid. A T5 encoder without a head is read like the published Vera: the weights, bias
and temperature of its head are in rows of the embedding that texts do not use.
"""

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, T5EncoderModel

from workers.models import device as devices
from workers.models.checkpoints import checked
from workers.models.model_name import ModelName
from workers.models.refusals import CannotScore
from workers.models.text_scorer import LONGEST, TextScorer

BATCH = {"cpu": 16, "mps": 32, "cuda": 128}
WEIGHT, BIAS, TEMPERATURE = 32_099, 32_098, 32_097  # rows of Vera's embedding


def load(model_name: ModelName, device: str) -> "Classifier":
    where = devices.chosen(device)
    with devices.loading(model_name.title):
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


class Classifier(TextScorer):
    """A loaded model (workers.models.encoder.Encoder): scores from 0 to 1. It does not see images."""

    def __init__(self, model: torch.nn.Module, tokenizer, device: torch.device):
        super().__init__(model.eval(), tokenizer, device, BATCH[device.type], score="probability")
        self.padding = tokenizer.pad_token_id or 0  # sequence classifiers find the last token by it

    def rows(self, texts: list[str]) -> list[list[int]]:
        return self.tokenizer(texts, truncation=True, max_length=LONGEST)["input_ids"]

    def numbers(self, ids: torch.Tensor, there: torch.Tensor) -> np.ndarray:
        if isinstance(self.model, T5EncoderModel):
            hidden = self.model(input_ids=ids, attention_mask=there).last_hidden_state.float()
            last = hidden[torch.arange(len(ids), device=ids.device), there.sum(1) - 1]
            head = self.model.shared.weight.float()
            logits = (last @ head[WEIGHT] + head[BIAS, 0]) / head[TEMPERATURE, 0]
            return torch.sigmoid(logits)[:, None].cpu().numpy()
        logits = self.model(input_ids=ids, attention_mask=there).logits.float()
        found = torch.sigmoid(logits) if logits.shape[1] == 1 else torch.softmax(logits, dim=-1)[:, 1:]
        return found.cpu().numpy()
