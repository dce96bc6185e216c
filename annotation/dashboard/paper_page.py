"""The study page's block of what a stage's paper reports: its words, its template, and its bars. Pure."""

from itertools import zip_longest

from annotation.charts import bars
from annotation.protocols.base import Answer, Protocol
from benchmarks.views.plots import panels

CRITERIA = {"sense": "commonsense", "fluency": "grammar"}  # the paper's names
EDITS = ("Texts and edits", "dashboard/_paper_edits.html")
BLOCKS = {
    "visla-paraphrase": EDITS,
    "visla-triplet": EDITS,
    "hard-positive-rank": ("Both positives above the negative", "dashboard/_paper_rank.html"),
    "sugarcrepe-compare": ("Better, by origin", "dashboard/_paper_compare.html"),
}


def block(protocol: Protocol, figures: dict) -> dict:
    """What the page shows under `paper`; {} for a stage whose paper reports no more than the other blocks do."""
    if "paper" not in figures:
        return {}
    title, template = BLOCKS[protocol.name]
    paper = figures["paper"]
    return {"paper": paper, "paper_title": title, "paper_template": template, **drawn(protocol, paper)}


def drawn(protocol: Protocol, paper: dict) -> dict:
    """What its template needs beside the figures."""
    if "fates" in paper:
        holds = paper.get("holds", ())
        return {
            "fate_bars": list(bars.fate_bars(paper["fates"])),
            "edit_rows": [row | {"spreads": [row["characters"], row["words"]]} for row in paper["edits"]],
            "guideline_rows": [one | two for one, two in zip_longest(paper["broken"], holds, fillvalue={})],
            "likeness_panels": panels(paper["lexical"]),
        }
    if "orders" in paper:
        say = protocol.form.describe
        orders = [row | {"words": say(Answer(row["order"]))} for row in paper["orders"]]
        return {"order_rows": orders, "order_bars": list(bars.order_bars(orders))}
    rows, whole = ([row | {"words": CRITERIA[row["criterion"]]} for row in paper[part]] for part in ("rows", "all"))
    return {"compare_rows": rows, "compare_whole": whole, "compare_bars": list(bars.compare_bars(rows))}
