"""Scores over an attribute are computed again from a release's items, and another strength is found."""

import json

import pytest

from annotation.releases.verification.verifying import verify
from tests.annotation.releases.released import ONE, exported, release
from tests.builders import declared
from tests.builders.pipelines import with_originals

pytestmark = pytest.mark.django_db(transaction=True)


def said(task, who) -> str:
    first, second = task.question.split("/")
    return "tie" if task.pk % 5 == 0 else first if task.pk % 3 else second


def test_strengths_are_those_of_the_models_that_the_items_name(tmp_path):
    stage = declared.judge(declared.study("preference", 8).stages.get(), 1, said)
    made = release(exported(with_originals(stage.study), tmp_path), tmp_path / "release", splits=ONE)
    assert verify(made).problems == []
    figures = json.loads((made / "figures.json").read_text())
    figures["stages"][0]["scores"]["strengths"][0]["rows"][0]["value"] += 0.01
    (made / "figures.json").write_text(json.dumps(figures))
    assert any("strengths/0/rows/0/value" in str(one) for one in verify(made).problems)
