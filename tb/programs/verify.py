# SPDX-License-Identifier: Apache-2.0
"""``pto-dv verify``: checks programs without a simulator and prints what is wrong."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from tb.errors import PtoError
from tb.files import write_bytes
from tb.language.verify import Verified, verify_file

SUFFIX = ".pto"
FILES_PER_PROCESS = 64
"""Files from which on a further process is worth its start."""


def find_files(paths: Iterable[str]) -> list[Path]:
    """Returns the files to check, each once: those named, and every program below a folder.

    Raises:
        PtoError: a path does not exist, a folder holds no program, or nothing is named.
    """
    found: dict[Path, None] = {}
    for name in paths:
        path = Path(name)
        if path.is_dir():
            below = sorted(each for each in path.rglob(f"*{SUFFIX}") if each.is_file())
            if not below:
                raise PtoError(
                    f"folder {name} holds no {SUFFIX} file",
                    remedy="name .pto files, or a folder that holds some",
                )
            found.update(dict.fromkeys(below))
        elif path.exists():
            found[path] = None
        else:
            raise PtoError(
                f"{name} does not exist", remedy="name .pto files, or folders that hold some"
            )
    if not found:
        raise PtoError(
            "no file is named", where="FILES", remedy="pto-dv verify FILE.pto, or a folder"
        )
    return list(found)


def read_arguments(texts: Iterable[str]) -> dict[int, int]:
    """Returns number -> value of ``--arg N=V`` options.

    Raises:
        PtoError: one is not of this form.
    """
    values: dict[int, int] = {}
    for text in texts:
        number, _, value = text.partition("=")
        try:
            index, known = int(number), int(value, 0)
        except ValueError:
            index = -1
        if index < 0:
            raise PtoError(
                f"argument {text!r} is not understood",
                where="--arg",
                legal="N=VALUE, N from 0 and VALUE an integer",
                remedy="--arg 2=128 says that argument 2 is 128; verify takes no files of data",
            )
        if index in values:
            raise PtoError(f"argument {index} is given twice", where="--arg", remedy="give it once")
        values[index] = known
    return values


def _results(
    files: Sequence[Path], arguments: dict[int, int], foreign: Literal["refuse", "skip"]
) -> Iterator[Verified]:
    one = partial(verify_file, arguments=arguments, foreign=foreign)
    workers = min(os.cpu_count() or 1, len(files) // FILES_PER_PROCESS)
    if workers < 2:
        yield from map(one, files)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        yield from pool.map(one, files, chunksize=16)


def _record(results: Sequence[Verified], seconds: float) -> dict[str, Any]:
    """Returns what ``--json`` writes."""
    return {
        "files": len(results),
        "ops": sum(each.ops for each in results),
        "errors": sum(len(each.findings) for each in results),
        "seconds": round(seconds, 3),
        "findings": [
            {
                "file": finding.place.file,
                "line": finding.place.line,
                "column": finding.place.column,
                "op": finding.op,
                "rule": finding.rule,
                "message": finding.message,
                "legal": finding.legal,
            }
            for each in results
            for finding in each.findings
        ],
        "notes": [note for each in results for note in each.notes],
    }


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def verify_command(
    paths: Sequence[str],
    arguments: Sequence[str] = (),
    foreign: str = "refuse",
    json_path: Path | None = None,
) -> int:
    """Checks programs, prints what is wrong with them and a summary; returns the exit code.

    Args:
        paths: Files, and folders whose programs are all meant.
        arguments: ``N=VALUE``: what is known of the arguments of every function that has it.
        foreign: ``"refuse"`` or ``"skip"``.
        json_path: Where to write the findings as well, or None.

    Raises:
        PtoError: the command itself is wrong; then nothing has been checked.
    """
    begin = time.perf_counter()
    if foreign not in ("refuse", "skip"):
        raise PtoError(f"--foreign is {foreign!r}", where="--foreign", legal="refuse, skip")
    mode: Literal["refuse", "skip"] = "skip" if foreign == "skip" else "refuse"
    files = find_files(paths)
    results = []
    for each in _results(files, read_arguments(arguments), mode):
        results.append(each)
        for line in (*map(str, each.findings), *each.notes):
            print(line)
    seconds = time.perf_counter() - begin
    wrong = [each for each in results if each.findings]
    errors = sum(len(each.findings) for each in results)
    ops = sum(each.ops for each in results)
    verdict = "no errors"
    if errors:
        verdict = f"{_count(errors, 'error')} in {_count(len(wrong), 'file')}"
    print(f"verified {_count(len(files), 'file')}, {_count(ops, 'op')}: {verdict}, {seconds:.1f} s")
    if json_path is not None:
        record = json.dumps(_record(results, seconds), indent=1) + "\n"
        write_bytes(json_path, record.encode())
        print(f"findings as JSON in {json_path}")
    return 1 if errors else 0
