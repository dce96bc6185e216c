"""What tests of imports share."""

from pathlib import Path

import pytest

from workers import parquet, parquet_trial


@pytest.fixture
def media(settings) -> Path:
    """Where images are stored: empty."""
    path = Path(settings.MEDIA_ROOT)
    path.mkdir()
    return path


@pytest.fixture
def tried_here(monkeypatch):
    """Parquet files are looked through in this process: one of their own takes half a second to start."""
    monkeypatch.setattr(parquet, "tried", lambda path, most: parquet_trial.verdict(str(path), most))
