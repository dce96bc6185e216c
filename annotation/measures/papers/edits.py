"""What became of items whose words annotators could change, and who did it: what VISLA's two protocols share. Pure.

Source: VISLA §3.2 and §3.3: a text is taken as it is, edited, or its item is dropped; where the protocol says so, a
second annotator confirms an edit. Distances are those of benchmarks/metrics/lexical.py.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

from annotation.measures.papers.base import ROLES, Told
from annotation.protocols.base import CANNOT_JUDGE, Answer, Protocol, caption
from annotation.protocols.decision_rule import (
    ADJUDICATOR,
    AWAITING,
    DROPPED,
    EDITED,
    TO_CONFIRM,
    Rule,
    is_edit,
    verdict,
)
from annotation.wording import pseudonym
from benchmarks.metrics import lexical

# What became of a task; `edited`: without a second annotator, where none is needed or an adjudicator decided.
FATES = ("accepted", "edited", "confirmed", "dropped", "to_confirm", "to_adjudicate", "open")
DOES = ("accepted", "edited", "rejected", "confirms", "cannot_judge")  # what a judgment is
THEN = ("confirmed", "edited_again", "rejected", "otherwise", "waiting")  # what the next judgment said of an edit
CAPTIONS = [(role, caption(role)) for role in ROLES]
WORDS_TO = 10  # the last count of words changed is that many or more


class Made(NamedTuple):
    """A sentence that stands in the place of one of the item's: its words, and those that it was made of."""

    role: str
    words: str
    of: str


def figures(tasks: Sequence[Told], rule: Rule) -> dict:
    edits = [made for task in tasks for made in changes(task, rule.protocol)]
    return {
        "tasks": len(tasks),
        "fates": fates(tasks, rule),
        "broken": broken(tasks, rule.protocol),
        "annotators": annotators(tasks, rule.protocol),
        "edits": distances(edits),
        "lexical": lexical.overlap(ends(tasks)),
    }


# What became of the tasks


def fates(tasks: Iterable[Told], rule: Rule) -> dict[str, int]:
    """Every task has one."""
    counts = Counter(fate(task, rule) for task in tasks)
    return {name: counts[name] for name in FATES}


def fate(task: Told, rule: Rule) -> str:
    if task.state is None:
        waits = rule.settle(task.answers, task.overlap).reason if task.said else ""
        return {TO_CONFIRM: "to_confirm", AWAITING: "to_adjudicate"}.get(waits, "open")
    if task.state == DROPPED:
        return "dropped"
    if not is_edit(task.outcome):
        return "accepted"
    return "confirmed" if rule.protocol.confirms and task.by != ADJUDICATOR else "edited"


def broken(tasks: Sequence[Told], protocol: Protocol) -> list[dict]:
    """Of each guideline, how many judgments say that it does not hold, and how many items were dropped over it."""
    judgments = Counter(code for task in tasks for _, answer in task.said for code in not_held(answer.content))
    dropped = Counter(code for task in tasks if task.state == DROPPED for code in not_held(task.content))
    return [
        {"code": one.code, "words": one.words, "judgments": judgments[one.code], "dropped": dropped[one.code]}
        for one in protocol.form.guidelines
    ]


def not_held(content: Mapping[str, object]) -> list[str]:
    return [code for code, holds in content.get("guidelines", {}).items() if not holds]


# Who


def annotators(tasks: Sequence[Told], protocol: Protocol) -> list[dict]:
    """What each did, by judgment; and where edits are confirmed, what the next annotator said of theirs."""
    did: dict[int, Counter] = defaultdict(Counter)
    then: dict[int, Counter] = defaultdict(Counter)
    for task in tasks:
        for place, (number, _) in enumerate(task.said):
            what = does(task, place, protocol)
            did[number][what] += 1
            if what == "edited":
                then[number][after(task, place, protocol)] += 1
    return [
        {
            "annotator": pseudonym(number),
            **{what: counts[what] for what in DOES},
            "of_edits": {what: then[number][what] for what in THEN} if protocol.confirms else None,
        }
        for number, counts in sorted(did.items())
    ]


def does(task: Told, place: int, protocol: Protocol) -> str:
    """One of `DOES`. To give the words of an edit that stood before is to confirm it, where edits are confirmed."""
    answer = task.said[place].answer
    if answer.label == CANNOT_JUDGE:
        return "cannot_judge"
    if protocol.reason(answer.label):
        return "rejected"
    if protocol.confirms and any(same_edit(earlier, answer) for _, earlier in task.said[:place]):
        return "confirms"
    return "edited" if is_edit(answer.label) else "accepted"


def after(task: Told, place: int, protocol: Protocol) -> str:
    """One of `THEN`: what the next judgment makes of the edit. Where there is none, an adjudicator may have decided."""
    if place + 1 == len(task.said):
        return "waiting" if task.state is None else "otherwise"
    if same_edit(task.said[place].answer, task.said[place + 1].answer):
        return "confirmed"
    return {"edited": "edited_again", "rejected": "rejected"}.get(does(task, place + 1, protocol), "otherwise")


def same_edit(earlier: Answer, later: Answer) -> bool:
    return is_edit(earlier.label) and verdict(earlier) == verdict(later)


# How far edits go


def changes(task: Told, protocol: Protocol) -> Iterator[Made]:
    """What its edits put in the place of the item's sentences. To take another's edit is to make none."""
    for place, (_, answer) in enumerate(task.said):
        if answer.label == EDITED and does(task, place, protocol) == "edited":
            for role, identity in answer.content.get("from", {}).items():
                yield Made(role, answer.texts[role], task.words(identity, role))


def distances(edits: Iterable[Made]) -> list[dict]:
    """By role: how far from what they were made of sentences are whose words were changed; and how many were only
    `exchanged`, for another candidate as it is.
    """
    of_role: dict[str, list[lexical.Likeness]] = defaultdict(list)
    exchanged = Counter()
    for made in edits:
        found = of_role[made.role]
        if made.words == made.of:
            exchanged[made.role] += 1
        else:
            found.append(lexical.compare(made.of, made.words))
    return [
        {
            "role": role,
            "n": len(found),
            "exchanged": exchanged[role],
            "characters": spread([one.characters for one in found]),
            "words": spread([one.words for one in found]),
            "by_words": by_words(found),
        }
        for role, found in sorted(of_role.items())
    ]


def spread(values: Sequence[int]) -> dict:
    if not values:
        return {"mean": None, "median": None, "most": None}
    return {"mean": fmean(values), "median": median(values), "most": max(values)}


def by_words(found: Iterable[lexical.Likeness]) -> list[int]:
    """How many have 0, 1, 2 … words changed; 0 is punctuation or capitals alone."""
    counts = Counter(min(one.words, WORDS_TO) for one in found)
    return [counts[number] for number in range(WORDS_TO + 1)]


# What stands in the end


def ends(tasks: Iterable[Told]) -> Iterator[tuple[str, ...]]:
    """The words for each of `ROLES` of each kept task that has all three."""
    for task in tasks:
        if task.state is not None and task.state != DROPPED:
            written = task.content.get("texts", {})
            found = tuple([written.get(role) or task.texts.get(identity, "") for role, identity in CAPTIONS])
            if all(found):
                yield found
