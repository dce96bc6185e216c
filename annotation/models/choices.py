"""The states that things of a study can be in, the moves between them, and the settings with few values."""

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
    CLOSED = "closed"  # nothing more is given out; what settled may be promoted in one step


class Promotion(TextChoices):
    """When a stage takes in what its source has settled."""

    SETTLED = "settled"  # each item as soon as its outcome settles
    CLOSING = "closing"  # all in one step, when a manager closes the source


class Strategy(TextChoices):
    POOL = "pool"  # whoever asks next gets the next free slot, in one random order
    BATCHES = "batches"  # disjoint sets of items; whoever is given one keeps it to the end
    NAMED = "named"  # these annotators, these items
    EVERYONE = "everyone"  # each annotator judges every item, as many annotators as the overlap says


BATCHED = (Strategy.BATCHES, Strategy.EVERYONE)  # whoever comes is given a place in a batch
MOST_JUDGMENTS = 50  # of a task


class DecisionRule(TextChoices):
    """What tells the kind of answer that a task's judgments come to."""

    MAJORITY = "majority"  # the kind that most gave, as soon as the task has its judgments
    DAWID_SKENE = "dawid-skene"  # the most probable by all answers of the stage, when it is estimated


class TieRule(TextChoices):
    DROP = "drop"  # a tie drops the item with the reason tie_unresolved
    FIRST = "first"  # the answer that was given first among the tied wins
    NONE = "none"  # a tie counts as the protocol's "none" answer
    ADJUDICATE = "adjudicate"  # a tie waits for an adjudicator


class OnFailure(TextChoices):
    """What follows when somebody has used up the tries of the training or of the comprehension questions."""

    FLAG = "flag"  # they go on, and the manager sees it
    SCREEN_OUT = "screen_out"  # they end with the code for that, before any judgment


class Kind(TextChoices):
    """What a task is there for."""

    JUDGE = "judge"
    CHECK = "check"  # a gold item: its answer is known, annotators cannot tell
    TRAINING = "training"  # shown with feedback before the stage; it has no slots


class LeaseState(TextChoices):
    HELD = "held"
    JUDGED = "judged"
    SKIPPED = "skipped"
    LAPSED = "lapsed"  # it ran out, or its holder left, and the slot was given on
    LATE = "late"  # it lapsed and was answered all the same: the judgment is surplus


class OutcomeState(TextChoices):
    """No row means open."""

    KEPT = "kept"
    DROPPED = "dropped"


class AttemptKind(TextChoices):
    COMPREHENSION = "comprehension"
    TRAINING = "training"


class Role(TextChoices):
    """What a member of a study may do; each may also do what those before it may."""

    VIEWER = "viewer"  # look at figures, agreement, disagreements; read releases
    MANAGER = "manager"  # run the study: invite, instruct, adjudicate, exclude, export
    OWNER = "owner"  # say who the members are
