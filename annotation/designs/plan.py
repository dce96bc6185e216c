"""What a study is to be made of, before it is: stages that name each other, and what they will take. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor

from annotation.protocols.base import Form
from annotation.protocols.decision_rule import DAWID_SKENE

_HOUR = 3600
_BATCHES, _EVERYONE = "batches", "everyone"  # of models.choices.Strategy
_ADJUDICATE = "adjudicate"  # of models.choices.TieRule
NO_CHECKS = "Checks and practice compare a pick with the right one; an answer here is more than a pick: there are none."
_TOO_FEW = "It tells annotators apart by what they answer to the same items: let at least some items get two judgments."
_NOT_LEFT = "Probabilities are hardly ever level. Adjudicate what you like; what nobody decides, the estimate does."
_ONE_DECIDES = "One annotator decides here, and a second confirms an edit: "


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage. `source` and `after` are names of stages before it, `apart_from` of stages before it or its own.

    `name` is the protocol's where none is given; `apart_from` None leaves it to the protocol (`Protocol.leaks`).
    `settings` are the other fields of Stage: overlap, strategy, batch_size, sample, carries …
    """

    protocol: str
    name: str = ""
    source: str = ""
    after: str = ""
    apart_from: Sequence[str] | None = None
    instructions: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def stage_name(self) -> str:
        return self.name or self.protocol

    def with_settings(self, **settings: object) -> "StagePlan":
        """The same with these settings changed."""
        return replace(self, settings={**self.settings, **settings})


def contradictions(
    settings: Mapping[str, object], own_items_apart: bool = False, form: Form | None = None
) -> dict[str, str]:
    """Settings of a stage that do not go together: the field to mend, and a sentence.

    `own_items_apart`: its items make several questions each, and nobody is to get two of one item. `form` is that of
    the stage's protocol.
    """
    found = _form_contradictions(form, settings) if form else {}
    if own_items_apart and settings.get("strategy") in (_BATCHES, _EVERYONE):
        found["apart_from"] = "A batch holds all questions of its items; keep the stage apart from itself in a pool."
    if settings.get("strategy") == _BATCHES and not settings.get("batch_size"):
        found["batch_size"] = "How many items has a batch?"
    items, overlap = settings.get("agreement_items"), settings.get("agreement_overlap")
    if bool(items) != bool(overlap):
        found["agreement_overlap" if items else "agreement_items"] = "An agreement sample needs both numbers."
    if settings.get("cap") and settings["cap"] < (settings.get("overlap") or 1):
        found["cap"] = "No less than the judgments an item."
    if settings.get("rule") == DAWID_SKENE:
        found = _estimation_contradictions(settings) | found
    return found


def _estimation_contradictions(settings: Mapping[str, object]) -> dict[str, str]:
    """What does not go with Dawid and Skene's rule."""
    if settings.get("tie_rule") == _ADJUDICATE:
        return {"tie_rule": _NOT_LEFT}
    most = max(settings.get(name) or 1 for name in ("overlap", "agreement_overlap"))
    return {"rule": _TOO_FEW} if most < 2 else {}


def _form_contradictions(form: Form, settings: Mapping[str, object]) -> dict[str, str]:
    """What does not go with answers that are more than a pick."""
    found = {"check_rate": NO_CHECKS} if settings.get("check_rate") else {}
    if not form.confirms:
        return found
    if settings.get("rule") == DAWID_SKENE:
        found["rule"] = f"{_ONE_DECIDES}there is nothing to estimate."
    if (settings.get("overlap") or 1) > 1:
        found["overlap"] = f"{_ONE_DECIDES}leave it at 1."
    if settings.get("agreement_items"):
        found["agreement_items"] = f"{_ONE_DECIDES}leave the sample empty."
    if settings.get("strategy") in (_BATCHES, _EVERYONE):
        found["strategy"] = f"{_ONE_DECIDES}a batch would never reach a second one. Take the pool, or name annotators."
    return found


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What nobody knows yet of a stage: seconds for a screen, and the share of its items that goes on from it.

    `tasks` is how many screens an item makes there, `types` how many types of items there are, `people` how many
    annotators it takes whatever the overlap: two where somebody else confirms an edit.
    """

    seconds: float
    kept: float = 1.0
    tasks: int = 1
    types: int = 1
    people: int = 1


@dataclass(frozen=True, slots=True)
class ExpectedEffort:
    """What a stage will take. `screens` are judgments and the checks among them; `annotators` fill its places once."""

    stage: str
    items: int
    judgments: int
    screens: int
    hours: float
    cost: float
    annotators: int
    follows: bool = False  # its annotators are those of the stage before it
    assumed: bool = False  # how many items come in rests on an assumption


def expected_effort(
    stages: Sequence[StagePlan], *, items: int, assumed: Mapping[str, Assumptions], pay: float = 0
) -> list[ExpectedEffort]:
    """Each stage in turn, for a benchmark of so many items. static/js/pages/study-plan.js computes the same.

    The judgments that a cap may ask for beside the overlap are not foreseen.
    """
    found: dict[str, ExpectedEffort] = {}
    for stage in stages:
        before = found.get(stage.source)
        coming = items if before is None else round_half_up(before.items * assumed[stage.source].kept)
        found[stage.stage_name] = _stage_effort(stage, coming, assumed[stage.stage_name], pay, before is not None)
    return list(found.values())


def _stage_effort(stage: StagePlan, coming: int, assumed: Assumptions, pay: float, later: bool) -> ExpectedEffort:
    given = stage.settings
    sample = (given.get("sample") or coming) * (assumed.types if given.get("sample_each") else 1)
    items = min(coming, sample)
    overlap = given.get("overlap") or 1
    shared = min(items, given.get("agreement_items") or 0)
    shared_overlap = (given.get("agreement_overlap") or overlap) if shared else 0
    judgments = ((items - shared) * overlap + shared * shared_overlap) * assumed.tasks
    rate = given.get("check_rate") or 0
    screens = judgments + round_half_up(judgments * rate / (1 - rate))
    hours = screens * assumed.seconds / _HOUR
    places = _places(given, judgments, ((items - shared, overlap), (shared, shared_overlap)), assumed.people)
    return ExpectedEffort(
        stage.stage_name,
        items,
        judgments,
        screens,
        hours,
        hours * pay,
        places,
        follows=bool(stage.after),
        assumed=later,
    )


def _places(given: Mapping[str, object], judgments: int, parts: Sequence[tuple[int, int]], people: int) -> int:
    """How many annotators it takes if each has one batch, or judges up to the quota; never fewer than the overlap, or
    than `people`.
    """
    if not judgments:
        return 0
    size, quota = given.get("batch_size"), given.get("quota")
    if given.get("strategy") == _BATCHES and size:
        return max(people, sum(-(-items // size) * overlap for items, overlap in parts))
    return max(people, -(-judgments // quota) if quota else 0, *(overlap for items, overlap in parts if items))


def total_effort(stages: Sequence[ExpectedEffort]) -> ExpectedEffort:
    """All stages together; whoever follows on from another stage is counted there alone."""
    return ExpectedEffort(
        "all", 0,
        *(sum(getattr(one, name) for one in stages) for name in ("judgments", "screens", "hours", "cost")),
        annotators=sum(one.annotators for one in stages if not one.follows), assumed=any(one.assumed for one in stages),
    )  # fmt: skip


def round_half_up(value: float, digits: int = 0) -> float:
    """Rounded with halves up, as the page's script does it."""
    rounded = floor(value * 10**digits + 0.5) / 10**digits
    return int(rounded) if digits == 0 else rounded


def effort_in_words(expected: ExpectedEffort) -> dict[str, str]:
    """Its numbers as people read them; ≈ where they rest on an assumption of how many items come in."""
    return {
        "judgments": ("≈ " if expected.assumed else "") + f"{expected.judgments:,}",
        "hours": f"{round_half_up(expected.hours, 1):,.1f}",
        "cost": f"{round_half_up(expected.cost, 2):,.2f}",
        "annotators": f"{expected.annotators:,}",
    }
