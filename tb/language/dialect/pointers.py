# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that make pointers."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.lexer import Span

from tb.language.dialect.types import PtrType, is_integer, pointer_of, type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.parser.syntax import Scanner


def operand(parser: Parser, scanner: Scanner) -> UnresolvedOperand:
    """Reads an SSA value."""
    if scanner.kind != "value":
        scanner.fail(f"expected an SSA value, found {scanner.found()}")
    name, _, index = scanner.value.partition("#")
    span = Span(scanner.at, scanner.at + len(name), parser.lexer.input)
    scanner.advance()
    return UnresolvedOperand(span, int(index or 0))


def known_type(parser: Parser, operand: UnresolvedOperand) -> Attribute:
    """Returns the type of a value that is defined."""
    values = parser.ssa_values.get(operand.operand_name)
    if values is None or operand.index >= len(values):
        return i64
    return values[operand.index].type


class CastPtrOp(Operation):
    """``%p = pto.castptr %x : T -> U``: between integers and pointers, or pointers of one space."""

    name = "pto.castptr"
    traits = traits_def()

    @property
    def source(self) -> SSAValue:
        """The operand."""
        return self.operands[0]

    @classmethod
    def parse(cls, parser: Parser) -> CastPtrOp:
        """Reads the text after the name."""
        scanner = Scanner(parser)
        taken = operand(parser, scanner)
        attributes = scanner.attribute_dictionary()
        scanner.expect(":", "and the type of the operand of pto.castptr")
        source = scanner.type()
        scanner.expect("->", "and the type of the result of pto.castptr")
        result = scanner.type()
        attributes |= scanner.attribute_dictionary()
        scanner.close()
        value = parser.resolve_operand(taken, source)
        op = cls.create(operands=[value], result_types=[result], attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses operands and types that it cannot have."""
        if len(self.operands) != 1 or len(self.results) != 1:
            raise OpError(Fault("takes one operand and has one result"))
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


class AddPtrOp(Operation):
    """``%q = pto.addptr %p, %n : T``: the pointer ``n`` elements on."""

    name = "pto.addptr"
    traits = traits_def()

    @property
    def pointer(self) -> SSAValue:
        """Where it starts."""
        return self.operands[0]

    @property
    def offset(self) -> SSAValue:
        """Elements to go on."""
        return self.operands[1]

    @classmethod
    def parse(cls, parser: Parser) -> AddPtrOp:
        """Reads ``%p, %n : T``, ``: T, index``, ``: T -> T`` or ``: T, index -> T``."""
        scanner = Scanner(parser)
        pointer = operand(parser, scanner)
        scanner.expect(",", "and the offset of pto.addptr")
        offset = operand(parser, scanner)
        attributes = scanner.attribute_dictionary()
        scanner.expect(":", "and the type of the pointer of pto.addptr")
        kind = scanner.type()
        count = scanner.type() if scanner.take(",") else known_type(parser, offset)
        result = scanner.type() if scanner.take("->") else kind
        attributes |= scanner.attribute_dictionary()
        scanner.close()
        values = [parser.resolve_operand(pointer, kind), parser.resolve_operand(offset, count)]
        op = cls.create(operands=values, result_types=[result], attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses operands and types that it cannot have."""
        if len(self.operands) != 2 or len(self.results) != 1:
            raise OpError(Fault("takes a pointer and an offset and has one result"))
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
