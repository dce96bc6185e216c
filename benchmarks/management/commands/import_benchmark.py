"""`manage.py import_benchmark FORMAT PATH --images … --name …`: an import in the foreground, with progress."""

from dataclasses import fields
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.formats.base import HOLDS_IMAGES, Format, wrong_origins
from benchmarks.formats.registry import FORMATS
from benchmarks.imports import run as run_import
from benchmarks.imports.order import Files, Options, queue_import
from benchmarks.jobs import jobs
from benchmarks.management.reporting import ProgressLine, counted, problem_line, write_problems
from benchmarks.models import Job, JobState

BY = "command"


class Command(BaseCommand):
    help = "Import a benchmark: all of it, or nothing, with a line for each problem."

    def add_arguments(self, parser):
        parser.add_argument("format", choices=FORMATS, help="the format of the data")
        parser.add_argument("path", type=Path, help="the file, or the folder if the format has several files")
        parser.add_argument("--second", type=Path, help="the second side's file or folder, for formats with two sides")
        parser.add_argument("--origins", nargs=2, metavar="NAME", help="names of the two sides")
        parser.add_argument("--split", default="", help="the only split of a release to import")
        parser.add_argument("--images", type=Path, help="a folder, .zip, .tar or .tar.gz with the images")
        parser.add_argument("--name", required=True, help="the benchmark's name; an existing one is extended")
        parser.add_argument(
            "--format-captions",
            action="store_true",
            help="capital first letter, one full stop, the captions of an item alike",
        )
        parser.add_argument("--text-only", action="store_true", help="ignore the images")
        parser.add_argument(
            "--skip-incomplete", action="store_true",
            help="skip and list incomplete rows, instead of rejecting the import",
        )  # fmt: skip
        parser.add_argument(
            "--skip-missing-images", action="store_true",
            help="skip and list rows that name a missing image, instead of rejecting the import",
        )  # fmt: skip
        parser.add_argument("--check-only", action="store_true", help="check everything, but store nothing")
        parser.add_argument(
            "--new-candidates", action="store_true",
            help="the rows name existing items: add their candidate images as a new round",
        )  # fmt: skip

    def handle(self, *, format, path, images, name, **rest):
        asked = {field.name: rest.get(field.name, field.default) for field in fields(Options)}
        self.refuse(FORMATS[format], name, path, rest)
        if images and FORMATS[format].images:
            raise CommandError(HOLDS_IMAGES)
        second, origins = rest.get("second"), [name.strip() for name in rest.get("origins") or ()]
        path, images, second = (Path(given).absolute() if given else None for given in (path, images, second))
        files = Files(path, images, second, origins)
        job = queue_import(name=name, format=format, files=files, options=Options(**asked), by=BY, foreground=True)
        progress = ProgressLine(self.stderr)
        job = jobs.run(job_id=job.pk, by=BY, work=run_import.import_files, tell=progress.show)
        progress.end()
        self.answer(job)

    def refuse(self, format: Format, name: str, path: Path, rest: dict) -> None:
        """Raise CommandError for options that make no valid import."""
        if not name.strip() or len(name) > 120:
            raise CommandError("Give a --name of 1 to 120 characters.")
        for given in filter(None, (path, rest.get("second"))):
            if not Path(given).exists():
                raise CommandError(f"There is no {given}.")
        if rest.get("new_candidates") and (rest.get("text_only") or not format.candidates):
            carry = ", ".join(one.name for one in FORMATS.values() if one.candidates)
            raise CommandError(f"New candidates are images, in one of the formats {carry}.")
        if rest.get("second") and not format.sides:
            raise CommandError(f"{format.name} has no second side.")
        if rest.get("split") and not format.splits:
            raise CommandError(f"{format.name} has no splits.")
        if rest.get("origins"):
            if not format.origins:
                raise CommandError(f"{format.name} does not take names of its sides.")
            if wrong := wrong_origins(rest["origins"]):
                raise CommandError(wrong)

    def answer(self, job: Job) -> None:
        if job.state == JobState.DONE:
            self.stdout.write("\n".join(summary(job.report)))
            return
        write_problems(job, self.stdout)
        more = ""
        if job.problem_count > len(job.problems):
            counts = ", ".join(f"{kind['code']} {kind['count']:,}" for kind in job.report["kinds"])
            more = f" The first {len(job.problems)} are listed. By code: {counts}."
        why = counted(job.problem_count) if job.state == JobState.FAILED else "Cancelled."
        raise CommandError(f"Nothing was imported: {why}{more}")


def summary(report: dict) -> list[str]:
    """The report, one line per sum; the sums add up."""
    images, files = report["images"], report["files"]
    checked = ["Checked only, nothing was stored. An import would bring:"] if report.get("check_only") else []
    lines = [f"{report['items']:,} items, {report['captions']:,} captions, {report['uses']:,} uses of images."]
    if "new_candidates" in report:
        lines = [f"{report['items']:,} items received {report['new_candidates']:,} new candidates."]
    if report.get("left_out"):
        lines += [f"{report['left_out']:,} incomplete rows skipped, as listed in the notes."]
    if missing := report.get("missing_images"):
        lines += [f"{missing['rows']:,} rows skipped because images are missing, as listed in the notes."]
    if files:
        lines += [
            f"{images['named']:,} image names = {images['stored']:,} stored + {images['known']:,} already stored "
            f"+ {images['same']:,} identical to another image",
            f"{files['found']:,} files = {files['used']:,} used + {files['unused']:,} unused "
            f"+ {files['system']:,} system files",
            *(f"unused: {name}" for name in files["unused_names"]),
        ]
    lines += [f"{count:,} of type {' '.join(filter(None, kind)) or 'none'}" for *kind, count in report.get("kinds", ())]
    lines += [f"{count:,} images of {width} × {height} pixels" for width, height, count in report.get("sizes", ())]
    return [
        *checked,
        *lines,
        *(f"note: {problem_line(note)}" for note in report["notes"]),
        f"Done in {report['seconds']:,} s.",
    ]
