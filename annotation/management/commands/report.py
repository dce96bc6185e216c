"""`manage.py report STUDY --json FILE --html FILE`: write a study's report, for scripts and for an appendix."""

import json
from pathlib import Path

from django.contrib.staticfiles import finders
from django.core.management.base import BaseCommand, CommandError
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from annotation.management.named import named
from annotation.models import Study
from annotation.reports import page as reports_page
from annotation.reports import report
from annotation.studies.instructions_images import pictures_by_stage

STYLES = tuple(f"css/{name}.css" for name in ("base", "manage", "study", "plots", "report"))


class Command(BaseCommand):
    help = "Write a study's report as a self-contained, printable page, as JSON, or as both."

    def add_arguments(self, parser):
        parser.add_argument("study", help="the study's name or number")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to this JSON file")
        parser.add_argument("--html", type=Path, metavar="FILE", help="write the page to this HTML file")

    def handle(self, *, study, **given):
        if not (given["json"] or given["html"]):
            raise CommandError("Choose what to write: --json FILE, --html FILE or both.")
        chosen = named(Study.objects.select_related("benchmark"), study)
        found = report.dated(report.latest(chosen, by="command", small=True))  # up to date, whatever the study's size
        if given["json"]:
            given["json"].write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        if given["html"]:
            pictures = pictures_by_stage(chosen.pk, embedded=True)
            context = {**reports_page.tables(found, pictures), "style": styles()}
            given["html"].write_text(render_to_string("reports/file.html", context), encoding="utf-8")
        self.stdout.write(f"as of {found['as_of']}  {found['fingerprint']}")


def styles() -> SafeString:
    """Return all of the page's styles in one element, so that the file is self-contained."""
    paths = [path for name in STYLES for path in finders.find(name, find_all=True)]
    texts = [Path(path).read_text(encoding="utf-8") for path in paths]
    dark = "".join(Path(path).read_text(encoding="utf-8") for path in finders.find("css/dark.css", find_all=True))
    texts.append(f"@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n")
    return mark_safe(f"<style>\n{''.join(texts)}</style>")  # our own files
