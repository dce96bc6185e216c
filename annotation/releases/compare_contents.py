"""What differs in the content of an item that is in the data of both releases, and why. Pure."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from annotation.releases.compare_reasons import UNKNOWN, Setting
from annotation.releases.compare_setup import differing

PLAIN = ("type", "subtype", "split", "negative_image")
OF_IMPORT = {"type", "subtype", "meta"}


def changes(a: Mapping, b: Mapping) -> dict:
    """Of two lines of items.jsonl: {"captions": {role: [before, after]}, "images": {identity: {field: […]}}, "meta":
    {name: […]}, "type", "subtype", "split", "negative_image": […]}, each where it differs; None where one has none.
    """
    images = [{one["key"]: _image(one) for one in line["images"]} for line in (a, b)]
    found = {
        **differing(*({name: line.get(name) for name in PLAIN} for line in (a, b))),
        "captions": differing(captions(a), captions(b)),
        "images": {key: differing(before or {}, after or {}) for key, (before, after) in differing(*images).items()},
        "meta": differing(a.get("meta") or {}, b.get("meta") or {}),
    }
    return {name: part for name, part in found.items() if part}


def _image(image: Mapping) -> dict:
    """Which one is chosen is told by `negative_image`."""
    return {name: value for name, value in image.items() if name not in ("key", "chosen")}


def captions(line: Mapping, as_imported: bool = False) -> dict[str, str]:
    """By role; a second one of a role is `role-1`."""
    met, found = Counter(), {}
    for caption in line["captions"]:
        role = caption["role"]
        text = caption.get("imported", caption["text"]) if as_imported else caption["text"]
        found[f"{role}-{met[role]}" if met[role] else role] = text
        met[role] += 1
    return found


def reasons(a: Mapping, b: Mapping, changed: Collection[str], decided: list[dict], setting: Setting) -> list[dict]:
    """`decided` is what releases.compare_reasons.why found in the stages' decisions; what they do not tell comes after it."""
    of_stages = {"captions", "negative_image"} & set(changed)
    found = list(decided) if of_stages else []
    for reason in _beside(a, b, changed, setting):
        if reason not in found:
            found.append(reason)
    return found or [UNKNOWN]


def _beside(a: Mapping, b: Mapping, changed: Collection[str], setting: Setting) -> Iterator[dict]:
    if captions(a, as_imported=True) != captions(b, as_imported=True) or OF_IMPORT & set(changed):
        yield {"code": "imported_anew"}
    if "images" in changed:
        newest = [max((image.get("round") or 1 for image in line["images"]), default=1) for line in (a, b)]
        yield {"code": "newer_candidates", "round": newest[1]} if newest[1] > newest[0] else {"code": "imported_anew"}
    if "split" in changed:
        yield _split(b["id"], setting)


def _split(key: str, setting: Setting) -> dict:
    if key in setting.shared:
        return {"code": "split_shared"}
    planned = setting.setup.get("release", {})
    if told := {name: planned[name] for name in ("splits", "seed") if name in planned}:
        return {"code": "splits", "splits": told}
    return {"code": "split_moved"} if setting.moved else UNKNOWN
