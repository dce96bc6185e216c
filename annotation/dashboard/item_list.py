"""A study's items: found by key, caption, type and outcome, with the outcome in each stage."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from urllib.parse import urlencode

from django.db.models import Avg, Count, Exists, F, FloatField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Cast

from annotation.adjudication.answers_shown import Part, Seen, Side
from annotation.adjudication.decisions import FLAGGED
from annotation.dashboard.stage_progress import asks_nobody
from annotation.models import Kind, Slot, Stage, Task
from annotation.permissions import whole_number
from annotation.protocols import schema
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN
from annotation.protocols.registry import protocol_named
from annotation.wording import readable_label
from benchmarks import queries
from benchmarks.models import Item
from benchmarks.templatetags.winnow import by_role

ABSENT = "absent"
TIE = "tie_unresolved"
LOWEST, HIGHEST = "lowest", "highest"  # by the item's mean score
SCORES = {LOWEST: "lowest score first", HIGHEST: "highest score first"}
SORTS = {"order": ("position",), "key": ("key",), "type": ("type", "subtype", "position")}
_NUMBER = r"^-?\d+(\.\d+)?$"
_LENGTH = 200  # of a search, in characters
_SHOWN = 8  # captions and images per item in the list


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the page's address asks for. Empty means any; `stage` is a position, 0 for all stages together. `outcome`:

    kept, dropped, open or absent, or the reason why the item was dropped.
    """

    q: str = ""
    type: str = ""
    subtype: str = ""
    stage: int = 0
    outcome: str = ""
    sort: str = "order"

    def link(self, **more: object) -> str:
        """Return the URL query, with further parameters."""
        mine = {field.name: getattr(self, field.name) for field in fields(self)}
        return urlencode({name: value for name, value in (mine | more).items() if value and value != "order"})


def wanted_from_query(query: Mapping[str, str], stages: Sequence[Stage]) -> Wanted:
    """Parse a URL query; unknown values are ignored."""
    position = whole_number(query.get("stage"), 4) or 0
    outcome, sort = query.get("outcome", ""), query.get("sort", "")
    sorts = {*SORTS, *(SCORES if scoring(stages) else ())}
    return Wanted(
        q=query.get("q", "").strip()[:_LENGTH],
        type=query.get("type", "")[:_LENGTH],
        subtype=query.get("subtype", "")[:_LENGTH],
        stage=position if any(stage.position == position for stage in stages) else 0,
        outcome=outcome if outcome in (KEPT, DROPPED, OPEN, ABSENT, *reasons(stages)) else "",
        sort=sort if sort in sorts else "order",
    )


def scoring(stages: Iterable[Stage]) -> Stage | None:
    """Return the first stage that asks only for one number, so that items have a mean score."""
    for stage in stages:
        file = protocol_named(stage.protocol).file
        if file and len(file.answers) == 1 and isinstance(file.answers[0], schema.Scale | schema.Number):
            return stage
    return None


def reasons(stages: Collection[Stage]) -> dict[str, str]:
    """Return the reasons why these stages can drop an item, in words, by name."""
    found = {why for stage in stages for why in protocol_named(stage.protocol).drops.values()} | {TIE, FLAGGED}
    return {why: readable_label(why) for why in sorted(found)}


def find(items: QuerySet[Item], stages: Sequence[Stage], wanted: Wanted) -> QuerySet[Item]:
    """Return the matching items, sorted. As in pipeline/item_results.py, an item is dropped if one of its live tasks
    is, otherwise open if one of them is. For all stages together, tasks in every stage count.
    """
    found = queries.search(items, wanted.q)
    found = found.filter(**{name: getattr(wanted, name) for name in ("type", "subtype") if getattr(wanted, name)})
    among = [stage.pk for stage in stages if wanted.stage in (0, stage.position)]
    tasks = Task.objects.filter(item=OuterRef("pk"), stage__in=among, live=True, kind=Kind.JUDGE)
    dropped, undecided = Exists(tasks.filter(decided__state=DROPPED)), Exists(tasks.filter(decided=None))
    if wanted.outcome == DROPPED:
        found = found.filter(dropped)
    elif wanted.outcome == OPEN:
        found = found.filter(undecided, ~dropped)
    elif wanted.outcome == KEPT:
        found = found.filter(Exists(tasks), ~undecided, ~dropped)
    elif wanted.outcome == ABSENT:
        found = found.filter(~Exists(tasks))
    elif wanted.outcome:
        found = found.filter(Exists(tasks.filter(decided__state=DROPPED, decided__reason=wanted.outcome)))
    if wanted.sort in SCORES:
        score = F("score").asc(nulls_last=True) if wanted.sort == LOWEST else F("score").desc(nulls_last=True)
        return found.annotate(score=Subquery(_means(scoring(stages)).values("mean"))).order_by(score, "position")
    return found.order_by(*SORTS[wanted.sort])


def _means(stage: Stage | None) -> QuerySet:
    """Return the mean of an item's counted numeric answers."""
    given = Slot.objects.filter(task__item=OuterRef("pk"), task__stage=stage, task__live=True, task__kind=Kind.JUDGE)
    numbers = given.filter(judgment__answer__regex=_NUMBER).order_by().values("task__item")
    return numbers.annotate(mean=Avg(Cast("judgment__answer", FloatField())))


def outcomes(stages: Sequence[Stage], items: Collection[Item]) -> dict[int, list[tuple[Stage, str, str]]]:
    """Return the stages that each item reached, each with its outcome there, also in words, with the mean score if the
    stage asks for a number. Makes at most two queries.
    """
    tasks = Task.objects.filter(stage__in=stages, item__in=items, live=True, kind=Kind.JUDGE).order_by("question")
    tasks = tasks.annotate(judged=Count("slots__judgment"))
    columns = ("item", "stage", "judged", "overlap", "decided__state", "decided__reason")
    rows, judgments = defaultdict(list), Counter[tuple]()
    for item, stage, judged, wanted, state, reason in tasks.values_list(*columns):
        rows[item, stage].append((state or OPEN, reason or ""))
        judgments[item, stage, "judged"] += judged
        judgments[item, stage, "wanted"] += wanted
    scored, unrated = scoring(stages), asks_nobody(stages[0].study)
    means = dict(_with_means(scored, items)) if scored else {}
    found: dict[int, list[tuple[Stage, str, str]]] = defaultdict(list)
    for item in items:
        for stage in stages:
            if there := rows.get((item.pk, stage.pk)):
                decisive = min(there, key=lambda row: (DROPPED, OPEN, KEPT).index(row[0]))
                words = in_words(stage, *decisive)
                judged, wanted = (judgments[item.pk, stage.pk, name] for name in ("judged", "wanted"))
                if decisive[0] == OPEN and judged < wanted:
                    words = "Not rated" if unrated and not judged else f"{judged} of {wanted} judged"
                if stage == scored and item.pk in means:
                    words = f"{words}, mean {means[item.pk]:.2f}"
                found[item.pk].append((stage, decisive[0], words))
    return found


def _with_means(stage: Stage, items: Collection[Item]) -> QuerySet:
    of_each = _means(stage).values("mean")
    found = Item.objects.filter(pk__in=[item.pk for item in items]).annotate(score=Subquery(of_each))
    return found.filter(score__isnull=False).values_list("pk", "score")


def as_row(item: Item) -> Seen:
    """Return the item's image, or several side by side, and its captions, positive ones first."""
    captions, uses = by_role(item.captions.all())[:_SHOWN], by_role(item.item_images.all())[:_SHOWN]
    sides = [Side(Part(one.label, text=one.text), one.label, marked=one.marked) for one in captions]
    pictures = [Part(one.label, image=one.image) for one in uses]
    if len(pictures) > 1:
        return Seen(0, item, [], [*sides, *(Side(part, part.identity) for part in pictures)], can_decide=False)
    return Seen(0, item, pictures, sides, can_decide=False)


def in_words(stage: Stage, state: str, reason: str) -> str:
    """Put an outcome into words; stages that measure keep every item, so there it is just answered."""
    if state == KEPT and protocol_named(stage.protocol).measures:
        return "answered"
    return f"{state}: {readable_label(reason)}" if reason else state
