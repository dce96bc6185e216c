"""A new study as its page holds it: all its forms, what was typed, the resulting plan, and starting points to offer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypedDict

from django.db.models import QuerySet

from annotation.designs import fit, presets
from annotation.designs.fit import role_choices
from annotation.designs.plan import Assumptions, ExpectedEffort, StagePlan, audit_in_words, expected_effort
from annotation.pipeline.part import narrowed
from annotation.protocols.roles import in_words, split
from annotation.studies import audit_scores
from annotation.studies.setup_forms import StageForm, cleaned
from annotation.studies.starting_points import SEVERAL, StartingPoint
from annotation.studies.study_form import StudyForm
from benchmarks import queries
from benchmarks.models import Benchmark, Item
from benchmarks.records import ItemRecord
from workers import outside_json

Kept = dict[str, dict[str, Any]]  # by protocol (_kept_keys; "": the study itself): field → value as it was typed


class Size(TypedDict):
    """A benchmark's numbers of items and types, and the mean of the tasks per item in each stage (none if unknown)."""

    items: int
    types: int
    tasks: list[float]


class Setup:
    """The forms of a new study, filled from its starting point.

    `data` is the submitted form. Without it, `benchmark` and `name` are initial values, and `kept` is what the manager
    has typed while the form had another starting point.
    """

    def __init__(self, start: StartingPoint, data=None, *, benchmark="", name="", kept: Kept | None = None):
        self.start = start
        self.benchmark = known_benchmark((data or {}).get("benchmark") or benchmark)
        self.first = first_item(self.benchmark)
        self.kept = read_kept((data or {}).get("kept", "")) if kept is None else kept
        initial = {"name": name, **start.study, "benchmark": self.benchmark}
        self.study = StudyForm(data, initial=initial if data else {**initial, **self.kept.get("", {})})
        self.study.offer_types(self.benchmark)
        assumed, sources = presets.default_assumptions(start.stages), {stage.source for stage in start.stages}
        self.stages = [
            StageForm(
                stage, start.stages[:place], assumed[stage.stage_name], stage.stage_name in sources, data,
                {} if data else self.kept.get(key), start.images.get(stage.stage_name, ()),
                role_choices(stage, start.stages[: place + 1], self.first) if self.first else (),
            )
            for place, (stage, key) in enumerate(zip(start.stages, _kept_keys(start.stages), strict=True))
        ]  # fmt: skip
        self.bound = data is not None
        self._offer_scores()

    def _offer_scores(self) -> None:
        """Let audits choose among the runs of models, if there are any."""
        forms_of_audits = [form for form in self.stages if "scores_run" in form.fields]
        runs = audit_scores.choices(int(self.benchmark or 0)) if forms_of_audits else []
        for form in forms_of_audits:
            if runs:
                form.fields["scores_run"].widget.choices = [("", "none"), *runs]
            else:
                del form.fields["scores_run"]

    @property
    def forms(self) -> list[StudyForm | StageForm]:
        return [self.study, *self.stages]

    def is_valid(self) -> bool:
        return all(form.is_valid() for form in self.forms)

    def typed(self) -> Kept:
        """What the manager has changed, here or before the form had this starting point."""
        kept = {protocol: dict(values) for protocol, values in self.kept.items()}
        for form, key in zip(self.forms, ["", *_kept_keys(self.start.stages)], strict=True):
            values = kept.setdefault(key, {})
            touched = ({*form.changed_data, *values} & set(form.fields)) - {"benchmark"}
            touched -= set(getattr(form, "roles", ()))  # which are the benchmark's
            values |= {name: form[name].data for name in touched}
        return kept

    def become_template(self) -> None:
        """From now on the forms are for a template, which has no images."""
        self.study.become_template()
        for stage in self.stages:
            stage.images = ()

    @cached_property
    def size(self) -> Size:
        """Of the benchmark, for the stages as they are planned."""
        if not self.benchmark:
            return Size(items=0, types=1, tasks=[])
        part = self.study.chosen_part()
        items = narrowed(Item.objects.filter(benchmark=int(self.benchmark), withdrawn=False), part)
        found = size_of(items, [stage.planned() for stage in self.stages])
        return {**found, "items": min(found["items"], part.get("sample") or found["items"])}

    @property
    def orders(self) -> list[tuple[str, str, str]]:
        """If there are several questions, for each stage: its name, and what names the starting point in which it comes
        earlier ("" for the first), and the one without it.
        """
        keys = self.start.key.split(SEVERAL) if self.start.kind == "protocol" else []
        found = []
        for place, stage in enumerate(self.stages if len(keys) > 1 else ()):
            without = [*keys[:place], *keys[place + 1 :]]
            earlier = [*without[: place - 1], keys[place], *without[place - 1 :]] if place else []
            found.append((stage.plan.stage_name, SEVERAL.join(earlier), SEVERAL.join(without)))
        return found

    def kept_json(self) -> str:
        return json.dumps(self.kept)

    def plan(self) -> dict:
        """The arguments of `studies.lifecycle.create_study`."""
        return {**self.study.of_study(), "stages": [stage.planned() for stage in self.stages]}

    def expected(self) -> list[ExpectedEffort]:
        """The expected effort of each stage; empty while a field is invalid."""
        if self.bound and not self.is_valid():
            return []
        assumed = self._assumed()
        stages = [stage.planned() for stage in self.stages]
        study = self.study.cleaned_data if self.bound else cleaned(self.study, self.kept.get("", {}))
        pay = float(study.get("pay_per_hour", self.start.study["pay_per_hour"]))
        return expected_effort(stages, items=self.size["items"], assumed=assumed, pay=pay)

    def _assumed(self) -> dict[str, Assumptions]:
        tasks = self.size["tasks"]
        return {
            form.plan.stage_name: form.expects(tasks[place] if tasks else form.assumed.tasks, self.size["types"])
            for place, form in enumerate(self.stages)
        }

    def audits_in_words(self, expected: Sequence[ExpectedEffort]) -> list[str]:
        """What each audit takes of what is `expected`."""
        if not expected:
            return []
        currency, assumed = str(self.study["currency"].value() or ""), self._assumed()
        found = [
            audit_in_words(stage.plan, effort, assumed[stage.plan.stage_name], currency.upper())
            for stage, effort in zip(self.stages, expected, strict=True)
        ]
        return [words for words in found if words]


def _kept_keys(stages: Sequence[StagePlan]) -> list[str]:
    """`verify`, `verify 2` …: what was typed for a stage goes to the stage that asks the same question."""
    asked = [split(stage.protocol)[0] for stage in stages]
    counts = [asked[: place + 1].count(protocol) for place, protocol in enumerate(asked)]
    return [f"{name} {n}" if n > 1 else name for name, n in zip(asked, counts, strict=True)]


def read_kept(text: str) -> Kept:
    """What a page kept in a hidden field; nothing if somebody has tampered with it."""
    try:
        kept = outside_json.read(text or "{}")
        return {str(protocol): dict(values) for protocol, values in kept.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def known_benchmark(asked: str | None) -> str:
    """The id that was asked for if there is such a benchmark, otherwise that of the newest; "" if there is none."""
    there = [str(pk) for pk in Benchmark.objects.values_list("pk", flat=True)]
    return str(asked) if str(asked) in there else next(iter(there), "")


def first_item(benchmark: str) -> ItemRecord | None:
    found = queries.with_material(
        Item.objects.filter(benchmark=int(benchmark or 0), withdrawn=False).order_by("position")[:1]
    )
    return next((queries.record_of(item) for item in found), None)


def size_of(items: QuerySet[Item], stages: Sequence[StagePlan]) -> Size:
    """How many tasks the items will make: counted for each kind of item, by its parts."""
    kinds = queries.shapes(items)
    return Size(
        items=sum(count for _, count in kinds),
        types=items.order_by().values("type").distinct().count(),
        tasks=[presets.mean_tasks(stage, stages, kinds) for stage in stages],
    )


def foreseen(stages: Sequence[StagePlan], items: QuerySet[Item], pay: float) -> list[ExpectedEffort]:
    """The expected effort of the stages on these items, with the default assumptions."""
    size = size_of(items, stages)
    assumed = {
        name: replace(one, types=size["types"], tasks=tasks)
        for (name, one), tasks in zip(presets.default_assumptions(stages).items(), size["tasks"], strict=True)
    }
    return expected_effort(stages, items=size["items"], assumed=assumed, pay=pay)


# What the form can start from, and what suits the benchmark


@dataclass(frozen=True, slots=True)
class Offered:
    """A starting point that suits the benchmark: under which names for roles, if it calls some otherwise, and which
    share of the item's roles it shows.
    """

    start: StartingPoint
    roles: str = ""
    coverage: float = 0


class Offers(TypedDict):
    """`fitting`: starting points by heading. `unfit`: those that the benchmark does not suit, by the reason.
    `suggested`: the one that shows most of an item, without mapping if there is a choice.
    """

    fitting: list[tuple[str, list[Offered]]]
    unfit: list[tuple[str, list[StartingPoint]]]
    suggested: StartingPoint | None


def offers(groups: Mapping[str, Sequence[StartingPoint]], first: ItemRecord | None) -> Offers:
    """The starting points of each group, sorted by whether they suit the benchmark's first item, if it has one.

    A study is refused if any item does not suit it, so what does not suit the first item cannot be used.
    """
    fitting: dict[str, list[Offered]] = {heading: [] for heading in groups}
    unfit: dict[str, list[StartingPoint]] = {}
    for heading, starts in groups.items():
        for start in starts:
            found = offered(start, first)
            if found is not None:
                fitting[heading].append(found)
            elif first and (reason := presets.unsuited(start.stages, first)):
                words = (
                    f"{reason.needs} per item; the first item has {reason.has or 'none'}"
                    if reason.needs
                    else f"{reason}"
                )
                unfit.setdefault(words, []).append(start)
    every = [one for found in fitting.values() for one in found] if first else []
    best = max(every, key=lambda one: (round(one.coverage, 6), not one.roles), default=None)
    others = {heading: [one for one in found if one is not best] for heading, found in fitting.items()}
    as_they_are_first = [(one, sorted(found, key=lambda of: bool(of.roles))) for one, found in others.items() if found]
    suggested = best.start if best else None
    return Offers(fitting=as_they_are_first, unfit=list(unfit.items()), suggested=suggested)


def offered(start: StartingPoint, first: ItemRecord | None) -> Offered | None:
    """None if it does not suit the item."""
    if first is None:
        return Offered(start)
    stages = fit.fitted(start.stages, first)
    if stages is None:
        return None
    mapped = {role: to for stage in stages for role, to in split(stage.protocol)[1].items()}
    if mapped and start.kind == "preset":  # whose figures are of the papers' roles; its questions are offered singly
        return None
    return Offered(start, in_words(mapped), fit.coverage(stages, first))
