"""The definition of a protocol: the parts of an item it shows, what it asks, and how it reads answers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypedDict

from annotation.wording import gettext_noop
from benchmarks.records import ItemRecord

if TYPE_CHECKING:
    from annotation.protocols.schema import ProtocolFile

CANNOT_JUDGE = "cannot_judge"  # a counted answer that every protocol allows, with a reason

# How instructions end: on screens that take pictures to answer, and on the others.
PICTURE_CLOSING = gettext_noop("""\
Use “Cannot judge” only if you are unable to answer, for example because you do not understand a sentence or a picture
does not load, and say why. “Skip” passes the screen to somebody else. “Flag” tells the researchers that something is
wrong with the material.
""")
TEXT_CLOSING = gettext_noop("""\
Use “Cannot judge” only if you are unable to answer, for example because you do not understand a sentence, and say why.
“Skip” passes the screen to somebody else. “Flag” tells the researchers that something is wrong with the material.
""")


SENTENCE = gettext_noop("Sentence %(place)s: “%(sentence)s”")  # the wording of a stored pick


class UnsuitableItem(ValueError):
    """Raised if the protocol has no task for this item; the message names what the item lacks.

    `needs` is what the protocol needs of every item (“2 to 9 candidate images”), and `has` how many this one has.
    """

    def __init__(self, message: str, needs: str = "", has: int = 0):
        super().__init__(message)
        self.needs, self.has = needs, has


class InvalidAnswer(ValueError):
    """The submitted fields are not an answer under this protocol; the message tells the annotator what is missing.

    `message` and the `values` named in it are English; both are in the catalogues.
    """

    def __init__(self, message: str, **values: str):
        super().__init__(message % values if values else message)
        self.message, self.values = message, values


AnswerContent = TypedDict(
    "AnswerContent",
    {
        "texts": Mapping[str, str],  # role → its words according to the answer
        "from": Mapping[str, str],  # role → the identity of the text they were made from
        "guidelines": Mapping[str, bool],  # code → whether the guideline holds
        "reason": str,
    },
    total=False,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """`label` is what the decision rule and agreement use: an option's identity, a fixed answer, or
    what a form's answer comes to (`edited`), at most 40 characters.

    `content` has the rest, as JSON: `texts` (role → the final words), `from` (role → the identity of the text
    they were made from), `guidelines` (code → holds) …
    """

    label: str
    content: AnswerContent = field(default_factory=AnswerContent)

    @property
    def texts(self) -> Mapping[str, str]:
        return self.content.get("texts", {})


@dataclass(frozen=True, slots=True)
class Guideline:
    code: str
    words: str  # a statement that holds for good material
    key: str = ""  # the key that selects it
    fault: str = ""  # how its violation is worded, if annotators tick faults


# An item's own data that annotators don't see, by identity of its part: {"picture-0": {"model": "sd-3"}}. ITEM has the
# values of the item itself, by column, and RIGHT its right answers, by answer (item_data.py).
Attributes = Mapping[str, Mapping[str, Any]]
ITEM, RIGHT = "item", "right"
NO_ATTRIBUTES: Attributes = MappingProxyType({})
Phrase = tuple[str, Mapping[str, str]]  # an English message from the catalogues, and its values
SubmittedFields = Mapping[str, str]  # a screen's fields by name, as the page sends them
Projection = Callable[[str], str]  # answer → the label that agreement is computed on
TextsByIdentity = Mapping[str, str]  # identity → text: all captions of the item as left by earlier stages, and edits


@dataclass(frozen=True, slots=True)
class Form:
    """A screen whose answer is more than one pick. The page identifies options by position, from 1.

    `parse(sent, shown, texts, question)` reads the submitted fields, given the options in the order shown and the
    task's question, and raises InvalidAnswer. `fill(answer, shown)` is its inverse, for a screen that is shown again.
    `simulate(rng, shown, texts, question)` returns the fields that a simulated annotator submits, `describe(answer)`
    the answer in words for managers, and `describe_fields(fields, options, shown)` what `fill` returned in phrases for
    its annotator: `options` are the texts of those shown, or names of pictures.
    """

    parse: Callable[[SubmittedFields, Sequence[str], TextsByIdentity, str], Answer]
    fill: Callable[[Answer, Sequence[str]], dict[str, str]]
    simulate: Callable[[Random, Sequence[str], TextsByIdentity, str], dict[str, str]]
    describe: Callable[[Answer], str]
    describe_fields: Callable[[SubmittedFields, Sequence[str], Sequence[str]], list[Phrase]]
    script: str  # script of the judging page: "js/judging/rank.js"
    style: str = ""  # its style sheet, if css/judge.css is not enough: "css/judge-edit.css"
    keys: tuple[tuple[str, str], ...] = ()  # for the help: keys to press, and what they do
    edits: tuple[str, ...] = ()  # roles whose words can be changed
    guidelines: tuple[Guideline, ...] = ()
    confirms: bool = False  # a second annotator has to confirm an edit (decision_rule.confirm)
    labels: Callable[[Sequence[str]], Iterable[str]] | None = None  # labels possible with these options, if listable
    zooms: bool = True  # shows a picture to which the page's zoom applies


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer that is not shuffled: None, Both, a point of a scale. `keys` are the keys that select it."""

    identity: str
    label: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One task of an item under a protocol.

    `shows` is what the question is about and `options` the choices (shuffled for each screen), both as identities of
    the item's parts: `candidate-2` is an image, `caption-negative-0` a caption. `question` tells apart the tasks of an
    item; like every identity it never reaches an annotator.
    """

    shows: tuple[str, ...]
    options: tuple[str, ...] = ()
    question: str = ""


# What earlier stages chose or wrote: an image as role and identity, {"negative": "candidate-2"}, and a text as role and
# words, {"caption-second_positive": "A cat sits …"}.
Carried = Mapping[str, str]
CAPTION_PREFIX = "caption-"  # begins the keys in Carried that have words, not an identity


def caption_identity(role: str) -> str:
    """Return the identity of the item's first caption with that role."""
    return f"{CAPTION_PREFIX}{role}-0"


def caption_role(identity: str) -> str:
    """Return `second_positive` for `caption-second_positive-0`."""
    return identity.removeprefix(CAPTION_PREFIX).rpartition("-")[0]


def carried_texts(carried: Carried) -> dict[str, str]:
    """Return texts by role."""
    return {key.removeprefix(CAPTION_PREFIX): words for key, words in carried.items() if key.startswith(CAPTION_PREFIX)}


def carried_captions(carried: Carried) -> dict[str, str]:
    """Return texts that replace the item's own captions, by identity."""
    return {caption_identity(role): words for role, words in carried_texts(carried).items()}


def as_carried(texts: Mapping[str, str]) -> dict[str, str]:
    """Invert `carried_texts`."""
    return {f"{CAPTION_PREFIX}{role}": words for role, words in texts.items()}


def passed_on(carried: Carried, carries: str, outcome: str | None, contents: Iterable[AnswerContent]) -> dict[str, str]:
    """Return what a stage passes on with an item that all of its tasks keep: what came in (`carried`), its first task's
    outcome as `carries` (if the stage carries anything), and the texts of all outcomes.
    """
    found = dict(carried)
    if carries:
        found[carries] = outcome or ""
    for content in contents:
        found |= as_carried(content.get("texts", {}))
    return found


def require_parts(item: ItemRecord, *, captions: Sequence[str] = (), images: Sequence[str] = ()) -> None:
    """Raise UnsuitableItem, naming the item and what it lacks, unless it has a caption and an image of these roles."""
    has = {one.role for one in item.captions}
    for role in captions:
        if role not in has:
            raise UnsuitableItem(f"item {item.key} has no {role} caption", f"a {role.replace('_', ' ')} caption")
    for role in images:
        if not item.images_as(role):
            raise UnsuitableItem(f"item {item.key} has no {role} image", f"a {role.replace('_', ' ')} image")


NOMINAL, ORDINAL, INTERVAL, RANK, SET = "nominal", "ordinal", "interval", "rank", "set"  # levels of measurement
POINTS, BOXES = "points", "boxes"  # marks on a picture, compared by position
PAIRED = frozenset((RANK, SET, POINTS, BOXES))  # levels at which whole answers are compared


NEAR = 0.1  # share of the range within which numbers count as agreeing


@dataclass(frozen=True, slots=True)
class Scale:
    """How agreement treats labels: their `level` of measurement, and their `order` from low to high if they have one.
    Labels outside the order (not applicable, cannot judge) are ignored. Numbers between two `ends` have the order of
    numbers, and distances.
    """

    level: str = NOMINAL
    order: tuple[str, ...] = ()
    ends: tuple[float, float] | None = None
    radius: float = 0  # for points: the largest distance that agrees, as a share of the picture's sides

    def share(self, one: float, other: float) -> float:
        """Return the distance between two numbers as a share of the range."""
        least, most = self.ends or (0, 1)
        return abs(one - other) / (most - least)


@dataclass(frozen=True, slots=True)
class View:
    """A projection with its scale. `parts` splits an answer into what agreement compares, if that is more than one
    thing: the answer to each statement, or the mark on each word (`unit`).
    """

    project: Projection
    scale: Scale = Scale()
    parts: Callable[[str], Sequence[str]] | None = None
    unit: str = ""

    def __call__(self, label: str) -> str:
        return self.project(label)

    def on_scale(self, said: str) -> Sequence[str]:
        """Return the values that a projected label counts as; nothing if it is off the scale."""
        if not said or (self.scale.order and said not in self.scale.order):
            return ()
        if self.scale.ends and not said.removeprefix("-")[:1].isdecimal():
            return ()
        if said == CANNOT_JUDGE and self.scale.level in PAIRED:
            return ()
        return self.parts(said) if self.parts else (said,)


def level_of_view(view: Projection) -> str:
    return view.scale.level if isinstance(view, View) else NOMINAL


def main_view(views: Mapping[str, Projection]) -> str:
    """Return the view that pages show first: the answer itself if it is on a scale, else the first projection."""
    first, *others = views
    return first if not others or level_of_view(views[first]) != NOMINAL else others[0]


def no_right_answer(question: str, options: Sequence[str], of_item: Attributes = NO_ATTRIBUTES) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A kind of stage: what it asks about an item, and what the answers mean.

    `tasks(item, carried)` returns an item's tasks, or raises UnsuitableItem. `right_answer(question,
    options, of_item)` returns the right answer of a task that has one, by construction or by its item, else "". `drops`
    maps the outcomes that drop an item to reasons, by identity (`both`) or by role (`candidate`). If options are
    `alike`, each is a vote that some option fits (decision_rule.py). A protocol that `measures` drops no item: its
    answers are scored. `leaks` names the protocols whose annotators would already know the answer. `made_from` is the
    protocol file it was compiled from, and `file` is the same file if it decides (a published version). For all
    others, the stage's own settings decide.
    """

    name: str
    title: str
    question: str  # one line above the material; this and what follows in English, and in the catalogues
    shown: str  # what is on a screen, as in "On each screen you see … and answer one question"
    instructions: tuple[str, ...]  # the default first version, in parts that are in the catalogues
    template: str  # the fragment that shows it: "judging/_pick_picture.html"
    tasks: Callable[[ItemRecord, Carried], list[TaskSpec]]
    fixed: tuple[Choice, ...] = ()  # stay last, in this order
    picks: tuple[str, str] = ("", "")  # for the help: the keys for options, and what they do: "pick a picture"
    more_keys: tuple[tuple[str, str], ...] = ()  # for the help; a form has its own
    projections: Mapping[str, Projection] = field(default_factory=dict)  # by name
    drops: Mapping[str, str] = field(default_factory=dict)
    alike: bool = False
    measures: bool = False
    leaks: frozenset[str] = frozenset()
    right_answer: Callable[..., str] = no_right_answer
    form: Form | None = None  # if the answer is more than a pick
    file: "ProtocolFile | None" = None
    made_from: "ProtocolFile | None" = None
    pick_style: str = ""  # style sheet without a form, if css/judge.css is not enough

    @property
    def style(self) -> str:
        """Return the judging page's additional style sheet, or ""."""
        return self.form.style if self.form else self.pick_style

    @property
    def edits(self) -> tuple[str, ...]:
        """Return the roles whose words annotators can change."""
        return self.form.edits if self.form else ()

    @property
    def written(self) -> tuple[str, ...]:
        """Return the roles of the texts that a stage with this protocol gives its items."""
        if self.file is None:
            return self.edits
        return tuple(role for kind, _, role in (one.partition(".") for one in self.file.carry) if kind != "images")

    @property
    def guidelines(self) -> tuple[Guideline, ...]:
        """Return the statements that annotators check; none if the protocol has none."""
        return self.form.guidelines if self.form else ()

    @property
    def confirms(self) -> bool:
        """Return whether a second annotator has to confirm an edit."""
        return self.form is not None and self.form.confirms

    def tasks_for(self, record: ItemRecord, carried: Carried) -> list[TaskSpec]:
        """Return `tasks` for the item with the words earlier stages gave it. Raises UnsuitableItem."""
        return self.tasks(record.with_captions(carried_texts(carried)), carried)

    def would_carry(self, carries: str) -> dict[str, str]:
        """Return what a stage with this protocol passes on with an item, as far as known before anybody has judged."""
        chosen = {carries: "candidate-0"} if carries else {}
        return chosen | as_carried(dict.fromkeys(self.written, "…"))

    def reason(self, outcome: str) -> str:
        """Return why an item with this outcome is dropped, or "" if it is kept."""
        return self.drops.get(outcome) or self.drops.get(outcome.rpartition("-")[0], "")
