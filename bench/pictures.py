"""The pictures in docs/pictures: the demo study as `make run` starts it, judged, closed and measured, in Chromium.

    python -m bench.pictures [--out docs/pictures]

Takes the README's first ten minutes on a Winnow of its own, as an annotator and as the admin, and stops it afterwards.
"""

import argparse
import itertools
import re
import secrets
import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.chromium import CHROMIUM_FLAGS, CHROMIUM_NAMES
from tests.config.running import ROOT, Winnow

STUDY = "Demo: drawn scenes"
DESK, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
SCREENS = 5  # answered before the picture, at least
CROWD = ("--annotators", "16", "--error-rate", "0.03")
RIGHT = """
from annotation.models import Lease
from annotation.simulation.crowd import truth_of
lease = Lease.objects.select_related("task__item", "task__stage").get(token="{token}")
[right, *others] = truth_of(lease.task, lease.task.stage.protocol)
print("key", lease.shown.index(right) + 1 if right in lease.shown else right[0], "or others" * bool(others))
"""  # the key of a right answer; "none" has its first letter
ACCEPT = "form[action$='/accept/'] button"  # the instructions were read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    out = parser.parse_args().out
    with tempfile.TemporaryDirectory(prefix="winnow-pictures-", ignore_cleanup_errors=True) as folder:
        winnow = Winnow(Path(folder).resolve() / "var")
        winnow.up()
        try:
            with sync_playwright() as playwright:
                path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
                take(winnow, playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS), out)
        finally:
            winnow.down()


def take(winnow: Winnow, browser: Browser, out: Path) -> None:
    annotator = browser.new_page(viewport=DESK)
    annotator.goto(re.search(r"http://\S+/join/\S+/", winnow.first_said)[0])
    judge(annotator, winnow)
    save(annotator, out / "judge-light.png")
    save(annotator, out / "judge-dark.png", dark=True)
    annotator.set_viewport_size(PHONE)
    save(annotator, out / "judge-phone.png")
    annotator.keyboard.press("Enter")
    expect(annotator.locator("#chip")).to_have_text("saved")
    annotator.goto(f"{annotator.url}leave/")
    annotator.locator("main button.primary").click()

    page = browser.new_page(viewport=DESK)
    log_in(page, winnow)
    done = winnow.command("simulate", STUDY, *CROWD)
    assert done.returncode == 0, done.stderr
    page.goto(f"{winnow.url}/studies/1/")
    page.wait_for_load_state("networkidle")
    save(page, out / "study-light.png")
    save(page, out / "study-dark.png", dark=True)


def judge(page: Page, winnow: Winnow) -> None:
    """Join, accept the instructions, answer some screens correctly, and pick the right one of four pictures."""
    page.locator("main form button").first.click()
    page.wait_for_url("**/judge/**")
    page.locator(ACCEPT).click()
    page.wait_for_selector("#desk.ready")
    for number in itertools.count():
        lease = page.get_attribute("#place fieldset", "data-lease")
        said = winnow.command("shell", "-c", RIGHT.format(token=lease)).stdout
        key, others = re.search(r"^key (\w) (.*)$", said, re.M).groups()
        page.keyboard.press(key)
        if number >= SCREENS and key.isdigit() and not others:
            break
        page.keyboard.press("Enter")
        page.wait_for_selector(f'#place fieldset:not([data-lease="{lease}"])')
    page.wait_for_load_state("networkidle")


def log_in(page: Page, winnow: Winnow) -> None:
    page.goto(f"{winnow.url}/login/")
    page.fill("[name=username]", "admin")
    page.fill("[name=password]", re.search(r"one-time password (\S+)", winnow.first_said)[1])
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/password/")
    own = secrets.token_urlsafe()
    for field in page.locator("main input[type=password]").all():
        field.fill(own)
    page.locator("main button.primary").click()
    page.wait_for_url("**/studies/")


def save(page: Page, path: Path, *, dark: bool = False) -> None:
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.wait_for_timeout(1500)  # colours and bars move to their new values
    # The scenes are JPEGs: rounding drops noise that nobody sees and PNG cannot compress.
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.point(lambda value: round(value / 3) * 3).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
