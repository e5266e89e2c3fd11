# SPDX-License-Identifier: Apache-2.0
"""Ops as values of a row, and their rows as nests: for ints, for columns, and against the model."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoreboards.model.dma import ReferenceModel
from sequences.draw.traffic import TrafficGenerator
from tb.isa.block import OpBlock, from_descriptors, from_ops
from tb.isa.burst.op import MteL1Bt, MteUbUb
from tb.isa.descriptor import field_values, pack, unpack
from tb.isa.dma.op import DmaOp, Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Atomic, MteL0cGm
from tb.isa.fix.table import DST_BITS, SAT_MODES
from tb.isa.footprint import Footprint, destinations, source
from tb.isa.lower import lower
from tb.isa.nest import NESTS, Rows
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op, replace
from tb.isa.ops import OPS, OPS_BY_CODE
from tb.isa.profile import parse_profile, using
from tests.isa.strategies import gm_ub_ops, strided_ops
from tests.model.naive import Regs, plain, read_descriptor

COPY = MteGmUb(0x40, 32, 5, 2, 8, 64, (Loop(3, 16, 128),), Pad("i8", 7, 0, 0), 1)


def test_a_value_has_the_name_of_its_field_and_of_its_operand() -> None:
    assert (COPY.gm_src, COPY.ext_addr, COPY.values["ext_addr"]) == (0x40, 0x40, 0x40)
    assert MteGmUb(
        ext_addr=0x40, loc_addr=32, len=5, n_burst=2, src_stride=8, dst_stride=64,
        loops=(Loop(3, 16, 128),), pad=Pad("i8", 7, 0, 0), l2=1,
    ) == COPY  # fmt: skip
    block = from_ops([COPY])
    assert {name: column[0] for name, column in block.columns.items()}.items() >= {
        "ext_addr": 0x40, "loop0_loc_stride": 128, "pad_en": 1, "len": 5
    }.items()  # fmt: skip


@pytest.mark.parametrize(
    ("operands", "named", "message"),
    [
        ((1, 2, 3, 4, 5), {}, "dst_gap missing"),
        ((1, 2, 3, 4, 5, 6), {"dst_gap": 1}, "dst_gap: twice"),
        ((1, 2, 3, 4, 5, 6), {"dst_stride": 1}, "no operand dst_stride"),
        (range(20), {}, "too many operands"),
    ],
)
def test_operands_of_another_op_are_refused(operands: Any, named: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        MteUbUb(*operands, **named)
    with pytest.raises(FrozenInstanceError):
        COPY.n_burst = 3


def test_equal_ops_are_one_and_travel() -> None:
    other = replace(COPY, n_burst=3)
    assert other != COPY
    assert len({COPY, replace(other, n_burst=2), other}) == 2
    assert pickle.loads(pickle.dumps(COPY)) == COPY
    assert replace(COPY, pad=None).pad is None
    assert replace(COPY, loops=()).field_loops == ()
    assert SimpleNamespace(**COPY.values) != COPY
    assert "n_burst=2" in repr(COPY)
    assert "pad_left" not in repr(COPY)


def test_types_decide_fields() -> None:
    load = MteL1Bt(0, 0, 1, 1, 0, 0)
    assert load.widen == 0
    half = replace(load, src_type=Ptr("bf16", "l1"))
    assert (half.widen, half.units, half.unencodable) == (1, (2, 4), "")
    assert replace(half, n_burst=2).widen == 1
    assert "BT-L01" in replace(half, dst_type=Ptr("i32", "bt")).unencodable


def test_ctrl_is_sampled_where_it_decides() -> None:
    ctrl = 1 << 48 | 2 << 6 | 1 << 9
    store, write_back = MteUbGm(0, 0, 1, 1, 0, 0), MteL0cGm(0, 0, 1, 16, 16, 16)
    issued = store.sampled(ctrl)
    assert (issued.atomic_type, issued.atomic_op, issued.nosat) == (2, 1, 1)
    assert COPY.sampled(ctrl) is COPY
    late = write_back.sampled(ctrl)
    assert (late.sat, late.atomic_type, late.sat_name, late.atomic) == (2, 2, "", None)
    clauses = replace(write_back, sat="sat", atomic=Atomic("f32", "max"))
    assert clauses.sampled(ctrl) == clauses


@pytest.mark.parametrize("sat", ["", "sat", "preserve_nan", "nosat"])
def test_a_block_keeps_the_clause_of_saturation(sat: str) -> None:
    nosat = 1 << 48
    write_back = MteL0cGm(0, 0, 16, 16, 16, 16, sat=sat)
    block = from_descriptors([lower(write_back, nosat)])
    # A sampled CTRL and a clause have one descriptor, and one column.
    want = "nosat" if sat == "" else sat
    for only in (block.program()[0][0], block.issued(0), replace(block, descriptors={}).issued(0)):
        assert isinstance(only, MteL0cGm)
        assert only.sampled(nosat).sat == SAT_MODES[want]
    kept = block.program()[0][0]
    assert isinstance(kept, MteL0cGm)
    assert kept.sat_name == want


def test_what_is_left_out_is_not_given() -> None:
    repack = MteGmL1Frac(0, 0, "nd2nz", 1, 1, 1, 1, 1, 1, 1)
    assert not repack.is_given("src_outer_stride")
    assert replace(repack, src_outer_stride=0).is_given("src_outer_stride")
    assert replace(MteL0cGm(0, 0, 1, 16, 16, 16), layout="nz2dn", k=0).is_given("k")


# --- nests ----------------------------------------------------------------------------------------


def drawn(text: str) -> list[OpBlock]:
    with using(parse_profile(text)):
        return list(TrafficGenerator(11, tuple(OPS)).blocks(2500))


def axes(rows: Rows) -> tuple[Any, ...]:
    """Returns rows without the axes of one step."""
    pairs = zip(rows.counts, rows.strides, strict=True)
    return (rows.base, rows.length, *(pair for pair in pairs if pair[0] != 1))


def taken(rows: Rows, place: int, size: int) -> Rows:
    """Returns the rows of one op out of columns."""

    def of(value: Any) -> Any:
        return np.broadcast_to(value, size)[place]

    return Rows(of(rows.base), of(rows.length), tuple(map(of, rows.counts)),
                tuple(map(of, rows.strides)))  # fmt: skip


PROFILE_TEXTS = ("seed", "a5", "tail = fill, compact = legal", "a5, pad_end = stride")


@pytest.mark.parametrize("text", PROFILE_TEXTS)
def test_columns_have_the_rows_of_their_ops(text: str) -> None:
    seen = set()
    for block in drawn(text):
        for code in np.unique(block.opcode).tolist():
            spec = OPS_BY_CODE[code]
            at = np.flatnonzero(block.opcode == code)
            columns = {name: block.column(name)[at] for name in spec.layout}
            if spec.layout.family == "fix":
                columns["dst_bits"] = np.array(DST_BITS)[columns["dst_type"]]
            v = SimpleNamespace(spec=spec, **columns)
            nest = NESTS[spec.layout.family]
            with using(parse_profile(text)):
                for side in (nest.read, nest.written):
                    many = side(v)
                    for place, index in enumerate(at.tolist()):
                        one = side(block.issued(index))
                        assert axes(taken(many, place, len(at))) == axes(one), block.issued(index)
                        assert np.broadcast_to(many.end, len(at))[place] == one.end
            seen.add(spec.name)
    assert seen == set(OPS)


def touched(footprints: tuple[Footprint, ...]) -> set[tuple[int, int]]:
    """Returns (memory, address) of every byte."""
    return {
        (one.space, int(start) + byte)
        for one in footprints
        for start in one.row_starts()
        for byte in range(one.length)
    }


@pytest.mark.long
@pytest.mark.parametrize("text", PROFILE_TEXTS)
def test_nest_and_model_touch_the_same_bytes(text: str) -> None:
    seen: dict[str, int] = {}
    for block in drawn(text):
        for index, ops in enumerate(block.program()):
            desc = block.issued(index)
            small = not desc.is_nop and sum(x.bytes for x in destinations(desc)) <= 4096
            if len(ops) > 1 or not isinstance(ops[0], Op) or not small:
                continue
            with using(parse_profile(text)):
                outcome = ReferenceModel({}).issue(ops[0])
                assert touched(outcome.regions) == touched(destinations(desc)), ops[0]
                assert touched(outcome.reads[:1]) == touched((source(desc),)), ops[0]
            assert field_values(unpack(pack(desc))) == field_values(desc)
            seen[desc.spec.name] = seen.get(desc.spec.name, 0) + 1
    assert set(seen) == set(OPS)


@given(st.one_of(gm_ub_ops(), strided_ops()))
def test_operands_and_fields_say_the_same(op: DmaOp) -> None:
    """A second reading of operands by their names in text, and of fields by side."""
    op = replace(op, src_type=Ptr("f16", op.spec.source))
    fields, written = read_descriptor(op), plain(op, Regs())  # type: ignore[arg-type]
    assert replace(written, element=fields.element) == fields
