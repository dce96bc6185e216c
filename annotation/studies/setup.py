"""A new study as its page holds it: all its forms, what was typed, the resulting plan, and starting points to offer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

from django.db.models import Count

from annotation.designs import presets
from annotation.designs.plan import Assumptions, ExpectedEffort, StagePlan, audit_in_words, expected_effort
from annotation.studies import audit_scores
from annotation.studies.setup_forms import StageForm, StudyForm, cleaned
from annotation.studies.starting_points import StartingPoint
from benchmarks import queries
from benchmarks.models import Benchmark, Item
from benchmarks.records import ItemRecord
from workers import outside_json

Kept = dict[str, dict[str, Any]]  # by protocol (_kept_keys; "": the study itself): field → value as it was typed


class Size(TypedDict):
    """A benchmark's numbers of items and types, and the screens per item in each stage (none if unknown)."""

    items: int
    types: int
    tasks: list[int]


class Setup:
    """The forms of a new study, filled from its starting point.

    `data` is the submitted form. Without it, `benchmark` and `name` are initial values, and `kept` is what the manager
    has typed while the form had another starting point.
    """

    def __init__(
        self, start: StartingPoint, firsts: Mapping[str, ItemRecord], data=None, *, benchmark="", name="",
        kept: Kept | None = None,
    ):  # fmt: skip
        self.start = start
        self.sizes = sizes(start.stages, firsts)
        self.benchmark = known_benchmark((data or {}).get("benchmark") or benchmark, self.sizes)
        self.size = self.sizes.get(self.benchmark, Size(items=0, types=1, tasks=[]))
        self.kept = read_kept((data or {}).get("kept", "")) if kept is None else kept
        initial = {"name": name, **start.study, "benchmark": self.benchmark}
        self.study = StudyForm(data, initial=initial if data else {**initial, **self.kept.get("", {})})
        assumed, sources = presets.default_assumptions(start.stages), {stage.source for stage in start.stages}
        self.stages = [
            StageForm(
                stage, start.stages[:place], assumed[stage.stage_name], stage.stage_name in sources, data,
                {} if data else self.kept.get(key), start.images.get(stage.stage_name, ()),
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

    def wrong(self) -> list:
        """The fields with errors, in the page's order."""
        return [field for form in self.forms for field in form if field.errors]

    def typed(self) -> Kept:
        """What the manager has changed, here or before the form had this starting point."""
        kept = {protocol: dict(values) for protocol, values in self.kept.items()}
        for form, key in zip(self.forms, ["", *_kept_keys(self.start.stages)], strict=True):
            values = kept.setdefault(key, {})
            touched = ({*form.changed_data, *values} & set(form.fields)) - {"benchmark"}
            values |= {name: form[name].data for name in touched}
        return kept

    def become_template(self) -> None:
        """From now on the forms are for a template, which has no images."""
        self.study.become_template()
        for stage in self.stages:
            stage.images = ()

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
    asked = [stage.protocol for stage in stages]
    counts = [asked[: place + 1].count(protocol) for place, protocol in enumerate(asked)]
    return [f"{name} {n}" if n > 1 else name for name, n in zip(asked, counts, strict=True)]


def read_kept(text: str) -> Kept:
    """What a page kept in a hidden field; nothing if somebody has tampered with it."""
    try:
        kept = outside_json.read(text or "{}")
        return {str(protocol): dict(values) for protocol, values in kept.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def known_benchmark(asked: str | None, there: Mapping[str, object]) -> str:
    """The id that was asked for if there is such a benchmark, otherwise that of the first; "" if there is none."""
    return str(asked) if str(asked) in there else next(iter(there), "")


def foreseen(stages: Sequence[StagePlan], benchmark: Benchmark, pay: float) -> list[ExpectedEffort]:
    """The expected effort of the stages on this benchmark, with the default assumptions."""
    first = queries.with_material(benchmark.items.order_by("position")[:1])
    item = next((queries.record_of(item) for item in first), presets.SPECIMEN)
    types = benchmark.items.order_by().values("type").distinct().count()
    assumed = {name: replace(one, types=types) for name, one in presets.default_assumptions(stages, item).items()}
    return expected_effort(stages, items=benchmark.items.count(), assumed=assumed, pay=pay)


def first_items() -> dict[str, ItemRecord]:
    """The first item of each benchmark by the benchmark's id as text."""
    items = Item.objects.order_by("benchmark_id", "position").distinct("benchmark_id")
    return {str(item.benchmark_id): queries.record_of(item) for item in queries.with_material(items)}


def sizes(stages: Sequence[StagePlan], firsts: Mapping[str, ItemRecord]) -> dict[str, Size]:
    """The size of each benchmark by its id as text; screens per item are counted on its first item."""
    of_type = Count("items__type", distinct=True)
    counted = Benchmark.objects.annotate(n=Count("items"), of_type=of_type).values_list("pk", "n", "of_type")
    found = {}
    for pk, items, types in counted:
        assumed = presets.default_assumptions(stages, firsts.get(str(pk), presets.SPECIMEN))
        found[str(pk)] = Size(items=items, types=types, tasks=[assumed[stage.stage_name].tasks for stage in stages])
    return found


# What the form can start from, and what suits the benchmark


class Offers(TypedDict):
    """`fitting`: starting points by heading. `unfit`: those that the benchmark does not suit, by the reason."""

    fitting: list[tuple[str, list[StartingPoint]]]
    unfit: list[tuple[str, list[StartingPoint]]]


def offers(groups: Mapping[str, Sequence[StartingPoint]], first: ItemRecord | None) -> Offers:
    """The starting points of each group, sorted by whether they suit the benchmark's first item, if it has one.

    A study is refused if any item does not suit it, so what does not suit the first item cannot be used.
    """
    fitting: dict[str, list[StartingPoint]] = {heading: [] for heading in groups}
    unfit: dict[str, list[StartingPoint]] = {}
    for heading, starts in groups.items():
        for start in starts:
            reason = presets.unsuited(start.stages, first) if first else None
            if reason is None:
                fitting[heading].append(start)
            else:
                words = f"{reason.needs} per item; the first item has {reason.has or 'none'}"
                unfit.setdefault(words, []).append(start)
    return Offers(fitting=[(one, starts) for one, starts in fitting.items() if starts], unfit=list(unfit.items()))
