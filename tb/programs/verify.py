# SPDX-License-Identifier: Apache-2.0
"""``pto-dv verify``: checks programs without a simulator and prints the findings."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tb.common.errors import PtoError
from tb.common.files import write_bytes
from tb.common.text import counted
from tb.dut.profiles import run_profile
from tb.isa.profile import using
from tb.language.order.verdict import hazard_option
from tb.language.place import Finding, Place
from tb.language.trace import Argument
from tb.language.verify import Verified, broken_off, verify_file
from tb.programs.files import find_programs
from tb.programs.reasons import Reason, entries, grouped, reason_of, table

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

FILES_PER_PROCESS = 256
"""Least number of files per process where there are several; fewer take about a second."""

SHOWN_PHRASES = 4
"""Ops that move data and are not executed, in the last line."""

PART = 16
"""Files that a process is given at a time."""


@dataclass(frozen=True)
class Values:
    """Known arguments; each value is checked against the type of the argument of that number.

    Attributes:
        texts: Number of an argument to its value as it was given.
    """

    texts: Mapping[int, str]

    def __call__(self, argument: Argument) -> int | None:
        """Returns the value of an argument, None for one that is not given.

        Raises:
            PtoError: it is not a value of its type.
        """
        text = self.texts.get(argument.number)
        if text is None:
            return None
        from tb.programs.buffers import argument_bits
        from tb.programs.request import Given

        return argument_bits(Given(text, f"--arg {argument.number}={text}"), argument)

    def check(self, most: int) -> None:
        """Checks that every value is that of an argument.

        Args:
            most: Arguments of the function that has the most.

        Raises:
            PtoError: no function has one of them.
        """
        for number, text in self.texts.items():
            if number >= most:
                raise PtoError(
                    f"no function has an argument {number}",
                    where=f"--arg {number}={text}",
                    legal=f"arguments 0..{most - 1}" if most else "none has arguments",
                )


def read_arguments(texts: Sequence[str]) -> Values:
    """Returns the arguments of ``--arg N=V`` options.

    Raises:
        PtoError: one is not of this form, or names data.
    """
    if not texts:
        return Values({})
    # Imported here, and above: arrays and setup files take longer to import than a file to check.
    from tb.programs.arrays import is_number
    from tb.programs.options import numbered

    found = dict(numbered(texts, "--arg", "2=128"))
    for number, text in found.items():
        if not is_number(text):
            raise PtoError(
                f"argument {number} is {text!r}",
                where=f"--arg {number}={text}",
                legal="a number, or the address of a buffer: verify takes no data",
                remedy="leave it out: what is not given is not known",
            )
    return Values(found)


def verdict_of(one: Verified) -> Literal["passed", "refused", "failed"]:
    """Returns what became of a file; it failed when the checks themselves did."""
    return "failed" if one.failed else "refused" if one.findings else "passed"


def _results(files: Sequence[Path], one: Callable[[Path], Verified]) -> Iterator[Verified]:
    """Yields the result of each file, in their order.

    A process that ends before its time, for want of memory perhaps, costs the file it was at.
    """
    workers = min(os.cpu_count() or 1, len(files) // FILES_PER_PROCESS)
    if workers < 2:
        yield from map(one, files)
        return
    parts = [files[at : at + PART] for at in range(0, len(files), PART)]
    with _pool(workers) as pool:
        results: list[Future[list[Verified]]] = []
        with suppress(BrokenExecutor):
            results += [pool.submit(_part, one, part) for part in parts]
        for part, result in zip_longest(parts, results):
            found = None
            if result is not None:
                with suppress(BrokenExecutor):
                    found = result.result()
            yield from found if found is not None else (_alone(one, path) for path in part)


def _part(one: Callable[[Path], Verified], files: Sequence[Path]) -> list[Verified]:
    return [one(path) for path in files]


def _alone(one: Callable[[Path], Verified], path: Path) -> Verified:
    """Returns the result of a file that a process of its own checks."""
    with _pool(1) as pool:
        try:
            return pool.submit(one, path).result()
        except BrokenExecutor:
            return broken_off(path, "the process that checked it was ended")


def _pool(workers: int) -> ProcessPoolExecutor:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(workers, mp_context=get_context("fork"))


def _entry(finding: Finding) -> dict[str, Any]:
    """Returns an error or a warning in the document of ``--json``."""
    return {
        "file": finding.place.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "op": finding.op,
        "rule": finding.rule,
        "message": finding.sentence,
        "legal": finding.legal,
    }


def _record(
    results: Sequence[Verified], reasons: Iterable[Reason], seconds: float
) -> dict[str, Any]:
    """Returns the document of ``--json``, without the profile."""
    verdicts = Counter(map(verdict_of, results))
    return {
        "files": len(results),
        "ops": sum(each.ops for each in results),
        "skipped": sum(each.skipped for each in results),
        "errors": sum(len(each.findings) for each in results),
        **{verdict: verdicts[verdict] for verdict in ("passed", "refused", "failed")},
        "reasons": entries(reasons),
        "seconds": round(seconds, 3),
        "findings": [_entry(finding) for each in results for finding in each.findings],
        "warnings": [_entry(finding) for each in results for finding in each.warnings],
        "notes": [note for each in results for note in each.notes],
        "programs": [
            {
                "file": each.file,
                "verdict": verdict_of(each),
                "reason": reason_of(each.findings[0]) if each.findings else "",
                "ops": each.ops,
                "skipped": each.skipped,
                "not_executed": list(each.not_executed),
            }
            for each in results
        ],
    }


def verify_command(
    paths: Sequence[str],
    arguments: Sequence[str] = (),
    foreign: str = "",
    json_path: Path | None = None,
    profile: str = "",
    ubuf_to_ubuf: str = "bytes",
    hazard: str = "",
    *,
    strict: bool = False,
    ctrl: str = "",
) -> int:
    """Checks programs, prints the findings and a summary; returns the exit code.

    Args:
        paths: Files, and folders for all programs in them.
        arguments: ``N=VALUE``: value of an argument, for every function that has it.
        foreign: ``"refuse"``; ``"skip"`` or empty: foreign ops are counted.
        json_path: Where to write the findings as well, or None.
        profile: Profile under which ops are judged; empty for ``seed``.
        ubuf_to_ubuf: ``"bytes"`` or ``"blocks"``: operands of ``copy_ubuf_to_ubuf``.
        hazard: ``"error"``, ``"warn"`` or ``"off"``; empty for the default.
        strict: Whether every warning is an error.
        ctrl: CTRL at the start of a program; empty as of
            :class:`tb.language.run.registers.RegisterState`.

    Raises:
        PtoError: the command itself is wrong; then nothing has been checked, unless it names an
            argument that no function has.
    """
    begin = time.perf_counter()
    for option, text, legal in (
        ("--foreign", foreign, ("", "refuse", "skip")),
        ("--ubuf-to-ubuf", ubuf_to_ubuf, ("bytes", "blocks")),
    ):
        if text not in legal:
            what = f"{option} is {text!r}"
            raise PtoError(what, where=option, legal=", ".join(filter(None, legal)))
    one = partial(
        verify_file,
        foreign="refuse" if foreign == "refuse" else "skip",
        ubuf_to_ubuf="blocks" if ubuf_to_ubuf == "blocks" else "bytes",
        hazard=hazard_option(hazard),
        strict=strict,
        ctrl=_ctrl(ctrl),
    )
    judged = run_profile(profile, ())
    absent: list[tuple[str, PtoError]] = []
    files = find_programs(paths, absent)
    known = read_arguments(arguments)
    results = [
        Verified(name, (Finding(Place(name, 1, 1), "", "", error.what),)) for name, error in absent
    ]
    for each in results:
        _show(each)
    with using(judged):
        for each in _results(files, partial(one, known=known)):
            results.append(each)
            _show(each)
    seconds = time.perf_counter() - begin
    firsts = [each.findings[0] for each in results if each.findings]
    reasons = grouped((reason_of(first), str(first.place)) for first in firsts)
    record = {"profile": str(judged), **_record(results, reasons, seconds)}
    _summarize(record, reasons)
    if json_path is not None:
        write_bytes(json_path, (json.dumps(record, indent=1) + "\n").encode())
        print(f"findings as JSON in {json_path}")
    if not firsts:
        known.check(max(each.arguments for each in results))
    return 2 if absent else 1 if firsts else 0


def _ctrl(text: str) -> int | None:
    if not text:
        return None
    from tb.programs.setup import ctrl_word

    return ctrl_word(text, "--ctrl")


def _show(one: Verified) -> None:
    """Prints what a file has."""
    for line in (*map(str, one.findings), *map(str, one.warnings), *one.notes):
        print(line)


def _summarize(record: Mapping[str, Any], reasons: Sequence[Reason]) -> None:
    """Prints the reasons of refusals, and the last line."""
    passed, refused, failed = (record[verdict] for verdict in ("passed", "refused", "failed"))
    if reasons and record["files"] > 1:
        print(f"{passed} passed, {refused} refused{f', {failed} failed' if failed else ''}:")
        print("\n".join(table(reasons)))
    verdict, warned = "no errors", len(record["warnings"])
    if record["errors"]:
        wrong = counted(refused + failed, "file")
        verdict = f"{counted(record['errors'], 'error')} in {wrong}"
    verdict += f", {counted(warned, 'warning')}" if warned else ""
    skipped = f" ({record['skipped']} not executed here)" if record["skipped"] else ""
    missing = [phrase for each in record["programs"] for phrase in each["not_executed"]]
    shown = missing[:SHOWN_PHRASES] + (["..."] if len(missing) > SHOWN_PHRASES else [])
    print(
        f"verified {counted(record['files'], 'file')}, {counted(record['ops'], 'op')}{skipped}, "
        f"profile {record['profile']}: {verdict}, {record['seconds']:.1f} s"
        + (f"; NOT EXECUTED: {'; '.join(shown)}" if missing else "")
    )
