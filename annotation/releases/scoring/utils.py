"""Ask a generative model this release's questions in lmms-eval, and compute the measures of its benchmark.

Each question is asked twice, with its options in both orders. The model has chosen an option if it names the same one
both times. If it changes its mind with the order (`tied`), or one of its answers names no option (`unanswered`, for
example a refusal), the question counts as wrong; both shares are reported. Figures are shares between 0 and 1, over all
items and by type and subtype (`group/swap/att`), with their standard errors. Those that the answers in one order alone
would give are called `first_order/group` and `second_order/group`.

This file reads ../manifest.json and ../items.jsonl and computes with ../scoring/, so it must stay in the release.
"""

import importlib.util
import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from types import SimpleNamespace

RELEASE = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("released_score", RELEASE / "score.py")
assert _spec and _spec.loader
score = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(score)
items, images, kinds, prompts, rows = (score.load(name) for name in ("items", "images", "kinds", "prompts", "rows"))
choices, stored, item_figures, picks = (score.load(name) for name in ("choices", "stored", "item_figures", "picks"))

MANIFEST = json.loads((RELEASE / "manifest.json").read_text(encoding="utf-8"))
EVALUATION = MANIFEST["evaluation"]
KIND = kinds.KINDS.get(EVALUATION["kind"])  # None of picks
TIED, UNANSWERED = "tied", "unanswered"


@cache
def release_of(split):
    return items.Release(RELEASE, split)


FIGURES = rows.rows_of(EVALUATION, [item for split in MANIFEST["splits"] for item in release_of(split).items])
IN_ONE_ORDER = rows.in_one_order(FIGURES)


def expand(dataset, split):
    """A document for each question and order of options; rows of the data are in the order of items.jsonl."""
    release, places, found = release_of(split), [], defaultdict(list)
    for asked in prompts.asked(release):
        item = release.items[asked.place]
        for order, step in enumerate((1, -1)):
            shown, options = asked.shown(step), asked.options[::step]
            places.append(asked.place)
            found["winnow_split"].append(split)
            found["winnow_item"].append(item["id"])
            found["winnow_type"].append(item["type"])
            found["winnow_subtype"].append(item["subtype"])
            found["winnow_question"].append(asked.question)
            found["winnow_order"].append(order)
            found["winnow_text"].append(prompts.lettered(shown))
            found["winnow_images"].append([release.columns[f"image:{role}"] for role in shown.roles])
            found["winnow_options"].append(options)
            found["winnow_letter"].append(choices.LETTERS[options.index(asked.right)])
    dataset = dataset.select(places)
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
    """The answer, under each metric to which it contributes: in dictionaries of their own, see `aggregate`."""
    answer = {name: doc[f"winnow_{name}"] for name in ("split", "item", "type", "subtype", "question", "order")}
    answer["choice"] = read_choice(results[0], doc["winnow_options"])
    return {
        name: {**answer, "metric": name} for name in metrics_of(answer["type"], answer["subtype"], answer["question"])
    }


@cache
def metrics_of(type, subtype, question):
    needed = [
        (name, figure)
        for name, figure in (FIGURES | IN_ONE_ORDER).items()
        if KIND is None or question in KIND.measured.measures[figure.measure].needs
    ]
    item, untyped = SimpleNamespace(type=type, subtype=subtype), not (type and subtype)
    found = [name for name, figure in needed if figure.covers(item) or (figure.all_typed and untyped)]
    return [*found, TIED, UNANSWERED]


def in_both_orders(answers):
    """(item, question) → the two options named; of questions with both answers."""
    found = defaultdict(dict)
    for one in answers:
        found[one["item"], one["question"]][one["order"]] = one["choice"]
    return {key: (one[0], one[1]) for key, one in found.items() if len(one) == 2}


def chosen(name, answers):
    """(item, question) → the option that the figure of this name takes for chosen, or None."""
    order = rows.ORDERS.index(name.partition("/")[0]) if name in IN_ONE_ORDER else None
    return {
        key: two[order] if order is not None else two[0] if two[0] == two[1] else None
        for key, two in in_both_orders(answers).items()
    }


def aggregate(answers):
    """The figure that they are under. lmms-eval then computes its standard error from the `score` of those answers that
    have one: a score for each item, question or group, so that their mean is the figure.
    """
    name = answers[0]["metric"]
    if name == UNANSWERED:
        share, scores = None, [(one["item"], float(one["choice"] is None)) for one in answers]
    elif name == TIED:
        both = in_both_orders(answers)
        share, scores = None, [(item, float(None not in two and two[0] != two[1])) for (item, _), two in both.items()]
    else:
        share, scores = (of_kind if KIND else of_picks)((FIGURES | IN_ONE_ORDER)[name], answers, chosen(name, answers))
    free = defaultdict(list)
    for one in answers:
        one.pop("score", None)
        free[one["item"]].append(one)
    for item, one in scores:
        free[item].pop()["score"] = one
    if share is None and scores:
        share = sum(one for _, one in scores) / len(scores)
    return float("nan") if share is None else share


def of_kind(figure, answers, chosen):
    """The share, and a score for each item that it rests on."""
    found = defaultdict(list)
    for (item, question), one in chosen.items():
        found[question].append((item, None, kinds.NONE if one is None else one))
    columns = {question: stored.Column(*zip(*own, strict=True)) for question, own in found.items()}
    types = {one["item"]: (one["type"], one["subtype"]) for one in answers}
    records = dict(zip(stored.answered(columns, types), stored.records(columns, types, KIND), strict=True))
    share = item_figures.compute(figure, [*records.values()], KIND).share
    right = item_figures.verdicts(figure, records, KIND)
    return share, scores_of(share, right, {item: types[item] if figure.mean else () for item in right})


def scores_of(share, right, groups):
    """Of a mean of `groups`, what each item adds to it (its influence, as the delta method has it): how far it is from
    the share of its group, times the weight of an item there. Of one group, 1 if the item is right and 0 if not.
    """
    sizes, hits = Counter(groups.values()), Counter(groups[item] for item, one in right.items() if one)
    return [
        (item, share + (one - hits[group] / sizes[group]) * len(right) / (len(sizes) * sizes[group]))
        for (item, one), group in zip(right.items(), groups.values(), strict=True)
    ]


def of_picks(figure, answers, chosen):
    """The share, and a score for each question or group that it rests on, under the item of its first question."""
    release = release_of(answers[0]["split"])
    found = picks.verdicts(release, picks.questions_of(release), chosen)
    found = picks.about([one for one in found if figure.covers(one)], EVALUATION["measures"][figure.measure])
    return None, [(one.item, float(one.right)) for one in found]
