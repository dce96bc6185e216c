"""`manage.py score BENCHMARK --model NAME --pretrained TAG_OR_FILE`: score a benchmark, here or by a worker."""

from benchmarks.management.orders import BY, ModelCommand
from benchmarks.models import Job
from benchmarks.predictions import cut_captions
from benchmarks.runs import figures
from benchmarks.scoring import order_tasks, retrieval, score


class Command(ModelCommand):
    help = "Score a benchmark with a model. docs/guide/scoring.md lists the models, and what is stored."
    takes, own_options = score.ScoreOrder, ("measure",)
    cancelled = "Finished encodings are kept."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        perturbed = parser.add_mutually_exclusive_group()
        perturbed.add_argument(
            "--perturbed-retrieval", dest="measure", action="store_const", const=score.RETRIEVAL, default=score.KIND,
            help="instead of scores of items: recall with shuffled captions and images, as in ARO §3.1",
        )  # fmt: skip
        perturbed.add_argument(
            "--order-tasks", dest="measure", action="store_const", const=score.ORDER_TASKS,
            help="instead of scores of items: each caption against four wrong orders of its words, as in ARO §2.2",
        )  # fmt: skip

    def queue(self, benchmark, order, now, options) -> Job:
        return score.queue_score(benchmark=benchmark, order=order, by=BY, foreground=now)

    def summary(self, job: Job) -> list[str]:
        return {score.RETRIEVAL: perturbed, score.ORDER_TASKS: ordered}.get(job.kind, summary)(job.report)


def summary(report: dict) -> list[str]:
    encoded = report["encoded"]
    if "pairs" in encoded:
        new = f"Scored {encoded['pairs']:,} pairs of an image and a caption; the rest was already scored."
    else:
        made = f"{encoded['images']:,} images and {encoded['captions']:,} captions"
        new = f"Encoded {made}; the rest was already encoded."
    lines = [f"Run {report['run']}: {report['model']} on {report['items']:,} items ({report['precision']}).", new]
    if "reduced_to" in report:
        lines.append(f"note: memory ran out, so batches were reduced to {report['reduced_to']:,}.")
    if "note" in report:
        return [*lines, f"{report['note']}.", f"Done in {report['seconds']:,} s."]
    lines += figures.in_lines(report["run"])
    for what, of in report["lacking"].items():
        lines.append(f"note: {of['count']:,} items lack a {what}: {cut_captions.listed(of['keys'], of['count'])}")
    lines += [f"note: {said}" for said in cut_captions.in_words(report["cut"])]
    return [*lines, f"Done in {report['seconds']:,} s."]


def perturbed(report: dict) -> list[str]:
    """Return a table like ARO's Tables 3 and 4: text recall means recall of captions for an image."""
    heads = ["shuffled", "", *(name for name, _ in retrieval.COLUMNS)]
    rows = [heads]
    for row in report["rows"]:
        cells = (row["measures"][measure] for _, measure in retrieval.COLUMNS)
        rows.append([row["of"] or "nothing", retrieval.parts(row), *map(retrieval.in_words, cells)])
    return in_columns(report, rows)


def in_columns(report: dict, rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    what = f"{report['images']:,} images, {report['captions']:,} captions, {report['seeds']} seeds"
    return [f"{report['model']}: {what} ({report['precision']}).", *lines, f"Done in {report['seconds']:,} s."]


def ordered(report: dict) -> list[str]:
    """Return a table like ARO's Table 5."""
    heads, rows = order_tasks.table_of([report])
    chance = ["Chance", "", *[f"{order_tasks.CHANCE:.3f}"] * (len(heads) - 1)]
    lines = in_columns(report, [["", *heads], *([model, *cells] for model, cells in rows), chance])
    left_out = f"note: {report['left_out']:,} captions do not have four different wrong orders and are left out."
    return [*lines[:-1], *([left_out] if report["left_out"] else []), lines[-1]]
