"""Words shared by all rooms: pseudonyms, outcomes and reasons as people read them, reasons as they are stored. This is

the lowest layer: it imports only the names of an item's parts, and every room may import it.
"""

import re
from collections.abc import Mapping, Sequence

from benchmarks.naming import part_name

REASON_LENGTH = 500  # characters


def gettext_noop(text: str) -> str:
    """Return the text unchanged, marking it for the catalogues (annotation/locale), for rooms without Django."""
    return text


_WORDS = {
    "no_image_fits": "no image fits",
    "cannot_judge": "cannot judge",
    "tie_unresolved": "tie",
    "none": "None",
    "both": "Both",
    "foil_fits": "hard negative fits",
    "any or none": "whether any image fits",
    "check_item": "used as a check or for practice",
    "ambiguous_both": "both images fit",
    "ambiguous_generated": "the generated image fits as well or better",
    "not_sampled": "not drawn",
    "not_suitable": "lacks something that the question needs",
    "withdrawn": "withdrawn from the benchmark",
}
_OWN = re.compile(r"(?:caption-)?([a-z][a-z0-9_]*)-(\d{1,5})")  # an identity in a user-defined role
_IMAGES = {"candidate": "image", "positive": "positive image", "negative": "negative image"}

_CAPTIONS = {"caption-positive", "caption-negative", "caption-second_positive", "caption-candidate", "edit"}


def listed(found: Sequence[str], joint: str = "and") -> str:
    """Return `a, b and c`."""
    *most, last = found
    return f"{', '.join(most)} {joint} {last}" if most else last


def exact(number: float) -> str:
    """Return the number with all its digits, as people write it: 1, 0.5, 1000001."""
    return str(int(number)) if float(number).is_integer() else repr(number)


def signed(number: float, places: int, plus: str = "") -> str:
    """Round, with a minus sign instead of a hyphen but never before zero; pass "+" as `plus` for plus signs."""
    return f"{number:{plus}z.{places}f}".replace("-", "−")


def counted(count: int, noun: str) -> str:
    """Return the number with its noun: "1 item", "1,200 items"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def simulated_mark(simulated: int, people: int) -> str:
    """Return what to add to a name or number of annotators: “ (simulated)”, “ (2 of 6 simulated)”, or nothing."""
    some = "" if simulated == people else f"{simulated:,} of {people:,} "
    return f" ({some}simulated)" if simulated else ""


def hours_in_words(minutes: float) -> str:
    """Return minutes below an hour and a half, then hours: “under 1 min”, “40 min”, “2.5 h”."""
    if 0 < minutes < 1:
        return "under 1 min"
    return f"{minutes / 60:,.1f} h" if minutes >= 90 else f"{minutes:,.0f} min"


def items_in_words(counts: Mapping[str, int]) -> str:
    """Return what became of all items, as a sum: "3 kept + 1 dropped + 5 not asked about + 0 open = 9 imported"."""
    parts = {"kept": "kept", "dropped": "dropped", "not_asked": "not asked about", "open": "open"}
    told = [f"{counts[name]:,} {words}" for name, words in parts.items() if counts[name] or name != "not_asked"]
    return f"{' + '.join(told)} = {counts['imported']:,} imported"


def pseudonym(number: int) -> str:
    """Return an annotator's name in place of the real one: `A-01`, `A-02` … in order of joining."""
    return f"A-{number:02d}"


def readable_label(name: str) -> str:
    """Return an outcome, answer or reason as people read it: "image 3" for `candidate-2`, "no image fits"."""
    role, _, number = name.rpartition("-")
    if role == "caption-candidate":
        return f"candidate {int(number) + 1}"
    if role not in _CAPTIONS and role not in _IMAGES and (own := _OWN.fullmatch(name)):
        return own[1].replace("_", " ") + (f" {int(own[2]) + 1}" if int(own[2]) else "")
    if name.startswith("caption-"):
        another = f" {int(number) + 1}" if number.isdecimal() and int(number) else ""
        return f"{part_name('captions', name.split('-')[1])}{another}"
    if role == "edit":
        return "somebody’s edit"
    if role in _IMAGES and number.isdecimal():
        return f"{_IMAGES[role]} {int(number) + 1}" if role == "candidate" else _IMAGES[role]
    return _WORDS.get(name, name.replace("_", " "))


def as_lines(sentences: Sequence[str], most: int = 20) -> str:
    """Return the sentences, one per line; if there are more than `most`, the first ones and how many are left out."""
    more = [f"… and {len(sentences) - most} more."] if len(sentences) > most else []
    return "\n".join([*sentences[:most], *more])


def clean_reason(typed: str) -> str:
    """Return a reason for storage: stripped, at most `REASON_LENGTH` characters, no NUL (PostgreSQL refuses it)."""
    return typed.replace("\0", "").strip()[:REASON_LENGTH]
