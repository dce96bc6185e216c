"""BiVLC's validation again, at full size: import, study, 12,894 judgments, the paper's funnel. See
tests/builders/bivlc_paper.py.

    python -m bench.paper [--drawn] [--http 600] [--people 20]

`--drawn` imports through the real importer, with a drawn stand-in for each image that the table names (about 3 GB of
temporary disk, minutes); else rows without files stand in. Of the judgments, `--http` are given over HTTP by simulated
annotators, on a web server of its own; the others through the same verbs in this process, which is faster and shows
what the database and the promotion cost. Prints what each part took, and the funnel.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

from bench import import_full, scratch, throughput

FOLDER = import_full.TABLE.parent
PATIENCE = 40  # seconds until the leases of those who went away have run out
LEASE = 30


class Watch:
    """Says what each part took."""

    def __init__(self):
        self.began = time.monotonic()

    def say(self, what: str, count: int = 0) -> None:
        seconds = time.monotonic() - self.began
        each = f", {1000 * seconds / count:.1f} ms each" if count else ""
        print(f"{what}: {seconds:,.1f} s{each}", flush=True)
        self.began = time.monotonic()


def imported(var: Path):
    """The benchmark, through the importer, with drawn images."""
    from benchmarks.imports import run as run_import
    from benchmarks.imports.order import Files, queue_import
    from benchmarks.jobs import jobs
    from benchmarks.models import Benchmark

    archive = var / "images.tar"
    import_full.pack(import_full.named_images(import_full.TABLE), archive)
    job = queue_import(
        name="BiVLC candidates", format="bivlc-candidates", files=Files(import_full.TABLE, archive), by="measure"
    )
    job = jobs.run(job_id=job.pk, by="measure", work=run_import.import_files)
    assert job.state == "done", job.problems
    return Benchmark.objects.get()


def over_http(study, judgments: int, var: Path) -> None:
    """Four annotators who make no mistakes, until that many judgments; one in fifty is taken back and given again."""
    from annotation.simulation import crowd
    from config import preparation

    preparation.collect_static()
    with throughput.web_server(var) as port:
        plan = crowd.Plan(url=f"http://127.0.0.1:{port}", annotators=4, error_rate=0, limit=judgments)
        report = crowd.simulate(study=study, plan=plan)
    assert not report.errors, report.errors
    print(f"{report.judgments} judgments over HTTP, {report.judgments / report.seconds:.0f} a second")


def tell_truth(study, oracle) -> None:
    """What the annotators over HTTP go by: each item says what is right."""
    from benchmarks.models import Item

    items = list(study.benchmark.items.all())
    for item in items:
        fits = ["none"] if item.key in oracle.none else [f"candidate-{number}" for number in range(4)]
        then = "both" if item.key in oracle.ambiguous else "positive-0"
        item.truth = {"bivlc-choose": fits, "bivlc-disambiguate": [then]}
    Item.objects.bulk_update(items, ["truth"], batch_size=2000)


def work(study, workers) -> int:
    """In this process, until nothing is left; whoever went away keeps a screen until its lease runs out."""
    from annotation.figures.funnel import funnel
    from tests.builders import annotators, bivlc_paper

    judged, until = 0, time.monotonic() + PATIENCE
    while True:
        before = judged
        for now in annotators.rounds(workers):
            if now % 3000 < len(workers):
                bivlc_paper.reconcile(study)
            judged = before + now
        until = time.monotonic() + PATIENCE if judged > before else until
        if not funnel(study)["open"] or time.monotonic() > until:
            return judged
        time.sleep(2)


def run(drawn: bool, http: int, people: int) -> None:
    with scratch.winnow() as var:
        from tests.builders import bivlc_paper

        watch = Watch()
        records = bivlc_paper.records(FOLDER)
        oracle = bivlc_paper.Oracle.of(records, bivlc_paper.released(FOLDER, records))
        benchmark = imported(var) if drawn else bivlc_paper.store(records)
        watch.say("7,512 items imported")
        study, workers = bivlc_paper.set_up(benchmark, oracle, people if not http else 0, lease_seconds=LEASE)
        watch.say("study set up")
        if http:
            tell_truth(study, oracle)
            over_http(study, http, var)
            workers = bivlc_paper.crew_of(study, oracle, people)
            watch.say("over HTTP")
        judged = work(study, workers)
        watch.say(f"{judged:,} judgments in this process", judged)
        found = bivlc_paper.check_end(study)
        watch.say("funnel")
    steps = [(step["name"], step["entered"], step["kept"], step["dropped"]) for step in found["stages"]]
    print(json.dumps({"imported": found["imported"], "stages": steps, "kept": found["kept"], "cores": os.cpu_count()}))
    for part in found["by_type"]:
        print(part["type"], part["subtype"], part["imported"], *(step["kept"] for step in part["stages"]))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--drawn", action="store_true", help="import drawn images instead of rows without files")
    options.add_argument("--http", type=int, default=600, help="judgments that are given over HTTP")
    options.add_argument("--people", type=int, default=20)
    given = options.parse_args()
    run(given.drawn, given.http, given.people)
    return 0


if __name__ == "__main__":
    sys.exit(main())
