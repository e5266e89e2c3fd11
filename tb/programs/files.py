# SPDX-License-Identifier: Apache-2.0
"""Finds program files, for all commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.files import unfit
from tb.common.paths import resolved

SUFFIX = ".pto"
"""Suffixes of programs in a folder; a file that is named may have any name."""

_REMEDY = f"name {SUFFIX} files, or folders that hold some"


def find_programs(
    names: Iterable[str], absent: list[tuple[str, PtoError]] | None = None
) -> tuple[Path, ...]:
    """Returns the programs, each once and in the order named, those of a folder by their paths.

    A folder means all programs below it. A file found twice, under any name or link, is listed
    once, at its first place.

    Args:
        names: Files and folders.
        absent: Takes the names that cannot be used, each with its error, where another one can.

    Raises:
        PtoError: none is named, one does not exist or is not a file, or a folder holds none.
    """
    found: dict[Path, Path] = {}
    errors: list[tuple[str, PtoError]] = []
    for name in names:
        try:
            for file in _files(name):
                found.setdefault(resolved(file), file)
        except PtoError as error:
            errors.append((name, error))
        except (OSError, ValueError, RuntimeError) as error:
            # A name that is too long, or has a null byte; a link to itself.
            why = getattr(error, "strerror", None) or error
            what = f"cannot read {name}: {why}"
            errors.append((name, PtoError(what, where="FILES", remedy=_REMEDY)))
    if errors and (absent is None or not found):
        raise errors[0][1]
    if absent is not None:
        absent += errors
    if not found:
        raise PtoError("no program is named", where="FILES, or PROGRAM= of make", remedy=_REMEDY)
    return tuple(found.values())


def _files(name: str) -> Iterator[Path]:
    path = Path(name)
    if path.is_dir():
        below = sorted(each for each in path.rglob(f"*{SUFFIX}") if each.is_file())
        if not below:
            raise PtoError(f"folder {name} holds no {SUFFIX} file", where="FILES", remedy=_REMEDY)
        yield from below
    elif path.is_file():
        yield path
    else:
        raise PtoError(f"{name} {unfit(path)}", where="FILES", remedy=_REMEDY)
