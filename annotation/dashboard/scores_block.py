"""The scores of a declared protocol's answers, for the study page and the report."""

from typing import Any

from annotation.charts.scores import score_plots
from annotation.charts.study import Subject
from annotation.measures.over_annotators import ANNOTATORS
from annotation.measures.types import Figures
from annotation.protocols import schema
from annotation.protocols.base import Protocol
from annotation.wording import exact, readable_label

MOST_BARS = 11  # points on a scale


def scores_block(protocol: Protocol, figures: Figures, of: Subject) -> dict[str, Any]:
    """Return `scored`, in words, and `score_plots`; {} if the protocol does not score anything."""
    if "scores" not in figures or protocol.file is None:
        return {}
    scores = {**figures["scores"], "answers": [_said_once(one) for one in figures["scores"]["answers"]]}
    found = [{**one, **_in_words(protocol.file, one)} for one in scores["answers"]]
    problems = [
        f"{one['over']}: {one['reason']}."
        for part in ("strengths", "mean_ranks")
        for one in scores[part]
        if one["reason"]
    ]
    return {
        "scored": {
            "answers": found,
            "groups": [{**one, "whole": _for_others(one["whole"])} for one in scores["groups"]],
            "problems": problems,
            "by_type": [_for_others(row) for row in _by_type(scores)],
        },
        "score_plots": list(score_plots(scores, of)),
    }


def _said_once(one: Figures) -> Figures:
    """Leave out the share of the counted answer if that is always the right one."""
    if "right" not in one or not one.get("is_share") or one["whole"]["value"] != one["right"]["whole"]["value"]:
        return one
    return {name: value for name, value in one.items() if name not in ("whole", "by_type")}


def _for_others(row: Figures) -> Figures:
    """Add the interval for other annotators, if there is one, under a separate name."""
    known = row["over"] == ANNOTATORS
    return {**row, **{f"others_{end}": row[end] if known else None for end in ("low", "high")}}


def _in_words(file: schema.ProtocolFile, one: Figures) -> dict[str, Any]:
    """Return the counted value, or the ends of the scale with their anchors, and for a short scale `bars`: each point,
    how often it was given, the share and the width in percent.
    """
    if "score" not in one:
        return {}
    asked = [answer for answer in file.answers if answer.name == one["answer"]]
    anchors = asked[0].anchors if asked and isinstance(asked[0], schema.Scale) else {}

    def end(value: float) -> str:
        point = exact(value) if asked else f"{value:g}"  # a combined score has different ends
        return f"{point} ({anchors[point]})" if point in anchors else point

    said = {"score_words": readable_label(one["score"]), "from_words": end(one["from"]), "to_words": end(one["to"])}
    total = sum(n for _, n in one.get("points", ()))
    if not total or len(one["points"]) > MOST_BARS:
        return said
    return said | {"bars": [(end(value), n, n / total, 100 * n / total) for value, n in one["points"]]}


def _by_type(scores: Figures) -> list[Figures]:
    """Return a row for each type and score, if there is more than one type."""
    rows, several = [], len(scores["answers"]) > 1
    for one in scores["answers"]:
        name = f"{readable_label(one['answer'])}: " if several else ""
        if "by_type" in one:
            what = readable_label(one["score"]) if one["is_share"] else "mean"
            rows += [{**row, "what": f"{name}{what}", "is_share": one["is_share"]} for row in one["by_type"]]
        if "right" in one:
            rows += [{**row, "what": f"{name}right", "is_share": True} for row in one["right"]["by_type"]]
        if "jaccard" in one:
            rows += [{**row, "what": f"{name}Jaccard", "is_share": False} for row in one["jaccard"]["by_type"]]
    for one in scores["groups"]:
        what = f"{readable_label(one['group'])}: right"
        rows += [{**row, "what": what, "is_share": True} for row in one["by_type"]]
    kinds = {(row["type"], row["subtype"]) for row in rows}
    return sorted(rows, key=lambda row: (row["type"], row["subtype"])) if len(kinds) > 1 else []
