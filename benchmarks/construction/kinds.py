"""The kinds of construction by name: each reads the fields of rows, and makes items or keeps rows. Pure.

A new kind is a function here and a line in KINDS; docs/reference/construction.md describes what each reads.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from benchmarks.construction import negclip, order, refinement, rows, scene_graphs, spatial, swaps, tagging, templates
from benchmarks.construction.batch import Batch, Dropped, construct
from benchmarks.construction.replacements import TABLES, Replacement, hard_positive
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.table import Row
from benchmarks.records import CaptionRecord, ItemRecord

MODELS = ("grammar", "plausibility")  # SugarCrepe's two text models
NegativesOf = Callable[[str, tagging.Tags, int], tuple[str, dict[str, str]]]  # as order.perturbed
FALSE = ("0", "false", "False")


@dataclass(frozen=True, slots=True)
class RowsToConstruct:
    """The rows of a file with this name; problems go to the log, and make the rows unusable."""

    file: str
    rows: Sequence[Row]
    log: ProblemLog
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Constructed:
    """Either `items` made from rows, or the `kept` rows; `facts` are added to the report (JSON values)."""

    read: int
    dropped: list[tuple[int, str]]
    items: list[ItemRecord] | None = None
    kept: list[Row] | None = None
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def made(self) -> Sequence[ItemRecord] | Sequence[Row]:
        return self.items if self.items is not None else self.kept or []


def aro_relation(given: RowsToConstruct) -> Constructed:
    """Make items from the fields subject, relation and object, or from scene graphs (ARO App. A.1)."""
    fields = ("subject", "relation", "object")

    def make(row: Row) -> ItemRecord:
        parts = [_text(row, name, given) for name in fields]
        item = rows.item(row, given.file, given.log, *fields)
        return _paired(item, templates.relation_captions(*parts), "relation", parts[1])

    return _items_of(construct(_mined(given, scene_graphs.relations), make))


def aro_attribution(given: RowsToConstruct) -> Constructed:
    """Make items from the fields attribute1, object1, attribute2, object2, or scene graphs (ARO App. A.1)."""
    fields = ("attribute1", "object1", "attribute2", "object2")

    def make(row: Row) -> ItemRecord:
        parts = [_text(row, name, given) for name in fields]
        pair, attributes = templates.attribution_captions(*parts), parts[::2]
        item = rows.item(row, given.file, given.log, *fields)
        made = _paired(item, pair, "attribution", " vs ".join(sorted(attributes)))
        return replace(made, meta={**made.meta, "attributes": attributes})

    return _items_of(construct(_mined(given, scene_graphs.attributions), make))


def order_task(given: RowsToConstruct) -> Constructed:
    """Make items with a normalised caption and its four wrong orders as negatives (ARO §2.2, Table 1)."""
    return _with_negatives(given, order.perturbed, "perturbations", ("order", ""))


def negclip_negatives(given: RowsToConstruct) -> Constructed:
    """Make items with a normalised caption and up to five negatives, two elements swapped (ARO App. C.1)."""
    return _with_negatives(given, negclip.negatives, "swapped")


def _with_negatives(
    given: RowsToConstruct, found: NegativesOf, named: str, kind: tuple[str, str] | None = None
) -> Constructed:
    """Make items whose negatives are found by tagging a caption's words; `named`: the field of `meta` with their names.
    `kind`: the items' type and subtype, instead of their own."""
    tagger = tagging.tagger()

    def make(row: Row) -> ItemRecord:
        item = _captioned(row, given)
        positive, wrong = found(item.caption("positive"), tagger.tags, given.seed)
        captions = (CaptionRecord("positive", positive), *(CaptionRecord("negative", one) for one in wrong.values()))
        meta = {**item.meta, "caption": item.caption("positive"), named: list(wrong)}
        type, subtype = kind or (item.type, item.subtype)
        return replace(item, type=type, subtype=subtype, captions=captions, meta=meta)

    return _items_of(construct(_numbered(given), make), seed=given.seed, tagger=tagger.name)


def swap_positives(given: RowsToConstruct) -> Constructed:
    """Add a second positive caption to the items, with phrases swapped (Hard Positive Truth §3.4)."""

    def make(row: Row) -> ItemRecord:
        item = _captioned(row, given)
        return _with_second_positive(item, swaps.swapped_phrases(item.caption("positive")), "swap", "att")

    return _items_of(construct(_numbered(given), make))


def replace_positives(given: RowsToConstruct) -> Constructed:
    """Add a second positive caption to the items, with one word replaced (Hard Positive Truth §3.4).

    Subtype rel or att selects the table; without it both are used.
    """
    counts: Counter[str] = Counter()

    def make(row: Row) -> ItemRecord:
        item = _captioned(row, given)
        tables = [item.subtype] if item.subtype in TABLES else list(TABLES)
        table = [entry for name in tables for entry in TABLES[name]]
        negative = item.caption("negative") if item.captions_as("negative") else ""
        found = hard_positive(item.caption("positive"), negative, table)
        made = _with_second_positive(item, found.text, "replace", _subtype(found.replacement, tables))
        counts[found.replacement.name] += 1
        return made

    made = construct(_numbered(given), make)
    return _items_of(made, words=dict(counts.most_common()))


def _subtype(replacement: Replacement, tables: Sequence[str]) -> str:
    """Return the table that has the word; empty if both have it (`sitting`) and the row has no subtype."""
    words = set(replacement.words)
    having = [name for name in tables if any(words & set(entry.words) for entry in TABLES[name])]
    return having[0] if len(having) == 1 else ""


def spatial_candidates(given: RowsToConstruct) -> Constructed:
    """Make items with both positives, the nearest negative, and further ones as candidates (VISLA §3.3)."""
    by_row = {row.number: row for row in given.rows}
    found = spatial.candidates([_statement(row, given) for row in given.rows])
    items = [_triplet_item(made, by_row[made.of.row], given) for made in found.made]
    facts = {
        "second_positives": dict(Counter(made.origin for made in found.made)),
        "negatives": {str(count): n for count, n in sorted(Counter(len(m.negatives) for m in found.made).items())},
    }
    return Constructed(found.read, found.dropped, items, facts=facts)


def _statement(row: Row, given: RowsToConstruct) -> spatial.SpatialCaption:
    image, caption, subject, relation, thing = (
        _text(row, name, given) for name in ("image", "caption", "subject", "relation", "object")
    )
    return spatial.SpatialCaption(
        image, caption, subject, relation, thing, true=str(row.values.get("label", "1")) not in FALSE, row=row.number
    )


def _triplet_item(made: spatial.Triplet, row: Row, given: RowsToConstruct) -> ItemRecord:
    item = rows.item(row, given.file, given.log, "caption", "label")
    nearest, *others = made.negatives
    texts = [("positive", made.of.caption), ("second_positive", made.second), ("negative", nearest)]
    texts += [("candidate", text) for text in others]
    captions = tuple(CaptionRecord(*one) for one in texts)
    meta = {**item.meta, "second_positive": made.origin}
    return replace(item, type="spatial", subtype="", captions=captions, meta=meta)


def refine(given: RowsToConstruct) -> Constructed:
    """Keep the rows selected by each row's four scores, unchanged (SugarCrepe App. D.3)."""
    gaps = [(_gap(row, MODELS[0], given), _gap(row, MODELS[1], given)) for row in given.rows]
    if given.log.count:
        return Constructed(len(gaps), [], kept=[])
    found = refinement.refine(gaps, given.seed)
    dropped = [(given.rows[place].number, reason) for place, reason in found.dropped]
    accuracy = {
        model: {"before": found.before[place], "after": found.after[place]} for place, model in enumerate(MODELS)
    }
    facts = {"seed": given.seed, "cells": refinement.CELLS, "accuracy": accuracy}
    facts |= {"accuracy_note": found.note} if found.note else {}
    return Constructed(len(gaps), dropped, kept=[given.rows[place] for place in found.kept], facts=facts)


def _gap(row: Row, model: str, given: RowsToConstruct) -> float:
    """Return the model's positive minus negative caption score; 0, with a problem, if one is missing."""
    return _score(row, f"{model}_positive", given) - _score(row, f"{model}_negative", given)


def _score(row: Row, name: str, given: RowsToConstruct) -> float:
    """Return the score from a column, or from `meta` of an item in Winnow's manifest."""
    meta: object = row.values.get("meta")
    value: Any = row.values.get(name, meta.get(name) if isinstance(meta, dict) else None)
    try:
        number = float(value) if not isinstance(value, bool) else float("nan")
    except (TypeError, ValueError):
        number = float("nan")
    if isfinite(number) and 0 <= number <= 1:
        return number
    given.log.error("WRONG_VALUE", given.file, row.number, name, "Enter the model's score, from 0 to 1.")
    return 0.0


def _numbered(given: RowsToConstruct) -> list[tuple[int, Row]]:
    return [(row.number, row) for row in given.rows]


def _mined(
    given: RowsToConstruct, mine: Callable[[scene_graphs.Scene], Iterator[scene_graphs.Mined]]
) -> Iterator[tuple[int, Row]]:
    return scene_graphs.mined(given.rows, given.file, given.log, mine)


def _text(row: Row, name: str, given: RowsToConstruct) -> str:
    return rows.words(row, name, given.file, given.log)


def _captioned(row: Row, given: RowsToConstruct) -> ItemRecord:
    """Return the row's item. A row with a problem is dropped, as the log rejects the whole file anyway."""
    item = rows.captioned(row, given.file, given.log)
    if item is None:
        raise Dropped("the row has problems")
    return item


def _paired(item: ItemRecord, pair: templates.Pair, type: str, subtype: str) -> ItemRecord:
    """Make an item with both captions, and type and subtype as in ARO's released lists (benchmarks/formats/aro.py)."""
    captions = (CaptionRecord("positive", pair.positive), CaptionRecord("negative", pair.negative))
    return replace(item, type=type, subtype=subtype, captions=captions)


def _with_second_positive(item: ItemRecord, second: str, type: str, subtype: str) -> ItemRecord:
    """Return the item with that second positive caption. Raises Dropped if invalid or if it already has one."""
    if item.captions_as("second_positive"):
        raise Dropped("the item already has a second positive caption")
    if any(one.role == "negative" and one.text in (second, item.caption("positive")) for one in item.captions):
        raise Dropped("the negative caption equals a positive caption")
    return replace(item.with_captions({"second_positive": second}), type=type, subtype=subtype)


def _items_of(batch: Batch[ItemRecord], **facts: object) -> Constructed:
    return Constructed(batch.read, batch.dropped, batch.made, facts=facts)


@dataclass(frozen=True, slots=True)
class Kind:
    make: Callable[[RowsToConstruct], Constructed]
    says: str


KINDS = {
    "aro-relation": Kind(
        aro_relation, "ARO's relation captions, from subject, relation and object or GQA's scene graphs"
    ),
    "aro-attribution": Kind(
        aro_attribution, "ARO's attribution captions, from attribute1, object1, … or GQA's scene graphs"
    ),
    "order": Kind(order_task, "ARO's four wrong orders of each caption"),
    "negclip-negatives": Kind(negclip_negatives, "NegCLIP's negatives: two nouns, adjectives, … swapped"),
    "swap-positives": Kind(swap_positives, "hard positives of VG-Attribution captions, phrases swapped"),
    "replace-positives": Kind(replace_positives, "hard positives, a relation or attribute replaced"),
    "spatial-candidates": Kind(spatial_candidates, "Spatial VISLA's triplets, from VSR's captions"),
    "refine": Kind(refine, "SugarCrepe's adversarial refinement, by the scores of two text models"),
}
