"""What models get of an image's file, and what they are not given."""

import pytest

from tests.benchmarks.bad_inputs.case import picture as jpeg
from tests.builders.videos import video
from workers.models.pictures import picture
from workers.models.refusals import CannotScore


def test_a_video_is_refused_by_name(tmp_path):
    (tmp_path / "clip").write_bytes(video())
    with pytest.raises(CannotScore, match="is a video") as raised:
        picture(tmp_path / "clip")
    assert raised.value.code == "VIDEO"


def test_a_missing_and_a_damaged_image_are_named(tmp_path):
    (tmp_path / "cut").write_bytes(jpeg()[:100])
    for name, code in (("cut", "IMAGE_CORRUPT"), ("gone", "IMAGE_MISSING")):
        with pytest.raises(CannotScore) as raised:
            picture(tmp_path / name)
        assert raised.value.code == code
