"""Libraries that take seconds to import: every process of the suite collects every file, and few of them use these."""

import importlib
from typing import Any


class LazyModule:
    """Stands for the module of that name, which is imported at the first use of anything in it."""

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest looks whether it is a test, or a mock
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self.name), attribute)
