"""Blind runs part by part: the whole benchmark, its types and subtypes, and a warning where chance is beaten. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.caption_only.shares import HEADLINES, Share, Told
from benchmarks.metrics import sugarcrepe
from benchmarks.predictions.kinds import SUGARCREPE
from benchmarks.predictions.names import measure_name

WHOLE = "all"
NAMED = 8  # parts in a sentence
OF_GROUPS = {SUGARCREPE.name: ("accuracy",)}  # whose groups are measured otherwise than the whole
OF_WHOLE = {SUGARCREPE.name: sugarcrepe.SUBSETS}  # measures of the whole that are each of one part
ADVICE = (
    "Report the figure of this blind model beside every other model’s, or refine the benchmark: keep the items that "
    "two blind models get right and wrong in equal numbers."
)


@dataclass(frozen=True, slots=True)
class Split:
    """`name`: "all", "swap" or "swap att"."""

    name: str
    share: Share
    words: str  # of the measure: "I2T"

    @property
    def warning(self) -> str:
        of, low, high = self.share, 100 * self.share.low, 100 * self.share.high
        where = "the whole benchmark" if self.name == WHOLE else self.name
        return (
            f"{of.title}, which sees no image, answers {where} better than chance: {self.words} {100 * of.share:.1f} % "
            f"(95 % from {low:.1f} to {high:.1f} %, n = {of.n:,}), where chance is {100 * of.chance:.1f} %."
        )


def splits(run: Told, figures: Mapping) -> list[Split]:
    """Of a blind run, the whole first. `figures`: as `runs.figures.of_runs` has them."""
    found = [made(run, WHOLE, name, of) for name, of in figures["measures"].items() if name in HEADLINES[run.kind]]
    parts = {name: of for name, of in figures["measures"].items() if name in OF_WHOLE.get(run.kind, ())}
    found += [made(run, name.replace("_", " "), name, of) for name, of in parts.items()]
    found += [made(run, *one) for one in of_groups(run.kind, figures["groups"])]
    return [split for split in found if split is not None]


def of_groups(kind: str, groups: Iterable[Mapping]) -> Iterator[tuple[str, str, Mapping]]:
    wanted = OF_GROUPS.get(kind, HEADLINES[kind])
    for group in groups:
        called = " ".join(filter(None, (group["type"] or "no type", group["subtype"])))
        yield from ((called, name, of) for name, of in group["measures"].items() if name in wanted)


def made(run: Told, split: str, name: str, of: Mapping) -> Split | None:
    """None where there is no interval, as of no items and of figures that a source printed."""
    if of.get("low") is None:
        return None
    share = Share(run.pk, run.title, name, of["share"], of["low"], of["high"], of["chance"], of["n"], of.get("right"))
    known = measure_name(run.kind, name) if name in HEADLINES[run.kind] and run.kind != SUGARCREPE.name else None
    return Split(split, share, known.short if known else "accuracy")


def warnings(found: Sequence[Split]) -> list[Split]:
    """Those in which chance is beaten by more than the interval."""
    return [split for split in found if split.share.warns]


def in_words(found: Sequence[Split]) -> list[str]:
    """A sentence for each model that is warned of: the first part with its figures, the others by name."""
    by_run: dict[int, list[Split]] = {}
    for split in warnings(found):
        by_run.setdefault(split.share.run, []).append(split)
    return [parts[0].warning + also(parts[1:]) for parts in by_run.values()]


def also(parts: Sequence[Split]) -> str:
    named = list(dict.fromkeys(f"{split.name} ({split.words})" for split in parts))
    if not named:
        return ""
    more = f" and {len(named) - NAMED:,} more" if len(named) > NAMED else ""
    return f" So it does in {', '.join(named[:NAMED])}{more}."
