"""`manage.py import_benchmark FORMAT PATH --images … --name …`: import in the foreground, with progress."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.formats.registry import FORMATS
from benchmarks.imports import run as run_import
from benchmarks.imports.order import Files, Options, queue_import
from benchmarks.management.files import counted
from benchmarks.management.orders import BY, add_options, run_here, values_of
from benchmarks.management.reporting import columns_of, problem_line, write_problems
from benchmarks.models import Job, JobState
from benchmarks.records import Refused


class Command(BaseCommand):
    help = "Import a benchmark, all or nothing, with a line for each problem."

    def add_arguments(self, parser):
        parser.add_argument("format", choices=FORMATS, help="the format of the data")
        parser.add_argument("path", type=Path, help="the file, or the folder if the format has several files")
        parser.add_argument("--second", type=Path, help="the second side's file or folder, for formats with two sides")
        parser.add_argument("--origins", nargs=2, metavar="NAME", help="names of the two sides")
        parser.add_argument("--images", type=Path, help="a folder, .zip, .tar or .tar.gz with the images")
        parser.add_argument("--name", required=True, help="the benchmark's name; an existing one is extended")
        add_options(parser, Options, {"mapping"})
        parser.add_argument("--mapping", type=Path, metavar="FILE", help="columns' meanings, for your own files")

    def handle(self, *, format, path, images, name, second, origins, mapping, **options):
        for given in filter(None, (path, second, mapping)):
            if not Path(given).exists():
                raise CommandError(f"There is no {given}.")
        path, images, second = (Path(given).absolute() if given else None for given in (path, images, second))
        if mapping:
            options["mapping"] = mapping.read_text()
        files = Files(path, images, second, [name.strip() for name in origins or ()])
        asked = Options(**values_of(Options, options))
        try:
            job = queue_import(name=name, format=format, files=files, options=asked, by=BY, foreground=True)
        except Refused as refusal:
            option = refusal.problems[0].column.replace("_", "-")
            raise CommandError(f"--{option}: {refusal.problems[0].advice}") from None
        self.answer(run_here(job, run_import.import_files, self.stderr))

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
    """Return the report, one line per sum; the sums add up."""
    if report.get("look"):
        return columns_of(report)
    images, files = report["images"], report["files"]
    checked = ["Only checked; nothing was stored. An import would add:"] if report.get("check_only") else []
    lines = [f"{report['items']:,} items, {report['captions']:,} captions, {report['uses']:,} uses of images."]
    if "new_candidates" in report:
        lines = [f"{report['items']:,} items received {report['new_candidates']:,} new candidates."]
    if report.get("left_out"):
        lines += [f"{report['left_out']:,} incomplete rows skipped, as listed in the notes."]
    for entry, wrong in (("missing_images", "missing"), ("unreadable_images", "unreadable")):
        if skipped := report.get(entry):
            lines += [f"{skipped['rows']:,} rows skipped because images are {wrong}, as listed in the notes."]
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
