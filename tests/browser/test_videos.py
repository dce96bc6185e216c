"""Videos on the judging screen, in a real Chromium: they wait to be played, have keys, and an answer waits for them."""

import pytest
from playwright.sync_api import expect

from tests.browser.looking import fits, in_windows
from tests.builders import pictures, studies
from tests.builders.videos import video

STATE = (
    "() => [...document.querySelectorAll('#place video')].map(v => [v.paused, v.muted, v.currentTime, v.duration > 0])"
)
CAN_PLAY = "() => [...document.querySelectorAll('#place video')].every(one => one.readyState >= 2)"
MOVED = "from => [...document.querySelectorAll('#place video')].every(one => one.currentTime > from)"


def clips() -> list[bytes]:
    size = (640, 360)
    return [video("libvpx-vp9", size=size, seconds=2), video("libx264", "mp4", size=size, seconds=2, sound="aac")]


def test_videos_wait_to_be_played_and_are_judged_by_keyboard(sit, axe_violations):
    study = pictures.paint(studies.study(items=2, protocol="verify"), clips() * 10)
    desk = sit(annotator=studies.annotator(study))
    page = desk.page
    page.wait_for_function(CAN_PLAY)
    assert page.evaluate(STATE) == [[True, True, 0, True]]  # as it came: at rest, and silent
    desk.press("Space")
    page.wait_for_function(MOVED, arg=0.2)
    desk.press("Space", ".")
    [[paused, _, at, _]] = page.evaluate(STATE)
    desk.press(",", ",")
    assert paused and page.evaluate(STATE)[0][2] == pytest.approx(at - 0.2, abs=0.01)
    expect(page.locator("#desk.zoomed")).to_have_count(0)
    page.locator("#place video").click()  # plays; the keys stay with the screen
    page.wait_for_function("() => !document.querySelector('#place video').paused")
    for window in in_windows(page):
        assert axe_violations(page) == [] and fits(page), window
    desk.press("y", "Enter").counts(1)
    page.wait_for_function(CAN_PLAY)
    assert page.evaluate(STATE) == [[True, True, 0, True]] and page.errors == []


def test_an_answer_waits_until_a_video_can_be_played(sit):
    study = pictures.paint(studies.study(items=1, protocol="verify"), clips() * 5)
    desk, held = sit(annotator=studies.annotator(study)), []
    page = desk.page
    page.route("**/v/*", lambda route: held.append(route))
    page.reload()
    desk.at_desk().press("y", "Enter").told("The video is still loading.").counts(0)
    held[0].abort("failed")
    page.wait_for_function("() => document.querySelector('#place .broken')")
    desk.press("Enter").told("The video did not load.").counts(0)
    page.unroute("**/v/*")
    page.locator(".broken button").click()
    page.wait_for_function(CAN_PLAY)
    desk.press("Enter").all_done()
