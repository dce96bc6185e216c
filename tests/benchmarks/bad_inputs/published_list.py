"""Every malformed or odd input of the published list, by name: `CASES["zip_slip_0"].build(folder)` makes it.

Cases with code None must be accepted: text cases name images that are in no archive, so import those text-only.
"""

from tests.benchmarks.bad_inputs.archives import ARCHIVES
from tests.benchmarks.bad_inputs.aro import ARO
from tests.benchmarks.bad_inputs.case import Case, Given
from tests.benchmarks.bad_inputs.images import IMAGES
from tests.benchmarks.bad_inputs.sources import SOURCES
from tests.benchmarks.bad_inputs.texts import TEXTS

__all__ = ["ARCHIVES", "ARO", "CASES", "IMAGES", "SOURCES", "TEXTS", "Case", "Given"]

CASES: dict[str, Case] = {**ARCHIVES, **IMAGES, **TEXTS, **SOURCES, **ARO}
assert len(CASES) == len(ARCHIVES) + len(IMAGES) + len(TEXTS) + len(SOURCES) + len(ARO)
