# SPDX-License-Identifier: Apache-2.0
"""What a build is made from: the digest by which it is current, or found among kept ones.

The files that a manifest names are known before a build. Those that the simulator reads beyond
them, such as headers, are in the lists that it writes while it compiles. The list of the last build
with the same named inputs is kept, and its files are digested as they are now: a build is current
when no file that it was made from has changed. A new file counts, too, where it would be read in
place of one of the list.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.files import write_json
from tb.common.paths import ROOT, relative
from tb.dut.manifest import Manifest
from tb.run import products

READS = "reads.json"
"""File with the list, in the build folder and among the kept builds."""

ICARUS_READS = "reads.txt"
"""The list that Icarus writes."""

_DATA = re.compile(rb'\$readmem[bh]\s*\(\s*"([^"\n]+)"')
_COMMAND_FILES = ("-f", "-F", "-c")
"""Options of simulators before a file with more arguments."""


def content(file: Path) -> bytes:
    """Returns the content of a file for a digest, with that of the data which it loads.

    These are the files of ``$readmemh`` and ``$readmemb`` with an absolute path; a file that
    cannot be read has the content of none.
    """
    try:
        text = file.read_bytes()
    except OSError:
        return b"\0missing"
    for name in dict.fromkeys(_DATA.findall(text)):
        with suppress(OSError, ValueError):
            path = Path(os.fsdecode(name))
            text += path.read_bytes() if path.is_absolute() else b""
    return text


def digest_of(files: Iterable[Path], start: bytes = b"") -> str:
    """Returns a digest of paths and contents, the same in every checkout."""
    digest = hashlib.sha256(start)
    for file in files:
        text = content(file)
        digest.update(f"{relative(file)}\0{len(text)}\0".encode())
        digest.update(text)
    return digest.hexdigest()


def named_files(manifests: Iterable[Manifest], words: Iterable[str] = ()) -> list[Path]:
    """Returns the files that manifests name, and those among the arguments of the simulator.

    Values of macros and parameters that are absolute paths of files count as names of data.
    """
    files: list[Path] = []
    for manifest in manifests:
        files += map(Path, (*manifest.sources, *manifest.waivers))
        for value in (*manifest.defines.values(), *manifest.parameters.values()):
            path = Path(str(value).strip('\\"'))
            files += [path] if path.is_absolute() and path.is_file() else []
    files += _of_words(words, frozenset())
    return list(dict.fromkeys(files))


def _of_words(words: Iterable[str], above: frozenset[Path]) -> Iterator[Path]:
    """Yields the files among arguments, and those in the command files that they name."""
    folders: list[Path] = []
    libraries: list[str] = []
    command = False
    for word in (part for one in words for part in one.split()):
        option = word[:2]
        path = Path(word[2:] if option in _COMMAND_FILES and word[2:] else word)
        if option == "-L" and word[2:]:
            folders.append(Path(word[2:]))
        elif option == "-l" and word[2:]:
            libraries.append(word[2:])
        elif path.is_file():
            yield path
            if (command or option in _COMMAND_FILES) and path not in above:
                with suppress(OSError, ValueError):
                    text = re.sub(r"(?m)(^|\s)(//|#).*$", "", path.read_text(errors="replace"))
                    yield from _of_words(shlex.split(text), above | {path})
        command = word in _COMMAND_FILES
    places = (folder / f"lib{name}{end}" for name in libraries for folder in folders
              for end in (".a", ".so"))  # fmt: skip
    yield from filter(Path.is_file, places)


def files_read(folder: Path, without: Sequence[Path] = ()) -> list[Path]:
    """Returns the files that a build in a folder has read, from the simulator's lists.

    Verilator lists its own input, the C++ compiler what each object came from.

    Args:
        folder: The build folder; files below it are left out.
        without: Other folders whose files are left out.
    """
    names: list[str] = []
    if (listed := folder / ICARUS_READS).exists():
        names += listed.read_text().splitlines()
    if (listed := folder / "Vtop__verFiles.dat").exists():
        names += re.findall(r'^S .*"([^"]+)"$', listed.read_text(), re.MULTILINE)
    for made in folder.glob("*.d"):
        if not made.name.startswith(("Vtop", "verilated")):
            names += made.read_text().replace("\\\n", " ").partition(":")[2].split()
    paths = dict.fromkeys((folder / name).resolve() for name in names)
    own = (folder.resolve(), *without)
    return [path for path in paths if not any(path.is_relative_to(place) for place in own)]


def changed_since(file: Path, time_ns: int) -> bool:
    """Returns whether a file was written at a time or later, or is gone."""
    try:
        return file.stat().st_mtime_ns >= time_ns
    except OSError:
        return True


def write_reads(folder: Path, base: str, files: Sequence[Path]) -> None:
    """Writes the list of files that a build has read, for the next one with the same base.

    It is written into the build folder and, where that is possible, beside the kept builds.
    """
    data = {"base": base, "files": [relative(file) for file in files]}
    write_json(folder / READS, data)
    with suppress(PtoError):
        write_json(products.place(base) / READS, data)


def reads_of(folder: Path, base: str) -> list[Path] | None:
    """Returns the list of the last build with a base, or None where none is known."""
    for place in (products.find(base), folder):
        with suppress(OSError, ValueError, KeyError, TypeError):
            data = json.loads((place / READS).read_text()) if place else {}
            if data["base"] == base:
                return [ROOT / name for name in data["files"]]
    return None


def whole_digest(base: str, files: Sequence[Path], folders: Sequence[Path]) -> str:
    """Returns the digest of a build: of its named inputs and of the files it has read.

    Args:
        base: Digest of the named inputs.
        files: The files it has read.
        folders: Include folders, in the order in which they are searched.
    """
    others = []
    for file in files:
        for folder in folders:
            if file.is_relative_to(folder):
                name = file.relative_to(folder)
                others += [one / name for one in folders if one != folder and (one / name).exists()]
    # A file of the same name in another include folder may be read instead.
    return digest_of((*files, *dict.fromkeys(others)), base.encode())
