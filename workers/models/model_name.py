"""A requested model's name, as people write it. Independent of torch, so that every process can parse it."""

import hashlib
import json
import os
import platform
import re
from dataclasses import astuple, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workers.models.refusals import CannotScore

FOLDER, HUB = "local-dir", "hf-hub"  # in open_clip's notation
PREFIXES = {
    "sentence-transformers": "sentence", "language-model": "language", "detector": "detector", "vqa": "vqa",
    "itm": "itm", FOLDER: "open_clip", HUB: "open_clip",
}  # fmt: skip
PAIRS = {"vqa", "itm"}
DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,2})?")
HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?(@[\w.-]+)?", re.ASCII)  # or a tag of open_clip
LONGEST = 300
PACKAGES = ("torch", "torchvision", "open_clip_torch", "sentence-transformers", "transformers", "Pillow")


@dataclass(frozen=True, slots=True)
class ModelName:
    """`kind`: open_clip (images and captions), sentence (captions to vectors), language (how likely a caption is),
    classifier (how plausible or grammatical it is), detector (how likely a model made an image or caption), vqa (an
    image-text model asked whether a caption fits) or itm (a head for image-text matching).

    `name`: an architecture that open_clip knows, `hf-hub:org/model`, `local-dir:/a/folder/of/its/own`; for other kinds
    a hub id or a folder.
    `pretrained`: an architecture's weights, as a tag or the path of a file; empty otherwise.
    `prompt`: what a sentence encoder reads before each caption, an instruction (VISLA, Table 2: Instructor, E5).
    """

    kind: str
    name: str
    pretrained: str = ""
    prompt: str = ""

    @property
    def title(self) -> str:
        """Return the name in tables: `ViT-B-32-quickgelu · openai`; for files only the last part."""
        instruction = f"“{' '.join(self.prompt.split())}”" if self.prompt else ""
        parts = (self.name.removeprefix(f"{FOLDER}:"), self.pretrained, instruction)
        return " · ".join(Path(part).name if Path(part).is_absolute() else part for part in parts if part)

    @property
    def sees_images(self) -> bool:
        return self.kind in {"open_clip", "detector"} or self.scores_pairs

    @property
    def scores_pairs(self) -> bool:
        """Return whether it reads an image and a caption together, and so does not make vectors of either."""
        return self.kind in PAIRS


def parse_model(model: str, pretrained: str = "", models: Path | None = None, prompt: str = "") -> ModelName:
    """Parse `--model`, `--pretrained` and `--prompt`. A file or folder in `models` takes precedence over a tag or hub
    id of the same name, and other files or folders cannot be named. Raises CannotScore: MODEL_UNCLEAR.
    """
    model, pretrained = model.strip(), pretrained.strip()
    prefixed = model.partition(":")[0] in PREFIXES and ":" in model
    if not model or max(len(model), len(pretrained)) > LONGEST or not (model + pretrained).isprintable():
        raise unclear("Enter a model's name, for example ViT-B-32-quickgelu.")
    prefix, colon, rest = model.partition(":") if prefixed else (model, "", "")
    kind = PREFIXES.get(prefix, "open_clip")
    if colon and not rest.strip():
        raise unclear(f"Enter the model's id or folder after {prefix}:.")
    if colon and pretrained:
        raise unclear(f"A model given as {prefix}: has its own weights. Leave the weights empty.")
    if prompt and kind != "sentence":
        raise unclear("Only sentence encoders read an instruction. Leave it empty.")
    if kind != "open_clip":
        return ModelName(kind, local(rest.strip(), models), prompt=prompt)
    if prefix == FOLDER:
        found = local(rest.strip(), models)
        if not Path(found).is_dir():
            raise CannotScore("MODEL_UNKNOWN", f"There is no folder “{rest.strip()}” on this machine.")
        return ModelName(kind, f"{FOLDER}:{found}")
    if not pretrained and not colon:
        raise unclear(f"Choose weights for {model}: a tag such as openai, or a file.")
    if prefix == HUB:
        return ModelName(kind, f"{HUB}:{local(rest.strip(), None)}")
    return ModelName(kind, model, local(pretrained, models))


def classifier_name(given: str, models: Path | None = None) -> ModelName:
    """Parse a caption classifier's name: a hub id, or a folder in `models`. Raises CannotScore: MODEL_UNCLEAR."""
    given = given.strip()
    if not given or len(given) > LONGEST or not given.isprintable():
        raise unclear("Enter the classifier's hub id or folder.")
    return ModelName("classifier", local(given, models))


@dataclass(frozen=True, slots=True)
class PipelineName:
    """A diffusers text-to-image pipeline, by hub id or folder; `unet`: another denoising network for it, also by hub id
    or folder, or empty."""

    name: str
    unet: str = ""

    @property
    def title(self) -> str:
        parts = (self.name, self.unet)
        return " · ".join(Path(part).name if Path(part).is_absolute() else part for part in parts if part)


PRESETS = {  # BiVLC's: Stable Diffusion XL with the network tuned by direct preference optimization
    "sdxl-dpo": PipelineName("stabilityai/stable-diffusion-xl-base-1.0", "mhdang/dpo-sdxl-text2image-v1")
}


def parse_pipeline(model: str, unet: str = "", models: Path | None = None) -> PipelineName:
    """Parse a preset, or a pipeline with or without another network; folders in `models` come first. Raises
    CannotScore: MODEL_UNCLEAR."""
    model, unet = model.strip(), unet.strip()
    if not model or max(len(model), len(unet)) > LONGEST or not (model + unet).isprintable():
        raise unclear("Enter a pipeline's hub id or folder, or sdxl-dpo.")
    if model in PRESETS and not unet:
        preset = PRESETS[model]
        return PipelineName(local(preset.name, models), local(preset.unet, models))
    return PipelineName(local(model, models), local(unet, models) if unet else "")


def unclear(advice: str) -> CannotScore:
    return CannotScore("MODEL_UNCLEAR", advice)


def local(given: str, models: Path | None) -> str:
    """Return the path of the file or folder in `models` with this name; otherwise the name itself, a tag or a hub id.

    Raises CannotScore: MODEL_UNCLEAR for anything else that could be a path. Libraries look for a name in the working
    directory, which may contain people's uploads, before they ask a hub.
    """
    if models and (found := (models / given).resolve()).exists() and models.resolve() in found.parents:
        return str(found)
    if not HUB_ID.fullmatch(given) or any((place / given).exists() for place in (models or Path(), Path())):
        raise unclear("Use the name of a file or folder in the server's model folder, or a hub id, not a path.")
    return given


def check_device(device: str) -> None:
    if not DEVICE.fullmatch(device):
        raise CannotScore("DEVICE_UNKNOWN", f"There is no device “{device[:40]}”. Use auto, cpu, cuda or cuda:1.")


def recipe(model_name: ModelName, device: str) -> str | None:
    """Return a hash of names, file sizes and times, versions and this machine: while it is unchanged, so is the model.
    None for models from a hub, where a name's weights can change.

    With it, a run with nothing new to score does not load the model.
    """
    weights = Path(model_name.pretrained or model_name.name.removeprefix(f"{FOLDER}:"))
    if not weights.is_absolute() and not model_name.pretrained:
        return None
    within = sorted(file for file in weights.rglob("*") if file.is_file()) if weights.is_dir() else [weights]
    seen = [(str(path), *stamp(path)) for path in within] if weights.is_absolute() else []
    machine = (platform.node(), device, os.environ.get("CUDA_VISIBLE_DEVICES", ""), Path("/dev/nvidia0").exists())
    return hashlib.sha256(json.dumps([astuple(model_name), seen, machine, versions()]).encode()).hexdigest()


def stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def versions() -> dict[str, str]:
    """Return the versions of packages that affect the numbers; empty for missing ones."""
    return {name: installed(name) for name in PACKAGES}


def installed(name: str) -> str:
    try:
        return version(name).partition("+")[0]  # builds for other devices have the same code
    except PackageNotFoundError:
        return ""
