"""The tables of studies: setup, annotators, judgments, frozen releases, webhooks, and cached figures.

Start with `study` and `judging`. Other rooms import the models from here.
"""

from annotation.models.cached_figures import CachedFigures
from annotation.models.choices import (
    MOST_JUDGMENTS,
    STUDY_MOVES,
    AttemptKind,
    DecisionRule,
    Kind,
    LeaseState,
    OnFailure,
    OutcomeState,
    Promotion,
    Role,
    StageState,
    Strategy,
    StudyState,
    TieRule,
)
from annotation.models.judging import SPLIT, Flag, Judgment, Lease, Outcome, RatingsFile, Slot, Task
from annotation.models.people import Annotator, Attempt, Member, Seat
from annotation.models.protocol_files import ProtocolDraft, ProtocolVersion
from annotation.models.reader_reports import ReaderReport, ReportDoor
from annotation.models.release import Release
from annotation.models.study import Instructions, InstructionsImage, SharedResults, Stage, Study, StudyTemplate
from annotation.models.webhook import Delivery, DeliveryState, Webhook
