"""What became of items whose texts annotators could edit, and who edited: shared by VISLA's two protocols. Pure.

Source: VISLA §3.2 and §3.3: a text is accepted as it is, edited, or its item is dropped; if the protocol requires
it, a second annotator confirms an edit. Distances are those of benchmarks/metrics/lexical.py.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, median
from typing import NamedTuple

from annotation.measures.counts import ratio
from annotation.measures.papers.base import ROLES, JudgedTask
from annotation.measures.types import Figures
from annotation.protocols.base import CANNOT_JUDGE, Answer, AnswerContent, Protocol, caption_identity
from annotation.protocols.decision_rule import (
    ADJUDICATOR,
    AWAITING_ADJUDICATION,
    AWAITING_CONFIRMATION,
    DROPPED,
    EDITED,
    Rule,
    is_edit,
    verdict,
)
from annotation.wording import pseudonym
from benchmarks.metrics import lexical

# The fates of a task; `edited`: without a second annotator, because none is needed or an adjudicator decided.
FATES = ("accepted", "edited", "confirmed", "dropped", "to_confirm", "to_adjudicate", "open")
JUDGMENT_KINDS = ("accepted", "edited", "rejected", "confirms", "cannot_judge")  # kinds of judgments
RESPONSES = ("confirmed", "edited_again", "rejected", "otherwise", "waiting")  # the next judgment's verdict on an edit
_CAPTIONS = [(role, caption_identity(role)) for role in ROLES]
_MOST_WORDS = 10  # the last class has this many changed words, or more


class _Edit(NamedTuple):
    """A sentence that replaces one of the item's: its text, and the text it was made from."""

    role: str
    words: str
    of: str


def figures(tasks: Sequence[JudgedTask], rule: Rule) -> Figures:
    edits = [made for task in tasks for made in _changes(task, rule.protocol)]
    return {
        "tasks": len(tasks),
        "fates": fates(tasks, rule),
        "broken": broken_guidelines(tasks, rule.protocol),
        "annotators": annotators(tasks, rule.protocol),
        "edits": _distances(edits),
        "lexical": lexical.overlap(final_captions(tasks)),
    }


def figures_of_triplets(tasks: Sequence[JudgedTask], rule: Rule) -> Figures:
    """Compute the same, and how many of the judgments on each guideline find it kept (VISLA App. A.1)."""
    said = [answer.content.get("guidelines", {}) for task in tasks for _, answer in task.judgments]
    found = {one.code: [lines[one.code] for lines in said if one.code in lines] for one in rule.protocol.guidelines}
    holds = [
        {"code": code, "holds": sum(one), "n": len(one), "share": ratio(sum(one), len(one))}
        for code, one in found.items()
    ]
    return {**figures(tasks, rule), "holds": holds}


# The fates of the tasks


def fates(tasks: Iterable[JudgedTask], rule: Rule) -> dict[str, int]:
    """Count tasks by fate; every task has exactly one."""
    counts = Counter(_fate(task, rule) for task in tasks)
    return {name: counts[name] for name in FATES}


def _fate(task: JudgedTask, rule: Rule) -> str:
    if task.state is None:
        waits = rule.settle(task.answers, task.overlap).reason if task.judgments else ""
        return {AWAITING_CONFIRMATION: "to_confirm", AWAITING_ADJUDICATION: "to_adjudicate"}.get(waits, "open")
    if task.state == DROPPED:
        return "dropped"
    if not is_edit(task.outcome):
        return "accepted"
    return "confirmed" if rule.protocol.confirms and task.by != ADJUDICATOR else "edited"


def broken_guidelines(tasks: Sequence[JudgedTask], protocol: Protocol) -> list[Figures]:
    """Return for each guideline how many judgments find it broken, and how many items were dropped for it."""
    judgments = Counter(code for task in tasks for _, answer in task.judgments for code in _not_held(answer.content))
    dropped = Counter(code for task in tasks if task.state == DROPPED for code in _not_held(task.content))
    return [
        {"code": one.code, "words": one.words, "judgments": judgments[one.code], "dropped": dropped[one.code]}
        for one in protocol.guidelines
    ]


def _not_held(content: AnswerContent) -> list[str]:
    return [code for code, holds in content.get("guidelines", {}).items() if not holds]


# By annotator


def annotators(tasks: Sequence[JudgedTask], protocol: Protocol) -> list[Figures]:
    """Count each annotator's kinds of judgments and, if edits are confirmed, the verdicts on their edits."""
    did: dict[int, Counter[str]] = defaultdict(Counter)
    then: dict[int, Counter[str]] = defaultdict(Counter)
    for task in tasks:
        for place, (number, _) in enumerate(task.judgments):
            what = _kind_of_judgment(task, place, protocol)
            did[number][what] += 1
            if what == "edited":
                then[number][_response_to_edit(task, place, protocol)] += 1
    return [
        {
            "annotator": pseudonym(number),
            **{what: counts[what] for what in JUDGMENT_KINDS},
            "of_edits": {what: then[number][what] for what in RESPONSES} if protocol.confirms else None,
        }
        for number, counts in sorted(did.items())
    ]


def _kind_of_judgment(task: JudgedTask, place: int, protocol: Protocol) -> str:
    """Return one of `DOES`. If edits are confirmed, giving the same text as an earlier edit confirms it."""
    answer = task.judgments[place].answer
    if answer.label == CANNOT_JUDGE:
        return "cannot_judge"
    if protocol.reason(answer.label):
        return "rejected"
    if protocol.confirms and any(_same_edit(earlier, answer) for _, earlier in task.judgments[:place]):
        return "confirms"
    return "edited" if is_edit(answer.label) else "accepted"


def _response_to_edit(task: JudgedTask, place: int, protocol: Protocol) -> str:
    """Return one of `THEN`: the next judgment's verdict on the edit. Without one, an adjudicator may have decided."""
    if place + 1 == len(task.judgments):
        return "waiting" if task.state is None else "otherwise"
    if _same_edit(task.judgments[place].answer, task.judgments[place + 1].answer):
        return "confirmed"
    return {"edited": "edited_again", "rejected": "rejected"}.get(
        _kind_of_judgment(task, place + 1, protocol), "otherwise"
    )


def _same_edit(earlier: Answer, later: Answer) -> bool:
    return is_edit(earlier.label) and verdict(earlier) == verdict(later)


# Edit distances


def _changes(task: JudgedTask, protocol: Protocol) -> Iterator[_Edit]:
    """Yield the sentences that its edits introduce. Accepting another's edit is not an edit."""
    for place, (_, answer) in enumerate(task.judgments):
        if answer.label == EDITED and _kind_of_judgment(task, place, protocol) == "edited":
            for role, identity in answer.content.get("from", {}).items():
                yield _Edit(role, answer.texts[role], task.words(identity, role))


def _distances(edits: Iterable[_Edit]) -> list[Figures]:
    """Return, by role, the edit distance of changed sentences from their originals, and how many were only `exchanged`
    for another candidate, unedited.
    """
    of_role: dict[str, list[lexical.Likeness]] = defaultdict(list)
    exchanged: Counter[str] = Counter()
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
            "characters": _spread([one.characters for one in found]),
            "words": _spread([one.words for one in found]),
            "by_words": _by_words(found),
        }
        for role, found in sorted(of_role.items())
    ]


def _spread(values: Sequence[int]) -> Figures:
    if not values:
        return {"mean": None, "median": None, "most": None}
    return {"mean": fmean(values), "median": median(values), "most": max(values)}


def _by_words(found: Iterable[lexical.Likeness]) -> list[int]:
    """Count how many have 0, 1, 2 … words changed; 0 means only punctuation or capitals."""
    counts = Counter(min(one.words, _MOST_WORDS) for one in found)
    return [counts[number] for number in range(_MOST_WORDS + 1)]


# Final captions


def final_captions(tasks: Iterable[JudgedTask]) -> Iterator[tuple[str, str, str]]:
    """Yield the captions in each of `ROLES`, for each kept task that has all three."""
    for task in tasks:
        if task.state is not None and task.state != DROPPED:
            written = task.content.get("texts", {})
            first, second, third = (written.get(role) or task.texts.get(identity, "") for role, identity in _CAPTIONS)
            if first and second and third:
                yield first, second, third
