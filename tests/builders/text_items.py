"""Builders for protocols whose answer is more than a pick: items of sentences, and people who fill in fields."""

from collections.abc import Mapping, Sequence

from annotation.assignment import leases
from annotation.designs.plan import StagePlan
from annotation.models import Annotator, Judgment, Lease, Stage, Study
from benchmarks.models import Benchmark, Caption, Item, ItemImage
from tests.builders import studies

PARAPHRASE, TRIPLET, RANK = "visla-paraphrase", "visla-triplet", "hard-positive-rank"
GUIDELINES = ("same", "contradicts", "text_alone", "fluent", "nothing_added", "neutral")
HOLDS = dict.fromkeys(GUIDELINES, "holds")
TEXTS = {
    "positive": ["A cat sits on a mat."],
    "negative": ["A mat lies on a cat."],
    "candidate": ["A cat rests on a mat.", "On a mat a cat stands.", "A mat is under a cat."],
}


def item(benchmark: Benchmark, texts=TEXTS, **fields) -> Item:
    return several(benchmark, [texts], **fields)[0]


def several(benchmark: Benchmark, of_items: Sequence[Mapping[str, Sequence[str]]], **fields) -> list[Item]:
    """An item with an image for each of these captions by role, in a statement for each table."""
    numbers = range(first := benchmark.items.count(), first + len(of_items))
    made = [Item(benchmark=benchmark, key=f"item-{number}", position=number, **fields) for number in numbers]
    captions = [
        Caption(item=one, role=role, position=place, text=text)
        for one, texts in zip(made, of_items, strict=True)
        for role, sentences in texts.items()
        for place, text in enumerate(sentences)
    ]
    used = [ItemImage(item=one, role="positive", source_name=f"{one.key}.jpg") for one in made]
    studies.store(made, captions, used)
    return made


def study(*stages: StagePlan | str, items: int = 1, texts=TEXTS, **of_study) -> Study:
    source = studies.benchmark(0)
    several(source, [texts] * items)
    plans = [StagePlan(plan) if isinstance(plan, str) else plan for plan in stages]
    return studies.study(benchmark=source, stages=plans, **of_study)


def stage(plan: StagePlan | str = PARAPHRASE, **how) -> Stage:
    return study(plan, **how).stages.select_related("study").get()


def hold(person: Annotator, stage: Stage) -> Lease | None:
    """The next screen of somebody who is ready for the stage."""
    found = leases.hold(annotator=person, stage=stage, wanted=1)
    return found[0] if found else None


def send(person: Annotator, lease: Lease, **fields: str) -> Judgment:
    answer = fields.pop("answer", "")
    reason = "I cannot tell." if answer == "cannot_judge" else ""
    return studies.submit(person, lease, answer, more=fields, reason=reason).judgment


def option(lease: Lease, identity: str) -> str:
    """The place of an option on a screen."""
    return str(lease.shown.index(identity) + 1)


def picks(stage: Stage, identity: str = "caption-candidate-0", person: Annotator | None = None) -> Judgment:
    """Somebody new takes an option as it is."""
    person = person or studies.annotator(stage.study)
    lease = hold(person, stage)
    return send(person, lease, answer=option(lease, identity))


def edits(stage: Stage, words: str, of: str = "caption-candidate-0", person: Annotator | None = None) -> Judgment:
    person = person or studies.annotator(stage.study)
    lease = hold(person, stage)
    return send(person, lease, answer=option(lease, of), edit="1", words=words)


def edited_three_ways(items: int = 2) -> Stage:
    """Three people have edited each of its items, each in words of their own."""
    made = stage(items=items)
    for words in ("A cat is lying on a mat.", "There is a cat on a mat.", "A mat has a cat on it."):
        person = studies.annotator(made.study)
        while hold(person, made):
            edits(made, words, person=person)
    return made


def rejects(stage: Stage, why: str = "None of them can be saved.", person: Annotator | None = None) -> Judgment:
    person = person or studies.annotator(stage.study)
    return send(person, hold(person, stage), answer="reject", why=why)
