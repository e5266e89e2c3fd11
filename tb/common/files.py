# SPDX-License-Identifier: Apache-2.0
"""Reads files of users; replaces files that other processes read, whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tb.common.errors import PtoError
from tb.common.paths import resolved

if TYPE_CHECKING:
    from pydantic import BaseModel

REMEDY = "make the folder writable, or free disk space"


def is_special(path: Path) -> bool:
    """Returns whether the path is neither file nor folder: a device, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def regular(path: Path) -> Path:
    """Returns the path of a file to read, unless reading it may never end.

    Raises:
        OSError: it is a device, a pipe or a socket.
    """
    if is_special(path):
        raise OSError(errno.EINVAL, "a device or a pipe, no regular file", str(path))
    return path


def unfit(path: Path, *, folder: bool = False) -> str:
    """Returns why a path is not a file, or no folder, that can be read; nothing if it is one."""
    if path.is_dir() if folder else path.is_file():
        return ""
    if not path.exists():
        return "is a link in a circle" if resolved(path).is_symlink() else "does not exist"
    return f"is {'a device or a pipe' if is_special(path) else 'a file' if folder else 'a folder'}"


def unwritable(path: Path) -> str:
    """Returns why a file cannot be written; nothing if it can, or if its folder is to be made.

    A file without a name is made and removed: permissions do not hold for root, and do not show
    a medium that is mounted read-only.
    """
    try:
        if is_special(path):
            found, null = path.stat(), Path(os.devnull).stat().st_rdev
            if stat.S_ISCHR(found.st_mode) and found.st_rdev != null:
                with path.open("wb", buffering=0) as file:
                    return "" if file.isatty() else "it is a device"
            return "it is a device" if stat.S_ISBLK(found.st_mode) else ""
        if path.is_dir():
            return "it is a folder"
        if resolved(path).is_symlink():
            return "it is a link in a circle"
        folder = resolved(path).parent
        while not os.path.lexists(folder):
            folder = folder.parent
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return str(error.strerror or error)


def read_toml(path: Path, what: str, remedy: str) -> tuple[str, dict[str, Any]]:
    """Returns the text of a TOML file, and what it holds.

    Args:
        path: The file.
        what: It in messages, such as ``the manifest``.
        remedy: What to do when it cannot be read.

    Raises:
        PtoError: it cannot be read, or is not TOML; with the line.
    """
    where = str(path)
    try:
        text = regular(path).read_text(encoding="utf-8-sig")  # editors write a BOM
        return text, tomllib.loads(text)
    except OSError as error:
        raise PtoError(
            f"cannot read {what}: {error.strerror}", where=where, remedy=remedy
        ) from None
    except UnicodeDecodeError:
        raise PtoError(f"{what} is not UTF-8", where=where, remedy="save it as text") from None
    except RecursionError:
        raise PtoError(
            f"{what} is nested too deep", where=where, remedy="take brackets out"
        ) from None
    except ValueError as error:  # With TOMLDecodeError, and integers of thousands of digits.
        message = str(error)
        if found := re.search(r" \(at line (\d+), column (\d+)\)$", message):
            message, where = message[: found.start()], f"{path}:{found[1]}:{found[2]}"
        raise PtoError(
            f"{what} is not TOML: {message}", where=where, remedy="correct the text there"
        ) from None


def remove_file(path: Path) -> None:
    """Removes a regular file that may exist. The target of a link is removed, the link is kept.

    Devices, pipes and sockets are left alone: whoever may write ``/dev`` would lose ``/dev/null``.
    """
    if not is_special(path):
        resolved(path).unlink(missing_ok=True)


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
        path = resolved(path)
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
