"""The prompts with which a language model makes captions: one template per kind, in our own words. Pure.

Each answer is a few labelled lines, so that every step the model took can be checked (generated.py). The kinds and the
rules are those of SugarCrepe (App. D.1 and D.2), VISLA (§3.2) and Hard Positive Truth (App. C); the wording and the
examples, in `prompt_examples.csv`, are ours.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

PLACEHOLDER = "{caption}"
SYSTEM = "You write data for a benchmark. Reply only with the lines that you are asked for, and add no comment."
LONGEST_SWAP = 14  # words: Hard Positive Truth swaps around “and” only in captions under 15
NEGATIVE, SECOND_POSITIVE = "negative", "second_positive"
Message = dict[str, object]  # {"role": …, "content": a text, or a list of parts for chat endpoints}

DIFFERS = (
    "The new caption describes a scene that clearly differs from the original one.",
    "The new caption is fluent and grammatical.",
    "The new caption makes sense.",
    "Change nothing else, except articles and verb forms where grammar needs it.",
    "End the new caption with a full stop.",
)
SAME = (
    "The new caption has the same meaning as the original one, and tells neither more nor less.",
    "The new caption is fluent and grammatical.",
    "End the new caption with a full stop.",
)
REPLACED = ("Chosen", "New", "New caption")
STEPS = (0.0, 1.5, 0.0)  # for SugarCrepe's three questions about REPLACE and ADD (App. D.2), one temperature per line
SWAPPED = ("Possible", "First", "Second", "New caption")
Example = tuple[str, ...]  # the caption, then the value of each line


def _examples() -> dict[str, list[Example]]:
    """Return the examples by kind; `check`, which compares a second positive with its caption, has two captions."""
    found: dict[str, list[Example]] = defaultdict(list)
    with Path(__file__).with_name("prompt_examples.csv").open(encoding="utf-8", newline="") as file:
        for kind, *values in islice(csv.reader(file), 1, None):
            found[kind].append(tuple(filter(None, values)))
    return found


EXAMPLES = _examples()


@dataclass(frozen=True, slots=True)
class CaptionKind:
    """One kind of caption to make.

    `role`: that of the new caption; `type` and `subtype` of the items, empty if they keep their own. `check` names the
    rule by which generated.py checks an answer. `lines`: the labels of its lines, in order. `temperature`: the default
    for sampling.
    """

    name: str
    says: str
    role: str
    type: str
    subtype: str
    check: str
    task: str
    steps: tuple[str, ...]
    rules: tuple[str, ...]
    lines: tuple[str, ...]
    temperature: float

    @property
    def examples(self) -> list[Example]:
        return EXAMPLES[self.name]

    @property
    def in_steps(self) -> bool:
        """Return whether SugarCrepe asks for it in three steps."""
        return self.role == NEGATIVE and self.lines == REPLACED

    @property
    def template(self) -> str:
        """Return the prompt, with PLACEHOLDER for the caption."""
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, 1))
        rules = "\n".join(f"- {rule}" for rule in self.rules)
        shown = "\n\n".join("\n".join(self._shown(example)) for example in self.examples)
        return (
            f"You are given the caption of a photograph. {self.task}\n\nDo this:\n{steps}\n\nRules:\n{rules}\n\n"
            f"Reply with exactly these lines: {', '.join(f'“{line}:”' for line in self.lines)}.\n\n"
            f"Examples:\n\n{shown}\n\nNow the caption to work on.\n\nCaption: {PLACEHOLDER}"
        )

    def _shown(self, example: Example) -> Iterator[str]:
        yield f"Caption: {example[0]}"
        yield from self.answer_lines(example)

    def answer_lines(self, example: Example) -> list[str]:
        """Return the lines of an example's answer."""
        return [f"{label}: {value}" for label, value in zip(self.lines, example[1:], strict=True)]

    def ineligible(self, caption: str) -> str:
        """Return why the kind cannot be made from this caption, as a phrase; empty if it can."""
        words = caption.split()
        if self.check != "around and":
            return "" if words else "the caption is empty"
        if "and" not in (word.lower() for word in words):
            return "the caption has no “and”"
        return "" if len(words) <= LONGEST_SWAP else f"the caption has more than {LONGEST_SWAP} words"


SECOND = "{second}"
CHECKED = ("Consistent", "Caption")


def check_template() -> str:
    """Return the prompt that checks a second positive against the caption (VISLA §3.2, App. A.3), with PLACEHOLDER and
    SECOND for the two."""
    shown = "\n\n".join(
        f"Original: {first}\nParaphrase: {second}\nConsistent: {verdict}\nCaption: {text}"
        for first, second, verdict, text in EXAMPLES["check"]
    )
    return (
        "You are given the caption of a photograph and a paraphrase of it. Decide whether both say the same, above all "
        "about who does what and where things stand to one another.\n\nDo this:\n1. Write yes if they say the same, "
        "otherwise no.\n2. After a yes, copy the paraphrase. After a no, write one that does say the same, and "
        "end it with a full stop.\n\nReply with exactly these lines: “Consistent:”, “Caption:”.\n\n"
        f"Examples:\n\n{shown}\n\nNow the pair to work on.\n\nOriginal: {PLACEHOLDER}\nParaphrase: {SECOND}"
    )


def check_messages(caption: str, second: str) -> list[Message]:
    """Return the conversation that checks a second positive."""
    before, between, after = re.split(rf"{re.escape(PLACEHOLDER)}|{re.escape(SECOND)}", check_template())
    asked = f"{before}{' '.join(caption.split())}{between}{' '.join(second.split())}{after}"
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": asked}]


class PromptWrong(ValueError):
    """The message explains the problem with a user's own prompt."""


def checked_template(text: str) -> str:
    """Return a user's own template. Raises PromptWrong unless it has the placeholder exactly once."""
    found = text.count(PLACEHOLDER)
    if found != 1:
        how = "does not contain" if not found else f"contains {found} times"
        raise PromptWrong(f"The prompt {how} {PLACEHOLDER}. Write it exactly once, where the caption goes.")
    return text


def messages(template: str, caption: str, said: Sequence[str] = (), line: str = "") -> list[Message]:
    """Return the conversation that asks for a new caption, for chat endpoints and chat templates. `line`: ask only for
    this line of the answer, after the lines from earlier steps (`said`)."""
    asked = template.replace(PLACEHOLDER, " ".join(caption.split()))
    if line:
        asked = "\n".join([asked, *said, "", f"Reply only with the next line: “{line}:”."])
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": asked}]


def _replace(subtype: str, what: str) -> CaptionKind:
    return CaptionKind(
        f"replace-{subtype}", f"hard negatives in which {what} is replaced (SugarCrepe)", NEGATIVE, "replace", subtype,
        "replaced", f"Replace {what} in it, so that the caption becomes wrong for the photograph.",
        (f"Find every {what.removeprefix('one ')} in the caption.", "Pick one of them at random, and write it down.",
         "Think of another one to put in its place, which the caption does not contain and which is no negation.",
         "Write the caption with it. If there is nothing to replace, write “none” on every line."),
        DIFFERS, REPLACED, 1.0,
    )  # fmt: skip


def _swap(subtype: str, what: str) -> CaptionKind:
    return CaptionKind(
        f"swap-{subtype}", f"hard negatives in which {what} change places (SugarCrepe)", NEGATIVE, "swap", subtype,
        "swapped", f"Let {what} in it change places, so that the caption becomes wrong for the photograph.",
        ("Decide whether that can give a sensible caption of a different scene, and write yes or no.",
         f"Write down the {what.removeprefix('two ')} as the caption has them, one on each line.",
         "Write the caption with the two in each other's place. After a no, write “none” on every other line."),
        DIFFERS, SWAPPED, 0.0,
    )  # fmt: skip


def _add(subtype: str, what: str) -> CaptionKind:
    return CaptionKind(
        f"add-{subtype}", f"hard negatives with {what} (SugarCrepe)", NEGATIVE, "add", subtype,
        "added", f"Add {what} to it, so that the caption becomes wrong for the photograph.",
        ("Find the objects in the caption.", "Pick one of them at random, and write it down.",
         f"Think of {what} that is plausible there, and that the caption does not mention.",
         "Write it next to the object you picked."),
        DIFFERS, REPLACED, 1.0,
    )  # fmt: skip


def _synonym(name: str, what: str, chosen: str, place: str) -> CaptionKind:
    return CaptionKind(
        name, f"hard positives with {what} replaced by a synonym (Hard Positive Truth, {place})",
        SECOND_POSITIVE, "", "", "replaced", f"Replace {what} in it by a synonym without changing the meaning.",
        (f"Pick one {chosen}, and write it down.", "Write down the synonym.",
         "Write the caption with the synonym. If nothing in it has one, write “none” on every line."),
        SAME, REPLACED, 0.0,
    )  # fmt: skip


_ALL = (
    _replace("obj", "one noun"),
    _replace("att", "one adjective"),
    _replace("rel", "one action or spatial relation"),
    _swap("obj", "two nouns or noun phrases"),
    _swap("att", "two adjectives of different objects"),
    _add("obj", "one further object"),
    _add("att", "one further attribute of an object"),
    CaptionKind(
        "second-positive", "paraphrases as second positive captions (VISLA)", SECOND_POSITIVE, "", "", "paraphrased",
        "Say the same in other words.",
        ("Note who or what is where, and who does what to whom.", "Write one sentence on how to say it differently.",
         "Write the caption in that way. Where things stand to one another must stay exactly the same."),
        SAME, ("Idea", "New caption"), 0.0,
    ),
    CaptionKind(
        "positive-swap", "hard positives with the words around “and” swapped (Hard Positive Truth)", SECOND_POSITIVE,
        "", "", "around and", "Let the parts on both sides of an “and” change places without changing the meaning.",
        ("Decide whether the order around the “and” can change without changing the meaning, and write yes or no.",
         "Write down the two parts as the caption has them: just before the “and”, and just after it.",
         "Write the caption with the two in each other's place. After a no, write “none” on every other line."),
        SAME, SWAPPED, 0.0,
    ),
    _synonym("positive-replace", "one word", "word that has a synonym which fits here", "App. C.1"),
    _synonym("positive-replace-verb", "one verb", "verb that has a synonym which fits here", "App. C.3"),
    _synonym(
        "positive-replace-preposition", "one spatial preposition",
        "word or phrase for where things stand that another one can replace", "App. C.3",
    ),
)  # fmt: skip
KINDS: dict[str, CaptionKind] = {kind.name: kind for kind in _ALL}
