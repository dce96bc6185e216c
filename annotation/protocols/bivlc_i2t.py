"""BiVLC §4, image to text: which of an item's two captions describes an image, asked of each of its two images."""

from collections.abc import Sequence

from annotation.protocols import base
from annotation.wording import gettext_noop
from benchmarks.records import ItemRecord

INSTRUCTIONS = gettext_noop("""\
You will see one picture and two sentences. Pick the sentence that describes the picture better.

- The two sentences may differ in only one word, or have the same words in a different order. Read both to the end and
  pay attention to word order: who does what to whom, and which color belongs to which thing.
- If both seem to fit, or neither does, pick the one that fits better. You have to pick one.
- Looks do not matter. Deformed hands or faces, blur or an odd style are fine.
""")


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """One question for each image; BiVLC (App. D) calls them I_pos2T and I_neg2T."""
    base.require_parts(item, captions=["positive", "negative"], images=["positive"])
    options = (base.caption_identity("positive"), base.caption_identity("negative"))
    return [
        base.TaskSpec(shows=("positive-0",), options=options, question="positive"),
        base.TaskSpec(shows=(base.negative_image(item, carried),), options=options, question="negative"),
    ]


def _right_answer(question: str, options: Sequence[str]) -> str:
    """The caption of the image that is shown."""
    return next((option for option in options if option == base.caption_identity(question)), "")


PROTOCOL = base.Protocol(
    name="bivlc-i2t",
    title="Image to text",
    question=gettext_noop("Which sentence describes the picture?"),
    shown=gettext_noop("a picture and two sentences"),
    instructions=(INSTRUCTIONS, base.PICTURE_CLOSING),
    template="judging/_pick_sentence.html",
    tasks=_tasks,
    picks=("1 2", gettext_noop("pick a sentence")),
    measures=True,
    leaks=frozenset({"bivlc-choose", "bivlc-disambiguate"}),
    right_answer=_right_answer,
)
