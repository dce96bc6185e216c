"""The documentation inside the app: every page, link and picture of docs/ works, and markup in a page stays text."""

import re
from pathlib import Path

import pytest
from django.urls import get_resolver, reverse

from config import help

pytestmark = pytest.mark.django_db
PAGES = sorted(str(path.relative_to(help.DOCS).with_suffix("")) for path in help.DOCS.rglob("*.md"))


def test_every_link_and_picture_of_every_page_leads_somewhere(client, manager):
    assert len(PAGES) > 30
    pages = {f"/help/{page}/": client.get(reverse("help-page", args=[page])).text for page in PAGES}
    pages[reverse("help")] = client.get(reverse("help")).text
    broken = []
    for page, text in pages.items():
        prose = text.split('<article class="card prose">')[1]
        for link in re.findall(r'(?:href|src)="([^"]+)"', prose):
            target, _, anchor = link.partition("#")
            if link.startswith("http"):
                continue
            if target.startswith("/help/pictures/"):
                found = client.get(target).get("Content-Type", "").startswith("image/")
            else:
                found = target in pages and (not anchor or f'id="{anchor}"' in pages[target])
            broken += [] if found else [(page, link)]
    assert broken == []


def test_the_start_lists_every_page_once():
    listed = re.findall(r"\(([\w/-]+)\.md\)", (help.DOCS / "README.md").read_text())
    listed += [f"adr/{name}" for name in re.findall(r"\]\(([\w-]+)\.md\)", (help.DOCS / "adr/README.md").read_text())]
    assert sorted([help.START, *listed]) == PAGES


def test_markup_and_scripts_in_a_page_stay_text(tmp_path, monkeypatch):
    monkeypatch.setattr(help, "DOCS", tmp_path)
    (tmp_path / "x.md").write_text("# A\n<script>alert(1)</script> [b](javascript:alert(1)) ![c](data:text/html,x)\n")
    text, title, parts = help.rendered("x", 0)
    assert (title, parts) == ("A", [])
    assert "<script" not in text and not re.search('(href|src)="(javascript|data)', text)


@pytest.mark.parametrize(
    "question, expected",
    [
        ("dropping", ["Kept"]),
        ("why is an item dropped?", ["Kept", "Start"]),  # every word first, then some
        ("lease", ["Lease", "Start"]),  # a heading counts more than a text
        ("lease <i>", ["Lease", "Start"]),
        ("long", ["Kept"]),  # cut after a word
        ("head of these", []),
        ("the", []),
    ],
)
def test_a_search_leads_to_the_best_sections_of_all_pages(client, manager, tmp_path, monkeypatch, question, expected):
    monkeypatch.setattr(help, "DOCS", tmp_path)
    (tmp_path / "guide").mkdir()
    (tmp_path / "README.md").write_text("# All\n")
    table = "| head |\n|---|\n" + "long " * 60
    (tmp_path / "guide/a.md").write_text(
        f"# Start\nA start.\n\nAn item is `<i>`, held by a lease.\n\n## Kept\nWhy an item is dropped.\n\n{table}"
    )
    (tmp_path / "guide/b.md").write_text("# Words\n\n## Lease\n### End\nIt ends.\n")
    page = client.get(reverse("help"), {"q": question}).text
    assert re.findall(r'<h2><a href="/help/guide/\w/#\w+">(?:\w+ › )?(\w+)</a>', page) == expected
    assert ("Nothing found" in page, "<b>long</b> …" in page) == (not expected, question == "long")
    assert "<i>" not in page


@pytest.mark.parametrize("path", ["../config/settings", "guide/../README", "%2e%2e/README", "guide/imports.md", "none"])
def test_nothing_else_is_shown(client, manager, path):
    assert client.get(f"/help/{path}/").status_code == 404
    assert client.get("/help/pictures/..%2fREADME.md").status_code == 404


def test_each_page_of_the_app_leads_to_its_guide(client, manager):
    assert {page for page in help.GUIDES.values() if not (help.DOCS / f"{page}.md").is_file()} == set()
    names = {name for name in _names() if isinstance(name, str)}
    assert [start for start in help.GUIDES if not any(name.startswith(start) for name in names)] == []
    page = client.get(reverse("import-new")).text
    assert 'href="/help/guide/imports/"' in page and 'href="/help/reference/formats/"' in page
    assert 'href="/help/guide/studies/"' in client.get(reverse("study-list")).text


def _names(patterns=None) -> set:
    found = set()
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        found |= {pattern.name} if hasattr(pattern, "name") else _names(pattern.url_patterns)
    return found


def test_the_image_has_the_documentation():
    assert "COPY docs docs" in (Path(help.settings.BASE_DIR) / "Dockerfile").read_text()
