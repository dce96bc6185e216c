"""Trying a draft: its screens on real items, and what follows from each answer, of which nothing is stored."""

import re
import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.judging.trial_views import SCREENS
from annotation.models import Judgment, Lease, ProtocolDraft
from annotation.protocol_files import drafts
from annotation.protocols import library
from annotation.screens.trial import leases_under, random_items
from tests.builders import declared, studies

pytestmark = pytest.mark.django_db
SEED = 7
JSON = {"HTTP_ACCEPT": "application/json"}


def draft_of(user, name: str) -> ProtocolDraft:
    file = library.shipped(name)
    return drafts.start_draft(start=name, user=user, by="test", benchmark=declared.benchmark(file, items=3))


def home(draft: ProtocolDraft) -> str:
    return f"/protocols/drafts/{draft.pk}/try/{SEED}/"


def leases_of(draft: ProtocolDraft) -> list[Lease]:
    protocol = drafts.reading_of(draft.text).protocol
    return leases_under(protocol, random_items(draft.benchmark, SEED, SCREENS), SEED, SCREENS)


def submit(client, draft: ProtocolDraft, lease: Lease, **fields):
    sent = {"key": uuid.uuid4(), "lease": lease.token, **fields}
    return client.post(f"{home(draft)}submit/", sent, **JSON).json()


def follows(html: str) -> list[dict[str, str]]:
    """Of each answer: what its list says, by heading."""
    found = []
    for article in re.findall(r"<article.*?</article>", html, re.S):
        pairs = re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", article, re.S)
        found.append({re.sub(r"\s+", " ", dt).strip(): re.sub(r"<[^>]+>|\s+", " ", dd).strip() for dt, dd in pairs})
    return found


def test_screens_and_consequences_follow_from_the_draft_and_nothing_is_written(client, manager):
    draft = draft_of(manager, "image-caption-foil")
    leases = leases_of(draft)
    with CaptureQueriesContext(connection) as asked:
        page = client.get(home(draft))
        assert f'data-lease="{leases[0].token}"' in page.text and "Which sentence is true of the picture?" in page.text
        right = leases[0].shown.index("caption-positive-0") + 1
        assert submit(client, draft, leases[0], answer=right)["done"] == 1
        submit(client, draft, leases[1], answer="both")
        found = follows(client.get(f"{home(draft)}answers/").text)
        submit(client, draft, leases[2], cannot_judge=1, reason="Blurred.")
        end = client.get(home(draft)).text
    assert [query["sql"] for query in asked if not query["sql"].lstrip().startswith("SELECT")] == []
    alone, together, measured = (
        "Decision on this answer only",
        "If all 3 annotators give this answer",
        "fit counts as",
    )
    assert [(one[alone], one[together]) for one in found] == [
        ("Open: 2 more judgments needed.", "Kept."),
        ("Open: 2 more judgments needed.", "Dropped: both fit."),
    ]
    assert [re.sub(r" +", " ", one[measured]) for one in found] == [
        "positive (nominal) · caption or not: caption · score 1",
        "both (nominal) · caption or not: not · score 0",
    ]
    assert "Nothing was stored." in end and len(follows(end)) == 3 and "Dropped: cannot judge." in end
    assert not Lease.objects.exists() and not Judgment.objects.exists()


def test_only_the_preview_may_be_framed(client, manager):
    draft = draft_of(manager, "verify")
    page = client.get(home(draft))
    assert page["X-Frame-Options"] == "SAMEORIGIN" and "frame-ancestors 'self'" in page["Content-Security-Policy"]
    editor = client.get(f"/protocols/drafts/{draft.pk}/")
    assert editor["X-Frame-Options"] == "DENY" and "frame-src 'self'" in editor["Content-Security-Policy"]


def test_answers_belong_to_the_text_that_asked_them(client, manager):
    draft = draft_of(manager, "verify")
    submit(client, draft, leases_of(draft)[0], answer="yes")
    assert len(follows(client.get(f"{home(draft)}answers/").text)) == 1
    drafts.save_draft(draft=draft, text=draft.text.replace("keep: yes", "keep: [yes]"), benchmark=draft.benchmark)
    assert follows(client.get(f"{home(draft)}answers/").text) == []


def test_a_draft_with_problems_has_no_screens(client, manager):
    draft = draft_of(manager, "verify")
    drafts.save_draft(draft=draft, text="winnow: protocol/1\n", benchmark=draft.benchmark)
    assert client.get(home(draft)).status_code == 409 and "has problems" in client.get(home(draft)).text
    assert client.post(f"{home(draft)}submit/").status_code == 409


def test_items_that_do_not_suit_are_named(client, manager):
    draft = draft_of(manager, "verify")
    drafts.save_draft(draft=draft, text=draft.text, benchmark=studies.benchmark(items=1, candidates=3))
    drafts.save_draft(draft=draft, text=library.text_of("word-by-word"), benchmark=draft.benchmark)
    page = client.get(home(draft)).text
    assert "None of the sampled items fits this file" in page and "word-by-word needs" in page
