"""What a report is assembled of, from literals; what it rests on, from studies that a crowd has worked on."""

import hashlib
import json

import pytest

from annotation.designs import setup_wording
from annotation.figures import agreement, annotators, human_baseline
from annotation.figures.funnel import funnel
from annotation.figures.stage import study_figures
from annotation.measures.funnel import STATES
from annotation.models import Study
from annotation.participants import lifecycle as participant_lifecycle
from annotation.protocols.registry import PROTOCOLS
from annotation.reports import report
from annotation.reports.finding import finding
from annotation.reports.page import first_of
from annotation.reports.page import funnel as table_1
from annotation.reports.report import _protocol, adjudications, spread
from annotation.studies import lifecycle as study_lifecycle
from tests.builders import crowds, studies

NUMBERS = (int, float)


def same(one: object, other: object) -> bool:
    """Equal, and floats to 1e-9, wherever they stand."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return other == pytest.approx(one, rel=0, abs=1e-9)
    return one == other


# Pure


def test_a_spread_has_its_quartiles_and_says_of_how_many():
    assert spread([4, 1, 3, 2]) == {
        "least": 1, "lower": 1.75, "median": 2.5, "upper": 3.25, "most": 4, "mean": 2.5, "n": 4,
    }  # fmt: skip
    assert spread([7])["lower"] == spread([7])["mean"] == 7
    assert spread([]) == {**dict.fromkeys(("least", "lower", "median", "upper", "most", "mean")), "n": 0}


def test_the_share_of_adjudications_is_of_settled_tasks():
    figures = {"outcomes": {"decided_by": {"adjudicator": 2, "majority": 6}}, "progress": {"settled": 8}}
    assert adjudications(figures) == {"tasks": 2, "settled": 8, "share": 0.25}
    assert adjudications({"outcomes": {"decided_by": {}}, "progress": {"settled": 0}})["share"] is None


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_says_what_may_be_answered_and_by_which_key(name):
    found = _protocol(PROTOCOLS[name])
    assert found["question"] and found["answers"][:-1] and found["answers"][-1]["says"].startswith("Cannot judge")
    assert all(answer["keys"] for answer in found["answers"][:-1])


def test_anybody_can_make_the_fingerprint_again():
    assert report.fingerprint({"n": 1, "a": ["ü"]}) == hashlib.sha256('{"a":["ü"],"n":1}'.encode()).hexdigest()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_is_cited_is_in_the_list(name):
    found = setup_wording.definitions([name], ["dawid-skene"], True)
    listed = setup_wording.references(found)
    assert {number for one in found for number in one["cites"]} == set(range(1, len(listed) + 1))


KIND = dict.fromkeys(("imported", *STATES), 3) | dict.fromkeys(("kept_share", "dropped_share"), 0.5)


def test_types_stand_in_the_columns_of_table_1():
    order = [("swap", "obj"), ("add", "att"), ("replace", "rel"), ("zoom", ""), ("replace", "obj")]
    kinds = [{**KIND, "type": kind, "subtype": subtype} for kind, subtype in order]
    whole = {**KIND, "stages": [], "by_type": kinds, "reasons": [], "not_asked_in": [], "open_in": [], "measuring": []}
    found = table_1(whole, None)
    assert [(one["type"], one["span"]) for one in found["groups"]] == [
        ("replace", 2), ("swap", 1), ("add", 1), ("zoom", 1)
    ]  # fmt: skip
    assert [one["subtype"] for one in found["kinds"]] == ["obj", "rel", "obj", "att", ""]
    assert not found["upright"] and table_1({**whole, "by_type": kinds * 3}, None)["upright"]


def test_of_many_annotators_those_who_judged_most_are_shown_in_their_order():
    rows = [{"who": number, "judged": judged} for number, judged in enumerate([5, 9, 0, 1, 9])]
    assert [row["who"] for row in first_of(rows, 3)] == [0, 1, 4]
    assert [row["who"] for row in first_of(rows, 9)] == [0, 1, 3, 4]


FUNNELLED = {"imported": 4, "kept": 2, "dropped": 0, "open": 1, "by_type": [], "stages": [], "reasons": []}
AUDITED = {"estimate": 0.05, "low": 0.03, "high": 0.08, "items": 332, "wrong": 10, "judged": 200}
NO_VIEW = {"by_type_on": "answer", "agreement": [{"on": "answer", "measures": {}}]}


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"audit": AUDITED}, "About 5.0% of the 332 items are wrong (95% interval 3.0 – 8.0%; 10 of 200 judged)."),
        ({}, "100.0% of the 2 settled items are kept: 2 (95% interval over items 34.2 – 100.0%). Still open: 1 item."),
    ],
)
def test_a_report_begins_with_what_came_out_and_who_judged(figures, words):
    stage = {"protocol": {"measures": False, "drops": {"bad": "bad"}}, "figures": NO_VIEW | figures}
    totals = {"annotators_who_count": 3, "judgments_counted": 9, "adjudicated": 1}
    said = finding({"stages": [stage], "funnel": FUNNELLED, "totals": totals, "baselines": []})
    assert said == [words, "3 annotators gave 9 counted judgments; 1 item decided by hand."]


# From the database


@pytest.fixture(scope="module")
def built(module_world) -> Study:
    stage = crowds.stage(items=10, people=3)
    participant_lifecycle.exclude(
        annotator=stage.study.annotators.get(number=2), reason="Answered in a second", by="user:1"
    )
    return stage.study


@pytest.fixture
def study(built, savepoint) -> Study:
    return Study.objects.get(pk=built.pk)


def computed(study) -> dict:
    return json.loads(json.dumps(report.dated(report.latest(study))))


def test_its_figures_are_those_of_every_other_page(study):
    found, stage = computed(study), study.stages.get()
    [told] = found["stages"]
    assert same(json.loads(json.dumps(report.published(study_figures(stage)))), told["figures"])
    assert same(funnel(study), found["funnel"]) and same(human_baseline.baselines(study), found["baselines"])
    for view in told["agreement"]:
        whole = agreement.stage_agreement(stage, view["view"])
        assert same(whole["whole"]["measures"], view["whole"]["measures"])
        assert same([whole["type"], whole["subtype"]], [view["type"], view["subtype"]])


def test_its_first_sentences_are_the_finding_with_the_agreement_of_the_overview(study):
    came_out, given, agree, *_ = finding(computed(study))
    assert "settled items are kept" in came_out and given.startswith("2 annotators gave ")
    assert agree.startswith("Two people agree on ")


def test_the_same_state_gives_the_same_report_whether_or_not_annotators_figures_are_kept(study, monkeypatch):
    one = report.report(study)
    annotators.latest(study)
    monkeypatch.setattr(annotators, "of_stages", None)
    assert report.fingerprint(one) == report.fingerprint(report.report(study)) == computed(study)["fingerprint"]


def test_judgments_stand_under_the_version_of_the_instructions_that_was_read(study):
    stage = study.stages.get()
    study_lifecycle.revise_instructions(stage=stage, text="Look closely.", by="user:1")
    assert studies.judgment(studies.annotator(study), stage, "none")
    first, second = computed(study)["stages"][0]["instructions"]
    progress = study_figures(stage)["progress"]
    assert (second["text"], second["counted"], second["judgment_rows"]) == ("Look closely.", 1, 1)
    assert first["judgment_rows"] + 1 == progress["judgment_rows"]
    assert first["counted"] + 1 == progress["judgments_counted"] + progress["judgments_gone"]


def test_who_is_excluded_stands_there_with_the_reason_and_without_a_name(study):
    study.annotators.update(name="Grace Hopper")
    found = computed(study)
    [row] = found["exclusions"]
    assert (row["annotator"], row["by"], row["why"]) == ("A-02", "a manager’s decision", "Answered in a second")
    assert found["totals"]["excluded"] == 1 and "Grace" not in json.dumps(found)


def test_no_right_answer_is_in_it(study):
    stage = study.stages.get()
    stage.comprehension = [{"question": "Do looks matter?", "options": ["Yes", "No"], "answer": 1}]
    stage.save()
    study_lifecycle.revise_instructions(stage=stage, text="Look.", by="user:1")
    [told] = computed(study)["stages"]
    assert told["before"]["questions"] == [{"question": "Do looks matter?", "options": ["Yes", "No"]}]
    assert "comprehension" not in told["settings"] and '"gold"' not in json.dumps(told)


def test_pay_reached_is_pay_over_all_the_time_from_painted_to_answered(study):
    for one in computed(study)["annotators"]["rows"]:
        assert one["elapsed_minutes"] > one["active_minutes"]
        assert one["pay_reached"] == pytest.approx(12 * one["active_minutes"] / one["elapsed_minutes"])
