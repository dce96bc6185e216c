"""The questions of a release as generative models are asked them, with lettered options in both orders."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from annotation.releases.scoring.released import picks
from annotation.releases.scoring.released.items import captions_of, images_of
from benchmarks.predictions.choices import LETTERS, choices
from benchmarks.predictions.plan import wanted_scores


class Shown(NamedTuple):
    """`question`: its lines; `options`: what stands behind each letter. `roles`: of the images, in the order in which
    the words mention them."""

    question: list[str]
    options: list[str]
    roles: list[str]


class Asked(NamedTuple):
    """`place`: of the item in its split. `options`: by name, in the order of `shown(1)`; `shown(-1)` turns it round.
    `images`: their SHA-256 by role."""

    place: int
    question: str
    options: list[str]
    right: str
    shown: Callable[[int], Shown]
    images: dict[str, str]


def asked(release):
    """Every question about an item of the split, in order."""
    if release.kind is None:
        places = {item["id"]: place for place, item in enumerate(release.items)}
        for (item, name), one in picks.questions_of(release).items():
            named = [option["value"] for option in one["options"]]
            images = {part["image"]: part["sha256"] for part in (*one["shown"], *one["options"]) if "image" in part}
            shown = partial(_shown_of_pick, one, release.evaluation["asks"][one["answer"]])
            yield Asked(places[item], name, named, one["right"][0], shown, images)
        return
    for place, item in enumerate(release.items):
        images = {role: sha256 for (role, _), sha256 in images_of(item).items()}
        for name, given, sides in questions(release.kind, item):
            options = [*release.kind.questions[name].options]
            yield Asked(place, name, options, options[0], partial(shown_of_kind, given, sides), images)


def lettered(shown):
    named = [f"{letter}. {option}" for letter, option in zip(LETTERS, shown.options, strict=False)]
    return "\n".join([*shown.question, *named, "Answer with one letter."])


def questions(kind, item):
    """(question, what is given, what each option shows): parts are ("text", words) or ("image", role)."""
    captions, shas = captions_of(item), images_of(item)
    about_images = {one.question: one for one in choices(kind.name, captions, shas)}
    wanted = {score.name: score for score in wanted_scores(kind.name, captions)}
    for name in kind.questions:
        if one := about_images.get(name):
            given = ("image", one.given[0]) if one.captions else ("text", captions[one.given])
            sides = [("text", captions[place]) if one.captions else ("image", place[0]) for place in one.options]
            yield name, [given], [[side] for side in sides]
            continue
        pairs = kind.measured.questions[name]
        compared = [wanted.get(score) for score in (pairs[0][0], *(other for _, other in pairs))]
        if all(one and one.text and {one.one, one.other} <= {*captions} for one in compared):
            yield name, [], [[("text", captions[one.one]), ("text", captions[one.other])] for one in compared]


def shown_of_kind(given, sides, order):
    sides = sides[::order]
    roles = [role for side in (given, *sides) for kind, role in side if kind == "image"]
    if not given:
        texts = list(dict.fromkeys(text for side in sides for _, text in side))
        listed = [f"{number}. {text}" for number, text in enumerate(texts, 1)]
        options = [" and ".join(str(texts.index(text) + 1) for _, text in side) for side in sides]
        return Shown(["Which two of these sentences mean the same?", *listed], options, roles)
    if given[0][0] == "image":
        return Shown(["Which caption describes the image?"], [side[0][1] for side in sides], roles)
    named = [f"image {number}" for number in range(1, len(sides) + 1)]
    return Shown(["Which image does this caption describe?", given[0][1]], named, roles)


def _shown_of_pick(question, ask, order):
    """Pictures are called by their number, in the order in which they are shown."""
    roles, lines, named = [], [], []
    for part in question["shown"]:
        if "image" in part:
            roles.append(part["image"])
        words = part.get("text") or (f"image {len(roles)}" if "label" in part else "")
        lines.append(": ".join(filter(None, (part.get("label"), words))))
    for option in question["options"][::order]:
        if "image" in option:
            roles.append(option["image"])
        named.append(option.get("text") or f"image {len(roles)}")
    return Shown([*filter(None, lines), ask], named, roles)
