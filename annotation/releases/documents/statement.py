"""data_statement.md: who and what is behind the data, after the headings of Bender and Friedman (2018). Pure."""

from collections.abc import Iterator

from annotation.releases.documents import counted, judged, people
from annotation.releases.documents.facts import UNKNOWN, Facts
from annotation.releases.documents.markdown import bullets, paragraphs, sentence, text

ABOUT = (
    "After E. M. Bender and B. Friedman, Data Statements for Natural Language Processing, TACL 6, 2018. What nobody "
    "has stated is said to be not stated."
)


def statement(facts: Facts) -> str:
    sections = {
        "Why this selection": _rationale(facts),
        "Language": _said(facts, "language"),
        "Whose words and images": _said(facts, "collection"),
        "Annotators": _annotators(facts),
        "How it was annotated": _process(facts),
        "Text and images": _material(facts),
        "Personal or sensitive material": _said(facts, "sensitive"),
        "Provenance": _provenance(facts),
        "Limits": _limits(facts),
    }
    body = [part for name, parts in sections.items() for part in [f"## {name}", *filter(None, parts)]]
    return "\n\n".join([f"# Data statement of {text(facts.title)}", ABOUT, *body]) + "\n"


def _said(facts: Facts, word: str) -> Iterator[str]:
    yield paragraphs(facts.said(word)) or sentence(UNKNOWN)


def _rationale(facts: Facts) -> Iterator[str]:
    counts = facts.manifest["counts"]
    yield from _said(facts, "summary")
    yield (
        f"The data hold what was kept: {counts['kept']:,} of {counts['imported']:,} items. {counts['dropped']:,} "
        "were dropped, by the rules below."
    )


def _annotators(facts: Facts) -> Iterator[str]:
    yield sentence(people.count(facts))
    words = {"What is known of them": "demographics", "Platform and recruitment": "platform", "Consent": "ethics"}
    for name, word in words.items():
        yield f"**{name}.** {paragraphs(facts.said(word)) or sentence(UNKNOWN)}"
    yield f"**Pay.** {sentence(people.pay(facts))}"


def _process(facts: Facts) -> Iterator[str]:
    if facts.people > facts.simulated:
        yield "Annotators read a stage's instructions before its first screen; `manifest.json` has them word for word."
    yield bullets(map(text, judged.stages(facts)), numbered=True)
    yield judged.agreement(facts)
    gone = list(people.excluded(facts))
    yield "Excluded were:" if gone else "Nobody was excluded."
    yield bullets(gone)


def _material(facts: Facts) -> Iterator[str]:
    whole = facts.statistics["whole"]
    yield f"{whole['captions']:,} captions and {whole['images']:,} images of {whole['items']:,} items."
    if whole["items"]:
        yield counted.lengths(facts.statistics)
        yield "Retrieval questions (an item with two captions and two images makes four) by type and subtype:"
        yield counted.by_type(facts.statistics, facts.splits)
    licences = "; ".join(f"{text(name) or UNKNOWN} ({images:,})" for name, images in facts.licences)
    yield f"Licences of the images: {licences}." if licences else ""


def _provenance(facts: Facts) -> Iterator[str]:
    study = facts.manifest["study"]
    yield (
        f"Version {facts.plan.version}, out of the study {text(study['name'])} over the benchmark "
        f"{text(study['benchmark'])}, made with Winnow {text(facts.manifest['version'])}."
    )
    yield f"**Made by.** {text(facts.said('authors')) or sentence(UNKNOWN)}"
    yield f"**Licence of the annotations.** {text(facts.said('licence')) or sentence(UNKNOWN)}"


def _limits(facts: Facts) -> Iterator[str]:
    yield from _said(facts, "biases")
    yield bullets(map(text, judged.limits(facts)))
