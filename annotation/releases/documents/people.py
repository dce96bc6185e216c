"""Who judged, who was excluded and what was paid, in words. Pure."""

from collections.abc import Iterator

from annotation.releases.documents.facts import UNKNOWN, Facts
from annotation.releases.documents.markdown import text

TIMES = "times"  # the part of what is public that pay belongs to


def count(facts: Facts) -> str:
    """Plain words."""
    people = facts.people - facts.simulated
    if facts.simulated and not people:
        return f"Nobody: {facts.simulated:,} programs stood in for people"
    programs = f"; {facts.simulated:,} more were programs that stand in for people" if facts.simulated else ""
    return f"{people:,} annotator{'' if people == 1 else 's'}{programs}"


def excluded(facts: Facts) -> Iterator[str]:
    """A line of Markdown for each."""
    for one in facts.manifest.get("exclusions", ()):
        judgments = f" ({one['judgments']:,} judgments)" if "judgments" in one else ""
        yield f"{text(one['annotator'])}{judgments}: {text(one['reason'] or 'no reason given')}"


def pay(facts: Facts) -> str:
    """Plain words."""
    study = facts.manifest["study"]
    if facts.people and facts.people == facts.simulated:
        return "nobody was paid, since no people judged"
    rate, currency = study.get("pay_per_hour"), study.get("currency", "")
    if rate is None:
        return "not published" if TIMES not in facts.plan.public else UNKNOWN
    if not rate:
        return UNKNOWN
    costs = [stage["cost"].get("cost") for stage in facts.figures.get("stages", ()) if stage.get("cost")]
    paid = f", {sum(filter(None, costs)):,.2f} {currency} in all" if any(costs) else ""
    return f"{rate:,.2f} {currency} an hour of active time{paid}"
