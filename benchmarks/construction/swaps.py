"""Swap hard positives (Hard Positive Truth §3.4): phrases are swapped, attributes stay with their objects."""

import re

from benchmarks.construction.batch import Dropped

TEMPLATE = re.compile(r"(?P<article>the) (?P<first>.+)(?P<joint> and the )(?P<second>.+?)(?P<end>[.!]?)", re.IGNORECASE)
JOINT = re.compile(r" and the ", re.IGNORECASE)


def swapped_phrases(caption: str) -> str:
    """`the crouched cat and the open door` → `the open door and the crouched cat` (Hard Positive Truth §3.4).

    For captions of ARO's VG-Attribution. A capital and a full stop stay in place; swapping twice restores the caption.
    Raises Dropped if the caption does not fit the template, or would not change.
    """
    text = " ".join(caption.split())
    found = TEMPLATE.fullmatch(text)
    if found is None:
        raise Dropped("not “the … and the …”")
    if len(JOINT.findall(text)) > 1:
        raise Dropped("“and the” appears more than once")
    first, second = found["first"], found["second"]
    if " " not in first or " " not in second:
        raise Dropped("a phrase has no attribute")
    if first.lower() == second.lower():
        raise Dropped("both phrases are the same")
    return f"{found['article']} {second}{found['joint']}{first}{found['end']}"
