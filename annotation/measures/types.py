"""Types shared by the measures."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy.typing as npt

Array = npt.NDArray[Any]  # of integers, floats or booleans; each function gives its shape
Figures = dict[str, Any]  # JSON-able statistics by name, nested as in pages, exports and the API


class Stage(Protocol):
    """The settings of a stage that decide which items it takes, and which stage it belongs to."""

    @property
    def pk(self) -> Any: ...  # identifies the stage
    @property
    def position(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def protocol(self) -> str: ...
    @property
    def state(self) -> str: ...  # open or closed
    @property
    def overlap(self) -> int: ...
    @property
    def source_id(self) -> object: ...  # the `pk` of the stage whose items it takes, or None
    @property
    def after_id(self) -> object: ...  # the `pk` of the stage that an annotator finishes first, or None
    @property
    def takes(self) -> Sequence[str]: ...  # states and reasons
    @property
    def promotion(self) -> str: ...  # settled: each item at once; closing: all when the source closes
    @property
    def sample(self) -> int | None: ...
    @property
    def sample_each(self) -> bool: ...  # the sample has this many items of each type
