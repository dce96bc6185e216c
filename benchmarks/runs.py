"""What a run's predictions come to, and whether somebody who sees no image could have said them."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.formats.base import ProblemLog
from benchmarks.metrics.base import Figure, Mean
from benchmarks.models import Benchmark, Run
from benchmarks.predictions.base import Answer, Reference
from benchmarks.predictions.collecting import About
from benchmarks.predictions.evaluating import Evaluation, evaluate
from benchmarks.predictions.kinds import ARO, BIVLC, HARD_POSITIVE, KINDS, SUGARCREPE, VISLA
from benchmarks.records import Origin

# What a benchmark is judged by: not the halves of it, nor VISLA's T2T, which is asked of captions alone on purpose.
HEADLINES = {
    BIVLC.name: ("i2t", "t2i", "group"),
    VISLA.name: ("i2t", "p1_n", "p2_n"),
    HARD_POSITIVE.name: ("original", "augmented"),
    SUGARCREPE.name: ("overall",),
    ARO.name: ("relation", "attribution", "order"),
}


def answers(run: Run) -> list[About]:
    """All that the run says, by item, as evaluation takes it."""
    found: dict[int, About] = {}
    rows = run.predictions.order_by("item__position", "question")
    fields = ("item", "item__key", "item__type", "item__subtype", "question", "score", "choice")
    for item, key, kind, subtype, question, score, choice in rows.values_list(*fields).iterator(10_000):
        if item not in found:
            found[item] = About(Reference(key), kind, subtype, Origin(f"run {run.pk}", len(found) + 1))
        found[item].answers[question] = Answer(found[item].item, question, score, choice)
    return list(found.values())


def evaluation(run: Run) -> Evaluation | None:
    """Over the items that are answered whole; None where there is none."""
    log = ProblemLog(skip_incomplete=True)
    return evaluate(answers(run), KINDS[run.kind], log)


@dataclass(frozen=True, slots=True)
class Warned:
    """A blind run that beats chance by more than its interval."""

    run: Run
    measure: str
    figure: Figure | Mean

    @property
    def sentence(self) -> str:
        of = self.figure
        share, low, chance = (f"{100 * value:.1f}" for value in (of.share, of.low, of.chance))
        told = f"{self.run.title}, which sees no image, gets {share} % right in {self.measure} (95 % from {low} up)"
        return f"{told}; chance is {chance} %. Captions alone answer part of this benchmark."


def headlines(run: Run) -> dict[str, Figure | Mean]:
    """The figures by which a benchmark is judged."""
    found = evaluation(run)
    if found is None:
        return {}
    return {name: found.figures[name] for name in HEADLINES.get(run.kind, ()) if name in found.figures}


def blind_runs(benchmark: Benchmark) -> Iterator[Run]:
    """The newest of each model."""
    seen = set()
    for run in benchmark.runs.filter(blind=True):
        if (run.title, run.origin) not in seen:
            seen.add((run.title, run.origin))
            yield run


def warnings(benchmark: Benchmark) -> list[Warned]:
    """Of blind runs, measured here or imported, those whose whole interval lies above chance."""
    return [
        Warned(run, name, figure)
        for run in blind_runs(benchmark)
        for name, figure in headlines(run).items()
        if figure.low is not None and figure.low > figure.chance
    ]
