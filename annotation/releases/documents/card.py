"""README.md of a release: the dataset card, in the order in which a reader asks. Pure."""

from collections.abc import Iterator

from annotation.releases.documents import counted, judged, markdown, measured, people
from annotation.releases.documents.facts import UNKNOWN, Facts
from annotation.releases.documents.front import JUDGMENTS, ROWS, front
from annotation.releases.documents.markdown import bullets, code, paragraphs, sentence, text
from annotation.releases.documents.tables import TABLES
from annotation.releases.plan import PUBLIC

QUESTIONS = (
    "A retrieval question is one image with a positive and a negative caption to tell apart, or one caption with two "
    "images."
)
TABLE_ONE = "Retrieval questions by type and subtype, in the layout of Table 1 of BiVLC (Miranda et al., 2024):"
AGREEMENT = (
    "Of tasks that two or more annotators judged. κ is averaged over pairs of annotators; the interval is that of α, "
    "from drawing tasks again (bootstrap)."
)
FOLDERS = {
    "data": "the kept items with their images, in parquet shards",
    "jsonl": "the same items as lines of JSON, without image bytes",
    "csv": "the same items as CSV, once plain and once for spreadsheets",
    "imagefolder": "the same items as image files with a metadata.jsonl",
    "webdataset": "the same items as tar shards",
    "source": "the kept items in the layout of the files that they were imported from",
}
OTHERS = {
    "croissant.json": "this release for machines, in Croissant 1.0",
    "data_statement.md": "who and what is behind the data",
    "figures.json": "the figures behind this page",
    "statistics.json": "the counts of this page and more, computed from `items.jsonl`",
    "release.json": "the plan, exclusions, and the settings and instructions of each stage",
    "manifest.json": "the same, with hash (SHA-256), size and rows of each file",
}


def card(facts: Facts) -> str:
    sections = {
        "How to load it": _loading(facts),
        "What is in it": _inside(facts),
        "How it was validated": _validated(facts),
        "Agreement": _agreement(facts),
        "Human figures": _measured(facts),
        "Annotators": _annotators(facts),
        "Images and licences": _licences(facts),
        "Uses and limits": _limits(facts),
        "Files": _files(facts),
        "How to cite": _cite(facts),
    }
    body = [f"## {name}\n\n{_joined(parts)}" for name, parts in sections.items()]
    return "\n\n".join([front(facts), _joined(_head(facts)), *body]) + "\n"


def _joined(parts: Iterator[str]) -> str:
    return "\n\n".join(filter(None, parts))


def _head(facts: Facts) -> Iterator[str]:
    counts = facts.manifest["counts"]
    yield f"# {text(facts.title)}"
    yield paragraphs(facts.said("summary")) or f"Summary: {UNKNOWN}."
    opened = f" Not decided yet, and in no split: {counts['open']:,}." if counts["open"] else ""
    yield (
        f"{counts['imported']:,} items are in the benchmark {text(facts.manifest['study']['benchmark'])}; "
        f"{counts['kept']:,} were kept and {counts['dropped']:,} dropped.{opened}"
    )
    for warning in facts.manifest.get("warnings", ()):
        yield f"**Warning.** {text(warning)}"
    if facts.simulated:
        yield f"**Warning.** {judged.simulated(facts)}"
    yield bullets(_stated(facts))


def _stated(facts: Facts) -> Iterator[str]:
    words = {
        "Licence of the annotations": "licence",
        "Language": "language",
        "Made by": "authors",
        "Contact": "contact",
    }
    for name, word in words.items():
        yield f"{name}: {text(facts.said(word)) or UNKNOWN}"


def _loading(facts: Facts) -> Iterator[str]:
    lines = ["from datasets import load_dataset", ""]
    lines += [f'{name} = load_dataset("path/to/this/folder", split="{name}")' for name in facts.loadable]
    if facts.loadable and facts.rows(JUDGMENTS):
        lines.append(f'judgments = load_dataset("path/to/this/folder", "judgments", split="{ROWS}")')
    lines.append('items = load_dataset("json", data_files="path/to/this/folder/items.jsonl")["train"]')
    yield code("\n".join(lines), "python")
    yield "The other `.jsonl` tables load as `items.jsonl` does; its split is called train by the loader alone."


def _inside(facts: Facts) -> Iterator[str]:
    yield counted.splits(facts.statistics, facts.splits)
    yield QUESTIONS
    table = counted.by_type(facts.statistics, facts.splits)
    if facts.statistics["types"]:
        yield TABLE_ONE if "I2T" in table.partition("\n")[0] else "By type and subtype:"
        yield table
        yield "Captions and their lengths:"
        yield counted.lengths(facts.statistics)
    yield f"**Splits.** {text(facts.manifest['split_rule'])}"
    if moved := facts.manifest.get("moved"):
        yield f"{len(moved):,} items are in another split than in the version before; `manifest.json` names them."
    yield f"**Where it comes from.** {paragraphs(facts.said('collection')) or sentence(UNKNOWN)}"


def _validated(facts: Facts) -> Iterator[str]:
    yield bullets((f"**{text(stage['name'])}**. {text(judged.asked(stage))}" for stage in facts.stages), numbered=True)
    if table := judged.funnel(facts):
        yield "What became of the items in each stage:"
        yield table
    if table := judged.dropped(facts):
        yield "Why items were dropped:"
        yield table
    yield from measured.fates(facts)


def _agreement(facts: Facts) -> Iterator[str]:
    if table := judged.agreement(facts):
        yield AGREEMENT
        yield table
    if alone := judged.not_shared(facts):
        yield f"No two annotators judged the same in: {', '.join(map(text, alone))}."


def _measured(facts: Facts) -> Iterator[str]:
    found = list(measured.parts(facts))
    yield from found
    yield "" if found else "None in this release."


def _annotators(facts: Facts) -> Iterator[str]:
    yield f"**Who judged.** {sentence(people.count(facts))}"
    rows = {
        "What is known of them": "demographics",
        "Platform and recruitment": "platform",
        "Consent and ethics": "ethics",
    }
    for name, word in rows.items():
        yield f"**{name}.** {paragraphs(facts.said(word)) or sentence(UNKNOWN)}"
    yield f"**Pay.** {sentence(people.pay(facts))}"
    gone = list(people.excluded(facts))
    yield "**Excluded.** " + ("What they judged is kept and does not count:" if gone else "Nobody.")
    yield bullets(gone)


def _licences(facts: Facts) -> Iterator[str]:
    if facts.licences:
        rows = ([text(name) or UNKNOWN, f"{images:,}"] for name, images in facts.licences)
        yield markdown.table(["Licence of the image, as imported", "Images"], rows)
        yield "`images.jsonl` has the licence and the attribution of each image by its SHA-256."
    else:
        yield "There are no images in this release."
    yield f"**Personal or sensitive material.** {paragraphs(facts.said('sensitive')) or sentence(UNKNOWN)}"


def _limits(facts: Facts) -> Iterator[str]:
    for name, word in {"Uses": "use", "Biases and limits": "biases"}.items():
        yield f"**{name}.** {paragraphs(facts.said(word)) or sentence(UNKNOWN)}"


def _files(facts: Facts) -> Iterator[str]:
    there = [*facts.manifest["files"], *OTHERS]
    folders = {name.partition("/")[0] for name in there if "/" in name}
    rows = [(f"`{name}/`", "", says) for name, says in FOLDERS.items() if name in folders]
    tables = (table for table in TABLES.values() if table.file in there)
    rows += [(f"`{table.file}`", f"{facts.rows(table.file):,}", _small(table.says)) for table in tables]
    rows += [(f"`{name}`", "", says) for name, says in OTHERS.items() if name in there]
    yield markdown.table(["File", "Rows", "What"], rows, right=3)
    if why := facts.manifest.get("no_source"):
        yield f"There is no `source/`: {text(why)}"
    yield _hidden(facts)
    yield f"Made with Winnow {text(facts.manifest['version'])}."


def _small(says: str) -> str:
    """As a cell of a table begins and ends."""
    return f"{says[0].lower()}{says[1:].rstrip('.')}"


def _hidden(facts: Facts) -> str:
    left = [says for name, says in PUBLIC.items() if name not in facts.plan.public]
    return f"Not published: {'; '.join(left)}." if left else ""


def _cite(facts: Facts) -> Iterator[str]:
    said = facts.said("citation")
    if not said:
        yield sentence(UNKNOWN)
    else:
        yield code(said, "bibtex") if said.startswith("@") else paragraphs(said)
