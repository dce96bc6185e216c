"""The order of an import: which files become which benchmark, how, and on whose behalf."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from benchmarks import permissions
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Job
from benchmarks.records import Problem, Refused

UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # categories: control, format, none, private, line breaks
BLANKS = "\u034f\u115f\u1160\u2800\u3164\uffa0\ufe0e\ufe0f"  # invisible letters, marks and symbols


@dataclass(frozen=True)
class Options:
    """`format_captions`: BiVLC's step 1, all captions of an item in one form. `text_only`: leave the images out.

    `new_candidates`: the rows are existing items and add another round of candidate images. `skip_incomplete`:
    incomplete rows are skipped and listed in the report, instead of rejecting the import. `skip_missing_images`: so are
    rows that name an image which was not given, and the benchmark's page names them for good. `split`: the only one to
    import of a format with splits. `check_only`: everything is done except to store it.
    """

    format_captions: bool = False
    text_only: bool = False
    new_candidates: bool = False
    skip_incomplete: bool = False
    skip_missing_images: bool = False
    split: str = ""
    check_only: bool = False


@dataclass(frozen=True)
class Files:
    """The files of an import, on this machine. `second`, `origins`: see Format.read; `upload`: a folder to delete
    afterwards; `kept`: ids of the linked uploads, by field."""

    path: Path
    images: Path | None = None
    second: Path | None = None
    origins: Sequence[str] = ()
    upload: str | None = None
    kept: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """As a job's params have them, from which `in_job` reads them."""
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
    """The request for an import. `by` and `created_by` say who requested it; `source` is the name of the format in
    which its items first came; `report`: what a job that made its items adds to the report."""

    benchmark_name: str
    source: str
    options: Options
    by: str
    created_by_id: int | None = None
    report: Mapping[str, object] = field(default_factory=dict)


def benchmark_name(given: str) -> str:
    """The name as stored, in NFC. Raises Refused if part of it is invisible."""
    name = unicodedata.normalize("NFC", given).strip()
    wrong = next((one for one in name if unicodedata.category(one) in UNSEEN or one in BLANKS), None)
    if wrong is None and name:
        return name
    what = f"the character U+{ord(wrong):04X} in it is invisible" if wrong else "it is empty"
    raise Refused([Problem("WRONG_VALUE", "", None, "name", f"Give the benchmark another name: {what}.")])


def refuse_others(name: str, user: User | None) -> None:
    """Raise Refused if there is a benchmark of that name that the user may not change. None: the server's operator."""
    benchmark = Benchmark.objects.select_related("created_by").filter(name=name).first()
    try:
        if user is not None and benchmark is not None:
            permissions.check_change(user, benchmark)
    except PermissionDenied as why:
        raise Refused([Problem("NOT_YOURS", "", None, "name", str(why))]) from None


def queue_import(
    *, name: str, format: str, files: Files, by: str, options: Options = Options(), created_by=None, foreground=False
) -> Job:
    """Create a job that imports files. Raises Refused for an invalid benchmark name, or that of a benchmark which
    `created_by` may not change."""
    name = benchmark_name(name)
    refuse_others(name, created_by)
    params = {"name": name, "format": format, "options": asdict(options), "by": by, "foreground": foreground}
    title = f"New candidates for {name}" if options.new_candidates else f"Import {name}"
    title = f"Check: {title}" if options.check_only else title
    return jobs.queue_job(
        kind="import", title=title, params=params | files.as_json(), by=by, created_by=created_by
    )  # fmt: skip
