"""A release of an audit: its order is drawn again from the keys, and its interval from the outcomes."""

import json
from pathlib import Path

import pytest

from annotation.models import Stage, Study
from annotation.pipeline import audits
from annotation.releases.redaction import public_stage
from annotation.releases.schema import KEY, VERSION
from annotation.releases.verification.differences import differences
from annotation.releases.verification.verifying import verify
from annotation.studies import audit_target
from benchmarks.models import Benchmark
from tests.annotation.releases.released import ONE, change_json, change_lines, exported, mend, release
from tests.builders import declared, predictions, studies, text_annotators
from tests.builders.pipelines import with_originals
from tests.independent.recomputed import figures, recompute

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def released(settings, tmp_path):
    """`released(**settings of the stage)`: the release's folder, and the stage."""
    Path(settings.MEDIA_ROOT).mkdir()

    def make(**given):
        benchmark = studies.benchmark(40, candidates=2)
        benchmark.items.filter(position__lt=16).update(type="add")
        if given.pop("with_scores", False):
            said = {one: predictions.bivlc(margin=one.position / 10) for one in benchmark.items.all()}
            given["scores_run"] = predictions.model(benchmark, said).pk
        study = judged_with_errors(benchmark, **given) if given.pop("errs", False) else judged(benchmark, **given)
        return release(exported(study, tmp_path), tmp_path / "release", splits=ONE), study.stages.get()

    return make


def judged(benchmark: Benchmark, **settings) -> Study:
    """An audit until it stopped: two annotators judge alike, and to every fourth item of the order no image fits."""
    given = {"target_half_width": 0.15, "overlap": 2, **settings}
    stage = studies.stage(benchmark=benchmark, strategy="audit", **given)
    people = [studies.annotator(stage.study) for _ in range(2)]
    for place in range(benchmark.items.count()):
        for person in people:
            studies.judgment(person, stage, "none" if place % 4 == 1 else "candidate-0")
        if audits.stop_if_over(stage):
            break
    return with_originals(stage.study)


def judged_with_errors(benchmark: Benchmark, **given) -> Study:
    """Until 36 items are judged. The 31st gets three kinds of answers; afterwards the target is loosened."""
    stage = studies.stage(benchmark=benchmark, strategy="audit", **given)
    people = [studies.annotator(stage.study) for _ in range(3)]
    for place in range(36):
        for number, person in enumerate(people):
            wrong = place % 4 == 1 or (place % 7 == 3 and number == place % 3)
            answer = "none" if wrong else "candidate-0"
            answer = ("none", "candidate-0", "cannot_judge")[number] if place == 30 else answer
            studies.judgment(person, stage, answer, reason="dark" if answer == "cannot_judge" else "")
    audit_target.set_target(stage=stage, share=0.06, by="test")
    return with_originals(stage.study)


def test_the_order_and_the_interval_verify_from_the_files(released):
    order_and_interval_verify(*released(any_look=True, target_half_width=0.3))


def order_and_interval_verify(folder: Path, stage: Stage) -> None:
    assert verify(folder).problems == []
    assert differences(recompute(folder), figures(folder)) == []  # by other code
    found = _figures(folder)
    assert found["order_sha256"] == stage.order_sha256 and found["met"] and found["judged"] < found["items"] == 40
    assert (found["low"], found["high"]) == (audits.progress_of(stage).low, audits.progress_of(stage).high)


@pytest.mark.parametrize("given", [{}, {"any_look": True, "target_half_width": 0.3}])
def test_an_audit_with_a_model_s_scores_verifies_with_them(released, given):
    folder, stage = released(with_scores=True, **given)
    assert verify(folder).problems == []
    assert differences(recompute(folder), figures(folder)) == []  # by other code
    found = _figures(folder)
    assert found["scores_sha256"] == stage.scores_sha256
    assert (found["low"], found["high"]) == (audits.progress_of(stage).low, audits.progress_of(stage).high)
    audit = json.loads((folder / "manifest.json").read_text())["stages"][0]["audit"]
    assert audit["scores_of"] == stage.scores_of
    change_lines(folder / "tasks.jsonl", lambda rows: [row.update(score=-row["score"]) for row in rows])
    mend(folder)
    assert "/stages/0/audit/scores_sha256" in "\n".join(map(str, verify(folder).problems))


def test_a_release_says_what_its_audit_aims_at_and_another_order_or_interval_is_a_problem(released):
    folder, stage = released(stratify=True)
    order_and_interval_verify(folder, stage)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest[KEY] == VERSION
    assert manifest["stages"][0]["audit"] == {
        "target_half_width": 0.15, "target_bound": None, "any_look": False, "wrong_reasons": ["no_image_fits"],
    }  # fmt: skip
    change_json(folder / "figures.json", lambda one: one["stages"][0]["audit"].update(order_sha256="0" * 64, low=0.01))
    mend(folder)
    problems = "\n".join(map(str, verify(folder).problems))
    assert "/stages/0/audit/order_sha256" in problems and "/stages/0/audit/low" in problems


def test_what_annotators_errors_and_open_items_do_verifies_from_the_files(released):
    """Three judge every item, and one of them errs now and then; an item of the order waits for an adjudicator."""
    folder, _ = released(overlap=3, tie_rule="adjudicate", errs=True, target_half_width=0.05)
    assert verify(folder).problems == []
    assert differences(recompute(folder), figures(folder)) == []  # by other code
    found, corrected = _figures(folder), _figures(folder)["corrected"]
    assert corrected["overlapping"] == found["judged"] > 10 and corrected["false_alarms"] > 0
    assert found["ahead"]["open"] == 1 and found["ahead"]["items"] > found["judged"]
    changes = json.loads((folder / "manifest.json").read_text())["stages"][0]["audit"]["changes"]
    assert changes == [{"before": 0.05, "after": 0.06, "judged": found["judged"]}]
    change_json(folder / "figures.json", lambda one: one["stages"][0]["audit"]["corrected"].update(low=0.01))
    mend(folder)
    assert "/stages/0/audit/corrected/low" in "\n".join(map(str, verify(folder).problems))


@pytest.mark.parametrize(
    ("public", "gold", "kept"), [({"gold"}, 9, True), (set(), 9, False), (set(), 0, True)], ids=str
)
def test_what_rests_on_the_right_answers_of_checks_is_public_with_them(public, gold, kept):
    stage = {"study": {}, "annotators": [], "agreement": [], "audit": {"n": 1, "corrected": {"gold": gold}}}
    assert ("corrected" in public_stage(stage, {"times", "annotators", *public})["audit"]) is kept


def test_an_audit_can_ask_a_protocol_file(tmp_path):
    study = declared.study("image-caption-foil", items=20, strategy="audit", target_half_width=0.2)
    text_annotators.work(study, seed=3)
    stage = study.stages.get()
    assert audits.stop_if_over(stage)
    folder = release(exported(with_originals(study), tmp_path / "asked"), tmp_path / "made", splits=ONE, forms=())
    assert verify(folder).problems == []
    (found,) = json.loads((folder / "manifest.json").read_text())["stages"]
    assert found["audit"]["target_half_width"] == 0.2 and found["protocol_file"]["path"].startswith("protocols/")
    assert _figures(folder)["order_sha256"] == stage.order_sha256


def _figures(folder: Path) -> dict:
    return json.loads((folder / "figures.json").read_text())["stages"][0]["audit"]
