"""Items in roles of the user's own, as protocol files have them: a prompt with the images of four models, an image with
a list of questions, a question about two images with its options.
"""

from dataclasses import replace
from pathlib import Path

from annotation.models import Study
from annotation.protocols.base import Carried, Protocol, TaskSpec
from annotation.protocols.registry import PROTOCOLS
from benchmarks.models import Benchmark
from benchmarks.records import ItemRecord
from tests.builders import imports, studies, text_annotators

LINES = (
    {
        "id": "preference",
        "texts": {"prompt": "A red cup on a book."},
        "images": {"picture": [{"file": f"p{n}.jpg", "model": f"model-{n}", "seed": n} for n in range(4)]},
        "meta": {"source": "mine"},
    },
    {
        "id": "questions",
        "images": {
            "picture": {"file": "q.jpg", "licence": "CC BY 4.0", "attribution": "A. Person", "model": "model-0"}
        },
        "lists": {"question": ["Is there a cup?", {"text": "Is the cup red?", "parents": [1], "kind": "colour"}]},
    },
    {
        "id": "options",
        "texts": {"question": "Which has two cups?", "first_answer": "The left one.", "second_answer": "Neither."},
        "images": {"first": "f.jpg", "second": {"file": "s.jpg", "crop": [0, 0, 8, 8], "changed": True}},
    },
)
NAMES = [*(f"p{n}.jpg" for n in range(4)), "q.jpg", "f.jpg", "s.jpg"]


def benchmark(folder: Path) -> Benchmark:
    folder.mkdir(exist_ok=True)
    return text_annotators.imported(imports.manifest(folder, LINES), "jsonl", imports.archive(folder, NAMES))


def protocol() -> Protocol:
    """The verify protocol, asking about all that an item has: what protocol files do."""

    def tasks(item: ItemRecord, carried: Carried) -> list[TaskSpec]:
        roles = dict.fromkeys(one.role for one in item.captions)
        texts = [identity for role in roles for identity in item.captions_as(role)]
        images = [identity for role in dict.fromkeys(one.role for one in item.images) for identity in item.latest(role)]
        return [TaskSpec(shows=(*images, *texts), question="all")]

    return replace(PROTOCOLS["verify"], tasks=tasks)


def study(folder: Path) -> Study:
    """Somebody judges that all items hold. Needs `protocol` in the place of verify."""
    stage = studies.stage(benchmark=benchmark(folder), protocol="verify", overlap=1)
    text_annotators.keep_all(stage, studies.annotator(stage.study), "yes")
    return stage.study
