"""The items of an export: which are kept, their captions and negative image, and each stage's outcome."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import F

from annotation.figures import funnel
from annotation.figures.edit_names import Edits, name_of_edit, with_edit_names
from annotation.measures.funnel import fates
from annotation.models import Kind, Slot, Stage, Study, Task
from annotation.pipeline import promotion
from annotation.protocols.base import CANNOT_JUDGE, AnswerContent, Carried, carried_texts
from annotation.protocols.decision_rule import DROPPED, KEPT, is_edit
from annotation.protocols.registry import protocol_named
from benchmarks import queries
from benchmarks.models import Item, ItemImage
from benchmarks.records import ItemRecord

BATCH = 100  # items read at a time
OWN = "negative-0"  # the negative image that came with the import
OF_DECISION = (
    "stage__name", "stage__position", "question", "round", "decided__state", "decided__outcome", "decided__content",
    "decided__reason", "decided__by", "decided__posterior",
)  # fmt: skip


class ExportedItems:
    """Everything about a study's items that is read at once; the items themselves are read in batches."""

    def __init__(self, study: Study, stages: Sequence[Stage], edits: Edits):
        self.stages, self.edits = stages, edits
        self.items = study.benchmark.items.order_by("position")
        self.selecting: dict[object, Stage] = {stage.pk: stage for stage in stages if not funnel.measures(stage)}
        self.walk = funnel.walk_of(study, list(self.selecting.values()))
        self.fates = fates(self.walk)
        self.results = {pk: promotion.results(stage) for pk, stage in self.selecting.items()}
        counted = Slot.objects.filter(stage__in=stages, task__kind=Kind.JUDGE, task__live=True, judgment__isnull=False)
        self.votes: dict[int, Counter[str | None]] = defaultdict(Counter)
        for pk, answer in counted.values_list("task_id", "judgment__answer"):
            self.votes[pk][name_of_edit(edits, answer)] += 1
        tasks = Task.objects.filter(stage__in=stages, kind=Kind.JUDGE, live=True)
        self.decided: dict[int, list[dict]] = defaultdict(list)
        for row in tasks.order_by("item_id", "stage__position", "question").values("item_id", "pk", *OF_DECISION):
            self.decided[row["item_id"]].append(self._decision(row))

    def _decision(self, row: Mapping[str, Any]) -> dict:
        """A task's outcome, from the columns OF_DECISION and `pk`."""
        content = with_edit_names(self.edits, row["decided__content"] or AnswerContent())
        posterior = row["decided__posterior"]
        return {
            "stage": row["stage__name"],
            "stage_position": row["stage__position"],
            "question": row["question"],
            "round": row["round"],
            "state": row["decided__state"] or "open",
            "outcome": name_of_edit(self.edits, row["decided__outcome"]) or None,
            "reason": row["decided__reason"] or None,
            "decided_by": row["decided__by"],
            "votes": dict(sorted(self.votes[row["pk"]].items())),
            **({"content": content} if content else {}),
            **({} if posterior is None else {"posterior": posterior}),
        }

    def written(self, stage: Stage) -> Counter:
        """Tasks by `_fate`, for a stage whose protocol lets people edit text; empty for any other."""
        decisions = [row for rows in self.decided.values() for row in rows if row["stage"] == stage.name]
        return Counter(_fate(row) for row in decisions) if protocol_named(stage.protocol).edits else Counter()

    def not_suitable(self, stage: Stage) -> Sequence[Mapping]:
        """Items that the stage could not ask about because they lack something."""
        lacking = set(self.walk.unsuited.get(stage.pk, ())) - set(self.walk.found.get(stage.pk, ()))
        return list(self.items.filter(pk__in=lacking).values("position", "type", "subtype", item=F("key")))

    def in_order(self) -> Iterator[Item]:
        """In the order of the benchmark, each with its captions and images."""
        return queries.with_material(self.items).iterator(chunk_size=BATCH)

    def record(self, item: Item) -> ItemRecord:
        """With the final captions."""
        return queries.record_of(item).with_captions(self._texts(item))

    def _texts(self, item: Item) -> dict[str, str]:
        """Captions that stages wrote, by role."""
        return carried_texts(self._carried(item))

    def _carried(self, item: Item) -> Carried:
        """What the item carries from its deciding stage, otherwise from the one before."""
        last = self.fates[item.pk].stage
        stage: object = last and last.pk
        while stage in self.selecting and item.pk not in self.results[stage]:
            stage = self.selecting[stage].source_id
        return self.results[stage][item.pk].carried if stage in self.selecting else {}

    def negative(self, item: Item) -> str:
        """The identity of the item's negative image: the carried one, otherwise the chosen one, otherwise its own."""
        if carried := self._carried(item).get("negative"):
            return carried
        chosen = [row["outcome"] for row in self.decided[item.pk] if (row["outcome"] or "").startswith("candidate-")]
        return chosen[-1] if chosen else OWN

    def captions(self, item: Item) -> list[dict]:
        """The final captions; if a stage changed one, also its imported text, the stage and what it edited."""
        own, texts = queries.record_of(item), self._texts(item)
        came = {caption.role: caption.text for caption in reversed(own.captions)}
        changed = {role: text for role, text in texts.items() if text != came.get(role)}
        lines = []
        for caption in own.with_captions(texts).captions:
            line: dict[str, object] = {"role": caption.role, "text": caption.text}
            if changed.pop(caption.role, None) is not None:
                line |= {"imported": came.get(caption.role), **self._writer(item, caption.role, caption.text)}
            lines.append(line | ({"attributes": caption.attributes} if caption.attributes else {}))
        return lines

    def _writer(self, item: Item, role: str, text: str) -> dict:
        """The last stage whose outcome has these words."""
        for row in reversed(self.decided[item.pk]):
            content = row.get("content", {})
            if content.get("texts", {}).get(role) == text:
                return {"changed_by": row["stage"], "made_of": content.get("from", {}).get(role)}
        return {}

    def line(self, item: Item) -> dict:
        """An item with each stage's outcome, down to the hash of every image."""
        fate, negative = self.fates[item.pk], self.negative(item)
        uses = sorted(item.item_images.all(), key=queries.in_record_order)
        there = negative if negative in {use.key for use in uses} else None
        how = {"negative_image": there} if fate.state == KEPT else {"reason": fate.reason}
        return {
            "id": item.key,
            "position": item.position,
            "type": item.type,
            "subtype": item.subtype,
            "stage": fate.stage.name if fate.stage else None,
            **how,
            "decisions": self.decided[item.pk],
            "captions": self.captions(item),
            "images": [_image(use, negative) for use in uses],
            "meta": item.meta,
        }


def _fate(row: dict) -> str:
    """The fate of a task's texts."""
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
        **({"attributes": use.attributes} if use.attributes else {}),
    }
