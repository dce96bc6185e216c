"""What is slow to make and then only read is made once in the suite, by the process that needs it first."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder that `make` got empty and filled. Other processes wait for it, and read the same folder."""
    folder = Path(os.environ["WINNOW_VAR"], "made-once", name)
    folder.parent.mkdir(exist_ok=True)
    done = folder.with_name(f"{name}.done")
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a test that failed at it
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
