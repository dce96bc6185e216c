"""The results that the paper of a stage's protocol reports, for the study page and the report."""

from itertools import zip_longest

from annotation.charts import bars
from annotation.protocols.base import Answer, Protocol
from benchmarks.views.likeness import panels

CRITERIA = {"sense": "commonsense", "fluency": "grammar"}  # the paper's names
EDITS = ("Texts and edits", "dashboard/_paper_edits.html")
PAPERS = {
    "visla-paraphrase": EDITS,
    "visla-triplet": EDITS,
    "hard-positive-rank": ("Both positives above the negative", "dashboard/_paper_rank.html"),
    "sugarcrepe-compare": ("Better, by origin", "dashboard/_paper_compare.html"),
}


def paper_block(protocol: Protocol, figures: dict) -> dict:
    """Return the page's `paper` block; {} if the stage's paper has nothing beyond the other blocks."""
    if "paper" not in figures:
        return {}
    title, template = PAPERS[protocol.name]
    paper = figures["paper"]
    return {"paper": paper, "paper_title": title, "paper_template": template, **_drawn_paper(protocol, paper)}


def _drawn_paper(protocol: Protocol, paper: dict) -> dict:
    """Return what its template needs besides the numbers."""
    if "fates" in paper:
        none: dict = {}
        guidelines = zip_longest(paper["broken"], paper.get("holds", ()), fillvalue=none)
        return {
            "fate_bars": list(bars.fate_bars(paper["fates"])),
            "edit_rows": [row | {"spreads": [row["characters"], row["words"]]} for row in paper["edits"]],
            "guideline_rows": [broken | holds for broken, holds in guidelines],
            "likeness_panels": panels(paper["lexical"]),
        }
    if protocol.form and "orders" in paper:
        orders = [row | {"words": protocol.form.describe(Answer(row["order"]))} for row in paper["orders"]]
        return {"order_rows": orders, "order_bars": list(bars.order_bars(orders))}
    rows, whole = ([row | {"words": CRITERIA[row["criterion"]]} for row in paper[part]] for part in ("rows", "all"))
    return {"compare_rows": rows, "compare_whole": whole, "compare_bars": list(bars.compare_bars(rows))}
