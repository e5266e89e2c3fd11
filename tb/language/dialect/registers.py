# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that read CTRL and change bits of a word."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import traits_def
from xdsl.parser import Parser

from tb.language.dialect.pointers import operand
from tb.language.dialect.types import is_signless, type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.parser.syntax import Scanner


class WordOp(Operation):
    """An op on words of 64 bits, with operands that are separated by commas and one result."""

    name = "pto.word"
    traits = traits_def()
    takes: ClassVar[int] = 0

    @classmethod
    def parse(cls, parser: Parser) -> WordOp:
        """Reads the operands, ``:``, and their types, ``->`` and that of the result."""
        scanner = Scanner(parser)
        operands = []
        for number in range(cls.takes):
            if number:
                scanner.expect(",", f"between the operands of {cls.name}")
            operands.append(operand(parser, scanner))
        attributes = scanner.attribute_dictionary()
        scanner.expect(":", f"and the types of {cls.name}")
        kinds: list[Attribute] = []
        for number in range(cls.takes):
            if number:
                scanner.expect(",", f"between the types of {cls.name}")
            kinds.append(scanner.type())
        if cls.takes:
            scanner.expect("->", f"and the type of the result of {cls.name}")
        result = scanner.type()
        attributes |= scanner.attribute_dictionary()
        scanner.close()
        values = [
            parser.resolve_operand(each, kind) for each, kind in zip(operands, kinds, strict=True)
        ]
        op = cls.create(operands=values, result_types=[result], attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses other types than i64."""
        if len(self.operands) != self.takes or len(self.results) != 1:
            raise OpError(Fault(f"takes {self.takes} operands and has one result"))
        for kind in (*(value.type for value in self.operands), self.results[0].type):
            if not is_signless(kind) or kind != i64:
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
