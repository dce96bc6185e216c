"""The forms for a new study's stages, with every setting (for the study itself: study_form.py)."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from django import forms
from django.core.validators import BaseValidator

from annotation.checks.fields import FAILURES, PercentField
from annotation.designs import presets
from annotation.designs.fit import RoleChoice
from annotation.designs.plan import NO_CHECKS, Assumptions, StagePlan, contradictions
from annotation.models import DecisionRule, Promotion, Stage, Strategy, TieRule
from annotation.protocols.registry import is_known, is_unpublished, protocol_named
from annotation.protocols.roles import CannotMap, joined, split, with_roles
from annotation.protocols.rule_words import each_rule
from annotation.protocols.rules import least_judgments
from annotation.protocols.schema import ProtocolFile
from annotation.studies import markdown
from annotation.studies.instructions import LANGUAGES, default_instructions
from annotation.studies.lifecycle import cannot_adapt, cannot_audit
from annotation.wording import readable_label
from benchmarks.naming import role_name

STRATEGIES = {
    Strategy.POOL: "everyone gets the next free item",
    Strategy.BATCHES: "each annotator gets a batch of items",
    Strategy.NAMED: "you assign items to annotators by name",
    Strategy.EVERYONE: "every annotator judges every item",
    Strategy.AUDIT: "an audit: in random order, up to a target",
}
RULES = {
    DecisionRule.MAJORITY: "majority vote",
    DecisionRule.DAWID_SKENE: "Dawid–Skene: the most probable answer, estimated from all answers",
}
TIES = {
    TieRule.DROP: "drop the item as an unresolved tie",
    TieRule.FIRST: "the earlier answer wins",
    TieRule.NONE: "count it as “None”",
    TieRule.ADJUDICATE: "leave it open for an adjudicator",
}
PROMOTIONS = {
    Promotion.SETTLED: "each item as soon as it is decided",
    Promotion.CLOSING: "all items when the earlier stage closes",
}


OF_ROLE = "role_"  # followed by a role of the question: the field with the benchmark's name for it
IN = "instructions_"  # followed by a language: the field of a translation
CONFIRMS = "One annotator decides and another confirms edits, so there is nothing to choose."
NO_IMAGES = "Leave out the image “{name}”. You can add images to the instructions once the study exists."
FIELDS = {field.name: field for field in Stage._meta.concrete_fields}


def field_of_role(choice: RoleChoice) -> forms.ChoiceField:
    """Return the field that offers the parts of an item that could have the role."""
    kind, _, name = choice.role.partition(".")
    noun = "picture" if kind == "images" else "text"
    choices = [(one, f"{role_name(one)} ({count} {noun}{'' if count == 1 else 's'})") for one, count in choice.there]
    if choice.name not in dict(choices):
        choices = [(choice.name, "none" if choice.optional else "choose …"), *choices]
    label = f"The {noun} “{role_name(name)}” in the question is"  # a picture and a text may have the same name
    return forms.ChoiceField(label=label, choices=choices, initial=choice.name)


class TextField(forms.CharField):
    """Text of several lines, with line ends normalised."""

    def __init__(self, rows: int, **rest):
        super().__init__(widget=forms.Textarea(attrs={"rows": rows}), **rest)

    def to_python(self, value):
        return (super().to_python(value) or "").replace("\r\n", "\n")

    def has_changed(self, initial, data):
        return super().has_changed(self.to_python(initial), data)


def number(name: str, label: str, hint: str = "", required: bool = False) -> forms.IntegerField:
    """Return the form field for a stage's setting, within the bounds of the model's field."""
    limits = [validator for validator in FIELDS[name].validators if isinstance(validator, BaseValidator)]
    bounds = {limit.code: limit.limit_value for limit in limits}
    low, high = bounds.get("min_value"), bounds.get("max_value")
    return forms.IntegerField(label=label, help_text=hint, required=required, min_value=low, max_value=high)


def percent(label: str, hint: str = "", most: int = 100) -> PercentField:
    """Return the field of a share that may be left out."""
    return PercentField(label=label, help_text=hint, max_value=most, required=False)


def switch(label: str) -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False)


def several(label: str, hint: str = "") -> forms.MultipleChoiceField:
    """Return optional checkboxes; `offer` sets the choices."""
    boxes = forms.CheckboxSelectMultiple
    return forms.MultipleChoiceField(label=label, help_text=hint, required=False, widget=boxes)


def offer(form: forms.Form, name: str, choices: Iterable[tuple[Any, str]]) -> None:
    form.fields[name].choices = list(choices)  # type: ignore[attr-defined]  # it has choices


def checked(text: str, images: Sequence[str] = ()) -> str:
    """Return Markdown that has only these images, those of a copied stage. Raises ValidationError."""
    if wrong := markdown.problems(text, images, unknown=NO_IMAGES):
        raise forms.ValidationError(wrong)
    return text


class StageForm(forms.Form):
    """One stage. `seconds`, `kept` and `wrong` are the plan's assumptions; every other field is a setting of the stage.

    `feeds`: whether a later stage takes the items kept here. `images`: names of images that the instructions can show.
    """

    overlap = number("overlap", "Judgments per item", "Each by a different person.", True)
    cap = number("cap", "Maximum judgments per item", "While annotators disagree, ask for more, up to this many.")
    certainty = percent("Adaptive overlap: stop at (%)", "Ask for more while the leading answer is less certain.")
    rule = forms.ChoiceField(label="Decision rule", choices=RULES.items())
    tie_rule = forms.ChoiceField(label="If the vote is tied", choices=TIES.items())
    strategy = forms.ChoiceField(label="Who judges what", choices=STRATEGIES.items())
    batch_size = number("batch_size", "Batch size (items)")
    agreement_items = number("agreement_items", "Agreement sample (items)", "This many items get more judgments.")
    agreement_overlap = number("agreement_overlap", "Judgments per sampled item")
    quota = number("quota", "Most judgments per person", "Empty: no limit. A lower limit takes more people.")
    sample = number("sample", "Sample of items", "Ask about this many items, chosen at random. Leave empty for all.")
    stratify = switch("Keep the proportions of types and subtypes in the sample or audit")
    sample_each = switch("Sample this many items per type")
    target_half_width = percent("Audit: stop at ± (%)", "When the share of wrong items is known to within this.", 50)
    target_bound = percent("Audit: stop at a bound (%)", "Instead: when at most this share is wrong (95% confidence).")
    any_look = switch("Audit: interval stays valid whenever you stop")
    wrong_reasons = several(
        "Audit: count an item as wrong if it is dropped as",
        "Choose none to count all but ties and “cannot judge”, which don’t say anything about the item.",
    )
    scores_run = forms.IntegerField(
        label="Audit: scores of a model",
        required=False,
        widget=forms.Select,
        help_text="If the model is unsure about wrong items, its scores save judgments, though few in a short audit. "
        "Useless scores cost hardly any.",
    )
    wrong = percent("Audit: expected share of wrong items (%)", "Used only by the plan.")
    promotion = forms.ChoiceField(label="Items enter", choices=PROMOTIONS.items(), required=False)
    apart_from = several("Exclude annotators who saw the item in")
    lease_seconds = number("lease_seconds", "Reservation time (seconds)", "Then others can get an idle screen.", True)
    undo_seconds = number("undo_seconds", "Undo window (seconds)", required=True)
    check_rate = PercentField(label="Checks (% of tasks)", max_value=50)
    practice_pass = PercentField(label="Practice pass mark (%)")
    practice_tries = number("practice_tries", "Practice attempts", required=True)
    on_failure = forms.ChoiceField(label="If the annotator fails", choices=FAILURES.items())
    auto_advance = switch("Submit an answer as soon as it is picked")
    instructions = TextField(
        14,
        label="Instructions",
        help_text="In Markdown: a blank line starts a new paragraph, and lines that start with “- ” become a list. You "
        "can add images once the study exists. Each later change makes a new version, which every annotator must read.",
    )
    seconds = forms.FloatField(label="Seconds per judgment", min_value=0.1, max_value=3600)
    kept = PercentField(label="% of items kept")

    BESIDE_THE_PLAN = ("seconds", "kept")
    ASSUMED = (*BESIDE_THE_PLAN, "wrong")
    OF_AUDIT = ("target_half_width", "target_bound", "any_look", "wrong_reasons", "scores_run", "wrong")
    OF_PRACTICE = ("check_rate", "practice_pass", "practice_tries", "on_failure")

    def __init__(
        self, plan: StagePlan, before: Sequence[StagePlan], assumed: Assumptions, feeds: bool, data=None, typed=None,
        images: Sequence[str] = (), roles: Sequence[RoleChoice] = (), paper: str = "",
    ):  # fmt: skip
        """`typed` are values to show instead of the plan's; `roles` need the benchmark's names; the plan's numbers are
        from `paper`.
        """
        self.plan, self.assumed, self.feeds, self.typed = plan, assumed, feeds, typed or {}
        self.images = images
        titles = {stage.stage_name: protocol_named(stage.protocol).title for stage in before}
        self.source_title, self.after_title = titles.get(plan.source, ""), titles.get(plan.after, "")
        super().__init__(data, prefix=plan.stage_name, initial={**self._starting(before), **self.typed})
        self.roles = {f"{OF_ROLE}{one.role}": one for one in roles}
        self.fields |= {name: field_of_role(one) for name, one in self.roles.items()}
        for language in plan.translations:
            words = f"Instructions in {LANGUAGES[language]}"
            self.fields[f"{IN}{language}"] = TextField(14, label=words, required=False)
        names = [(stage.stage_name, protocol_named(stage.protocol).title) for stage in before]
        offer(self, "apart_from", [*names, (plan.stage_name, "this stage")])
        reasons = sorted({*protocol_named(plan.protocol).drops.values(), "flagged", "tie_unresolved"})
        offer(self, "wrong_reasons", [(reason, readable_label(reason)) for reason in reasons])
        gone = [] if plan.source else ["promotion"]
        gone += [] if feeds else ["kept"]
        gone += ["rule"] if protocol_named(plan.protocol).confirms else []
        gone += ["rule", "tie_rule"] if self.file else []
        if cannot_audit(plan):
            gone += self.OF_AUDIT
            offer(self, "strategy", [one for one in STRATEGIES.items() if one[0] != Strategy.AUDIT])
        gone += ["certainty"] if cannot_adapt(plan) else []
        gone += self.OF_PRACTICE if self.no_checks else []
        for name in gone:
            del self.fields[name]
        self._bound_judgments(paper)

    def _bound_judgments(self, paper: str) -> None:
        """Offer only numbers of judgments with which the question's rule can decide."""
        field, protocol = self.fields["overlap"], protocol_named(self.plan.protocol)
        if protocol.confirms:
            field.disabled, field.help_text = True, CONFIRMS
            return
        least, why = least_judgments(protocol.file) if protocol.file else (1, "")
        told = [f"{paper} has {self.plan.settings.get('overlap') or 1}."] if paper else []
        told += [f"The question suggests {protocol.file.judgments}."] if protocol.file and not paper else []
        told += [f"{why}." if why else "Two or more show how far people agree."]
        field.help_text = " ".join([str(field.help_text), *told])
        field.widget.attrs["min"] = least

    def no_longer(self, paper: str) -> str:
        """Return a sentence if the number of judgments no longer matches the paper's; otherwise ""."""
        planned, papers = (one.settings.get("overlap") or 1 for one in (self.planned(), self.plan))
        return f"{planned} instead of {papers}, so no longer {paper}’s number." if paper and planned != papers else ""

    def _starting(self, before: Sequence[StagePlan]) -> dict[str, object]:
        """Return the initial values: the plan's settings, otherwise the model's defaults."""
        return {
            **{name: FIELDS[name].get_default() for name in self.base_fields if name in FIELDS},
            **self.plan.settings,
            "apart_from": presets.apart_of(self.plan, before),
            "instructions": self.plan.instructions or default_instructions(protocol_named(self.plan.protocol), "en"),
            **{f"{IN}{language}": text for language, text in self.plan.translations.items()},
            "seconds": self.assumed.seconds,
            "kept": self.assumed.kept,
        }

    MAIN = ("overlap", "strategy", "batch_size", *OF_AUDIT, "quota")
    MORE = {
        "Ties and further judgments": ("tie_rule", "cap", "certainty", "agreement_items", "agreement_overlap", "rule"),
        "Which items, and for whom": ("stratify", "sample_each", "promotion", "apart_from"),
        "Time and undo": ("lease_seconds", "undo_seconds", "auto_advance"),
        "Checks and practice": OF_PRACTICE,
    }
    # Fields that only some strategies use; the page shows other strategies' fields only if they have errors.
    ONLY_IF = {"batch_size": Strategy.BATCHES, **dict.fromkeys(OF_AUDIT, Strategy.AUDIT)}
    ONLY_UNLESS = dict.fromkeys(("sample", "sample_each", "agreement_items", "agreement_overlap"), Strategy.AUDIT)

    def step_of(self, name: str) -> str:
        return "texts" if name in {field.name for field in self.texts} else "people"

    def _with_strategies(self, fields: Iterable[forms.BoundField]) -> list[tuple[forms.BoundField, str, str]]:
        """Return each field with the strategies that use it and those that don't."""
        return [(one, self.ONLY_IF.get(one.name, ""), self.ONLY_UNLESS.get(one.name, "")) for one in fields]

    @property
    def of_roles(self) -> list[forms.BoundField]:
        """Return the fields with the benchmark's names for the question's roles."""
        return [self[name] for name in self.roles]

    @property
    def protocol(self) -> str:
        """Return the protocol's name, without the benchmark's names for roles."""
        return split(self.plan.protocol)[0]

    @property
    def is_unpublished(self) -> bool:
        return is_unpublished(self.protocol)

    @property
    def title(self) -> str:
        return protocol_named(self.plan.protocol).title

    @property
    def file(self) -> ProtocolFile | None:
        """Return the published file that the stage uses, if any; it sets the rule and how ties are settled."""
        return protocol_named(self.plan.protocol).file

    @property
    def rules(self) -> list[str]:
        """Return sentences on which answers drop an item under the published file."""
        return each_rule(self.file) if self.file else []

    @property
    def no_checks(self) -> str:
        """Return why this stage cannot have checks; empty if it can."""
        return NO_CHECKS if protocol_named(self.plan.protocol).form else ""

    @property
    def main(self) -> list[tuple[forms.BoundField, str, str]]:
        return self._with_strategies(self[name] for name in self.MAIN if name in self.fields)

    @property
    def of_sample(self) -> tuple[forms.BoundField, str, str]:
        return self._with_strategies([self["sample"]])[0]

    @property
    def more(self) -> list[tuple[str, list[tuple[forms.BoundField, str, str]]]]:
        """Return the rarer settings by heading."""
        there = {heading: [self[name] for name in names if name in self.fields] for heading, names in self.MORE.items()}
        return [(heading, self._with_strategies(fields)) for heading, fields in there.items() if fields]

    @property
    def texts(self) -> list[forms.BoundField]:
        """Return the instructions, and their translations if the plan has its own."""
        return [self["instructions"], *(self[f"{IN}{language}"] for language in self.plan.translations)]

    @property
    def more_is_wrong(self) -> bool:
        return any(field.errors for _, fields in self.more for field, _, _ in fields)

    def clean_instructions(self) -> str:
        return checked(self.cleaned_data["instructions"], self.images)

    def clean(self) -> None:
        given = self.cleaned_data
        self._check_roles(given)
        own_items_apart = self.plan.stage_name in given.get("apart_from", ()) and self.assumed.tasks > 1
        if not {"batch_size", "agreement_items", "agreement_overlap", "cap", "overlap"} & set(self.errors):
            protocol = protocol_named(self.plan.protocol)
            decided = self.plan.settings if self.file else {}
            for name, sentence in contradictions({**decided, **given}, own_items_apart, protocol).items():
                self.add_error(name if name in self.fields else "overlap", sentence)

    def _check_roles(self, given: Mapping[str, Any]) -> None:
        file, mapped = protocol_named(self.protocol).made_from, self._mapping(given)
        try:
            _ = file and with_roles(file, mapped)
        except CannotMap as refusal:
            self.add_error(next(iter(self.roles)), str(refusal))

    def _mapping(self, given: Mapping[str, Any]) -> dict[str, str]:
        """Return the benchmark's names by role, as chosen or else as guessed."""
        return {one.role: given.get(name) or one.name for name, one in self.roles.items()}

    def planned(self) -> StagePlan:
        given = {name: value for name, value in self.values().items() if name not in self.ASSUMED}
        protocol = joined(self.protocol, self._mapping(given))
        given = {name: value for name, value in given.items() if name not in self.roles}
        words, apart = given.pop("instructions", self.plan.instructions), given.pop("apart_from", self.plan.apart_from)
        translations = {
            language: given.pop(f"{IN}{language}", text) for language, text in self.plan.translations.items()
        }
        return replace(
            self.plan.with_settings(**given),
            name=self.plan.stage_name,
            protocol=protocol if is_known(protocol) else self.plan.protocol,
            instructions=words,
            apart_from=apart,
            translations={language: text for language, text in translations.items() if text},
        )

    def expects(self, tasks: float, types: int = 1) -> Assumptions:
        given = {name: value for name, value in self.values().items() if name in self.ASSUMED}
        return replace(self.assumed, tasks=tasks, types=types, **given)

    def values(self) -> Mapping[str, Any]:
        """Return the submitted values; if nothing was submitted, the typed values that are valid."""
        return self.cleaned_data if self.is_bound else cleaned(self, self.typed)


def cleaned(form: forms.Form, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values, as typed, that are valid in their fields."""
    found = {}
    for name in values.keys() & form.fields.keys():
        with suppress(forms.ValidationError):
            found[name] = form.fields[name].clean(values[name])
    return found
