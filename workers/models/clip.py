"""open_clip models, which map images and captions to vectors in one space."""

import difflib
import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import open_clip
import torch
from torch.nn import functional
from torchvision.transforms import Compose, Normalize, ToTensor

from workers.contents import Contents
from workers.models import device as devices
from workers.models import torchscript
from workers.models.halving import Halving
from workers.models.model_name import ModelName
from workers.models.pictures import picture
from workers.models.prefetch import prefetched
from workers.models.refusals import CannotScore

QUICK = "-quickgelu"
BATCH = {"cpu": 32, "mps": 64, "cuda": 256}  # items per batch; fewer if memory runs out
DEPTH = {"cpu": 0, "mps": 2, "cuda": 3}  # batches decoded ahead: on a CPU, decoding and the model compete for cores
SPECIAL = 3  # the most tokens that a tokenizer adds to a text
WRONG = ("Error(s) in loading state_dict", "pos_embed", "pop from empty list", "Weights only load failed")


def load(model_name: ModelName, device: str, kind: "type[Clip] | None" = None) -> "Clip":
    """Load a model, as a `Clip` or one of its kinds. Raises CannotScore for problems with the name, the weights, their
    combination or the device."""
    where = devices.chosen(device)
    with devices.loading(model_name.title):
        if model_name.pretrained:
            _check_weights(model_name.name, model_name.pretrained)
        model, prepare = _create(model_name)
        return (kind or Clip)(model.eval(), prepare, open_clip.get_tokenizer(model_name.name), where)


def _create(model_name: ModelName) -> tuple[open_clip.CLIP, Compose]:
    name, file = model_name.name, Path(model_name.pretrained)
    try:
        if torchscript.is_archive(file):
            model, _, prepare = open_clip.create_model_and_transforms(name, precision="fp32", device="cpu")
            model.load_state_dict(torchscript.weights(file))
            return model, prepare
        return open_clip.create_model_from_pretrained(
            name, model_name.pretrained or None, precision="fp32", device="cpu", weights_only=True
        )
    except (RuntimeError, ValueError, IndexError, pickle.UnpicklingError) as error:
        if not any(words in str(error) for words in WRONG):
            raise
        advice = f"the file does not contain weights of {model_name.name}. Name the architecture that was trained."
        raise CannotScore("WEIGHTS_WRONG", f"“{model_name.title}”: {advice}") from error


def _check_weights(name: str, pretrained: str) -> None:
    """Check that open_clip knows the architecture and the weights fit it, before fetching anything."""
    config = open_clip.get_model_config(name.replace("/", "-"))
    if config is None:
        near = difflib.get_close_matches(name, open_clip.list_models(), n=3, cutoff=0.5)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise CannotScore("MODEL_UNKNOWN", f"open_clip has no model “{name}”.{hint}")
    quick = bool(config.get("quick_gelu"))
    if Path(pretrained).is_file():
        if torchscript.is_archive(Path(pretrained)) and not quick:
            raise _mismatch(name, "This file is an archive as OpenAI publishes them; such weights are", True)
        return
    tag = open_clip.get_pretrained_cfg(name.replace("/", "-"), pretrained)
    other = open_clip.get_pretrained_cfg(name.removesuffix(QUICK), pretrained) if quick and not tag else {}
    if other or (tag and bool(tag.get("quick_gelu")) != quick):
        raise _mismatch(name, f"The weights “{pretrained}” are", not quick)
    if not tag:
        known = ", ".join(open_clip.list_pretrained_tags_by_model(name)) or "none"
        raise CannotScore("MODEL_UNKNOWN", f"“{pretrained}” is neither a file nor a tag of {name}, which has {known}.")


def _mismatch(name: str, weights: str, quick: bool) -> CannotScore:
    """Return the reason to reject a pair that would load and compute, but silently give wrong scores."""
    base = name.removesuffix(QUICK)
    trained, right = ("QuickGELU", base + QUICK) if quick else ("GELU", base)
    advice = f"{weights} trained with {trained}, and {name} computes another activation. Use {right}."
    return CannotScore("QUICKGELU_MISMATCH", advice)


class Clip(Halving):
    """A loaded model (workers.models.encoder.Encoder)."""

    def __init__(self, model: open_clip.CLIP, prepare: Compose, tokenizer: Callable, device: torch.device):
        super().__init__(BATCH[device.type])
        self.shrink, self.finish = _halves(prepare, device)
        config = json.dumps(open_clip.get_model_preprocess_cfg(model), sort_keys=True)
        tokens = tokenizer([devices.SAMPLE]).tolist()
        self.loaded = devices.describe(model, device, preparation=config, transform=repr(prepare), tokens=tokens)
        self.model, self.tokenizer, self.device = model.to(device), tokenizer, device
        self.depth, self.context = DEPTH[device.type], len(tokens[0])

    def images(self, files: Iterable[Contents]) -> Iterator[np.ndarray]:
        encode = lambda pixels: self.model.encode_image(self.finish(pixels))  # noqa: E731
        return self.flow(prefetched(self.pixels, files, self.most, devices.cores(), self.depth), encode)

    def texts(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        """Tokenize in one thread: it is Python code, so two would only wait for each other."""
        return self.flow(prefetched(self.tokens, texts, self.most, 1, self.depth), self.model.encode_text)

    def pixels(self, file: Contents) -> torch.Tensor:
        return self.shrink(picture(file))

    def cut(self, text: str) -> list[int] | None:
        """Return what is read of a truncated caption: a token is at least one byte, so short ones are not checked."""
        context, length = self.context, len(text.encode())
        if length < context - SPECIAL:
            return None
        read, whole = self.tokens(text), self.tokenizer([text], context_length=context + length)[0]
        is_whole = torch.equal(whole[:context], read) and bool((whole[context:] == whole[-1]).all())
        return None if is_whole else read.tolist()

    def tokens(self, text: str) -> torch.Tensor:
        return self.tokenizer([text])[0]

    def flow(self, lists: Iterable[list[torch.Tensor]], encode: Callable) -> Iterator[np.ndarray]:
        """Compute the next batch on the device while the caller handles the last one's vectors."""
        before = None
        for made in lists:
            batch = torch.stack(made)
            running = batch, self.sent(self.forward(batch, encode))
            if before:
                yield self.taken(*before, encode)
            before = running
        if before:
            yield self.taken(*before, encode)

    def forward(self, batch: torch.Tensor, encode: Callable) -> torch.Tensor:
        """Return shape (len(batch), dimensions), on the device, in smaller parts once memory has run out."""
        with devices.computing(self.device):
            return torch.cat(self.parts(batch, lambda part: self.part(part, encode), "one item at a time"))

    def part(self, part: torch.Tensor, encode: Callable) -> torch.Tensor:
        return functional.normalize(encode(part.to(self.device)).float(), dim=-1)

    def sent(self, vectors: torch.Tensor) -> Callable[[], np.ndarray]:
        """Start copying to the CPU before the next batch is queued: a later copy would also wait for that batch."""
        if self.device.type != "cuda":
            return vectors.cpu().numpy
        host, arrived = vectors.to("cpu", non_blocking=True), torch.cuda.Event()
        arrived.record(torch.cuda.current_stream(self.device))

        def wait() -> np.ndarray:
            arrived.synchronize()
            return host.numpy()

        return wait

    def taken(self, batch: torch.Tensor, arrive: Callable[[], np.ndarray], encode: Callable) -> np.ndarray:
        """Return the vectors on the CPU, recomputed in float32 if some activations do not fit into float16."""
        found = arrive()
        if devices.finite(found):
            return found
        with torch.inference_mode():
            found = torch.cat([self.part(part, encode) for part in batch.split(self.most)]).cpu().numpy()
        if not devices.finite(found):
            raise CannotScore("WEIGHTS_WRONG", "The model returns no numbers for some items; its weights are damaged.")
        return found


def _halves(prepare: Compose, device: torch.device) -> tuple[Callable, Callable]:
    """Split open_clip's preprocessing: per image on threads up to bytes, then division and normalization for a whole
    batch on the device. Each element gets the same operations, so the numbers are the same.

    Any other preprocessing is done entirely per image.
    """
    *steps, tensor, normalize = prepare.transforms
    if not (isinstance(tensor, ToTensor) and isinstance(normalize, Normalize)):
        return prepare, lambda batch: batch
    shrink, shape = Compose(steps), (1, 3, 1, 1)
    mean, std = (torch.tensor(values, device=device).reshape(shape) for values in (normalize.mean, normalize.std))

    def to_bytes(image) -> torch.Tensor:
        return torch.from_numpy(np.array(shrink(image))).permute(2, 0, 1).contiguous()

    return to_bytes, lambda batch: batch.float().div_(255).sub_(mean).div_(std)
