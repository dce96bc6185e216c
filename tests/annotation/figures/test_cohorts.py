"""Made-up annotators of stated habits are recognised, and honest ones are not: floors of a seeded run.

`python -m bench.cohorts` is the large run; docs/reference/measures.md has its table.
"""

import pytest

from annotation.figures.annotators import annotators as figures_of
from annotation.measures import warning_signs
from annotation.participants import roster
from tests.builders import cohorts, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def shown():
    """Two studies of twelve: by cohort, the kinds of signs of each of its annotators."""
    found = {}
    for seed in (1, 2):
        stage, who = cohorts.study(judgments=60, seed=seed)
        for row in figures_of(stage)["whole"]:
            found.setdefault(who[row["number"]], []).append({sign["kind"] for sign in row["signs"]})
    return found


def test_the_bad_are_recognised_and_the_honest_are_not(shown):
    wanted = {"random": {"agreement"}, "always left": {"side", "runs"}, "always None": {"answers"}}
    for cohort, kinds in wanted.items():
        assert all(kinds <= found for found in shown[cohort]), cohort
    honest = [*shown["honest"], *shown["fast honest"]]
    assert len(honest) == 16 and sum(map(warning_signs.concern_answers, honest)) <= 1
    assert sum("fast" in kinds for kinds in shown["fast honest"]) <= 2


def test_the_page_of_participants_says_the_same_signs():
    stage, _ = cohorts.study(("honest",) * 3 + ("always left",), judgments=40)
    of_pages = figures_of(stage)["whole"]
    of_roster = roster.participants(stage.study)
    assert [set(one.signs) for one in of_roster] == [{sign["words"] for sign in row["signs"]} for row in of_pages]
    assert of_roster[3].signs


def test_where_no_times_are_known_nobody_is_far_from_the_others():
    """An active time of nothing is what a client without script sends."""
    study = studies.study(items=warning_signs.SIGNS_FROM, overlap=warning_signs.FAR_FROM)
    stage = study.stages.get()
    for _ in range(warning_signs.FAR_FROM):
        person = studies.annotator(study)
        while studies.judgment(person, stage, active_ms=0):
            pass
    found = figures_of(stage)
    assert found["speed"]["n"] == 0 and {row["away"] for row in found["whole"]} == {None}
