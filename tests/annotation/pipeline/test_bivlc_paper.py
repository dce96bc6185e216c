"""BiVLC's validation again, on a hundred and fiftieth of its own rows: the funnel, claims, judgments and promotion.

All of them, and the paper's numbers to the last item, are in `make nightly`.
"""

import math

import pytest

from annotation.models import Judgment, Outcome
from tests.builders import annotators, bivlc_paper

pytestmark = pytest.mark.real
PEOPLE, LOOKS = 10, 6  # simulated annotators; how often the funnel is looked at under way


@pytest.fixture(scope="module")
def material(real):
    """The real rows, and what becomes of each."""
    records = bivlc_paper.records(real / "data" / "bivlc")
    return records, bivlc_paper.Oracle.of(records, bivlc_paper.released(real / "data" / "bivlc", records))


def test_the_oracle_keeps_the_released_items(material):
    records, oracle = material
    kept = {record.key for record in records} - oracle.none - oracle.ambiguous
    assert len(records) == bivlc_paper.IMPORTED and len(kept) == bivlc_paper.KEPT
    assert len(oracle.none) == 2130 and len(oracle.ambiguous) == 2449 and not oracle.none & oracle.ambiguous


@pytest.mark.django_db(transaction=True)  # within one transaction PostgreSQL wades through its own dead rows
@pytest.mark.parametrize("share", [150, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_total_adds_up_on_the_way(material, share):
    """What comes in, what the oracle leaves after choosing, and what it keeps, item by item."""
    records, oracle = material[0][::share], material[1]
    keys = {record.key for record in records}
    chosen = keys - oracle.none
    study, workers = bivlc_paper.set_up(bivlc_paper.store(records), oracle, PEOPLE)
    wanted, open_before, seen = len(keys) + len(chosen), len(keys), 0
    for judged in annotators.rounds(workers):
        if seen < LOOKS and judged >= wanted * (seen + 1) // (LOOKS + 1):
            open_now = bivlc_paper.reconcile(study)["open"]
            assert 0 < open_now <= open_before
            open_before, seen = open_now, seen + 1
    assert judged == wanted and seen == LOOKS
    found = bivlc_paper.reconcile(study) if share > 1 else bivlc_paper.check_end(study)
    kept = Outcome.objects.filter(task__stage__position=2, state="kept").values_list("task__item__key", flat=True)
    assert set(kept) == chosen - oracle.ambiguous
    assert (found["imported"], found["kept"], found["open"]) == (len(keys), len(kept), 0)
    assert Outcome.objects.count() == wanted
    slips = Judgment.objects.filter(withdrawn=True).count()
    expected = bivlc_paper.SLIP * wanted
    assert slips and abs(slips - expected) < 4 * math.sqrt(expected)
