"""VQAScore: an image-text model is asked whether the image shows the caption; named by a folder or a hub id.

The score of a pair is the natural logarithm of P(yes), the probability that the model's answer begins with “yes”. Close
to 1, logarithms still distinguish pairs that would tie as float32 probabilities.
"""

from contextlib import suppress
from typing import Any

import torch
from PIL.Image import Image
from transformers import AutoConfig, AutoModelForImageTextToText, AutoProcessor
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as KNOWN

from workers.models import device as devices
from workers.models.checkpoints import checked
from workers.models.model_name import ModelName
from workers.models.pairs import Pairs, sample_image
from workers.models.refusals import CannotScore

PROMPT = 'Does this figure show "{caption}"? Answer yes or no.'
YES, NO = ("Yes", "yes", "YES", " Yes", " yes"), ("No", "no", "NO", " No", " no")


def load(model_name: ModelName, device: str) -> "Asked":
    where = devices.chosen(device)
    with devices.loading(model_name.title):
        config = AutoConfig.from_pretrained(model_name.name, trust_remote_code=False)
        if config.model_type not in KNOWN:
            advice = "Choose one that transformers loads for image-text-to-text."
            raise CannotScore("WEIGHTS_WRONG", f"“{model_name.title}” does not answer questions about images. {advice}")
        processor = AutoProcessor.from_pretrained(model_name.name, trust_remote_code=False)
        return Asked(
            checked(AutoModelForImageTextToText, model_name.name, model_name.title), processor, model_name, where
        )


class Asked(Pairs):
    """A loaded model (workers.models.encoder.PairScorer)."""

    def __init__(self, model: torch.nn.Module, processor, model_name: ModelName, device: torch.device):
        self.processor, self.lead = processor, ""
        config: Any = model.config
        decodes_apart = config.is_encoder_decoder or config.get_text_config().is_encoder_decoder
        processor.tokenizer.padding_side = "right" if decodes_apart else "left"  # left: the answer follows the row
        self.yes = sorted(self.firsts(YES) - self.firsts(NO) - {processor.tokenizer.unk_token_id})
        if not self.yes:
            advice = "its tokenizer begins “yes” and “no” with the same token."
            raise CannotScore("WEIGHTS_WRONG", f"“{model_name.title}” cannot answer with one token: {advice}")
        self.lead = self.image_lead()
        super().__init__(model, device, yes=self.yes)

    def image_lead(self) -> str:
        """The image placeholder at the beginning of a prompt, for models without a chat template; some processors add
        it themselves."""
        token = str(getattr(self.processor, "image_token", None) or "")
        if not token or getattr(self.processor, "chat_template", None):
            return ""
        with suppress(ValueError):  # raised by processors that miss it
            tokens = self.inputs([sample_image()], [devices.SAMPLE])["input_ids"]
            if self.processor.tokenizer.convert_tokens_to_ids(token) in tokens:
                return ""
        return f"{token}\n"

    def firsts(self, words: tuple[str, ...]) -> set[int]:
        """Return the tokens with which an answer can begin."""
        found = (self.processor.tokenizer(word, add_special_tokens=False)["input_ids"] for word in words)
        return {tokens[0] for tokens in found if tokens}

    def inputs(self, images: list[Image], texts: list[str]) -> dict:
        nested = [[image] for image in images]  # one list per question: also works for models that accept several
        prompts = [self.prompt(text) for text in texts]
        begin = getattr(getattr(self.processor, "tokenizer", None), "bos_token", None)
        there = {"add_special_tokens": False} if begin and prompts[0].startswith(begin) else {}  # not a second one
        return dict(self.processor(images=nested, text=prompts, padding=True, return_tensors="pt", **there))

    def prompt(self, caption: str) -> str:
        """Return the prompt in the model's chat template, if it has one."""
        question = PROMPT.format(caption=caption)
        if getattr(self.processor, "chat_template", None):
            said = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": question}]}]
            return self.processor.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        return self.lead + question

    def log_probabilities(self, inputs: dict) -> torch.Tensor:
        """Use one step of generation, which every kind of model has, with or without an encoder."""
        made = self.model.generate(  # type: ignore[operator]
            **inputs, max_new_tokens=1, do_sample=False, output_logits=True, return_dict_in_generate=True
        )
        return torch.log_softmax(made.logits[0].float(), dim=-1)[:, self.yes].logsumexp(dim=-1)
