"""Lists of the API as tables."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Generic, TypeVar, cast, get_type_hints, overload

if TYPE_CHECKING:
    import pandas

Row = TypeVar("Row", bound=Mapping[str, object])
SHOWN = 10


class Table(Sequence[Row], Generic[Row]):
    """Rows as dicts, with times as datetimes. `columns` are present even without rows.

    Pass it to the DataFrame of pandas or polars, or its list to `Dataset.from_list` of datasets.
    """

    def __init__(self, rows: Iterable[Mapping[str, object]], shape: type[Row]):
        kinds = get_type_hints(shape)
        times = [name for name, kind in kinds.items() if kind in (datetime, datetime | None)]
        self._rows = [cast(Row, _with_times(row, times)) for row in rows]
        self.columns = list(dict.fromkeys([*kinds, *(name for row in self._rows[:1] for name in row)]))
        self._times = times

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        return self._rows[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._rows == other._rows

    def __repr__(self) -> str:
        return f"<Table of {len(self):,} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        lines: list[Sequence[object]] = [
            self.columns,
            *([row.get(name, "") for name in self.columns] for row in self._rows[:SHOWN]),
        ]
        cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in line) for line in lines)
        table = "".join(f"<tr>{line}</tr>" for line in cells)
        return f"<table>{table}</table><p>{len(self):,} rows</p>"

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a DataFrame with all columns; times are `datetime64[ns, UTC]` even without rows."""
        import pandas

        frame = pandas.DataFrame(self._rows, columns=self.columns)
        for name in self._times:
            frame[name] = pandas.to_datetime(frame[name], utc=True)
        return frame


def _with_times(row: Mapping[str, object], times: Iterable[str]) -> dict[str, object]:
    given = {name: row[name] for name in times if row.get(name)}
    return {**row, **{name: datetime.fromisoformat(str(value)) for name, value in given.items()}}
