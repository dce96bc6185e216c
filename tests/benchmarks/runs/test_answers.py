"""Which runs count where models are set beside people."""

import pytest

from benchmarks.caption_only import warning
from benchmarks.runs import answers as run_answers
from tests.builders import compared_models, predictions

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark():
    return compared_models.pairs(2)


def told(benchmark, **fields):
    return predictions.model(benchmark, {item: predictions.bivlc() for item in benchmark.items.all()}, **fields)


def test_a_model_that_was_asked_without_images_is_another_one(benchmark):
    runs = [told(benchmark, title="LLaVA", blind=blind) for blind in (True, False)]
    assert run_answers.runs_of(benchmark) == runs
    assert warning.blindness_of(benchmark).runs == runs[:1]


def test_one_models_weights_count_once_whatever_computed_with_them(benchmark):
    named = [("openai", "float32"), ("openai", "float16"), ("laion2b", "float16")]
    weights = [predictions.weights(name="ViT", pretrained=tag, precision=of) for tag, of in named]
    runs = [told(benchmark, title="ViT", origin="measured", model=one) for one in weights]
    assert run_answers.runs_of(benchmark) == runs[1:]


def test_what_is_no_number_is_no_answer(benchmark):
    scores = {"s(c0,i0)": float("nan"), "s(c1,i0)": 0.5}
    run = predictions.model(benchmark, dict.fromkeys(benchmark.items.all(), scores))
    found = run_answers.answers_by_run([run], {"bivlc": ("i_pos2t",)})[run.pk]
    assert len(found.items) == 0
