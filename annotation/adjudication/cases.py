"""The adjudicator's view: the tasks waiting for a decision, and a single task with all its answers.

Annotators have pseudonyms. Options come in an order drawn for the task, which reveals nothing, and are labelled by
their place in it, from 1. If answers are more than a choice of option, the adjudicator picks from those given.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from django.contrib.auth.models import User
from django.db.models import IntegerField, QuerySet
from django.db.models.expressions import RawSQL

from annotation.adjudication import answers_shown, decisions
from annotation.adjudication.answers_shown import Part, parts_named
from annotation.models import Flag, Judgment, Kind, Outcome, Slot, Stage, Task
from annotation.permissions import whole_number
from annotation.pipeline.outcomes import counted_answers
from annotation.pipeline.ranks import random_rank
from annotation.pipeline.stage_rules import rule_about
from annotation.protocols import answer_words, base
from annotation.protocols.base import Protocol, caption_identity
from annotation.protocols.decision_rule import ADJUDICATOR, Rule, verdict
from annotation.protocols.keys import keys_on_screen
from annotation.protocols.registry import protocol_named
from annotation.protocols.schema import MOST_KEYS
from annotation.screens.drawn import Drawing
from annotation.sql import fetch
from annotation.wording import readable_label
from benchmarks import audit, queries
from benchmarks.differences import marked_apart
from benchmarks.models import Event, Item

AWAITING, FLAGGED = "awaiting", "flagged"
VERBS = (decisions.DECIDED, decisions.SENT_BACK, decisions.WITHDREW)
OWN = "own_words"  # in a form: the adjudicator writes the answer
OWN_ANSWER, OWN_KEY = "own_answer", "e"  # in a form: an answer given on the annotators' page

OPTIONS = "options"
RECENT = 50  # decisions whose reasons are offered again
MOST = 1000  # tasks looked up for each reason, so that a list of any length is fast

LEFT_OPEN = "task.waits AND NOT EXISTS (SELECT FROM annotation_outcome WHERE task_id = task.id)"
# The stage's live tasks waiting for an adjudicator, and why; UNDECIDED counts the same tasks.
QUEUE = f"""
(SELECT task.id, 'awaiting' AS why, task.rank FROM annotation_task task
 WHERE task.stage_id = %(stage)s AND task.live AND {LEFT_OPEN} ORDER BY task.rank LIMIT %(most)s)
UNION ALL
(SELECT DISTINCT task.id, 'flagged', task.rank
 FROM annotation_flag flag JOIN annotation_lease lease ON lease.id = flag.lease_id
 JOIN annotation_task task ON task.id = lease.task_id
 WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live AND flag.settled_at IS NULL AND NOT ({LEFT_OPEN})
   AND NOT EXISTS (SELECT FROM annotation_outcome WHERE task_id = task.id AND by = '{ADJUDICATOR}')
 ORDER BY task.rank LIMIT %(most)s)
ORDER BY why, rank
"""
# Tasks that a stage's rule leaves open; and tasks that somebody must decide, which include flagged ones.
OF_STAGE = f"""
  SELECT task.id FROM annotation_task task WHERE task.stage_id = annotation_stage.id AND task.live AND {LEFT_OPEN}"""
UNDECIDED = f"""{OF_STAGE}
  UNION SELECT id FROM (
    WITH flagged AS MATERIALIZED (  -- once for all stages
      SELECT task.id, task.stage_id
      FROM annotation_flag flag JOIN annotation_lease lease ON lease.id = flag.lease_id
      JOIN annotation_task task ON task.id = lease.task_id
      WHERE task.kind = 'judge' AND task.live AND flag.settled_at IS NULL
        AND NOT EXISTS (SELECT FROM annotation_outcome WHERE task_id = task.id AND by = '{ADJUDICATOR}'))
    SELECT id FROM flagged WHERE stage_id = annotation_stage.id) flagged"""
WAITING = f"""
SELECT DISTINCT task.item_id
FROM annotation_stage CROSS JOIN LATERAL ({UNDECIDED}) undecided JOIN annotation_task task ON task.id = undecided.id
WHERE annotation_stage.id = ANY(%(stages)s)
"""
DECIDED = """
SELECT task.id, 'decided', 0 FROM annotation_outcome outcome JOIN annotation_task task ON task.id = outcome.task_id
WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live AND outcome.by = 'adjudicator'
ORDER BY outcome.decided_at DESC, task.rank LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """A possible answer. `value` is sent by the form: an option's place, a fixed answer's identity, or the name of an
    answer given.
    """

    value: str
    label: str
    who: Sequence[int] = ()  # the numbers of the annotators who gave it and whose judgments count
    part: Part | None = None
    keys: str = ""
    decides: str = ""  # its effect on the item, in words, unless that would give something away
    marked: str = ""  # an option's text with the words that differ highlighted

    @property
    def key(self) -> str:
        """Return the key shown."""
        return self.keys.partition(" ")[0]


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence that an adjudicator may write: the field's name, its role, and its current text."""

    name: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """A task as the adjudicator sees it; `seen` identifies the state on which the decision is based.

    If an answer is more than a choice of option, `options` are the answers given, `offered` the annotators' options,
    `words` the sentences to write instead, and `own` the adjudicator's own answer.
    """

    task: Task
    item: Item
    seen: str
    shown: Sequence[Part]
    options: Sequence[Answer]
    fixed: Sequence[Answer]
    reasons: Sequence[str]
    flags: Sequence[Flag]
    wanted: int  # judgments still missing
    outcome: Outcome | None
    came: str  # the outcome's answer, as labelled on this page
    earlier_decisions: Sequence[Event]
    offered: Sequence[tuple[str, Part]]  # with their names
    words: Sequence[Words]
    own: Answer | None
    drawings: Mapping[str, Drawing]  # by picture identity, the marks of each answer given, under its key

    @property
    def adjudicated(self) -> bool:
        return self.outcome is not None and self.outcome.by == ADJUDICATOR

    @property
    def pictures(self) -> int:
        """Count the images in question, offered to annotators, or to be picked."""
        parts = [*self.shown, *(part for _, part in self.offered), *(option.part for option in self.options)]
        return sum(bool(part and part.image) for part in parts)

    @property
    def texts_offered(self) -> list[tuple[str, str]]:
        return [(name, part.text) for name, part in self.offered if not part.image]

    @property
    def open_flags(self) -> int:
        return sum(flag.settled_at is None for flag in self.flags)


def queue(stage: Stage, decided: bool = False) -> list[tuple[int, str]]:
    """Return waiting tasks and reasons in order, at most `MOST` per reason; or those that an adjudicator has decided,
    newest first. Makes one query.
    """
    return [(task, why) for task, why, _ in fetch(DECIDED if decided else QUEUE, stage=stage.pk, most=MOST)]


def with_undecided(stages: QuerySet[Stage]) -> QuerySet:
    """Add `undecided` to each stage: the number of its tasks in the queue, undecided (`left_open`) or flagged."""
    counts = {"undecided": UNDECIDED, "left_open": OF_STAGE}
    return stages.annotate(
        **{name: RawSQL(f"(SELECT count(*) FROM ({of}) queue)", (), IntegerField()) for name, of in counts.items()}
    )


def undecided(stages: Iterable[Stage]) -> dict[int, int]:
    """Return the same counts by stage key. Makes one query."""
    found = Stage.objects.filter(pk__in=[stage.pk for stage in stages])
    return dict(with_undecided(found).values_list("pk", "undecided"))  # type: ignore[misc]


def waiting(stages: Iterable[Stage]) -> set[int]:
    """Return the items in the stages' queues, undecided or flagged."""
    return {item for (item,) in fetch(WAITING, stages=[stage.pk for stage in stages])}


def find_task(stage: Stage, pk: int) -> Task | None:
    """Return a task that can be adjudicated."""
    return Task.objects.filter(stage=stage, pk=pk, kind=Kind.JUDGE, live=True).first()


def case(
    task: Task, stage: Stage, typed: Mapping[str, str] = MappingProxyType({}), own: base.Answer | None = None
) -> Case:
    """Return the task as an adjudicator sees it, in a few queries. `typed` is the adjudicator's rejected text, by
    field, and `own` their answer on the annotators' page.
    """
    protocol = protocol_named(stage.protocol)
    item = queries.with_material(Item.objects.all()).get(pk=task.item_id)
    there, seen = answers_shown.parts(item, task.carried), decisions.seen(task)
    counted = Judgment.objects.filter(counted_on__task=task).select_related("lease__annotator")
    judgments = list(counted.order_by("created_at", "pk"))
    given = [base.Answer(judgment.answer, judgment.content) for judgment in judgments]
    numbers = [judgment.lease.annotator.number for judgment in judgments]
    who = defaultdict(list)
    for answer, number in zip(given, numbers, strict=True):
        who[answer.label].append(number)
    rule = rule_about(stage, task.item_id)
    options = _given(task, rule, given, numbers) if protocol.form else _options(task, there, who)
    fixed = [
        Answer(one.identity, one.label, who[one.identity], keys=" ".join(one.keys))
        for one in answer_words.fixed_choices(protocol)
    ]
    options, fixed = _with_keys(options, fixed)
    outcome = Outcome.objects.filter(task=task).select_related("adjudicator").first()
    options_offered = parts_named(there, task.options) if protocol.form else []
    return Case(
        task=task, item=item, seen=seen, options=options, fixed=fixed, outcome=outcome,
        shown=parts_named(there, task.shows),
        reasons=_reasons(protocol, judgments),
        flags=list(Flag.objects.filter(lease__task=task).order_by("settled_at", "created_at", "pk")),
        wanted=Slot.objects.filter(task=task, judgment=None).count(),
        came=_came(task, protocol, outcome, [*options, *fixed]) if outcome else "",
        earlier_decisions=list(Event.objects.filter(subject=audit.named(task), verb__in=VERBS).order_by("at", "pk")),
        offered=[(answers_shown.option_words(protocol, part), part) for part in options_offered],
        words=_words(protocol, there, given, typed),
        own=_answer(rule, OWN_ANSWER, own, OWN_KEY) if own else None,
        drawings=_drawings(protocol, task, there, given, options, own),
    )  # fmt: skip


def _with_keys(options: Sequence[Answer], fixed: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Return the answers with the keys that annotators use for them."""
    texts = [one.part.text if one.part else one.label for one in options]
    of_options, of_fixed = keys_on_screen(texts, [one.keys.split() for one in fixed])

    def keyed(answers: Sequence[Answer], keys: Sequence[Sequence[str]]) -> list[Answer]:
        return [replace(one, keys=" ".join(own)) for one, own in zip(answers, keys, strict=True)]

    return keyed(options, of_options), keyed(fixed, of_fixed)


def _drawings(
    protocol: Protocol, task: Task, there: Mapping[str, Part], given: Sequence[base.Answer], options: Sequence[Answer],
    own: base.Answer | None,
) -> Mapping[str, Drawing]:  # fmt: skip
    labels = {_token(protocol, answer): answer.label for answer in given}
    tagged = [(one.key.upper(), labels[one.value]) for one in options if one.value in labels]
    tagged += [(OWN_KEY.upper(), own.label)] if own else []
    return answers_shown.drawings(protocol, task.shows, there, tagged)


def _reasons(protocol: Protocol, judgments: Sequence[Judgment]) -> list[str]:
    """Return annotators' comments; if answers are more than a choice, their reasons for dropping the item."""
    if protocol.form is None or protocol.file:
        return [judgment.reason for judgment in judgments if judgment.reason]
    dropping = [judgment for judgment in judgments if protocol.reason(judgment.answer)]
    return [
        answer_words.answer_in_words(protocol, base.Answer(one.answer, one.content)) if one.content else one.reason
        for one in dropping
    ]


def _came(task: Task, protocol: Protocol, outcome: Outcome, answers: Sequence[Answer]) -> str:
    """Return the label that the outcome's answer has on this page."""
    if protocol.form:
        given = base.Answer(outcome.outcome, outcome.content)
        return answer_words.outcome_in_words(protocol, given) if given.label else ""
    identities = [*options_in_order(task), *answer_words.fixed_labels(protocol)]
    labels = {identity: one.label for identity, one in zip(identities, answers, strict=True)}
    return labels.get(outcome.outcome, outcome.outcome if protocol.file else "")  # a mean is not an answer's label


def options_in_order(task: Task) -> list[str]:
    return answers_shown.drawn_order(task.pk, task.options)


def picked_identity(task: Task, value: str) -> str:
    """Translate the form's value into the answer's identity; an unknown value is returned unchanged."""
    order, place = options_in_order(task), whole_number(value, 3)
    if place is not None and 1 <= place <= len(order):
        return order[place - 1]
    return value if value not in order else ""


def answer_from_form(task: Task, stage: Stage, sent: Mapping[str, str]) -> base.Answer:
    """Read the form's `verdict`: one of the answers given, or the adjudicator's own text. An unknown value is treated
    as a plain label. Raises adjudication.decisions.Unfit.
    """
    protocol, value = protocol_named(stage.protocol), sent.get("verdict", "")
    if not value:
        raise decisions.Unfit("Pick one of the answers, or drop the item.")
    if protocol.form is None:
        return base.Answer(picked_identity(task, value))
    if value == OWN:
        written = {role: sent.get(f"{OWN}-{role}", "") for role in protocol.form.edits}
        return decisions.own_words(task, stage, written)
    answers = {_token(protocol, answer): answer for answer in reversed(counted_answers(task).values())}
    return answers.get(value, base.Answer(value))


def _token(protocol: Protocol, answer: base.Answer) -> str:
    """Name an answer given; the name stays the same when others are added, and differs if the text does."""
    label = "" if protocol.confirms else answer.label
    return hashlib.sha256(f"{label} {verdict(answer)}".encode()).hexdigest()[:16]


def _given(task: Task, rule: Rule, given: Sequence[base.Answer], numbers: Sequence[int]) -> list[Answer]:
    """Return the answers given, without fixed answers, each once in the order first given."""
    protocol = rule.protocol
    fixed = answer_words.fixed_labels(protocol)
    who: dict[str, list[int]] = defaultdict(list)
    first: dict[str, base.Answer] = {}
    for answer, number in zip(given, numbers, strict=True):
        if answer.label not in fixed:
            token = _token(protocol, answer)
            who[token].append(number)
            first.setdefault(token, answer)
    order = sorted(first, key=lambda token: random_rank("adjudicate", task.pk, token))
    return [
        _answer(rule, token, first[token], str(place) if place <= MOST_KEYS else "", who[token])
        for place, token in enumerate(order, 1)
    ]


def _answer(rule: Rule, value: str, answer: base.Answer, keys: str, who: Sequence[int] = ()) -> Answer:
    words = answer_words.answer_in_words(rule.protocol, answer)
    return Answer(value, words, who, keys=keys, decides=_decides(rule, answer))


def _decides(rule: Rule, answer: base.Answer) -> str:
    """Describe what a protocol file's rules make of the answer; "" if nothing is dropped."""
    if rule.protocol.file is None or rule.protocol.measures:
        return ""
    decision = rule.adjudicated(answer)
    return f"dropped: {readable_label(decision.reason)}" if decision.reason else "kept"


def _words(
    protocol: Protocol, there: Mapping[str, Part], given: Sequence[base.Answer], typed: Mapping[str, str]
) -> list[Words]:
    """Return the text for each writable role: as typed, else an annotator's, else the item's own."""
    found = []
    for role in protocol.edits:
        name, own = f"{OWN}-{role}", there.get(caption_identity(role))
        written = next((answer.texts[role] for answer in given if role in answer.texts), own.text if own else "")
        found.append(Words(name, role.replace("_", " "), typed.get(name, written)))
    return found


def _options(task: Task, there: Mapping[str, Part], who: Mapping[str, Sequence[int]]) -> list[Answer]:
    parts = parts_named(there, options_in_order(task))
    marked = iter(marked_apart([part.text for part in parts if part.text]))
    return [
        Answer(
            str(place), answers_shown.label(part, place), who.get(part.identity, ()), part, str(place),
            marked=next(marked) if part.text else "",
        )
        for place, part in enumerate(parts, 1)
    ]  # fmt: skip


def reasons_used(stage: Stage, adjudicator: User) -> dict[str, str]:
    """Return the adjudicator's latest reasons in force in the study, newest first, by the answer's value. All items'
    `OPTIONS` share one value, because separate ones would reveal which option is the original.
    """
    mine = Outcome.objects.filter(by=ADJUDICATOR, adjudicator=adjudicator, task__stage__study=stage.study_id)
    fixed = {decisions.FLAGGED, *answer_words.fixed_labels(protocol_named(stage.protocol))}
    found: dict[str, str] = {}
    for outcome, reason, note in mine.order_by("-decided_at").values_list("outcome", "reason", "note")[:RECENT]:
        value = decisions.FLAGGED if reason == decisions.FLAGGED else outcome
        found.setdefault(value if value in fixed else OPTIONS, note)
    return found
