"""Every figure of the annotators' pages, against an independent script on an export."""

import json

import pytest

from annotation.releases import export_split
from tests import cohorts
from tests.annotation.recompute import differences
from tests.annotation.recompute_annotators import annotators
from tests.pipeline import pipeline, with_originals

pytestmark = pytest.mark.django_db(transaction=True)
TESTS = {"side", "runs", "labels_test", "agreement"}
CHOSEN = {"or", "times"}  # of two answers alone, both have the smallest p


def alike(ours, theirs):
    """What the script has, of theirs; of the test of answers without the one that was chosen."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {name: alike(of, theirs[name]) for name, of in ours.items() if name not in CHOSEN}
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [alike(*pair) for pair in zip(ours, theirs, strict=True)]
    return theirs


def without(ours):
    if isinstance(ours, dict):
        return {name: without(of) for name, of in ours.items() if name not in CHOSEN}
    return [without(of) for of in ours] if isinstance(ours, list) else ours


@pytest.mark.parametrize("made", ["pipeline", "cohorts"])
def test_every_figure_of_annotators_can_be_recomputed(tmp_path, made):
    study = pipeline() if made == "pipeline" else with_originals(cohorts.study(judgments=30)[0].study)
    export_split(study=study, out=tmp_path / "out", by="test")
    theirs, ours = json.loads((tmp_path / "out/figures.json").read_text())["annotators"], annotators(tmp_path / "out")
    assert differences(without(ours), alike(ours, theirs)) == []
    rows = theirs["stages"][0]["rows"]
    tested = {name for name in TESTS for row in rows if row[name]["p"] is not None}
    assert tested == (TESTS if made == "cohorts" else set())
    assert [row["checks"] is not None for row in theirs["whole"]] == [made == "cohorts"] * len(theirs["whole"])
