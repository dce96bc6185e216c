"""The kinds of messages, each with a function that finds news for a user."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Message:
    """`about` identifies the news, sent to a user only once. Without `text`, this is recorded but not sent."""

    about: str
    subject: str = ""
    text: str = ""


# Returns messages, perhaps including sent ones, for (user, since when they want messages, subjects already sent).
Find = Callable[[User, datetime, Collection[str]], Iterable[Message]]


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    label: str
    find: Find


KINDS: dict[str, Kind] = {}  # in the order of the account page


def tells(name: str, label: str) -> Callable[[Find], Find]:
    """Register the function that finds a kind's messages. `label`: its name on the account page."""

    def keep(find: Find) -> Find:
        KINDS[name] = Kind(name, label, find)
        return find

    return keep


def offered() -> bool:
    """Return whether this installation sends e-mail at all."""
    return bool(settings.EMAIL_HOST)


def link(path: str) -> str:
    """Return the full address of a page: the worker does not have a request to take it from."""
    return f"{settings.SITE_URL}{path}"
