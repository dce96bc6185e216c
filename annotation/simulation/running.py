"""Where a running Winnow answers."""

import json
import os
from pathlib import Path


def running_at(var: Path) -> str:
    """The address that a running `up` left in its lock; else PORT on this machine."""
    try:
        holder = json.loads((var / "lock").read_text())
        return holder["url"]
    except (OSError, ValueError, KeyError):
        return f"http://127.0.0.1:{os.environ.get('PORT') or 8000}"
