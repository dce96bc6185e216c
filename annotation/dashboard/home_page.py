"""The first page managers see: their studies, and what each needs next."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet, Subquery, prefetch_related_objects
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from annotation import permissions
from annotation.adjudication import cases
from annotation.dashboard import next_step as steps
from annotation.dashboard.audit_block import unbroken
from annotation.dashboard.next_step import Kind, NextStep, Point, Reached, Released, passed_on_by, under_way
from annotation.dashboard.stage_progress import with_sources
from annotation.figures import blocked_items, cache
from annotation.figures.funnel import measures
from annotation.figures.study_list import StageResults, results_of, with_judging, with_latest, with_people, with_stages
from annotation.measures.audits import sentence
from annotation.models import Annotator, Judgment, Lease, LeaseState, Outcome, Release, Role, Stage, Study
from annotation.models.choices import StudyState
from annotation.participants.review import with_review
from annotation.pipeline import audits
from annotation.pipeline.part import count_of
from annotation.protocols.decision_rule import ADJUDICATOR
from annotation.templatetags.figures import bounds, percent
from annotation.wording import counted
from benchmarks.models import Benchmark
from benchmarks.tables import NOTHING, Column, Table, bdi, exact, number, with_sub
from benchmarks.templatetags.winnow import moment

ListedStudy = Any  # a Study with the annotations of `_listed`
ListedStage = Any  # a Stage of `_stages_of`
Results = Mapping[int, StageResults] | None  # by position; None while the worker is counting


@dataclass(frozen=True, slots=True)
class StudyStep:
    """A study's next `step` in its `stages`, the `way` to its release, and how many items await a decision."""

    study: ListedStudy
    stages: Sequence[ListedStage]
    step: NextStep
    way: Sequence[Point]
    undecided: int

    @property
    def state(self) -> str:
        return self.study.state_with(self.stages)


RELEASED = {"released": "version", "release": "pk", "released_at": "frozen_at"}
PAGE = 50  # studies
SEARCH = 200  # characters
NEEDS, RUNNING, DONE, ARCHIVED = "needs", "running", "done", "archived"
GROUPS = {NEEDS: "Needs you", RUNNING: "Nothing to do now", DONE: "Done", ARCHIVED: "Archived"}
FILTERS = {"": "All", **GROUPS}


def contents(request: HttpRequest) -> dict:
    """Return the user's studies in groups; the address has the search `q`, the `state`, the order and the `page`. The

    number of queries does not depend on the number of studies, except for large ones (figures/cache.py) and audits.
    """
    search, state = request.GET.get("q", "").strip()[:SEARCH], request.GET.get("state", "")
    named = Q(name__icontains=search) | Q(benchmark__name__icontains=search)
    studies: list[ListedStudy] = list(_listed(permissions.studies_for(request.user).filter(named)))
    active = [*filter(_may_need_somebody, studies)]
    stages = _stages_of(active)
    with_latest(active, stages, cache.large([study.pk for study in active]))
    steps = {one.study.pk: one for one in _steps(active, stages)}
    for study in studies:
        study.next = steps.get(study.pk)
        study.group = _group(study)
    counts = Counter(study.group for study in studies)
    counts[""] = len(studies) - counts[ARCHIVED]
    chosen = [study for study in studies if (study.group == state if state in GROUPS else study.group != ARCHIVED)]
    acts = Column("next", html=partial(_actions, request=request), quiet_head=True, css="acts")
    table = Table(
        "studies", [*COLUMNS, acts], chosen, caption="Studies", cards=True, request=request, order="-last_judgment"
    )
    order = list(GROUPS)
    page = Paginator(sorted(table.ordered, key=lambda study: order.index(study.group)), PAGE).get_page(
        request.GET.get("page")
    )
    with_stages(page)
    table.sections = [
        (GROUPS[group], found) for group in GROUPS if (found := [study for study in page if study.group == group])
    ]
    return {
        "table": table, "page": page, "search": search, "state": state if state in GROUPS else "",
        "filters": [(name, label, counts[name]) for name, label in FILTERS.items()],
        "studies": studies or bool(search), "benchmarks": bool(studies) or Benchmark.objects.exists(),
    }  # fmt: skip


def _name(study: ListedStudy) -> SafeString:
    asks = study.rows[0].asks.title if len(study.rows) == 1 else counted(len(study.rows), "stage")
    link = format_html('<a href="{}"><b>{}</b></a>', reverse("study-detail", args=[study.pk]), bdi(study.name))
    return with_sub(link, format_html("{} · {}", bdi(study.benchmark.name), asks))


def _state(study: ListedStudy) -> SafeString:
    over, state = study.released and study.group in (DONE, ARCHIVED), study.next.state if study.next else study.state
    kind, words = ("released", f"released {study.released}") if over else (state, state)
    return render_to_string("components/_state.html", {"state": kind, "words": words})


def _settled(study: ListedStudy) -> SafeString | str:
    if study.judged is None:
        return mark_safe('<span class="quiet">being counted</span>')
    if not study.wanted:
        return NOTHING
    counts = [
        (audit.settled, audit.items) if (audit := study.needs.get(row.position)) else (row.settled or 0, row.tasks or 0)
        for row in study.rows
    ]
    done, total = map(sum, zip(*counts, strict=True))
    share = f"{math.floor(1000 * done / total) / 10:g}" if total else "0"
    audits_only = " · ".join(of.so_far for of in study.needs.values()) if len(study.needs) == len(study.rows) else ""
    if share == "100":
        return audits_only or ("all so far" if any(row.tasks == 0 for row in study.rows) else "all")
    of = f"{done} of {total} items and questions"
    late = study.latest and not study.latest.current
    return with_sub(
        format_html('<progress max="{}" value="{}" aria-label="{}"></progress> {}%', total, done, of, share),
        format_html("at {}", moment(study.latest.made_at, "j M, H:i")) if late else audits_only,
    )


def _result(study: ListedStudy) -> SafeString:
    """Return the results so far, if they are cheap to compute, and what they rest on."""
    found = next((needs.progress for needs in study.needs.values() if needs.progress.estimate is not None), None)
    if found:
        ends = f"{bounds(found.low or 0, found.high or 0)}, 95% interval"
        return with_sub(format_html("<b>{} wrong</b>", exact(found.estimate, percent)), ends)
    rows = [row for row in study.rows if row.asks.drops and row.settled]
    if not rows or study.needs:
        return SafeString()
    kept, dropped = rows[-1].kept, sum(row.settled - row.kept for row in rows)
    settled = kept + dropped
    share = exact(kept / settled, percent)
    return with_sub(format_html("<b>{} kept</b>", share), f"of {counted(settled, 'item')}")


def _people(study: ListedStudy) -> SafeString | str:
    if not study.people:
        return "0 joined"
    some = [f"{n:,} {did}" for n, did in ((study.judging, "judged"), (study.active, "active")) if n < study.people]
    return with_sub(f"{study.people:,} joined", ", ".join(some))


def _actions(study: ListedStudy, request: HttpRequest) -> SafeString:
    context = {"study": study, "manages": _manages(study)}
    return render_to_string("dashboard/_list_actions.html", context, request)


COLUMNS = [
    Column("study", "name", html=_name, css="name"),
    Column("state", html=_state, unit=""),
    Column("settled", html=_settled),
    Column("result so far", html=_result, unit=""),
    number("people", "people", html=_people, unit=""),
    Column("last judgment", "last_judgment", moment, css="quiet"),
]


def _manages(study: ListedStudy) -> bool:
    return permissions.reaches(study.role, Role.MANAGER)


def _may_need_somebody(study: ListedStudy) -> bool:
    over = study.archived or (study.state == StudyState.CLOSED and study.released)
    return not over and _manages(study)


def _group(study: ListedStudy) -> str:
    if study.archived:
        return ARCHIVED
    if study.state == StudyState.CLOSED or (study.next and study.next.step.is_last):
        return DONE
    return NEEDS if study.next and study.next.step.url else RUNNING


def listed(user, study: Study) -> ListedStudy:
    """The study as the list has it, with its stages, the count of its `items`, and whether it is `large`. Two queries,
    unless the worker counts its judgments or it has audits.
    """
    found = _with_released(permissions.studies_for(user).filter(pk=study.pk))
    one: ListedStudy = found.annotate(large=cache.is_large(), items=count_of(study)).get()
    with_latest([one], _stages_of([one]), {study.pk} if one.large else ())
    return one


def step_of(study: ListedStudy, shown: Stage | None = None, figures: Mapping | None = None) -> StudyStep:
    """The next step of a `listed` study, and the way to it. Two queries; one if the page has computed the `figures` of
    the stage under way (`shown`), which count the items that no annotator is left to judge.
    """
    unstaffed = {}
    if shown and figures and not study.large:
        unstaffed[shown.pk] = blocked_items.unstaffed(figures["now"]["blocked"])
    return _steps([study], {study.pk: list(study.stages.all())}, unstaffed)[0]


def _listed(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Add to each how many are `judging`, and the time of its `last_judgment`."""
    of_person = Judgment.objects.filter(lease__annotator=OuterRef("pk"), lease__state=LeaseState.JUDGED)
    newest = of_person.order_by("-lease__granted_at", "-revision").values("created_at")[:1]
    people = Annotator.objects.filter(study=OuterRef("pk")).annotate(at=Subquery(newest))
    last = people.order_by(F("at").desc(nulls_last=True)).values("at")[:1]
    return with_judging(_with_released(studies)).annotate(last_judgment=Subquery(last))


def _with_released(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Add to each its benchmark, how many `people` have joined, whom of them to `review`, and the newest version
    `released`, with the `release` key and whether answers, decisions or exclusions have `changed` since; the key of
    the release in the `making`. `asked`: somebody has judged here, or can.
    """
    frozen = Release.objects.filter(study=OuterRef("pk"), frozen_at__isnull=False).order_by("-frozen_at", "-pk")
    told = {name: Subquery(frozen.values(of)[:1]) for name, of in RELEASED.items()}
    making = Release.objects.filter(study=OuterRef("pk"), frozen_at=None, job__state__in=cache.UNDER_WAY)
    told["making"] = Subquery(making.order_by("-pk").values("pk")[:1])
    since, person = OuterRef("released_at"), Annotator.objects.filter(study=OuterRef("pk"))
    judged = Lease.objects.filter(annotator=OuterRef("pk"), state=LeaseState.JUDGED).order_by("-granted_at")
    person = person.annotate(judged=Subquery(judged.values("granted_at")[:1]))  # by index, instead of all leases since
    decided = Outcome.objects.filter(task__stage__study=OuterRef("pk"), by=ADJUDICATOR, decided_at__gt=since)
    changed = Exists(person.filter(Q(judged__gt=since) | Q(excluded_at__gt=since))) | Exists(decided)
    asked = Exists(Annotator.objects.filter(study=OuterRef("pk"), imported=False))
    return with_review(with_people(studies)).annotate(**told, asked=asked).annotate(changed=changed)


def _steps(
    active: Sequence[ListedStudy],
    stages: Mapping[int, Sequence[ListedStage]],
    unstaffed: Mapping[int, int] = MappingProxyType({}),
) -> list[StudyStep]:
    results = results_of(active)
    reached = {study.pk: _reached_by(study, stages[study.pk], results[study.pk]) for study in active}
    going = [
        stage
        for study in active
        if study.state == StudyState.OPEN and study.people and study.latest is None
        for stage in [under_way(reached[study.pk])]
        if stage is not None and stage.pk not in unstaffed
    ]
    unstaffed = {**unstaffed, **blocked_items.unstaffed_in(going, stages)}
    found = []
    for study in active:
        at = stages[study.pk]
        step = _step(study, at, results[study.pk], reached[study.pk], unstaffed)
        count, released = sum(stage.undecided for stage in at), _released(study)
        points = steps.way(
            step, reached[study.pk], joined=study.people, active=study.active, review=len(study.review),
            tested=study.tested, undecided=count, released=released, asks=asks(study),
        )  # fmt: skip
        found.append(StudyStep(study, at, step, points, count))
    return found


def _stages_of(studies: Sequence[ListedStudy]) -> dict[int, list[ListedStage]]:
    """In order, each with its study and its source, how many of its items are `undecided`, and `left_open` of these."""
    prefetch_related_objects(studies, Prefetch("stages", cases.with_undecided(Stage.objects.all())))
    return {study.pk: with_sources(study.stages.all()) for study in studies}


def _results_by(stages: Sequence[Stage], results: Results) -> list[tuple[Stage, StageResults]]:
    return [(stage, (results or {}).get(stage.position) or StageResults()) for stage in stages]


def _reached_by(study: ListedStudy, stages: Sequence[Stage], results: Results) -> list[Reached]:
    return [_reached(*one, study.needs.get(one[0].position)) for one in _results_by(stages, results)]


def _step(
    study: ListedStudy, stages: Sequence[ListedStage], results: Results, reached: Sequence[Reached],
    unstaffed: Mapping[int, int],
) -> NextStep:  # fmt: skip
    """Return the study's next step over all its stages; the first one waiting for a person comes first. `unstaffed`
    has, by stage key, items that no annotator is left to judge.
    """
    by_stage = _results_by(stages, results)
    shown, of = next((one for one in by_stage if one[1].came_open), by_stage[0])
    if results is None and study.state == StudyState.OPEN and study.people:
        return NextStep(Kind.JUDGE, "Nothing to do but wait", "Its judgments are being counted.")
    step = steps.next_step(
        shown, reached,
        {stage.pk: [] if measures(stage) else passed_on_by(stage, stages, found.items) for stage, found in by_stage},
        adjudicate={stage.pk: stage.undecided for stage in stages},
        flagged={stage.pk: stage.undecided - stage.left_open for stage in stages},
        reopen=of.came_open, joined=bool(study.people), released=_released(study), review=study.review,
        unstaffed={stage.position: unstaffed[stage.pk] for stage in stages if stage.pk in unstaffed},
        asks=asks(study),
    )  # fmt: skip
    if step.kind == Kind.RELEASE and study.making:
        making = reverse("release-detail", args=[study.making])
        return NextStep(Kind.RELEASE, "A release is being made", "A worker writes and checks it.", "Open it", making)
    return step


def asks(study: ListedStudy) -> bool:
    """Whether somebody can or could judge here: not all judgments were made elsewhere."""
    return study.state == StudyState.OPEN or study.asked or not study.people


def _released(study: ListedStudy) -> Released | None:
    return Released(study.release, study.released, study.changed) if study.released else None


def _reached(stage: Stage, found: StageResults, audit: audits.Needs | None) -> Reached:
    if measures(stage):
        return Reached(stage, found.settled, found.tasks)
    total, precision = sum(found.items.values()), ""
    if audit and (now := sentence.reached(audit.progress, target := audits.target_of(stage))):
        so_far = "" if audit.progress.ended else " so far"
        precision = unbroken(f"The interval is {now}{so_far}; the audit aims at {sentence.aim(target)}.")
    return Reached(stage, total - found.items.get("open", 0), total, precision, audit.so_far if audit else "")
