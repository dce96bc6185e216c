"""The rows of the table that lmms-eval prints: each figure over all items of a split, and by type and subtype."""

from benchmarks.metrics import sugarcrepe
from benchmarks.predictions.item_figures import ItemFigure, figures_of
from benchmarks.predictions.kinds import KINDS

ORDERS = ("first_order", "second_order")  # of a question's options
ESCAPED = {"%": "%25", "/": "%2F", ",": "%2C"}  # lmms-eval separates names of metrics from filters by commas


def rows_of(evaluation, items):
    """Name → figure; its `measure` is one of the kind's, or of a pick a name in the manifest. `items`: all of them."""
    kind = KINDS.get(evaluation["kind"])
    if kind is None:
        found = {name: ItemFigure(name) for name in evaluation["measures"]}
        measures = list(found)
    else:  # those that follow from the questions alone
        measures = [name for name, measure in kind.measured.measures.items() if kind.asks(measure)]
        found = {name: figure for name, figure in figures_of(kind).items() if figure.measure in measures}
    parts = [(one.measure, one.type, one.subtype) for one in found.values() if not (one.mean or one.subtypes)]
    for type, subtype in _types(items):
        for measure in measures:
            if (measure, *sugarcrepe.parts(type, subtype)) not in parts:
                name = "/".join([measure, *map(_escaped, filter(None, (type, subtype)))])
                found[name] = ItemFigure(measure, type, subtype)
    return found


def in_one_order(rows):
    """Name → figure of the answers in each order of the options alone, over all items."""
    return {f"{order}/{name}": figure for order in ORDERS for name, figure in rows.items() if not figure.type}


def lower_is_better(evaluation, figure):
    kind = KINDS.get(evaluation["kind"])
    return kind is not None and kind.measured.measures[figure.measure].lower


def _types(items):
    """(type, "") and (type, subtype) of the items that have one, in order."""
    kinds = {(item["type"], item["subtype"]) for item in items if item["type"]}
    return sorted(kinds | {(type, "") for type, _ in kinds})


def _escaped(name):
    for one, code in ESCAPED.items():
        name = name.replace(one, code)
    return name
