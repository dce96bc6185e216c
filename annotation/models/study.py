"""Studies, their stages, and each stage's instructions."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from annotation.models.choices import (
    POOLED,
    DecisionRule,
    OnFailure,
    OutcomeState,
    Promotion,
    StageState,
    Strategy,
    StudyState,
    TieRule,
)
from annotation.wording import simulated_mark
from benchmarks.models import Benchmark, opaque_name


def secret_token() -> str:
    """Return a capability: anyone with the link may use it. 144 random bits, safe in a URL."""
    return secrets.token_urlsafe(18)


def random_code() -> str:
    return "W" + secrets.token_hex(4).upper()


class LastJudgment(models.Func):
    """The last id assigned to a judgment, visible or not; null before the first."""

    function = "pg_sequence_last_value"
    template = "%(function)s('annotation_judgment_id_seq')"
    arity = 0
    output_field = models.BigIntegerField()


def kept_only() -> list[str]:
    return [OutcomeState.KEPT]


@dataclass(frozen=True)
class May:
    """A member's rights in a study: pages hide everything else, and the server refuses it."""

    manage: bool
    own: bool


class Study(models.Model):
    """A campaign over a benchmark. `may` is set if `permissions` fetched it."""

    may: May
    name = models.CharField(max_length=120, unique=True)
    title = models.CharField(max_length=120, blank=True, default="", db_default="")  # annotators see this, not the name
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="studies")
    part = models.JSONField(default=dict, db_default={}, blank=True)  # of the benchmark; {} for all (designs/part.py)
    state = models.CharField(max_length=8, choices=StudyState, default=StudyState.OPEN)
    archived = models.BooleanField(default=False, db_default=False)  # lists omit it
    invite = models.CharField(max_length=32, unique=True, default=secret_token)
    completion_code = models.CharField(max_length=40, default=random_code)
    screened_out_code = models.CharField(max_length=40, default=random_code)
    no_consent_code = models.CharField(max_length=40, default=random_code)
    language = models.CharField(max_length=8, choices=settings.LANGUAGES, default="en")  # of its texts and material
    consent = models.TextField(blank=True)  # requested before joining; empty for no consent page
    consent_changed_at = models.DateTimeField(null=True, editable=False)  # people who agreed earlier are asked again
    pay_per_hour = models.DecimalField(max_digits=7, decimal_places=2, default=0, validators=[MinValueValidator(0)])
    # Rates for earlier judgments: [until, rate per hour] in order
    earlier_pay = models.JSONField(default=list, db_default=[], blank=True, editable=False)
    currency = models.CharField(max_length=3, default="USD")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(db_default=Now())
    # All of its judgments have later ids, so reading them can skip other studies' earlier judgments
    judgments_after = models.BigIntegerField(db_default=Coalesce(LastJudgment(), 0), editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=StudyState.values), name="study_state_known"),
            models.CheckConstraint(condition=Q(pay_per_hour__gte=0), name="study_pay_not_negative"),
        ]

    def __str__(self):
        return self.name

    @property
    def pay(self) -> dict[str, Any]:
        """Return the rates in the form used for statistics and exports (measures/pay.py)."""
        earlier = {"earlier_pay": self.earlier_pay} if self.earlier_pay else {}
        return {"pay_per_hour": float(self.pay_per_hour), **earlier}

    @property
    def shown_name(self) -> str:
        """Return the name that annotators see."""
        return self.title or self.name

    def state_with(self, stages: "Iterable[Stage]") -> str:
        """Return the state as pages and reports show it: also `closed` if the study is open but none of its `stages`
        is, so that nobody can judge.
        """
        nothing_open = all(stage.state == StageState.CLOSED for stage in stages)
        return StudyState.CLOSED if self.state == StudyState.OPEN and nothing_open else self.state

    @cached_property
    def simulated_mark(self) -> str:
        """Return what to add to the study's name if annotators are simulated; "" if none is."""
        simulated = self.annotators.values_list("simulated", flat=True)
        return simulated_mark(sum(simulated), len(simulated))

    @cached_property
    def simulated(self) -> frozenset[int]:
        """Return the numbers of its simulated annotators."""
        return frozenset(self.annotators.filter(simulated=True).values_list("number", flat=True))

    @property
    def consent_sha256(self) -> str:
        """Return the hash of the text, so that agreeing on a page with an earlier text doesn't count."""
        return sha256(self.consent.encode()).hexdigest()

    def must_agree(self, consented_at: datetime | None) -> bool:
        """Return whether an annotator who agreed at this time, if ever, must agree before their next screen."""
        earlier = consented_at is None or (self.consent_changed_at and consented_at < self.consent_changed_at)
        return bool(self.consent and earlier)


class Stage(models.Model):
    """One question asked about the study's items; stages are ordered.

    `source` is the stage whose items enter here; without one, the benchmark's items do. `takes` names which: `kept`, or
    reasons why items were dropped there. Items bring along the images chosen on the way (`Task.carried`);
    `carries` names the role that this stage's own outcome fills for the stages after it.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="stages")
    position = models.PositiveSmallIntegerField(default=1)
    name = models.CharField(max_length=40)  # unique in the study: "choose"
    state = models.CharField(max_length=8, choices=StageState, default=StageState.OPEN)
    invite = models.CharField(max_length=32, unique=True, default=secret_token)  # invites only to this stage
    # Includes role mappings if the benchmark has other names (protocols/roles.py)
    protocol = models.CharField(max_length=500)
    source = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="takers")
    takes = ArrayField(models.CharField(max_length=40), default=kept_only)
    carries = models.CharField(max_length=16, blank=True)  # "negative": the outcome is the item's negative image
    promotion = models.CharField(max_length=8, choices=Promotion, default=Promotion.SETTLED)
    # Only this many items, drawn by the seed
    sample = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    stratify = models.BooleanField(default=False)  # the sample keeps the proportions of types and subtypes
    sample_each = models.BooleanField(default=False)  # the sample has this many items of each type
    after = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="followers")
    # Positions of stages: annotators who saw an item there do not get it here
    apart_from = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    overlap = models.PositiveSmallIntegerField(default=1, validators=[MinValueValidator(1), MaxValueValidator(50)])
    cap = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(2), MaxValueValidator(50)]
    )  # one more judgment is requested while no kind of answer has more than half, up to this many
    # Instead, while the leading answer is less certain than this (protocols/certainty.py), up to the cap
    certainty = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.501), MaxValueValidator(1)])
    strategy = models.CharField(max_length=10, choices=Strategy, default=Strategy.POOL)
    batch_size = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])  # items
    # This many items, drawn by the seed, get `agreement_overlap` judgments each
    agreement_items = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    agreement_overlap = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(2), MaxValueValidator(50)]
    )
    rule = models.CharField(max_length=12, choices=DecisionRule, default=DecisionRule.MAJORITY)
    tie_rule = models.CharField(max_length=10, choices=TieRule, default=TieRule.DROP)
    # Judgments per annotator
    quota = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    lease_seconds = models.PositiveIntegerField(
        default=600, validators=[MinValueValidator(30), MaxValueValidator(86400)]
    )
    undo_seconds = models.PositiveIntegerField(default=900, validators=[MaxValueValidator(86400)])
    auto_advance = models.BooleanField(default=False)
    seed = models.BigIntegerField()  # draws the order, the batches and the sample
    # An audit stops when the interval of the share of wrong items is at most ± `target_half_width`, or ends at most at
    # `target_bound`. An item is wrong if it is dropped for one of `wrong_reasons`, or for any reason if that is empty.
    target_half_width = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.001), MaxValueValidator(0.5)]
    )
    target_bound = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.001), MaxValueValidator(1)])
    any_look = models.BooleanField(default=False)  # with intervals that stay valid whenever it stops
    wrong_reasons = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    order_sha256 = models.CharField(max_length=64, blank=True, editable=False)  # hash of the order, from the start
    # The run of a model whose scores an audit uses. Runs can be deleted, so its name and scores (Task.score) are kept.
    scores_run = models.BigIntegerField(null=True, blank=True)
    scores_of = models.CharField(max_length=400, blank=True, editable=False)
    scores_sha256 = models.CharField(max_length=64, blank=True, editable=False)
    # Share of an annotator's screens that are checks
    check_rate = models.FloatField(default=0, validators=[MinValueValidator(0), MaxValueValidator(0.5)])
    # Share of correct answers needed
    practice_pass = models.FloatField(default=0.8, validators=[MinValueValidator(0), MaxValueValidator(1)])
    practice_tries = models.PositiveSmallIntegerField(default=2, validators=[MinValueValidator(1)])
    comprehension = models.JSONField(default=list, blank=True)  # [{"question", "options": [...], "answer": index}]
    on_failure = models.CharField(max_length=10, choices=OnFailure, default=OnFailure.FLAG)

    class Meta:
        ordering = ["study_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["study", "position"], name="stage_position_once"),
            models.UniqueConstraint(fields=["study", "name"], name="stage_name_once"),
            models.CheckConstraint(condition=Q(state__in=StageState.values), name="stage_state_known"),
            models.CheckConstraint(condition=Q(overlap__gte=1, overlap__lte=50), name="stage_overlap_range"),
            models.CheckConstraint(
                condition=Q(cap__isnull=True) | Q(cap__gte=F("overlap"), cap__lte=50), name="stage_cap_from_overlap"
            ),
            models.CheckConstraint(
                condition=Q(certainty__isnull=True)
                | Q(cap__isnull=False, certainty__gt=0.5, certainty__lte=1, strategy__in=POOLED),
                name="stage_certainty_up_to_a_cap",
            ),
            models.CheckConstraint(condition=Q(rule__in=DecisionRule.values), name="stage_rule_known"),
            models.CheckConstraint(
                condition=Q(rule=DecisionRule.MAJORITY) | ~Q(tie_rule=TieRule.ADJUDICATE), name="stage_estimate_decides"
            ),
            models.CheckConstraint(condition=Q(lease_seconds__gte=1), name="stage_lease_positive"),
            models.CheckConstraint(condition=Q(check_rate__gte=0, check_rate__lte=0.5), name="stage_check_rate_range"),
            models.CheckConstraint(
                condition=Q(agreement_items__isnull=True, agreement_overlap__isnull=True)
                | Q(agreement_items__isnull=False, agreement_overlap__isnull=False),
                name="stage_agreement_both_or_neither",
            ),
            models.CheckConstraint(
                condition=~Q(strategy=Strategy.BATCHES) | Q(batch_size__isnull=False, batch_size__gte=1),
                name="stage_batches_have_a_size",
            ),
            models.CheckConstraint(
                condition=~Q(strategy=Strategy.AUDIT)
                | Q(target_half_width__isnull=False, target_bound__isnull=True)
                | Q(target_half_width__isnull=True, target_bound__isnull=False, any_look=True),
                name="stage_audits_have_a_target",
            ),
        ]

    def __str__(self):
        return self.name

    @property
    def title(self) -> str:
        """Return its name on pages and in messages; `name` is its identity in data."""
        from annotation.protocols.registry import title_of  # above the tables

        return title_of(self.protocol)


class StudyTemplate(models.Model):
    """Settings to start new studies from, kept under a name for all managers (studies/starting_points.py)."""

    name = models.CharField(max_length=120, unique=True)
    setup = models.JSONField()  # {"study": {pay_per_hour, currency, language, consent}, "stages": [StagePlan …]}
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self):
        return self.name


class SharedResults(models.Model):
    """The address at which everybody can read a study's results, if there is a row. Each new row has a new address."""

    study = models.OneToOneField(Study, primary_key=True, on_delete=models.CASCADE, related_name="shared_results")
    token = models.CharField(max_length=32, unique=True, default=secret_token)
    made_at = models.DateTimeField(db_default=Now())


class Instructions(models.Model):
    """What annotators must read. Never edited: a change is a new version, which must be read again."""

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="instructions")
    version = models.PositiveIntegerField()
    text = models.TextField()  # Markdown (studies/markdown.py)
    translations = models.JSONField(default=dict)  # translations of the text by language, except the study's own
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["stage_id", "version"]
        verbose_name_plural = "instructions"
        constraints = [models.UniqueConstraint(fields=["stage", "version"], name="instructions_version_once")]


class InstructionsImage(models.Model):
    """An image for a stage's instructions, which name it. Never replaced, so that old versions still show it.

    Only the re-encoded image is stored, under an opaque name.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="instructions_images")
    name = models.CharField(max_length=60)  # as in the text: "six-fingers"
    sha256 = models.CharField(max_length=64)  # of the uploaded file
    opaque = models.CharField(max_length=32, unique=True, default=opaque_name)
    width = models.PositiveIntegerField()  # as served
    height = models.PositiveIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["stage_id", "name"]
        constraints = [
            models.UniqueConstraint(fields=["stage", "name"], name="instructions_image_name_once"),
            models.UniqueConstraint(fields=["stage", "sha256"], name="instructions_image_content_once"),
        ]

    @property
    def path(self) -> str:
        return f"instructions/{self.opaque[:2]}/{self.opaque}.jpg"
