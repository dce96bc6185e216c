"""The interface of models that answer in words: a chat endpoint, or a language model on this machine.

Importing this does not import torch or an HTTP client.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from workers.models.model_name import LONGEST, check_device
from workers.models.refusals import CannotScore

Message = Mapping[str, object]  # {"role": …, "content": a text, or a list of parts, perhaps with images}
CHARACTERS_PER_TOKEN = 4  # of English, roughly: for estimates
IMAGE_TOKENS = 1_000  # for an image in a message, roughly
LONGEST_ADDRESS = 300


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model writes. `temperature` 0 takes the likeliest token; `seed` makes other sampling repeatable."""

    temperature: float = 0.0
    max_tokens: int = 256
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """`key`: the hash of model, messages and settings under which the answer is stored (`key_of`)."""

    key: str
    messages: Sequence[Message]
    settings: Settings


@dataclass(frozen=True, slots=True)
class Answer:
    """`finish`: why the model stopped, in chat endpoints' terms: stop, length, content_filter, refusal. `facts`:
    further information about itself (JSON values)."""

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The model did not give a usable answer to this question; `reason` is a phrase, to be counted."""

    reason: str


Keep = Callable[[Question, Answer | Unanswered], None]
Step = Callable[[int], None]


class ChatModel(Protocol):
    """A model that is ready to answer. `identity` is unique: an address and a name, or the hash of the weights. `facts`
    is stored with its answers (JSON values).

    `ask` calls `keep` for each question as soon as it has its answer, then `step(1)`; while it waits, `step(0)`. An
    exception from `step` stops it, once answers still in flight have arrived and been kept. Raises CannotScore if the
    model cannot continue.
    """

    identity: str
    facts: dict[str, Any]

    def ask(self, questions: Iterable[Question], keep: Keep, step: Step) -> None: ...


@dataclass(frozen=True, slots=True)
class ChatName:
    """A requested chat model: `model` at the endpoint `address`, or without one a hub id or a folder."""

    model: str
    address: str = ""
    device: str = "auto"
    parallel: int = 4  # questions in flight to an endpoint at once
    timeout: float = 120.0  # seconds within which an endpoint must answer


def checked_name(name: ChatName) -> ChatName:
    """Return the name if it is valid. Raises CannotScore: MODEL_UNCLEAR, ENDPOINT_UNCLEAR, DEVICE_UNKNOWN.

    An address with a password or a query is refused, because it would be stored with the job.
    """
    if not name.model.strip() or len(name.model) > LONGEST or not name.model.isprintable():
        raise CannotScore("MODEL_UNCLEAR", "Enter the name of the model that writes.")
    if name.address:
        advice = "Enter the endpoint's address up to the version, for example https://api.example.org/v1."
        try:
            parts = urlsplit(name.address)
            _ = parts.port  # raises ValueError too, if invalid
        except ValueError as error:
            raise CannotScore("ENDPOINT_UNCLEAR", advice) from error
        plain = len(name.address) <= LONGEST_ADDRESS and name.address.isprintable() and " " not in name.address
        if not plain or parts.scheme not in ("http", "https") or not parts.hostname:
            raise CannotScore("ENDPOINT_UNCLEAR", advice)
        if parts.username or parts.password or parts.query or parts.fragment:
            advice = "Enter the endpoint's address without a password or a query. Set its key as WINNOW_LLM_KEY."
            raise CannotScore("ENDPOINT_UNCLEAR", advice)
    check_device(name.device)
    return name


def key_of(identity: str, messages: Iterable[Message], settings: Settings) -> str:
    """Return the hash under which the answer to these messages is stored."""
    asked = {"model": identity, "messages": list(messages), "settings": asdict(settings)}
    return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def endpoint_identity(name: ChatName) -> str:
    """Return the identity of an endpoint's model, known before anything is asked."""
    return f"{name.address.rstrip('/')} {name.model}"


def estimated_tokens(content: object) -> int:
    """Estimate the tokens of a message's content, without the model's tokenizer."""
    if isinstance(content, str):
        return -(-len(content) // CHARACTERS_PER_TOKEN)
    parts = content if isinstance(content, list) else []
    return sum(estimated_tokens(part["text"]) if "text" in part else IMAGE_TOKENS for part in parts)
