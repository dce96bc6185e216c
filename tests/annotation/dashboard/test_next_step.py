"""The card that says what a manager can do next: from literals, without a database."""

import pytest

from annotation.dashboard.next_step import Kind, NextStep, Reached, Released, next_step, settled, way
from annotation.models import Promotion, Stage, Study

STUDY = Study(pk=7, state="open")


def stage(position: int, name: str, source: Stage | None = None, **fields) -> Stage:
    return Stage(pk=10 + position, study=STUDY, position=position, protocol=name, source=source, **fields)


CHOOSE = stage(1, "bivlc-choose")
FITS = stage(2, "verify", CHOOSE, promotion=Promotion.CLOSING)
ASKED = stage(3, "bivlc-i2t", FITS, sample=10)
CLOSING = {
    CHOOSE.pk: [{"to": FITS, "ready": 49, "drawn": None}],
    FITS.pk: [{"to": ASKED, "ready": 1200, "drawn": 10}],
    ASKED.pk: [],
}


def told(*done: tuple[int, int], state: str = "open", **found) -> tuple[str, str, str]:
    STUDY.state = state
    reached = [Reached(one, *at) for one, at in zip((CHOOSE, FITS, ASKED), done, strict=True)]
    found = {"adjudicate": {}, "reopen": 0, "joined": True, "released": None} | found
    step = next_step(FITS, reached, found.pop("closing", CLOSING), **found)
    return step.title, step.sentence, step.label


FIRST, SECOND = "Stage 1 (Choose the image that fits)", "Stage 2 (Verify captions)"
NOTHING, HALF, ALL = (0, 0), (30, 60), (60, 60)


@pytest.mark.parametrize(
    ("done", "found", "title", "sentence", "label"),
    [
        ((NOTHING, NOTHING, NOTHING), {"joined": False}, "Waiting for annotators", "Send the link", "Invite people"),
        ((HALF, NOTHING, NOTHING), {"state": "paused", "review": [3]}, "The study is paused", "Nobody can judge",
         "Let people judge"),
        ((ALL, ALL, HALF), {"state": "paused", "asks": False}, "Freeze the result in a release", "30 items not rated.",
         "New release"),
        ((HALF, NOTHING, NOTHING), {}, "Nothing to do but watch", f"{FIRST}: 30 of 60 settled.", ""),
        ((NOTHING, HALF, NOTHING), {"unstaffed": {2: 0}}, "Nothing to do but watch", f"{SECOND}: 30 of 60", ""),
        ((NOTHING, HALF, NOTHING), {"unstaffed": {2: 30}}, "Invite more people",
         f"{SECOND}: 30 of 60 settled. Nobody is left to judge the other 30.", "Invite people"),
        ((ALL, NOTHING, NOTHING), {}, "Close stage 1",
         f"{FIRST} is done: 60 items. Then its 49 kept items go to stage 2 (Verify captions).", "Close stage 1"),
        ((HALF, ALL, NOTHING), {}, "Close stage 2",
         f"{SECOND} is done: 60 items. Then 10 of its 1,200 kept items go to stage 3 (Image to text).",
         "Close stage 2"),
        ((ALL, HALF, NOTHING), {"adjudicate": {FITS.pk: 1}, "review": [3]}, "Look at A-03", "A warning sign",
         "Look at A-03"),
        ((ALL, HALF, NOTHING), {"review": [3, 8]}, "Look at 2 annotators", "A warning sign", "Look at 2 annotators"),
        ((ALL, HALF, NOTHING), {"adjudicate": {FITS.pk: 1}}, "Decide 1 item by hand", f"{SECOND} ", "Decide"),
        ((ALL, HALF, NOTHING), {"adjudicate": {FITS.pk: 1}, "flagged": {FITS.pk: 1}}, "Decide 1 item by hand",
         f"{SECOND}: annotators flagged it.", "Decide"),
        ((ALL, HALF, NOTHING), {"adjudicate": {FITS.pk: 3}, "flagged": {FITS.pk: 1}}, "Decide 3 items by hand",
         f"{SECOND} leaves 2 to a person; a release leaves out what is undecided. Annotators flagged 1.", "Decide"),
        ((ALL, ALL, HALF), {"adjudicate": {ASKED.pk: 2}}, "Decide 2 items by hand", "Stage 3 (Image to text) leaves",
         "Decide"),
        ((ALL, ALL, ALL), {"state": "closed", "adjudicate": {FITS.pk: 10}}, "Decide 10 items by hand", f"{SECOND}",
         "Decide"),
        ((ALL, HALF, NOTHING), {"reopen": 29}, "Ask about 29 items again",
         f"{SECOND} is closed, but 29 items came open again.", "Reopen it for 29 items"),
        ((ALL, ALL, ALL), {"state": "closed"}, "Freeze the result", "The study is closed.", "New release"),
    ],
)  # fmt: skip
def test_the_first_thing_that_holds_the_study_up_is_said(done, found, title, sentence, label):
    shown = told(*done, **found)
    assert shown[0].startswith(title) and shown[1].startswith(sentence) and shown[2] == label


@pytest.mark.parametrize(
    ("first", "state", "released", "title", "words", "label"),
    [
        (ALL, "open", None, "Freeze", "All stages are done.", "New release"),
        (HALF, "open", None, "Freeze", "All stages are closed, with 30 items open.", "New release"),
        (ALL, "open", Released(4, "1.0", False), "Released 1.0", "you can release a new version",
         "See release 1.0"),
        (ALL, "closed", Released(4, "1.0", False), "Released 1.0", "you can release a new version", "See release 1.0"),
        (ALL, "closed", Released(4, "1.0", True), "Release what has changed", "came after 1.0", "New release"),
    ],
)  # fmt: skip
def test_at_the_end_comes_a_release(first, state, released, title, words, label, monkeypatch):
    for one in (CHOOSE, FITS, ASKED):
        monkeypatch.setattr(one, "state", "closed")
    step = told(first, ALL, ALL, state=state, released=released)
    assert step[0].startswith(title) and words in step[1] and step[2] == label


@pytest.mark.parametrize(
    ("closed", "closing", "title", "words"),
    [
        ((CHOOSE, FITS), {}, "Close stage 3", "All stages are done. Once closed, it won’t give out any more screens"),
        ((CHOOSE,), {}, "Close the study", "All stages are done."),
        ((FITS, ASKED), CLOSING, "Close stage 1", f"{FIRST} is done"),
    ],
)
def test_what_is_done_is_closed_before_it_is_released(closed, closing, title, words, monkeypatch):
    for one in closed:
        monkeypatch.setattr(one, "state", "closed")
    step = told(ALL, ALL, ALL, closing=closing, released=Released(4, "1.0", True))
    assert step[0].startswith(title) and step[1].startswith(words)


@pytest.mark.parametrize(
    ("kind", "known", "states"),
    [
        (Kind.INVITE, {"joined": 0, "tested": None}, ["now", "", "", "", "", ""]),
        (Kind.JUDGE, {}, ["done", "now", "done", "done", "", ""]),
        (Kind.REVIEW, {"review": 1, "undecided": 4}, ["done", "part", "now", "", "", ""]),
        (Kind.DECIDE, {"undecided": 4}, ["done", "part", "done", "now", "", ""]),
        (Kind.DECIDE, {"undecided": 4, "tested": False}, ["done", "part", "", "now", "", ""]),
        (Kind.JUDGE, {"tested": None}, ["done", "now", "", "done", "", ""]),
        (Kind.JUDGE, {"released": Released(4, "1.0", False)}, ["done", "now", "done", "done", "part", "done"]),
    ],
)
def test_the_way_to_the_release_shows_where_the_study_is(kind, known, states):
    found = {"joined": 3, "active": 3, "review": 0, "tested": True, "undecided": 0, "released": None} | known
    reached = [Reached(CHOOSE, 30 if found["joined"] else 0, 60)]
    points = way(NextStep(kind, "", ""), reached, **found)
    assert [point.state for point in points] == states
    assert [one.name for one in points] == ["Invite", "Judge", "Look at people", "Decide", "Close", "Release"]
    assert points[0].words == ("3 joined" if found["joined"] else "")
    unreviewed = {True: "no annotator stands out", False: "too few judgments to test anybody", None: ""}
    assert points[2].words == ("1 annotator to look at" if found["review"] else unreviewed[found["tested"]])


@pytest.mark.parametrize(
    ("done", "active", "joined", "settled"),
    [
        ((ALL, HALF, NOTHING), 3, "3 joined", "75% settled"),
        ((ALL, ALL, NOTHING), 0, "0 of 3 still active", "2 of 3 stages settled"),
        ((ALL, ALL, ALL), 1, "1 of 3 still active", "100% settled"),
    ],
)
def test_the_way_counts_who_is_still_there_and_stages_that_have_not_begun(done, active, joined, settled):
    reached = [Reached(one, *at) for one, at in zip((CHOOSE, FITS, ASKED), done, strict=True)]
    step = NextStep(Kind.CLOSE, "", "")
    points = way(step, reached, joined=3, active=active, review=0, tested=True, undecided=0, released=None)
    assert [points[0].words, points[1].words] == [joined, settled]
    assert points[1].state == ("done" if done == (ALL, ALL, ALL) else "part")


def test_an_audit_that_is_done_leads_to_its_report_before_a_release():
    audit = stage(1, "verify", strategy="audit", state="closed")
    STUDY.state, precision = "open", "The interval is ± 3.9%; the audit aims at ± 4%."
    reached = [Reached(audit, 43, 43, precision, "43 items")]
    step = next_step(audit, reached, {}, adjudicate={}, reopen=0, joined=True, released=None)
    assert (step.label, step.url) == ("Open the report", "/studies/7/results/report/")
    assert step.sentence == f"The stage is done. {precision} You can make a release next."
    assert settled(reached) == "43 items"
    goal = way(step, reached, joined=3, active=3, review=0, tested=True, undecided=0, released=None)[-1]
    assert (goal.name, goal.state) == ("Report", "now")


def test_an_audit_under_way_says_how_precise_it_is_and_not_how_many_items_lack_an_annotator():
    audit = stage(1, "verify", strategy="audit")
    STUDY.state, precision = "open", "The interval is ± 6% so far; the audit aims at ± 4%."
    reached = [Reached(audit, 40, 83, precision, "40 of about 83 items")]
    step = next_step(audit, reached, {}, adjudicate={}, reopen=0, joined=True, released=None, unstaffed={1: 43})
    assert step.sentence.endswith(f"40 of about 83 items settled. {precision} Nobody is left to judge the next items.")
