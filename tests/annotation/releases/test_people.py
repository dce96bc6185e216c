"""An imported release brings its people: they stand in the table of models of the new benchmark."""

import json

import pytest
from django.urls import reverse

from benchmarks.models import Benchmark, Job, Run
from benchmarks.runs import figures as run_figures
from tests.annotation.releases.released import change_json, change_lines
from tests.builders import imports

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("studies_exported")]
STUDIES = ("protocol_files", "stages")


def figures(folder) -> dict:
    return json.loads((folder / "figures.json").read_text())


def brought(folder, name: str = "Cups", **options) -> Benchmark:
    return imports.benchmark(folder, None, name=name, format="release", **options)


def test_a_stage_that_asked_about_foils_stands_beside_the_models(released, client, manager):
    """Of two stages one asked about the negative caption, the other about a text that its annotators wrote."""
    folder = released("protocol_files")
    benchmark = brought(folder)
    [first, _] = figures(folder)["stages"]
    [right] = [one["right"] for one in first["scores"]["answers"] if "right" in one]
    page = client.get(reverse("benchmark-models", args=[benchmark.pk]))
    [humans] = page.context["sections"]
    [row] = humans.rows
    shown = dict(zip((one.name for one in page.context["columns"]), row.cells, strict=True))["overall"]
    whole = right["whole"]
    assert (humans.title, row.entry.title, row.n) == ("People", "One person on average (simulated)", whole["n_items"])
    assert (shown.share, shown.low, shown.high, shown.n) == tuple(
        whole[name] for name in ("value", "low", "high", "n_items")
    )
    assert row.entry.source == (
        f"release made 1.0: stage first, average of {whole['n_judgments']} answers by {whole['n_annotators']} "
        f"annotators about {whole['n_items']} items, kept or not"
    )
    assert page.context["people"] == row.entry


def test_a_human_baseline_comes_with_its_intervals_and_types(released):
    folder = released("stages")
    [baseline] = figures(folder)["baselines"]
    run = brought(folder).runs.get()
    found = run_figures.reported(run)
    assert (run.kind, run.title, run.figures["family"]) == ("bivlc", "People (simulated)", "human")
    assert {"i2t", "t2i", "group"} <= {*found["measures"]}
    for name, of in found["measures"].items():
        assert {part: of[part] for part in ("share", "low", "high", "n")} == {
            part: baseline["measures"][name][part] for part in ("share", "low", "high", "n")
        }
    groups = [(of["type"], of["subtype"]) for of in baseline["by_type"]]
    assert groups == [(of["type"], of["subtype"]) for of in found["groups"]] != []


@pytest.mark.parametrize(("programs", "mark"), [(0, ""), (1, " (1 of 5 simulated)")])
def test_programs_among_them_are_named(released, programs, mark):
    def simulate(annotators: list[dict]) -> None:
        for number, line in enumerate(annotators):
            line["simulated"] = number < programs

    folder = released("protocol_files")
    change_lines(folder / "annotators.jsonl", simulate)
    assert brought(folder).runs.get().title == f"One person on average{mark}"


def test_it_brings_them_once_and_only_as_a_whole(released):
    folder = released("stages")
    assert not brought(folder, "A split", split="test").runs.exists()
    brought(folder)
    brought(folder, skip_stored=True)
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"baselines": [{"items": 3, "by_type": [], "measures": {"group": {"share": 7, "low": 0, "high": 1, "n": 3}}}]},
        {"baselines": [{"items": 3, "by_type": [], "measures": {"group": {"share": "x"}}}]},
        {"baselines": 5},
    ],
)
def test_figures_of_another_shape_are_noted_and_do_not_stop_the_import(released, change):
    folder = released("stages")
    change_json(folder / "figures.json", lambda found: found.update(change))
    benchmark = brought(folder)
    assert benchmark.items.exists() and not benchmark.runs.exists()
    [note] = [one for one in Job.objects.latest("pk").report["notes"] if one["code"] == "FILE_IGNORED"]
    assert note["file"] == "figures.json" and "are not shown beside models" in note["advice"]
