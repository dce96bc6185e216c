"""Made-up annotators of stated habits are recognised, and honest ones are not: floors of a seeded run.

docs/design/evidence.md has the table of a large run.
"""

from collections.abc import Sequence
from random import Random

import pytest

from annotation.figures.annotators import annotators as figures_of
from annotation.measures import warning_signs
from annotation.models import Judgment
from annotation.participants import roster
from tests.builders import cohorts, crowds, studies

pytestmark = pytest.mark.django_db


def shown(seeds: Sequence[int]) -> dict[str, list[set[str]]]:
    """A study of twelve for each seed: by cohort, the kinds of signs of each of its annotators."""
    found = {}
    for seed in seeds:
        stage, who = cohorts.study(judgments=100, seed=seed)
        for row in figures_of(stage)["whole"]:
            found.setdefault(who[row["number"]], []).append({sign["kind"] for sign in row["signs"]})
    return found


@pytest.mark.parametrize("seeds", [(1,), pytest.param((1, 2), marks=pytest.mark.nightly)])
def test_the_bad_are_recognised_and_the_honest_are_not(seeds):
    found = shown(seeds)
    wanted = {"random": {"agreement"}, "always left": {"side", "runs"}, "always None": {"answers"}}
    for cohort, kinds in wanted.items():
        assert all(kinds <= of_one for of_one in found[cohort]), cohort
    honest = [*found["honest"], *found["fast honest"]]
    assert len(honest) == 8 * len(seeds) and sum(map(warning_signs.concern_answers, honest)) <= 1
    assert sum("fast" in kinds for kinds in found["fast honest"]) <= len(seeds)


def test_the_file_of_submissions_says_the_same_signs():
    stage, _ = cohorts.study(("honest",) * 3 + ("always left",), judgments=40)
    of_pages = figures_of(stage)["whole"]
    for who in stage.study.annotators.all():
        stage.study.annotators.filter(pk=who.pk).update(prolific_pid=f"p{who.number}")
    of_roster = roster.submissions(stage.study)
    assert [set(one.signs) for one in of_roster] == [{sign["words"] for sign in row["signs"]} for row in of_pages]
    assert of_roster[3].signs


def test_where_no_times_are_known_nobody_is_far_from_the_others(monkeypatch):
    """An active time of nothing is what a client without script sends."""
    monkeypatch.setattr(Random, "lognormvariate", lambda dice, mu, sigma: 0)  # of which the crowd's times are drawn
    study = studies.study(items=warning_signs.SIGNS_FROM, overlap=warning_signs.FAR_FROM)
    stage = crowds.work(study, people=warning_signs.FAR_FROM, undone=0)
    assert not Judgment.objects.filter(active_ms__gt=0).exists()
    found = figures_of(stage)
    assert found["speed"]["n"] == 0 and {row["away"] for row in found["whole"]} == {None}
