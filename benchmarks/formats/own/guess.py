"""A guess of each column's meaning, from names and the contents of the first rows. Pure.

Meaningful roles (`positive`, `negative`) are used if a foil or nothing else accompanies a caption; if a column has each
row's right answer, the caption may be wrong, so its role is `caption`. A guess is a proposal: the page shows it with
the first rows, and the stored mapping is always one that a person has seen.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath

from benchmarks.formats.own.mapping import ADDRESS, ColumnMapping, Part, Row, as_text, cell, members
from benchmarks.formats.own.parquet_rows import ImageName
from benchmarks.formats.table import WRONG, spelled
from benchmarks.records import MAX_ROLE, NAME

FEW, ONCE = 5, 0.75  # rows, and the share of distinct values, for a column of ids
MOST = 0.8  # share of a column's cells that must fit a meaning
PICTURE = re.compile(r"\S.*\.(?:jpe?g|png|webp|gif|avif|bmp|tiff?|mp4|webm|mov|mkv|avi)", re.IGNORECASE)
LONGEST_PATH = 400
SENTENCE = 3  # words, at least
FOILS = WRONG | {
    "hard", "hn", "hardneg", "hallucinated", "counterfactual", "corrupted", "perturbed", "swapped", "altered",
    "adversarial", "contradiction", "mismatch", "mismatched",
}  # fmt: skip
SECOND = re.compile(r"second_positive|hard_positive|paraphrase|(?:positive_)?caption_?2|second_caption")
CAPTION = re.compile(
    r"(?:(?:true|positive|pos|correct|original|ground_truth|gt|gold|image)_)?"
    r"(?:caption|sentence|statement|description|text|sent)s?(?:_?[01])?|positive|ground_truth|alt_text"
)
QUESTION = re.compile(r"question(?:_natural_language|_text)?|ask")
PROMPT = re.compile(r"(?:\w+_)?prompt")
OPTIONS = re.compile(r"(?:option|choice|answer|candidate)s?_?(?:[a-j]|\d)|[a-j]|(?:options|choices)")
LABEL = re.compile(r"(?:gt_|gold_|right_|correct_)?(?:label|answer|gt|target)(?:_idx|_index)?|is_(?:true|correct)")
ID = re.compile(
    r"(?:item_|sample_|question_|instance_|example_|pair_)?u?id(?:entifier)?|identifier|key|index|idx|no|nr"
)
TYPE = re.compile(r"(?!sub|file|image|mime|media|content|licen[cs]e)(?:\w+_)?(?:type|category)")
GROUP = re.compile(r"subset|task|relation|kind|class|phenomenon|perturbation|skill|dataset")  # a type if values repeat
SUBTYPE = re.compile(r"sub_?type|sub_?category|sub_?task")
CANDIDATE = re.compile(r"hn_img_\d+|(?:candidate|generated)(?:_image)?_?\d+")  # BiVLC's, and similar names
WORDS = re.compile(r"image|img|picture|photo|file|filename|name|path|url|link|source|(?<![a-z])(?:id|pic)(?![a-z])")


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    values: Sequence[object]  # non-empty cells, with lists flattened

    @property
    def word(self) -> str:
        """Return its name in lower case, without enclosing objects."""
        return re.sub(r"\W+", "_", spelled(self.name.rpartition(".")[2] or self.name)).strip("_")

    @property
    def is_foil(self) -> bool:
        return not (FOILS.isdisjoint(re.findall(r"[a-z]+", self.word)) or TYPE.fullmatch(self.word))

    def mostly(self, test: Callable[[object], object]) -> bool:
        return bool(self.values) and sum(1 for one in self.values if test(one)) >= MOST * len(self.values)

    @property
    def has_pictures(self) -> bool:
        return self.mostly(
            lambda one: (
                isinstance(one, ImageName) or (len(text := as_text(one)) < LONGEST_PATH and PICTURE.fullmatch(text))
            )
        )

    @property
    def has_texts(self) -> bool:
        return self.mostly(lambda one: isinstance(one, str) and re.search(r"[^\W\d_]", one))

    @property
    def has_sentences(self) -> bool:
        return self.mostly(lambda one: isinstance(one, str) and len(one.split()) >= SENTENCE)

    @property
    def asks(self) -> bool:
        return self.mostly(lambda one: isinstance(one, str) and "?" in one)

    @property
    def is_short(self) -> bool:
        return self.mostly(lambda one: len(as_text(one)) <= 60)


def guess(names: Sequence[str], rows: Sequence[Row], files: Sequence[str] = ()) -> ColumnMapping:
    """Guess a mapping for a table with these columns and first rows; one without roles if nothing is recognised.
    `files` has the names of the images, if known."""
    found = [_column(name, rows) for name in names]
    paths = {one.name: place for one in found if (place := _path(one, files))}
    pictures = [one for one in found if one.has_pictures or one.name in paths]
    if local := [one for one in pictures if not one.mostly(lambda value: ADDRESS.match(as_text(value)))]:
        pictures = local
    # Files may be named after an id, which is then not a second image
    pictures = [one for one in pictures if one.has_pictures or not ID.fullmatch(one.word)] or pictures
    rest = [one for one in found if not one.has_pictures and one not in pictures]
    texts = _texts([one for one in rest if one.has_texts])
    judged = any(LABEL.fullmatch(one.word) for one in rest)
    return _with_meaning(texts, _images(pictures, paths), judged, _plain(rest, texts, rows))


def _column(name: str, rows: Sequence[Row]) -> _Column:
    return _Column(name, [member for row in rows for member in members(cell(row, name))])


def _texts(columns: Sequence[_Column]) -> dict[str, list[str]]:
    """Map roles to columns. A caption is `caption`, a foil `negative`. If no name is known, columns of sentences are
    texts: one alone is the caption, several have their names as roles.
    """
    found: dict[str, list[str]] = {}
    for one in columns:
        if role := _role_of_text(one):
            found.setdefault(role, []).append(one.name)
    sentences = [] if found else [one for one in columns if one.has_sentences]
    for one in sentences:
        found.setdefault(one.word if sentences[1:] and NAME.fullmatch(one.word) else "caption", []).append(one.name)
    return found


def _role_of_text(one: _Column) -> str:
    if SECOND.fullmatch(one.word):
        return "second_positive"
    if one.is_foil and not LABEL.fullmatch(one.word):
        return "negative"
    if QUESTION.fullmatch(one.word) or (one.asks and CAPTION.fullmatch(one.word)):
        return "question"
    for pattern, role in ((PROMPT, "prompt"), (OPTIONS, "option"), (CAPTION, "caption")):
        if pattern.fullmatch(one.word):
            return role
    return "question" if one.asks else ""


def _path(column: _Column, files: Sequence[str]) -> str:
    """Return how its cells name the images: the column, with any folder before it and extension after it; "" if they do
    not."""
    whole = {*files}
    if column.mostly(lambda one: as_text(one) in whole):
        return column.name
    by_stem = {PurePosixPath(name).stem: name for name in files} | {PurePosixPath(name).name: name for name in files}
    found = [(as_text(one), by_stem.get(as_text(one), "")) for one in column.values]
    around = Counter(tuple(name.split(text, 1)) for text, name in found if text and name)
    (ends, count), *_ = around.most_common(1) or [((), 0)]
    return f"{ends[0]}{{{column.name}}}{ends[1]}" if count and count >= MOST * len(found) else ""


def _images(columns: Iterable[_Column], paths: Mapping[str, str]) -> dict[str, list[str]]:
    """Map roles to places: foils, those with a word of their own (`left_image`), and all others as `picture`."""
    found: dict[str, list[str]] = {}
    for one in columns:
        own = re.sub(r"_?\d+$", "", WORDS.sub("", one.word)).strip("_")[:MAX_ROLE].strip("_")
        if CANDIDATE.fullmatch(one.word):
            role = "candidate"
        elif one.is_foil:
            role = "negative"
        else:
            role = own if NAME.fullmatch(own) and own not in ("positive", "true") else "picture"
        found.setdefault(role, []).append(paths.get(one.name, one.name))
    return found


def _with_meaning(
    texts: dict[str, list[str]], images: dict[str, list[str]], judged: bool, plain: Mapping[str, object]
) -> ColumnMapping:
    captions = texts.get("caption", [])
    if len(captions) == len(images.get("picture", ())) == 2 and "negative" not in texts:  # Winoground and its like
        texts["negative"], images["negative"] = [captions.pop()], [images["picture"].pop()]
    meant = "negative" in texts or "second_positive" in texts or (captions and not judged)
    if meant:
        texts = {"positive" if role == "caption" else role: names for role, names in texts.items()}
        if len(images.get("picture", ())) == 1:
            images = {"positive" if role == "picture" else role: names for role, names in images.items()}
    roles = ({role: Part(tuple(names)) for role, names in found.items()} for found in (texts, images))
    return ColumnMapping(*roles, **plain)  # type: ignore[arg-type]  # as `_plain` names them


def _plain(columns: Sequence[_Column], texts: Mapping[str, Sequence[str]], rows: Sequence[Row]) -> dict[str, object]:
    """Return `id`, `type`, `subtype` and `together`, if a column has them."""
    taken = {name for names in texts.values() for name in names}
    free = [one for one in columns if one.name not in taken and one.is_short]
    named = [("type", one.name) for one in free if TYPE.fullmatch(one.word)]
    named += [("type", one.name) for one in free if GROUP.fullmatch(one.word) and _repeats(one, rows)]
    named += [("subtype", one.name) for one in free if SUBTYPE.fullmatch(one.word)]
    found: dict[str, object] = dict(reversed(named))  # the first of each
    ids = [one for one in free if ID.fullmatch(one.word) and len(one.values) == len(rows)]
    for one in sorted(ids, key=_distinct, reverse=True)[:1]:
        if len(rows) < FEW or _distinct(one) >= ONCE * len(rows):  # a repeated value is then a mistake
            found["id"] = one.name
        elif len([*groupby(map(as_text, one.values))]) == _distinct(one):  # an item's rows are adjacent
            found |= {"id": one.name, "together": (one.name,)}
    return found


def _distinct(column: _Column) -> int:
    return len({*map(as_text, column.values)})


def _repeats(column: _Column, rows: Sequence[Row]) -> bool:
    return len(rows) < 2 or _distinct(column) < len(rows)
