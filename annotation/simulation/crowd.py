"""Simulated annotators: they work through a study over HTTP, as people do, with a stated error rate.

An annotator gives a task's true answer with probability 1 - error rate, otherwise one of the others, each equally
likely. The truth is the known answer of a check, of the item, or of a question by construction (in a baseline); if
nothing is known, it is drawn from the item's id. `protocols.simulated` has how they answer protocol files. If
an answer of another protocol is more than a pick, they send what its form generates, whatever the error rate. Which
place on the screen holds which option is read from the database by the lease's token; no page shows it (law 4). They go
from stage to stage as people do, and come back while there is work.

Thinking takes a log-normal time with a median of 6 s and a sigma of 0.5 (so 95% lie between 2.3 s and 16 s). It is
sent as the measured time, but not waited for unless `pace` is set. This is an assumption, not a claim about people.
"""

import hashlib
import json
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from django.db import connection
from django.urls import reverse
from django.utils import timezone

from annotation import permissions
from annotation.assignment import seats
from annotation.checks import qualification
from annotation.models import Annotator, AttemptKind, Lease, Study, Task
from annotation.participants import lifecycle as participant_lifecycle
from annotation.protocols import item_data, simulated
from annotation.protocols.base import NO_ATTRIBUTES, Attributes, Protocol
from annotation.protocols.registry import protocol_named
from annotation.screens.material import texts_of
from annotation.screens.painted import unpainted
from annotation.screens.questions import file_for
from annotation.simulation.browser import Form, Unreachable, Visitor
from benchmarks import queries
from benchmarks.models import Item

MEDIAN_MS, SIGMA = 6000, 0.5
SKIP_RATE, UNDO_RATE = 0.01, 0.02
REST = 0.2  # seconds after which a waiting annotator looks again


@dataclass(frozen=True)
class Plan:
    """`limit` bounds the total number of judgments; `pace` is the share of the thinking time to wait for."""

    url: str
    annotators: int = 10
    error_rate: float = 0.1
    seed: int = 1
    limit: int | None = None
    concurrency: int = 4
    pace: float = 0.0
    skip_rate: float = SKIP_RATE
    undo_rate: float = UNDO_RATE
    patience: float = 20.0  # seconds without progress after which the crowd stops


@dataclass
class Tally:
    pseudonym: str
    judgments: int = 0
    skipped: int = 0
    undone: int = 0
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    tallies: list[Tally]
    seconds: float

    @property
    def judgments(self) -> int:
        return sum(tally.judgments for tally in self.tallies)

    @property
    def errors(self) -> list[str]:
        return [error for tally in self.tallies for error in tally.errors]


# Their answers


def truth_of(task: Task, protocol: str) -> list[str]:
    """Return the acceptable answers; if none is known, one drawn from the item's id, the same for everybody."""
    asked = protocol_named(protocol)
    right = asked.right_answer(task.question, task.options, _of_item(asked, task.item))
    known = task.gold or task.item.truth.get(protocol) or ([right] if right else [])
    answers = [*sorted(task.options), *fixed(protocol)]
    if known:
        return [answer for answer in known if answer in answers] or answers[-1:]
    number = int.from_bytes(hashlib.sha256(f"truth of {task.item_id}".encode()).digest()[:8])
    return [answers[number % len(answers)]]


def _of_item(protocol: Protocol, item: Item) -> Attributes:
    """Return the item's right answers, if items have them."""
    file = protocol.made_from
    return item_data.attributes_of(file, queries.record_of(item)) if file and item_data.rights(file) else NO_ATTRIBUTES


def fixed(protocol: str) -> list[str]:
    return [choice.identity for choice in protocol_named(protocol).fixed]


def choose(truth: list[str], answers: list[str], error_rate: float, rng: Random) -> str:
    """Return one of `answers`: a true one, or with probability `error_rate` another."""
    wrong = [answer for answer in answers if answer not in truth]
    return rng.choice(wrong) if wrong and rng.random() < error_rate else rng.choice(truth)


def thinking_ms(rng: Random) -> tuple[int, int]:
    """Return (active, elapsed) milliseconds."""
    active = round(rng.lognormvariate(math.log(MEDIAN_MS), SIGMA))
    return active, round(active * rng.uniform(1, 1.25))


# One annotator


class Simulated:
    """Joins on creation, reads the instructions, then takes one turn per call.

    They join without the page, which limits how many join from one address.
    """

    def __init__(self, study: Study, plan: Plan, number: int):
        self.plan = plan
        self.rng = Random(f"{plan.seed}/{number}")
        self.visitor = Visitor(plan.url)
        if not self.visitor.open(reverse("join", args=[study.invite])).forms:
            raise Unreachable(f"{plan.url} does not let anyone join “{study.name}”. Is it open, and on that server?")
        consented_at = timezone.now() if study.consent else None
        annotator = seats.join(
            study=study, by="command", name=f"Simulated {number}", simulated=True, consented_at=consented_at
        )
        self.tally = Tally(annotator.pseudonym)
        self.page = self.visitor.open(reverse("judge", args=[annotator.token]))

    def turn(self) -> str:
        """Take one step on the current page: `judged`, `other` (rules, practice, skip, undo), `waiting` or `over`."""
        if gate := self.page.form("version"):
            self.page = self.visitor.send(gate.action, gate.values)
            return "other"
        if before := self.page.form("kind"):
            self.page = self.visitor.send(before.action, {**before.values, **self._before()})
            return "other"
        if screen := self.page.form("lease"):
            if lacks := unpainted(self.page.html):  # nobody can answer what they cannot see
                self.tally.errors.append(f"{self.tally.pseudonym}: a screen could not be shown: it {lacks}")
                return self._skip(screen)
            return self._skip(screen) if self.rng.random() < self.plan.skip_rate else self._judge(screen)
        if self.page.state == "waiting":
            self.page = self.visitor.open(self.page.url)
            return "waiting" if self.page.state == "waiting" else "other"
        if self.page.status >= 400:
            self._note("a page")
        return "over"

    def _judge(self, screen: Form) -> str:
        active, elapsed = thinking_ms(self.rng)
        time.sleep(elapsed / 1000 * self.plan.pace)
        values = {**screen.values, **self._answer(screen), "active": active, "elapsed": elapsed}
        if not self._send(screen.action, values):
            return "other"
        self.tally.judgments += 1
        if self.rng.random() < self.plan.undo_rate:
            self._undo()
        return "judged"

    def _answer(self, screen: Form) -> dict[str, str]:
        """Return the screen's fields as this annotator fills them in."""
        leases = Lease.objects.select_related("task__item", "task__stage")
        lease = leases.get(token=screen.values["lease"])
        task, protocol = lease.task, protocol_named(lease.task.stage.protocol)
        if protocol.file and not task.gold and not task.item.truth.get(protocol.name):
            sent = simulated.simulate(
                file_for(protocol.file, task), self.rng, lease.shown, texts_of(task, lease.shown), task.question,
                task.item_id, self.plan.error_rate, _of_item(protocol, task.item),
            )  # fmt: skip
            return sent if protocol.form else {"answer": sent[protocol.file.answers[0].name]}
        if protocol.form is not None:
            return protocol.form.simulate(self.rng, lease.shown, texts_of(task, lease.shown), task.question)
        return {"answer": self._pick(task, lease.shown)}

    def _pick(self, task: Task, shown: list[str]) -> str:
        protocol = task.stage.protocol
        answers = [*shown, *fixed(protocol)]
        answer = choose(truth_of(task, protocol), answers, self.plan.error_rate, self.rng)
        return str(shown.index(answer) + 1) if answer in shown else answer

    def _before(self) -> dict[str, object]:
        """Return the current page's fields: right answers to questions, a pick in practice, or that it was read."""
        here = permissions.desk(self.token)
        step = qualification.step(annotator=here.annotator, stage=here.stage)
        if step is None or step.answered:
            return {"go_on": 1}
        if step.kind == AttemptKind.COMPREHENSION:
            asked = here.stage.comprehension
            return {f"question-{place}": question["answer"] for place, question in enumerate(asked, 1)}
        task = Task.objects.select_related("item", "stage").get(pk=step.entry["task"])
        return {"answer": self._pick(task, step.entry["shown"])}

    def _skip(self, screen: Form) -> str:
        to = next(url for url in screen.others if url.endswith("/skip/"))
        self.tally.skipped += self._send(to, screen.values)
        return "other"

    def _undo(self) -> None:
        """Withdraw the last answer; its screen comes back and is answered when its turn comes."""
        form = self.page.form("undo_key")
        if form and self._send(form.action, form.values):
            self.tally.undone += 1
            self.tally.judgments -= 1

    def _send(self, url: str, values: dict) -> bool:
        """Send it; return whether it was accepted. After a refusal or a late answer, the page is opened again."""
        self.page = self.visitor.send(url, values)
        what = url.rstrip("/").split("/")[-1]
        if self.page.status >= 400 and (what, self.page.status) != ("undo", 409):  # too late to undo, as for anybody
            self._note(what)
        if self.page.status < 400 and (self.page.form("lease") or self.page.form("version") or self.page.state):
            return True
        self.look_again()
        return False

    def look_again(self) -> None:
        self.page = self.visitor.open(reverse("judge", args=[self.token]))

    def go(self) -> None:
        """Close the page for good and return what they hold."""
        participant_lifecycle.leave(annotator=Annotator.objects.get(token=self.token), by="command")
        self.visitor.close()

    @property
    def token(self) -> str:
        return self.page.url.split("/judge/")[1].split("/")[0]

    def _note(self, what: str) -> None:
        self.tally.errors.append(f"{self.tally.pseudonym}: {what} was answered with {self.page.status}")


# All of them


class Crowd:
    """Annotators in a queue: a thread takes the first, does one step for them and puts them back at the end."""

    def __init__(self, people: list[Simulated], plan: Plan, tell: Callable[[int], None]):
        self.people, self.plan, self.tell = people, plan, tell
        self.queue: deque[Simulated] = deque()
        self.lock = threading.Lock()
        self.active = 0  # turns in progress, each of which may become a judgment
        self.moved_at = time.monotonic()

    def work_all(self) -> None:
        """Work in rounds until one yields no judgment, since items settled by one annotator may be work for another."""
        before = -1
        while self.judged() > before and not self.stopped():
            before = self.judged()
            for one in self.people if before else []:
                one.look_again()
            self.queue.extend(self.people)
            with ThreadPoolExecutor(self.plan.concurrency) as pool:
                for thread in [pool.submit(self.work) for _ in range(self.plan.concurrency)]:
                    thread.result()

    def stopped(self) -> bool:
        late = time.monotonic() - self.moved_at > self.plan.patience
        return late or (self.plan.limit is not None and self.judged() + self.active >= self.plan.limit)

    def work(self) -> None:
        """Run a thread's loop until nobody is left, the limit is reached, or there is no progress for too long."""
        try:
            while (one := self._next()) is not None:
                self._settle(one, one.turn())
        finally:
            connection.close()

    def _next(self) -> Simulated | None:
        with self.lock:
            if self.stopped() or not self.queue:
                return None
            self.active += 1
            return self.queue.popleft()

    def _settle(self, one: Simulated, did: str) -> None:
        if did == "waiting":
            time.sleep(REST)
        with self.lock:
            self.active -= 1
            if did != "waiting":
                self.moved_at = time.monotonic()
            if did != "over":
                self.queue.append(one)
            if did == "judged":
                self.tell(self.judged())

    def judged(self) -> int:
        return sum(one.tally.judgments for one in self.people)


def simulate(*, study: Study, plan: Plan, tell: Callable[[int], None] = lambda judgments: None) -> Report:
    """Let `plan.annotators` join and work until the study has nothing left for them. Raises Unreachable."""
    people = [Simulated(study, plan, number) for number in range(1, plan.annotators + 1)]
    crowd = Crowd(people, plan, tell)
    begun = time.monotonic()
    crowd.work_all()
    seconds = time.monotonic() - begun
    for one in people:
        one.go()
    return Report([one.tally for one in people], seconds)


# The address of a running Winnow


def running_at(var: Path) -> str:
    """Return the address that a running `up` left in its lock, or else PORT on this machine."""
    try:
        holder = json.loads((var / "lock").read_text())
        return holder["url"]
    except (OSError, ValueError, KeyError):
        return f"http://127.0.0.1:{os.environ.get('PORT') or 8000}"
