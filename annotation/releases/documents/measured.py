"""What people were measured to do: the human baseline, rankings, comparisons, and what became of texts. Pure."""

from collections.abc import Iterator, Mapping

from annotation.releases.documents import markdown
from annotation.releases.documents.facts import Facts
from annotation.releases.documents.markdown import interval, percent, text

MEASURES = {
    "i2t": "I2T: both images, image to text",
    "t2i": "T2I: both captions, text to image",
    "group": "Group: all four questions",
    "i_pos2t": "given the positive image",
    "i_neg2t": "given the negative image",
    "t_pos2i": "given the positive caption",
    "t_neg2i": "given the negative caption",
}
FATES = {
    "accepted": "taken as they were",
    "confirmed": "edited and confirmed",
    "edited": "edited",
    "dropped": "dropped",
    "open": "open",
    "to_confirm": "waiting for a second annotator",
    "to_adjudicate": "waiting for an adjudicator",
}
SHARES = ["Right", "Of", "Share", "95 % interval"]


def parts(facts: Facts) -> Iterator[str]:
    """In Markdown: of each what it rests on, then its table."""
    for one in facts.figures.get("baselines", ()):
        if one["answered"]:
            yield _rests(one)
            yield markdown.table(["Measure", *SHARES, "Chance"], _measured(one["measures"]))
    for name, paper in _papers(facts, "hard-positive-rank"):
        yield f"Items on which every judgment ranked both positive captions above the negative one, in {text(name)}:"
        yield markdown.table(["Type", "Subtype", *SHARES], _ranked(paper), right=2)
    for name, paper in _papers(facts, "sugarcrepe-compare"):
        yield f"Which of two negative captions was better, in judgments, in {text(name)}:"
        head = ["Type", "By", *map(text, paper["origins"]), "Neither", "Judgments"]
        yield markdown.table(head, _compared(paper), right=2)


def _papers(facts: Facts, protocol: str) -> Iterator[tuple[str, Mapping]]:
    """Of the stages of that protocol: name and what its paper reports, where there are judgments."""
    for stage in facts.figures.get("stages", ()):
        found = stage.get("paper")
        if found and stage["study"]["protocol"] == protocol and found.get("n", found.get("judgments")):
            yield stage["study"]["stage_name"], found


def _rests(one: Mapping) -> str:
    names = " and ".join(text(stage["name"]) for stage in one["stages"])
    return f"Human baseline: {one['answered']:,} of {one['questions']:,} questions were answered, in {names}."


def _shares(found: Mapping) -> list[str]:
    return [f"{found['right']:,}", f"{found['n']:,}", percent(found["share"]), interval(found, percent)]


def _measured(measures: Mapping) -> Iterator[list[str]]:
    for name, says in MEASURES.items():
        if found := measures.get(name):
            yield [says, *_shares(found), percent(found["chance"])]


def _ranked(paper: Mapping) -> Iterator[list[str]]:
    yield ["all", "", *_shares(paper)]
    for row in paper["by_type"]:
        yield [text(row["type"]), text(row["subtype"] or ""), *_shares(row)]


def _compared(paper: Mapping) -> Iterator[list[str]]:
    for row in [*paper["all"], *paper["rows"]]:
        counts = [*row["better"], row["tie"], row["n"]]
        yield [text(row["type"]) or "all", text(row["criterion"]), *(f"{count:,}" for count in counts)]


def fates(facts: Facts) -> Iterator[str]:
    """What became of texts that annotators could change, a line of Markdown a stage."""
    for stage in facts.figures.get("stages", ()):
        if found := stage.get("paper", {}).get("fates"):
            said = ", ".join(f"{found[name]:,} {says}" for name, says in FATES.items() if found.get(name))
            yield f"Texts in {text(stage['study']['stage_name'])}: {said}." if said else ""


def sentences(facts: Facts) -> Iterator[str]:
    """The same, for machines."""
    for one in facts.figures.get("baselines", ()):
        for name, says in MEASURES.items():
            if (found := one["measures"].get(name)) and found["n"]:
                yield f"Human baseline, {says}: {_said(found)}"
    for name, paper in _papers(facts, "hard-positive-rank"):
        yield f"Stage {name}, both positive captions ranked above the negative one: {_said(paper)}"


def _said(found: Mapping) -> str:
    return f"{found['right']:,} of {found['n']:,} items, 95 % interval {interval(found, percent)}."
