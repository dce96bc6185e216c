"""BiVLC §3.1 step 4: which of two images fits the positive caption, the original or the chosen one, or Both.

An item whose chosen image fits as well as the original, or better, is ambiguous and is dropped.
"""

from annotation.protocols import base
from annotation.wording import gettext_noop
from benchmarks.records import ItemRecord

BOTH = "both"
ORIGINAL = "positive-0"
_AMBIGUOUS = "ambiguous_generated"

INSTRUCTIONS = gettext_noop("""\
You will see one sentence and two pictures. Pick the picture that fits the sentence better.

- Check every part of the sentence: who or what is there, how many, their colors and other properties, what they do, and
  how they relate to each other.
- If only one picture shows all of it, pick that one, even if the other is almost right.
- If both pictures show all of it, answer “Both”. Do not choose the nicer picture.
- If neither shows all of it, pick the one that comes closer; if they are equally close, answer “Both”.
- Looks do not matter. Deformed hands or faces, blur or an odd style are fine as long as the content is right.
""")


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    base.require_parts(item, captions=["positive"], images=["positive"])
    options = (ORIGINAL, base.negative_image(item, carried))
    return [base.TaskSpec(shows=(base.caption_identity("positive"),), options=options)]


def _original_or_not(answer: str) -> str:
    """What keeps the item, against all that drops it as ambiguous."""
    if answer == "cannot_judge":
        return answer
    return "original" if answer == ORIGINAL else "not"


PROTOCOL = base.Protocol(
    name="bivlc-disambiguate",
    title="Find ambiguous items",
    question=gettext_noop("Which picture fits the sentence?"),
    shown=gettext_noop("a sentence and two pictures"),
    instructions=(INSTRUCTIONS, base.PICTURE_CLOSING),
    template="judging/_pick_picture.html",
    tasks=_tasks,
    picks=("1 2", gettext_noop("pick a picture")),
    fixed=(base.Choice(BOTH, gettext_noop("Both"), ("b",)),),
    projections={"original or not": _original_or_not},
    drops={
        "candidate": _AMBIGUOUS,
        "negative": _AMBIGUOUS,
        BOTH: "ambiguous_both",
        "cannot_judge": "cannot_judge",
    },
    leaks=frozenset({"bivlc-choose"}),  # who chose the image knows which of the two it is
)
