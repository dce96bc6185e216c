"""Candidate images: a text-to-image pipeline draws each item's negative caption, some images per item.

They are imported into the benchmark as another round of candidates. Until then, each finished image is kept under a
hash of its settings, so a killed or cancelled job loses at most a batch, and the next one continues from it.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from django.conf import settings
from django.db.models import Max

from benchmarks import queries
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.limits import MAX_ATTRIBUTE, MAX_IMAGES
from benchmarks.imports import images as import_images
from benchmarks.imports import run as run_import
from benchmarks.imports.order import Options, Order
from benchmarks.imports.store import batches
from benchmarks.jobs import jobs, orders
from benchmarks.jobs.benchmark_work import BenchmarkWork, refused
from benchmarks.models import Benchmark, Item, ItemImage, Job, Role
from benchmarks.records import Attributes, ImageRecord, ItemRecord, Problem, Refused
from benchmarks.storage.files import kept
from workers.models.encoder import Painter
from workers.models.loading import load_painter
from workers.models.model_name import check_device, parse_pipeline
from workers.models.refusals import CannotScore

KIND = "images"
FOLDER = "staging/generated"  # finished images until their import
FORGOTTEN = 30 * 24 * 3600  # seconds until an image not used by any job is deleted


@dataclass(frozen=True)
class ImagesOrder:
    """The images to draw: for each item's negative caption, or only for items with `keys`."""

    model: str = orders.model(
        "Model", "`sdxl-dpo`, or another text-to-image model: its hub name or its folder.", initial="sdxl-dpo"
    )
    unet: str = orders.model(
        "Denoising network", "Usually empty. The hub name or folder of a network that replaces the model’s.", False
    )
    count: int = orders.whole("Images per item", 1, 16, initial=4)
    steps: int = orders.whole("Denoising steps", 1, 500, initial=50)
    guidance: float = orders.real(
        "Guidance", 0, 100, "How closely an image follows its caption. Many pipelines use 5 to 7.5.", initial=5.0
    )
    seed: int = orders.whole(
        "Seed",
        0,
        orders.MOST_SEED,
        "The seed of each image is derived from this number, the item’s ID and the image’s position.",
        initial=0,
    )
    keys: Sequence[str] = orders.described(
        orders.LinesField(
            required=False,
            initial=(),
            label="Items",
            help_text="One item ID per line. Leave it empty to draw images for all items.",
        )
    )
    device: str = orders.device()


def queue_images(*, benchmark: Benchmark, order: ImagesOrder, by: str, created_by=None, foreground=False) -> Job:
    """Create a job that generates images. Raises Refused for invalid orders; the worker reports further problems."""
    with refused():
        pipeline = parse_pipeline(order.model, order.unet, settings.MODELS)
        check_device(order.device)
    order = orders.checked(order)
    _check_known(benchmark, order.keys)
    params = {"benchmark": benchmark.pk, **asdict(order), "foreground": foreground, "by": by}
    title = f"Generate images for {benchmark.name} with {pipeline.title}"
    return jobs.queue_job(kind=KIND, title=title, params=params, by=by, created_by=created_by)


def _check_known(benchmark: Benchmark, keys: Sequence[str]) -> None:
    for start in range(0, len(keys), 1000):
        some = keys[start : start + 1000]
        there = set(benchmark.present.filter(key__in=some).values_list("key", flat=True))
        for key in some:
            if key not in there:
                advice = f"“{benchmark.name}” has no item “{key[:80]}”. Correct the id or remove it."
                raise Refused([Problem("UNKNOWN_ID", "", None, "id", advice)])


def seed_of(seed: int, key: str, place: int) -> int:
    """Return an item's seed for the candidate at `place`: the same in every benchmark, new for a later round."""
    found = hashlib.sha256(json.dumps([seed, key, place]).encode()).digest()
    return int.from_bytes(found[:4]) & orders.MOST_SEED


@dataclass(frozen=True, slots=True)
class Wanted:
    """An image to draw. `place`: among the item's candidates."""

    item: ItemRecord
    prompt: str
    place: int
    seed: int

    @property
    def name(self) -> str:
        """Its file's name: safe, whatever the item's key is."""
        return f"{hashlib.sha256(self.item.key.encode()).hexdigest()[:16]}-{self.place}.png"


class Drawing(BenchmarkWork):
    """The work of a job of kind `images`."""

    def __init__(self, job: Job, progress: jobs.Progress):
        super().__init__(job, progress)
        self.params, self.log = job.params, ProblemLog()
        self.pipeline = parse_pipeline(self.params["model"], self.params["unet"], settings.MODELS)

    def run(self) -> None:
        self.progress.begin("reading items")
        wanted = list(self.wanted())
        if not wanted:
            raise CannotScore("NOTHING_TO_DRAW", "None of these items has a negative caption to draw.")
        self.progress.begin("loading the model")
        painter = load_painter(self.pipeline, self.params["device"])
        paths = {one.name: self.path(painter, one) for one in wanted}
        self.draw(painter, wanted, paths)
        if painter.reduced_to:
            advice = f"Memory ran out, so batches were reduced to {painter.reduced_to:,}."
            self.log.note("SMALLER_BATCHES", "", None, "", advice)
        self.bring_in(painter, wanted, paths)
        kept.remove(paths.values())

    def wanted(self) -> Iterator[Wanted]:
        """Yield all images to draw, in the items' order."""
        items = self.benchmark.present.order_by("position")
        if self.params["keys"]:
            items = items.filter(key__in=self.params["keys"])
        for some in batches(list(items.values_list("pk", flat=True))):
            uses = ItemImage.objects.filter(item__in=some, role=Role.CANDIDATE).order_by().values_list("item")
            last = dict(uses.annotate(Max("position")))
            for item in queries.with_material(Item.objects.filter(pk__in=some)).order_by("position"):
                yield from self.of_item(queries.record_of(item), last.get(item.pk, -1) + 1)

    def of_item(self, item: ItemRecord, first: int) -> Iterator[Wanted]:
        try:
            prompt = item.caption(Role.NEGATIVE)
        except KeyError:
            self.log.note("VALUE_MISSING", "", None, "negative caption", f"“{item.key}” has none and is not drawn.")
            return
        if len(item.images) + self.params["count"] > MAX_IMAGES:
            advice = f"“{item.key[:80]}” has {len(item.images)} images, and an item can have at most {MAX_IMAGES}."
            raise CannotScore("TOO_MANY_PARTS", f"{advice} Draw fewer, or give the ids of other items.")
        bare = replace(item, images=(), meta={}, truth={})
        for place in range(first, first + self.params["count"]):
            yield Wanted(bare, prompt, place, seed_of(self.params["seed"], item.key, place))

    def path(self, painter: Painter, one: Wanted) -> str:
        made_of = [painter.loaded.fingerprint, one.prompt, one.seed, self.params["steps"], self.params["guidance"]]
        return f"{FOLDER}/{hashlib.sha256(json.dumps(made_of).encode()).hexdigest()}.png"

    def draw(self, painter: Painter, wanted: list[Wanted], paths: dict[str, str]) -> None:
        """Draw and keep missing images; an image that the pipeline withholds is kept as an empty file."""
        there = {file.name for file in kept.below(FOLDER)}
        left = list({paths[one.name]: one for one in wanted if paths[one.name] not in there}.values())
        if not left:
            return
        self.progress.begin("drawing images", len(left))
        drawn, prompts = iter(left), ((one.prompt, one.seed) for one in left)
        for batch in painter.images(prompts, self.params["steps"], self.params["guidance"]):
            for png in batch:
                kept.write(paths[next(drawn).name], png or b"")
                self.progress.step()

    def bring_in(self, painter: Painter, wanted: list[Wanted], paths: dict[str, str]) -> None:
        """Import the images as candidates, which finishes the job."""
        sizes = {file.name: file.size for file in kept.below(FOLDER)}
        images: dict[str, list[ImageRecord]] = {}
        for one in wanted:
            if paths[one.name] not in sizes:
                advice = "Some drawn images have been removed in the meantime. Start again; only those will be redrawn."
                raise CannotScore("IMAGE_MISSING", advice)
            if sizes[paths[one.name]]:
                drawn = ImageRecord(Role.CANDIDATE, one.name, attributes=self.provenance(painter, one))
                images.setdefault(one.item.key, []).append(drawn)
            else:
                advice = f"The pipeline's safety checker withheld candidate {one.place} of “{one.item.key}”."
                self.log.note("IMAGE_WITHHELD", "", None, "candidate image", advice)
        items = {one.item.key: one.item for one in wanted}
        records = [replace(items[key], images=tuple(of_item)) for key, of_item in images.items()]
        if not records:
            raise CannotScore("NOTHING_TO_DRAW", "The pipeline's safety checker withheld all images.")
        options = Options(new_candidates=True)
        order = Order(self.benchmark.name, self.benchmark.source, options, self.by, self.job.created_by_id)
        files = import_images.ImagesInMemory(Finished({one.name for record in records for one in record.images}, paths))
        run_import.Run(self.job, self.progress, order, self.log, records, files).finish()

    def provenance(self, painter: Painter, one: Wanted) -> Attributes:
        """Return how an image was made, for exports and releases."""
        cut = [one.prompt[start : start + MAX_ATTRIBUTE] for start in range(0, len(one.prompt), MAX_ATTRIBUTE)]
        return {
            "model": self.pipeline.title[:MAX_ATTRIBUTE], "weights": painter.loaded.fingerprint,
            "prompt": cut if len(cut) > 1 else one.prompt, "seed": one.seed, "steps": self.params["steps"],
            "guidance": self.params["guidance"], **painter.settings,
        }  # fmt: skip


class Finished:
    """Finished images to import, one in memory at a time."""

    def __init__(self, names: set[str], paths: dict[str, str]):
        self.names, self.paths = sorted(names), paths

    def stream(self, wanted: list[str]) -> Iterator[tuple[str, bytes]]:
        for name in wanted:
            yield name, kept.read(self.paths[name])


def sweep() -> None:
    """Delete finished images that no job has used."""
    kept.remove([file.name for file in kept.below(FOLDER) if file.modified < time.time() - FORGOTTEN])
