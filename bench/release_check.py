"""`make release-check`: whether this commit can be released, and what an index of packages would still want.

It builds what the Dockerfile's COPY lines give the image, from committed files only, and starts a management command in
it; builds the client's source archive and wheel; and compares the versions. Exit status 1 if something is wrong.
"""

import re
import runpy
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

from annotation.releases.schema import WINNOW

ROOT = Path(__file__).resolve().parents[1]
METADATA = ["Name", "Version", "Summary", "License-Expression", "Requires-Python", "Description"]
URLS = ["Homepage", "Source", "Changelog"]


def main() -> None:
    wrong = [*changelog(), *image(), *client()]
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True).stdout:
        wrong.append("some files are not committed")
    print(*(f"wrong: {problem}" for problem in wrong), *(f"for an index: {gap}" for gap in gaps()), sep="\n")
    sys.exit(1 if wrong else 0)


def changelog() -> list[str]:
    dated = re.search(rf"^## {re.escape(WINNOW)} \(\d{{4}}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    return [] if dated else [f"CHANGELOG.md has no dated section “## {WINNOW} (YYYY-MM-DD)”"]


def image() -> list[str]:
    """The files of the image, and whether its first command runs on them."""
    copied = re.findall(r"^COPY (?!--)(\S+) \S+$", (ROOT / "Dockerfile").read_text(), re.M)
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", "HEAD", *copied], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
        command = [sys.executable, "manage.py", "collectstatic", "--no-input"]
        env = {"WINNOW_VAR": f"{folder}/var", "WINNOW_STATIC": f"{folder}/collected"}
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    print(f"image: {len(packed) / 1e6:.1f} MB of {', '.join(copied)}; {done.stdout.strip()}")
    return [f"the image does not build: {done.stderr.strip()[-300:]}"] if done.returncode else []


def client() -> list[str]:
    """The client's archives, and what they lack."""
    backend = runpy.run_path(str(ROOT / "client/build_backend.py"))
    with tempfile.TemporaryDirectory() as folder:
        wheel, sources = backend["build_wheel"](folder), backend["build_sdist"](folder)
        with zipfile.ZipFile(Path(folder, wheel)) as archive:
            names = archive.namelist()
            [found] = [archive.read(name) for name in names if name.endswith("/METADATA")]
        with tarfile.open(Path(folder, sources)) as archive:
            print(f"client: {wheel} of {len(names)} files, {sources} of {len(archive.getnames())}")
    metadata = message_from_bytes(found)
    metadata["Description"] = metadata.get_payload()
    lacks = [name for name in METADATA if not metadata[name]]
    lacks += [name for name in ("py.typed", "LICENSE") if not any(path.endswith(f"/{name}") for path in names)]
    return [f"the client's wheel has no {name}" for name in lacks]


def gaps() -> list[str]:
    """What only the one who publishes can give."""
    urls = tomllib.loads((ROOT / "client/pyproject.toml").read_text())["project"].get("urls", {})
    return [f"client/pyproject.toml has no project.urls.{name}" for name in URLS if name not in urls]


if __name__ == "__main__":
    main()
