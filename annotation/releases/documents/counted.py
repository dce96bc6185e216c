"""Tables of what is in a release, from its statistics. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from annotation.releases.documents import markdown

TYPES, SUBTYPES = ("replace", "swap", "add"), ("obj", "att", "rel")
TABLE_ONE = [(kind, subtype) for kind in TYPES for subtype in SUBTYPES]  # the order of BiVLC's Table 1
USUAL = [kind for kind in TABLE_ONE if kind not in (("swap", "rel"), ("add", "rel"))]
MARKS = {True: "✓", False: ""}


def splits(statistics: Mapping, names: Sequence[str]) -> str:
    """Items, images, captions and questions of each split."""
    rows = [(f"`{name}`", statistics["splits"].get(name, {})) for name in names]
    if len(rows) > 1:
        rows.append(("all", statistics["whole"]))
    head = ["Split", "Items", "Images", "Captions", "Retrieval questions", "Image to text", "Text to image"]
    keys = ("items", "images", "captions", "questions", "image_to_text", "text_to_image")
    return markdown.table(head, ([name, *(f"{cell.get(key, 0):,}" for key in keys)] for name, cell in rows))


def by_type(statistics: Mapping, names: Sequence[str]) -> str:
    """Retrieval questions by type and subtype as BiVLC's Table 1 has them; where there are others, a plain table."""
    there = {(row["type"], row["subtype"]) for row in statistics["types"]}
    return _table_one(statistics, names, there) if there and there <= set(TABLE_ONE) else _plain(statistics)


def _table_one(statistics: Mapping, names: Sequence[str], there: set[tuple[str, str]]) -> str:
    kinds = [kind for kind in TABLE_ONE if kind in there or kind in USUAL]
    head = ["", "I2T", "T2I", *(f"{kind.upper()} {subtype.upper()}" for kind, subtype in kinds), "Total"]
    return markdown.table(head, _rows(statistics, names, kinds))


def _rows(statistics: Mapping, names: Sequence[str], kinds: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    found = {(row["split"], row["type"], row["subtype"]): row["questions"] for row in statistics["rows"]}
    for name in (name for name in names if name in statistics["splits"]):
        yield _row(f"`{name}`", statistics["splits"][name], [found.get((name, *kind), 0) for kind in kinds])
    if len(statistics["splits"]) > 1:
        whole = {(row["type"], row["subtype"]): row["questions"] for row in statistics["types"]}
        yield _row("all", statistics["whole"], [whole.get(kind, 0) for kind in kinds])


def _row(name: str, cell: Mapping, counts: Sequence[int]) -> list[str]:
    marks = [MARKS[cell["image_to_text"] > 0], MARKS[cell["text_to_image"] > 0]]
    return [name, *marks, *(f"{count:,}" if count else "" for count in counts), f"{cell['questions']:,}"]


def _plain(statistics: Mapping) -> str:
    rows = (
        [markdown.text(row["type"]), markdown.text(row["subtype"]), f"{row['items']:,}", f"{row['questions']:,}"]
        for row in statistics["types"]
    )
    return markdown.table(["Type", "Subtype", "Items", "Retrieval questions"], rows, right=2)


def lengths(statistics: Mapping) -> str:
    """Of the captions by role, in words."""
    found = statistics["whole"]["captions_by_role"].items()
    rows = (
        [role.replace("_", " "), f"{cell['captions']:,}", f"{cell['words']['mean']:.1f}", cell["words"]["min"],
         cell["words"]["max"], f"{cell['characters']['mean']:.1f}"]
        for role, cell in found
    )  # fmt: skip
    return markdown.table(["Role", "Captions", "Words, mean", "Words, fewest", "Words, most", "Characters, mean"], rows)
