"""What tests of training share: drawn scenes to learn from, and a small random CLIP."""

import hashlib
import io
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from PIL import Image

from benchmarks.demo import claims
from benchmarks.demo.painting import jpeg
from benchmarks.demo.scenes import Scene, lay_out
from benchmarks.models import Benchmark
from tests.builders import imports
from tests.lazy import LazyModule
from workers.models import loading
from workers.models.model_name import parse_model
from workers.models.presets import settings_of
from workers.models.training_task import Curve, Example, Task, Trained, Trainer

open_clip, torch = LazyModule("open_clip"), LazyModule("torch")
SWAPS = [move for move in claims.MOVES if move[0] == "swap"]
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


def small(scene: Scene) -> bytes:
    found = io.BytesIO()
    Image.open(io.BytesIO(jpeg(scene))).resize((48, 36)).save(found, "PNG")
    return found.getvalue()


def _draw() -> Iterator[tuple[str, str, bytes, bytes]]:
    for number in itertools.count():
        rng = Random(f"train/{number}")
        try:
            pair = claims.compose(SWAPS[(number + 1) % len(SWAPS)], rng)
            pictures = small(lay_out(pair.shown, rng)), small(lay_out(pair.negative, rng))
        except claims.NoRoom:
            continue
        yield str(pair.positive), str(pair.negative), *pictures


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
    found = io.BytesIO()
    Image.open(io.BytesIO(picture)).point(lambda value: value * 0.7).save(found, "PNG")
    return found.getvalue()


class Silent:
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
    return trainer, trainer.run(Silent())


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
    folder.mkdir(parents=True, exist_ok=True)
    job = imports.imported(imports.manifest(folder, items), imports.archive(folder, [], files), name=name)
    assert job.state == "done", job.problems
    return Benchmark.objects.get(name=name)
