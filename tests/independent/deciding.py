"""The decision rules, as docs/reference/protocols.md states them: what the answers to a task come to."""

import itertools
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence

Verdict = tuple  # (state, outcome, reason, how)
CLEAR = ("majority", "dawid_skene")
OPEN: Verdict = ("open", None, None, None)
CANNOT_JUDGE = "cannot_judge"

# The coarser views of an answer that can be judged, as docs/reference/protocols.md words them
COARSE = {
    "original or not": lambda answer: "original" if answer == "positive-0" else "not",
    "holds or not": lambda answer: "holds" if answer == "yes" else "not",
    "both above the negative": lambda answer: "right" if is_right(answer) else "wrong",
    "sense": lambda answer: answer.split("/")[0],
    "fluency": lambda answer: answer.split("/")[1],
}


def is_right(order: str) -> bool:
    """The negative is on the last step, alone (Hard Positive Truth, §4.1)."""
    return order.split(">")[-1] == "negative" and ">" in order


def mended(answer: str) -> str:
    """Who takes somebody's edit says what its author said."""
    return "edited" if answer.startswith("edit-") else answer


def estimated(kind: str) -> str:
    """A task with one candidate has it at any of four places, which are one kind."""
    return "candidate" if kind.startswith("candidate-") else kind


class Rule:
    """By a stage's settings."""

    def __init__(self, settings: Mapping):
        self.settings = settings
        self.fixed = {*settings["fixed_answers"], CANNOT_JUDGE}

    def view(self, name: str):
        """The coarser views, each as docs/reference/protocols.md words it. ValueError: one that is not known here."""
        if name in ("kept or rejected", "kept or dropped"):
            return lambda answer: answer if answer in (*self.settings["drops"], CANNOT_JUDGE) else "kept"
        coarse = COARSE.get(name)
        if coarse:
            return lambda answer: answer if answer == CANNOT_JUDGE else coarse(answer)
        if name != "any or none":
            raise ValueError(f"there is no word on the view {name!r} here")
        return self.kind

    def kind(self, answer: str) -> str:
        """Where options are alike, they are one kind, any."""
        return answer if answer in self.fixed or not self.settings["alike"] else "any"

    def confirm(self, given: Sequence[tuple[str, dict]], overlap: int) -> tuple:
        """Two annotators of one mind, by their words or else by their label; one is enough for what is no edit."""
        said = [
            json.dumps(content["texts"], sort_keys=True) if content.get("texts") else label for label, content in given
        ]
        votes = Counter(said)
        for (label, content), verdict in zip(given, said, strict=True):
            alone = len(given) == 1 and label.partition("-")[0] not in ("edited", "edit")
            if len(given) >= overlap and (votes[verdict] > 1 or alone):
                how = "only_answer" if len(given) == 1 else "unanimous" if len(votes) == 1 else "majority"
                return *self.ending(label, how), content
        return *OPEN, None

    def settle(self, given: Sequence[tuple[str, dict]], overlap: int, likely: Mapping[str, float] | None) -> tuple:
        """The rule on the labels; what comes with the outcome is that of the first answer of its label."""
        found = self.decide([label for label, _ in given], overlap, likely)
        return *found, next((content for label, content in given if label == found[1]), {})

    def decide(self, answers: Sequence[str], overlap: int, likely: Mapping[str, float] | None) -> Verdict:
        if len(answers) < overlap or not answers:
            return OPEN
        kinds = [self.kind(answer) for answer in answers]
        how = "only_answer" if len(answers) == 1 else "unanimous" if len(set(answers)) == 1 else "majority"
        top = most_frequent(kinds)
        if likely:
            best, how = max(likely[estimated(kind)] for kind in kinds), "dawid_skene"
            top = [kind for kind in dict.fromkeys(kinds) if best - likely[estimated(kind)] <= 1e-6]
        if len(top) > 1:
            how = "tie_rule"
            if self.settings["tie_rule"] == "adjudicate":
                return OPEN
            if self.settings["tie_rule"] == "drop":
                level = ("kept", None, None, "no_majority")
                return level if self.settings["measures"] else ("dropped", None, "tie_unresolved", how)
        kind = "none" if len(top) > 1 and self.settings["tie_rule"] == "none" else top[0]
        if kind == "any":
            level = most_frequent([answer for answer in answers if self.kind(answer) == "any"])
            kind, how = level[0], "first_of_equals" if how in CLEAR and len(level) > 1 else how
        return self.ending(kind, how)

    def ending(self, answer: str, how: str) -> Verdict:
        drops = self.settings["drops"]
        reason = drops.get(answer) or drops.get(answer.rpartition("-")[0])
        return ("dropped", answer, reason, how) if reason else ("kept", answer, None, how)


def most_frequent(names: Sequence[str]) -> list[str]:
    """Those that come up most often, in the order in which they came."""
    votes = Counter(names)
    return [name for name in votes if votes[name] == max(votes.values())]


def posteriors(rows: Sequence[tuple]) -> dict[tuple, dict[str, float]]:
    """Dawid and Skene (1979), §3, item by item and in plain sums; rows are (item, annotator, label)."""
    labels = list(dict.fromkeys(label for _, _, label in rows))
    of_item = {item: [row[1:] for row in found] for item, found in itertools.groupby(rows, key=lambda row: row[0])}
    found = {
        item: {j: sum(label == j for _, label in said) / len(said) for j in labels} for item, said in of_item.items()
    }
    before = -math.inf
    while True:
        shares = {j: sum(one[j] for one in found.values()) / len(found) for j in labels}
        errors = _errors(rows, found, labels)
        now, fits = 0.0, {}
        for item, said in of_item.items():
            fits[item], log = _fit(said, shares, errors, labels)
            now += log / len(of_item)
        found = fits
        if abs(now - before) < 1e-10 or not rows:
            return found
        before = now


def _errors(rows: Sequence[tuple], found: Mapping, labels: Sequence[str]) -> dict[tuple, float]:
    """(annotator, true label, label given) → how often that annotator gives it, as a logarithm."""
    counts: dict[tuple, float] = {}
    for item, who, label in rows:
        for j in labels:
            counts[who, j, label] = counts.get((who, j, label), 0) + found[item][j]
    whole = {key: sum(counts.get((*key, label), 0) for label in labels) for key in {key[:2] for key in counts}}
    return {key: _log(count / whole[key[:2]] if whole[key[:2]] else 0) for key, count in counts.items()}


def _fit(said: Sequence[tuple], shares: Mapping, errors: Mapping, labels: Sequence[str]) -> tuple[dict, float]:
    logs = {j: _log(shares[j]) + sum(errors[who, j, label] for who, label in said) for j in labels}
    top = max(logs.values())
    sums = sum(math.exp(one - top) for one in logs.values())
    return {j: math.exp(logs[j] - top) / sums for j in labels}, top + math.log(sums)


def _log(share: float) -> float:
    return math.log(max(share, 1e-300))
