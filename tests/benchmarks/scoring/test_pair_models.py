"""Models that read an image and a caption together: what their own library says, what is kept, what is refused."""

import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

from benchmarks.models import Caption, Embedding, Image, JobState, Run
from benchmarks.runs import embeddings
from benchmarks.scoring import score as scoring_score
from benchmarks.storage.files import kept
from tests.builders import imports
from tests.builders.killed import Killed
from tests.builders.scored_benchmarks import column, cups, queued, run, scored
from tests.lazy import LazyModule
from workers.models import loading
from workers.models.model_name import parse_model
from workers.models.refusals import CannotScore

torch, transformers = map(LazyModule, ("torch", "transformers"))
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loaded_once")]


@pytest.fixture(scope="session")
def tiny_pairs(tmp_path_factory) -> dict[str, str]:
    """The `--model` of a small model, by kind."""
    from tests.builders.tiny_models import tiny_answering, tiny_matching

    folder = tmp_path_factory.mktemp("models")
    return {"vqa": f"vqa:{tiny_answering(folder / 'vqa')}", "itm": f"itm:{tiny_matching(folder / 'itm')}"}


# What the model itself would say


def chance_of_yes(folder: str, picture: Picture.Image, caption: str) -> float:
    """By one pass of the model itself, of this question alone."""
    processor = transformers.AutoProcessor.from_pretrained(folder)
    model = transformers.LlavaForConditionalGeneration.from_pretrained(folder)
    asked = f'<image>\nDoes this figure show "{caption}"? Answer yes or no.'
    last = model(**processor(images=picture, text=asked, return_tensors="pt")).logits[0, -1]
    yes = [processor.tokenizer.convert_tokens_to_ids(word) for word in ("Yes", "yes")]
    return math.log(last.softmax(-1)[yes].sum().item())


def chance_of_match(folder: str, picture: Picture.Image, caption: str) -> float:
    processor = transformers.AutoProcessor.from_pretrained(folder)
    model = transformers.BlipForImageTextRetrieval.from_pretrained(folder)
    found = model(**processor(images=picture, text=caption, return_tensors="pt")).itm_score
    return math.log(found.softmax(-1)[0, 1].item())


@pytest.mark.parametrize(("kind", "alone"), [("vqa", chance_of_yes), ("itm", chance_of_match)])
def test_scores_are_what_the_model_alone_says(media, tmp_path, tiny_pairs, kind, alone):
    """Captions differ in length, so that a batch is padded."""
    benchmark = cups(tmp_path, count=2)
    Caption.objects.filter(item__key="i0", role="negative").update(text="A blue cup, a red cup, a green cup.")
    made = scored(benchmark, tiny_pairs[kind])
    assert (made.blind, made.kind, made.job.report["encoded"]) == (False, "bivlc", {"pairs": 8})
    seen = set()
    for name, caption, image in (("s(c0,i0)", "positive", "positive"), ("s(c1,i1)", "negative", "negative")):
        for key, found in column(made, name).items():
            path = Image.objects.get(uses__item__key=key, uses__role=image).original_path
            with Picture.open(kept.contents(path)) as picture:
                text = Caption.objects.get(item__key=key, role=caption).text
                assert found == pytest.approx(alone(tiny_pairs[kind].partition(":")[2], picture, text), abs=1e-5)
            seen.add(found)
    assert len(seen) == 4


def test_a_conversation_is_in_the_models_own_form_and_padding_changes_nothing(tmp_path):
    from tests.builders.tiny_models import tiny_chatting

    model = loading.load(parse_model(f"vqa:{tiny_chatting(tmp_path / 'chat')}", models=tmp_path), "cpu")
    asked = '<s><|vision_start|><|image_pad|><|vision_end|>Does this figure show "A cup."? Answer yes or no.</s>'
    assert model.prompt("A cup.") == asked
    pairs = []
    for number, drawn in enumerate([Picture.linear_gradient("L"), Picture.radial_gradient("L")]):
        drawn.resize((60 + 60 * number, 40)).convert("RGB").save(tmp_path / f"{number}.png")
        pairs.append((tmp_path / f"{number}.png", ["A red cup.", "A blue cup, a red cup, a green cup."][number]))
    together = np.concatenate(list(model.scores(pairs)))
    alone = np.concatenate([next(model.scores([pair])) for pair in pairs])
    assert np.allclose(together, alone, atol=1e-4)
    assert together[0] != together[1]


# What is kept


def test_a_second_run_scores_only_what_is_new(media, tmp_path, tiny_pairs, monkeypatch):
    benchmark = cups(tmp_path)
    first = scored(benchmark, tiny_pairs["itm"])
    with monkeypatch.context() as patch:
        patch.setattr(scoring_score, "load", None)
        assert run(queued(benchmark, tiny_pairs["itm"])).report["note"] == scoring_score.AGAIN
    Caption.objects.filter(item__key="i0", role="negative").update(text="A green cup.")
    second = scored(benchmark, tiny_pairs["itm"])
    assert (second.pk != first.pk, second.job.report["encoded"]) == (True, {"pairs": 2})


def test_a_worker_goes_on_where_a_dead_one_was(media, tmp_path, tiny_pairs, monkeypatch):
    job, keep = queued(cups(tmp_path), tiny_pairs["itm"]), embeddings.keep

    def keep_one_batch(*batch, **vectors):
        keep(*batch, **vectors)
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(embeddings, "keep", keep_one_batch)
        run(job)
    assert (Embedding.objects.count(), Run.objects.count()) == (4, 0)
    job = run(job)
    assert (job.state, job.report["encoded"], job.report["scores"]) == (JobState.DONE, {"pairs": 8}, 12)


def test_half_the_batch_is_tried_where_memory_runs_out_and_the_report_says_so(media, tmp_path, tiny_pairs, monkeypatch):
    from workers.models.pairs import Pairs

    whole, part = scored(cups(tmp_path / "one", name="One"), tiny_pairs["itm"]), Pairs.part

    def small(self, pairs):
        if len(pairs) > 2:
            raise torch.OutOfMemoryError
        return part(self, pairs)

    monkeypatch.setattr(Pairs, "part", small)
    Embedding.objects.all().delete()
    made = scored(cups(tmp_path / "two", name="Two"), tiny_pairs["itm"])
    assert made.job.report["reduced_to"] == 2
    assert np.allclose(list(column(made, "s(c0,i1)").values()), list(column(whole, "s(c0,i1)").values()), atol=1e-6)
    monkeypatch.setattr(Pairs, "part", lambda *given: (_ for _ in ()).throw(torch.OutOfMemoryError()))
    Embedding.objects.all().delete()
    assert imports.codes(run(queued(made.benchmark, tiny_pairs["itm"]))) == ["OUT_OF_MEMORY"]


# Refusals


def without_a_weight(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights.pop(sorted(weights)[0])
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def damaged(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"no weights at all")


def bare(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


@pytest.mark.parametrize(
    ("kind", "asked_as", "change", "words"),
    [
        ("vqa", "vqa", without_a_weight, "lacks 1 of the model's weights"),
        ("vqa", "vqa", damaged, "could not be loaded"),
        ("itm", "itm", bare, "model.safetensors"),
        ("vqa", "itm", None, "has no image-text-matching head: it is LlavaForConditionalGeneration."),
    ],
)
def test_weights_that_do_not_fit_are_one_sentence(tmp_path, tiny_pairs, kind, asked_as, change, words):
    folder = tmp_path / "model"
    shutil.copytree(tiny_pairs[kind].partition(":")[2], folder)
    if change:
        change(folder)
    with pytest.raises(CannotScore, match="WEIGHTS_WRONG") as refused:
        loading.load(parse_model(f"{asked_as}:{folder}", models=tmp_path), "cpu")
    assert words in refused.value.advice
    assert "\n" not in refused.value.advice
