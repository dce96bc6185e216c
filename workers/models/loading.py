"""Loading models, and the only way to the modules that import torch or an HTTP client.

Importing this imports neither: each kind of model has a module, which is imported when such a model is requested.
"""

import importlib
import os
from collections.abc import Iterable
from types import ModuleType

from workers.models.chat import ChatModel, ChatName, checked_name
from workers.models.encoder import Encoder, Painter, PairScorer
from workers.models.model_name import ModelName, PipelineName, check_device
from workers.models.presets import PRESETS
from workers.models.refusals import CannotScore
from workers.models.training_task import Task, Trainer

MODULES = {
    "open_clip": "workers.models.clip",
    "sentence": "workers.models.sentences",
    "language": "workers.models.language",
    "classifier": "workers.models.classifier",
    "detector": "workers.models.detector",
    "vqa": "workers.models.vqa",
    "itm": "workers.models.itm",
}
INSTALL = "Install them with `make models` (or `pip install -r requirements/models.lock`), then start the worker again."
QUIET = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "TOKENIZERS_PARALLELISM": "true"}


def load(model_name: ModelName, device: str = "auto") -> Encoder | PairScorer:
    """Load a model that scores. Raises CannotScore with one sentence: TORCH_MISSING, MODEL_UNKNOWN, MODEL_UNREACHABLE,
    WEIGHTS_WRONG, QUICKGELU_MISMATCH, DEVICE_MISSING, OUT_OF_MEMORY."""
    check_device(device)
    return _module(MODULES[model_name.kind]).load(model_name, device)


def load_painter(pipeline: PipelineName, device: str = "auto") -> Painter:
    """Load a text-to-image pipeline. Raises CannotScore like `load`."""
    check_device(device)
    return _module("workers.models.painter").load(pipeline, device)


def load_chat(name: ChatName, keyed: Iterable[str] = ()) -> ChatModel:
    """Load a model that answers in words. `keyed`: the addresses that may receive the key in WINNOW_LLM_KEY.

    Raises CannotScore: TORCH_MISSING, and its module's exceptions.
    """
    checked_name(name)
    if not name.address:
        return _module("workers.models.writer").load(name)
    key = os.environ.get("WINNOW_LLM_KEY", "") if name.address.rstrip("/") in keyed else ""
    return _module("workers.models.endpoint").Endpoint(name, key)


def load_trainer(task: Task) -> Trainer:
    """Load a base model for training. Raises CannotScore like `load`."""
    check_device(task.device)
    if PRESETS[task.settings.preset].detects:
        return _module("workers.models.detector").DetectorTrainer(task)
    return _module("workers.models.encoder_trainer").EncoderTrainer(task)


def _module(name: str) -> ModuleType:
    for variable, value in QUIET.items():
        os.environ.setdefault(variable, value)  # law 8: download, but send no telemetry
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = f"The packages for models are not installed here ({error.name or error})."
        raise CannotScore("TORCH_MISSING", f"{missing} {INSTALL}") from error
