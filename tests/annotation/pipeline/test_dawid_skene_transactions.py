"""Dawid and Skene's estimate across transactions: one at a time, and the same in an export as on the page."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from annotation.exports.export import export_split
from annotation.figures.stage import study_figures
from annotation.pipeline import dawid_skene
from annotation.releases.verification.differences import differences
from tests.annotation.exports.test_export import with_originals
from tests.annotation.judging.test_closing_races import somebody_waits
from tests.annotation.pipeline.test_dawid_skene import ITEMS, judged
from tests.builders import crowds
from tests.independent.recomputed import recompute

pytestmark = pytest.mark.django_db(transaction=True)


def test_two_estimates_come_one_after_the_other(monkeypatch):
    """The first one stops in the middle of its writing; what the second fits, it reads after that."""
    stage = judged()
    monkeypatch.setattr(dawid_skene, "BATCH", ITEMS // 2)
    said, went_on = [], threading.Event()
    monkeypatch.setattr(dawid_skene, "fit", lambda *of, fit=dawid_skene.fit: (said.append(1), fit(*of))[1])
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(closing_after, dawid_skene.estimate, stage, "one", lambda *at: went_on.wait(20))
        while not said:
            time.sleep(0.01)
        second = pool.submit(closing_after, dawid_skene.estimate, stage, "two")
        while not somebody_waits() and len(said) < 2:
            time.sleep(0.01)
        there = len(said)
        went_on.set()
        assert (there, first.result()["changed"], second.result()["changed"]) == (1, ITEMS, 0)


def closing_after(work, *args):
    try:
        return work(*args)
    finally:
        connection.close()


def test_every_figure_of_an_estimated_stage_can_be_recomputed(tmp_path):
    """The export estimates first: nobody asked for it here."""
    study = with_originals(crowds.stage(items=20, people=6, overlap=3, seed=3, rule="dawid-skene").study)
    export_split(study=study, out=tmp_path / "out", by="test")
    page = {name: part for name, part in study_figures(study.stages.get()).items() if name != "now"}
    ours = recompute(tmp_path / "out")
    assert differences(ours["stages"], json.loads(json.dumps([page]))) == []
    assert page["outcomes"]["decided_by"].keys() & {"dawid_skene", "first_of_equals"}
    lines = [json.loads(line) for line in (tmp_path / "out/tasks.jsonl").read_text().splitlines()]
    assert all((line["posterior"] is None) == (line["state"] is None) for line in lines)
