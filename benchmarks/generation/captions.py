"""Captions by a language model: ask, parse strictly, clean, keep the most plausible, refine, and import the result.

Answers and the classifiers' scores are committed as they come, so a killed worker resumes. The captions kept become a
new benchmark in one transaction, with the job's report: existing items do not change, because annotators have judged
them with their current captions.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

from django.conf import settings

from benchmarks import queries
from benchmarks.construction import generated, prompts, refinement
from benchmarks.construction.batch import Dropped
from benchmarks.construction.prompts import KINDS, NEGATIVE, SECOND_POSITIVE, CaptionKind
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.limits import MAX_KEY
from benchmarks.generation import caption_order
from benchmarks.imports import images as import_images
from benchmarks.imports import order as imports
from benchmarks.imports import run as run_import
from benchmarks.jobs import jobs
from benchmarks.jobs.benchmark_work import BenchmarkWork
from benchmarks.models import Item, Job, ModelAnswer
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin, is_own
from benchmarks.runs import embeddings, model_answers
from benchmarks.scoring import score
from workers.models import chat, encoder, loading
from workers.models.model_name import classifier_name
from workers.models.refusals import CannotScore

EXAMPLES = 3  # per reason in the report
SHOWN = 10  # new captions in the report
MODELS = ("grammar", "plausibility")
SCORES = {f"{model}_{role}" for model in MODELS for role in ("positive", "negative")}  # in an item's meta


@dataclass(slots=True)
class Source:
    """An item from which captions are made, as a record whose images are identified by content."""

    record: ItemRecord
    caption: str
    known: list[str]  # captions that a new one must not repeat: the item's, and true ones of its images


@dataclass(slots=True)
class Candidate:
    """A caption to be made from a source, and its state so far."""

    source: Source
    kind: CaptionKind
    key: str = ""
    said: list[str] = field(default_factory=list)  # lines of its answer from earlier steps
    parsed: generated.Parsed = field(default_factory=lambda: generated.Parsed("", {}))
    answer: str = ""
    answered_by: dict[str, Any] = field(default_factory=dict)  # the endpoint's information about its model
    made: dict[str, str] = field(default_factory=dict)  # its answer and key, if a second question has checked it
    scores: dict[str, float] = field(default_factory=dict)  # grammar_positive, …

    @property
    def item_key(self) -> str:
        """The new item's key: its source's and the kind; a long one becomes its beginning and a hash."""
        key, room = self.source.record.key, MAX_KEY - len(self.kind.name) - 1
        if len(key) > room:
            key = f"{key[: room - 17]}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        return f"{key}-{self.kind.name}"


class Generation(BenchmarkWork):
    """The work of a job of kind `generate`."""

    def __init__(self, job: Job, progress: jobs.Progress):
        super().__init__(job, progress)
        self.order = caption_order.CaptionOrder(**job.params["order"])
        self.funnel: list[dict[str, Any]] = []
        self.report: dict[str, Any] = {"from": self.benchmark.pk, "from_name": self.benchmark.name, "known": 0}
        self.asker = model_answers.Asker(job, self.report, self.order.prices, progress)
        self.model: chat.ChatModel | None = None
        self.model_facts: dict[str, Any] = {}
        self.classifiers: dict[str, dict[str, str]] = {}

    def run(self) -> None:
        there = Item.objects.filter(benchmark__name=self.order.name)
        self.there = set(there.values_list("key", flat=True))
        candidates = self.sieve("asked", self.candidates(), self.why_not_asked)
        if not candidates:
            reasons = "; ".join(f"{one['reason']} ({one['count']:,})" for one in self.funnel[0]["dropped"])
            raise CannotScore("NOTHING_TO_ASK", f"There is nothing to ask: {reasons or 'the benchmark has no items'}.")
        for step in (1, 2) if self.order.three_steps else ():
            candidates = self.stepped(step, candidates)
        answers = self.asked(candidates, self.messages)
        candidates = self.sieve("answered", candidates, lambda one: self.asker.usage.unanswered.get(one.key, ""))
        candidates = self.sieve("follow the template", candidates, lambda one: self.parsed(one, answers[one.key]))
        candidates = self.checked(candidates)
        cleaner = generated.Cleaner()
        candidates = self.sieve(
            "no question or near-duplicate",
            candidates,
            lambda one: cleaner.check(one.kind, one.parsed.text, one.source.known),
        )
        candidates = self.refined(self.plausible(candidates))
        self.store(candidates)

    # The funnel

    def sieve(self, step: str, candidates: Iterable[Candidate], why_not: Callable[[Candidate], str]) -> list[Candidate]:
        """Return the candidates for which `why_not` gives no reason; the funnel counts the others by reason."""
        stay, dropped = [], defaultdict[str, list[Candidate]](list)
        for one in candidates:
            if reason := why_not(one):
                dropped[reason].append(one)
            else:
                stay.append(one)
        reasons = [
            {"reason": reason, "count": len(those), "examples": [_example(one) for one in those[:EXAMPLES]]}
            for reason, those in sorted(dropped.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        ]
        by_kind = Counter(one.kind.name for one in stay)
        kinds = [by_kind[name] for name in self.order.kinds]  # a list: PostgreSQL sorts an object's names
        self.funnel.append({"step": step, "count": len(stay), "kinds": kinds, "dropped": reasons})
        return stay

    # Asking

    def candidates(self) -> Iterator[Candidate]:
        kinds = [KINDS[name] for name in self.order.kinds]
        sources = self.sources()
        return (Candidate(source, kind) for kind in kinds for source in sources)  # by kind, for equal settings

    def sources(self) -> list[Source]:
        self.progress.begin("reading items", self.benchmark.present.count())
        found, true = [], defaultdict[str, dict[str, None]](dict)
        for item in queries.with_material(self.benchmark.present.order_by("position")).iterator(chunk_size=500):
            record = _with_contents(item)
            for image in record.images_as("positive"):
                true[image.file] |= dict.fromkeys(_true_captions(record))
            found.append(Source(record, record.caption("positive") if record.captions_as("positive") else "", []))
            self.progress.step()
        for source in found:
            own = [one.text for one in source.record.captions if not is_own(one.role)]
            shared = [text for image in source.record.images_as("positive") for text in true[image.file]]
            source.known = list(dict.fromkeys([*own, *shared]))
        return found

    def why_not_asked(self, one: Candidate) -> str:
        if one.kind.role == SECOND_POSITIVE and one.source.record.captions_as(SECOND_POSITIVE):
            return "the item already has a second positive caption"
        if one.item_key in self.there:
            return f"“{self.order.name}” already has the new item"
        return one.kind.ineligible(one.source.caption)

    def asked(
        self, candidates: list[Candidate], messages: Callable[[Candidate], list[prompts.Message]]
    ) -> dict[str, ModelAnswer]:
        """Return the stored answers by the candidates' keys, which it sets, after asking for missing ones."""
        if self.model is None:
            self.progress.begin("loading the model")
            self.model = loading.load_chat(self.order.chat_name, settings.LLM_ENDPOINTS)
        model, questions = self.model, dict[str, Candidate]()
        for one in candidates:
            one.key = chat.key_of(model.identity, messages(one), self.order.settings_of(one.kind, len(one.said)))
            questions.setdefault(one.key, one)
        missing = model_answers.missing(questions)
        first = [questions[key] for key in missing]
        again = [one for one in candidates if self.order.check and one.kind.role == SECOND_POSITIVE]
        estimate = caption_order.estimated(self.order, ((one.kind, one.source.caption) for one in [*first, *again]))
        self.report.setdefault("estimate", asdict(estimate))  # for both rounds, if second positives are checked
        self.report["known"] += len(questions) - len(missing)
        self.asker.show_usage()
        self.progress.begin("asking the model", len(missing))
        asking = (
            chat.Question(one.key, messages(one), self.order.settings_of(one.kind, len(one.said))) for one in first
        )
        self.asker.ask(model, self.order.model, asking)
        self.model_facts = model.facts
        return model_answers.answers(questions)

    def stepped(self, step: int, candidates: list[Candidate]) -> list[Candidate]:
        """Ask the first or second of SugarCrepe's three questions (App. D.2), each for one line of the answer."""
        in_steps = {id(one) for one in candidates if self.order.in_steps(one.kind)}
        asked = [(one.kind, one.source.caption) for one in candidates for _ in range(3 if id(one) in in_steps else 1)]
        self.report.setdefault("estimate", asdict(caption_order.estimated(self.order, asked)))
        answers = self.asked([one for one in candidates if id(one) in in_steps], self.messages)

        def why_not(one: Candidate) -> str:
            if id(one) not in in_steps:
                return ""
            if reason := self.asker.usage.unanswered.get(one.key, ""):
                return reason
            try:
                found = answers[one.key]
                one.said.append(generated.parse_line(one.kind.lines[step - 1], found.text, found.finish))
            except Dropped as dropped:
                return dropped.reason
            return ""

        return self.sieve(f"answered in step {step}", candidates, why_not)

    def checked(self, candidates: list[Candidate]) -> list[Candidate]:
        """Apply VISLA's check of second positives, if requested: each stays or is replaced by the model's text."""
        seconds = [one for one in candidates if one.kind.role == SECOND_POSITIVE]
        if not (self.order.check and seconds):
            return candidates
        for one in seconds:
            one.made = {"answer": one.answer, "answer_key": one.key}
        answers = self.asked(seconds, lambda one: prompts.check_messages(one.source.caption, one.parsed.text))

        def why_not(one: Candidate) -> str:
            if one.kind.role != SECOND_POSITIVE:
                return ""
            if reason := self.asker.usage.unanswered.get(one.key, ""):
                return reason
            found = answers[one.key]
            one.answer = found.text
            try:
                text = generated.parse_check(one.source.caption, one.parsed.text, found.text, found.finish)
            except Dropped as dropped:
                return dropped.reason
            one.parsed = replace(one.parsed, text=text)
            return ""

        return self.sieve("pass the check of meaning", candidates, why_not)

    def messages(self, one: Candidate) -> list[prompts.Message]:
        line = one.kind.lines[len(one.said)] if self.order.in_steps(one.kind) else ""
        return prompts.messages(self.order.template_of(one.kind), one.source.caption, one.said, line)

    def parsed(self, one: Candidate, answer: ModelAnswer) -> str:
        one.answer, one.answered_by = "\n".join([*one.said, answer.text]), answer.facts
        try:
            one.parsed = generated.parse(one.kind, one.source.caption, one.answer, answer.finish)
        except Dropped as dropped:
            return dropped.reason
        return ""

    # Scores

    def plausible(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates with the best combined scores, if there are classifiers."""
        given = {"grammar": self.order.grammar, "plausibility": self.order.plausibility}
        if not any(given.values()) or not candidates:
            return candidates
        for name, model in given.items():
            if model:
                texts = {text for one in candidates for text in (one.parsed.text, one.source.caption)}
                scores = self.scored(name, model, sorted(texts))
                for one in candidates:
                    one.scores[f"{name}_positive"] = scores[one.source.caption]
                    one.scores[f"{name}_negative"] = scores[one.parsed.text]
        of_new = [
            generated.combined(one.scores.get("plausibility_negative"), one.scores.get("grammar_negative"))
            for one in candidates
        ]
        best = {id(candidates[place]) for place in generated.top_share(of_new, self.order.share)}
        reason = f"not among the best {100 * self.order.share:g}%"
        return self.sieve("plausible", candidates, lambda one: "" if id(one) in best else reason)

    def scored(self, what: str, given: str, texts: list[str]) -> dict[str, float]:
        """Return the classifier's score of each text, stored or new."""
        name = classifier_name(given, settings.MODELS)
        contents = {embeddings.of_text(text): text for text in texts}
        self.progress.begin(f"loading the {what} model")
        model = score.known_model(name, self.order.device)
        stored = embeddings.vectors(model, contents) if model else {}
        if model is None or len(stored) < len(contents):
            loaded = cast(encoder.Encoder, loading.load(name, self.order.device))  # a classifier
            model = score.model_row(loaded, name, self.order.device)
            missing = contents.keys() - embeddings.known(model, contents)
            self.progress.begin(f"scoring {what}", len(missing))
            rows = ((content, text, "") for content, text in contents.items() if content in missing)
            for done in embeddings.fill(model, rows, loaded.texts):
                self.progress.step(done)
            stored = embeddings.vectors(model, contents)
        self.classifiers[what] = {"model": model.title, "weights": model.fingerprint}
        return {text: float(stored[content][0]) for content, text in contents.items()}

    def refined(self, candidates: list[Candidate]) -> list[Candidate]:
        """Apply SugarCrepe's refinement to the negatives, if requested; second positives stay."""
        if not self.order.refine:
            return candidates
        negatives = [one for one in candidates if one.kind.role == NEGATIVE]
        found = refinement.refine([_gaps(one) for one in negatives], self.order.seed)
        reasons = {id(negatives[place]): reason for place, reason in found.dropped}
        self.report["refined"] = {"before": found.before, "after": found.after}
        return self.sieve("kept by the refinement", candidates, lambda one: reasons.get(id(one), ""))

    # The result

    def store(self, candidates: list[Candidate]) -> None:
        by_key = {one.key: one for one in candidates}
        self.report |= {
            "funnel": self.funnel, "model": self.model_facts, "classifiers": self.classifiers,
            "sample": [_example(one) | {"text": one.parsed.text} for one in list(by_key.values())[:SHOWN]],
            "kept": len(candidates), "name": self.order.name, "seconds": self.seconds,
        }  # fmt: skip
        if not candidates:
            return self.finish(self.report)
        log, options = ProblemLog(), imports.Options(format_captions=self.order.format_captions)
        records = check_records(run_import.prepared(map(self.record, candidates), options), log)
        contents = {image.part: image.file for one in records for image in one.images}
        images = import_images.Gathered(contents, known=len(contents))
        order = imports.Order(self.order.name, "jsonl", options, self.by, self.job.created_by_id, report=self.report)
        run_import.Run(self.job, self.progress, order, log, records, gathered=images).finish()

    def record(self, one: Candidate) -> ItemRecord:
        """Return the new item: a negative replaces earlier negatives, a second positive joins the captions."""
        old, kind = one.source.record, one.kind
        captions, images, truth = list(old.captions), old.images, old.truth
        meta, earlier = {**old.meta}, _earlier(old)
        if kind.role == NEGATIVE:
            captions = [caption for caption in captions if caption.role not in (NEGATIVE, "candidate")]
            images, truth = tuple(old.images_as("positive")), {}
            meta = {name: value for name, value in meta.items() if name not in SCORES}  # of the replaced negative
            earlier = [made for made in earlier if not (isinstance(made, dict) and made.get("role") == NEGATIVE)]
        captions.append(CaptionRecord(kind.role, one.parsed.text))
        return ItemRecord(
            one.item_key, kind.type or old.type, kind.subtype or old.subtype, tuple(captions), images,
            meta={**meta, **one.scores, "generated": [*earlier, self.provenance(one)]}, truth=truth,
            origin=Origin(self.benchmark.name, one.source.record.origin.row if one.source.record.origin else 0),
        )  # fmt: skip

    def provenance(self, one: Candidate) -> dict[str, Any]:
        """Return how the caption was made; the item keeps it, also in exports and releases."""
        latest: dict[str, Any] = {"answer": one.answer, "answer_key": one.key}
        found: dict[str, Any] = {
            "role": one.kind.role, "kind": one.kind.name, "benchmark": self.benchmark.name,
            "item": one.source.record.key, **self.model_facts,
            **asdict(self.order.settings_of(one.kind, len(one.said))),
            "system": prompts.SYSTEM, "prompt": self.order.template_of(one.kind), **(one.made or latest),
            **({"answered_by": one.answered_by} if one.answered_by else {}),
        }  # fmt: skip
        if one.said:
            found["temperatures"] = [self.order.settings_of(one.kind, step).temperature for step in range(3)]
        found |= {"check": {"prompt": prompts.check_template(), **latest}} if one.made else {}
        return found | ({"classifiers": self.classifiers} if self.classifiers else {})


def _example(one: Candidate) -> dict[str, str]:
    return {"item": one.source.record.key, "caption": one.source.caption[:300], "answer": one.answer[:600]}


def _gaps(one: Candidate) -> tuple[float, float]:
    first, second = (one.scores[f"{name}_positive"] - one.scores[f"{name}_negative"] for name in MODELS)
    return first, second


def _earlier(record: ItemRecord) -> list:
    """Return the provenance that an item of a generated benchmark already has."""
    found = record.meta.get("generated")
    return found if isinstance(found, list) else []


def _true_captions(record: ItemRecord) -> list[str]:
    return [one.text for one in record.captions if one.role in ("positive", SECOND_POSITIVE)]


def _with_contents(item: Item) -> ItemRecord:
    """Return the item as a record whose images are identified by content; name and crop stay as labels."""
    record, contents = queries.record_of(item), defaultdict[tuple[str, int], str](str)
    for use in item.item_images.all():
        contents[use.role, use.position] = use.image.sha256
    places: Counter[str] = Counter()
    images: list[ImageRecord] = []
    for image in record.images:
        images.append(replace(image, file=contents[image.role, places[image.role]]))
        places[image.role] += 1
    return replace(record, images=tuple(images), origin=Origin(item.benchmark.name, item.position + 1))
