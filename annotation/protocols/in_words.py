"""Describe a protocol file in sentences, for readers of a study: what was asked, the possible answers, and how
agreement is measured. For how items are decided, see rule_words. Pure.
"""

from collections.abc import Iterator, Sequence

from annotation.protocols import option_sets, schema, values
from annotation.protocols.conditions import parts_of_fact
from annotation.protocols.measuring import level_of
from annotation.protocols.numbers import is_typed, span_of
from annotation.protocols.rule_words import value_in_words
from annotation.protocols.schema import ProtocolFile
from annotation.protocols.tasks import needs_in_words
from annotation.wording import exact
from benchmarks.naming import part_name

_LEVELS = {
    "nominal": "nominal, by equal values",
    "ordinal": "ordinal, by the order of the values",
    "interval": "interval, by the distance of the values",
    "rank": "by the order of the options",
    "set": "by the options two answers share",
    "points": "by the share of points that are close together (F1)",
    "boxes": "by the share that boxes have in common (mean IoU)",
}


def answers_in_words(file: ProtocolFile) -> list[str]:
    """Return a sentence for each answer: its question, its possible values, and when it was asked."""
    return [_answer(file, one) for one in file.answers]


def _answer(file: ProtocolFile, answer: schema.Answer) -> str:
    asked = f" “{answer.ask}”" if answer.ask else ""
    more = f"{_condition(answer)}{'' if answer.required else '; optional'}"
    return f"{answer.name}:{asked} {_choices(file, answer)}{more}."


def _choices(file: ProtocolFile, answer: schema.Answer) -> str:
    fixed = [f"“{one.label}”" for one in values.fixed_of(answer).values()]
    match answer:
        case schema.Pick(many=many):
            before = "one of" if not many else "any number of" if many is True else f"{option_sets.in_words(answer)} of"
            return _listed([*_roles(file, answer.of), *fixed], before)
        case schema.Pair():
            return _listed([*_roles(file, values.options_of(file, answer)), *fixed], "the better of")
        case schema.Scale() | schema.Number() if is_typed(answer):
            span = {name: values.written(one) for name, one in span_of(answer)._asdict().items()}
            anchors = getattr(answer, "anchors", {})
            at = {name: f" ({anchors[one]})" if one in anchors else "" for name, one in span.items()}
            ends = " to ".join(f"{span[end]}{at[end]}" for end in ("least", "most"))
            of = "a whole number" if span["step"] == "1" else f"in steps of {span['step']} a number"
            return ", ".join([f"{of} from {ends}", *fixed])
        case schema.Scale(anchors=anchors):
            points = [f"{one} ({anchors[one]})" if one in anchors else one for one in values.points(answer)]
            return _listed([*points, *fixed], "a point:")
        case schema.Rank(ties=ties):
            return f"{_listed(_roles(file, answer.of), 'the order of')}{', ties allowed' if ties else ''}"
        case schema.Check(statements=statements):
            asked = _listed([f"“{one}”" for one in statements.values()] or _roles(file, [str(answer.of)]), "to each of")
            return f"yes{', unsure' if answer.unsure else ''} or no {asked}"
        case schema.Words(marks=marks):
            return f"marks on words ({', '.join(one.label for one in marks.values())}) of {_role(file, answer.of)}"
        case schema.Points() | schema.Boxes():
            what = _listed([f"“{one.label}”" for one in answer.labels.values()], " as") if answer.labels else ""
            return f"{answer.least} to {answer.most} {answer.kind} on the picture {answer.of.replace('_', ' ')}{what}"
        case schema.Edit():
            return f"{_role(file, answer.of)}, changed or as it is"
    return "a text"


def _roles(file: ProtocolFile, references: Sequence[str]) -> list[str]:
    return [_role(file, one) for one in references]


def _role(file: ProtocolFile, reference: str) -> str:
    """Return `the caption` for `captions.positive`; a row's or combination's name as it is."""
    kind, _, role = reference.partition(".")
    return f"the {part_name(kind, role, not values.is_alone(file, reference)) if role else kind.replace('_', ' ')}"


def _listed(names: list[str], before: str) -> str:
    return f"{before} {', '.join(names)}"


def _condition(answer: schema.Answer) -> str:
    if answer.when is None:
        return ""
    joined = [
        f" {word} ".join(f"{name} is {' or '.join(wanted)}" for name, wanted in table.items())
        for word, table in (("and", answer.when.all), ("or", answer.when.any))
        if table
    ]
    joined += [_of_item(fact, wanted) for fact, wanted in answer.when.item.items()]
    return f"; asked if {' and '.join(joined)}"


def _of_item(fact: str, wanted: Sequence[str]) -> str:
    role, attribute = parts_of_fact(fact)
    if not role:
        return f"the item's {attribute} is {' or '.join(wanted)}"
    if not attribute:
        return f"the item has {needs_in_words(role, wanted[0])}"
    kind, _, name = role.partition(".")
    return f"{attribute} of one of the {name.replace('_', ' ')} {kind} is {' or '.join(wanted)}"


def measures_in_words(file: ProtocolFile) -> list[str]:
    """Return sentences on measures: for each answer with agreement its scale, views and score; combined scores, right
    answers, and groups of tasks.
    """
    found = [words for one in file.answers for words in _measured(file, one.name)]
    for name, score in file.scores.items():
        words = combination_in_words(score)
        found.append(f"The score {name} is {words[0].lower()}{words[1:]}.")
    for name, right in file.right.items():
        found.append(f"The right answer{_of(file, name, 'to')} is {_right(file, name, right)}.")
    return [*found, *(f"Group {name}: {_grouped(file, group)}." for name, group in file.group.items())]


def _of(file: ProtocolFile, name: str, preposition: str) -> str:
    """Return ` to quality`; "" if there is only one answer."""
    return f" {preposition} {name}" if len(file.answers) > 1 or name not in {one.name for one in file.answers} else ""


def _right(file: ProtocolFile, name: str, right: schema.Right) -> str:
    match right:
        case str():
            return value_in_words(file, name, right)
        case list():
            return " and ".join(value_in_words(file, name, one) for one in right)
        case schema.ByItem(column=column):
            return f"that of the item, in “{column}”"
    return ", ".join(f"{value} for {task}" for task, value in right.items())


_COMBINED = {
    "mean": "The mean of",
    "sum": "The sum of",
    "min": "The lowest of",
    "product": "The product of",
    "geometric_mean": "The geometric mean of",
}


def combination_in_words(score: schema.Combined) -> str:
    """Return `The sum of 0.5 × precision, 0.5 × recall and −1 × fluency`, without a full stop."""
    *terms, last = (_term(name, weight) for name, weight in score.weights.items())
    return f"{_COMBINED[score.rule]} {', '.join(terms)} and {last}"


def _term(name: str, weight: float) -> str:
    return name if weight == 1 else f"{exact(weight)} × {name}".replace("-", "−")


def _grouped(file: ProtocolFile, group: schema.Group) -> str:
    if isinstance(group, schema.Comparison):
        same = f"among the tasks with the same {' and '.join(group.within)}"
        return f"right if more annotators gave {group.compare} when it is right than otherwise, {same}"
    if isinstance(group, schema.Over):
        items = f"{group.every} items in a row" if group.every else "the items"
        same = f" with the same {' and '.join(group.over)}" if group.over else ""
        return f"right if all tasks of {items}{same} are"
    if isinstance(file.tasks, schema.Rows) and group:
        return f"right if the tasks {' and '.join(group)} all are"
    same = f" with the same {' and '.join(group)}" if group else ""
    return f"right if all tasks of an item{same} are"


def _measured(file: ProtocolFile, name: str) -> Iterator[str]:
    level, said = level_of(file, name), file.measure.get(name)
    if not level:
        return
    seen = [f"“{view}”" for view in said.views] if said else []
    views = f"; also on {_listed(seen, 'the views' if len(seen) > 1 else 'the view')}" if seen else ""
    score = ""
    if said and said.score:
        is_right = file.right.get(name) == said.score
        share = f"share of {'right answers' if is_right else f'answers {value_in_words(file, name, said.score)}'}"
        score = f"; the score is the {'mean' if said.score == 'mean' else share}"
    yield f"Agreement{_of(file, name, 'on')} is {_LEVELS[level]}{views}{score}."
