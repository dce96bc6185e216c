"""Ask a vision endpoint a benchmark's questions, each in both orders of its options, and store one run of choices.

Each answer is committed as it arrives (`runs.model_answers`), so a killed worker resumes, and nothing is paid for
twice. An option counts as chosen if both orders agree on it. Refusals and answers that do not name an option are
choices of none, and are counted separately; a question that the endpoint did not answer at all is left out. The job's
report also has the scores for each single order.
"""

import base64
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings

from benchmarks import audit
from benchmarks.jobs import jobs, orders
from benchmarks.jobs.benchmark_work import BenchmarkWork, refused
from benchmarks.models import ASKED, Benchmark, Image, Job, Run, RunOrigin, ScoringModel
from benchmarks.predictions import choices, stored
from benchmarks.predictions.choices import Choice, Verdict
from benchmarks.predictions.kinds import KINDS, of_answers
from benchmarks.predictions.names import NAMES
from benchmarks.runs import import_predictions, material, model_answers
from benchmarks.scoring.score import AGAIN
from benchmarks.storage.files import kept
from workers import images
from workers.models import chat, loading
from workers.models.pictures import picture
from workers.models.refusals import CannotScore

KIND = "ask"
SIDE = 1024  # maximum long side, in pixels, of an image sent
REFUSED = {"refusal", "content_filter"}


@dataclass(frozen=True)
class AskOrder:
    """The questions to ask, and the model. The page offers only the addresses configured by the administrator."""

    address: str = orders.text("Endpoint", "Its address up to the version, such as https://api.example.org/v1.")
    model: str = orders.model("Model", "The model’s name at that endpoint. It must accept images.")
    input_price: float = orders.price("Price of a million tokens in questions")
    output_price: float = orders.price("Price of a million tokens in answers")
    max_tokens: int = orders.whole(
        "Maximum tokens per answer", 1, orders.MOST_TOKENS, "Reasoning models need a few thousand.", initial=16
    )
    parallel: int = orders.parallel()
    timeout: float = orders.timeout()

    @property
    def prices(self) -> tuple[float, float]:
        return self.input_price, self.output_price

    @property
    def chat_name(self) -> chat.ChatName:
        return chat.ChatName(self.model.strip(), self.address.strip(), "auto", self.parallel, self.timeout)

    @property
    def settings(self) -> chat.Settings:
        return chat.Settings(0.0, self.max_tokens, 0)


def queue_ask(
    *, benchmark: Benchmark, order: AskOrder, by: str, created_by=None, foreground: bool = False,
    result: material.Result | None = None,
) -> Job:  # fmt: skip
    """Create a job that asks; with `result`, about a study's result. Raises Refused for invalid orders; the worker
    reports further problems."""
    check_order(order)
    params = {"benchmark": benchmark.pk, "order": asdict(order), "foreground": foreground, "by": by}
    params |= result.params() if result else {}
    title = f"Ask {order.model.strip()} about {benchmark.name}"
    return jobs.queue_job(kind=KIND, title=title, params=params, by=by, created_by=created_by)


def check_order(order: AskOrder) -> None:
    """Raise Refused with one sentence if the order is invalid."""
    with refused():
        if not order.address.strip():
            raise CannotScore(
                "ENDPOINT_UNCLEAR", "Enter the endpoint’s address, for example https://api.example.org/v1."
            )
        chat.checked_name(order.chat_name)
    orders.checked(order)


@dataclass(frozen=True, slots=True)
class Put:
    """A choice as put to the model once, about an item, in one order. Captions are texts; images are contents."""

    item: int
    choice: Choice
    order: tuple[int, ...]
    captions: Mapping[Any, str]
    images: Mapping[Any, str]

    def shown(self) -> list[str]:
        """Return the options in order: captions, or contents of images."""
        of = self.captions if self.choice.captions else self.images
        return [of[self.choice.options[number]] for number in self.order]

    def parts(self) -> list[dict]:
        """Return the message's content; an image is {"image": content}, to be replaced before sending."""
        lettered = list(zip(choices.LETTERS, self.shown(), strict=False))
        if self.choice.captions:
            lines = [choices.WHICH_CAPTION, *(f"{letter}. {caption}" for letter, caption in lettered)]
            return [{"image": self.images[self.choice.given]}, {"type": "text", "text": "\n".join(lines)}]
        asked = f"{choices.WHICH_IMAGE}\nCaption: {self.captions[self.choice.given]}"
        parts: list[dict] = [{"type": "text", "text": asked}]
        for letter, content in lettered:
            parts += [{"type": "text", "text": f"Image {letter}:"}, {"image": content}]
        return parts

    def key(self, identity: str, settings: chat.Settings) -> str:
        """Return the answer's key, from the contents of images rather than their bytes, which it does not read."""
        return chat.key_of(f"{identity} {SIDE}", [{"role": "user", "content": self.parts()}], settings)


def puts(scope: material.Scope, kind: str) -> Iterator[Put]:
    """Yield every question in both orders, in the items' order."""
    for chunk in scope.chunks():
        texts = scope.texts(one.item for one in chunk)
        for one in chunk:
            captions = {place: texts[content] for place, content in one.captions.items() if content in texts}
            for choice in choices.choices(kind, captions, one.images):
                for order in choice.orders():
                    yield Put(one.item, choice, order, captions, one.images)


def estimated(order: AskOrder, asked: Iterator[Put]) -> model_answers.Estimate:
    """Estimate the order; an image counts as a thousand tokens."""
    usage, count = model_answers.Usage(), 0
    for put in asked:
        count += 1
        usage.prompt_tokens += chat.estimated_tokens(put.parts())
        usage.completion_tokens += 1
    return model_answers.estimate_of(count, usage, order.prices)


def estimate_for(
    benchmark: Benchmark, order: AskOrder, result: material.Result | None = None
) -> model_answers.Estimate:
    """Estimate the questions still unanswered, before anything is asked."""
    check_order(order)
    return estimated(order, _unanswered(order, puts(material.Scope(benchmark, result), material.kind(benchmark))))


def _unanswered(order: AskOrder, asked: Iterator[Put]) -> Iterator[Put]:
    identity = chat.endpoint_identity(order.chat_name)
    by_key = {put.key(identity, order.settings): put for put in asked}
    return (by_key[key] for key in model_answers.missing(by_key))


class Asking(BenchmarkWork):
    """The work of a job of kind `ask`."""

    def __init__(self, job: Job, progress: jobs.Progress):
        super().__init__(job, progress)
        self.order, self.kind = AskOrder(**job.params["order"]), material.kind(self.benchmark)
        self.scope = material.Scope(self.benchmark, material.result_in(job.params))
        self.report: dict[str, Any] = {"benchmark": self.benchmark.pk, "kind": self.kind}
        self.report["model"] = self.order.model.strip()
        self.asker = model_answers.Asker(job, self.report, self.order.prices, progress)

    def run(self) -> None:
        self.progress.begin("reading items")
        self.identity = chat.endpoint_identity(self.order.chat_name)
        asked = list(puts(self.scope, self.kind))
        keys = [put.key(self.identity, self.order.settings) for put in asked]
        if not asked:
            advice = "No item has the captions and images that a question about images needs. Import images first."
            raise CannotScore("NOTHING_TO_ASK", advice)
        digest = self.scope.digest(self.kind, self.fingerprint())
        self.ask_missing(dict(zip(keys, asked, strict=True)))
        answers = model_answers.answers(keys)
        verdicts = list(self.verdicts(asked, keys, answers))
        if not verdicts:
            reasons = Counter(self.asker.usage.unanswered.values()).most_common(1)
            why = reasons[0][0] if reasons else "no answer"
            raise CannotScore("NOTHING_ANSWERED", f"The endpoint did not answer any question: {why}.")
        self.store(digest, verdicts, len(asked) // 2)

    def fingerprint(self) -> str:
        """Return a fingerprint of address, name, settings and prompts, because an endpoint's weights are unknown."""
        asked = [choices.WHICH_CAPTION, choices.WHICH_IMAGE, SIDE, asdict(self.order.settings)]
        return hashlib.sha256(f"{self.identity} {asked}".encode()).hexdigest()

    def ask_missing(self, by_key: dict[str, Put]) -> None:
        missing = model_answers.missing(by_key)
        estimate = estimated(self.order, (by_key[key] for key in missing))
        self.report |= {"estimate": asdict(estimate), "known": len(by_key) - len(missing)}
        self.asker.show_usage()
        if not missing:
            return
        model = loading.load_chat(self.order.chat_name, settings.LLM_ENDPOINTS)
        self.progress.begin("asking the model", len(missing))
        questions = (chat.Question(key, self.messages(by_key[key]), self.order.settings) for key in missing)
        self.asker.ask(model, self.order.model.strip(), questions)

    def messages(self, put: Put) -> list[chat.Message]:
        return [{"role": "user", "content": [self.sent(part) for part in put.parts()]}]

    def sent(self, part: dict) -> dict:
        if "image" not in part:
            return part
        shown = images.fitted(picture(kept.contents(Image(sha256=part["image"]).original_path)), SIDE)
        data = base64.b64encode(images.jpeg(shown)).decode()
        return {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{data}"}}

    def verdicts(self, asked: list[Put], keys: list[str], answers: dict) -> Iterator[tuple[int, str, Verdict]]:
        """Yield item, question and verdict for each question answered in both orders."""
        self.first = Counter[bool]()  # whether the first option shown was picked, over all answers that name one
        for start in range(0, len(asked), 2):
            found = [answers[key] for key in keys[start : start + 2] if key in answers]
            if len(found) < 2:
                continue
            put = asked[start]
            picked = [
                None if one.finish in REFUSED else choices.letter(one.text, both.shown() if put.choice.captions else ())
                for one, both in zip(found, asked[start : start + 2], strict=True)
            ]
            self.first.update(place == 0 for place in picked if place is not None)
            refusals = any(one.finish in REFUSED for one in found)
            yield put.item, put.choice.question, choices.verdict(put.choice, picked, refusals)

    def store(self, digest: str, verdicts: list[tuple[int, str, Verdict]], questions: int) -> None:
        with self.storing():
            defaults: dict[str, Any] = {"name": self.order.model.strip()[:300], "pretrained": "", "precision": ASKED}
            defaults |= {"title": self.order.model.strip()[:300], "sees_images": True}
            model, _ = ScoringModel.objects.get_or_create(fingerprint=self.fingerprint(), defaults=defaults)
            outcomes = Counter(one.outcome for _, _, one in verdicts)
            facts = {
                "questions": questions, "outcomes": {name: outcomes[name] for name in OUTCOMES},
                "unanswered": questions - len(verdicts), "reasons": Counter(self.asker.usage.unanswered.values()),
                "first": self.first[True], "named": self.first.total(), "items": self.scope.items.count(),
                "orders": self.by_order(verdicts),
            }  # fmt: skip
            run = Run.objects.filter(model=model, benchmark=self.benchmark, digest=digest).first()
            if run and run.predictions.count() >= len(verdicts):
                return self.finish({**self.report, "run": run.pk, **facts, "note": AGAIN})
            run = Run.objects.create(
                benchmark=self.benchmark, origin=RunOrigin.MEASURED, kind=self.kind, title=model.title, model=model,
                source=self.order.address.strip()[:500], digest=digest, asked_in_both_orders=True, job=self.job,
                study=self.scope.study, created_by_id=self.job.created_by_id,
            )  # fmt: skip
            import_predictions.copy_in(run, ((item, name, None, one.choice) for item, name, one in verdicts))
            audit.record(by=self.by, verb="asked", subject=self.benchmark, run=run.pk, job=self.job.pk)
            self.finish({**self.report, "run": run.pk, **facts})

    def by_order(self, verdicts: list[tuple[int, str, Verdict]]) -> dict[str, dict[str, Any]]:
        """Return, for each order, the measures as if the questions had been asked only in it: `stored.summarize`'s."""
        kind, found = of_answers(KINDS[self.kind], 1), {}
        rows_of_items = self.scope.items.values_list("pk", "type", "subtype")
        types = {item: (type, subtype) for item, type, subtype in rows_of_items}
        for at, order in enumerate(ORDERS):
            rows = defaultdict[str, list](list)
            for item, question, one in verdicts:
                rows[question].append((item, None, one.each[at]))
            columns = {question: stored.Column(*zip(*own, strict=True)) for question, own in rows.items()}
            found[order] = stored.summarize(stored.records(columns, types, kind), kind)["measures"]
        return found


def orders_in_words(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the scores for each single order, by name, from the report of a job that asked."""
    told = {}
    for order, measures in report.get("orders", {}).items():
        shares = ((one.short, measures[one.name]) for one in NAMES[report["kind"]] if one.name in measures)
        named = [
            f"{name} {100 * of['share']:.2f} (95% {100 * of['low']:.2f} to {100 * of['high']:.2f}, n {of['n']:,}, "
            f"chance {100 * of['chance']:.2f})"
            for name, of in shares if of["n"]
        ]  # fmt: skip
        told[f"in the {order.replace('_', ' ')}, in percent"] = ", ".join(named)
    return told


OUTCOMES, ORDERS = ("agreed", "order", "refused", "unparsable"), ("first_order", "second_order")
