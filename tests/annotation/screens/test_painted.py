"""What keeps a browser from showing a screen is found without one."""

import pytest

from annotation.screens.painted import unpainted

SCREEN = """<form><fieldset class="screen" data-lease="1"><input type="hidden" name="lease" value="1">
<legend><h1>Does it hold?</h1><br><span class="caption">A cat.</span></legend>
<div class="cards"><span><img src="/1"></span></div>
<fieldset class="asked" data-name="first"><input type="radio" name="first"></fieldset>
<fieldset class="asked" data-name="then" data-when='{"all": {"first.a": ["yes"]}}'><input name="then"></fieldset>
</fieldset></form>"""
NOTHING_SEEN = SCREEN.replace("caption", "label").replace('<div class="cards"><span><img src="/1"></span></div>', "")


@pytest.mark.parametrize(
    ("html", "lacks"),
    [
        (SCREEN, ""),
        (SCREEN.replace(' data-lease="1"', ""), "no screen"),
        (SCREEN.replace("h1", "h2"), "no heading"),
        (SCREEN.replace('<img src="/1">', ""), "frame without a picture"),
        (NOTHING_SEEN, "shows nothing"),
        (SCREEN.replace('<fieldset class="asked"', '<fieldset hidden class="asked"'), "asks nothing"),
        (SCREEN.replace('data-name="first"', ""), "waits for first"),
    ],
)
def test_a_screen_that_a_browser_cannot_paint_is_told(html, lacks):
    assert (lacks in unpainted(html)) if lacks else (unpainted(html) == "")
