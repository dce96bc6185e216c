"""The decisions about a release before it is made, and facts that only its producer can state. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field

from benchmarks.construction.splitting import SPLIT_NAMES

VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){1,2}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")  # also a folder's name, and a repository's on a hub
SPLITS = {  # preset's name → percentage of the items in each split
    "one": {"test": 100},
    "80/20": {"train": 80, "validation": 20},  # as BiVLC's TROHN-Img (§5)
    "80/10/10": {"train": 80, "validation": 10, "test": 10},
}
FORMS = ("imagefolder", "jsonl", "csv", "webdataset", "vlmevalkit", "source")  # besides parquet (always included)
USUAL_FORMS = ("jsonl", "csv", "source")
SHARD_MB, SHARD_LIMITS = 500, (1, 5000)
PUBLIC = {  # what can be public besides the minimum
    "times": "when each judgment was given and how long it took, pace and pay",
    "annotators": "each annotator’s statistics: agreement with others, answers, checks",
    "comments": "what people wrote with their answers: reasons of judgments and notes of adjudicators",
    "gold": "the correct answers of checks, practice and comprehension questions",
}


@dataclass(frozen=True, slots=True)
class Word:
    """Something that only the producer knows: `title` is its label, `hint` explains what belongs there."""

    name: str
    title: str
    hint: str
    long: bool = True


WORDS = (
    Word("summary", "Summary", "What the split is and what it is for, in a few sentences."),
    Word("authors", "Authors", "Who made it, separated by semicolons.", long=False),
    Word("contact", "Contact", "An address for questions: e-mail or web.", long=False),
    Word("licence", "Licence", "For the annotations, as an SPDX identifier: CC-BY-4.0, MIT …", long=False),
    Word("citation", "How to cite", "BibTeX, or a sentence."),
    Word("language", "Language", "The captions’ language, as a code: en, es, eu …", long=False),
    Word("collection", "Where the material comes from", "Sources of images and captions, and how they were chosen."),
    Word("timeframe", "Time frame", "First and last day of its collection: 2026-01-31 to 2026-03-15.", long=False),
    Word("preprocessing", "Preprocessing", "What was done to it before the import: filtered, cropped, cleaned."),
    Word("platform", "Platform and recruitment", "Where annotators were recruited and how they were chosen."),
    Word("demographics", "Annotators", "What is known about them as a group. Leave out what was not asked."),
    Word("ethics", "Consent and ethics", "What annotators were told, and any review board's decision."),
    Word("biases", "Biases and limits", "Biases of the material or the judgments; what the split does not show."),
    Word("sensitive", "Personal or sensitive material", "Faces, names, anything that a reader must know about."),
    Word("use", "Uses", "What it is meant for, and what it should not be used for."),
    Word("social_impact", "Social impact", "How its use may affect people, and what is done about it."),
    Word("maintenance", "Maintenance", "Where to report mistakes, who corrects them, and whether new versions follow."),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The input of the page's form, the command and the API; `problems` checks it for all of them, and `as_json` stores
    it in one form.

    `splits` are percentages that add up to 100; `stages` are positions (empty: all); `words` are by Word.name.
    """

    name: str
    version: str
    splits: Mapping[str, int] = field(default_factory=lambda: dict(SPLITS["one"]))
    seed: int = 0
    forms: Collection[str] = USUAL_FORMS
    shard_mb: int = SHARD_MB
    public: Collection[str] = ()
    stages: Collection[int] = ()
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of its splits, in order."""
        return tuple(name for name in SPLIT_NAMES if name in self.splits)

    def as_json(self) -> dict:
        """Return sorted lists without duplicates, and only the words that are not empty, stripped."""
        listed = {name: sorted(set(getattr(self, name))) for name in ("forms", "public", "stages")}
        words = {name: text.replace("\r\n", "\n").strip() for name, text in sorted(self.words.items())}
        words = {name: text for name, text in words.items() if text}
        return asdict(self) | listed | {"splits": dict(self.splits), "words": words}

    @classmethod
    def from_json(cls, value: Mapping) -> "Plan":
        return cls(**value)

    def problems(self) -> dict[str, str]:
        """Return the problems by field, as sentences; empty if there are none."""
        found = {}
        if not NAME.fullmatch(self.name):
            found["name"] = "Use 1 to 100 letters, digits, dots, underscores and hyphens; begin with a letter or digit."
        if not VERSION.fullmatch(self.version):
            found["version"] = "Write two or three numbers separated by dots: 1.0 or 1.0.0."
        if set(self.splits) - set(SPLIT_NAMES) or sum(self.splits.values()) != 100 or min(self.splits.values()) < 1:
            found["splits"] = f"Use whole percentages that add up to 100 for {', '.join(SPLIT_NAMES)}, or some of them."
        if unknown := set(self.forms) - set(FORMS):
            found["forms"] = f"Unknown format: {', '.join(sorted(unknown))}. Choose from {', '.join(FORMS)}."
        if not SHARD_LIMITS[0] <= self.shard_mb <= SHARD_LIMITS[1]:
            found["shard_mb"] = "Choose {} to {} MB.".format(*SHARD_LIMITS)
        if unknown := set(self.public) - set(PUBLIC):
            found["public"] = f"Unknown part: {', '.join(sorted(unknown))}. Choose from {', '.join(PUBLIC)}."
        if unknown := set(self.words) - {word.name for word in WORDS}:
            found["words"] = f"Unknown: {', '.join(sorted(unknown))}. Choose from {', '.join(w.name for w in WORDS)}."
        return found
