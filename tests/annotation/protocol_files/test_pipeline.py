"""What a stage of a protocol file gives the next: the image that was chosen, or the text that was written."""

from dataclasses import replace

import pytest

from annotation.assignment import leases
from annotation.designs import presets
from annotation.models import Judgment, Stage
from annotation.protocols import library
from benchmarks.models import Benchmark
from tests.builders import declared, studies

pytestmark = pytest.mark.django_db


def two_stages(first: str, second: str, benchmark: Benchmark) -> list[Stage]:
    (one,) = presets.single_stage(declared.published(first)).stages
    (other,) = presets.single_stage(declared.published(second)).stages
    stages = [one, replace(other, source=one.stage_name)]
    return list(studies.study(benchmark=benchmark, stages=stages).stages.order_by("position"))


def test_a_chosen_image_is_an_option_of_the_next_stage():
    """By the files of bivlc-choose and bivlc-disambiguate, whose item needs no negative image of its own."""
    choose, disambiguate = two_stages("bivlc-choose", "bivlc-disambiguate", studies.benchmark())
    studies.judgment(studies.annotator(choose.study), choose, "candidate-2")
    task = disambiguate.tasks.get()
    assert task.carried == {"negative": "candidate-2"} and "candidate-2" in task.options


def test_a_description_is_shown_to_those_who_revise_it():
    describe, revise = two_stages("describe", "revise", declared.benchmark(library.shipped("revise"), items=1))
    writer, words = studies.annotator(describe.study), "A red cup stands on a blue table. " * 8
    (lease,) = leases.hold(annotator=writer, stage=describe, wanted=1)
    studies.submit(writer, lease, "", more={"description": words})
    assert revise.tasks.get().carried == {"caption-description": words.strip()}
    assert Judgment.objects.get().answer == "written"
