"""What a study will take, from numbers that can be checked by hand."""

import pytest

from annotation.designs.plan import (
    NO_CHECKS,
    Assumptions,
    StagePlan,
    audit_in_words,
    contradictions,
    enough_in_words,
    expected_effort,
    round_half_up,
    total_effort,
)
from annotation.designs.presets import (
    PRESETS,
    SPECIMEN,
    default_assumptions,
    single_stage,
    tasks_per_item,
    with_stage_settings,
)
from annotation.protocols.registry import PROTOCOLS
from annotation.wording import hours_in_words

ASSUMED = Assumptions(seconds=12)


def one(items: int, assumed: Assumptions = ASSUMED, pay: float = 0, **settings):
    plan = StagePlan("p", settings=settings)
    return expected_effort([plan], items=items, assumed={"p": assumed}, pay=pay)[0]


AUDIT = {"strategy": "audit", "target_half_width": 0.02, "overlap": 2}


@pytest.mark.parametrize(
    ("guess", "given", "judgments", "most"),
    [
        (None, {}, 2 * 1820, 2 * 1820),
        (0.05, {}, 2 * 450, 2 * 1820),
        (0.02, {"target_half_width": None, "target_bound": 0.05, "any_look": True}, 2 * 523, 2 * 7511),
        (0.05, {"target_half_width": None}, 2 * 7511, None),  # an audit without a target is no audit yet
    ],
)
def test_an_audit_is_planned_for_its_target(guess, given, judgments, most):
    found = one(7511, Assumptions(seconds=12, wrong=guess), pay=12, **{**AUDIT, **given})
    assert found.judgments == judgments and (found.at_most and found.at_most.judgments) == most
    assert found.is_most is (guess is None) and round(found.cost, 2) == round(found.judgments * 12 / 3600 * 12, 2)


def test_an_audit_s_plan_in_words():
    plan, guessed = StagePlan("p", settings=AUDIT), Assumptions(seconds=12, wrong=0.05)
    most = "at most 1,820 of 7,511 items (3,640 judgments, 145.60 USD)."
    for assumed, words in (
        (ASSUMED, f"The audit needs {most}"),
        (
            guessed,
            f"If 5% of the items are wrong, the audit needs 450 of 7,511 items (900 judgments, 36.00 USD), {most}",
        ),
    ):
        found = one(7511, assumed, pay=12, **AUDIT)
        warned = (
            " Two judgments per item count annotators’ errors as the benchmark’s: if they take 5% of right items for "
            "wrong and miss 10% of wrong ones, an audit finds 2.7% where 3% are wrong, and many items are tied; "
        )
        told = audit_in_words(plan, found, assumed, "USD")
        assert told.startswith(f"{words}{warned}with three judgments it finds 3.6%.")
        three, single = (plan.with_settings(overlap=n) for n in (3, 1))
        assert audit_in_words(three, found, assumed, "USD") == words
        assert "One judgment per item counts" in audit_in_words(single, found, assumed, "USD")
    assert audit_in_words(plan, one(3), ASSUMED, "USD") == ""


@pytest.mark.parametrize(("protocol", "given", "items", "words"), [
    ("verify", {"overlap": 3}, 400, "3 judgments per item show how well people agree. If 10% of answers are "
     "mistakes, 2.8% of majority answers are wrong."),  # 3 × .1² × .9 + .1³
    ("verify", {"overlap": 2}, 100, "2 judgments per item show how well people agree, but neither outvotes the "
     "other. If 5% of all 400 items are wrong, 100 show it to within ±3.7 points."),  # 196 √(.05 × .95 / 100 × .75)
    ("verify", {}, 400, "One judgment decides about an item, so agreement cannot be measured, which needs two."),
    ("verify", {"agreement_items": 50}, 400, "One judgment decides about an item; 50 items with more show agreement."),
    ("bivlc-i2t", {}, 100, "An item gets one judgment, so agreement cannot be measured, which needs two."),
    ("describe", {"overlap": 4}, 400, "4 judgments per item; of texts there is neither agreement nor a majority."),
    ("visla-paraphrase", {}, 400, "One annotator decides about an item, and a second one confirms edits."),
])  # fmt: skip
def test_what_judgments_are_enough_for(protocol, given, items, words):
    assert enough_in_words(StagePlan(protocol, settings=given), items, 400) == words


@pytest.mark.parametrize(
    ("given", "judgments", "annotators"),
    [
        ({}, 10, 1),
        ({"overlap": 3}, 30, 3),
        ({"overlap": 3, "quota": 4}, 30, 8),
        ({"overlap": 3, "quota": 20}, 30, 3),
        ({"sample": 4, "overlap": 2}, 8, 2),
        ({"sample": 40}, 10, 1),
        ({"agreement_items": 4, "agreement_overlap": 3}, 6 + 12, 3),
        ({"agreement_items": 40, "agreement_overlap": 2}, 20, 2),
        ({"strategy": "batches", "batch_size": 4}, 10, 3),
        ({"strategy": "batches", "batch_size": 4, "overlap": 2}, 20, 6),
        ({"strategy": "batches", "batch_size": 4, "agreement_items": 5, "agreement_overlap": 2}, 15, 2 + 2 * 2),
        ({"strategy": "everyone", "overlap": 5}, 50, 5),
    ],
)
def test_judgments_and_annotators_of_ten_items(given, judgments, annotators):
    found = one(10, **given)
    assert (found.judgments, found.annotators) == (judgments, annotators)


def test_a_sample_of_each_type_is_as_large_as_there_are_types():
    each = {"sample": 3, "sample_each": True}
    assert [one(10, Assumptions(12, types=types), **each).items for types in (1, 2, 3, 4)] == [3, 6, 9, 10]


def test_hours_and_cost_follow_from_the_pace_and_checks_take_time_too():
    found = one(300, pay=12)
    assert (found.hours, found.cost) == (1, 12)
    checked = one(300, pay=12, check_rate=0.25)
    assert (checked.judgments, checked.screens, checked.cost) == (300, 400, 16)


def test_an_item_that_makes_two_screens_counts_twice():
    assert one(10, Assumptions(12, tasks=2)).judgments == 20


@pytest.mark.parametrize("given", [{}, {"quota": 20}, {"strategy": "batches", "batch_size": 10}])
def test_where_edits_are_confirmed_one_annotator_is_too_few(given):
    assert (one(10, **given).annotators, one(10, Assumptions(12, people=2), **given).annotators) == (1, 2)
    assert one(10, Assumptions(12, people=2), quota=4).annotators == 3
    assert one(0, Assumptions(12, people=2), **given).annotators == 0


def test_it_takes_two_where_the_protocol_confirms():
    found = {name: default_assumptions(single_stage(name).stages)[name].people for name in PROTOCOLS}
    assert found == {name: 1 + protocol.confirms for name, protocol in PROTOCOLS.items()}
    assert (found["visla-paraphrase"], found["bivlc-choose"]) == (2, 1)


def test_nothing_to_judge_needs_nobody():
    assert one(0, strategy="batches", batch_size=5).annotators == one(0).annotators == 0


def test_a_stage_gets_the_share_that_goes_on_from_its_source():
    stages = [StagePlan("a"), StagePlan("b", source="a"), StagePlan("c", source="b", after="b")]
    given = {"a": Assumptions(12, 0.5), "b": Assumptions(12, 0.25), "c": ASSUMED}
    found = expected_effort(stages, items=101, assumed=given)
    assert [(stage.items, stage.assumed) for stage in found] == [(101, False), (51, True), (13, True)]
    assert (total_effort(found).judgments, total_effort(found).annotators) == (165, 2)


@pytest.mark.parametrize(("value", "digits", "rounded"), [(2.5, 0, 3), (0.25, 1, 0.3), (1.005, 2, 1.0), (7, 0, 7)])
def test_halves_go_up(value, digits, rounded):
    assert round_half_up(value, digits) == rounded


def test_bivlc_needs_what_the_paper_needed():
    stages = PRESETS["bivlc"].stages
    found = {one.stage: one for one in expected_effort(stages, items=7512, assumed=default_assumptions(stages), pay=12)}
    assert (found["choose"].judgments, found["choose"].annotators) == (7512 + 500, 71 + 5 * 2)
    assert found["disambiguate"].items == pytest.approx(5382, rel=0.001)
    assert [(found[name].items, found[name].judgments, found[name].annotators) for name in ("i2t", "t2i")] == [
        (500, 1000, 20),
        (500, 1000, 20),
    ]
    everything = total_effort(list(found.values()))
    assert everything.cost == pytest.approx(12 * everything.hours)
    assert 500 < everything.cost < 1331.61  # what the paper paid, with the platform's fees


def test_every_stage_of_a_preset_names_a_protocol_and_stages_before_it():
    for preset in PRESETS.values():
        seen = set()
        for stage in preset.stages:
            assert tasks_per_item(stage.protocol, SPECIMEN, {}) >= 1
            assert {stage.source, stage.after} - {""} <= seen
            seen.add(stage.stage_name)


def test_the_human_baseline_asks_four_questions_of_an_item_in_two_stages():
    stages = PRESETS["human-baseline"].stages
    assert [given.tasks for given in default_assumptions(stages).values()] == [2, 2]


def test_one_stage_is_changed_and_the_others_stay():
    before = PRESETS["bivlc"].stages
    after = with_stage_settings(before, "choose", overlap=3)
    assert after[0].settings["overlap"] == 3 and after[1:] == list(before[1:])
    assert before[0].settings["overlap"] == 1
    with pytest.raises(KeyError):
        with_stage_settings(before, "chose", overlap=3)


@pytest.mark.parametrize(
    ("protocol", "overlap"), [("bivlc-choose", 2), ("verify", 3), ("hard-positive-rank", 2), ("visla-triplet", 1)]
)
def test_a_single_question_has_two_judgments_so_that_agreement_can_be_seen_or_as_its_file_says(protocol, overlap):
    assert single_stage(protocol).stages[0].settings == {"overlap": overlap}


def test_presets_take_judgments_and_what_is_passed_on_from_their_protocols_files():
    (choose, *_), (rank,), (verify,) = (PRESETS[name].stages for name in ("bivlc", "hard-positives", "verify"))
    assert (choose.settings["overlap"], choose.settings["carries"], choose.settings["batch_size"]) == (
        1,
        "negative",
        100,
    )
    assert (rank.settings["overlap"], verify.settings["overlap"]) == (2, 3)


@pytest.mark.parametrize("given", [
    {"overlap": 2}, {"agreement_items": 5, "agreement_overlap": 2}, {"strategy": "batches", "batch_size": 4},
    {"strategy": "everyone"},
])  # fmt: skip
def test_where_an_edit_is_confirmed_one_decides_and_a_second_can_be_reached(given):
    (wrong,) = contradictions(given, protocol=PROTOCOLS["visla-paraphrase"]).values()
    assert wrong.startswith("One annotator decides here, and a second one confirms edits")
    assert contradictions(given, protocol=PROTOCOLS["visla-triplet"]) == {} == contradictions(given)


@pytest.mark.parametrize(
    "minutes, words",
    [(0, "0 min"), (0.4, "under 1 min"), (40, "40 min"), (89, "89 min"), (90, "1.5 h"), (6e4, "1,000.0 h")],
)
def test_short_times_are_minutes(minutes, words):
    assert hours_in_words(minutes) == words


def test_there_are_no_checks_where_an_answer_is_more_than_a_pick():
    found = {name: contradictions({"check_rate": 0.1}, protocol=one) for name, one in PROTOCOLS.items()}
    with_forms = [name for name, wrong in found.items() if wrong == {"check_rate": NO_CHECKS}]
    assert with_forms == [name for name, one in PROTOCOLS.items() if one.form]
    assert "bivlc-choose" not in with_forms and "hard-positive-rank" in with_forms
