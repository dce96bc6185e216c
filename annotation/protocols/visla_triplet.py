"""VISLA §3.3: check that two positives and a negative follow the guidelines, and edit them if they don't.

The negative can also be replaced by another of its nearest candidates. What cannot be corrected is dropped.
"""

from collections.abc import Sequence
from random import Random

from annotation.protocols import base, edits
from annotation.protocols.decision_rule import EDITED
from annotation.wording import gettext_noop
from benchmarks.records import ItemRecord

VALID, DROPPED = "valid", "dropped"
_ROLES = {"first": "positive", "second": "second_positive", "third": "negative"}  # names of a screen's fields
_SENTENCE_NAMES = {
    "first": gettext_noop("Sentence A"),
    "second": gettext_noop("Sentence B"),
    "third": gettext_noop("Sentence C"),
}
_SIMULATED_DROPS, _SIMULATED_EDITS = 0.1, 0.3
_MOST_CANDIDATES = 9  # other negatives, picked with the keys 1 to 9

GUIDELINES = (
    base.Guideline("same", gettext_noop("A and B say the same: the same things in the same arrangement."), "s"),
    base.Guideline("contradicts", gettext_noop("C contradicts both A and B."), "c"),
    base.Guideline("text_alone", gettext_noop("From the text alone, it is clear that C is the odd one out."), "t"),
    base.Guideline(edits.FLUENT, gettext_noop("All three make sense and read well."), "w"),
    base.Guideline(
        "nothing_added", gettext_noop("They differ in wording, word order or an opposite; none adds a detail."), "n"
    ),
    base.Guideline(edits.NEUTRAL, edits.NEUTRAL_STATEMENT, "p"),
)

INSTRUCTIONS = gettext_noop("""\
You will see a picture and three sentences. A and B should say the same about it; C should contradict them. Mark every
line of the list as “holds” or “broken”, and correct the sentences where a line is broken.

- A and B must describe the same things in the same arrangement. “The cat is in the basket” and “The basket contains the
  cat” do; “The cat is next to the basket” says something else.
- C must contradict both: when A and B are true, C is false.
- Someone who reads only the three sentences must be able to tell that C is the odd one out, without the picture,
  without working anything out and without knowing more about the world. If it takes the picture, that line is broken.
- All three must make sense and read like something a person would write.
- They may differ in synonyms, opposites and word order. None of them may add a detail of the picture that the others do
  not mention.
- Call people person, individual, child and so on. Correct he, she, his and her.

Change any sentence as much as it needs; the marks show what you changed. Below C there may be other sentences that you
can use instead of it, and edit too. When every line holds for the sentences as they are now, submit. If you cannot
correct them, mark what does not hold and drop all three.
""")


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """Return the task: the three sentences and the image; the candidates can replace the negative."""
    base.require_parts(item, captions=list(_ROLES.values()), images=["positive"])
    others = tuple(item.captions_as("candidate"))
    if len(others) > _MOST_CANDIDATES:
        lacks = f"item {item.key} has {len(others)} candidate captions; visla-triplet shows {_MOST_CANDIDATES} at most"
        raise base.UnsuitableItem(lacks, f"at most {_MOST_CANDIDATES} candidate captions", len(others))
    return [base.TaskSpec(shows=("positive-0", *map(base.caption_identity, _ROLES.values())), options=others)]


def _parse(
    sent: base.SubmittedFields, shown: Sequence[str], texts: base.TextsByIdentity, question: str = ""
) -> base.Answer:
    """Parse each guideline's code: `holds` or `broken`; `first`, `second`, `third`: the sentences as edited; `use`: the
    place of the candidate that replaces the third; `drop`: they cannot be corrected.
    """
    lines = edits.guideline_answers(sent, GUIDELINES)
    if len(lines) < len(GUIDELINES):
        raise base.InvalidAnswer(gettext_noop("Mark every line as holds or broken."))
    wrong = edits.broken_guidelines(lines, GUIDELINES)
    if sent.get("drop"):
        if not wrong:
            raise base.InvalidAnswer(gettext_noop("Mark what does not hold before you drop them."))
        return base.Answer(DROPPED, {"guidelines": lines, "reason": " · ".join(wrong)})
    made = _changes(sent, shown, texts)
    if wrong:
        raise base.InvalidAnswer(
            gettext_noop("A line is broken. Correct the sentences until it holds, or drop all three.")
        )
    if not made:
        return base.Answer(VALID, {"guidelines": lines})
    changed, of = ({role: one[part] for role, one in made.items()} for part in (0, 1))
    return base.Answer(EDITED, {"guidelines": lines, "texts": changed, "from": of})


def _changes(
    sent: base.SubmittedFields, shown: Sequence[str], texts: base.TextsByIdentity
) -> dict[str, tuple[str, str]]:
    """Return, for each changed role, its current text, and the identity it was made from. Raises InvalidAnswer."""
    put = edits.option_at_place(sent["use"], shown) if sent.get("use") else ""
    stand = {}
    for field, role in _ROLES.items():
        others, instead = (shown, put) if role == "negative" else ((), "")
        stand[role] = _sentence_and_source(field, sent.get(field), others, instead, texts)
    said = {role: edits.one_line(words) for role, (words, _) in stand.items()}
    if len(set(said.values())) < len(said):
        raise base.InvalidAnswer(
            gettext_noop("Two of the sentences are identical. Change one of them, or drop all three.")
        )
    return {role: stand[role] for role in stand if said[role] != edits.one_line(texts[base.caption_identity(role)])}


def _sentence_and_source(
    field: str, typed: str | None, others: Sequence[str], put: str, texts: base.TextsByIdentity
) -> tuple[str, str]:
    """Return a sentence's words and source. `others` can replace it, and `put` is the one that did; text that equals
    one of these has it as its source.
    """
    was = base.caption_identity(_ROLES[field])
    words = edits.one_line(texts[was] if typed is None else typed)
    if words == edits.one_line(texts[was]):
        same = put or was
    else:
        same = next((one for one in (put, *others) if one and edits.one_line(texts[one]) == words), "")
    return (texts[same], same) if same else (edits.checked_sentence(words, _SENTENCE_NAMES[field]), put or was)


def _fill(answer: base.Answer, shown: Sequence[str]) -> dict[str, str]:
    """Invert `_parse`; a sentence that is unchanged is left out."""
    fields = edits.guideline_fields(answer.content["guidelines"])
    fields |= {"drop": "1"} if answer.label == DROPPED else {}
    fields |= {field: answer.texts[role] for field, role in _ROLES.items() if role in answer.texts}
    put = answer.content.get("from", {}).get("negative", "")
    return fields | ({"use": edits.place_of_option(put, shown)} if put in shown else {})


def _simulate(rng: Random, shown: Sequence[str], texts: base.TextsByIdentity, question: str = "") -> dict[str, str]:
    """Simulate: one in ten drops, or everybody if two sentences are identical; two in ten edit the third."""
    chance = rng.random()
    lines = {one.code: True for one in GUIDELINES}
    words = [edits.one_line(texts[base.caption_identity(role)]) for role in _ROLES.values()]
    if chance < _SIMULATED_DROPS or len(set(words)) < len(words):
        return {**edits.guideline_fields(lines | {rng.choice(GUIDELINES).code: False}), "drop": "1"}
    mended = {"third": edits.simulated_edit(words[2])} if chance < _SIMULATED_EDITS else {}
    return edits.guideline_fields(lines) | mended


def _describe(answer: base.Answer) -> str:
    if answer.label == DROPPED:
        return f"dropped, since this does not hold: {answer.content['reason']}"
    changed = [
        f"{_SENTENCE_NAMES[field][-1]} to “{now}”" for field, role in _ROLES.items() if (now := answer.texts.get(role))
    ]
    return f"edited {', '.join(changed)}" if changed else answer.label.replace("_", " ")


def _describe_fields(
    fields: base.SubmittedFields, options: Sequence[str], shown: Sequence[str] = ()
) -> list[base.Phrase]:
    if "drop" in fields:
        wrong = edits.broken_guidelines(edits.guideline_answers(fields, GUIDELINES), GUIDELINES)
        return [(gettext_noop("Dropped. What does not hold:"), {}), *((words, {}) for words in wrong)]
    changed = [(_SENTENCE_NAMES[field][-1], fields[field]) for field in _ROLES if field in fields]
    said = [("%(letter)s: “%(words)s”", {"letter": letter, "words": words}) for letter, words in changed]
    return [(gettext_noop("All lines hold."), {}), *said]


def _kept_or_dropped(answer: str) -> str:
    return "kept" if answer in {VALID, EDITED} else answer


PROTOCOL = base.Protocol(
    name="visla-triplet",
    title="Check and correct a triplet",
    question=gettext_noop("Do A and B say the same, and does C contradict them?"),
    shown=gettext_noop("a picture and three sentences that you can change"),
    instructions=(INSTRUCTIONS, base.PICTURE_CLOSING),
    template="judging/_triplet.html",
    tasks=_tasks,
    projections={"kept or dropped": _kept_or_dropped},
    drops={DROPPED: "triplet_dropped", base.CANNOT_JUDGE: base.CANNOT_JUDGE},
    leaks=frozenset({"visla-paraphrase"}),  # nobody checks a sentence they wrote
    form=base.Form(
        parse=_parse,
        labels=lambda options: (VALID, EDITED, DROPPED),
        fill=_fill,
        simulate=_simulate,
        describe=_describe,
        describe_fields=_describe_fields,
        script="js/judging/edit.js",
        style="css/judge-edit.css",
        keys=(
            ("A", gettext_noop("mark all lines as holding; when dropping, all lines not marked broken")),
            (
                " ".join(one.key.upper() for one in GUIDELINES),
                gettext_noop("mark the line as broken; press again: it holds"),
            ),
            ("E", gettext_noop("edit sentence A; Tab moves on to B and C, Enter leaves the field")),
            ("1 – 9", gettext_noop("use another sentence instead of C; 0 restores C")),
            ("D", gettext_noop("drop all three")),
        ),
        edits=tuple(_ROLES.values()),
        guidelines=GUIDELINES,
    ),
)
