"""What a study is to be made of, before it is: stages that name each other. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage. `source` and `after` are names of stages before it, `apart_from` of stages before it or its own.

    `name` is the protocol's where none is given; `apart_from` None leaves it to the protocol (`Protocol.leaks`).
    `settings` are the other fields of Stage: overlap, strategy, batch_size, sample, carries …
    """

    protocol: str
    name: str = ""
    source: str = ""
    after: str = ""
    apart_from: Sequence[str] | None = None
    instructions: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
