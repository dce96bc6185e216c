"""The wording of a study's report: its set-up in sentences, definitions of its numbers, and references. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotation.designs import part
from annotation.measures.agreement_measures import INTERVAL_METHODS, MEASURES, counts_in_words, measures_on
from annotation.measures.audits.figures import target_of
from annotation.measures.audits.sentence import Change, aim, changed, dropped_how
from annotation.protocols.base import NOMINAL
from annotation.protocols.registry import VERSION_SIGN
from annotation.wording import exact

STRATEGIES = {
    "pool": "each annotator gets the next available item, in a random order shared by all",
    "batches": "in disjoint batches of {batch_size:,} items, which an annotator keeps to the end",
    "named": "named annotators judge the items assigned to them",
    "everyone": "each annotator judges every item, with as many annotators as the overlap",
    "audit": "each annotator gets the next available item, in a random order whose hash is kept from the start, until "
    "the share of wrong items is known well enough",
}
SHARES = "stratified by type and subtype"

# Names, definitions, and the keys of their references.
ALWAYS = (
    ("counted judgment", "the current judgment in one of a task’s slots: at most one per annotator and task, and at "
     "most as many as the overlap. Checks, withdrawn and late answers and those of excluded annotators are kept but do "
     "not count; outcomes and agreement use counted judgments of live tasks, that is, tasks still in their stage", ()),
    ("kept, dropped, open", "an item is dropped in a stage as soon as one of its tasks is, kept when all are, and "
     "otherwise open; if a later stage takes it, that stage decides. Imported = kept + dropped + open", ()),
    ("count n", f"what a coefficient is computed from: {counts_in_words()}. Items are tasks with two or "
     "more judgments", ()),
    *((one.name, one.definition, one.sources) for one in measures_on(NOMINAL)),
    ("95% interval of agreement", f"over tasks, each with all its judgments: {INTERVAL_METHODS}, "
     "for which each task is left out in turn", ("tukey", "wilson")),
    ("95% interval of a share", "Wilson’s, z = 1.96; it assumes independent units", ("wilson",)),
    ("active time", "time with the page in view, as measured by the browser, over all judgments, including checks and "
     "changed, late and withdrawn ones", ()),
    ("majority", "for an annotator, the share of tasks on which they gave the same answer as most of the others", ()),
    ("warning signs", "tests of an annotator’s answers and times against everybody else’s; they exclude nobody: a "
     "person decides", ()),
    ("fingerprint", "SHA-256 of the JSON of this report without as_of and fingerprint, with sorted keys and no "
     "spaces: the same state gives the same fingerprint", ()),
)  # fmt: skip
DECLARED = (
    *((one.name, one.definition, one.sources) for one in MEASURES if NOMINAL not in one.levels),
    ("score", "the mean of the judgments, or the share of one value; its 95% interval takes items as the sampling "
     "units. “Cannot judge” has no part in it", ("cochran", "wilson")),
    ("strength", "on the logit scale, from comparisons in pairs; ties count as half a win, and standard errors are "
     "robust and summed by item", ("bradley-terry",)),
)  # fmt: skip
PAID = (
    ("paid", "active time at the study’s rate", ()),
    ("effective hourly pay", "pay divided by the whole time from showing a screen to its answer, in view or not: what "
     "the study’s rate for active time amounts to per hour at the desk", ()),
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
        ("human baseline", "I2T is right if both questions about an image are, T2I if both about a caption are, "
         "Group if all four are; ties and “cannot judge” are not right, unanswered questions are left out. Chance is "
         "that of random scores", ("bivlc",)),
        ("95% interval of the human baseline", "Wilson’s, on an effective n: the number of items, reduced "
         "by the design effect of differences between annotators and by Student’s t",
         ("wilson", "kish", "korn-graubard", "henderson")),
    ),
    "visla-paraphrase": (
        ("texts and edits", "a sentence is taken as it is, edited, or the item is dropped; an edit is accepted when a "
         "second annotator gives the same words. Distances are Levenshtein’s, in characters and in words", ("visla",)),
    ),
    "visla-triplet": (
        ("texts and edits", "a triplet is valid, edited, or dropped, by the guidelines; a guideline’s share is over "
         "the judgments that mention it. Distances are Levenshtein’s, in characters and in words", ("visla",)),
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
    ("Dawid and Skene", "each task’s most probable answer, with each annotator’s own errors, by expectation–"
     "maximisation over all answers of the stage", ("dawid-skene",)),
)  # fmt: skip

REFERENCES = {
    "bivlc": "Miranda, I., Salaberria, A., Agirre, E., Azkune, G. (2024). BiVLC: Extending Vision-Language "
    "Compositionality Evaluation with Text-to-Image Retrieval. NeurIPS, Datasets and Benchmarks.",
    "bradley-terry": "Bradley, R. A., Terry, M. E. (1952). Rank Analysis of Incomplete Block Designs: I. The Method of "
    "Paired Comparisons. Biometrika 39(3/4), 324–345.",
    "cochran": "Cochran, W. G. (1977). Sampling Techniques, 3rd ed., §6.4. Wiley.",
    "dawid-skene": "Dawid, A. P., Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates using "
    "the EM algorithm. Applied Statistics 28(1), 20–28.",
    "hard-positives": "Kamath, A., Hsieh, C.-Y., Chang, K.-W., Krishna, R. (2024). The Hard Positive Truth about "
    "Vision-Language Compositionality. ECCV.",
    "henderson": "Henderson, C. R. (1953). Estimation of variance and covariance components. Biometrics 9(2), 226–252.",
    "kish": "Kish, L. (1965). Survey Sampling. Wiley.",
    "korn-graubard": "Korn, E. L., Graubard, B. I. (1998). Confidence intervals for proportions with small expected "
    "number of positive counts estimated from survey data. Survey Methodology 24(2), 193–201.",
    "sugarcrepe": "Hsieh, C.-Y., Zhang, J., Ma, Z., Kembhavi, A., Krishna, R. (2023). SugarCrepe: Fixing Hackable "
    "Benchmarks for Vision-Language Compositionality. NeurIPS, Datasets and Benchmarks.",
    "tukey": "Tukey, J. W. (1958). Bias and confidence in not-quite large samples (abstract). Annals of Mathematical "
    "Statistics 29(2), 614.",
    "visla": "Dumpala, S. H., Jaiswal, A., Sastry, C., Milios, E., Oore, S., Sajjad, H. (2024). VISLA Benchmark: "
    "Evaluating Embedding Sensitivity to Semantic and Lexical Alterations.",
    "wilson": "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of "
    "the American Statistical Association 22(158), 209–212.",
    **{source: source for one in MEASURES for source in one.sources},
}


def definitions(protocols: Collection[str], rules: Collection[str], paid: bool) -> list[dict[str, Any]]:
    """Return the definitions that this study needs: names, texts, and the numbers of their references."""
    rows = [*ALWAYS, *(PAID if paid else ()), *(ESTIMATED if "dawid-skene" in rules else ())]
    rows += DECLARED if any(VERSION_SIGN in name for name in protocols) else ()
    rows += [row for name, some in OF_PROTOCOL.items() if name in protocols for row in some]
    unique = list(dict.fromkeys(rows))
    order = _cited(unique)
    return [
        {"name": name, "says": says, "cites": sorted(order.index(key) + 1 for key in keys)}
        for name, says, keys in unique
    ]


def _cited(rows: Iterable[Sequence[Any]]) -> list[str]:
    return sorted({key for _, _, keys in rows for key in keys}, key=REFERENCES.__getitem__)


def references(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the references that the definitions cite, by author, numbered from 1."""
    names = {row["name"] for row in found}
    rows = [*ALWAYS, *PAID, *ESTIMATED, *DECLARED, *(row for some in OF_PROTOCOL.values() for row in some)]
    return [REFERENCES[key] for key in _cited(row for row in rows if row[0] in names)]


# A stage's set-up

_ALL: Mapping[str, Any] = {}


def in_words(settings: Mapping[str, Any], of_benchmark: Mapping[str, Any] = _ALL) -> list[dict[str, str]]:
    """Return settings (exports.readme.settings_of) as names and meanings. `of_benchmark`: the study's part."""
    return [{"name": name, "says": says[0].upper() + says[1:]} for name, says in _lines(settings, of_benchmark) if says]


def _lines(stage: Mapping[str, Any], of_benchmark: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Items", _items(stage, of_benchmark)
    yield "Judgments", _judgments(stage)
    yield "Decision", stage["decision_rule"]
    yield "Who judges what", STRATEGIES[stage["strategy"]].format(batch_size=stage["batch_size"] or 0)
    if audit := stage.get("audit"):
        yield "Target", _target(audit)
    yield "Quota", f"at most {stage['quota']:,} judgments per annotator" if stage["quota"] else "none"
    apart = ", ".join(map(str, stage["apart_from"]))
    yield "Kept apart", f"annotators who saw an item in stage {apart} do not get it here" if apart else ""
    yield "Passed on", f"the outcome becomes the item’s {stage['carries']} image" if stage["carries"] else ""
    yield "Seed", f"{stage['seed']}: the order, batches and samples are drawn from it"


def _target(audit: Mapping[str, Any]) -> str:
    """Word an audit's target: when it stops, which items are wrong, and whose scores it uses."""
    interval = "95% interval valid at any look"
    if not audit["any_look"]:
        interval = "the audit stops when its 95% interval is narrow enough"
    wrong = f"an item is wrong if it is {dropped_how(audit['wrong_reasons'])}"
    futile = ", and stops if the bound is out of reach" if audit.get("stops_if_futile") else ""
    scores = f"; side information: scores of {audit['scores_of']}" if "scores_of" in audit else ""
    changes = [Change(**one) for one in audit.get("changes", ())]
    told = changed(changes, bound=audit["target_bound"] is not None, any_look=audit["any_look"])
    return f"{aim(target_of(audit))}; {interval}{futile}; {wrong}{scores}{f'. {told}' if told else ''}"


def _items(stage: Mapping[str, Any], of_benchmark: Mapping[str, Any]) -> str:
    if not stage["source"]:
        return f"{part.in_words(of_benchmark) or 'the benchmark’s items'}{_sample(stage)}"
    closing = stage["promotion"] == "closing" or stage["sample"] is not None
    when = "when that stage closes" if closing else "each as soon as it is settled"
    return f"those that {_names(stage['takes'])} by stage {stage['source']}, {when}{_sample(stage)}"


def _names(takes: Sequence[str]) -> str:
    return " or ".join("were kept" if one == "kept" else f"were dropped ({one.replace('_', ' ')})" for one in takes)


def _sample(stage: Mapping[str, Any]) -> str:
    if stage["sample"] is None:
        return ""
    each = " of each type" if stage["sample_each"] else ""
    return f"; a random sample of {stage['sample']:,}{each}{', ' + SHARES if stage['stratify'] else ''}"


def _judgments(stage: Mapping[str, Any]) -> str:
    words = f"{stage['overlap']} per task"
    if stage["agreement_items"]:
        words += f", {stage['agreement_overlap']} on {stage['agreement_items']:,} items drawn for agreement"
    if stage.get("certainty"):
        percent = f"{exact(round(100 * stage['certainty'], 9))}%"
        return f"{words}; one more while the leading answer is less than {percent} certain, up to {stage['cap']}"
    if stage["cap"]:
        words += f"; one more while no kind of answer has more than half, up to {stage['cap']}"
    return words
