# SPDX-License-Identifier: Apache-2.0
"""Compiles Verilator's own sources once for all builds.

Usage: ``object_cache.py FOLDER COMPILER ARGUMENT ...``. make calls it in place of the compiler
(OBJCACHE of Verilator's makefiles). Every build needs the same objects of the runtime, which take
longer to compile than many designs. An object is identified by its command, the compiler and the
headers in the folder of the source; other sources are compiled. Lists of headers are kept without
that folder: the clone that compiled an object may be gone when another one uses it. Uses the
standard library alone, since it is started for every source.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

_FOLDER = "@headers@/"
"""In the cache, the folder of the source."""


def _key(command: list[str], source: Path) -> str:
    """Returns a name for the output of ``command`` from ``source``, wherever that is installed."""
    compiler = Path(shutil.which(command[0]) or command[0]).resolve()
    folder = str(source.parent)
    words = [word.replace(folder, _FOLDER) for word in command]
    key = hashlib.sha256(repr((words, str(compiler), compiler.stat().st_size)).encode())
    for path in sorted(source.parent.iterdir()):
        if path.is_file():
            key.update(path.name.encode() + path.read_bytes())
    return key.hexdigest()[:32]


def _copy(source: Path, target: Path, before: str, after: str) -> None:
    """Copies in one step, so that no reader sees half a file; a list of headers with its folder."""
    part = target.with_name(f"{target.name}.{os.getpid()}")
    if source.suffix == ".d":
        part.write_text(source.read_text().replace(before, after))
    else:
        shutil.copyfile(source, part)
    part.replace(target)


def main(folder: Path, command: list[str]) -> int:
    """Runs the compiler, or copies its earlier output for the same input; returns its exit code."""
    source = Path(command[-1])
    target = Path(command[command.index("-o") + 1]) if "-o" in command else None
    if target is None or not source.name.startswith("verilated") or not source.is_file():
        return subprocess.run(command, check=False).returncode
    headers = f"{source.parent}/"
    made = (target, target.with_suffix(".d"))
    kept = [folder / f"{_key(command, source)}{path.suffix}" for path in made]
    if all(path.exists() for path in kept):
        for path, copy in zip(made, kept, strict=True):
            _copy(copy, path, _FOLDER, headers)
        return 0
    code = subprocess.run(command, check=False).returncode
    if code == 0 and all(path.exists() for path in made):
        folder.mkdir(parents=True, exist_ok=True)
        for path, copy in zip(made, kept, strict=True):
            _copy(path, copy, headers, _FOLDER)
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
