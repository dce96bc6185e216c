"""An export in words: the dataset card, the rule of each stage, and its settings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from django.db.models import Count

from annotation.designs import part
from annotation.exports.columns import TABLES
from annotation.exports.markdown import phrase, text, yaml_text
from annotation.exports.protocol_files import describe_file
from annotation.models import Stage, Strategy, Study
from annotation.pipeline import audits
from annotation.pipeline.stage_rules import rule_in_words
from annotation.protocols import in_words, roles
from annotation.protocols.decision_rule import CONFIRM_CAP
from annotation.protocols.registry import protocol_named
from annotation.wording import items_in_words

FATES = ("accepted", "edited", "rejected", "could not be judged")  # for texts that annotators could change
OF_STAGE = (
    "name", "position", "protocol", "state", "strategy", "overlap", "cap", "rule", "tie_rule", "takes", "carries",
    "promotion", "sample", "stratify", "sample_each", "apart_from", "batch_size", "agreement_items",
    "agreement_overlap", "quota", "check_rate", "practice_pass", "practice_tries", "comprehension", "on_failure",
    "lease_seconds", "undo_seconds", "auto_advance", "seed",
)  # fmt: skip


FRONT = """\
---
pretty_name: {name}
configs:
- config_name: default
  description: data.parquet has SHA-256 {data}
  data_files:
  - split: test
    path: data.parquet
---"""
BESIDE = (  # files that are not tables
    ("`figures.json`", "the funnel, the figures of each stage and each annotator, and the human baseline"),
    ("`protocols/`", "the protocol files of the stages: what was asked, and what decided"),
    ("`manifest.json`", "SHA-256, size and row count of each file; the settings and instructions of each stage"),
    ("`source/`", "the kept items in the layout of their source, without the images"),
)


def settings_of(stage: Stage) -> dict:
    """Return every setting that decides what was asked, who was asked, and how answers became outcomes.

    `protocol_file` is null unless the protocol is a published file; only stages that have them list `audit`,
    `certainty` and `imported`.
    """
    protocol = protocol_named(stage.protocol)
    return {
        **{name: getattr(stage, name) for name in OF_STAGE},
        "source": stage.source.name if stage.source else None,
        "after": stage.after.name if stage.after else None,
        "measures": protocol.measures,
        "fixed_answers": [choice.identity for choice in protocol.fixed],
        "drops": dict(protocol.drops),
        "confirms": protocol.confirms,
        "confirm_cap": (stage.cap or CONFIRM_CAP) if protocol.confirms else None,
        "guidelines": [asdict(one) for one in (protocol.form.guidelines if protocol.form else ())],
        "alike": protocol.alike,
        "views": list(protocol.projections),
        "decision_rule": rule_in_words(stage),
        **({"audit": _audit(stage)} if stage.strategy == Strategy.AUDIT else {}),
        **({"certainty": stage.certainty} if stage.certainty is not None else {}),
        **({"imported": imported} if (imported := _imported(stage)) else {}),
        "instructions": list(stage.instructions.values("version", "text", "translations")),
        "protocol_file": describe_file(stage.protocol) if protocol.file else None,
    }


def _imported(stage: Stage) -> list[dict]:
    """Return the files of judgments made elsewhere, with the number of the stage's judgments from each."""
    files = stage.ratings_files.annotate(count=Count("judgments"))
    return [
        {"file": one.name, "sha256": one.sha256, "source": one.source, "mapping": one.mapping, "judgments": one.count}
        for one in files
    ]


def _audit(stage: Stage) -> dict:
    """Return an audit's target, and whose scores it uses, if any."""
    scores = {"scores_of": stage.scores_of} if stage.scores_sha256 else {}
    return {**audits.settings_of(stage), **scores}


def line(stage: Stage) -> str:
    """Return a stage's line in the card's list."""
    taken = (
        f"items {' and '.join(stage.takes)} by {text(stage.source.name)}"
        if stage.source
        else text(part.in_words(stage.study.part)) or "the benchmark's items"
    )
    sample = f", {stage.sample:,} of them drawn with seed {stage.seed}" if stage.sample else ""
    named = f"**{text(stage.name)}** ({roles.asked_as(stage.protocol)})"
    return f"{named}: {taken}{sample}; {_asked(stage)}{rule_in_words(stage)}"


def _asked(stage: Stage) -> str:
    """Describe what a protocol file asks and measures; "" for built-in protocols, which the documentation describes."""
    file = protocol_named(stage.protocol).file
    if file is None:
        return ""
    said = [f"“{file.ask}”", *in_words.answers_in_words(file), *in_words.measures_in_words(file)]
    return f"{text(' '.join(said))} Decision: "


def card(
    study: Study,
    whole: Mapping,
    stages: Sequence[Stage],
    written: Mapping[str, Counter],
    sha256: str,
    columns: Iterable[str],
    notes: Mapping,
) -> str:
    """Return the dataset card. Its YAML tells `load_dataset(folder)` which of the files is the split.

    It names the split's SHA-256, because the loader caches by a hash of this YAML and would otherwise mistake another
    export in a folder of the same name for this one. `written` has, by stage name, what became of the texts.
    `sha256` and `columns` describe the split; `notes` has "no_source", why there is no `source/`,
    and "warnings", what readers must know before using the split.
    """
    return "\n".join(
        [
            FRONT.format(name=yaml_text(study.name), data=sha256),
            f"# {text(study.name)}\n",
            f"A validated split, exported by Winnow: {items_in_words(whole)}.\n",
            *(f"**Warning.** {text(warning)}\n" for warning in notes["warnings"]),
            _lines([*_steps(whole, written), *map(_measured, whole["measuring"])]),
            "Dropped, by stage and reason:\n",
            _reasons(whole["reasons"]),
            *(["Not asked about, by stage and reason:\n", _reasons(left)] if (left := whole["not_asked_in"]) else []),
            "How items were decided:\n",
            _lines(map(line, stages), numbered=True),
            _table(columns, notes["no_source"], any(protocol_named(stage.protocol).file for stage in stages)),
        ]
    )


def _reasons(rows: Iterable[Mapping]) -> str:
    return _lines([f"{text(row['name'])}, {row['reason']}: {row['items']:,}" for row in rows] or ["none"])


def _lines(lines: Iterable[str], numbered: bool = False) -> str:
    return "".join(f"{f'{number}.' if numbered else '-'} {words}\n" for number, words in enumerate(lines, 1))


def _steps(whole: Mapping, written: Mapping[str, Counter]) -> Iterator[str]:
    for row in whole["stages"]:
        did = written[row["name"]]
        words = "".join(f", {did[fate]:,} {fate}" for fate in FATES) if did else ""
        yield f"{text(row['name'])} ({row['protocol']}): {row['entered']:,} in, {row['kept']:,} kept{words}"


def _measured(row: Mapping) -> str:
    words = f"{row['tasks']:,} asked, {row['answered']:,} answered; it drops nothing"
    return f"{text(row['name'])} ({row['protocol']}): {words}"


def _table(columns: Iterable[str], no_source: str, has_files: bool) -> str:
    """Return what each file contains and, if there is no `source/`, why."""
    tables = [(f"`{table.file}`", phrase(table.says)) for table in TABLES.values() if not table.only_released]
    rows = [("`data.parquet`", f"the kept items: {', '.join(columns)}"), *tables, *BESIDE]
    missing = {name for name, there in (("`source/`", not no_source), ("`protocols/`", has_files)) if not there}
    rows = [(name, what) for name, what in rows if name not in missing]
    table = "".join(f"| {name} | {what} |\n" for name, what in [("file", "what"), ("---", "---"), *rows])
    return f"{table}\nThere is no `source/`: {text(no_source)}\n" if no_source else table
