"""Every protocol of the library from simulated judgments to a verified release."""

import json
from io import StringIO
from random import Random

import pytest
from django.core.management import call_command

from annotation.designs import presets
from annotation.models import Lease, Stage
from annotation.pipeline import outcomes
from annotation.protocol_files.publish import publish
from annotation.protocols import library
from annotation.protocols.decision_rule import KEPT
from annotation.protocols.registry import protocol_named
from annotation.releases.plan import PUBLIC
from annotation.releases.verification.verifying import verify
from annotation.screens.read_answer import parse_answer
from tests.annotation.releases.released import ONE, exported, release
from tests.builders import annotators, declared, studies, text_annotators
from tests.builders.pipelines import with_originals

pytestmark = pytest.mark.django_db(transaction=True)
ESTIMATED = "verify by Dawid and Skene’s rule"
TEXTS = {name: library.text_of(name) for name in library.names()}
TEXTS[ESTIMATED] = TEXTS["verify"].replace("rule: majority", "rule: dawid_skene")
SHORT = ("caption-scores", "count-objects", "edited-pair", "image-questions", "word-by-word", "revise", ESTIMATED)


def judged(lease: Lease, stage: Stage, dice: Random) -> dict[str, str]:
    """An answer to the screen; to those of the first item one that keeps it."""
    while True:
        fields = text_annotators.of_protocol(lease, protocol_named(stage.protocol), dice)
        answer = parse_answer(lease, stage.protocol, {"answer": "", **fields})
        if lease.task.item.position or outcomes.rule_of(stage).adjudicated(answer).state == KEPT:
            return fields


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in SHORT else pytest.mark.nightly) for one in TEXTS]
)
def test_its_release_is_verified_and_decided_again(tmp_path, name):
    asked = str(publish(text=TEXTS[name], by="test"))
    file = protocol_named(asked).file
    stages = list(presets.single_stage(asked).stages)
    study = with_originals(studies.study(benchmark=declared.benchmark(file, 3), stages=stages))
    stage, dice = study.stages.get(), Random(4)
    for person in [studies.annotator(study) for _ in range(stage.overlap)]:
        for lease in annotators.held(person, stage):
            text_annotators.answer(lease, judged(lease, stage, dice))
    made = release(exported(study, tmp_path), tmp_path / "release", public=tuple(PUBLIC), splits=ONE, forms=())
    assert verify(made).problems == []
    out = StringIO()
    call_command("decide", export=made, json=True, stdout=out)
    (found,) = json.loads(out.getvalue())["stages"].values()
    outcomes = json.loads((made / "figures.json").read_text())["stages"][0]["outcomes"]
    assert (found["kept"], found["dropped"]) == (outcomes["kept"], outcomes["reasons"])
