"""Contexts of the releases' pages: what a new one would contain, a release's progress, and a frozen one's contents."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.core.cache import cache
from django.db.models import Count, Q
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from annotation.figures import funnel
from annotation.figures.cache import LatestFigures
from annotation.measures.funnel import NOT_ASKED, STATES
from annotation.models import Kind, Release, Stage, StageState, Study, StudyState, Task
from annotation.releases import compare_wording, lifecycle
from annotation.releases.archive_reader import MANIFEST
from annotation.releases.card_html import card_html
from annotation.releases.compare import compare
from annotation.releases.documents.facts import Facts, simulated_in_words
from annotation.releases.formats.registry import FORMS
from annotation.releases.listing import list_row
from annotation.releases.plan import PUBLIC, SPLIT_NAMES, Plan
from benchmarks.models import ItemImage
from benchmarks.tables import Column, Table, bdi, number

SHOWN = 30  # files per form
CHANGED = 50  # items that differ
KEPT_FOR = 30 * 24 * 3600  # seconds; neither of two frozen releases ever changes
CARD = "README.md"
COUNTS = ("imported", *STATES)
TABLES = "Documents and tables"
OF_TABLES = "The dataset card, the statistics, every judgment and decision, and what was dropped or left out and why."
FORM_OF_FOLDER = {"data" if name == "parquet" else name: form for name, form in FORMS.items()}


@dataclass
class Group:
    """The files of one form, or files outside the forms. `files` are the first of them."""

    release: int
    name: str
    title: str
    what: str
    count: int = 0
    bytes: int = 0
    files: list[dict] = field(default_factory=list)

    @property
    def table(self) -> Table:
        def linked(file: Mapping) -> object:
            address = reverse("release-file", args=[self.release, file["name"]])
            return format_html('<a href="{}">{}</a>', address, file["name"])

        columns = [
            Column("file", html=linked),
            number("size", "bytes", filesizeformat, css="size"),
            number("rows", lambda file: file.get("rows"), name="rows", css="rows"),
            Column("SHA-256", html=_short_hash, css="sum-of"),
        ]
        return Table("", columns, self.files, caption=self.title, css="figures files")

    @property
    def more(self) -> int:
        return self.count - len(self.files)


def _short_hash(file: Mapping) -> object:
    whole = file.get("sha256")
    return format_html('<code title="{}">{}…</code>', whole, whole[:12]) if whole else ""


def release_context(release: Release) -> dict:
    """Return the context of any release's page."""
    plan = release.plan
    return list_row(release) | {
        "plan": plan,
        "public": [PUBLIC[name] for name in plan["public"]],
        "forms": [form.title for name, form in FORMS.items() if name in {"parquet", *plan["forms"]}],
        "stages": release.study.stages.filter(position__in=plan["stages"]).order_by("position"),
    }


def frozen_context(release: Release) -> dict:
    """Return the contents of a frozen release's files."""
    with lifecycle.open_release(release) as files:
        manifest = files.manifest
        facts = Facts(files, Plan.from_json(manifest["release"]), manifest, {})
        return {
            "manifest": manifest,
            "trial": simulated_in_words(facts) if facts.simulated else "",
            "groups": _file_groups(release.pk, manifest["files"], len(files.read(MANIFEST))),
            "folder": release.folder,
            "loading": _loading(release, manifest),
            "card": mark_safe(card_html(files.read(CARD).decode())),
        }


def _file_groups(release: int, files: Mapping[str, Mapping], manifest: int) -> list[Group]:
    """Return the files by form, others first. `manifest` is manifest.json's size, since it lists no hash of itself."""
    found: dict[str, Group] = {}
    for name, file in sorted({**files, MANIFEST: {"bytes": manifest}}.items()):
        folder = name.partition("/")[0] if "/" in name else ""
        group = found.setdefault(folder, _group(release, folder))
        group.count += 1
        group.bytes += file["bytes"]
        if len(group.files) < SHOWN:
            group.files.append({"name": name, **file})
    order = ["", *FORM_OF_FOLDER]
    return sorted(found.values(), key=lambda group: order.index(group.name) if group.name in order else len(order))


def _group(release: int, folder: str) -> Group:
    if not folder:
        return Group(release, folder, TABLES, OF_TABLES)
    form = FORM_OF_FOLDER.get(folder)
    return Group(release, folder, form.title, form.what) if form else Group(release, folder, folder, "")


def _loading(release: Release, manifest: Mapping) -> dict:
    """Return the code that reads its splits, and its number of lines."""
    there = [name for name in SPLIT_NAMES if manifest["splits"].get(name, {}).get("items")]
    lines = ["from datasets import load_dataset", "", f'splits = load_dataset("{release.folder}")']
    lines += [f'{name} = splits["{name}"]' for name in there]
    return {"code": "\n".join(lines), "count": len(lines)}


# Differences from another version


def comparison_context(release: Release, against: str) -> dict:
    """Return the changes that the page shows, from `other` to this one. They are None until somebody requests them."""
    frozen = list(lifecycle.frozen(release.study).order_by("-frozen_at", "-pk"))
    others = [one for one in frozen if one != release]
    asked = next((one for one in others if str(one.pk) == against), None)
    earlier = frozen[frozen.index(release) + 1 :]
    other = asked or next((one for one in earlier if one.name == release.name), None)
    changed = other and _changes(release, other, compute=bool(asked))
    return {"others": others, "other": other, "changes": changed, **(_in_sentences(changed) if changed else {})}


def _changes(release: Release, other: Release, compute: bool) -> dict | None:
    """Return the changes from the other to this one, as in `compare`, with the first CHANGED items of each group. This
    takes a while; without `compute`, None if they were never computed."""
    key = f"release-changes:{other.sha256}:{release.sha256}"
    if (known := cache.get(key)) or not compute:
        return known
    with lifecycle.open_release(other) as one, lifecycle.open_release(release) as two:
        found = compare(one, two)
    found["items"] = {group: items[:CHANGED] for group, items in found["items"].items()}
    cache.set(key, found, KEPT_FOR)
    return found


def _in_sentences(found: Mapping) -> dict:
    """Return the differences in words: in the set-up, and in each group's items."""
    groups = [
        {
            "title": title,
            "items": found["totals"][group],
            "reasons": [(row["items"], compare_wording.SHORT[row["code"]]) for row in found["reasons"].get(group, [])],
            "listed": [compare_wording.item_in_words(one) for one in found["items"][group]],
        }
        for group, title in compare_wording.TITLES.items()
    ]
    return {
        "changed_setup": list(compare_wording.setup_sentences(found["setup"])),
        "changed_groups": [group for group in groups if group["items"]],
        "as_they_were": found["totals"]["unchanged"] + found["totals"]["judged_again"],
    }


# The contents of a release made now


@dataclass(frozen=True, slots=True)
class Outlook:
    """`counts` has items, by COUNTS; `by_type` the same per type and subtype. `images` are the benchmark's. `empty`
    has the positions of stages without items. All of it is empty until the worker has counted a large study's items
    (`latest`).
    """

    latest: LatestFigures
    counts: dict[str, int]
    by_type: list[dict]
    stages: list[Stage]
    empty: Collection[int]
    images: int
    no_licence: int
    checks: int  # tasks with known right answers

    @property
    def table(self) -> Table:
        columns = [
            Column("type", html=lambda row: bdi(f"{row['type'] or '–'} {row['subtype']}")),
            *(number(name.replace("_", " "), name) for name in COUNTS[1:] if name != NOT_ASKED or self.counts[name]),
        ]
        return Table("", columns, self.by_type, caption="By type")

    @property
    def still_open(self) -> list[Stage]:
        return [stage for stage in self._open if stage.position not in self.empty]

    @property
    def waiting(self) -> list[Stage]:
        """Return the open stages that have no items yet."""
        return [stage for stage in self._open if stage.position in self.empty]

    @property
    def _open(self) -> list[Stage]:
        """Return the stages in which somebody can still answer."""
        return [one for one in self.stages if one.state == StageState.OPEN and one.study.state != StudyState.CLOSED]


def outlook(study: Study, positions: Collection[int], by: str) -> Outlook:
    """Return the outlook for the stages at these positions (empty: all)."""
    stages = [one for one in study.stages.order_by("position") if not positions or one.position in positions]
    latest = funnel.latest(study, positions, by)
    whole = latest.data or {"by_type": [], "stages": [], "measuring": []}
    used = ItemImage.objects.filter(item__benchmark=study.benchmark_id)
    pictures = used.aggregate(all=Count("pk"), bare=Count("pk", filter=Q(licence="")))
    known = Task.objects.filter(stage__in=stages).exclude(kind=Kind.JUDGE).count()
    named = [{name: row[name] for name in ("type", "subtype", *COUNTS)} for row in whole["by_type"]]
    counts = {name: whole[name] for name in COUNTS if name in whole}
    steps = (*whole["stages"], *whole["measuring"])
    empty = {step["stage"] for step in steps if not step.get("entered", step.get("tasks"))}
    return Outlook(latest, counts, named, stages, empty, pictures["all"], pictures["bare"], known)
