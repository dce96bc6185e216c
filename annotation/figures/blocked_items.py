"""Items that do not move, and why: live tasks without an outcome whose missing judgments nobody is going to give, and
items that a stage would take and has not got.

One statement looks at a stage's open tasks, their places, and who has had them. A task has the first reason that
holds; one with a place that somebody can take now moves, and so does one that somebody holds.
docs/reference/measures.md says each rule in words; what makes a place takeable is assignment/leases.py's and
assignment/seats.py's.
"""

from collections.abc import Mapping, Sequence

from django.utils import timezone

from annotation.figures import cache
from annotation.measures.funnel import waits_for
from annotation.models import Stage, StageState
from annotation.models.choices import BATCHED
from annotation.protocols.decision_rule import DAWID_SKENE
from annotation.sql import fetch
from annotation.studies import reopening
from benchmarks import audit
from benchmarks.jobs.jobs import Tell, silent

KIND = "stuck"  # of figures
REOPEN = "reopen"  # the reason of what `reopening.reopen` gives out
MOST = 500  # items of each reason that are listed
AWAY = 24  # hours without a screen, after which nobody counts on somebody
SKIPS = 3  # annotators who skipped a task, from which it is one to look at

# Each reason in words, in the order in which they are asked; what there is to do about it.
REASONS = {
    "adjudicate": ("waits for an adjudicator", "All judgments are there, and the rule leaves it to a person."),
    "estimate": ("waits for the next estimate", "All judgments are there: close the stage, or ask for an estimate."),
    "study": ("the study is paused or closed", "Nothing is given out until it is opened."),
    REOPEN: (
        "came open after the stage was closed",
        "Somebody was excluded, or the item came in since: open the stage again for these items.",
    ),
    "stage": ("the stage is closed", "Its places that are not judged are given to nobody."),
    "batch": ("its batch is given to nobody", "Invite more annotators; whoever comes is given a batch."),
    "unnamed": ("given to nobody by name", "Assign it to somebody."),
    "gone": ("kept for somebody who is gone", "They left or were excluded; assign it to somebody else."),
    "passed": ("kept for somebody who skipped it", "It is not shown to them again; assign it to somebody else."),
    "nobody": (
        "nobody is left who may judge it",
        "Everybody at work has had it, or may not: invite more.",
    ),
    "away": (f"whoever may judge it is away for {AWAY} hours", "Remind them, or invite more annotators."),
    "skipped": (f"skipped by {SKIPS} or more", "Something may be wrong with it."),
    "flagged": ("flagged, and nobody has looked", "Look at what was reported."),
    "source": ("waits until the stage before it closes", "What is settled there comes when a manager closes it."),
    "unsuited": ("lacks what the stage shows", "The stage cannot ask about it."),
}

# Who could judge in the stage (`may`), who has gone, and who has been given no screen for some time.
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
# The open tasks; of each, who has had it, or met its item where that keeps them from it.
OPEN = """
asked AS MATERIALIZED (
  SELECT task.id, task.item_id, task.rank, CASE WHEN task.shared THEN %(shared)s::int ELSE %(overlap)s::int END AS base
  FROM annotation_task task
  WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live
    AND NOT EXISTS (SELECT FROM annotation_outcome outcome WHERE outcome.task_id = task.id)
), had AS (
  SELECT asked.id, count(DISTINCT people.id) FILTER (WHERE people.may) AS may,
         count(DISTINCT people.id) FILTER (WHERE people.may AND NOT people.away) AS awake,
         count(DISTINCT people.id) FILTER (WHERE met.id = asked.id AND lease.state = 'skipped') AS skipped
  FROM asked
  JOIN annotation_task met ON met.item_id = asked.item_id AND (met.id = asked.id OR met.stage_id = ANY(%(apart)s))
  JOIN annotation_lease lease ON lease.task_id = met.id AND lease.state IN ('judged', 'skipped', 'late')
  JOIN people ON people.id = lease.annotator_id GROUP BY asked.id
)"""
# Why a missing place is not going to be taken; null where somebody can take it.
PLACES = """
place AS (
  SELECT asked.id, slot.live, slot.held_until, slot.judgment_id, keeper.number AS keeper,
    slot.judgment_id IS NULL AND EXISTS (
      SELECT FROM annotation_lease lease JOIN annotation_annotator gone ON gone.id = lease.annotator_id
      WHERE lease.slot_id = slot.id AND lease.state = 'judged' AND gone.excluded_at IS NOT NULL) AS lost,
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
         bool_and(lost) FILTER (WHERE judgment_id IS NULL) OR id > %(newest)s::bigint AS came_open,
         count(*) FILTER (WHERE judgment_id IS NULL AND why IS NULL) AS moving,
         coalesce(bool_or(held_until > clock_timestamp()), false) AS held,
         (array_agg(why ORDER BY array_position(%(order)s, why)) FILTER (WHERE why IS NOT NULL))[1] AS why,
         array_agg(DISTINCT keeper) FILTER (WHERE judgment_id IS NULL AND keeper IS NOT NULL) AS keepers
  FROM place GROUP BY id
), flagged AS (
  SELECT DISTINCT lease.task_id AS id FROM annotation_flag flag JOIN annotation_lease lease ON lease.id = flag.lease_id
  WHERE flag.settled_at IS NULL
)"""
# Items that have not come: those that the stage could not ask about, and those whose source has settled but not closed.
ELSEWHERE = """
there AS (
  SELECT DISTINCT item_id FROM annotation_task WHERE stage_id = %(stage)s AND live
), waiting AS (
  SELECT item_id FROM (
    SELECT task.item_id, CASE
        WHEN bool_or(outcome.state = 'dropped') THEN
          (array_agg(outcome.reason ORDER BY task.question) FILTER (WHERE outcome.state = 'dropped'))[1]
        WHEN bool_or(outcome.state IS NULL) THEN 'open' ELSE 'kept' END AS label
    FROM annotation_task task LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
    WHERE task.stage_id = %(source)s AND task.kind = 'judge' AND task.live GROUP BY task.item_id) settled
  WHERE label = ANY(%(takes)s)
), unsuited AS (
  SELECT DISTINCT (data->>'item')::bigint AS item_id FROM benchmarks_event
  WHERE subject = %(subject)s AND verb = 'could not ask'
)"""
STUCK = f"""
WITH {PEOPLE}, {OPEN}, {PLACES}, {ELSEWHERE}, found AS (
  SELECT CASE WHEN task.judged = task.wanted THEN CASE WHEN %(estimated)s THEN 'estimate' ELSE 'adjudicate' END
              WHEN task.held THEN CASE WHEN flagged.id IS NOT NULL THEN 'flagged' END
              WHEN NOT %(going)s THEN 'study'
              WHEN task.out = 0 THEN CASE WHEN %(closed)s AND task.came_open THEN '{REOPEN}' ELSE 'stage' END
              WHEN task.moving = 0 THEN task.why
              WHEN had.skipped >= %(skips)s THEN 'skipped'
              WHEN flagged.id IS NOT NULL THEN 'flagged' END AS reason,
         asked.item_id, asked.id AS task, asked.rank, task.judged, task.wanted, task.keepers
  FROM task JOIN asked ON asked.id = task.id LEFT JOIN had ON had.id = task.id LEFT JOIN flagged ON flagged.id = task.id
  UNION ALL
  SELECT 'source', item_id, NULL, item_id, NULL, NULL, NULL FROM waiting
  WHERE item_id NOT IN (SELECT item_id FROM there) AND item_id NOT IN (SELECT item_id FROM unsuited)
  UNION ALL
  SELECT 'unsuited', item_id, NULL, item_id, NULL, NULL, NULL FROM unsuited
  WHERE item_id NOT IN (SELECT item_id FROM there)
)
"""
COUNTS = f"{STUCK} SELECT reason, count(*) FROM found WHERE reason IS NOT NULL GROUP BY reason"
ROWS = f"""{STUCK}, numbered AS (
  SELECT *, count(*) OVER (PARTITION BY reason) AS n,
         row_number() OVER (PARTITION BY reason ORDER BY rank, task) AS place
  FROM found WHERE reason IS NOT NULL
)
SELECT reason, n, task, item.key, item.type, item.subtype, judged, wanted, keepers
FROM numbered JOIN benchmarks_item item ON item.id = numbered.item_id
WHERE place <= %(most)s ORDER BY array_position(%(order)s, reason), place
"""
OF_ROW = ("task", "item", "type", "subtype", "judged", "wanted", "keepers")


@cache.reckons(KIND)
def blocked_items(stage: Stage, key: str = "", tell: Tell = silent) -> dict:
    """`counts` of each reason; `rows` of each, the first `MOST` in the order of giving out. JSON-able."""
    counts: dict[str, int] = {}
    rows: dict[str, list[dict]] = {}
    for reason, count, *row in fetch(ROWS, **_values(stage)):
        counts[reason] = count
        rows.setdefault(reason, []).append(dict(zip(OF_ROW, row, strict=True)))
    return {"counts": counts, "rows": rows}


def counts(stage: Stage) -> dict[str, int]:
    """How many for each reason that there is, in their order."""
    found = dict(fetch(COUNTS, **_values(stage)))
    return {reason: found[reason] for reason in REASONS if reason in found}


def blocked_counts(found: Mapping[str, int]) -> dict:
    """Counts as pages show them: `total`, and the rows (reason, what holds, what to do, how many)."""
    rows = [(reason, *REASONS[reason], found[reason]) for reason in REASONS if reason in found]
    return {"total": sum(found.values()), "rows": rows}


def blocked_tasks(data: Mapping, reason: str = "") -> list[dict]:
    """Rows of the reason, or of all in their order, with `reason`, and what holds and what to do in words."""
    return [
        {**row, "reason": name, "holds": REASONS[name][0], "todo": REASONS[name][1]}
        for name in REASONS
        if reason in ("", name)
        for row in data["rows"].get(name, [])
    ]


def look(stage: Stage, by: str = "app") -> cache.Reckoned:
    """Of a small study as it is now."""
    if cache.is_small(stage.study):
        return cache.Reckoned(blocked_items(stage), timezone.now(), current=True)
    return cache.look(stage, KIND, by=by, small=False, good=cache.CLOCK)


def _values(stage: Stage) -> Mapping[str, object]:
    stages = list(stage.study.stages.all())
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
    """The stages whose own link leads here: this one, the one that it comes after, and so on."""
    after = {one.pk: one.after_id for one in stages}
    found: list[int] = []
    at: int | None = stage.pk
    while at is not None and at not in found:
        found.append(at)
        at = after[at]
    return found
