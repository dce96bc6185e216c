"""Retrieval with perturbed order (ARO §3.1, Tables 3 and 4): a model's recall if captions or images are shuffled.

The queries are a benchmark's positive images and their captions. Vectors are kept by content as in scoring, and a
shuffled caption or image has its own content, so a repeated run computes only what is new. The result is the job's
report, without predictions.
"""

import hashlib
import io
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from benchmarks.construction import image_order, order
from benchmarks.construction.tagging import tagger
from benchmarks.metrics import retrieval
from benchmarks.models import Benchmark, Caption, ItemImage, Job, ScoringModel
from benchmarks.runs import embeddings
from benchmarks.scoring.score import RETRIEVAL, Scoring, cut_digest, known_model
from benchmarks.storage.files import kept
from workers.contents import Contents
from workers.images import pixels_of
from workers.models.encoder import Encoder
from workers.models.prefetch import batches
from workers.models.refusals import CannotScore

COLUMNS = (  # as in ARO's tables: text recall means recall of captions for an image
    ("text R@1", "i2t_r1"), ("text R@5", "i2t_r5"), ("image R@1", "t2i_r1"), ("image R@5", "t2i_r5"),
)  # fmt: skip
ROLES = ("positive", "second_positive")  # roles of captions that are true of the positive image
LOOKED_UP = 2000  # contents in one query


@dataclass
class Material:
    """`images`: each image's path, by its SHA-256. `captions`: (SHA-256 of the image, text as imported), each pair
    once.
    """

    images: dict[str, str] = field(default_factory=dict)
    captions: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Condition:
    """`of`: text, image, or "" if nothing is shuffled."""

    of: str
    name: str
    seed: int = 0


class ShuffledImage:
    """An image's parts in another order (workers.contents.Contents)."""

    def __init__(self, original: Contents, name: str, parts: tuple[int, ...]):
        self.original, self.shuffle, self.parts = original, name, parts

    @property
    def name(self) -> str:
        return self.original.name

    def read_bytes(self) -> bytes:
        made = io.BytesIO()
        pixels = pixels_of(self.original.read_bytes())
        image_order.shuffled(pixels, self.shuffle, self.parts).save(made, "PNG", compress_level=1)
        return made.getvalue()


def over_seeds(shares: Sequence[float]) -> dict[str, float | None]:
    """Return their mean and standard deviation, with n − 1."""
    return {"mean": statistics.fmean(shares), "sd": statistics.stdev(shares) if len(shares) > 1 else None}


def in_words(cell: Mapping[str, float | None]) -> str:
    """Write a mean with its standard deviation, as shares with three decimals."""
    return f"{cell['mean']:.3f}" + ("" if cell["sd"] is None else f" ± {cell['sd']:.3f}")


def table_of(report: Mapping) -> list[dict]:
    """Return a report's rows for a page: what is shuffled, how, and the scores in the order of COLUMNS."""
    return [
        {**row, "name": parts(row), "cells": [in_words(row["measures"][measure]) for _, measure in COLUMNS]}
        for row in report["rows"]
    ]


def parts(row: Mapping) -> str:
    """Name its shuffle; for images with the number of parts: 4 rows."""
    return f"{math.prod(image_order.GRIDS[row['name']])} {row['name']}" if row["of"] == "image" else row["name"]


def results_of(benchmark: Benchmark, kind: str = RETRIEVAL) -> list[Job]:
    """Return the jobs of this kind with results on this benchmark, the newest of each model."""
    done = Job.objects.filter(kind=kind, state="done", params__benchmark=benchmark.pk).order_by("finished_at")
    newest = {job.report["fingerprint"]: job for job in done}
    return sorted(newest.values(), key=lambda job: job.report["model"])


class Perturbed(Scoring):
    """The work of a job that shuffles its material with several seeds and whose result is its report."""

    def run(self) -> None:
        if self.model_name.kind != "open_clip":
            advice = "This compares vectors of images and captions. Choose a model that open_clip loads."
            raise CannotScore("NOTHING_TO_SCORE", advice)
        self.progress.begin("reading items")
        self.seeds = self.job.params["seeds"]
        self.tagger = tagger()
        self.read()
        model = known_model(self.model_name, self.device) or self.loaded()
        report = {
            **self.measured(model),
            "benchmark": self.benchmark.pk, "model": model.title, "fingerprint": model.fingerprint,
            "precision": model.precision, "device": self.encoder.loaded.device if self.encoder else "",
            "encoded": self.encoded, "seeds": self.seeds, "tagger": self.tagger.name,
        }  # fmt: skip
        self.finish(report)

    def read(self) -> None:
        """Read and shuffle the material. Raises CannotScore if it is not enough."""
        raise NotImplementedError

    def measured(self, model: ScoringModel) -> dict:
        """Return the report's content about the model, and the amount of material."""
        raise NotImplementedError

    def add(self, model: ScoringModel, what: str, sources: Mapping[str, Contents | str]) -> None:
        """Encode and store what this model has not encoded yet."""
        contents = list(sources)
        there = {one for part in batches(contents, LOOKED_UP) for one in embeddings.known(model, part)}
        missing = [content for content in contents if content not in there]
        if missing and self.encoder is None:
            self.loaded()
        if missing and self.encoder:
            encoder = cast(Encoder, self.encoder)  # open_clip's
            rows = (
                (one, source, cut_digest(encoder.cut(source)) if isinstance(source, str) else "")
                for one in missing
                for source in [sources[one]]
            )
            self.fill(model, what, len(missing), rows, encoder.images if what == "images" else encoder.texts)


class Retrieval(Perturbed):
    """The work of a job of kind `retrieval`."""

    def read(self) -> None:
        self.material = material_of(self.benchmark)
        if len(self.material.images) < 2:
            advice = "Retrieval needs two positive images with captions or more. Import images, or choose another."
            raise CannotScore("NOTHING_TO_SCORE", advice)
        self.words = {text: order.words_of(text) for _, text in self.material.captions}
        self.tags = {text: list(self.tagger.tags(words)) for text, words in self.words.items()}

    def measured(self, model: ScoringModel) -> dict:
        rows = [self.row(model, "", "", 1)]
        rows += [self.row(model, "text", name, self.seeds) for name in order.SHUFFLES]
        rows += [self.row(model, "image", name, self.seeds) for name in image_order.GRIDS]
        return {"images": len(self.material.images), "captions": len(self.material.captions), "rows": rows}

    def row(self, model: ScoringModel, of: str, name: str, seeds: int) -> dict:
        """Return recalls under a condition, with their mean and standard deviation over the seeds."""
        found = [self.recalls(model, Condition(of, name, seed)) for seed in range(seeds)]
        measures = {measure: over_seeds([one[measure] for one in found]) for measure in retrieval.MEASURES}
        return {"of": of, "name": name, "measures": measures}

    def recalls(self, model: ScoringModel, condition: Condition) -> dict[str, float]:
        images = [self.image(key, place, condition) for key, place in self.material.images.items()]
        texts = [self.text(text, condition) for _, text in self.material.captions]
        self.add(model, "images", dict(images))
        self.add(model, "captions", {embeddings.of_text(text): text for text in texts})
        self.progress.begin("comparing")
        places = {key: place for place, key in enumerate(self.material.images)}
        pictures = _stored(model, [content for content, _ in images])
        captions = _stored(model, [embeddings.of_text(text) for text in texts])
        return compare(pictures, captions, [places[key] for key, _ in self.material.captions])

    def image(self, key: str, place: str, condition: Condition) -> tuple[str, Contents]:
        """Return its content and what to encode."""
        if condition.of != "image":
            return key, kept.contents(place)
        parts = image_order.permutation(condition.name, key, condition.seed)
        content = hashlib.sha256(f"{key}/{condition.name}/{parts}".encode()).hexdigest()
        return content, ShuffledImage(kept.contents(place), condition.name, parts)

    def text(self, text: str, condition: Condition) -> str:
        if condition.of != "text":
            return text
        return order.shuffled(condition.name, self.words[text], self.tags[text], condition.seed)


def material_of(benchmark: Benchmark) -> Material:
    found = Material()
    uses = ItemImage.objects.filter(item__in=benchmark.present, role="positive", position=0).select_related("image")
    own = {use.item_id: use.image for use in uses.order_by("item__position")}
    captions = Caption.objects.filter(item__in=own, role__in=ROLES).order_by("item__position", "role", "position")
    pairs = ((own[item].sha256, text) for item, text in captions.values_list("item", "text"))
    found.captions = list(dict.fromkeys(pairs))
    with_caption = {key for key, _ in found.captions}
    found.images = {image.sha256: image.original_path for image in own.values() if image.sha256 in with_caption}
    return found


def _stored(model: ScoringModel, contents: Sequence[str]) -> tuple[np.ndarray, list[int]]:
    """Return vectors of the distinct contents, shape (n, dimensions), and each content's index among them."""
    different = {content: place for place, content in enumerate(dict.fromkeys(contents))}
    found = [embeddings.vectors(model, part) for part in batches(different, LOOKED_UP)]
    by_content = {content: vector for part in found for content, vector in part.items()}
    return np.stack([by_content[content] for content in different]), [different[content] for content in contents]


def compare(
    images: tuple[np.ndarray, list[int]], captions: tuple[np.ndarray, list[int]], own: Sequence[int]
) -> dict[str, float]:
    """Return recalls by name, comparing equal contents once so that they tie. `own`: each caption's image."""
    table = (images[0] @ captions[0].T)[np.ix_(images[1], captions[1])]
    found = retrieval.recalls(retrieval.queries(table, own))
    return {name: figure.share or 0.0 for name, figure in found.items()}
