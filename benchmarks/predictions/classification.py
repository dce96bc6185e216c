"""Zero-shot classification, to check what training has cost (ARO, Table 6; Hard Positive Truth, Table 10). Pure.

Every image has a score for each class, s(CLASS); its type is its own class. acc1 and acc5: the own class is among the
first one or five. A tie is not right. ARO does not describe its classification; the Hard Positive Truth did not train
on the classes.
"""

from collections.abc import Iterable, Sequence

from benchmarks.formats.base import ProblemLog
from benchmarks.metrics import base, retrieval
from benchmarks.metrics.base import Figure
from benchmarks.metrics.retrieval import Query
from benchmarks.predictions.collecting import ItemAnswers
from benchmarks.predictions.evaluators import Evaluation
from benchmarks.predictions.kinds import Kind


class ClassKind(Kind):
    """A kind whose scores are named after classes, which any item may have."""

    def scored(self, name: str) -> bool:
        return name.startswith("s(") and name.endswith(")")

    @property
    def scores(self) -> tuple[str, ...]:
        return ("s(CLASS)",)


CLASSIFICATION = ClassKind("classification", "Zero-shot classification", {}, None)


def of_classification(items: Sequence[ItemAnswers], log: ProblemLog) -> Evaluation | None:
    """Evaluate all images, and by class. None, with problems in the log, if a score or a class is missing."""
    classes = list(dict.fromkeys(name for item in items for name in item.answers))
    found = [query for item in items if (query := _query(item, classes, log))]
    if not found and not log.count:
        log.error("NO_ROWS", "", None, "", "None of the images is answered completely, so there is nothing to compute.")
    if log.count:
        return None
    notes = [f"{len(found):,} images and {len(classes):,} classes."]
    return Evaluation(CLASSIFICATION.name, len(found), accuracies(found), base.by_type(found, accuracies), {}, notes)


def _query(item: ItemAnswers, classes: Sequence[str], log: ProblemLog) -> Query | None:
    at, own = (item.origin.file, item.origin.row), f"s({item.type})"
    if own not in classes:
        log.error("WRONG_VALUE", *at, "type", f"Name the class of “{str(item.item)[:80]}”, as its score is named.")
    elif lacking := [name for name in classes if name not in item.scores]:
        log.gap("INCOMPLETE_ROW", *at, lacking[0][:80], f"“{str(item.item)[:80]}” has no score for this class.")
    else:
        before = sum(item.scores[name] >= item.scores[own] for name in classes) - 1
        return Query("i2t", before, 1, len(classes), item.type, item.subtype)
    return None


def accuracies(found: Iterable[Query]) -> dict[str, Figure]:
    shares = retrieval.recalls(found)
    return {f"acc{place}": shares[f"i2t_r{place}"] for place in retrieval.PLACES}
