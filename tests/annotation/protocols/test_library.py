"""The files of the library: what each asks of an item of its kind, and how its answers decide."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
import yaml

from annotation.protocols import answers, library
from annotation.protocols.base import RIGHT, Answer
from annotation.protocols.compile import GENERIC, as_protocol, is_plain
from annotation.protocols.decisions import decide_item
from annotation.protocols.item_data import attributes_of
from annotation.protocols.rules import rule_for
from annotation.protocols.simulated import simulate
from annotation.protocols.tasks import tasks_of
from annotation.protocols.walk import made_up_item, texts_of
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own.format import FORMAT
from tests.annotation.protocols.files import changed, read
from tests.builders import declared


def test_what_the_suite_samples_has_every_kind_of_question_rule_and_task():
    def kinds(names) -> set[str]:
        files = [library.shipped(name) for name in names]
        of_answers = {one.kind for file in files for one in file.answers}
        return (
            of_answers
            | {type(file.tasks).__name__ for file in files}
            | {one.rule for file in files for one in file.decide}
        )

    assert kinds(declared.SAMPLE) == kinds(library.names())


def test_the_documentation_lists_every_file():
    text = Path("docs/reference/protocols.md").read_text()
    assert not [name for name in library.names() if f"| `{name}` |" not in text]


@pytest.mark.parametrize("most", [False, True])
@pytest.mark.parametrize("name", library.names())
def test_every_task_can_be_answered_and_decided(name, most):
    """By a simulated annotator: what it sends is read, comes back, is said in words, and leads to a decision."""
    of, rng = library.shipped(name), Random(3)
    record = made_up_item(of, most=most, limit=9)
    texts = texts_of(record)
    for task in tasks_of(of, record, {})[:12]:
        assert task.shows or task.options
        labels = []
        for _ in range(of.judgments):
            shown = rng.sample(task.options, len(task.options))
            sent = simulate(of, rng, shown, texts, task.question)
            answer = answers.parse(of, sent, shown, texts, task.question)
            assert answers.parse(of, answers.fill(of, answer, shown), shown, texts, task.question) == answer
            assert len(answer.label) <= 500 and answers.in_words(of, answer)
            labels.append(answer.label)
        assert decide_item(of, labels).state in ("kept", "dropped", "open")


@pytest.mark.parametrize("name", library.names())
def test_what_simulated_annotators_say_is_among_what_they_are_offered(name):
    """Under every view whose labels can be listed; a pick that answers the whole screen is one of options and fixed."""
    of, rng = library.shipped(name), Random(5)
    rule = rule_for(as_protocol(of, name), 1, "drop")
    record = made_up_item(of, most=True, limit=9)
    for task in tasks_of(of, record, {})[:6]:
        for view, see in rule.projections().items():
            offered = rule.offered(view, task.options)
            if is_plain(of):
                fixed = [one.identity for one in as_protocol(of, name).fixed]
                assert offered == {see(label) for label in [*task.options, *fixed]}
                continue
            sent = simulate(of, rng, task.options, texts_of(record), task.question)
            said = see(answers.parse(of, sent, task.options, texts_of(record), task.question).label)
            assert offered is None or set(see.on_scale(said)) <= offered


def test_what_is_offered_where_a_screen_asks_several_questions():
    file = read(changed(
        ("answers", [
            {"name": "best", "kind": "pick", "ask": "Best?", "of": ["captions.positive", "captions.more"],
             "fixed": {"none": "None"}},
            {"name": "holds", "ask": "Holds?", "kind": "check", "statements": {"same": "Same?"}, "unsure": True},
            {"name": "why", "kind": "text", "ask": "Why?"},
        ]),
        ("decide", []), ("item.captions.more", "1..2"),
        ("measure", {"best": {"views": {"some": {"none": "no", "else": "yes"}}}}),
    ))  # fmt: skip
    options = ["caption-positive-0", "caption-more-0", "caption-more-1", "caption-negative-0"]
    rule = rule_for(as_protocol(file, "x"), 1, "drop")
    assert {view: rule.offered(view, options) for view in rule.projections()} == {
        "answer": None,
        "best": {"positive", "more-0", "more-1", "none"},
        "some": {"no", "yes"},
        "holds": {"yes", "no", "unsure"},
    }


RANK, COMPARE = ("hard-positive-rank", "judging/_rank.html"), ("sugarcrepe-compare", "judging/_compare.html")
FOURTH = "item.captions.fourth", "first"


@pytest.mark.parametrize(("name", "template"), [RANK, COMPARE])
def test_a_copy_has_the_same_screen(name, template):
    assert as_protocol(changed_copy(name), "copy@1").template == template


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (RANK[0], [("screen.0.label", "Picture")]), (RANK[0], [("answers.0.ties", False)]),
        (RANK[0], [FOURTH, ("answers.0.of.3", "captions.fourth")]), (RANK[0], [("answers.0.required", False)]),
        (COMPARE[0], [("screen.0.label", "Sentence")]), (COMPARE[0], [("answers.1.tie", None)]),
        (COMPARE[0], [("answers.1.both_bad", "Neither")]), (COMPARE[0], [("answers.1.when", {"sense": ["tie"]})]),
    ],
)  # fmt: skip
def test_a_file_that_asks_something_else_has_the_screen_that_suits_every_file(name, changes):
    assert as_protocol(changed_copy(name, *changes), "copy@1").template == GENERIC


def changed_copy(name, *changes):
    return read(changed(("name", "copy"), *changes, of=yaml.safe_load(library.text_of(name))))


@pytest.mark.parametrize("decides", [False, True])
def test_a_stages_own_settings_stand_over_those_of_a_file_that_does_not_decide(decides):
    """The file wants three judgments, and drops ties; the stage two, and adjudicates them."""
    rule = rule_for(as_protocol(library.shipped("verify"), "verify", decides), 2, "adjudicate")
    given = [Answer("yes"), Answer("no")]
    assert rule.settle(given).reason == ("tie_unresolved" if decides else "awaiting_adjudication")
    assert rule.settle(given[:1]).state == "open" and rule.settle([Answer("no")] * 2).reason == "does_not_hold"


@pytest.mark.parametrize(("image", "reason"), [("candidate-2", "ambiguous_generated"), ("positive-0", "")])
def test_an_image_that_an_earlier_stage_chose_drops_as_the_role_that_it_stands_for(image, reason):
    protocol = as_protocol(library.shipped("bivlc-disambiguate"), "bivlc-disambiguate", decides=False)
    assert rule_for(protocol, 1, "drop").settle([Answer(image)]).reason == protocol.reason(image) == reason


@pytest.mark.parametrize(
    ("name", "count"),
    [("hard-positive-rank", 13), ("sugarcrepe-compare", 9), ("rank-images", None), ("word-by-word", None)],
)
def test_answers_to_a_form_are_listed_where_they_are_few(name, count):
    file = library.shipped(name)
    listed = as_protocol(file, name).form.labels
    options = tasks_of(file, made_up_item(file, limit=9), {})[0].options
    assert (len(set(listed(options))) if listed else None) == count


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "file", "column", "items"),
    [
        ("true-or-false", "all_vsr_raw_data.jsonl", "label", 12_809),
        ("yes-no-question", "coco_pope_adversarial.json", "label", 60),
        ("yes-no-question", "HallusionBench.json", "gt_answer", 60),
        ("yes-no-question", "naturalbench_test_set.json", "3", 80),
        ("true-of-two-pictures", "nlvr2_dev.json", "label", 60),
    ],
)
def test_published_files_suit_as_winnow_proposes_to_read_them(real, name, file, column, items):
    """Their roles as guessed, and the right answer of every item."""
    text = library.text_of(name).replace("{from: label}", f"{{from: '{column}'}}")
    of = library.read_stored(text, name)
    records = list(FORMAT.read(real / "data" / "foreign" / file, ProblemLog()))
    assert sum(len(tasks_of(of, record, {})) for record in records) == len(records) == items
    (answer,) = of.answers
    said = Counter(attributes_of(of, record)[RIGHT][answer.name] for record in records)
    assert set(said) == {"yes", "no"} and said.total() == items
