"""A new study's page: all its forms, what was typed, and the plan. For the questions it offers, see cards.py."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import Any, TypedDict

from django.db.models import QuerySet

from annotation.designs import fit, presets
from annotation.designs.fit import role_choices
from annotation.designs.plan import (
    SAMPLED,
    Assumptions,
    ExpectedEffort,
    StagePlan,
    audit_in_words,
    enough_in_words,
    expected_effort,
)  # fmt: skip
from annotation.models import Study
from annotation.pipeline.part import narrowed
from annotation.protocols.registry import protocol_named
from annotation.protocols.roles import split
from annotation.studies import audit_scores, markdown
from annotation.studies.setup_forms import StageForm, cleaned
from annotation.studies.starting_points import SEVERAL, StartingPoint
from annotation.studies.study_form import StudyForm
from benchmarks import queries
from benchmarks.models import Benchmark, Item
from workers import outside_json

STEPS = {"question": "The question", "people": "People and numbers", "texts": "Texts"}
Kept = dict[str, dict[str, Any]]  # by protocol (_kept_keys; "": the study itself): field → value as typed


class Size(TypedDict):
    """A benchmark's number of items and types, and mean tasks per item in each stage (empty if unknown)."""

    items: int
    types: int
    tasks: list[float]


class Setup:
    """The forms of a new study, filled from its starting point.

    `data` is the submitted form. Without it, `benchmark` and `name` are initial values, and `kept` is what the manager
    typed while the form had another starting point.
    """

    def __init__(self, start: StartingPoint, data=None, *, benchmark="", name="", kept: Kept | None = None):
        self.start = start
        self.benchmark = known_benchmark((data or {}).get("benchmark") or benchmark)
        self.first = queries.first_record(self.benchmark)
        self.kept = read_kept((data or {}).get("kept", "")) if kept is None else kept
        texts = {"name": name or self._free_name(), "title": self.benchmark_name[:120]}  # it doesn't hint at answers
        initial = {**texts, **start.study, "benchmark": self.benchmark}
        self.study = StudyForm(data, initial=initial if data else {**initial, **self.kept.get("", {})})
        self.study.offer_parts(self.benchmark, self.first)
        self.study.has_stages = len(start.stages) > 1
        assumed, sources = presets.default_assumptions(start.stages), {stage.source for stage in start.stages}
        self.stages = [
            StageForm(
                stage, start.stages[:place], assumed[stage.stage_name], stage.stage_name in sources, data,
                {} if data else self.kept.get(key), start.images.get(stage.stage_name, ()),
                role_choices(stage, start.stages[: place + 1], self.first) if self.first else (), start.paper,
            )
            for place, (stage, key) in enumerate(zip(start.stages, _kept_keys(start.stages), strict=True))
        ]  # fmt: skip
        self.bound = data is not None
        self._offer_scores()

    def _free_name(self) -> str:
        """Return the question and the benchmark, with a number if studies have that name already."""
        name = f"{self.start.title} on {self.benchmark_name}"[:110]
        taken = set(Study.objects.filter(name__startswith=name).values_list("name", flat=True))
        names = (f"{name} {n}" if n > 1 else name for n in count(1))
        return next(one for one in names if one not in taken)

    @cached_property
    def benchmark_name(self) -> str:
        found = Benchmark.objects.filter(pk=self.benchmark or 0).first()
        return found.name if found else ""

    @property
    def can_ask(self) -> bool:
        """Return whether the question suits the benchmark's first item, as it is or with other names."""
        if self.first is None or fit.fitted(self.start.stages, self.first) is not None:
            return True
        plans = [form.plan for form in self.stages]
        forms = [(place, form) for place, form in enumerate(self.stages) if form.roles]
        return any(fit.mapped_by_hand(form.plan, self.first, plans[:place]) for place, form in forms)

    @property
    def trial(self) -> str:
        """Return the question whose screens can be tried; "" if there are several, or it is not from a file."""
        asked = [split(stage.protocol)[0] for stage in self.start.stages]
        single = len(asked) == 1 and self.first is not None and self.can_ask
        return asked[0] if single and protocol_named(asked[0]).made_from else ""

    @property
    def wrong_step(self) -> str:
        """Return the first step with a refused field; "" if there is none."""
        wrong = {form.step_of(name) for form in self.forms for name in form.errors}
        return next((step for step in STEPS if step in wrong), "")

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
        """Return what the manager has changed, here or before the form had this starting point."""
        kept = {protocol: dict(values) for protocol, values in self.kept.items()}
        for form, key in zip(self.forms, ["", *_kept_keys(self.start.stages)], strict=True):
            values = kept.setdefault(key, {})
            touched = ({*form.changed_data, *values} & set(form.fields)) - {"benchmark"}
            touched -= set(getattr(form, "roles", ()))  # roles depend on the benchmark
            values |= {name: form[name].data for name in touched}
        return kept

    def become_template(self) -> None:
        """Turn the forms into a template's, which has no images."""
        self.study.become_template()
        for stage in self.stages:
            stage.images = ()

    @cached_property
    def size(self) -> Size:
        """Return the benchmark's size for the planned stages."""
        if not self.benchmark:
            return Size(items=0, types=1, tasks=[])
        part = self.study.chosen_part()
        items = narrowed(Item.objects.filter(benchmark=int(self.benchmark), withdrawn=False), part)
        found = size_of(items, [stage.planned() for stage in self.stages])
        return {**found, "items": min(found["items"], part.get("sample") or found["items"])}

    @property
    def orders(self) -> list[tuple[str, str, str]]:
        """If there are several questions, return each stage's title and the keys of two starting points: one in which
        it comes earlier ("" for the first), and one without it.
        """
        keys = self.start.key.split(SEVERAL) if self.start.kind == "protocol" else []
        found = []
        for place, stage in enumerate(self.stages if len(keys) > 1 else ()):
            without = [*keys[:place], *keys[place + 1 :]]
            earlier = [*without[: place - 1], keys[place], *without[place - 1 :]] if place else []
            found.append((stage.title, SEVERAL.join(earlier), SEVERAL.join(without)))
        return found

    def kept_json(self) -> str:
        return json.dumps(self.kept)

    def plan(self) -> dict:
        """Return the arguments of `studies.lifecycle.create_study`."""
        return {**self.study.of_study(), "stages": [stage.planned() for stage in self.stages]}

    def expected(self) -> list[ExpectedEffort]:
        """Return the expected effort of each stage; empty while a field is invalid."""
        if self.bound and not self.is_valid():
            return []
        assumed = self._assumed()
        stages = [stage.planned() for stage in self.stages]
        study = self.study.cleaned_data if self.bound else cleaned(self.study, self.kept.get("", {}))
        pay = float(study.get("pay_per_hour", self.start.study["pay_per_hour"]))
        return expected_effort(stages, items=self.size["items"], assumed=assumed, pay=pay)

    def texts_as_read(self) -> dict[str, Any]:
        """Return consent and each stage's instructions as annotators read them; a text's images are not copied yet."""
        given = [(form.title, str(form["instructions"].value() or "")) for form in self.stages]
        return {
            "consent": markdown.to_html(str(self.study["consent"].value() or ""), level=3),
            "instructions": [(title, markdown.to_html(text, level=3)) for title, text in given],
        }

    @property
    def currency(self) -> str:
        return str(self.study["currency"].value() or "").upper()

    def _assumed(self) -> dict[str, Assumptions]:
        tasks = self.size["tasks"]
        return {
            form.plan.stage_name: form.expects(tasks[place] if tasks else form.assumed.tasks, self.size["types"])
            for place, form in enumerate(self.stages)
        }

    def enough_in_words(self, expected: Sequence[ExpectedEffort]) -> list[str]:
        """Describe how much of the `expected` effort each audit takes, and what other stages' judgments suffice for."""
        if not expected:
            return []
        assumed = self._assumed()
        found = []
        for form, effort in zip(self.stages, expected, strict=True):
            plan, of = form.planned(), effort.items if form.plan.source else self.size["items"]
            words = audit_in_words(plan, effort, assumed[form.plan.stage_name], self.currency)
            words = words or enough_in_words(plan, effort.items, of)
            words = " ".join(filter(None, [form.no_longer(self.start.paper), words]))
            found.append(f"{form.title}: {words}" if len(self.stages) > 1 else words)
        return found


def _kept_keys(stages: Sequence[StagePlan]) -> list[str]:
    """Return `verify`, `verify 2` …: what was typed for a stage goes to the stage with the same question."""
    asked = [split(stage.protocol)[0] for stage in stages]
    counts = [asked[: place + 1].count(protocol) for place, protocol in enumerate(asked)]
    return [f"{name} {n}" if n > 1 else name for name, n in zip(asked, counts, strict=True)]


def read_kept(text: str) -> Kept:
    """Return the values kept in a hidden field; empty if somebody has tampered with it."""
    try:
        kept = outside_json.read(text or "{}")
        return {str(protocol): dict(values) for protocol, values in kept.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def known_benchmark(asked: str | None) -> str:
    """Return the given id if that benchmark exists, otherwise that of the newest one not archived, or ""."""
    there = {str(pk): archived for pk, archived in Benchmark.objects.values_list("pk", "archived")}
    return str(asked) if str(asked) in there else next((pk for pk, archived in there.items() if not archived), "")


def size_of(items: QuerySet[Item], stages: Sequence[StagePlan]) -> Size:
    """Return how many tasks the items will have: counted for each kind of item, by its parts, among all or about
    `SAMPLED` of them.
    """
    count = items.count()
    kinds = queries.shapes(queries.one_in(count // SAMPLED, items))
    return Size(
        items=count,
        types=items.order_by().values("type").distinct().count(),
        tasks=[presets.mean_tasks(stage, stages, kinds) for stage in stages],
    )


def foreseen(stages: Sequence[StagePlan], items: QuerySet[Item], pay: float) -> list[ExpectedEffort]:
    """Return the expected effort of the stages on these items, with the default assumptions."""
    size = size_of(items, stages)
    assumed = {
        name: replace(one, types=size["types"], tasks=tasks)
        for (name, one), tasks in zip(presets.default_assumptions(stages).items(), size["tasks"], strict=True)
    }
    return expected_effort(stages, items=size["items"], assumed=assumed, pay=pay)
