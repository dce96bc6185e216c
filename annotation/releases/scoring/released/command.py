"""What score.py does with its arguments."""

import argparse
import json
import sys
from pathlib import Path

from annotation.releases.scoring.released.answers import complete, figures, read_predictions, records_of
from annotation.releases.scoring.released.items import Release, Unusable
from annotation.releases.scoring.released.models import compute_scores, loaded
from benchmarks.predictions.kinds import asked_in_both_orders
from benchmarks.predictions.stored import ties

HERE = Path(__file__).resolve().parent.parent  # the release


def table(found):
    rows = [("", "%", "95 % interval", "chance", "n")]
    for group in [{"type": "", "subtype": None, **found}, *found["groups"]]:
        before = " ".join(filter(None, (group["type"], group["subtype"])))
        for name, one in group["measures"].items():
            if one["n"]:
                share, low, high, chance = (f"{100 * one[key]:.2f}" for key in ("share", "low", "high", "chance"))
                path = f"{before} · {name}" if before else name
                rows.append((path, share, f"{low} to {high}", chance, f"{one['n']:,}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        right = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join([name.ljust(widths[0]), *right]).rstrip()
    if found["in_both_orders"]:
        yield "Chance is that of choices which the model makes twice, with a question's options in both orders."
    if tied := found["ties"]:
        changed = ", ".join(f"{name} {100 * share:.2f}" for name, share in tied["measures"].items()) or "the same"
        yield f"{tied['items']:,} items have tied scores, which count as wrong. With ties as right: {changed}."


def write_scores(path, release, scores):
    """Winnow's predictions, in the order of the items."""
    with Path(path).open("w", encoding="utf-8") as file:
        for (place, name), score in sorted(scores.items()):
            item = release.items[place]
            line = {"item": item["id"], "question": name, "score": score}
            line.update({key: item[key] for key in ("type", "subtype") if item[key]})
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def run(asked):
    """All figures, as `--json` prints them."""
    release = Release(asked.release, asked.split)
    if not release.items:
        raise Unusable(f"The split {release.split} has no items.")
    if asked.predictions:
        scores, choices = read_predictions(release, asked.predictions)
    else:
        scores, choices = compute_scores(release, loaded(asked), asked.batch_size), {}
    records = records_of(release, scores, choices)
    if asked.predictions:
        records = complete(release, records, asked.skip_incomplete)
    if asked.out:
        write_scores(asked.out, release, scores)
    generous = records_of(release, scores, choices, ties_are_right=True)
    kind = asked_in_both_orders(release.kind) if choices else release.kind
    return {
        "kind": kind.name,
        "split": release.split,
        "in_both_orders": bool(choices),
        **figures([*records.values()], kind),
        "ties": ties([*records.values()], [generous[place] for place in records], kind),
    }


def main(given, description):
    """Print the figures, or end with what is wrong in a sentence."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument("--functions", metavar="FILE.py", help="a file with the functions above")
    model.add_argument("--open-clip", metavar="NAME", help="ARCHITECTURE:WEIGHTS, hf-hub:ORG/MODEL or local-dir:FOLDER")
    model.add_argument("--transformers", metavar="NAME", help="a folder or hub id of a model with two encoders")
    model.add_argument("--predictions", metavar="FILE.jsonl", help="answers, as --out writes them; or with `choice`")
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
        found = run(asked)
    except (Unusable, OSError, UnicodeDecodeError) as error:
        sys.exit(f"score.py: {error}")
    print(json.dumps(found, ensure_ascii=False, indent=1) if asked.json else "\n".join(table(found)))
