"""Which tables, columns and keys a release has, and the version of all that, which its manifest names. Pure.

A release never changes, so neither does a version that releases were made with (docs/reference/verifying.md).
"""

from collections.abc import Mapping

VERSION = 1
KEY = "schema_version"
MANIFEST, STAGES, JUDGMENTS = "manifest.json", "manifest.json/stages", "judgments.parquet"
BESIDE = ("README.md", "croissant.json", "data_statement.md", "figures.json", "statistics.json")  # what is no table


def _keys(words: str) -> dict[str, str]:
    """`id:text batch:int?` → key → kind."""
    return dict(word.split(":") for word in words.split())


ABOUT = "stage:text item:text question:text round:int"
TASK = f"{ABOUT} position:int kind:text live:bool"
ITEM = "id:text position:int type:text subtype:text decisions:list captions:list images:list meta:object"
CAME = "state:text? outcome:text? content:object? reason:text? decided_by:text? posterior:number?"
IMAGE = _keys(
    "key:text chosen:bool round:int sha256:text format:text width:int height:int source_name:text licence:text"
    " attribution:text"
)
# By place, which is a file or a list of objects in its rows, "items.jsonl/images": each key and its kind. A kind in
# JSON is text, int, number, bool, list or object, with a question mark where it may be null; in parquet arrow's type.
KEYS: Mapping[str, Mapping[str, str]] = {
    "items.jsonl": _keys(f"{ITEM} stage:text? negative_image:text? split:text"),
    "items.jsonl/images": IMAGE,
    "dropped.jsonl": _keys(f"{ITEM} stage:text reason:text"),
    "dropped.jsonl/images": IMAGE,
    "tasks.jsonl": _keys(
        f"{TASK} type:text subtype:text overlap:int shared:bool batch:int? shows:list options:list names:object?"
        f" rules:list? proposals:list texts:object carried:object gold:list? own:bool {CAME}"
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
            ("stage", "item", "question", "kind", "type", "subtype", "annotator", "answer", "answers", "content",
             "language", "reason"),
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
        " splits:object split_rule:text moved:object exclusions:list evaluation:object? files:object content:text"
    ),
    STAGES: _keys(
        "name:text position:int protocol:text protocol_file:object? state:text strategy:text overlap:int cap:int?"
        " rule:text tie_rule:text takes:list carries:text promotion:text sample:int? stratify:bool sample_each:bool"
        " apart_from:list batch_size:int? agreement_items:int? agreement_overlap:int? quota:int? check_rate:number"
        " training_pass:number training_tries:int comprehension:list on_failure:text lease_seconds:int"
        " undo_seconds:int auto_advance:bool seed:int source:text? after:text? measures:bool fixed_answers:list"
        " drops:object confirms:bool confirm_cap:int? guidelines:list alike:bool views:list decision_rule:text"
        " instructions:list not_suitable:list"
    ),
}  # fmt: skip
# Keys that a row has only where there is something in them.
OPTIONAL: Mapping[str, Mapping[str, str]] = {
    **{f"{file}/{parts}": {"attributes": "object"} for file in ("items.jsonl", "dropped.jsonl")
       for parts in ("captions", "images")},
    **{file: {"texts": "object"} for file in ("items.jsonl", "dropped.jsonl")},
    "tasks.jsonl": {"score": "number"},
    STAGES: {"audit": "object", "certainty": "number"},
}  # fmt: skip
FILES = sorted({*BESIDE, *(place for place in KEYS if "/" not in place)} - {MANIFEST})  # that every release has


class UnknownSchemaVersion(ValueError):
    """The release cannot be read; the message says why, and what to do."""


def check_version(manifest: Mapping) -> None:
    """Raise UnknownSchemaVersion if this Winnow does not know the release's schema version."""
    found = manifest.get(KEY)
    if type(found) is not int or found < 1:
        raise UnknownSchemaVersion(f"{KEY} is {found!r:.60}, and must be a whole number from 1.")
    if found > VERSION:
        raise UnknownSchemaVersion(
            f"This release has schema version {found!s:.60}, and this Winnow reads version {VERSION}. Another Winnow "
            f"made it ({manifest.get('version')!s:.60}): verify and compare it with that one."
        )
