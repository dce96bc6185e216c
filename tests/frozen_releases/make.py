"""A small release of today's schema version, to be kept beside this file for ever.

    python -m tests.frozen_releases.make

Run it once for each schema version, before Winnow is released with it. It starts servers of its own. Where there is a
release of that version it refuses: what a frozen release says never changes, and a test that fails on one has found
that Winnow does not read it any more.
"""

import shutil
import sys
from pathlib import Path

from bench import scratch

HERE = Path(__file__).parent
WORDS = {"summary": "Made to be kept.", "licence": "CC0-1.0", "language": "en"}


def main() -> None:
    from annotation.releases.schema import VERSION

    out = HERE / f"{VERSION}.zip"
    if out.exists():
        sys.exit(f"{out} is there. A frozen release is never made again.")
    with scratch.winnow(durable=False):
        shutil.copyfile(_release(), out)
        print(out.name, f"{out.stat().st_size:,} bytes")


def _release() -> Path:
    """The .zip: all forms, three splits, everything public, and rows in every table. Its stages ask protocol files."""
    from django.conf import settings

    from annotation.models import Flag, Lease
    from annotation.releases.plan import FORMS, PUBLIC
    from benchmarks.corrections.correct import Change, correct
    from benchmarks.models import Action
    from tests.builders import declared, pipelines, text_annotators
    from tests.builders.releases import frozen

    study = pipelines.with_originals(declared.texts_and_edits(14, {"sample": 12}))
    text_annotators.work(study, seed=3)
    declared.adjudicate_first(study)
    lease = Lease.objects.filter(task__stage__study=study).order_by("pk").first()
    Flag.objects.create(lease=lease, reason="The image is blurred.")
    words = study.benchmark.items.order_by("-position")[0].captions.get(role="positive", position=0)
    asked = Change(item=words.item.key, action=Action.CAPTION, place="caption-positive-0", new=f"{words.text} So.",
                   reason="It lacked a word.")  # fmt: skip
    correct(benchmark=study.benchmark, changes=[asked], by="test")
    splits = {"train": 60, "validation": 20, "test": 20}
    release = frozen(study, "1.0", name="frozen", splits=splits, forms=FORMS, public=tuple(PUBLIC), words=WORDS)
    return Path(settings.MEDIA_ROOT) / release.file


if __name__ == "__main__":
    main()
