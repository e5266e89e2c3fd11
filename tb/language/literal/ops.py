# SPDX-License-Identifier: Apache-2.0
"""Single ops, built without xdsl, which loads slowly: grammar and builder are those of programs."""

from __future__ import annotations

from tb.isa.text import AnyOp
from tb.language.grammar.written import Written
from tb.language.literal.statements import Names, element_types, error_of, split, statement
from tb.language.run.build import recipe
from tb.language.run.inputs import BuildError, Input, negative


def op_of(written: Written, *, ubuf_blocks: bool = False) -> AnyOp:
    """Returns the op of a statement.

    Args:
        written: The statement (:func:`tb.language.literal.statements.statement`).
        ubuf_blocks: As of :func:`tb.language.run.build.recipe`.

    Raises:
        PtoError: no op can be built of its operands.
    """
    try:
        made = recipe(written, lambda value: value.kind, ubuf_blocks=ubuf_blocks)
        op: AnyOp = made.make([_number(made.name, each) for each in made.inputs])
    except BuildError as error:
        raise error_of(written.name, error) from None
    return op


def _number(name: str, operand: Input) -> int:
    value: int = operand.value.number
    number = operand.taken(value)
    if number is None and operand.name == "byte_offset":  # RF-L03 is about its sum with dst.
        return value
    if number is None:
        raise negative(name, operand, value)
    return number


def ops_of(text: str, element: str = "") -> tuple[AnyOp, ...]:
    """Returns the ops of a text in the form of reports, which line ends or semicolons separate.

    Args:
        text: The ops.
        element: Element type, or those of source and destination, of ops without types.

    Raises:
        PtoError: the text is not an op, or a value or a type is not known.
    """
    names, kinds = Names({}), element_types(element)
    return tuple(op_of(statement(part, sub, names, kinds)) for part, sub in split(text))
