"""What a protocol is: which of an item's parts are shown, what is asked, and how answers are read. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.records import ItemRecord

CANNOT_JUDGE = "cannot_judge"  # a counted answer that every protocol allows, with a reason


class NotSuitable(ValueError):
    """This item cannot be asked under this protocol; the message says what it lacks."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer that is not shuffled: None, Both. `keys` are what an annotator may press for it."""

    identity: str
    label: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protocol:
    name: str
    title: str
    question: str  # one line above the material
    instructions: str  # the default first version
    template: str  # the fragment that shows it: "judge/_bivlc_choose.html"
    options: Callable[[ItemRecord], list[str]]  # identities of what is shuffled; NotSuitable
    caption_role: str  # the caption that is shown
    fixed: tuple[Choice, ...]  # stay last, in this order
    projections: Mapping[str, Callable[[str], str]] = field(default_factory=dict)  # name → answer → label
    drops: Mapping[str, str] = field(default_factory=dict)  # an outcome that drops the item → the reason

    def answers(self, options: list[str]) -> set[str]:
        """Every answer that may be stored for a task with these options."""
        return {*options, *(choice.identity for choice in self.fixed), CANNOT_JUDGE}
