"""The score.py of a release with the models' own libraries: the scores and figures that Winnow computes."""

import json
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from annotation.releases.build import MANIFEST
from annotation.releases.scoring.released import answers, images, models
from annotation.releases.scoring.released.items import Release
from benchmarks import queries
from benchmarks.models import Benchmark
from benchmarks.predictions.kinds import BIVLC
from benchmarks.runs import figures
from benchmarks.storage.files import kept
from tests.builders import imports
from tests.builders.scored_benchmarks import cups, scored
from tests.lazy import LazyModule

torch, transformers = LazyModule("torch"), LazyModule("transformers")
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loaded_once")]


def as_release(benchmark: Benchmark, folder: Path) -> Path:
    """What score.py reads of a release of all the benchmark's items."""
    (folder / "imagefolder" / "test" / "images").mkdir(parents=True)
    lines = []
    for item in queries.with_material(benchmark.items.order_by("position")):
        images = [(f"{use.role}-{use.position}", use.image) for use in item.item_images.all()]
        for _, image in images:
            (folder / f"imagefolder/test/images/{image.sha256}.jpg").write_bytes(kept.read(image.original_path))
        line = {"id": item.key, "type": item.type, "subtype": item.subtype, "split": "test"}
        line |= {"negative_image": "negative-0", "images": [{"key": key, "sha256": one.sha256} for key, one in images]}
        line["captions"] = [{"role": one.role, "text": one.text} for one in item.captions.all()]
        lines.append(json.dumps(line) + "\n")
    (folder / "items.jsonl").write_text("".join(lines))
    manifest = {"evaluation": {"kind": BIVLC.name}, "splits": {"test": {}}, "columns": {}}
    (folder / MANIFEST).write_text(json.dumps(manifest))
    return folder


def test_open_clips_scores_and_figures_are_winnows(media, tmp_path, tiny):
    benchmark = cups(tmp_path, count=6)
    run = scored(benchmark, tiny)
    asked = {"open_clip": tiny, "batch_size": 4}
    asked |= dict.fromkeys(("functions", "transformers", "predictions")) | {"out": tmp_path / "scores.jsonl"}
    found = answers.run(Release(as_release(benchmark, tmp_path / "release")), Namespace(**asked), lambda name: models)
    stored = {(row[0], row[1]): row[2] for row in run.predictions.values_list("item__key", "question", "score")}
    lines = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert {(one["item"], one["question"]) for one in lines} == {*stored}
    assert max(abs(one["score"] - stored[one["item"], one["question"]]) for one in lines) < 1e-5
    inside = figures.compute(run)["measures"]
    for name, one in found["measures"].items():
        assert all(one[key] == pytest.approx(inside[name][key], abs=1e-9) for key in ("share", "low", "high", "n"))


def test_a_model_of_transformers_gives_its_two_vectors(tmp_path, tiny_gpt):
    """A CLIP of one layer, with the words of another model's tokenizer."""
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.CLIPConfig(
        text_config={**size, "vocab_size": 12, "bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0},
        vision_config={**size, "image_size": 32, "patch_size": 16},
        projection_dim=8,
    )
    torch.manual_seed(0)
    model = transformers.CLIPModel(config).eval()
    model.save_pretrained(tmp_path)
    pictures = transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_gpt)
    tokenizer.pad_token = "<unk>"
    processor = transformers.CLIPProcessor(pictures, tokenizer)
    processor.save_pretrained(tmp_path)
    encoder = models.Transformers(str(tmp_path))
    picture = images.decode(imports.jpeg(3, (40, 30)))
    vectors = encoder.embed_images([picture, picture]), encoder.embed_texts(["a red cup", "A blue cup ."])
    assert [one.shape for one in vectors] == [(2, 8), (2, 8)]
    with torch.inference_mode():
        alone = model.vision_model(**pictures([picture], return_tensors="pt")).pooler_output
        expected = model.visual_projection(alone).numpy()
    assert np.allclose(vectors[0][:1], expected, atol=1e-6)
    assert not np.allclose(vectors[1][0], vectors[1][1])
