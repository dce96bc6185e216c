"""`make dev`: a changed module restarts the processes, and one that fails waits for the next change."""

import subprocess
import sys

import pytest

from config import supervisor


class NoServers:
    def revive(self) -> list[str]:
        return []

    def stop(self) -> None:
        pass


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A supervisor of one process, which runs the module `annotation/waits.py` of a project of its own."""
    monkeypatch.setattr(supervisor, "BASE_DIR", tmp_path)
    monkeypatch.setattr(supervisor, "LOOK_EVERY", 0)
    module = tmp_path / "annotation" / "waits.py"
    module.parent.mkdir()
    module.write_text("input()")
    running = supervisor.Supervisor(tmp_path, NoServers(), supervisor.listen("127.0.0.1", 0), reload=True)

    def start() -> None:
        running.children["web"] = subprocess.Popen(
            [sys.executable, module], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )

    running.starters = {"web": start}
    start()
    yield running, module
    running.stop()


def look(running: supervisor.Supervisor) -> None:
    running.run(until=iter([False, True]).__next__)


def test_nothing_restarts_without_a_change(watched):
    running, _ = watched
    before = running.children["web"]
    look(running)
    assert running.children["web"] is before


def test_an_editors_link_to_nowhere_hides_no_module(watched):
    """Emacs puts such a link beside a file with unsaved changes."""
    _, module = watched
    module.with_name(".#waits.py").symlink_to("nobody@nowhere:1")
    later = module.parents[1] / "workers" / "later.py"
    later.parent.mkdir()
    later.touch()
    assert {*supervisor.modules()} == {module, later}


def test_a_changed_module_restarts_the_processes(watched, capsys):
    running, module = watched
    before = running.children["web"]
    module.write_text("input('changed')")
    look(running)
    assert before.poll() is not None
    assert running.children["web"].poll() is None
    assert "waits.py changed" in capsys.readouterr().err


def test_a_process_that_fails_starts_at_the_next_change(watched, capsys):
    running, module = watched
    module.write_text("not python")
    look(running)
    if failing := running.children.get("web"):  # unless that look saw it fail already
        failing.wait()
    look(running)
    assert "web" not in running.children
    assert "it starts again when a module changes" in capsys.readouterr().err
    module.write_text("input()")
    look(running)
    assert running.children["web"].poll() is None
