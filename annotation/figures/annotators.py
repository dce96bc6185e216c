"""Contents of a study's annotator pages: each annotator's statistics and signs, per stage and for the whole study. This
module reads rows from the database; measures/annotator_figures.py counts them.

Computed once per state of the study (figures/cache.py) and kept with its first stage. Names and managers' decisions are
not included: the pages read them on each visit. The number of queries does not depend on the number of annotators.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import median
from types import MappingProxyType

from annotation.checks import attention_checks, qualification
from annotation.figures import cache
from annotation.figures.avoided import Avoided, avoided_screens
from annotation.figures.judgments import judgments_of
from annotation.measures import annotator_behaviour, annotator_figures, counts, few_annotators, warning_signs
from annotation.measures.annotator_figures import Checked, Known
from annotation.measures.judgments import Judgments
from annotation.measures.pay import Pay
from annotation.models import Seat, Stage, Study
from annotation.pipeline.stage_rules import rule_of
from annotation.protocols.base import main_view
from annotation.protocols.registry import protocol_named
from benchmarks.jobs.jobs import Tell, no_progress

KIND = "annotators"
OWN_TESTS, COMPARING_TESTS = ("side", "runs"), ("labels_test", "agreement")  # in each row


@cache.computes(KIND)
def annotators(stage: Stage, key: str = "", tell: Tell = no_progress) -> dict:
    """Return `stages`, each with a row for everybody who has been in it; `whole`, a row for everybody; `speed`
    (measures.warning_signs.speed_deviations); `few`, by the stage's position, the outliers among few annotators
    (measures.few_annotators) under each of the `views`, and which to show `first`; `look`, whom to look at; `tested`,
    whether any test was possible; `work`, by number, what they did besides judging. Only pages show the last four;
    exports do not contain them.
    """
    study, few = stage.study, {}
    work: dict[int, dict] = defaultdict(lambda: {"counted": 0, "times": []})

    def keep(one: Stage, rows: Judgments) -> None:
        views = rule_of(one).projections()
        first = main_view(views) if protocol_named(one.protocol).file else "answer"
        found = {name: few_annotators.few_annotators(rows, view) for name, view in views.items()}
        few[str(one.position)] = {"first": first, "views": found}
        for number, mine in rows.by_annotator().items():
            work[number]["counted"] += int(mine.counted.sum())
            work[number]["times"] += [int(mine.at.min()), int(mine.at.max())]
        for apart in (apart for of_view in found.values() for apart in of_view["outliers"]):
            if apart["kind"] == few_annotators.FAST:
                apart["screens"] = _fast_screens(rows.by_annotator()[apart["number"]], apart["size"])

    found = of_stages(study, list(study.stages.order_by("position")), tell, keep) | {"few": few}
    avoided: dict[int, Avoided] = defaultdict(Avoided)
    for kind, number, _ in avoided_screens(study):
        avoided[number].add(kind)
    told = {str(one): work[one] | {"avoided": asdict(avoided[one])} for one in sorted({*work, *avoided})}
    return found | {"look": to_look_at(found), "tested": any_tested(found["stages"]), "work": told}


def _fast_screens(rows: Judgments, size: float) -> int:
    """Count the screens on which somebody took less than half the others' time, given the `size` of the difference."""
    times = counts.known_times(annotator_behaviour.judgments_considered(rows, False).active_ms).tolist()
    limit = warning_signs.FAST_SHARE * (median(times) / 1000 / (1 - size)) if times else 0
    return sum(time / 1000 < limit for time in times)


def any_tested(stages: Iterable[Mapping]) -> bool:
    """Return whether any annotator had enough judgments for a test in one of the stages."""
    return any(is_tested(row) for stage in stages for row in stage["rows"])


def is_tested(row: Mapping) -> bool:
    return any(row[name]["p"] is not None for name in OWN_TESTS + COMPARING_TESTS)


def to_look_at(data: Mapping) -> list[int]:
    """Return the numbers of annotators with a sign about their answers, and of outliers among few."""
    signed = {
        row["number"] for row in data["whole"] if warning_signs.concern_answers(sign["kind"] for sign in row["signs"])
    }
    return sorted(signed | {row["number"] for _, row, _, _ in outlying(data)})


def outlying(data: Mapping) -> Iterator[tuple[Mapping, Mapping, str, Mapping]]:
    """Yield outliers among few annotators: the stage's statistics, their row in it, the view compared, the outlier.

    Annotators for whom a test has found low agreement have a warning sign instead.
    """
    for stage in data["stages"]:
        for row in stage["rows"]:
            tested, view = {sign["kind"] for sign in row["signs"]}, compared_on(data, stage, row)
            for one in data["few"][str(stage["position"])]["views"][view]["outliers"]:
                if one["number"] == row["number"] and not (one["kind"] == few_annotators.AGREEMENT in tested):
                    yield stage, row, view, one


def compared_on(data: Mapping, stage: Mapping, row: Mapping) -> str:
    """Return the view on which the page compares an annotator with the others: the test's; without a test, the one on
    which they stand out among few; otherwise the one in the stage's statistics.
    """
    if row["agreement"]["p"] is not None:
        return str(row["agreement"]["on"])
    few = data["few"][str(stage["position"])]
    listed = few["views"][few["first"]]["outliers"]
    apart = (row["number"], few_annotators.AGREEMENT) in {(one["number"], one["kind"]) for one in listed}
    return str(few["first"] if apart else stage["coarse"])


def of_stages(
    study: Study,
    stages: Sequence[Stage],
    tell: Tell = no_progress,
    see: Callable[[Stage, Judgments], None] = lambda stage, rows: None,
    given: Mapping[int, Judgments] = MappingProxyType({}),
) -> dict:
    """Like `annotators`, but for some of the study's stages and without `few`; calls `see` with each stage's judgments.
    `given`: judgments already read, by stage key.
    """
    found, pay = [], Pay.of(study.pay)
    people = {one.number: one.excluded_at is not None for one in study.annotators.order_by("number")}
    for done, one in enumerate(stages):
        tell(done, len(stages) + 1)
        one.study = study
        rows = given.get(one.pk) or judgments_of(one)
        see(one, rows)
        found.append(_of_stage(one, rows, people, pay))
    whole, speed = annotator_figures.of_study(found, list(people))
    return {"stages": found, "whole": whole, "speed": speed}


def latest(study: Study, by: str = "app") -> cache.LatestFigures:
    first = study.stages.get(position=1)
    first.study = study
    return cache.latest(first, KIND, by=by)


def _of_stage(stage: Stage, rows: Judgments, people: Mapping[int, bool], pay: Pay) -> dict:
    checked = {number: _checked(found) for number, found in attention_checks.results(stage).items()}
    tried = qualification.results(stage)
    passed = {number: {kind: found.passed for kind, found in tries.items()} for number, tries in tried.items()}
    seated = Seat.objects.filter(stage=stage).values_list("annotator__number", flat=True)
    known = Known(people, seated, checked, passed)
    return annotator_figures.of_stage(stage.position, stage.name, rows, rule_of(stage).projections(), known, pay)


def _checked(found: attention_checks.Result) -> Checked:
    return Checked(found.n, found.right, found.guess_rate)


def known_signs(found: attention_checks.Result | None) -> list[warning_signs.Sign]:
    return _checked(found).signs if found else []
