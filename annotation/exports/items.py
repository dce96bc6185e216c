"""The items of an export: which came through, with which words and negative image, what each stage made of them."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from django.db.models import F

from annotation.figures import funnel
from annotation.figures.edit_names import Edits, name_of_edit, with_edit_names
from annotation.measures.funnel import fates
from annotation.models import Stage, Study
from annotation.pipeline import promotion
from annotation.protocols.base import CANNOT_JUDGE, Carried, carried_texts
from annotation.protocols.decision_rule import DROPPED, KEPT, is_edit
from annotation.protocols.registry import PROTOCOLS
from annotation.sql import fetch
from benchmarks import queries
from benchmarks.models import Item, ItemImage
from benchmarks.records import ItemRecord

BATCH = 100  # items read at a time
OWN = "negative-0"  # the negative image that came with the import

# What stands on the live tasks of each item.
VOTES = """
SELECT task.id, judgment.answer FROM annotation_slot slot JOIN annotation_judgment judgment
  ON judgment.id = slot.judgment_id JOIN annotation_task task ON task.id = slot.task_id
JOIN annotation_stage stage ON stage.id = slot.stage_id
WHERE stage.id = ANY(%(stages)s) AND task.kind = 'judge' AND task.live
"""
DECIDED = """
SELECT task.item_id, task.id, stage.position, stage.name, task.question, task.round, outcome.state, outcome.outcome,
       outcome.content, outcome.reason, outcome.by, outcome.posterior
FROM annotation_task task JOIN annotation_stage stage ON stage.id = task.stage_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE stage.id = ANY(%(stages)s) AND task.kind = 'judge' AND task.live
ORDER BY task.item_id, stage.position, task.question
"""


class ExportedItems:
    """Everything about a study's items that is read at once; the items themselves come some at a time."""

    def __init__(self, study: Study, stages: Sequence[Stage], edits: Edits):
        self.stages, self.edits = stages, edits
        self.items = study.benchmark.items.order_by("position")
        self.selecting = {stage.pk: stage for stage in stages if not funnel.measures(stage)}
        self.walk = funnel.walk_of(study, list(self.selecting.values()))
        self.fates = fates(self.walk)
        self.results = {pk: promotion.results(stage) for pk, stage in self.selecting.items()}
        self.votes: dict[int, Counter] = defaultdict(Counter)
        places = [stage.pk for stage in stages]
        for task, answer in fetch(VOTES, stages=places):
            self.votes[task][name_of_edit(edits, answer)] += 1
        self.decided = defaultdict(list)
        for item, *row in fetch(DECIDED, stages=places):
            self.decided[item].append(self._decision(*row))

    def _decision(self, task: int, position: int, stage: str, question: str, round: int, *outcome: object) -> dict:
        state, answer, content, reason, by, posterior = outcome
        came = with_edit_names(self.edits, json.loads(content or "{}"))
        return {
            "stage": stage,
            "stage_position": position,
            "question": question,
            "round": round,
            "state": state or "open",
            "outcome": name_of_edit(self.edits, answer) or None,
            "reason": reason or None,
            "decided_by": by,
            "votes": dict(sorted(self.votes[task].items())),
            **({"content": came} if came else {}),
            **({} if posterior is None else {"posterior": posterior}),
        }

    def written(self, stage: Stage) -> Counter:
        """What a stage whose protocol lets people change words made of its tasks, by `_fate`; nothing of another."""
        decisions = [row for rows in self.decided.values() for row in rows if row["stage"] == stage.name]
        return Counter(_fate(row) for row in decisions) if PROTOCOLS[stage.protocol].edits else Counter()

    def not_suitable(self, stage: Stage) -> list[dict]:
        """Items that the stage would have asked about and could not, since they lack something."""
        lacking = set(self.walk.unsuited.get(stage.pk, ())) - set(self.walk.found.get(stage.pk, ()))
        return list(self.items.filter(pk__in=lacking).values("position", "type", "subtype", item=F("key")))

    def in_order(self) -> Iterator[Item]:
        """In the order of the benchmark, each with its captions and images."""
        return queries.with_material(self.items).iterator(chunk_size=BATCH)

    def record(self, item: Item) -> ItemRecord:
        """With the words that stand in the end."""
        return queries.record_of(item).with_captions(self._texts(item))

    def _texts(self, item: Item) -> dict[str, str]:
        """What stages wrote, by role."""
        return carried_texts(self._carried(item))

    def _carried(self, item: Item) -> Carried:
        """What came out with the item of the stage that has the last word on it, else of the one before that."""
        stage = self.fates[item.pk].stage
        while stage and item.pk not in self.results[stage.pk]:
            stage = self.selecting.get(stage.source_id)
        return self.results[stage.pk][item.pk].carried if stage else {}

    def negative(self, item: Item) -> str:
        """The identity of the item's negative image: what was carried, else what was chosen, else its own."""
        if carried := self._carried(item).get("negative"):
            return carried
        chosen = [row["outcome"] for row in self.decided[item.pk] if (row["outcome"] or "").startswith("candidate-")]
        return chosen[-1] if chosen else OWN

    def captions(self, item: Item) -> list[dict]:
        """As they are in the end; where a stage changed one, what it was, which stage it was and what it took."""
        own, texts = queries.record_of(item), self._texts(item)
        came = {caption.role: caption.text for caption in reversed(own.captions)}
        changed = {role: text for role, text in texts.items() if text != came.get(role)}
        lines = []
        for caption in own.with_captions(texts).captions:
            line = {"role": caption.role, "text": caption.text}
            if changed.pop(caption.role, None) is not None:
                line |= {"imported": came.get(caption.role), **self._writer(item, caption.role, caption.text)}
            lines.append(line)
        return lines

    def _writer(self, item: Item, role: str, text: str) -> dict:
        """The last stage whose outcome has these words."""
        for row in reversed(self.decided[item.pk]):
            content = row.get("content", {})
            if content.get("texts", {}).get(role) == text:
                return {"changed_by": row["stage"], "made_of": content.get("from", {}).get(role)}
        return {}

    def line(self, item: Item) -> dict:
        """An item with what each stage said of it, down to the hash of every image."""
        fate, negative = self.fates[item.pk], self.negative(item)
        uses = sorted(item.item_images.all(), key=lambda use: (use.role, use.position))
        there = negative if negative in {use.key for use in uses} else None
        dropped = {} if fate.state == KEPT else {"stage": fate.stage.name, "reason": fate.reason}
        return {
            "id": item.key,
            "position": item.position,
            "type": item.type,
            "subtype": item.subtype,
            **(dropped or {"stage": fate.stage.name if fate.stage else None, "negative_image": there}),
            "decisions": self.decided[item.pk],
            "captions": self.captions(item),
            "images": [_image(use, negative) for use in uses],
            "meta": item.meta,
        }


def _fate(row: dict) -> str:
    """What became of a task's words."""
    if row["state"] == KEPT:
        return "edited" if is_edit(row["outcome"] or "") else "accepted"
    if row["outcome"] == CANNOT_JUDGE:
        return "could not be judged"
    return "rejected" if row["state"] == DROPPED else "open"


def _image(use: ItemImage, negative: str) -> dict:
    return {
        "key": use.key,
        "chosen": use.key == negative,
        "round": use.round,
        "sha256": use.image.sha256,
        "format": use.image.format,
        "width": use.image.width,
        "height": use.image.height,
        "source_name": use.source_name,
        "licence": use.licence,
        "attribution": use.attribution,
        **({"crop": use.crop} if use.crop else {}),
    }
