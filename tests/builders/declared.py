"""Studies whose question is a protocol file: of the library, on items made to suit it."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby, zip_longest
from random import Random

import pytest

from annotation.adjudication import decisions
from annotation.designs import presets
from annotation.models import Stage, Study, Task
from annotation.pipeline import outcomes
from annotation.protocol_files.publish import publish
from annotation.protocols import library
from annotation.protocols.item_data import with_right_answers
from annotation.protocols.reading import read_protocol
from annotation.protocols.registry import protocol_named
from annotation.protocols.schema import ProtocolFile, bounds
from benchmarks.corrections.correct import Change, correct
from benchmarks.formats.base import ProblemLog
from benchmarks.models import Action, Benchmark, Caption, Item, ItemImage
from benchmarks.records import ItemRecord
from tests.builders import copies, crowds, studies

SEVERAL = 4  # members of a role that may have any number
# Of the library; among them they have every kind of question, rule and task (a test says so). `make nightly` has all.
SAMPLE = (
    "bivlc-choose", "bivlc-i2t", "count-objects", "describe", "edited-pair", "image-questions", "preference",
    "rank-images", "revise", "rich-feedback", "true-or-false", "visible-or-not", "word-by-word",
)  # fmt: skip
SAMPLED = [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.nightly) for name in library.names()]
MIXED = """\
winnow: protocol/1
name: mixed
title: Judge and correct a caption
ask: Judge the picture and its caption.
instructions: Look at the picture, and answer what is asked.
item:
  images: {positive: 1}
  captions: {positive: 1, negative: 1}
screen:
  - picture: positive
answers:
  - {name: fit, ask: Which caption fits, kind: pick, of: [captions.positive, captions.negative],
     fixed: {neither: Neither}}
  - {name: how, ask: How well does it fit, kind: scale, points: 5, when: {fit: [positive, negative]}}
  - {name: holds, ask: What holds, kind: check, statements: {sharp: It is sharp, whole: It is whole}, unsure: true}
  - {name: why, ask: Give your reason., kind: text, required: false}
  - {name: better, ask: Correct the caption., kind: edit, of: captions.positive}
judgments: 3
decide:
  - {answer: fit, rule: at_least, of: positive, m: 2, drop: {negative: foil_fits, neither: neither_fits, else: unclear}}
  - {answer: how, rule: mean, at_least: 2, below: fits_badly}
  - {answer: better, rule: latest}
carry: {captions.second_positive: better}
measure:
  fit: {agreement: nominal, views: {"valid or not": {positive: valid, else: not}}}
  how: {agreement: ordinal, score: mean}
right: {fit: positive}
"""  # several kinds of answers, rules that drop, and a text for the next stage


def published(name: str) -> str:
    """The name under which stages ask the protocol of the library: `prompt-fit@1`."""
    return str(publish(text=library.text_of(name), by="test"))


def texts_and_edits(items: int = 12, *settings: dict) -> Study:
    """A stage that asks MIXED, and one that asks the library's image-caption-foil about what it kept: whether the
    corrected caption, a second positive one, is a foil. `settings` are the stages'.
    """
    name = str(publish(text=MIXED, by="test"))
    (first,) = presets.single_stage(name).stages
    (second,) = presets.single_stage(f"{published('image-caption-foil')}:captions.negative=second_positive").stages
    stages = [replace(first, name="first"), replace(second, name="second", source="first")]
    stages = [one.with_settings(**own) for one, own in zip_longest(stages, settings, fillvalue={})]
    return studies.study(benchmark=benchmark(protocol_named(name).file, items), stages=stages)


def adjudicate_first(study: Study) -> None:
    """The first item that the first stage dropped though an annotator's answer keeps it, by that answer."""
    dropped = study.stages.get(position=1).tasks.filter(decided__state="dropped").order_by("pk")
    task, kept = next(
        (task, one)
        for task in dropped
        for one in outcomes.counted_answers(task).values()
        if outcomes.rule_of(task.stage).adjudicated(one).state == "kept"
    )
    decisions.decide(
        task=task, by="user:1", seen=decisions.seen(task), note="It fits.", answer=kept.label, content=kept.content
    )


def benchmark(file: ProtocolFile, items: int = 2, *, lacking: bool = False) -> Benchmark:
    """Items with as many parts in each role as the file wants, and not more than four where it leaves that open; or
    `lacking` all that it does not need. Images say of each attribute the place that they have: `model-0`.
    """
    made = Benchmark.objects.create(name=f"Benchmark {next(studies.serial)}", source="jsonl")
    rows, captions, used = [], [], []
    for number in range(items):
        item = Item(benchmark=made, key=f"item-{number}", position=number, type="swap", subtype="att")
        item.meta = dict(with_right_answers(file, ItemRecord(item.key, "", "", (), ()), number).meta)
        rows.append(item)
        for reference, count in file.roles.items():
            kind, _, role = reference.partition(".")
            least, most = bounds(count)
            for place in range(least if lacking or most == least else most or max(least, SEVERAL)):
                if kind == "images":
                    name = f"{item.key}_{role}_{place}.jpg"
                    said = {one: f"{one}-{place}" for one in file.item.attributes if one != "parents"}
                    used.append(ItemImage(item=item, role=role, position=place, source_name=name, attributes=said))
                else:
                    text = f"{number} red cups and {place} blue plates stand on the {len(role)} tables."
                    captions.append(Caption(item=item, role=role, position=place, text=text))
    studies.store(rows, captions, used)
    return made


def study(name: str, items: int = 2, **settings) -> Study:
    """A study with one stage that asks the protocol of the library, as its file says."""
    protocol = published(name)
    stages = [one.with_settings(**settings) for one in presets.single_stage(protocol).stages]

    def make() -> Study:
        return studies.study(benchmark=benchmark(library.shipped(name), items), stages=stages)

    names = {kind: f"{kind.__name__} {next(studies.serial)}" for kind in (Benchmark, Study)}
    return copies.again(("library", items, repr(stages)), make, names)


def of_file(data: dict, items: int = 2, *, lacking: bool = False, **settings) -> Stage:
    """The stage of a study that uses a protocol file of the test's own."""
    text = json.dumps(data)
    file = read_protocol(text, "protocol", ProblemLog())
    stages = [one.with_settings(**settings) for one in presets.single_stage(str(publish(text=text, by="test"))).stages]
    return studies.study(benchmark=benchmark(file, items, lacking=lacking), stages=stages).stages.get()


SETS_AND_MARKS = {
    "winnow": "protocol/1", "name": "sets-and-marks", "title": "Sets and marks", "ask": "What goes with it, and where?",
    "instructions": "Look.",
    "item": {"images": {"picture": 1, "fit": "1..2", "other": "2..3"}, "captions": {"cue": 1}},
    "screen": [{"picture": "picture"}, {"sentence": "cue"}], "judgments": 3,
    "answers": [
        {"name": "which", "ask": "Which go with it?", "kind": "pick", "of": ["images.fit", "images.other"],
         "many": "1..3"},
        {"name": "where", "ask": "Where?", "kind": "points", "of": "picture", "most": 3},
        {"name": "part", "ask": "Which part?", "kind": "boxes", "of": "picture", "least": 0, "most": 2},
    ],
    "decide": [
        {"answer": "which", "rule": "majority", "keep": "fit", "drop": {"other": "other_fits", "else": "unclear"}},
        {"answer": "part", "rule": "agreement", "at_least": 0.3, "below": "no_agreement"},
    ],
    "right": {"which": ["fit"]},
}  # fmt: skip


def sets_and_marks() -> Study:
    """Four people answer three times each; then the first item is corrected, the second withdrawn, the third decided
    by an adjudicator's own answer. The last is open.
    """
    stage, dice = of_file(SETS_AND_MARKS, 16), Random(3)

    def near(*at: int) -> str:
        return ":".join(str(one + dice.choice((0, 0, 100, 900))) for one in at)

    def said(task: Task, who: int) -> str:
        position = task.item.position
        if who == position % 4 or (who and position == 15):
            return ""
        if dice.random() < 0.06:
            return "cannot_judge"
        options = [one for one in task.options if dice.random() < (0.85 if "fit" in one else 0.15)] or task.options[:1]
        spots = [near(1000, 1000), near(5000, 5000)][: dice.randint(1, 2)]
        boxes = [near(500, 500, 3000, 3000), near(6000, 6000, 8000, 8000)][: dice.choice((0, 1, 1, 1, 2))]
        return f"{','.join(sorted(options[:3]))};2+3/{','.join(spots)}/{','.join(boxes) or 'none'}"

    judge(stage, 4, said)
    keys = [item.key for item in stage.study.benchmark.items.order_by("position")[:2]]
    changes = [
        Change(item=keys[0], action=Action.CAPTION, place="caption-cue-0", new="Blue cups.", reason="A typo."),
        Change(item=keys[1], action=Action.WITHDRAW, place="", new="", reason="Offensive."),
    ]
    correct(benchmark=stage.study.benchmark, changes=changes, by="test")
    task = stage.tasks.get(item__position=2)
    own = "fit-0,fit-1;2+3/40:50/none"
    decisions.decide(task=task, by="user:1", seen=decisions.seen(task), note="I looked.", answer=own)
    return stage.study


# What the library's files do not ask.
UNUSUAL = {
    "winnow": "protocol/1", "name": "unusual", "title": "All that is unusual", "ask": "What do you see?",
    "instructions": "Look, and answer.",
    "item": {
        "images": {"candidate": 3, "shot": 1, "hidden": 1}, "captions": {"positive": 1, "negative": 1},
        "lists": {"fact": 2},
    },
    "screen": [{"picture": "shot", "label": "Before"}, {"on_request": "hidden"}, {"list": "fact", "label": "Facts"}],
    "answers": [
        {"name": "which", "ask": "Which fit?", "kind": "pick", "of": "images.candidate", "many": True,
         "fixed": {"none": "None of them"}},
        {"name": "truer", "ask": "Which is truer?", "kind": "pair", "tie": "Tie", "both_bad": "Both bad",
         "of": ["captions.positive", "captions.negative"]},
        {"name": "nicer", "ask": "Which is nicer?", "kind": "pair", "of": ["captions.positive", "captions.negative"]},
        {"name": "sure", "ask": "How sure are you?", "kind": "scale", "points": 10, "anchors": {1: "Guessing"},
         "not_applicable": "Does not apply"},
        {"name": "holds", "ask": "What holds?", "kind": "check", "unsure": True,
         "statements": {"clear": "It is clear", "whole": "It is complete"}},
        {"name": "why", "ask": "Why not?", "kind": "text", "required": False, "when": {"holds.clear": "no"}},
        {"name": "which_nicer", "ask": "Nicer than what?", "kind": "scale", "points": 2,
         "when": {"any": {"nicer": ["positive", "negative"], "truer": "tie"}}},
    ],
}  # fmt: skip


def asked(name: str, items: int = 2) -> Study:
    """A study that asks the library's file of that name, or `unusual`."""
    return of_file(UNUSUAL, items).study if name == "unusual" else study(name, items)


def judge(stage: Stage, people: int, said: Callable[[Task, int], str]) -> Stage:
    """Everybody's counted judgments in bulk: `said(task, who)` is a label, "" for no judgment; people count from 0."""
    crowd = studies.people(stage.study, people, ready=False, simulated=True)
    shift = crowds.Shift(Random(1), crowd, stage.instructions.latest("version"), {}, crowds.START)
    slots = stage.slots.select_related("task__item", "stage").order_by("task__item__position", "task_id", "number")
    for _, of_task in groupby(slots, key=lambda slot: slot.task_id):
        free = list(of_task)
        for who, person in enumerate(crowd):
            if label := said(free[0].task, who) if free else "":
                shift.judged(free.pop(0), person, label)
    shift.save(stage)
    return stage
