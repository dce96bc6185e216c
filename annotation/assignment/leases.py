"""Leases: an annotator claims slots, keeps them while the page is open, and gives them back.

An annotator holds two at a time, the visible screen and the prefetched one; four on a slow network; and one more just
after an undo. A lock on the annotator's row serialises their claims; claims of different annotators do not block each
other. Code that runs at every click is hand-written SQL: the ORM's own work would take longer than PostgreSQL's.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, Min, OuterRef

from annotation.checks import attention_checks
from annotation.models import Annotator, Kind, Lease, LeaseState, Slot, Stage, StudyState, Task
from annotation.models.choices import BATCHED, POOLED
from annotation.pipeline import exposure
from annotation.sql import columns, fetch, instances
from benchmarks import audit

HELD, HELD_AT_MOST = 2, 4  # screens; the latter on a slow network

COLUMNS = f"{columns(Lease, 'lease')}, {columns(Task, 'task')}"

POOL, OWN = "slot.reserved_id IS NULL", "slot.reserved_id = %(annotator)s"

# In a pool, a check for this annotator, unless as many others hold it as may hold an ordinary task.
# Among the rest, the check least recently given out, by the newest leases only, so the cost doesn't grow with the
# study. Both are materialized; otherwise PostgreSQL computes them for each check.
CHECK = f"""{OWN} AND NOT EXISTS (
      SELECT FROM screens WHERE screens.task_id = slot.task_id AND screens.count >= %(overlap)s)"""
GIVEN_OUT = """screens AS MATERIALIZED (
  SELECT task_id, count(*) FROM annotation_slot WHERE stage_id = %(stage)s AND held_until > now() GROUP BY task_id
), newest AS MATERIALIZED (
  SELECT task_id, max(id) AS id FROM (SELECT id, task_id FROM annotation_lease ORDER BY id DESC LIMIT 2000) lease
  GROUP BY task_id
), """
LONGEST_AGO = "(SELECT id FROM newest WHERE newest.task_id = slot.task_id) NULLS FIRST, slot.rank"

# From then on it is a slot in the pool, in place of the ordinary slot the annotator would have got. If skipped,
# lapsed or left behind, it goes to the next annotator like any other, so someone with two desks can't tell them apart.
INTO_POOL = f""", reserved_id = NULL, rank = coalesce((
    SELECT next.rank FROM annotation_slot next
    WHERE next.stage_id = slot.stage_id AND next.live AND next.annotator_id IS NULL AND next.reserved_id IS NULL
      AND NOT {exposure.had("next.task_id")} ORDER BY next.rank LIMIT 1) - 1, slot.rank)"""

# With named annotators: a judgment requested beyond the overlap may go to any annotator with items in the stage.
ADDED = """slot.reserved_id IS NULL AND EXISTS (
      SELECT FROM annotation_task grown JOIN annotation_stage asked ON asked.id = grown.stage_id
      WHERE grown.id = slot.task_id AND grown.kind = 'judge'
        AND slot.number > CASE WHEN grown.shared THEN asked.agreement_overlap ELSE asked.overlap END)
    AND EXISTS (SELECT FROM annotation_slot own
                WHERE own.stage_id = slot.stage_id AND own.reserved_id = %(annotator)s)"""


# Select what the annotator still holds; renew it only after a quarter of the lease, as a slot is in many indexes and
# should not be written at every click. An expired lease is included until its slot is reassigned.
KEPT = """mine AS (
  SELECT slot.id, slot.stage_id, stage.lease_seconds,
         slot.held_until < now() + make_interval(secs => stage.lease_seconds * 0.75) AS old
  FROM annotation_slot slot JOIN annotation_stage stage ON stage.id = slot.stage_id
  WHERE slot.annotator_id = %(annotator)s AND slot.held_until IS NOT NULL
), renewed AS (
  UPDATE annotation_slot slot SET held_until = now() + make_interval(secs => mine.lease_seconds)
  FROM mine WHERE slot.id = mine.id AND mine.old AND slot.annotator_id = %(annotator)s AND slot.held_until IS NOT NULL
  RETURNING slot.id
), kept AS (
  SELECT id FROM mine WHERE NOT old UNION ALL SELECT id FROM renewed
), held AS (
  SELECT lease.* FROM kept JOIN annotation_lease lease
  ON lease.slot_id = kept.id AND lease.annotator_id = %(annotator)s AND lease.state = 'held'
)"""
KEEP = f"""
WITH {KEPT}
SELECT {COLUMNS} FROM held lease JOIN annotation_task task ON task.id = lease.task_id
ORDER BY lease.granted_at, lease.id
"""

# For the `chosen` slot: end its expired lease, if any, and grant a new one with its own order of options.
TAKE = """lapsed AS (
  UPDATE annotation_lease lease SET state = 'lapsed' FROM chosen
  WHERE lease.slot_id = chosen.id AND lease.state = 'held'
), taken AS (
  UPDATE annotation_slot slot
  SET annotator_id = %(annotator)s, held_until = now() + make_interval(secs => %(seconds)s){more}
  FROM chosen WHERE slot.id = chosen.id RETURNING slot.id, slot.task_id
), lease AS (
  INSERT INTO annotation_lease (slot_id, task_id, annotator_id, state, shown)
  SELECT taken.id, taken.task_id, %(annotator)s, 'held',
         ARRAY(SELECT option FROM unnest(task.options || task.proposals) option ORDER BY random())
  FROM taken JOIN annotation_task task ON task.id = taken.task_id
  RETURNING *
)
SELECT {columns} FROM (SELECT * FROM held UNION ALL SELECT * FROM lease) lease
JOIN annotation_task task ON task.id = lease.task_id
ORDER BY lease.granted_at, lease.id
"""


def claim(whose: str, apart: bool) -> str:
    """Return one statement for what the annotator holds and, unless that is `wanted` screens in the stage, one more: a
    slot with an expired lease, else the first free slot in random order. Never of a task the annotator has had or, if
    the stage is kept `apart` from others, of an item they saw there.
    """
    may = f"slot.stage_id = %(stage)s AND slot.live AND {whose} AND NOT {exposure.had('slot.task_id')}"
    may += " AND EXISTS (SELECT FROM room)"
    if apart:
        may += f" AND NOT {exposure.met('(SELECT item_id FROM annotation_task WHERE id = slot.task_id)')}"
    order = LONGEST_AGO if whose == CHECK else "slot.rank"
    take = TAKE.format(more=INTO_POOL if whose == CHECK else "", columns=COLUMNS)
    return f"""
WITH {GIVEN_OUT if whose == CHECK else ""}{KEPT}, room AS (
  SELECT FROM mine WHERE stage_id = %(stage)s HAVING count(*) < %(wanted)s
), expired AS (
  SELECT slot.id, slot.task_id FROM annotation_slot slot
  WHERE slot.held_until < now() AND slot.annotator_id <> %(annotator)s AND {may}
  ORDER BY slot.held_until LIMIT 1 FOR NO KEY UPDATE OF slot SKIP LOCKED
), free AS (
  SELECT slot.id, slot.task_id FROM annotation_slot slot
  WHERE slot.annotator_id IS NULL AND NOT EXISTS (SELECT FROM expired) AND {may}
  ORDER BY {order}, slot.number LIMIT 1 FOR NO KEY UPDATE OF slot SKIP LOCKED
), chosen AS (
  SELECT id, task_id FROM expired UNION ALL SELECT id, task_id FROM free
), {take}"""


CLAIMS = {(whose, apart): claim(whose, apart) for whose in (POOL, OWN, CHECK, ADDED) for apart in (False, True)}

JUDGED = """
SELECT count(*) FROM annotation_slot
WHERE stage_id = %(stage)s AND annotator_id = %(annotator)s AND judgment_id IS NOT NULL
"""

LOCK = "SELECT left_at, excluded_at FROM annotation_annotator WHERE id = %(annotator)s FOR NO KEY UPDATE"


def lock(annotator: Annotator) -> None:
    """Allow one write at a time per annotator: two tabs, a double click and a retry queue up.

    After waiting, check whether the annotator has been excluded or has left in the meantime.
    """
    [(annotator.left_at, annotator.excluded_at)] = fetch(LOCK, annotator=annotator.pk)


@transaction.atomic
def hold(*, annotator: Annotator, stage: Stage, wanted: int = HELD) -> list[Lease]:
    """Renew what is held and claim until `wanted` are held, or fewer if quota, pool or study do not allow more."""
    lock(annotator)
    return hold_locked(annotator, stage, wanted)


def hold_locked(annotator: Annotator, stage: Stage, wanted: int) -> list[Lease]:
    """Do the same as `hold`, inside a transaction that has locked the annotator."""
    if stage.study.state != StudyState.OPEN or annotator.excluded_at or annotator.left_at:
        return _leases(stage, KEEP, annotator=annotator.pk)
    wanted = _most(annotator, stage, wanted)
    leases = _claim_one_more(annotator, stage, wanted, held=0)
    while len(leases) < wanted:
        before, leases = len(leases), _claim_one_more(annotator, stage, wanted, held=len(leases))
        if len(leases) == before:
            break
    return leases


def _claim_one_more(annotator: Annotator, stage: Stage, wanted: int, held: int) -> list[Lease]:
    """Claim one screen beyond those `held`, if there is one; return everything the annotator then holds."""
    leases: list[Lease] = []
    for whose, apart in _ways(annotator, stage):
        leases = _leases(
            stage, CLAIMS[whose, apart], annotator=annotator.pk, stage=stage.pk, wanted=wanted,
            seconds=stage.lease_seconds, apart=stage.apart_from, overlap=stage.overlap,
        )  # fmt: skip
        if len(leases) > held:
            break
    return leases


def _ways(annotator: Annotator, stage: Stage) -> list[tuple[str, bool]]:
    """Return the stage strategy's ways to claim the next screen (keys of CLAIMS); the first that finds one is used. In
    a pool, checks come when due; otherwise they are reserved for the annotator at random positions among the rest.
    Named annotators who have finished their own items get judgments requested beyond the overlap.
    """
    apart = bool(stage.apart_from)
    if stage.strategy not in POOLED:
        return [(OWN, apart)] if stage.strategy in BATCHED else [(OWN, apart), (ADDED, apart)]
    if stage.check_rate and attention_checks.is_due(annotator, stage):
        return [(CHECK, False), (POOL, apart)]
    return [(POOL, apart)]


def _leases(of: Stage, statement: str, **values: object) -> list[Lease]:
    """Return the stage's leases, each with its task, from a statement."""
    leases = []
    for row in fetch(statement, **values):
        lease, task = instances(row, Lease, Task)
        lease.task = task
        leases += [lease] if task.stage_id == of.pk else []
    return leases


def _most(annotator: Annotator, stage: Stage, wanted: int) -> int:
    """Return how many screens the annotator may hold at once."""
    if stage.quota is None or stage.strategy in BATCHED:
        return wanted  # an assigned batch is judged to the end
    return min(wanted, stage.quota - judged(annotator, stage))


def judged(annotator: Annotator, stage: Stage) -> int:
    """Return how many slots carry this annotator's counted judgments."""
    return fetch(JUDGED, annotator=annotator.pk, stage=stage.pk)[0][0]


@transaction.atomic
def renew(*, annotator: Annotator) -> int:
    """Extend every held lease that needs it; return how many are held. The open page calls this."""
    lock(annotator)
    return len(fetch(KEEP, annotator=annotator.pk))


@transaction.atomic
def skip(*, annotator: Annotator, token) -> Lease | None:
    """Free the slot for someone else; it will not be offered to this annotator again. Idempotent."""
    lock(annotator)
    mine = Lease.objects.filter(annotator=annotator, state=LeaseState.HELD, slot__annotator=annotator)
    lease = mine.select_related("task").filter(token=token).first()
    if lease is None:
        return None
    slot = Slot.objects.filter(pk=lease.slot_id)
    if not slot.filter(annotator=annotator, judgment=None).update(annotator=None, held_until=None):
        return None  # expired, and someone has just claimed it
    slot.filter(stage__strategy__in=BATCHED, task__kind=Kind.JUDGE).update(reserved=None)  # for someone else
    Lease.objects.filter(pk=lease.pk).update(state=LeaseState.SKIPPED)
    audit.record(by=audit.named(annotator), verb="skipped", subject=lease.task)
    return lease


@dataclass(frozen=True)
class Waiting:
    """Slots held by others that this annotator could still get."""

    others: int
    frees_at: datetime | None


def waiting(*, annotator: Annotator, stage: Stage) -> Waiting:
    mine = exposure.had_leases(annotator=annotator)
    had, met = mine.filter(task=OuterRef("task")), mine.filter(task__item=OuterRef("task__item"))
    leased = Slot.objects.filter(stage=stage, held_until__isnull=False, live=True).exclude(annotator=annotator)
    leased = leased.filter(reserved=None) if stage.strategy in POOLED else leased.none()
    found = leased.filter(~Exists(had), ~Exists(met.filter(task__stage__position__in=stage.apart_from)))
    return Waiting(**found.aggregate(others=Count("pk"), frees_at=Min("held_until")))
