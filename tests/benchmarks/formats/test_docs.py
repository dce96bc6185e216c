"""docs/reference/formats.md says every code and every limit, and its examples can be read."""

import re
from pathlib import Path

import pytest

from benchmarks.formats import limits as text_limits
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.registry import FORMATS
from tests.benchmarks.bad_inputs.case import written
from tests.benchmarks.bad_inputs.published_list import CASES
from workers import limits

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/reference/formats.md").read_text()
FILES = {
    "sugarcrepe": "swap_obj.json", "sugarcrepe-compare": "swap_obj.json", "jsonl": "items.jsonl", "aro": "list.json",
    "hard-positives": "vl_checklist_relations.json",
}  # fmt: skip
SAID = re.compile(r'(?:error|note|gap|refuse|ArchiveRefused|ImageRefused|Problem)\(\s*\*?\(*\(?"([A-Z_]+)"')


def codes_in_the_code() -> set[str]:
    files = [*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "workers").rglob("*.py")]
    return {code for path in files for code in SAID.findall(path.read_text())}


def test_every_code_is_explained():
    codes = codes_in_the_code() | {case.code for case in CASES.values() if case.code}
    assert len(codes) > 40
    assert {code for code in codes if f"`{code}`" not in PAGE} == set()


@pytest.mark.parametrize("module", [limits, text_limits], ids=lambda module: module.__name__)
def test_every_limit_is_published(module):
    values = {name: value for name, value in vars(module).items() if name.isupper() and name != "MIB"}
    assert {name for name, value in values.items() if not re.search(rf"\b{value:,}\b", PAGE)} == set()


@pytest.mark.parametrize(
    ("format", "start"),
    [
        ("bivlc-candidates", "filename,"), ("jsonl", '{"id"'), ("jsonl", '{"id": "8"'),
        ("sugarcrepe", '{"12"'), ("aro", '[{"image_path"'),
        ("sugarcrepe-compare", '{"12"'), ("visla", "filename\t"), ("hard-positives", '[{"image_id"'),
    ],
)  # fmt: skip
def test_the_examples_are_accepted(tmp_path, format, start):
    example = next(block for block in re.findall(r"```\n(.*?)```", PAGE, re.S) if block.startswith(start))
    log = ProblemLog()
    path = written(tmp_path, FILES.get(format, "table.csv"), example)
    given = {"second": path} if FORMATS[format].sides else {}
    found = check_records(FORMATS[format].read(path, log, **given), log)
    assert len(found) == (example.count("\n") if format == "jsonl" else 1)
    assert log.problems == []
