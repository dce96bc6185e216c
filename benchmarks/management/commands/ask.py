"""`manage.py ask BENCHMARK --endpoint ADDRESS --model NAME`: put a benchmark's questions to a vision endpoint."""

from django.core.management.base import BaseCommand, CommandError

from benchmarks import tasks
from benchmarks.jobs import jobs
from benchmarks.management.reporting import ProgressLine, benchmark_named, problem_line
from benchmarks.models import Job, JobState
from benchmarks.records import Refused
from benchmarks.runs import model_answers
from benchmarks.scoring import ask

BY = "command"


class Command(BaseCommand):
    help = "Put a benchmark's questions to a vision endpoint, each in both orders. See docs/guide/scoring.md."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name")
        parser.add_argument(
            "--endpoint", required=True, help="an address up to the version: https://api.example.org/v1"
        )
        parser.add_argument("--model", required=True, help="the model's name at that endpoint")
        parser.add_argument(
            "--prices", type=float, nargs=2, default=(0.0, 0.0), metavar=("QUESTIONS", "ANSWERS"),
            help="prices of a million tokens",
        )  # fmt: skip
        parser.add_argument("--max-tokens", type=int, default=ask.TOKENS, help="of an answer")
        parser.add_argument("--parallel", type=int, default=4, help="questions on their way at once")
        parser.add_argument("--timeout", type=float, default=120.0, help="seconds until a question must be answered")
        parser.add_argument("--estimate", action="store_true", help="only say what asking would take")
        parser.add_argument("--now", action="store_true", help="run here and now, instead of in a worker")

    def handle(self, *, benchmark, endpoint, model, estimate, now, **rest):
        found = benchmark_named(benchmark)
        more = {name: rest[name] for name in ("prices", "max_tokens", "parallel", "timeout")}
        order = ask.AskOrder(endpoint, model, **more)
        try:
            self.stdout.write(_estimate(ask.estimate_for(found, order)))
            if estimate:
                return
            job = ask.queue_ask(benchmark=found, order=order, by=BY, foreground=now)
        except Refused as refusal:
            raise CommandError(f"{refusal.problems[0].code} · {refusal.problems[0].advice}") from None
        if not now:
            tasks.run_ask.delay_on_commit(job.pk)
            self.stdout.write(f"Queued as job {job.pk}, for a worker that serves the queue `models`.")
            return
        progress = ProgressLine(self.stderr)
        job = jobs.run(job_id=job.pk, by=BY, work=ask.ask, tell=progress.show)
        progress.end()
        self.answer(job)

    def answer(self, job: Job) -> None:
        if job.state == JobState.CANCELLED:
            raise CommandError("Cancelled. Answers received so far are kept.")
        if job.state != JobState.DONE:
            raise CommandError(problem_line(job.problems[0]))
        report, outcomes = job.report, job.report["outcomes"]
        self.stdout.write(f"Run {report['run']}: {report['model']}, {report['questions']:,} questions in both orders.")
        alike = f"{outcomes['agreed']:,} answered alike in both orders, {outcomes['order']:,} differently"
        failed = f"{outcomes['refused']:,} refused, {outcomes['unparsable']:,} named no option"
        self.stdout.write(f"{alike}, {failed}, {report['unanswered']:,} not answered.")
        self.stdout.write(f"The option shown first was chosen {report['first']:,} of {report['named']:,} times.")
        usage = report["usage"]
        tokens = f"{usage['prompt_tokens']:,} tokens sent, {usage['completion_tokens']:,} received"
        self.stdout.write(f"{tokens}, cost {usage['cost']:,.2f}.")


def _estimate(found: model_answers.Estimate) -> str:
    return f"To ask: {found.questions:,} times, about {found.prompt_tokens:,} tokens, cost about {found.cost:,.2f}."
