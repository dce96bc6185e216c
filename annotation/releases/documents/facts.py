"""The facts that a release's documents state, gathered once from its plan, manifest, figures and counts. Pure.

The first half selects; the functions below `Facts` turn selections into sentences that several documents share.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from annotation.designs.setup_wording import in_words
from annotation.exports.files import content_hash
from annotation.exports.markdown import both_intervals, decimal, interval, percent
from annotation.measures.agreement_measures import BY_KEY, units_in_words
from annotation.measures.over_annotators import ITEMS
from annotation.protocols import in_words as declared_words
from annotation.protocols import roles
from annotation.protocols.decision_rule import ADJUDICATOR, DROPPED, KEPT
from annotation.protocols.registry import protocol_named
from annotation.protocols.schema import ProtocolFile
from annotation.releases.archive_reader import Files
from annotation.releases.plan import SPLIT_NAMES, Plan
from annotation.wording import counted, exact, readable_label

DOCUMENTS = ("README.md", "croissant.json", "data_statement.md", "statistics.json")
UNKNOWN = "not stated"
MEASURES = {
    "i2t": "I2T: both images, image to text",
    "t2i": "T2I: both captions, text to image",
    "group": "Group: all four questions",
    "i_pos2t": "given the positive image",
    "i_neg2t": "given the negative image",
    "t_pos2i": "given the positive caption",
    "t_neg2i": "given the negative caption",
}
PARTS = {
    "image:positive": "The image that the positive caption describes, with its original bytes.",
    "image:negative": "The image that the negative caption describes, with its original bytes.",
    "caption:positive": "A caption that is true of the image.",
    "caption:negative": "A similar caption that is not true of the image.",
    "caption:second_positive": "Another caption that is true of the image, in other words.",
    "key": "The item's id.",
    "type": "How the negative differs.",
    "subtype": "What differs.",
    "votes": "The counted judgments of each decision, as JSON: how many gave each value, and their shares.",
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


@dataclass(frozen=True)
class Facts:
    """`manifest` is the release's, as far as known: it lists all files except the documents."""

    files: Files
    plan: Plan
    manifest: Mapping
    statistics: Mapping

    @cached_property
    def figures(self) -> Mapping:
        return self.files.json("figures.json")

    def stated(self, word: str) -> str:
        """Return what the producer stated under that key of the plan's words, or ""."""
        return self.plan.words.get(word, "").strip()

    @property
    def items(self) -> int:
        return self.statistics["whole"]["items"]

    @property
    def splits(self) -> list[str]:
        return [name for name in SPLIT_NAMES if name in self.manifest["splits"]]

    @property
    def loadable(self) -> list[str]:
        """Return splits that have items: the `datasets` library doesn't open any if the card names an empty one."""
        return [name for name in self.splits if name in self.statistics["splits"]]

    def rows(self, file: str) -> int:
        return self.manifest["files"].get(file, {}).get("rows") or 0

    @property
    def without_rows(self) -> list[str]:
        """Return tables in JSON Lines that are empty files, which `load_dataset("json")` can't open."""
        return [
            name
            for name in sorted(self.manifest["files"])
            if name.endswith(".jsonl") and not self.manifest["files"][name]["bytes"]
        ]

    @property
    def stages(self) -> list[Mapping]:
        """Return the stages' settings, in order."""
        return sorted(self.manifest["stages"], key=lambda stage: stage["position"])

    @cached_property
    def by_hand(self) -> Counter[tuple[str, str]]:
        """Return the number of items that an adjudicator gave a state, by (stage name, state)."""
        lines = chain(self.files.lines("items.jsonl"), self.files.lines("dropped.jsonl"))
        decided = ([one for one in line["decisions"] if one["decided_by"] == ADJUDICATOR] for line in lines)
        return Counter(chain.from_iterable({(one["stage"], one["state"]) for one in found} for found in decided))

    @cached_property
    def protocol_files(self) -> Mapping[str, ProtocolFile]:
        """Return protocol files by stage name, for stages that use one."""
        return self.files.protocol_files(self.manifest["stages"])

    @cached_property
    def fingerprint(self) -> str:
        """Return the hash of every file except the documents."""
        return content_hash(self.manifest["files"], without=DOCUMENTS)

    @cached_property
    def annotators(self) -> list[dict]:
        return list(self.files.lines("annotators.jsonl"))

    @property
    def people(self) -> int:
        """Return the number of annotators, including simulated ones."""
        return len(self.annotators)

    @property
    def simulated(self) -> int:
        return sum(line.get("simulated", False) for line in self.annotators)

    @cached_property
    def licences(self) -> list[tuple[str, int]]:
        """Return the number of images by licence, most frequent first; "" if no licence is given."""
        found = Counter(line.get("licence") or "" for line in self.files.lines("images.jsonl"))
        return sorted(found.items(), key=lambda row: (-row[1], row[0]))

    @property
    def agreement(self) -> list[tuple[str, Mapping]]:
        """Return (stage name, coefficients) for each view of each stage's answers."""
        stages = self.figures.get("stages", ())
        return [(one["study"]["stage_name"], found) for one in stages for found in one.get("agreement", ())]

    @property
    def agreed(self) -> list[tuple[str, Mapping]]:
        """Return the views on which two annotators judged the same item."""
        return [(name, found) for name, found in self.agreement if found["measures"]["percent"]["n"]]

    @property
    def not_shared(self) -> list[str]:
        """Return stages in which no task has two counted judgments."""
        shared = {name for name, _ in self.agreed}
        return [name for name in dict.fromkeys(name for name, _ in self.agreement) if name not in shared]

    @property
    def baselines(self) -> list[Mapping]:
        return [one for one in self.figures.get("baselines", ()) if one["answered"]]

    def papers(self, protocol: str) -> list[tuple[str, Mapping]]:
        """Return (stage name, its paper's results) for stages with that protocol that have judgments."""
        return [
            (stage["study"]["stage_name"], found)
            for stage in self.figures.get("stages", ())
            if (found := stage.get("paper"))
            and stage["study"]["protocol"] == protocol
            and found.get("n", found.get("judgments"))
        ]

    @property
    def scored(self) -> list[tuple[str, str, Mapping, bool]]:
        """Return (stage name, measure, its result, whether it is a share) for answers to protocol files."""
        return [
            (stage["study"]["stage_name"], *row)
            for stage in self.figures.get("stages", ())
            for row in _scores_of(stage.get("scores", {}))
        ]

    @property
    def fates(self) -> list[tuple[str, str]]:
        """Return (stage name, outcome) for texts that its annotators could change."""
        found = []
        for stage in self.figures.get("stages", ()):
            fates = stage.get("paper", {}).get("fates") or {}
            if words := ", ".join(f"{fates[name]:,} {what}" for name, what in FATES.items() if fates.get(name)):
                found.append((stage["study"]["stage_name"], words))
        return found


def _scores_of(scores: Mapping) -> Iterator[tuple[str, Mapping, bool]]:
    """Yield (measure, its result, whether it is a share) of one stage's measures.scores, row by row."""
    for one in scores.get("answers", ()):
        if "whole" in one:
            score = readable_label(one["score"])
            yield f"{one['answer']}: {score}", one["whole"], one["is_share"]
            for attribute, rows in one["by"].items():
                for row in rows:
                    yield f"{one['answer']}: {score}, {attribute} {row['name']}", row, one["is_share"]
        if "right" in one:
            yield f"{one['answer']}: right", {**one["right"]["whole"], "chance": one["right"]["chance"]}, True
    for one in scores.get("groups", ()):
        yield f"{one['group']}: all right", {**one["whole"], "chance": one["chance"]}, True
    for name, what in (("strengths", "strength"), ("mean_ranks", "mean rank")):
        for one in scores.get(name, ()):
            for row in one["rows"]:
                yield f"{one['answer']}: {what} of {row['name']}", row, False


# Sentences in plain text, without markup


def left_out_in_words(counts: Mapping) -> str:
    """Describe how many items are not in any split although nobody dropped them."""
    asked = f" Nobody was asked about {counts['not_asked']:,} more." if counts["not_asked"] else ""
    return asked + (f" Not yet decided and in no split: {counts['open']:,}." if counts["open"] else "")


def part_in_words(part: str) -> str:
    """Describe a column in the split, by its part."""
    kind, _, role = part.partition(":")
    role, _, place = role.partition("-")
    number = int(place or 0) + 1
    if part in PARTS:
        return PARTS[part]
    if kind == "text":
        return f"Text {number} that annotators wrote as {role}, not among the captions."
    return f"{kind.capitalize()} {number} in the role {role}." if kind in ("caption", "image") else "As imported."


def stage_in_words(facts: Facts, stage: Mapping) -> str:
    """Describe what a stage asked, about which items, and by which rule; for a protocol file also the possible answers,
    and how agreement is measured.
    """
    said = in_words(stage, facts.manifest["study"].get("part", {}))
    items, file = (
        next(line["says"] for line in said if line["name"] == "Items"),
        facts.protocol_files.get(stage["name"]),
    )
    asked = f"Asked of: {items[:1].lower()}{items[1:]}."
    rule = stage["decision_rule"] + _by_hand(facts, stage["name"])
    if file is None:
        return f"“{protocol_named(stage['protocol']).question}” {asked} {rule}"
    answers, measures = declared_words.answers_in_words(file), declared_words.measures_in_words(file)
    return " ".join([f"“{file.ask}”", asked, "Answers:", *answers, rule, *measures]) + (
        f" Protocol file: {stage['protocol_file']['path']}{_mapped(stage['protocol'])}."
    )


def _by_hand(facts: Facts, stage: str) -> str:
    """Describe the exceptions to the decision rule."""
    kept, dropped = facts.by_hand[stage, KEPT], facts.by_hand[stage, DROPPED]
    if not kept + dropped:
        return ""
    return f" Decided by hand instead: {counted(kept + dropped, 'item')} ({kept:,} kept, {dropped:,} dropped)."


def _mapped(protocol: str) -> str:
    """Describe a protocol's roles that have other names in the benchmark."""
    of = roles.split(protocol)[1]
    return f", with its roles under the benchmark’s names: {roles.in_words(of)}" if of else ""


def annotators_in_words(facts: Facts) -> str:
    people = facts.people - facts.simulated
    if facts.simulated and not people:
        return f"Nobody: {facts.simulated:,} programs simulated annotators"
    programs = f"; {facts.simulated:,} more were programs that simulate annotators" if facts.simulated else ""
    return f"{people:,} annotator{'' if people == 1 else 's'}{programs}"


def simulated_in_words(facts: Facts) -> str:
    return f"{facts.simulated:,} of {facts.people:,} annotators are programs, not people: this is a trial."


def imported_in_words(facts: Facts) -> list[str]:
    """Return a sentence for each file of judgments made elsewhere."""
    return [
        f"Stage {stage['name']}: {one['judgments']:,} judgments were made elsewhere and imported from {one['source']} "
        f"({one['file']}, SHA-256 {one['sha256']}). The order of options on their screens, the time that they took and "
        "what the annotators were told are not known."
        for stage in facts.manifest["stages"]
        for one in stage.get("imported", ())
    ]


def pay_in_words(facts: Facts) -> str:
    study = facts.manifest["study"]
    if facts.people and facts.people == facts.simulated:
        return "nobody was paid, because no people judged"
    rate, currency = study.get("pay_per_hour"), study.get("currency", "")
    if not rate:
        return "not published" if rate is None and "times" not in facts.plan.public else UNKNOWN
    costs = [stage["cost"].get("cost") for stage in facts.figures.get("stages", ()) if stage.get("cost")]
    paid = f", {sum(filter(None, costs)):,.2f} {currency} in total" if any(costs) else ""
    rates = " then ".join(f"{one:,.2f}" for one in [*(one for _, one in study.get("earlier_pay", ())), rate])
    return f"{rates} {currency} per hour of active time{paid}"


def limits_in_words(facts: Facts) -> Sequence[str]:
    """Describe the limits of the split that its results show."""
    counts, found = facts.manifest["counts"], []
    if facts.simulated:
        found.append(simulated_in_words(facts))
    found += imported_in_words(facts)
    if counts["open"]:
        found.append(f"{counts['open']:,} of {counts['imported']:,} items are not decided yet and are in no split.")
    if single := [stage["name"] for stage in facts.stages if stage["name"] in facts.not_shared]:
        found.append(f"No two annotators judged the same item in: {', '.join(single)}. Agreement there is unknown.")
    if without := dict(facts.licences).get("", 0):
        found.append(f"No licence is known for {without:,} of {sum(dict(facts.licences).values()):,} images.")
    return found


def agreement_in_words(facts: Facts) -> list[str]:
    found = []
    for name, of_view in facts.agreed:
        parts = [measure_in_words(*one) for one in of_view["measures"].items()]
        said = "; ".join(f"{what} {value}, 95 % interval {ends} ({n})" for what, value, ends, n in parts)
        found.append(f"Stage {name}, on {of_view['on']}: {said}.")
    return found


def measure_in_words(key: str, figure: Mapping) -> tuple[str, str, str, str]:
    """Return its name, value, interval and n."""
    measure, write = BY_KEY[key], percent if key == "percent" else decimal
    n = f"{figure['n']:,} {units_in_words(measure, figure['n'])}"
    return measure.name, write(figure["value"]), interval(figure, write), n


def results_in_words(facts: Facts) -> list[str]:
    """Return people's results: the human baseline, the rankings, and the scores of protocol files' answers."""
    found = [
        (f"Human baseline, {what}", measured)
        for one in facts.figures.get("baselines", ())
        for name, what in MEASURES.items()
        if (measured := one["measures"].get(name)) and measured["n"]
    ]
    found += [
        (f"Stage {name}, both positive captions ranked above the negative one", paper)
        for name, paper in facts.papers("hard-positive-rank")
    ]
    return [
        f"{what}: {one['right']:,} of {one['n']:,} items, 95 % interval {interval(one, percent)}{_over(one)}."
        for what, one in found
    ] + [
        f"Stage {name}, {what}: {write(one['value'])}, 95 % interval {both_intervals(one, write)}."
        for name, what, one, share in facts.scored
        for write in (percent if share else decimal,)
    ]


def _over(figure: Mapping) -> str:
    return f" over {figure['over']}" if figure.get("over") else ""


def baseline_intervals_in_words(baseline: Mapping) -> str:
    """Describe over what the intervals of a human baseline are."""
    over_items = [what for name, what in MEASURES.items() if baseline["measures"].get(name, {}).get("over") == ITEMS]
    words = (
        "Intervals are Wilson's, over annotators: where annotators differ, items judged by one of them carry less "
        "information than the same number judged by several."
    )
    if over_items:
        words += (
            f" The judgments do not show how annotators differ on: {'; '.join(over_items)}. Those intervals are over "
            "items; they describe these annotators, not others."
        )
    return words


def judgments_per_item(facts: Facts) -> str:
    """Describe how many judgments each stage's tasks should get."""
    found = []
    for stage in facts.stages:
        line = f"{stage['name']}: {stage['overlap']}"
        if stage.get("agreement_items"):
            line += f", {stage['agreement_overlap']} on {stage['agreement_items']:,} items drawn for agreement"
        unsure = f" while less than {exact(stage['certainty'])} certain" if stage.get("certainty") else ""
        found.append(line + (f", up to {stage['cap']}{unsure}" if stage.get("cap") else ""))
    return "; ".join(found)
