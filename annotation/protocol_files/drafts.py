"""Drafts: files in progress, which may be saved with mistakes."""

from dataclasses import dataclass
from functools import lru_cache

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.models import ProtocolDraft, ProtocolVersion
from annotation.models.protocol_files import text_of_version
from annotation.protocol_files import own_question
from annotation.protocol_files.publish import digest_of, publish
from annotation.protocols import library
from annotation.protocols.base import Protocol
from annotation.protocols.compile import as_protocol
from annotation.protocols.reading import read_protocol
from annotation.protocols.registry import VERSION_SIGN, base_name, name_and_version
from annotation.protocols.schema import VERSION, ProtocolFile
from benchmarks import audit, queries
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.models import Benchmark
from benchmarks.records import ItemRecord, Problem

EMPTY = f"winnow: {VERSION}\n"
MOST_ASKED = 200  # characters in a question
MOST = 200_000  # characters in a draft, twice the limit for a protocol


class CannotSave(ValueError):
    """The draft cannot be saved; the message explains why."""


class ChangedElsewhere(CannotSave):
    """Another page has saved a different text meanwhile, which is `stored`."""

    def __init__(self, stored: str):
        super().__init__("This draft was changed in another window. Your text here has not been saved.")
        self.stored = stored


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of parsing a text: the protocol, or its problems in line order."""

    protocol: Protocol | None
    problems: tuple[Problem, ...]

    @property
    def file(self) -> ProtocolFile | None:
        return self.protocol.file if self.protocol else None


@lru_cache(maxsize=64)
def reading_of(text: str) -> Reading:
    log = ProblemLog()
    try:
        file = read_protocol(text, "protocol", log)
    except Unreadable:
        return Reading(None, tuple(sorted(log.problems, key=lambda problem: problem.row or 0)))
    return Reading(as_protocol(file, file.name), ())


def drafts_of(user: User) -> QuerySet[ProtocolDraft]:
    """Return the user's drafts, newest first; superusers can open everybody's."""
    return ProtocolDraft.objects.all() if user.is_superuser else ProtocolDraft.objects.filter(owner=user)


def title_in(text: str) -> str:
    """Return a draft's title if it can be found despite mistakes; "" if it has none yet."""
    _, _, rest = f"\n{text}".partition("\ntitle:")
    return rest.partition("\n")[0].strip(" ").strip("\"'")[:60]


def first_item(benchmark: Benchmark | None) -> ItemRecord | None:
    return queries.first_record(benchmark.pk if benchmark else None)


def name_for(ask: str, user: User, draft: ProtocolDraft | None = None) -> str:
    """Return a name for a question with these words: an unused name, or that of the user's own version on which the
    draft is based. The name in the draft's text stays as long as the words do.
    """
    versions = ProtocolVersion.objects.values_list("name", "published_by")
    base = base_name(draft.started_from) if draft else ""
    if (base, user.pk) in versions:
        return base
    taken = {*library.names(), *(name for name, _ in versions)}
    now = reading_of(draft.text).file if draft else None
    return now.name if now and now.ask == ask and now.name not in taken else own_question.name_of(ask, taken)


def starting_text(start: str) -> str:
    """Return the text of a library protocol or a version (`prompt-fit@2`), or "". KeyError if there is none."""
    if VERSION_SIGN in start:
        return text_of_version(*name_and_version(start))
    return library.text_of(start) if start else EMPTY


def own_text(item: ItemRecord, user: User, ask: str = "") -> str:
    """Return the text of the user's own question about such an item, with any words given."""
    counts = own_question.counts_of(item)
    fields = own_question.guess(counts)
    fields["ask"] = " ".join(ask.split())[:MOST_ASKED] or fields["ask"]
    return own_question.text_of(fields, counts, name_for(fields["ask"], user))


@transaction.atomic
def start_draft(*, start: str, user: User, by: str, benchmark: Benchmark | None = None) -> ProtocolDraft:
    """Create a draft with the text of `start`, or a question about the benchmark's items. Raises KeyError if the
    protocol does not exist.
    """
    item = None if start else first_item(benchmark)
    text = own_text(item, user) if item else starting_text(start)
    draft = ProtocolDraft.objects.create(owner=user, benchmark=benchmark, text=text, started_from=start)
    audit.record(by=by, verb="started", subject=draft, start=start)
    return draft


@transaction.atomic
def save_draft(*, draft: ProtocolDraft, text: str, benchmark: Benchmark | None, seen: str = "") -> None:
    """Save the text as it is, with or without mistakes. `seen` is the digest of the text that its page last showed or
    saved. Raises CannotSave if it is far too long, and ChangedElsewhere.
    """
    text = text.replace("\r\n", "\n").replace("\0", "")
    if len(text) > MOST:
        raise CannotSave(f"This text has {len(text):,} characters. Shorten it to {MOST:,}; it has not been saved.")
    draft.text = _latest_text(draft, text, seen)
    if (draft.text, draft.benchmark) != (text, benchmark):
        draft.text, draft.benchmark = text, benchmark
        draft.save(update_fields=["text", "benchmark", "changed_at"])


def _latest_text(draft: ProtocolDraft, text: str, seen: str) -> str:
    """Lock and return the stored text. Raises ChangedElsewhere if it is neither the page's old nor its new text."""
    stored = ProtocolDraft.objects.select_for_update().values_list("text", flat=True).get(pk=draft.pk)
    if seen and stored != text and digest_of(stored) != seen:
        raise ChangedElsewhere(stored)
    return stored


@transaction.atomic
def discard_draft(*, draft: ProtocolDraft, text: str, by: str, seen: str = "") -> None:
    """Delete the draft; `text` is in the editor, `seen` as in `save_draft`. Raises ChangedElsewhere."""
    _latest_text(draft, text.replace("\r\n", "\n"), seen)
    audit.record(by=by, verb="discarded", subject=draft)
    draft.delete()


@transaction.atomic
def publish_draft(*, draft: ProtocolDraft, user: User, by: str) -> ProtocolVersion:
    """Publish the draft as a version, which replaces it. Raises Unreadable or NameTaken, keeping the draft."""
    version = publish(text=draft.text, by=by, user=user)
    draft.delete()
    return version
