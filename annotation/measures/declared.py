"""Agreement on the answers of a declared protocol, each on the scale declared in its file."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from annotation.measures.aggregation import dawid_skene
from annotation.measures.agreement import RatingTable
from annotation.measures.agreement_measures import BY_KEY, Compared, measured_row
from annotation.measures.counts import TaskRow
from annotation.measures.judgments import JUDGE, JudgmentRow
from annotation.measures.label_scale import label_scale
from annotation.measures.ratings import Rating
from annotation.measures.scored import intervals
from annotation.measures.scores import scores
from annotation.measures.types import Figures
from annotation.protocols import answers, schema, values
from annotation.protocols.base import CANNOT_JUDGE, Attributes, View
from annotation.protocols.decision_rule import OPEN, Decision, Posterior
from annotation.protocols.decisions import decide_item, kinds_of
from annotation.protocols.measuring import BY, by_option, is_set, level_of, seen_as, seen_through, view_of
from annotation.protocols.ratings import Rated
from annotation.protocols.schema import ProtocolFile


def agreement(protocol: ProtocolFile, rows: Sequence[Rating]) -> Figures:
    """Return for each answer its `level`, `n_items`, `n_annotators` and the `measures` of that level, and the same for
    its `views`; JSON-able. For checks and marked words, each statement or word is an item. `rows` are (item, annotator,
    stored label). On a scale, annotators who were not asked or cannot judge are left out.
    """
    table, found = RatingTable(rows), {}
    for address in [one.name for one in protocol.answers] + [one for one in protocol.measure if "." in one]:
        if level_of(protocol, address):
            found[address] = _on(table.projected(view_of(protocol, address, partial(_value, protocol, address))))
            if views := _views(protocol, address):
                found[address]["views"] = {name: _on(table.projected(view)) for name, view in views.items()}
    return found


def agreement_in_words(found: Figures, digits: int) -> list[str]:
    """Write a line for each answer in the result of `agreement`, with the measures that are defined; for sets of
    options, also a line for single options.
    """
    lines = []
    by_option = {f"{answer}, {BY}": on["views"][BY] for answer, on in found.items() if BY in on.get("views", {})}
    for answer, on in [*found.items(), *by_option.items()]:
        values = {BY_KEY[key].name: figure["value"] for key, figure in on["measures"].items()}
        said = [f"{name} {value:.{digits}f}" for name, value in values.items() if value is not None]
        lines.append(f"{answer} ({on['level']}): {'; '.join(said) or 'no agreement is defined'}")
    return lines


def _on(table: RatingTable) -> Figures:
    scale = label_scale(table.labels, table.scale.order, {CANNOT_JUDGE}, len(table.labels))
    return {"level": table.scale.level, **measured_row(Compared(table), scale)}


def _value(protocol: ProtocolFile, address: str, label: str) -> str:
    return CANNOT_JUDGE if label == CANNOT_JUDGE else answers.given(label, address, protocol)


def _views(protocol: ProtocolFile, address: str) -> dict[str, View]:
    """Return the views of an answer; of each statement or word if it has several."""
    measured, value = protocol.measure.get(address), partial(_value, protocol, address)
    answer = protocol.answer(address.partition(".")[0])
    parts = view_of(protocol, address, value).parts

    def through(table: Mapping[str, str]) -> View:
        if parts is None:
            return View(lambda label: (said := value(label)) and seen_as(answer, table, said))
        return View(value, parts=lambda said: [seen_through(table, one) for one in parts(said)])

    own: dict[str, View] = {BY: by_option(protocol, address, value)} if is_set(answer) else {}
    return own | {name: through(table) for name, table in (measured.views if measured else {}).items()}


def decided(
    protocol: ProtocolFile,
    rows: Sequence[Rated],
    wanted: Mapping[str, int] = MappingProxyType({}),
    attributes: Mapping[str, Attributes] = MappingProxyType({}),
) -> dict[str, Decision]:
    """Map each task to what the protocol's rules decide from its ratings, in the order of the rows.

    `wanted` has the number of ratings a task needs, if it differs from the file's, and `attributes` its item's parts'
    attributes. If a rule needs annotators' reliability, it is estimated from these ratings only.
    """
    labels: dict[str, list[str]] = {}
    for row in rows:
        labels.setdefault(row.task, []).append(row.label)
    posteriors = _posteriors(protocol, rows)
    return {
        task: decide_item(
            protocol,
            said,
            wanted.get(task),
            {name: of[task] for name, of in posteriors.items() if task in of},
            attributes.get(task, {}),
        )
        for task, said in labels.items()
    }


def _posteriors(protocol: ProtocolFile, rows: Sequence[Rated]) -> dict[str, Mapping[str, Posterior]]:
    """Map answer → task → value → its probability, for the rules that need it."""
    found = {}
    for rule in protocol.decide:
        if isinstance(rule, schema.DawidSkene):
            said = [(row, value) for row in rows if (value := _value(protocol, rule.answer, row.label))]
            kinds = kinds_of(protocol, rule, [value for _, value in said])
            given = [(row.task, row.annotator, kind) for (row, _), kind in zip(said, kinds, strict=True)]
            found[rule.answer] = dawid_skene(given).posteriors
    return found


def rated_scores(
    protocol: ProtocolFile,
    rows: Sequence[Rated],
    decisions: Mapping[str, Decision],
    attributes: Mapping[str, Attributes] = MappingProxyType({}),
) -> Figures:
    """Compute the same scores as a study's (`scores.scores`), for the tasks that `decided` has decided.

    Ratings that do not identify which of several tasks they belong to get only scores that do not need it: none for
    groups, strengths or right answers by task.
    """
    if protocol.tasks != "item" and not all(row.question for row in rows):
        one_right = {name: right for name, right in protocol.right.items() if isinstance(right, str)}
        ranked = [rule for rule in protocol.decide if not isinstance(rule, schema.BradleyTerry)]
        protocol = protocol.model_copy(update={"group": {}, "right": one_right, "decide": ranked})
    items = {item: place for place, item in enumerate(dict.fromkeys(row.item for row in rows))}
    people = {who: number for number, who in enumerate(dict.fromkeys(row.annotator for row in rows), 1)}
    options = {role for answer in protocol.answers if isinstance(answer, answers.Choosing)
               for role in values.options_of(protocol, answer)}  # fmt: skip
    places = sum(values.member_count(protocol, role) for role in options)
    judged = [
        JudgmentRow(
            task=(items[row.item], row.question, 1), kind=JUDGE, live=True, type="", subtype="", slot=place,
            annotator=people[row.annotator], answer=row.label, place=None, places=places, active_ms=0, counted=True,
            surplus=False, withdrawn=False, at=place,
        )
        for place, row in enumerate(rows)
    ]  # fmt: skip
    about = {row.task: row for row in rows}
    tasks = []
    for task, row in about.items():
        decision = decisions[task]
        state = None if decision.state == OPEN else decision.state
        tasks.append(TaskRow((items[row.item], row.question, 1), "", "", 1, state, decision.reason, decision.by))
    of_items = {items[row.item]: attributes[task] for task, row in about.items() if task in attributes}
    return scores(protocol, judged, tasks, of_items)


def scores_in_words(found: Figures, digits: int) -> list[str]:
    """Write a line for each number in the result of `rated_scores`, with its 95% interval."""
    lines = []
    for one in found["answers"]:
        name = one["answer"]
        if "score" in one:
            what = f"share of {one['score']}" if one["is_share"] else "mean"
            lines.append(f"{name}, {what}: {_interval(one['whole'], digits)}")
            for attribute, rows in one["by"].items():
                lines += [f"  {attribute} {row['name']}: {_interval(row, digits)}" for row in rows]
        if "right" in one:
            lines.append(f"{name}, right: {_interval(one['right']['whole'], digits)}")
    for one in found["groups"]:
        waiting = f"; {one['waiting']:,} groups have open items" if one["waiting"] else ""
        lines.append(f"{one['group']}, groups answered correctly: {_interval(one['whole'], digits)}{waiting}")
    for kind, part in (("strengths", "strengths"), ("mean ranks", "mean_ranks")):
        for one in found[part]:
            lines.append(
                f"{one['answer']}, {kind} by {one['over']}:{f' {reason}' if (reason := one['reason']) else ''}"
            )
            lines += [f"  {row['name']}: {_interval(row, digits)}" for row in one["rows"]]
    return lines


def _interval(of: Figures, digits: int) -> str:
    if of["value"] is None:
        return "not defined"
    each = [f"{low:.{digits}f} to {high:.{digits}f} {whom}" for low, high, whom in intervals(of)]
    within = f" (95%: {'; '.join(each)})" if each else ""
    count = of.get("n_items", of.get("n"))
    return f"{of['value']:.{digits}f}{within}, n = {count:,}"
