"""How a release's items are evaluated, as plain values for its manifest; and the files that evaluate by them. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.metrics import aro, base
from benchmarks.predictions import plan
from benchmarks.predictions.item_figures import figures_of
from benchmarks.predictions.kinds import ARO, HARD_POSITIVE, KINDS, Kind, chance_in_both_orders

KEY = "evaluation"  # in the manifest
SCRIPT, FOLDER = "score.py", "lmms_eval"
HERE = Path(__file__).parent
RULES = {all: "all", base.exactly_one: "exactly one"}


def evaluation_of(kind: str, lines: Iterable[Mapping]) -> dict[str, Any] | None:
    """How to evaluate the items in these lines of items.jsonl; None if no item has the captions of a question.
    `kind`: the benchmark's kind of evaluation.
    """
    most = Counter[str]()
    for roles in {tuple(caption["role"] for caption in line["captions"]) for line in lines}:
        most |= Counter(roles)
    found = describe(KINDS[kind])
    places = [score["captions"] for one in found["scores"] for score in one["names"].values()]
    return found if any(all(most[role] > place for role, place in of) for of in places) else None


def describe(kind: Kind) -> dict[str, Any]:
    """`scores`: what to compare, the first of them whose `more_than` is below the item's number of captions: a caption
    with an image, or two captions, by role and place. `questions`: pairs of scores, the first of which must be greater,
    and the options. `measures`: which questions decide an item, and how; `untied`: no item with tied scores counts.
    `figures`: a measure over the items of a type and subtypes; or the mean over subtypes.
    """
    pairs, measures = kind.measured.questions, kind.measured.measures
    return {
        "kind": kind.name,
        "scores": [
            *([{"more_than": aro.PERMUTATIONS, "names": _names(plan.ORDER)}] if kind is ARO else []),
            {"more_than": 0, "names": _names(plan.WANTED[kind.name])},
        ],
        "questions": [
            {"name": name, "pairs": [list(pair) for pair in pairs[name]], "options": list(question.options)}
            for name, question in kind.questions.items()
        ],
        "measures": [
            {
                "name": name,
                "questions": list(one.needs),
                "rule": RULES[one.rule],
                "chance": one.chance,
                "chance_in_both_orders": chance_in_both_orders(kind, one),
            }
            | ({"untied": True} if one.untied else {})
            for name, one in measures.items()
        ],
        "figures": [{"name": name, **one.as_json()} for name, one in figures_of(kind).items()],
        "means_of_subtypes": kind is HARD_POSITIVE,
        "halves_of_t2t": kind.measured.from_captions is not None,
    }


def _names(wanted: Iterable[plan.WantedScore]) -> dict[str, dict[str, Any]]:
    return {
        one.name: {"captions": [list(one.one), list(one.other)]}
        if one.text
        else {"captions": [list(one.one)], "image": one.other[0]}
        for one in wanted
    }


def files(manifest: Mapping) -> list[str]:
    """The files that a release with this manifest brings for its evaluation."""
    if not manifest.get(KEY):
        return []
    return [SCRIPT, f"{FOLDER}/utils.py", *(f"{FOLDER}/{split}.yaml" for split in manifest["splits"])]


def write(folder: Path, settings: Mapping) -> None:
    """Those files, into the folder of a release with these settings."""
    if not settings[KEY]:
        return
    (folder / FOLDER).mkdir()
    (folder / SCRIPT).write_bytes((HERE / "score.py").read_bytes())
    (folder / FOLDER / "utils.py").write_bytes((HERE / "utils.py").read_bytes())
    for split in settings["splits"]:
        text = _task(settings, split)
        (folder / FOLDER / f"{split}.yaml").write_text(text, encoding="utf-8", newline="\n")


def task_name(settings: Mapping, split: str) -> str:
    """The name of the task in lmms-eval."""
    return re.sub(r"\W+", "_", f"{settings['release']['name']}_{settings['release']['version']}_{split}".lower())


def _task(settings: Mapping, split: str) -> str:
    lines = [
        "# lmms-eval asks a generative model this split. Run it in the folder of the release:",
        f"#   lmms-eval --include_path lmms_eval --tasks {task_name(settings, split)} --model …",
        f"task: {task_name(settings, split)}",
        "dataset_path: parquet",
        f"dataset_kwargs: {{data_files: {{{split}: data/{split}-*.parquet}}}}",
        f"test_split: {split}",
        "output_type: generate_until",
        "generation_kwargs: {max_new_tokens: 16, temperature: 0, do_sample: false}",
        f"process_docs: !function utils.process_{split}",
        "doc_to_visual: !function utils.doc_to_visual",
        "doc_to_text: !function utils.doc_to_text",
        "doc_to_target: winnow_letter",
        "process_results: !function utils.process_results",
        "metric_list:",
    ]
    evaluation = settings[KEY]
    asked = {question["name"] for question in evaluation["questions"]}
    measures = {measure["name"]: measure for measure in evaluation["measures"]}
    for figure in evaluation["figures"]:
        measure = measures[figure["measure"]]
        if {*measure["questions"]} <= asked:
            lines += _metric(figure["name"], str(measure["rule"] == "all").lower())
    lines += [*_metric("tied", "false"), *_metric("unanswered", "false")]
    return "\n".join([*lines, f"metadata: {{version: {settings['release']['version']!r}}}", ""])


def _metric(name: str, better: str) -> list[str]:
    return [
        f"  - metric: {name}",
        f"    aggregation: !function utils.aggregate_{name}",
        f"    higher_is_better: {better}",
    ]
