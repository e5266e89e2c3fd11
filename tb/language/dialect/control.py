# SPDX-License-Identifier: Apache-2.0
"""Spellings of ``scf`` and ``arith`` ops that xdsl's own grammar does not have.

A single result type after ``->`` needs no parentheses, attributes may precede a body, and
``arith.select`` may name the type of its condition (spec/dialect.md, section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.arith import ExtUIOp, SelectOp, TruncFOp, TruncIOp, UIToFPOp
from xdsl.dialects.builtin import IndexType, i1
from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.dialects.utils import parse_assignment
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser


def _arrow_types(parser: Parser) -> list[Attribute]:
    """Reads ``-> (T, ...)`` or ``-> T`` if it is here."""
    if parser.parse_optional_punctuation("->") is None:
        return []
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else [*types]


def read_for(parser: Parser) -> ForOp:
    """Reads ``%i = %lo to %hi step %s [iter_args(%a = %b, ...) [-> types]] [: type] { ... }``.

    The type of the bounds may be before or after the values that the loop carries.
    """
    variable = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    lower = parser.parse_unresolved_operand()
    parser.parse_keyword("to")
    upper = parser.parse_unresolved_operand()
    parser.parse_keyword("step")
    step = parser.parse_unresolved_operand()
    kind: Attribute | None = _type(parser)
    carried, start, types = [], [], []
    position = parser.pos
    if parser.parse_optional_keyword("iter_args"):
        for argument, operand in parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_assignment(parser)
        ):
            carried.append(argument)
            start.append(operand)
        types = _arrow_types(parser)
        if len(types) != len(carried):
            parser.raise_error(
                f"{len(carried)} values are carried and {len(types)} types are written", position
            )
    kind = kind or _type(parser) or IndexType()
    bounds = [parser.resolve_operand(each, kind) for each in (lower, upper, step)]
    initial = parser.resolve_operands(start, types, position)
    arguments = [each.resolve(type_) for each, type_ in zip(carried, types, strict=True)]
    body = parser.parse_region((variable.resolve(kind), *arguments))
    block = body.block
    if not carried and (block.last_op is None or not isinstance(block.last_op, YieldOp)):
        block.add_op(YieldOp())
    made = ForOp(bounds[0], bounds[1], bounds[2], initial, body)
    made.attributes |= parser.parse_optional_attr_dict()
    return made


def _type(parser: Parser) -> Attribute | None:
    if parser.parse_optional_punctuation(":") is None:
        return None
    return parser.parse_type()


def read_if(parser: Parser) -> IfOp:
    """Reads ``%c [-> types] { ... } [else { ... }]``."""
    condition = parser.parse_operand(i1)
    types = _arrow_types(parser)
    then = IfOp.parse_region_with_yield(parser)
    other = None
    if parser.parse_optional_keyword("else") is not None:
        other = IfOp.parse_region_with_yield(parser)
    return IfOp(condition, types, then, other, parser.parse_optional_attr_dict())


def read_select(parser: Parser) -> SelectOp:
    """Reads ``%c, %a, %b : [i1,] type``."""
    operands = [parser.parse_unresolved_operand()]
    for _ in range(2):
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    condition: Attribute = i1
    kind = parser.parse_type()
    if parser.parse_optional_punctuation(",") is not None:
        condition, kind = kind, parser.parse_type()
    kinds = (condition, kind, kind)
    return SelectOp.create(
        operands=[parser.resolve_operand(*each) for each in zip(operands, kinds, strict=True)],
        result_types=[kind],
        attributes=attributes,
    )


def _cast(kind: type[Operation]) -> Callable[[Parser], Operation]:
    """Returns what reads ``%x [words] : type to type``; overflow flags and the like say nothing."""

    def read(parser: Parser) -> Operation:
        operand = parser.parse_unresolved_operand()
        while parser.parse_optional_identifier() is not None:
            if parser.parse_optional_punctuation("<") is not None:
                parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_identifier)
                parser.parse_punctuation(">")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        value = parser.resolve_operand(operand, source)
        return kind.create(
            operands=[value], result_types=[parser.parse_type()], attributes=attributes
        )

    return read


_CASTS = (TruncIOp, ExtUIOp, TruncFOp, UIToFPOp)

SPELLINGS: Mapping[str, Callable[[Parser], Operation]] = {
    "scf.for": read_for,
    "scf.if": read_if,
    "arith.select": read_select,
    **{kind.name: _cast(kind) for kind in _CASTS},
}
"""Ops that are read here instead of by xdsl."""
