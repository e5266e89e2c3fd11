# SPDX-License-Identifier: Apache-2.0
"""Output files of a program: checked to be writable before the run, written after a pass."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.files import is_special, write_bytes
from tb.common.paths import resolved
from tb.programs.arrays import file_bytes
from tb.programs.request import Given

REMEDY = "name a file in a folder that can be written"


@dataclass(frozen=True, slots=True)
class Output:
    """A file to write.

    Attributes:
        target: The file.
        dump: File in the run's folder with its bytes.
        length: Number of bytes.
        dtype: Element type, empty for plain bytes.
    """

    target: Given
    dump: str
    length: int
    dtype: str = ""


def check_targets(outputs: Iterable[Output], inputs: Iterable[Path]) -> None:
    """Checks that every file can be written, all differ, and none is an input.

    Raises:
        PtoError: one is not such a file.
    """
    read = {resolved(path): path for path in inputs}
    seen: dict[Path, str] = {}
    for output in outputs:
        path, where = output.target.path, output.target.where
        place = resolved(path)
        if is_special(path):  # /dev/null may be named several times
            continue
        if place in read:
            raise PtoError(
                f"{path} is read by the program, too",
                where=where,
                remedy="write to another file: the run could not be repeated",
            )
        if place in seen:
            raise PtoError(
                f"{path} is written twice: {seen[place]} and {where}",
                where=where,
                remedy="name a file of its own for each output",
            )
        seen[place] = where
        _check_writable(path, where)


def _check_writable(path: Path, where: str) -> None:
    """Raises PtoError unless the file can be made or replaced; makes no lasting change."""
    try:
        if path.is_dir():
            raise PtoError(f"{path} is a folder", where=where, remedy=REMEDY)
        if resolved(path).is_symlink():
            raise PtoError(f"{path} is a link in a circle", where=where, remedy=REMEDY)
        folder = resolved(path).parent
        if not folder.exists():
            raise PtoError(
                f"cannot write {path}: there is no folder {folder}",
                where=where,
                remedy=f"make it, or {REMEDY}",
            )
        if path.exists() and not path.stat().st_mode & 0o222:
            raise PtoError(
                f"cannot write {path}: it is write-protected", where=where, remedy=REMEDY
            )
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PtoError(f"cannot write {path}: {reason}", where=where, remedy=REMEDY) from None


def write_outputs(outputs: Iterable[Output], folder: Path) -> list[str]:
    """Writes the files from the dumps of a run that has passed; returns their paths.

    Raises:
        PtoError: the run left no bytes for one, or it cannot be written. Earlier files have been
            written completely, later ones not at all.
    """
    found = []
    data = [(output, _dumped(output, folder)) for output in outputs]
    for output, content in data:
        path = output.target.path
        write_bytes(path, file_bytes(content, path, output.dtype), remedy=REMEDY)
        found.append(f"{path}, {len(content)} bytes")
    return found


def _dumped(output: Output, folder: Path) -> bytes:
    try:
        data = (folder / output.dump).read_bytes()
    except OSError as error:
        raise PtoError(
            f"the run left no bytes for {output.target.path}: {error.strerror}",
            where=str(folder / output.dump),
        ) from None
    if len(data) != output.length:
        raise PtoError(
            f"the run left {len(data)} bytes for {output.target.path}, {output.length} expected",
            where=str(folder / output.dump),
        )
    return data
