"""BiVLC §3.1 step 3: which of the candidate images carries everything that the negative caption says, or None."""

from annotation.protocols import base
from annotation.wording import gettext_noop
from benchmarks.records import ItemRecord

NONE = "none"

INSTRUCTIONS = gettext_noop("""\
You will see one sentence and several pictures made from it. Pick a picture that shows everything the sentence says.

- Check every part of the sentence: who or what is there, how many, their colors and other properties, what they do, and
  how they relate to each other.
- A picture that leaves out or changes any part does not count, however good it looks.
- Looks do not matter. Deformed hands or faces, blur or an odd style are fine as long as the content is right.
- If several pictures fully match, pick any one of them.
- If none does, answer “None of them”.
""")


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """The candidates of the last round, two to nine of them, since they are picked with the keys 1 to 9."""
    candidates = item.latest("candidate")
    if not 2 <= (has := len(candidates)) <= 9:
        lacks = f"item {item.key} has {has} candidate images; bivlc-choose shows 2 to 9"
        raise base.UnsuitableItem(lacks, "2 to 9 candidate images", has)
    base.require_parts(item, captions=["negative"])
    return [base.TaskSpec(shows=(base.caption_identity("negative"),), options=tuple(candidates))]


def any_or_none(answer: str) -> str:
    """The projection that the paper's agreement is computed on (BiVLC §3.1): any image, or none."""
    return answer if answer in {NONE, "cannot_judge"} else "any"


PROTOCOL = base.Protocol(
    name="bivlc-choose",
    title="Choose the image that fits",
    question=gettext_noop("Which picture shows everything the sentence says?"),
    shown=gettext_noop("a sentence and several pictures made from it"),
    instructions=(INSTRUCTIONS, base.PICTURE_CLOSING),
    template="judging/_pick_picture.html",
    tasks=_tasks,
    picks=("1 – 9", gettext_noop("pick a picture")),
    fixed=(base.Choice(NONE, gettext_noop("None of them"), ("n", "0")),),
    projections={"any or none": any_or_none},
    drops={NONE: "no_image_fits", "cannot_judge": "cannot_judge"},
    alike=True,
    published_agreement=base.PublishedAgreement("BiVLC", "any or none", (0.66, 0.43, 0.56, 0.43, 0.38)),  # Table 7
)
