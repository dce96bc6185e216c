"""Types that the measures share."""

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]  # of integers, floats or truth values; each function says its shape
Figures = dict[str, Any]  # JSON-able figures by name, nested as pages, exports and the API give them
