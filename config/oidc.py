"""The OpenID Connect provider through which people log in, read from the environment (docs/guide/login.md)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

STAFF, SUPERUSER = "staff", "superuser"
MEMBER_ROLES = ("viewer", "manager", "owner")
EXAMPLE = '{"lab": "staff", "lab-admins": "superuser", "crowd-team": {"Name of a study": "manager"}}'

Grant = str | dict[str, str]  # STAFF or SUPERUSER, or the role in each study


@dataclass(frozen=True)
class Provider:
    issuer: str
    client_id: str
    client_secret: str
    name: str
    scopes: list[str]
    groups_claim: str
    roles: dict[str, Grant]  # by group; "*" is everybody


def read(environ: Mapping[str, str], *, secure: bool) -> Provider | None:
    """The provider, or None if WINNOW_OIDC_ISSUER is empty. With `secure`, its address must be https."""
    issuer = environ.get("WINNOW_OIDC_ISSUER", "").rstrip("/")
    if not issuer:
        return None
    schemes = ("https",) if secure else ("https", "http")
    if urlsplit(issuer).scheme not in schemes or not urlsplit(issuer).netloc:
        raise ImproperlyConfigured(f"WINNOW_OIDC_ISSUER must be an address like https://login.example.org: {issuer!r}.")
    for name in ("WINNOW_OIDC_CLIENT_ID", "WINNOW_OIDC_CLIENT_SECRET"):
        if not environ.get(name):
            raise ImproperlyConfigured(f"Set {name}: the provider gives it when you register Winnow there.")
    scopes = (environ.get("WINNOW_OIDC_SCOPES") or "openid profile email").split()
    if "openid" not in scopes:
        raise ImproperlyConfigured("WINNOW_OIDC_SCOPES must contain openid.")
    return Provider(
        issuer=issuer,
        client_id=environ["WINNOW_OIDC_CLIENT_ID"],
        client_secret=environ["WINNOW_OIDC_CLIENT_SECRET"],
        name=environ.get("WINNOW_OIDC_NAME") or str(urlsplit(issuer).hostname),
        scopes=scopes,
        groups_claim=environ.get("WINNOW_OIDC_GROUPS_CLAIM") or "groups",
        roles=_roles(environ.get("WINNOW_OIDC_ROLES", "")),
    )


def _roles(text: str) -> dict[str, Grant]:
    try:
        roles = json.loads(text or "{}")
    except ValueError:
        raise ImproperlyConfigured(f"WINNOW_OIDC_ROLES is not JSON; an example: {EXAMPLE}.") from None
    if not isinstance(roles, dict):
        raise ImproperlyConfigured(f"WINNOW_OIDC_ROLES must be a JSON object with a role for each group: {EXAMPLE}.")
    for group, grant in roles.items():
        good = set(grant.values()) <= set(MEMBER_ROLES) if _is_flat(grant) else grant in (STAFF, SUPERUSER)
        if not good:
            raise ImproperlyConfigured(
                f"WINNOW_OIDC_ROLES gives the group {group!r} an unknown role. Use {STAFF!r}, {SUPERUSER!r} or an "
                f"object with one of {', '.join(MEMBER_ROLES)} for each study; an example: {EXAMPLE}."
            )
    return roles


def _is_flat(grant: object) -> bool:
    return isinstance(grant, dict) and all(isinstance(role, str) for role in grant.values())
