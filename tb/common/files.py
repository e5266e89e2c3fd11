# SPDX-License-Identifier: Apache-2.0
"""Atomic replacement of files that other processes read."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tb.common.errors import PtoError

if TYPE_CHECKING:
    from pydantic import BaseModel

REMEDY = "make the folder writable, or free disk space"


def is_special(path: Path) -> bool:
    """Tells whether the path is neither file nor folder: a device, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def remove_file(path: Path) -> None:
    """Removes a regular file that may exist. The target of a link is removed, the link is kept.

    Devices, pipes and sockets are left alone: whoever may write ``/dev`` would lose ``/dev/null``.
    """
    if not is_special(path):
        path.resolve().unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes, *, remedy: str = REMEDY) -> None:
    """Writes a file so that a reader gets the old one or the whole new one.

    Its mode follows the umask, as for any other file. A link is kept, and its target is written.
    Devices and pipes, such as ``/dev/null``, are written to directly.

    Raises:
        PtoError: the file cannot be written; no temporary file remains.
    """
    try:
        if is_special(path):
            path.write_bytes(data)
            return
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            mask = os.umask(0)
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise PtoError(
            f"cannot write {path.name}: {error.strerror}",
            where=str(path.parent),
            remedy=remedy,
        ) from None


def write_json(path: Path, data: BaseModel | dict[str, Any]) -> None:
    """Writes JSON so that a reader gets the old file or the whole new one.

    A model has a line for each field. A dictionary is one line: those of coverage are large, and
    Python's encoder is eight times faster without indentation.

    Raises:
        PtoError: the folder cannot be written.
    """
    text = json.dumps(data) if isinstance(data, dict) else data.model_dump_json(indent=2)
    remedy = "give a place that can be written, JSON=<path> for the record"
    write_bytes(path, f"{text}\n".encode(), remedy=remedy)
