"""`manage.py ask BENCHMARK --address ADDRESS --model NAME`: ask a vision endpoint a benchmark's questions."""

from benchmarks.management.orders import BY, ModelCommand
from benchmarks.models import Job
from benchmarks.runs import figures
from benchmarks.scoring import ask


class Command(ModelCommand):
    help = "Put a benchmark's questions to a vision endpoint, each in both orders. See docs/guide/scoring.md."
    takes = ask.AskOrder
    cancelled = "Answers received so far are kept."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--estimate", action="store_true", help="only print the estimate")

    def queue(self, benchmark, order, now, options) -> Job | None:
        found = ask.estimate_for(benchmark, order)
        asked = f"{found.questions:,} times, about {found.prompt_tokens:,} tokens"
        self.stdout.write(f"To ask: {asked}, cost about {found.cost:,.2f}.")
        if options["estimate"]:
            return None
        return ask.queue_ask(benchmark=benchmark, order=order, by=BY, foreground=now)

    def summary(self, job: Job) -> list[str]:
        report, outcomes, usage = job.report, job.report["outcomes"], job.report["usage"]
        alike = f"{outcomes['agreed']:,} answered alike in both orders, {outcomes['order']:,} differently"
        failed = f"{outcomes['refused']:,} refused, {outcomes['unparsable']:,} named no option"
        tokens = f"{usage['prompt_tokens']:,} tokens sent, {usage['completion_tokens']:,} received"
        return [
            f"Run {report['run']}: {report['model']}, {report['questions']:,} questions in both orders.",
            f"{alike}, {failed}, {report['unanswered']:,} not answered.",
            f"The option shown first was chosen {report['first']:,} of {report['named']:,} times.",
            f"{tokens}, cost {usage['cost']:,.2f}.",
            *figures.in_lines(report["run"]),
            *(f"{order.capitalize()}: {told}." for order, told in ask.orders_in_words(report).items()),
        ]
