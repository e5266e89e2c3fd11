# SPDX-License-Identifier: Apache-2.0
"""Registers of the legacy ops: lifetime, direction, width, sampling (docs/spec/dma.md, 4)."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from scoreboards.model.dma import ReferenceModel
from scoreboards.model.outcome import NOTHING
from scoreboards.model.registers import LoopRegisters, Registers
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    DmaRegisters,
    LegacySet,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
    lower_copy,
    write_registers,
)
from tb.isa.dma.op import Loop, MteGmUb, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.model.conftest import Bench, noise

F16 = Ptr("f16", "gm"), Ptr("f16", "ub")


def test_reset_state() -> None:
    ones = LoopRegisters(1, 1, 0, 0, 0, 0)
    assert Registers() == Registers(ones, copy.copy(ones), 0)


def test_copy_without_any_set_runs_one_iteration(bench: Bench) -> None:
    outcome = bench.model.execute(CopyGmToUbuf(0, 0, 0, 2, 32, 0, 0, 0, 0, 32, 32))
    assert outcome.bytes_written == 64


def test_registers_persist_and_serve_their_direction_only(bench: Bench) -> None:
    model, golden = bench.model, bench.golden
    for op in (
        SetLoopSize("outtoub", 2, 3),
        SetLoopStride("outtoub", 1, 100, 64),
        SetLoopStride("outtoub", 2, 1000, 128),
        SetMovPadVal("i8", 0x5A),
    ):
        assert model.execute(op) == NOTHING
    for _ in range(2):  # the second copy finds the registers as the first did
        outcome = model.execute(CopyGmToUbuf(7, 0, 0, 1, 40, 0, 0, 1, 0, 40, 64))
        assert outcome.bytes_written == 6 * 64
    ub = golden[Space.UB0]
    for outer in range(3):
        for inner in range(2):
            row = 128 * outer + 64 * inner
            data = noise(Space.GM, 7 + 1000 * outer + 100 * inner, 40)
            assert np.array_equal(ub[row : row + 40], data)
            assert (ub[row + 40 : row + 64] == 0x5A).all()
    # The other direction still has its reset values, and v0.6 ops read no register.
    assert model.execute(CopyUbufToGm(0, 0, 0, 1, 32, 0, 32, 32)).bytes_written == 32
    assert model.execute(MteGmUb(0, 0, 32, 1, 32, 32)).bytes_written == 32
    assert model.execute(MteUbGm(0, 0, 32, 1, 32, 32, (Loop(1, 0, 0),))).bytes_written == 32
    assert model.registers.outtoub == LoopRegisters(2, 3, 100, 64, 1000, 128)
    model.reset()
    assert model.registers == Registers()


def test_ubtoout_strides_are_ub_first(bench: Bench) -> None:
    model, golden = bench.model, bench.golden
    model.execute(SetLoopSize("ubtoout", 2, 2))
    model.execute(SetLoopStride("ubtoout", 1, 64, 5000))
    model.execute(SetLoopStride("ubtoout", 2, 128, 2**39))
    outcome = model.execute(CopyUbufToGm(32, 9, 0, 1, 10, 0, 77, 32))
    assert outcome.bytes_written == 40
    for outer in range(2):
        for inner in range(2):
            start = 9 + 5000 * inner + 2**39 * outer
            data = noise(Space.UB0, 32 + 64 * inner + 128 * outer, 10)
            assert np.array_equal(golden[Space.GM][start : start + 10], data)


def test_legacy_ub_to_gm_names_the_gm_stride_first(bench: Bench) -> None:
    bench.model.execute(CopyUbufToGm(0, 0, 0, 2, 8, 0, 100, 32))
    assert np.array_equal(bench.golden[Space.GM][100:108], noise(Space.UB0, 32, 8))


def test_copy_takes_the_low_bytes_of_the_pad_value(bench: Bench) -> None:
    model, ub = bench.model, bench.golden[Space.UB0]
    model.execute(SetMovPadVal("f32", 0x44332211))
    model.execute(CopyGmToUbuf(0, 0, 0, 1, 32, 0, 0, 1, 0, 32, 64))
    assert ub[32:64].tobytes() == b"\x11" * 32
    model.execute(CopyGmToUbuf(0, 0, 0, 1, 32, 0, 0, 1, 0, 32, 64, *F16))
    assert ub[32:64].tobytes() == b"\x11\x22" * 16
    model.execute(SetMovPadVal("i8", 0xEE))  # zero-extended: the old value is gone
    model.execute(CopyGmToUbuf(0, 0, 0, 1, 32, 0, 0, 1, 0, 32, 64, *F16))
    assert ub[32:64].tobytes() == b"\xee\x00" * 16


def test_left_padding_of_the_legacy_form_counts_bytes(bench: Bench) -> None:
    bench.model.execute(SetMovPadVal("f16", 0x3C00))
    bench.model.execute(CopyGmToUbuf(0, 0, 0, 1, 20, 6, 4, 1, 0, 20, 32, *F16))
    row = bench.golden[Space.UB0][:32]
    assert row[:6].tobytes() == b"\x00\x3c" * 3
    assert np.array_equal(row[6:26], noise(Space.GM, 0, 20))
    assert row[26:].tobytes() == b"\x00\x3c" * 3


def test_values_are_sampled_at_issue(bench: Bench) -> None:
    model = bench.model
    first = model.issue(CopyGmToUbuf(0, 0, 0, 1, 32, 0, 0, 0, 0, 32, 32))
    model.execute(SetLoopSize("outtoub", 4, 1))
    model.execute(SetLoopStride("outtoub", 1, 32, 32))
    model.apply(first)
    assert np.array_equal(bench.golden[Space.UB0][32:64], noise(Space.UB0, 32, 32))


FITTING: list[LegacySet] = [
    SetLoopSize("outtoub", 2**21 - 1, 2**21 - 1),
    SetLoopSize("ubtoout", 0, 2**21 - 1),
    SetLoopStride("outtoub", 1, 2**40 - 1, 2**21 - 1),
    SetLoopStride("outtoub", 2, 2**40 - 1, 0),
    SetLoopStride("ubtoout", 1, 2**21 - 1, 2**40 - 1),
    SetLoopStride("ubtoout", 2, 0, 2**40 - 1),
    SetMovPadVal("i8", 255),
    SetMovPadVal("bf16", 2**16 - 1),
    SetMovPadVal("f32", 2**32 - 1),
]
TOO_WIDE: list[LegacySet] = [
    SetLoopSize("outtoub", 2**21, 1),
    SetLoopSize("outtoub", 1, 2**21),
    SetLoopSize("ubtoout", 2**21, 2**60),
    SetLoopStride("outtoub", 1, 2**40, 0),
    SetLoopStride("outtoub", 2, 0, 2**21),
    SetLoopStride("ubtoout", 1, 2**21, 0),
    SetLoopStride("ubtoout", 2, 0, 2**40),
    SetMovPadVal("i8", 256),
    SetMovPadVal("f16", 2**16),
    SetMovPadVal("i32", 2**32),
]


@pytest.mark.parametrize("op", FITTING)
def test_widest_values_are_legal(op: LegacySet) -> None:
    model = ReferenceModel({})
    assert model.execute(op) == NOTHING
    assert model.registers != Registers()


@pytest.mark.parametrize("legal", [False, True])
@pytest.mark.parametrize("op", TOO_WIDE)
def test_too_wide_values_are_rule_5_and_change_nothing(op: LegacySet, legal: bool) -> None:
    model = ReferenceModel({})
    for fitting in FITTING:
        model.execute(fitting)
    before = copy.deepcopy(model.registers)
    outcome = model.execute(op, legal=legal)
    assert (outcome.status, outcome.rule) == (Status.RULE, 5)
    assert model.registers == before


def test_unknown_registers_are_refused() -> None:
    model = ReferenceModel({})
    with pytest.raises(ValueError, match="direction"):
        model.execute(SetLoopSize("sideways", 1, 1))
    with pytest.raises(ValueError, match="level"):
        model.execute(SetLoopStride("outtoub", 3, 1, 1))


def test_sid_is_not_checked(bench: Bench) -> None:
    assert bench.model.execute(CopyUbufToGm(0, 0, 2**70, 1, 32, 0, 32, 32)).status is Status.OK


def test_lowered_copies_cover_the_bytes_the_model_moves() -> None:
    """The front end lowers a copy, the model reads its operands: two readings of one table."""
    rng = np.random.default_rng(5)
    model, registers = ReferenceModel({}), DmaRegisters()
    for _ in range(300):
        sets: list[LegacySet] = [
            SetMovPadVal("i32", int(rng.integers(2**32))),
            *(SetLoopSize(d, *map(int, rng.integers(1, 4, 2))) for d in ("outtoub", "ubtoout")),
        ]
        for level in (1, 2):
            gm, ub = map(int, rng.integers(1, 40, 2) * 32)
            sets.append(SetLoopStride("outtoub", level, gm, ub))
            sets.append(SetLoopStride("ubtoout", level, ub, gm))
        for op in sets:
            model.execute(op)
            registers = write_registers(op, registers)
        inward = CopyGmToUbuf(3, 32, 0, 2, 20, 4, 2, int(rng.integers(2)), 0, 50, 96, *F16)
        if not inward.data_select_bit:
            inward = CopyGmToUbuf(3, 32, 0, 2, 20, 0, 0, 0, 0, 50, 96, *F16)
        outward = CopyUbufToGm(64, 5, 0, 3, 20, 0, 70, 32, *F16[::-1])
        for copied in (inward, outward):
            outcome, desc = model.issue(copied), lower_copy(copied, registers)
            assert outcome.read is not None
            assert outcome.written is not None
            inwards = copied is inward
            gm_side, ub_side = (
                (outcome.read, outcome.written) if inwards else (outcome.written, outcome.read)
            )
            assert (gm_side.base, ub_side.base) == (desc.ext_addr, desc.loc_addr)
            assert gm_side.counts == (desc.n_burst, *(x.count for x in desc.field_loops))
            assert gm_side.strides == (desc.ext_stride, *(x.ext_stride for x in desc.field_loops))
            assert ub_side.strides == (desc.loc_stride, *(x.loc_stride for x in desc.field_loops))
            assert outcome.left == desc.left_bytes
            if outcome.pad is not None:
                assert outcome.pad.value == desc.pad_value
