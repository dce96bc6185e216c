"""VISLA §3.2: which candidate says the same as the caption, as it is or lightly edited; else all are rejected.

What is picked or written becomes the item's second positive. An edit counts once another annotator has confirmed it.
"""

from collections.abc import Sequence
from random import Random

from annotation.protocols import base, edits
from annotation.protocols.decision_rule import EDITED
from benchmarks.records import ItemRecord

_REJECT = "reject"
_RESULT_ROLE = "second_positive"  # the role of what is picked or written
_SIMULATED_REJECTS, _SIMULATED_EDITS = 0.1, 0.2

GUIDELINES = (
    base.Guideline(
        "same", "It says the same as the sentence on top: the same things, in the same places.", "s",
        fault="They say something other than the sentence on top.",
    ),
    base.Guideline(
        "text_alone", "The words alone tell it from the one it must not mean; no picture, no guessing.", "t",
        fault="The words alone do not tell them from the one they must not mean.",
    ),
    base.Guideline(edits.FLUENT, "It makes sense and reads well.", "w", fault="They make no sense, or read badly."),
    base.Guideline(
        "nothing_added", "Only the wording differs, by other words or their order; nothing is added.", "n",
        fault="They add something, or leave something out.",
    ),
    base.Guideline(edits.NEUTRAL, edits.NEUTRAL_STATEMENT, "p", fault="They call a person he or she, his or her."),
)  # fmt: skip

INSTRUCTIONS = (
    """\
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
"""
    + base.TEXT_CLOSING
)


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """Its second positives, then its candidates: one to nine, since they are picked with the keys 1 to 9."""
    base.require_parts(item, captions=["positive", "negative"])
    options = (*item.captions_as(_RESULT_ROLE), *item.captions_as("candidate"))
    if not 1 <= len(options) <= 9:
        raise base.UnsuitableItem(
            f"item {item.key} has {len(options)} sentences to choose from; visla-paraphrase shows 1 to 9"
        )
    image = ("positive-0",) if item.images_as("positive") else ()
    shows = (base.caption_identity("positive"), base.caption_identity("negative"), *image)
    return [base.TaskSpec(shows=shows, options=options)]


def _parse(sent: base.SubmittedFields, shown: Sequence[str], texts: base.TextsByIdentity) -> base.Answer:
    """`answer`: an option's place or `reject`; with `edit`, `words` are what it should say instead."""
    if sent.get("answer") == _REJECT:
        return _rejected(sent)
    if not sent.get("answer"):
        raise base.InvalidAnswer("Pick a sentence, edit one, or reject them all.")
    picked = edits.option_at_place(sent["answer"], shown)
    if not sent.get("edit"):
        return _picked(picked, picked, texts[picked])
    words = edits.checked_sentence(sent.get("words", ""), "Your sentence")
    for role, which in (("positive", "the sentence on top"), ("negative", "the sentence that it must not mean")):
        if words == edits.one_line(texts[base.caption_identity(role)]):
            raise base.InvalidAnswer(f"Your sentence is the same as {which}.")
    alike = next((option for option in (picked, *shown) if edits.one_line(texts[option]) == words), "")
    return _picked(alike, alike, texts[alike]) if alike else _picked(EDITED, picked, words)


def _picked(label: str, of: str, words: str) -> base.Answer:
    return base.Answer(label, {"texts": {_RESULT_ROLE: words}, "from": {_RESULT_ROLE: of}})


def _rejected(sent: base.SubmittedFields) -> base.Answer:
    lines = {code: holds for code, holds in edits.guideline_answers(sent, GUIDELINES).items() if not holds}
    reason = edits.clean_comment(sent.get("why", ""))
    if not lines and not reason:
        raise base.InvalidAnswer("Tick what is wrong with them, or say it in words.")
    return base.Answer(_REJECT, {"guidelines": lines, "reason": reason})


def _fill(answer: base.Answer, shown: Sequence[str]) -> dict[str, str]:
    """The inverse of `_parse`."""
    content = answer.content
    if answer.label == _REJECT:
        return {"answer": _REJECT, "why": content["reason"], **edits.guideline_fields(content["guidelines"])}
    fields = {"answer": edits.place_of_option(content["from"][_RESULT_ROLE], shown)}
    return fields | ({"edit": "1", "words": answer.texts[_RESULT_ROLE]} if answer.label == EDITED else {})


def _simulate(rng: Random, shown: Sequence[str], texts: base.TextsByIdentity) -> dict[str, str]:
    """One in ten rejects, two in ten edit; who meets an edit takes it as any other sentence."""
    chance, place = rng.random(), rng.randrange(len(shown))
    if chance < _SIMULATED_REJECTS:
        return {"answer": _REJECT, rng.choice(GUIDELINES).code: edits.BROKEN}
    picked = {"answer": str(place + 1)}
    if chance < _SIMULATED_REJECTS + _SIMULATED_EDITS:
        picked |= {"edit": "1", "words": edits.simulated_edit(texts[shown[place]])}
    return picked


def _describe(answer: base.Answer) -> str:
    if answer.label == base.CANNOT_JUDGE:
        return "cannot judge"
    if answer.label == _REJECT:
        wrong, words = edits.broken_guidelines(answer.content["guidelines"], GUIDELINES), answer.content["reason"]
        why = " · ".join(filter(None, [*wrong, words]))
        return f"rejected: {why}"
    return f"{'edited to' if answer.label == EDITED else 'picked'} “{answer.texts[_RESULT_ROLE]}”"


def _describe_fields(fields: base.SubmittedFields, options: Sequence[str]) -> str:
    place = fields["answer"]
    if place == _REJECT:
        wrong = edits.broken_guidelines(edits.guideline_answers(fields, GUIDELINES), GUIDELINES)
        return " ".join(["None of them.", *wrong, fields["why"]]).rstrip()
    if "edit" in fields:
        return f"Sentence {place}, edited: “{fields['words']}”"
    return f"Sentence {place}: “{options[int(place) - 1]}”"


def _kept_or_rejected(answer: str) -> str:
    return answer if answer in {_REJECT, base.CANNOT_JUDGE} else "kept"


PROTOCOL = base.Protocol(
    name="visla-paraphrase",
    title="Say the same in other words",
    question="Which sentence says the same?",
    shown="a sentence, one that it must not mean, and other ways of saying it",
    instructions=INSTRUCTIONS,
    template="judging/_paraphrase.html",
    tasks=_tasks,
    picks=("1 – 9", "pick a sentence"),
    projections={"kept or rejected": _kept_or_rejected},
    drops={_REJECT: "rejected", base.CANNOT_JUDGE: base.CANNOT_JUDGE},
    form=base.Form(
        parse=_parse,
        fill=_fill,
        simulate=_simulate,
        describe=_describe,
        describe_fields=_describe_fields,
        script="js/judging/edit.js",
        style="css/judge-edit.css",
        zooms=False,
        keys=(
            ("E", "edit the sentence that is picked; Enter leaves the field"),
            ("R", "reject them all; again: say why in words"),
            (" ".join(one.key.upper() for one in GUIDELINES), "while you reject: tick what is wrong"),
            ("Z", "show the picture, or hide it"),
        ),
        edits=(_RESULT_ROLE,),
        guidelines=GUIDELINES,
        confirms=True,
    ),
)
