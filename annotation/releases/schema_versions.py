"""Which tables, columns and keys a release has, by the schema version that its manifest names. Pure.

A release never changes, so neither does a version that releases were made with: a new column or key is a new version
at the end of `VERSIONS`, which has the difference from the one before. Releases are written in the newest version. Code
that reads them is written for it too; `Schema.as_newest` gives it the rows of older ones.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from benchmarks.records import is_own

KEY = "schema_version"
MANIFEST, STAGES, JUDGMENTS = "manifest.json", "manifest.json/stages", "judgments.parquet"
Keys = Mapping[str, str]  # name → kind


def _keys(words: str) -> dict[str, str]:
    """`id:text batch:int?` → key → kind."""
    return dict(word.split(":") for word in words.split())


@dataclass(frozen=True, slots=True)
class Version:
    """What one version added to the version before it, and what it dropped.

    A place is a file, or a list of objects in its rows: "items.jsonl/images". A kind of a key in JSON is text, int,
    number, bool, list or object, with a question mark where it may be null; that of a column is its type in arrow.

    `keys` and `dropped` have, by place, the new keys or columns (also those that have another kind now) and those that
    are gone. `meant` has the value that stands for a new key in releases of the versions before: null where it has
    none. `optional` has, by place, keys that a row has only where there is something in them. `figures` has, by file,
    the paths of new figures, "*" for every name or place in a list: "stages/*/agreement/*/gwet". `files` are new files
    that every release has and that are no tables. `only_with` names a key of stages: releases in which no stage has it
    have none of `keys`.
    """

    keys: Mapping[str, Keys]
    meant: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    dropped: Mapping[str, Collection[str]] = field(default_factory=dict)
    figures: Mapping[str, Collection[str]] = field(default_factory=dict)
    files: Collection[str] = ()
    optional: Mapping[str, Keys] = field(default_factory=dict)
    only_with: str = ""

    def is_used(self, manifest: Mapping) -> bool:
        """Whether the release with this manifest has the version's keys; so has one whose stages cannot be read."""
        stages = manifest.get("stages")
        return not self.only_with or not isinstance(stages, list) or any(self.only_with in stage for stage in stages)


ABOUT = "stage:text item:text question:text round:int"
TASK = f"{ABOUT} position:int kind:text live:bool"
ITEM = "id:text position:int type:text subtype:text decisions:list captions:list images:list meta:object"
CAME = "state:text? outcome:text? content:object? reason:text? decided_by:text? posterior:number?"
IMAGE = _keys(
    "key:text chosen:bool round:int sha256:text format:text width:int height:int source_name:text licence:text"
    " attribution:text"
)
FIRST = Version(
    keys={
        "items.jsonl": _keys(f"{ITEM} stage:text? negative_image:text? split:text"),
        "items.jsonl/images": IMAGE,
        "dropped.jsonl": _keys(f"{ITEM} stage:text reason:text"),
        "dropped.jsonl/images": IMAGE,
        "tasks.jsonl": _keys(
            f"{TASK} type:text subtype:text overlap:int shared:bool batch:int? shows:list options:list proposals:list"
            f" texts:object carried:object gold:list? own:bool {CAME}"
        ),
        "texts.jsonl": _keys(
            f"{TASK} annotator:text? screen:int? revision:int? counted:bool withdrawn:bool created_at:text? edit:text?"
            " by:text role:text made_of:text? before:text? text:text"
        ),
        "adjudications.jsonl": _keys(
            f"{ABOUT} state:text outcome:text? content:object? reason:text? note:text? by:text"
        ),
        "annotators.jsonl": _keys(
            "annotator:text simulated:bool excluded:bool exclusion_reason:text left:bool? stages:list"
        ),
        "flags.jsonl": _keys(f"{ABOUT} annotator:text reason:text? settled:bool"),
        "images.jsonl": _keys(
            "sha256:text file_names:list format:text width:int height:int source_name:text licence:text"
            " attribution:text"
        ),
        JUDGMENTS: {
            **dict.fromkeys(
                ("stage", "item", "question", "kind", "type", "subtype", "annotator", "answer", "content", "reason"),
                "string",
            ),
            **dict.fromkeys(("round", "slot", "screen", "revision", "place", "instructions_version", "given"), "int32"),
            **dict.fromkeys(("live", "excluded", "counted", "withdrawn", "surplus"), "bool"),
            **dict.fromkeys(("position", "active_ms", "elapsed_ms"), "int64"),
            **dict.fromkeys(("shown", "flags"), "list<element: string>"),
            "created_at": "timestamp[us, tz=UTC]",
        },
        MANIFEST: _keys(
            f"{KEY}:int made_by:text kind:text version:text release:object study:object stages:list columns:object"
            " source_format:text no_source:text warnings:list counts:object items_by_type:list last_judgment_at:text?"
            " splits:object split_rule:text moved:object exclusions:list files:object content:text"
        ),
        STAGES: _keys(
            "name:text position:int protocol:text state:text strategy:text overlap:int cap:int? rule:text tie_rule:text"
            " takes:list carries:text promotion:text sample:int? stratify:bool sample_each:bool apart_from:list"
            " batch_size:int? agreement_items:int? agreement_overlap:int? quota:int? check_rate:number"
            " training_pass:number training_tries:int comprehension:list on_failure:text lease_seconds:int"
            " undo_seconds:int auto_advance:bool seed:int source:text? after:text? measures:bool fixed_answers:list"
            " drops:object confirms:bool confirm_cap:int? guidelines:list alike:bool views:list decision_rule:text"
            " instructions:list not_suitable:list"
        ),
    },
    files=("README.md", "croissant.json", "data_statement.md", "figures.json", "statistics.json"),
)
SECOND = Version(  # pages in several languages
    keys={JUDGMENTS: {"language": "string"}},
    meant={JUDGMENTS: {"language": "en"}},
)
PLACES = [f"{file}/{parts}" for file in ("items.jsonl", "dropped.jsonl") for parts in ("captions", "images")]
THIRD = Version(  # roles of the user's own, with columns for them; attributes
    keys={}, optional={place: {"attributes": "object"} for place in PLACES}
)
FOURTH = Version(  # protocol files; audits; adaptive overlap
    keys={
        JUDGMENTS: {"answers": "string"},
        "tasks.jsonl": _keys("names:object? rules:list?"),
        STAGES: _keys("protocol_file:object?"),
    },
    only_with="protocol_file",
    optional={STAGES: {"audit": "object", "certainty": "number"}, "tasks.jsonl": {"score": "number"}},
)
FIFTH = Version(  # how to evaluate a model on the items, with files that do it
    keys={MANIFEST: {"evaluation": "object?"}}
)
OF_BASELINES = [f"baselines/*/{place}measures/*/{key}" for place in ("", "by_type/*/") for key in ("effective", "over")]
SIXTH = Version(  # intervals of the human baseline over annotators
    keys={}, figures={"figures.json": OF_BASELINES}
)
SEVENTH = Version(keys={})  # intervals of agreement by the jackknife: other values, no other keys
EIGHTH = Version(  # columns for every text and image of the items; what annotators wrote beside the captions
    keys={}, optional={file: {"texts": "object"} for file in ("items.jsonl", "dropped.jsonl")}
)
VERSIONS: tuple[Version, ...] = (FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH)
OWN = 3  # from this version on: roles of the user's own
OVER_ANNOTATORS = 6  # from this version on; before it, intervals of the human baseline were over items
JACKKNIFED = 7  # from this version on; before it, intervals of agreement were of resamples
WHOLE = 8  # from this version on, the split has all texts and images of its items

ARROW = {str(kind): kind for kind in (
    pa.string(), pa.int32(), pa.int64(), pa.float64(), pa.bool_(), pa.timestamp("us", tz="UTC"),
    pa.list_(pa.field("element", pa.string())),
)}  # fmt: skip


class UnknownSchemaVersion(ValueError):
    """The release cannot be read; the message says why, and what to do."""


def newest() -> int:
    return len(VERSIONS)


def has_own(line: Mapping) -> bool:
    """Whether an item has a role of the user's own, or an attribute."""
    roles = [caption["role"] for caption in line["captions"]]
    roles += [image["key"].rpartition("-")[0] for image in line["images"]]
    return any(map(is_own, roles)) or any("attributes" in part for part in (*line["captions"], *line["images"]))


def version_of(manifest: Mapping) -> int:
    """The schema version of a release; 1 of those that were made before releases named one, since their tables are the
    same. Raises UnknownSchemaVersion.
    """
    found = manifest.get(KEY, 1)
    if type(found) is not int or found < 1:
        raise UnknownSchemaVersion(f"{KEY} is {found!r:.60}, and must be a whole number from 1.")
    if found > newest():
        raise UnknownSchemaVersion(
            f"This release has schema version {found!s:.60}, and this Winnow knows versions up to {newest()}. A newer "
            f"Winnow made it ({manifest.get('version')!s:.60}). Use that version of Winnow, or a later one."
        )
    return found


class Schema:
    """What releases of one version have, and what they lack of the newest one."""

    def __init__(self, version: int, manifest: Mapping | None = None):
        """From 1 to `newest()`, of the release with this manifest; without one, all that the version may have."""
        self.version = version
        self.keys: dict[str, dict[str, str]] = {}  # by place
        self.optional: dict[str, dict[str, str]] = {}  # by place
        files: list[str] = []
        unused = [one for one in VERSIONS[:version] if manifest is not None and not one.is_used(manifest)]
        for one in VERSIONS[:version]:
            for place, keys in one.optional.items():
                self.optional.setdefault(place, {}).update(keys)
            if one in unused:
                continue
            for place in {**one.keys, **one.dropped}:
                former, gone = self.keys.get(place, {}), one.dropped.get(place, ())
                kept = {key: kind for key, kind in former.items() if key not in gone}
                self.keys[place] = {**kept, **one.keys.get(place, {})}
            files += one.files
        self.files = sorted({*files, *(place for place in self.keys if "/" not in place)} - {MANIFEST})
        self.lacks: dict[str, dict[str, object]] = {}  # by place: key → what stands for it
        self.lacking_figures: dict[str, list[list[str]]] = {}  # by file: paths
        for one in (*unused, *VERSIONS[version:]):
            for place, keys in one.keys.items():
                meant = one.meant.get(place, {})
                new = {key: meant.get(key) for key in keys if key not in self.keys.get(place, {})}
                self.lacks.setdefault(place, {}).update(new)
            for file, paths in one.figures.items():
                self.lacking_figures.setdefault(file, []).extend(path.split("/") for path in paths)

        self._inner: dict[str, list[str]] = {}  # by place: the places within it that lack something
        for place in self.lacks:
            self._inner.setdefault(place.rpartition("/")[0], []).append(place)

    def came_later(self, file: str) -> bool:
        """Whether releases of this version have no such table yet."""
        return file in self.lacks and file not in self.keys

    def lacks_of(self, file: str) -> bool:
        """Whether the file's rows lack a key of the newest version."""
        return any(keys and (place == file or place.startswith(f"{file}/")) for place, keys in self.lacks.items())

    def as_newest(self, place: str, row: dict) -> dict:
        """The object, with what stands for the keys that it lacks."""
        if not self.lacks:
            return row
        found = {**self.lacks.get(place, {}), **row}
        for inner in self._inner.get(place, ()):
            key = inner.rpartition("/")[2]
            if key in found:
                found[key] = [self.as_newest(inner, one) for one in found[key]]
        return found
