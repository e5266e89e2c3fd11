# SPDX-License-Identifier: Apache-2.0
"""Small programs, legal and illegal, written from the specification and the seeds alone.

Each file begins with comments that say what is expected of it:

    // expect: legal
    // expect: FIX-L08 at 9:5
    // expect: DMA-L03|type at 6:5
    Words on what is tested.
    // with: --foreign skip --arg 1=4096 --run

Behind ``expect`` stand the rules or words, one of which fits, and the place of the first finding:
line and column, or the line where the specification leaves open what exactly is pointed at, or
nothing where the place may be one of several. ``--run`` asks for every value, as a run does;
without it the file is checked as by ``pto-dv verify``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tb.isa.rules import RULES
from tb.language.order.order import order
from tb.language.place import Finding, ProgramError
from tb.language.reader import read_file
from tb.language.rules.check import check
from tb.language.run.walk import trace
from tb.language.trace import Argument
from tb.language.verify import verify_file

FOLDER = Path(__file__).parent

WORDS: dict[str, str] = {
    "syntax": r"expected|no clause|no SSA value|takes|too late|parts|none of its modes|end of file"
    r"|lacks|mode|missing",
    "type": r"type",
    "range": r"out of range|capacity|ends at|holds",
    "undefined": r"not defined|could not be found",
    "name": r"is unknown",
    "defined-twice": r"defined twice",
    "unknown-op": r"unknown op|no op|foreign|not run",
    "foreign": r"foreign",
    "space": r"space|memory",
    "element": r"element type",
    "function": r"function|symbol",
    "segments": r"operandSegmentSizes",
    "not-constant": r"not known",
    "unbounded": r"step of the loop|runs too long|nested deeper|without (a )?bound",
    "zero": r"divided by 0",
    "hazard": r"hazard",
    "deadlock": r"deadlock",
    "flag": r"flag|event",
    "pipe": r"pipe",
    "ub-sub": r"ub_sub",
    "cube": r"elements of|L0A|L0B|L0C|l0a|l0b|l0c",
}
"""What the message of a finding without a rule says, by the word of ``expect``."""

HAZARD = "A-14"
"""What two ops of one pipe without a barrier between them are undefined by."""

LOOP_GROUPS = "A-08"
"""How many loop groups an op has at most."""


@dataclass(frozen=True)
class Case:
    """A file and what is expected of it.

    Attributes:
        path: The file.
        wanted: Rules and words of ``expect``; ``("legal",)`` for a legal one.
        line, column: Place of the first finding; 0 where it is left open.
        options: What stands behind ``with``.
        text: The whole file.
    """

    path: Path
    wanted: tuple[str, ...]
    line: int
    column: int
    options: tuple[str, ...]
    text: str = field(repr=False)

    @property
    def name(self) -> str:
        """Folder and name, without the ending."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def arguments(self) -> dict[int, int]:
        """Values of ``--arg``."""
        pairs = (word.partition("=") for word in self.options if re.fullmatch(r"\d+=-?\d+", word))
        return {int(number): int(value) for number, _, value in pairs}

    def known(self, argument: Argument) -> int | None:
        """Returns the value of an argument, None where none is given."""
        return self.arguments.get(argument.number)


def read_case(path: Path) -> Case:
    """Returns a file of the corpus.

    Raises:
        ValueError: its first lines are not as they should be.
    """
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    first = re.fullmatch(r"// expect: ([^ ]+)(?: at (\d+)(?::(\d+))?)?", lines[0])
    if first is None or not lines[1].startswith("// ") or lines[1].startswith("// with:"):
        raise ValueError(f"{path}: two comments begin a file: what is expected, and what is tested")
    wanted = tuple(first[1].split("|"))
    known = {*WORDS, *RULES, HAZARD, LOOP_GROUPS, "legal"}
    if not known.issuperset(wanted) or (wanted == ("legal",)) != (path.parent.name == "legal"):
        raise ValueError(f"{path}: {first[1]!r} is nothing to expect here")
    options = next((x.removeprefix("// with:").split() for x in lines if "// with:" in x), [])
    return Case(path, wanted, int(first[2] or 0), int(first[3] or 0), tuple(options), text)


def cases() -> list[Case]:
    """Returns the whole corpus, sorted."""
    return [read_case(path) for path in sorted(FOLDER.glob("*/*.pto"))]


def findings(case: Case) -> list[Finding]:
    """Returns what the tools find in a file, in the order of the text."""
    foreign: Literal["skip", "refuse"] = "skip" if "--foreign" in case.options else "refuse"
    if "--run" not in case.options:
        return [*verify_file(case.path, known=case.known, foreign=foreign).findings]
    found: list[Finding] = []
    try:
        source = read_file(case.path, found)
        steps = trace(source, arguments=case.arguments, foreign=foreign)
        found += [*steps.findings, *check(steps), *order(steps).findings]
    except ProgramError as error:
        found += error.findings
    return sorted(found, key=lambda x: (x.place.line, x.place.column))


def fits(wanted: tuple[str, ...], finding: Finding) -> bool:
    """Tells whether a finding is one of those expected."""
    if finding.rule in wanted:
        return True
    words = [word for word in wanted if word in WORDS]
    return not finding.rule and any(re.search(WORDS[word], finding.message) for word in words)
