"""The score.py of a release with the models' own libraries: the scores and figures that Winnow computes."""

import json
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from annotation.comparison.entries import entries_of
from annotation.releases.build import MANIFEST
from annotation.releases.scoring.released import answers, command, images, models
from annotation.releases.scoring.released.items import Release
from benchmarks import queries
from benchmarks.models import Benchmark, Caption
from benchmarks.predictions.kinds import BIVLC
from benchmarks.runs import figures
from benchmarks.storage.files import kept
from tests.builders import compared_models, imports
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
    asked = {"open_clip": tiny, "batch_size": 4, "asked_in_both_orders": False}
    asked |= dict.fromkeys(("functions", "transformers", "predictions")) | {"out": tmp_path / "scores.jsonl"}
    found = answers.run(Release(as_release(benchmark, tmp_path / "release")), Namespace(**asked), lambda name: models)
    stored = {(row[0], row[1]): row[2] for row in run.predictions.values_list("item__key", "question", "score")}
    lines = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert {(one["item"], one["question"]) for one in lines} == {*stored}
    assert max(abs(one["score"] - stored[one["item"], one["question"]]) for one in lines) < 1e-5
    inside = figures.compute(run)["measures"]
    for name, one in found["measures"].items():
        assert all(one[key] == pytest.approx(inside[name][key], abs=1e-9) for key in ("share", "low", "high", "n"))


def test_captions_that_open_clip_reads_alike_are_left_out_as_in_winnow(media, tmp_path, tiny):
    """Of four items, one has a difference only after token 77, and one a caption that is the beginning of the other.
    The file that the script writes has marks, with which Winnow's import has the same figures."""
    benchmark, long = cups(tmp_path, count=4), "a red cup, " * 30
    changes = {"i0": (f"{long} a dog", f"{long} a cat"), "i1": (f"A dog, {long}", f"A cat, {long}")}
    changes["i2"] = " ".join(["cup"] * 75), " ".join(["cup"] * 76)
    for key, texts in changes.items():
        for role, text in zip(("positive", "negative"), texts, strict=True):
            Caption.objects.filter(item__key=key, role=role).update(text=text)
    cut = scored(benchmark, tiny).job.report["cut"]
    by_type = cut["alike"].pop("by_type")
    folder = as_release(benchmark, tmp_path / "release")
    asked = {"open_clip": tiny, "batch_size": 4, "asked_in_both_orders": False}
    asked |= dict.fromkeys(("functions", "transformers", "predictions")) | {"out": tmp_path / "out.jsonl"}
    found = answers.run(Release(folder), Namespace(**asked), lambda name: models)
    assert found["cut"] == cut
    assert cut == {"in_items": {"count": 3, "keys": ["i0", "i1", "i2"]}, "alike": {"count": 2, "keys": ["i0", "i2"]}}
    assert (found["n"], found["measures"]["group"]["n"], found["measures"]["group"]["read_alike"]) == (2, 2, 2)
    assert {one["read_alike"] for group in found["groups"] for one in group["measures"].values()} == {2}
    lines = [*command.table(found)]
    assert lines[0].endswith(" n  read alike") and lines[1].split()[-2:] == ["2", "2"]
    cut_off = "3 items have captions that are longer than the model reads, so their ends were cut off: i0, i1, i2."
    assert [cut_off, "2 items are left out, because two of the captions are alike to the model: i0, i2."] == lines[-2:]

    job = compared_models.run(compared_models.queued(benchmark, tmp_path / "out.jsonl", model="again"))
    assert job.report["cut"] == {**cut, "alike": {**cut["alike"], "by_type": by_type}}
    scored_here, imported = entries_of(benchmark.runs.order_by("pk"))[0]
    assert scored_here.read_alike == imported.read_alike == 2
    assert scored_here.figures["measures"] == imported.figures["measures"]


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
    encoder.processor.tokenizer.model_max_length = 4
    assert [encoder.cut(text) for text in ("a red cup", "a red cup .")] == [None, None]
    assert len(encoder.cut("a red cup . cup")) == 4
    with torch.inference_mode():
        alone = model.vision_model(**pictures([picture], return_tensors="pt")).pooler_output
        expected = model.visual_projection(alone).numpy()
    assert np.allclose(vectors[0][:1], expected, atol=1e-6)
    assert not np.allclose(vectors[1][0], vectors[1][1])
