"""What tests of training share: drawn scenes to learn from, and a small random CLIP."""

import hashlib
import io
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw

from benchmarks.models import Benchmark
from tests.builders import imports
from tests.lazy import LazyModule
from workers.models import loading
from workers.models.model_name import parse_model
from workers.models.presets import settings_of
from workers.models.training_task import Curve, Example, Task, Trained, Trainer

open_clip, torch = LazyModule("open_clip"), LazyModule("torch")
COLOURS = {
    "red": "#de3e38",
    "yellow": "#face38",
    "green": "#3a9e58",
    "blue": "#2d6cd2",
    "purple": "#8452be",
    "pink": "#f58cb2",
}
SHAPES = {  # corners, from the thing's top left one
    "ball": "oval",
    "box": [(0, 0), (18, 0), (18, 18), (0, 18)],
    "kite": [(9, 0), (18, 9), (9, 18), (0, 9)],
    "tent": [(9, 0), (18, 18), (0, 18)],
    "boat": [(0, 9), (18, 9), (13, 18), (5, 18)],
    "balloon": [(4, 0), (14, 0), (18, 9), (9, 18), (0, 9)],
}
TINY = {
    "embed_dim": 128,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 8, "head_width": 16},
    "text_cfg": {
        "context_length": 24, "vocab_size": 96, "width": 32, "heads": 2, "layers": 1, "hf_tokenizer_name": "here",
    },
}  # fmt: skip


def tiny_base(folder: Path, seed: int = 0, **changes) -> str:
    """The `--model` of a CLIP with fixed random weights that is quick to train."""
    save_tokenizer(folder)
    config = TINY | changes
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": {}}))
    torch.manual_seed(seed)
    arguments = {**config, "text_cfg": {**config["text_cfg"], "hf_tokenizer_name": None}}
    torch.save(open_clip.CLIP(**arguments).state_dict(), folder / "open_clip_pytorch_model.bin")
    return f"local-dir:{folder}"


def save_tokenizer(folder: Path) -> None:
    """Words of the scenes' captions. The highest number ends a text, as CLIP's text encoder expects."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = sorted({word for row in drawn(64) for text in row[:2] for word in [*text.strip(".").lower().split(), "."]})
    words = ["<pad>", "<unk>", *words, "one", "can", "see"]
    last = TINY["text_cfg"]["vocab_size"] - 1
    assert len(words) <= last
    vocabulary = {word: place for place, word in enumerate(words)} | {"<end>": last}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A <end>", special_tokens=[("<end>", last)])
    special = {"pad_token": "<pad>", "unk_token": "<unk>", "eos_token": "<end>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)


@dataclass(frozen=True)
class Bytes:
    content: bytes
    name: str = "scene.png"

    def read_bytes(self) -> bytes:
        return self.content


def png(picture: Image.Image) -> bytes:
    found = io.BytesIO()
    picture.save(found, "PNG")
    return found.getvalue()


def painted(left: tuple[str, str], right: tuple[str, str], ground: str) -> bytes:
    """Two things side by side, each a colour and a kind."""
    picture = Image.new("RGB", (48, 36), ground)
    pen = ImageDraw.Draw(picture)
    for (colour, kind), x in ((left, 3), (right, 27)):
        if SHAPES[kind] == "oval":
            pen.ellipse((x, 9, x + 18, 27), COLOURS[colour])
        else:
            pen.polygon([(x + dx, 9 + dy) for dx, dy in SHAPES[kind]], COLOURS[colour])
    return png(picture)


def _draw() -> Iterator[tuple[str, str, bytes, bytes]]:
    """Pairs in which things, or their colours, are swapped, in turn."""
    for number in itertools.count():
        rng = Random(f"train/{number}")
        (one, other), (kind, more) = rng.sample(list(COLOURS), 2), rng.sample(list(SHAPES), 2)
        ground = rng.choice(("#dfe9f2", "#c8dcb4", "#efe3d0"))
        positive = (one, kind), (other, more)
        negative = ((other, kind), (one, more)) if number % 2 == 0 else positive[::-1]
        texts = (f"A {a} {b} is to the left of a {c} {d}." for (a, b), (c, d) in (positive, negative))
        yield (*texts, painted(*positive, ground), painted(*negative, ground))


_drawing, _drawn = _draw(), list[tuple[str, str, bytes, bytes]]()


def drawn(count: int) -> list[tuple[str, str, bytes, bytes]]:
    """Caption, swapped caption, and a picture of each: `count` times, always the same. Each is painted once."""
    _drawn.extend(itertools.islice(_drawing, max(0, count - len(_drawn))))
    return _drawn[:count]


def scenes(count: int, style: bool = False) -> tuple[list[Example], dict[str, bytes]]:
    """Examples with everything that any preset needs, and the pictures by their content. With `style` negatives can be
    told by their looks, as what models make: pictures are darker, and captions begin in the same way."""
    examples, files = [], {}
    for number, (caption, swapped, picture, other) in enumerate(drawn(count)):
        if style:
            swapped, other = f"One can see {swapped[0].lower()}{swapped[1:]}", darker(other)
        contents = [hashlib.sha256(data).hexdigest() for data in (picture, other)]
        files |= dict(zip(contents, (picture, other), strict=True))
        again = f"One can see {caption[0].lower()}{caption[1:]}"
        examples.append(Example(f"s{number}", contents[0], caption, (swapped,), contents[1], (again,)))
    return examples, files


def darker(picture: bytes) -> bytes:
    return png(Image.open(io.BytesIO(picture)).point(lambda value: value * 0.7))


class Unresponsive:
    """A Watch that keeps what it is told."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.notes: list[str] = []
        self.steps = 0

    def begin(self, phase: str, left: int | None) -> None:
        self.phases.append(phase)

    def step(self, curve: Curve) -> None:
        self.steps += 1

    def say(self, note: str) -> None:
        self.notes.append(note)


def task(model: str, folder: Path, preset: str, count: int = 16, style: bool = False, **changes) -> Task:
    """A task with `count` scenes to learn, validated on themselves, since they are to be known by heart."""
    examples, files = scenes(count, style or preset == "detector")
    settings = settings_of(preset, **changes)
    known = lambda content: Bytes(files[content])  # noqa: E731
    return Task(parse_model(model, models=Path("/")), "cpu", settings, examples, examples, known, folder)


def trained(task: Task) -> tuple[Trainer, Trained]:
    trainer = loading.load_trainer(task)
    return trainer, trainer.run(Unresponsive())


def scene_benchmark(folder: Path, count: int, name: str = "Scenes") -> Benchmark:
    """The same scenes as a benchmark."""
    items, files = [], {}
    for number, (caption, swapped, *pictures) in enumerate(drawn(count)):
        images = []
        for role, picture in zip(("positive", "negative"), pictures, strict=True):
            files[f"{number}-{role}.png"] = picture
            images.append({"role": role, "file": f"{number}-{role}.png"})
        captions = [{"role": "positive", "text": caption}, {"role": "negative", "text": swapped}]
        items.append(imports.item(number, images=images, captions=captions))
    return imports.benchmark_of(folder, items, files, name)
