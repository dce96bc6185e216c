"""A separate disk for `var` that can be full: a tmpfs in a mount namespace that goes with this process.

An ordinary user may mount in a user namespace of their own, if the system allows that; root does not need one.
"""

import ctypes
import os
from pathlib import Path

SIZE = 2 * 1024**3  # bytes that it may grow to; it takes the memory of what is written
NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000  # CLONE_NEWNS, CLONE_NEWUSER
RECURSIVE, PRIVATE, REMOUNT, DETACH, BIND = 0x4000, 1 << 18, 32, 2, 0x1000


def _call(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments):
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def bind(file: Path, over: Path) -> None:
    """Put a file in the place of another one, for this process and its children. Raises OSError; needs a SmallDisk."""
    _call("mount", os.fsencode(file), os.fsencode(over), None, BIND, None)


class SmallDisk:
    """Mounted at `folder`. Raises OSError if the system does not allow that. Before the first thread."""

    def __init__(self, folder: Path):
        self.folder = folder
        if not hasattr(os, "geteuid") or not Path("/proc/self/ns/mnt").exists():
            raise OSError("only Linux can mount a disk for one process")
        user, group = os.geteuid(), os.getegid()
        _call("unshare", NEW_MOUNTS | (NEW_USER if user else 0))
        if user:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        _call("mount", None, b"/", None, RECURSIVE | PRIVATE, None)  # nobody else sees it
        self._mount(SIZE)

    def _mount(self, size: int, flags: int = 0) -> None:
        options = f"size={size},mode=755".encode()
        _call("mount", b"tmpfs", os.fsencode(self.folder), b"tmpfs", flags, options)

    def fill(self) -> None:
        """Fill the disk to the last byte, as another program might."""
        for _ in range(50):
            now = os.statvfs(self.folder)
            try:
                return self._mount((now.f_blocks - now.f_bfree) * now.f_frsize, REMOUNT)
            except OSError:
                continue  # something was written in between
        raise OSError("the disk grows too fast to be filled")

    def free(self) -> None:
        self._mount(SIZE, REMOUNT)

    def close(self) -> None:
        """Remove the disk with its contents, so that the folder can be deleted, too."""
        _call("umount2", os.fsencode(self.folder), DETACH)
