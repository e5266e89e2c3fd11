# SPDX-License-Identifier: Apache-2.0
"""Small programs, legal and illegal, written from the specification and the seeds alone.

A file holds the cases of one family of rules, each from its ``// case`` to the next one. A case of
``illegal/`` names the expected finding above the line that causes it; one of ``legal/`` has none:

    // case bt_l01_narrow: One sentence on the subject of the test, in this line or the next one.
    // with: --foreign skip --arg 1=4096 --run
    // also: DMA-L15
    // expected: DMA-L03|type @below:1
    pto.mte_l1_bt %src, %dst, %c1 nburst(%c4, %c0, %c0) : F16_L1, F16_BT, I64x4

``expected`` lists rules or words, one of which fits the first finding, and its place: the line
below with a column, without one where the specification does not fix it, or no ``@below`` where the
place may be one of several. ``warns`` is the same of a warning. ``says`` and facts of the message
may follow, then ``legal`` and facts of the legal range. ``with: --profile=a5``,
``--ubuf-to-ubuf=blocks``, ``--hazard=error`` and ``--strict`` are as of ``pto-dv verify``.
``also`` lists rules or words of further findings.
``--run`` requires every value, as a run does; without it the case is checked as by ``pto-dv
verify``. :mod:`tests.language.corpus.short` supplies the module, function and values that a case
omits, and has its short names of types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tb.isa.profile import SEED, Profile, parse_profile, using
from tb.isa.rules import RULES
from tb.language.order.order import order
from tb.language.order.verdict import Hazard, hazard_option
from tb.language.place import Finding, ProgramError, judged
from tb.language.reader import read_file
from tb.language.rules.check import check
from tb.language.run.walk import trace
from tb.language.trace import Argument
from tb.language.verify import verify_file
from tests.language.corpus.short import complete
from tests.wording import says

FOLDER = Path(__file__).parent

WORDS: dict[str, str] = {
    "syntax": r"expected|no clause|not an SSA value|takes|too late|parts|none of its modes"
    r"|end of file|lacks|mode|missing|terminator",
    "type": r"type",
    "literal": r"is larger than|has more bits|closing|signless",
    "count": r"has \d+ results|are needed|has no results",
    "bound": r" is -?\d+(: clocks, 0 and above)?$",
    "operand": r"is not an operand|no operand named",
    "pointer-space": r"pointer is in \w+$",
    "width": r"byte width|element widths of|pairs of 4 bits|^elements are",
    "mixed": r"cannot be mixed",
    "requires": r"form requires",
    "no-operands": r"has no operands",
    "twice": r"twice|exclude each other",
    "transpose": r"^transpose is",
    "aligned": r"address is 0x",
    "tf32": r"tf32_mode is",
    "saturation": r"^(no)?sat is on",
    "bit": r"bit \d+ of a word",
    "range": r"out of range|capacity|ends at|holds|before the buffer",
    "undefined": r"not defined|could not be found",
    "name": r"is unknown",
    "unknown-type": r"type (!pto\.\w+|'f17') .*is unknown",
    "defined-twice": r"defined twice",
    "unknown-op": r"unknown op|no op|foreign|not run",
    "foreign": r"foreign",
    "space": r"space|memory",
    "element": r"element type",
    "function": r"function|symbol|has no body",
    "segments": r"operandSegmentSizes",
    "sizes": r"operandSegmentSizes of length 9 .* of length 10 and 6 operands",
    "groups": r"operandSegmentSizes of length 4 .* 12 groups and 4 operands",
    "not-constant": r"not known",
    "vector-interval": r"a vector interval holds no op that orders",
    "not-executed": r"not executed",
    "out-of-ids": r"(id|mode|number) is -?\d+",
    "other-pipe": r"signals to no core",
    "core-words": r"core_type is",
    "takes-none": r"its block has arguments",
    "of-outside": r"is a value of outside",
    "unbounded": r"step of the loop|runs too long|nested deeper|without (a )?bound",
    "zero": r"divided by 0",
    "hazard": r"hazard",
    "deadlock": r"deadlock",
    "flag": r"flag|event",
    "pipe": r"pipe",
    "ub-sub": r"ub_sub",
    "known": r"known and not executed",
    "scope": r"a vector interval holds no op that orders",
    "cube": r"elements of|L0A|L0B|L0C|l0a|l0b|l0c",
}
"""Patterns of the message of a finding without a rule, by the word of ``expected``."""

PRODUCT_RULES = ("MD-L01", "MD-L02", "MD-L03", "MD-L04")
"""Rules of the ops of the matrix unit (docs/spec/l0_loads.md, section 6)."""

HAZARD = "A-14"
"""Assumption about two ops of one pipe without a barrier between them."""

SYNC_RULES = ("FL-01", "FL-02", "BF-03", "BF-06")
"""Rules of flags and buffers (docs/spec/order_and_atomics.md, sections 2 and 3)."""

LOOP_GROUPS = "A-08"
"""Largest number of loop groups of an op."""


_EXPECTABLE = {*WORDS, *RULES, *SYNC_RULES, *PRODUCT_RULES, HAZARD, LOOP_GROUPS}
BEGIN = re.compile(r"^(?=// case )", re.MULTILINE)
HEAD = re.compile(r"// case (\S+):(?: |\n// )(?!expected:|warns:|with:|also:)\S.*\n")
EXPECTED = re.compile(
    r" *// (?:expected|(warns)): (\S+)(?: (@below)(?::(\d+))?)?(?: says (.+?))?(?: legal (.+))?"
)
NAME = re.compile(r'"?(pto\.[\w.]+)')
FLAGS = {
    "pto.set_flag_dyn": "pto.set_flag",
    "pto.wait_flag_dyn": "pto.wait_flag",
    "pto.wait_event": "pto.wait_flag",
}
"""Names of computed flags and events in findings on their order."""


@dataclass(frozen=True)
class Case:
    """A program of the corpus and its expected findings.

    Attributes:
        path: The file.
        start: Line of the file where the case begins.
        name: Folder and name.
        expected: Rules and words of ``expected`` or ``warns``; empty for a legal case.
        also: Rules or words of the other findings, in their order.
        line, column: Place of the first finding in the file; 0 where any is right.
        facts: What its message says (:mod:`tests.wording`).
        legal: What its legal range says.
        warns: The first finding is a warning.
        options: Words of ``with``.
        text: The whole program: the case with what it omits.
        before: Number of lines of ``text`` that precede those of the file.
    """

    path: Path
    start: int
    name: str
    expected: tuple[str, ...]
    also: tuple[str, ...]
    line: int
    column: int
    options: tuple[str, ...]
    text: str = field(repr=False)
    before: int = 0
    facts: str = ""
    legal: str = ""
    warns: bool = False

    @property
    def lines(self) -> list[str]:
        """The lines of ``text``, of which the first is line ``start`` of the file."""
        return self.text.replace("\n", " ", self.before).split("\n")

    @property
    def arguments(self) -> dict[int, int]:
        """Values of ``--arg``."""
        pairs = (word.partition("=") for word in self.options if re.fullmatch(r"\d+=-?\d+", word))
        return {int(number): int(value) for number, _, value in pairs}

    @property
    def profile(self) -> Profile:
        """Profile of ``--profile=``, that of the seed documents without one."""
        names = [x.partition("=")[2] for x in self.options if x.startswith("--profile=")]
        return parse_profile(names[0]) if names else SEED

    @property
    def hazard(self) -> Hazard:
        """Verdict of ``--hazard=`` on hazards."""
        found = [x.partition("=")[2] for x in self.options if x.startswith("--hazard=")]
        return hazard_option(*found) if found else ""

    @property
    def unit(self) -> Literal["bytes", "blocks"]:
        """Operands of ``copy_ubuf_to_ubuf``."""
        return "blocks" if "--ubuf-to-ubuf=blocks" in self.options else "bytes"

    def known(self, argument: Argument) -> int | None:
        """Returns the value of an argument, None where none is given."""
        return self.arguments.get(argument.number)


def read_case(path: Path, start: int, text: str) -> Case:
    """Returns one case of a file.

    Raises:
        ValueError: its comments are wrong.
    """
    where = f"{path}:{start}"
    if (head := HEAD.match(text)) is None:
        raise ValueError(f"{where}: a case begins with its name and one sentence on its subject")
    name, lines = head[1], text.splitlines()
    comments = lines[head[0].count("\n") :]
    if odd := [x for x in comments if re.match(r"// (?!expected:|warns:|with:|also:)\w+:", x)]:
        raise ValueError(f"{where}: {odd[0]!r} is not case, expected, warns, with or also")
    heads = {}
    for comment in comments:
        if (head := re.match(r"// (expected|warns|with|also):", comment)) is None:
            break
        heads[head[1]] = tuple(comment[head.end() :].split())
    found = [
        (number, EXPECTED.fullmatch(x))
        for number, x in enumerate(lines)
        if re.search("// (exp|warns)", x)
    ]
    if len(found) != (path.parent.name == "illegal"):
        raise ValueError(f"{where}: a case expects one finding in illegal/ and none in legal/")
    none: tuple[str, ...] = ()
    expected, line, column, facts, legal, warns = none, 0, 0, "", "", False
    for number, words in found:
        if words is None or not {*words[2].split("|")} <= _EXPECTABLE:
            raise ValueError(f"{path}:{start + number}: {lines[number]!r} cannot be expected")
        expected, warns = tuple(words[2].split("|")), bool(words[1])
        line, column = start + number + 1 if words[3] else 0, int(words[4] or 0)
        facts, legal = words[5] or "", words[6] or ""
    options, also = heads.get("with", none), heads.get("also", none)
    program, before = complete(name, text)
    name = f"{path.parent.name}/{name}"
    return Case(
        path,
        start,
        name,
        expected,
        also,
        line,
        column,
        options,
        program,
        before,
        facts,
        legal,
        warns,
    )


def read_cases(path: Path) -> list[Case]:
    """Returns the cases of a file."""
    found, start = [], 1
    for text in filter(None, BEGIN.split(path.read_text(encoding="utf-8"))):
        found.append(read_case(path, start, text))
        start += text.count("\n")
    return found


def cases() -> list[Case]:
    """Returns the whole corpus, sorted."""
    return [case for path in sorted(FOLDER.glob("*/*.pto")) for case in read_cases(path)]


def parts(chosen: list[Case], size: int = 15) -> dict[str, list[Case]]:
    """Returns the cases of each file, by file and number, in lists short enough for one test."""
    files: dict[str, list[Case]] = {}
    for case in chosen:
        files.setdefault(f"{case.path.parent.name}/{case.path.stem}", []).append(case)
    return {
        f"{name}-{start // size}": found[start : start + size]
        for name, found in files.items()
        for start in range(0, len(found), size)
    }


def findings(case: Case, folder: Path) -> list[Finding]:
    """Returns the errors and warnings of the tools in a case, in the order of the text.

    The case is written to a separate file in ``folder``, after as many empty lines as precede
    it in the corpus, and what the case omits into its first line: the lines of the findings are
    those of the corpus file.
    """
    path = folder / case.path.name
    path.write_bytes(("\n" * (case.start - 1) + "\n".join(case.lines)).encode())
    with using(case.profile):
        return _found(case, path)


def _found(case: Case, path: Path) -> list[Finding]:
    foreign: Literal["skip", "refuse"] = "skip" if "--foreign" in case.options else "refuse"
    unit, strict = case.unit, "--strict" in case.options
    found: list[Finding] = []
    if "--run" not in case.options:
        known, hazard = case.known, case.hazard
        verified = verify_file(
            path, known=known, foreign=foreign, ubuf_to_ubuf=unit, hazard=hazard, strict=strict
        )
        found += (*verified.findings, *verified.warnings)
        return sorted(found, key=lambda x: (x.place.line, x.place.column))
    try:
        source = read_file(path, found)
        steps = trace(source, arguments=case.arguments, foreign=foreign, ubuf_to_ubuf=unit)
        sequence = order(steps, hazard=case.hazard)
        found += [*steps.findings, *check(steps), *sequence.findings, *sequence.warnings]
    except ProgramError as error:
        found += error.findings
    errors, warnings = judged(found, strict=strict)
    return sorted((*errors, *warnings), key=lambda x: (x.place.line, x.place.column))


def fits(expected: tuple[str, ...], finding: Finding) -> bool:
    """Returns whether a finding is one of those expected."""
    if finding.rule in expected:
        return True
    words = [word for word in expected if word in WORDS]
    message = finding.message.replace(finding.place.file, "")
    return not finding.rule and any(re.search(WORDS[word], message) for word in words)


def names_its_op(case: Case, finding: Finding) -> bool:
    """Returns whether a finding names the op at its place, if there is one."""
    line, at = finding.place.line - case.start, finding.place.column - 1
    op = NAME.match(case.lines[line], at) if 0 <= line < len(case.lines) else None
    if op is None or finding.message.startswith(op[1]):
        return True
    return finding.op in (op[1], FLAGS.get(op[1]))


def complaint(case: Case, found: list[Finding]) -> str:
    """Returns the difference between expected and real findings, with its place; empty if none."""
    first = found[0] if found else None
    others = [finding for finding in found if not fits(case.expected, finding)]
    wrong = ""
    if case.expected and first is None:
        wrong = "no finding"
    elif case.expected and first is not None and not fits(case.expected, first):
        wrong = "another finding first"
    elif first is not None and case.expected and (first.severity == "warning") != case.warns:
        wrong = f"a finding of severity {first.severity}"
    elif first is not None and case.line not in (0, first.place.line):
        wrong = "another line"
    elif first is not None and case.column not in (0, first.place.column):
        wrong = f"another column than {case.column}"
    elif first is not None and case.facts and not says(first.message, case.facts):
        wrong = f"another message than {case.facts}"
    elif first is not None and case.legal and not says(first.legal, case.legal):
        wrong = f"another legal range than {case.legal}"
    elif not all(names_its_op(case, finding) for finding in found):
        wrong = "another op"
    elif not all(finding.message.strip() for finding in found):
        wrong = "a finding without a message"
    elif len(others) != len(case.also) or not all(
        fits((word,), finding) for word, finding in zip(case.also, others, strict=True)
    ):
        wrong = "other findings"
    if not wrong:
        return ""
    expected = " or ".join(case.expected) or "no finding"
    where = f"{case.path}:{case.line or case.start}: {case.name}"
    return "\n".join([f"{where}: expected {expected}, got {wrong}:", *map(str, found)])
