"""Ask a generative model this release's questions in lmms-eval, and compute the measures of its benchmark.

Each question is asked twice, with its options in both orders. The model has chosen an option if it names the same one
both times. If it changes its mind with the order (`tied`), or one of its answers names no option (`unanswered`, for
example a refusal), the question counts as wrong; both shares are reported. Figures are shares between 0 and 1.

This file reads ../manifest.json and ../items.jsonl and computes with ../score.py, so it must stay in the release.
"""

from __future__ import annotations

import importlib.util
import re
from collections import defaultdict
from pathlib import Path

RELEASE = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("winnow_score", RELEASE / "score.py")
assert _spec and _spec.loader
score = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(score)

HOW = score.read_how(score.json.loads((RELEASE / "manifest.json").read_text(encoding="utf-8")))
FIGURES = [  # those that follow from the questions alone
    name
    for name, figure in HOW["figures"].items()
    if set(HOW["measures"][figure["measure"]]["questions"]) <= {*HOW["questions"]}
]
LETTERS = "ABCDEFGH"
# A letter alone, perhaps after "Answer:" or with a bracket or stop; or a letter with one before further words.
ALONE = re.compile(r"\W*(?:(?:the )?(?:correct |right |best )?(?:answer|option|choice)(?: is)?\W*)?([A-H])\W*", re.I)
BEFORE_WORDS = re.compile(r"\W*([A-H])\s*[.:)\]]\s.*", re.S)


def questions(release, item):
    """(question, what is given, what each option shows): parts are ("text", words) or ("image", role)."""
    wanted, names, captions = release.wanted(item), release.names(item), release.captions(item)
    for name, question in release.how["questions"].items():
        compared = [question["pairs"][0][0], *(other for _, other in question["pairs"])]
        if not set(compared) <= set(wanted):
            continue
        sides = [[("text", captions[role][place]) for role, place in names[one]["captions"]] for one in compared]
        if "image" not in names[compared[0]]:
            yield name, [], sides
        elif len({names[one]["image"] for one in compared}) == 1:
            yield name, [("image", names[compared[0]]["image"])], sides
        else:
            yield name, sides[0], [[("image", names[one]["image"])] for one in compared]


def prompt(given, sides):
    """The words of a question; its images are shown in the order in which they are mentioned."""
    if not given:
        texts = list(dict.fromkeys(text for side in sides for _, text in side))
        listed = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
        options = [" and ".join(str(texts.index(text) + 1) for _, text in side) for side in sides]
        asked = f"Which two of these sentences mean the same?\n{listed}"
    elif given[0][0] == "image":
        asked, options = "Which caption describes the image?", [side[0][1] for side in sides]
    else:
        asked = f"Which image does this caption describe?\n{given[0][1]}"
        options = [f"image {number}" for number in range(1, len(sides) + 1)]
    lines = [f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False)]
    return "\n".join([asked, *lines, "Answer with one letter."])


def expand(dataset, split):
    """A document for each question and order of options; rows of the data are in the order of items.jsonl."""
    release = score.Release(RELEASE, split)
    rows, found = [], defaultdict(list)
    for row, item in enumerate(release.items):
        for name, given, sides in questions(release, item):
            options = release.how["questions"][name]["options"]
            for order in (0, 1):
                turned, named = (sides, options) if order == 0 else (sides[::-1], options[::-1])
                shown = [role for side in (given, *turned) for kind, role in side if kind == "image"]
                rows.append(row)
                found["winnow_item"].append(item["id"])
                found["winnow_type"].append(item["type"])
                found["winnow_subtype"].append(item["subtype"])
                found["winnow_question"].append(name)
                found["winnow_order"].append(order)
                found["winnow_text"].append(prompt(given, turned))
                found["winnow_images"].append([release.columns[f"image:{role}"] for role in shown])
                found["winnow_options"].append(named)
                found["winnow_letter"].append(LETTERS[named.index(options[0])])
    dataset = dataset.select(rows)
    for name, values in found.items():
        dataset = dataset.add_column(name, values)
    return dataset


def process_train(dataset):
    return expand(dataset, "train")


def process_validation(dataset):
    return expand(dataset, "validation")


def process_test(dataset):
    return expand(dataset, "test")


def doc_to_visual(doc):
    return [score.in_rgb(doc[column]) for column in doc["winnow_images"]]


def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    return doc["winnow_text"]


def read_choice(text, options):
    """The option that the answer names; None if it names none."""
    found = ALONE.fullmatch(text.strip()) or BEFORE_WORDS.fullmatch(text.strip())
    place = LETTERS.index(found[1].upper()) if found else len(options)
    return options[place] if place < len(options) else None


def process_results(doc, results):
    """The answer under every metric: each aggregation gets all answers."""
    answer = {
        **{name: doc[f"winnow_{name}"] for name in ("item", "type", "subtype", "question", "order")},
        "choice": read_choice(results[0], doc["winnow_options"]),
    }
    return dict.fromkeys([*FIGURES, "tied", "unanswered"], answer)


def choices(answers):
    """(item, question) → the options named, in the order of asking; and (item, type, subtype) of every item."""
    found, items = defaultdict(dict), {}
    for one in answers:
        found[one["item"], one["question"]][one["order"]] = one["choice"]
        items[one["item"]] = {"type": one["type"], "subtype": one["subtype"]}
    return found, items


def aggregate(name, answers):
    found, items = choices(answers)
    right = {question: one["options"][0] for question, one in HOW["questions"].items()}
    both = {key: (one[0], one[1]) for key, one in found.items() if len(one) == 2}
    decided = {key: one == other == right[key[1]] for key, (one, other) in both.items()}
    tied = {item for (item, _), (one, other) in both.items() if one is None or one != other}
    rows = [
        (item, {**{question: decided.get((key, question)) for question in HOW["questions"]}, "tied": key in tied})
        for key, item in items.items()
    ]
    share = score.figure(HOW, rows, name)["share"]
    return float("nan") if share is None else share


def aggregate_tied(answers):
    """The share of questions on which the model named two options."""
    both = [list(one.values()) for one in choices(answers)[0].values() if len(one) == 2]
    return sum(None not in one and one[0] != one[1] for one in both) / len(both) if both else float("nan")


def aggregate_unanswered(answers):
    """The share of answers that name no option."""
    return sum(one["choice"] is None for one in answers) / len(answers)


def _aggregation(name):
    return lambda answers: aggregate(name, answers)


for _name in FIGURES:
    globals()[f"aggregate_{_name}"] = _aggregation(_name)
