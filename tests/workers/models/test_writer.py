"""Models that write and classify on this machine, shown on tiny random ones."""

import numpy as np
import pytest

from tests.builders.scored_benchmarks import tiny_classifier, tiny_vera, tiny_writer
from workers.models import loading
from workers.models.chat import ChatName, Question, Settings, Unanswered
from workers.models.loading import load
from workers.models.model_name import ModelName, classifier_name
from workers.models.refusals import CannotScore

TEXTS = ["A red cup .", "A blue cup , a red cup .", "a cup"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return str(tiny_writer(tmp_path_factory.mktemp("writer") / "model"))


@pytest.fixture(scope="module")
def writer(folder):
    return loading.load_chat(ChatName(folder, device="cpu"))


def questions(texts=TEXTS, **settings) -> list[Question]:
    wanted = Settings(**{"temperature": 1.0, "max_tokens": 6} | settings)
    return [Question(text, [{"role": "user", "content": text}], wanted) for text in texts]


def answered(writer, asked: list[Question]) -> dict:
    kept: dict = {}
    writer.ask(asked, lambda question, answer: kept.setdefault(question.key, answer), lambda count: None)
    return kept


def test_an_answer_does_not_depend_on_its_batch_and_follows_from_the_seed(writer):
    together = answered(writer, questions())
    alone = {key: found for text in TEXTS for key, found in answered(writer, questions([text])).items()}
    assert together == alone
    assert together != answered(writer, questions(seed=1))
    assert {found.finish for found in together.values()} <= {"stop", "length"}
    assert all(0 < found.completion_tokens <= 6 for found in together.values())


def test_without_a_temperature_the_likeliest_token_is_taken(writer):
    assert answered(writer, questions(temperature=0.0)) == answered(writer, questions(temperature=0.0, seed=9))


def test_a_batch_that_does_not_fit_is_halved_and_says_so(writer, monkeypatch):
    generate, sizes = writer.model.generate, []

    def small(input_ids, **more):
        sizes.append(len(input_ids))
        if len(input_ids) > 1:
            raise RuntimeError("CUDA out of memory")
        return generate(input_ids=input_ids, **more)

    whole = answered(writer, questions())
    monkeypatch.setattr(writer, "most", 4)
    monkeypatch.setattr(writer.model, "generate", small)
    assert answered(writer, questions()) == whole
    assert sizes == [3, 1, 1, 1]
    assert writer.facts["batch"] == "halved to 1 when memory ran out"


def test_what_the_model_cannot_take_stays_unanswered(writer):
    long, picture = questions(["A cup . " * 40])[0], Question("p", [{"role": "user", "content": [{}]}], Settings())
    found = answered(writer, [long, picture, *questions(["a cup"])])
    assert [isinstance(one, Unanswered) for one in found.values()] == [True, True, False]


def test_what_made_a_text_is_known_by_its_weights(writer, folder):
    assert writer.identity == loading.load_chat(ChatName(folder, device="cpu")).identity == writer.facts["weights"]
    assert writer.facts["model"] == "model" and set(writer.facts["versions"]) == {"torch", "transformers"}


@pytest.mark.parametrize("labels", [1, 2])
def test_a_sequence_classifier_gives_the_probability_of_its_last_label(tmp_path, labels):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = tiny_classifier(tmp_path / "judge", labels)
    found = np.concatenate(list(load(classifier_name(str(folder), folder.parent), "cpu").texts(TEXTS)))[:, 0]
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    for text, score in zip(TEXTS, found, strict=True):
        logits = model(**tokenizer(text, return_tensors="pt")).logits[0].double()
        wanted = logits.sigmoid() if labels == 1 else logits.softmax(0)[1:]
        assert score == pytest.approx(wanted.item(), abs=1e-6)


def test_vera_is_read_as_it_is_published(tmp_path):
    """The head is in rows of the embedding, and looks at the last token."""
    from transformers import AutoTokenizer, T5EncoderModel

    folder = tiny_vera(tmp_path / "vera")
    found = np.concatenate(list(load(classifier_name(str(folder), folder.parent), "cpu").texts(TEXTS)))[:, 0]
    model, tokenizer = T5EncoderModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    head = model.shared.weight
    for text, score in zip(TEXTS, found, strict=True):
        last = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, -1]
        wanted = ((last @ head[32_099] + head[32_098, 0]) / head[32_097, 0]).sigmoid()
        assert score == pytest.approx(wanted.item(), abs=1e-5)


def test_another_kind_of_model_is_refused_in_a_sentence(tmp_path, folder):
    judge = tiny_classifier(tmp_path / "judge", 3)
    makes = [lambda path=path: load(ModelName("classifier", path), "cpu") for path in (folder, str(judge))]
    for make in (*makes, lambda: loading.load_chat(ChatName(str(judge), device="cpu"))):
        with pytest.raises(CannotScore, match="WEIGHTS_WRONG"):
            make()
