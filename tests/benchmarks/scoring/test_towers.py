"""SigLIP 2 and PE-Core: what Winnow's encoder says is what open_clip says. Random weights: none are at hand."""

import json

import numpy as np
import pytest
from PIL import Image as Picture

from tests.builders.scored_benchmarks import unit
from tests.builders.tiny_models import TOWERS, with_towers
from tests.lazy import LazyModule
from workers.models import loading
from workers.models.model_name import parse_model

open_clip, torch = map(LazyModule, ("open_clip", "torch"))
CAPTIONS = ["A red cup.", "A blue cup, a red cup."]


def assert_encodes_as_open_clip(model: str, tmp_path) -> None:
    files = []
    for number, drawn in enumerate([Picture.linear_gradient("L"), Picture.radial_gradient("L")]):
        files.append(tmp_path / f"{number}.png")
        drawn.resize((60, 40)).convert("RGB").save(files[-1])
    found = loading.load(parse_model(model, models=tmp_path), "cpu")
    alone, prepare = open_clip.create_model_from_pretrained(model)
    with torch.inference_mode():
        images = unit(alone.eval().encode_image(torch.stack([prepare(Picture.open(file)) for file in files])))
        texts = unit(alone.encode_text(open_clip.get_tokenizer(model)(CAPTIONS)))
    assert np.allclose(np.concatenate(list(found.images(files))), images, atol=1e-5)
    assert np.allclose(np.concatenate(list(found.texts(CAPTIONS))), texts, atol=1e-5)
    assert np.ptp(texts @ images.T) > 1e-6


@pytest.mark.parametrize("name", TOWERS)
def test_a_small_model_of_this_architecture_encodes_as_open_clip(tmp_path, name):
    assert_encodes_as_open_clip(with_towers(tmp_path / name, TOWERS[name]), tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["ViT-B-16-SigLIP2", "PE-Core-B-16"])
def test_a_whole_model_of_this_architecture_encodes_as_open_clip(tmp_path, name):
    """Of SigLIP 2 all but the tokenizer, which is on its hub alone."""
    config = json.loads(json.dumps(open_clip.get_model_config(name)))
    assert_encodes_as_open_clip(with_towers(tmp_path / name, config), tmp_path)
