"""Studies that can be set up by name, with the numbers of the papers they come from. Pure.

`bivlc` is BiVLC (Miranda et al. 2024): §3.1 steps 3 and 4, then the human baseline of §4. The
others: VISLA (Dumpala et al. 2024) §3.2 and §3.3; Hard Positive Truth (Kamath et al. 2024) §4.1, two experts, 100 of
each set; SugarCrepe (Hsieh et al. 2023) App. E.2, 100 of each type. No preset sets pay.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.designs.plan import Assumptions, StagePlan
from annotation.measures.human_baseline import BASELINE_PROTOCOLS, DIFFERENT_ANNOTATORS, I2T, ONE_ANNOTATOR, T2I
from annotation.protocols.base import Carried, UnsuitableItem
from annotation.protocols.registry import base_name, protocol_named
from annotation.protocols.roles import joined, read_roles, with_roles
from annotation.protocols.rules import settings_of_file
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord

_SECONDS = 12  # per screen; our assumption: a survey of 100 questions takes 20 minutes
_SECONDS_OF = {
    "verify": 8,  # one picture, one sentence
    "visla-paraphrase": 40,
    "visla-triplet": 90,  # three sentences and six guidelines
    "hard-positive-rank": 20,
    "sugarcrepe-compare": 20,
}
_KEPT_SHARES = {"bivlc-choose": 0.716, "bivlc-disambiguate": 0.545}  # 5,382 of 7,512 items, then 2,933 of 5,382 (§3.1)

_BATCHES = {"strategy": "batches", "batch_size": 100}
_PAIRED = {"agreement_items": 500, "agreement_overlap": 2}  # five pairs, each pair the same batch of 100


@dataclass(frozen=True, slots=True)
class Preset:
    name: str
    title: str
    summary: str  # one sentence
    stages: tuple[StagePlan, ...]
    paper: str = ""  # whose numbers it has


def _stage(protocol: str, name: str, **settings: object) -> StagePlan:
    """Return a stage with the protocol file's judgments per task, and the image that it passes on."""
    file = protocol_named(protocol).made_from
    return StagePlan(protocol, name, settings={**(settings_of_file(file) if file else {"overlap": 1}), **settings})


# The human baseline: image to text and text to image, two questions each about every sampled item.
#
# BiVLC (§4, App. H) drew 500 items and gave 25 of them to each of 20 annotators: 100 questions per person, the image
# to text half first. That is the design `one`: one annotator answers all four questions of an item, so the four
# answers are not independent. In the design `different` nobody gets two questions about one item: answers are
# independent, but it takes more annotators.
_DESIGNS = (ONE_ANNOTATOR, DIFFERENT_ANNOTATORS)
_QUESTIONS = 2  # questions per item in each stage


def baseline_plans(
    *,
    source: str = "",
    sample: int | None = 500,
    design: str = ONE_ANNOTATOR,
    batch_items: int = 25,
    stratify: bool = False,
    seed_settings: Mapping[str, object] | None = None,
    apart: Sequence[str] = (),
) -> list[StagePlan]:
    """Return plans for both stages, after the stage `source` (none: they ask about the benchmark's own items). The

    sample is drawn when the source closes; both stages draw the same items, since they share a seed. In both
    designs an annotator answers at most `batch_items` times two questions in a stage. `seed_settings` are further
    settings of both stages (their own seed, a lease); `apart` names earlier stages; annotators do not get items that
    they saw there. In the design `one`, the protocol decides (`leaks`) unless stages are named.
    """
    if design not in _DESIGNS:
        raise ValueError(f"there is no design {design!r}; there are {', '.join(_DESIGNS)}")
    quota = _QUESTIONS * batch_items
    settings: dict[str, object] = {"sample": sample, "stratify": stratify, "promotion": "closing", "quota": quota}
    settings |= {"strategy": "batches", "batch_size": batch_items} if design == ONE_ANNOTATOR else {"strategy": "pool"}
    settings |= dict(seed_settings or {})
    one = list(apart) or None
    from_i2t, from_t2i = ([*apart, I2T], [*apart, I2T, T2I]) if design == DIFFERENT_ANNOTATORS else (one, one)
    return [
        StagePlan(BASELINE_PROTOCOLS[I2T], I2T, source, apart_from=from_i2t, settings=settings),
        StagePlan(BASELINE_PROTOCOLS[T2I], T2I, source, after=I2T, apart_from=from_t2i, settings=settings),
    ]


_CHOOSE = _stage("bivlc-choose", "choose", **_BATCHES, **_PAIRED)
_DISAMBIGUATE = _stage("bivlc-disambiguate", "disambiguate", **_BATCHES)
_VERIFY = _stage("verify", "verify")
_PARAPHRASE = _stage("visla-paraphrase", "paraphrase")
_TRIPLET = _stage("visla-triplet", "triplet")
_RANK = _stage("hard-positive-rank", "rank", sample=100)
_COMPARE = _stage("sugarcrepe-compare", "compare", sample=100, sample_each=True)

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "bivlc", "BiVLC, complete",
            "Choose the negative image, drop ambiguous items, then measure human performance on 500 of the rest.",
            (_CHOOSE, replace(_DISAMBIGUATE, source="choose"), *baseline_plans(source="disambiguate")), paper="BiVLC",
        ),
        Preset(
            "bivlc-choose", "BiVLC, choose the image",
            "Which candidate image shows everything in the negative caption? Two annotators judge 500 of the items.",
            (_CHOOSE,), paper="BiVLC",
        ),
        Preset(
            "bivlc-disambiguate", "BiVLC, drop ambiguous items",
            "For items with both images: which one fits the positive caption, or do both?",
            (_DISAMBIGUATE,), paper="BiVLC",
        ),
        Preset(
            "human-baseline", "Human baseline",
            "How well people answer the benchmark's questions: 20 annotators judge 500 items with both images.",
            tuple(baseline_plans(source="")), paper="BiVLC",
        ),
        Preset(
            "human-baseline-apart", "Human baseline, separate questions",
            "The same 500 items, but nobody answers two questions about one item, so answers are independent.",
            tuple(baseline_plans(source="", design=DIFFERENT_ANNOTATORS)),
        ),
        Preset(
            "visla-generic", "VISLA, second positives",
            "An expert picks, edits or rejects an item's second positive; another expert confirms edits.",
            (_PARAPHRASE,), paper="VISLA",
        ),
        Preset(
            "visla-spatial", "VISLA, triplets",
            "Experts check two positives and a negative against the guidelines, and correct or drop violations.",
            (_TRIPLET,), paper="VISLA",
        ),
        Preset(
            "hard-positives", "Hard positives",
            "Two experts rank three captions for each of 100 items: do both positives rank above the negative?",
            (_RANK,), paper="Hard Positive Truth",
        ),
        Preset(
            "sugarcrepe-eval", "SugarCrepe, compare negatives",
            "Of two negatives of different origin, which makes more sense, which is more fluent? 100 items per type.",
            (_COMPARE,), paper="SugarCrepe",
        ),
        Preset("verify", "Verify captions", "Is the caption true? Three annotators each; majority vote.", (_VERIFY,)),
    )
}  # fmt: skip


def single_stage(protocol: str) -> Preset:
    """Return one stage of a protocol, without a paper's numbers.

    If the stage's settings decide, tasks that drop items get at least two judgments, to show agreement.
    """
    found = protocol_named(protocol)
    if found.file:
        settings = settings_of_file(found.file)
    else:
        judgments = found.made_from.judgments if found.made_from else 1
        settings = {"overlap": max(judgments, 1 if found.measures or found.edits else 2)}
    stage = StagePlan(protocol, settings=settings)
    return Preset("", found.title, "One question about every item.", (stage,))


def stages_in_order(protocols: Sequence[str]) -> Preset:
    """Return a stage for each protocol; each after the first takes the items kept by the one before."""
    if len(protocols) == 1:
        return single_stage(protocols[0])
    stages: list[StagePlan] = []
    for protocol in protocols:
        (stage,) = single_stage(protocol).stages
        again = sum(base_name(one.protocol) == base_name(protocol) for one in stages)
        name = f"{stage.stage_name[:36]}-{again + 1}" if again else stage.stage_name
        stages.append(replace(stage, name=name, source=stages[-1].stage_name if stages else ""))
    titles = " → ".join(protocol_named(one).title for one in protocols)
    return Preset("", titles, "Several questions in order, each about the items kept by the one before.",
                  tuple(stages))  # fmt: skip


def with_roles_of_benchmark(stages: Sequence[StagePlan], given: str) -> list[StagePlan]:
    """Return the stages with roles mapped as in `picture=scene, foil=negative`, in every protocol that has them. Raises
    CannotMap.
    """
    files = {stage.protocol: file for stage in stages if (file := protocol_named(stage.protocol).made_from)}
    mapped = dict(zip(files, read_roles(given, list(files.values())), strict=True))
    for protocol, roles in mapped.items():
        with_roles(files[protocol], roles)
    return [
        replace(stage, name=stage.stage_name, protocol=joined(stage.protocol, mapped.get(stage.protocol, {})))
        for stage in stages
    ]


def with_stage_settings(stages: Sequence[StagePlan], name: str, **settings: object) -> list[StagePlan]:
    """Return the stages, with changed settings for one of them. KeyError if there is no such stage."""
    if name not in {stage.stage_name for stage in stages}:
        raise KeyError(name)
    return [stage.with_settings(**settings) if stage.stage_name == name else stage for stage in stages]


_ROLES = ("positive", "negative", "negative", "second_positive", "candidate")
_CAPTIONS = tuple(CaptionRecord(role, f"{role} {place}") for place, role in enumerate(_ROLES))
_IMAGES = tuple(ImageRecord(role, role) for role in ("positive", "negative", *["candidate"] * 4))
_NOTHING: Carried = {}
SPECIMEN = ItemRecord("specimen", "", "", _CAPTIONS, _IMAGES)


def default_assumptions(stages: Sequence[StagePlan], item: ItemRecord = SPECIMEN) -> dict[str, Assumptions]:
    """Return a plan's default assumptions; `item` shows how many screens an item needs."""
    return {
        stage.stage_name: Assumptions(
            _seconds(stage.protocol),
            _KEPT_SHARES.get(stage.protocol, 1.0),
            tasks_per_item(stage.protocol, item, expected_carry(stage, stages)),
            people=2 if protocol_named(stage.protocol).confirms else 1,
        )
        for stage in stages
    }


def _seconds(protocol: str) -> float:
    file = protocol_named(protocol).file
    return _SECONDS * len(file.answers) if file else _SECONDS_OF.get(protocol, _SECONDS)


def apart_of(stage: StagePlan, before: Sequence[StagePlan]) -> list[str]:
    """Return the stages that a plan is kept apart from; by default those whose protocol would reveal the answer."""
    if stage.apart_from is not None:
        return list(stage.apart_from)
    leaks = protocol_named(stage.protocol).leaks
    return [earlier.stage_name for earlier in before if base_name(earlier.protocol) in leaks]


def expected_carry(stage: StagePlan, stages: Sequence[StagePlan]) -> dict[str, str]:
    """Return what an item would bring along from earlier stages."""
    named = {one.stage_name: one for one in stages}
    carried: dict[str, str] = {}
    while stage.source:
        stage = named[stage.source]
        carried |= protocol_named(stage.protocol).would_carry(stage.settings.get("carries", ""))
    return carried


def unsuited(stages: Sequence[StagePlan], item: ItemRecord) -> UnsuitableItem | None:
    """Return the first reason why a stage could not ask about the item; None if all could."""
    for stage in stages:
        try:
            protocol_named(stage.protocol).tasks_for(item, expected_carry(stage, stages))
        except UnsuitableItem as reason:
            return reason
    return None


def mean_tasks(stage: StagePlan, stages: Sequence[StagePlan], kinds: Sequence[tuple[ItemRecord, int]]) -> float:
    """Return the mean number of tasks per item in the stage; `kinds` has an item and the number of each kind."""
    carried, items = expected_carry(stage, stages), sum(count for _, count in kinds)
    tasks = sum(tasks_per_item(stage.protocol, item, carried) * count for item, count in kinds)
    return tasks / items if items else 1


def tasks_per_item(protocol: str, item: ItemRecord = SPECIMEN, carried: Carried = _NOTHING) -> int:
    try:
        return len(protocol_named(protocol).tasks_for(item, carried))
    except UnsuitableItem:
        return 1
