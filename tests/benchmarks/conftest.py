"""What tests of imports share."""

from pathlib import Path

import pytest


@pytest.fixture
def media(settings) -> Path:
    """Where images are stored: empty."""
    path = Path(settings.MEDIA_ROOT)
    path.mkdir()
    return path
