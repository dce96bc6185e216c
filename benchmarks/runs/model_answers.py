"""Stored answers of generative models: what has been answered once is never asked again.

A question is identified by the hash of model, messages and settings (workers.models.chat.key_of). Each answer is
committed as soon as it arrives, so a killed worker loses only the questions in flight.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db.models import Count, Sum
from django.db.models.functions import Coalesce

from benchmarks.jobs import jobs
from benchmarks.models import Job, ModelAnswer
from workers.models.chat import Answer, ChatModel, Question, Unanswered

AT_ONCE = 1_000  # keys per query
Thing = TypeVar("Thing")


@dataclass(slots=True)
class Usage:
    """A job's total usage, in all its attempts; `unanswered` has the reasons by the questions' keys."""

    answered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unanswered: dict[str, str] = field(default_factory=dict)

    def cost(self, prices: Sequence[float]) -> float:
        """Return the cost, given the prices of a million tokens in prompts and in answers."""
        return (self.prompt_tokens * prices[0] + self.completion_tokens * prices[1]) / 1_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rough estimate of asking: four characters of English count as one token."""

    questions: int
    prompt_tokens: int
    completion_tokens: int
    cost: float


def estimate_of(questions: int, usage: Usage, prices: Sequence[float]) -> Estimate:
    """Return the estimate for that many questions with this usage."""
    return Estimate(questions, usage.prompt_tokens, usage.completion_tokens, usage.cost(prices))


def usage_of(job: Job) -> Usage:
    """Return the job's usage so far."""
    sums = ModelAnswer.objects.filter(job=job).aggregate(
        answered=Count("pk"), prompt=Coalesce(Sum("prompt_tokens"), 0), completion=Coalesce(Sum("completion_tokens"), 0)
    )
    return Usage(sums["answered"], sums["prompt"], sums["completion"])


def answers(keys: Iterable[str]) -> dict[str, ModelAnswer]:
    """Return stored answers by key; missing ones are left out."""
    return {row.key: row for chunk in _chunks(dict.fromkeys(keys)) for row in ModelAnswer.objects.filter(key__in=chunk)}


def missing(keys: Iterable[str]) -> list[str]:
    """Return the keys without a stored answer, each once, in order."""
    wanted = dict.fromkeys(keys)
    for chunk in _chunks(dict(wanted)):
        for key in ModelAnswer.objects.filter(key__in=chunk).values_list("key", flat=True):
            del wanted[key]
    return list(wanted)


class Asker:
    """Asks questions for a job. Its `usage` is written from time to time to the job's `report` and row, for its
    page."""

    def __init__(self, job: Job, report: dict[str, Any], prices: Sequence[float], progress: jobs.Progress):
        self.job, self.report, self.prices, self.progress = job, report, prices, progress
        self.usage, self.shown = usage_of(job), 0.0

    def ask(self, model: ChatModel, name: str, questions: Iterable[Question]) -> None:
        """Ask the questions returned by `missing`, and keep each answer under its key. Answers stored by another job in
        the meantime are kept. Raises Cancelled."""

        def keep(question: Question, answer: Answer | Unanswered) -> None:
            if isinstance(answer, Unanswered):
                self.usage.unanswered[question.key] = answer.reason
                return
            row = ModelAnswer(
                key=question.key, model=name[:300], text=answer.text, finish=answer.finish, job=self.job,
                prompt_tokens=answer.prompt_tokens, completion_tokens=answer.completion_tokens, facts=answer.facts,
            )  # fmt: skip
            ModelAnswer.objects.bulk_create([row], ignore_conflicts=True)
            self.usage.answered += 1
            self.usage.prompt_tokens += answer.prompt_tokens
            self.usage.completion_tokens += answer.completion_tokens

        try:
            model.ask(questions, keep, self._step)
        finally:
            self.show_usage()

    def show_usage(self) -> None:
        self.shown = time.monotonic()
        usage = self.usage
        self.report["usage"] = {
            "answered": usage.answered,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost": usage.cost(self.prices),
        }
        Job.objects.filter(pk=self.job.pk).update(report=self.report)

    def _step(self, count: int) -> None:
        if time.monotonic() - self.shown >= jobs.WRITE_EVERY:
            self.show_usage()
        self.progress.step(count)


def _chunks(things: Iterable[Thing]) -> Iterator[list[Thing]]:
    found = list(things)
    return (found[start : start + AT_ONCE] for start in range(0, len(found), AT_ONCE))
