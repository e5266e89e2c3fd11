# SPDX-License-Identifier: Apache-2.0
"""Cores of a program: each has the instruction stream of its sections."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tb.language.dialect.ops import MoveOp, written
from tb.language.dialect.others import SubblockIdxOp
from tb.language.dialect.sections import CubeSectionOp, SectionOp, VectorSectionOp
from tb.language.dialect.sync import SignalOp
from tb.language.reader import Source

CUBE, VECTORS = 0, (1, 2)
"""Cores by number, the vector cores in the order of their sub-blocks."""

OFFSET = 16
"""Ids of the cube core from here on are those of sub-block 1 (IB-06)."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The instruction stream of one core (docs/spec/order_and_atomics.md, section 4).

    Attributes:
        core: ``cube`` or ``vector``; empty for all sections in the order of the text.
        sub_block: Number of the vector core.
        running: Numbers of the cores that run, indices into :data:`tb.language.trace.CORES`.
    """

    core: str = ""
    sub_block: int = 0
    running: tuple[int, ...] = (0,)

    @property
    def number(self) -> int:
        """The number of the core."""
        return VECTORS[self.sub_block] if self.core == "vector" else CUBE

    @property
    def sub_blocks(self) -> int:
        """``get_subblock_num``: the vector cores that run, 1 on any other core."""
        both = {*VECTORS} <= set(self.running)
        return 2 if both and self.core == "vector" else 1

    def leaves_out(self, section: str, sub_block: int | None = None) -> bool:
        """Returns whether a section is of another core; ``sub_block`` is that which it names."""
        kind = section.removeprefix("pto.section.")
        if not self.core or kind not in ("cube", "vector"):
            return False
        other = kind == "vector" and sub_block is not None and sub_block != self.sub_block
        return kind != self.core or other


EVERY_STREAM = Stream()


def attribute_of(op: Operation, name: str) -> Attribute | None:
    """Returns a property or attribute of an op, or None."""
    return op.properties.get(name, op.attributes.get(name))


def given_sub_block(op: Operation) -> Attribute | None:
    """Returns the sub-block that a function or a section names, None where it names none."""
    given = attribute_of(op, "pto.ub_sub")
    return attribute_of(op, "ub_sub") if given is None else given


def sub_block_of(op: Operation) -> int | None:
    """Returns the number of that sub-block; None where it is none, or not named."""
    given = given_sub_block(op)
    if isinstance(given, IntegerAttr) and given.value.data in (0, 1):
        return given.value.data
    return None


def _is_zero(value: SSAValue) -> bool:
    """Returns whether a value is the constant 0."""
    owner = value.owner
    if not isinstance(owner, ConstantOp) or not isinstance(owner.value, IntegerAttr):
        return False
    return bool(owner.value.value.data == 0)


def _of_second(op: Operation) -> bool:
    """Returns whether sub-block 1 takes part in a program with this op, or may do so."""
    if isinstance(op, SignalOp) and op.name.endswith("_intra_block"):
        return bool(op.operands) or op.number >= OFFSET
    if isinstance(op, VectorSectionOp):
        return sub_block_of(op) == 1
    if isinstance(op, MoveOp):
        text = written(op)
        assert text is not None, "it is a movement"
        if text.name != "mte_l0c_ub":
            return text.name == "copy_cbuf_to_ubuf"
        number = text.operands.get("sub_block")
        return bool(text.words.get("ub_split")) or (number is not None and not _is_zero(number))
    return isinstance(op, SubblockIdxOp)


def streams(source: Source) -> tuple[Stream, ...]:
    """Returns the cores that a file has sections of; none where it has no section.

    Sub-block 1 is one of them where an op takes its number or names it, sends or takes a signal
    of it, writes to its UB from the cube core, or splits a tile over both.
    """
    kinds = {op.name for op in source.module.walk() if isinstance(op, SectionOp)}
    found = [Stream("cube")] if CubeSectionOp.name in kinds else []
    if VectorSectionOp.name in kinds:
        found.append(Stream("vector"))
        named = (sub_block_of(each) == 1 for each in source.bodies.values())
        if any(named) or any(map(_of_second, source.module.walk())):
            found.append(Stream("vector", 1))
    return tuple(found)


def running(source: Source) -> tuple[Stream, ...]:
    """Returns the same, each with the numbers of all of them."""
    found = streams(source)
    numbers = tuple(each.number for each in found)
    return tuple(replace(each, running=numbers) for each in found)
