# SPDX-License-Identifier: Apache-2.0
"""Ops of dialect arith that xdsl lacks."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class IndexCastUIOp(IRDLOperation):
    """``arith.index_castui``: between ``index`` and an integer, extended with zeros."""

    name = "arith.index_castui"
    input = operand_def(base(IntegerType) | base(IndexType))
    result = result_def(base(IntegerType) | base(IndexType))
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def verify_(self) -> None:
        """Refuses a cast that does not have ``index`` at exactly one side."""
        kinds = self.input.type, self.result.type
        if sum(isinstance(kind, IndexType) for kind in kinds) != 1:
            raise VerifyException(
                f"operand type {kinds[0]} and result type {kinds[1]} are cast incompatible"
            )
