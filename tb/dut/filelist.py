# SPDX-License-Identifier: Apache-2.0
"""Reads HDL file lists, the ``-f`` files of simulators, nested ones included.

Every simulator reads them a little differently. Here all relative paths count from the folder of
the list that names them, as ``-F`` has it elsewhere, so that a list means the same wherever a run
is started.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.files import regular, unfit
from tb.common.paths import resolved

_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_LINE_COMMENT = re.compile(r"(^|\s)(//|#).*$")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")

VHDL_SUFFIXES = (".vhd", ".vhdl")

LEGAL = (
    "source files, -f FILE, -F FILE, -v FILE, -y DIR, +libext+.v+.sv, +incdir+DIR, "
    "+define+NAME=VALUE, comments"
)


@dataclass
class FileList:
    """Contents of a file list and of those it names, in order.

    Attributes:
        sources: Source files.
        include_dirs: Include folders.
        defines: Macros; an empty value for a plain ``+define+NAME``.
        lists: The lists themselves.
        libraries: Files and folders that have modules which the sources may lack.
        suffixes: Suffixes of the files in library folders; none for the usual ones.
    """

    sources: list[Path] = field(default_factory=list)
    include_dirs: list[Path] = field(default_factory=list)
    defines: dict[str, str] = field(default_factory=dict)
    lists: list[Path] = field(default_factory=list)
    libraries: list[Path] = field(default_factory=list)
    suffixes: list[str] = field(default_factory=list)


def read_file_list(path: Path, found: FileList | None = None) -> FileList:
    """Reads a file list with everything it names, after what was found before.

    Raises:
        PtoError: a list or a file is missing, lists name each other, an environment variable is
            not set, or an option is none of those that can be carried to every simulator.
    """
    found = found or FileList()
    _read(resolved(path), found, ())
    return found


def _read(path: Path, found: FileList, above: tuple[Path, ...]) -> None:
    if path in above:
        raise PtoError(
            f"the file list names itself: {' -> '.join(item.name for item in (*above, path))}",
            where=str(path),
            remedy="take one of the -f lines out",
        )
    try:
        text = regular(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise PtoError(
            f"cannot read the file list: {reason}",
            where=f"{above[-1]} names {path}" if above else str(path),
            remedy="write paths from the folder of the list that names them",
        ) from None
    found.lists.append(path)
    words = _words(text, path)
    for line, word in words:
        where = f"{path}:{line}"
        if word in ("-f", "-F", "-v", "-y"):
            try:
                _, name = next(words)
            except StopIteration:
                what = "folder" if word == "-y" else "file"
                raise PtoError(f"{word} without a {what}", where=where, legal=LEGAL) from None
            if word in ("-v", "-y"):
                found.libraries.append(_existing(path, name, where, folder=word == "-y"))
            else:
                _read(resolved(path.parent / name), found, (*above, path))
        elif word.startswith("+incdir+"):
            for name in word.split("+")[2:]:
                if name:
                    found.include_dirs.append(_existing(path, name, where, folder=True))
        elif word.startswith("+libext+"):
            found.suffixes += filter(None, word.split("+")[2:])
        elif word.startswith("+define+"):
            for item in word.split("+")[2:]:
                name, _, value = item.partition("=")
                if name:
                    found.defines[name] = value
        elif word.startswith(("-", "+")):
            raise PtoError(
                f"option {word!r} of a file list cannot be carried to every simulator",
                where=where,
                legal=LEGAL,
                remedy="put it into [simulator_args] of the manifest, by simulator",
            )
        else:
            found.sources.append(_existing(path, word, where))


def _words(text: str, path: Path) -> Iterator[tuple[int, str]]:
    """Yields the words of a list with their line numbers, comments gone, variables filled in."""
    text = _BLOCK_COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path}:{number}"
        try:
            words = shlex.split(_LINE_COMMENT.sub("", line))
        except ValueError as error:
            raise PtoError(f"cannot read {line.strip()!r}: {error}", where=where) from None
        for word in words:
            yield number, _filled_in(word, where)


def _filled_in(word: str, where: str) -> str:
    def value(match: re.Match[str]) -> str:
        name = next(group for group in match.groups() if group)
        if name not in os.environ:
            raise PtoError(
                f"environment variable {name} is not set",
                where=where,
                remedy=f"set it: {name}=... make ...",
            )
        return os.environ[name]

    return _VARIABLE.sub(value, word)


def _existing(path: Path, name: str, where: str, *, folder: bool = False) -> Path:
    found = resolved(path.parent / name)
    if why := unfit(found, folder=folder):
        raise PtoError(
            f"{'folder' if folder else 'source'} {name!r} {why}",
            where=where,
            remedy=f"write paths from the folder of the list; looked for {found}",
        )
    return found
