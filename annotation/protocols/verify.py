"""Does the caption hold of the image: yes, no, cannot tell. For any benchmark that pairs images with captions."""

from annotation.protocols import base
from annotation.wording import gettext_noop
from benchmarks.records import ItemRecord

YES, NO, CANNOT_TELL = "yes", "no", "cannot_tell"

INSTRUCTIONS = gettext_noop("""\
You will see one picture and one sentence. Decide whether the sentence is true of the picture.

- Yes: you can see everything the sentence says. The picture may show more than that.
- No: something the sentence says is missing from the picture, or different.
- Cannot tell: the picture does not show enough, for example because what matters is hidden or too small.
- Looks do not matter. Deformed hands or faces, blur or an odd style are fine as long as the content is right.
""")


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """The positive pair; and the negative one, where the item has both its parts."""
    base.require_parts(item, captions=["positive"], images=["positive"])
    positive = base.TaskSpec(shows=("positive-0", base.caption_identity("positive")), question="positive")
    try:
        base.require_parts(item, captions=["negative"])
        image = base.negative_image(item, carried)
    except base.UnsuitableItem:
        return [positive]
    return [positive, base.TaskSpec(shows=(image, base.caption_identity("negative")), question="negative")]


def _holds_or_not(answer: str) -> str:
    if answer == "cannot_judge":
        return answer
    return "holds" if answer == YES else "not"


PROTOCOL = base.Protocol(
    name="verify",
    title="Verify captions",
    question=gettext_noop("Is the sentence true of the picture?"),
    shown=gettext_noop("a picture and a sentence"),
    instructions=(INSTRUCTIONS, base.PICTURE_CLOSING),
    template="judging/_verify.html",
    tasks=_tasks,
    fixed=(
        base.Choice(YES, gettext_noop("Yes"), ("y", "1")),
        base.Choice(NO, gettext_noop("No"), ("n", "2")),
        base.Choice(CANNOT_TELL, gettext_noop("Cannot tell"), ("t", "3")),
    ),
    projections={"holds or not": _holds_or_not},
    drops={NO: "does_not_hold", CANNOT_TELL: CANNOT_TELL, "cannot_judge": "cannot_judge"},
)
