"""The interface that readers need of a file, whether on this machine or elsewhere."""

from typing import Protocol


class Contents(Protocol):
    """The part of Path's interface that they use."""

    @property
    def name(self) -> str: ...

    def read_bytes(self) -> bytes: ...
