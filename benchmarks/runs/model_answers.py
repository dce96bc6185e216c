"""Stored answers of generative models: what has been answered once is never asked again.

A question is known by the hash of model, messages and settings (workers.models.chat.key_of). Each answer is committed
as soon as it comes, so a killed worker loses only the questions that are underway.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from django.db.models import Count, Sum
from django.db.models.functions import Coalesce

from benchmarks.models import Job, ModelAnswer
from workers.models.chat import Answer, ChatModel, Question, Step, Unanswered

AT_ONCE = 1_000  # keys per query
Thing = TypeVar("Thing")


@dataclass(slots=True)
class Usage:
    """What a job has spent, in all its attempts; `unanswered` has the reasons by the questions' keys."""

    answered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unanswered: dict[str, str] = field(default_factory=dict)

    def cost(self, prices: Sequence[float]) -> float:
        """By the prices of a million tokens in prompts and in answers."""
        return (self.prompt_tokens * prices[0] + self.completion_tokens * prices[1]) / 1_000_000


def usage_of(job: Job) -> Usage:
    """What the job has spent so far."""
    sums = ModelAnswer.objects.filter(job=job).aggregate(
        answered=Count("pk"), prompt=Coalesce(Sum("prompt_tokens"), 0), completion=Coalesce(Sum("completion_tokens"), 0)
    )
    return Usage(sums["answered"], sums["prompt"], sums["completion"])


def answers(keys: Iterable[str]) -> dict[str, ModelAnswer]:
    """Stored answers by key; missing ones are left out."""
    return {row.key: row for chunk in _chunks(dict.fromkeys(keys)) for row in ModelAnswer.objects.filter(key__in=chunk)}


def missing(keys: Iterable[str]) -> list[str]:
    """The keys without a stored answer, each once, in their order."""
    wanted = dict.fromkeys(keys)
    for chunk in _chunks(dict(wanted)):
        for key in ModelAnswer.objects.filter(key__in=chunk).values_list("key", flat=True):
            del wanted[key]
    return list(wanted)


def ask(model: ChatModel, name: str, questions: Iterable[Question], job: Job, usage: Usage, step: Step) -> None:
    """Ask the questions, which `missing` has named, and keep each answer under its key, adding it to `usage`.

    `step` counts them, and may raise to stop. What another job has stored in the meantime is kept.
    """

    def keep(question: Question, answer: Answer | Unanswered) -> None:
        if isinstance(answer, Unanswered):
            usage.unanswered[question.key] = answer.reason
            return
        row = ModelAnswer(
            key=question.key, model=name[:300], text=answer.text, finish=answer.finish, job=job,
            prompt_tokens=answer.prompt_tokens, completion_tokens=answer.completion_tokens, facts=answer.facts,
        )  # fmt: skip
        ModelAnswer.objects.bulk_create([row], ignore_conflicts=True)
        usage.answered += 1
        usage.prompt_tokens += answer.prompt_tokens
        usage.completion_tokens += answer.completion_tokens

    model.ask(questions, keep, step)


def _chunks(things: Iterable[Thing]) -> Iterator[list[Thing]]:
    found = list(things)
    return (found[start : start + AT_ONCE] for start in range(0, len(found), AT_ONCE))
