"""What is asked for and which scores follow: without torch."""

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.predictions import plan as scoring_plan
from benchmarks.runs.material import Material
from benchmarks.scoring import similarity
from workers.models import loading, model_name
from workers.models.prefetch import prefetched
from workers.models.refusals import CannotScore


def test_a_name_of_the_models_folder_comes_before_a_tag(tmp_path):
    (tmp_path / "openai").write_bytes(b"weights")
    found = model_name.parse_model("ViT-B-32", "openai", tmp_path)
    assert found.pretrained == str(tmp_path / "openai")
    assert found.title == "ViT-B-32 · openai"
    assert model_name.parse_model("ViT-B-32", "laion2b", tmp_path).pretrained == "laion2b"


@pytest.fixture
def server(tmp_path, monkeypatch) -> Path:
    """Where a worker works: with a folder of models, an upload, and a link from the first to what is beside it."""
    (tmp_path / "models" / "mine").mkdir(parents=True)
    (tmp_path / "var" / "uploads").mkdir(parents=True)
    for name in ("content", "var/content", "var/uploads/content", "models/mine/weights.pt"):
        (tmp_path / name).write_bytes(b"weights")
    (tmp_path / "models" / "link").symlink_to(tmp_path / "content")
    monkeypatch.chdir(tmp_path)
    return tmp_path


OUTSIDE = [
    "content", "./content", "var/content", "var/uploads/content", "../content", "mine/../../content", "link", "var",
    "{}/content", "{}/models/../content", "~/content", "file:content", "a/b/c", "a b", ".", "..", "C:\\content",
]  # fmt: skip


@pytest.mark.parametrize("given", OUTSIDE)
def test_only_files_of_the_models_folder_can_be_named(server, given):
    given, models = given.format(server), server / "models"
    prefixes = [name for name in model_name.PREFIXES if (name, given) != (model_name.HUB, "link")]  # which is an id
    asked = [lambda name=name: model_name.parse_model(f"{name}:{given}", "", models) for name in prefixes]
    asked += [
        lambda: model_name.parse_model("ViT-B-32", given, models),
        lambda: model_name.classifier_name(given, models),
        lambda: model_name.parse_pipeline(given, "", models),
        lambda: model_name.parse_pipeline("a/b", given, models),
    ]
    for ask in asked:
        with pytest.raises(CannotScore, match=r"MODEL_UNCLEAR .* not a path"):
            ask()


@pytest.mark.parametrize("given", ["mine/weights.pt", "./mine/../mine/weights.pt", "{}/models/mine/weights.pt"])
def test_a_file_of_the_models_folder_has_several_names(server, given):
    found = model_name.parse_model("ViT-B-32", given.format(server), server / "models")
    assert found.pretrained == str(server / "models/mine/weights.pt")


@pytest.mark.parametrize(
    ("model", "pretrained", "kind"),
    [
        ("ViT-B-32", "openai", "open_clip"),
        ("hf-hub:org/model", "", "open_clip"),
        ("sentence-transformers:org/model", "", "sentence"),
        ("language-model:gpt2", "", "language"),
    ],
)
def test_what_kind_of_model_is_meant(model, pretrained, kind):
    assert model_name.parse_model(model, pretrained).kind == kind


@pytest.mark.parametrize(
    ("model", "pretrained", "words"),
    [
        ("", "", "Enter a model's name"),
        ("ViT-B-32", "", "weights for ViT-B-32"),
        ("hf-hub:org/model", "openai", "has its own weights"),
        ("sentence-transformers:", "", "Enter the model's id"),
        ("a\nb", "openai", "Enter a model's name"),
    ],
)
def test_an_unclear_request_is_refused(model, pretrained, words):
    with pytest.raises(CannotScore, match="MODEL_UNCLEAR") as refused:
        model_name.parse_model(model, pretrained)
    assert words in refused.value.advice


def test_only_a_sentence_encoder_reads_an_instruction():
    found = model_name.parse_model("sentence-transformers:org/e5", prompt="Instruct: Compare.\nQuery: ")
    assert found.title == "org/e5 · “Instruct: Compare. Query:”"
    with pytest.raises(CannotScore, match="MODEL_UNCLEAR"):
        model_name.parse_model("language-model:gpt2", prompt="Compare: ")


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cpu; rm", ""])
def test_an_unknown_device_is_refused(device):
    with pytest.raises(CannotScore, match="DEVICE_UNKNOWN"):
        model_name.check_device(device)


def test_a_recipe_changes_with_the_file_and_hubs_have_none(tmp_path):
    file = tmp_path / "weights.pt"
    file.write_bytes(b"one")
    model = model_name.parse_model("ViT-B-32", "weights.pt", tmp_path)
    first = model_name.recipe(model, "cpu")
    assert first == model_name.recipe(model, "cpu") != model_name.recipe(model, "auto")
    file.write_bytes(b"other")
    assert model_name.recipe(model, "cpu") != first
    assert model_name.recipe(model_name.parse_model("hf-hub:org/model"), "cpu") is None


def test_missing_packages_are_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in ("clip", "device"):
        monkeypatch.delitem(sys.modules, f"workers.models.{name}", raising=False)
    with pytest.raises(CannotScore, match="TORCH_MISSING") as refused:
        loading.load(model_name.parse_model("ViT-B-32", "openai"))
    assert "make models" in refused.value.advice


@pytest.mark.parametrize("depth", [0, 2])
def test_ahead_keeps_the_order_and_hands_errors_on(depth):
    assert list(prefetched(lambda n: n * n, range(7), 3, 2, depth)) == [[0, 1, 4], [9, 16, 25], [36]]
    with pytest.raises(ZeroDivisionError):
        list(prefetched(lambda n: 1 // n, [1, 0], 3, 2, depth))


def test_ahead_runs_no_further_than_its_depth():
    begun = []
    lists = prefetched(lambda n: begun.append(n), iter(range(100)), 5, 1, 1)
    next(lists)
    lists.close()
    assert len(begun) <= 10


# Which scores


@pytest.mark.parametrize(
    ("source", "captions", "images", "kind"),
    [
        ("visla", (), (), "visla"),
        ("hard-positives", ("second_positive",), (), "hard_positive"),
        ("jsonl", ("positive", "second_positive"), ("positive",), "visla"),
        ("jsonl", ("positive", "negative"), ("positive", "negative"), "bivlc"),
        ("jsonl", ("positive", "negative"), ("positive", "candidate"), "bivlc"),
        ("jsonl", ("positive", "negative"), ("positive",), "sugarcrepe"),
        ("aro", ("positive", "negative"), ("positive",), "aro"),
    ],
)
def test_the_kind_of_a_benchmark(source, captions, images, kind):
    assert scoring_plan.kind_of(source, captions, images) == kind


VECTORS = {"p": [1, 0], "n": [0, 1], "s": [0.6, 0.8], "i": [0.8, 0.6]}
PLACES = {("positive", 0): "p", ("negative", 0): "n", ("second_positive", 0): "s"}


def compared(kind: str, **sees) -> dict[str, float]:
    scores, one = similarity.Scores(), Material(7, "seven", PLACES, {("positive", 0): "i"})
    asker = similarity.Asker(**{"images": False, "texts": False, "alone": False, **sees})
    look_up = lambda contents: {name: np.array(VECTORS[name], dtype=np.float32) for name in contents}  # noqa: E731
    similarity.compare(scores, [one], lambda captions: scoring_plan.wanted_scores(kind, captions), asker, look_up)
    return {name: round(score, 6) for _, name, score in scores.rows()}


def test_scores_by_who_is_asked():
    texts = {"s(p1,p2)": 0.6, "s(p1,n)": 0, "s(p2,n)": 0.8}
    images = {"s(i,p1)": 0.8, "s(i,p2)": 0.96, "s(i,n)": 0.6}
    assert compared("visla", images=True, texts=True) == texts | images
    assert compared("visla", texts=True) == texts
    assert compared("visla", alone=True) == {"s(i,p1)": 1, "s(i,p2)": 0.6, "s(i,n)": 0}
    assert compared("hard_positive", images=True) == {"s(c)": 0.8, "s(cp)": 0.96, "s(cn)": 0.6}
    assert compared("sugarcrepe", images=True) == {"s(positive)": 0.8, "s(negative)": 0.6}
    assert compared("bivlc", images=True) == {"s(c0,i0)": 0.8, "s(c1,i0)": 0.6}


def test_an_order_task_has_four_negatives():
    captions = {("positive", 0): "p", **{("negative", n): "n" for n in range(4)}}
    names = [score.name for score in scoring_plan.wanted_scores("aro", captions)]
    assert names == ["s(positive)", "s(negative-0)", "s(negative-1)", "s(negative-2)", "s(negative-3)"]
