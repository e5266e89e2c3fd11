# SPDX-License-Identifier: Apache-2.0
"""Reads ``.pto`` text: an xdsl module, and the place of each op."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError

from tb.common.errors import PtoError
from tb.common.files import regular
from tb.language.collector import collector_off
from tb.language.dialect.ops import written
from tb.language.grammar.fault import Fault
from tb.language.grammar.tokens import TextError
from tb.language.grammar.written import Written
from tb.language.parser.messages import fault_of
from tb.language.parser.parser import ProgramParser, StoppedError
from tb.language.place import Finding, Place, ProgramError

__all__ = ["Source", "Written", "read", "read_file", "written"]

MAX_BYTES = 64 << 20
"""Longest file that is read; compilers' output is far below."""

ARCHITECTURE = "a5"
"""The value of ``pto.target_arch`` whose ops and rules these are."""

_ARCHITECTURE = re.compile(
    r'//[^\n]*|(?P<key>\bpto\.target_arch)"?\s*=\s*"(?P<name>[^"\n]*)"', re.ASCII
)


@dataclass(frozen=True)
class Source:
    """A program that was read.

    Attributes:
        module: The ops; :func:`written` and the classes of :mod:`tb.language.dialect.others`
            distinguish their meaning.
        file: Name of the file.
        text: Its text.
        offsets: Offset of the name of each op; :meth:`place` converts them to lines and columns.
        notes: Remarks on text that is read and is odd: older forms, unknown attributes.
        warnings: Modules of another architecture.
    """

    module: ModuleOp
    file: str
    text: str
    offsets: dict[Operation, int] = field(repr=False)
    lines: tuple[int, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    warnings: tuple[Finding, ...] = ()

    def place(self, op: Operation) -> Place:
        """Returns the place of the name of an op; of one that is not in the text, its parent's."""
        at: Operation | None = op
        while at is not None and at not in self.offsets:
            at = at.parent_op()
        return place_of(self.file, self.lines, self.offsets[at] if at else 0)

    def functions(self) -> list[FuncOp]:
        """Returns every function in the order of the text, declarations included."""
        return self._functions

    @cached_property
    def _functions(self) -> list[FuncOp]:
        return [op for op in self.module.walk() if isinstance(op, FuncOp)]

    @cached_property
    def bodies(self) -> dict[str, FuncOp]:
        """Functions with a body by name; of two modules of a file after that of their module."""
        found = [each for each in self._functions if each.body.blocks]
        count = Counter(each.sym_name.data for each in found)
        return {
            each.sym_name.data if count[each.sym_name.data] == 1 else _in_module(each): each
            for each in found
        }

    def callee(self, call: Operation) -> FuncOp | None:
        """Returns the function that an op calls: that of the innermost module which has one."""
        callee = call.properties.get("callee", call.attributes.get("callee"))
        if not isinstance(callee, SymbolRefAttr):
            return None
        name, outer = callee.root_reference.data, call.parent_op()
        while outer is not None:
            if isinstance(outer, ModuleOp):
                for each in outer.ops:
                    if isinstance(each, FuncOp) and each.sym_name.data == name:
                        return each
            outer = outer.parent_op()
        return None


def _in_module(function: FuncOp) -> str:
    module = function.parent_op()
    name = module.sym_name if isinstance(module, ModuleOp) else None
    return f"{name.data}.{function.sym_name.data}" if name else function.sym_name.data


def line_starts(text: str) -> tuple[int, ...]:
    """Returns the offset at which each line begins."""
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return tuple(starts)


def place_of(file: str, lines: tuple[int, ...], offset: int) -> Place:
    """Returns an offset as line and column, which count from 1."""
    line = bisect_right(lines, offset)
    return Place(file, line, offset - lines[line - 1] + 1)


def _other_architectures(text: str, file: str, lines: tuple[int, ...]) -> tuple[Finding, ...]:
    """Returns a warning for each architecture but A5 that a text names, at its first place."""
    found: dict[str, Finding] = {}
    if "target_arch" not in text:
        return ()
    for match in _ARCHITECTURE.finditer(text):
        name = match["name"]
        if name is not None and name.lower() != ARCHITECTURE:
            message = (
                f'pto.target_arch is "{name}": the text is judged and executed by the rules of '
                f"{ARCHITECTURE}, whose ops and limits may be others"
            )
            place, legal = place_of(file, lines, match.start("key")), f'"{ARCHITECTURE}"'
            one = Finding(place, "module", "", message, legal, severity="warning")
            found.setdefault(name, one)
    return tuple(found.values())


@collector_off()
def read(text: str, file: str, findings: list[Finding] | None = None) -> Source:
    """Reads a program.

    Rules that the text of one op breaks are collected, and reading continues with the next op.

    Args:
        text: The program.
        file: Name that places have.
        findings: Takes broken rules instead of an error; the ops that break them are then
            ``pto_dv.broken`` in the module. Other errors are raised all the same.

    Raises:
        ProgramError: syntax, undefined values, types, unknown ops, and broken rules of text.
    """
    lines = line_starts(text)
    nul = text.find("\0")
    if nul >= 0:
        where = place_of(file, lines, nul)
        raise ProgramError((Finding(where, "", "", "the file has a NUL character: not a text"),))
    if not text.strip():
        raise ProgramError((Finding(Place(file, 1, 1), "", "", "the file is empty"),))
    warnings = _other_architectures(text, file, lines)
    parser = ProgramParser(text, file)
    faults: list[tuple[str, Fault]] = parser.faults
    module = None
    try:
        module = parser.read_module()
    except (TextError, ParseError) as error:
        if not parser.lost:
            faults.append(("", fault_of(error)))
    except RecursionError:
        message = "it is nested too deeply to be read"
        faults.append(("", Fault(message, at=parser.at)))
    except StoppedError:
        pass
    except Exception as error:
        # Any other exception of xdsl is reported as an error of the text.
        reason = " ".join(str(error).split()) or type(error).__name__
        faults.append(("", Fault(f"the parser cannot go on: {reason}", at=parser.at)))
    found = sorted(
        (
            Finding(place_of(file, lines, fault.at), name, fault.rule, fault.message, fault.legal)
            for name, fault in faults
        ),
        key=lambda x: (x.place.line, x.place.column, x.rule),
    )
    if found and (module is None or findings is None or not all(x.rule for x in found)):
        raise ProgramError((*found, *warnings))
    if findings is not None:
        findings += found
    assert module is not None, "a module that is missing has a finding"
    notes = (
        f"{place_of(file, lines, at)}: note: {name}: {message}"
        for name, message, at in sorted(parser.notes, key=lambda x: x[2])
    )
    return Source(module, file, text, parser.offsets, lines, tuple(notes), warnings)


def read_file(path: Path | str, findings: list[Finding] | None = None) -> Source:
    """Reads the program of a file; as :func:`read`.

    Raises:
        PtoError: the file cannot be read, is too long, or is not UTF-8.
        ProgramError: as :func:`read`.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise PtoError(
                f"{path} has {size} bytes: too long for a program",
                legal=f"at most {MAX_BYTES} bytes",
                remedy="split the program",
            )
        data = regular(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise PtoError(
            f"{path} cannot be read: {reason}",
            where=str(path),
            legal="a file with a program",
            remedy="name a .pto file that exists",
        ) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        where = Place(str(path), line, column)
        message = f"byte {data[error.start]:#04x} is not UTF-8: the file is not a text"
        raise ProgramError((Finding(where, "", "", message),)) from None
    return read(text, str(path), findings)
