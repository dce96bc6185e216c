"""The protocol file, `winnow: protocol/1`, as types: its keys, and the kinds of their values.

The JSON Schema in docs/reference is made from these types (`manage.py protocol_schema`). What goes beyond a file's
form, such as a role that does not exist, is checked in `checks`.
"""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, cached_property
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from annotation.wording import exact

VERSION = "protocol/1"
LARGEST = 10**15  # a number that floating point can still tell from its neighbours
MOST_KEYS = 9  # options have the keys 1 to 9, and so do the ranks of a ranking
MOST_OPTIONS = 200  # in a pick, as many as an item can have captions
MOST_TASKS = 1_000  # per item
MOST_MARKS = 40  # on a picture
MOST_IN_ROW = 4  # pictures side by side, which are 85 pixels wide on a phone
# Everything in a file has a bound, so that a small file cannot cause much work (a test walks the JSON Schema).
_MOST_ANSWERS = 12
_MOST_NAMES = 100  # in a table or a list, unless a lower limit applies

T = TypeVar("T")


class Strict(BaseModel):
    """A model without extra keys or values that would first have to be converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, serialize_by_alias=True)


def _one_or_more(value: object) -> object:
    return value if isinstance(value, list) else [value]


def as_value(value: object) -> object:
    """Values of answers are texts; a file may write the points of a scale as numbers: 1, 0.5."""
    return exact(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _count(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _yes_or_no(value: object) -> object:
    return {"yes": True, "no": False}.get(value, value) if isinstance(value, str) else value


def _form_of(forms: Mapping[str, str], other: str | None = None) -> Callable[[Any], str | None]:
    """Return a function that finds which form a value has, by the key only this form has."""

    def form(value: Any) -> str | None:
        if isinstance(value, Strict):
            return type(value).__name__
        return next((forms[key] for key in forms if isinstance(value, dict) and key in value), other)

    return form


POINTS = r"^-?[0-9]+(\.[0-9]+)?\.\.-?[0-9]+(\.[0-9]+)?$"  # from one point to another
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=16)]
ProtocolName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=32)]
Reference = Annotated[
    str, StringConstraints(pattern=r"^(images|captions|texts|lists)\.[a-z][a-z0-9_]*$", max_length=25)
]
_CountText = Annotated[str, StringConstraints(pattern=r"^([0-9]{1,3}(\.\.[0-9]{0,3})?|(0\.\.)?first)$", max_length=8)]
Count = Annotated[_CountText, BeforeValidator(_count, json_schema_input_type=int | _CountText)]
Address = Annotated[str, StringConstraints(max_length=33)]  # an answer, or one of its statements, such as holds.same
_ValueText = Annotated[str, StringConstraints(max_length=40)]
Value = Annotated[_ValueText, BeforeValidator(as_value, json_schema_input_type=_ValueText | float)]
Seen = Annotated[str, StringConstraints(max_length=200), BeforeValidator(as_value)]
_Values = Annotated[list[Value], Field(max_length=_MOST_NAMES)]
Values = Annotated[_Values, BeforeValidator(_one_or_more, json_schema_input_type=_Values | Value)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\r\n]*$")]
Reason = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Key = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]$", max_length=1)]
_ShareText = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]?/[1-9][0-9]?$", max_length=5)]
_Share = Annotated[_ShareText, BeforeValidator(as_value, json_schema_input_type=_ShareText)]
Column = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\r\n]*$")]  # in an item's data
_Columns = Annotated[list[Column], Field(min_length=1, max_length=12)]
Columns = Annotated[_Columns, BeforeValidator(_one_or_more, json_schema_input_type=_Columns | Column)]
CountOrShare = Annotated[
    Annotated[int, Field(ge=1, le=99), Tag("count")] | Annotated[_Share, Tag("share")],
    Discriminator(lambda value: "count" if isinstance(value, int) else "share"),
]
# YAML 1.2 reads yes and no as texts, and answers' values are written like this (`compare: yes`): settings take both.
_Flag = Annotated[bool, BeforeValidator(_yes_or_no, json_schema_input_type=bool | Literal["yes", "no"])]
_NumberText = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,2}(\.\.([1-9][0-9]{0,2})?)?$", max_length=8)]
# Whether several options may be chosen, or how many: `2`, `1..3`, `2..`.
_Many = Annotated[
    bool | _NumberText,
    BeforeValidator(
        lambda value: _count(_yes_or_no(value)), json_schema_input_type=bool | Literal["yes", "no"] | int | _NumberText
    ),
]
TaskName = Annotated[str, StringConstraints(max_length=104)]  # five names of members, separated by /


class Item(Strict):
    """What an item must have, by role: `2`, `2..9` or `1..` members; `0..1` if it may lack it. With `first`, it may
    have more, but only the first is used; `0..first` if it may lack it.

    A list is the texts of one role in their order. `attributes` are further data of its parts (an image's `model`), for
    rules that use them.
    """

    images: dict[Name, Count] = Field(default_factory=dict, max_length=_MOST_NAMES)
    captions: dict[Name, Count] = Field(default_factory=dict, max_length=_MOST_NAMES)
    texts: dict[Name, Count] = Field(default_factory=dict, max_length=_MOST_NAMES)
    lists: dict[Name, Count] = Field(default_factory=dict, max_length=_MOST_NAMES)
    attributes: list[Name] = Field(default_factory=list, max_length=_MOST_NAMES)


_References = Annotated[list[Reference], Field(max_length=_MOST_NAMES)]
References = Annotated[_References, BeforeValidator(_one_or_more, json_schema_input_type=_References | Reference)]


class Each(Strict):
    """A task for each member of a role, or for each combination of members of several. Names stand for the member."""

    each: Annotated[dict[Name, References], Field(min_length=1, max_length=5)]  # the task's name contains each


class Pairs(Strict):
    """Tasks that compare two members of a role: all pairs, or `per_item` of them, drawn by the item's key.

    In a balanced design, every member appears equally often, give or take one.
    """

    pairs: Reference
    design: Literal["all", "random", "balanced"] = "all"
    per_item: Annotated[int, Field(ge=1, le=200)] | None = None


class Rows(Strict):
    """Named tasks, each with the parts that its names stand for. An item without such a part doesn't get the task."""

    rows: Annotated[
        dict[Name, Annotated[dict[Name, Reference], Field(max_length=_MOST_ANSWERS)]],
        Field(min_length=1, max_length=_MOST_NAMES),
    ]


Tasks = Annotated[
    Annotated[Literal["item"], Tag("item")]
    | Annotated[Each, Tag("Each")]
    | Annotated[Pairs, Tag("Pairs")]
    | Annotated[Rows, Tag("Rows")],
    Discriminator(_form_of({"each": "Each", "pairs": "Pairs", "rows": "Rows"}, "item")),
]


class Picture(Strict):
    """One picture, with the zoom; `label` is shown on it. Up to four consecutive pictures form a row. `points` and
    `boxes` are drawn on it: a text of the item, or an attribute of the image, with a JSON list of them.
    """

    picture: Name
    label: Line | None = None
    points: Name | None = None
    boxes: Name | None = None


class Pictures(Strict):
    """All pictures of a role: side by side in every window (`row`), or in the `grid` that shows them largest."""

    pictures: Name
    layout: Literal["row", "grid"] = "grid"


class Sentence(Strict):
    """A caption or another text; `label` is shown before it."""

    sentence: Name
    label: Line | None = None


class Listed(Strict):
    """All texts of a role, one below the other."""

    list: Name
    label: Line | None = None


class OnRequest(Strict):
    """A picture that is shown when the annotator asks for it."""

    on_request: Name


Block = Annotated[
    Annotated[Picture, Tag("Picture")]
    | Annotated[Pictures, Tag("Pictures")]
    | Annotated[Sentence, Tag("Sentence")]
    | Annotated[Listed, Tag("Listed")]
    | Annotated[OnRequest, Tag("OnRequest")],
    Discriminator(
        _form_of(
            {"picture": "Picture", "pictures": "Pictures", "sentence": "Sentence", "list": "Listed",
             "on_request": "OnRequest"}
        )
    ),
]  # fmt: skip


class Fixed(Strict):
    """An answer that is not shuffled. Without keys, it gets the first free letter of its label."""

    label: Line
    keys: list[Key] = Field(default_factory=list, max_length=36)


def _label_alone(value: object) -> object:
    return {"label": value} if isinstance(value, str) else value


Choice = Annotated[Fixed, BeforeValidator(_label_alone, json_schema_input_type=Fixed | Line)]


FACT = r"^([a-z][a-z0-9_]*|(images|captions|texts|lists)\.[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?)$"  # of an item
_Fact = Annotated[str, StringConstraints(pattern=FACT, max_length=42)]
_OfItem = Annotated[dict[_Fact, Values], Field(max_length=_MOST_NAMES)]


class When(Strict):
    """Whether a question is asked: if `all` of these answers, or `any` of them, have one of the listed values.

    With `item`, only for items that meet all of these: how many members a role has (`images.second: 1..`), an attribute
    of one of them (`images.second.model: [sd-3]`), or one of the item itself (`type: [counting]`).
    """

    all: dict[Address, Values] = Field(default_factory=dict, max_length=_MOST_NAMES)
    any: dict[Address, Values] = Field(default_factory=dict, max_length=_MOST_NAMES)
    item: _OfItem = Field(default_factory=dict)


def _all_of(value: object) -> object:
    if not isinstance(value, dict):
        return value
    of_item = {"item": value["item"]} if isinstance(value.get("item"), dict) else {}
    others = {key: of for key, of in value.items() if key not in of_item}
    return value if others.keys() <= {"all", "any"} else {"all": others, **of_item}


_Answers = Annotated[dict[Address, Values | _OfItem], Field(max_length=_MOST_NAMES)]
Condition = Annotated[When, BeforeValidator(_all_of, json_schema_input_type=When | _Answers)]


class _Asked(Strict):
    """`ask` is the line above the answer; a single answer may leave it to the protocol's `ask`."""

    name: Name
    ask: Line | None = None
    when: Condition | None = None
    required: _Flag = True


class Pick(_Asked):
    """One of the shuffled options or fixed answers, or with `many` any number of them, or the number given: `2`,
    `1..3`, `2..`. The fixed answer `none` can only be chosen on its own.

    If the options are `alike`, each is a vote that some option fits: whether one does is decided first, then which.
    """

    kind: Literal["pick"]
    of: References = Field(default_factory=list)
    fixed: dict[Name, Choice] = Field(default_factory=dict, max_length=36)  # each has a key
    many: _Many = False
    alike: _Flag = False


MOST_BUTTONS = 11  # scale points shown as buttons; more become a slider
MOST_POINTS = 1_001


class Scale(_Asked):
    """A point of a scale: `points` from 1, the points listed, or a range, 0..100, in steps of `step`.

    More than 11 are a slider, with a field to type the number. `anchors` are words for some points.
    """

    kind: Literal["scale"]
    points: (
        Annotated[int, Field(ge=2, le=MOST_POINTS)]
        | Annotated[list[float], Field(min_length=2, max_length=MOST_BUTTONS)]
        | Annotated[str, StringConstraints(pattern=POINTS, max_length=40)]
    )
    step: Annotated[float, Field(ge=0.001, le=LARGEST)] = 1
    anchors: dict[Value, Line] = Field(default_factory=dict, max_length=MOST_BUTTONS)
    not_applicable: Line | None = None


class Number(_Asked):
    """A number that is typed, from `least` to `most`: a whole number, or one with at most `decimals` decimals."""

    kind: Literal["number"]
    least: float = 0
    most: float
    decimals: Annotated[int, Field(ge=0, le=4)] = 0
    not_applicable: Line | None = None


class Rank(_Asked):
    """The options in order, best first."""

    kind: Literal["rank"]
    of: References
    ties: _Flag = True


class Pair(_Asked):
    """The better of two options. `of: pair` means those that the task compares."""

    kind: Literal["pair"]
    of: Literal["pair"] | References
    tie: Choice | None = None
    both_bad: Choice | None = None


class Check(_Asked):
    """Yes or no to each of the `statements`, or of the texts of a list.

    `parents` names the attribute of a text that lists the places (from 1) of texts that must be answered yes for it to
    count: otherwise it counts as no.
    """

    kind: Literal["check"]
    of: Reference | None = None
    statements: dict[Name, Line] = Field(default_factory=dict, max_length=_MOST_NAMES)
    unsure: _Flag = False
    parents: Name | None = None


class Words(_Asked):
    """A mark on some words of a text; the others count as `unmarked`."""

    kind: Literal["words"]
    of: Name | Reference
    marks: Annotated[dict[Name, Choice], Field(min_length=1, max_length=4)]
    unmarked: Name = "fits"


class Text(_Asked):
    """Free text, in characters."""

    kind: Literal["text"]
    shortest: Annotated[int, Field(ge=0, le=2000)] = 1
    longest: Annotated[int, Field(ge=1, le=5000)] = 2000


class Edit(_Asked):
    """A text of the item, which may be changed."""

    kind: Literal["edit"]
    of: Name | Reference
    longest: Annotated[int, Field(ge=1, le=5000)] = 2000


class _Marks(_Asked):
    """Marks on a picture of the screen, each with one of the `labels` if there are any. `least: 0` allows no marks."""

    of: Name
    least: Annotated[int, Field(ge=0, le=MOST_MARKS)] = 1
    most: Annotated[int, Field(ge=1, le=MOST_MARKS)] = 10
    labels: dict[Name, Choice] = Field(default_factory=dict, max_length=9)


class Points(_Marks):
    """Two points agree if they are at most `radius` apart, as a share of the picture's sides."""

    kind: Literal["points"]
    radius: Annotated[float, Field(gt=0, le=1)] = 0.05


class Boxes(_Marks):
    """Two boxes agree by their overlap."""

    kind: Literal["boxes"]


Answer = Annotated[
    Pick | Scale | Number | Rank | Pair | Check | Words | Text | Edit | Points | Boxes, Field(discriminator="kind")
]


class _Decided(Strict):
    """How the judgments of a task decide its item. `answer` may name one statement of a check: `holds.same`."""

    answer: Address


class _Table(_Decided):
    """Every value is kept, or dropped with a reason; `cannot_judge` is dropped unless the table says otherwise."""

    keep: Values = Field(default_factory=list)
    drop: dict[Value, Reason] = Field(default_factory=dict, max_length=_MOST_NAMES)


class _Tied(_Table):
    """With `none`, a tie counts as the fixed answer of that name."""

    tie: Literal["drop", "adjudicate", "first", "none"] = "drop"


class Majority(_Tied):
    """The most common value; for a pick of many, each option that more than half chose."""

    rule: Literal["majority"]


class DawidSkene(_Tied):
    """The most probable value, given how reliable each annotator is over all tasks."""

    rule: Literal["dawid_skene"]


class AtLeast(_Table):
    """Kept if at least `m` gave the value `of`, or a share of them: `m: 2/3`. Otherwise the most common answer gives
    the reason for dropping it, or `else` if there is none. A pick of many has no `of`: each option that at least `m`
    chose counts.
    """

    rule: Literal["at_least"]
    of: Value = ""
    m: CountOrShare

    def is_met(self, given: int, judgments: int) -> bool:
        """Return whether this many of the judgments are enough, without rounding."""
        return given >= (self.m if isinstance(self.m, int) else Fraction(self.m) * judgments)


class Unanimous(_Table):
    """The value that everybody gave; `else` if they differ."""

    rule: Literal["unanimous"]


class _Bounded(_Decided):
    """Kept from `at_least` on, or without it whatever the number. `below` is the reason for dropping the others,
    `no_value` for those without a number.
    """

    at_least: float | None = None
    below: Reason = "below"
    no_value: Reason = "not_applicable"


class Mean(_Bounded):
    rule: Literal["mean"]


class Median(_Bounded):
    rule: Literal["median"]


class Agreement(_Decided):
    """Kept if annotators' marks agree to at least `at_least`: by the mean F1 of their points, or IoU of their boxes.
    `below` is the reason for dropping the others.
    """

    rule: Literal["agreement"]
    at_least: Annotated[float, Field(ge=0, le=1)]
    below: Reason = "below"


class MeanRank(_Decided):
    """The option that is best on average. It drops only what cannot be judged. With `over`, the study also has the mean
    rank of each value of an attribute.
    """

    rule: Literal["mean_rank"]
    tie: Literal["drop", "adjudicate", "first"] = "first"
    over: Name | None = None


class BradleyTerry(_Decided):
    """The strength of each value of an attribute, over all items. It drops only what cannot be judged."""

    rule: Literal["bradley_terry"]
    over: Name


class Latest(_Decided):
    """The last text given."""

    rule: Literal["latest"]


Decision = Annotated[
    Majority | DawidSkene | AtLeast | Unanimous | Mean | Median | Agreement | MeanRank | BradleyTerry | Latest,
    Field(discriminator="rule"),
]


class Measure(Strict):
    """How agreement on an answer is computed, and its score.

    `views` are tables from values to coarser ones, with `else` for the rest; for a ranking, from orders that must all
    hold: `positive>negative, other>=negative`. `score` is `mean`, or the share of a value of the answer or of a view.
    """

    agreement: Literal["nominal", "ordinal", "interval", "rank", "set", "points", "boxes"] | None = None
    views: dict[Line, Annotated[dict[Seen, Value], Field(max_length=_MOST_NAMES)]] = Field(
        default_factory=dict, max_length=_MOST_ANSWERS
    )
    score: Value | None = None


class Comparison(Strict):
    """A group that counts if more annotators gave the value `compare` to the tasks in which it is right than to the
    others, among those with the same part in each of the names in `within`.
    """

    compare: Value
    within: Annotated[list[Name], Field(min_length=1, max_length=5)]


_Terms = Annotated[list[Name], Field(min_length=2, max_length=_MOST_ANSWERS)]
_Weights = Annotated[dict[Name, float], Field(min_length=2, max_length=_MOST_ANSWERS)]
_Weighted = Annotated[
    Annotated[_Terms, Tag("list")] | Annotated[_Weights, Tag("weights")],
    Discriminator(lambda value: "weights" if isinstance(value, dict) else "list"),
]


class Combined(Strict):
    """A score of each judgment that combines several of its numeric answers. It has one of these keys.

    A list takes the numbers as they are, a table multiplies each by its weight, which may be negative; a mean's weights
    are positive, and it is divided by their sum.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    mean: _Weighted | None = None
    sum: _Weighted | None = None
    min: _Weighted | None = None
    product: _Terms | None = None
    geometric_mean: _Terms | None = None

    @property
    def rules(self) -> list[str]:
        """Return the keys present; a file without mistakes has one."""
        return [name for name, of in self if of is not None]

    @property
    def rule(self) -> str:
        return self.rules[0]

    @property
    def weights(self) -> dict[str, float]:
        """Return weights by answer."""
        of = getattr(self, self.rule)
        return of if isinstance(of, dict) else dict.fromkeys(of, 1.0)


class ByItem(Strict):
    """The right answer of each item, from its own data: a further column of its file, or a text of that role.

    `values` maps the data's values to the answer's; without it, the answer's values and labels are recognised, its
    options by name, text or letter, and yes and no in their usual spellings.
    """

    column: Column = Field(alias="from")
    values: dict[Seen, Value] = Field(default_factory=dict, max_length=_MOST_NAMES)


def _form_of_right(value: object) -> str:
    if isinstance(value, ByItem) or (isinstance(value, dict) and "from" in value):
        return "ByItem"
    return "tasks" if isinstance(value, dict) else "set" if isinstance(value, list) else "value"


_BY_TASK: dict[str, Any] = {"not": {"required": ["from"]}}  # a JSON Schema accepts only one of two forms
Right = Annotated[
    Annotated[Value, Tag("value")]
    | Annotated[_Values, Tag("set")]
    | Annotated[ByItem, Tag("ByItem")]
    | Annotated[dict[TaskName, Value], Field(max_length=MOST_TASKS, json_schema_extra=_BY_TASK), Tag("tasks")],
    Discriminator(_form_of_right),
]


class Over(Strict):
    """All tasks of the items that have the same values in these columns; with `every`, of that many items in a row. An
    item without a value in one of the columns is in no group.
    """

    over: Columns | None = None
    every: Annotated[int, Field(ge=2, le=1_000)] | None = None


Group = Annotated[
    Annotated[list[Name], Field(max_length=_MOST_NAMES), Tag("list")]
    | Annotated[Comparison, Tag("Comparison")]
    | Annotated[Over, Tag("Over")],
    Discriminator(_form_of({"compare": "Comparison", "within": "Comparison", "over": "Over", "every": "Over"}, "list")),
]


class ProtocolFile(Strict):
    """A whole file.

    `right` has the right answers, which annotators never get: by construction a value (a pick of many: or several), or
    a value for each task by name; or each item's own. A file with one answer can write `right: {from: label}`. `group`
    lists which tasks of an item must all be right: those with the same part in the names listed, none for all of them;
    of rows, the rows listed; or a comparison of tasks; or the tasks of several items. `scores` combine several answers.
    `leaks` are protocols that an annotator must not have met on the same material.
    """

    winnow: Literal["protocol/1"]
    name: ProtocolName
    title: Annotated[str, StringConstraints(min_length=1, max_length=60)]
    source: Annotated[str, StringConstraints(max_length=500)] = ""
    ask: Line
    shown: Line | None = None
    instructions: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
    item: Item
    tasks: Tasks = "item"
    screen: Annotated[list[Block], Field(max_length=12)] = Field(default_factory=list)
    answers: Annotated[list[Answer], Field(min_length=1, max_length=_MOST_ANSWERS)]
    judgments: Annotated[int, Field(ge=1, le=99)] = 1
    decide: list[Decision] = Field(default_factory=list, max_length=_MOST_NAMES)
    carry: dict[Reference, Name] = Field(default_factory=dict, max_length=_MOST_ANSWERS)
    measure: dict[Address, Measure] = Field(default_factory=dict, max_length=_MOST_NAMES)
    scores: dict[Name, Combined] = Field(default_factory=dict, max_length=_MOST_ANSWERS)
    group: dict[Name, Group] = Field(default_factory=dict, max_length=_MOST_ANSWERS)
    right: dict[Name, Right] = Field(default_factory=dict, max_length=_MOST_ANSWERS)
    leaks: list[ProtocolName] = Field(default_factory=list, max_length=_MOST_NAMES)

    @model_validator(mode="before")
    @classmethod
    def _right_of_the_only_answer(cls, data: Any) -> Any:
        """Expand `right: {from: label}` in a file with one answer."""
        match data:
            case {"right": {"from": _} as right, "answers": [{"name": str(name)}]} if name != "from":
                return {**data, "right": {name: right}}
        return data

    def answer(self, name: str) -> Any:
        """Return the answer of that name. Raises KeyError."""
        return {one.name: one for one in self.answers}[name]

    @cached_property  # asked twelve times for each rating of a file; no copy of a file changes its roles
    def roles(self) -> Mapping[str, str]:
        """Return counts by role, such as `images.scene`."""
        item = self.item
        kinds = {"images": item.images, "captions": item.captions, "texts": item.texts, "lists": item.lists}
        return {f"{kind}.{role}": count for kind, roles in kinds.items() for role, count in roles.items()}


_COUNT = re.compile(r"(\d+)(?:(\.\.)(\d*))?")
_FIRST = "first"


def uses_first(count: str) -> bool:
    """Return whether only the first member of the role is used, however many an item has."""
    return count.endswith(_FIRST)


def bounds(count: str) -> tuple[int, int | None]:
    """Return the fewest and most members of a role used; None: any number. `2..9` → (2, 9), `first` → (1, 1)."""
    if uses_first(count):
        return int(count == _FIRST), 1
    least, dots, most = _COUNT.fullmatch(count).groups()  # type: ignore[union-attr]
    return int(least), (int(most) if most else None) if dots else int(least)


def _allowed(count: str) -> tuple[int, int | None]:
    """Return the fewest and the most members that an item may have."""
    least, most = bounds(count)
    return least, None if uses_first(count) else most


def is_within(there: int, count: str) -> bool:
    """Return whether an item may have `there` members."""
    least, most = _allowed(count)
    return least <= there and (most is None or there <= most)


def overlap(one: str, other: str) -> bool:
    """Return whether some number of members is within both counts."""
    (least, most), (other_least, other_most) = _allowed(one), _allowed(other)
    return (most is None or other_least <= most) and (other_most is None or least <= other_most)


def how_many(count: str) -> str:
    """Return how many members an item may have, in words: `2`, `2 or more`, `2 to 9`."""
    least, most = _allowed(count)
    return f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"


@cache
def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of protocol files; no object allows further keys."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **ProtocolFile.model_json_schema()}
    _close(schema)
    return schema


def _close(schema: Any) -> None:
    """Forbid keys that are not names, which pydantic refuses without putting it in the schema."""
    if isinstance(schema, dict):
        if "patternProperties" in schema:
            schema["additionalProperties"] = False
        for value in schema.values():
            _close(value)
    elif isinstance(schema, list):
        for value in schema:
            _close(value)
