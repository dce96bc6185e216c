"""Hard Positive Truth §4.1, human performance: an item's three captions ranked by how well they fit its image.

Captions may tie. It is right when both positives stand above the negative, in whatever order they stand themselves.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from random import Random

from annotation.protocols import base
from annotation.wording import gettext_noop
from benchmarks.records import ItemRecord

_POSITIVES, _NEGATIVE = ("positive", "second_positive"), "negative"
ROLES = (*_POSITIVES, _NEGATIVE)  # the order in which a label names those that tie
_STEPS = {"1": 1, "2": 2, "3": 3}  # as a screen sends them; 1 is the best
_LETTERS = "ABC"  # what a screen calls the sentences, in the order shown
_SIMULATED_SLIPS, _SIMULATED_TIES = 0.1, 0.5

INSTRUCTIONS = gettext_noop("""\
You will see one picture and three sentences. Rank the sentences 1 (best), 2 or 3 (worst) by how well they describe the
picture.

- Sentences that describe the picture equally well get the same rank. Two may share a rank, and so may all three.
- Only the order counts. You may leave a rank empty, and a sentence ranked last need not be a bad one.
- Read all three to the end. They may differ in only one word, or have the same words in a different order: who does
  what to whom, and which color belongs to which thing.
- Judge what a sentence says, not how it says it. Two sentences that say the same in different words are equally good,
  even if one of them sounds better.
- Looks do not matter. Blur, odd colors and a tight crop are fine.

No sentence has a rank at first, and every sentence needs one. Drag it to a rank, press one of its buttons, or press 1,
2 or 3 to rank the marked sentence.
""")


def _tasks(item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """One question: the image with all three captions."""
    base.require_parts(item, captions=ROLES, images=["positive"])
    return [base.TaskSpec(shows=("positive-0",), options=tuple(map(base.caption_identity, ROLES)))]


def _parse(
    sent: base.SubmittedFields, shown: Sequence[str], texts: base.TextsByIdentity, question: str = ""
) -> base.Answer:
    """`step-1` to `step-3`: the step of the sentence at that place."""
    steps = {base.caption_role(identity): _step(sent, place) for place, identity in enumerate(shown, 1)}
    return base.Answer(ranking_label(steps))


def _step(sent: base.SubmittedFields, place: int) -> int:
    step = _STEPS.get(sent.get(f"step-{place}", ""))
    if step is None:
        message = gettext_noop("Rank sentence %(letter)s: 1 (best), 2 or 3 (worst).")
        raise base.InvalidAnswer(message, letter=_LETTERS[place - 1])
    return step


def ranking_label(steps: Mapping[str, int]) -> str:
    """Role → step, best lowest, as a label: `positive=second_positive>negative`. Empty steps leave no trace."""
    used = sorted(set(steps.values()))
    return ">".join("=".join(role for role in ROLES if steps[role] == step) for step in used)


def ranks(label: str) -> dict[str, int]:
    """Role → rank from 1, of which those that tie have the same; nothing where the label is no order."""
    tiers = [tier.split("=") for tier in label.split(">")]
    found = {role: rank for rank, tier in enumerate(tiers, 1) for role in tier}
    return found if set(found) == set(ROLES) else {}


def is_right(label: str) -> bool:
    """Both positives strictly above the negative (Hard Positive §4.1, equation 1). Who cannot judge is not right."""
    rank = ranks(label)
    return bool(rank) and all(rank[one] < rank[_NEGATIVE] for one in _POSITIVES)


def _fill(answer: base.Answer, shown: Sequence[str]) -> dict[str, str]:
    """The inverse of `_parse`, on the first steps: what was put on 1, 1 and 3 comes back on 1, 1 and 2."""
    rank = ranks(answer.label)
    return {f"step-{place}": str(rank[base.caption_role(identity)]) for place, identity in enumerate(shown, 1)}


def _simulate(rng: Random, shown: Sequence[str], texts: base.TextsByIdentity, question: str = "") -> dict[str, str]:
    """Nine in ten are right, half of these with both positives on the best step; one in ten is any order."""
    if rng.random() < _SIMULATED_SLIPS:
        steps = {role: rng.randint(1, 3) for role in ROLES}
    else:
        first, second = (1, 1) if rng.random() < _SIMULATED_TIES else rng.sample((1, 2), 2)
        steps = dict(zip(ROLES, (first, second, 3), strict=True))
    return {f"step-{place}": str(steps[base.caption_role(identity)]) for place, identity in enumerate(shown, 1)}


def _describe(answer: base.Answer) -> str:
    """`positive and second positive, then negative`."""
    return answer.label.replace("_", " ").replace("=", " and ").replace(">", ", then ")


def _describe_fields(
    fields: base.SubmittedFields, options: Sequence[str], shown: Sequence[str] = ()
) -> list[base.Phrase]:
    """The sentences, best first; those of one rank stand together."""
    steps = {place: fields[f"step-{place}"] for place in range(1, len(options) + 1)}
    used = sorted(set(steps.values()))
    tiers = [" = ".join(f"“{options[place - 1]}”" for place in steps if steps[place] == step) for step in used]
    return [(gettext_noop("Your order: %(order)s"), {"order": " > ".join(tiers)})]


def _right_or_wrong(answer: str) -> str:
    return answer if answer == base.CANNOT_JUDGE else "right" if is_right(answer) else "wrong"


PROTOCOL = base.Protocol(
    name="hard-positive-rank",
    title="Rank three sentences",
    question=gettext_noop("How well does each sentence describe the picture?"),
    shown=gettext_noop("a picture and three sentences to rank"),
    instructions=(INSTRUCTIONS, base.PICTURE_CLOSING),
    template="judging/_rank.html",
    tasks=_tasks,
    picks=("1 2 3", gettext_noop("rank the marked sentence, and mark the next one")),
    projections={"both above the negative": _right_or_wrong},
    measures=True,
    leaks=frozenset({"bivlc-choose", "bivlc-disambiguate", "visla-paraphrase", "visla-triplet"}),
    form=base.Form(
        parse=_parse,
        labels=lambda options: {
            ranking_label(dict(zip(ROLES, steps, strict=True))) for steps in product((1, 2, 3), repeat=3)
        },
        fill=_fill,
        simulate=_simulate,
        describe=_describe,
        describe_fields=_describe_fields,
        script="js/judging/rank.js",
        style="css/judge-rank.css",
        questions=(("step", ""),),
        keys=(
            ("↑ ↓", gettext_noop("mark the sentence above or below")),
            ("A B C", gettext_noop("mark that sentence")),
        ),
    ),
)
