"""Every malformed or odd input of the published list, by name: `CASES["zip_slip_0"].build(folder)` makes it.

Cases with code None must be accepted: text cases name images that are in no archive, so import those text-only.
"""

from tests.benchmarks.bad_inputs.archives import ARCHIVES
from tests.benchmarks.bad_inputs.aro import ARO
from tests.benchmarks.bad_inputs.case import Case, ImportFiles
from tests.benchmarks.bad_inputs.images import IMAGES
from tests.benchmarks.bad_inputs.scaled import FULL, SCALED
from tests.benchmarks.bad_inputs.sources import SOURCES
from tests.benchmarks.bad_inputs.texts import TEXTS

__all__ = ["ARCHIVES", "ARO", "CASES", "EVERY", "IMAGES", "LISTED", "SOURCES", "TEXTS", "Case", "ImportFiles"]

CASES: dict[str, Case] = {**ARCHIVES, **IMAGES, **TEXTS, **SOURCES, **ARO}
assert len(CASES) == len(ARCHIVES) + len(IMAGES) + len(TEXTS) + len(SOURCES) + len(ARO)

EVERY: dict[str, Case] = CASES | SCALED
LISTED = [name for name in EVERY if name not in FULL]  # what the suite runs; the others are in bench/bad_inputs.py
