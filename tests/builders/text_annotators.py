"""Annotators of protocols whose answers are more than a pick, who work by the verbs that the judging page calls; and
benchmarks in the formats of the text protocols, small ones and the published ones.
"""

import json
import random
import uuid
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from django.db import connection, transaction

from annotation.adjudication import decisions
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Annotator, Lease, Slot, Stage, Study, Task
from annotation.protocols.base import Protocol
from annotation.protocols.registry import protocol_named
from annotation.screens.material import texts_of
from benchmarks.models import Benchmark, Caption
from tests.builders import annotators, crowds, imports, studies

Fields = dict[str, str]  # what a screen sends
Says = Callable[[Lease, dict[str, str]], Fields]  # the screen and the words behind its identities → its fields

ROW = "{0}.jpg\tA cat is in basket {0}.\tBasket {0} holds a cat.\tA cat is beside basket {0}."
HEADER = "filename\tcaption\tsecond positive\tnegative_caption"


def answer(lease: Lease, fields: Fields) -> submissions.Receipt:
    """The screen's answer, or a new revision of it."""
    more = {name: value for name, value in fields.items() if name not in ("answer", "reason")}
    how = {"reason": fields.get("reason", ""), "more": more, "active_ms": 9000, "elapsed_ms": 9000}
    return studies.submit(lease.annotator, lease, fields.get("answer", ""), **how)


def screen(person: Annotator, stage: Stage) -> Lease | None:
    return next(iter(annotators.held(person, stage, wanted=1)), None)


def says(person: Annotator, stage: Stage, said: Says) -> submissions.Receipt | None:
    """Judge the next screen, if there is one."""
    lease = screen(person, stage)
    return lease and answer(lease, said(lease, texts_of(lease.task, lease.shown)))


def picks(identity: str) -> Says:
    return lambda lease, texts: {"answer": str(lease.shown.index(identity) + 1)}


def edits(identity: str, words: str) -> Says:
    return lambda lease, texts: {**picks(identity)(lease, texts), "edit": "1", "words": words}


def takes_edit(lease: Lease, texts: dict[str, str]) -> Fields:
    """The first edit that somebody else made."""
    return picks(lease.task.proposals[0])(lease, texts)


def rejects(lease: Lease, texts: dict[str, str]) -> Fields:
    return {"answer": "reject", "why": "None of them says the same."}


def work(study: Study, people: int = 5, seed: int = 1, changes: float = 0.15) -> list[Annotator]:
    """Everybody works through all stages in turn: made-up answers, some of them cannot judge, some changed, some taken
    back and given again. The same seed gives the same work: PostgreSQL draws by it in which order sentences are shown.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(%s)", [seed / 1000])
    dice, crowd = random.Random(seed), [studies.annotator(study, simulated=True) for _ in range(people)]
    for stage in study.stages.order_by("position"):
        while sum(_judge(person, stage, dice, changes) for person in crowd):
            pass
    return crowd


def _judge(person: Annotator, stage: Stage, dice: random.Random, changes: float) -> bool:
    lease = screen(person, stage)
    if lease is None:
        return False
    answer(lease, made_up(lease, stage, dice))
    if dice.random() < changes:
        answer(lease, made_up(lease, stage, dice))
    if dice.random() < changes:
        undo(person)
        answer(lease, made_up(lease, stage, dice))
    return True


def undo(person: Annotator) -> Lease:
    return submissions.undo(annotator=person, key=uuid.uuid4())


def adjudicate(task: Task, texts: dict[str, str]) -> None:
    """An adjudicator's own words, by role."""
    said = decisions.own_words(task, task.stage, texts)
    decisions.decide(
        task=task, by="user:1", seen=decisions.seen(task), note="It says the same.", answer=said.label,
        content=said.content,
    )  # fmt: skip


def in_order(person: Annotator, stage: Stage, items: Sequence[int], said: Says) -> None:
    """Judge the items of these positions, in this order, one screen after the other."""
    leases = {lease.task.item.position: lease for lease in annotators.held(person, stage, wanted=len(items))}
    for position in items:
        lease = leases[position]
        answer(lease, said(lease, texts_of(lease.task, lease.shown)))


def made_up(lease: Lease, stage: Stage, dice: random.Random) -> Fields:
    """Two in three who meet an edit agree with it."""
    if lease.task.proposals and dice.random() < 2 / 3:
        return takes_edit(lease, {})
    if dice.random() < 0.05:
        return {"answer": "cannot_judge", "reason": "I do not know the word."}
    return of_protocol(lease, protocol_named(stage.protocol), dice)


def of_protocol(lease: Lease, protocol: Protocol, dice: random.Random) -> Fields:
    """An answer to the screen; seven in ten are right where a pick has a right answer."""
    if protocol.form is None:
        right = protocol.right_answer(lease.task.question, lease.shown)
        if right in lease.shown and dice.random() < 0.7:
            return picks(right)(lease, {})
        places = map(str, range(1, len(lease.shown) + 1))
        return {"answer": dice.choice([*places, *(choice.identity for choice in protocol.fixed)])}
    return protocol.form.simulate(dice, lease.shown, texts_of(lease.task, lease.shown), lease.task.question)


def keep_all(stage: Stage, person: Annotator, label: str, content: Callable[[int], dict] = lambda item: {}) -> None:
    """Answer everything that is left with one label, written in bulk: for studies at full size. `content` of an item's
    answer, by its id.
    """
    shift = crowds.Shift(random.Random(1), [person], stage.instructions.latest("version"), {}, crowds.START)
    for slot in Slot.objects.filter(stage=stage, judgment=None, live=True).select_related("task"):
        shift.judged(slot, person, label, content=content(slot.task.item_id))
    with transaction.atomic():
        shift.save(stage)


# Benchmarks


def imported(path: Path, format: str, images: Path | None, **options) -> Benchmark:
    given = {"name": f"Imported {next(studies.serial)}", "text_only": images is None, **options}
    return imports.benchmark(path, images, format=format, **given)


def visla(folder: Path, rows: int = 6, candidates: int = 2) -> Benchmark:
    """A small Generic file with a picture for each row, and further captions beside, as a construction makes them."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "Generic_VISLA.tsv"
    path.write_bytes("\r\n".join([HEADER, *(ROW.format(number) for number in range(rows))]).encode())
    made = imported(path, "visla", imports.archive(folder, [f"{number}.jpg" for number in range(rows)]))
    for item in made.items.all():
        for place in range(candidates):
            text = f"There is a cat, number {place}, in basket {item.position}."
            Caption.objects.create(item=item, role="candidate", position=place, text=text)
    return made


def visla_study(folder: Path, rows: int = 6, **settings) -> Study:
    """Pick a second positive, then look at the triplet."""
    stages = [
        StagePlan("visla-paraphrase", name="paraphrase", settings={"overlap": 1, **settings}),
        StagePlan("visla-triplet", name="triplet", source="paraphrase", apart_from=[], settings={"overlap": 1}),
    ]
    return studies.study(benchmark=visla(folder, rows), stages=stages)


def hard_positives(folder: Path, rows: int = 6) -> Benchmark:
    """Both of the source's folders, each with a list of relations and one of attributes."""
    names = [f"data/{number}.jpg" for number in range(rows)]
    for side, word in (("original", "in"), ("hard_positive", "inside")):
        for part in ("relations", "attributes"):
            found = [(str(number), f"cat {word} {part} {number}", name) for number, name in enumerate(names)]
            _json(folder / side / f"vl_checklist_{part}.json", [hard_row(*one) for one in found])
    return imported(folder, "hard-positives", imports.archive(folder.parent, names))


def hard_row(image: str, caption: str, path: str) -> dict[str, str]:
    return {"image_id": image, "true_caption": caption, "false_caption": f"cat under {image}", "image_path": path}


def two_origins(folder: Path, rows: int = 6) -> Benchmark:
    """SugarCrepe's rows twice, with other negatives; two of its subsets."""
    for side in ("first", "second"):
        for subset in ("swap_obj", "add_att"):
            found = {str(number): sugar_row(number, f"A {side} cat.") for number in range(rows)}
            _json(folder / side / f"{subset}.json", found)
    return imported(folder, "sugarcrepe-compare", imports.archive(folder.parent, ["0.jpg", "1.jpg", "2.jpg"]))


def sugar_row(number: int, negative: str) -> dict[str, str]:
    return {"filename": f"{number % 3}.jpg", "caption": f"A cat, {number}.", "negative_caption": negative}


def _json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def one_picture(folder: Path, names: Iterable[str]) -> Path:
    """A zip in which every name has the same picture: for imports at full size."""
    path, data = folder / "same.zip", imports.jpeg(1)
    with zipfile.ZipFile(path, "w") as packed:
        for name in dict.fromkeys(names):
            packed.writestr(name, data)
    return path


def names_in(paths: Iterable[Path], field: str) -> list[str]:
    """What a JSON source calls its images."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return [row[field] for rows in found for row in (rows.values() if isinstance(rows, dict) else rows)]
