"""`manage.py create_release STUDY NAME@VERSION`: freeze a split; `--out DIR` also unpacks it."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from annotation.management.named import named
from annotation.management.releases import add_plan, plan_of
from annotation.models import Study
from annotation.releases import lifecycle as release_lifecycle
from annotation.wording import items_in_words
from benchmarks.jobs import jobs
from benchmarks.models import JobState
from benchmarks.records import Problem
from workers import outside_json

BY = "command"


class Command(BaseCommand):
    help = "Freeze a study's split under a name and a version, in the chosen formats."

    def add_arguments(self, parser):
        parser.add_argument("study", help="the study's name or number")
        parser.add_argument("--out", type=Path, help="a new folder to unpack the release into")
        add_plan(parser)

    def handle(self, *, study, out, words, **options):
        found = named(Study.objects.select_related("benchmark"), study)
        plan = plan_of(options, _read(words) if words else {})
        try:
            release_lifecycle.check_target(out)
            release_lifecycle.clear_dead(study=found, plan=plan, by=BY)
            release = release_lifecycle.freeze(study=found, plan=plan, by=BY, foreground=True)
            assert release.job_id
        except release_lifecycle.CannotFreeze as why:
            raise CommandError(str(why)) from None
        try:
            job = jobs.run(job_id=release.job_id, by=BY, work=release_lifecycle.run_release)
        except KeyboardInterrupt:
            release_lifecycle.discard(release=release, by=BY)
            raise CommandError("Stopped. Nothing was released.") from None
        if job.state != JobState.DONE:
            release_lifecycle.discard(release=release, by=BY)
            raise CommandError("Nothing was released. " + "\n".join(str(Problem(**one)) for one in job.problems))
        release.refresh_from_db()
        summary = release.summary
        self.stdout.write(items_in_words(summary["counts"]))
        self.stdout.write(", ".join(f"{name}: {split['items']:,} items" for name, split in summary["splits"].items()))
        self.stdout.write(f"{release} is frozen: content {release.content}, {release.size:,} bytes in {release.file}")
        if out:
            try:
                release_lifecycle.unpack(release, out)
            except release_lifecycle.CannotFreeze as why:
                raise CommandError(f"{why} The release is frozen; unpack it elsewhere with fetch_release.") from None
            self.stdout.write(f"Unpacked into {out}.")


def _read(path: Path) -> dict:
    try:
        words = outside_json.read(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read as JSON: {error}.") from None
    if not isinstance(words, dict) or not all(isinstance(word, str) for word in words.values()):
        raise CommandError(f"{path} must be an object of texts.")
    return words
