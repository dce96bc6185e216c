"""The wheel that the server builds from its own sources and offers to pip."""

import subprocess
import sys

from config.client import BACKEND, wheel


def test_pip_installs_the_wheel_that_the_server_offers(site, client, tmp_path):
    name, _ = wheel()
    page = client.get("/client/").text
    assert f'href="/client/{name}"' in page and f"@ http://testserver/client/{name}" in page
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*command, "--target", tmp_path / "there", f"{site}/client/{name}"], check=True)
    shows = "import winnow_client, importlib.metadata as m; print(winnow_client.__file__, m.version('winnow-client'))"
    done = subprocess.run(
        [sys.executable, "-c", shows], env={"PYTHONPATH": str(tmp_path / "there")}, capture_output=True, text=True
    )
    assert done.stdout.split() == [str(tmp_path / "there/winnow_client/__init__.py"), name.split("-")[1]], done.stderr
    assert "COPY client client" in (BACKEND.parents[1] / "Dockerfile").read_text()
    assert client.get("/client/winnow_client-0.0.0-py3-none-any.whl").status_code == 404
