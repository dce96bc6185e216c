"""What tests of imports share."""

from pathlib import Path

import pytest

from workers import parquet


@pytest.fixture
def media(settings) -> Path:
    """Where images are stored: empty."""
    path = Path(settings.MEDIA_ROOT)
    path.mkdir()
    return path


@pytest.fixture
def parquet_trial_in_process(monkeypatch):
    """Parquet files are read through in this process: a child process takes half a second to start."""
    monkeypatch.setattr(parquet, "trial_in_child", parquet.trial)
