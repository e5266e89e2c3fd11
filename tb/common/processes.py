# SPDX-License-Identifier: Apache-2.0
"""Child processes that end with their parent, even if the parent is killed.

Linux only: the kernel ends a process with its parent, and ``/proc`` says whose a process is.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "PTO_WORKER"
"""Environment variable that a worker sets for everything it starts."""

_PR_SET_PDEATHSIG = 1
# Found before any fork: the dynamic linker must not be asked between fork and exec.
_PRCTL = getattr(ctypes.CDLL(None), "prctl", None)


def end_with_parent(parent: int) -> None:
    """Has this process killed when the thread that started it ends; to be called in the new one.

    Args:
        parent: Process that started this one; where it is gone already, this one ends now.
    """
    if _PRCTL is not None:
        _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def marked(mark: str) -> Iterator[int]:
    """Yields the processes of this user whose environment has the mark of a worker."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "environ").read_bytes().split(b"\0")
        except OSError:  # ended, or somebody else's
            continue
        if wanted in words and int(folder.name) != os.getpid():
            yield int(folder.name)


def kill_left(group: int, mark: str) -> None:
    """Kills what a worker that ended has left: its process group, and what has its mark."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    for pid in marked(mark):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
