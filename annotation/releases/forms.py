"""The form for a new release: a name and a version, what it includes, what is public, and the producer's statements."""

from collections.abc import Collection, Mapping, Sequence

from django.forms import (
    CharField,
    CheckboxSelectMultiple,
    ChoiceField,
    Form,
    IntegerField,
    MultipleChoiceField,
    RadioSelect,
    Textarea,
    TextInput,
)
from django.utils.html import format_html
from django.utils.text import capfirst, slugify

from annotation.exports.item_table import source_format
from annotation.models import Release, Stage, Study
from annotation.releases.formats.registry import FORMS
from annotation.releases.plan import FORMS as OPTIONAL_FORMS
from annotation.releases.plan import (
    NAME,
    PUBLIC,
    SHARD_LIMITS,
    SHARD_MB,
    SPLIT_NAMES,
    SPLITS,
    USUAL_FORMS,
    VERSION,
    WORDS,
    Plan,
)
from benchmarks.jobs.orders import MOST_SEED

FIRST_VERSION = "1.0"
OWN = "own"
SOURCE = "source"  # the form that some benchmarks lack
SPLIT_CHOICES = {
    "one": ("One split", "test: not for training"),
    "80/20": ("80 / 20", "train and validation"),
    "80/10/10": ("80 / 10 / 10", "train, validation and test"),
    OWN: ("Your own", "whole percentages that add up to 100"),
}
RISKS = {  # what to consider before making a part public
    "times": "Someone who knows when a person worked may find out who A-01 is.",
    "annotators": "In small groups, a number may reveal who A-01 is.",
    "comments": "Read them first, because people write names and opinions.",
    "gold": "Anyone who reads them can pass every check. Wait until these checks are no longer in use.",
}
NAME_HINT = "The name that others will cite, and the name of the folder. Use letters, digits, dots and hyphens."
VERSION_HINT = "Two or three numbers, such as 1.0 or 1.0.2."
SEED_HINT = "The same seed draws the same splits. Items stay in the split they had in an earlier version."
NEEDED = "Choose at least one."


class PlanForm(Form):
    """The next release of `study`. It starts from the last release, except that what is public is chosen each time.

    `instead` is a release that was never frozen, whose place and values it takes.
    """

    name = CharField(label="Name", max_length=100, help_text=NAME_HINT)
    version = CharField(label="Version", max_length=20, help_text=VERSION_HINT)
    stages = MultipleChoiceField(
        label="Stages",
        widget=CheckboxSelectMultiple,
        error_messages={"required": NEEDED},
        help_text="The stages that a chosen stage depends on are also included.",
    )
    splits = ChoiceField(label="Splits", widget=RadioSelect, error_messages={"required": "Choose one."})
    train = IntegerField(label="train (%)", min_value=0, max_value=100, required=False)
    validation = IntegerField(label="validation (%)", min_value=0, max_value=100, required=False)
    test = IntegerField(label="test (%)", min_value=0, max_value=100, required=False)
    seed = IntegerField(label="Seed", min_value=0, max_value=MOST_SEED, help_text=SEED_HINT)
    forms = MultipleChoiceField(label="Formats", widget=CheckboxSelectMultiple, required=False)
    shard_mb = IntegerField(
        label="Approximate size of each file (MB)",
        min_value=SHARD_LIMITS[0],
        max_value=SHARD_LIMITS[1],
        help_text="For Parquet and WebDataset: large splits are written as several files.",
    )
    public = MultipleChoiceField(label="Also public", widget=CheckboxSelectMultiple, required=False)

    def __init__(self, study: Study, data: Mapping | None = None, instead: Release | None = None):
        self.study_stages = list(study.stages.select_related("source", "after").order_by("position"))
        last = instead or study.releases.order_by("-created_at", "-pk").first()
        same = {"version": instead.version, "public": instead.plan["public"]} if instead else {}
        super().__init__(data, initial=_initial_values(study, last, self.study_stages) | same)
        forms = [name for name in OPTIONAL_FORMS if name != SOURCE or source_format(study.benchmark)]
        choices = {
            "stages": [(str(stage.position), _stage_words(stage)) for stage in self.study_stages],
            "splits": [(name, _titled(*words)) for name, words in SPLIT_CHOICES.items()],
            "forms": [(name, _titled(FORMS[name].title, FORMS[name].what)) for name in forms],
            "public": [(name, _titled(capfirst(words) + ".", RISKS[name])) for name, words in PUBLIC.items()],
        }
        for name, found in choices.items():
            field = self.fields[name]
            assert isinstance(field, ChoiceField)
            field.choices = found
        for word in WORDS:
            widget = Textarea({"rows": 2, "dir": "auto"}) if word.long else TextInput({"dir": "auto"})
            self.fields[_called(word.name)] = CharField(
                label=word.title, help_text=word.hint, required=False, max_length=20_000, widget=widget
            )

    @property
    def shares(self) -> list:
        return [self[name] for name in SPLIT_NAMES]

    @property
    def words(self) -> list:
        return [self[_called(word.name)] for word in WORDS]

    @property
    def words_given(self) -> int:
        return sum(bool(field.value()) for field in self.words)

    @property
    def words_are_wrong(self) -> bool:
        return any(field.errors for field in self.words)

    @property
    def positions(self) -> set[int]:
        """Return the positions of the chosen stages, with those they depend on; empty for all."""
        chosen = {int(one) for one in self["stages"].value() or () if str(one).isdecimal()}
        found = _with_sources(self.study_stages, chosen)
        return set() if len(found) == len(self.study_stages) else found

    def clean(self) -> dict:
        super().clean()
        if self.cleaned_data.get("splits") != OWN:  # the fields are hidden then
            for name in SPLIT_NAMES:
                self.errors.pop(name, None)
        if not self.errors:
            self.refuse(self.plan().problems())
        return self.cleaned_data

    def refuse(self, problems: Mapping[str, str]) -> None:
        """Put the problems of a plan's fields on the form's fields."""
        for name, sentence in problems.items():
            self.add_error(name if name in self.fields else None, sentence)

    def plan(self) -> Plan:
        given = self.cleaned_data
        own = {name: given[name] for name in SPLIT_NAMES if given.get(name)}
        same = ("name", "version", "seed", "forms", "shard_mb", "public")
        return Plan(
            **{name: given[name] for name in same},
            splits=own if given["splits"] == OWN else dict(SPLITS[given["splits"]]),
            stages=self.positions,
            words={word.name: given[_called(word.name)] for word in WORDS},
        )


def _initial_values(study: Study, last: Release | None, stages: Sequence[Stage]) -> dict:
    first = Plan(_proper_name(study.name, study.pk), FIRST_VERSION, words={"language": study.language})
    plan = Plan.from_json(last.plan) if last else first
    preset = next((name for name, shares in SPLITS.items() if shares == plan.splits), OWN)
    version = next_version(study.releases.filter(name=plan.name).values_list("version", flat=True))
    return {
        "name": plan.name, "version": version, "splits": preset, "seed": plan.seed,
        "stages": [str(position) for position in plan.stages or [stage.position for stage in stages]],
        "forms": list(plan.forms if last else USUAL_FORMS), "shard_mb": plan.shard_mb if last else SHARD_MB,
        **(plan.splits if preset == OWN else {}),
        **{_called(name): text for name, text in plan.words.items()},
    }  # fmt: skip


def _proper_name(name: str, pk: int) -> str:
    """Return a study's name as a valid release name."""
    found = slugify(name)[:100]
    return found if NAME.fullmatch(found) else f"study-{pk}"


def next_version(versions: Collection[str]) -> str:
    """Return the highest version with its last number increased: 1.0 → 1.1, 1.0.9 → 1.0.10."""
    numbers = [tuple(map(int, version.split("."))) for version in versions if VERSION.fullmatch(version)]
    if not numbers:
        return FIRST_VERSION
    *front, last = max(numbers)
    return ".".join(map(str, [*front, last + 1]))


def _with_sources(stages: Sequence[Stage], chosen: Collection[int]) -> set[int]:
    """Return the positions of the chosen stages and of all that they depend on."""
    found = set()
    for stage in reversed(stages):  # a stage comes after those it depends on
        if stage.position in chosen or stage.position in found:
            found |= {stage.position} | {on.position for on in (stage.source, stage.after) if on}
    return found


def _called(word: str) -> str:
    return f"word-{word}"


def _titled(title: str, what: str) -> str:
    return format_html('<b>{}</b> <span class="hint">{}</span>', title, what)


def _stage_words(stage: Stage) -> str:
    on = " and ".join(sorted({f"stage {one.position}" for one in (stage.source, stage.after) if one}))
    return _titled(f"{stage.position} {stage.title}", f"depends on {on}" if on else "")
