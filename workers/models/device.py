"""A model's device and precision, and its error messages."""

import hashlib
import json
import os
import pickle
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from urllib.request import getproxies

import numpy as np
import torch
from huggingface_hub import constants
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OfflineModeIsEnabled
from safetensors import SafetensorError

from workers.models.encoder import Loaded
from workers.models.model_name import versions
from workers.models.refusals import CannotScore

PIXELS = 1  # version of image decoding before the model's preprocessing; increase it when that changes
SAMPLE = "The quick brown fox jumps over 13 lazy dogs, café-style."  # its tokens are part of a model's fingerprint
NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")
DAMAGED = (pickle.UnpicklingError, SafetensorError, EOFError)
WRONG_FILE = (*DAMAGED, KeyError, AttributeError, TypeError, ValueError, RuntimeError)


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chosen(device: str) -> torch.device:
    """Return the device; auto: the first GPU, or the whole CPU. Raises CannotScore: DEVICE_MISSING."""
    found = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device)
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        there = torch.cuda.device_count()
        raise missing(f"torch finds {there or 'no'} GPU{'s' * (there != 1)} on this machine, not {device}.")
    if found.type == "mps" and not torch.backends.mps.is_available():
        raise missing("This machine has no Apple GPU that torch can use.")
    if found.type == "cpu":
        torch.set_num_threads(cores())
    return found


def missing(advice: str) -> CannotScore:
    return CannotScore("DEVICE_MISSING", f"{advice} Choose auto, or start a worker on a machine with one.")


def precision(device: torch.device) -> str:
    """Return mixed precision on an NVIDIA GPU: float16, whose 11 significant bits separate close captions better."""
    return "float16" if device.type == "cuda" else "float32"


@contextmanager
def computing(device: torch.device) -> Iterator[None]:
    """Compute without gradients, in the device's precision. Weights, sums and norms stay in float32."""
    mixed = precision(device) == "float16"
    with torch.inference_mode(), torch.autocast(device.type, dtype=torch.float16, enabled=mixed):
        yield


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn errors while loading `what` into one sentence. If the hub cannot be reached, use files already on this
    machine, because the hub's client would first retry for minutes."""
    offline = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = offline or not hub_answers()
    try:
        yield
    except CannotScore:
        raise
    except Exception as error:
        raise refusal(error, what) from error
    finally:
        constants.HF_HUB_OFFLINE = offline


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Like `explained`, without the libraries' warnings."""
    with explained(what), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def hub_answers() -> bool:
    """Return whether the hub answers, or a proxy is configured, which we trust."""
    hub = urlsplit(constants.ENDPOINT)
    if getproxies().get(hub.scheme):
        return True
    try:
        socket.create_connection((hub.hostname, hub.port or 443), timeout=5).close()
        return True
    except OSError:
        return False


def refusal(error: Exception, what: str) -> CannotScore:
    """Return a sentence for a library's exception, including its causes, because libraries wrap them."""
    causes = list(chain(error))
    if any(out_of_memory(cause) for cause in causes):
        return no_memory(what)
    if any(isinstance(cause, (OfflineModeIsEnabled, LocalEntryNotFoundError, ConnectionError)) for cause in causes):
        advice = "is not on this machine, and its hub cannot be reached from here. Give a file or folder on the server."
        return CannotScore("MODEL_UNREACHABLE", f"“{what}” {advice}")
    if any(isinstance(cause, (HfHubHTTPError, HFValidationError)) for cause in causes):
        return CannotScore(
            "MODEL_UNKNOWN", f"The hub does not provide {what}. Check the name, and whether it is public."
        )
    if unreachable(causes):
        return CannotScore("MODEL_UNREACHABLE", f"“{what}” cannot be downloaded here. Give a file or folder instead.")
    if isinstance(error, FileNotFoundError):
        return CannotScore("MODEL_UNKNOWN", f"“{what}” lacks a file that it needs: {short(error)}.")
    if isinstance(error, (OSError, *WRONG_FILE)):
        return CannotScore("WEIGHTS_WRONG", f"“{what}” could not be loaded: {short(error)}.")
    return CannotScore("MODEL_UNKNOWN", f"“{what}” could not be loaded: {short(error)}.")


def chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out: a GPU's error has its own class; a CPU's is recognised by its message."""
    on_cpu = isinstance(error, RuntimeError) and any(words in str(error).lower() for words in NO_MEMORY)
    return on_cpu or isinstance(error, (MemoryError, torch.OutOfMemoryError))


def unreachable(causes: list[BaseException]) -> bool:
    """Return whether it is a network error of a client (httpx, urllib), which this does not import."""
    return any(type(cause).__name__ in {"ConnectError", "ConnectTimeout", "URLError", "ProxyError"} for cause in causes)


def no_memory(what: str) -> CannotScore:
    advice = "Choose a smaller model or a device with more memory. What is finished is kept."
    return CannotScore("OUT_OF_MEMORY", f"There is not enough memory for “{what}”. {advice}")


def short(error: Exception) -> str:
    """Return the first non-empty line, at most 200 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200].rstrip(".")


def describe(model: torch.nn.Module, device: torch.device, **more) -> Loaded:
    """Compute a model's fingerprint: SHA-256 of every weight with its name, type and shape, the printed layers (the
    kind of GELU is not a weight), `more` (preprocessing, tokens), the precision, and the packages' versions. Call it
    while the model is on the CPU."""
    digest = hashlib.sha256(str(model).encode())
    for name, weight in sorted(model.state_dict().items()):
        digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}".encode())
        digest.update(memoryview(weight.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()))
    facts = {**more, "precision": precision(device), "versions": versions(), "pixels": PIXELS}
    digest.update(json.dumps(facts, sort_keys=True, default=str).encode())
    return Loaded(digest.hexdigest(), precision(device), str(device))


def computed(device: torch.device, compute: Callable[[], np.ndarray]) -> np.ndarray:
    """Compute in the device's precision, and again in float32 if values do not fit into float16."""
    with computing(device):
        found = compute()
    if not finite(found):
        with torch.inference_mode():
            found = compute()
    return found


def finite(vectors: np.ndarray) -> bool:
    return bool(np.isfinite(vectors).all())
