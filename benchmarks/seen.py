"""Conflicting saves: if somebody else has saved in the meantime, the second save is stopped, and its page shows both.

A form that changes stored values is a `SeenForm`. Its page has a digest of the values it was made from
(`components/_seen.html`), which is sent back with it. The view makes the form from the values under the row's lock
(`latest`); if they have changed by then, the form is not valid.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeGuard

from django import forms
from django.db import models, transaction
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.safestring import SafeString

from benchmarks.differences import differences, marked

CHANGED = (
    "Somebody else has saved this since you opened the page, so yours was not saved. Compare the two, copy what you "
    "need from theirs into yours, and save again."
)


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """A field that somebody else has saved with a different value: theirs, beside the value typed."""

    label: str
    changed: SafeString


class SeenForm(forms.Form):
    """Not valid if its page showed values other than `initial`, which must be the stored ones."""

    @property
    def seen(self) -> str:
        """Return the digest of the stored values, sent back by a save to prove that its author has seen them."""
        return _digest(self.initial)

    @property
    def is_outdated(self) -> bool:
        return self.data.get("seen", self.seen) != self.seen if self.is_bound else False

    def full_clean(self) -> None:
        super().full_clean()
        if self.is_outdated:
            self.add_error(None, CHANGED)

    def meanwhile(self) -> list[Meanwhile]:
        """Return the differences between stored and typed values, if somebody else has saved other ones."""
        if not self.is_outdated:
            return []
        pairs = [(field, _lines(field, field.value()), _lines(field, _shown(field))) for field in self]
        return [
            Meanwhile(str(field.label), marked(differences(typed, stored), "yours: ", "theirs: "))
            for field, typed, stored in pairs
            if typed != stored
        ]


def _digest(values: Mapping[str, object]) -> str:
    plain = {name: sorted(map(str, value)) if _is_list(value) else str(value) for name, value in values.items()}
    return sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:32]


def _is_list(value: object) -> TypeGuard[Sequence]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _shown(field: forms.BoundField) -> object:
    """Return the stored value as the field shows it."""
    return field.field.prepare_value(field.initial)


def _lines(field: forms.BoundField, value: object) -> str:
    """Format a value for people: choices by their labels, several one per line."""
    names = {str(code): str(label) for code, label in getattr(field.field, "choices", ())}
    given = sorted(map(str, value)) if _is_list(value) else ["" if value is None else str(value)]
    return "\n".join(names.get(one, one) for one in given).replace("\r\n", "\n").strip()


@contextmanager
def latest(row: models.Model, request: HttpRequest) -> Iterator[None]:
    """Give `row` its stored values and, if the request may change them, keep others from doing so within the block.

    Raises Http404 if somebody else has deleted it.
    """
    if request.method != "POST":
        yield
        return
    with transaction.atomic():
        get_object_or_404(type(row)._default_manager.select_for_update(no_key=True), pk=row.pk)
        row.refresh_from_db(fields=[one.attname for one in row._meta.concrete_fields if not one.is_relation])
        yield
