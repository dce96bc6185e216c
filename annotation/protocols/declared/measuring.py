"""What agreement on an answer is computed on: the level of its values, and its views."""

from collections.abc import Mapping

from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.declared.answers import tiers
from annotation.protocols.declared.schema import ProtocolFile
from annotation.protocols.declared.values import ELSE, in_table

_BY_KIND = {"scale": "ordinal", "rank": "rank", "text": "", "edit": ""}  # the others: nominal


def level_of(protocol: ProtocolFile, address: str) -> str:
    """`nominal`, `ordinal`, `interval` or `rank`; "" for texts, on which none is computed."""
    if (said := protocol.measure.get(address)) and said.agreement:
        return said.agreement
    return "nominal" if "." in address else _BY_KIND.get(protocol.answer(address).kind, "nominal")


def ranks_of(ranking: str) -> dict[str, int]:
    return {option: rank for rank, tier in enumerate(tiers(ranking), 1) for option in tier}


def seen_through(view: Mapping[str, str], value: str) -> str:
    """A value as a view has it; of a ranking, the first whose orders all hold. *Cannot judge* stays, unless named."""
    if value == CANNOT_JUDGE:
        return view.get(value, value)
    if ">" in value or "=" in value:
        ranks = ranks_of(value)
        return next((seen for orders, seen in view.items() if orders != ELSE and _hold(orders, ranks)), view[ELSE])
    return view.get(in_table(value, view), view.get(ELSE, value))


def _hold(orders: str, ranks: Mapping[str, int]) -> bool:
    """Whether a ranking has all these orders: `positive>negative, other>=negative`."""
    for order in orders.split(","):
        sign = next(one for one in (">=", ">", "=") if one in order)
        one, other = (ranks[name.strip()] for name in order.split(sign))
        if not (one < other if sign == ">" else one == other if sign == "=" else one <= other):
            return False
    return True
