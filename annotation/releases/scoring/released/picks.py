"""Questions with options of which some are right: a model's answers, read from a file and evaluated."""

import csv
import json
import math
from collections import Counter, defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from annotation.releases.scoring.released.items import NO_CUT, Cut, Unusable, as_json, require_answers
from benchmarks.metrics.base import by_type, figure
from benchmarks.predictions.choices import letter
from benchmarks.predictions.cut_captions import CUT, READ_ALIKE

QUESTIONS = "scoring/questions.jsonl"
SCORE = "score_"  # of a column with the scores of the option named after it
CANNOT_COMPARE = (
    "A model with two encoders compares pictures with captions, and these questions show something else. Answer them "
    "elsewhere and give --predictions, or run the task in lmms_eval/."
)


class Verdict(NamedTuple):
    """On a question, or on a group of questions."""

    type: str
    subtype: str
    answer: str  # or the group's name
    right: bool
    chance: float
    item: str  # the id; of a group, of its first question's
    is_group: bool = False


def questions_of(release):
    """Those of the split, by (item's id, question), in order."""
    there = {item["id"] for item in release.items}
    with (release.folder / QUESTIONS).open(encoding="utf-8") as lines:
        return {(one["item"], one["question"]): one for one in map(json.loads, lines) if one["item"] in there}


def run(release, asked, load):
    """All figures, as `--json` prints them."""
    questions = questions_of(release)
    if asked.predictions:
        rows = [*read_predictions(asked.predictions, questions)]
        alike, places = [key for key, one, _ in rows if one == {}], [key for key, _, is_cut in rows if is_cut]
        given = {key: one for key, one, _ in rows if one != {}}
        cut = Cut(places or None, alike) if places or alike else None
    else:
        given, cut = computed(release, questions, load("models").compute_scores, asked)
    alike = cut.alike if cut else []
    if not asked.skip_incomplete:
        lacking = [" ".join(filter(None, key)) for key in questions if key not in given and key not in alike]
        require_answers(lacking, len(questions), "questions")
    if asked.out:
        write_scores(asked.out, given, cut)
    chosen = {key: best(one) if isinstance(one, dict) else one for key, one in given.items()}
    people = people_of(release)
    left_out = verdicts(release, {key: questions[key] for key in alike}, dict.fromkeys(alike))
    found = tables(verdicts(release, questions, chosen), release.evaluation["measures"], people, left_out)
    tied = sum(one is None for key, one in chosen.items() if isinstance(given[key], dict))
    return {
        "kind": release.evaluation["kind"],
        "split": release.split,
        "in_both_orders": False,
        "n": len(chosen),
        **found,
        "cut": as_json(cut, lambda key: key[0]),
        "ties": None,
        "notes": [
            *notes(release, list(chosen.values()), tied, people),
            *([NO_CUT] if asked.functions and cut is None else []),
        ],
    }


def tables(found, measures, people, alike):
    """The measures over all questions, and by type and subtype, each with the share of people, and with how many it
    leaves out of the verdicts `alike`: those that the model cannot give.
    """

    def rows(figures, kind=None):
        type, subtype = kind or (None, None)
        own = [one for one in alike if type in (None, one.type) and subtype in (None, one.subtype)]
        return {
            name: {**asdict(one), "people": people.get((name, kind)), READ_ALIKE: len(about(own, measures[name]))}
            for name, one in figures.items()
        }

    return {
        "measures": rows(figures(found, measures)),
        "groups": [
            {"type": one.type, "subtype": one.subtype, "measures": rows(one.measures, (one.type, one.subtype))}
            for one in by_types(found, measures)
        ],
    }


def notes(release, chosen, tied, people):
    if people:
        yield f"People: their judgments in {release.evaluation['stage']}, about all items that it asked about."
    if tied:
        yield f"Questions with tied scores, which count as wrong: {tied:,}."
    if none := chosen.count(None) - tied:
        yield f"Answers that name no option, and count as wrong: {none:,}."


# Answers


def read_predictions(path, questions):
    """((item's id, question), what `answer_of` makes of the row, whether a caption is marked as cut)."""
    of_item = defaultdict(list)
    for item, question in questions:
        of_item[item].append(question)
    seen = set()
    for number, row in rows_of(path):
        where = f"{path}, line {number}"
        item = str(row.get("id", row.get("item", "")))
        if item not in of_item:
            raise Unusable(f"{where}: the split asks nothing about an item {item!r}.")
        question = row.get("question") or ""
        if len(of_item[item]) == 1 and not question:
            (question,) = of_item[item]
        if (key := (item, question)) not in questions:
            known = ", ".join(of_item[item])
            raise Unusable(f"{where}: {question!r} is no question about {item}. Choose from {known}.")
        if key in seen:
            raise Unusable(f"{where}: {' '.join(filter(None, key))} is answered twice.")
        seen.add(key)
        yield key, answer_of(row, questions[key], where), row.get(CUT) is True


def rows_of(path):
    """Line number and row, of lines of JSON or of a table with commas, semicolons or tabs."""
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        if Path(path).suffix in (".csv", ".tsv", ".txt"):
            head = file.readline()
            file.seek(0)
            rows = csv.DictReader(file, delimiter=max("\t;,", key=head.count))
            yield from ((rows.line_num, row) for row in rows)
            return
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise Unusable(f"{path}, line {number}: not a JSON object.")
            yield number, row


def answer_of(row, question, where):
    """The value of the option that the row names, None if it names none; or its scores, by option, none of them if the
    model reads two alike.
    """
    if row.get(READ_ALIKE) is True:
        return {}
    given = {name.removeprefix(SCORE): row[name] for name in row if name and name.startswith(SCORE) and row[name] != ""}
    if given:
        wanted = {one["value"] for one in question["options"]}
        try:
            scores = {name: float(score) for name, score in given.items() if name in wanted}
        except (TypeError, ValueError):
            scores = {}
        if {*scores} != wanted or not all(map(math.isfinite, scores.values())):
            raise Unusable(
                f"{where}: it needs a number for each of {', '.join(SCORE + one for one in sorted(wanted))}."
            )
        return scores
    if "answer" not in row:
        raise Unusable(f"{where}: it has no answer. Name the columns id and answer.")
    return chosen(str(row["answer"] or ""), question["options"])


def chosen(said, options):
    """The value of the option that an answer names: itself, its words or its letter; None if it names none."""
    named = {one["value"].casefold(): one["value"] for one in options}
    if found := named.get(said.strip(" .").casefold()):
        return found
    place = letter(said, [one.get("text", one["value"]) for one in options], len(options))
    return None if place is None else options[place]["value"]


def best(scores):
    """The option with the greatest score; None of a tie, which is never right."""
    top = max(scores.values())
    found = [one for one, score in scores.items() if score == top]
    return found[0] if len(found) == 1 else None


def computed(release, questions, compute_scores, asked):
    """The scores that a model gives to the options of each question, and what was cut of their captions."""
    wanted = []
    for key, one in questions.items():
        texts, images = ([part[kind] for part in one["shown"] if kind in part] for kind in ("text", "sha256"))
        for option in one["options"]:
            parts = [*texts, option.get("text")], [*images, option.get("sha256")]
            caption, image = ([part for part in some if part is not None] for some in parts)
            if len(caption) != 1 or len(image) != 1:
                raise Unusable(CANNOT_COMPARE)
            wanted.append((key, option["value"], ("image", caption[0], image[0])))
    found = defaultdict(dict)
    scores, cut = compute_scores(release, wanted, asked)
    for (key, option), score in scores.items():
        found[key][option] = score
    return found, cut


def write_scores(path, given, cut):
    """The scores, or the answers, as `--predictions` reads them."""
    places, alike = (cut.places or (), cut.alike) if cut else ((), ())
    with Path(path).open("w", encoding="utf-8") as file:
        for (item, question), one in {**given, **{key: {} for key in alike}}.items():
            of = {f"{SCORE}{name}": score for name, score in one.items()} if isinstance(one, dict) else {"answer": one}
            line = {"id": item, "question": question, **(of or {READ_ALIKE: True})}
            line |= {CUT: True} if (item, question) in places else {}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


# Figures


def verdicts(release, questions, chosen):
    """On each question that was answered, and on each group whose questions all were."""
    items = {item["id"]: item for item in release.items}
    groups, found = defaultdict(list), []
    for key, one in questions.items():
        verdict = None
        if key in chosen:
            kind = items[key[0]]["type"], items[key[0]]["subtype"]
            chance = len(one["right"]) / len(one["options"])
            verdict = Verdict(*kind, one["answer"], chosen[key] in one["right"], chance, key[0])
            found.append(verdict)
        for name, shared in one["groups"].items():
            groups[name, shared].append(verdict)
    for (name, _), some in groups.items():
        if None not in some:
            kinds = {one[:2] for one in some}
            kind = kinds.pop() if len(kinds) == 1 else ("", "")
            chance = math.prod(one.chance for one in some)
            right = all(one.right for one in some)
            found.append(Verdict(*kind, name, right, chance, some[0].item, is_group=True))
    return found


def figures(found, measures):
    """Every measure by its name; chance is that of picking among the options of each question at random."""
    figures = {}
    for name, measure in measures.items():
        some = about(found, measure)
        chance = math.fsum(one.chance for one in some) / len(some) if some else None
        figures[name] = figure([one.right for one in some], chance)
    return figures


def about(found, measure):
    """The verdicts on which a measure in the manifest rests."""
    ((what, name),) = measure.items()
    return [one for one in found if (one.is_group, one.answer) == (what == "group", name)]


def by_types(found, measures):
    """Types and their subtypes; of a type with one subtype, or none, that row alone."""
    groups = by_type([one for one in found if one.type], lambda some: figures(some, measures))
    rows = Counter(one.type for one in groups)
    return [one for one in groups if one.subtype is not None or rows[one.type] > 2]


def people_of(release):
    """(measure, None or type and subtype) → the share that people got right in the study, of all items that it asked
    about."""
    stages = json.loads((release.folder / "figures.json").read_text(encoding="utf-8"))["stages"]
    scores = [one.get("scores", {}) for one in stages if one["study"]["stage_name"] == release.evaluation["stage"]]
    parts = {
        ("answer", one["answer"]): one["right"] for of in scores for one in of.get("answers", ()) if "right" in one
    }
    parts |= {("group", one["group"]): one for of in scores for one in of.get("groups", ())}
    found = {}
    for name, about in release.evaluation["measures"].items():
        if part := parts.get(*about.items()):
            found[name, None] = part["whole"]["value"]
            found.update({(name, (row["type"], row["subtype"])): row["value"] for row in part["by_type"]})
    return found
