"""What the readers of one file need of it, be it on this machine or elsewhere."""

from typing import Protocol


class Contents(Protocol):
    """As much of a Path as they use."""

    @property
    def name(self) -> str: ...

    def read_bytes(self) -> bytes: ...
