"""VISLA §3.3: whether two positives and a negative keep the guidelines, mended by editing where they do not.

The negative can also be another of its nearest candidates. What cannot be mended is dropped.
"""

from collections.abc import Sequence
from random import Random

from annotation.protocols import base, edits
from annotation.protocols.decision_rule import EDITED
from benchmarks.records import ItemRecord

VALID, DROPPED = "valid", "dropped"
_ROLES = {"first": "positive", "second": "second_positive", "third": "negative"}  # of a screen's fields
_SENTENCE_NAMES = {"first": "Sentence A", "second": "Sentence B", "third": "Sentence C"}
_SIMULATED_DROPS, _SIMULATED_EDITS = 0.1, 0.3
_MOST_CANDIDATES = 9  # of other negatives, which are picked with the keys 1 to 9

GUIDELINES = (
    base.Guideline("same", "A and B say the same: the same things in the same arrangement.", "s"),
    base.Guideline("contradicts", "C contradicts both A and B.", "c"),
    base.Guideline("text_alone", "The words alone tell that C is the odd one out; no picture, no guessing.", "t"),
    base.Guideline(edits.FLUENT, "All three make sense and read well.", "w"),
    base.Guideline("nothing_added", "They differ in wording, order or an opposite; none adds a detail.", "n"),
    base.Guideline(edits.NEUTRAL, edits.NEUTRAL_STATEMENT, "p"),
)

INSTRUCTIONS = """\
You will see a picture and three sentences. A and B are meant to say the same of it; C is meant to contradict them. Say
of each line of the list whether it holds, and mend the sentences where one does not.

- A and B must put the same things in the same arrangement. "The cat is in the basket" and "The basket contains the cat"
  do; "The cat is next to the basket" says something else.
- C must contradict both: where A and B are true, C is false.
- Somebody who reads only the three sentences must be able to tell that C is the odd one out, without the picture,
  without working anything out and without knowing how the world is. If it takes the picture, that line does not hold.
- All three must make sense and read like something that a person would write.
- They may differ by words of the same meaning, by opposites and by the order of words. None of them may add a detail of
  the picture that the others do not speak of.
- People are called person, individual, child and the like. Mend he, she, his and her.

Change any sentence as much as it needs; the marks show what you changed. For C there may be other sentences below it
that you can put in its place, and change as well. When every line holds of the sentences as they stand now, submit. If
they cannot be mended, mark what does not hold and drop them.
""" + base.PICTURE_CLOSING.format("a sentence or the picture")


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """The three sentences and the image; the candidates are what may stand in the negative's place."""
    base.require_parts(item, captions=list(_ROLES.values()), images=["positive"])
    others = tuple(item.captions_as("candidate"))
    if len(others) > _MOST_CANDIDATES:
        raise base.UnsuitableItem(
            f"item {item.key} has {len(others)} candidate captions; visla-triplet shows {_MOST_CANDIDATES} at most"
        )
    return [base.TaskSpec(shows=("positive-0", *map(base.caption_identity, _ROLES.values())), options=others)]


def _parse(sent: base.SubmittedFields, shown: Sequence[str], texts: base.TextsByIdentity) -> base.Answer:
    """Each guideline's code: `holds` or `broken`; `first`, `second`, `third`: the sentences as they stand; `use`: the
    place of what is put in the third one's place; `drop`: they cannot be mended.
    """
    lines = edits.guideline_answers(sent, GUIDELINES)
    if len(lines) < len(GUIDELINES):
        raise base.InvalidAnswer("Say of every line whether it holds.")
    wrong = edits.broken_guidelines(lines, GUIDELINES)
    if sent.get("drop"):
        if not wrong:
            raise base.InvalidAnswer("Mark what does not hold before you drop them.")
        return base.Answer(DROPPED, {"guidelines": lines, "reason": " · ".join(wrong)})
    made = _changes(sent, shown, texts)
    if wrong:
        raise base.InvalidAnswer("A line does not hold. Mend the sentences until it does, or drop them.")
    if not made:
        return base.Answer(VALID, {"guidelines": lines})
    changed, of = ({role: one[part] for role, one in made.items()} for part in (0, 1))
    return base.Answer(EDITED, {"guidelines": lines, "texts": changed, "from": of})


def _changes(
    sent: base.SubmittedFields, shown: Sequence[str], texts: base.TextsByIdentity
) -> dict[str, tuple[str, str]]:
    """Of each role that was changed: its words now, and the identity that they were made of. Raises InvalidAnswer."""
    put = edits.option_at_place(sent["use"], shown) if sent.get("use") else ""
    stand = {}
    for field, role in _ROLES.items():
        others, instead = (shown, put) if role == "negative" else ((), "")
        stand[role] = _sentence_and_source(field, sent.get(field), others, instead, texts)
    said = {role: edits.one_line(words) for role, (words, _) in stand.items()}
    if len(set(said.values())) < len(said):
        raise base.InvalidAnswer("Two of the sentences are the same words. Change one of them, or drop them.")
    return {role: stand[role] for role in stand if said[role] != edits.one_line(texts[base.caption_identity(role)])}


def _sentence_and_source(
    field: str, typed: str | None, others: Sequence[str], put: str, texts: base.TextsByIdentity
) -> tuple[str, str]:
    """A sentence's words, and what they were made of. `others` may stand in its place, and `put` is the one that was
    put there; words that are exactly those of one of them are that one.
    """
    was = base.caption_identity(_ROLES[field])
    words = edits.one_line(texts[was] if typed is None else typed)
    if words == edits.one_line(texts[was]):
        same = put or was
    else:
        same = next((one for one in (put, *others) if one and edits.one_line(texts[one]) == words), "")
    return (texts[same], same) if same else (edits.checked_sentence(words, _SENTENCE_NAMES[field]), put or was)


def _fill(answer: base.Answer, shown: Sequence[str]) -> dict[str, str]:
    """The inverse of `_parse`; a sentence that stands as it was is left out."""
    fields = edits.guideline_fields(answer.content["guidelines"])
    fields |= {"drop": "1"} if answer.label == DROPPED else {}
    fields |= {field: answer.texts[role] for field, role in _ROLES.items() if role in answer.texts}
    put = answer.content.get("from", {}).get("negative", "")
    return fields | ({"use": edits.place_of_option(put, shown)} if put in shown else {})


def _simulate(rng: Random, shown: Sequence[str], texts: base.TextsByIdentity) -> dict[str, str]:
    """One in ten drops, and where two sentences are the same words everybody does; two in ten edit the third."""
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


def _describe_fields(fields: base.SubmittedFields, options: Sequence[str]) -> str:
    if "drop" in fields:
        wrong = edits.broken_guidelines(edits.guideline_answers(fields, GUIDELINES), GUIDELINES)
        return " ".join(["Dropped, since this does not hold:", *wrong])
    changed = [f"{_SENTENCE_NAMES[field][-1]}: “{fields[field]}”" for field in _ROLES if field in fields]
    return " ".join(["All lines hold.", *changed])


def _kept_or_dropped(answer: str) -> str:
    return "kept" if answer in {VALID, EDITED} else answer


PROTOCOL = base.Protocol(
    name="visla-triplet",
    title="Mend three sentences",
    question="Do A and B say the same, and does C contradict them?",
    shown="a picture and three sentences that you can change",
    instructions=INSTRUCTIONS,
    template="judging/_triplet.html",
    tasks=_tasks,
    projections={"kept or dropped": _kept_or_dropped},
    drops={DROPPED: "triplet_dropped", base.CANNOT_JUDGE: base.CANNOT_JUDGE},
    leaks=frozenset({"visla-paraphrase"}),  # who wrote a sentence is not to be the one who checks it
    form=base.Form(
        parse=_parse,
        fill=_fill,
        simulate=_simulate,
        describe=_describe,
        describe_fields=_describe_fields,
        script="js/judging/edit.js",
        style="css/judge-edit.css",
        keys=(
            ("A", "all lines hold; of what is dropped, all lines that are not broken"),
            (" ".join(one.key.upper() for one in GUIDELINES), "the line is broken; again: it holds"),
            ("E", "change sentence A; Tab goes on to B and C, Enter leaves the field"),
            ("1 – 9", "put another sentence in the place of C; 0 puts it back"),
            ("D", "drop them"),
        ),
        edits=tuple(_ROLES.values()),
        guidelines=GUIDELINES,
    ),
)
