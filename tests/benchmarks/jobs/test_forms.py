"""What fields for files make of what was sent."""

import pytest
from django import forms

from benchmarks.jobs.forms import FilesField


def test_paths_of_an_earlier_order_are_no_files_that_were_sent():
    paths = ["/srv/uploads/files/votes.csv"]
    assert FilesField(required=False).clean([], paths) == []
    with pytest.raises(forms.ValidationError, match="required"):
        FilesField().clean([], paths)
