"""A study's overview: what to do next, at most four numbers with a sentence each, where its items are, what happened.

The numbers are for the stage that is under way, or for the last one that selects; study_overview.py computes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from annotation.adjudication import answers_shown
from annotation.charts import bars
from annotation.dashboard import home_page, lately, stage_progress, study_page
from annotation.dashboard.agreement_words import agreement_in_words
from annotation.dashboard.headline_tiles import tiles
from annotation.dashboard.home_page import StudyStep
from annotation.dashboard.next_step import Kind
from annotation.dashboard.scores_block import scores_block
from annotation.dashboard.sign_evidence import evidence
from annotation.dashboard.study_overview import latest
from annotation.designs import part
from annotation.figures import annotators, blocked_items, cache
from annotation.figures.cache import hashed
from annotation.models import STUDY_MOVES, Stage, StageState, Strategy, Study, StudyState
from annotation.participants.review import people_away, people_to_review
from annotation.protocols.registry import protocol_named

FLAGS = 3  # flags quoted
MOVES = {StudyState.PAUSED: "Pause", StudyState.OPEN: "Let people judge"}


def contents(study: Study, user) -> dict:
    """Return everything that the page shows; for a large study, slow parts are as last computed. `seen` changes when
    any of it does.
    """
    listed = home_page.listed(user, study) if study.may.manage else None
    stages = list(listed.stages.all()) if listed else stage_progress.stages_of(study)
    small = not listed.large if listed else cache.is_small(study)
    asks = home_page.asks(listed) if listed else not stage_progress.asks_nobody(study)
    stage = stage_progress.main_stage(stages)
    found = latest(stage, small, stages, lists=False)
    people = cache.latest(stages[0], annotators.KIND, small=False)  # by the worker: queries for each stage
    figures = found.data and found.data["figures"]
    step = _with_reason(home_page.step_of(listed, stage, figures), people.data) if listed else None
    parts, reports = lately.parts_of(study), _reports(study)
    shown = {
        "study": study, "stage": stage, "stages": stages, "protocol": protocol_named(stage.protocol), "latest": found,
        "large": not small, "small": small, "next": step, "moves": _moves(study),
        "asks": study.state != StudyState.OPEN or any(one.state == StageState.OPEN for one in stages),
        "flags": answers_shown.open_flags(stage, FLAGS), "away": people_away(study),
        "reader_reports": [answer for _, answer in reports].count(""),
        "lately": lately.events(parts),
        "part": part.in_short(study.part, study.benchmark.items.count()) if study.part else "",
    }  # fmt: skip
    if found.data is not None:
        drawn = _drawn(stage, found.data, asks)
        invites = step is not None and step.step.kind == Kind.INVITE and len(drawn["stuck"]["rows"]) == 1
        looks = drawn["judged"] and not invites and asks
        shown |= drawn | {"blocked": looks and drawn["stuck"]["total"]}
    large = hashed((found.progress, people.progress, step, shown["lately"], study.state))
    review = listed.review if listed else people_to_review(study)
    return {**shown, "seen": _seen(stage, parts, reports, review) if small else large}


def fingerprint(study: Study) -> str:
    """Return a value that changes when anything on a small study's page changes. Makes at most nine queries."""
    stage = stage_progress.main_stage(stage_progress.stages_of(study))
    return _seen(stage, lately.parts_of(study), _reports(study), people_to_review(study))


def _with_reason(step: StudyStep, people: Mapping | None) -> StudyStep:
    """If there is only one annotator to look at, say first what they did, as on the people page."""
    signs = evidence(people).get(step.study.review[0]) if people and len(step.study.review) == 1 else None
    if step.step.kind != Kind.REVIEW or not signs:
        return step
    return replace(step, step=replace(step.step, sentence=f"{signs[0].sentence} {step.step.sentence}"))


def _seen(stage: Stage, parts: lately.Parts, reports: Sequence[tuple[int, str]], review: Sequence[int]) -> str:
    return hashed((study_page.fingerprint(stage), parts.newest, reports, list(review)))


def _reports(study: Study) -> list[tuple[int, str]]:
    """Return the key and the answer of each reader's report."""
    return list(study.reader_reports.order_by("pk").values_list("pk", "answer"))


def stage_rows(study: Study, user, stages: Sequence[Stage]) -> list[dict]:
    """A row for each stage: its place in the funnel, as last computed for the first."""
    found = latest(stages[0], cache.is_small(study), stages, lists=False)
    whole = found.data["whole"] if found.data else {"stages": [], "measuring": []}
    steps = {step["stage"]: step for step in whole["stages"]}
    names = ("kept", "dropped", "open")
    return [
        {
            "stage": stage,
            "title": protocol_named(stage.protocol).title,
            **(stage_progress.progress(stage, whole) if found.data else {"done": 0, "total": 0, "words": stage.state}),
            **{name: steps.get(stage.position, {}).get(name) for name in names},
        }
        for stage in stages
    ]


def _moves(study: Study) -> list[tuple[StudyState, str]]:
    return [(to, words) for to, words in MOVES.items() if to in STUDY_MOVES[StudyState(study.state)]]


def _drawn(stage: Stage, data: dict, asks: bool) -> dict:
    whole, agreed = data["whole"], agreement_in_words(data["figures"], data["shares"])
    protocol, of = protocol_named(stage.protocol), study_page.subject(stage, data["figures"])
    return {
        **({} if protocol.drops else scores_block(protocol, data["figures"], of)),
        "judged": bool(data["figures"]["progress"]["judgment_rows"]),
        "tiles": tiles(stage, data),
        "doubtful": bool(agreed and agreed.doubtful),
        "whole": whole,
        "parts": stage_progress.parts_of(whole, stage.strategy == Strategy.AUDIT, asks),
        "funnel": bars.funnel_bars(whole),
        "stuck": blocked_items.blocked_counts(data.get("stuck", {})),
    }
