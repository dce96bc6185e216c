"""The card that says what a manager can do next: from literals, without a database."""

import pytest

from annotation.dashboard.next_step import Reached, next_step
from annotation.models import Promotion, Stage, Study

STUDY = Study(pk=7, state="open")


def stage(position: int, name: str, source: Stage | None = None, **fields) -> Stage:
    return Stage(pk=10 + position, study=STUDY, position=position, name=name, source=source, **fields)


CHOOSE = stage(1, "choose")
FITS = stage(2, "fits", CHOOSE, promotion=Promotion.CLOSING)
ASKED = stage(3, "i2t", FITS, sample=10)
CLOSING = {
    CHOOSE.pk: [{"to": FITS, "ready": 49, "drawn": None}],
    FITS.pk: [{"to": ASKED, "ready": 1200, "drawn": 10}],
    ASKED.pk: [],
}


def told(*done: tuple[int, int], state: str = "open", **found) -> tuple[str, str]:
    STUDY.state = state
    reached = [Reached(one, *at) for one, at in zip((CHOOSE, FITS, ASKED), done, strict=True)]
    found = {"adjudicate": {}, "reopen": 0, "joined": True, "released": False} | found
    step = next_step(FITS, reached, CLOSING, **found)
    return step.sentence, step.label


NOTHING, HALF, ALL = (0, 0), (30, 60), (60, 60)


@pytest.mark.parametrize(
    ("done", "found", "sentence", "label"),
    [
        ((NOTHING, NOTHING, NOTHING), {"joined": False}, "Nobody has joined yet", "Invite"),
        ((HALF, NOTHING, NOTHING), {"state": "paused"}, "The study is paused, so nobody can judge.", "Open the study"),
        ((HALF, NOTHING, NOTHING), {}, "Stage 1 (choose) is under way: 30 of 60 done.", ""),
        ((NOTHING, HALF, NOTHING), {"unstaffed": {2: 0}}, "Stage 2 (fits) is under way: 30 of 60 done. Nothing", ""),
        ((NOTHING, HALF, NOTHING), {"unstaffed": {2: 30}},
         "Stage 2 (fits) is under way: 30 of 60 done. No annotator is left to judge 30 items: invite more.", ""),
        ((ALL, NOTHING, NOTHING), {}, "Stage 1 (choose) is done (60 of 60). Close it to move 49 items on to fits.",
         "Close stage 1"),
        ((HALF, ALL, NOTHING), {}, "Stage 2 (fits) is done (60 of 60). Close it to draw 10 items for i2t.",
         "Close stage 2"),
        ((ALL, HALF, NOTHING), {"adjudicate": {FITS.pk: 1}}, "Stage 2 (fits): 1 item to decide by hand.", "Adjudicate"),
        ((ALL, ALL, HALF), {"adjudicate": {ASKED.pk: 2}}, "Stage 3 (i2t): 2 items to decide", "Adjudicate"),
        ((ALL, ALL, ALL), {"state": "closed", "adjudicate": {FITS.pk: 10}}, "Stage 2 (fits): 10 items to decide",
         "Adjudicate"),
        ((ALL, HALF, NOTHING), {"reopen": 29}, "Stage 2 (fits) is closed, but 29 items came open again.",
         "Reopen it for 29 items"),
        ((ALL, ALL, ALL), {"state": "closed"}, "The study is closed. Freeze the result in a release.", "New release"),
    ],
)  # fmt: skip
def test_the_first_thing_that_holds_the_study_up_is_said(done, found, sentence, label):
    said = told(*done, **found)
    assert said[0].startswith(sentence) and said[1] == label


@pytest.mark.parametrize(
    ("first", "released", "words"),
    [
        (ALL, False, "All stages are done."),
        (HALF, False, "All stages are closed, with 30 items open."),
        (ALL, True, "is done and released."),
    ],
)
def test_at_the_end_comes_a_release(first, released, words, monkeypatch):
    for one in (CHOOSE, FITS, ASKED):
        monkeypatch.setattr(one, "state", "closed")
    sentence, label = told(first, ALL, ALL, released=released)
    assert words in sentence and label == "New release"
