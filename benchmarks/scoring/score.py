"""Score a benchmark with a model: encode what is new, compare, store one run.

Vectors, and scores of models that read an image and a caption together, are committed batch by batch, so a killed
worker can resume. The run with all its predictions is stored in one transaction at the end, with the job's report.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

from django import forms
from django.conf import settings
from django.db import transaction

from benchmarks import audit
from benchmarks.jobs import jobs, orders
from benchmarks.jobs.benchmark_work import BenchmarkWork, refused
from benchmarks.models import Benchmark, Job, Run, RunOrigin, ScoringModel
from benchmarks.predictions import plan as scoring_plan
from benchmarks.predictions.cut_captions import counted, counted_by_type
from benchmarks.predictions.plan import Place
from benchmarks.runs import embeddings, import_predictions, material, pairs
from benchmarks.scoring import detected, similarity
from benchmarks.storage.files import kept
from workers.models.encoder import Encoder, PairScorer
from workers.models.loading import load
from workers.models.model_name import ModelName, check_device, parse_model, recipe
from workers.models.refusals import CannotScore

KIND, RETRIEVAL, ORDER_TASKS = "score", "retrieval", "order-tasks"  # of jobs: item scores; perturbed order (ARO)
MEASURES = {  # what a job does, in its title and in a form
    KIND: ("Score", "The benchmark’s questions"),
    RETRIEVAL: ("Perturbed retrieval on", "Retrieval with perturbed order"),
    ORDER_TASKS: ("Order tasks on", "Order tasks"),
}
SEEDS = {RETRIEVAL: 3, ORDER_TASKS: 5}  # as in ARO §3.1 and §2.3
RECIPES = 20  # recipes kept per model: machines and versions that loaded it
AGAIN = "nothing new: this run still applies"


@dataclass(frozen=True)
class ScoreOrder:
    """The model to score with, and what to measure: one of MEASURES. `seeds`: None for the measure's own number."""

    model: str = orders.model(
        "Model",
        "An open_clip architecture such as `ViT-B-32-quickgelu`, or `hf-hub:ORG/MODEL`, "
        "`local-dir:FOLDER`, `sentence-transformers:ID`, `language-model:ID`, `vqa:ID`, `itm:ID`, "
        "`detector:FOLDER`.",
    )
    pretrained: str = orders.weights()
    device: str = orders.device()
    measure: str = orders.choice(
        "What to measure", [(kind, words) for kind, (_, words) in MEASURES.items()], initial=KIND, required=False
    )
    seeds: int | None = orders.whole(
        "Seeds of the shuffles", 1, 10, "Empty: 3 for retrieval, 5 for order tasks.", required=False
    )
    prompt: str = orders.model(
        "Instruction",
        "For sentence encoders such as Instructor and E5: what they read before each caption.",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


def queue_score(
    *, benchmark: Benchmark, order: ScoreOrder, by: str, created_by=None, foreground=False,
    result: material.Result | None = None,
) -> Job:  # fmt: skip
    """Create a job of the kind that the order measures; with `result`, it scores a study's result. Raises Refused for
    invalid orders; the worker reports further problems."""
    with refused():
        named = parse_model(order.model, order.pretrained, settings.MODELS, order.prompt)
        check_device(order.device)
    order = orders.checked(order)
    params: dict[str, object] = {"benchmark": benchmark.pk, "foreground": foreground, "by": by}
    params |= {name: getattr(order, name) for name in ("model", "pretrained", "prompt", "device")}
    if order.measure in SEEDS:
        params |= {"measure": order.measure, "seeds": order.seeds or SEEDS[order.measure]}
    params |= result.params() if result else {}
    title = f"{MEASURES[order.measure][0]} {benchmark.name} with {named.title}"
    return jobs.queue_job(kind=order.measure, title=title, params=params, by=by, created_by=created_by)


class Scoring(BenchmarkWork):
    """The work of a job of kind `score`."""

    def __init__(self, job: Job, progress: jobs.Progress):
        super().__init__(job, progress)
        self.device = job.params["device"]
        asked, prompt = job.params, job.params.get("prompt", "")
        self.model_name = parse_model(asked["model"], asked["pretrained"], settings.MODELS, prompt)
        self.kind = material.kind(self.benchmark)
        self.scope = material.Scope(self.benchmark, material.result_in(job.params))
        self.encoder: Encoder | PairScorer | None = None
        self.encoded = {"pairs": 0} if self.model_name.scores_pairs else {"images": 0, "captions": 0}

    def run(self) -> None:
        self.check()
        model = self.known() or self.loaded()
        self.encode(model)
        digest = self.digest(model)
        if same := self.stored(model, digest):
            return self.finish_with(same, {"note": AGAIN})
        scores = self.compared(model)
        if not scores.count and not scores.alike:
            gaps = [f"{len(keys):,} lack a {what} (first: {keys[0]})" for what, keys in scores.lacking.items()]
            advice = f"{'; '.join(gaps)}." if gaps else "The benchmark has no items."
            raise CannotScore("NOTHING_TO_SCORE", f"None of the items has everything that a score needs. {advice}")
        self.store(model, digest, scores)

    def check(self) -> None:
        """Check, before loading anything, that this model can score such items."""
        alone = self.model_name.kind == "language"
        texts = scoring_plan.compares_captions(self.kind) and not self.model_name.scores_pairs
        if not (self.model_name.sees_images or alone or texts):
            advice = "A sentence encoder compares captions with one another, and these items have no second positive."
            raise CannotScore("NOTHING_TO_SCORE", f"{advice} Choose a language model, or a model that sees images.")
        if self.model_name.kind == "detector" and self.kind not in detected.QUESTIONS:
            advice = "A detector answers the questions of BiVLC and SugarCrepe, but these items have others."
            raise CannotScore("NOTHING_TO_SCORE", f"{advice} Choose another model.")
        if self.model_name.sees_images and not texts and not self.scope.images().exists():
            advice = "These items have no images, and without them this model has nothing to compare."
            raise CannotScore("NOTHING_TO_SCORE", f"{advice} Import images, or choose a language model.")

    # The model

    def known(self) -> ScoringModel | None:
        """Return the model's row by its recipe, without loading the model, if it has already encoded everything."""
        model = known_model(self.model_name, self.device)
        return model if model and self.complete(model) else None

    def complete(self, model: ScoringModel) -> bool:
        if self.model_name.scores_pairs:
            return next(pairs.missing_pairs(model, self.scope, self.wanted), None) is None
        return not any(found.exists() for found in self.missing(model).values()) and not self.written(model)

    def wanted(self, captions: Mapping[Place, str]) -> list[scoring_plan.WantedScore]:
        return scoring_plan.wanted_scores(self.kind, captions)

    def loaded(self) -> ScoringModel:
        self.progress.begin("loading the model")
        self.encoder = load(self.model_name, self.device)
        return model_row(self.encoder, self.model_name, self.device)

    def missing(self, model: ScoringModel) -> dict:
        images = embeddings.missing_images(model, self.scope.images())
        return {
            "images": images if self.model_name.sees_images else images.none(),
            "captions": embeddings.missing_texts(model, self.scope.captions()),
        }

    def written(self, model: ScoringModel) -> dict[str, str]:
        """Return captions by the study's annotators that this model has not encoded yet, by content."""
        texts = self.scope.result.texts() if self.scope.result else {}
        there = embeddings.known(model, texts)
        return {content: text for content, text in texts.items() if content not in there}

    # The vectors

    def encode(self, model: ScoringModel) -> None:
        if self.encoder is None:
            return
        if self.model_name.scores_pairs:
            return self.score_pairs(model, cast("PairScorer", self.encoder))
        encoder = cast("Encoder", self.encoder)
        missing, written = self.missing(model), self.written(model)
        images = ((image.content, kept.contents(image.original_path), "") for image in missing["images"].iterator())
        imported = ((row["content"], row["text"]) for row in missing["captions"].iterator())
        texts = chain(imported, written.items())
        captions = ((content, text, cut_digest(encoder.cut(text))) for content, text in texts)
        self.fill(model, "images", missing["images"].count(), images, encoder.images)
        self.fill(model, "captions", missing["captions"].count() + len(written), captions, encoder.texts)

    def score_pairs(self, model: ScoringModel, scorer: PairScorer) -> None:
        count = sum(1 for _ in pairs.missing_pairs(model, self.scope, self.wanted))
        missing = pairs.missing_pairs(model, self.scope, self.wanted)
        asked = (
            (pair.content, (kept.contents(pair.path), pair.text), cut_digest(scorer.cut(pair.text), pair.path))
            for pair in missing
        )
        self.fill(model, "pairs", count, asked, scorer.scores)

    def fill(
        self, model: ScoringModel, what: str, count: int, rows: Iterable[tuple[str, object, str]], encode: Callable
    ) -> None:
        """Call `embeddings.fill` in a separate phase."""
        if not count:
            return
        self.progress.begin("scoring pairs" if what == "pairs" else f"encoding {what}", count)
        for done in embeddings.fill(model, rows, encode):
            self.encoded[what] += done
            self.progress.step(done)

    # The scores

    def digest(self, model: ScoringModel) -> str:
        self.progress.begin("reading items")
        return self.scope.digest(self.kind, model.fingerprint)

    def stored(self, model: ScoringModel, digest: str) -> Run | None:
        return Run.objects.filter(model=model, benchmark=self.benchmark, digest=digest).first()

    def compared(self, model: ScoringModel) -> similarity.Scores:
        self.progress.begin("comparing", self.scope.items.count())
        alone, scores = self.model_name.kind == "language", similarity.Scores()
        together = self.model_name.scores_pairs
        asker = similarity.Asker(
            images=self.model_name.sees_images,
            texts=not (alone or together),
            alone=alone,
            pair=pairs.of_pair if together else None,
        )

        def look_up(contents: set[str]) -> dict:
            return _vectors(model, contents)

        def cuts(contents: set[str]) -> dict:
            return embeddings.cuts(model, contents)

        for chunk in self.scope.chunks():
            if self.model_name.kind == "detector":
                detected.add_choices(scores, chunk, self.kind, look_up)
            else:
                similarity.compare(scores, chunk, self.wanted, asker, look_up, cuts)
            self.progress.step(len(chunk))
        return scores

    def store(self, model: ScoringModel, digest: str, scores: similarity.Scores) -> None:
        with self.storing():
            if same := self.stored(model, digest):
                return self.finish_with(same, {"note": AGAIN})
            run = Run.objects.create(
                benchmark=self.benchmark, origin=RunOrigin.MEASURED, kind=self.kind, title=self.model_name.title,
                model=model, digest=digest, blind=not self.model_name.sees_images, job=self.job, study=self.scope.study,
                created_by_id=self.job.created_by_id,
            )  # fmt: skip
            import_predictions.copy_in(run, scores.predictions())
            audit.record(by=self.by, verb="scored", subject=self.benchmark, run=run.pk, job=self.job.pk)
            lacking = {what: counted(keys) for what, keys in scores.lacking.items()}
            kinds = self.benchmark.items.filter(key__in=scores.alike).values_list("type", "subtype")
            cut = {"in_items": counted(scores.cut), "alike": counted_by_type(scores.alike, kinds)}
            self.finish_with(run, {"scores": scores.count, "lacking": lacking, "cut": cut})

    def finish_with(self, run: Run, facts: dict) -> None:
        model = run.model
        assert model is not None  # run_measured_by_one
        report = {
            "run": run.pk, "benchmark": self.benchmark.pk, "kind": self.kind, "items": self.scope.items.count(),
            "model": model.title, "fingerprint": model.fingerprint, "precision": model.precision,
            "device": self.encoder.loaded.device if self.encoder else "", "encoded": self.encoded, **facts,
        }  # fmt: skip
        if self.encoder and self.encoder.reduced_to:
            report["reduced_to"] = self.encoder.reduced_to
        self.finish(report)


def _vectors(model: ScoringModel, contents: set[str]) -> dict:
    """Return the scores of all items. Raises CannotScore if an import added items after the others were encoded."""
    found = embeddings.vectors(model, contents)
    if len(found) < len(contents):
        advice = "Items have been added to the benchmark in the meantime. Score it again; finished encodings are kept."
        raise CannotScore("ITEMS_CHANGED", advice)
    return found


def known_model(named: ModelName, device: str) -> ScoringModel | None:
    """Return the model's row by its recipe, without loading the model."""
    found = recipe(named, device)
    return ScoringModel.objects.filter(recipes__contains=[found]).first() if found else None


def model_row(encoder: Encoder | PairScorer, named: ModelName, device: str) -> ScoringModel:
    """Return the loaded model's row by its fingerprint, and store the recipe."""
    loaded, made_by = encoder.loaded, recipe(named, device)
    defaults = {
        "name": named.name[:300], "pretrained": named.pretrained[:300], "title": named.title[:300],
        "precision": loaded.precision, "sees_images": named.sees_images,
    }  # fmt: skip
    with transaction.atomic():
        ScoringModel.objects.get_or_create(fingerprint=loaded.fingerprint, defaults=defaults)
        model = ScoringModel.objects.select_for_update(no_key=True).get(fingerprint=loaded.fingerprint)
        if made_by and made_by not in model.recipes:
            model.recipes = [*model.recipes, made_by][-RECIPES:]
            model.save(update_fields=["recipes"])
    return model


def cut_digest(tokens: Sequence[int] | None, image: str = "") -> str:
    """Return the `Embedding.cut` of a caption of which a model reads these tokens."""
    return hashlib.sha256(f"{image} {[*tokens]}".encode()).hexdigest() if tokens is not None else ""
