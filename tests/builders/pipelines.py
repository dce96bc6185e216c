"""A study of several stages that people have worked on, with all that an export and the pages have to tell of."""

import hashlib

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db.models.functions import Now

from annotation.designs.plan import StagePlan
from annotation.models import Annotator, Outcome, Slot, Study, Task
from annotation.pipeline import outcomes, promotion, task_creation
from annotation.protocols.base import TaskSpec
from annotation.studies import lifecycle as study_lifecycle
from bench.import_full import numbered
from benchmarks.models import Benchmark, Image
from tests.builders import crowds, studies
from tests.builders.pictures import draw


def pipeline(benchmark: Benchmark | None = None) -> Study:
    """Choose, disambiguate in batches, ask people both ways; with a check, an adjudication, a round, an exclusion."""
    stages = [
        StagePlan("bivlc-choose", name="choose", settings={"carries": "negative", "agreement_items": 8,
                                                           "agreement_overlap": 2, "tie_rule": "first"}),
        StagePlan("bivlc-disambiguate", name="fits", source="choose", apart_from=[],
                  settings={"strategy": "batches", "batch_size": 5, "overlap": 2, "takes": ["kept", "cannot_judge"]}),
        StagePlan("bivlc-i2t", name="i2t", source="fits", apart_from=[], settings={"sample": 6}),
        StagePlan("bivlc-t2i", name="t2i", source="fits", after="i2t", apart_from=[], settings={"sample": 6}),
    ]  # fmt: skip
    made = studies.study(benchmark=benchmark or crowds.benchmark(40), stages=stages, pay_per_hour=12)
    Task.objects.filter(stage__name="choose", item__position=3).update(kind="check", gold=["none"])
    studies.item(made.benchmark, candidates=1, type="replace", subtype="obj")  # it cannot be asked about
    promotion.take_in(made)
    crowds.work(made, people=4, undone=0.05, close=True)
    choose, fits = made.stages.filter(position__lte=2)
    study_lifecycle.move_stage(stage=choose, to="open", by="test")
    dropped = Task.objects.filter(stage=choose, decided__outcome="none", decided__by="only_answer").order_by("pk")[:2]
    adjudicate(dropped[0], choose, "candidate-1")
    ask_again(dropped[1], choose)
    late = made.annotators.get(number=4)
    Slot.objects.filter(annotator=late, stage=fits).update(
        annotator=None, held_until=None, judgment=None, reserved=None
    )
    Annotator.objects.filter(pk=late.pk).update(excluded_at=Now(), exclusion_reason="Answered at random")
    for task in Task.objects.filter(stage=fits, kind="judge"):
        outcomes.settle(task, fits)
    return with_originals(made)


def adjudicate(task: Task, stage, answer: str) -> None:
    found = {"state": "kept", "outcome": answer, "reason": "", "by": "adjudicator", "note": "It is all there."}
    Outcome.objects.filter(task=task).update(**found)
    promotion.follow_outcome(stage, task.item_id)


def ask_again(task: Task, stage) -> None:
    """With newer candidates, of which the first two are shown."""
    Task.objects.filter(pk=task.pk).update(live=False)
    ask = TaskSpec(tuple(task.shows), tuple(task.options[:2]))
    task_creation.create_tasks(stage, [task_creation.NewTask(task.item_id, task.item.key, ask, {}, 2)])


def with_originals(study: Study, begin: int = 0) -> Study:
    """The files of its images. A second study in the same database needs another number to `begin` with."""
    images = list(Image.objects.filter(uses__item__benchmark=study.benchmark).distinct().order_by("pk"))
    for number, image in enumerate(images, begin):
        content = numbered(draw(number, 64, 48), number)
        image.sha256, image.width, image.height = hashlib.sha256(content).hexdigest(), 64, 48
        default_storage.save(image.original_path, ContentFile(content))
    Image.objects.bulk_update(images, ["sha256", "width", "height"])
    return study
