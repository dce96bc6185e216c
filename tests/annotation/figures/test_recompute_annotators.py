"""Every figure of the annotators' pages, against an independent computation on an export."""

import json

import pytest

from annotation.exports.export import export_split
from annotation.releases.verification.differences import differences
from tests.builders import cohorts
from tests.builders.pipelines import pipeline, with_originals
from tests.independent.recomputed import recompute

pytestmark = pytest.mark.django_db(transaction=True)
TESTS = {"side", "runs", "labels_test", "agreement"}


@pytest.mark.parametrize("made", ["pipeline", "cohorts"])
def test_every_figure_of_annotators_can_be_recomputed(tmp_path, made):
    study = pipeline() if made == "pipeline" else with_originals(cohorts.study(judgments=30)[0].study)
    export_split(study=study, out=tmp_path / "out", by="test")
    theirs = json.loads((tmp_path / "out/figures.json").read_text())["annotators"]
    assert differences(recompute(tmp_path / "out")["annotators"], theirs) == []
    rows = theirs["stages"][0]["rows"]
    tested = {name for name in TESTS for row in rows if row[name]["p"] is not None}
    assert tested == (TESTS if made == "cohorts" else set())
    assert [row["checks"] is not None for row in theirs["whole"]] == [made == "cohorts"] * len(theirs["whole"])
    assert bool({sign["kind"] for row in rows for sign in row["signs"]} >= {"checks", "side"}) == (made == "cohorts")
