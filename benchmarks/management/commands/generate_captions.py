"""`manage.py generate_captions BENCHMARK --kind KIND --model NAME --name NEW`: generate captions by language model."""

from pathlib import Path

from benchmarks.generation import caption_order
from benchmarks.management.orders import BY, ModelCommand
from benchmarks.management.reporting import text_of
from benchmarks.models import Job
from benchmarks.runs import model_answers


class Command(ModelCommand):
    help = "Generate captions from a benchmark's captions with a language model (docs/guide/generating.md)."
    takes, own_options = caption_order.CaptionOrder, ("prompt", "format_captions")
    cancelled = "Answers received so far are kept."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--prompt", type=Path, help="a file with your own prompt, with {caption} in it")
        parser.add_argument("--as-written", action="store_true", help="do not format captions uniformly")
        parser.add_argument("--estimate", action="store_true", help="only print the estimate")

    def order(self, options):
        prompt = text_of(options["prompt"]) if options["prompt"] else ""
        return super().order(options | {"prompt": prompt, "format_captions": not options["as_written"]})

    def queue(self, benchmark, order, now, options) -> Job | None:
        if not options["estimate"]:
            return caption_order.queue_captions(benchmark=benchmark, order=order, by=BY, foreground=now)
        self.stdout.write(estimate_line(caption_order.estimate_for(benchmark, order)))
        return None

    def summary(self, job: Job) -> list[str]:
        """Return the funnel, and the resources used."""
        report, lines = job.report, []
        for step in report["funnel"]:
            lines.append(f"{step['count']:,} {step['step']}")
            lines += [f"  dropped {one['count']:,}: {one['reason']}" for one in step["dropped"]]
        usage = report["usage"]
        tokens = f"{usage['prompt_tokens']:,} tokens in prompts and {usage['completion_tokens']:,} in answers"
        lines.append(f"{usage['answered']:,} new answers, {tokens}; cost {usage['cost']:,.2f}.")
        if "benchmark" not in report:
            return [*lines, "No captions were kept, so no benchmark was created."]
        return [*lines, f"“{report['name']}”: {report['items']:,} items."]


def estimate_line(found: model_answers.Estimate) -> str:
    tokens = f"about {found.prompt_tokens:,} tokens in prompts and {found.completion_tokens:,} in answers"
    return f"{found.questions:,} questions, {tokens}; cost about {found.cost:,.2f}."
