"""An audit of VALSE through the app: simulated annotators answer as the votes do, up to a release that verifies."""

import json
from pathlib import Path

import pytest

from annotation.assignment import leases
from annotation.measures.audits.plan import Target
from annotation.measures.audits.replay import Truth, replay
from annotation.models import StageState
from annotation.pipeline import audits
from annotation.releases.verification.verifying import verify
from benchmarks.models import Benchmark, Caption, Item, ItemImage
from tests.annotation.releases.released import ONE, exported, release
from tests.builders import studies
from tests.builders.pipelines import with_originals

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]
SAID = {"caption": "yes", "foil": "no", "other": "cannot_tell"}


def benchmark_of(votes: dict[str, dict]) -> Benchmark:
    """The captions, all with one stand-in image."""
    image = studies.image("VALSE")
    made = Benchmark.objects.create(name="VALSE", source="jsonl")
    items = Item.objects.bulk_create(
        Item(benchmark=made, key=key, position=place, type=one["piece"], subtype="")
        for place, (key, one) in enumerate(votes.items())
    )
    Caption.objects.bulk_create(Caption(item=one, role="positive", text=f"{one.key}.") for one in items)
    ItemImage.objects.bulk_create(
        ItemImage(item=one, image=image, role="positive", source_name="stand-in.jpg") for one in items
    )
    return made


@pytest.mark.parametrize(
    ("pieces", "half_width"), [(["existence"], 0.15), pytest.param(None, 0.03, marks=pytest.mark.nightly)]
)
def test_it_stops_where_the_replay_stops_and_its_release_verifies(real, settings, tmp_path, pieces, half_width):
    Path(settings.MEDIA_ROOT).mkdir()
    read = {path.stem: json.loads(path.read_text()) for path in sorted((real / "data/valse").glob("*.json"))}
    votes = {key: {**item["mturk"], "piece": piece} for piece in pieces or read for key, item in read[piece].items()}
    stage = studies.stage(
        benchmark=benchmark_of(votes), protocol="verify", strategy="audit", target_half_width=half_width, overlap=3,
        stratify=True, seed=0, wrong_reasons=["does_not_hold", "cannot_tell", "tie_unresolved"],
    )  # fmt: skip
    people = [studies.annotator(stage.study) for _ in range(3)]
    for _ in range(len(votes)):
        for place, person in enumerate(people):
            lease = leases.hold(annotator=person, stage=stage, wanted=1)[0]
            one = votes[lease.task.item.key]
            ballot = [word for vote, word in SAID.items() for _ in range(one[vote])]
            studies.submit(person, lease, ballot[place])
        if audits.stop_if_over(stage):
            break
    stage.refresh_from_db()
    found = audits.progress_of(stage)
    truth = Truth(
        {key: one["caption"] < 2 for key, one in votes.items()}, {key: one["piece"] for key, one in votes.items()}
    )
    replayed = replay(truth, Target(half_width=half_width), seed=stage.seed)
    assert (stage.state, stage.order_sha256) == (StageState.CLOSED, replayed.order.sha256)
    assert (found.n, found.wrong, found.low, found.high) == (replayed.n, replayed.wrong, replayed.low, replayed.high)
    made = release(exported(with_originals(stage.study), tmp_path), tmp_path / "release", splits=ONE)
    assert verify(made).problems == []
    stages = json.loads((made / "figures.json").read_text())["stages"]
    assert stages[0]["audit"]["order_sha256"] == replayed.order.sha256
