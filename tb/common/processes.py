# SPDX-License-Identifier: Apache-2.0
"""Child processes that end with their parent, even if the parent is killed.

Linux only: the kernel ends a process with its parent, and ``/proc`` has the owner of a process.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "PTO_WORKER"
"""Environment variable that a worker sets for everything it starts."""

_PR_SET_PDEATHSIG = 1
_EXEC_SECONDS = 0.1
# Found before any fork: the dynamic linker must not be called between fork and exec.
_PRCTL = getattr(ctypes.CDLL(None), "prctl", None)


def end_with_parent(parent: int) -> None:
    """Lets the kernel kill this process when its parent thread ends; called in the new process.

    Args:
        parent: Process that started this one; if it has ended already, this one ends now.
    """
    if _PRCTL is not None:
        _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def kill_tree(pid: int) -> None:
    """Kills a process and its descendants, the youngest last."""
    pids = [pid]
    for one in pids:
        for file in Path(f"/proc/{one}/task").glob("*/children"):
            with suppress(OSError):  # It has ended.
                pids += map(int, file.read_text().split())
    for one in pids:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def marked(mark: str) -> Iterator[int]:
    """Yields the processes of this user with the mark of a worker in their environment."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "environ").read_bytes().split(b"\0")
        except OSError:  # ended, or of another user
            continue
        if wanted in words and int(folder.name) != os.getpid():
            yield int(folder.name)


def kill_left(group: int, mark: str) -> None:
    """Kills what an ended worker left running: its process group, and processes with its mark."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    # Between fork and exec a process has no environment for a moment: look again.
    for seconds in (0.0, _EXEC_SECONDS):
        time.sleep(seconds)
        for pid in marked(mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
