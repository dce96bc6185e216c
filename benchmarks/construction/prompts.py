"""What a language model is asked to make captions: one template per kind, in our own words. Pure.

Each answer is a few labelled lines, so that every step the model took can be checked (generated.py). The kinds and the
rules are those of SugarCrepe (App. D.1 and D.2), VISLA (§3.2) and Hard Positive Truth (App. C); the wording and the
examples are ours.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

PLACEHOLDER = "{caption}"
SYSTEM = "You write data for a benchmark. Reply only with the lines that you are asked for, and add no comment."
LONGEST_SWAP = 14  # words: Hard Positive Truth swaps around “and” in captions of fewer than 15
NEGATIVE, SECOND_POSITIVE = "negative", "second_positive"
Message = dict[str, object]  # {"role": …, "content": a text, or a list of parts as chat endpoints take them}

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
SWAPPED = ("Possible", "First", "Second", "New caption")
Example = tuple[str, ...]  # the caption, then the value of each line


@dataclass(frozen=True, slots=True)
class CaptionKind:
    """One kind of caption to make.

    `role`: what the new caption is to the image; `type` and `subtype` of the items, empty where they keep their own.
    `check` names the rule by which generated.py checks an answer. `lines`: the labels of its lines, in order.
    `temperature`: of the sampling, if nobody says another. `examples` begin with the caption.
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
    examples: tuple[Example, ...]

    @property
    def template(self) -> str:
        """The prompt with PLACEHOLDER where the caption goes."""
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
        """The lines of the answer that an example shows."""
        return [f"{label}: {value}" for label, value in zip(self.lines, example[1:], strict=True)]

    def ineligible(self, caption: str) -> str:
        """Why the kind cannot be made from this caption, as a phrase; empty if it can."""
        words = caption.split()
        if self.check != "around and":
            return "" if words else "the caption is empty"
        if "and" not in (word.lower() for word in words):
            return "the caption has no “and”"
        return "" if len(words) <= LONGEST_SWAP else f"the caption has more than {LONGEST_SWAP} words"


SECOND = "{second}"
CHECKED = ("Consistent", "Caption")
CHECK_EXAMPLES: tuple[Example, ...] = (  # two captions, then the value of each line
    ("The lamp is over the desk.", "The desk is under the lamp.", "yes", "The desk is under the lamp."),
    ("A girl chases a goose.", "A girl is being chased by a goose.", "no", "A goose is being chased by a girl."),
    ("A bicycle to the left of a bench.", "A bench to the left of a bicycle.", "no",
     "A bench to the right of a bicycle."),
    ("A cook pours soup into a bowl.", "Soup is being poured into a bowl by a cook.", "yes",
     "Soup is being poured into a bowl by a cook."),
)  # fmt: skip


def check_template() -> str:
    """The prompt that checks a second positive against the caption (VISLA §3.2, App. A.3), with PLACEHOLDER and SECOND
    where the two go."""
    shown = "\n\n".join(
        f"Original: {first}\nParaphrase: {second}\nConsistent: {verdict}\nCaption: {text}"
        for first, second, verdict, text in CHECK_EXAMPLES
    )
    return (
        "You are given the caption of a photograph and a paraphrase of it. Decide whether both say the same, above all "
        "about who does what and where things stand to one another.\n\nDo this:\n1. Write yes if they say the same, "
        "otherwise no.\n2. After a yes, copy the paraphrase. After a no, write one that does say the same, and "
        "end it with a full stop.\n\nReply with exactly these lines: “Consistent:”, “Caption:”.\n\n"
        f"Examples:\n\n{shown}\n\nNow the pair to work on.\n\nOriginal: {PLACEHOLDER}\nParaphrase: {SECOND}"
    )


def check_messages(caption: str, second: str) -> list[Message]:
    """The conversation that checks a second positive."""
    before, between, after = re.split(rf"{re.escape(PLACEHOLDER)}|{re.escape(SECOND)}", check_template())
    asked = f"{before}{' '.join(caption.split())}{between}{' '.join(second.split())}{after}"
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": asked}]


class PromptWrong(ValueError):
    """The message says in a sentence what is wrong with a prompt of the user's own."""


def checked_template(text: str) -> str:
    """A template of the user's own. Raises PromptWrong unless it has the placeholder exactly once."""
    found = text.count(PLACEHOLDER)
    if found != 1:
        how = "does not contain" if not found else f"contains {found} times"
        raise PromptWrong(f"The prompt {how} {PLACEHOLDER}. Write it exactly once, where the caption goes.")
    return text


def messages(template: str, caption: str) -> list[Message]:
    """The conversation that asks for a new caption, as chat endpoints and chat templates take it."""
    asked = template.replace(PLACEHOLDER, " ".join(caption.split()))
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": asked}]


def _replace(subtype: str, what: str, examples: tuple[Example, ...]) -> CaptionKind:
    return CaptionKind(
        f"replace-{subtype}", f"negatives in which {what} is replaced (SugarCrepe)", NEGATIVE, "replace", subtype,
        "replaced", f"Replace {what} in it, so that the caption becomes wrong for the photograph.",
        (f"Find every {what.removeprefix('one ')} in the caption.", "Pick one of them at random, and write it down.",
         "Think of another one to put in its place, which the caption does not contain and which is no negation.",
         "Write the caption with it. If there is nothing to replace, write “none” on every line."),
        DIFFERS, REPLACED, 1.0, examples,
    )  # fmt: skip


def _swap(subtype: str, what: str, examples: tuple[Example, ...]) -> CaptionKind:
    return CaptionKind(
        f"swap-{subtype}", f"negatives in which {what} change places (SugarCrepe)", NEGATIVE, "swap", subtype,
        "swapped", f"Let {what} in it change places, so that the caption becomes wrong for the photograph.",
        ("Decide whether that can give a sensible caption of a different scene, and write yes or no.",
         f"Write down the {what.removeprefix('two ')} as the caption has them, one on each line.",
         "Write the caption with the two in each other's place. After a no, write “none” on every other line."),
        DIFFERS, SWAPPED, 0.0, examples,
    )  # fmt: skip


def _add(subtype: str, what: str, place: str, examples: tuple[Example, ...]) -> CaptionKind:
    return CaptionKind(
        f"add-{subtype}", f"negatives with {what} (SugarCrepe)", NEGATIVE, "add", subtype,
        "added", f"Add {what} to it, so that the caption becomes wrong for the photograph.",
        ("Find the objects in the caption.", "Pick one of them at random, and write it down.",
         f"Think of {what} that is plausible there, and that the caption does not mention.", f"Write it {place}."),
        DIFFERS, REPLACED, 1.0, examples,
    )  # fmt: skip


_ALL = (
    _replace("obj", "one noun", (
        ("A boy rolls a barrel across the yard.", "barrel", "tyre", "A boy rolls a tyre across the yard."),
        ("Two nurses share an umbrella at a crossing", "nurses", "postmen",
         "Two postmen share an umbrella at a crossing."),
        ("an owl asleep on a fence post", "owl", "squirrel", "A squirrel asleep on a fence post."),
        ("The ladder leans against a barn.", "barn", "lighthouse", "The ladder leans against a lighthouse."),
        ("A tray of muffins cools near the window.", "muffins", "candles",
         "A tray of candles cools near the window."),
        ("Children are building a raft beside the river.", "raft", "snowman",
         "Children are building a snowman beside the river."),
        ("a violin lying on a velvet chair", "violin", "kitten", "A kitten lying on a velvet chair."),
    )),
    _replace("att", "one adjective", (
        ("A striped towel hangs from the balcony.", "striped", "plain", "A plain towel hangs from the balcony."),
        ("an empty bus waiting in the rain", "empty", "crowded", "A crowded bus waiting in the rain."),
        ("The old bridge crosses a narrow canal.", "narrow", "wide", "The old bridge crosses a wide canal."),
        ("A dog with a wet nose sniffs a wooden box.", "wooden", "metal",
         "A dog with a wet nose sniffs a metal box."),
        ("Three tall candles burn on the altar.", "tall", "short", "Three short candles burn on the altar."),
        ("The path through the park is muddy.", "muddy", "dry", "The path through the park is dry."),
        ("A dog runs across the yard.", "none", "none", "none"),
    )),
    _replace("rel", "one action or spatial relation", (
        ("A hen stands behind the bucket.", "behind", "on top of", "A hen stands on top of the bucket."),
        ("A man pushes a cart up the hill.", "pushes", "pulls", "A man pulls a cart up the hill."),
        ("a kite flying above the pier", "above", "below", "A kite flying below the pier."),
        ("The girl catches the ball.", "catches", "throws", "The girl throws the ball."),
        ("Some boxes inside a van", "inside", "next to", "Some boxes next to a van."),
        ("A cyclist rides away from the church.", "away from", "towards", "A cyclist rides towards the church."),
        ("A red door.", "none", "none", "none"),
    )),
    _swap("obj", "two nouns or noun phrases", (
        ("A parrot sits above a rabbit.", "yes", "parrot", "rabbit", "A rabbit sits above a parrot."),
        ("A stack of books beside a lamp on the rug.", "yes", "A stack of books", "a lamp",
         "A lamp beside a stack of books on the rug."),
        ("The woman photographs the tall sailor.", "yes", "woman", "tall sailor",
         "The tall sailor photographs the woman."),
        ("a van parked in front of a tram", "yes", "van", "tram", "A tram parked in front of a van."),
        ("Two clowns watch three acrobats.", "yes", "Two clowns", "three acrobats",
         "Three acrobats watch two clowns."),
        ("A fork lies left of the plate.", "yes", "fork", "plate", "A plate lies left of the fork."),
        ("A horse is running.", "no", "none", "none", "none"),
    )),
    _swap("att", "two adjectives of different objects", (
        ("A yellow taxi passes a grey bus.", "yes", "yellow", "grey", "A grey taxi passes a yellow bus."),
        ("a big drum beside a small guitar", "yes", "big", "small", "A small drum beside a big guitar."),
        ("The wooden spoon lies in a copper pan.", "yes", "wooden", "copper",
         "The copper spoon lies in a wooden pan."),
        ("A woman in a white coat holds a black folder.", "yes", "white", "black",
         "A woman in a black coat holds a white folder."),
        ("An old man feeds a young goat.", "yes", "old", "young", "A young man feeds an old goat."),
        ("Striped socks on a dotted blanket.", "yes", "Striped", "dotted", "Dotted socks on a striped blanket."),
        ("A tall tree in a field.", "no", "none", "none", "none"),
    )),
    _add("obj", "one further object", "next to the object you picked", (
        ("A goat stands in the doorway.", "goat", "rooster", "A goat and a rooster stand in the doorway."),
        ("a boat tied to the jetty", "boat", "raft", "A boat and a raft tied to the jetty."),
        ("The chef is slicing onions.", "onions", "carrots", "The chef is slicing onions and carrots."),
        ("A sofa under a large window", "sofa", "piano", "A sofa and a piano under a large window."),
        ("People wait at the station.", "People", "dog", "People and a dog wait at the station."),
        ("A cup on a saucer.", "cup", "biscuit", "A cup and a biscuit on a saucer."),
        ("Two swans swim across the pond.", "swans", "duck", "Two swans and a duck swim across the pond."),
    )),
    _add("att", "one further attribute of an object", "next to the object you picked", (
        ("A goat stands in the doorway.", "goat", "spotted", "A spotted goat stands in the doorway."),
        ("a boat tied to the jetty", "jetty", "crumbling", "A boat tied to the crumbling jetty."),
        ("A chef in a white hat.", "hat", "crooked", "A chef in a white and crooked hat."),
        ("Four girls jump into a lake.", "girls", "laughing", "Four laughing girls jump into a lake."),
        ("The sofa stands under a window.", "sofa", "purple", "The purple sofa stands under a window."),
        ("A tree in front of a house.", "tree", "leafless", "A leafless tree in front of a house."),
        ("A plate with bread.", "bread", "burnt", "A plate with burnt bread."),
    )),
    CaptionKind(
        "second-positive", "paraphrases as second positive captions (VISLA)", SECOND_POSITIVE, "", "", "paraphrased",
        "Say the same in other words.",
        ("Note who or what is where, and who does what to whom.", "Write one sentence on how to say it differently.",
         "Write the caption in that way. Where things stand to one another must stay exactly the same."),
        SAME, ("Idea", "New caption"), 0.0,
        (
            ("The lamp is over the desk.", "Begin with the desk, which is then under the lamp.",
             "The desk is under the lamp."),
            ("A girl chases a goose.", "Use the passive voice.", "A goose is being chased by a girl."),
            ("a bicycle to the left of a bench", "Begin with the bench, which is then on the right.",
             "A bench to the right of a bicycle."),
            ("A cook pours soup into a bowl while two guests wait.", "Put the guests first, and use other verbs.",
             "Two guests stand by as a cook fills a bowl with soup."),
        ),
    ),
    CaptionKind(
        "positive-swap", "hard positives with the words around “and” swapped (Hard Positive Truth)", SECOND_POSITIVE,
        "", "", "around and", "Let the parts on both sides of an “and” change places without changing the meaning.",
        ("Decide whether the order around the “and” can change without changing the meaning, and write yes or no.",
         "Write down the two parts as the caption has them: just before the “and”, and just after it.",
         "Write the caption with the two in each other's place. After a no, write “none” on every other line."),
        SAME, SWAPPED, 0.0,
        (
            ("two goats and a donkey on a hill", "yes", "two goats", "a donkey", "A donkey and two goats on a hill."),
            ("A green and yellow scarf.", "yes", "green", "yellow", "A yellow and green scarf."),
            ("A bag with a book, pen and ruler.", "yes", "pen", "ruler", "A bag with a book, ruler and pen."),
            ("A man wearing a hat and carrying a rope.", "yes", "wearing a hat", "carrying a rope",
             "A man carrying a rope and wearing a hat."),
            ("A man sits down and then eats.", "no", "none", "none", "none"),
        ),
    ),
    CaptionKind(
        "positive-replace", "hard positives with one word replaced by a synonym (Hard Positive Truth)",
        SECOND_POSITIVE, "", "", "replaced", "Replace one word in it by a synonym without changing the meaning.",
        ("Pick one word that has a synonym which fits here, and write it down.", "Write down the synonym.",
         "Write the caption with the synonym. If no word has one, write “none” on every line."),
        SAME, REPLACED, 0.0,
        (
            ("A rock in the garden.", "rock", "stone", "A stone in the garden."),
            ("a child sleeping under a big tree", "big", "large", "A child sleeping under a large tree."),
            ("The couch stands near the door.", "couch", "sofa", "The sofa stands near the door."),
            ("A man begins to climb the wall.", "begins", "starts", "A man starts to climb the wall."),
        ),
    ),
)  # fmt: skip
KINDS: dict[str, CaptionKind] = {kind.name: kind for kind in _ALL}
