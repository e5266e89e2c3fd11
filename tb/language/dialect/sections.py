# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect with a region: sections of a core, and vector intervals."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation
from xdsl.irdl import traits_def
from xdsl.traits import NoTerminator

from tb.language.dialect.types import type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.parser.text import ProgramText


class SectionOp(Operation):
    """``pto.section.<kind> { ... }``: ops of one core."""

    name = "pto.section"
    traits = traits_def(NoTerminator())

    @classmethod
    def read(cls, text: ProgramText) -> SectionOp:
        """Reads ``[attributes {...}] { ops } [{...}]``."""
        attributes: dict[str, Attribute] = {}
        if text.keyword("attributes"):
            attributes = text.attribute_dictionary()
        region = text.region()
        attributes |= text.attribute_dictionary()
        op = cls.create(regions=[region], attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses arguments of its block; it may hold any ops."""
        if any(block.args for region in self.regions for block in region.blocks):
            raise OpError(Fault("its block has arguments", legal="no arguments"))


class CubeSectionOp(SectionOp):
    """``pto.section.cube { ... }``."""

    name = "pto.section.cube"


class VectorSectionOp(SectionOp):
    """``pto.section.vector { ... }``."""

    name = "pto.section.vector"


class VecScopeOp(SectionOp):
    """``pto.vecscope { ... }``: a vector interval; its movements are issued in place (DI-13)."""

    name = "pto.vecscope"


class StrictVecScopeOp(VecScopeOp):
    """``pto.strict_vecscope(%a, ...) { ^bb0(%b: T, ...): ... } : (T, ...) -> ()``.

    Its ops see no other values than the arguments of its block, which are the operands.
    """

    name = "pto.strict_vecscope"

    @classmethod
    def read(cls, text: ProgramText) -> StrictVecScopeOp:
        """Reads the operands, the region and the types."""
        text.expect("(", f"and the operands of {cls.name}")
        uses = text.uses(")")
        region, attributes = text.region(), text.attribute_dictionary()
        text.expect(":", f"and the types of {cls.name}")
        at, kinds = text.at, text.types()
        text.expect("->", "and '()'")
        if text.types():
            text.fail(f"{cls.name} has no results", at)
        op = cls.create(
            operands=text.resolved(uses, kinds, at),
            regions=[region],
            attributes=attributes,
        )
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses arguments of the block that are not the operands."""
        block = self.regions[0].blocks.first
        given = [type_name(each.type) for each in self.operands]
        taken = [type_name(each.type) for each in (block.args if block else ())]
        if given != taken:
            raise OpError(
                Fault(
                    f"the types of its block are ({', '.join(taken)})",
                    legal=f"({', '.join(given)}), the types of the operands",
                )
            )


_ORDERING = (
    *("set_flag", "wait_flag", "barrier", "pipe_barrier", "get_buf", "rls_buf"),
    *("set_intra", "wait_intra", "set_cross", "wait_cross", "sync", "record_event", "wait_event"),
    *("dsb", "dcci", "cmo.", "fence."),
)
"""How names begin of ops for pipes, buffers, cores, caches, DMA barriers and SIMT threads."""


def orders_cores(name: str) -> bool:
    """Returns whether an op, by its name, may not be in a vector interval."""
    return name.startswith("pto.") and name.removeprefix("pto.").startswith(_ORDERING)


def refused_inside(scope: VecScopeOp, name: str) -> Fault | None:
    """Returns what the compiler refuses of an op in a vector interval."""
    if not orders_cores(name):
        return None
    return Fault(
        f"{name} inside {scope.name}: a vector interval holds no op that orders pipes, buffers, "
        "cores or caches",
        legal="pto.mem_bar there, or the op outside of it",
    )
