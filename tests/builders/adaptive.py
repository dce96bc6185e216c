"""A study with adaptive overlap on 24 items, of which every third is contested; one still waits for a judgment."""

from annotation.assignment import leases
from annotation.models import Study
from annotation.screens import read_answer
from tests.builders import studies
from tests.builders.pipelines import with_originals


def study(begin: int = 0) -> Study:
    made = studies.study(benchmark=studies.benchmark(24, candidates=2), overlap=2, cap=5, certainty=0.8)
    stage = made.stages.get()
    for number, screens in enumerate((24, 24, 24, 24, 7)):
        person = studies.annotator(made)
        for _ in range(screens):
            for lease in leases.hold(annotator=person, stage=stage, wanted=1):
                answer = "none" if number % 2 and lease.task.item.position % 3 == 0 else "candidate-0"
                studies.submit(person, lease, read_answer.place_on_screen(lease, answer))
    return with_originals(made, begin)
