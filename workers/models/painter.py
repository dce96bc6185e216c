"""Diffusers text-to-image pipelines: prompts to images, by a folder or a hub id."""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
import transformers
from diffusers import AutoPipelineForText2Image, DiffusionPipeline, UNet2DConditionModel

from workers.models import device as devices
from workers.models.checkpoints import checked
from workers.models.halving import Halving
from workers.models.model_name import PipelineName, installed, versions
from workers.models.prefetch import batches
from workers.models.refusals import CannotScore

BATCH = {"cpu": 2, "mps": 2, "cuda": 8}  # images at once; fewer if memory runs out
SAFE = {"use_safetensors": True, "trust_remote_code": False}  # no pickles, no code from the model


def load(pipeline: PipelineName, device: str) -> "Diffusion":
    where = devices.chosen(device)
    with devices.loading(pipeline.title):
        kind = torch.float16 if devices.precision(where) == "float16" else torch.float32
        parts = _readers(pipeline, kind)
        if pipeline.unet:
            parts["unet"] = _unet(pipeline.unet, kind)
        made = AutoPipelineForText2Image.from_pretrained(pipeline.name, torch_dtype=kind, **SAFE, **parts)
        return Diffusion(made, where)


def _readers(pipeline: PipelineName, kind: torch.dtype) -> dict[str, Any]:
    """Load the parts from transformers with all of their weights; otherwise missing ones would be random."""
    listed = DiffusionPipeline.load_config(pipeline.name).items()
    named = {part: facts[1] for part, facts in listed if isinstance(facts, list) and facts[0] == "transformers"}
    classes = {part: getattr(transformers, name, None) for part, name in named.items()}
    return {
        part: checked(found, pipeline.name, pipeline.title, kind, subfolder=part, use_safetensors=True)
        for part, found in classes.items()
        if isinstance(found, type) and issubclass(found, transformers.PreTrainedModel)
    }


def _unet(name: str, kind: torch.dtype) -> UNet2DConditionModel:
    """Load the network from its own folder or repository, or from the part `unet` of one."""
    folder = Path(name)
    below = {} if folder.is_dir() and not (folder / "unet").is_dir() else {"subfolder": "unet"}
    model, found = UNet2DConditionModel.from_pretrained(
        name, torch_dtype=kind, output_loading_info=True, **SAFE, **below
    )
    if lacking := sorted(found["missing_keys"]):
        advice = f"the checkpoint lacks {len(lacking):,} of the network's weights, such as {lacking[0]}."
        raise CannotScore("WEIGHTS_WRONG", f"“{name}” is incomplete or of another architecture: {advice}")
    return model


class Diffusion(Halving):
    """A loaded pipeline (workers.models.encoder.Painter)."""

    def __init__(self, pipeline, device: torch.device):
        super().__init__(BATCH[device.type])
        parts = {name: part for name, part in pipeline.components.items() if isinstance(part, torch.nn.Module)}
        diffusers, scheduler = installed("diffusers"), pipeline.scheduler
        settings = {"scheduler": type(scheduler).__name__, **dict(sorted(scheduler.config.items()))}
        self.loaded = devices.describe(torch.nn.ModuleDict(parts), device, diffusers=diffusers, scheduler=settings)
        self.settings = {"scheduler": type(scheduler).__name__, "precision": self.loaded.precision}
        self.settings["versions"] = _named_versions()
        pipeline.set_progress_bar_config(disable=True)
        self.pipeline = pipeline.to(device)

    def images(self, prompts: Iterable[tuple[str, int]], steps: int, guidance: float) -> Iterator[list[bytes | None]]:
        """Paint with seeds on the CPU, one per image: the noise does not depend on the device or the batch."""

        def made(part: list[tuple[str, int]]) -> list[bytes | None]:
            drawn = self.pipeline(
                prompt=[prompt for prompt, _ in part],
                num_inference_steps=steps,
                guidance_scale=guidance,
                generator=[torch.Generator("cpu").manual_seed(seed) for _, seed in part],
            )
            withheld = getattr(drawn, "nsfw_content_detected", None) or [False] * len(part)
            return [None if bad else _png(image) for image, bad in zip(drawn.images, withheld, strict=True)]

        for batch in batches(prompts, self.most):
            with devices.explained("these images"):
                found = self.parts(batch, made, "one image at a time")
            yield [image for part in found for image in part]


def _png(image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _named_versions() -> str:
    wanted = {"diffusers": installed("diffusers"), **versions()}
    return ", ".join(f"{name} {wanted[name]}" for name in ("diffusers", "torch", "transformers"))
