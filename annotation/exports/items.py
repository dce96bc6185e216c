"""The items of an export: which are kept, their captions and negative image, and each stage's outcome."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import F

from annotation.exports.item_parts import texts_beside, written_texts
from annotation.figures import funnel
from annotation.figures.edit_names import Edits, name_of_edit, with_edit_names
from annotation.measures.funnel import Fate, fates
from annotation.models import Stage, Study
from annotation.pipeline import promotion
from annotation.pipeline.part import items_of
from annotation.protocols.base import CANNOT_JUDGE, AnswerContent, Carried, carried_texts
from annotation.protocols.conditions import depends_on_items
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN, is_edit
from annotation.protocols.item_data import asks_items
from annotation.protocols.registry import protocol_named
from annotation.sql import batches, fetch
from benchmarks import queries
from benchmarks.models import Item
from benchmarks.records import CaptionRecord, ItemRecord, with_texts

OWN = "negative-0"  # the imported negative image

ITEMS = """
SELECT id, key, position, type, subtype, meta, truth, withdrawn FROM benchmarks_item WHERE benchmark_id = %(benchmark)s
ORDER BY position
"""
CAPTIONS = "SELECT item_id, role, position, text, attributes FROM benchmarks_caption WHERE item_id = ANY(%(items)s)"
IMAGES = """
SELECT item_id, role, position, round, sha256, format, width, height, source_name, licence, attribution, crop,
       attributes
FROM benchmarks_itemimage JOIN benchmarks_image image ON image.id = image_id WHERE item_id = ANY(%(items)s)
"""
OF_ITEMS = "stage_id = ANY(%(stages)s) AND item_id = ANY(%(items)s) AND kind = 'judge' AND task.live"
DECISIONS = f"""
SELECT item_id, task.id, stage.name, stage.position, question, round, outcome.state, outcome.outcome, outcome.content,
       outcome.reason, outcome.by, outcome.posterior
FROM annotation_task task JOIN annotation_stage stage ON stage.id = stage_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE {OF_ITEMS} ORDER BY stage.position, question
"""
VOTES = f"""
SELECT slot.task_id, judgment.answer, count(*)
FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
WHERE slot.task_id IN (SELECT id FROM annotation_task task WHERE {OF_ITEMS}) GROUP BY 1, 2
"""


class ExportedCaption(NamedTuple):
    role: str
    position: int
    text: str
    attributes: Mapping[str, Any]


class ExportedImage(NamedTuple):
    """An image of an item; answers refer to it by `key`."""

    role: str
    position: int
    round: int
    sha256: str
    format: str
    width: int
    height: int
    source_name: str
    licence: str
    attribution: str
    crop: Sequence[int] | None
    attributes: Mapping[str, Any]

    @property
    def key(self) -> str:
        return f"{self.role}-{self.position}"


@dataclass
class ExportedItem:
    """An item with its captions and images in the order of records, and each stage's decision about it."""

    pk: int
    key: str
    position: int
    type: str
    subtype: str
    meta: Mapping[str, Any]
    truth: Mapping[str, Any]
    captions: Sequence[ExportedCaption]
    images: Sequence[ExportedImage]
    withdrawn: bool = False
    decisions: Sequence[dict] = ()
    carried: Carried = field(default_factory=dict)  # from its deciding stage, otherwise from the stage before

    @cached_property
    def texts(self) -> dict[str, str]:
        """Return captions that stages wrote, by role."""
        return carried_texts(self.carried)

    @cached_property
    def final_captions(self) -> tuple[CaptionRecord, ...]:
        imported = [CaptionRecord(caption.role, caption.text, caption.attributes) for caption in self.captions]
        return with_texts(imported, self.texts)

    @cached_property
    def negative(self) -> str:
        """Return the identity of its negative image: carried, or else chosen, or else its own."""
        if carried := self.carried.get("negative"):
            return carried
        chosen = [row["outcome"] for row in self.decisions if (row["outcome"] or "").startswith("candidate-")]
        return chosen[-1] if chosen else OWN

    def record(self) -> ItemRecord:
        """Return the item as it was imported, except for its captions."""
        images = tuple(queries.image_record(*(getattr(use, name) for name in queries.OF_IMAGE)) for use in self.images)
        return ItemRecord(self.key, self.type, self.subtype, self.final_captions, images, self.meta, self.truth)


class ExportedItems:
    """The outcomes of all of a study's items (`fates`, and `funnel` in numbers); the items themselves are read in
    batches.
    """

    def __init__(self, study: Study, stages: Sequence[Stage], edits: Edits, texts: Iterable[Mapping]):
        """`texts` has the lines of texts.jsonl."""
        self.stages, self.edits, self.texts = stages, edits, written_texts(texts)
        self.items, self.benchmark = items_of(study).order_by("position"), study.benchmark_id
        self.selecting: dict[object, Stage] = {stage.pk: stage for stage in stages if not funnel.measures(stage)}
        walk = funnel.walk_of(study, list(self.selecting.values()))
        self.fates = fates(walk)
        self.funnel = funnel.figures_of(walk, self.fates, stages)
        self._lacking = {pk: set(walk.unsuited.get(pk, ())) - set(walk.found.get(pk, ())) for pk in self.selecting}
        self._written: dict[str, Counter] = defaultdict(Counter)  # by stage, tasks by `_fate`

    def _decisions(self, items: Sequence[int]) -> dict[int, list[dict]]:
        """Return the outcomes of each item's tasks."""
        of_items = {"stages": [stage.pk for stage in self.stages], "items": items}
        votes: dict[int, Counter[str]] = defaultdict(Counter)
        for task, answer, count in fetch(VOTES, **of_items):
            votes[task][name_of_edit(self.edits, answer) or ""] += count
        found = defaultdict(list)
        for item, task, *row in fetch(DECISIONS, **of_items):
            found[item].append(self._decision(row, dict(sorted(votes[task].items()))))
        return found

    def _decision(self, row: Sequence, votes: Mapping[str, int]) -> dict:
        stage, position, question, round, state, outcome, content, reason, by, posterior = row
        given: AnswerContent = _from_json(content) if content else AnswerContent()
        content = with_edit_names(self.edits, given)
        decision = {
            "stage": stage,
            "stage_position": position,
            "question": question,
            "round": round,
            "state": state or "open",
            "outcome": name_of_edit(self.edits, outcome) or None,
            "reason": reason or None,
            "decided_by": by,
            "votes": votes,
            **({"content": content} if content else {}),
            **({} if posterior is None else {"posterior": posterior}),
        }
        self._written[stage][_fate(decision)] += 1
        return decision

    def written(self, stage: Stage) -> Counter:
        """Return tasks by `_fate`, for a stage whose protocol lets people edit text; otherwise empty. Includes only
        items read so far.
        """
        return self._written[stage.name] if protocol_named(stage.protocol).edits else Counter()

    def not_suitable(self, stage: Stage) -> Sequence[Mapping]:
        """Return items that the stage could not ask about because they lack something."""
        lacking = self._lacking.get(stage.pk, ())
        return list(self.items.filter(pk__in=lacking).values("position", "type", "subtype", item=F("key")))

    def still_open(self) -> dict[int, dict]:
        """Return the data of open items, which have no line, by position, if a stage's protocol file needs them."""
        files = [file for stage in self.stages if (file := protocol_named(stage.protocol).file)]
        if not any(asks_items(file) or any(map(depends_on_items, file.answers)) for file in files):
            return {}
        waiting = [pk for pk, fate in self.fates.items() if fate.state == OPEN]
        items = queries.with_material(self.items.filter(pk__in=waiting)).iterator(chunk_size=500)
        return {item.position: _material(item) for item in items}

    def in_order(self) -> Iterator[ExportedItem]:
        """Yield the items in benchmark order."""
        for items in in_batches(self.benchmark):
            places = [item.pk for item in items]
            decisions = self._decisions(places)
            results = {pk: promotion.results(stage, places) for pk, stage in self.selecting.items()}
            for item in items:
                if item.pk not in self.fates:  # the study asks about only part of the benchmark
                    continue
                item.decisions, item.carried = decisions[item.pk], self._carried(item.pk, results)
                yield item

    def _carried(self, item: int, results: Mapping[object, Mapping[int, promotion.Result]]) -> Carried:
        """Return what the item carries; `results` are those of the selecting stages."""
        last = self.fates[item].stage
        stage: object = last and last.pk
        while stage in self.selecting and item not in results[stage]:
            stage = self.selecting[stage].source_id
        return results[stage][item].carried if stage in self.selecting else {}

    def captions(self, item: ExportedItem) -> list[dict]:
        """Return the final captions; if a stage changed one, also its imported text, the stage and the edited text."""
        came = {caption.role: caption.text for caption in reversed(item.captions)}
        changed = {role: text for role, text in item.texts.items() if text != came.get(role)}
        lines = []
        for caption in item.final_captions:
            line: dict[str, object] = {"role": caption.role, "text": caption.text}
            if changed.pop(caption.role, None) is not None:
                line |= {"imported": came.get(caption.role), **self._writer(item, caption.role, caption.text)}
            lines.append(line | ({"attributes": caption.attributes} if caption.attributes else {}))
        return lines

    def _writer(self, item: ExportedItem, role: str, text: str) -> dict:
        """Return the last stage whose outcome has these words."""
        for row in reversed(item.decisions):
            content = row.get("content", {})
            if content.get("texts", {}).get(role) == text:
                return {"changed_by": row["stage"], "made_of": content.get("from", {}).get(role)}
        return {}

    def line(self, item: ExportedItem) -> dict:
        """Return an item with each stage's outcome, down to the hash of every image."""
        fate, negative = self.fates[item.pk], item.negative
        if item.withdrawn:
            return _withdrawn(item, fate)
        uses = item.images
        there = negative if negative in {use.key for use in uses} else None
        captions = self.captions(item)
        beside = texts_beside(captions, self.texts.get(item.key, {}))
        how = {"negative_image": there} if fate.state == KEPT else {"reason": fate.reason}
        return {
            "id": item.key,
            "position": item.position,
            "type": item.type,
            "subtype": item.subtype,
            "stage": fate.stage.name if fate.stage else None,
            **how,
            "decisions": item.decisions,
            "captions": captions,
            **({"texts": beside} if beside else {}),
            "images": [_image(use, negative) for use in uses],
            "meta": item.meta,
        }


def _withdrawn(item: ExportedItem, fate: Fate) -> dict:
    """Return the item without its contents, since it may have been withdrawn because nobody should see it."""
    named = {"id": item.key, "position": item.position, "type": item.type, "subtype": item.subtype}
    how = {"stage": fate.stage.name if fate.stage else None, "reason": fate.reason}
    return named | how | {"decisions": [], "captions": [], "images": [], "meta": {}}


def _fate(row: dict) -> str:
    """Return what became of a task's texts."""
    if row["state"] == KEPT:
        return "edited" if is_edit(row["outcome"] or "") else "accepted"
    if row["outcome"] == CANNOT_JUDGE:
        return "could not be judged"
    return "rejected" if row["state"] == DROPPED else "open"


def in_batches(benchmark: int) -> Iterator[list[ExportedItem]]:
    """Yield the items of a benchmark in order, without decisions."""
    for rows in batches(ITEMS, benchmark=benchmark):
        items = [row[0] for row in rows]
        captions = _parts_by_item(ExportedCaption, fetch(CAPTIONS, items=items))
        images = _parts_by_item(ExportedImage, fetch(IMAGES, items=items))
        yield [
            ExportedItem(
                pk,
                key,
                position,
                kind,
                subtype,
                _from_json(meta),
                _from_json(truth),
                captions[pk],
                images[pk],
                withdrawn,
            )
            for pk, key, position, kind, subtype, meta, truth, withdrawn in rows
        ]


def _parts_by_item(kind: type, rows: Iterable[Sequence]) -> Mapping[int, list]:
    """Return captions or images by item, from rows that end with their attributes."""
    found: dict[int, list] = defaultdict(list)
    for item, *row, attributes in rows:
        found[item].append(kind(*row, _from_json(attributes)))
    for parts in found.values():
        parts.sort(key=queries.in_record_order)
    return found


def _from_json(text: str) -> Any:
    """Decode JSON quickly, since most objects in the database are empty."""
    return {} if text == "{}" else json.loads(text)


def _material(item: Item) -> dict:
    captions = sorted(item.captions.all(), key=queries.in_record_order)
    images = sorted(item.item_images.all(), key=queries.in_record_order)
    of_image = ("key", "round", "format", "source_name", "licence", "attribution")
    return {
        "meta": item.meta,
        "captions": [{"role": one.role, "text": one.text, **_more(one, "attributes")} for one in captions],
        "images": [
            {**{name: getattr(use, name) for name in of_image}, **_more(use, "crop", "attributes")} for use in images
        ],
    }


def _more(part: Any, *names: str) -> dict:
    return {name: value for name in names if (value := getattr(part, name))}


def _image(use: ExportedImage, negative: str) -> dict:
    return {
        "key": use.key,
        "chosen": use.key == negative,
        "round": use.round,
        "sha256": use.sha256,
        "format": use.format,
        "width": use.width,
        "height": use.height,
        "source_name": use.source_name,
        "licence": use.licence,
        "attribution": use.attribution,
        **_more(use, "crop", "attributes"),
    }
