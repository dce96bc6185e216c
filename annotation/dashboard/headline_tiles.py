"""The four numbers at the top of a study's overview, each with a sentence that interprets it and what it rests on. The

choice depends on the stage: it audits, scores, measures people, or keeps and drops items.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from annotation.dashboard.agreement_words import agreement_in_words
from annotation.figures import human_baseline
from annotation.measures.over_annotators import ANNOTATORS
from annotation.models import Stage, Study
from annotation.protocols.registry import protocol_named
from annotation.templatetags.figures import between, bounds, decimals, hours, money, percent, to_percent
from annotation.wording import counted, listed, readable_label
from benchmarks.naming import kind_name
from benchmarks.predictions.kinds import BIVLC
from benchmarks.predictions.names import NAMES

MOST, REASONS = 4, 4
MOST_SCORES = 2
NAMED = 1  # pairs that can't be told apart are named up to this number
BASELINE = ("group", "i2t", "t2i")


@dataclass(frozen=True)
class Tile:
    """`lead` explains the number, `rest` adds what else to know, `basis` has the interval, n and who it rests on;
    `warns`: the number is cause for concern.
    """

    label: str
    value: str
    lead: str
    rest: str = ""
    basis: str = ""
    small: str = ""
    warns: bool = False


def tiles(stage: Stage, data: Mapping[str, Any]) -> list[Tile]:
    """Return at most four tiles for a study with judgments; `data` is the stage's study_overview.overview."""
    if not data["figures"]["progress"]["judgment_rows"]:
        return []
    first = list(_first(stage, data))
    always = [_agreement(data), _judged(data), _time_and_pay(stage.study, data)]
    several = len(data["whole"]["stages"]) + len(data["whole"]["measuring"]) > 1
    where = f", stage {stage.position}" if several else ""
    return [*first, *(replace(tile, label=tile.label + where) for tile in always if tile)][:MOST]


def of_results(stage: Stage, data: Mapping[str, Any]) -> list[Tile]:
    """Return the tiles about results, without progress and pay."""
    if not data["figures"]["progress"]["judgment_rows"]:
        return []
    decides = not data["audit"] and not protocol_named(stage.protocol).measures
    first = [_valid(data["whole"])] if decides else _first(stage, data)
    return [tile for tile in (*first, _agreement(data)) if tile]


def _first(stage: Stage, data: Mapping[str, Any]) -> Iterator[Tile]:
    if data["audit"]:
        yield from _audit(stage, data["audit"])
    elif protocol_named(stage.protocol).measures and (found := human_baseline.baselines(stage.study)):
        yield from baseline_tiles(found[-1])
    elif not protocol_named(stage.protocol).drops and any((scores := data["figures"].get("scores") or {}).values()):
        yield from score_tiles(scores)
    elif not protocol_named(stage.protocol).measures:
        yield _valid(data["whole"])


def _valid(whole: Mapping[str, Any]) -> Tile:
    """Show how many items are kept, out of those that all stages together have settled."""
    settled = whole["kept"] + whole["dropped"]
    if not settled:
        return Tile("Valid items", "–", "Nothing decided yet", basis=f"of {counted(whole['imported'], 'item')}")
    share, reasons = whole["kept"] / settled, Counter[str]()
    for row in whole["reasons"]:
        reasons[row["reason"]] += row["items"]
    told = [f"{readable_label(why)} ({count:,})" for why, count in reasons.most_common(REASONS)]
    others = whole["dropped"] - sum(count for _, count in reasons.most_common(REASONS))
    told += [f"other reasons ({others:,})"] if others else []
    rest = f"Reasons for dropping: {', '.join(told)}." if told else ""
    asked = whole["imported"] - whole["not_asked"]
    lead = f"{whole['kept']:,} of {counted(settled, 'settled item')} {'was' if settled == 1 else 'were'} kept"
    basis = f"{settled:,} of {counted(asked, 'item')} settled{_stages_settled(whole)}"
    basis += f" · {whole['by_hand']:,} decided by hand" if whole.get("by_hand") else ""
    return Tile("Valid items", percent(share), lead, rest, basis)


def _stages_settled(whole: Mapping[str, Any]) -> str:
    """Return how many of several stages are settled."""
    steps = [*whole["stages"], *whole["measuring"]]
    done = sum(bool(step.get("entered", step.get("tasks"))) and not step["open"] for step in steps)
    return f" · {done} of {len(steps)} stages settled" if len(steps) > 1 else ""


def _audit(stage: Stage, audit: Mapping[str, Any]) -> Iterator[Tile]:
    if audit["estimate"] is None:
        yield Tile("Wrong items", "–", "No item has been settled yet", basis=f"target: {audit['aim']}")
    else:
        wrong = max(round(audit["estimate"] * audit["items"]), 1)
        lead = f"About {wrong:,} of all {audit['items']:,} items are wrong"
        if not audit["estimate"]:
            lead = f"None of the {audit['n']:,} counted items is wrong"
        reasons = [readable_label(one) for one in stage.wrong_reasons]
        yield Tile(
            "Wrong items", percent(audit["estimate"]), lead,
            f"Wrong means dropped: {listed(reasons, 'or')}." if reasons else "",
            f"95% interval · {audit['wrong']:,} of {counted(audit['n'], 'item')}",
            bounds(audit["low"], audit["high"]),
        )  # fmt: skip


def baseline_tiles(baseline: Mapping[str, Any] | None) -> Iterator[Tile]:
    """Return the tiles of a human baseline (figures.human_baseline), if there is one."""
    if baseline is None:
        return
    words = {named.name: named for named in NAMES[BIVLC.name]}
    for name in BASELINE:
        found = baseline["measures"][name]
        if found["share"] is not None:
            yield Tile(
                words[name].short, percent(found["share"]), f"People answer {percent(found['share'])} correctly",
                f"{words[name].long}; guessing gives {percent(found['chance'])}.",
                f"95%: {to_percent(found['low'], found['high'])} · {counted(found['n'], 'item')}",
            )  # fmt: skip


def score_tiles(scores: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Tile]:
    return islice(_scores(scores), MOST_SCORES)


def _scores(scores: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Tile]:
    for one in scores["answers"]:
        if "right" in one:
            yield _share_right(one["right"])
        elif one.get("whole") and one["whole"]["value"] is not None:
            yield _score(one)
            by, rows = next(((by, rows) for by, rows in one["by"].items() if len(rows) > 1), ("type", one["by_type"]))
            yield from _ends("Highest", by, rows, one["differences"].get(by, ()), one["is_share"])
    for one in scores["strengths"]:
        yield from _ends("Best", one["over"], one["rows"], one["differences"])
    for one in scores["mean_ranks"]:
        yield from _ends("Best", one["over"], [{**row, "rank": True} for row in one["rows"]])


def _ends(
    label: str, by: str, rows: Iterable[Mapping[str, Any]], apart: Sequence[Mapping[str, Any]] = (), share: bool = False
) -> Iterator[Tile]:
    """Describe the first and the last of the rows' values of `by`, and which can't be told `apart`: their difference
    may be 0. Among mean ranks, the lowest comes first.
    """
    known = sorted((row for row in rows if row["value"] is not None), key=lambda row: row["value"])
    if len(known) < 2:
        return
    last, first = (known[-1], known[0]) if "rank" in known[0] else (known[0], known[-1])
    write = percent if share else decimals
    unit = "n_items" if "n_items" in first else "n"
    least, most = (of(row[unit] for row in known) for of in (min, max))
    each, n = (f"{most:,}", "") if least == most else (f"{least:,}–{most:,}", " ({:,})")
    lead = f"{_name(first)}{n.format(first[unit])}; {_name(last)} comes last with {write(last['value'])}"
    yield Tile(
        f"{label} {by}", write(first["value"]), lead + n.format(last[unit]),
        _alike(apart),
        f"{counted(len(known), by)}, {each} {'items' if unit == 'n_items' else 'comparisons'} each",
    )  # fmt: skip


def _name(row: Mapping[str, Any]) -> str:
    return row["name"] if "name" in row else kind_name(row["type"], row["subtype"])


def _alike(apart: Sequence[Mapping[str, Any]]) -> str:
    """Describe those whose difference may be 0, by name if there are few."""
    ends = [(one, _interval(one)) for one in apart]
    alike = [one for one, (low, high) in ends if low is not None and low <= 0 <= high]
    if len(alike) > NAMED:
        return f"{len(alike)} of {len(apart)} pairs cannot be told apart."
    pairs = " and ".join(f"{one['first']} and {one['second']}" for one in alike)
    return f"{pairs} cannot be told apart." if alike else ""


def _share_right(right: Mapping[str, Any]) -> Tile:
    whole = right["whole"]
    chance = "" if right["chance"] is None else f"Guessing would give {percent(right['chance'])}."
    return Tile("Right", percent(whole["value"]), "of the judgments are correct", chance, _basis(whole, True))


def _score(one: Mapping[str, Any]) -> Tile:
    whole, share = one["whole"], one["is_share"]
    value = percent(whole["value"]) if share else decimals(whole["value"])
    lead = (
        f"of judgments are “{readable_label(one['score'])}”" if share else one["ask"] or readable_label(one["answer"])
    )
    small = "" if share else f"from {one['from']:g} to {one['to']:g}"
    return Tile("Share" if share else "Mean score", value, lead, "", _basis(whole, share), small)


def _basis(whole: Mapping[str, Any], share: bool) -> str:
    low, high = _interval(whole)
    if low is None:
        return counted(whole["n_judgments"], "judgment")
    ends = to_percent(low, high) if share else between(low, high, decimals)
    return f"95%: {ends} · {counted(whole['n_items'], 'item')}"


def _interval(found: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the interval for other annotators, or for these if the judgments do not show how annotators differ."""
    people = found.get("over") == ANNOTATORS
    return (found["low"], found["high"]) if people else (found["these_low"], found["these_high"])


def _agreement(data: Mapping[str, Any]) -> Tile | None:
    if (words := agreement_in_words(data["figures"], data["shares"])) is None:
        return None
    return Tile("People agree", words.share, words.lead, words.rest, words.basis, warns=words.doubtful)


def _judged(data: Mapping[str, Any]) -> Tile:
    progress, forecast = data["figures"]["progress"], data["figures"]["now"]["forecast"]
    wanted, done = progress["judgments_wanted"], progress["judgments_counted"]
    missing, cost = wanted - done, data["figures"]["cost"]
    settled, of = progress["settled"], progress["tasks"]
    share = f"{math.floor(1000 * settled / of) / 10:g}%" if of else "–"
    lead, rest = "Everything has been judged", ""
    if missing > 0:
        left = (cost["expected_minutes"] or 0) - cost["active_minutes"]
        lead = f"About {hours(left)} of work left" if left >= 1 else f"{counted(missing, 'judgment')} to go"
        rest = "" if forecast["finish"] or forecast["stopped"] else f"No date: {forecast['reason']}."
    basis = f"{done:,} of {counted(wanted, 'judgment')}"
    if audit := data["audit"]:
        value, _, small = audit["so_far"].partition(" ")
        now = f", now {audit['reached']}" if audit["reached"] else ""
        lead, rest = audit["verdict"].rstrip(".") if audit["ended"] else lead, audit["counts"] if now else ""
        return Tile("Settled", value, lead, rest, f"target: {audit['aim']}{now}", small)
    what = "item" if progress["items"] == of else "question"
    return Tile("Settled", share, lead, rest, basis, f"of {counted(of, what)}")


def _time_and_pay(study: Study, data: Mapping[str, Any]) -> Tile:
    cost, progress = data["figures"]["cost"], data["figures"]["progress"]
    spent, people = hours(cost["active_minutes"]), counted(data["judging"], "annotator")
    if not study.pay_per_hour:
        expected = cost["expected_minutes"]
        to_come = expected and progress["judgments_counted"] < progress["judgments_wanted"]
        rest = f"About {hours(expected)} expected in all." if to_come and expected >= 1 else ""
        return Tile("Time", spent, "of work so far" if to_come else "of active time", rest, people)
    paid = money(cost["cost"], study.currency)
    to_go = (cost["expected_cost"] or 0) - cost["cost"]
    lead = f"{paid} so far" + (f", about {money(to_go, study.currency)} to go" if to_go > 0 else "")
    return Tile("Time and pay", spent, lead, "", f"{people} · {study.pay_per_hour} {study.currency} an hour")
