"""BiVLC's validation again: the funnel of the paper from its own rows, through claims, judgments and promotion."""

import pytest

from annotation.models import Judgment, Outcome
from tests import crew, paper

pytestmark = pytest.mark.real
PEOPLE, LOOKS = 20, 9  # simulated annotators; how often the funnel is looked at under way


@pytest.fixture
def material(real):
    """The real rows, and what becomes of each."""
    records = paper.records(real / "data" / "bivlc")
    return records, paper.Oracle.of(records, paper.released(real / "data" / "bivlc", records))


def test_the_oracle_keeps_the_released_items(material):
    records, oracle = material
    kept = {record.key for record in records} - oracle.none - oracle.ambiguous
    assert len(records) == paper.IMPORTED and len(kept) == paper.KEPT
    assert len(oracle.none) == 2130 and len(oracle.ambiguous) == 2449 and not oracle.none & oracle.ambiguous


@pytest.mark.django_db(transaction=True)  # within one transaction PostgreSQL wades through its own dead rows
def test_the_funnel_of_the_paper(material):
    """7,512 → 5,382 → 2,933, by type and subtype as in Table 1, and every total adds up on the way."""
    records, oracle = material
    study, workers = paper.set_up(paper.store(records), oracle, PEOPLE)
    wanted, open_before, seen = paper.IMPORTED + paper.AFTER_CHOOSING, paper.IMPORTED, 0
    for judged in crew.rounds(workers):
        if seen < LOOKS and judged >= wanted * (seen + 1) // (LOOKS + 1):
            open_now = paper.reconcile(study)["open"]
            assert 0 < open_now <= open_before
            open_before, seen = open_now, seen + 1
    assert judged == wanted and seen == LOOKS
    found = paper.check_end(study)
    assert found["kept"] * 4 == 11_732  # retrieval questions
    assert Outcome.objects.count() == wanted
    slips = Judgment.objects.filter(withdrawn=True).count()
    assert 0.5 * paper.SLIP < slips / wanted < 2 * paper.SLIP
