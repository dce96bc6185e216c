"""`manage.py score_result STUDY --model NAME`: score the items a study has kept, here or in a worker."""

from annotation.comparison.own_result import result_of
from annotation.management.named import named
from annotation.models import Study
from benchmarks.management.commands.score import summary
from benchmarks.management.orders import BY, ModelCommand
from benchmarks.models import Job
from benchmarks.scoring import score


class Command(ModelCommand):
    help = "Score the items that a study has kept, with the images people chose and the captions they wrote."
    takes, own_options, about = score.ScoreOrder, ("measure", "seeds"), "study"
    cancelled = "Finished encodings are kept."

    def find(self, name: str) -> Study:
        return named(Study.objects.select_related("benchmark"), name)

    def queue(self, found, order, now, options) -> Job:
        given = {"benchmark": found.benchmark, "result": result_of(found)}
        return score.queue_score(**given, order=order, by=BY, foreground=now)

    def summary(self, job: Job) -> list[str]:
        return summary(job.report)
