"""The tables, columns and keys of a release, and the version of this schema, which its manifest names. Pure.

A release never changes, so a schema version with which releases were made doesn't either (docs/reference/verifying.md).
Tables are those of exports/columns.py.
"""

from collections.abc import Mapping

from annotation.exports.columns import CAPTIONS, IMAGES, TABLES, Column, column

VERSION = 1
KEY = "schema_version"
WINNOW = "0.1.0"  # the version of Winnow, here because verification, which doesn't read settings, names and compares it
MANIFEST, JUDGMENTS = "manifest.json", TABLES["judgments"].file
SETTINGS = "release.json"  # the manifest without its list of files, so that the content hash stands for it too


def _keys(words: str) -> tuple[Column, ...]:
    """Parse `id:text batch:integer?`: names, each with a kind and its marks."""
    return tuple(column(name, kind) for name, kind in (word.split(":") for word in words.split()))


OF_MANIFEST = _keys(
    f"{KEY}:integer made_by:text kind:text version:text release:object study:object stages:objects columns:object"
    " source_format:text reports:text no_source:text warnings:texts counts:object items_by_type:objects"
    " last_judgment_at:text? splits:object split_rule:text moved:object exclusions:objects evaluation:object?"
    " files:object content:text"
)
OF_STAGES = _keys(
    "name:text position:integer protocol:text protocol_file:object? state:text strategy:text overlap:integer"
    " cap:integer? rule:text tie_rule:text takes:texts carries:text promotion:text sample:integer? stratify:boolean"
    " sample_each:boolean apart_from:texts batch_size:integer? agreement_items:integer? agreement_overlap:integer?"
    " quota:integer? check_rate:number practice_pass:number practice_tries:integer comprehension:objects"
    " on_failure:text lease_seconds:integer undo_seconds:integer auto_advance:boolean seed:integer source:text?"
    " after:text? measures:boolean fixed_answers:texts drops:object confirms:boolean confirm_cap:integer?"
    " guidelines:objects alike:boolean views:texts decision_rule:text instructions:objects not_suitable:objects"
    " audit:object* certainty:number* imported:objects*"
)
PARTS = {"captions": CAPTIONS, "images": IMAGES}  # parts of an item's line
BESIDE = ("README.md", "croissant.json", "data_statement.md", "figures.json", "statistics.json")  # not tables
FILES = sorted([*BESIDE, *(table.file for table in TABLES.values())])  # files that every release has


class UnknownSchemaVersion(ValueError):
    """The release cannot be read; the message explains why, and what to do."""


def check_version(manifest: Mapping) -> None:
    """Raise UnknownSchemaVersion if this Winnow does not know the release's schema version."""
    found = manifest.get(KEY)
    if type(found) is not int or found < 1:
        raise UnknownSchemaVersion(f"{KEY} is {found!r:.60}, but must be a whole number from 1.")
    if found > VERSION:
        raise UnknownSchemaVersion(
            f"This release has schema version {found!s:.60}, and this Winnow reads version {VERSION}. Another Winnow "
            f"made it ({manifest.get('version')!s:.60}): verify and compare it with that one."
        )
