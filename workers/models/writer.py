"""Language models that write, on this machine: causal transformers models, named by a folder or a hub id.

A token is drawn by adding Gumbel noise to the logits and taking the largest, which is equivalent to sampling from the
softmax. Each question has its own noise, from the seed and its key, so an answer does not depend on the other questions
in its batch.
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import jinja2
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, LogitsProcessor

from workers.models import device as devices
from workers.models.chat import Answer, ChatName, Keep, Message, Question, Step, Unanswered
from workers.models.checkpoints import checked
from workers.models.halving import Halving
from workers.models.language import check_predicts
from workers.models.model_name import versions

BATCH = {"cpu": 4, "mps": 8, "cuda": 32}
TOO_LONG = "the prompt and its answer are longer than the model’s context"
PICTURES = "this model reads only text"


def load(name: ChatName) -> "Writer":
    """Load it. Raises CannotScore: MODEL_UNKNOWN, MODEL_UNREACHABLE, WEIGHTS_WRONG, DEVICE_MISSING, OUT_OF_MEMORY."""
    where = devices.chosen(name.device)
    title = Path(name.model).name if Path(name.model).is_absolute() else name.model
    with devices.loading(title):
        check_predicts(name.model, title)
        model = checked(AutoModelForCausalLM, name.model, title, dtype="auto")
        return Writer(title, model, AutoTokenizer.from_pretrained(name.model, trust_remote_code=False), where)


class Writer(Halving):
    """A loaded model (workers.models.chat.ChatModel)."""

    def __init__(self, title: str, model: Any, tokenizer, device: torch.device):
        super().__init__(BATCH[device.type])
        self.tokenizer, self.device = tokenizer, device
        described = devices.describe(model, device, template=tokenizer.chat_template, tokens=tokenizer(title).input_ids)
        self.identity = described.fingerprint
        self.facts: dict[str, Any] = {
            "model": title, "weights": self.identity, "precision": str(model.dtype).removeprefix("torch."),
            "device": described.device, "versions": {name: versions()[name] for name in ("torch", "transformers")},
        }  # fmt: skip
        self.model = model.to(device)
        self.context = getattr(model.config, "max_position_embeddings", None)
        own = model.generation_config.eos_token_id
        ends = own if own is not None else tokenizer.eos_token_id
        self.ends: list[int] = ends if isinstance(ends, list) else [ends] * (ends is not None)

    def ask(self, questions: Iterable[Question], keep: Keep, step: Step) -> None:
        """See ChatModel.ask."""
        for _, alike in groupby(questions, key=lambda question: question.settings):
            while batch := list(islice(alike, self.most)):  # which may shrink
                for question, answer in zip(batch, self.answers(batch), strict=True):
                    keep(question, answer)
                step(len(batch))

    def answers(self, questions: list[Question]) -> list[Answer | Unanswered]:
        """Answer `questions`, which have the same settings."""
        rows = [self._tokens(question) for question in questions]
        fit = [place for place, row in enumerate(rows) if not isinstance(row, Unanswered)]
        found: list[Answer | Unanswered] = [row if isinstance(row, Unanswered) else Unanswered("") for row in rows]
        with devices.explained("these prompts"):
            made = self.parts([(questions[at], rows[at]) for at in fit], self._generate, "one question at a time")
        if self.reduced_to:
            self.facts["batch"] = f"halved to {self.reduced_to} when memory ran out"
        for place, answer in zip(fit, (answer for part in made for answer in part), strict=True):
            found[place] = answer
        return found

    def _tokens(self, question: Question) -> list[int] | Unanswered:
        if any(not isinstance(message["content"], str) for message in question.messages):
            return Unanswered(PICTURES)
        row = self._prompt(question.messages)
        if self.context and len(row) + question.settings.max_tokens > self.context:
            return Unanswered(TOO_LONG)
        return row

    def _prompt(self, messages: Sequence[Message]) -> list[int]:
        """Apply the model's chat template; without one, join the texts."""
        if not self.tokenizer.chat_template:
            text = "\n\n".join(str(message["content"]) for message in messages)
            return self.tokenizer(f"{text}\n").input_ids
        try:
            text = self._in_template(messages)
        except jinja2.TemplateError:  # some templates do not accept a system message
            joined = "\n\n".join(str(message["content"]) for message in messages)
            text = self._in_template([{"role": "user", "content": joined}])
        return self.tokenizer(text, add_special_tokens=False).input_ids

    def _in_template(self, messages: Sequence[Message]) -> str:
        return self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)

    def _generate(self, asked: list[tuple[Question, list[int]]]) -> list[Answer]:
        settings, width = asked[0][0].settings, max(len(row) for _, row in asked)
        padding = self.tokenizer.pad_token_id
        padding = padding if padding is not None else (self.ends or [0])[0]
        ids = torch.tensor([[padding] * (width - len(row)) + row for _, row in asked], device=self.device)
        there = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for _, row in asked], device=self.device)
        how = GenerationConfig(
            max_new_tokens=settings.max_tokens, do_sample=False, num_beams=1, pad_token_id=padding,
            eos_token_id=self.ends or None,
        )  # fmt: skip
        noise = [Noise(settings.temperature, [_seed(question) for question, _ in asked])] * bool(settings.temperature)
        with torch.inference_mode():
            made = self.model.generate(
                input_ids=ids, attention_mask=there, generation_config=how, logits_processor=noise
            )
        return [self._answer(row, new) for (_, row), new in zip(asked, made[:, width:].tolist(), strict=True)]

    def _answer(self, prompt: list[int], new: list[int]) -> Answer:
        end = next((place for place, token in enumerate(new) if token in self.ends), None)
        written = new if end is None else new[:end]
        text = self.tokenizer.decode(written, skip_special_tokens=True).strip().replace("\0", "")
        return Answer(text, "length" if end is None else "stop", len(prompt), len(written) + (end is not None))


def _seed(question: Question) -> int:
    digest = hashlib.sha256(f"{question.settings.seed}/{question.key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


class Noise(LogitsProcessor):
    """Gumbel noise for each row, from its own generator."""

    def __init__(self, temperature: float, seeds: list[int]):
        self.temperature, self.generators = temperature, [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        drawn = [torch.rand(scores.shape[1], generator=one, dtype=torch.float64) for one in self.generators]
        uniform = torch.stack(drawn).clamp(min=1e-300, max=1 - 1e-16)
        noise = -torch.log(-torch.log(uniform))
        return scores.float() / self.temperature + noise.float().to(scores.device)
