"""Videos on screens: over their posters, without a word about which is which."""

import pytest

from annotation.assignment import leases as assignment_leases
from annotation.screens.screens import build_screens
from benchmarks.models import Image
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("protocol", "shown"), [("verify", 1), ("bivlc-choose", 4)])
@pytest.mark.parametrize(("format", "ending"), [("MP4", "mp4"), ("WEBM", "webm"), ("JPEG", "")])
def test_a_video_lies_over_its_poster_and_does_not_play_by_itself(protocol, shown, format, ending):
    stage = studies.study(items=1, protocol=protocol).stages.get()
    Image.objects.update(format=format)
    leases = assignment_leases.hold(annotator=studies.annotator(stage.study), stage=stage, wanted=1)
    [screen] = build_screens(leases, stage)
    html = screen.html()
    names = set(Image.objects.values_list("opaque", flat=True))
    assert html.count("<img ") == shown
    assert html.count("<video ") == (shown if ending else 0) and "autoplay" not in html
    found = [part.split(f".{ending}")[0] for part in html.split("/v/")[1:]]
    assert len(found) == html.count("controls playsinline muted") and set(found) <= names
