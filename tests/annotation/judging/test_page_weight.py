"""What a browser loads for the judging page: little, and all of it at once."""

import gzip
import os
import re
from functools import cache
from pathlib import Path

import pytest

from annotation.protocols.compile import SCRIPT, STYLE
from annotation.protocols.registry import PROTOCOLS
from config.static import minified
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


def test_script_and_style_take_few_bytes_and_requests():
    size = cache(lambda name: len(gzip.compress(minified(name, (STATIC / name).read_bytes()))))
    of_every_one, found = {"css/base.css", "css/dark.css", "css/judge.css", *loaded("js/judging/judge.js")}, {}
    own = {form.script: (form.script, form.style) for form in (p.form for p in PROTOCOLS.values()) if form}
    own["declared"] = SCRIPT, STYLE
    for name in ("a pick", *own):
        script, style = own.get(name, ("js/judging/judge.js", ""))
        files = of_every_one | loaded(script) | {style or "css/judge.css"}
        found[name] = sum(map(size, files)), len(files)
    most = {**dict.fromkeys(("a pick", *own), (31_000, 26)), "declared": (37_000, 28)}
    assert {name: seen for name, seen in found.items() if seen[0] > most[name][0] or seen[1] > most[name][1]} == {}


@pytest.mark.django_db
def test_every_script_of_the_judging_page_is_asked_for_at_once(client):
    html = client.get(f"/judge/{studies.annotator(studies.study(items=1)).token}/").content.decode()
    asked = re.findall(r'<link rel="modulepreload" href="/static/([^"]+)">', html)
    assert sorted(asked) == sorted(loaded("js/judging/judge.js"))
