"""Agreement on the answers of a declared protocol, each on the scale that its file names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from annotation.measures.aggregation import dawid_skene
from annotation.measures.agreement import RatingTable
from annotation.measures.rank_agreement import mean_tau_b
from annotation.measures.ratings import Rating
from annotation.measures.reliability import reliability
from annotation.measures.types import Figures
from annotation.protocols import answers, schema, values
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.decision_rule import Decision, Posterior
from annotation.protocols.decisions import decide_item, kinds_of
from annotation.protocols.measuring import Attributes, level_of, parts_of_value, ranks_of, seen_through
from annotation.protocols.ratings import Rated
from annotation.protocols.schema import ProtocolFile

_OF_LEVEL = {
    "nominal": ("percent", "cohen_mean", "alpha_nominal"),
    "ordinal": ("percent", "alpha_ordinal"),
    "interval": ("percent", "alpha_interval"),
}


def agreement(protocol: ProtocolFile, rows: Sequence[Rating]) -> Figures:
    """JSON-able: for each answer its `level`, the figures of that level and of its views, null where not defined, and
    `n_items`. Of checks and marked words, each statement and each word is an item. `rows` are (item, annotator, stored
    label). Who was not asked, or cannot judge, has no part in a scale.
    """
    found: Figures = {}
    for address in [one.name for one in protocol.answers] + [one for one in protocol.measure if "." in one]:
        level = level_of(protocol, address)
        said = [(item, who, value) for item, who, label in rows if (value := _value(label, address, protocol))]
        if "." not in address and isinstance(answer := protocol.answer(address), schema.Check | schema.Words):
            said = [part for one in said for part in _each_part(answer, one)]
        if level == "rank":
            found[address] = {"level": level, **_on_ranks(said), **_views(protocol, address, said)}
        elif level:
            on_labels = _on_labels(protocol, address, level, said)
            found[address] = {"level": level, **on_labels, **_views(protocol, address, said)}
    return found


def _each_part(answer: schema.Check | schema.Words, said: Rating) -> Iterator[Rating]:
    """What was said of each statement, or of each word, as if each were an item."""
    item, who, value = said
    yield from ((f"{item}#{place}", who, one) for place, one in enumerate(parts_of_value(answer, value), 1))


def _value(label: str, address: str, protocol: ProtocolFile) -> str:
    return CANNOT_JUDGE if label == CANNOT_JUDGE else answers.given(label, address, protocol)


def _on_ranks(said: Iterable[Rating]) -> Figures:
    rankings = [(str(item), ranks_of(value)) for item, _, value in said if value != CANNOT_JUDGE]
    found = mean_tau_b(rankings)
    return {"tau_b": found.value, "n_pairs": found.n, "n_items": len({item for item, _ in rankings})}


def _on_labels(protocol: ProtocolFile, address: str, level: str, said: Sequence[Rating]) -> Figures:
    order: list[str] = []
    if level != "nominal":
        order = values.points(protocol.answer(address))
        said = [one for one in said if one[2] in order]
    found = reliability(RatingTable(said), order)
    kept = {name: found[name] for name in _OF_LEVEL[level]}
    if level != "nominal":
        weighted = [pair["quadratic"] for pair in found["cohen_pairs"] if pair.get("quadratic") is not None]
        kept["quadratic_kappa_mean"] = sum(weighted) / len(weighted) if weighted else None
    return {**kept, "n_items": found["n_items"], "n_annotators": found["n_annotators"]}


def _views(protocol: ProtocolFile, address: str, said: Sequence[Rating]) -> Figures:
    views = protocol.measure[address].views if address in protocol.measure else {}
    found = {name: _on_labels(protocol, address, "nominal", [*_through(view, said)]) for name, view in views.items()}
    return {"views": found} if found else {}


def _through(view: Mapping[str, str], said: Iterable[Rating]) -> Iterator[Rating]:
    return ((item, who, seen_through(view, value)) for item, who, value in said)


def decided(
    protocol: ProtocolFile,
    rows: Sequence[Rated],
    wanted: Mapping[str, int] = MappingProxyType({}),
    attributes: Mapping[str, Attributes] = MappingProxyType({}),
) -> dict[str, Decision]:
    """Item → what the protocol's rules decide from its ratings, in the order of the rows.

    `wanted` has how many ratings an item needs, if not as many as the file says, and `attributes` what its parts say of
    themselves. Annotators' reliability, where a rule needs it, is estimated from these ratings alone.
    """
    labels: dict[str, list[str]] = {}
    for row in rows:
        labels.setdefault(row.item, []).append(row.label)
    posteriors = _posteriors(protocol, rows)
    return {
        item: decide_item(
            protocol,
            said,
            wanted.get(item),
            {name: of[item] for name, of in posteriors.items() if item in of},
            attributes.get(item, {}),
        )
        for item, said in labels.items()
    }


def _posteriors(protocol: ProtocolFile, rows: Sequence[Rated]) -> dict[str, Mapping[str, Posterior]]:
    """Answer → item → value → its probability, for the rules that need it."""
    found = {}
    for rule in protocol.decide:
        if isinstance(rule, schema.DawidSkene):
            said = [(row, value) for row in rows if (value := _value(row.label, rule.answer, protocol))]
            kinds = kinds_of(protocol, rule, [value for _, value in said])
            given = [(row.item, row.annotator, kind) for (row, _), kind in zip(said, kinds, strict=True)]
            found[rule.answer] = dawid_skene(given).posteriors
    return found
