"""Describe the differences found by `compare` in plain sentences. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from annotation.releases.compare import ADJUDICATOR, NAMING

SHOWN = 20  # items per group
LENGTH = 200  # characters per value
SHORT = {  # reasons by which items are counted
    "corrected": "corrected",
    "withdrawn": "withdrawn",
    "put_back": "put back",
    "adjudication": "an adjudicator decided, or no longer does",
    "asked_again": "asked again in a later round",
    "estimate": "the Dawid–Skene estimate changed",
    "exclusion": "an annotator was excluded, or no longer is",
    "imported": "imported in only one release",
    "imported_again": "the material was imported again",
    "instructions": "the instructions changed",
    "judgments": "other judgments count",
    "settings": "settings changed",
    "split": "moved with other items into another split",
    "stage": "a stage asks about it in only one release",
    "unknown": "the files give no reason",
    "was_open": "was open",
}
LEFT_OUT = {
    "check_item": "it is a check item in that stage",
    "not_sampled": "it is not in its sample",
    "not_suitable": "it lacks what the stage asks about",
    "withdrawn": "it was withdrawn",
}
GROUPS = {"added": "+", "dropped": "-", "changed": "~", "outside": "."}
TITLES = {
    "added": "Added to the data",
    "dropped": "Dropped from the data",
    "changed": "Changed in the data",
    "outside": "In neither release, outcome changed",
}
PARTS = {"release": "Plan", "study": "Study", "made": "Made by", "splits": "Items by split", "columns": "Columns",
         "counts": "Items"}  # fmt: skip


def sentences(found: Mapping, items: int = SHOWN) -> Iterator[str]:
    """Yield lines: the totals, the set-up, then `items` of each group."""
    a, b = found["releases"]
    yield f"{a['name']} {a['version']} → {b['name']} {b['version']}"
    if found["same"]:
        yield "Nothing differs." if a["content"] == b["content"] else _but_for_the_name(found["setup"])
        return
    yield from _totals(found)
    yield from setup_sentences(found["setup"])
    for group, title in TITLES.items():
        listed = found["items"][group]
        yield from [f"{title}:"] if listed and items else []
        for one in listed[:items]:
            yield f"{GROUPS[group]} {item_in_words(one)}"
        if len(listed) > items > 0:
            yield f"  … and {len(listed) - items:,} more"


def _but_for_the_name(found: Mapping) -> str:
    files = sorted(name for names in found.get("files", {}).values() for name in names)
    return f"Identical except for name and version and the files that contain them: {', '.join(files)}."


def _totals(found: Mapping) -> Iterator[str]:
    totals, (a, b) = found["totals"], found["releases"]
    yield (
        f"Items in the data: {a['kept']:,} → {b['kept']:,}; {totals['added']:,} added, {totals['dropped']:,} dropped, "
        f"{totals['changed']:,} changed, {totals['unchanged'] + totals['judged_again']:,} unchanged."
    )
    if totals["judged_again"]:
        yield f"Of these, {totals['judged_again']:,} have the same content but other judgments."
    if totals["outside"]:
        yield f"{totals['outside']:,} items in neither release have a different outcome."
    for group, title in TITLES.items():
        counted = found["reasons"].get(group, [])
        yield from [f"{title}, by reason:"] if counted else []
        yield from (f"  {row['items']:>7,}  {SHORT[row['code']]}" for row in counted)


def setup_sentences(found: Mapping) -> Iterator[str]:
    """Yield a sentence for each difference besides the items."""
    for part, title in PARTS.items():
        for name, both in found.get(part, {}).items():
            if part != "release" or name not in NAMING:
                yield f"{title}: {name} {_both(both)}."
    yield from _stages(found.get("stages", {}))
    for stage, result in found.get("audits", {}).items():
        yield f"The audit in stage {stage}: {', '.join(f'{name} {_both(both)}' for name, both in result.items())}."
    for way, words in (("added", "excluded since"), ("removed", "no longer excluded")):
        for one in found.get("exclusions", {}).get(way, []):
            yield f"Annotator {one['annotator']} is {words}: {one.get('reason') or 'no reason given'}."
    for one in found.get("exclusions", {}).get("changed", []):
        reasons = _both([one["before"], one.get("reason")])
        yield f"Annotator {one['annotator']} is excluded for a different reason: {reasons}."
    if files := found.get("files"):
        yield f"Files: {'; '.join(f'{len(names):,} {way}' for way, names in files.items())}."


def _stages(found: Mapping) -> Iterator[str]:
    yield from (f"Stage {name} was added." for name in found.get("added", ()))
    yield from (f"Stage {name} was removed." for name in found.get("removed", ()))
    for name, both in found.get("changed", {}).items():
        for setting, values in both.get("settings", {}).items():
            yield f"Stage {name}: {setting} {_both(values)}."
        if versions := both.get("instructions"):
            yield f"Stage {name}: the instructions changed (version {_both(versions)})."


def _both(values: Iterable[object]) -> str:
    return " → ".join("none" if value is None else _cut(str(value)) for value in values)


def _cut(text: str) -> str:
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 1]}…"


def item_in_words(one: Mapping) -> str:
    """Return `17 (replace, obj): open → kept; adjudicated in fits`."""
    kind = ", ".join(filter(None, (one["type"], one["subtype"])))
    fates = f"{_fate(one['from'])} → {_fate(one['to'])}; " if not one["changes"] else ""
    changed = "".join(f"{words}; " for words in _changes(one["changes"]))
    why = "; ".join(IN_WORDS[reason["code"]](reason) for reason in one["reasons"])
    return f"{one['id']}{f' ({kind})' if kind else ''}: {fates}{changed}why: {why}."


def _fate(fate: Mapping) -> str:
    named = {"kept": "in the data", "absent": "not there", "not_asked": "not asked about"}
    words = named.get(fate["state"], fate["state"])
    return f"{words} ({fate['reason']} in {fate['stage']})" if "reason" in fate else words


def _changes(found: Mapping) -> Iterator[str]:
    for name, both in found.items():
        if isinstance(both, list):
            yield f"{name.replace('_', ' ')} {_both(both)}"
        elif name == "images":
            yield "".join(f"image {key}: {', '.join(fields)}" for key, fields in both.items())
        else:
            yield "; ".join(
                f"{name.removesuffix('s')} {key}: {_both(map(_quoted, texts))}" for key, texts in both.items()
            )


def _quoted(value: object) -> object:
    return f"“{value}”" if isinstance(value, str) else value


def _decided(one: Mapping) -> str:
    by = (one.get("by") or "").replace("_", " ")
    return f" ({one['now']}{f', {by}' if by else ''})" if one.get("now") else ""


def _votes(one: Mapping) -> str:
    if "votes" not in one:
        return ""
    was, now = (", ".join(f"{answer} {n}" for answer, n in votes.items()) or "none" for votes in one["votes"])
    return f": {was} → {now}"


def _judgments(one: Mapping) -> str:
    more = one.get("more", 0)
    count = f"{abs(more)} {'more' if more > 0 else 'fewer'} judgment{'s' if abs(more) != 1 else ''}"
    words = ["was open"] if one["code"] == "was_open" else []
    words += [count] if more else [] if words else ["judgments were changed"]
    return f"{'; '.join(words)} in {one['stage']}{_votes(one)}{_decided(one)}"


def _adjudication(one: Mapping) -> str:
    again = "again" if one["was"] == ADJUDICATOR else "since"
    words = f"adjudicated {again}" if one["by"] == ADJUDICATOR else "the adjudication was lifted"
    return f"{words} in {one['stage']}{_decided(one)}"


def _people(one: Mapping) -> str:
    who = ", ".join(f"{name} ({why or 'no reason given'})" for name, why in one["annotators"].items())
    way = "excluded since" if one["excluded"] else "no longer excluded"
    are = "is" if len(one["annotators"]) == 1 else "are"
    return f"{who} judged it in {one['stage']} and {are} {way}{_decided(one)}"


def _imported(one: Mapping) -> str:
    """Word an import; `sure`: the release that lacks the item lists every item that it imported."""
    words = "imported since" if one["came"] else "no longer imported"
    return words if one["sure"] else f"{words}, or not asked about in that release"


def _stage(one: Mapping) -> str:
    if "left_out" in one:
        return f"{one['stage']} leaves it out: {LEFT_OUT[one['left_out']]}"
    return f"{'entered' if one['came'] else 'is no longer asked about in'} {one['stage']}{_decided(one)}"


def _settings(one: Mapping) -> str:
    """Word changed settings of a stage, or of the release's plan."""
    of = f"settings of {one['stage']} changed" if "stage" in one else "the splits were cut differently"
    return f"{of}: " + ", ".join(f"{name} {_both(values)}" for name, values in one["settings"].items())


def _split(one: Mapping) -> str:
    if one["shared"]:
        return "moved to the split of items that share its image"
    return "drawn into another split because other items were added or dropped"


def _corrected(one: Mapping) -> str:
    return f"corrected ({one['place']} {_both(map(_quoted, (one['old'], one['new'])))}: {one['why']})"


IN_WORDS: dict[str, Callable[[Mapping], str]] = {
    "corrected": _corrected,
    "withdrawn": lambda one: f"withdrawn ({one['why']})",
    "put_back": lambda one: f"put back ({one['why']})",
    "adjudication": _adjudication,
    "asked_again": lambda one: f"asked again in {one['stage']}, round {one['round']}{_decided(one)}",
    "estimate": lambda one: f"{SHORT['estimate']} in {one['stage']}{_decided(one)}",
    "exclusion": _people,
    "imported": _imported,
    "imported_again": lambda one: (
        f"candidates of round {one['round']} were imported" if "round" in one else SHORT["imported_again"]
    ),
    "instructions": lambda one: f"instructions of {one['stage']} changed (version {_both(one['instructions'])})",
    "judgments": _judgments,
    "settings": _settings,
    "split": _split,
    "stage": _stage,
    "unknown": lambda one: SHORT["unknown"] + (f" in {one['stage']}{_decided(one)}" if "stage" in one else ""),
    "was_open": _judgments,
}
