"""Database tables: benchmarks, model runs on them, jobs, messages and the audit trail.

Other rooms import them from this package.
"""

from benchmarks.models.answer import ModelAnswer
from benchmarks.models.audit import Event
from benchmarks.models.benchmark import Benchmark, Caption, Image, Item, ItemImage, Role, opaque_name
from benchmarks.models.correction import Action, Correction
from benchmarks.models.idempotency import IdempotencyKey
from benchmarks.models.job import JOB_MOVES, Job, JobState
from benchmarks.models.notification import Notification, Subscription
from benchmarks.models.run import ASKED, Embedding, Prediction, Run, RunOrigin, ScoringModel
from benchmarks.models.token import TokenTerms
from benchmarks.models.training import TrainedModel
