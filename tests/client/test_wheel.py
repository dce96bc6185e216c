"""The wheel that the server builds from its own sources and offers to pip."""

import inspect
import io
import json
import os
import runpy
import subprocess
import sys
import zipfile

import pytest

import winnow_client
from config.client import BACKEND, NOTEBOOK, wheel

RIGHT = """import os

import winnow_client
from winnow_client import Job, Release, Study

server = winnow_client.connect(os.environ["URL"], os.environ["TOKEN"], verify=False, headers={"X": "y"})
benchmark = server.benchmark("Cups", [{"caption": "A."}], existing="update", format_captions=True)
job: Job[winnow_client.Benchmark] = server.benchmark("Cups", "rows.csv", wait=False)
study: Study = benchmark.study("S", preset="bivlc", pay_per_hour=12, stages={"choose": {"overlap": 3}})
first = study.judgments(stage="choose", counted=True)[0]
seconds: float = first["active_ms"] / 1000
year: int = first["created_at"].year
release: Release = study.freeze("cups@1.0", splits={"test": 100})
making: Job[Release] = study.freeze("cups@1.0", wait=False)
columns: dict[str, str] = server.check("Cups", [{"caption": "A."}]).columns


async def main() -> float:
    async with await winnow_client.connect_async("http://x", "t") as other:
        found = await (await other.study("S")).judgments(counted=True)
        made = await (await other.study("S")).freeze("cups@1.0", wait=False)
        released: winnow_client.AsyncRelease = await made.result(timeout=3)
        return float(found[0]["active_ms"]) + len(released.sha256)
"""
WRONG = """import winnow_client

server = winnow_client.connect("https://winnow.example", "token")
server.benchmark("Cups", [{}], format_caption=True)  # wrong
server.study("S").judgments(stag=1)  # wrong
server.study("S").judgments()[0]["activ_ms"]  # wrong
server.benchmark("Cups").study("S", stages={"choose": {"overlaps": 3}})  # wrong
"""


def test_pip_installs_the_wheel_that_the_server_offers(site, client, tmp_path):
    name, _ = wheel()
    page = client.get("/client/").text
    assert f'href="/client/{name}"' in page and f"@ http://testserver/client/{name}" in page
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*command, "--target", tmp_path / "there", f"{site}/client/{name}"], check=True)
    shows = "import winnow_client; print(winnow_client.__file__, winnow_client.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", shows], env={"PYTHONPATH": str(tmp_path / "there")}, capture_output=True, text=True
    )
    assert done.stdout.split() == [str(tmp_path / "there/winnow_client/__init__.py"), name.split("-")[1]], done.stderr
    with zipfile.ZipFile(io.BytesIO(wheel()[1])) as packed:
        stem = name.removesuffix("-py3-none-any.whl")
        assert packed.read(f"{stem}.dist-info/licenses/LICENSE") == (BACKEND.parents[1] / "LICENSE").read_bytes()
    assert "COPY client client" in (BACKEND.parents[1] / "Dockerfile").read_text()
    assert client.get("/client/winnow_client-0.0.0-py3-none-any.whl").status_code == 404


def test_the_source_archive_builds_the_same_wheel(tmp_path):
    """As `python -m build` does: first the archive of sources, then the wheel from it."""
    backend = runpy.run_path(str(BACKEND))
    archive = tmp_path / backend["build_sdist"](tmp_path)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", tmp_path, archive], check=True)
    name, content = wheel()
    assert (tmp_path / name).read_bytes() == content


def test_what_is_made_from_something_else_is_made_anew():
    """Otherwise run `python client/generate.py`."""
    made = runpy.run_path(str(BACKEND.with_name("generate.py")))
    for path, text in made["made"]():
        assert path.read_text() == made["formatted"](text), path.name


@pytest.mark.parametrize("name", [name for name in winnow_client.__all__ if name != "__version__"])
def test_what_is_public_is_described_and_typed(name):
    public = getattr(winnow_client, name)
    methods = [] if inspect.isfunction(public) else [vars(public)[one] for one in vars(public) if one[0] != "_"]
    for method in [public, *(one for one in methods if inspect.isfunction(one) or isinstance(one, property))]:
        assert inspect.getdoc(method), method
        if callable(method) and not inspect.isclass(method):
            assert "Any" not in str(inspect.signature(method)), method


def test_scripts_have_types(tmp_path):
    """The notebook and a script with everything pass `mypy --strict`; a wrong name is told."""
    cells = [cell["source"] for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    (tmp_path / "notebook.py").write_text("\n".join("".join(cell) for cell in cells))
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", BACKEND.parents[1] / ".mypy_cache/scripts"]
    env = {**os.environ, "MYPYPATH": str(BACKEND.parent)}
    for names, told in ((["notebook.py", "right.py"], 0), (["wrong.py"], WRONG.count("  # wrong"))):
        done = subprocess.run([*command, *names], cwd=tmp_path, env=env, capture_output=True, text=True)
        lines = {line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line}
        assert len(lines) == told, done.stdout
