"""The words of a study's report: its set-up in sentences, what each figure is, and whose formula it is. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

STRATEGIES = {
    "pool": "whoever asks next gets the next free screen, in one random order for all",
    "batches": "in disjoint batches of {batch_size:,} items; whoever is given one keeps it to the end",
    "named": "named annotators get the items that they were assigned",
    "everyone": "each annotator judges every item, as many annotators as the overlap says",
}
TIES = {
    "drop": "the item is dropped",
    "first": "the answer that was given first wins",
    "none": "it counts as None",
    "adjudicate": "an adjudicator decides",
}
SHARES = "in the shares of types and subtypes"

# Names, what each is, and the keys of its references. `{}` of a key is taken where the study has it.
ALWAYS = (
    ("counted judgment", "the one that stands on its place now: at most one of an annotator on a task, at most as many "
     "as the overlap. Checks, answers taken back, late ones and those of excluded annotators are kept and not counted; "
     "outcomes and agreement rest on counted judgments of tasks that are live, that is, in their stage", ()),
    ("kept, dropped, open", "an item is dropped in a stage as soon as one of its tasks is, kept when all are, else "
     "open; where a later stage takes it up, that one’s word counts. Imported = kept + dropped + open", ()),
    ("count n", "what a coefficient rests on: pairs of judgments on one task (percent), pairs of annotators (mean κ), "
     "tasks with two judgments (Fleiss’ κ, α), tasks (AC1)", ()),
    ("percent agreement", "pairs of judgments on the same task with the same label, over all such pairs", ()),
    ("Cohen’s κ", "for each two annotators over the tasks that both judged; the mean is unweighted, over the pairs "
     "whose κ is defined. Over few shared tasks κ lies low: read α there", ("cohen",)),
    ("Fleiss’ κ", "defined where every task has the same number of judgments", ("fleiss",)),
    ("Krippendorff’s α", "over the tasks with two judgments or more, gaps allowed; ordinal and interval where labels "
     "are numbers", ("krippendorff",)),
    ("Gwet’s AC1", "agreement beyond that of a random label for a hard task; steady where one label is rare or "
     "frequent", ("gwet",)),
    ("95 % interval of agreement", "bootstrap: tasks are drawn again with all their judgments; percentiles, and for "
     "the mean of κ twice the mean less the percentiles", ("efron", "davison")),
    ("95 % interval of a share", "Wilson’s, z = 1.96; it takes what it counts as independent", ("wilson",)),
    ("active time", "time with the page in view, as the browser measured it, of every judgment: checks, changed, late "
     "and withdrawn ones too", ()),
    ("majority", "of an annotator: the share of tasks on which they gave what most of the others gave", ()),
    ("signs", "tests of an annotator’s answers and times against everybody else’s; they exclude nobody: a person "
     "decides", ()),
    ("fingerprint", "SHA-256 of everything in the JSON of this report but as_of and fingerprint, with sorted keys "
     "and no spaces: the same state gives the same fingerprint", ()),
)  # fmt: skip
PAID = (
    ("paid", "active time at the study’s rate", ()),
    ("pay an hour reached", "paid, over the whole time from a screen’s first painting to its answer, in view or not: "
     "what the study’s rate for active time comes to for an hour at the desk", ()),
)  # fmt: skip
OF_PROTOCOL = {
    "bivlc-choose": (
        ("any or none", "the answer with all images as one label", ("bivlc",)),
        ("by type and subtype", "the columns of BiVLC’s Table 1, which counts retrieval questions: an item with two "
         "captions and two images makes four", ("bivlc",)),
    ),
    "bivlc-disambiguate": (
        ("by type and subtype", "the columns of BiVLC’s Table 1, which counts retrieval questions: an item with two "
         "captions and two images makes four", ("bivlc",)),
    ),
    "bivlc-i2t": (
        ("human baseline", "I2T is right where both questions about an image are, T2I where both about a caption are, "
         "Group where all four are; a tie and cannot judge are not right, what is not answered is left out. Chance is "
         "that of random scores", ("bivlc", "wilson")),
    ),
    "visla-paraphrase": (
        ("texts and edits", "a sentence is taken as it is, edited, or the item is dropped; an edit stands when a "
         "second annotator gives the same words. Distances are Levenshtein’s, in characters and in words", ("visla",)),
    ),
    "visla-triplet": (
        ("texts and edits", "a triplet is valid, edited, or dropped, by the guidelines; a guideline holds in the share "
         "of the judgments that speak of it. Distances are Levenshtein’s, in characters and in words", ("visla",)),
    ),
    "hard-positive-rank": (
        ("right", "an item on which every judgment ranks both positive captions strictly above the negative one",
         ("hard-positives", "wilson")),
    ),
    "sugarcrepe-compare": (
        ("better and tie", "judgments that found the negative of one origin better by a criterion, or neither",
         ("sugarcrepe",)),
    ),
}  # fmt: skip
OF_PROTOCOL["bivlc-t2i"] = OF_PROTOCOL["bivlc-i2t"]
ESTIMATED = (
    ("Dawid and Skene", "each task’s most probable answer, with each annotator’s own errors, by expectation and "
     "maximisation over all answers of the stage", ("dawid-skene",)),
)  # fmt: skip

REFERENCES = {
    "bivlc": "Miranda, I., Salaberria, A., Agirre, E., Azkune, G. (2024). BiVLC: Extending Vision-Language "
    "Compositionality Evaluation with Text-to-Image Retrieval. NeurIPS, Datasets and Benchmarks.",
    "cohen": "Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological "
    "Measurement 20(1), 37–46.",
    "davison": "Davison, A. C., Hinkley, D. V. (1997). Bootstrap Methods and their Application, §5.2.1. Cambridge "
    "University Press.",
    "dawid-skene": "Dawid, A. P., Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates using "
    "the EM algorithm. Applied Statistics 28(1), 20–28.",
    "efron": "Efron, B., Tibshirani, R. J. (1993). An Introduction to the Bootstrap. Chapman and Hall.",
    "fleiss": "Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin "
    "76(5), 378–382.",
    "gwet": "Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high "
    "agreement. British Journal of Mathematical and Statistical Psychology 61(1), 29–48.",
    "hard-positives": "Kamath, A., Hsieh, C.-Y., Chang, K.-W., Krishna, R. (2024). The Hard Positive Truth about "
    "Vision-Language Compositionality. ECCV.",
    "krippendorff": "Krippendorff, K. (2011). Computing Krippendorff’s alpha-reliability. University of Pennsylvania.",
    "sugarcrepe": "Hsieh, C.-Y., Zhang, J., Ma, Z., Kembhavi, A., Krishna, R. (2023). SugarCrepe: Fixing Hackable "
    "Benchmarks for Vision-Language Compositionality. NeurIPS, Datasets and Benchmarks.",
    "visla": "Dumpala, S. H., Jaiswal, A., Sastry, C., Milios, E., Oore, S., Sajjad, H. (2024). VISLA Benchmark: "
    "Evaluating Embedding Sensitivity to Semantic and Lexical Alterations.",
    "wilson": "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of "
    "the American Statistical Association 22(158), 209–212.",
}


def definitions(protocols: Collection[str], rules: Collection[str], paid: bool) -> list[dict]:
    """What this study has figures of: names, words, and the numbers of its references in the list of them."""
    rows = [*ALWAYS, *(PAID if paid else ()), *(ESTIMATED if "dawid-skene" in rules else ())]
    rows += [row for name, some in OF_PROTOCOL.items() if name in protocols for row in some]
    unique = list(dict.fromkeys(rows))
    order = _cited(unique)
    return [
        {"name": name, "says": says, "cites": sorted(order.index(key) + 1 for key in keys)}
        for name, says, keys in unique
    ]


def _cited(rows: Iterable[Sequence]) -> list[str]:
    return sorted({key for _, _, keys in rows for key in keys}, key=REFERENCES.__getitem__)


def references(found: Sequence[Mapping]) -> list[str]:
    """Those that the definitions cite, by author; the first is number 1."""
    names = {row["name"] for row in found}
    rows = [*ALWAYS, *PAID, *ESTIMATED, *(row for some in OF_PROTOCOL.values() for row in some)]
    return [REFERENCES[key] for key in _cited(row for row in rows if row[0] in names)]


# A stage's set-up


def in_words(settings: Mapping) -> list[dict[str, str]]:
    """Settings (exports.readme.settings_of) as a list of what is set and what that means."""
    return [{"name": name, "says": says[0].upper() + says[1:]} for name, says in _lines(settings) if says]


def _lines(stage: Mapping) -> Iterator[tuple[str, str]]:
    yield "Items", _items(stage)
    yield "Judgments", _judgments(stage)
    yield "Decision", stage["decision_rule"]
    several = max(stage["overlap"], stage["agreement_overlap"] or 1, stage["cap"] or 1) > 1
    if several and not stage["confirms"]:
        yield "Ties", TIES[stage["tie_rule"]]
    yield "Who judges what", STRATEGIES[stage["strategy"]].format(batch_size=stage["batch_size"] or 0)
    yield "Quota", f"{stage['quota']:,} judgments an annotator at most" if stage["quota"] else "none"
    apart = ", ".join(map(str, stage["apart_from"]))
    yield "Kept apart", f"whoever met an item in stage {apart} does not get it here" if apart else ""
    yield "Passed on", f"the outcome becomes the item’s {stage['carries']} image" if stage["carries"] else ""
    yield "Seed", f"{stage['seed']}: the order, batches and samples are drawn from it"


def _items(stage: Mapping) -> str:
    if not stage["source"]:
        return f"the benchmark’s items{_sample(stage)}"
    closing = stage["promotion"] == "closing" or stage["sample"] is not None
    when = "when that closes" if closing else "each as soon as it is settled"
    return f"those that {_names(stage['takes'])} by stage {stage['source']}, {when}{_sample(stage)}"


def _names(takes: Sequence[str]) -> str:
    return " or ".join("were kept" if one == "kept" else f"were dropped ({one.replace('_', ' ')})" for one in takes)


def _sample(stage: Mapping) -> str:
    if stage["sample"] is None:
        return ""
    each = " of each type" if stage["sample_each"] else ""
    return f"; a random sample of {stage['sample']:,}{each}{', ' + SHARES if stage['stratify'] else ''}"


def _judgments(stage: Mapping) -> str:
    words = f"{stage['overlap']} a task"
    if stage["agreement_items"]:
        words += f", {stage['agreement_overlap']} on {stage['agreement_items']:,} items drawn for agreement"
    if stage["cap"]:
        words += f"; while no kind of answer has more than half, one more, up to {stage['cap']}"
    return words
