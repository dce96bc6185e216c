"""An import's order: which files become which benchmark, how, and on whose behalf."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from benchmarks import permissions
from benchmarks.formats.base import HOLDS_IMAGES, Format, wrong_origins
from benchmarks.formats.own.format import FORMAT as OWN_FORMAT
from benchmarks.formats.own.mapping import read_mapping
from benchmarks.formats.registry import FORMATS
from benchmarks.jobs import jobs, orders
from benchmarks.models import Benchmark, Job
from benchmarks.records import Problem, Refused

OWN = OWN_FORMAT.name
LONGEST = Benchmark._meta.get_field("name").max_length or 0
UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # control, format, unassigned, private, surrogate, line break
BLANKS = "\u034f\u115f\u1160\u2800\u3164\uffa0\ufe0e\ufe0f"  # invisible letters, marks and symbols


@dataclass(frozen=True)
class Options:
    """Options of an import. `format_captions` is BiVLC's step 1."""

    format_captions: bool = orders.switch(
        "Format the captions",
        "Capitalise the first letter and end with one full stop. Names keep their capitals, and a word has the same "
        "case in all captions of an item.",
    )
    text_only: bool = orders.switch("Text only", "Ignore the images named in the rows.")
    skip_incomplete: bool = orders.switch(
        "Skip incomplete rows",
        "Rows without a caption are skipped and listed in the report. Otherwise the import is rejected.",
    )
    skip_missing_images: bool = orders.switch(
        "Skip rows with missing images",
        "Rows that name an image you did not provide are skipped and listed in the report and on the benchmark’s page.",
    )
    skip_unreadable_images: bool = orders.switch(
        "Skip rows with unreadable images",
        "Rows with an image that is damaged, too large or of a type that Winnow does not read are skipped and listed "
        "in the report and on the benchmark’s page.",
    )
    skip_stored: bool = orders.switch(
        "Skip items that are already stored",
        "Rows whose item is already in the benchmark, unchanged, are skipped. Otherwise the import is rejected.",
    )
    new_candidates: bool = orders.switch(
        "New candidates",
        "The rows name items already in the benchmark. Their candidate images are added as a new round, for items that "
        "a study dropped.",
    )
    split: str = orders.described(
        forms.CharField(
            max_length=200,
            required=False,
            label="Split",
            help_text="Import only this split of the release, such as `test`. Leave empty for all.",
        )
    )
    mapping: str = orders.mapping(
        read_mapping, 12, "For your own files: each column’s meaning, as JSON. If empty, the benchmark’s, or a guess."
    )
    look: bool = orders.switch("Look only", "Read the first rows of your own file, and report its columns’ meanings.")
    check_only: bool = orders.switch("Check only", "Do everything except storing.")


@dataclass(frozen=True)
class Files:
    """An import's files, on this machine. `second`, `origins`: see Format.read; `upload`: a folder to delete
    afterwards; `kept`: ids of the linked uploads, by field."""

    path: Path
    images: Path | None = None
    second: Path | None = None
    origins: Sequence[str] = ()
    upload: str | None = None
    kept: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return it as in a job's params, from which `in_job` reads it."""
        paths = {"path": self.path, "images": self.images, "second": self.second}
        kept = {name: list(ids) for name, ids in self.kept.items()}
        found = {name: str(path) if path else None for name, path in paths.items()}
        return {**found, "origins": list(self.origins), "upload": self.upload, "kept": kept}

    @classmethod
    def in_job(cls, params: Mapping) -> "Files":
        images, second = (Path(params[name]) if params[name] else None for name in ("images", "second"))
        rest = {name: params[name] for name in ("origins", "upload", "kept")}
        return cls(Path(params["path"]), images, second, **rest)


@dataclass(frozen=True)
class Order:
    """An import's order. `by` and `created_by` are who requested it; `source` names the format of its items' first
    import; `report`: additions to the report by a job that made its items."""

    benchmark_name: str
    source: str
    options: Options
    by: str
    created_by_id: int | None = None
    report: Mapping[str, object] = field(default_factory=dict)


def benchmark_name(given: str) -> str:
    """Return the name as stored, in NFC. Raises Refused if it is too long or part of it is invisible."""
    name = unicodedata.normalize("NFC", given).strip()
    wrong = next((one for one in name if unicodedata.category(one) in UNSEEN or one in BLANKS), None)
    if wrong is None and 0 < len(name) <= LONGEST:
        return name
    what = f"it has more than {LONGEST} characters" if name else "it is empty"
    what = f"the character U+{ord(wrong):04X} in it is invisible" if wrong else what
    raise Refused([Problem("WRONG_VALUE", "", None, "name", f"Give the benchmark another name: {what}.")])


def refuse_others(name: str, user: User | None) -> None:
    """Raise Refused if there is a benchmark of that name that the user (None: the operator) may not change."""
    benchmark = Benchmark.objects.select_related("created_by").filter(name=name).first()
    try:
        if user is not None and benchmark is not None:
            permissions.check_change(user, benchmark)
    except PermissionDenied as why:
        raise Refused([Problem("NOT_YOURS", "", None, "name", str(why))]) from None


def contradictions(
    format: Format, options: Options, *, second: bool, images: bool, origins: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield (field, advice) for options and files that the format does not accept."""
    if second and not format.sides:
        yield "second", f"{format.title} has no second side."
    if images and format.images and format.name != OWN:
        yield "images", HOLDS_IMAGES
    if (options.mapping or options.look) and format.name != OWN:
        yield "mapping", f"{format.title} does not need a mapping: its columns are known."
    if options.split and not format.splits:
        yield "split", f"{format.title} has no splits."
    if origins and not format.origins:
        yield "second_origin", f"{format.title} does not accept names for its sides."
    elif origins and (wrong := wrong_origins(origins)):
        yield "second_origin", wrong
    if options.new_candidates and not format.candidates:
        have = ", ".join(one.name for one in FORMATS.values() if one.candidates)
        yield "new_candidates", f"{format.title} cannot have candidate images. Use one of the formats {have}."
    elif options.new_candidates and options.text_only:
        yield "new_candidates", "New candidates are images. Clear “Text only”."


def queue_import(
    *, name: str, format: str, files: Files, by: str, options: Options = Options(), created_by=None, foreground=False
) -> Job:
    """Create a job that imports files. Raises Refused for invalid options, an invalid benchmark name, or that of a
    benchmark that `created_by` may not change."""
    name, options = benchmark_name(name), orders.checked(options)
    refuse_others(name, created_by)
    given = {"second": bool(files.second), "images": bool(files.images), "origins": files.origins}
    for column, advice in contradictions(FORMATS[format], options, **given):  # type: ignore[arg-type]
        raise Refused([Problem("WRONG_VALUE", "", None, column, advice)])
    params = {"name": name, "format": format, "options": asdict(options), "by": by, "foreground": foreground}
    title = f"New candidates for {name}" if options.new_candidates else f"Import {name}"
    title = f"Check: {title}" if options.check_only else f"Columns: {title}" if options.look else title
    return jobs.queue_job(kind="import", title=title, params=params | files.as_json(), by=by, created_by=created_by)
