"""The login providers, read from WINNOW_PROVIDERS (docs/guide/login.md)."""

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec
from django.core.exceptions import ImproperlyConfigured
from msgspec import field

EXAMPLE = 'university = {issuer = "https://login.example.org", client_id = "winnow", client_secret_file = "/run/oidc"}'
NAMES = "urn:oid:0.9.2342.19200300.100.1.1"  # uid
ADDRESSES = "urn:oid:0.9.2342.19200300.100.1.3"  # mail
GROUPS = "urn:oid:1.3.6.1.4.1.5923.1.5.1.1"  # isMemberOf

Grant = Literal["staff", "superuser"] | dict[str, Literal["viewer", "manager", "owner"]]  # or the role in each study


class _Provider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    slug: str  # in URLs and accounts
    label: str = ""
    roles: dict[str, Grant] = {}  # by group; "*" means everybody


class OpenID(_Provider, frozen=True, kw_only=True):
    issuer: str
    client_id: str
    client_secret: str = ""
    client_secret_file: str = ""
    scopes: list[str] = field(default_factory=lambda: ["openid", "profile", "email"])
    groups: str = "groups"
    username: str = "preferred_username"
    email: str = "email"


class Saml(_Provider, frozen=True, kw_only=True):
    """`subject` is the attribute that identifies people, if there is no standard one or persistent NameID."""

    metadata: str  # a file or an address
    entity_id: str
    certificate_file: str = ""
    key_file: str = ""
    subject: str = ""
    groups: str = GROUPS
    username: str = NAMES
    email: str = ADDRESSES


Provider = OpenID | Saml


def read(text: str, *, secure: bool) -> dict[str, Provider]:
    """Read the providers by name from a TOML text. With `secure`, their URLs must be https. Raises
    ImproperlyConfigured, which explains what to change."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ImproperlyConfigured(f"WINNOW_PROVIDERS is not TOML: {error}. An example: {EXAMPLE}.") from None
    found = {}
    for slug, table in tables.items():
        try:
            found[slug] = _provider(slug, table, ("https",) if secure else ("https", "http"))
        except (ValueError, OSError) as error:  # msgspec's errors are ValueErrors
            raise ImproperlyConfigured(f"WINNOW_PROVIDERS, [{slug}]: {str(error).rstrip('.')}.") from None
    return found


def _provider(slug: str, table: object, schemes: tuple[str, ...]) -> Provider:
    if not re.fullmatch("[a-z0-9-]{1,50}", slug):
        raise ValueError("a name has small letters, digits and hyphens")
    if not isinstance(table, dict):
        raise ValueError(f"give each provider a table, for example: {EXAMPLE}")
    if "metadata" in table:
        return _saml(msgspec.convert({**table, "slug": slug}, Saml), schemes)
    return _openid(msgspec.convert({**table, "slug": slug}, OpenID), schemes)


def _openid(given: OpenID, schemes: tuple[str, ...]) -> OpenID:
    issuer = given.issuer.rstrip("/")
    if urlsplit(issuer).scheme not in schemes or not urlsplit(issuer).netloc:
        raise ValueError(f"issuer must be an address like https://login.example.org, not {given.issuer!r}")
    secret = Path(given.client_secret_file).read_text().strip() if given.client_secret_file else given.client_secret
    if not given.client_id or not secret:
        raise ValueError("set client_id, and client_secret or client_secret_file: the provider gives them for Winnow")
    if "openid" not in given.scopes:
        raise ValueError("scopes must contain openid")
    label = given.label or str(urlsplit(issuer).hostname)
    return msgspec.structs.replace(given, issuer=issuer, label=label, client_secret=secret)


def _saml(given: Saml, schemes: tuple[str, ...]) -> Saml:
    if not find_spec("onelogin"):
        raise ValueError("SAML needs packages that are not installed. Run pip install -r requirements/remote.lock")
    metadata = given.metadata
    if "://" not in metadata:
        metadata = Path(metadata).resolve(strict=True).as_uri()
    elif urlsplit(metadata).scheme not in schemes:
        raise ValueError(f"metadata must be a file or an address like https://idp.example.org, not {metadata!r}")
    if not given.entity_id:
        raise ValueError("set entity_id: the entityID in the metadata")
    if bool(given.key_file) != bool(given.certificate_file):
        raise ValueError("set key_file and certificate_file, or neither")
    for file in filter(None, (given.key_file, given.certificate_file)):
        Path(file).read_text()
    label = given.label or str(urlsplit(given.entity_id).hostname or given.slug)
    return msgspec.structs.replace(given, metadata=metadata, label=label)
