"""Page forms as request bodies: their fields in JSON, and the form as the page would send it."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from django import forms
from django.http import QueryDict
from rest_framework import serializers

from benchmarks.api.commands import Body
from benchmarks.api.errors import form_problems, invalid
from benchmarks.jobs.orders import LinesField, default_of, options_of

FormOf = TypeVar("FormOf", bound=forms.Form)


def body_field(field: forms.Field, **more: Any) -> serializers.Field:
    """Convert a form field to an API field; an empty value becomes null."""
    says: dict[str, Any] = {"required": field.required, "help_text": str(field.help_text or field.label or ""), **more}
    choices: list[Any] = [one for one in getattr(field, "choices", ()) if one[0] != ""]
    limits: dict[str, Any] = {name: getattr(field, name, None) for name in ("min_value", "max_value")}
    match field:
        case forms.BooleanField():
            return serializers.BooleanField(**says | {"required": False})
        case forms.DecimalField():
            return serializers.DecimalField(field.max_digits, field.decimal_places, **limits, **says)
        case forms.FloatField():
            return serializers.FloatField(allow_null=True, **limits, **says)
        case forms.IntegerField():
            return serializers.IntegerField(allow_null=True, **limits, **says)
        case forms.MultipleChoiceField() | LinesField():
            child = serializers.ChoiceField(choices) if choices else serializers.CharField()
            return serializers.ListField(child=child, **says)
        case forms.ChoiceField():
            return serializers.ChoiceField(choices, **says)
    most = getattr(field, "max_length", None)
    return serializers.CharField(trim_whitespace=False, max_length=most, allow_blank=not field.required, **says)


class FormBody(Body):
    """A body with a form's fields besides its own, or with its own in place of a field."""

    form: type[forms.Form]

    def get_fields(self) -> dict[str, serializers.Field]:
        own = super().get_fields()
        return own | {name: body_field(one) for name, one in self.form.base_fields.items() if name not in own}


class OrderBody(Body):
    """The same with the fields of an order (jobs/orders.py), `without` some."""

    order: type
    without: tuple[str, ...] = ()

    def get_fields(self) -> dict[str, serializers.Field]:
        own = super().get_fields()
        return own | {
            name: _order_field(one.field, default_of(self.order, name))
            for name, one in options_of(self.order).items()
            if name not in own and name not in self.without
        }


def _order_field(field: forms.Field, default: object) -> serializers.Field:
    if isinstance(field, forms.BooleanField):
        return body_field(field, default=default)
    return body_field(field, required=default is dataclasses.MISSING)


def as_sent(form: forms.Form, changes: Mapping[str, Any], data: QueryDict | None = None) -> QueryDict:
    """Return what the page would send for the form as shown, with these changes; added to `data`."""
    data = QueryDict(mutable=True) if data is None else data
    for bound in form:
        given = bound.name in changes
        put(data, bound.html_name, bound.field.prepare_value(changes[bound.name]) if given else bound.value())
    return data


def put(data: QueryDict, name: str, value: Any) -> None:
    if isinstance(value, list | tuple):
        data.setlist(name, [str(one) for one in value])
    elif value is True:
        data[name] = "on"
    elif value is not None and value is not False:
        data[name] = str(value)


def valid(form: FormOf, names: Mapping[str, str] | None = None) -> FormOf:
    """Return the valid form, or refuse with its problems. `names`: API fields by form field, if they differ."""
    if not form.is_valid():
        raise invalid(form_problems(form, names))
    return form
