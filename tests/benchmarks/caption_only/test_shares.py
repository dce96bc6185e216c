"""What models that see no image get right, the warning, and the refinement by two of them."""

import json
from math import tanh

import pytest
from django.core.management import CommandError, call_command

from benchmarks.caption_only import refine
from benchmarks.models import Benchmark, Prediction, Run
from tests.builders import studies

pytestmark = pytest.mark.django_db


def run(benchmark: Benchmark, gaps: list[float], blind: bool = True, title: str = "reader") -> Run:
    """A run that prefers the positive caption of each item by so much."""
    made = Run.objects.create(benchmark=benchmark, origin="imported", kind="sugarcrepe", title=title, blind=blind)
    for item, gap in zip(benchmark.items.all(), gaps, strict=True):
        for name, score in (("s(positive)", -3 + gap), ("s(negative)", -3)):
            Prediction.objects.create(run=made, item=item, question=name, score=score)
    return made


def told(capsys, *words: str, **options) -> str:
    call_command("blind", *words, **options)
    return capsys.readouterr().out


def test_it_warns_where_the_whole_interval_is_above_chance(capsys):
    benchmark = studies.benchmark(items=12, candidates=0)
    run(benchmark, [1] * 12)
    said = told(capsys, benchmark.name)
    assert "overall 100.00" in said
    assert (
        "WARNING: reader, which sees no image, answers the whole benchmark better than chance: accuracy 100.0%" in said
    )


def test_it_does_not_warn_within_the_interval_nor_of_who_sees(capsys):
    benchmark = studies.benchmark(items=12, candidates=0)
    run(benchmark, [1] * 8 + [-1] * 4)
    run(benchmark, [1] * 12, blind=False, title="seer")
    said = told(capsys, benchmark.name)
    assert "overall 66.67" in said
    assert "WARNING" not in said
    assert "seer" not in said


def test_a_refined_benchmark_is_balanced_for_both(capsys, tmp_path):
    benchmark = studies.benchmark(items=12, candidates=0)
    one, other = run(benchmark, [1] * 8 + [-1] * 4), run(benchmark, [1] * 8 + [-1] * 4, title="other")
    said = told(capsys, benchmark.name, refine=[one.pk, other.pk], out=tmp_path / "kept.json")
    found = json.loads((tmp_path / "kept.json").read_text())
    assert "8 of 12 items are kept" in said
    assert found["after"] == [50, 50]
    assert len(found["kept"]) == 8


@pytest.mark.parametrize("blind", [True, False])
def test_a_refinement_needs_two_that_see_no_image(tmp_path, blind):
    benchmark = studies.benchmark(items=2, candidates=0)
    made = run(benchmark, [1, 1], blind=blind)
    with pytest.raises(CommandError, match="do not see images"):
        call_command("blind", benchmark.name, refine=[made.pk, made.pk], out=tmp_path / "kept.json")


def test_gaps_are_differences_of_shares_and_odds_of_log_probabilities():
    assert refine.gaps([0.75], [0.25]) == [0.5]
    assert refine.gaps([-2.0], [-3.0]) == [tanh(0.5)]
