"""BiVLC's validation again, in numbers: 7,512 real rows, simulated annotators, the paper's own outcome.

The rows are those of BiVLC_negative_imgs.csv; the candidate images are not public and stand-in rows without files take
their place. Who keeps what is an oracle's word, not people's:

- The 2,933 items of the released benchmark (those of results_ViT-B-32.csv) are kept. All of them are found among the
  7,512 when type, subtype and both captions are compared without regard to case, spaces and the final full stop.
- Of the other 4,579, 2,130 are dropped in step 3 (no image fits) and 2,449 in step 4 (half of them as "both", half as
  "the generated one"). The paper gives the numbers, not the items: which of them, the seed decides. So the figures by
  type after step 3 are invented, while those at the end are the paper's.

Error model: an annotator whose item has an image that fits picks any of the four; on `SLIP` of the screens they press
something at random first, see it and take it back, so that outcomes come, are promoted, and go again. What they leave
standing is what the oracle says: with one judgment an item (k = 1, as in the paper) any other error would be in the
figures for good.
"""

import csv
import hashlib
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from annotation.designs.plan import StagePlan
from annotation.figures.funnel import funnel
from annotation.measures.funnel import STATES
from annotation.models import Study, Task
from annotation.pipeline.item_results import results
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.registry import FORMATS
from benchmarks.imports import store as imports_store
from benchmarks.models import Benchmark, Image
from benchmarks.records import ItemRecord
from tests.builders import annotators, studies

SEED = 20240604
SLIP = 0.02
STAND_INS = 64
IMPORTED, AFTER_CHOOSING, KEPT = 7512, 5382, 2933
# BiVLC, Table 1: retrieval questions by type and subtype; an item makes four.
QUESTIONS = {
    ("replace", "obj"): 4800, ("replace", "att"): 1748, ("replace", "rel"): 1848, ("swap", "obj"): 324,
    ("swap", "att"): 1112, ("add", "obj"): 1596, ("add", "att"): 304,
}  # fmt: skip
TABLE_1 = {kind: questions // 4 for kind, questions in QUESTIONS.items()}

STAGES = [
    StagePlan("bivlc-choose", "choose", settings={"carries": "negative"}),
    StagePlan("bivlc-disambiguate", "disambiguate", source="choose"),
]


# The rows


def records(folder: Path) -> list[ItemRecord]:
    log = ProblemLog()
    found = list(FORMATS["bivlc-candidates"].reader(folder / "BiVLC_negative_imgs.csv", log))
    assert not log.count
    return found


def store(found: list[ItemRecord]) -> Benchmark:
    """The items with their captions, and stand-in image rows for the files they name, four others in each item."""
    hashes = [hashlib.sha256(f"stand-in {number}".encode()).hexdigest() for number in range(STAND_INS)]
    Image.objects.bulk_create(Image(sha256=each, format="JPEG", width=512, height=512, size=1000) for each in hashes)
    named = dict.fromkeys(image.part for record in found for image in record.images)
    places = {part: hashes[number % STAND_INS] for number, part in enumerate(named)}
    made = Benchmark.objects.create(name="BiVLC candidates", source="bivlc-candidates")
    imports_store.store_items(made, found, SimpleNamespace(sha256=places), int)
    return made


# The oracle


def said(caption: str) -> str:
    return re.sub(r"\s+", " ", caption).strip().rstrip(".").rstrip().casefold()


def released(folder: Path, found: list[ItemRecord]) -> set[str]:
    """Keys of the items that are in the released benchmark; two rows that say the same are matched to two items."""
    keys = defaultdict(list)
    for record in found:
        captions = said(record.caption("positive")), said(record.caption("negative"))
        keys[(*captions, record.type, record.subtype)].append(record.key)
    with (folder / "results_ViT-B-32.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        keys[said(row["caption"]), said(row["negative_caption"]), row["type"], row["subtype"]].pop(0) for row in rows
    }


@dataclass(frozen=True)
class Oracle:
    """By an item's key: what its annotators come to."""

    none: frozenset[str]
    ambiguous: frozenset[str]

    @classmethod
    def of(cls, found: list[ItemRecord], kept: set[str], seed: int = SEED) -> "Oracle":
        others = sorted({record.key for record in found} - kept)
        random.Random(seed).shuffle(others)
        dropped = len(found) - AFTER_CHOOSING
        return cls(frozenset(others[:dropped]), frozenset(others[dropped:]))

    def answers(self, keys: dict[int, str]) -> annotators.Answer:
        """What an annotator answers to a task; `keys` are the items' by id."""

        def answer(dice: random.Random, task: Task, protocol: str) -> str:
            key = keys[task.item_id]
            if protocol == "bivlc-choose":
                return "none" if key in self.none else dice.choice(task.options)
            if key not in self.ambiguous:
                return "positive-0"
            return "both" if int(key) % 2 else next(one for one in task.options if one != "positive-0")

        return answer


# The study


def crew_of(study: Study, oracle: Oracle, people: int) -> list[annotators.Worker]:
    answer = oracle.answers(dict(study.benchmark.items.values_list("pk", "key")))
    return [annotators.Worker(study, answer, seed=f"{SEED}/{number}", slip=SLIP) for number in range(people)]


def set_up(benchmark: Benchmark, oracle: Oracle, people: int, **settings) -> tuple[Study, list[annotators.Worker]]:
    """The study, and simulated annotators who have joined it; `settings` are further ones of both stages."""
    stages = [plan.with_settings(**settings) for plan in STAGES]
    study = studies.study(benchmark=benchmark, stages=stages, name="BiVLC again", seed=SEED)
    return study, crew_of(study, oracle, people)


def reconcile(study: Study) -> dict:
    """The funnel now; every total in it adds up, over all and for each type, and agrees with the stages' results."""
    found = funnel(study)
    for part in [found, *found["by_type"]]:
        assert part["imported"] == part["kept"] + part["dropped"] + part["not_asked"] + part["open"]
        assert part["dropped"] == sum(row["items"] for row in part["reasons"])
        assert part["open"] == sum(row["items"] for row in part["open_in"])
        first, second = part["stages"]
        assert first["entered"] == part["imported"] and second["entered"] == first["kept"]
        for step in part["stages"]:
            assert step["entered"] == step["kept"] + step["dropped"] + step["open"]
            assert step["dropped"] == sum(row["items"] for row in step["reasons"])
    for name in ("imported", *STATES):
        assert found[name] == sum(part[name] for part in found["by_type"])
    for stage, step in zip(study.stages.all(), found["stages"], strict=True):
        states = Counter(result.state for result in results(stage).values())
        assert (states["kept"], states["dropped"], states["open"]) == (step["kept"], step["dropped"], step["open"])
    return found


def check_end(study: Study) -> dict:
    """The paper's numbers, to the item."""
    found = reconcile(study)
    choose, disambiguate = found["stages"]
    assert (found["imported"], choose["kept"], found["kept"], found["open"]) == (IMPORTED, AFTER_CHOOSING, KEPT, 0)
    assert disambiguate["kept"] == KEPT
    reasons = {row["reason"]: row["items"] for row in found["reasons"]}
    assert reasons["no_image_fits"] == IMPORTED - AFTER_CHOOSING == 2130
    assert reasons["ambiguous_both"] + reasons["ambiguous_generated"] == AFTER_CHOOSING - KEPT == 2449
    assert {(part["type"], part["subtype"]): part["kept"] for part in found["by_type"]} == TABLE_1
    assert round(found["dropped_share"], 2) == 0.61
    return found
