"""VISLA §3.2: choose the candidate that means the same as the caption, unchanged or lightly edited, or reject all.

What is picked or written becomes the item's second positive. An edit counts once another annotator has confirmed it.
"""

from collections.abc import Sequence
from random import Random

from annotation.protocols import base, edits
from annotation.protocols.decision_rule import EDITED
from annotation.wording import gettext_noop
from benchmarks.records import ItemRecord

_REJECT = "reject"
_RESULT_ROLE = "second_positive"  # the role of what is picked or written
_SIMULATED_REJECTS, _SIMULATED_EDITS = 0.1, 0.2

GUIDELINES = (
    base.Guideline(
        "same", gettext_noop("It says the same as the sentence at the top: the same things, in the same places."), "s",
        fault=gettext_noop("They say something different from the sentence at the top."),
    ),
    base.Guideline(
        "text_alone", gettext_noop("From the text alone, it is clearly different from what it must not mean."), "t",
        fault=gettext_noop("From the text alone, they are not clearly different from what they must not mean."),
    ),
    base.Guideline(
        edits.FLUENT, gettext_noop("It makes sense and reads well."), "w",
        fault=gettext_noop("They make no sense or read badly."),
    ),
    base.Guideline(
        "nothing_added", gettext_noop("Only wording and word order differ; nothing is added."), "n",
        fault=gettext_noop("They add something or leave something out."),
    ),
    base.Guideline(
        edits.NEUTRAL, edits.NEUTRAL_STATEMENT, "p",
        fault=gettext_noop("They call a person he or she, his or her."),
    ),
)  # fmt: skip

INSTRUCTIONS = gettext_noop("""\
You will see a sentence at the top, a sentence that it must not mean, and one or more paraphrases of the sentence at the
top. Pick the best paraphrase. Edit it if it needs a small correction. Reject all of them if none can be saved.

- It must say the same as the sentence at the top: the same things, the same number, with the same properties, doing
  the same, in the same places.
- People who read only the text must be able to tell it from the sentence it must not mean, without the picture, without
  working anything out and without knowing more about the world.
- Only the wording may differ: synonyms, a different order, active instead of passive. It must not add anything about
  the picture, and must not leave anything out.
- It must make sense and read like something a person would write.
- Call people person, individual, child and so on. Correct he, she, his and her.

If a paraphrase already meets all of this, pick it. If the best one needs a small change, edit it; the marks show which
words differ from the sentence at the top. Another annotator then checks your version, and it counts if they agree. A
version edited by another annotator is marked: pick it if you agree with it, or edit or reject as usual.

If no small change helps, reject all of them. Tick every problem, or explain in your own words.

You can look at the picture, but only the text counts.
""")


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """Return the task: second positives, then candidates; one to nine, because the keys 1 to 9 pick them."""
    base.require_parts(item, captions=["positive", "negative"])
    options = (*item.captions_as(_RESULT_ROLE), *item.captions_as("candidate"))
    if not 1 <= len(options) <= 9:
        lacks = f"item {item.key} has {len(options)} sentences to choose from; visla-paraphrase shows 1 to 9"
        raise base.UnsuitableItem(lacks, "1 to 9 second positive or candidate captions", len(options))
    image = ("positive-0",) if item.images_as("positive") else ()
    shows = (base.caption_identity("positive"), base.caption_identity("negative"), *image)
    return [base.TaskSpec(shows=shows, options=options)]


def _parse(
    sent: base.SubmittedFields, shown: Sequence[str], texts: base.TextsByIdentity, question: str = ""
) -> base.Answer:
    """Parse `answer` (an option's place or `reject`) and, with `edit`, the `words` that replace the option's."""
    if sent.get("answer") == _REJECT:
        return _rejected(sent)
    if not sent.get("answer"):
        raise base.InvalidAnswer(gettext_noop("Pick a sentence, edit one or reject all."))
    picked = edits.option_at_place(sent["answer"], shown)
    if not sent.get("edit"):
        return _picked(picked, picked, texts[picked])
    words = edits.checked_sentence(sent.get("words", ""), gettext_noop("Your version"))
    if words == edits.one_line(texts[base.caption_identity("positive")]):
        raise base.InvalidAnswer(gettext_noop("Your version is the same as the sentence at the top."))
    if words == edits.one_line(texts[base.caption_identity("negative")]):
        raise base.InvalidAnswer(gettext_noop("Your version is the same as the sentence that it must not mean."))
    alike = next((option for option in (picked, *shown) if edits.one_line(texts[option]) == words), "")
    return _picked(alike, alike, texts[alike]) if alike else _picked(EDITED, picked, words)


def _picked(label: str, of: str, words: str) -> base.Answer:
    return base.Answer(label, {"texts": {_RESULT_ROLE: words}, "from": {_RESULT_ROLE: of}})


def _rejected(sent: base.SubmittedFields) -> base.Answer:
    lines = {code: holds for code, holds in edits.guideline_answers(sent, GUIDELINES).items() if not holds}
    reason = edits.clean_comment(sent.get("why", ""))
    if not lines and not reason:
        raise base.InvalidAnswer(gettext_noop("Tick every problem, or explain in your own words."))
    return base.Answer(_REJECT, {"guidelines": lines, "reason": reason})


def _fill(answer: base.Answer, shown: Sequence[str]) -> dict[str, str]:
    """Invert `_parse`."""
    content = answer.content
    if answer.label == _REJECT:
        return {"answer": _REJECT, "why": content["reason"], **edits.guideline_fields(content["guidelines"])}
    fields = {"answer": edits.place_of_option(content["from"][_RESULT_ROLE], shown)}
    return fields | ({"edit": "1", "words": answer.texts[_RESULT_ROLE]} if answer.label == EDITED else {})


def _simulate(rng: Random, shown: Sequence[str], texts: base.TextsByIdentity, question: str = "") -> dict[str, str]:
    """Simulate: one in ten rejects, two in ten edit; another's edit is treated as any other sentence."""
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


def _describe_fields(
    fields: base.SubmittedFields, options: Sequence[str], shown: Sequence[str] = ()
) -> list[base.Phrase]:
    place = fields["answer"]
    if place == _REJECT:
        wrong = edits.broken_guidelines(edits.guideline_answers(fields, GUIDELINES), GUIDELINES)
        rejected: list[base.Phrase] = [(gettext_noop("All rejected."), {}), *((words, {}) for words in wrong)]
        return [*rejected, ("%(why)s", {"why": fields["why"]})] if fields["why"] else rejected
    if "edit" in fields:
        return [(gettext_noop("Sentence %(place)s, edited: “%(words)s”"), {"place": place, "words": fields["words"]})]
    return [(base.SENTENCE, {"place": place, "sentence": options[int(place) - 1]})]


def _kept_or_rejected(answer: str) -> str:
    return answer if answer in {_REJECT, base.CANNOT_JUDGE} else "kept"


PROTOCOL = base.Protocol(
    name="visla-paraphrase",
    title="Choose or edit a paraphrase",
    question=gettext_noop("Which sentence says the same?"),
    shown=gettext_noop("a sentence, one that it must not mean, and paraphrases of it"),
    instructions=(INSTRUCTIONS, base.TEXT_CLOSING),
    template="judging/_paraphrase.html",
    tasks=_tasks,
    picks=("1 – 9", gettext_noop("pick a sentence")),
    projections={"kept or rejected": _kept_or_rejected},
    drops={_REJECT: "rejected", base.CANNOT_JUDGE: base.CANNOT_JUDGE},
    form=base.Form(
        parse=_parse,
        labels=lambda options: (*options, EDITED, _REJECT),
        fill=_fill,
        simulate=_simulate,
        describe=_describe,
        describe_fields=_describe_fields,
        script="js/judging/edit.js",
        style="css/judge-edit.css",
        zooms=False,
        keys=(
            ("E", gettext_noop("edit the picked sentence; Enter leaves the field")),
            ("R", gettext_noop("reject all; press again to explain in your own words")),
            (" ".join(one.key.upper() for one in GUIDELINES), gettext_noop("when rejecting: tick a problem")),
            ("Z", gettext_noop("show or hide the picture")),
        ),
        edits=(_RESULT_ROLE,),
        guidelines=GUIDELINES,
        confirms=True,
    ),
)
