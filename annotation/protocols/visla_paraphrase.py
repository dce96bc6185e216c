"""VISLA §3.2: which candidate says the same as the caption, as it is or lightly edited; else all are rejected.

What is picked or written becomes the item's second positive. An edit counts once another annotator has confirmed it.
"""

from collections.abc import Sequence
from random import Random

from annotation.protocols import edits
from annotation.protocols.base import (
    CANNOT_JUDGE,
    Answer,
    Ask,
    Carried,
    Form,
    Guideline,
    NoAnswer,
    NotSuitable,
    Protocol,
    Sent,
    Texts,
    caption,
    require,
)
from annotation.protocols.decision_rule import EDITED
from benchmarks.records import ItemRecord

REJECT = "reject"
MADE = "second_positive"  # the role of what is picked or written
SIMULATED_REJECTS, SIMULATED_EDITS = 0.1, 0.2

GUIDELINES = (
    Guideline("same", "It says the same as the sentence on top: the same things, in the same places.", "s"),
    Guideline("text_alone", "The words alone tell it from the one it must not mean; no picture, no guessing.", "t"),
    Guideline(edits.FLUENT, "It makes sense and reads well.", "w"),
    Guideline("nothing_added", "Only the wording differs, by other words or their order; nothing is added.", "n"),
    Guideline(edits.NEUTRAL, edits.NEUTRALLY, "p"),
)

INSTRUCTIONS = """\
You will see a sentence on top, below it a sentence that it must not mean, and one or more other ways of saying the
sentence on top. Pick the best of them; mend it where it needs a little; reject them where none can be saved.

- It must say the same as the sentence on top: the same things, as many, with the same properties, doing the same, at
  the same places.
- Somebody who reads only the words must be able to tell it from the sentence it must not mean, without the picture,
  without working anything out and without knowing how the world is.
- Only the wording may differ: words of the same meaning, another order, active for passive. It must not add anything
  about the picture, nor leave anything out.
- It must make sense and read like something that a person would write.
- People are called person, individual, child and the like. Mend he, she, his and her.

Pick a sentence that keeps all of this as it is. Edit the best one where a small change makes it keep them; the marks
show which words differ from the sentence on top. Another annotator then looks at what you wrote, and it counts when
they agree. A sentence that somebody has changed is marked: pick it if you agree with it, or edit or reject as ever.

Reject all of them if no small change helps. Tick what is wrong, or say it in your own words.

The picture is there if you want it, but what counts is what the words say.

Use Cannot judge only when you are unable to answer, for example because you do not understand a sentence, and say why.
Skip passes the screen to somebody else. Flag tells the researchers that something is wrong with the material.
"""


def asks(item: ItemRecord, carried: Carried) -> list[Ask]:
    """Its second positives, then its candidates: one to nine, since they are picked with the keys 1 to 9."""
    require(item, captions=["positive", "negative"])
    options = (*item.captions_as(MADE), *item.captions_as("candidate"))
    if not 1 <= len(options) <= 9:
        raise NotSuitable(f"item {item.key} has {len(options)} sentences to choose from; visla-paraphrase shows 1 to 9")
    image = ("positive-0",) if item.images_as("positive") else ()
    return [Ask(shows=(caption("positive"), caption("negative"), *image), options=options)]


def read(sent: Sent, shown: Sequence[str], texts: Texts) -> Answer:
    """`answer`: an option's place or `reject`; with `edit`, `words` are what it should say instead."""
    if sent.get("answer") == REJECT:
        return _rejected(sent)
    if not sent.get("answer"):
        raise NoAnswer("Pick a sentence, edit one, or reject them all.")
    picked = edits.option_at(sent["answer"], shown)
    if not sent.get("edit"):
        return _made(picked, picked, texts[picked])
    words = edits.written(sent.get("words", ""), "Your sentence")
    for role, which in (("positive", "the sentence on top"), ("negative", "the sentence that it must not mean")):
        if words == edits.one_line(texts[caption(role)]):
            raise NoAnswer(f"Your sentence is the same as {which}.")
    alike = next((option for option in (picked, *shown) if edits.one_line(texts[option]) == words), "")
    return _made(alike, alike, texts[alike]) if alike else _made(EDITED, picked, words)


def _made(label: str, of: str, words: str) -> Answer:
    return Answer(label, {"texts": {MADE: words}, "from": {MADE: of}})


def _rejected(sent: Sent) -> Answer:
    lines = {code: holds for code, holds in edits.judged(sent, GUIDELINES).items() if not holds}
    reason = edits.in_words(sent.get("why", ""))
    if not lines and not reason:
        raise NoAnswer("Tick what is wrong with them, or say it in words.")
    return Answer(REJECT, {"guidelines": lines, "reason": reason})


def fill(answer: Answer, shown: Sequence[str]) -> dict[str, str]:
    """The inverse of `read`."""
    content = answer.content
    if answer.label == REJECT:
        return {"answer": REJECT, "why": content["reason"], **edits.as_fields(content["guidelines"])}
    fields = {"answer": edits.place_of(content["from"][MADE], shown)}
    return fields | ({"edit": "1", "words": answer.texts[MADE]} if answer.label == EDITED else {})


def made_up(rng: Random, shown: Sequence[str], texts: Texts) -> dict[str, str]:
    """One in ten rejects, two in ten edit; who meets an edit takes it as any other sentence."""
    chance, place = rng.random(), rng.randrange(len(shown))
    if chance < SIMULATED_REJECTS:
        return {"answer": REJECT, rng.choice(GUIDELINES).code: edits.BROKEN}
    picked = {"answer": str(place + 1)}
    if chance < SIMULATED_REJECTS + SIMULATED_EDITS:
        picked |= {"edit": "1", "words": edits.reworded(texts[shown[place]])}
    return picked


def say(answer: Answer) -> str:
    if answer.label == CANNOT_JUDGE:
        return "cannot judge"
    if answer.label == REJECT:
        wrong, words = edits.broken(answer.content["guidelines"], GUIDELINES), answer.content["reason"]
        why = " · ".join(filter(None, [*wrong, words]))
        return f"rejected, since this does not hold: {why}" if wrong else f"rejected: {why}"
    return f"{'edited to' if answer.label == EDITED else 'picked'} “{answer.texts[MADE]}”"


def kept_or_rejected(answer: str) -> str:
    return answer if answer in {REJECT, CANNOT_JUDGE} else "kept"


PROTOCOL = Protocol(
    name="visla-paraphrase",
    title="Say the same in other words",
    question="Which sentence says the same?",
    shown="a sentence, one that it must not mean, and other ways of saying it",
    instructions=INSTRUCTIONS,
    template="judging/_paraphrase.html",
    asks=asks,
    picks=("1 – 9", "pick a sentence"),
    projections={"kept or rejected": kept_or_rejected},
    drops={REJECT: "rejected", CANNOT_JUDGE: CANNOT_JUDGE},
    form=Form(
        read=read,
        fill=fill,
        made_up=made_up,
        say=say,
        script="js/judging/edit.js",
        style="css/judge-edit.css",
        zooms=False,
        keys=(
            ("E", "edit the sentence that is picked; Enter leaves the field"),
            ("R", "reject them all; again: say why in words"),
            (" ".join(one.key.upper() for one in GUIDELINES), "while you reject: tick what is wrong"),
            ("Z", "show the picture, or hide it"),
        ),
        edits=(MADE,),
        guidelines=GUIDELINES,
        confirms=True,
    ),
)
