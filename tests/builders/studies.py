"""Builders: a small world in one line. Everything has a default; a test names only what it is about."""

import hashlib
import uuid
from itertools import count

from django.db.models.functions import Now
from django.utils import timezone

from annotation.assignment import leases as assignment_leases
from annotation.assignment import seats
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Annotator, Judgment, Kind, Release, Seat, Stage, Study
from annotation.models.choices import POOLED
from annotation.protocols.registry import PROTOCOLS
from annotation.releases.plan import Plan
from annotation.screens import read_answer
from annotation.sql import columns, fetch, instances
from annotation.studies import lifecycle as study_lifecycle
from benchmarks import audit
from benchmarks.models import Benchmark, Caption, Event, Image, Item, ItemImage
from tests.builders import copies

serial = count(1)
SHIPPED = {**PROTOCOLS}


def _unsaved_image(text: str = "") -> Image:
    sha256 = hashlib.sha256((text or f"image {next(serial)}").encode()).hexdigest()
    return Image(sha256=sha256, format="JPEG", width=512, height=512, size=1000)


def image(text: str = "") -> Image:
    """A row without a file: enough wherever nobody looks at the picture."""
    made = _unsaved_image(text)
    return Image.objects.filter(sha256=made.sha256).first() or Image.objects.bulk_create([made])[0]


def item(benchmark: Benchmark, candidates: int = 4, **fields) -> Item:
    """A BiVLC candidate item: two captions, a positive image, some candidates."""
    position = fields.pop("position", None)
    position = benchmark.items.count() if position is None else position
    return _items([{"benchmark": benchmark, "position": position, **fields}], candidates)[0]


def _items(given: list[dict], candidates: int) -> list[Item]:
    defaults = {"type": "swap", "subtype": "att"}
    made = [Item(**{"key": f"item-{one['position']}", **defaults, **one}) for one in given]
    captions = [
        Caption(item=one, role=role, text=f"A {colours[0]} cup and a {colours[1]} plate, {one.position}.")
        for one in made
        for role, colours in (("positive", ("red", "blue")), ("negative", ("blue", "red")))
    ]
    places = [("positive", 0), *(("candidate", number) for number in range(candidates))]
    used = [
        ItemImage(item=one, role=role, position=number, source_name=f"{one.key}_{role}_{number}.jpg")
        for one in made
        for role, number in places
    ]
    store(made, captions, used)
    return made


def store(items: list[Item], captions: list[Caption], used: list[ItemImage]) -> None:
    """In few statements, however many there are; every use is of an image of its own. A use has an array among its
    fields, so each value is a parameter of its own, of which a statement has at most 65,535.
    """
    Item.objects.bulk_create(items)
    Caption.objects.bulk_create(captions)
    for one, image in zip(used, Image.objects.bulk_create(_unsaved_image() for _ in used), strict=True):
        one.image = image
    ItemImage.objects.bulk_create(used, batch_size=5000)


def benchmark(items: int = 1, candidates: int = 4, **fields) -> Benchmark:
    name = fields.pop("name", None) or f"Benchmark {next(serial)}"

    def make() -> Benchmark:
        made = Benchmark.objects.create(**{"name": name, "source": "jsonl", **fields})
        _items([{"benchmark": made, "position": position} for position in range(items)], candidates)
        return made

    return make() if fields else copies.again((items, candidates), make, {Benchmark: name})


OF_STUDY = ("by", "created_by", "pay_per_hour", "currency", "consent", "language", "seed", "state")


def study(items: int = 1, candidates: int = 4, stages: list[StagePlan] | None = None, **settings) -> Study:
    """One stage of bivlc-choose with these settings, or the `stages` given."""
    given, name = settings.pop("benchmark", None), settings.pop("name", f"Study {next(serial)}")
    of_study = {"by": "test", "seed": 1} | {name: settings.pop(name) for name in OF_STUDY if name in settings}
    protocol, words = settings.pop("protocol", "bivlc-choose"), settings.pop("instructions", "")
    stages = stages or [StagePlan(protocol, instructions=words, settings=settings)]

    def make() -> Study:
        source = given or benchmark(items, candidates)
        return study_lifecycle.create_study(name=name, benchmark=source, stages=stages, **of_study)

    own = {PROTOCOLS.get(plan.protocol) is not SHIPPED.get(plan.protocol, "none") for plan in stages}
    if given or not name or any(own) or of_study.get("created_by"):
        return make()
    kind = (items, candidates, repr(stages), repr(sorted(of_study.items())))
    return copies.again(kind, make, {Benchmark: f"Benchmark {next(serial)}", Study: name})


def stage(**settings) -> Stage:
    return study(**settings).stages.get()


def annotator(study: Study, ready: bool = True, **who) -> Annotator:
    """Joined and, unless told otherwise, past the instructions."""
    return people(study, 1, ready, **who)[0]


def people(study: Study, count: int, ready: bool = True, **who) -> list[Annotator]:
    """So many, in a few statements for all of them where nothing but the instructions comes before the work."""
    if who.keys() <= {"name", "language", "simulated"} and (stage := _plain_stage(study, ready)):
        return _seated(study, stage, count, ready, **who)
    made = [seats.join(study=study, by="test", **who) for _ in range(count)]
    for one in made if ready else ():
        read(one, one.stage)
    return made


FIRST_STAGES = f"""
SELECT {columns(Stage, "stage")}, (SELECT max(number) FROM annotation_annotator WHERE study_id = stage.study_id),
  (SELECT max(id) FROM annotation_instructions WHERE stage_id = stage.id), EXISTS (SELECT FROM annotation_webhook),
  EXISTS (SELECT FROM annotation_task WHERE stage_id = stage.id AND kind = 'practice'),
  EXISTS (SELECT FROM annotation_task WHERE stage_id = stage.id AND kind = 'check'),
  EXISTS (SELECT FROM annotation_slot
          WHERE stage_id = stage.id AND live AND annotator_id IS NULL AND reserved_id IS NULL)
FROM annotation_stage stage WHERE study_id = %(study)s ORDER BY position LIMIT 2
"""


def _plain_stage(study: Study, ready: bool) -> Stage | None:
    """Where everybody new begins: the only stage, or the first one, if it is a pool with work. None if a webhook
    listens, or if the seat would not be `ready` after the instructions.
    """
    row, *others = fetch(FIRST_STAGES, study=study.pk)
    [first] = instances(row, Stage)
    first.study = study
    first.last, first.newest, heard, trained, first.checked, free = row[-6:]
    begins = not others or (first.strategy in POOLED and free)
    waits = ready and (first.comprehension or trained)
    return first if begins and not waits and not heard else None


def _seated(study: Study, stage: Stage, count: int, ready: bool, **who) -> list[Annotator]:
    """The rows that joining and accepting the instructions write. A seat in batches or with checks is the verb's."""
    numbers = range((stage.last or 0) + 1, (stage.last or 0) + 1 + count)
    made = Annotator.objects.bulk_create(Annotator(study=study, stage=stage, number=one, **who) for one in numbers)
    joined = {"by": "test", "verb": "joined", "subject": audit.named(study)}
    accepted = {"verb": "accepted instructions", "subject": f"instructions:{stage.newest}"}
    read = [Event(by=audit.named(one), **accepted) for one in made] if ready else []
    reading = {"read_id": stage.newest, "ready_at": timezone.now()} if ready else {}
    events = [Event(data={"annotator": one.pk}, **joined) for one in made]
    if stage.strategy in POOLED and not stage.checked:
        Seat.objects.bulk_create(Seat(annotator=one, stage=stage, **reading) for one in made)
        Event.objects.bulk_create([*events, *(_sat(one, stage) for one in made), *read])
    else:
        Event.objects.bulk_create(events)
        for one in made:
            seats.sit(annotator=one, stage=stage)
        if ready:
            Seat.objects.filter(stage=stage, annotator__in=made).update(**reading)
            Event.objects.bulk_create(read)
    return made


def _sat(person: Annotator, stage: Stage) -> Event:
    where = {"batch": None, "place": None}
    return Event(by=audit.named(person), verb="sat down", subject=audit.named(stage), data=where)


def seat(stage: Stage, people: list[Annotator]) -> None:
    """They sit down in the stage, one after another."""
    if stage.strategy not in POOLED or stage.tasks.filter(kind=Kind.CHECK).exists():
        for one in people:
            seats.sit(annotator=one, stage=stage)
        return
    there = set(stage.seats.values_list("annotator", flat=True))
    new = [one for one in people if one.pk not in there]
    Seat.objects.bulk_create(Seat(annotator=one, stage=stage) for one in new)
    Event.objects.bulk_create(_sat(one, stage) for one in new)
    Annotator.objects.filter(pk__in=[one.pk for one in people]).update(stage=stage)
    for one in people:
        one.stage = stage


def release(study: Study, version: str = "1.0", **fields) -> Release:
    """A frozen row; its file is not there."""
    plan = Plan("split", version)
    given = {"content": "c" * 64, "sha256": "f" * 64, "file": f"releases/{version}.zip", "size": 6, "frozen_at": Now()}
    return Release.objects.create(study=study, name=plan.name, version=version, plan=plan.as_json(), **given | fields)


def read(annotator: Annotator, stage: Stage) -> None:
    """The annotator accepts the stage's newest instructions."""
    version = stage.instructions.latest("version").version
    seats.accept_instructions(annotator=annotator, stage=stage, version=version)


def judgment(annotator: Annotator, stage: Stage, answer: str | None = None, **details) -> Judgment | None:
    """Claim the next screen and answer it, by the option's identity (default: the first place shown)."""
    leases = assignment_leases.hold(annotator=annotator, stage=stage, wanted=1)
    if not leases:
        return None
    shown = "1" if answer is None else read_answer.place_on_screen(leases[0], answer)
    return submit(annotator, leases[0], shown, **details).judgment


def submit(annotator: Annotator, lease, shown_answer: str = "1", **details) -> submissions.Receipt:
    """From a page that shows what is stored, unless the `details` have another `seen`."""
    details = {"key": uuid.uuid4(), "seen": last_key(lease), **details}
    submission = submissions.Submission(token=lease.token, shown_answer=shown_answer, **details)
    return submissions.submit(annotator=annotator, submission=submission)


def last_key(lease) -> uuid.UUID | None:
    """Of the newest revision of the lease's answer."""
    return lease.judgments.order_by("revision").values_list("key", flat=True).last()
