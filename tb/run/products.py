# SPDX-License-Identifier: Apache-2.0
"""Finished builds, kept by the content of their inputs and shared by all checkouts.

They are below the folder of ``PTO_BUILDS``, by default ``pto-dv`` in the user's cache folder. An
entry is a folder named by the digest of everything that the build was made from. It appears in one
step and never changes, so that a run is safe from a build that goes on at the same time.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

BUILDS_ENV = "PTO_BUILDS"
"""Environment variable with the folder."""

MOST_BYTES = 2 << 30
"""Size beyond which the entries that were used longest ago are removed."""


def builds_folder() -> Path:
    """Returns the folder of finished builds and compiled objects; it need not exist."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(os.environ.get(BUILDS_ENV) or Path(cache) / "pto-dv")


def place(digest: str) -> Path:
    """Returns the folder of a build, which need not exist."""
    return builds_folder() / "builds" / digest


def find(digest: str) -> Path | None:
    """Returns the folder with the files of a build, and notes its use."""
    folder = place(digest)
    with suppress(OSError):
        os.utime(folder)
        return folder
    return None


def keep(digest: str, files: Mapping[str, Path]) -> Path | None:
    """Copies the files of a build under these names.

    Returns:
        Their folder, or None where nothing can be kept.
    """
    folder = place(digest)
    part = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix="part-", dir=folder.parent))
        for name, file in files.items():
            shutil.copy2(file, part / name)
        with suppress(OSError):  # Another process has kept the same build.
            part.rename(folder)
        with suppress(OSError):  # It removes entries, too.
            _prune(folder.parent)
    except OSError:
        return None
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)
    return find(digest)


def _prune(folder: Path) -> None:
    """Removes entries until those used last fit into :data:`MOST_BYTES`."""
    entries = sorted(folder.iterdir(), key=lambda entry: entry.stat().st_mtime, reverse=True)
    size = 0
    for entry in entries:
        size += sum(file.stat().st_size for file in entry.rglob("*"))
        if size > MOST_BYTES:
            shutil.rmtree(entry, ignore_errors=True)
