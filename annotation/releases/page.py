"""What the pages of releases show: how far one is that is being made, and what a frozen one holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.core.cache import cache
from django.db.models import QuerySet
from django.utils.safestring import mark_safe

from annotation.models import Release, Study
from annotation.releases import compare_wording, lifecycle
from annotation.releases.archive_reader import MANIFEST
from annotation.releases.card_html import card_html
from annotation.releases.compare import compare
from annotation.releases.formats.registry import FORMS
from annotation.releases.plan import PUBLIC, SPLIT_NAMES
from benchmarks.jobs import jobs
from benchmarks.models import JobState

FROZEN = "frozen"
SHOWN = 30  # files of a form
CHANGED = 50  # items that differ
KEPT_FOR = 30 * 24 * 3600  # seconds; neither of two frozen releases ever changes
CARD = "README.md"
TABLES = "Documents and tables"
OF_TABLES = "The card, the figures, every judgment and decision, what was dropped and why."
FOLDERS = {"data": "parquet"}  # folder of a form, where it is not called like the form


@dataclass
class Group:
    """Files of one form, or those beside the forms. `files` are the first of them."""

    name: str
    title: str
    what: str
    count: int = 0
    bytes: int = 0
    files: list[dict] = field(default_factory=list)

    @property
    def more(self) -> int:
        return self.count - len(self.files)


def releases_of(study: Study) -> QuerySet[Release]:
    """Newest first, whatever their state."""
    return study.releases.select_related("job", "created_by").order_by("-created_at", "-pk")


def release_state(release: Release) -> str:
    """frozen, or what its job is: queued, running, failed, cancelled."""
    if release.frozen_at:
        return FROZEN
    return release.job.state if release.job else JobState.FAILED


def _is_made(release: Release) -> bool:
    """Whether its job is still at it."""
    return release_state(release) in (JobState.QUEUED, JobState.RUNNING)


def list_row(release: Release) -> dict:
    """What a list shows of one."""
    counted = release.summary.get("splits", {})
    splits = [(name, counted[name]["items"]) for name in SPLIT_NAMES if name in counted]
    return {
        "release": release,
        "state": release_state(release),
        "making": _is_made(release),
        "pace": release.job and jobs.pace(release.job),
        "splits": splits,
        "items": sum(items for _, items in splits),
    }


def release_context(release: Release) -> dict:
    """What the page of any release shows."""
    plan = release.plan
    return list_row(release) | {
        "plan": plan,
        "public": [PUBLIC[name] for name in plan["public"]],
        "forms": [form.title for name, form in FORMS.items() if name in {"parquet", *plan["forms"]}],
        "stages": release.study.stages.filter(position__in=plan["stages"]).order_by("position"),
    }


def frozen_context(release: Release) -> dict:
    """What stands in the files of a frozen one."""
    with lifecycle.open_release(release) as files:
        manifest = files.manifest
        return {
            "manifest": manifest,
            "groups": _file_groups(manifest["files"], len(files.read(MANIFEST))),
            "folder": release.folder,
            "loading": _loading(release, manifest),
            "card": mark_safe(card_html(files.read(CARD).decode())),
        }


def _file_groups(files: Mapping[str, Mapping], manifest: int) -> list[Group]:
    """The files by form, those beside the forms first. `manifest` is the size of manifest.json, which names no hash."""
    found = {}
    for name, file in sorted({**files, MANIFEST: {"bytes": manifest}}.items()):
        folder = name.partition("/")[0] if "/" in name else ""
        group = found.setdefault(folder, _group(folder))
        group.count += 1
        group.bytes += file["bytes"]
        if len(group.files) < SHOWN:
            group.files.append({"name": name, **file})
    order = ["", *(_folder(name) for name in FORMS)]
    return sorted(found.values(), key=lambda group: order.index(group.name) if group.name in order else len(order))


def _folder(form: str) -> str:
    return next((name for name, of in FOLDERS.items() if of == form), form)


def _group(name: str) -> Group:
    if not name:
        return Group(name, TABLES, OF_TABLES)
    form = FORMS.get(FOLDERS.get(name, name))
    return Group(name, form.title, form.what) if form else Group(name, name, "")


def _loading(release: Release, manifest: Mapping) -> dict:
    """The code that reads its splits, and how many lines it has."""
    there = [name for name in SPLIT_NAMES if manifest["splits"].get(name, {}).get("items")]
    lines = ["from datasets import load_dataset", "", f'splits = load_dataset("{release.folder}")']
    lines += [f'{name} = splits["{name}"]' for name in there]
    return {"code": "\n".join(lines), "count": len(lines)}


# What differs from another version


def comparison_context(release: Release, against: str) -> dict:
    """What the page shows of changes: from `other` to this one. They are None where nobody has asked for them yet."""
    found = list(_others(release))
    asked = next((one for one in found if str(one.pk) == against), None)
    other = asked or _version_before(release, found)
    changed = _changes(release, other) if asked else other and known_changes(release, other)
    return {"others": found, "other": other, "changes": changed, **(_in_sentences(changed) if changed else {})}


def _others(release: Release) -> QuerySet[Release]:
    """Frozen releases of the study that it can be compared with, newest first."""
    return lifecycle.frozen(release.study).exclude(pk=release.pk).order_by("-frozen_at", "-pk")


def _version_before(release: Release, found: Sequence[Release]) -> Release | None:
    """The version before it, among those."""
    return next((one for one in found if one.name == release.name and one.frozen_at < release.frozen_at), None)


def known_changes(release: Release, other: Release) -> dict | None:
    """What `changes` found before."""
    return cache.get(_key(release, other))


def _changes(release: Release, other: Release) -> dict:
    """From the other to this one, as `compare` has it, with the first CHANGED items of each group."""
    if known := known_changes(release, other):
        return known
    with lifecycle.open_release(other) as one, lifecycle.open_release(release) as two:
        found = compare(one, two)
    found["items"] = {group: items[:CHANGED] for group, items in found["items"].items()}
    cache.set(_key(release, other), found, KEPT_FOR)
    return found


def _key(release: Release, other: Release) -> str:
    return f"release-changes:{other.sha256}:{release.sha256}"


def _in_sentences(found: Mapping) -> dict:
    """What differs, in words: of the set-up, and of the items of each group."""
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
