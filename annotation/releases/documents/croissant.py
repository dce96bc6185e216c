"""croissant.json: what is in a release, for machines, in the vocabulary of Croissant 1.0 and its RAI extension. Pure.

Without a time of day: the date is that of the last judgment, if that is public.
"""

import re
from collections.abc import Iterator, Mapping

import pyarrow as pa

from annotation.releases.documents import croissant_records, responsible
from annotation.releases.documents.facts import Facts
from annotation.releases.documents.front import TAGS
from annotation.releases.documents.tables import Column

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
}
MANY = re.compile(r"(imagefolder/[^/]+/images)/.+")  # files that stand as a set: their hashes are in the manifest
SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")


def croissant(
    facts: Facts, schema: pa.Schema, tables: Mapping[str, list[Column]], files: Mapping[str, Mapping]
) -> dict:
    """`files` has every file but this one and the manifest, with `sha256` and `bytes`."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": facts.plan.name,
        "description": facts.said("summary") or f"{facts.title}, a validated split of {facts.items:,} items.",
        "version": semantic(facts.plan.version),
        **_stated(facts),
        **responsible.fields(facts),
        "distribution": [*_objects(files), *_sets(facts, files)],
        "recordSet": croissant_records.record_sets(facts, schema, tables),
    }


def _stated(facts: Facts) -> dict:
    """Only what the producer stated, or what can be read off the judgments."""
    authors = [name.strip() for name in facts.said("authors").split(";") if name.strip()]
    last = facts.manifest.get("last_judgment_at")
    found = {
        "license": address(facts.said("licence")),
        "citeAs": facts.said("citation"),
        "inLanguage": facts.said("language"),
        "creator": [{"@type": "sc:Person", "name": name} for name in authors],
        "datePublished": last[:10] if last else "",
        "keywords": list(TAGS),
    }
    return {name: value for name, value in found.items() if value}


def address(licence: str) -> str:
    """Of an SPDX identifier where its text stands; other words as they are."""
    return f"https://spdx.org/licenses/{licence}.html" if SPDX.fullmatch(licence) else licence


def semantic(version: str) -> str:
    """Three numbers: 1.0 is 1.0.0."""
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
                "encodingFormat": kind(name),
                "sha256": file["sha256"],
            }


def _sets(facts: Facts, files: Mapping[str, Mapping]) -> Iterator[dict]:
    """The shards of the splits, which record sets read together, and folders of images."""
    if facts.loadable:
        yield _set(croissant_records.SHARDS, ["data/*.parquet"], KINDS[".parquet"], "The splits, in shards.")
    for folder in sorted({found[1] for name in files if (found := MANY.fullmatch(name))}):
        says = "Images; manifest.json has the SHA-256 of each."
        yield _set(folder.replace("/", "-"), [f"{folder}/*"], "image/jpeg", says)


def _set(name: str, includes: list[str], form: str, says: str) -> dict:
    named = {"@type": "cr:FileSet", "@id": name, "name": name, "description": says}
    return {**named, "encodingFormat": form, "includes": includes}


def kind(name: str) -> str:
    return next((kind for ending, kind in KINDS.items() if name.endswith(ending)), "application/octet-stream")
