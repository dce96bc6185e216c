"""Child processes that never outlive their parent, and the detection of any that did anyway."""

import contextlib
import ctypes
import logging
import math
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import psutil

MARK = "WINNOW_CHILD_OF"  # in a child's environment: the `var` it serves
LOG_BYTES = 20_000_000
ASK_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def spawn(name: str, command: list, *, var: Path, dies_by: signal.Signals, env: dict | None = None, **options):
    """Start `command` in its own session (so that only the parent handles Ctrl-C), with output to var/log.

    `dies_by`: the signal that Linux sends it when this process ends, even by kill -9. On other systems the next start
    finds what is left (`leftovers`). Must be called from the main thread, to which the signal is bound.
    """
    with open_log(name, var) as log:
        return subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            preexec_fn=_tied_to(os.getpid(), dies_by), env={**os.environ, MARK: str(var), **(env or {})}, **options,
        )  # fmt: skip


def open_log(name: str, var: Path) -> BinaryIO:
    path = var / "log" / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.fchmod(descriptor, 0o600)  # one from an earlier version of Winnow
    return os.fdopen(descriptor, "ab")


class Fork:
    """A forked child, with the parts of subprocess.Popen that we use."""

    def __init__(self, pid: int):
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float = math.inf) -> int:
        if not wait_for(lambda: self.poll() is not None, seconds=timeout):
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, signum: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)


Child = subprocess.Popen | Fork


def fork(work: Callable[[], object], *, dies_by: signal.Signals, log: BinaryIO | None = None) -> Fork:
    """Run `work` in a copy of this process, in its own session and tied to this one as by `spawn`. The memory of
    imported modules is shared. Close connections to servers first: a copy must not use them.

    Its exit status is 0, or that of a SystemExit. `log`: where its output goes.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    tie, (reads, writes) = _tied_to(os.getpid(), dies_by), os.pipe()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASK_TO_STOP)  # their handlers in this process are not the child's
    if pid := os.fork():
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(writes)
        os.read(reads, 1)  # wait until the child has its session, by which `stop` finds it
        os.close(reads)
        return Fork(pid)
    status = 1
    try:
        os.setsid()
        tie()
        for signum in ASK_TO_STOP:
            signal.signal(signum, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(reads)
        os.close(writes)
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        if log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        status = _status(work)
    finally:  # never return into the parent's code
        os._exit(status)


def _status(work: Callable[[], object]) -> int:
    """Return the exit status of a program that runs `work`."""
    status: object = 0
    try:
        work()
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    if isinstance(status, str):
        print(status, file=sys.stderr)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    return status if isinstance(status, int) else int(status is not None)


def run_module(command: list, *, var: Path, shown: str, cwd: Path, env: dict) -> None:
    """Run `python -m …` in a fork as its main program, like a new process. `ps` shows `shown`."""
    os.chdir(cwd)
    os.environ |= {MARK: str(var), **env}
    sys.argv = [str(part) for part in command[2:]]
    _show(shown)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _show(title: str) -> None:
    """Make `ps` list this process by that command line, as far as it fits in the old one's place (Linux)."""
    if sys.platform == "linux":
        start, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:47])
        words = title.replace(" ", "\0").encode()[: end - start - 1]
        ctypes.memmove(start, words.ljust(end - start, b"\0"), end - start)


def trim_heap() -> None:
    """Return free memory, before forks share the rest."""
    with contextlib.suppress(AttributeError):  # a C library other than glibc
        ctypes.CDLL(None).malloc_trim(0)


def release_file_pages() -> None:
    """Release the pages of library files that only this process has mapped, because it read them at an import.

    Linux reads them again if needed, and keeps pages that were written to.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, _, _, _, inode, *_ = line.split()
        if inode != "0":
            start, end = (int(address, 16) for address in span.split("-"))
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), 21)  # MADV_PAGEOUT


def _tied_to(parent: int, signum: signal.Signals):
    """Return what the child runs between fork and exec, after setting its user (which would clear the setting)."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def tie() -> None:
        if libc:
            libc.prctl(1, int(signum))  # PR_SET_PDEATHSIG
            if os.getppid() != parent:  # the parent has exited in the meantime
                os._exit(1)

    return tie


def stop(child: Child, *signals: tuple[signal.Signals, float]) -> None:
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
    """Find processes of an earlier run on this `var` by their mark; servers by their folder, because PostgreSQL hides
    the mark; forks, which keep their parent's environment, by their log."""
    family = {os.getpid(), *(process.pid for process in psutil.Process().parents())}
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid not in family and (
                _mark(process) == str(var) or _is_server(process, var) or _is_fork(process, var)
            ):
                found.append(process)
    return found


def works_in(process: psutil.Process, folder: Path) -> bool:
    """Return whether it is its working directory; false for a process that has ended by now."""
    with contextlib.suppress(psutil.Error, OSError):
        return process.cwd() == str(folder)
    return False


def _is_server(process: psutil.Process, var: Path) -> bool:
    homes = {"postgres": var / "postgres", "valkey-server": var / "valkey"}
    return process.name() in homes and works_in(process, homes[process.name()])


def _is_fork(process: psutil.Process, var: Path) -> bool:
    """Return whether it is a Python process whose standard output is a log of `var`."""
    if "python" not in process.name():
        return False
    return any(file.fd == 1 and Path(file.path).parent == var / "log" for file in process.open_files())


def _mark(process: psutil.Process) -> str | None:
    with contextlib.suppress(psutil.Error, OSError):
        return process.environ().get(MARK)
    return None


def sweep(var: Path, patience: float = 20) -> int:
    """Stop processes left by an earlier run, PostgreSQL by a fast shutdown. Return their number.

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
    """Poll `ready()` until it is true; return False if time runs out or `alive()` is false."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline or not alive():
            return False
        time.sleep(0.03)
    return True


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
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
