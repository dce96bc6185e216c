"""Small random models, saved once for the session; each is loaded once for a module."""

import copy
from pathlib import Path

import pytest

from benchmarks.scoring import score


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> str:
    """The `--model` of a CLIP with one layer a tower."""
    from tests.builders.scored_benchmarks import tiny_clip

    return tiny_clip(tmp_path_factory.mktemp("models") / "clip")


@pytest.fixture(scope="session")
def tiny_gpt(tmp_path_factory) -> Path:
    """The folder of a GPT-2 of one layer."""
    from tests.builders.scored_benchmarks import tiny_language

    return Path(tiny_language(tmp_path_factory.mktemp("models") / "gpt").removeprefix("language-model:"))


@pytest.fixture(scope="session")
def tiny_sentences(tmp_path_factory) -> Path:
    """The folder of a sentence encoder of one layer."""
    from tests.builders.scored_benchmarks import tiny_sentence_encoder

    return tiny_sentence_encoder(tmp_path_factory.mktemp("models") / "sentences")


@pytest.fixture(scope="module")
def encoders() -> dict:
    return {}


@pytest.fixture
def loaded_once(encoders, monkeypatch) -> None:
    """Scoring gets an encoder that the module has loaded before, as it was when it was loaded."""
    load = score.load

    def load_or_copy(model, device):
        key = model, device
        if key not in encoders:
            encoders[key] = load(model, device)
        return copy.copy(encoders[key])

    monkeypatch.setattr(score, "load", load_or_copy)
