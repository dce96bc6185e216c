"""Builders: a small world in one line. Everything has a default; a test names only what it is about."""

import hashlib
import uuid
from itertools import count

from annotation import claiming, judging, studies
from annotation.models import Annotator, Judgment, Stage, Study
from benchmarks.models import Benchmark, Caption, Image, Item, ItemImage

serial = count(1)


def image(text: str = "") -> Image:
    """A row without a file: enough wherever nobody looks at the picture."""
    sha256 = hashlib.sha256((text or f"image {next(serial)}").encode()).hexdigest()
    return Image.objects.get_or_create(
        sha256=sha256, defaults={"format": "JPEG", "width": 512, "height": 512, "size": 1000}
    )[0]


def item(benchmark: Benchmark, candidates: int = 4, **fields) -> Item:
    """A BiVLC candidate item: two captions, a positive image, some candidates."""
    position = fields.pop("position", None)
    position = benchmark.items.count() if position is None else position
    defaults = {"key": f"item-{position}", "position": position, "type": "swap", "subtype": "att"}
    made = Item.objects.create(benchmark=benchmark, **{**defaults, **fields})
    Caption.objects.create(item=made, role="positive", text=f"A red cup and a blue plate, {position}.")
    Caption.objects.create(item=made, role="negative", text=f"A blue cup and a red plate, {position}.")
    places = [("positive", 0), *(("candidate", number) for number in range(candidates))]
    for role, number in places:
        name = f"{made.key}_{role}_{number}.jpg"
        ItemImage.objects.create(item=made, image=image(), role=role, position=number, source_name=name)
    return made


def benchmark(items: int = 1, candidates: int = 4, **fields) -> Benchmark:
    made = Benchmark.objects.create(**{"name": f"Benchmark {next(serial)}", "source": "jsonl", **fields})
    for _ in range(items):
        item(made, candidates)
    return made


def study(items: int = 1, candidates: int = 4, **settings) -> Study:
    source = settings.pop("benchmark", None) or benchmark(items, candidates)
    defaults = {"name": f"Study {next(serial)}", "protocol": "bivlc-choose", "by": "test", "seed": 1}
    return studies.create_study(benchmark=source, **{**defaults, **settings})


def stage(**settings) -> Stage:
    return study(**settings).stages.get()


def annotator(study: Study, ready: bool = True, **who) -> Annotator:
    """Joined and, unless told otherwise, past the instructions."""
    made = studies.join(study=study, by="test", **who)
    if ready:
        studies.accept_instructions(annotator=made, version=study.stages.get().instructions.latest("version").version)
    return made


def judgment(annotator: Annotator, stage: Stage, answer: str | None = None, **details) -> Judgment | None:
    """Claim the next screen and answer it, by the option's identity (default: the first place shown)."""
    leases = claiming.hold(annotator=annotator, stage=stage, wanted=1)
    if not leases:
        return None
    shown = "1" if answer is None else judging.shown_as(leases[0], answer)
    return submit(annotator, leases[0], shown, **details).judgment


def submit(annotator: Annotator, lease, shown_answer: str = "1", **details) -> judging.Receipt:
    details.setdefault("key", uuid.uuid4())
    return judging.submit(annotator=annotator, token=lease.token, shown_answer=shown_answer, **details)
