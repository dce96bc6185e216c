"""A study as it is being set up: the forms of the study and of its stages together, and the plan that they make."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db.models import Count

from annotation.designs import presets
from annotation.designs.plan import ExpectedEffort, StagePlan, expected_effort
from annotation.designs.presets import PRESETS, Preset
from annotation.protocols.registry import PROTOCOLS
from annotation.studies.setup_forms import StageForm, StudyForm
from benchmarks import queries
from benchmarks.models import Benchmark, Item
from benchmarks.records import ItemRecord


def preset_of(given: Mapping[str, str]) -> Preset:
    """The preset that an address or a form names, or one stage of the protocol it names; else the first preset."""
    if given.get("protocol") in PROTOCOLS:
        return presets.single_stage(given["protocol"])
    return PRESETS.get(given.get("preset", ""), next(iter(PRESETS.values())))


class Setup:
    """`data` is what was sent; before that, `benchmark` is the one to begin with."""

    def __init__(self, preset: Preset, data=None, benchmark: str | None = None):
        self.preset = preset
        self.sizes = sizes(preset.stages)
        chosen = (data or {}).get("benchmark") or benchmark or ""
        self.size = self.sizes.get(str(chosen)) or next(
            iter(self.sizes.values()), {"items": 0, "types": 1, "tasks": []}
        )
        initial = {"benchmark": benchmark, "pay_per_hour": preset.pay, "currency": preset.currency}
        self.study = StudyForm(data, initial=initial)
        assumed, sources = presets.default_assumptions(preset.stages), {stage.source for stage in preset.stages}
        self.stages = [
            StageForm(stage, preset.stages[:place], assumed[stage.stage_name], stage.stage_name in sources, data)
            for place, stage in enumerate(preset.stages)
        ]
        self.bound = data is not None

    @property
    def forms(self) -> list[StudyForm | StageForm]:
        return [self.study, *self.stages]

    def is_valid(self) -> bool:
        return all(form.is_valid() for form in self.forms)

    def wrong(self) -> list:
        """The fields that are to be mended, in the page's order."""
        return [field for form in self.forms for field in form if field.errors]

    def plan(self) -> dict:
        """What `studies.lifecycle.create_study` takes."""
        return {**self.study.of_study(), "stages": [stage.planned() for stage in self.stages]}

    def expected(self) -> list[ExpectedEffort]:
        """What each stage will take; nothing while a field is wrong."""
        if self.bound and not self.is_valid():
            return []
        stages = [stage.planned() if self.bound else stage.plan for stage in self.stages]
        pay = float(self.study.cleaned_data["pay_per_hour"]) if self.bound else self.preset.pay
        tasks = self.size["tasks"]
        assumed = {
            form.plan.stage_name: form.expects(tasks[place] if tasks else form.assumed.tasks, self.size["types"])
            for place, form in enumerate(self.stages)
        }
        return expected_effort(stages, items=self.size["items"], assumed=assumed, pay=pay)


def foreseen(stages: Sequence[StagePlan], benchmark: Benchmark, pay: float) -> list[ExpectedEffort]:
    """What the stages will take on this benchmark, where nobody says otherwise."""
    first = queries.with_material(benchmark.items.order_by("position")[:1])
    item = next((queries.record_of(item) for item in first), presets.SPECIMEN)
    types = benchmark.items.order_by().values("type").distinct().count()
    assumed = {name: replace(one, types=types) for name, one in presets.default_assumptions(stages, item).items()}
    return expected_effort(stages, items=benchmark.items.count(), assumed=assumed, pay=pay)


def sizes(stages: Sequence[StagePlan]) -> dict[str, dict]:
    """Of each benchmark: its items, and how many screens one of them makes in each stage, judged by its first item."""
    of_type = Count("items__type", distinct=True)
    counted = Benchmark.objects.annotate(n=Count("items"), of_type=of_type).values_list("pk", "n", "of_type")
    firsts = Item.objects.order_by("benchmark_id", "position").distinct("benchmark_id")
    first = {item.benchmark_id: queries.record_of(item) for item in queries.with_material(firsts)}
    return {str(pk): {"items": n, "types": types, "tasks": _tasks(stages, first.get(pk))} for pk, n, types in counted}


def _tasks(stages: Sequence[StagePlan], item: ItemRecord | None) -> list[int]:
    found = presets.default_assumptions(stages, item or presets.SPECIMEN)
    return [found[stage.stage_name].tasks for stage in stages]
