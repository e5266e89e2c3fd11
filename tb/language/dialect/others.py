# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that move no data: queries, foreign ops, others."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import traits_def
from xdsl.traits import NoTerminator

from tb.language.dialect.ops import string
from tb.language.dialect.pointers import (
    AddPtrOp,
    CastPtrOp,
    ClearBitOp,
    GetCtrlOp,
    PtrToIntOp,
    SetBitOp,
)
from tb.language.dialect.scalars import (
    LoadDeviceOp,
    LoadScalarOp,
    StoreDeviceOp,
    StoreScalarOp,
)
from tb.language.dialect.sections import (
    CubeSectionOp,
    StrictVecScopeOp,
    VecScopeOp,
    VectorSectionOp,
)
from tb.language.dialect.sync import SYNC
from tb.language.dialect.types import OpaqueType, is_integer
from tb.language.foreign import moves_tiles
from tb.language.grammar.fault import Fault, OpError
from tb.language.parser.text import ProgramText


class BlockQueryOp(Operation):
    """``pto.get_block_idx`` and its like: ``value`` of the only block, which runs."""

    name = "pto.get_block"
    value = 0
    traits = traits_def()

    @classmethod
    def read(cls, text: ProgramText) -> BlockQueryOp:
        """Reads ``: type`` or ``-> type``, or nothing for i64; in parentheses or not."""
        if text.take("("):
            text.expect(")", f"in {cls.name}")
        attributes = text.attribute_dictionary()
        kind: Attribute = i64
        if text.take(":"):
            if text.take("("):
                text.expect(")", f"in {cls.name}")
                text.expect("->", f"in {cls.name}")
            kind = text.type()
        elif text.take("->"):
            kind = text.type()
        op = cls.create(result_types=[kind], attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses a result that is not an integer."""
        if self.operands or len(self.results) != 1 or not is_integer(self.results[0].type):
            raise OpError(Fault("has one result, an integer, and no operands"))


class BlockIdxOp(BlockQueryOp):
    """``pto.get_block_idx``: 0."""

    name = "pto.get_block_idx"


class SubblockIdxOp(BlockQueryOp):
    """``pto.get_subblock_idx``: the number of the vector core, 0 of the cube core."""

    name = "pto.get_subblock_idx"


class BlockNumOp(BlockQueryOp):
    """``pto.get_block_num``: 1."""

    name = "pto.get_block_num"
    value = 1


class SubblockNumOp(BlockQueryOp):
    """``pto.get_subblock_num``: 2 on the vector cores of a program in which both run, else 1."""

    name = "pto.get_subblock_num"
    value = 1


class ForeignOp(Operation):
    """An op of the pto dialect with an unknown grammar; its text is skipped."""

    name = "pto_dv.foreign"
    traits = traits_def(NoTerminator())

    @property
    def mnemonic(self) -> str:
        """Name as written, with ``pto.``."""
        attribute = self.properties.get("mnemonic") or self.attributes.get("mnemonic")
        return attribute.data if isinstance(attribute, StringAttr) else "pto.?"

    @property
    def holds_moves(self) -> bool:
        """Whether a data-movement op is inside its braces."""
        return "holds_moves" in self.properties or "holds_moves" in self.attributes

    @property
    def moves_tiles(self) -> bool:
        """Whether it moves tiles, or an op inside its braces does."""
        return moves_tiles(self.mnemonic) or "holds_tiles" in self.properties

    @staticmethod
    def make(
        mnemonic: str, result_types: list[Attribute], *, holds: Iterable[str] = ()
    ) -> ForeignOp:
        """Returns the op of a name; ``holds`` has properties on what is inside its braces."""
        properties: dict[str, Attribute] = {"mnemonic": string(mnemonic)}
        properties |= {name: UnitAttr() for name in holds}
        return ForeignOp.create(result_types=result_types, properties=properties)

    def verify_(self) -> None:
        """Checks nothing."""


class BrokenOp(Operation):
    """Stands for an op with an error, so that reading can go on."""

    name = "pto_dv.broken"
    traits = traits_def(NoTerminator())

    def verify_(self) -> None:
        """Checks nothing."""


def broken(results: int, name: str) -> BrokenOp:
    """Returns the substitute of an op that has an error; its results have a type that fits any."""
    return BrokenOp.create(result_types=[OpaqueType(name)] * results)


OTHERS: tuple[type[Operation], ...] = (
    CastPtrOp,
    AddPtrOp,
    PtrToIntOp,
    LoadScalarOp,
    StoreScalarOp,
    LoadDeviceOp,
    StoreDeviceOp,
    GetCtrlOp,
    ClearBitOp,
    SetBitOp,
    *SYNC,
    CubeSectionOp,
    VectorSectionOp,
    VecScopeOp,
    StrictVecScopeOp,
    BlockIdxOp,
    SubblockIdxOp,
    BlockNumOp,
    SubblockNumOp,
    ForeignOp,
    BrokenOp,
)
"""Every op class that moves no data."""
