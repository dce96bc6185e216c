"""croissant.json: a release described for machines, in the vocabulary of Croissant 1.0 and its RAI extension. Pure.

Its date is that of the last judgment, if that is public, without a time of day.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from pathlib import PurePosixPath

import pyarrow as pa

from annotation.exports.columns import TABLES, Column, Table
from annotation.exports.files import IMAGE, feature_of
from annotation.releases.documents.facts import (
    Facts,
    agreement_in_words,
    annotators_in_words,
    judgments_per_item,
    limits_in_words,
    part_in_words,
    results_in_words,
    stage_in_words,
)
from annotation.releases.documents.hub_metadata import tags

CONFORMS = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
IN_CR = (
    "citeAs", "column", "extract", "field", "fileProperty", "fileObject", "fileSet", "format", "includes",
    "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated",
    "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in IN_CR},
}
KINDS = {
    ".parquet": "application/x-parquet",
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".md": "text/markdown",
    ".tar": "application/x-tar",
    ".txt": "text/plain",
    ".zip": "application/zip",
    ".yaml": "application/yaml",
    ".py": "text/x-python",
}
MANY = re.compile(r"(imagefolder/[^/]+/images)/.+")  # files listed as a set: their hashes are in the manifest
DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
LISTS = ("texts", "integers")
IMPUTED = "Nothing was filled in: missing judgments are not estimated, and an item without a decision is in no split."
SHARDS, DATA, SPLITS = "shards", "data", "splits"
TYPES = {
    "image": "sc:ImageObject", "video": "sc:VideoObject", "text": "sc:Text", "texts": "sc:Text",
    "integer": "sc:Integer", "long": "sc:Integer",
    "integers": "sc:Integer", "number": "sc:Float", "boolean": "sc:Boolean", "time": "sc:DateTime",
}  # fmt: skip


def croissant(
    facts: Facts, schema: pa.Schema, tables: Mapping[str, list[Column]], files: Mapping[str, Mapping]
) -> dict:
    """Return the description; `files` has every file but this one and the manifest, with `sha256` and `bytes`."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": facts.plan.name,
        "description": facts.stated("summary") or f"{facts.plan.title}, a validated split of {facts.items:,} items.",
        "version": _semantic(facts.plan.version),
        **_stated(facts),
        **_responsible_ai(facts),
        "distribution": [*_objects(files), *_sets(facts, files)],
        "recordSet": _record_sets(facts, schema, tables),
    }


def _stated(facts: Facts) -> dict:
    """Return only values that the producer stated, or that follow from the judgments."""
    authors = [name.strip() for name in facts.stated("authors").split(";") if name.strip()]
    last, licence = facts.manifest.get("last_judgment_at"), facts.stated("licence")
    found = {
        "license": f"https://spdx.org/licenses/{licence}.html" if SPDX.fullmatch(licence) else licence,
        "citeAs": facts.stated("citation"),
        "inLanguage": facts.stated("language"),
        "creator": [{"@type": "sc:Person", "name": name} for name in authors],
        "datePublished": last[:10] if last else "",
        "keywords": tags(facts),
    }
    return {name: value for name, value in found.items() if value}


def _semantic(version: str) -> str:
    """Return the version as three numbers: 1.0 becomes 1.0.0."""
    return ".".join([*map(str, map(int, version.split("."))), "0", "0"][:3])


def _objects(files: Mapping[str, Mapping]) -> Iterator[dict]:
    for name, file in sorted(files.items()):
        if not MANY.fullmatch(name):
            yield {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name.replace("/", "-"),
                "contentUrl": name,
                "contentSize": f"{file['bytes']} B",
                "encodingFormat": KINDS.get(PurePosixPath(name).suffix, "application/octet-stream"),
                "sha256": file["sha256"],
            }


def _sets(facts: Facts, files: Mapping[str, Mapping]) -> Iterator[dict]:
    """Yield the shards of the splits, which record sets read together, and folders of images."""
    if facts.loadable:
        yield _set(SHARDS, ["data/*.parquet"], KINDS[".parquet"], "The splits, in shards.")
    for folder in sorted({found[1] for name in files if (found := MANY.fullmatch(name))}):
        says = "Images; manifest.json has the SHA-256 of each."
        yield _set(folder.replace("/", "-"), [f"{folder}/*"], "image/jpeg", says)


def _set(name: str, includes: list[str], form: str, says: str) -> dict:
    named = {"@type": "cr:FileSet", "@id": name, "name": name, "description": says}
    return {**named, "encodingFormat": form, "includes": includes}


# The RAI extension: facts that only the producer knows, and what the numbers show


def _responsible_ai(facts: Facts) -> dict:
    """Return the extension's fields that are not empty."""
    found = {**_collection(facts), **_annotation(facts), **_use(facts)}
    return {f"rai:{name}": value for name, value in found.items() if value}


def _collection(facts: Facts) -> dict:
    """Return the collection. The specification and `mlcroissant` spell two names differently, so both are written."""
    counts = facts.manifest["counts"]
    missing = "Of {imported:,} items, {dropped:,} were dropped, {not_asked:,} not asked about, {open:,} not decided."
    return {
        "dataCollection": facts.stated("collection"),
        "dataCollectionType": ["Manual Human Curator"] if facts.people > facts.simulated else [],
        "dataCollectionMissingData": missing.format_map(counts) if counts["imported"] else "",
        "dataCollectionRawData": _raw_data(facts),
        **dict.fromkeys(("dataCollectionTimeframe", "dataCollectionTimeFrame"), _days(facts.stated("timeframe"))),
        "dataPreprocessingProtocol": list(filter(None, [facts.stated("preprocessing")])),
        "dataImputationProtocol": IMPUTED,
        **dict.fromkeys(("dataManipulationProtocol", "dataDataManipulationProtocol"), _changes(facts)),
    }


def _raw_data(facts: Facts) -> str:
    images = f"; {facts.rows('images.jsonl'):,} images, with their files and licences in images.jsonl"
    return (
        f"{facts.rows('judgments.parquet'):,} rows of judgments.parquet: every judgment and each revision of it"
        f"{images if facts.licences else ''}. The material is the benchmark {facts.manifest['study']['benchmark']}."
    )


def _changes(facts: Facts) -> str:
    """Describe what happened to the material since its import."""
    changed = sum("imported" in one for line in facts.files.lines("items.jsonl") for one in line["captions"])
    return (
        f"Captions of kept items that annotators changed: {changed:,} (items.jsonl has the imported texts, texts.jsonl "
        f"every revision). Corrections after the import: {facts.rows('corrections.jsonl'):,} (corrections.jsonl)."
    )


def _days(text: str) -> list[str]:
    """Return the dates in a text, as 2026-01-31; Croissant takes only dates."""
    found = []
    for day in DAY.findall(text):
        with suppress(ValueError):
            found.append(date.fromisoformat(day).isoformat())
    return found


def _annotation(facts: Facts) -> dict:
    simulated = f"{facts.simulated:,} simulated annotators" if facts.simulated else ""
    stages = [f"{stage['name']}: {stage_in_words(facts, stage)}" for stage in facts.stages]
    return {
        "dataAnnotationProtocol": [*stages, *filter(None, [facts.stated("ethics")])],
        "dataAnnotationPlatform": list(filter(None, [f"Winnow {facts.manifest['version']}", facts.stated("platform")])),
        "dataAnnotationAnalysis": [*agreement_in_words(facts), *results_in_words(facts)],
        "annotationsPerItem": judgments_per_item(facts),
        "annotatorDemographics": [annotators_in_words(facts), *filter(None, [facts.stated("demographics")])],
        "machineAnnotationTools": [simulated] if simulated else [],
    }


def _use(facts: Facts) -> dict:
    words = {"dataBiases": "biases", "dataUseCases": "use", "personalSensitiveInformation": "sensitive"}
    stated = {field: [facts.stated(word)] for field, word in words.items() if facts.stated(word)}
    one = {"dataSocialImpact": facts.stated("social_impact"), "dataReleaseMaintenancePlan": facts.stated("maintenance")}
    return stated | one | {"dataLimitations": limits_in_words(facts)}


# The record sets: the rows of every table, field by field. Lists of objects are fields with sub-fields, read by JSON
# path. Objects whose names differ from row to row have no type in Croissant: the description of their record set names
# them.


def _record_sets(facts: Facts, schema: pa.Schema, tables: Mapping[str, list[Column]]) -> list[dict]:
    """Return the splits and their rows, then each table."""
    found = [_splits(facts), _data(facts, schema)] if facts.loadable else []
    return found + [_table(TABLES[name], columns) for name, columns in tables.items()]


def _splits(facts: Facts) -> dict:
    named = f"{SPLITS}/name"
    return {
        "@type": "cr:RecordSet",
        "@id": SPLITS,
        "name": SPLITS,
        "dataType": "cr:Split",
        "description": facts.manifest["split_rule"],
        "key": {"@id": named},
        "field": [{"@type": "cr:Field", "@id": named, "name": "name", "dataType": "sc:Text"}],
        "data": [{named: name} for name in facts.loadable],
    }


def _data(facts: Facts, schema: pa.Schema) -> dict:
    parts = facts.manifest["columns"]
    split = _field(f"{DATA}/split", "split", "The item's split, from the file name.", "text")
    pattern = f"^(?:.*data/)?({'|'.join(facts.loadable)})(?:-.*parquet)?$"  # it is also applied to its own result
    split["source"] = {
        "fileSet": {"@id": SHARDS},
        "extract": {"fileProperty": "fullpath"},
        "transform": {"regex": pattern},
    }
    split["references"] = {"field": {"@id": f"{SPLITS}/name"}}
    key = [name for name, part in parts.items() if part == "key"]
    return {
        "@type": "cr:RecordSet",
        "@id": DATA,
        "name": DATA,
        "description": "The kept items.",
        **({"key": {"@id": f"{DATA}/{key[0]}"}} if key else {}),
        "field": [split, *(_cell(column, parts.get(column.name, ""), _kind(schema, column)) for column in schema)],
    }


def _cell(column: pa.Field, part: str, kind: str) -> dict:
    field = _field(f"{DATA}/{column.name}", column.name, part_in_words(part), kind)
    field["source"] = {"fileSet": {"@id": SHARDS}, "extract": {"column": column.name}}
    if column.type == IMAGE:
        field["source"]["transform"] = {"jsonPath": "bytes"}
    return field


def _kind(schema: pa.Schema, column: pa.Field) -> str:
    if column.type == IMAGE:
        return "image" if feature_of(schema, column.name).get("_type") == "Image" else "video"  # or both
    kind = column.type
    kinds = ((pa.types.is_boolean, "boolean"), (pa.types.is_integer, "integer"), (pa.types.is_floating, "number"))
    return next((name for fits, name in kinds if fits(kind)), "text")


def _table(table: Table, columns: Iterable[Column]) -> dict:
    columns = list(columns)
    free = list(_free(columns))
    more = f" The file may also have objects whose names differ from row to row: {', '.join(free)}." if free else ""
    key = [{"@id": f"{table.name}/{name}"} for name in table.key if name in {column.name for column in columns}]
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"{table.says}{more}",
        **({"key": key if len(key) > 1 else key[0]} if key else {}),
        "field": [_table_field(table, column) for column in columns if column.kind != "object"],
    }


def _free(columns: Iterable[Column], within: str = "") -> Iterator[str]:
    for column in columns:
        if column.kind == "object":
            yield f"{within}{column.name}"
        yield from _free(column.of, f"{column.name}.")


def _table_field(table: Table, column: Column) -> dict:
    name = f"{table.name}/{column.name}"
    source = {"fileObject": {"@id": table.file}, "extract": {"column": column.name}}
    if column.kind != "objects":
        return {**_field(name, column.name, column.says, column.kind), "source": source}
    field = {"@type": "cr:Field", "@id": name, "name": column.name, "description": column.says, "repeated": True}
    return {**field, "subField": [_sub_field(name, part, source) for part in column.of if part.kind != "object"]}


def _sub_field(name: str, part: Column, source: Mapping) -> dict:
    field = _field(f"{name}/{part.name}", part.name, part.says, part.kind)
    return {**field, "source": {**source, "transform": {"jsonPath": part.name}}}


def _field(id: str, name: str, says: str, kind: str) -> dict:
    many = {"repeated": True} if kind in LISTS else {}
    return {"@type": "cr:Field", "@id": id, "name": name, "description": says, "dataType": TYPES[kind], **many}
