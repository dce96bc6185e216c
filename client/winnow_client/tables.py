"""Lists of the API as tables."""

from collections.abc import Iterable
from typing import Any


def table(rows: Iterable[dict[str, Any]]) -> Any:
    """A DataFrame, or the rows as a list if pandas is not installed."""
    rows = list(rows)
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
