# SPDX-License-Identifier: Apache-2.0
"""Reads the messages of the design from the log of a simulator.

Severity tasks (``$error`` and the like), failed assertions, ``$stop`` and ``$finish`` look
different in each simulator and mean the same in a record. ``$info`` and ``$display`` do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tb.record.message import DesignMessage, Severity

CLOCK_TICKS = 10_000
"""Steps of simulated time in a clock, at the precision of the harness, 1 ps."""

MOST_KINDS = 100
"""Most different messages that are kept beside those that fail the run."""

MOST_LINES = 10
"""Most lines of a message, and of the last words of a simulator."""

_SEVERITIES: dict[str, Severity] = {
    "warning": "warning", "error": "error", "fatal": "fatal", "failure": "fatal",
    "w": "warning", "e": "error", "f": "fatal", "$stop": "$stop", "$finish": "$finish",
}  # fmt: skip


@dataclass(frozen=True)
class _Format:
    """How a simulator prints a message.

    Attributes:
        head: Its first line, with the groups ``severity``, ``text``, ``file``, ``line``, ``scope``
            and ``time``, those that it has.
        tail: A later line with the missing groups; lines before it belong to the text.
        unit: Steps of simulated time in the unit of ``time``; 0 for steps.
    """

    head: re.Pattern[str]
    tail: re.Pattern[str] | None = None


def _format(head: str, tail: str = "") -> _Format:
    return _Format(re.compile(head), re.compile(tail) if tail else None)


_ENDS = _format(
    r"pto: (?P<severity>\$stop|\$finish): (?P<file>.+):(?P<line>\d+), time (?P<time>\d+), "
    r"scope (?P<scope>\S+)(?P<text>)$"
)
"""Of tb/hdl/memory/pto_vpi.h and tb/hdl/pto_main.cpp."""

_FORMATS: dict[str, tuple[_Format, ...]] = {
    "icarus": (
        _ENDS,
        _format(
            r"(?P<severity>ERROR|FATAL|WARNING): (?P<file>[^:]+):(?P<line>\d+): ?(?P<text>.*)$",
            r"\s+Time: (?P<time>\d+)\s+Scope: (?P<scope>\S+)$",
        ),
    ),
    "verilator": (
        _ENDS,
        _format(
            r"\[(?P<time>\d+)\] %(?P<severity>Error|Fatal|Warning): (?P<file>[^:]+):(?P<line>\d+): "
            r"(?:Assertion failed in )?(?P<scope>[^\s:]+): ?(?P<text>.*)$"
        ),
        _format(r"%Error: (?P<file>.+):(?P<line>\d+): Verilog (?P<severity>\$stop)(?P<text>)$"),
        _format(r"%(?P<severity>Error|Warning): (?P<file>[^:]+):(?P<line>\d+): (?P<text>.*)$"),
    ),
    # Not verified on a real installation: docs/simulators.md.
    "questa": (
        _format(
            r"#? ?\*\* (?P<severity>Error|Fatal|Warning|Failure): (?:\(\S+\) )?(?P<text>.*)$",
            r"#?\s+Time: (?P<time>[\d.]+) (?P<unit>[munpf]?s) .*?Scope: (?P<scope>\S+)"
            r"(?: File: (?P<file>\S+) Line: (?P<line>\d+))?$",
        ),
    ),
    "xcelium": (
        _format(
            r"xmsim: \*(?P<severity>[WEF]),\w+(?: \((?P<file>[^,]+),(?P<line>\d+)\))?:?"
            r"(?: \(time (?P<time>[\d.]+) (?P<unit>[MUNPF]?S)\))? ?(?P<text>.*)$"
        ),
    ),
    "vcs": (
        _format(
            r'(?P<severity>Error|Fatal|Warning): "(?P<file>[^"]+)", (?P<line>\d+): '
            r"(?P<scope>\S+): at time (?P<time>[\d.]+) (?P<unit>[munpf]?s)(?P<text>)$"
        ),
    ),
}  # fmt: skip
_FORMATS |= dict.fromkeys(("questa-qisqrun", "riviera", "activehdl", "dsim"), _FORMATS["questa"])

_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0, "ps": 1e-3, "fs": 1e-6}
_CLOCK_NS = 10

_VIOLATION = re.compile(r"(priority|unique) case")
"""Icarus warns of a violated unique or priority case, which others report as an error."""

_OTHER = re.compile(r"(\[\d+\] [%-]|%|- |-Info|Aborting|pto: |\s*-?[\d.]+ns )")
"""Begins a line of Verilator's log that continues no message."""

_LAST = re.compile(
    r"(?i)%?(error|fatal|warning)\b|pto: |terminate called|segmentation|assert|abort|vvp|"
    r"\S*(error|exception)\b[^ ]*:|internal|out of memory|no space|cannot|unable|failed|\*E,|\*F,"
)


class MessageReader:
    """Reads a log while it grows.

    Args:
        sim: The simulator.
        log: Its log, which need not exist yet.
        sources: Files of the design; the simulator may give a name without its folder.
        expected: Parts of the texts of errors and warnings that are expected.
    """

    def __init__(
        self, sim: str, log: Path, sources: Iterable[str] = (), expected: Sequence[str] = ()
    ) -> None:
        self._formats = _FORMATS.get(sim, ())
        self._verilator = sim == "verilator"
        self._log = log
        self._expected = expected
        self._at = 0
        self._rest = b""
        self._open: dict[str, str] | None = None
        self._tail: re.Pattern[str] | None = None
        self._found: dict[tuple[str, str, int, bool], DesignMessage] = {}
        self._past: tuple[str, int] = ("", 0)
        self.ticks = CLOCK_TICKS
        names: dict[str, set[str]] = {}
        for source in sources:
            names.setdefault(Path(source).name, set()).add(source)
        self._paths = {name: paths.pop() for name, paths in names.items() if len(paths) == 1}

    def read(self, *, ended: bool = False) -> None:
        """Reads what was added to the log; ``ended`` if nothing will be added any more."""
        try:
            with self._log.open("rb") as file:
                file.seek(self._at)
                data = file.read()
        except OSError:
            data = b""
        self._at += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if ended and self._rest:
            lines.append(self._rest)
        for line in lines:
            self._line(line.decode(errors="replace").rstrip("\r"))
        if ended:
            self._close()

    @property
    def messages(self) -> list[DesignMessage]:
        """The messages so far, those of one place as one, in the order of the first of each."""
        return list(self._found.values())

    @property
    def stopped(self) -> bool:
        """Whether the design has stopped the simulation; Verilator goes on."""
        return any(one.severity == "$stop" for one in self._found.values())

    @property
    def failed(self) -> int:
        """Number of messages that fail the run."""
        return sum(one.count for one in self._found.values() if one.fails)

    def _line(self, line: str) -> None:
        if self._open is not None:
            if self._tail is not None and (match := self._tail.match(line)):
                self._open |= {key: value or "" for key, value in match.groupdict().items()}
                self._close()
                return
            if not self._begins(line) and not (self._verilator and _OTHER.match(line)):
                if self._open["text"].count("\n") < MOST_LINES:
                    self._open["text"] += f"\n{line}"
                return
            self._close()
        for one in self._formats:
            if match := one.head.match(line):
                self._open = {key: value or "" for key, value in match.groupdict().items()}
                self._tail = one.tail
                if one is _ENDS:
                    self._close()
                return

    def _begins(self, line: str) -> bool:
        return any(one.head.match(line) for one in self._formats)

    def _close(self) -> None:
        """Adds the message that was read."""
        fields, self._open = self._open, None
        if fields is None:
            return
        severity = _SEVERITIES[fields["severity"].lower()]
        text, file, line = fields["text"].strip(), fields.get("file", ""), fields.get("line") or "0"
        name = Path(file).name
        if severity == "$stop" and self._past == (name, int(line)):
            return  # of Verilator, after the message of an error
        self._past = (name, int(line))
        if _VIOLATION.search(text) and severity == "warning":
            severity = "error"
        message = DesignMessage(
            severity=severity,
            text=text,
            file=self._paths.get(name, file),
            line=int(line),
            scope=fields.get("scope", "").strip("-"),
            clock=self._clock(fields),
            expected=severity in ("warning", "error") and any(x in text for x in self._expected),
        )
        key = (severity, message.file, message.line, message.expected)
        if key in self._found:
            self._found[key].count += 1
        elif message.fails or len(self._found) < MOST_KINDS:
            self._found[key] = message

    def _clock(self, fields: dict[str, str]) -> int:
        time = fields.get("time")
        if not time:
            return 0
        if unit := fields.get("unit", "").lower():
            return int(float(time) * _UNITS[unit] / _CLOCK_NS)
        return int(time) // self.ticks


def last_words(log: str) -> str:
    """Returns the lines of a log on the end of a simulator: of errors, or else the last."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    found = [line for line in _without_tables(lines) if _LAST.match(line.lstrip())]
    return "\n".join((found or lines)[-MOST_LINES:])


def _without_tables(lines: Iterable[str]) -> Iterator[str]:
    """Yields lines that are not of cocotb's own reports."""
    return (line for line in lines if not re.match(r"\s*(-?[\d.]+ns (INFO|DEBUG)|\*\*)", line))
