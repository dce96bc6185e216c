"""BiVLC §4, text to image: which of an item's two images a caption describes, asked of each of its two captions."""

from collections.abc import Sequence

from annotation.protocols import base
from annotation.wording import gettext_noop
from benchmarks.records import ItemRecord

_POSITIVE = "positive-0"

INSTRUCTIONS = gettext_noop("""\
You will see one sentence and two pictures. Pick the picture that fits the sentence better.

- Check every part of the sentence: who or what is there, how many, their colors and other properties, what they do, and
  how they relate to each other. Pay attention to word order.
- If both seem to fit, or neither does, pick the one that fits better. You have to pick one.
- Looks do not matter. Deformed hands or faces, blur or an odd style are fine as long as the content is right.
""")


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """One question for each caption; BiVLC (App. D) calls them T_pos2I and T_neg2I."""
    base.require_parts(item, captions=["positive", "negative"], images=["positive"])
    options = (_POSITIVE, base.negative_image(item, carried))
    roles = ("positive", "negative")
    return [base.TaskSpec(shows=(base.caption_identity(role),), options=options, question=role) for role in roles]


def _right_answer(question: str, options: Sequence[str]) -> str:
    """The image of the caption that is shown; the negative one is whichever was chosen for the item."""
    return next((option for option in options if (option == _POSITIVE) == (question == "positive")), "")


PROTOCOL = base.Protocol(
    name="bivlc-t2i",
    title="Text to image",
    question=gettext_noop("Which picture does the sentence describe?"),
    shown=gettext_noop("a sentence and two pictures"),
    instructions=(INSTRUCTIONS, base.PICTURE_CLOSING),
    template="judging/_pick_picture.html",
    tasks=_tasks,
    picks=("1 2", gettext_noop("pick a picture")),
    measures=True,
    leaks=frozenset({"bivlc-choose", "bivlc-disambiguate"}),
    right_answer=_right_answer,
)
