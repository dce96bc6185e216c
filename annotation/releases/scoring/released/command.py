"""What score.py does with its arguments."""

import argparse
import json
import sys
from pathlib import Path

from annotation.releases.scoring.released.items import PICK, Release, Unusable
from benchmarks.predictions.cut_captions import in_words

HERE = Path(__file__).resolve().parent.parent  # the release


def table(found):
    rows = [("", "%", "95 % interval", "chance", "people", "n", "read alike")]
    for group in [{"type": "", "subtype": None, **found}, *found["groups"]]:
        before = " ".join(filter(None, (group["type"], group["subtype"])))
        for name, one in group["measures"].items():
            if one["n"] or one["read_alike"]:
                share, low, high, chance, people = (
                    "" if one.get(key) is None else f"{100 * one[key]:.2f}"
                    for key in ("share", "low", "high", "chance", "people")
                )
                path, ends = f"{before} · {name}" if before else name, f"{low} to {high}" if one["n"] else ""
                rows.append((path, share, ends, chance, people, f"{one['n']:,}", f"{one['read_alike']:,}"))
    seldom = {"people", "read alike"}
    columns = [one for one in zip(*rows, strict=True) if one[0] not in seldom or {*one[1:]} - {"", "0"}]
    widths = [max(map(len, column)) for column in columns]
    for name, *cells in zip(*columns, strict=True):
        right = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join([name.ljust(widths[0]), *right]).rstrip()
    if not found["n"]:
        yield "No item is scored (n = 0)."
    if found["in_both_orders"]:
        yield "Chance is that of choices which the model makes twice, with a question's options in both orders."
    if tied := found["ties"]:
        changed = ", ".join(f"{name} {100 * share:.2f}" for name, share in tied["measures"].items()) or "the same"
        yield f"{tied['items']:,} items have tied scores, which count as wrong. With ties as right: {changed}."
    yield from in_words(found["cut"] or {})
    yield from found["notes"]


def main(given, description, load):
    """Print the figures, or end with what is wrong in a sentence. `load` gives a module of the release by its name."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument("--functions", metavar="FILE.py", help="a file with the functions above")
    model.add_argument("--open-clip", metavar="NAME", help="ARCHITECTURE:WEIGHTS, hf-hub:ORG/MODEL or local-dir:FOLDER")
    model.add_argument("--transformers", metavar="NAME", help="a folder or hub id of a model with two encoders")
    model.add_argument("--predictions", metavar="FILE", help="answers, as --out writes them; or choices")
    twice = "the choices in --predictions are those that the model made in both orders of the options"
    parser.add_argument("--asked-in-both-orders", action="store_true", help=twice)
    parser.add_argument("--release", default=HERE, help="its folder, by default that of this script")
    parser.add_argument("--split", default="", help="by default test, or the last split")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--skip-incomplete", action="store_true", help="leave out items that lack predictions")
    parser.add_argument("--out", metavar="FILE.jsonl", help="write the scores as Winnow's predictions")
    parser.add_argument("--json", action="store_true", help="print everything, not rounded")
    asked = parser.parse_args(given)
    if asked.batch_size < 1:
        parser.error("--batch-size must be 1 or more.")
    try:
        release = Release(asked.release, asked.split)
        if not release.items:
            raise Unusable(f"The split {release.split} has no items.")
        found = load("picks" if release.evaluation["kind"] == PICK else "answers").run(release, asked, load)
    except (Unusable, OSError, UnicodeDecodeError) as error:
        sys.exit(f"score.py: {error}")
    print(json.dumps(found, ensure_ascii=False, indent=1) if asked.json else "\n".join(table(found)))
