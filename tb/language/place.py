# SPDX-License-Identifier: Apache-2.0
"""Places in a program, and errors with their place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from tb.common.errors import PtoError


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a program.

    Attributes:
        place: Where the op, or the part of it that is wrong, begins.
        op: Name as written, such as ``pto.mte_gm_ub``; empty where no op is concerned.
        rule: Rule of the specification, such as ``DMA-L05`` or ``A-14``; empty where none covers
            it: syntax, types, values that are not known.
        message: A sentence with the offending value.
        legal: The legal range or set, or empty.
        condition: Condition under which it happens, where that is not known; else empty.
        ours: Whether it is a rule that the compiler does not check.
        severity: ``error``, or ``warning`` for what does not stop a program.
        undefined: Whether the compiler accepts the text, whose result is undefined.
    """

    place: Place
    op: str
    rule: str
    message: str
    legal: str = ""
    condition: str = ""
    ours: bool = False
    severity: Literal["error", "warning"] = field(default="error", kw_only=True)
    undefined: bool = field(default=False, kw_only=True)

    @property
    def sentence(self) -> str:
        """The message with its condition."""
        return f"{self.message}, {self.condition}" if self.condition else self.message

    def __str__(self) -> str:
        words = [f"{self.place}: {self.severity}:"]
        if self.op:
            words.append(f"{self.op}:")
        if self.rule:
            words.append(f"{self.rule}:")
        words.append(self.sentence)
        lines = [" ".join(words)]
        lines += [f"  legal: {self.legal}"] if self.legal else []
        if self.undefined:
            lines.append("  note: the compiler accepts this, and the result is undefined")
        elif self.ours:
            lines.append("  note: the compiler does not check this")
        return "\n".join(lines)


def judged(
    found: Iterable[Finding], *, strict: bool = False
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Returns errors and warnings, each once, in the order of the text.

    ``strict`` makes every warning an error.
    """
    parts: dict[str, list[Finding]] = {"error": [], "warning": []}
    for one in dict.fromkeys(replace(x, severity="error") if strict else x for x in found):
        parts[one.severity].append(one)
    errors, warnings = (
        tuple(sorted(part, key=lambda x: (x.place.line, x.place.column))) for part in parts.values()
    )
    return errors, warnings


class ProgramError(PtoError):
    """A program that cannot be used; nothing of it has run."""

    def __init__(self, findings: tuple[Finding, ...], *, remedy: str = "") -> None:
        """Takes what is wrong, in the order of the text."""
        super().__init__("\n".join(map(str, findings)), remedy=remedy)
        self.findings = findings


def refuse(
    place: Place, message: str, *, op: str = "", rule: str = "", legal: str = ""
) -> ProgramError:
    """Returns the error of one finding."""
    return ProgramError((Finding(place, op, rule, message, legal),))
