"""`manage.py create_study BENCHMARK --preset bivlc`: create a study with its stages, and print the invitation links.

With `--protocol-file`, the file is published first.
"""

from argparse import SUPPRESS
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import transaction
from django.urls import reverse

from annotation.designs import part, presets
from annotation.designs.fit import fitted
from annotation.designs.plan import ExpectedEffort, StagePlan, effort_in_words, total_effort
from annotation.designs.presets import PRESETS
from annotation.management.named import named
from annotation.models import DecisionRule, Study, StudyState, TieRule
from annotation.pipeline.part import items_of
from annotation.protocol_files.publish import publish
from annotation.protocols import library
from annotation.protocols.registry import PROTOCOLS, is_known, protocol_named
from annotation.protocols.roles import CannotMap, split
from annotation.simulation.crowd import running_at
from annotation.studies.lifecycle import CannotCreate, create_study
from annotation.studies.setup import foreseen
from annotation.studies.setup_forms import StageForm
from benchmarks import queries
from benchmarks.formats.base import ProblemLog
from benchmarks.management.files import read_or_refuse
from benchmarks.models import Benchmark

LANGUAGES = [code for code, _ in settings.LANGUAGES]
OF_FILE = {"rule", "tie_rule"}  # settings that a protocol file decides
OF_ONE = ("overlap", "rule", "tie_rule", "quota", "lease_seconds", "auto_advance")  # for a single stage


def owner_of(name: str | None):
    """Return the staff user with that name; None if no name is given."""
    if name is None:
        return None
    user = get_user_model().objects.filter(username=name, is_active=True, is_staff=True).first()
    if user is None:
        raise CommandError(f"There is no staff user {name!r}. Add one: manage.py add_user {name} --staff.")
    return user


def published(given: str, out: OutputWrapper) -> str:
    """Return the name of the version under which the file, or the library protocol, is published: `verify@1`."""

    def publish_it(log: ProblemLog) -> str:
        return str(publish(text=library.text_of_named_or_file(given, log), by="command", log=log))

    return read_or_refuse(publish_it, out)


def money(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None


def read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}.") from None


class Command(BaseCommand):
    help = "Set up a study on a benchmark and print the links that invite annotators."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name or number")
        parser.add_argument("--preset", choices=PRESETS, help="all stages, with a paper's numbers")
        parser.add_argument(
            "--protocol",
            dest="questions",
            action="append",
            metavar="NAME",
            help=f"a stage: {', '.join(PROTOCOLS)}, another library file, or a published one as NAME@VERSION; "
            "repeat it for further stages in this order, each about the items kept by the one before",
        )
        parser.add_argument(
            "--protocol-file",
            dest="questions",
            action="append",
            type=Path,
            metavar="FILE",
            help="likewise: publish this protocol file, or a library file by name, and use it",
        )
        parser.add_argument(
            "--roles", default="", metavar="ROLE=NAME,…",
            help="the benchmark's names for the protocols' roles: picture=scene,captions.foil=negative",
        )  # fmt: skip
        parser.add_argument("--name", help="default: the benchmark's name and the preset or protocol")
        parser.add_argument("--set", action="append", metavar="STAGE.FIELD=VALUE", help="change a stage's setting; "
                            "shares are in percent, as on the page")  # fmt: skip
        parser.add_argument("--sample", type=int, help="random items for the baseline, or for the single stage")
        self.add_arguments_of_part(parser.add_argument_group("a part of the benchmark"))
        parser.add_argument("--pay", type=money, default=Decimal(0), help="pay per hour of active time; default: 0")
        parser.add_argument("--currency", default="USD")
        parser.add_argument("--language", choices=LANGUAGES, default="en", help="language of its texts and captions")
        parser.add_argument("--consent", type=Path, help="a text file that annotators must agree to")
        parser.add_argument("--paused", action="store_true", help="nobody can join until you open the study")
        parser.add_argument("--seed", type=int, help="seed for the order of items, batches and samples")
        parser.add_argument(
            "--owner", metavar="USERNAME", help="the user who owns the study; without it only admins see it"
        )
        parser.add_argument("--url", help="the address at which annotators reach Winnow; default: that of `make run`")
        self.add_arguments_of_one(parser.add_argument_group("with --protocol"))

    def add_arguments_of_part(self, parser):
        parser.add_argument("--only-types", default="", metavar="TYPE,…", help="replace, or replace/obj")
        parser.add_argument("--only-roles", default="", metavar="ROLE=COUNT,…", help="images.scene=2..,texts.foil=1")
        parser.add_argument("--only-attributes", default="", metavar="NAME=VALUE,…", help="model=sd-3|dall-e-3")
        parser.add_argument("--only-keys", type=Path, metavar="FILE", help="a text file with one key per line")
        parser.add_argument("--only-sample", type=int, metavar="N", help="this many of these, at random by --seed")

    def add_arguments_of_one(self, parser):
        parser.add_argument(
            "--overlap", type=int, default=SUPPRESS, help="judgments per item; default: as proposed on the page"
        )
        parser.add_argument("--quota", type=int, default=SUPPRESS, help="maximum judgments per annotator")
        parser.add_argument(
            "--lease", type=int, default=SUPPRESS, dest="lease_seconds", help="seconds for which a screen is reserved"
        )
        parser.add_argument("--rule", choices=DecisionRule.values, default=SUPPRESS, help="decision rule")
        parser.add_argument("--tie-rule", choices=TieRule.values, default=SUPPRESS)
        parser.add_argument(
            "--auto-advance", action="store_true", default=SUPPRESS, help="submit each answer as soon as it is picked"
        )
        parser.add_argument("--instructions", type=Path, default=SUPPRESS, help="a text file; default: the protocol's")

    @transaction.atomic  # if the study cannot be created, no file is published
    def handle(self, *, benchmark, preset, questions, name, **rest):
        if bool(preset) == bool(questions):
            raise CommandError("Give --preset, or --protocol and --protocol-file for each question.")
        source = named(Benchmark.objects.all(), benchmark, "Import it first: manage.py import_benchmark.")
        asked = [self.known(one) for one in questions or ()]
        chosen = PRESETS[preset] if preset else presets.stages_in_order(asked)
        mapped = self.mapped(chosen.stages, source, rest["roles"])
        name = name or f"{source.name}, {preset or ', '.join(asked)}"
        stages = with_changes(self.stages(mapped, preset, rest), rest["set"] or [])
        of_benchmark = self.chosen_part(rest)
        owner = owner_of(rest["owner"])
        try:
            study = create_study(
                name=name, benchmark=source, by="command", stages=stages,
                created_by=owner,
                pay_per_hour=rest["pay"], currency=rest["currency"].upper(), seed=rest["seed"],
                consent=read(rest["consent"]) if rest["consent"] else "",
                language=rest["language"], part=of_benchmark,
                state=StudyState.PAUSED if rest["paused"] else StudyState.OPEN,
            )  # fmt: skip
        except CannotCreate as refusal:
            raise CommandError(str(refusal)) from None
        home = (rest["url"] or running_at(settings.VAR)).rstrip("/")
        self.stdout.write("\n".join(lines(study, foreseen(stages, items_of(study), float(rest["pay"])), home)))
        if owner is None:
            self.stdout.write("It has no members. Only admins see it and can add some on its Members page.")

    def mapped(self, stages: Sequence[StagePlan], source: Benchmark, roles: str) -> Sequence[StagePlan]:
        """Return the stages with the benchmark's names for roles, as given or as guessed from its first item."""
        try:
            if roles:
                return presets.with_roles_of_benchmark(stages, roles)
        except CannotMap as refusal:
            raise CommandError(f"--roles {refusal}") from None
        item = queries.first_record(source.pk)
        found = item and fitted(stages, item)
        if item and not found:
            parts = ", ".join(dict.fromkeys([*(one.role for one in item.images), *(one.role for one in item.captions)]))
            self.stderr.write(f"The first item has {parts}. Use --roles ROLE=NAME,… to map the question’s roles.")
        return found or stages

    def chosen_part(self, given: dict) -> part.Part:
        if (sample := given["only_sample"]) is not None and sample < 1:
            raise CommandError("--only-sample: draw at least 1 item.")
        keys = read(given["only_keys"]) if given["only_keys"] else ""
        types = [one.strip() for one in given["only_types"].split(",") if one.strip()]
        try:
            return part.part_of(
                types=types, roles=given["only_roles"], attributes=given["only_attributes"], keys=keys, sample=sample
            )
        except part.WrongPart as refusal:
            raise CommandError(str(refusal)) from None

    def known(self, question: str | Path) -> str:
        """Return the name of the protocol; a file is published first."""
        if isinstance(question, Path):
            return published(str(question), self.stdout)
        if not is_known(question):
            known = ", ".join(dict.fromkeys([*PROTOCOLS, *library.names()]))
            raise CommandError(
                f"There is no protocol {question!r}. Choose one of {known}, or a published file as NAME@VERSION."
            )
        return question

    def stages(self, stages: Sequence[StagePlan], preset: str | None, given: dict) -> list[StagePlan]:
        """Return the stages with the settings given as options."""
        of_one = {name: given[name] for name in OF_ONE if name in given}
        if preset and (of_one or "instructions" in given):
            raise CommandError("With --preset, set it for one stage: --set STAGE.FIELD=VALUE.")
        if len(stages) > 1 and not preset and (of_one or "instructions" in given or given["sample"] is not None):
            raise CommandError("With several protocols, set it for one stage: --set STAGE.FIELD=VALUE.")
        if decided := sorted(of_one.keys() & OF_FILE) if not preset and protocol_named(stages[0].protocol).file else []:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in decided)
            raise CommandError(f"The protocol file decides {options}. Change the file instead.")
        if not preset and len(stages) == 1:
            words = read(given["instructions"]) if "instructions" in given else ""
            return [replace(stages[0], instructions=words).with_settings(**of_one, sample=given["sample"])]
        if not preset:
            return list(stages)
        sampled = {stage.stage_name for stage in stages if stage.settings.get("sample")}
        if given["sample"] is not None and not sampled:
            raise CommandError(f"No stage in {preset} draws a sample. Set one: --set STAGE.sample={given['sample']}.")
        smaller = {"sample": given["sample"]} if given["sample"] is not None else {}
        return [stage.with_settings(**smaller) if stage.stage_name in sampled else stage for stage in stages]


def with_changes(stages: Sequence[StagePlan], changes: Iterable[str]) -> list[StagePlan]:
    """Return the stages with each `STAGE.FIELD=VALUE` applied, parsed as on the page."""
    for change in changes:
        place, equals, value = change.partition("=")
        stage, dot, field = place.strip().rpartition(".")
        if not equals or not dot:
            raise CommandError(f"--set {change}: write STAGE.FIELD=VALUE.")
        if stage not in {one.stage_name for one in stages}:
            raise CommandError(f"--set {change}: the stages are {', '.join(one.stage_name for one in stages)}.")
        stages = presets.with_stage_settings(stages, stage, **{field: value_of(field, value.strip(), change)})
    return list(stages)


SETTABLE = [name for name in StageForm.base_fields if name not in {*StageForm.ASSUMED, "apart_from", "instructions"}]


def value_of(field: str, value: str, change: str) -> object:
    if field not in SETTABLE:
        raise CommandError(f"--set {change}: the fields are {', '.join(SETTABLE)}.")
    try:
        return StageForm.base_fields[field].clean("" if value.lower() in {"no", "none"} else value)
    except ValidationError as error:
        raise CommandError(f"--set {change}: {' '.join(error.messages)}") from None


def lines(study: Study, expected: Sequence[ExpectedEffort], home: str) -> list[str]:
    """Yield the study, each stage with its plan, and the links."""
    invite = lambda token: f"{home}{reverse('join', args=[token])}"  # noqa: E731
    found = [f"Study {study.pk}: {study.name}"]
    for stage, one in zip(study.stages.all(), expected, strict=True):
        found += [f"{stage.position} {stage.name}: {expectation(one, study.currency)}", f"  {invite(stage.invite)}"]
        found += [f"  {role} is called “{name}” in the benchmark" for role, name in split(stage.protocol)[1].items()]
    if len(expected) > 1:
        found.append(f"In all: {expectation(total_effort(expected), study.currency)}")
    return [*found, f"Invite annotators: {invite(study.invite)}"]


def expectation(expected: ExpectedEffort, currency: str) -> str:
    words = effort_in_words(expected, currency)
    return (
        f"{words['judgments']} judgments wanted, {words['hours']}, {words['cost']}, "
        f"{words['annotators']} annotator{'' if words['annotators'] == '1' else 's'}"
    )
