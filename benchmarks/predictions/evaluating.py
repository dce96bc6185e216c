"""Computing a model's scores from its answers: checks, then the measures of each kind. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.formats.base import ProblemLog
from benchmarks.metrics import aro, retrieval
from benchmarks.metrics.base import Typed
from benchmarks.predictions.classification import CLASSIFICATION, of_classification
from benchmarks.predictions.collecting import ItemAnswers, complete
from benchmarks.predictions.evaluators import EVALUATORS, Evaluation, missing_subsets
from benchmarks.predictions.kinds import ARO, CAPTION_OF, KINDS, RETRIEVAL, Kind

EVALUATED = KINDS | {CLASSIFICATION.name: CLASSIFICATION}
WITHOUT_ITEMS = (RETRIEVAL, CLASSIFICATION)  # their scores name captions or classes


def evaluate(
    items: Sequence[ItemAnswers], kind: Kind, log: ProblemLog, asked: Iterable[Typed] = ()
) -> Evaluation | None:
    """Return the scores; None, with problems in the log, if the answers are not usable. `asked`: the benchmark's items,
    if they are known."""
    if kind is RETRIEVAL:
        return of_retrieval(items, log)
    if kind is CLASSIFICATION:
        return of_classification(items, log)
    found = [record for _, record in complete(items, kind, log)]
    if kind is ARO:
        check_aro([item for item in items if not item.read_alike], log)
    alike = [(item.type, item.subtype) for item in items if item.read_alike]
    if not found and not alike and not log.count:
        log.error("NO_ROWS", "", None, "", "No item is answered completely, so there is nothing to compute.")
    if log.count:
        return None
    typed: list[Typed] = [*items, *asked]
    result, kinds = EVALUATORS[kind.name](found, kind), {(one.type, one.subtype) for one in typed}
    return replace(result, notes=[*result.notes, *missing_subsets(kind, found, kinds, alike)])


def check_aro(items: Sequence[ItemAnswers], log: ProblemLog) -> None:
    """Check that every item has its list of the three, and its group in that list."""
    for item in items:
        types = (aro.ORDER,) if "order" in _questions_answered(item) else (aro.RELATION, aro.ATTRIBUTION)
        if item.type not in types:
            advice = f"Write one of {', '.join(types)} in the line or in the items (--items)."
            log.error("WRONG_VALUE", item.origin.file, item.origin.row, "type", advice)
        elif not item.subtype and item.type != aro.ORDER:
            advice = "Write the relation or the attribute pair in the line or in the items (--items)."
            log.error("VALUE_MISSING", item.origin.file, item.origin.row, "subtype", advice)


def _questions_answered(item: ItemAnswers) -> set[str]:
    """Return the questions that its answers are about."""
    given = {*item.answers}
    return {name for name, pairs in ARO.measured.questions.items() if given & {name, *(other for _, other in pairs)}}


def of_retrieval(items: Sequence[ItemAnswers], log: ProblemLog) -> Evaluation | None:
    """Evaluate retrieval: items are images, captions are ITEM/NUMBER, and every caption has a score for every image."""
    images = {item.item.key: place for place, item in enumerate(items)}
    captions = list(
        dict.fromkeys(match[1] for item in items for name in item.scores if (match := CAPTION_OF.fullmatch(name)))
    )
    check_table(items, images, captions, log)
    if log.count:
        return None
    scores = np.array([[item.answers[f"s({caption})"].score for caption in captions] for item in items])
    own = [images[image_of(caption)] for caption in captions]
    found = retrieval.queries(scores, own, [item.type for item in items], [item.subtype for item in items])
    notes = [f"{len(images):,} images and {len(captions):,} captions."]
    return Evaluation(RETRIEVAL.name, len(found), retrieval.recalls(found), retrieval.by_type(found), {}, notes)


def image_of(caption: str) -> str:
    return caption.rpartition("/")[0]


def check_table(
    items: Sequence[ItemAnswers], images: Mapping[str, int], captions: Sequence[str], log: ProblemLog
) -> None:
    """Check that every image has an id and a caption, every caption an image, and no score is missing."""
    if not items:
        log.error("NO_ROWS", "", None, "", "None of the images is answered completely, so there is nothing to compute.")
        return
    origin = items[0].origin
    for caption in captions:
        if image_of(caption) not in images:
            advice = f"The caption {caption[:80]} belongs to an image without scores. Score that image too."
            log.error("UNKNOWN_ID", origin.file, None, f"s({caption[:80]})", advice)
    with_own = {image_of(caption) for caption in captions}
    for item in items:
        at = item.origin.file, item.origin.row
        if not item.item.key:
            log.error("WRONG_VALUE", *at, "item", "Give the image an id as text: its captions are named after it.")
        elif item.item.key not in with_own:
            log.error("VALUE_MISSING", *at, "question", f"The image “{str(item.item)[:80]}” has no caption of its own.")
        lacking = next((caption for caption in captions if f"s({caption})" not in item.answers), None)
        if lacking is not None:
            advice = f"“{str(item.item)[:80]}” has no score for this caption. Every image needs one for every caption."
            log.error("INCOMPLETE_ROW", *at, f"s({lacking[:80]})", advice)
