"""Import predictions made elsewhere as a run: all matching ones or none, with the reasons.

Everything is read, matched and evaluated before anything is stored. Unmatched answers are listed in the job's report
and do not reject the import, because published files may have more items than a benchmark.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from django import forms
from django.db import connection
from django.http import QueryDict

from benchmarks import audit, queries
from benchmarks.formats import text
from benchmarks.formats.base import ProblemLog
from benchmarks.jobs import columns, orders
from benchmarks.jobs.benchmark_work import BenchmarkWork
from benchmarks.models import Benchmark, Job, Run, RunOrigin
from benchmarks.predictions import reading
from benchmarks.predictions.base import Answer
from benchmarks.predictions.collecting import ItemAnswers, collect, complete, cut_in
from benchmarks.predictions.columns import PredictionsMapping, answers_in, guess, options_of
from benchmarks.predictions.evaluating import evaluate
from benchmarks.predictions.kinds import KINDS, RETRIEVAL, Kind
from benchmarks.predictions.matching import Matching, match
from benchmarks.predictions.registry import is_published
from benchmarks.records import Problem, Refused
from benchmarks.runs import material

KIND = "predictions"
TAKEN = [kind for kind in KINDS.values() if kind is not RETRIEVAL]  # a retrieval score does not belong to a single item


class OneLineField(forms.CharField):
    """A name in tables: one line without characters that change how others are shown."""

    def clean(self, value: object) -> str:
        found = text.on_one_line(super().clean(value))
        if found is None:
            raise forms.ValidationError("Write this on one line, without control characters.")
        return found


@dataclass(frozen=True)
class PredictionsOrder:
    """The model with these predictions. `kind`: of evaluation, if not the benchmark's own."""

    model: str = orders.described(
        OneLineField(
            max_length=Run._meta.get_field("title").max_length,
            label="Model",
            help_text="The name shown in tables. The same name on another benchmark means the same model.",
        )
    )
    source: str = orders.described(
        OneLineField(
            max_length=Run._meta.get_field("source").max_length,
            label="Source",
            help_text="Where the predictions come from: a repository with its version, or a paper.",
        )
    )
    kind: str = orders.choice(
        "Questions of",
        [(kind.name, kind.title) for kind in TAKEN],
        "If left out, the benchmark’s own.",
        required=False,
        initial="",
    )
    skip_incomplete: bool = orders.switch(
        "Skip incomplete items",
        "Items without all answers are skipped and listed in the report. Otherwise the import is rejected.",
    )
    mapping: str = orders.mapping(
        PredictionsMapping.from_text,
        6,
        "For your own table: the score or choice in each column, as JSON. If empty, a guess.",
    )
    skip_stored: bool = orders.switch(
        "Accept predictions that are already stored",
        "The same answers from the same model return the existing run. Otherwise the import is rejected.",
    )
    blind: bool = orders.switch("The model saw no image", "It answered only from the captions.")
    asked_in_both_orders: bool = orders.switch(
        "Asked in both orders",
        "Each question was asked twice, with its options in both orders; a choice is what the model chose both times.",
    )
    look: bool = orders.look()


def queue_predictions(*, benchmark: Benchmark, order: PredictionsOrder, **given) -> Job:
    """Create a job that imports predictions. `given`: see columns.queue_files. Raises Refused for an invalid order."""
    order = orders.checked(order)
    order = replace(order, kind=order.kind or material.kind(benchmark))
    title = f"Predictions of {order.model} on {benchmark.name}"
    return columns.queue_files(KIND, title, benchmark=benchmark, order=order, **given)


@columns.page_of(KIND, *orders.options_of(PredictionsOrder))
def _page(job: Job, sent: QueryDict | None) -> columns.Page:
    kind = KINDS[job.params["kind"]]
    whats = {"": "further information", "item": "id of the item", "type": "type", "subtype": "subtype"}
    whats |= {f"scores.{name}": f"score {name}" for name in kind.scores}
    whats |= {f"choices.{name}": f"choice: {name}" for name in kind.questions}
    known = {f"choices.{name}": options_of(kind, name) for name in kind.questions}
    page, mapping = columns.answers_page(job, sent, PredictionsMapping, whats, known)
    if mapping:
        log = ProblemLog()
        answers = list(answers_in(columns.rows_of(job), mapping, kind, log))
        columns.show_first(
            page, job, ((str(one.item), one.question, f"{one.choice or one.score}") for one in answers), log
        )
    return page


class PredictionsImport(BenchmarkWork):
    """The work of a job of kind `predictions`."""

    def run(self) -> None:
        params = self.job.params
        kind, log = KINDS[params["kind"]], ProblemLog(params["skip_incomplete"])
        files = [Path(file) for file in params["files"]]
        self.progress.begin("reading answers")
        if params["look"] or (params["looks_first"] and not is_published(files[0], kind)):
            self.look(files[0], kind, log)
            return
        abouts = collect(reading.read_answers(files, kind, log, params["mapping"]), log)
        log.refuse_if_any()
        self.progress.begin("matching items")
        items = {item.key: item for item in queries.with_material(self.benchmark.present.order_by("position"))}
        self.progress.write()
        matching = match(abouts, [queries.record_of(item) for item in items.values()])
        whole = checked(matching, kind, files, log)
        rows = [
            (items[about.record.key].pk, answer) for about in whole if about.record for answer in about.answers.values()
        ]
        self.progress.begin("storing")
        self.store(rows, {**matching.as_json(), **left_out(log), "cut": cut_in(matching.matched), "answers": len(rows)})

    def look(self, path: Path, kind: Kind, log: ProblemLog) -> None:
        names, sample = columns.first_rows(path, log)
        mapping = guess(names, sample, kind, columns.keys_of(self.benchmark))
        self.finish({"look": True, **columns.looked(path.name, names, sample, mapping.as_json())})

    def store(self, rows: Sequence[tuple[int, Answer]], facts: dict) -> None:
        """Store predictions; the second of two imports of a file finds the first."""
        params, benchmark, digest = self.job.params, self.benchmark, digest_of(self.job.params["kind"], rows)
        twice = params.get("asked_in_both_orders", False) and any(answer.choice for _, answer in rows)
        with self.storing():
            run = stored_alike(benchmark, digest, params["model"] if all(answer.choice for _, answer in rows) else "")
            if run is None:
                run = Run.objects.create(
                    benchmark=benchmark, origin=RunOrigin.IMPORTED, kind=params["kind"], title=params["model"],
                    source=params["source"], digest=digest, blind=params["blind"], asked_in_both_orders=twice,
                    job=self.job, created_by_id=self.job.created_by_id,
                )  # fmt: skip
                copy_in(run, ((item, answer.question, answer.score, answer.choice) for item, answer in rows))
                audit.record(by=self.by, verb="took in predictions", subject=benchmark, run=run.pk, job=self.job.pk)
            else:
                _refuse_stored(run, params, {"blind": params["blind"], "asked_in_both_orders": twice})
            report = {"run": run.pk, "benchmark": benchmark.pk, "kind": run.kind, "model": run.title}
            self.finish({**report, "source": run.source, **facts})


def checked(matching: Matching, kind: Kind, files: Sequence[Path], log: ProblemLog) -> list[ItemAnswers]:
    """Return the complete items, whose scores can be computed. Raises Refused."""
    if not matching.matched:
        reasons = "; ".join(dict.fromkeys(reason for _, reason in matching.unmatched[:100]))
        advice = f"None of the {len(matching.unmatched):,} items matches an item of this benchmark: {reasons}."
        log.error("UNKNOWN_ID", ", ".join(file.name for file in files)[:200], None, "item", advice)
    log.refuse_if_any()
    whole = [about for about, _ in complete(matching.matched, kind, log)]
    evaluate([*whole, *(about for about in matching.matched if about.read_alike)], kind, log)
    log.refuse_if_any()
    return whole


def left_out(log: ProblemLog) -> dict:
    gaps = [note for note in log.notes if note.code in ("INCOMPLETE_ROW", "VALUE_MISSING")]
    return {"left_out": log.left_out, "notes": [note.as_json() for note in gaps[:100]]}


def digest_of(kind: str, rows: Sequence[tuple[int, Answer]]) -> str:
    """Hash the answers and their items, regardless of the names of file and model."""
    answers = sorted((item, answer.question, repr(answer.score), answer.choice or "") for item, answer in rows)
    return hashlib.sha256(repr((kind, answers)).encode()).hexdigest()


def stored_alike(benchmark: Benchmark, digest: str, model: str) -> Run | None:
    """Return the run with the same answers. `model` is compared for choices without scores, where models may agree."""
    there = benchmark.runs.filter(origin=RunOrigin.IMPORTED, digest=digest)
    return (there.filter(title__iexact=model) if model else there).first()


def _refuse_stored(run: Run, params: dict, given: dict[str, bool]) -> None:
    """Raise Refused with the options that differ from those of the run, unless a stored run is accepted and has the
    same model and options."""
    labels = {name: f"“{one.field.label}”" for name, one in orders.options_of(PredictionsOrder).items()}
    differ = [f"{'without' if on else 'with'} {labels[name]}" for name, on in given.items() if getattr(run, name) != on]
    if params.get("skip_stored") and not differ and run.title.lower() == params["model"].lower():
        return
    advice = f"“{run.benchmark.name}” already has these predictions, as “{run.title}” from {run.source}"
    change = f", but {' and '.join(differ)}. To change that, delete that run first" if differ else ""
    raise Refused([Problem("ALREADY_IMPORTED", "", None, "", f"{advice}{change}.")])


def copy_in(run: Run, rows: Iterable[tuple[int, str, float | None, str | None]]) -> None:
    """Store predictions: item, question, score and choice, one of which is None."""
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY benchmarks_prediction (run_id, item_id, question, score, choice) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row((run.pk, *row))
