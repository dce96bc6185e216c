"""SugarCrepe App. E.2: which of two hard negatives of one caption makes more sense, and which is more fluent, or a tie.

The two are of different origin, which nobody who judges is told.
"""

from collections.abc import Callable, Sequence
from itertools import product
from random import Random

from annotation.protocols import base
from annotation.wording import gettext_noop
from benchmarks.records import ItemRecord

# A screen's questions, in the order in which a label has their answers, each with what is said where one is missing.
QUESTIONS = {
    "sense": gettext_noop("Choose the sentence that makes more sense, or a tie."),
    "fluency": gettext_noop("Choose the sentence that is more fluent, or a tie."),
}
TIE = "tie"

INSTRUCTIONS = gettext_noop("""\
You will see one sentence at the top and, below it, two sentences made from it by changing some words. Neither has to be
true, and neither has to say the same as the sentence at the top. Compare the two, twice:

- Which makes more sense? Think of the world as you know it. A sentence makes sense if you can imagine it, even if it is
  unlikely: a cat under a car rather than a car under a cat, a red apple rather than a wooden sky.
- Which is more fluent? Think only of grammar and wording. A fluent sentence reads like something a person would write:
  complete, in the usual order, with no word doubled, missing or out of place.

Answer the two questions separately: nonsense can be well written, and good sense can be badly written. If neither
sentence is better, answer “Tie”; do not guess. Ignore capital letters and a missing period.
""")


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """The caption, and its two negatives; an image, where there is one, is not shown."""
    base.require_parts(item, captions=["positive"])
    options = tuple(item.captions_as("negative"))
    if len(options) != 2:
        lacks = f"item {item.key} has {len(options)} negative captions; sugarcrepe-compare compares two"
        raise base.UnsuitableItem(lacks, "two negative captions", len(options))
    return [base.TaskSpec(shows=(base.caption_identity("positive"),), options=options)]


def _parse(
    sent: base.SubmittedFields, shown: Sequence[str], texts: base.TextsByIdentity, question: str = ""
) -> base.Answer:
    """`sense` and `fluency`: the place of the better sentence, or `tie`."""
    return base.Answer("/".join(_better(sent, question, shown) for question in QUESTIONS))


def _labels(options: Sequence[str]) -> list[str]:
    better = [TIE, *(one.removeprefix(base.CAPTION_PREFIX) for one in options)]
    return ["/".join(of_each) for of_each in product(better, repeat=len(QUESTIONS))]


def _better(sent: base.SubmittedFields, question: str, shown: Sequence[str]) -> str:
    """`negative-1` or `tie`. Raises InvalidAnswer."""
    sentences = {str(place): one.removeprefix(base.CAPTION_PREFIX) for place, one in enumerate(shown, 1)}
    found = {TIE: TIE, **sentences}.get(sent.get(question, ""))
    if found is None:
        raise base.InvalidAnswer(QUESTIONS[question])
    return found


def _fill(answer: base.Answer, shown: Sequence[str]) -> dict[str, str]:
    """The inverse of `_parse`."""
    places = {identity.removeprefix(base.CAPTION_PREFIX): str(place) for place, identity in enumerate(shown, 1)}
    return {question: places.get(one, TIE) for question, one in zip(QUESTIONS, answer.label.split("/"), strict=True)}


def _simulate(rng: Random, shown: Sequence[str], texts: base.TextsByIdentity, question: str = "") -> dict[str, str]:
    """Half of the answers are ties; else the first of the two sentences, as the item has them, is better in two of
    three.
    """
    first = str(list(shown).index(min(shown)) + 1)
    second = str(3 - int(first))
    return {question: rng.choice([TIE, TIE, TIE, first, first, second]) for question in QUESTIONS}


def _describe(answer: base.Answer) -> str:
    if answer.label == base.CANNOT_JUDGE:
        return "cannot judge"
    said = zip(QUESTIONS, answer.label.split("/"), strict=True)
    return ", ".join(f"{question}: {_sentence_name(one)}" for question, one in said)


def _describe_fields(
    fields: base.SubmittedFields, options: Sequence[str], shown: Sequence[str] = ()
) -> list[base.Phrase]:
    better = [base.TIE if fields[one] == TIE else f"“{options[int(fields[one]) - 1]}”" for one in QUESTIONS]
    messages = gettext_noop("Makes more sense: %(better)s."), gettext_noop("More fluent: %(better)s.")
    return [(message, {"better": one}) for message, one in zip(messages, better, strict=True)]


def _sentence_name(one: str) -> str:
    """`negative 2` of `negative-1`."""
    role, _, number = one.rpartition("-")
    return f"{role} {int(number) + 1}" if role else one


def _answer_to(question: str) -> Callable[[str], str]:
    """What a label says to one of the two questions; *cannot judge* says so to both."""
    place = list(QUESTIONS).index(question)
    return lambda answer: answer if answer == base.CANNOT_JUDGE else answer.split("/")[place]


PROTOCOL = base.Protocol(
    name="sugarcrepe-compare",
    title="Compare two sentences",
    question=gettext_noop("Which of the two makes more sense, and which is more fluent?"),
    shown=gettext_noop("a sentence and two others made from it"),
    instructions=(INSTRUCTIONS, base.TEXT_CLOSING),
    template="judging/_compare.html",
    tasks=_tasks,
    picks=("1 2", gettext_noop("answer the marked question with that sentence, and mark the next question")),
    projections={question: _answer_to(question) for question in QUESTIONS},
    measures=True,
    form=base.Form(
        parse=_parse,
        labels=_labels,
        fill=_fill,
        simulate=_simulate,
        describe=_describe,
        describe_fields=_describe_fields,
        script="js/judging/compare.js",
        style="css/judge-compare.css",
        questions=(
            ("sense", gettext_noop("Which makes more sense?")),
            ("fluency", gettext_noop("Which is more fluent?")),
        ),
        zooms=False,
        keys=(
            ("0 T", gettext_noop("answer it with a tie")),
            ("↑ ↓", gettext_noop("mark the other question")),
        ),
    ),
)
