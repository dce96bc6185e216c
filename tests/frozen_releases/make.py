"""Small releases of today's schema version, to be kept beside this file for ever.

    python -m tests.frozen_releases.make

Run it once for each schema version, before Winnow is released with it, and delete those in which nothing is new that
another does not have. It starts servers of its own. Where there is a
folder of that version it refuses: what a frozen release says never changes, and a test that fails on one has found that
Winnow does not read it any more.
"""

import shutil
import sys
from pathlib import Path

from bench import scratch

HERE = Path(__file__).parent
PUBLIC = ("annotators", "comments", "gold", "times")
WORDS = {"summary": "Made to be kept.", "licence": "CC0-1.0", "language": "en"}


def main() -> None:
    from annotation.releases.schema_versions import newest

    out = HERE / str(newest())
    if out.exists():
        sys.exit(f"{out} is there. A frozen release is never made again.")
    with scratch.winnow(durable=False) as var:
        made = list(_releases(var))
        out.mkdir()
        for path in made:
            shutil.copyfile(path, out / path.name)
            print(path.name, f"{path.stat().st_size:,} bytes")


def _releases(var: Path):
    """The .zip of each."""
    from django.conf import settings

    from annotation.designs.plan import StagePlan
    from annotation.designs.presets import baseline_plans
    from annotation.protocols.registry import PROTOCOLS
    from annotation.releases.plan import FORMS
    from tests.builders import adaptive, annotators, audited, declared, own_roles, pipelines, studies, text_annotators
    from tests.builders.releases import frozen

    def path(release) -> Path:
        return Path(settings.MEDIA_ROOT) / release.file

    # Choosing and telling apart images, and the human baseline: all forms, three splits, everything public.
    study = pipelines.pipeline(studies.benchmark(items=24, candidates=2))
    fits = study.stages.get(name="fits")
    for task in fits.tasks.filter(live=True, kind="judge", decided__state="dropped").order_by("pk")[:6]:
        pipelines.adjudicate(task, fits, "positive-0")
    splits = {"train": 60, "validation": 20, "test": 20}
    yield path(frozen(study, "1.0", name="images", splits=splits, forms=FORMS, public=PUBLIC, words=WORDS))

    # Second positives and triplets, with edits and an adjudicator's own words: the least is public.
    study = text_annotators.visla_study(var / "texts", rows=10)
    text_annotators.work(study, people=4, seed=7)
    task = study.stages.get(position=1).tasks.filter(decided__state="dropped").first()
    text_annotators.adjudicate(task, {"second_positive": "A basket has a cat in it."})
    yield path(frozen(study, "1.0", name="texts", splits={"train": 80, "test": 20}))

    # Hard positives ranked by two people: without forms beside parquet.
    stages = [StagePlan("hard-positive-rank", name="ranked", settings={"overlap": 2})]
    study = studies.study(benchmark=text_annotators.hard_positives(var / "ratings" / "in", rows=2), stages=stages)
    text_annotators.work(study, people=2, changes=0)
    yield path(frozen(study, "1.0", name="ratings", forms=(), public=("annotators",)))

    # Protocol files: answers of several kinds, a text for the next stage, an adjudicator's answer.
    study = pipelines.with_originals(declared.texts_and_edits(), begin=1000)
    text_annotators.work(study, seed=3)
    declared.adjudicate_first(study)
    yield path(frozen(study, "1.0", name="protocols", forms=(), public=("annotators", "comments")))

    # An audit in strata: without forms beside parquet.
    study = audited.study(studies.benchmark(items=40, candidates=2), begin=2000, stratify=True)
    yield path(frozen(study, "1.0", name="audit", forms=()))

    # Adaptive overlap: tasks with unequal numbers of judgments, one of them open.
    yield path(frozen(adaptive.study(begin=3000), "1.0", name="adaptive", forms=()))

    # A human baseline of four annotators, who are right at 95, 85, 75 and 65 % of the questions.
    plans = baseline_plans(sample=None, batch_items=6)
    study = studies.study(benchmark=annotators.benchmark_of_pairs(24), stages=plans)
    annotators.finish([annotators.Worker(study, annotators.right_at(1.05 - one / 10), one) for one in range(1, 5)])
    study = pipelines.with_originals(study, begin=4000)
    yield path(frozen(study, "1.0", name="baseline", forms=(), public=("annotators",)))

    # Roles of the user's own, with attributes: all forms.
    PROTOCOLS["verify"] = own_roles.protocol()
    yield path(frozen(own_roles.study(var / "own"), "1.0", name="own", forms=FORMS))


if __name__ == "__main__":
    main()
