"""Runs of models with their predictions, as rows: nothing is loaded and nothing is scored."""

from collections.abc import Mapping

from benchmarks.models import Benchmark, Item, Prediction, Run, RunOrigin, ScoringModel
from tests.builders import studies

Scores = Mapping[str, float | str]  # by name: a score, or as text a choice


def model(benchmark: Benchmark, of: Mapping[Item, Scores], title: str = "", kind: str = "bivlc", **fields) -> Run:
    """An imported run. `of`: what the model said of each item."""
    title = title or f"Model {next(studies.serial)}"
    run = Run.objects.create(benchmark=benchmark, title=title, kind=kind, **{"origin": RunOrigin.IMPORTED, **fields})
    Prediction.objects.bulk_create(
        Prediction(
            run=run, item=item, question=name, **({"choice": said} if isinstance(said, str) else {"score": said})
        )
        for item, scores in of.items()
        for name, said in scores.items()
    )
    return run


def bivlc(right: bool = True, margin: float = 0.1) -> Scores:
    """The four scores of an item, all four questions right or all wrong, by this margin."""
    own, other = (0.3 + margin, 0.3) if right else (0.3, 0.3 + margin)
    return {"s(c0,i0)": own, "s(c1,i1)": own, "s(c0,i1)": other, "s(c1,i0)": other}


def pairs(positive: float, negative: float) -> Scores:
    """The two scores of an item of SugarCrepe."""
    return {"s(positive)": positive, "s(negative)": negative}


def weights(**fields) -> ScoringModel:
    number = next(studies.serial)
    facts = {"fingerprint": f"{number:064x}", "name": f"weights {number}", "title": f"Weights {number}"}
    return ScoringModel.objects.create(**{**facts, "precision": "float32", "sees_images": True, **fields})
