"""The study page's contents: the funnel of its stages, and of one stage the figures and what is to be looked at."""

import hashlib

from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from annotation.adjudication import answers_shown
from annotation.charts import bars
from annotation.charts import study as study_charts
from annotation.comparison.question_map import asked_in
from annotation.dashboard import overview, paper_page
from annotation.exports import job as export_job
from annotation.figures import blocked_items, cache, funnel, human_baseline
from annotation.figures.cache import Reckoned
from annotation.figures.stage import FLAGS, LEASED
from annotation.models import STUDY_MOVES, DecisionRule, Kind, Promotion, Stage, StageState, Strategy, Study, StudyState
from annotation.pipeline import dawid_skene
from annotation.protocols.registry import PROTOCOLS
from annotation.releases import lifecycle as release_lifecycle
from annotation.releases import page as releases_page
from annotation.sql import fetch
from benchmarks.jobs import jobs
from benchmarks.models import Job

SHOWN = 6  # flags
RELEASES = 3
FRESH = ("summary", "reckoned", "stage", "flags", "exports", "releases")  # are of now, whatever the size
BLOCKS = (
    *FRESH, "tiles", "funnel", "tabs", "outcomes", "kappas", "series", "annotators", "agreement", "types",
    "disagreements", "batches",
)  # fmt: skip
MOVES = {StudyState.PAUSED: "Pause", StudyState.OPEN: "Open", StudyState.CLOSED: "Close"}

# Counts and newest rows: of everything that the page shows, something here is another as soon as that is. LATERAL, so
# that it looks at the study's own rows alone, however many the tables have.
SEEN = """
WITH stage AS (SELECT * FROM annotation_stage WHERE study_id = %(study)s),
     task AS (SELECT * FROM annotation_task WHERE stage_id IN (SELECT id FROM stage))
SELECT (SELECT state FROM annotation_study WHERE id = %(study)s),
  (SELECT array_agg(state ORDER BY position) FROM stage),
  (SELECT max(id) FROM annotation_instructions WHERE stage_id IN (SELECT id FROM stage)),
  (SELECT row(count(*), count(*) FILTER (WHERE live), sum(overlap), max(id))::text FROM task),
  (SELECT row(sum(place.n), sum(judged), max(place.newest), sum(held))::text FROM task CROSS JOIN LATERAL (
     SELECT count(*) AS n, count(judgment_id) AS judged, max(judgment_id) AS newest,
            count(*) FILTER (WHERE held_until > now()) AS held FROM annotation_slot WHERE task_id = task.id) place),
  (SELECT row(sum(given.n), sum(skipped), max(given.newest), sum(flags), sum(settled))::text
   FROM task CROSS JOIN LATERAL (
     SELECT count(DISTINCT lease.id) AS n, count(DISTINCT lease.id) FILTER (WHERE lease.state = 'skipped') AS skipped,
            max(judgment.id) AS newest, count(DISTINCT flag.id) AS flags,
            count(DISTINCT flag.id) FILTER (WHERE flag.settled_at IS NOT NULL) AS settled
     FROM annotation_slot slot JOIN annotation_lease lease ON lease.slot_id = slot.id
     LEFT JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
     LEFT JOIN annotation_flag flag ON flag.lease_id = lease.id WHERE slot.task_id = task.id) given),
  (SELECT row(count(*), max(decided_at))::text FROM task CROSS JOIN LATERAL (
     SELECT decided_at FROM annotation_outcome WHERE task_id = task.id LIMIT 1) outcome),
  (SELECT row(count(*), max(id))::text FROM annotation_seat WHERE stage_id IN (SELECT id FROM stage)),
  (SELECT row(count(*), count(excluded_at), count(left_at))::text FROM annotation_annotator
   WHERE study_id = %(study)s),
  (SELECT count(*) FROM benchmarks_item WHERE benchmark_id = %(benchmark)s),
  (SELECT array_agg(id || state ORDER BY id) FROM benchmarks_job
   WHERE kind IN ('export', 'estimate', 'release') AND params @> jsonb_build_object('study', %(study)s::bigint)),
  to_char(now(), 'YYYYMMDDHH24MI')
"""
MINUTE = -1  # of SEEN: forecasts move with the clock

# Of a large study: what is of now. All else on its page is as of when it was computed.
SEEN_FRESH = """
SELECT (SELECT state FROM annotation_study WHERE id = %(study)s),
  (SELECT array_agg(state ORDER BY position) FROM annotation_stage WHERE study_id = %(study)s),
  (SELECT max(id) FROM annotation_instructions WHERE stage_id = %(stage)s),
  (SELECT count(*) FROM annotation_slot WHERE stage_id = %(stage)s AND held_until > now()),
  (SELECT array_agg(id || state ORDER BY id) FROM benchmarks_job
   WHERE kind IN ('export', 'estimate', 'release') AND params @> jsonb_build_object('study', %(study)s::bigint))
"""


def contents(stage: Stage, small: bool = True) -> dict:
    """Everything that the page and its live part show. What takes long is, of a large study, what was computed last."""
    study, protocol = stage.study, PROTOCOLS[stage.protocol]
    stages = list(study.stages.order_by("position"))
    found = computed(stage) if small else cache.look(stage, overview.KIND, small=False, good=good_for(stage))
    shown = {
        "stage": stage,
        "study": study,
        "protocol": protocol,
        "instructions": stage.instructions.latest("version"),
        "large": not small,
        "reckoned": found,
        "tabs": [tab(one, stage) for one in stages],
        **looked_at(stage),
        **estimated(stage),
        "stage_links": stage_links(stage),
        "study_links": study_links(study, bool(human_baseline.pairs_of(stages))),
        "seen": fingerprint(stage) if small else seen_large(stage, found),
    }
    if found.data is not None:
        shown |= drawn(stage, stages, found.data if small else up_to_date(stage, found.data))
    return {**shown, "blocks": blocks(shown)}


def good_for(stage: Stage) -> int | None:
    """Seconds: the forecast, and what is stuck since nobody comes, move with the clock while work goes on."""
    going = stage.study.state == StudyState.OPEN and stage.state == StageState.OPEN
    return cache.CLOCK if going else None


def computed(stage: Stage) -> Reckoned:
    return Reckoned(overview.overview(stage), timezone.now(), current=True)


def up_to_date(stage: Stage, data: dict) -> dict:
    """What was computed earlier, with what can be counted at once: leases out and flags."""
    ((leased, _),), ((flags, unsettled),) = fetch(LEASED, stage=stage.pk), fetch(FLAGS, stage=stage.pk)
    figures = data["figures"]
    progress = {**figures["progress"], "flags": flags, "flags_open": unsettled}
    return {**data, "figures": {**figures, "progress": progress, "now": {**figures["now"], "leased": leased}}}


def newer(shown: dict, seen: str) -> dict:
    """Of the contents, the blocks to send to a page that has `seen`: not the figures that it shows already."""
    if shown["large"] and seen.partition("_")[0] == shown["seen"].partition("_")[0]:
        there = {*FRESH, "tiles"}
        return {**shown, "blocks": [(name, template) for name, template in shown["blocks"] if name in there]}
    return shown


def drawn(stage: Stage, stages: list[Stage], data: dict) -> dict:
    """The stage's figures (dashboard.overview.overview), with what the page makes of them to show them."""
    figures, whole = data["figures"], data["whole"]
    return {
        **data,
        "stuck": blocked_items.told(data.get("stuck", {})),
        "coarse": next(found for found in figures["agreement"] if found["on"] == figures["by_type_on"]),
        "tabs": [tab(one, stage, whole) for one in stages],
        "closing": closing(stage, stages, whole),
        "disagreements": answers_shown.as_seen(stage, data["cases"]),
        "outcome_bars": list(bars.outcome_bars(figures["outcomes"], funnel.measures(stage))),
        "plots": plotted(stage, figures, whole),
        **paper_page.block(PROTOCOLS[stage.protocol], figures),
    }


def plotted(stage: Stage, figures: dict, whole: dict) -> dict[str, study_charts.Plot]:
    study, at = stage.study, figures["now"]["at"]
    of_stage = study_charts.Subject(study.pk, study.name, at, stage.position, stage.name)
    return {
        "funnel": study_charts.funnel_plot(whole, study_charts.Subject(study.pk, study.name, at)),
        "by_type": study_charts.type_plot(figures, of_stage),
        "series": study_charts.series_plot(figures["series"], at, of_stage),
    }


def looked_at(stage: Stage) -> dict:
    """What is to be looked at, and what can be done."""
    study = stage.study
    return {
        "flags": answers_shown.open_flags(stage, SHOWN),
        "exports": list(export_job.exports_of(study)[:5]),
        "releases": [releases_page.row(release) for release in releases_page.listed(study)[:RELEASES]],
        "busy": under_way(study),
        "moves": [(to, MOVES[to]) for to in MOVES if to in STUDY_MOVES[StudyState(study.state)]],
    }


def under_way(study: Study) -> bool:
    """Whether the page shows a job that is to come to its end, in a closed study too."""
    going = Job.objects.filter(
        kind__in=(export_job.KIND, dawid_skene.KIND, release_lifecycle.KIND), params__study=study.pk
    )
    return going.filter(state__in=cache.UNDER_WAY).exists()


def estimated(stage: Stage) -> dict:
    """Of a stage that is decided by an estimate: the last one, how many judgments count now, and the next one's job."""
    if stage.rule != DecisionRule.DAWID_SKENE:
        return {}
    job, failed = dawid_skene.under_way(stage), dawid_skene.unfinished(stage)
    now = stage.slots.filter(judgment__isnull=False, task__live=True, task__kind=Kind.JUDGE).count()
    told = {"last": dawid_skene.last(stage), "judgments": now, "failed": failed}
    return {"estimate": {**told, "job": job, "pace": job and jobs.pace(job)}}


def blocks(shown: dict) -> list[tuple[str, str]]:
    """The page's parts that change, each with its template: those that this stage has."""
    there = BLOCKS if "figures" in shown else FRESH
    templates = {name: f"dashboard/_{name}.html" for name in there if name != "batches" or shown["batches"]}
    if "reckoned" in templates:
        templates["reckoned"] = "components/_as_of.html"
    return [*templates.items(), *([("paper", shown["paper_template"])] if "paper" in shown else [])]


def fingerprint(stage: Stage) -> str:
    """Changes when anything changes that the page shows, the forecast's minutes included. One query."""
    row = list(fetch(SEEN, study=stage.study_id, benchmark=stage.study.benchmark_id)[0])
    if row[0] != StudyState.OPEN or stage.state != StageState.OPEN:
        row[MINUTE] = ""
    return hashed((stage.position, row))


def seen_large(stage: Stage, found: Reckoned) -> str:
    """`<of the figures>_<of what is of now>`; the first is 0 while there are none."""
    flags = fetch(FLAGS, stage=stage.pk)
    job = (found.job.pk, str(found.job.state), found.job.done, found.job.total) if found.job else None
    row = fetch(SEEN_FRESH, study=stage.study_id, stage=stage.pk) + flags + [found.current, found.due, job]
    figures = hashed((stage.position, found.made_at)) if found.data is not None else "0"
    return f"{figures}_{hashed(row)}"


def hashed(what: object) -> str:
    return hashlib.sha256(repr(what).encode()).hexdigest()[:16]


def tab(one: Stage, shown: Stage, whole: dict | None = None) -> dict:
    """A stage among the study's: how far it is, and where it stands in the funnel, where that is known."""
    named = {"stage": one, "title": PROTOCOLS[one.protocol].title, "current": one == shown}
    if whole is None:
        return named
    steps = {step["stage"]: step for step in (*whole["stages"], *whole["measuring"])}
    step = steps[one.position]
    total = step.get("entered", step.get("tasks", 0))
    done = step["answered"] if "answered" in step else total - step["open"]
    return {**named, "total": total, "done": done}


def closing(stage: Stage, stages: list[Stage], whole: dict) -> list[dict]:
    """What closing the stage sends on: to which stage, and how many of the items that are settled now."""
    steps = {step["stage"]: step for step in whole["stages"]}
    found = []
    for taker in stages:
        at_close = taker.promotion == Promotion.CLOSING or taker.sample is not None
        if taker.source_id == stage.pk and at_close and stage.position in steps:
            step = steps[stage.position]
            ready = sum(row["items"] for row in step["reasons"] if row["reason"] in taker.takes)
            ready += step["kept"] if "kept" in taker.takes else 0
            found.append({"to": taker, "ready": ready, "drawn": taker.sample and min(taker.sample, ready)})
    return found


def stage_links(stage: Stage) -> list[tuple[str, str]]:
    """The pages about this stage that one may open: (address, words)."""
    study, position = stage.study_id, stage.position
    query = f"?stage={position}"
    manages = stage.study.may.manage
    checks = [("study-checks", "Checks and training", [study, position], "")] if manages else []
    named = manages and stage.strategy == Strategy.NAMED
    models = [("study-wrong", "People and models", [study], query)] if asked_in(stage.protocol) else []
    return there(
        ("study-instructions", "Instructions", [study], query),
        *checks,
        ("study-adjudicate", "Adjudicate" if manages else "Cases", [study], query),
        *models,
        *([("study-assign", "Assign", [study, position], "")] if named else []),
    )


def study_links(study: Study, measured: bool) -> list[tuple[str, str]]:
    """The pages about the whole study that one may open."""
    models = ("benchmark-models", "Models and humans", [study.benchmark_id], "")
    baseline = [("study-baseline", "Human baseline", [study.pk], ""), models] if measured else []
    people = [("study-participants", "Participants", [study.pk], ""), ("study-members", "Members", [study.pk], "")]
    papers = [("study-report", "Report", [study.pk], ""), ("release-list", "Releases", [study.pk], "")]
    return there(*(people if study.may.manage else []), *baseline, *papers)


def there(*wanted: tuple) -> list[tuple[str, str]]:
    found = [(address(name, args), query, words) for name, words, args, query in wanted]
    return [(url + query, words) for url, query, words in found if url]


def address(name: str, args: list[int]) -> str:
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""
