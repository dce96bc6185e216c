"""The kind of evaluation of a release's items, for its manifest; and the files that evaluate a model on them. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.predictions import plan
from benchmarks.predictions.item_figures import figures_of
from benchmarks.predictions.kinds import KINDS
from benchmarks.records import VIDEOS

KEY = "evaluation"  # in the manifest
SCRIPT, PACKAGE, FOLDER = "score.py", "scoring", "lmms_eval"
HERE = Path(__file__).parent
ROOT = HERE.parents[2]
# What the package of a release is made of: all in one folder there, so no two have the same name.
MODULES = {
    "annotation.releases.scoring.released": ("__init__", "answers", "command", "images", "items", "models"),
    "benchmarks.metrics": ("aro", "base", "bivlc", "edit_distance", "hard_positive", "sugarcrepe", "visla"),
    "benchmarks.predictions": ("choices", "evaluators", "item_figures", "kinds", "plan", "stored"),
}
IMPORT = re.compile(rf"^from (?:{'|'.join(map(re.escape, MODULES))})(\.\w+)? import", re.MULTILINE)


def evaluation_of(kind: str, lines: Iterable[Mapping]) -> dict[str, Any] | None:
    """How to evaluate the items in these lines of items.jsonl: the benchmark's `kind` of evaluation, and the `modules`
    that do it. None if that is not what was asked: if no item has the captions and images of a question, if one has
    more negative captions than its questions compare, or a video, since models see images.
    """
    fits, found = False, set()
    for line in lines:
        if any(image.get("format") in VIDEOS for image in line["images"]):
            return None
        found.add(_parts(line))
    for parts in found:
        captions, there = Counter(parts[0]), {*parts[1]}
        places = {(role, place) for role, count in captions.items() for place in range(count)}
        wanted = plan.wanted_scores(kind, dict.fromkeys(places, ""))
        compared = [one for one in wanted if one.one in places and one.other in (places if one.text else there)]
        fits |= bool(compared)
        negatives = {place for place in places if place[0] == "negative"}
        if compared and negatives - {place for one in compared for place in (one.one, one.other)}:
            return None
    if not fits:
        return None
    return {"kind": kind, "modules": sorted(f"{name}.py" for names in MODULES.values() for name in names)}


def _parts(line: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...]]:
    """The roles of its captions that scores compare, and the places of its images that they compare them with."""
    keys = [image["key"] for image in line["images"]]
    images = [("positive", 0)] if "positive-0" in keys else []
    images += [("negative", 0)] if line["negative_image"] or "negative-0" in keys else []
    roles = [caption["role"] for caption in line["captions"] if caption["role"] in plan.CAPTION_ROLES]
    return tuple(sorted(roles)), tuple(images)


def files(manifest: Mapping) -> list[str]:
    """The files that a release with this manifest brings for its evaluation."""
    evaluation = manifest.get(KEY)
    if not evaluation:
        return []
    modules = [f"{PACKAGE}/{name}" for name in evaluation["modules"]]
    return [SCRIPT, *modules, f"{FOLDER}/utils.py", *(f"{FOLDER}/{split}.yaml" for split in manifest["splits"])]


def write(folder: Path, settings: Mapping) -> None:
    """Those files, into the folder of a release with these settings."""
    if not settings[KEY]:
        return
    (folder / FOLDER).mkdir()
    (folder / PACKAGE).mkdir()
    (folder / SCRIPT).write_bytes((HERE / "score.py").read_bytes())
    (folder / FOLDER / "utils.py").write_bytes((HERE / "utils.py").read_bytes())
    for package, names in MODULES.items():
        for name in names:
            text = (ROOT / package.replace(".", "/") / f"{name}.py").read_text(encoding="utf-8")
            _write(folder / PACKAGE / f"{name}.py", IMPORT.sub(lambda found: f"from {found[1] or '.'} import", text))
    for split in settings["splits"]:
        _write(folder / FOLDER / f"{split}.yaml", _task(settings, split))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def task_name(settings: Mapping, split: str) -> str:
    """The name of the task in lmms-eval."""
    return re.sub(r"\W+", "_", f"{settings['release']['name']}_{settings['release']['version']}_{split}".lower())


def _task(settings: Mapping, split: str) -> str:
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
    kind = KINDS[settings[KEY]["kind"]]
    for name, figure in figures_of(kind).items():
        measure = kind.measured.measures[figure.measure]
        if kind.asks(measure):
            lines += _metric(name, str(not measure.lower).lower())
    lines += [*_metric("tied", "false"), *_metric("unanswered", "false")]
    return "\n".join([*lines, f"metadata: {{version: {settings['release']['version']!r}}}", ""])


def _metric(name: str, better: str) -> list[str]:
    return [
        f"  - metric: {name}",
        f"    aggregation: !function utils.aggregate_{name}",
        f"    higher_is_better: {better}",
    ]
