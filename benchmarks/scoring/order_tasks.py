"""ARO's order tasks over several seeds (ARO §2.2, Tables 1 and 5): how often a model prefers a caption over its four
wrong orders.

The captions and images are the benchmark's: its items of the type `order` if it has any, otherwise all with a positive
image. Each seed draws new orders for every caption (`construction.order.perturbed`), and the result is the mean
accuracy and its standard deviation over the seeds. The job's report has it, without predictions.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from benchmarks.construction import order
from benchmarks.construction.batch import Dropped
from benchmarks.metrics import aro
from benchmarks.metrics.base import Figure
from benchmarks.models import Caption, ItemImage, ScoringModel
from benchmarks.runs import embeddings
from benchmarks.scoring.retrieval import LOOKED_UP, ROLES, Perturbed, in_words, over_seeds
from benchmarks.storage.files import kept
from workers.models.prefetch import batches
from workers.models.refusals import CannotScore

OVERALL = "all"
CHANCE = aro.MEASURES["order"].chance


class OrderTasks(Perturbed):
    """The work of a job of kind `order-tasks`."""

    def read(self) -> None:
        """Read pairs of an image and a caption with their task (coco, flickr30k), and the wrong orders by seed.

        A caption without four different orders under every seed is left out, so that all seeds have the same n.
        """
        uses = ItemImage.objects.filter(item__in=self.benchmark.present, role="positive", position=0)
        if uses.filter(item__type=aro.ORDER).exists():
            uses = uses.filter(item__type=aro.ORDER)
        own = {use.item_id: use.image for use in uses.select_related("image").order_by("item__position")}
        captions = Caption.objects.filter(item__in=own, role__in=ROLES).order_by("item__position", "role", "position")
        rows = captions.values_list("item", "item__type", "item__subtype", "text")
        pairs = [(own[item].sha256, text, subtype if kind == aro.ORDER else "") for item, kind, subtype, text in rows]
        self.orders: dict[str, list[list[str]]] = {}  # caption → by seed: its normalised form, and its wrong orders
        for text in dict.fromkeys(text for _, text, _ in pairs):
            with suppress(Dropped):
                self.orders[text] = self.drawn(text)
        different = list(dict.fromkeys(pairs))
        self.pairs = [pair for pair in different if pair[1] in self.orders]
        self.left_out = len(different) - len(self.pairs)
        shown = {key for key, _, _ in self.pairs}
        self.images = {image.sha256: image.original_path for image in own.values() if image.sha256 in shown}
        if not self.pairs:
            advice = "No caption with a positive image has four different wrong orders. Choose another benchmark."
            raise CannotScore("NOTHING_TO_SCORE", advice)

    def drawn(self, text: str) -> list[list[str]]:
        """Return, by seed, the normalised caption and its four wrong orders. Raises Dropped."""
        found = self.tagger.tags(order.words_of(text))

        def tags(words: order.Words) -> order.Words:
            return found

        made = [order.perturbed(text, tags, seed) for seed in range(self.seeds)]
        return [[right, *wrong.values()] for right, wrong in made]

    def measured(self, model: ScoringModel) -> dict:
        self.add(model, "images", {key: kept.contents(place) for key, place in self.images.items()})
        found = [self.accuracies(model, seed) for seed in range(self.seeds)]
        rows = [
            {"name": name, "n": figure.n, **over_seeds([one[name].share or 0.0 for one in found])}
            for name, figure in found[0].items()
        ]
        return {"images": len(self.images), "captions": len(self.pairs), "left_out": self.left_out, "rows": rows}

    def accuracies(self, model: ScoringModel, seed: int) -> dict[str, Figure]:
        """Return accuracies over all pairs, and by task if there are several."""
        texts = {text: self.orders[text][seed] for _, text, _ in self.pairs}
        self.add(model, "captions", {embeddings.of_text(one): one for orders in texts.values() for one in orders})
        self.progress.begin("comparing", len(self.pairs))
        scores = []
        for part in batches(self.pairs, LOOKED_UP // (1 + aro.PERMUTATIONS)):
            scores += self.scores(model, [(key, texts[text]) for key, text, _ in part])
            self.progress.step(len(part))
        records = aro.ordered(scores, [task for *_, task in self.pairs])
        by_task = aro.groups(records, aro.ORDER)
        return {OVERALL: aro.overall(records, aro.ORDER), **(by_task if len(by_task) > 1 else {})}

    def scores(self, model: ScoringModel, asked: Sequence[tuple[str, Sequence[str]]]) -> list[list[float]]:
        """Return each image's scores with its captions, in order."""
        contents = {embeddings.of_text(text) for _, texts in asked for text in texts} | {key for key, _ in asked}
        vectors = embeddings.vectors(model, contents)
        return [[float(vectors[key] @ vectors[embeddings.of_text(text)]) for text in texts] for key, texts in asked]


def table_of(reports: Sequence[Mapping]) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Make a table like ARO's Table 5: its heads after the model, and for each report the model and its cells."""
    names = list(dict.fromkeys(row["name"] for report in reports for row in report["rows"]))
    rows = []
    for report in reports:
        by_name = {row["name"]: row for row in report["rows"]}
        cells = [in_words(by_name[name]) if name in by_name else "–" for name in names]
        rows.append((report["model"], [f"{by_name[OVERALL]['n']:,}", *cells]))
    return ["n", *(name or "no task" for name in names)], rows
