# SPDX-License-Identifier: Apache-2.0
"""Files of code coverage counts: Verilator's, and compressed ones in the same format.

Merged files have one point per engine instead of one per instance, and the number of runs. Both may
be compressed, which makes them twenty times smaller.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.files import write_bytes
from tb.coverage.export.code import KINDS, CodeCounts, CodePoint
from tb.isa.ops import SLOTS

HEADER = "# SystemC::Coverage-3"
RUNS = "# runs "
"""Prefix of the line of a merged file with its number of runs."""

TOP = "pto_harness"
HARNESS = "tb/hdl/"

_GZIP = b"\x1f\x8b"
_WORDS = {"expr": "expression"}


Known = dict[str, CodePoint | None]
"""Text of a point in files to the point, None if it belongs to no engine."""


def read(path: Path, root: Path, known: Known | None = None) -> CodeCounts:
    """Reads counts that Verilator or :func:`write` wrote.

    Args:
        path: The file.
        root: Top of the project: sources below it are named from there.
        known: Points of files read before; those of this one are added. It halves the time to read
            many files of one build.

    Raises:
        PtoError: it cannot be read, has another format, or is truncated.
    """
    lines = _text(path).split("\n")
    if lines[0] != HEADER:
        raise PtoError(
            "this is not a file of Verilator's code coverage",
            where=str(path),
            legal=f"a file that begins with `{HEADER}`",
        )
    if lines[-1]:
        raise _damaged(f"{path}:{len(lines)}")
    runs = 1
    counts: dict[CodePoint, int] = {}
    known = {} if known is None else known
    top = f"{root}/"
    for number, line in enumerate(lines[1:-1], 2):
        head, _, text = line.rpartition("' " if line.startswith("C") else " ")
        if not text.isdecimal():
            raise _damaged(f"{path}:{number}")
        if line.startswith(RUNS):
            runs = int(text)
            continue
        if head in known:
            point = known[head]
        else:
            point = known[head] = _point(head, top, f"{path}:{number}")
        if point is not None:
            counts[point] = counts.get(point, 0) + int(text)
    if not counts:
        raise PtoError(
            "the file has no counts of any engine",
            where=str(path),
            remedy="run it again; the disk may have been full",
        )
    return CodeCounts(counts, runs)


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise _damaged(str(path)) from None
    except OSError as error:
        raise PtoError(
            f"the counts of code coverage cannot be read: {error.strerror}",
            where=str(path),
            remedy="see the run's record: a simulator that was killed writes none",
        ) from None
    return data.decode("utf-8", errors="surrogateescape")


def _damaged(where: str) -> PtoError:
    return PtoError(
        "the counts of code coverage are cut off or damaged",
        where=where,
        remedy="run it again; the disk may have been full",
    )


def _engine(hierarchy: str, where: str) -> str:
    """Returns the slot that an instance is in, or an empty text if it is in none.

    Raises:
        PtoError: Verilator has merged several instances, which need not be in one slot.
    """
    parts = hierarchy.split(".", 2)
    if parts[0] != TOP or len(parts) < 2:
        return ""
    if "*" in parts[1]:
        raise PtoError(
            f"the counts are of several instances together, {hierarchy}",
            where=where,
            remedy="run the simulation with --coverage-per-instance",
        )
    return parts[1] if parts[1] in SLOTS else ""


def _point(text: str, top: str, where: str) -> CodePoint | None:
    """Returns the point of a description, None if it belongs to no engine."""
    try:
        keys = dict(part.split("\x02", 1) for part in text.removeprefix("C '\x01").split("\x01"))
        path = keys["f"].removeprefix(top)
        kind = _WORDS.get(keys["t"], keys["t"])
        engine = _engine(keys["h"], where)
        if not engine or path.startswith(HARNESS) or kind not in KINDS:
            return None
        # Not the page, which differs between instances with other parameters.
        line, column = int(keys["l"]), int(keys["n"])
        return CodePoint(engine, path, line, column, kind, keys["o"], keys.get("S", ""))
    except (KeyError, ValueError):
        raise _damaged(where) from None


def write(counts: CodeCounts, path: Path) -> None:
    """Writes counts in Verilator's format, compressed if the name ends with ``.gz``.

    Raises:
        PtoError: the file cannot be written.
    """
    words = {name: word for word, name in _WORDS.items()}
    lines = [HEADER, f"{RUNS}{counts.runs}"]
    for point, count in sorted(counts.counts.items()):
        kind = words.get(point.kind, point.kind)
        keys = {
            "f": point.path,
            "l": point.line,
            "n": point.column,
            "t": kind,
            "page": f"v_{kind}/{Path(point.path).stem}",
            "o": point.text,
            **({"S": point.span} if point.span else {}),
            "h": f"{TOP}.{point.engine}",
        }
        text = "".join(f"\x01{key}\x02{value}" for key, value in keys.items())
        lines.append(f"C '{text}' {count}")
    data = ("\n".join(lines) + "\n").encode("utf-8", errors="surrogateescape")
    # Level 1 takes a twentieth of the time of level 9, for a file half as large again.
    write_bytes(path, gzip.compress(data, 1, mtime=0) if path.suffix == ".gz" else data)


def fold(path: Path, target: Path, root: Path) -> CodeCounts:
    """Writes the counts of a run to a file without instances and removes the original.

    Raises:
        PtoError: the file cannot be read or written.
    """
    counts = read(path, root)
    write(counts, target)
    path.unlink()
    return counts


def merged(paths: Iterable[Path], root: Path) -> CodeCounts:
    """Returns the sum of the counts of several files.

    Raises:
        PtoError: a file cannot be read; see :func:`read`.
    """
    total, known = CodeCounts(), Known()
    for path in paths:
        total.merge(read(path, root, known))
    return total


def merged_readable(paths: Iterable[Path], root: Path) -> tuple[CodeCounts, list[str]]:
    """Returns the counts of the readable files, and the errors of the others."""
    total, known = CodeCounts(), Known()
    problems = []
    for path in paths:
        try:
            total.merge(read(path, root, known))
        except PtoError as error:
            problems.append(f"{error.where or path}: {error.what}")
    return total, problems
