"""Orders for jobs, described once: a frozen dataclass whose fields are those of a Django form.

It has a field's default, limits, label and help. The page's form (`OrderForm`) and the command's options
(`management/orders.py`) are made from it, and `checked` enforces its limits for both. In a help text, `backticks`
enclose what a user types.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeVar

from django import forms

from benchmarks.formats.own.mapping import Mapped, NotAMapping
from benchmarks.records import Problem, Refused
from workers.models.model_name import LONGEST

MOST_SEED = 2**31 - 1
MOST_PRICE = 1e6
MOST_TOKENS = 4096  # in an answer
Order = TypeVar("Order")


@dataclass(frozen=True)
class Described:
    """`option`: the name of the command's option, if different from the field's."""

    field: forms.Field
    option: str = ""


def described(field: forms.Field, option: str = "") -> Any:
    """Make a field of an order. Without an `initial` value, an optional field is "", None or False if omitted, and a
    required one must be given."""
    default: Any = field.initial
    if default is None and not field.required:
        default = False if isinstance(field, forms.BooleanField) else getattr(field, "empty_value", None)
    metadata = {"described": Described(field, option)}
    if default is None and field.required:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def text(label: str, help_text: str = "", *, option: str = "", **more: Any) -> Any:
    return described(forms.CharField(label=label, help_text=help_text, **more), option)


def model(label: str, help_text: str, required: bool = True, **more: Any) -> Any:
    """Make a field for the name of a model, of its weights, or of what it reads with each caption."""
    return text(label, help_text, max_length=LONGEST, required=required, **more)


def whole(label: str, low: int, high: int, help_text: str = "", **more: Any) -> Any:
    return described(forms.IntegerField(label=label, min_value=low, max_value=high, help_text=help_text, **more))


def real(label: str, low: float, high: float, help_text: str = "", **more: Any) -> Any:
    return described(forms.FloatField(label=label, min_value=low, max_value=high, help_text=help_text, **more))


def choice(label: str, choices: Sequence[tuple[str, str]], help_text: str = "", **more: Any) -> Any:
    return described(forms.ChoiceField(label=label, choices=choices, help_text=help_text, **more))


def options_of(order: type) -> dict[str, Described]:
    """Return the description of each field, by name."""
    return {one.name: one.metadata["described"] for one in dataclasses.fields(order) if "described" in one.metadata}


def default_of(order: type, name: str) -> Any:
    """Return the default; dataclasses.MISSING if the field must be given."""
    return order.__dataclass_fields__[name].default  # type: ignore[attr-defined]  # of every dataclass


def checked(order: Order) -> Order:
    """Return the order with its values as its fields read them. Raises Refused if a field rejects its value."""
    values = {}
    for name, one in options_of(type(order)).items():
        try:
            values[name] = one.field.clean(getattr(order, name))
        except forms.ValidationError as error:
            advice = f"{one.field.label or name.capitalize().replace('_', ' ')}: {' '.join(error.messages)}"
            raise Refused([Problem("WRONG_VALUE", "", None, name, advice)]) from None
    return dataclasses.replace(order, **values)  # type: ignore[type-var]  # a dataclass


class OrderForm(forms.Form):
    """A page's form for an order. A field declared in a subclass replaces the order's field of that name, or is added.
    `not_asked`: names of fields that the page leaves at their defaults."""

    takes: type
    not_asked: Iterable[str] = ()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        fields = {
            name: deepcopy(one.field) for name, one in options_of(self.takes).items() if name not in self.not_asked
        }
        self.fields = fields | self.fields
        for field in self.fields.values():
            if isinstance(field, forms.FileField):
                continue
            field.widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
            if isinstance(field, forms.FloatField):
                field.widget.attrs["step"] = "any"

    def values(self) -> dict[str, Any]:
        """Return the valid form's values for the order; empty ones have their defaults."""
        given = {name: self.cleaned_data[name] for name in options_of(self.takes) if name in self.cleaned_data}
        for name, value in given.items():
            default = default_of(self.takes, name)
            if value in self.fields[name].empty_values and default is not dataclasses.MISSING:
                given[name] = default
        return given

    @property
    def order(self) -> Any:
        """Return the order from the valid form."""
        return self.takes(**self.values())


class LinesField(forms.Field):
    """A list of texts, one per line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def to_python(self, value: Any) -> tuple[str, ...]:
        lines = value.splitlines() if isinstance(value, str) else value or ()
        return tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) or value is None else "\n".join(value)


class MappingField(forms.CharField):
    """A mapping in its stored JSON form. `read`: its reader, which raises NotAMapping."""

    def __init__(self, read: Callable[[str], Mapped], *, rows: int, **given):
        super().__init__(widget=forms.Textarea(attrs={"rows": rows, "class": "code"}), **given)
        self.read = read

    def clean(self, value: object) -> str:
        given = super().clean(value)
        try:
            return json.dumps(self.read(given).as_json(), ensure_ascii=False) if given else ""
        except NotAMapping as error:
            raise forms.ValidationError(str(error)) from None


def mapping(read: Callable[[str], Mapped], rows: int, help_text: str) -> Any:
    return described(
        MappingField(read, rows=rows, max_length=20_000, required=False, label="Mapping", help_text=help_text)
    )


def weights() -> Any:
    tags = "a tag such as `openai` or `laion2b_s34b_b79k`"
    return model("Weights", f"For an architecture: {tags}, or a file in the server’s model folder.", False)


def look() -> Any:
    return switch("Look only", "Read the first rows of your own table, and report the meaning of each column.")


def device() -> Any:
    help_text = "`auto` uses a GPU if there is one. Or choose `cpu`, `cuda`, `cuda:1` or `mps`."
    return text("Device", help_text, max_length=8, initial="auto")


def price(label: str) -> Any:
    return real(label, 0, MOST_PRICE, initial=0.0, required=False)


def parallel() -> Any:
    return whole("Simultaneous questions to the endpoint", 1, 64, initial=4)


def timeout() -> Any:
    return real("Seconds to wait for an answer", 0.1, 3600, initial=120.0)


def switch(label: str, help_text: str, initial: bool | None = None) -> Any:
    return described(forms.BooleanField(required=False, initial=initial, label=label, help_text=help_text))
