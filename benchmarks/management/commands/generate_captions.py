"""`manage.py generate_captions BENCHMARK --kind KIND --model NAME --name NEW`: captions by a language model."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks import tasks
from benchmarks.construction.prompts import KINDS
from benchmarks.generation import captions
from benchmarks.jobs import jobs
from benchmarks.management.reporting import ProgressLine, benchmark_named, problem_line
from benchmarks.models import Job, JobState
from benchmarks.records import Refused
from benchmarks.runs import model_answers

BY = "command"
USUAL = captions.CaptionOrder("", (), "")


class Command(BaseCommand):
    help = "Make captions from a benchmark's captions with a language model (docs/guide/generating.md)."

    def add_arguments(self, parser):
        kinds = "; ".join(f"{name}: {kind.says}" for name, kind in KINDS.items())
        parser.add_argument("benchmark", help="the name of the benchmark whose captions are used")
        parser.add_argument("--name", required=True, help="the name of the benchmark that is made, or extended")
        parser.add_argument("--kind", action="append", required=True, choices=KINDS, help=f"may be repeated. {kinds}")
        parser.add_argument("--model", required=True, help="a model of the endpoint, or a hub id or folder")
        parser.add_argument("--endpoint", default="", help="its address up to the version, like https://HOST/v1")
        parser.add_argument("--temperature", type=float, help="of all kinds (0 for swaps and paraphrases, else 1)")
        parser.add_argument("--max-tokens", type=int, default=USUAL.max_tokens, help="of an answer")
        parser.add_argument("--seed", type=int, default=USUAL.seed, help="of the model and of the refinement")
        parser.add_argument("--prompt", type=Path, help="a file with a prompt of your own, with {caption} in it")
        parser.add_argument("--plausibility", default="", help="a classifier of plausibility: a hub id or folder")
        parser.add_argument("--grammar", default="", help="a classifier of grammar: a hub id or folder")
        parser.add_argument("--share", type=float, default=USUAL.share, help="of captions with the best scores to keep")
        parser.add_argument("--refine", action="store_true", help="refine the negatives by both classifiers' scores")
        parser.add_argument("--check", action="store_true", help="ask again whether each second positive says the same")
        parser.add_argument("--as-written", action="store_true", help="do not give all captions one form")
        parser.add_argument("--input-price", type=float, default=0.0, help="of a million tokens in prompts")
        parser.add_argument("--output-price", type=float, default=0.0, help="of a million tokens in answers")
        parser.add_argument("--parallel", type=int, default=USUAL.parallel, help="questions to the endpoint at once")
        parser.add_argument("--timeout", type=float, default=USUAL.timeout, help="seconds until it must have answered")
        parser.add_argument("--device", default="auto", help="auto (a GPU if there is one), cpu, cuda, cuda:1, mps")
        parser.add_argument("--estimate", action="store_true", help="only print what asking would take")
        parser.add_argument("--now", action="store_true", help="run here and now, instead of in a worker")

    def handle(
        self, *, benchmark, kind, endpoint, prompt, input_price, output_price, as_written, estimate, now, **rest
    ):
        found = benchmark_named(benchmark)
        names = (
            "name",
            "model",
            "temperature",
            "max_tokens",
            "seed",
            "plausibility",
            "grammar",
            "share",
            "refine",
            "check",
        )
        order = captions.CaptionOrder(
            kinds=kind, address=endpoint, prompt=text_of(prompt) if prompt else "", format_captions=not as_written,
            prices=(input_price, output_price),
            **{name: rest[name] for name in (*names, "parallel", "timeout", "device")},
        )  # fmt: skip
        try:
            if estimate:
                order = captions.check_order(found, order)
                self.stdout.write(estimate_line(captions.estimate_for(found, order)))
                return
            job = captions.queue_captions(benchmark=found, order=order, by=BY, foreground=now)
        except Refused as refusal:
            problem = refusal.problems[0]
            raise CommandError(f"{problem.code} · {problem.advice}") from None
        if now:
            progress = ProgressLine(self.stderr)
            job = jobs.run(job_id=job.pk, by=BY, work=captions.generate, tell=progress.show)
            progress.end()
            self.answer(job)
        else:
            tasks.run_generate.delay_on_commit(job.pk)
            self.stdout.write(f"Queued as job {job.pk}, for a worker that serves the queue `models`.")

    def answer(self, job: Job) -> None:
        if job.state == JobState.CANCELLED:
            raise CommandError("Cancelled. Answers received so far are kept.")
        if job.state != JobState.DONE:
            raise CommandError("\n".join(map(problem_line, job.problems)))
        self.stdout.write("\n".join(summary(job.report)))


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}.") from error


def estimate_line(found: model_answers.Estimate) -> str:
    tokens = f"about {found.prompt_tokens:,} tokens in prompts and {found.completion_tokens:,} in answers"
    return f"{found.questions:,} questions, {tokens}; cost about {found.cost:,.2f}."


def summary(report: dict) -> list[str]:
    """The funnel, and what it took."""
    lines = []
    for step in report["funnel"]:
        lines.append(f"{step['count']:,} {step['step']}")
        lines += [f"  dropped {one['count']:,}: {one['reason']}" for one in step["dropped"]]
    usage = report["usage"]
    tokens = f"{usage['prompt_tokens']:,} tokens in prompts and {usage['completion_tokens']:,} in answers"
    lines.append(f"{usage['answered']:,} new answers, {tokens}; cost {usage['cost']:,.2f}.")
    if "benchmark" not in report:
        return [*lines, "No caption was kept, and no benchmark was made."]
    return [*lines, f"“{report['name']}”: {report['items']:,} items."]
