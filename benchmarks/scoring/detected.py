"""A detector's answers to BiVLC's questions (§5.3).

A detector estimates the probability that a model made an image or a caption. Given an image, it first decides its type.
If that is right, it chooses the caption that is more probably of the same type; otherwise it has not found the caption.
Given a caption, it does the same with the images.
"""

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.predictions.kinds import BIVLC, SUGARCREPE
from benchmarks.predictions.plan import C0, C1, Place
from benchmarks.scoring.similarity import Scores

QUESTIONS = {  # by kind: the metric's question → one of `answers`
    BIVLC.name: {name: name for name in BIVLC.questions},
    SUGARCREPE.name: {"caption": "i_pos2t"},
}
OTHER = {"positive": "negative", "negative": "positive"}


def add_choices(
    scores: Scores, chunk: list, kind: str, look_up: Callable[[set[str]], Mapping[str, np.ndarray]]
) -> None:
    """Add a detector's choices for some items (`runs.material.Material`) of one of the kinds in `QUESTIONS`."""
    needed = {one.item: _contents(one) for one in chunk}
    found = {content: float(vector[0]) for content, vector in look_up(set().union(*needed.values())).items()}
    for one in chunk:
        captions, images = (
            {place: found[sides[place]] for place in (C0, C1) if place in sides} for sides in (one.captions, one.images)
        )
        chosen = answers(captions, images)
        for question, answer in QUESTIONS[kind].items():
            if answer in chosen:
                scores.choices.append((one.item, question, chosen[answer]))
        for sides, what in ((captions, "caption"), (images, "image")):
            for place in (C0, C1) if kind == BIVLC.name or what == "caption" else (C0,):
                if place not in sides:
                    scores.lacking[f"{place[0]} {what}"].append(one.key)


def _contents(one) -> set[str]:
    return {sides[place] for sides in (one.captions, one.images) for place in (C0, C1) if place in sides}


def answers(captions: Mapping[Place, float], images: Mapping[Place, float]) -> dict[str, str]:
    """Return the chosen option for each question with all its places; the values are probabilities.

    A probability of exactly one half counts as natural; a tie between two candidates is not right.
    """
    found = {}
    for question, given, place, candidates in (
        ("i_pos2t", images, C0, captions),
        ("i_neg2t", images, C1, captions),
        ("t_pos2i", captions, C0, images),
        ("t_neg2i", captions, C1, images),
    ):
        if place in given and C0 in candidates and C1 in candidates:
            synthetic = place == C1
            right = (given[place] > 0.5) == synthetic and candidates[C0] < candidates[C1]
            found[question] = place[0] if right else OTHER[place[0]]
    return found
