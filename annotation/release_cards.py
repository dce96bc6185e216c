"""An export in words: the dataset card, the rule of each stage, and its settings."""

import json
from collections.abc import Mapping, Sequence

from annotation.models import Stage
from annotation.protocols.registry import PROTOCOLS

TIES = {
    "drop": "a tie drops the item (tie_unresolved)",
    "first": "a tie goes to the kind that was given first",
    "none": "a tie counts as none",
    "adjudicate": "a tie waits for an adjudicator",
}
OF_STAGE = (
    "name", "position", "protocol", "state", "strategy", "overlap", "cap", "tie_rule", "takes", "carries", "promotion",
    "sample", "stratify", "apart_from", "batch_size", "agreement_items", "agreement_overlap", "quota", "check_rate",
    "training_pass", "training_tries", "comprehension", "on_failure", "lease_seconds", "undo_seconds", "auto_advance",
    "seed",
)  # fmt: skip


def settings_of(stage: Stage) -> dict:
    """Everything that decides what was asked, of whom, and what was made of it."""
    protocol = PROTOCOLS[stage.protocol]
    return {
        **{name: getattr(stage, name) for name in OF_STAGE},
        "source": stage.source.name if stage.source else None,
        "after": stage.after.name if stage.after else None,
        "measures": protocol.measures,
        "fixed_answers": [choice.identity for choice in protocol.fixed],
        "drops": dict(protocol.drops),
        "alike": protocol.alike,
        "views": list(protocol.projections),
        "decision_rule": describe(stage),
        "instructions": list(stage.instructions.values("version", "text")),
    }


def describe(stage: Stage) -> str:
    """The decision rule in words."""
    protocol = PROTOCOLS[stage.protocol]
    drops = ", ".join(f"{outcome} → {reason}" for outcome, reason in sorted(protocol.drops.items()))
    ending = (
        f"; dropped are {drops}." if drops and not protocol.measures else "; nothing is dropped, answers are scored."
    )
    most = max(stage.overlap, stage.agreement_overlap or 1, stage.cap or 1)
    if most == 1:
        return f"one judgment decides{ending}"
    kinds = "the kind of answer (any image, each fixed answer, cannot_judge)" if protocol.alike else "the answer"
    images = "; among images the one with the most picks, among equals the one picked first" if protocol.alike else ""
    return f"{_how_many(stage)}; {kinds} with the most judgments wins, {TIES[stage.tie_rule]}{images}{ending}"


def _how_many(stage: Stage) -> str:
    said = f"{stage.overlap} judgment{'s' if stage.overlap > 1 else ''} a task"
    if stage.agreement_items:
        said += f", {stage.agreement_overlap} on {stage.agreement_items} items drawn for agreement"
    return said + (f", one more up to {stage.cap} while no kind has more than half" if stage.cap else "")


def line(stage: Stage) -> str:
    """A stage in the card's list."""
    taken = f"items {' and '.join(stage.takes)} by {stage.source.name}" if stage.source else "the benchmark's items"
    drawn = f", {stage.sample:,} of them drawn with seed {stage.seed}" if stage.sample else ""
    return f"**{stage.name}** ({stage.protocol}): {taken}{drawn}; {describe(stage)}"


def card(name: str, whole: Mapping, stages: Sequence[str], data: str) -> str:
    """The dataset card. Its YAML tells `load_dataset(folder)` which of the files is the split.

    `data` is the split's SHA-256: the loader keeps what it read under a hash of this YAML, and would else take another
    export in a folder of the same name for this one.
    """
    reasons = [f"- {row['name']}, {row['reason']}: {row['items']:,}" for row in whole["reasons"]]
    steps = [f"- {row['name']}: {row['entered']:,} in, {row['kept']:,} kept" for row in whole["stages"]]
    return f"""\
---
pretty_name: {json.dumps(name, ensure_ascii=False)}
configs:
- config_name: default
  description: data.parquet has SHA-256 {data}
  data_files:
  - split: test
    path: data.parquet
---
# {name}

A validated split, exported by Winnow: {whole["kept"]:,} items kept of {whole["imported"]:,};
{whole["dropped"]:,} dropped, {whole["open"]:,} still open.

{chr(10).join(steps)}

Dropped, by stage and reason:

{chr(10).join(reasons) or "- none"}

How items were decided:

{chr(10).join(f"{number}. {stage}" for number, stage in enumerate(stages, 1))}

| file | what |
|---|---|
| `data.parquet` | the kept items: image, caption, negative_caption, negative_image, type, subtype, id |
| `items.jsonl` | the same items: what each stage said by which votes, and the identity of every image |
| `dropped.jsonl` | the dropped items, each with the stage and the reason |
| `tasks.jsonl` | everything that was asked, of whatever kind, with what came of it |
| `judgments.parquet` | every judgment and revision, also those that do not count |
| `adjudications.jsonl` | what adjudicators decided, and why |
| `annotators.jsonl`, `flags.jsonl` | annotators by number alone; what they reported |
| `figures.json` | the funnel, the figures of each stage and the human baseline |
| `manifest.json` | SHA-256, size and rows of each file; the settings and instructions of each stage |
"""
