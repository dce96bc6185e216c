"""BiVLC §4, image to text: which of an item's two captions describes an image, asked of each of its two images."""

from collections.abc import Sequence

from annotation.protocols.base import Carried, Protocol, TaskSpec, caption_identity, negative_image, require_parts
from benchmarks.records import ItemRecord

INSTRUCTIONS = """\
You will see one picture and two sentences. Pick the sentence that describes the picture better.

- The two sentences may differ in one word only, or have the same words in another order. Read both to the end, and mind
  the order of the words: who does what to whom, and which colour belongs to which thing.
- If both seem to fit, or neither, pick the one that fits better. One of the two must be picked.
- Looks do not matter. Deformed hands or faces, blur and odd style are fine.

Use Cannot judge only when you are unable to answer, for example because you do not understand a sentence or a picture
does not load, and say why. Skip passes the screen to somebody else. Flag tells the researchers that something is wrong
with the material.
"""


def _tasks(item: ItemRecord, carried: Carried) -> list[TaskSpec]:
    """One question for each image; BiVLC (App. D) calls them I_pos2T and I_neg2T."""
    require_parts(item, captions=["positive", "negative"], images=["positive"])
    options = (caption_identity("positive"), caption_identity("negative"))
    return [
        TaskSpec(shows=("positive-0",), options=options, question="positive"),
        TaskSpec(shows=(negative_image(item, carried),), options=options, question="negative"),
    ]


def _right_answer(question: str, options: Sequence[str]) -> str:
    """The caption of the image that is shown."""
    return next((option for option in options if option == caption_identity(question)), "")


PROTOCOL = Protocol(
    name="bivlc-i2t",
    title="Image to text",
    question="Which sentence describes the picture?",
    shown="a picture and two sentences",
    instructions=INSTRUCTIONS,
    template="judging/_pick_sentence.html",
    tasks=_tasks,
    picks=("1 2", "pick a sentence"),
    measures=True,
    leaks=frozenset({"bivlc-choose", "bivlc-disambiguate"}),
    right_answer=_right_answer,
)
