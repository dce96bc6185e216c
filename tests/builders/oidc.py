"""A running OpenID Connect provider (tests/oidc_provider), and a login through it by real requests."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import requests
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from config.providers import OpenID

ROOT = Path(__file__).resolve().parents[2]


class RunningProvider:
    def __init__(self, address: str):
        self.address = address

    def configured(self, **more: object) -> dict[str, OpenID]:
        """The settings with which Winnow uses it."""
        given = {
            "slug": "lab", "label": "Lab", "issuer": self.address, "client_id": "winnow",
            "client_secret": "a-secret-of-the-client-with-32-bytes", "roles": {"lab": "staff", "admins": "superuser"},
        }  # fmt: skip
        found = OpenID(**{**given, **more})
        return {found.slug: found}

    def set(self, **state: object) -> None:
        """What `site.State` has; what is not named becomes as at the start."""
        requests.post(f"{self.address}/control", json=state, timeout=10).raise_for_status()


@contextmanager
def running(folder: Path) -> Iterator[RunningProvider]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "-m", "tests.oidc_provider", str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, env=kept, stdout=subprocess.PIPE, text=True)
    try:
        yield RunningProvider(process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def provider_address(answer: HttpResponse) -> str:
    """Where the page goes on to."""
    link = unescape(re.search(r'<a href="(http[^"]+)"', answer.text)[1])
    assert f"0; url={link}" in unescape(answer.text)
    return link


def at_the_provider(address: str) -> str:
    """Follow the provider's redirects until it sends the browser back to Winnow; returns that address."""
    with requests.Session() as browser:
        while "/callback/" not in address.partition("?")[0]:
            answer = browser.get(address, allow_redirects=False, timeout=10)
            assert answer.is_redirect, answer.text
            address = requests.compat.urljoin(address, answer.headers["Location"])
    return address


def log_in(client: Client, slug: str = "lab", **fields: str) -> HttpResponse:
    """Winnow's answer to a whole login through the provider."""
    begun = client.post(reverse("provider-login", args=[slug]), fields)
    if begun.status_code != 200:
        return begun
    return client.get(at_the_provider(provider_address(begun)))
