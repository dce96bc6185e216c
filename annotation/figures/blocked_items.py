"""Blocked items, and why: live tasks without an outcome whose missing judgments nobody will give, and items that a
stage has not received.

One statement looks at a stage's open tasks, their places, and who has had them. A task has the first reason that
applies; a task is not blocked if somebody holds it or can take one of its places now. docs/design/claiming.md gives
each rule in words; assignment/leases.py and assignment/seats.py define which places can be taken.
"""

from collections.abc import Mapping, Sequence

from django.utils import timezone
from psycopg.types.json import Jsonb

from annotation.figures import cache
from annotation.measures.funnel import waits_for
from annotation.models import Stage, StageState
from annotation.models.choices import BATCHED
from annotation.pipeline.item_results import LABEL
from annotation.protocols.decision_rule import DAWID_SKENE
from annotation.sql import fetch
from annotation.studies import reopening
from benchmarks import audit
from benchmarks.jobs.jobs import Tell, no_progress

KIND = "stuck"  # of figures
REOPEN = "reopen"  # the reason for items reopened by `reopening.reopen`
MOST = 500  # items listed per reason
AWAY = 24  # hours without a screen after which an annotator counts as inactive
UNSTAFFED = ("nobody", "batch")  # the reasons that more annotators would resolve
SKIPS = 3  # a task that this many annotators skipped needs attention

# Each reason in words, in the order tested, and what to do about it.
REASONS = {
    "adjudicate": ("waiting for an adjudicator", "All judgments are in, and the decision rule leaves it to a person."),
    "estimate": ("waiting for the next estimate", "All judgments are in: close the stage or run an estimate."),
    "study": ("study paused or closed", "No screens are assigned until you open it."),
    REOPEN: (
        "opened after the stage was closed",
        "An annotator was excluded, or the item arrived later or was corrected. Open the stage again for these items.",
    ),
    "stage": ("stage closed", "Its unjudged slots are not being assigned. Open the stage again to continue."),
    "batch": ("batch not assigned", "Invite more annotators; each new annotator gets a batch."),
    "unnamed": ("not assigned to anyone by name", "Assign it to an annotator."),
    "gone": ("reserved for an annotator who is gone", "They left or were excluded; assign it to another."),
    "passed": ("reserved for an annotator who skipped it", "They will not see it again; assign it to another."),
    "nobody": (
        "no annotator left who may judge",
        "Nobody has joined yet, or all active annotators have seen it or may not judge it. Invite more.",
    ),
    "away": (f"everybody who may judge is inactive for {AWAY} hours", "Remind them, or invite more annotators."),
    "skipped": (f"skipped by {SKIPS} annotators or more", "Check whether something is wrong with it."),
    "flagged": ("flagged, not reviewed", "Review what the annotator reported."),
    "source": ("waiting for the previous stage to close", "Settled items move on when a manager closes it."),
    "unsuited": ("lacks what the stage shows", "This stage cannot ask about it."),
}

# Who may judge in the stage (`may`), who is gone, and who has not been given a screen for some time.
PEOPLE = """
people AS MATERIALIZED (
  SELECT who.id, who.number, who.left_at IS NOT NULL OR who.excluded_at IS NOT NULL AS gone,
    greatest(who.joined_at, (SELECT max(last.at) FROM unnest(ARRAY['held', 'judged', 'skipped', 'lapsed', 'late']) state
      CROSS JOIN LATERAL (SELECT max(granted_at) AS at FROM annotation_lease lease
                          WHERE lease.annotator_id = who.id AND lease.state = state.state) last)
    ) < clock_timestamp() - make_interval(hours => %(away)s) AS away,
    who.left_at IS NULL AND who.excluded_at IS NULL
    AND (who.invited_to_id IS NULL OR who.invited_to_id = ANY(%(links)s))
    AND NOT EXISTS (SELECT FROM annotation_seat seat WHERE seat.annotator_id = who.id AND seat.stage_id = %(stage)s
                    AND seat.screened_out_at IS NOT NULL)
    AND (%(quota)s::int IS NULL OR (SELECT count(*) FROM annotation_slot mine WHERE mine.stage_id = %(stage)s
         AND mine.annotator_id = who.id AND mine.judgment_id IS NOT NULL) < %(quota)s::int)
    AND (%(strategy)s <> 'named' OR EXISTS (
      SELECT FROM annotation_slot own WHERE own.stage_id = %(stage)s AND own.reserved_id = who.id)) AS may
  FROM annotation_annotator who WHERE who.study_id = %(study)s
)"""
# The open tasks, and for each who has had it, or has seen its item if that excludes them. A closed audit needs only
# tasks whose judgments an exclusion removed.
OPEN = """
asked AS MATERIALIZED (
  SELECT task.id, task.item_id, task.rank, CASE WHEN task.shared THEN %(shared)s::int ELSE %(overlap)s::int END AS base
  FROM annotation_task task
  WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live
    AND NOT EXISTS (SELECT FROM annotation_outcome outcome WHERE outcome.task_id = task.id)
    AND (%(strategy)s <> 'audit' OR NOT %(closed)s OR EXISTS (
      SELECT FROM annotation_lease lease JOIN annotation_annotator gone ON gone.id = lease.annotator_id
      WHERE lease.task_id = task.id AND lease.state = 'judged' AND gone.excluded_at IS NOT NULL))
), had AS (
  SELECT asked.id, count(DISTINCT people.id) FILTER (WHERE people.may) AS may,
         count(DISTINCT people.id) FILTER (WHERE people.may AND NOT people.away) AS awake,
         count(DISTINCT people.id) FILTER (WHERE met.id = asked.id AND lease.state = 'skipped') AS skipped
  FROM asked
  JOIN annotation_task met ON met.item_id = asked.item_id AND (met.id = asked.id OR met.stage_id = ANY(%(apart)s))
  JOIN annotation_lease lease ON lease.task_id = met.id AND lease.state IN ('judged', 'skipped', 'late')
  JOIN people ON people.id = lease.annotator_id GROUP BY asked.id
)"""
# The reason why nobody will take a missing slot; null if somebody can.
PLACES = """
place AS (
  SELECT asked.id, slot.live, slot.held_until, slot.judgment_id, keeper.number AS keeper,
    CASE WHEN slot.judgment_id IS NOT NULL THEN NULL
         WHEN keeper.gone THEN 'gone'
         WHEN slot.reserved_id IS NOT NULL AND EXISTS (
           SELECT FROM annotation_lease lease WHERE lease.task_id = asked.id
           AND lease.annotator_id = slot.reserved_id AND lease.state IN ('judged', 'skipped', 'late')) THEN 'passed'
         WHEN slot.reserved_id IS NOT NULL THEN CASE WHEN keeper.away THEN 'away' END
         WHEN %(batched)s THEN 'batch'
         WHEN %(strategy)s = 'named' AND slot.number <= asked.base THEN 'unnamed'
         WHEN coalesce(had.may, 0) >= (SELECT count(*) FROM people WHERE may) THEN 'nobody'
         WHEN coalesce(had.awake, 0) >= (SELECT count(*) FROM people WHERE may AND NOT away) THEN 'away' END AS why
  FROM asked JOIN annotation_slot slot ON slot.task_id = asked.id
  LEFT JOIN people keeper ON keeper.id = slot.reserved_id LEFT JOIN had ON had.id = asked.id
), task AS (
  SELECT id, count(judgment_id) AS judged, count(*) AS wanted,
         count(*) FILTER (WHERE judgment_id IS NULL AND live) AS out,
         count(*) FILTER (WHERE judgment_id IS NULL AND why IS NULL) AS moving,
         coalesce(bool_or(held_until > clock_timestamp()), false) AS held,
         (array_agg(why ORDER BY array_position(%(order)s, why)) FILTER (WHERE why IS NOT NULL))[1] AS why,
         array_agg(DISTINCT keeper) FILTER (WHERE judgment_id IS NULL AND keeper IS NOT NULL) AS keepers
  FROM place GROUP BY id
), flagged AS (
  SELECT DISTINCT lease.task_id AS id FROM annotation_flag flag JOIN annotation_lease lease ON lease.id = flag.lease_id
  WHERE flag.settled_at IS NULL
)"""
STUCK = f"""
stuck AS (
  SELECT CASE WHEN task.judged = task.wanted THEN CASE WHEN %(estimated)s THEN 'estimate' ELSE 'adjudicate' END
              WHEN task.held THEN CASE WHEN flagged.id IS NOT NULL THEN 'flagged' END
              WHEN NOT %(going)s THEN 'study'
              WHEN task.out = 0 AND %(strategy)s = 'audit' AND NOT %(closed)s THEN NULL  -- it comes later, if at all
              WHEN task.out = 0 THEN CASE WHEN %(closed)s AND {reopening.came_open_since("%(newest)s::bigint")}
                THEN '{REOPEN}' ELSE 'stage' END
              WHEN task.moving = 0 THEN task.why
              WHEN had.skipped >= %(skips)s THEN 'skipped'
              WHEN flagged.id IS NOT NULL THEN 'flagged' END AS reason,
         asked.item_id, asked.id AS task, asked.rank, task.judged, task.wanted, task.keepers
  FROM task JOIN asked ON asked.id = task.id LEFT JOIN had ON had.id = task.id LEFT JOIN flagged ON flagged.id = task.id
)"""
# Items not received: the stage could not ask about them, or their source has settled but not closed.
ELSEWHERE = f"""
there AS (
  SELECT DISTINCT item_id FROM annotation_task WHERE stage_id = %(stage)s AND live
), waiting AS (
  SELECT item_id FROM (
    SELECT task.item_id, {LABEL} AS label
    FROM annotation_task task LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
    WHERE task.stage_id = %(source)s AND task.kind = 'judge' AND task.live GROUP BY task.item_id) settled
  WHERE label = ANY(%(takes)s)
), unsuited AS (
  SELECT DISTINCT (data->>'item')::bigint AS item_id FROM benchmarks_event
  WHERE subject = %(subject)s AND verb = 'could not ask'
)"""
FOUND = f"""
WITH {PEOPLE}, {OPEN}, {PLACES}, {STUCK}, {ELSEWHERE}, found AS (
  SELECT * FROM stuck
  UNION ALL
  SELECT 'source', item_id, NULL, item_id, NULL, NULL, NULL FROM waiting
  WHERE item_id NOT IN (SELECT item_id FROM there) AND item_id NOT IN (SELECT item_id FROM unsuited)
  UNION ALL
  SELECT 'unsuited', item_id, NULL, item_id, NULL, NULL, NULL FROM unsuited
  WHERE item_id NOT IN (SELECT item_id FROM there)
)
"""
COUNTS = f"{FOUND} SELECT reason, count(*) FROM found WHERE reason IS NOT NULL GROUP BY reason"
ROWS = f"""{FOUND}, numbered AS (
  SELECT *, count(*) OVER (PARTITION BY reason) AS n,
         row_number() OVER (PARTITION BY reason ORDER BY rank, task) AS place
  FROM found WHERE reason IS NOT NULL
)
SELECT reason, n, task, item.key, item.type, item.subtype, judged, wanted, keepers
FROM numbered JOIN benchmarks_item item ON item.id = numbered.item_id
WHERE place <= %(most)s ORDER BY array_position(%(order)s, reason), place
"""
# For several stages, whose values are the columns of `given`. It is planned once, not for each stage, because for a
# small stage planning takes longer than running it.
GIVEN = {
    "stage": "bigint", "study": "bigint", "links": "bigint[]", "quota": "int", "apart": "bigint[]", "strategy": "text",
    "batched": "bool", "going": "bool", "overlap": "int", "shared": "int", "estimated": "bool", "closed": "bool",
    "newest": "bigint", "away": "int", "skips": "int", "order": "text[]",
}  # fmt: skip
UNSTAFFED_OF_ONE = f"""
WITH {PEOPLE}, {OPEN}, {PLACES}, {STUCK} SELECT count(*) FROM stuck WHERE reason IN {UNSTAFFED}
"""
UNSTAFFED_IN = f"""
SELECT stage, ({UNSTAFFED_OF_ONE % {name: f'given."{name}"' for name in GIVEN}})
FROM jsonb_to_recordset(%(given)s) given({", ".join(f'"{name}" {of}' for name, of in GIVEN.items())})
"""
OF_ROW = ("task", "item", "type", "subtype", "judged", "wanted", "keepers")


@cache.computes(KIND)
def blocked_items(stage: Stage, key: str = "", tell: Tell = no_progress) -> dict:
    """Return `counts` per reason, and `rows` of each, the first `MOST` in order of assignment; JSON-able."""
    counts: dict[str, int] = {}
    rows: dict[str, list[dict]] = {}
    for reason, count, *row in fetch(ROWS, **_values(stage)):
        counts[reason] = count
        rows.setdefault(reason, []).append(dict(zip(OF_ROW, row, strict=True)))
    return {"counts": counts, "rows": rows}


def counts(stage: Stage) -> dict[str, int]:
    """Return the number of items for each reason that occurs, in order."""
    found = dict(fetch(COUNTS, **_values(stage)))
    return {reason: found[reason] for reason in REASONS if reason in found}


def unstaffed(found: Mapping[str, int]) -> int:
    """Return how many of the blocked items more annotators would resolve."""
    return sum(found.get(reason, 0) for reason in UNSTAFFED)


def unstaffed_in(stages: Sequence[Stage], siblings: Mapping[int, Sequence[Stage]]) -> dict[int, int]:
    """Return, by stage key, the items that nobody is left to judge, in one query. `siblings`: each study's stages."""
    given = [_values(stage, siblings[stage.study_id]) for stage in stages]
    return dict(fetch(UNSTAFFED_IN, given=Jsonb(given))) if given else {}


def blocked_counts(found: Mapping[str, int]) -> dict:
    """Return the counts shown on pages: `total`, and rows of (reason, its description, what to do, count)."""
    rows = [(reason, *REASONS[reason], found[reason]) for reason in REASONS if reason in found]
    return {"total": sum(found.values()), "rows": rows}


def latest(stage: Stage, by: str = "app") -> cache.LatestFigures:
    """Return the latest result; for a small study it is up to date."""
    if cache.is_small(stage.study):
        return cache.LatestFigures(blocked_items(stage), timezone.now(), current=True)
    return cache.latest(stage, KIND, by=by, small=False, good=cache.CLOCK)


def _values(stage: Stage, stages: Sequence[Stage] | None = None) -> Mapping[str, object]:
    """Return the statement's values. `stages`: all of the study's, if already read."""
    stages = list(stage.study.stages.all()) if stages is None else stages
    waits = stage.source is not None and waits_for(stage, stage.source)
    return {
        "stage": stage.pk, "study": stage.study_id, "links": links(stage, stages), "quota": stage.quota,
        "apart": [one.pk for one in stages if one.position in stage.apart_from],
        "strategy": stage.strategy, "batched": stage.strategy in BATCHED, "going": stage.study.state == "open",
        "overlap": stage.overlap, "shared": stage.agreement_overlap or stage.overlap,
        "source": stage.source_id if waits else None, "takes": stage.takes, "subject": audit.named(stage),
        "estimated": stage.rule == DAWID_SKENE,
        "closed": stage.state == StageState.CLOSED,
        "newest": reopening.last_task(stage) if stage.state == StageState.CLOSED else None,
        "away": AWAY, "skips": SKIPS, "most": MOST, "order": list(REASONS),
    }  # fmt: skip


def links(stage: Stage, stages: Sequence[Stage]) -> list[int]:
    """Return the stages whose links lead here: this stage, the one before it in the sequence, and so on."""
    after = {one.pk: one.after_id for one in stages}
    found: list[int] = []
    at: int | None = stage.pk
    while at is not None and at not in found:
        found.append(at)
        at = after[at]
    return found
