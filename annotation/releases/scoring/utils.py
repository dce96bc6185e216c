"""Ask a generative model this release's questions in lmms-eval, and compute the measures of its benchmark.

Each question is asked twice, with its options in both orders. The model has chosen an option if it names the same one
both times. If it changes its mind with the order (`tied`), or one of its answers names no option (`unanswered`, for
example a refusal), the question counts as wrong; both shares are reported. Figures are shares between 0 and 1.

This file reads ../manifest.json and ../items.jsonl and computes with ../scoring/, so it must stay in the release.
"""

import importlib.util
import json
from collections import defaultdict
from functools import partial
from pathlib import Path

RELEASE = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("released_score", RELEASE / "score.py")
assert _spec and _spec.loader
score = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(score)
items, images, kinds, plan = (score.load(name) for name in ("items", "images", "kinds", "plan"))
choices, stored, item_figures, picks = (score.load(name) for name in ("choices", "stored", "item_figures", "picks"))

MANIFEST = json.loads((RELEASE / "manifest.json").read_text(encoding="utf-8"))
EVALUATION = MANIFEST["evaluation"]
KIND = kinds.KINDS.get(EVALUATION["kind"])  # None of picks
FIGURES = EVALUATION.get("measures") or {  # those that follow from the questions alone
    name: figure
    for name, figure in item_figures.figures_of(KIND).items()
    if KIND.asks(KIND.measured.measures[figure.measure])
}


def asked(release):
    """(item's place, question, names of the options, the right one, the words and images that show them in an order)"""
    if KIND is None:
        places = {item["id"]: place for place, item in enumerate(release.items)}
        for (item, name), one in picks.questions_of(release).items():
            named = [option["value"] for option in one["options"]]
            yield places[item], name, named, one["right"][0], partial(shown_of_pick, one)
        return
    for place, item in enumerate(release.items):
        for name, given, sides in questions(item):
            options = [*KIND.questions[name].options]
            yield place, name, options, options[0], partial(shown_of_kind, given, sides)


def shown_of_kind(given, sides, order):
    turned = sides[::order]
    return prompt(given, turned), [role for side in (given, *turned) for kind, role in side if kind == "image"]


def shown_of_pick(question, order):
    """Pictures are called by their number, in the order in which they are shown."""
    options, roles, lines = question["options"][::order], [], []
    for part in question["shown"]:
        if "image" in part:
            roles.append(part["image"])
        words = part.get("text") or (f"image {len(roles)}" if "label" in part else "")
        lines.append(": ".join(filter(None, (part.get("label"), words))))
    named = []
    for option in options:
        if "image" in option:
            roles.append(option["image"])
        named.append(option.get("text") or f"image {len(roles)}")
    return lettered([*filter(None, lines), EVALUATION["asks"][question["answer"]]], named), roles


def lettered(lines, options):
    named = [f"{letter}. {option}" for letter, option in zip(choices.LETTERS, options, strict=False)]
    return "\n".join([*lines, *named, "Answer with one letter."])


def questions(item):
    """(question, what is given, what each option shows): parts are ("text", words) or ("image", role)."""
    captions, shas = items.captions_of(item), items.images_of(item)
    about_images = {one.question: one for one in choices.choices(KIND.name, captions, shas)}
    wanted = {score.name: score for score in plan.wanted_scores(KIND.name, captions)}
    for name in KIND.questions:
        if one := about_images.get(name):
            given = ("image", one.given[0]) if one.captions else ("text", captions[one.given])
            sides = [("text", captions[place]) if one.captions else ("image", place[0]) for place in one.options]
            yield name, [given], [[side] for side in sides]
            continue
        pairs = KIND.measured.questions[name]
        compared = [wanted.get(score) for score in (pairs[0][0], *(other for _, other in pairs))]
        if all(one and one.text and {one.one, one.other} <= {*captions} for one in compared):
            yield name, [], [[("text", captions[one.one]), ("text", captions[one.other])] for one in compared]


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
    return lettered([asked], options)


def expand(dataset, split):
    """A document for each question and order of options; rows of the data are in the order of items.jsonl."""
    release = items.Release(RELEASE, split)
    rows, found = [], defaultdict(list)
    for row, name, options, right, shown in asked(release):
        item = release.items[row]
        for order in (0, 1):
            step = -1 if order else 1
            text, roles = shown(step)
            rows.append(row)
            found["winnow_item"].append(item["id"])
            found["winnow_type"].append(item["type"])
            found["winnow_subtype"].append(item["subtype"])
            found["winnow_question"].append(name)
            found["winnow_order"].append(order)
            found["winnow_text"].append(text)
            found["winnow_images"].append([release.columns[f"image:{role}"] for role in roles])
            found["winnow_options"].append(options[::step])
            found["winnow_letter"].append(choices.LETTERS[options[::step].index(right)])
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
    return [images.in_rgb(doc[column]) for column in doc["winnow_images"]]


def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    return doc["winnow_text"]


def read_choice(text, options):
    """The option that the answer names; None if it names none."""
    place = choices.letter(text, options=len(options))
    return None if place is None else options[place]


def process_results(doc, results):
    """The answer under every metric: each aggregation gets all answers."""
    answer = {
        **{name: doc[f"winnow_{name}"] for name in ("item", "type", "subtype", "question", "order")},
        "choice": read_choice(results[0], doc["winnow_options"]),
    }
    return dict.fromkeys([*FIGURES, "tied", "unanswered"], answer)


def in_both_orders(answers):
    """(item, question) → the two options named; of questions with both answers."""
    found = defaultdict(dict)
    for one in answers:
        found[one["item"], one["question"]][one["order"]] = one["choice"]
    return {key: (one[0], one[1]) for key, one in found.items() if len(one) == 2}


def aggregate(name, answers):
    if KIND is None:
        return aggregate_picks(name, answers)
    rows = defaultdict(list)
    for (item, question), (one, other) in in_both_orders(answers).items():
        rows[question].append((item, None, one if one is not None and one == other else kinds.NONE))
    columns = {question: stored.Column(*zip(*own, strict=True)) for question, own in rows.items()}
    records = stored.records(columns, {one["item"]: (one["type"], one["subtype"]) for one in answers}, KIND)
    share = item_figures.compute(FIGURES[name], records, KIND).share
    return float("nan") if share is None else share


def aggregate_picks(name, answers):
    releases = (items.Release(RELEASE, split) for split in MANIFEST["splits"])
    release = next(one for one in releases if any(item["id"] == answers[0]["item"] for item in one.items))
    chosen = {key: one if one == other else None for key, (one, other) in in_both_orders(answers).items()}
    found = picks.verdicts(release, picks.questions_of(release), chosen)
    share = picks.figures(found, FIGURES)[name].share
    return float("nan") if share is None else share


def aggregate_tied(answers):
    """The share of questions on which the model named two options."""
    both = in_both_orders(answers).values()
    return sum(None not in one and one[0] != one[1] for one in both) / len(both) if both else float("nan")


def aggregate_unanswered(answers):
    """The share of answers that name no option."""
    return sum(one["choice"] is None for one in answers) / len(answers)


def _aggregation(name):
    return lambda answers: aggregate(name, answers)


for _name in FIGURES:
    globals()[f"aggregate_{_name}"] = _aggregation(_name)
