"""A study with one audit, judged until it stopped: the items in `wrong` have no image that fits."""

from annotation.models import Study
from annotation.pipeline import audits
from benchmarks.models import Benchmark
from tests.builders import studies
from tests.builders.pipelines import with_originals


def study(benchmark: Benchmark, every: int = 4, begin: int = 0, **settings) -> Study:
    """Two annotators per item judge alike: every such item of the order is wrong."""
    given = {"target_half_width": 0.15, "overlap": 2, **settings}
    stage = studies.stage(benchmark=benchmark, strategy="audit", **given)
    people = [studies.annotator(stage.study) for _ in range(2)]
    for place in range(benchmark.items.count()):
        for person in people:
            studies.judgment(person, stage, "none" if place % every == 1 else "candidate-0")
        if audits.stop_if_over(stage):
            break
    return with_originals(stage.study, begin)
