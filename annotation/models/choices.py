"""The states of a study's objects, the moves between them, and settings with a fixed set of values."""

from django.db.models import TextChoices


class StudyState(TextChoices):
    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


STUDY_MOVES = {
    StudyState.OPEN: {StudyState.PAUSED, StudyState.CLOSED},
    StudyState.PAUSED: {StudyState.OPEN, StudyState.CLOSED},
    StudyState.CLOSED: {StudyState.OPEN},
}


class StageState(TextChoices):
    OPEN = "open"
    CLOSED = "closed"  # nothing more is assigned; settled items may be promoted in one step


class Promotion(TextChoices):
    """When a stage takes in items that its source has settled."""

    SETTLED = "settled"  # each item as soon as its outcome settles
    CLOSING = "closing"  # all in one step, when a manager closes the source


class Strategy(TextChoices):
    POOL = "pool"  # the next free slot in one random order goes to the next annotator
    BATCHES = "batches"  # disjoint sets of items; an annotator keeps a set to the end
    NAMED = "named"  # these annotators, these items
    EVERYONE = "everyone"  # each annotator judges every item, as many annotators as the overlap
    AUDIT = "audit"  # a pool in an order that is published first, until the share of wrong items is known well enough


BATCHED = (Strategy.BATCHES, Strategy.EVERYONE)  # a new annotator gets a place in a batch
POOLED = (Strategy.POOL, Strategy.AUDIT)  # the next free slot goes to the next annotator
MOST_JUDGMENTS = 50  # per task


class DecisionRule(TextChoices):
    """The rule by which a task's judgments decide the kind of answer."""

    MAJORITY = "majority"  # the majority, as soon as the task has its judgments
    DAWID_SKENE = "dawid-skene"  # the most probable kind given all answers in the stage, once estimated


class TieRule(TextChoices):
    DROP = "drop"  # a tie drops the item with the reason tie_unresolved
    FIRST = "first"  # the earliest of the tied answers wins
    NONE = "none"  # a tie counts as the protocol's "none" answer
    ADJUDICATE = "adjudicate"  # a tie waits for an adjudicator


class OnFailure(TextChoices):
    """The consequence for an annotator who has used all attempts at practice or comprehension questions."""

    FLAG = "flag"  # they continue, and the manager sees it
    SCREEN_OUT = "screen_out"  # they are screened out with that code, before any judgment


class Kind(TextChoices):
    """The purpose of a task."""

    JUDGE = "judge"
    CHECK = "check"  # a gold item: its answer is known, but annotators cannot tell
    PRACTICE = "practice"  # shown with feedback before the stage; it has no slots


class LeaseState(TextChoices):
    HELD = "held"
    JUDGED = "judged"
    SKIPPED = "skipped"
    LAPSED = "lapsed"  # it expired, or its holder left, and the slot was reassigned
    LATE = "late"  # it lapsed and was answered anyway: the judgment is surplus


class OutcomeState(TextChoices):
    """The outcome's state; without a row it is open."""

    KEPT = "kept"
    DROPPED = "dropped"


class AttemptKind(TextChoices):
    COMPREHENSION = "comprehension"
    PRACTICE = "practice"


class Role(TextChoices):
    """The rights of a study's member; each role includes those before it."""

    VIEWER = "viewer"  # view statistics, agreement, disagreements and releases
    MANAGER = "manager"  # run the study: invite, instruct, adjudicate, exclude, export
    OWNER = "owner"  # choose the members
