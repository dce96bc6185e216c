"""The items of an export: which came through, with which negative image, and what each stage made of them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from django.db.models import F

from annotation import funnel, promotion
from annotation.models import Stage, Study
from annotation.rows import fetch
from benchmarks import queries
from benchmarks.models import Item, ItemImage

BATCH = 100  # items read at a time
OWN = "negative-0"  # the negative image that came with the import

# What stands on the live tasks of each item.
VOTES = """
SELECT task.id, judgment.answer FROM annotation_slot slot JOIN annotation_judgment judgment
  ON judgment.id = slot.judgment_id JOIN annotation_task task ON task.id = slot.task_id
JOIN annotation_stage stage ON stage.id = slot.stage_id
WHERE stage.study_id = %(study)s AND task.kind = 'judge' AND task.live
"""
DECIDED = """
SELECT task.item_id, task.id, stage.position, stage.name, task.question, task.round, outcome.state, outcome.outcome,
       outcome.reason, outcome.by
FROM annotation_task task JOIN annotation_stage stage ON stage.id = task.stage_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE stage.study_id = %(study)s AND task.kind = 'judge' AND task.live
ORDER BY task.item_id, stage.position, task.question
"""


class Split:
    """Everything about a study's items that is read at once; the items themselves come some at a time."""

    def __init__(self, study: Study, stages: Sequence[Stage]):
        self.items = study.benchmark.items.order_by("position")
        selecting = [stage for stage in stages if not funnel.measures(stage)]
        self.walk = funnel.walk_of(study, selecting)
        self.fates = funnel.fates(self.walk)
        self.carried = {stage.pk: promotion.results(stage) for stage in selecting}
        self.votes: dict[int, Counter] = defaultdict(Counter)
        for task, answer in fetch(VOTES, study=study.pk):
            self.votes[task][answer] += 1
        self.decided = defaultdict(list)
        for item, *row in fetch(DECIDED, study=study.pk):
            self.decided[item].append(self._decision(*row))

    def _decision(self, task: int, position: int, stage: str, question: str, round: int, *outcome: str | None) -> dict:
        state, answer, reason, by = outcome
        return {
            "stage": stage,
            "stage_position": position,
            "question": question,
            "round": round,
            "state": state or "open",
            "outcome": answer or None,
            "reason": reason or None,
            "decided_by": by,
            "votes": dict(sorted(self.votes[task].items())),
        }

    def not_suitable(self, stage: Stage) -> list[dict]:
        """Items that the stage would have asked about and could not, since they lack something."""
        told = set(self.walk.unsuited.get(stage.pk, ())) - set(self.walk.found.get(stage.pk, ()))
        return list(self.items.filter(pk__in=told).values("position", "type", "subtype", item=F("key")))

    def read(self) -> Iterator[Item]:
        """In the order of the benchmark, each with its captions and images."""
        return queries.with_material(self.items).iterator(chunk_size=BATCH)

    def negative(self, item: Item) -> str:
        """The identity of the item's negative image: what was carried, else what was chosen, else its own."""
        fate = self.fates[item.pk]
        result = self.carried[fate.stage.pk].get(item.pk) if fate.stage else None
        if result is not None and result.carried.get("negative"):
            return result.carried["negative"]
        chosen = [row["outcome"] for row in self.decided[item.pk] if (row["outcome"] or "").startswith("candidate-")]
        return chosen[-1] if chosen else OWN

    def line(self, item: Item) -> dict:
        """An item with what each stage said of it, down to the hash of every image."""
        fate, negative = self.fates[item.pk], self.negative(item)
        uses = sorted(item.item_images.all(), key=lambda use: (use.role, use.position))
        dropped = {} if fate.state == "kept" else {"stage": fate.stage.name, "reason": fate.reason}
        return {
            "id": item.key,
            "position": item.position,
            "type": item.type,
            "subtype": item.subtype,
            **(dropped or {"stage": fate.stage.name if fate.stage else None, "negative_image": negative}),
            "decisions": self.decided[item.pk],
            "captions": [{"role": c.role, "text": c.text} for c in queries.record_of(item).captions],
            "images": [_image(use, negative) for use in uses],
            "meta": item.meta,
        }


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
    }
