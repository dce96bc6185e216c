"""Whether figures that were computed are still of the present, without counting rows.

Everything that figures rest on writes a judgment, a task or an event, and their ids are given out in order. A *state*
is the last ids that were given out: figures are of the present while nothing that belongs to their study has a later
one. What other studies do, jobs, and what no figure shows change nothing.

An id is given out before its row can be seen, and whoever took one earlier may commit later. But they hold a lock on
the table from before they take it until their row is there for all to see. So those who hold one are noted after the
ids are read and waited for; where one of them does not end in time, there is no state ("") and the figures do not last.
"""

import time
from dataclasses import dataclass
from datetime import datetime

from annotation.models import Study
from annotation.sql import fetch

MOST = 1000  # later rows that are looked through; with more, something may have changed
STEP = 0.02  # seconds between two looks at those who write

GIVEN_OUT = """
SELECT judgment.last_value - (NOT judgment.is_called)::int, task.last_value - (NOT task.is_called)::int,
       event.last_value - (NOT event.is_called)::int, clock_timestamp()
FROM annotation_judgment_id_seq judgment, annotation_task_id_seq task, benchmarks_event_id_seq event
"""
# A transaction keeps the lock that an INSERT takes first of all until it has ended and is seen to have.
WRITING = """
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted AND pid <> pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND relation IN ('annotation_judgment'::regclass, 'annotation_task'::regclass, 'benchmarks_event'::regclass)
"""
LATER = """
WITH stage AS MATERIALIZED (SELECT id FROM annotation_stage WHERE study_id = %(study)s),
judged AS (SELECT lease_id FROM annotation_judgment WHERE id > %(judgment)s ORDER BY id LIMIT %(most)s),
asked AS (SELECT stage_id FROM annotation_task WHERE id > %(task)s ORDER BY id LIMIT %(most)s),
told AS (
  SELECT split_part(subject, ':', 1) AS what, substring(subject FROM ':([0-9]+)$')::bigint AS id, verb
  FROM benchmarks_event WHERE id > %(event)s ORDER BY id LIMIT %(most)s
)
SELECT (SELECT count(*) FROM judged) = %(most)s OR (SELECT count(*) FROM asked) = %(most)s
  OR (SELECT count(*) FROM told) = %(most)s
  OR EXISTS (SELECT FROM asked WHERE stage_id IN (SELECT id FROM stage))
  OR EXISTS (SELECT FROM told WHERE verb <> 'exported' AND CASE what
    WHEN 'study' THEN id = %(study)s
    WHEN 'benchmark' THEN id = %(benchmark)s
    WHEN 'stage' THEN id IN (SELECT id FROM stage)
    WHEN 'annotator' THEN EXISTS (SELECT FROM annotation_annotator who WHERE who.id = told.id AND study_id = %(study)s)
    WHEN 'task' THEN (SELECT stage_id FROM annotation_task task WHERE task.id = told.id) IN (SELECT id FROM stage)
    WHEN 'flag' THEN (SELECT task.stage_id FROM annotation_flag flag JOIN annotation_lease lease ON lease.id = lease_id
                      JOIN annotation_task task ON task.id = task_id WHERE flag.id = told.id) IN (SELECT id FROM stage)
    WHEN 'job' THEN false WHEN 'user' THEN false WHEN 'instructions' THEN false ELSE true END)
  OR EXISTS (SELECT FROM judged JOIN annotation_lease lease ON lease.id = lease_id
             JOIN annotation_task task ON task.id = task_id WHERE stage_id IN (SELECT id FROM stage))
"""


@dataclass(frozen=True, slots=True)
class State:
    """`state` is the last ids of judgments, tasks and events; empty where somebody was writing all the time."""

    state: str
    at: datetime


def state_of(patience: float = 0.0) -> State:
    """To be read before the figures are. Waits so many seconds at most for those who are writing now."""
    *last, at = fetch(GIVEN_OUT)[0]
    return State("/".join(map(str, last)) if _ended(_writing(), patience) else "", at)


def _ended(writers: set[str], patience: float) -> bool:
    """Whether all of them have ended; those who come later have later ids."""
    until = time.monotonic() + patience
    while writers and time.monotonic() < until:
        time.sleep(STEP)
        writers &= _writing()
    return not writers


def _writing() -> set[str]:
    return {one for (one,) in fetch(WRITING)}


def lasts(study: Study, state: str) -> bool:
    """Whether nothing has happened to the study since."""
    if not state:
        return False
    judgment, task, event = map(int, state.split("/"))
    values = {"study": study.pk, "benchmark": study.benchmark_id, "most": MOST}
    return not fetch(LATER, judgment=judgment, task=task, event=event, **values)[0][0]
