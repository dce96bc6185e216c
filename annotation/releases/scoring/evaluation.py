"""The kind of evaluation for a release's items, for its manifest; and the files that evaluate a model on them. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from annotation.exports.files import write_lines
from annotation.protocols.schema import ProtocolFile
from annotation.releases.scoring import questions, vlmevalkit
from annotation.releases.scoring.released.items import PICK
from annotation.releases.scoring.released.rows import in_one_order, lower_is_better, rows_of
from benchmarks.predictions import plan
from benchmarks.predictions.choices import LETTERS
from benchmarks.predictions.item_figures import ItemFigure
from benchmarks.records import VIDEOS

KEY = "evaluation"  # key in the manifest
SCRIPT, PACKAGE, FOLDER = "score.py", "scoring", "lmms_eval"
QUESTIONS = f"{PACKAGE}/{questions.FILE}"
ITEMS = "items.jsonl"
HERE = Path(__file__).parent
ROOT = HERE.parents[2]
# The modules of a release's package: all are in one folder there, so no two have the same name.
MODULES = {
    "annotation.releases.scoring.released": (
        "__init__", "answers", "command", "images", "items", "models", "picks", "prompts", "rows",
    ),
    "benchmarks.metrics": ("aro", "base", "bivlc", "edit_distance", "hard_positive", "sugarcrepe", "visla"),
    "benchmarks.predictions": ("choices", "cut_captions", "evaluators", "item_figures", "kinds", "plan", "stored"),
}  # fmt: skip
NO_FILES: Mapping[str, ProtocolFile] = MappingProxyType({})
Parts = tuple[tuple[str, ...], tuple[plan.Place, ...]]
IMPORT = re.compile(rf"^from (?:{'|'.join(map(re.escape, MODULES))})(\.\w+)? import", re.MULTILINE)


def evaluation_of(
    kind: str, lines: Iterable[Mapping], asked: Mapping[str, ProtocolFile] = NO_FILES
) -> dict[str, Any] | None:
    """Return how to evaluate the items in these lines of items.jsonl, with the `modules` for it: by the pick with a
    right answer that a stage `asked`, or by the benchmark's `kind`, which takes precedence over answers that are right
    by construction. None if neither was asked, or if an item has a video, since models see images.
    """
    picks = questions.picks_of(asked)
    found: set[Parts] = set()
    counts: set[int] = set()
    for line in lines:
        if any(image.get("format") in VIDEOS for image in line["images"]):
            return None
        found.add(_parts(line))
        if picks:
            counts.update(len(one["options"]) for one in picks.questions([line]))
    modules = sorted(f"{name}.py" for names in MODULES.values() for name in names)
    of_kind = _fits(kind, found)
    if picks and counts and max(counts) <= len(LETTERS) and (picks.by_item or not of_kind):
        return {**picks.settings(), "modules": modules}
    return {"kind": kind, "modules": modules} if of_kind else None


def _fits(kind: str, found: Iterable[Parts]) -> bool:
    """Return whether an item has the captions and images of the kind's questions, and none has more negative captions
    than these compare.
    """
    fits = False
    for parts in found:
        captions, there = Counter(parts[0]), {*parts[1]}
        places = {(role, place) for role, count in captions.items() for place in range(count)}
        wanted = plan.wanted_scores(kind, dict.fromkeys(places, ""))
        compared = [one for one in wanted if one.one in places and one.other in (places if one.text else there)]
        fits |= bool(compared)
        negatives = {place for place in places if place[0] == "negative"}
        if compared and negatives - {place for one in compared for place in (one.one, one.other)}:
            return False
    return fits


def _parts(line: Mapping[str, Any]) -> Parts:
    """Return the roles of its captions that scores compare, and the places of the images they are compared with."""
    keys = [image["key"] for image in line["images"]]
    images = [("positive", 0)] if "positive-0" in keys else []
    images += [("negative", 0)] if line["negative_image"] or "negative-0" in keys else []
    roles = [caption["role"] for caption in line["captions"] if caption["role"] in plan.CAPTION_ROLES]
    return tuple(sorted(roles)), tuple(images)


def files(manifest: Mapping) -> list[str]:
    """Return the files for evaluation in a release with this manifest."""
    evaluation = manifest.get(KEY)
    if not evaluation:
        return []
    modules = [f"{PACKAGE}/{name}" for name in evaluation["modules"]]
    modules += [QUESTIONS] if evaluation["kind"] == PICK else []
    modules += tables(manifest)
    return [SCRIPT, *modules, f"{FOLDER}/utils.py", *(f"{FOLDER}/{split}.yaml" for split in manifest["splits"])]


def write(
    folder: Path, settings: Mapping, lines: Iterable[Mapping] = (), asked: Mapping[str, ProtocolFile] = NO_FILES
) -> dict[str, int]:
    """Write those files into the folder of a release with these settings; return the rows of those that have some."""
    with (folder / ITEMS).open(encoding="utf-8") as items:
        made = contents(settings, map(json.loads, items)) if settings[KEY] else {}
    for name, content in made.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    picks = questions.picks_of(asked) if settings[KEY] and settings[KEY]["kind"] == PICK else None
    found = {QUESTIONS: write_lines(folder / QUESTIONS, picks.questions(lines))} if picks else {}
    for name, split in tables(settings).items():
        (folder / name).parent.mkdir(exist_ok=True)
        with (folder / name).open("wb") as file:
            file.writelines(vlmevalkit.rows(folder, split))
    return found


def tables(settings: Mapping) -> dict[str, str]:
    """Return the names of the tables for VLMEvalKit, by split."""
    there = settings.get(KEY) and vlmevalkit.FOLDER in settings["release"].get("forms", ())
    return {vlmevalkit.table_name(split): split for split in settings["splits"]} if there else {}


def contents(settings: Mapping, items: Iterable[Mapping]) -> dict[str, bytes]:
    """Return each of those files but the questions, by name. `items`: the lines of the release's items.jsonl."""
    rows = rows_of(settings[KEY], items)
    found = {SCRIPT: (HERE / "score.py").read_bytes(), f"{FOLDER}/utils.py": (HERE / "utils.py").read_bytes()}
    for package, names in MODULES.items():
        for name in names:
            text = (ROOT / package.replace(".", "/") / f"{name}.py").read_text(encoding="utf-8")
            found[f"{PACKAGE}/{name}.py"] = IMPORT.sub(lambda at: f"from {at[1] or '.'} import", text).encode()
    return found | {f"{FOLDER}/{split}.yaml": _task(settings, split, rows).encode() for split in settings["splits"]}


def task_name(settings: Mapping, split: str) -> str:
    """Return the name of the task in lmms-eval."""
    return re.sub(r"\W+", "_", f"{settings['release']['name']}_{settings['release']['version']}_{split}".lower())


def _task(settings: Mapping, split: str, rows: Mapping[str, ItemFigure]) -> str:
    lines = [
        "# lmms-eval asks a generative model this split. Run it in the folder of the release:",
        f"#   lmms-eval --include_path lmms_eval --tasks {task_name(settings, split)} --model …",
        f"task: {task_name(settings, split)}",
        "dataset_path: parquet",
        f"dataset_kwargs: {{data_files: {{{split}: data/{split}-*.parquet}}}}",
        f"test_split: {split}",
        "output_type: generate_until",
        "generation_kwargs: {max_new_tokens: 16, temperature: 0, do_sample: false}",
        f"process_docs: !function utils.process_{split}",
        "doc_to_visual: !function utils.doc_to_visual",
        "doc_to_text: !function utils.doc_to_text",
        "doc_to_target: winnow_letter",
        "process_results: !function utils.process_results",
        "metric_list:",
    ]
    figures = rows | in_one_order(rows)
    for name in (*figures, "tied", "unanswered"):
        higher = name in figures and not lower_is_better(settings[KEY], figures[name])
        lines += [
            f"  - metric: {json.dumps(name, ensure_ascii=False)}",
            "    aggregation: !function utils.aggregate",
            f"    higher_is_better: {str(higher).lower()}",
        ]
    return "\n".join([*lines, f"metadata: {{version: {settings['release']['version']!r}}}", ""])
