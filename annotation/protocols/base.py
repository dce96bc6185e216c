"""What a protocol is: which of an item's parts are shown, what is asked, and how answers are read. Pure."""

from collections.abc import Callable, Mapping, Sequence
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
class Ask:
    """One task that an item makes under a protocol.

    `shows` is what is asked about and `options` what is chosen among (shuffled for each screen), both as identities of
    the item's parts: `candidate-2` is an image, `caption-negative-0` a caption. `question` tells apart the tasks of one
    item; like every identity it never reaches an annotator.
    """

    shows: tuple[str, ...]
    options: tuple[str, ...] = ()
    question: str = ""


Carried = Mapping[str, str]  # role → identity: what earlier stages chose, as {"negative": "candidate-2"}


def caption(role: str) -> str:
    """The identity of the item's first caption with that role."""
    return f"caption-{role}-0"


def negative_image(item: ItemRecord, carried: Carried) -> str:
    """The image that an earlier stage chose as the item's negative one, else the item's own. Raises NotSuitable."""
    own = "negative-0" if item.images_as("negative") else ""
    found = carried.get("negative") or own
    if not found:
        raise NotSuitable(f"item {item.key} has no negative image, and no stage before has chosen one")
    return found


def require(item: ItemRecord, *, captions: Sequence[str] = (), images: Sequence[str] = ()) -> None:
    """Raises NotSuitable, naming the item and what it lacks, unless it has a caption and an image of these roles."""
    has = {one.role for one in item.captions}
    for role in captions:
        if role not in has:
            raise NotSuitable(f"item {item.key} has no {role} caption")
    for role in images:
        if not item.images_as(role):
            raise NotSuitable(f"item {item.key} has no {role} image")


def nothing_right(question: str, options: Sequence[str]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Protocol:
    """`asks` raises NotSuitable. `right` names the right answer of a task that has one by construction, or "".

    `drops` names the outcomes that drop an item, each with its reason, by identity (`both`) or by role (`candidate`).
    `alike` options are votes for one thing, that some option fits (decisions.py). A protocol that `measures` drops no
    item: its answers are scored. `leaks` names the protocols in which having met an item would tell the answer here.
    """

    name: str
    title: str
    question: str  # one line above the material
    shown: str  # what is on a screen, as in "On each screen you see … and answer one question"
    instructions: str  # the default first version
    template: str  # the fragment that shows it: "judge/_pick_picture.html"
    asks: Callable[[ItemRecord, Carried], list[Ask]]
    fixed: tuple[Choice, ...] = ()  # stay last, in this order
    picks: tuple[str, str] = ("", "")  # of the help: the keys for options, and what they do: "pick a picture"
    projections: Mapping[str, Callable[[str], str]] = field(default_factory=dict)  # name → answer → label
    drops: Mapping[str, str] = field(default_factory=dict)
    alike: bool = False
    measures: bool = False
    leaks: frozenset[str] = frozenset()
    right: Callable[[str, Sequence[str]], str] = nothing_right

    def reason(self, outcome: str) -> str:
        """Why an item with this outcome is dropped, or "" where it is kept."""
        return self.drops.get(outcome) or self.drops.get(outcome.rpartition("-")[0], "")
