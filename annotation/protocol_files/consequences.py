"""The consequences of one answer to a declared protocol: the decision, and the values for agreement and scores."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.measures.declared import decided
from annotation.protocols import answers, option_sets, schema, values
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.compile import in_own_names
from annotation.protocols.decision_rule import DROPPED, KEPT
from annotation.protocols.measuring import level_of, seen_as
from annotation.protocols.ratings import Rated
from annotation.protocols.schema import ProtocolFile
from annotation.wording import readable_label


@dataclass(frozen=True, slots=True)
class Measured:
    """The values of an answer: `value` on a scale of this `level`, its `views`, and its `score` if it has one."""

    answer: str
    level: str
    value: str
    views: Mapping[str, str]
    score: str


@dataclass(frozen=True, slots=True)
class Consequences:
    """`alone`: what this answer decides by itself; `together`: what as many equal answers as needed would decide."""

    said: str
    alone: str
    together: str
    measured: tuple[Measured, ...]


def consequences_of(file: ProtocolFile, label: str) -> Consequences:
    """Return the consequences of a stored answer."""
    said = in_own_names(file, label)
    enough = _decision(file, [said] * file.judgments)
    wants = file.judgments - 1
    alone = f"Open: {wants} more judgment{'s' * (wants != 1)} needed." if wants else enough
    return Consequences(said, alone, enough if wants else "", tuple(_measured(file, said)))


def _decision(file: ProtocolFile, labels: list[str]) -> str:
    found = decided(file, [Rated("item", str(place), label) for place, label in enumerate(labels)])["item"]
    if found.state == DROPPED:
        return f"Dropped: {readable_label(found.reason)}."
    if found.state == KEPT:
        return "Kept." if file.decide else "Kept, because no rule drops items."
    return f"Open: {readable_label(found.reason)}."


def _measured(file: ProtocolFile, said: str) -> list[Measured]:
    found = []
    for answer in file.answers:
        value = said if said == CANNOT_JUDGE else answers.given(said, answer.name, file)
        measure = file.measure.get(answer.name)
        views = (
            {name: seen_as(answer, view, value) for name, view in measure.views.items()} if measure and value else {}
        )
        score = _score(answer, value, views, measure.score if measure else None)
        found.append(Measured(answer.name, level_of(file, answer.name), value, views, score))
    return found


def _score(answer: schema.Answer, value: str, views: Mapping[str, str], wanted: str | None) -> str:
    """Return this answer's contribution to the score: its number, or 1 or 0; "" if it has none."""
    if not wanted or not value or value == CANNOT_JUDGE:
        return ""
    if wanted == "mean":
        number = answers.number(answer, value)
        itself = isinstance(answer, schema.Scale | schema.Number)
        return "" if number is None else value if itself else format(number, ".4g")
    given = option_sets.chosen(value)
    return str(int(wanted in (value, *given, *map(values.role_of, given), *views.values())))
