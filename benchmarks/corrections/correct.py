"""Correct texts or images of items in place, withdraw items, or put them back.

The old texts stay only in the history: a study that asked about them asks again.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks import audit, queries
from benchmarks.corrections import followers
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.registry import FORMATS
from benchmarks.imports import frames
from benchmarks.models import Action, Benchmark, Caption, Correction, Image, Item, ItemImage
from benchmarks.records import CaptionRecord, ItemRecord, Origin
from benchmarks.transactions import retry_deadlocks

MOST = 2_000  # changes at once: annotators who get one of the items wait for all of them
MOST_REASON = 500  # characters
FORM = Origin("", 1)  # for a change that does not come from a file


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A requested change. `place`: `caption-negative-0`, `candidate-2`; empty for the whole item. `new`: the text, or
    the name of the new image's file. `old`: the text to be replaced, if the author saw it.
    """

    item: str  # its key
    action: Action
    place: str = ""
    new: str = ""
    reason: str = ""
    old: str | None = None
    origin: Origin = FORM


@retry_deadlocks
@transaction.atomic
def correct(
    *, benchmark: Benchmark, changes: Sequence[Change], by: str, made_by: User | None = None,
    pictures: Mapping[str, Image] | None = None,
) -> list[Correction]:  # fmt: skip
    """Make all of these changes, or none. `pictures`: the stored image for each new image's name. Raises Refused with
    every problem.
    """
    log = ProblemLog()
    by_item: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        by_item[change.item].append(change)
    known = dict(benchmark.items.filter(key__in=by_item).order_by("pk").values_list("key", "pk"))
    for change in changes:
        _check_alone(change, known, log)
    for pk in sorted(known.values()):
        followers.lock(pk)
    items = {item.key: item for item in queries.with_material(Item.objects.filter(pk__in=known.values()))}
    for key, of_item in by_item.items():
        if key in items:
            _check(benchmark, items[key], of_item, log)
    log.refuse_if_any()
    made = []
    for key in known:
        corrections = [_make(items[key], change, made_by, pictures or {}) for change in by_item[key]]
        verb = "withdrew" if corrections[-1].action == Action.WITHDRAW else "corrected"
        audit.record(by=by, verb=verb, subject=items[key], corrections=[one.pk for one in corrections])
        followers.follow(items[key], corrections, by)
        made += corrections
    return made


def check(*, benchmark: Benchmark, changes: Sequence[Change]) -> None:
    """Raise Refused with what `correct` would refuse now, before images are read."""
    log = ProblemLog()
    items = queries.with_material(benchmark.items.filter(key__in={change.item for change in changes}))
    known = {item.key: item for item in items}
    for change in changes:
        _check_alone(change, known, log)
    for key, item in known.items():
        _check(benchmark, item, [change for change in changes if change.item == key], log)
    log.refuse_if_any()


def parts_of(item: Item) -> dict[str, Caption | ItemImage]:
    """Return the item's captions and images by identity, as in corrections; `item` was read `with_material`."""
    captions = {f"caption-{one.role}-{one.position}": one for one in sorted(item.captions.all(), key=_order)}
    return captions | {one.key: one for one in sorted(item.item_images.all(), key=_order)}


def _order(part: Caption | ItemImage) -> tuple[bool, str, int]:
    return queries.in_record_order(part)


def _check_alone(change: Change, known: Mapping[str, object], log: ProblemLog) -> None:
    file, row = change.origin.file, change.origin.row
    if change.item not in known:
        advice = f"The benchmark has no item “{change.item[:80]}”. Correct the id."
        log.error("UNKNOWN_ID", file, row, "id", advice)
    if not change.reason.strip():
        log.error("VALUE_MISSING", file, row, "reason", "Give a short reason. It is kept with the correction.")
    elif len(change.reason) > MOST_REASON:
        log.error("FIELD_TOO_LONG", file, row, "reason", f"Use at most {MOST_REASON} characters.")


def _check(benchmark: Benchmark, item: Item, changes: Sequence[Change], log: ProblemLog) -> None:
    parts, places = parts_of(item), set()
    before = len(log.problems)
    for change in changes:
        for code, column, advice in _problems(item, parts, change):
            log.error(code, change.origin.file, change.origin.row, column, advice)
        if change.place in places:
            advice = "Another row is about the same part of this item. Keep only one."
            log.error("DUPLICATE_ROW", change.origin.file, change.origin.row, "place", advice)
        places.add(change.place)
    if len(log.problems) == before:
        _check_words(benchmark, item, changes, log)


def _problems(item: Item, parts: Mapping[str, Caption | ItemImage], change: Change):
    """Yield (code, column, advice) for each problem."""
    part = parts.get(change.place)
    if change.action == Action.WITHDRAW:
        if item.withdrawn:
            yield "ALREADY_DONE", "withdraw", f"“{item.key}” is already withdrawn."
        return
    if change.action == Action.RESTORE:
        if not item.withdrawn:
            yield "ALREADY_DONE", "restore", f"“{item.key}” is not withdrawn."
        return
    if item.withdrawn:
        yield "WITHDRAWN", "id", f"“{item.key}” is withdrawn. Put it back first."
    if not isinstance(part, Caption if change.action == Action.CAPTION else ItemImage):
        kind = Caption if change.action == Action.CAPTION else ItemImage
        there = ", ".join(place for place, one in parts.items() if isinstance(one, kind)) or "nothing of that kind"
        yield "UNKNOWN_PLACE", "place", f"“{item.key}” has no {change.place[:40]}. It has {there}."
    elif not change.new.strip():
        yield "VALUE_MISSING", "new", "Enter the new text, or the name of the new picture."
    elif isinstance(part, Caption):
        if change.old is not None and change.old != part.text:
            yield "CHANGED", "old", f"The text is now “{part.text[:200]}”. Review it again."
        elif change.new == part.text:
            yield "ALREADY_DONE", "new", "The item already has this text."


def _check_words(benchmark: Benchmark, item: Item, changes: Sequence[Change], log: ProblemLog) -> None:
    """Check the item with the new texts as an import would, ignoring problems it had before."""
    new = {change.place: change.new for change in changes if change.action == Action.CAPTION}
    if not new:
        return
    format = FORMATS.get(benchmark.source)
    was, record = queries.record_of(item), replace(queries.record_of(item), origin=changes[0].origin)
    captions = sorted(item.captions.all(), key=_order)
    record = replace(
        record,
        captions=tuple(
            CaptionRecord(one.role, new.get(f"caption-{one.role}-{one.position}", one.text), one.attributes)
            for one in captions
        ),
    )
    known = {(problem.code, problem.column) for problem in _wrong(was, format)}
    for problem in _wrong(record, format):
        if (problem.code, problem.column) not in known:
            log.error(problem.code, problem.file, problem.row, problem.column, problem.advice)


def _wrong(record: ItemRecord, format) -> list:
    log = ProblemLog()
    check_records([record], log, format.keeps_same if format else False)
    return log.problems


def _make(item: Item, change: Change, made_by: User | None, pictures: Mapping[str, Image]) -> Correction:
    part = parts_of(item).get(change.place)
    old, image = "", None
    if isinstance(part, Caption):
        old = part.text
        Caption.objects.filter(pk=part.pk).update(text=change.new)
    elif isinstance(part, ItemImage):
        old, image = part.source_name, pictures[change.new]
        frames.renew(Item.objects.filter(pk=item.pk))
        # It is another image: the old crop and the import's notes about the source do not apply to it
        ItemImage.objects.filter(pk=part.pk).update(
            image=image, source_name=change.new, crop=None, licence="", attribution=""
        )
    else:
        Item.objects.filter(pk=item.pk).update(withdrawn=change.action == Action.WITHDRAW)
    return Correction.objects.create(
        item=item, action=change.action, place=change.place, old=old, new=change.new, reason=change.reason.strip(),
        old_image=part.image if isinstance(part, ItemImage) else None, new_image=image, made_by=made_by,
    )  # fmt: skip
