"""How long Dawid and Skene's estimate of a stage takes in the worker as the stage grows: the first one, which writes
every outcome, and one more of the same answers.

    python -m bench.estimates --judgments 1000 10000 100000 1000000     (about 3 GB of temporary disk)

Studies are those of bench/study_page.py. The job runs in a process of its own, whose largest memory is told.
"""

import argparse
import json
import subprocess
import sys

from bench import scratch
from bench.study_page import filled

ESTIMATE = """
import json, resource, sys, time, django
django.setup()
from annotation import estimation
from annotation.models import Stage
stage, told = Stage.objects.select_related("study__benchmark").get(pk=int(sys.argv[1])), {}
begun = time.perf_counter()
fitted = pipeline.dawid_skene.fit(stage, pipeline.dawid_skene.counted_answers(stage))
told = {"fit": time.perf_counter() - begun, "steps": fitted.steps}
del fitted
for name in ("first", "again"):
    begun = time.perf_counter()
    told[f"{name}_changed"] = pipeline.dawid_skene.estimate(stage, "measure")["changed"]
    told[name] = time.perf_counter() - begun
told["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(told))
"""
HEAD = "| judgments | tasks | steps | read and fit s | first estimate s | one more s | worker MB |\n" + "|---" * 7 + "|"


def measured(judgments: int) -> str:
    """A line of the table."""
    from annotation.models import Outcome, Slot, Stage

    stage = filled(judgments)
    Stage.objects.filter(pk=stage.pk).update(rule="dawid-skene")
    Outcome.objects.filter(task__stage=stage).delete()
    done = subprocess.run([sys.executable, "-c", ESTIMATE, str(stage.pk)], check=True, capture_output=True, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["first_changed"] and not told["again_changed"], told
    counts = [Slot.objects.filter(stage=stage).exclude(judgment=None).count(), stage.tasks.count(), told["steps"]]
    seconds = [told[name] for name in ("fit", "first", "again")]
    cells = [f"{n:,}" for n in counts] + [f"{time:,.1f}" for time in seconds] + [f"{told['memory']:,.0f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--judgments", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    given = options.parse_args()
    with scratch.winnow(durable=False):
        print(HEAD)
        for judgments in given.judgments:
            print(measured(judgments), flush=True)


if __name__ == "__main__":
    main()
