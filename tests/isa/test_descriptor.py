# SPDX-License-Identifier: Apache-2.0
"""Packing: round trip, saturation that keeps violations violations, columns against scalars."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tb.cli.main import app
from tb.common.paths import ROOT
from tb.isa.block import FrontEndError, from_descriptors, from_ops
from tb.isa.burst.op import MteL1Fb, MteUbUb
from tb.isa.descriptor import field_values, pack, pack_columns, unpack, unpack_fields
from tb.isa.dma.op import DmaOp, Loop, MteGmUb, Pad
from tb.isa.dma.table import DMA_LAYOUT
from tb.isa.dtypes import NIBBLE_DTYPES, Ptr
from tb.isa.fields import DESC_BITS, Field, Layout
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.op import Loop3, MteL0cGm, PreQuant, Scalar
from tb.isa.lower import OP_CLASSES, lower
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op, replace
from tb.isa.ops import LAYOUTS, OPS
from tb.isa.rules import RULES, first_d_violation
from tb.isa.typed import TYPES, types_text
from tb.isa.verilog import HEADER, header_text
from tests.isa.strategies import DESCRIPTORS, DMA_DESCRIPTORS, v06_ops

PLAIN = MteGmUb(0, 0, 32, 1, 0, 0)


@pytest.mark.long
@given(DESCRIPTORS)
def test_unpack_inverts_pack(desc: Op) -> None:
    assert unpack(pack(desc)) == desc


@pytest.mark.long
@given(st.lists(DMA_DESCRIPTORS, min_size=1, max_size=8))
def test_columns_pack_like_scalars(descs: list[DmaOp]) -> None:
    values = [field_values(desc) for desc in descs]
    columns = {
        name: np.array([value[name] for value in values], dtype=np.int64) for name in DMA_LAYOUT
    }
    opcode = np.array([desc.spec.opcode for desc in descs])
    assert (pack_columns(opcode, columns, DMA_LAYOUT) == [pack(desc) for desc in descs]).all()


def test_columns_refuse_values_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="len"):
        pack_columns(np.array([1]), {"len": np.array([1 << 22])}, DMA_LAYOUT)


@pytest.mark.parametrize("dtype", NIBBLE_DTYPES)
def test_ops_of_half_bytes_convert_back(dtype: str) -> None:
    copy = MteL1Fb(0, 0, 1, 1, 0, 0, Ptr(dtype, "l1"), Ptr(dtype, "fb"))
    assert from_ops([copy]).program() == [(copy,)]


@pytest.mark.long
@given(v06_ops())
def test_packing_keeps_the_verdict(op: Op) -> None:
    """A value that is too large breaks the same lowest rule after packing."""
    desc = lower(op)
    before, after = first_d_violation(desc), first_d_violation(unpack(pack(desc)))
    assert (before and before.rule) == (after and after.rule)


@pytest.mark.parametrize("low", [0, 1, 31])
def test_saturated_address_keeps_its_alignment(low: int) -> None:
    fields = unpack_fields(pack(replace(PLAIN, loc_addr=(1 << 60) + low)), DMA_LAYOUT)
    assert fields["loc_addr"] == (1 << 24) - 32 + low


def test_negative_operand_is_refused() -> None:
    with pytest.raises(ValueError, match="unsigned"):
        pack(replace(PLAIN, len=-1))


def test_unknown_opcode_is_named() -> None:
    with pytest.raises(ValueError, match="opcode 0"):
        unpack(np.zeros(16, dtype=np.uint32))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_layout_has_no_gap_and_no_overlap(layout: Layout) -> None:
    next_lsb = 8
    for placed in layout.values():
        assert placed.lsb == next_lsb
        next_lsb = placed.msb + 1
    assert next_lsb == layout.used_bits <= DESC_BITS


def test_layout_refuses_too_many_bits_and_equal_names() -> None:
    with pytest.raises(ValueError, match="513"):
        Layout("big", (Field("a", 505, ""),))
    with pytest.raises(ValueError, match="twice"):
        Layout("twin", (Field("a", 1, ""), Field("a", 1, "")))


def test_containers_hold_every_legal_value_and_one_more() -> None:
    """A width violation by one must survive packing (DMA-L05)."""
    for spec in OPS.values():
        for operand in spec.operands:
            if operand.bits is not None:
                field = spec.layout[operand.field.replace("{k}", "0")].field
                assert field.limit > (1 << operand.bits) - 1, operand.name


@pytest.mark.long
@given(v06_ops())
def test_a_block_converts_back_to_its_program(op: Op) -> None:
    block = from_ops([op])
    (only,) = block.program()[0]
    if isinstance(op, MteGmL1Frac):
        # No outer stride is the same op as a stride of 0.
        op = replace(op, src_outer_stride=op.src_outer_stride or None)
    if isinstance(op, MteGmUb) and op.pad is not None:
        # pad(value) and pad(value, 0, 0) are one op; a block holds the counts.
        pad = replace(op.pad, left=op.pad.left or 0, right=op.pad.right or 0)
        op = replace(op, pad=pad)
    assert only == op
    assert (block.pack()[0] == pack(lower(op))).all()


@pytest.mark.long
@given(st.lists(v06_ops(), min_size=1, max_size=12))
def test_block_of_several_families_packs_each_by_its_layout(ops: list[Op]) -> None:
    block = from_ops(ops)
    descs = [lower(op) for op in ops]
    assert (block.pack() == [pack(desc) for desc in descs]).all()
    legal = replace(block, descriptors={})
    fit = [n for n, desc in enumerate(descs) if unpack(pack(desc)) == desc]
    if len(fit) == len(ops):
        assert (legal.pack() == block.pack()).all()


FAR = 1 << 62
FAR_OPS: list[tuple[Op, int]] = [
    (RawFillL1(16, FAR + 16, 1, 1, 1, 0), 4),
    (RawFillL1(FAR + 32, 0, 1, 1, 1, 0), 4),
    (MteGmUb(0, FAR + 16, 32, 1, 32, 32), 6),
    (MteGmUb(0, FAR + 32, 32, 1, 32, 32), 12),
    (MteGmUb(0, 2**64 - 32, 32, 1, 32, 32), 12),
    (MteGmUb(0, 2**70 + 8, 32, 1, 32, 32), 6),
    (MteUbUb(32, 2**63 + 8, 1, 1, 0, 0), 6),
    (RawFillL1(64, -FAR - 32, 1, 1, 1, 0), 2),
    (MteGmUb(FAR + 3, FAR + 32, 32, 0, 32, 32), 0),
]
"""Ops with operands that no column holds, and the rule that each breaks."""


@pytest.mark.parametrize(("op", "rule"), FAR_OPS)
def test_a_block_keeps_operands_that_no_column_holds(op: Op, rule: int) -> None:
    block = from_ops([op, op])
    (kept,) = block.take(1, 2).program()[0]
    assert kept == op
    assert isinstance(kept, Op)
    for judged in (kept, unpack(block.pack()[0])):
        found = first_d_violation(judged)
        assert (found.rule.number if found else 0) == rule


def some_ops(x: Callable[[int], Any]) -> list[Op]:
    copy = (x(64), x(32), x(5), x(2), x(8), x(64))
    loops, pad = (Loop(x(3), x(16), x(120)),), Pad("i8", x(7), x(1), x(2))
    quant = PreQuant("qf322f16_pre_scalar", Scalar("bf16", x(63)))
    tile = (x(0), x(64), x(16), x(16), x(16), x(16))
    options = {"layout": "nz2nd", "loop3": Loop3(x(2), x(3), x(4)), "dst_type": Ptr("f16", "gm")}
    return [
        MteGmUb(*copy, loops, pad),
        RawFillL1(x(64), x(-32), x(1), x(2), x(1), x(0)),
        MteL0cGm(*tile, pre_quant=quant, **options),
    ]


@pytest.mark.parametrize("make", [np.int64, np.int8])
def test_a_block_takes_numbers_of_numpy(make: Callable[[int], Any]) -> None:
    taken, plain = from_ops(some_ops(make)), from_ops(some_ops(int))
    assert (taken.pack() == plain.pack()).all()
    assert taken.program() == plain.program()


@pytest.mark.parametrize(
    ("length", "message"),
    [
        (1.5, "op 1: len is 1.5: an integer, 0 and above"),
        (None, "op 1: len is None"),
        (-1, "op 1: len is -1"),
    ],
)
def test_a_block_refuses_what_is_no_operand(length: Any, message: str) -> None:
    good = MteGmUb(0, 0, 32, 1, 32, 32)
    bad = replace(good, len_burst=length)
    with pytest.raises(FrontEndError, match=re.escape(message)):
        from_ops([good, bad])
    with pytest.raises(FrontEndError, match=re.escape(message)):
        from_descriptors([good, bad])


def test_columns_of_a_block_are_complete() -> None:
    block = from_ops([MteGmUb(0, 0, 32, 1, 0, 0)])
    assert block.column("dst_loop3").tolist() == [0]
    assert block.column("len").tolist() == [32]
    with pytest.raises(KeyError, match="length"):
        block.column("length")


# --- The generated Verilog header agrees with the tables


def test_header_is_not_stale() -> None:
    assert (ROOT / HEADER).read_text() == header_text(), "run python -m tb.isa.verilog"
    assert (ROOT / TYPES).read_text() == types_text(), "run python -m tb.isa.verilog"


def test_names_for_type_checkers_are_those_of_the_ops() -> None:
    """Each name is an attribute of an op; no other is, so that a wrong one is an error."""
    kinds = {node.name: node for node in ast.walk(ast.parse(types_text()))
             if isinstance(node, ast.ClassDef)}  # fmt: skip
    assert len(kinds) == len(OPS) + len(LAYOUTS)
    for cls in OP_CLASSES.values():
        family = next(base for base in cls.__mro__ if base.__bases__[0] is Op)
        made = [cls.of({}, Ptr("i8", "gm"), Ptr("i8", "gm"))]
        for name in (cls.__name__, f"{family.__name__}Values"):
            lines = kinds[name].body if name in kinds else []
            names = [x.target.id for x in lines if isinstance(x, ast.AnnAssign)]  # type: ignore[union-attr]
            assert all(isinstance(getattr(op, each), int) for op in made for each in names)
    assert not hasattr(Op, "__getattr__")


def test_header_is_marked_as_generated() -> None:
    assert "Do not edit" in header_text()


def test_every_field_has_its_range() -> None:
    macros = dict(re.findall(r"`define (\S+)\s+(\S+)", header_text()))
    for name, placed in DMA_LAYOUT.items():
        assert macros[f"PTO_DMA_{name.upper()}"] == f"{placed.msb}:{placed.lsb}"
    assert macros["PTO_W_MTE_UB_GM_L2"] == "4"
    assert macros["PTO_W_MTE_GM_UB_L2"] == "2"


# --- `pto-dv explain --table` prints every op with its operands, descriptor bits and rules


def test_the_table_has_every_op_field_and_rule() -> None:
    done = CliRunner().invoke(app, ["explain", "--table"])
    assert done.exit_code == 0
    _, *sections = done.stdout.split("\n## ")
    *ops, descriptors, _, rules = sections
    assert [text.splitlines()[0] for text in ops] == [f"`{name}`" for name in OPS]
    for text, spec in zip(ops, OPS.values(), strict=True):
        assert f"Opcode {spec.opcode}, slot {spec.slot}, " in text
        shown = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
        assert shown == [operand.name for operand in spec.operands]
        assert all(name in text for name in spec.rule_names)
    families = descriptors.split("\n### ")[1:]
    for text, layout in zip(families, LAYOUTS.values(), strict=True):
        for name, placed in layout.items():
            assert f"\n| {placed.msb}:{placed.lsb} | {name} | " in text
    shown = [line.split(" ")[1] for line in rules.splitlines() if line.startswith("| ")]
    assert shown == ["rule", *(rule.name for rule in RULES.values())]
