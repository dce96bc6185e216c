"""One item of a study through its stages: what was shown, who answered what, how it was decided, and its flags.

The number of queries does not depend on the number of judgments.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.contrib.auth import get_user_model

from annotation.adjudication import answers_shown, cases
from annotation.adjudication.answers_shown import Part
from annotation.dashboard import item_list
from annotation.figures.edit_names import Edits, edits_of, name_of_edit
from annotation.measures.scores import task_scores
from annotation.models import Annotator, Flag, Judgment, Kind, Lease, LeaseState, Outcome, Stage, Study, Task
from annotation.protocols import answer_words, item_data
from annotation.protocols.base import Answer, Protocol
from annotation.protocols.decision_rule import ADJUDICATOR
from annotation.protocols.registry import protocol_named
from annotation.screens.drawn import Drawing
from benchmarks import audit, queries
from benchmarks.differences import marked_apart
from benchmarks.models import Event, Item

KINDS = {Kind.CHECK: "attention check", Kind.PRACTICE: "practice"}


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that an annotator gave, or a skip; `fate` states whether it counts."""

    who: Annotator
    at: datetime
    said: str
    fate: str
    image: Part | None = None
    reason: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """A task's outcome in words, or an adjudicator's step towards it; `by` is a rule or a person."""

    what: str
    by: str
    at: datetime
    note: str = ""
    blind: bool = False


@dataclass(slots=True)
class Asked:
    """The item as one task of a stage asked it."""

    task: Task
    kind: str  # in words, unless it is an ordinary task
    parts: Sequence[Part]  # shown and offered, with differing words marked
    right: str  # the known answers, in words
    outcome: Decided | None
    missing: int = 0  # judgments still missing
    given: list[Given] = field(default_factory=list)
    steps: list[Decided] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    scores: Mapping[str, tuple[float, int]] = field(default_factory=dict)  # by answer: the mean, and its n
    drawings: Sequence[tuple[Part, Drawing]] = ()  # pictures with what annotators marked on them


@dataclass(frozen=True, slots=True)
class Visit:
    """What became of the item in one stage; no tasks if it has not reached the stage."""

    stage: Stage
    tasks: Sequence[Asked]


def history(study: Study, stages: Sequence[Stage], item: Item) -> list[Visit]:
    """Return the stages in order, each with the item's tasks, live ones first, then earlier rounds. Uses only the

    material that `queries.with_material` fetched. Only managers see checks and practice, which have right answers.
    """
    tasks = Task.objects.filter(item=item, stage__in=stages).select_related("decided__adjudicator")
    if not study.may.manage:
        tasks = tasks.filter(kind=Kind.JUDGE)
    by_pk = {stage.pk: stage for stage in stages}
    ordered = list(tasks.prefetch_related("slots").order_by("-live", "-round", "question", "pk"))
    edits = edits_of(stages, [task.pk for task in ordered])
    found = {task.pk: _asked(item, by_pk[task.stage_id], task, edits) for task in ordered}
    _add_given(found, by_pk, item, edits)
    _add_steps(found)
    for flag in Flag.objects.filter(lease__task__in=found).select_related("lease__annotator").order_by("created_at"):
        found[flag.lease.task_id].flags.append(flag)
    visits = defaultdict(list)
    for asked in found.values():
        visits[asked.task.stage_id].append(asked)
    return [Visit(stage, visits[stage.pk]) for stage in stages]


def _asked(item: Item, stage: Stage, task: Task, edits: Edits) -> Asked:
    protocol, there = protocol_named(stage.protocol), answers_shown.parts(item, task.carried)
    outcome = getattr(task, "decided", None)
    return Asked(
        task,
        KINDS.get(Kind(task.kind), ""),
        _marked(answers_shown.parts_named(there, dict.fromkeys([*task.shows, *task.options]))),
        " or ".join(_words(protocol, Answer(label), edits) for label in task.gold),
        _decided(protocol, stage, outcome, edits) if outcome else None,
        sum(slot.judgment_id is None for slot in task.slots.all()) if task.live and task.kind == Kind.JUDGE else 0,
    )


def _marked(parts: Sequence[Part]) -> list[Part]:
    texts = iter(marked_apart([part.text for part in parts if part.text]))
    return [replace(part, text=next(texts)) if part.text else part for part in parts]


def _decided(protocol: Protocol, stage: Stage, outcome: Outcome, edits: Edits) -> Decided:
    by = _person(outcome) if outcome.by == ADJUDICATOR else "the decision rule"
    said = _outcome_words(protocol, Answer(outcome.outcome, outcome.content), edits) if outcome.outcome else ""
    state = item_list.in_words(stage, outcome.state, outcome.reason)
    return Decided(f"{state} ({said})" if said else state, by, outcome.decided_at, outcome.note)


def _person(outcome: Outcome) -> str:
    return outcome.adjudicator.get_username() if outcome.adjudicator else "an adjudicator"


def _outcome_words(protocol: Protocol, outcome: Answer, edits: Edits) -> str:
    return (
        _words(protocol, outcome, edits) if outcome.label in edits else answer_words.outcome_in_words(protocol, outcome)
    )


def _words(protocol: Protocol, answer: Answer, edits: Edits) -> str:
    """Put an answer into words; another annotator's edit has its name as in exports."""
    if answer.label in edits:
        return str(name_of_edit(edits, answer.label))
    return answer_words.answer_in_words(protocol, answer)


def _add_given(found: Mapping[int, Asked], stages: Mapping[int, Stage], item: Item, edits: Edits) -> None:
    """Add the answers and skips of each task, oldest first."""
    leases = {
        lease.pk: lease for lease in Lease.objects.filter(task__in=found).select_related("annotator").order_by("pk")
    }
    rows = Judgment.objects.filter(lease__in=leases).select_related("counted_on").order_by("created_at", "pk")
    latest = {row.lease_id: row.pk for row in sorted(rows, key=lambda row: row.revision)}
    counted: dict[int, list[str]] = defaultdict(list)
    by_whom: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for row in rows:
        lease = leases[row.lease_id]
        if getattr(row, "counted_on", None):
            counted[lease.task_id].append(row.answer)
            by_whom[lease.task_id].append((lease.annotator.pseudonym, row.answer))
        task = found[lease.task_id].task
        protocol = protocol_named(stages[task.stage_id].protocol)
        part = answers_shown.parts(item, task.carried).get(row.answer)
        found[task.pk].given.append(
            Given(
                lease.annotator, row.created_at,
                "" if row.withdrawn else _words(protocol, Answer(row.answer, row.content), edits),
                _fate(row, task, lease.annotator, row.pk == latest[row.lease_id]),
                part if part and part.image else None, row.reason,
                None if row.withdrawn or not row.active_ms else row.active_ms / 1000,
            )
        )  # fmt: skip
    for lease in leases.values():
        if lease.state == LeaseState.SKIPPED:
            found[lease.task_id].given.append(Given(lease.annotator, lease.granted_at, "", "skipped"))
    for asked in found.values():
        asked.given.sort(key=lambda one: one.at)
    for pk, marked in by_whom.items():
        task = found[pk].task
        there = answers_shown.parts(item, task.carried)
        drawings = answers_shown.drawings(protocol_named(stages[task.stage_id].protocol), task.shows, there, marked)
        found[pk].drawings = [(there[identity], drawing) for identity, drawing in drawings.items()]
    for pk, labels in counted.items():
        if file := protocol_named(stages[found[pk].task.stage_id].protocol).file:
            found[pk].scores = task_scores(file, labels, item_data.attributes_of(file, queries.record_of(item)))


def _fate(row: Judgment, task: Task, who: Annotator, latest: bool) -> str:
    if row.withdrawn:
        return "taken back"
    if task.corrected_id is not None:
        return "on text corrected since"
    if getattr(row, "counted_on", None):
        return "counts"
    if not latest:
        return "changed later"
    if who.excluded_at:
        return "annotator excluded"
    return "too late" if row.surplus else "does not count"


def _add_steps(found: Mapping[int, Asked]) -> None:
    """Add adjudicators' actions, oldest first."""
    names = {audit.named(asked.task): pk for pk, asked in found.items()}
    events = list(Event.objects.filter(subject__in=names, verb__in=cases.VERBS).order_by("at", "pk"))
    named = _user_names(events)
    for event in events:
        note, blind = event.data.get("note", ""), bool(event.data.get("blind"))
        found[names[event.subject]].steps.append(Decided(event.verb, named(event.by), event.at, note, blind))


def _user_names(events: Sequence[Event]) -> Callable[[str], str]:
    wanted = {int(event.by[5:]) for event in events if event.by.startswith("user:") and event.by[5:].isdecimal()}
    users = {audit.named(user): user.get_username() for user in get_user_model().objects.filter(pk__in=wanted)}
    return lambda by: users.get(by, by)
