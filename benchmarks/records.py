"""Plain records, which every format produces and every export consumes.

Pure: no Django. A format yields `ItemRecord`s; the import checks them, finds their images and stores them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workers.archives.names import printable

ROLES = ("positive", "negative", "second_positive", "candidate")  # the meaningful ones; others are user-defined
MAX_ROLE = 16  # characters of a role, and of an attribute's name
NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{MAX_ROLE - 1}}}")  # of a role, and of an attribute
EXAMPLES = 3  # of a kind of problem, and as many further columns
COLUMNS, SHOWN_COLUMNS = 50, 8  # columns counted separately for a kind of problem, and those named
PLACE = re.compile(r"\[\d+\]")  # position in a list: captions[3].text
Crop = tuple[int, int, int, int]  # x, y, width, height in pixels of the file's image, in its correct orientation
Part = tuple[str, Crop | None]  # a file's name, and its whole image or a crop of it
VIDEOS = {"MP4": "mp4", "WEBM": "webm"}  # formats, and extensions of such files' URLs
Plain = str | int | float | bool
Attributes = Mapping[str, Plain | list[Plain]]  # {"model": "sd-3"}, {"parents": [1, 2]}


def is_own(role: str) -> bool:
    """Return whether the role is user-defined."""
    return role not in ROLES


def role_order(role: str) -> tuple[int, str]:
    """Sort roles: the known ones first, in their order, then user-defined ones by name."""
    return (len(ROLES), role) if is_own(role) else (ROLES.index(role), role)


@dataclass(frozen=True, slots=True)
class Origin:
    """A record's origin: the file name as the user knows it, and the line or record number, from 1."""

    file: str
    row: int


@dataclass(frozen=True, slots=True)
class CaptionRecord:
    """A text of an item: a caption, or a question, a prompt or an entry of a list under a user-defined role."""

    role: str
    text: str
    attributes: Attributes = field(default_factory=dict, hash=False)


def with_texts(captions: Sequence[CaptionRecord], texts: Mapping[str, str]) -> tuple[CaptionRecord, ...]:
    """Replace the first caption of each role in `texts`; append it if the role is new."""
    first = {role: index for index, role in reversed(list(enumerate(one.role for one in captions)))}
    found = list(captions)
    for role, text in texts.items():
        if role in first:
            found[first[role]] = replace(found[first[role]], text=text)
        else:
            found.append(CaptionRecord(role, text))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """`name` is the path of the file inside the images folder or archive, with `/` between its parts."""

    role: str
    name: str
    licence: str = ""
    attribution: str = ""
    round: int = 1  # for candidates: later rounds were made for dropped items
    crop: Crop | None = None  # the part of the file's image used by the item; None: all of it
    file: str = field(
        default="", compare=False
    )  # if another file has this image; `name` and `crop` are then only labels
    attributes: Attributes = field(default_factory=dict, hash=False)
    format: str = field(default="", compare=False)  # format of the stored file: PNG, MP4 …

    @property
    def is_video(self) -> bool:
        return self.format in VIDEOS

    @property
    def part(self) -> Part:
        """Return the location of its pixels, equal for two records that show the same."""
        return (self.file, None) if self.file else (self.name, self.crop)


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """One instance. Captions and images are in source order, which within a role is their position. Texts and lists of
    a protocol file are captions with their own roles.

    `meta` has everything else in the source about the item (JSON values only); `truth`, if the source has it, lists the
    acceptable options per protocol: `{"bivlc-choose": ["candidate-0"]}`. Neither ever reaches an annotator.
    """

    key: str
    type: str
    subtype: str
    captions: tuple[CaptionRecord, ...]
    images: tuple[ImageRecord, ...]
    meta: Mapping[str, object] = field(default_factory=dict)
    truth: Mapping[str, list[str]] = field(default_factory=dict)
    origin: Origin | None = None

    def caption(self, role: str) -> str:
        """Return the first caption with that role. Raises KeyError if there is none."""
        for caption in self.captions:
            if caption.role == role:
                return caption.text
        raise KeyError(role)

    def with_captions(self, texts: Mapping[str, str]) -> "ItemRecord":
        """Return the item with other texts by role (`with_texts`)."""
        return replace(self, captions=with_texts(self.captions, texts))

    def captions_as(self, role: str) -> list[str]:
        """Return the identities (`caption-candidate-1`) of the captions with that role."""
        count = sum(caption.role == role for caption in self.captions)
        return [f"caption-{role}-{number}" for number in range(count)]

    def latest(self, role: str) -> list[str]:
        """Return the identities (`candidate-4`) of the images with that role in its last round."""
        images = list(enumerate(self.images_as(role)))
        last = max((image.round for _, image in images), default=1)
        return [f"{role}-{number}" for number, image in images if image.round == last]

    def images_as(self, role: str) -> list[ImageRecord]:
        return [image for image in self.images if image.role == role]

    def fields(self) -> dict[str, object]:
        """Return its further columns, and its `id`, `type` and `subtype`. These take precedence over file columns of
        the same names, as in pages, filters and tables of results.
        """
        own = {"id": self.key, "type": self.type, "subtype": self.subtype}
        return {**self.meta, **{name: value for name, value in own.items() if value}}

    def attributes(self) -> dict[str, Attributes]:
        """Return, by identity, the attributes of each caption and image that has some."""
        found: dict[str, Attributes] = {}
        for prefix, parts in (("caption-", self.captions), ("", self.images)):
            places: Counter[str] = Counter()
            for part in parts:
                if part.attributes:
                    found[f"{prefix}{part.role}-{places[part.role]}"] = part.attributes
                places[part.role] += 1
        return found


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason to refuse an import, or (`fatal=False`) a note in its report.

    Codes are stable: users and tests rely on them. Prints as `CODE · file · row · column · what to do`.
    """

    code: str
    file: str
    row: int | None
    column: str
    advice: str
    fatal: bool = True

    def __post_init__(self) -> None:
        """Clean names and messages, which quote bad files: text that cannot be stored would fail the job."""
        for name, most in (("file", 400), ("column", 400), ("advice", 1_000)):
            object.__setattr__(self, name, printable(getattr(self, name), most))

    def as_json(self) -> dict[str, str | int | None]:
        """Return the problem as stored in reports and jobs."""
        return {"code": self.code, "file": self.file, "row": self.row, "column": self.column, "advice": self.advice}

    def __str__(self) -> str:
        row = "" if self.row is None else str(self.row)
        return " · ".join((self.code, self.file, row, self.column, self.advice))


class ProblemKinds:
    """Problems counted by code and column, with a few examples of each code: the first ones, and the first for each
    further column."""

    def __init__(self, problems: Iterable[Problem] = ()):
        self._columns: dict[str, Counter[str]] = {}
        self._examples: dict[str, list[Problem]] = {}
        for problem in problems:
            if self.count(problem.code, problem.column):
                self.keep(problem)

    def count(self, code: str, column: str) -> bool:
        """Count a problem; return whether to keep it as an example."""
        columns, column = self._columns.setdefault(code, Counter()), PLACE.sub("[]", printable(column, 400))
        new = column not in columns
        if new and len(columns) >= COLUMNS:
            new, column = False, ""
        columns[column] += 1
        examples = len(self._examples.get(code, ()))
        return examples < EXAMPLES or (new and examples < 2 * EXAMPLES)

    def keep(self, example: Problem) -> None:
        self._examples.setdefault(example.code, []).append(example)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the kinds in order of first occurrence; `columns` has the most frequent ones."""
        return [
            {
                "code": code,
                "count": columns.total(),
                "columns": [[name, count] for name, count in columns.most_common(SHOWN_COLUMNS) if name],
                "examples": [example.as_json() for example in self._examples[code]],
            }
            for code, columns in self._columns.items()
        ]


class Refused(Exception):
    """The input cannot be imported. Has the first 100 problems, their total number, and their kinds."""

    def __init__(self, problems: list[Problem], count: int | None = None, kinds: ProblemKinds | None = None):
        self.problems = problems[:100]
        self.count = len(problems) if count is None else count
        self.kinds = kinds or ProblemKinds(problems)
        super().__init__("; ".join(str(p) for p in self.problems[:3]))
