# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect on pointers and words: operands, their types, the type of the result."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def

from tb.common.text import counted
from tb.language.dialect.types import PtrType, is_integer, pointer_of, type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.parser.text import ProgramText, Use


def known_type(text: ProgramText, use: Use) -> Attribute:
    """Returns the type of a value that is defined."""
    values = text.ssa_values.get(use.name)
    if values is None or use.number >= len(values):
        return i64
    return values[use.number].type


class ValuesOp(Operation):
    """An op of the form ``%a, %b : T, U -> V``.

    Attributes:
        takes: Number of operands; without any the result follows the colon.
        usual: Type of the result where none is written: ``"first"`` is that of the first operand;
            nothing where it must be written, ``"none"`` where there is no result.
        short: Whether types of later operands may be left out.
    """

    name = "pto.values"
    traits = traits_def()
    takes: ClassVar[int] = 0
    usual: ClassVar[str] = "none"
    short: ClassVar[bool] = False

    @classmethod
    def read(cls, text: ProgramText) -> ValuesOp:
        """Reads the text after the name."""
        operands = []
        for number in range(cls.takes):
            if number:
                text.expect(",", f"and another operand of {cls.name}")
            operands.append(text.use())
        attributes = text.attribute_dictionary()
        text.expect(":", f"and the types of {cls.name}")
        kinds = []
        for number, one in enumerate(operands):
            if number and cls.short and text.value != ",":
                kinds.append(known_type(text, one))
                continue
            if number:
                text.expect(",", f"and another type of {cls.name}")
            kinds.append(text.type())
        results = cls._results(text, kinds)
        attributes |= text.attribute_dictionary()
        pairs = zip(operands, kinds, strict=True)
        values = [text.resolve(one, kind) for one, kind in pairs]
        op = cls.create(operands=values, result_types=results, attributes=attributes)
        op.verify_()
        return op

    @classmethod
    def _results(cls, text: ProgramText, kinds: list[Attribute]) -> list[Attribute]:
        if cls.usual == "none":
            return []
        if kinds and cls.usual and text.value != "->":
            return [kinds[0] if cls.usual == "first" else i64]
        if kinds:
            text.expect("->", f"and the type of the result of {cls.name}")
        return [text.type()]

    def verify_(self) -> None:
        """Refuses operands and types that it cannot have."""
        wanted = int(self.usual != "none")
        if len(self.operands) != self.takes or len(self.results) != wanted:
            operands, results = counted(self.takes, "operand"), counted(wanted, "result")
            raise OpError(Fault(f"takes {operands} and has {results}"))
        self.check()

    def check(self) -> None:
        """Refuses types that it cannot have."""


class CastPtrOp(ValuesOp):
    """``%p = pto.castptr %x : T -> U``: between integers and pointers, or pointers of one space."""

    name = "pto.castptr"
    takes, usual = 1, ""

    @property
    def source(self) -> SSAValue:
        """The operand."""
        return self.operands[0]

    def check(self) -> None:
        """Refuses types that it cannot have."""
        source, result = self.operands[0].type, self.results[0].type
        begin, end = pointer_of(source), pointer_of(result)
        known = begin is not None or is_integer(source)
        if isinstance(result, PtrType):
            fits = known
        else:
            fits = isinstance(source, PtrType) and is_integer(result)
        if not fits:
            raise OpError(
                Fault(
                    f"type mismatch: a cast from {type_name(source)} to {type_name(result)}",
                    legal="an integer and a pointer, or two pointers",
                )
            )
        if begin is not None and end is not None and begin.space != end.space:
            raise OpError(
                Fault(
                    f"a cast from space {begin.space} to space {end.space}: "
                    "a pointer stays in its memory",
                    legal=f"a pointer into {begin.space}",
                )
            )


class AddPtrOp(ValuesOp):
    """``%q = pto.addptr %p, %n : T``: the pointer ``n`` elements on; ``index`` may be written."""

    name = "pto.addptr"
    takes, usual, short = 2, "first", True

    def check(self) -> None:
        """Refuses types that it cannot have."""
        kind, count = (value.type for value in self.operands)
        if not isinstance(kind, PtrType) or not isinstance(count, IndexType):
            raise OpError(
                Fault(
                    f"type mismatch: {type_name(kind)} and an offset of {type_name(count)}",
                    legal="a pointer and an index",
                )
            )
        if self.results[0].type != kind:
            result = type_name(self.results[0].type)
            raise OpError(
                Fault(f"type mismatch: {type_name(kind)} plus an offset gives no {result}")
            )


class PtrToIntOp(ValuesOp):
    """``%n = pto.ptrtoint %p : <T, gm> -> i64``: the address of a pointer into GM."""

    name = "pto.ptrtoint"
    takes, usual = 1, "i64"

    def check(self) -> None:
        """Refuses what is not a pointer into GM, or no i64."""
        kind = self.operands[0].type
        if not isinstance(kind, PtrType):
            raise OpError(Fault(f"type mismatch: {type_name(kind)} is not a pointer"))
        if kind.data.space != "gm":
            raise OpError(Fault(f"pointer is in {kind.data.space}", legal="gm"))
        if self.results[0].type != i64:
            raise OpError(Fault(f"type mismatch: {type_name(self.results[0].type)}", legal="i64"))


class WordOp(ValuesOp):
    """An op on words of 64 bits."""

    name = "pto.word"
    usual = ""

    def check(self) -> None:
        """Refuses other types than i64."""
        for kind in (*(value.type for value in self.operands), self.results[0].type):
            if kind != i64:
                raise OpError(Fault(f"type mismatch: {type_name(kind)}", legal="i64"))


class GetCtrlOp(WordOp):
    """``%c = pto.get_ctrl : i64``."""

    name = "pto.get_ctrl"


class ClearBitOp(WordOp):
    """``%d = pto.sbitset0 %c, %bit : i64, i64 -> i64``."""

    name = "pto.sbitset0"
    takes = 2


class SetBitOp(WordOp):
    """``%d = pto.sbitset1 %c, %bit : i64, i64 -> i64``."""

    name = "pto.sbitset1"
    takes = 2
