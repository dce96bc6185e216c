"""Child processes that never outlive their parent, and finding any that did anyway."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

MARK = "WINNOW_CHILD_OF"  # in a child's environment: the `var` that it serves
LOG_BYTES = 20_000_000


def spawn(name: str, command: list, *, var: Path, dies_by: signal.Signals, env: dict | None = None, **options):
    """Start `command` in its own session (so that only the parent handles Ctrl-C), with output to var/log.

    `dies_by`: the signal that Linux sends it when this process ends, even by kill -9. Elsewhere the next start finds
    what is left (`leftovers`). Must be called from the main thread, to which the signal is bound.
    """
    path = var / "log" / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    with open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600)) as log:
        os.chmod(path, 0o600)  # one from an earlier version of Winnow
        return subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            preexec_fn=_tied_to(os.getpid(), dies_by), env={**os.environ, MARK: str(var), **(env or {})}, **options,
        )  # fmt: skip


def _tied_to(parent: int, signum: signal.Signals):
    """Runs in the child between fork and exec, after setting its user (which would clear the setting)."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def tie() -> None:
        if libc:
            libc.prctl(1, int(signum))  # PR_SET_PDEATHSIG
            if os.getppid() != parent:  # the parent ended in the meantime
                os._exit(1)

    return tie


def stop(child: subprocess.Popen, *signals: tuple[signal.Signals, float]) -> None:
    """Send each signal in turn and wait its seconds; then kill what is left with its whole process group."""
    for signum, seconds in signals:
        if child.poll() is not None:
            return
        child.send_signal(signum)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(seconds)
            return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def leftovers(var: Path) -> list[psutil.Process]:
    """Processes of an earlier run on this `var`, by their mark or, for PostgreSQL which hides it, by their folder."""
    family = {os.getpid(), *(process.pid for process in psutil.Process().parents())}
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid not in family and (_mark(process) == str(var) or _is_server(process, var)):
                found.append(process)
    return found


def _is_server(process: psutil.Process, var: Path) -> bool:
    homes = {"postgres": var / "postgres", "valkey-server": var / "valkey"}
    return process.name() in homes and process.cwd() == str(homes[process.name()])


def _mark(process: psutil.Process) -> str | None:
    with contextlib.suppress(psutil.Error, OSError):
        return process.environ().get(MARK)
    return None


def sweep(var: Path, patience: float = 20) -> int:
    """Stop processes left by an earlier run, PostgreSQL by a fast shutdown. Returns their number.

    Only for the holder of the lock on `var`: any other process that serves it is a leftover.
    """
    found = leftovers(var)
    for process in found:
        with contextlib.suppress(psutil.Error):
            is_postmaster = str(var / "postgres") in process.cmdline()
            process.send_signal(signal.SIGINT if is_postmaster else signal.SIGTERM)
    _, alive = psutil.wait_procs(found, timeout=patience)
    for process in alive:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=5)
    return len(found)


def wait_for(ready, *, seconds: float, alive=lambda: True) -> bool:
    """Poll `ready()` until it is true; False if the time runs out or `alive()` is false."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline or not alive():
            return False
        time.sleep(0.03)
    return True


def cores() -> int:
    """CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def let_through(path: Path) -> None:
    """Let another user traverse (not list) the folders above `path`. Only root needs this, and only root can do it."""
    for above in path.parents:
        mode = above.stat().st_mode
        if not mode & 0o001:
            above.chmod(mode | 0o001)


def empty_folder(path: Path, mode: int = 0o700) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True, mode=mode, exist_ok=True)
    return path
