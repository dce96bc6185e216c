"""Training as a job: from a benchmark or a release to a stored model that scores, and what is refused."""

import json
import os
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Job, JobState, Run, TrainedModel
from benchmarks.runs import figures
from benchmarks.scoring import detected
from benchmarks.training import material, plot, released, train
from benchmarks.training.released import ReleasedSplit
from tests.builders import imports, trainings
from tests.builders.killed import Killed
from tests.builders.scored_benchmarks import scored
from workers.models import training_task
from workers.models.presets import PRESETS, settings_of

pytestmark = pytest.mark.django_db
QUICK = {"batch": 8, "epochs": 2, "rate": 1e-3}


@pytest.fixture(scope="session")
def saved_base(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    trainings.tiny_base(folder)
    return folder


@pytest.fixture
def base(saved_base, tmp_path) -> str:
    shutil.copytree(saved_base, tmp_path / "models" / "base", copy_function=os.link)
    return "local-dir:base"


@pytest.fixture(autouse=True)
def one_thread_and_a_folder_of_models(monkeypatch, tmp_path, settings):
    monkeypatch.setattr("workers.models.device.cores", lambda: 1)
    settings.MODELS = tmp_path / "models"


@pytest.fixture
def scenes(media, tmp_path) -> Benchmark:
    return trainings.scene_benchmark(tmp_path / "scenes", 15)


def queued(benchmark: Benchmark, base: str, preset: str = "negclip", name: str = "mine", **more) -> Job:
    asked = {"preset": preset, "model": base, "pretrained": "", "device": "cpu", "name": name, **QUICK, **more}
    return train.queue_train(benchmark=benchmark, order=train.TrainOrder(**asked), by="test")


def run(job: Job) -> Job:
    return jobs.run(job_id=job.pk, by="test", work=train.Training.do)


def registered(monkeypatch, benchmark: Benchmark, lines: list[dict], *splits: str) -> None:
    found = ReleasedSplit("Cups 1.0", benchmark.pk, splits, lambda: iter(lines))
    monkeypatch.setattr(released, "_FINDERS", [lambda user: iter([found])])


def lines(benchmark: Benchmark, split_of) -> list[dict]:
    """As items.jsonl of a release has them."""
    found = []
    for number, item in enumerate(material.of_benchmark(benchmark)):
        captions = [{"role": role, "text": text} for role, texts in item.captions.items() for text in texts]
        images = [{"key": f"{role}-0", "sha256": sha256} for role, sha256 in item.images.items()]
        found.append(
            {
                "id": item.key,
                "type": "",
                "subtype": "",
                "captions": captions,
                "images": images,
                "split": split_of(number),
            }
        )
    return found


# What comes out


def test_a_trained_model_is_at_once_one_to_score_with(scenes, base, settings):
    job = run(queued(scenes, base))
    model = TrainedModel.objects.get()
    assert (job.state, job.report["model"]) == (JobState.DONE, f"local-dir:trained/mine-{model.weights[:12]}")
    assert (model.counts["train"], model.counts["validation"]) == (12, 3)
    assert model.hyperparameters["seed"] == 0 and model.facts["versions"]["torch"] and model.source == "Scenes"
    assert sorted(path.name for path in (settings.MODELS / "training").iterdir()) == []
    found = scored(scenes, model.asked)
    assert found.predictions.count() == 15 * 4
    assert found.model.title == f"mine-{model.weights[:12]}"
    again = run(queued(scenes, base, name="other"))
    assert again.report["note"] == train.AGAIN and again.report["name"] == "mine"


def test_a_detector_answers_the_questions_of_bivlc(scenes, base):
    job = run(queued(scenes, base, preset="detector"))
    assert job.state == JobState.DONE, job.problems
    found = scored(scenes, job.report["model"])
    assert set(found.predictions.values_list("choice", flat=True)) <= {"positive", "negative"}
    assert found.predictions.count() == 15 * 4
    measures = figures.compute(found)["measures"]
    right = sum(both_right(item) for item in answers_by_item(found).values())
    assert measures["group"]["right"] == right


def answers_by_item(run: Run) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    for item, question, choice in run.predictions.values_list("item", "question", "choice"):
        found.setdefault(item, {})[question] = choice
    return found


def both_right(answers: dict[str, str]) -> bool:
    return all(answers[name] == ("positive" if "pos" in name else "negative") for name in answers)


C0, C1 = ("positive", 0), ("negative", 0)


@pytest.mark.parametrize(
    ("captions", "images", "right"),
    [
        ((0.2, 0.7), (0.1, 0.9), {"i_pos2t", "i_neg2t", "t_pos2i", "t_neg2i"}),
        ((0.2, 0.3), (0.1, 0.9), {"i_pos2t", "i_neg2t", "t_pos2i"}),  # the negative caption passes for natural
        ((0.7, 0.2), (0.1, 0.9), set()),  # captions the wrong way round: neither found nor recognised
        ((0.2, 0.7), (0.5, 0.4), {"i_pos2t"}),  # images the wrong way round; one half passes for natural
        ((0.3, 0.3), (0.1, 0.9), {"t_pos2i"}),  # a tie of captions is not right
    ],
)
def test_a_detector_must_recognise_what_it_is_given_and_then_choose(captions, images, right):
    """BiVLC, §5.3."""
    found = detected.answers(dict(zip((C0, C1), captions, strict=True)), dict(zip((C0, C1), images, strict=True)))
    correct = {name for name, answer in found.items() if answer == ("positive" if "pos" in name else "negative")}
    assert correct == right


# Which items


def test_items_that_share_an_image_stay_on_one_side(scenes):
    preset = PRESETS["negclip"]
    for image in ("positive", "negative"):  # items 0 to 3 share their pictures
        shared = scenes.items.first().item_images.get(role=image).image
        for item in scenes.items.order_by("position")[:4]:
            item.item_images.filter(role=image).update(image=shared)
    for seed in range(5):
        found = material.sides(scenes, None, preset, seed)
        sides = [{one.key for one in side} & {"i0", "i1", "i2", "i3"} for side in (found.train, found.validation)]
        assert sorted(map(len, sides)) == [0, 4]
        assert {one.image for one in found.train}.isdisjoint(one.image for one in found.validation)


def test_items_of_a_test_split_are_refused_by_name(scenes, base, monkeypatch):
    registered(monkeypatch, scenes, lines(scenes, lambda number: "test" if number == 2 else "train"), "train", "test")
    job = run(queued(scenes, base))
    assert imports.codes(job) == ["IN_A_TEST_SPLIT"]
    assert job.problems[0]["advice"].startswith("1 item (i2) or their images are in the test split of Cups 1.0.")


def test_images_of_a_test_split_are_refused_in_another_benchmark_too(scenes, base, monkeypatch, tmp_path):
    registered(monkeypatch, scenes, lines(scenes, lambda number: "test"), "test")
    other = trainings.scene_benchmark(tmp_path / "other", 12, name="Other")
    job = run(queued(other, base))
    assert imports.codes(job) == ["IN_A_TEST_SPLIT"]


def test_the_training_side_of_a_release_is_used_as_it_is(scenes, base, monkeypatch):
    sides = lambda number: ("train", "validation", "test")[number % 3] if number > 8 else "train"  # noqa: E731
    registered(monkeypatch, scenes, lines(scenes, sides), "train", "validation", "test")
    found = material.sides(scenes, released.to_train_on(scenes)[0], PRESETS["trohn_img"], 0)
    assert [one.key for one in found.train] == [*(f"i{n}" for n in range(9)), "i9", "i12"]
    assert [one.key for one in found.validation] == ["i10", "i13"]
    job = run(queued(scenes, base, release="Cups 1.0"))
    assert (job.state, TrainedModel.objects.get().source) == (JobState.DONE, "Cups 1.0")


@pytest.mark.parametrize(
    ("preset", "count", "words"),
    [("negclip", 9, "at least 10 items"), ("hard_positive", 12, "12 lack a second positive caption")],
)
def test_too_few_items_are_a_sentence(media, tmp_path, base, preset, count, words):
    job = run(queued(trainings.scene_benchmark(tmp_path / "few", count), base, preset))
    assert imports.codes(job) == ["TOO_FEW_ITEMS"] and words in job.problems[0]["advice"]


# What is lost, and what is not


def test_a_killed_job_goes_on_and_stores_what_it_would_have_stored(scenes, base, monkeypatch, settings):
    step, left = train.Training.step, [3]

    def die(self, curve):
        step(self, curve)
        left[0] -= 1
        if not left[0]:
            raise Killed

    job = queued(scenes, base)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(train.Training, "step", die)
        run(job)
    assert not TrainedModel.objects.exists() and len(list((settings.MODELS / "training").iterdir())) == 1
    assert run(job).state == JobState.DONE
    first = TrainedModel.objects.get().weights
    TrainedModel.objects.all().delete()
    run(queued(scenes, base, name="whole"))
    assert TrainedModel.objects.get().weights == first


def test_a_cancelled_job_keeps_its_checkpoint_and_stores_no_model(scenes, base, monkeypatch, settings):
    monkeypatch.setattr(jobs, "WRITE_EVERY", 0)
    job = queued(scenes, base)

    def tell(phase: str, done: int, total: int | None) -> None:
        if phase == "training" and done == 3:
            jobs.cancel_job(job=job, by="test")

    done = jobs.run(job_id=job.pk, by="test", work=train.Training.do, tell=tell)
    assert (done.state, TrainedModel.objects.count()) == (JobState.CANCELLED, 0)
    assert done.report["curve"]["losses"]
    assert list((settings.MODELS / "training").glob("*/checkpoint.pt"))
    assert not (settings.MODELS / "trained").exists()


def test_a_name_that_was_taken_meanwhile_is_a_sentence(scenes, base):
    jobs_of_two = [queued(scenes, base, seed=seed) for seed in (0, 1)]
    assert [run(job).state for job in jobs_of_two] == [JobState.DONE, JobState.FAILED]
    jobs_of_two[1].refresh_from_db()
    assert imports.codes(jobs_of_two[1]) == ["NAME_TAKEN"]


def test_a_full_disk_while_storing_leaves_no_half_model(scenes, base, settings, monkeypatch):
    job = queued(scenes, base)
    save = Path.write_text

    def full(path, *given, **more):
        if path.name == ".open_clip_config.json":
            raise OSError(28, "No space left on device")
        return save(path, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        assert imports.codes(run(job)) == ["STORAGE_FULL"]
    assert list((settings.MODELS / "trained").iterdir()) == []
    assert run(queued(scenes, base)).state == JobState.DONE


# The command, the estimate and the plot


def test_the_command_trains_and_says_what_to_score_with(scenes, base, capsys):
    asked = {"preset": "clip_coco", "model": base, "name": "mine", "device": "cpu", "now": True, **QUICK}
    call_command("train", "Scenes", **asked)
    said = capsys.readouterr().out
    assert "Trained mine on 12 items" in said and "--model local-dir:trained/mine-" in said


def test_a_further_process_of_torchrun_stores_nothing(scenes, base, monkeypatch, settings):
    monkeypatch.setenv("RANK", "1")
    asked = {"preset": "negclip", "model": base, "name": "mine", "device": "cpu", "now": True, **QUICK}
    call_command("train", "Scenes", **asked)
    assert not TrainedModel.objects.exists() and not Job.objects.filter(kind="train").exists()
    assert not (settings.MODELS / "trained").exists()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"model": "sentence-transformers:a/b"}, "MODEL_UNCLEAR"),
        ({"name": "../mine"}, "NAME_UNCLEAR"),
        ({"release": "Cups 2.0"}, "RELEASE_UNKNOWN"),
        ({"epochs": 0}, "BAD_SETTING"),
        ({"rates": "1e-5 and 1e-6"}, "BAD_SETTING"),
    ],
)
def test_the_command_refuses_in_a_sentence(scenes, base, changes, code):
    with pytest.raises(CommandError, match=code):
        call_command("train", "Scenes", **{"preset": "negclip", "model": base, "name": "mine", **changes})
    assert not Job.objects.filter(kind="train").exists()


def test_an_estimate_is_at_the_pace_of_the_last_training(scenes):
    chosen = settings_of("negclip")
    assert train.estimate(scenes, chosen) is None
    facts = {"hyperparameters": settings_of("negclip", epochs=2).as_json(), "counts": {"train": 24}, "seconds": 6.0}
    TrainedModel.objects.create(name="m", preset="negclip", accuracy=1, epoch=1, path="trained/m", **facts)
    assert train.estimate(scenes, chosen) == pytest.approx(6 / 48 * 12 * 5)


def test_a_curve_is_drawn_over_all_steps():
    curve = training_task.Curve(10, [[1, 4.0], [2, 2.0]], [[5, 0.75]])
    loss, accuracy = plot.panels(json.loads(json.dumps(curve.as_json())))
    assert (loss["points"], loss["top"], loss["last"]) == ("64.0,0.0 128.0,60.0", 4.0, 2.0)
    assert (accuracy["points"], accuracy["top"]) == ("320.0,30.0", 1.0)
    assert plot.panels({}) == []
