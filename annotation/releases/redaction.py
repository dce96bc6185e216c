"""What of an export is public: its tables and its manifest, with less in them. Pure, a row at a time.

The least has no times, no figures of single annotators, no free comments and no right answers of checks; each of
releases.plan.PUBLIC adds its part. A column or key stays where what stood in it does not: it is null, so that all releases have
the same tables. What is public of the figures can be computed again from what is public beside them (verification/).
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from annotation.exports.files import write_json, write_lines
from annotation.releases import public_figures, public_judgments
from annotation.releases.export_reader import Exported, streamed

TIMES, ANNOTATORS, COMMENTS, GOLD = "times", "annotators", "comments", "gold"
OF_IMAGE = ("format", "width", "height")
SAID_OF_IMAGE = ("source_name", "licence", "attribution")


def write_tables(export: Exported, folder: Path, public: Collection[str], splits: Mapping[str, str]) -> dict[str, int]:
    """Write the tables and figures.json; the rows of each table by its name. `splits` has the kept items'."""
    figures, quiet = export.figures, COMMENTS not in public

    def lines(name: str) -> Iterator[dict]:
        return map(uncommented, export.lines(name)) if quiet else export.lines(name)

    tables = {
        "items.jsonl": ({**line, "split": splits[line["id"]]} for line in lines("items.jsonl")),
        "dropped.jsonl": lines("dropped.jsonl"),
        "tasks.jsonl": without(lines("tasks.jsonl"), GOLD not in public, "gold"),
        "texts.jsonl": without(export.lines("texts.jsonl"), TIMES not in public, "created_at"),
        "adjudications.jsonl": without(lines("adjudications.jsonl"), quiet, "note"),
        "annotators.jsonl": annotators(export, figures, ANNOTATORS in public),
        "flags.jsonl": without(export.lines("flags.jsonl"), quiet, "reason"),
        "images.jsonl": images(export),
    }
    rows = {name: write_lines(folder / name, found) for name, found in tables.items()}
    rows["judgments.parquet"] = public_judgments.write(
        export.folder / "judgments.parquet", folder / "judgments.parquet", public
    )
    write_json(folder / "figures.json", public_figures.of_study(figures, public))
    return rows


def without(lines: Iterator[dict], hidden: bool, name: str) -> Iterator[dict]:
    """The lines, with nothing under the name where it is hidden."""
    return ({**line, name: None} if hidden else line for line in lines)


def uncommented(line: Mapping) -> dict:
    """A line whose answers, its own and those of its decisions, are without the reasons that were written with them."""
    found = dict(line)
    if "content" in line:
        found["content"] = public_judgments.uncommented(line["content"])
    if "decisions" in line:
        found["decisions"] = [uncommented(one) for one in line["decisions"]]
    return found


def annotators(export: Exported, figures: Mapping, shown: bool) -> Iterator[dict]:
    """By pseudonym, with who was excluded and why. How each went through a stage is a figure of theirs."""
    passed = {
        (row["number"], stage["name"]): row["passed"]
        for stage in figures["annotators"]["stages"]
        for row in stage["rows"]
    }
    for line in export.lines("annotators.jsonl"):
        number = int(line["annotator"].removeprefix("A-"))
        seats = [_seat(seat, passed.get((number, seat["stage"]), {}), shown) for seat in line["stages"]]
        yield {**line, "left": line["left"] if shown else None, "stages": seats}


def _seat(seat: Mapping, passed: Mapping, shown: bool) -> dict:
    """`passed` says of the questions about the rules and of the practice whether they were passed."""
    own = {"screened_out": seat["screened_out"], "skipped": seat["skipped"], "passed": passed}
    return {**seat, **(own if shown else dict.fromkeys(own))}


def images(export: Exported) -> Iterator[dict]:
    """Every image that is in the data, once for each content, in the order of hashes.

    Where it came under several names or licences, they stand one after the other.
    """
    names = embedded(export)
    found: dict[str, dict] = {}
    said: dict[str, list[dict[str, None]]] = {}  # each a set in the order of coming
    for line in export.lines("items.jsonl"):
        for image in line["images"]:
            content = image["sha256"]
            if content in names:
                found.setdefault(content, {name: image[name] for name in OF_IMAGE})
                for values, name in zip(said.setdefault(content, [{}, {}, {}]), SAID_OF_IMAGE, strict=True):
                    values.setdefault(image[name])
    for content in sorted(found):
        told = ("; ".join(filter(None, values)) for values in said[content])
        yield {
            "sha256": content,
            "file_names": sorted(names[content]),
            **found[content],
            **dict(zip(SAID_OF_IMAGE, told, strict=True)),
        }


def embedded(export: Exported) -> dict[str, set[str]]:
    """Hash → the names under which the image stands in the split; its bytes are not read."""
    found: dict[str, set[str]] = {}
    with streamed(export.folder / "data.parquet") as file:
        schema = file.schema_arrow
        columns = [f"{name}.path" for name in schema.names if pa.types.is_struct(schema.field(name).type)]
        for batch in file.iter_batches(1000, columns=columns, use_threads=False) if columns else ():
            for column in batch.columns:
                for path in column.field("path").drop_null().to_pylist():
                    found.setdefault(path.partition(".")[0], set()).add(path)
    return found


def settings(manifest: Mapping, public: Collection[str]) -> dict:
    """The export's manifest as far as it is public, without its files."""
    found = {name: part for name, part in manifest.items() if name != "files"}
    found["stages"] = [_stage(stage, GOLD in public) for stage in manifest["stages"]]
    if TIMES not in public:
        last = manifest["last_judgment_at"]
        found["study"] = {**manifest["study"], "pay_per_hour": None}
        found["last_judgment_at"] = last and last[: len("2026-03-02")]
    return found


def _stage(stage: Mapping, gold: bool) -> dict:
    """Which answer to a question about the rules is right, is gold."""
    asked = [
        one if gold else {"question": one["question"], "options": one["options"], "answer": None}
        for one in stage["comprehension"]
    ]
    return {**stage, "comprehension": asked}
