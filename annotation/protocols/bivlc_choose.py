"""BiVLC §3.1 step 3: which of the candidate images carries everything that the negative caption says, or None."""

from annotation.protocols.base import (
    Carried,
    Choice,
    Protocol,
    TaskSpec,
    UnsuitableItem,
    caption_identity,
    require_parts,
)
from benchmarks.records import ItemRecord

NONE = "none"

INSTRUCTIONS = """\
You will see one sentence and several pictures that were made from it. Pick a picture that shows everything the
sentence says.

- Check every part of the sentence: who or what is there, how many, their colours and other properties, what they do,
  and how they stand to one another.
- A picture that leaves out or changes any part does not count, however good it looks.
- Looks do not matter. Deformed hands or faces, blur and odd style are fine as long as the content is right.
- If several pictures carry everything, pick any one of them.
- If no picture does, answer None of them.

Use Cannot judge only when you are unable to answer, for example because you do not understand the sentence or a picture
does not load, and say why. Skip passes the screen to somebody else. Flag tells the researchers that something is wrong
with the material.
"""


def _tasks(item: ItemRecord, carried: Carried) -> list[TaskSpec]:
    """The candidates of the last round, two to nine of them, since they are picked with the keys 1 to 9."""
    candidates = item.latest("candidate")
    if not 2 <= len(candidates) <= 9:
        raise UnsuitableItem(f"item {item.key} has {len(candidates)} candidate images; bivlc-choose shows 2 to 9")
    require_parts(item, captions=["negative"])
    return [TaskSpec(shows=(caption_identity("negative"),), options=tuple(candidates))]


def any_or_none(answer: str) -> str:
    """The projection that the paper's agreement is computed on (BiVLC §3.1): any image, or none."""
    return answer if answer in {NONE, "cannot_judge"} else "any"


PROTOCOL = Protocol(
    name="bivlc-choose",
    title="Choose the image that fits",
    question="Which picture shows everything the sentence says?",
    shown="a sentence and several pictures that were made from it",
    instructions=INSTRUCTIONS,
    template="judging/_pick_picture.html",
    tasks=_tasks,
    picks=("1 – 9", "pick a picture"),
    fixed=(Choice(NONE, "None of them", ("n", "0")),),
    projections={"any or none": any_or_none},
    drops={NONE: "no_image_fits", "cannot_judge": "cannot_judge"},
    alike=True,
)
