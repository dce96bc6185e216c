"""From positive captions to the figures of a model that was trained on what people chose: each command takes what the
one before it made, and the release says how it all came about."""

import importlib.util
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.templatetags.figures import exact_percent
from benchmarks.models import Benchmark, Item, Run
from benchmarks.runs import figures
from tests.builders import imports
from tests.builders.chat_server import ChatServer, chat_server
from tests.builders.trainings import drawn, tiny_base
from workers.models import endpoint

pytestmark = pytest.mark.django_db(transaction=True)
KNOWN, UNKNOWN = ("red", "blue", "green"), ("yellow", "pink", "purple", "orange")  # to the small classifiers
COLOURS = re.compile("|".join((*KNOWN, *UNKNOWN)))


def manage(*asked: object) -> str:
    """What `manage.py` says."""
    said = StringIO()
    command, *arguments = map(str, asked)
    call_command(command, *arguments, stdout=said, stderr=StringIO())
    return said.getvalue()


def other_colour(caption: str) -> str:
    """What a language model writes, which now and then does not follow the template."""
    first = COLOURS.search(caption)
    if first is None or "balloon" in caption:
        return "I am sorry."
    others = KNOWN if first[0] not in KNOWN else UNKNOWN  # so that scores differ, in either direction
    new = next(colour for colour in others if colour not in caption)
    article = re.sub("^An? ", "A ", caption[: first.start()])
    return f"Chosen: {first[0]}\nNew: {new}\nNew caption: {article}{new}{caption[first.end() :]}"


@dataclass(frozen=True)
class Size:
    scenes: int
    design: tuple[str, ...]  # of the study
    people: int
    steps: int  # of the text-to-image model
    epochs: int


SHORT = Size(36, ("--protocol", "bivlc-choose", "--overlap", "1"), people=2, steps=1, epochs=1)
WHOLE = Size(160, ("--preset", "bivlc", "--sample", "20"), people=6, steps=4, epochs=3)


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """A folder with small random models: classifiers of captions, a text-to-image pipeline, a CLIP to train."""
    from tests.builders.scored_benchmarks import tiny_classifier
    from tests.builders.tiny_models import tiny_pipeline

    folder = tmp_path_factory.mktemp("models")
    tiny_classifier(folder / "plausible", seed=0)
    tiny_classifier(folder / "grammatical", seed=2)
    tiny_pipeline(folder / "painter")
    (folder / "clip").mkdir()
    tiny_base(folder / "clip")
    return folder


def import_positives(folder: Path, scenes: int) -> None:
    """Captions with an image each."""
    items, files = [], {}
    for number, (caption, _, picture, _) in enumerate(drawn(scenes)):
        files[f"{number}.png"] = picture
        captions, images = [{"role": "positive", "text": caption}], [{"role": "positive", "file": f"{number}.png"}]
        items.append(imports.item(number, type="", subtype="", captions=captions, images=images))
    archive = imports.archive(folder, [], files)
    manage("import_benchmark", "jsonl", imports.manifest(folder, items), "--images", archive, "--name", "Scenes")


def generate_captions(server: ChatServer, models: Path) -> str:
    asked = ("--kind", "replace-att", "--address", server.address, "--model", "tiny", "--seed", 7, "--now")
    classifiers = ("--plausibility", models / "plausible", "--grammar", models / "grammatical")
    return manage(
        "generate_captions", "Scenes", "--name", "Negatives", *asked, *classifiers, "--share", 0.9, "--refine"
    )


def let_fit(name: str) -> None:
    """What the crowd finds: of most items a candidate fits, and only the positive image fits the positive caption."""
    for item in Item.objects.filter(benchmark__name=name):
        chosen = "none" if item.position % 6 == 5 else f"candidate-{item.position % 2}"
        item.truth = {"bivlc-choose": [chosen], "bivlc-disambiguate": ["positive-0"]}
        item.save()


def scored_outside(release: Path, model: Path, capsys) -> Mapping:
    """What the score.py of a release prints."""
    spec = importlib.util.spec_from_file_location("released_score", release / "score.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    capsys.readouterr()
    script.main(["--open-clip", f"local-dir:{model}", "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "size", [pytest.param(SHORT, id="short"), pytest.param(WHOLE, marks=pytest.mark.nightly, id="whole")]
)
def test_from_positive_captions_to_the_figures_of_a_trained_model(
    size, site, own_files, settings, tmp_path, models, monkeypatch, client, capsys
):
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)
    settings.MODELS = models
    import_positives(tmp_path, size.scenes)

    faults = (["busy", 500], ["nonsense"], ["half"])
    with chat_server(other_colour, {text: list(of) for (text, *_), of in zip(drawn(3), faults, strict=True)}) as server:
        said = generate_captions(server, models)
    made = Benchmark.objects.get(name="Negatives").items.count()
    assert f"{size.scenes} answered" in said and f"{made} kept by the refinement" in said

    draw = ("generate_images", "Negatives", "--model", models / "painter", "--count", 2, "--steps", size.steps)
    assert f"{2 * made:,} new candidates for {made} items" in manage(*draw, "--now")

    manage("create_study", "Negatives", *size.design, "--name", "Choice")
    let_fit("Negatives")
    manage("simulate", "Choice", "--annotators", size.people, "--error-rate", 0, "--url", site)

    release = tmp_path / "release"
    splits = ("train=60", "validation=20", "test=20")
    manage("create_release", "Choice", "scenes@1.0", "--splits", *splits, "--out", release)
    assert "No problems found." in manage("verify_release", release)
    items = [json.loads(line) for line in (release / "items.jsonl").read_text().splitlines()]
    test = {item["id"] for item in items if item["split"] == "test"}
    assert 0 < len(items) < made and 0 < len(test) < len(items)
    for item in items:
        [text] = item["meta"]["generated"]
        assert (text["kind"], text["model"], text["endpoint"], text["seed"]) == (
            "replace-att", "tiny", server.address, 7
        )  # fmt: skip
        assert text["classifiers"].keys() == {"grammar", "plausibility"} and text["answer"].startswith("Chosen:")
        [negative] = [caption["text"] for caption in item["captions"] if caption["role"] == "negative"]
        candidates = [image for image in item["images"] if image["key"].startswith("candidate-")]
        assert len(candidates) == 2 and sum(image["chosen"] for image in candidates) == 1
        for drawn_by in (image["attributes"] for image in candidates):
            assert (drawn_by["model"], drawn_by["prompt"]) == ("painter", negative)
            assert len(drawn_by["weights"]) == 64 and drawn_by["seed"] > 0

    train = ("train", "Negatives", "--model", f"local-dir:{models / 'clip'}", "--name", "mine", "--batch", 8)
    train += ("--epochs", size.epochs, "--now", "--preset")
    with pytest.raises(CommandError) as refused:
        manage(*train, "trohn_text")
    assert re.search(rf"IN_A_TEST_SPLIT .* {len(test)} items .* test split of scenes 1.0", str(refused.value))
    with pytest.raises(CommandError, match=r"TOO_FEW_ITEMS .* lack a negative image. Train on a release"):
        manage(*train, "trohn_img")  # nobody chose among these candidates except in the release
    said = manage(*train, "trohn_img", "--release", "scenes 1.0")
    assert f"on {sum(item['split'] == 'train' for item in items)} items" in said
    [model] = re.findall("--model (.+)", said)

    manage("import_benchmark", "release", release, "--split", "test", "--name", "Scenes, test")
    assert f"on {len(test)} items" in manage("score", "Scenes, test", "--model", model, "--now")
    run = Run.objects.get()
    inside = figures.compute(run)["measures"]
    outside = scored_outside(release, settings.MODELS / model.removeprefix("local-dir:"), capsys)
    assert (outside["split"], outside["n"]) == ("test", len(test))
    for name, one in outside["measures"].items():
        assert all(one[key] == pytest.approx(inside[name][key], abs=1e-9) for key in ("share", "low", "high", "n"))

    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("benchmark-models", args=[run.benchmark_id])).text
    assert run.title in page and exact_percent(inside["i_pos2t"]["share"]) in page
