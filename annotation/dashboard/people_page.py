"""The page about a study's people: one list in any order, whom to look at first, with evidence and the cost of a

decision. Slow parts come from figures/annotators.py; names, decisions and who is here are read on each visit, and other

details only for people on the shown part of the list.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import Count, Max
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.charts import annotators as charts
from annotation.charts.study import Plot, Subject
from annotation.dashboard.sign_evidence import Evidence, evidence
from annotation.figures import annotators, blocked_items
from annotation.figures.cache import LatestFigures
from annotation.measures import counts, warning_signs
from annotation.models import Annotator, Kind, Lease, Slot, StageState, Study
from annotation.participants import review, roster
from annotation.participants.lifecycle import Decision, decisions
from annotation.participants.roster import Participant
from annotation.templatetags import figures as written
from annotation.wording import pseudonym, readable_label
from benchmarks.tables import NOTHING, Column, Table, number, with_sub

ON_A_PAGE = 50
NOW = timedelta(minutes=5)  # somebody counts as here for this long after their last screen
EMPTY: Mapping = {"stages": [], "whole": [], "work": {}, "few": {}}
EVERYONE, SIGNS, AWAY, EXCLUDED = "", "signs", "away", "excluded"
FILTERS = {EVERYONE: "Everyone", SIGNS: "Warning signs", AWAY: "Judged nothing", EXCLUDED: "Excluded"}
PACE = "Active time, shared over their answers. “Fast”: tasks in under half of everybody’s median time."
LIKE_OTHERS = "The share of answers that match the majority, out of those that others answered too."
WEIGHT = "First the people to look at, then those who judged the most."


@dataclass(slots=True)
class Cost:
    """The cost of an exclusion: `answers` that would no longer count, `again` of which others would have to give."""

    answers: int = 0
    again: int = 0
    minutes: float = 0.0
    pay: float = 0.0


@dataclass(slots=True)
class Line:
    """One person. The second half is read only for people on the shown part of the list."""

    one: Participant
    row: Mapping | None  # their statistics over the whole study
    tested: bool  # they had enough judgments for a test in some stage
    same: Mapping  # {"same", "n"}: how often they gave the common answer, as their page counts it
    evidence: Sequence[Evidence]
    review: bool
    away: bool
    decisions: Sequence[Decision] = ()
    left: int = 0  # reserved for them, but not judged
    last_at: datetime | None = None
    cost: Cost = field(default_factory=Cost)

    @property
    def who(self) -> Annotator:
        return self.one.annotator

    @property
    def judged(self) -> int:
        return self.row["judged"] if self.row else 0

    @property
    def seconds(self) -> float | None:
        """Return the active seconds per answer."""
        return counts.ratio(60 * self.row["active_minutes"], self.row["answers"]) if self.row else None

    @property
    def common(self) -> float | None:
        """Return the share of screens on which they gave the common answer."""
        return counts.ratio(self.same["same"], self.same["n"])

    @property
    def has_evidence(self) -> bool:
        return bool(self.review or self.evidence or self.one.signs or self.who.excluded_at)

    @property
    def here(self) -> bool:
        return self.last_at is not None and timezone.now() - self.last_at < NOW

    @property
    def weight(self) -> tuple[bool, int, int]:
        """Sort first those to look at, then by the number of signs, then those who judged the most."""
        return not self.review, -len(self.evidence) - len(self.one.signs), -self.judged

    needed = warning_signs.SIGNS_FROM  # judgments for a test

    @property
    def is_among(self) -> Mapping[str, bool]:
        excluded = self.who.excluded_at is not None
        return {EVERYONE: True, SIGNS: self.review, AWAY: self.away, EXCLUDED: excluded}


def contents(request: HttpRequest, study: Study, found: LatestFigures, show: str) -> dict[str, Any]:
    """Return everything that the list shows; until statistics are computed, only who joined."""
    data = found.data or EMPTY
    everybody = lines(study, data)
    show = show if show in FILTERS else EVERYONE
    among = [line for line in everybody if line.is_among[show]]
    several = len(data["stages"]) > 1
    table = people_table(request, study, among, show, several_stages=several)
    shown = list(table.paged.object_list) if table.paged else []
    add_details(study, data, shown)
    judged = sum(line.judged > 0 for line in everybody)
    filters = [(key, name, sum(line.is_among[key] for line in everybody)) for key, name in FILTERS.items()]
    totals = {
        "minutes": sum(line.one.active_minutes for line in everybody), "pay": sum(line.one.pay for line in everybody)
    }  # fmt: skip
    return {
        "table": table, "several_stages": several, "lines": shown, "filters": filters, "show": show,
        "joined": len(everybody), "judged": judged,
        "left": sum(line.who.left_at is not None for line in everybody),
        "look": filters[1][2], "totals": totals, "pairs": pairs(data), "speed": data.get("speed"),
        "tested": count_tests(data), "more": more_needed(study) if study.may.manage else 0,
    }  # fmt: skip


def people_table(
    request: HttpRequest, study: Study, rows: Sequence[Line], show: str, *, several_stages: bool,
) -> Table:  # fmt: skip
    """Return the people that pass the filter `show`, with the evidence and the decision below those with signs."""

    def part(name: str) -> Callable[[Line], str]:
        context = {"study": study, "show": show, "several_stages": several_stages}
        return lambda line: render_to_string(
            f"dashboard/{name}.html", context | {"line": line, "who": line.who}, request
        )

    most = max((line.judged for line in rows), default=0)
    checks = any(line.row and line.row["checks"] for line in rows)
    columns = [
        Column("person", "who.number", html=part("_person"), name="who"),
        number("judgments", "judged", html=partial(_judged, most), unit="judged"),
        number("time per answer", "seconds", html=_pace, title=PACE),
        number("like majority", "common", html=_common, title=LIKE_OTHERS),
        *(
            [number("checks right", "row.checks.right", html=_checks, name="checks", unit="checks right")]
            if checks
            else []
        ),
        number("active", "one.active_minutes", lambda minutes: written.hours(minutes or None), name="active"),
        *([number("to pay", "one.pay", partial(_pay, study.currency), name="paid")] if study.pay_per_hour else []),
        Column("warning signs", "weight", html=part("_person_signs"), name="signs", css="signs", unit="", title=WEIGHT),
    ]
    return Table(
        "list", columns, rows, label="list-title", css="people", cards=True, request=request, order="signs",
        per_page=ON_A_PAGE, row_id=lambda line: line.who.pseudonym, row_css=lambda line: "on" if line.review else "",
        beneath=lambda line: part("_person_more")(line) if line.has_evidence else "",
        empty="Nobody here.",
    )  # fmt: skip


def _judged(most: int, line: Line) -> SafeString:
    """Show a bar relative to whoever judged the most; some have items of their own."""
    of = format_html(' <span class="quiet">of {}</span>', f"{line.judged + line.left:,}") if line.left else ""
    bar = format_html('<progress value="{}" max="{}" aria-hidden="true"></progress>', line.judged, most or 1)
    return format_html("{}{}{}", bar, f"{line.judged:,}", of)


def _checks(line: Line) -> object:
    found = line.row and line.row["checks"]
    return f"{found['right']:,} of {found['n']:,}" if found else NOTHING


def _pace(line: Line) -> object:
    if line.row is None or line.seconds is None:
        return NOTHING
    quick = line.row["quick_share"]
    return with_sub(
        f"{written.decimals(line.seconds, 1)} s", f"{written.whole_percent(quick)} of answers fast" if quick else ""
    )


def _common(line: Line) -> object:
    n = line.same["n"]
    return with_sub(written.whole_percent(line.common), f"of {n:,}" if n and n != line.judged else "")


def _pay(currency: str, pay: float) -> str:
    return written.money(pay or None, currency)


def lines(study: Study, data: Mapping) -> list[Line]:
    """Return everybody, in the order of joining. New arrivals have no statistics yet."""
    titles = {stage.position: stage.title for stage in study.stages.all()} if len(data["stages"]) > 1 else {}
    data = {**data, "stages": [{**stage, "title": titles.get(stage["position"], "")} for stage in data["stages"]]}
    rows = {row["number"]: row for row in data["whole"]}
    look = set(review.people_to_review(study))
    away = {who.number for who in review.people_away(study)}
    same, signs = _same(data), evidence(data)
    tested = {row["number"] for stage in data["stages"] for row in stage["rows"] if annotators.is_tested(row)}
    return [
        Line(
            one, rows.get(number), number in tested, same[number], signs.get(number, []), number in look,
            number in away,
        )
        for one in roster.participants(study, data)
        for number in [one.annotator.number]
    ]  # fmt: skip


def _same(data: Mapping) -> Mapping[int, Mapping]:
    """Return how often each gave the common answer, on the views used by their own page and the signs."""
    found: dict[int, dict[str, int]] = defaultdict(lambda: {"same": 0, "n": 0})
    for stage in data["stages"]:
        for row in stage["rows"]:
            for name, count in row["majority"][annotators.compared_on(data, stage, row)].items():
                found[row["number"]][name] += count
    return found


# Needed only for the rows shown


def add_details(study: Study, data: Mapping, part: Sequence[Line]) -> None:
    """Add what is read per person: decisions, the last screen, what is reserved, the cost of excluding them."""
    people = {line.who.pk: line for line in part}
    stages = list(study.stages.order_by("position"))
    decided = decisions(line.who for line in part)
    last = dict(Lease.objects.filter(annotator__in=people).values_list("annotator").annotate(Max("granted_at")))
    theirs = Slot.objects.filter(stage__in=stages, annotator__in=people, judgment__isnull=False)
    kinds = theirs.values_list("annotator", "stage", "task__kind").annotate(Count("pk"))
    open_stages = {stage.pk: stage for stage in stages if stage.state == StageState.OPEN}
    medians = {stage["position"]: stage["median_seconds"] or 0.0 for stage in data["stages"]}
    for pk, stage, kind, count in kinds:
        cost = people[pk].cost
        cost.answers += count
        if kind == Kind.JUDGE and stage in open_stages:
            cost.again += count
            cost.minutes += count * medians.get(open_stages[stage].position, 0.0) / 60
    given = Slot.objects.filter(stage__in=open_stages, reserved__in=people, annotator=None, live=True)
    left = dict(given.filter(task__kind=Kind.JUDGE).values_list("reserved").annotate(Count("pk")))
    for pk, line in people.items():
        line.decisions, line.last_at, line.left = decided[line.who.number], last.get(pk), left.get(pk, 0)
        line.cost.pay = line.cost.minutes / 60 * float(study.pay_per_hour)


# Beside the list


def pairs(data: Mapping) -> list[dict[str, Any]]:
    """Return pairs who disagree and aren't compared with anybody else: names, counts and stage statistics."""
    return [
        {"names": [pseudonym(pair["first"]), pseudonym(pair["second"])], "stage": stage, **pair}
        for stage in data["stages"]
        for few in [data["few"][str(stage["position"])]]
        for pair in few["views"][few["first"]]["pairs"]
    ]


def count_tests(data: Mapping) -> dict:
    """Return how many tests were made, and how many false alarms to expect: by their level for tests of an annotator's
    own picks, and as measured for tests that compare answers.
    """
    rows = [row for stage in data["stages"] for row in stage["rows"]]
    own, compared = (
        [sum(row[name]["p"] is not None for name in names) for row in rows]
        for names in (annotators.OWN_TESTS, annotators.COMPARING_TESTS)
    )
    few, many = (
        sum(own) * warning_signs.TEST_LEVEL + sum(map(bool, compared)) * share for share in warning_signs.FALSE_ALARMS
    )
    return {
        "tests": sum(own) + sum(compared), "level": warning_signs.TEST_LEVEL, "by_chance": few, "at_most": many,
        "needed": warning_signs.SIGNS_FROM, "most": max((row["judged"] for row in rows), default=0),
    }  # fmt: skip


def plots(study: Study, data: Mapping, at: str) -> dict[str, Plot]:
    """Plot everybody's answers and times in the stage with the most judgments, since stages' protocols differ."""
    stage = max(data["stages"], key=lambda one: one["times"]["n"])
    title = study.stages.get(position=stage["position"]).title
    of = Subject(study.pk, study.name, at, stage["position"], title)
    return {
        "mix": charts.answer_mix_plot(stage, pseudonym, readable_label, of),
        "times": charts.time_plot(stage["times"], of),
    }


def more_needed(study: Study) -> int:
    """Return how many more people, at least, are needed to finish the open stages; 0 if none, or unknown."""
    found = [0]
    for stage in study.stages.filter(state=StageState.OPEN):
        stage.study = study
        data = blocked_items.latest(stage).data or {"rows": {}}
        found += [row["wanted"] - row["judged"] for row in data["rows"].get("nobody", ())]
        if data["rows"].get("batch"):
            free = Slot.objects.filter(stage=stage, live=True, judgment=None, annotator=None, reserved=None)
            found.append(free.filter(task__batch__isnull=False).values("task__batch", "number").distinct().count())
    return max(found)
