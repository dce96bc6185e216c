"""The kinds of messages, each with a function that finds what there is to tell a user."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Message:
    """`about` names what it tells: a user is told once. Without `text` there is nothing to tell, which is noted too."""

    about: str
    subject: str = ""
    text: str = ""


# Of (user, since when they want them, what they were told about): messages, including any that were sent before.
Find = Callable[[User, datetime, Collection[str]], Iterable[Message]]


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    label: str
    find: Find


KINDS: dict[str, Kind] = {}  # in the order of the account page


def tells(name: str, label: str) -> Callable[[Find], Find]:
    """Decorator for the function that finds the messages of a kind. `label`: as the account page offers it."""

    def keep(find: Find) -> Find:
        KINDS[name] = Kind(name, label, find)
        return find

    return keep


def offered() -> bool:
    """Whether this installation sends e-mail at all."""
    return bool(settings.EMAIL_HOST)


def link(path: str) -> str:
    """The full address of a page: the worker has no request to take it from."""
    return f"{settings.SITE_URL}{path}"
