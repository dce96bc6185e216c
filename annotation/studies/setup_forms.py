"""The forms for setting up a study: the study itself, and every setting of every stage."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from django import forms
from django.conf import settings
from django.core.validators import BaseValidator
from django.db.models import Count

from annotation.checks.fields import FAILURES, PercentField
from annotation.designs import presets
from annotation.designs.plan import NO_CHECKS, Assumptions, ExpectedEffort, StagePlan, contradictions, expected_effort
from annotation.designs.presets import PRESETS, Preset
from annotation.models import DecisionRule, Promotion, Stage, Strategy, Study, StudyState, TieRule
from annotation.protocols.registry import PROTOCOLS
from annotation.studies import markdown
from annotation.studies.instructions import default_instructions
from benchmarks import queries
from benchmarks.models import Benchmark, Item

STRATEGIES = {
    Strategy.POOL: "pool: the next free item goes to the next annotator",
    Strategy.BATCHES: "batches: each annotator gets a set of items",
    Strategy.NAMED: "named: you assign items to annotators",
    Strategy.EVERYONE: "everyone: every annotator judges every item",
}
RULES = {
    DecisionRule.MAJORITY: "majority vote",
    DecisionRule.DAWID_SKENE: "Dawid–Skene: the most probable answer, estimated from all answers",
}
TIES = {
    TieRule.DROP: "drop the item as an unresolved tie",
    TieRule.FIRST: "the earlier answer wins",
    TieRule.NONE: "count it as None",
    TieRule.ADJUDICATE: "leave it open for an adjudicator",
}
PROMOTIONS = {
    Promotion.SETTLED: "each item as soon as it is decided",
    Promotion.CLOSING: "all items when that stage closes",
}


NO_IMAGES = "Leave out the image “{name}”. You can add images to the instructions once the study exists."
FIELDS = {field.name: field for field in Stage._meta.concrete_fields}


class Size(TypedDict):
    """A benchmark's numbers of items and types, and the screens per item in each stage (none if unknown)."""

    items: int
    types: int
    tasks: list[int]


def number(name: str, label: str, hint: str = "", required: bool = True) -> forms.IntegerField:
    """The form field for a stage's setting, within the bounds of the model's field."""
    limits = [validator for validator in FIELDS[name].validators if isinstance(validator, BaseValidator)]
    bounds = {limit.code: limit.limit_value for limit in limits}
    low, high = bounds.get("min_value"), bounds.get("max_value")
    return forms.IntegerField(label=label, help_text=hint, required=required, min_value=low, max_value=high)


def _checked(text: str) -> str:
    """Markdown without images, which only a stage that exists can have. Raises ValidationError."""
    if wrong := markdown.problems(text, (), unknown=NO_IMAGES):
        raise forms.ValidationError(wrong)
    return text


class StageForm(forms.Form):
    """One stage. `seconds` and `kept` are the plan's assumptions; every other field is a setting of the stage.

    `feeds`: whether a later stage takes the items that this one keeps.
    """

    overlap = number("overlap", "Judgments per item", "By different annotators. Agreement needs two or more.")
    cap = number(
        "cap", "Maximum judgments per item",
        "While annotators disagree, ask for one more, up to this many. Leave empty for no extra ones.", required=False,
    )  # fmt: skip
    rule = forms.ChoiceField(label="Decision rule", choices=RULES.items())
    tie_rule = forms.ChoiceField(label="If the vote is tied", choices=TIES.items())
    strategy = forms.ChoiceField(label="Assignment of items", choices=STRATEGIES.items())
    batch_size = number("batch_size", "Batch size (items)", "Used with batches only.", required=False)
    agreement_items = number(
        "agreement_items", "Agreement sample (items)", "This many random items get more judgments.", required=False
    )
    agreement_overlap = number("agreement_overlap", "Judgments per sampled item", required=False)
    quota = number("quota", "Quota", "Maximum judgments per annotator. Leave empty for no limit.", required=False)
    sample = number("sample", "Sample of items", "Use this many random items. Leave empty to use all.", required=False)
    stratify = forms.BooleanField(label="Keep the proportions of types and subtypes in the sample", required=False)
    sample_each = forms.BooleanField(label="Sample this many items per type", required=False)
    promotion = forms.ChoiceField(label="Items enter", choices=PROMOTIONS.items(), required=False)
    apart_from = forms.MultipleChoiceField(
        label="Exclude annotators who saw the item in", widget=forms.CheckboxSelectMultiple, required=False
    )
    lease_seconds = number(
        "lease_seconds", "Reservation time (seconds)", "After that, an idle screen goes to someone else."
    )
    undo_seconds = number("undo_seconds", "Undo window (seconds)")
    check_rate = PercentField(label="Checks (% of screens)", max_value=50)
    training_pass = PercentField(label="Practice pass mark (%)")
    training_tries = number("training_tries", "Attempts at practice")
    on_failure = forms.ChoiceField(label="If the annotator fails", choices=FAILURES.items())
    auto_advance = forms.BooleanField(label="Submit an answer as soon as it is picked", required=False)
    instructions = forms.CharField(
        label="Instructions", widget=forms.Textarea(attrs={"rows": 14}),
        help_text="In Markdown: a blank line starts a new paragraph, lines that start with “- ” become a list. You can "
        "add images once the study exists. A later change makes a new version, which every annotator must read.",
    )  # fmt: skip
    seconds = forms.FloatField(label="Seconds per judgment", min_value=0.1, max_value=3600)
    kept = PercentField(label="% of items kept")

    ASSUMED = ("seconds", "kept")
    OF_PRACTICE = ("check_rate", "training_pass", "training_tries", "on_failure")

    def __init__(self, plan: StagePlan, before: Sequence[StagePlan], assumed: Assumptions, feeds: bool, data=None):
        self.plan, self.assumed, self.feeds = plan, assumed, feeds
        super().__init__(data, prefix=plan.stage_name, initial=self._starting(before))
        apart_from = self.fields["apart_from"]
        assert isinstance(apart_from, forms.MultipleChoiceField)
        names = [(stage.stage_name, stage.stage_name) for stage in before]
        apart_from.choices = [*names, (plan.stage_name, "this stage")]
        gone = [] if plan.source else ["promotion"]
        gone += [] if feeds else ["kept"]
        gone += ["rule"] if PROTOCOLS[plan.protocol].confirms else []
        gone += self.OF_PRACTICE if self.no_checks else []
        for name in gone:
            del self.fields[name]

    def _starting(self, before: Sequence[StagePlan]) -> dict[str, object]:
        """The initial values: the plan's settings, otherwise the model's defaults."""
        return {
            **{name: FIELDS[name].get_default() for name in self.base_fields if name in FIELDS},
            **self.plan.settings,
            "apart_from": presets.apart_of(self.plan, before),
            "instructions": self.plan.instructions or default_instructions(PROTOCOLS[self.plan.protocol], "en"),
            "seconds": self.assumed.seconds,
            "kept": self.assumed.kept,
        }

    MAIN = ("overlap", "tie_rule", "quota", "strategy", "batch_size", "sample", "agreement_items", "agreement_overlap")

    @property
    def title(self) -> str:
        return PROTOCOLS[self.plan.protocol].title

    @property
    def no_checks(self) -> str:
        """Why this stage cannot have checks; empty if it can."""
        return NO_CHECKS if PROTOCOLS[self.plan.protocol].form else ""

    @property
    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in self.MAIN]

    @property
    def more(self) -> list[forms.BoundField]:
        shown = {*self.MAIN, *self.ASSUMED, "instructions"}
        return [field for field in self if field.name not in shown]

    @property
    def more_is_wrong(self) -> bool:
        return any(field.errors for field in self.more)

    def clean_instructions(self) -> str:
        return _checked(self.cleaned_data["instructions"])

    def clean(self) -> None:
        given = self.cleaned_data
        own_items_apart = self.plan.stage_name in given.get("apart_from", ()) and self.assumed.tasks > 1
        if not {"batch_size", "agreement_items", "agreement_overlap", "cap", "overlap"} & set(self.errors):
            form = PROTOCOLS[self.plan.protocol].form
            for name, sentence in contradictions(given, own_items_apart, form).items():
                self.add_error(name, sentence)

    def planned(self) -> StagePlan:
        given = {name: value for name, value in self.cleaned_data.items() if name not in self.ASSUMED}
        words, apart = given.pop("instructions").replace("\r\n", "\n"), given.pop("apart_from")
        return replace(self.plan.with_settings(**given), instructions=words, apart_from=apart)

    def expects(self, tasks: int, types: int = 1) -> Assumptions:
        given = {name: self.cleaned_data[name] for name in self.ASSUMED if self.is_bound and name in self.fields}
        return replace(self.assumed, tasks=tasks, types=types, **given)


class StudyForm(forms.Form):
    name = forms.CharField(
        label="Study name", max_length=Study._meta.get_field("name").max_length,
        help_text="Annotators see it, so it should not hint at the answers.",
    )  # fmt: skip
    benchmark = forms.ModelChoiceField(Benchmark.objects.all(), empty_label=None)
    pay_per_hour = forms.DecimalField(
        label="Pay per hour", max_digits=7, decimal_places=2, min_value=0,
        help_text="Used to compute costs. Winnow does not pay anyone.",
    )  # fmt: skip
    currency = forms.CharField(min_length=3, max_length=3)
    language = forms.ChoiceField(
        choices=settings.LANGUAGES, initial="en", required=False,
        help_text="Of your own texts and of the captions. Annotators can read all pages in six languages.",
    )  # fmt: skip
    consent = forms.CharField(
        label="Consent", required=False, widget=forms.Textarea(attrs={"rows": 3}),
        help_text="In Markdown. Annotators must agree to this text before they join. Leave empty to skip consent.",
    )  # fmt: skip
    paused = forms.BooleanField(label="Start paused: nobody can join until you open the study", required=False)

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if Study.objects.filter(name=name).exists():
            raise forms.ValidationError("A study with this name already exists. Choose another name.")
        return name

    def clean_consent(self) -> str:
        return _checked(self.cleaned_data["consent"])

    def clean_currency(self) -> str:
        return self.cleaned_data["currency"].upper()

    def clean_benchmark(self) -> Benchmark:
        benchmark = self.cleaned_data["benchmark"]
        if not Item.objects.filter(benchmark=benchmark).exists():
            raise forms.ValidationError("This benchmark has no items. Choose another one.")
        return benchmark

    def of_study(self) -> dict:
        """The arguments of `studies.lifecycle.create_study` apart from the stages."""
        given = dict(self.cleaned_data)
        state = StudyState.PAUSED if given.pop("paused") else StudyState.OPEN
        given["language"] = given["language"] or "en"
        return {**given, "consent": given["consent"].replace("\r\n", "\n"), "state": state}


# All forms together, and the plan they result in


def preset_of(given: Mapping[str, str]) -> Preset:
    """The preset named in a URL or form, or one stage of the protocol named there; otherwise the first preset."""
    if given.get("protocol") in PROTOCOLS:
        return presets.single_stage(given["protocol"])
    return PRESETS.get(given.get("preset", ""), next(iter(PRESETS.values())))


class Setup:
    """`data` is the submitted form; without it, `benchmark` is the initial choice."""

    def __init__(self, preset: Preset, data=None, benchmark: str | None = None):
        self.preset = preset
        self.sizes = sizes(preset.stages)
        chosen = (data or {}).get("benchmark") or benchmark or ""
        none = Size(items=0, types=1, tasks=[])
        self.size = self.sizes.get(str(chosen)) or next(iter(self.sizes.values()), none)
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
        """The fields with errors, in the page's order."""
        return [field for form in self.forms for field in form if field.errors]

    def plan(self) -> dict:
        """The arguments of `studies.lifecycle.create_study`."""
        return {**self.study.of_study(), "stages": [stage.planned() for stage in self.stages]}

    def expected(self) -> list[ExpectedEffort]:
        """The expected effort of each stage; empty while a field is invalid."""
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
    """The expected effort of the stages on this benchmark, with the default assumptions."""
    first = queries.with_material(benchmark.items.order_by("position")[:1])
    item = next((queries.record_of(item) for item in first), presets.SPECIMEN)
    types = benchmark.items.order_by().values("type").distinct().count()
    assumed = {name: replace(one, types=types) for name, one in presets.default_assumptions(stages, item).items()}
    return expected_effort(stages, items=benchmark.items.count(), assumed=assumed, pay=pay)


def sizes(stages: Sequence[StagePlan]) -> dict[str, Size]:
    """The size of each benchmark by its id as text; screens per item are counted on its first item."""
    of_type = Count("items__type", distinct=True)
    counted = Benchmark.objects.annotate(n=Count("items"), of_type=of_type).values_list("pk", "n", "of_type")
    firsts = Item.objects.order_by("benchmark_id", "position").distinct("benchmark_id")
    first = {item.benchmark_id: queries.record_of(item) for item in queries.with_material(firsts)}
    found = {}
    for pk, items, types in counted:
        assumed = presets.default_assumptions(stages, first.get(pk, presets.SPECIMEN))
        found[str(pk)] = Size(items=items, types=types, tasks=[assumed[stage.stage_name].tasks for stage in stages])
    return found
