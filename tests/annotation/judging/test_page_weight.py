"""What a browser loads for the judging page: little, and all of it at once."""

import gzip
import os
import re
from functools import cache
from pathlib import Path

import pytest

from annotation.protocols.registry import PROTOCOLS
from tests.builders import studies

STATIC = Path(__file__).resolve().parents[3] / "static"


def loaded(name: str) -> set[str]:
    """A script and all that it imports."""
    names, found = [name], set()
    while names:
        found.add(one := names.pop())
        near = re.findall(r'from "([./\w-]+)"', (STATIC / one).read_text())
        names += {os.path.normpath(Path(one).parent / other) for other in near} - found
    return found


def test_script_and_style_are_at_most_60_kb_on_the_wire():
    size = cache(lambda name: len(gzip.compress((STATIC / name).read_bytes())))
    of_every_one, found = {"css/base.css", "css/dark.css", "css/judge.css", *loaded("js/judging/judge.js")}, {}
    for protocol in PROTOCOLS.values():
        form = protocol.form
        own = loaded(form.script) | {form.style or "css/judge.css"} if form else set()
        found[protocol.name] = sum(map(size, of_every_one | own))
    assert found and {name: total for name, total in found.items() if total >= 60_000} == {}


@pytest.mark.django_db
def test_every_script_of_the_judging_page_is_asked_for_at_once(client):
    html = client.get(f"/judge/{studies.annotator(studies.study(items=1)).token}/").content.decode()
    asked = re.findall(r'<link rel="modulepreload" href="/static/([^"]+)">', html)
    assert sorted(asked) == sorted(loaded("js/judging/judge.js"))
