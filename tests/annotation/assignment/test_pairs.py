"""BiVLC §3.1's pair experiment: five pairs of annotators, twenty shared items each (the paper has a hundred), kappa on
any image or none."""

import random

import pandas as pd
import pyarrow.parquet as pq
import pytest
from django.db.models import Count
from sklearn.metrics import cohen_kappa_score

from annotation.assignment import seats as assignment_seats
from annotation.designs.plan import StagePlan
from annotation.exports.export import export_split
from annotation.figures.stage import study_figures
from annotation.models import Seat, Slot
from tests.builders import crowds, studies

pytestmark = pytest.mark.django_db(transaction=True)
PAIRS, SHARED = 5, 20
ERRORS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.1, 0.2, 0.05, 0.35)  # of the ten


@pytest.fixture
def study():
    """Ten people sit down and are given batches of twenty items, two to each; nobody is put in a pair by hand."""
    plan = StagePlan(
        "bivlc-choose", settings={"strategy": "batches", "batch_size": SHARED, "overlap": 2, "quota": SHARED}
    )
    made = studies.study(benchmark=crowds.benchmark(PAIRS * SHARED), stages=[plan])
    stage = made.stages.get()
    people = [studies.annotator(made) for _ in ERRORS]
    dice, fits = random.Random(7), {}
    read = stage.instructions.get()
    for place, person in enumerate(people):
        busy = crowds.Shift(dice, [person], read, fits, crowds.START)
        mine = Slot.objects.filter(reserved=person).select_related("task", "stage").order_by("rank")
        assert [assignment_seats.claimable(person, stage), mine.count()] == [True, SHARED]
        for slot in mine:
            busy.judge(slot, error=ERRORS[place])
        busy.save(stage)
    return made


def test_the_people_come_out_as_five_pairs_with_the_kappas_of_an_independent_computation(study, tmp_path, monkeypatch):
    seats = Seat.objects.filter(stage__study=study).order_by("batch", "place")
    assert [(seat.batch, seat.place) for seat in seats] == [(n, place) for n in range(1, 6) for place in (1, 2)]
    shared = Slot.objects.filter(stage__study=study).values("task").annotate(people=Count("annotator", distinct=True))
    assert {row["people"] for row in shared} == {2}
    (stage,) = study.stages.all()
    found = next(one for one in study_figures(stage)["agreement"] if one["on"] == "any or none")
    page = {(pair["first"], pair["second"]): (pair["value"], pair["n"]) for pair in found["kappa_pairs"]}
    monkeypatch.setattr("annotation.exports.item_table._image_cell", lambda *use: None)  # no picture files
    export_split(study=study, out=tmp_path / "out", by="test")
    assert page.keys() == (ours := kappas(tmp_path / "out")).keys()
    assert len(page) == PAIRS and {n for _, n in page.values()} == {SHARED}
    assert all(page[pair][0] == pytest.approx(ours[pair], abs=1e-9) for pair in page)
    assert found["measures"]["cohen_mean"]["value"] == pytest.approx(sum(ours.values()) / PAIRS, abs=1e-9)
    assert len({round(value, 6) for value in ours.values()}) == PAIRS  # five different ones, not one said five times


def kappas(folder) -> dict[tuple[int, int], float]:
    """From judgments.parquet alone: who shared items with whom, and scikit-learn's kappa of the two."""
    rows = pq.read_table(folder / "judgments.parquet").to_pandas()
    rows = rows[rows.counted & rows.live & (rows.kind == "judge")]
    coarse = rows.answer.map(lambda answer: "any" if answer.startswith("candidate-") else answer)
    rows = rows.assign(label=coarse, number=rows.annotator.str[2:].astype(int))
    wide = rows.pivot(index="item", columns="number", values="label")
    found = {}
    for first in wide.columns:
        for second in wide.columns[wide.columns > first]:
            both: pd.DataFrame = wide[[first, second]].dropna()
            if len(both):
                found[int(first), int(second)] = cohen_kappa_score(both[first], both[second])
    return found
