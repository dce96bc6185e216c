"""A stage's settings in sentences: which items it asks about, who judges them, how an item is decided."""

from typing import Any

from annotation.models import Kind, Promotion, Stage, Strategy
from annotation.pipeline.stage_rules import rule_in_words
from annotation.wording import counted, readable_label

_GIVEN = {
    Strategy.POOL: "Everyone gets the next item that lacks a judgment.",
    Strategy.NAMED: "Each annotator judges the items that are assigned to them by name.",
    Strategy.EVERYONE: "Each annotator judges every item.",
    Strategy.AUDIT: "Items come in an order fixed beforehand, until the share of wrong items is known well enough.",
}


def settings_in_sentences(stage: Stage, part: str, batches: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return pairs of subject and sentence. `part` is the part of the benchmark in words, "" for all of it; `batches`
    counts places in batches (study_overview).
    """
    return [
        ("Items", _items(stage, part)),
        ("Who judges what", " ".join(_people(stage, batches or {}))),
        ("How an item is decided", rule_in_words(stage)),
    ]


def _items(stage: Stage, part: str) -> str:
    if stage.source is None:
        taken = f"Asks about {part or 'the benchmark’s items'}"
    else:
        kinds = " and ".join(readable_label(one) for one in stage.takes)
        when = ", when it closes" if stage.promotion == Promotion.CLOSING or stage.sample else ""
        taken = f"Takes the items that stage {stage.source.position} ({stage.source.title}) marked {kinds}{when}"
    if stage.sample:
        strata = ", stratified by type and subtype" if stage.stratify else ""
        taken += f"; a sample of {stage.sample:,}{strata}"
    return f"{taken}."


def _people(stage: Stage, batches: dict[str, Any]) -> list[str]:
    if stage.strategy == Strategy.BATCHES:
        found = [f"Each annotator gets their own batch of {counted(stage.batch_size or 0, 'item')}."]
    else:
        found = [_GIVEN[Strategy(stage.strategy)]]
    if batches:
        found.append(f"{batches['given']:,} of {batches['places']:,} places assigned, {batches['done']:,} done.")
    if stage.quota:
        found.append(f"At most {counted(stage.quota, 'judgment')} each.")
    if stage.check_rate and stage.tasks.filter(kind=Kind.CHECK, live=True).exists():
        found.append(f"{stage.check_rate:.0%} of the screens are checks.")
    return found
