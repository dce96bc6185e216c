"""How items were judged and what came of it, in sentences and tables, from the settings and figures. Pure."""

from collections.abc import Iterator, Mapping

from annotation.exports.setup_wording import in_words
from annotation.protocols.registry import PROTOCOLS
from annotation.releases.documents import markdown
from annotation.releases.documents.facts import Facts, reason
from annotation.releases.documents.markdown import decimal, interval, percent, text


def stages(facts: Facts) -> list[str]:
    """What each asked, of which items, and by which rule; plain words, not Markdown."""
    return [f"{stage['name']}: {asked(stage)}" for stage in facts.stages]


def asked(stage: Mapping) -> str:
    protocol = PROTOCOLS[stage["protocol"]]
    items = next(line["says"] for line in in_words(stage) if line["name"] == "Items")
    return f"“{protocol.question}” Asked of: {_small(items)}. {rule(stage)}"


def rule(stage: Mapping) -> str:
    """How a judgment becomes an outcome, and which outcomes drop an item."""
    decided = stage["decision_rule"].partition("; dropped are ")[0].partition("; nothing is dropped")[0].strip(".")
    decided = decided.replace(" (tie_unresolved)", "").replace("_", " ")
    if stage["measures"]:
        return f"{_judgments(stage)}. Answers are scored; no item is dropped."
    drops = "; ".join(f"{_option(answer)} ({reason(why)})" for answer, why in sorted(stage["drops"].items()))
    return f"{_capital(decided)}." + (f" These outcomes drop an item: {drops}." if drops else "")


def _judgments(stage: Mapping) -> str:
    return f"Judgments: {next(line['says'] for line in in_words(stage) if line['name'] == 'Judgments')}"


def _option(answer: str) -> str:
    return {"candidate": "a generated image", "negative": "the negative image"}.get(answer, answer.replace("_", " "))


def _small(words: str) -> str:
    return words[:1].lower() + words[1:]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def funnel(facts: Facts) -> str:
    """From imported to kept."""
    rows = [
        [text(row["name"]), *(f"{row[name]:,}" for name in ("entered", "kept", "dropped", "open"))]
        for row in facts.funnel.get("stages", ())
    ]
    return markdown.table(["Stage", "Items in", "Kept", "Dropped", "Open"], rows) if rows else ""


def dropped(facts: Facts) -> str:
    rows = [
        [text(row["name"]), text(reason(row["reason"])), f"{row['items']:,}", percent(row["share"])]
        for row in facts.manifest["counts"]["reasons"]
    ]
    return markdown.table(["Stage", "Dropped because", "Items", "Of those imported"], rows, right=2) if rows else ""


def agreement(facts: Facts) -> str:
    """Of each stage on each view of its answers where two people judged the same."""
    rows = [_coefficients(name, found) for name, found in _agreed(facts) if found["percent"]["n"]]
    head = ["Stage", "Compared on", "Same answer", "Pairs of judgments", "Mean Cohen's κ", "Pairs of people",
            "Krippendorff's α", "95 % interval", "Tasks"]  # fmt: skip
    return markdown.table(head, rows, right=2) if rows else ""


def _agreed(facts: Facts) -> Iterator[tuple[str, Mapping]]:
    for stage in facts.figures.get("stages", ()):
        for found in stage.get("agreement", ()):
            yield stage["study"]["stage_name"], found


def _coefficients(name: str, found: Mapping) -> list[str]:
    kappa, alpha = found["kappa_mean"], found["alpha"]
    share = found["percent"]
    return [
        text(name), text(found["on"]), percent(share["value"]), f"{share['n']:,}", decimal(kappa["value"]),
        f"{kappa['pairs']:,}", decimal(alpha["value"]), interval(alpha["interval"]), f"{alpha['n']:,}",
    ]  # fmt: skip


def not_shared(facts: Facts) -> list[str]:
    """Stages in which no task has two counted judgments."""
    found: dict[str, int] = {}
    for name, row in _agreed(facts):
        found[name] = found.get(name, 0) + row["percent"]["n"]
    return [name for name, n in found.items() if not n]


def agreement_said(facts: Facts) -> list[str]:
    """The same in sentences, for machines."""
    return [
        f"Stage {name}, on {found['on']}: {_in_words(found['percent'], found['kappa_mean'], found['alpha'])}"
        for name, found in _agreed(facts)
        if found["percent"]["n"]
    ]


def _in_words(share: Mapping, kappa: Mapping, alpha: Mapping) -> str:
    return (
        f"percent agreement {percent(share['value'])} (pairs of judgments: {share['n']:,}); mean Cohen's kappa "
        f"{decimal(kappa['value'])} (pairs of annotators: {kappa['pairs']:,}); Krippendorff's alpha "
        f"{decimal(alpha['value'])}, 95 % interval {interval(alpha['interval'])} (tasks: {alpha['n']:,})."
    )


def per_item(facts: Facts) -> str:
    """How many judgments the tasks of each stage were to get."""
    said = []
    for stage in facts.stages:
        line = f"{stage['name']}: {stage['overlap']}"
        if stage.get("agreement_items"):
            line += f", {stage['agreement_overlap']} on {stage['agreement_items']:,} items drawn for agreement"
        said.append(line + (f", up to {stage['cap']}" if stage.get("cap") else ""))
    return "; ".join(said)


def simulated(facts: Facts) -> str:
    return f"{facts.simulated:,} of {facts.people:,} annotators are programs, not people: this is a trial."


def limits(facts: Facts) -> Iterator[str]:
    """What the figures themselves say against the split; plain words."""
    counts = facts.manifest["counts"]
    if facts.simulated:
        yield simulated(facts)
    if counts["open"]:
        yield f"{counts['open']:,} of {counts['imported']:,} items are not decided yet. They are in no split."
    single = [stage["name"] for stage in facts.stages if stage["name"] in not_shared(facts)]
    if single:
        yield f"No two annotators judged the same in: {', '.join(single)}. Agreement there is unknown."
    without = dict(facts.licences).get("", 0)
    if without:
        yield f"No licence is known of {without:,} of {sum(dict(facts.licences).values()):,} images."
