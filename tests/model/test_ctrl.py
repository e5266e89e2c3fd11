# SPDX-License-Identifier: Apache-2.0
"""CTRL and the write-backs that sample it (docs/spec/order_and_atomics.md, section 5)."""

from __future__ import annotations

import pytest

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from tb.isa.ctrl import SetAtomic, SetCtrl
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Atomic, MteL0cGm, MteL0cL1, MteL0cUb, PreQuant, Scalar
from tb.isa.op import replace
from tb.isa.spaces import Space
from tb.isa.status import Status

TO_F16 = PreQuant("f32_f16", Scalar("f32", 0))
GM = MteL0cGm(0, 0, 1, 1, 1, 16, pre_quant=TO_F16, dst_type=Ptr("f16", "gm"))
L1 = MteL0cL1(0, 0, 1, 1, 1, 16, pre_quant=TO_F16, dst_type=Ptr("f16", "l1"))
UB = MteL0cUb(0, 0, 1, 1, 1, 16, pre_quant=TO_F16, dst_type=Ptr("f16", "ub"))
C48, C50 = 1 << 48, 1 << 50


def memory(value: float, old: int) -> tuple[GoldenMemory, ReferenceModel]:
    golden = GoldenMemory(lambda _space, _start, length: old.to_bytes(2, "little") * (length // 2))
    golden[Space.L0C][:4].view("<f4")[0] = value
    golden.ensure(Space.GM, 0, 64)
    return golden, ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )


def half(golden: GoldenMemory, space: Space = Space.GM) -> int:
    return int(golden[space][:2].view("<u2")[0])


@pytest.mark.parametrize(
    ("ctrl", "overflow", "nan"),
    [
        (0, 0x7BFF, 0x0000),
        (C50, 0x7BFF, 0x7E00),
        (C48, 0x7C00, 0x7E00),
        (C48 | C50, 0x7C00, 0x7E00),
    ],
)
@pytest.mark.parametrize(("op", "space"), [(GM, Space.GM), (L1, Space.L1), (UB, Space.UB0)])
def test_an_omitted_sat_clause_is_that_of_ctrl(
    op: MteL0cGm | MteL0cL1 | MteL0cUb, space: Space, ctrl: int, overflow: int, nan: int
) -> None:
    for value, want in ((70000.0, overflow), (float("nan"), nan)):
        golden, model = memory(value, 0x5555)
        model.execute(SetCtrl(ctrl))
        model.execute(op)
        assert half(golden, space) == want


@pytest.mark.parametrize(
    ("sat", "overflow", "nan"),
    [("sat", 0x7BFF, 0x0000), ("preserve_nan", 0x7BFF, 0x7E00), ("nosat", 0x7C00, 0x7E00)],
)
@pytest.mark.parametrize("ctrl", [0, C48, C50, C48 | C50])
def test_a_sat_clause_replaces_both_bits(sat: str, overflow: int, nan: int, ctrl: int) -> None:
    for value, want in ((70000.0, overflow), (float("nan"), nan)):
        golden, model = memory(value, 0x5555)
        model.execute(SetCtrl(ctrl))
        model.execute(replace(GM, sat=sat))
        assert half(golden) == want


@pytest.mark.parametrize(
    ("sat", "ctrl", "total", "nan"),
    [
        ("", 0, 0x7BFF, 0x0000),
        ("", C50, 0x7BFF, 0x0000),
        ("", C48, 0x7C00, 0x7E00),
        ("sat", C48, 0x7BFF, 0x0000),
        ("preserve_nan", C48, 0x7BFF, 0x0000),
        ("nosat", 0, 0x7C00, 0x7E00),
    ],
)
def test_only_c48_acts_on_an_atomic_of_f16(sat: str, ctrl: int, total: int, nan: int) -> None:
    for old, want in ((0x7BFF, total), (0x7E00, nan)):
        golden, model = memory(65504.0, old)
        model.execute(SetCtrl(ctrl))
        model.execute(replace(GM, sat=sat, atomic=Atomic("f16", "add")))
        assert half(golden) == want


def test_an_op_samples_ctrl_when_it_is_issued() -> None:
    golden, model = memory(1.0, 0x3C00)
    model.execute(SetAtomic("f16"))
    issued = model.issue(GM)
    model.execute(SetCtrl(C48))
    model.apply(issued)
    assert half(golden) == 0x4000
    model.apply(model.issue(GM))
    assert half(golden) == 0x3C00


@pytest.mark.parametrize(("ops", "want"), [
    (("f16",), 0x4200),
    (("f16", "max"), 0x4000),
    (("max", "f16"), 0x4000),
    (("f16", "min"), 0x3C00),
    (("f16", "min", "add"), 0x4200),
    (("min",), 0x3C00),
    (("f16", "max", "none"), 0x3C00),
    (("f16", "max", "none", "f16"), 0x4000),
    (("bf16", "f16"), 0x4200),
])  # fmt: skip
def test_types_and_ops_are_set_apart(ops: tuple[str, ...], want: int) -> None:
    golden, model = memory(1.0, 0x4000)
    for what in ops:
        assert model.execute(SetAtomic(what)).status is Status.OK
    model.execute(GM)
    assert half(golden) == want


def test_the_other_bits_of_ctrl_are_kept() -> None:
    _, model = memory(1.0, 0)
    others = ~(0x1F << 6) & ((1 << 64) - 1)
    model.execute(SetCtrl(others))
    for what in ("bf16", "max", "none", "s8"):
        model.execute(SetAtomic(what))
    assert model.registers.ctrl == others | 5 << 6 | 1 << 9
    model.reset()
    assert model.registers.ctrl == 0


@pytest.mark.parametrize("ctrl", [2 << 6, 7 << 6, 1 << 6 | 3 << 9])
def test_an_atomic_clause_replaces_the_fields(ctrl: int) -> None:
    golden, model = memory(1.0, 0x4000)
    model.execute(SetCtrl(ctrl))
    assert model.execute(replace(GM, atomic=Atomic("f16", "max"))).status is Status.OK
    assert half(golden) == 0x4000


@pytest.mark.parametrize("ctrl", [2 << 6, 7 << 6, 1 << 6 | 3 << 9])
@pytest.mark.parametrize(("op", "space"), [(L1, Space.L1), (UB, Space.UB0)])
def test_only_gm_is_updated(op: MteL0cL1 | MteL0cUb, space: Space, ctrl: int) -> None:
    golden, model = memory(1.0, 0x4000)
    model.execute(SetCtrl(ctrl))
    assert model.execute(op).status is Status.OK
    assert half(golden, space) == 0x3C00


@pytest.mark.parametrize("legal", [False, True])
def test_a_type_unlike_the_elements_is_refused(legal: bool) -> None:
    golden, model = memory(1.0, 0x4000)
    model.execute(SetAtomic("bf16"))
    with pytest.raises(ValueError, match="FIX-L27"):
        model.execute(GM, legal=legal)
    assert half(golden) == 0x4000


def test_a_lower_rule_comes_before_that_of_ctrl() -> None:
    _, model = memory(1.0, 0)
    model.execute(SetCtrl(7 << 6))
    assert model.execute(replace(GM, dst_stride=0)).rule == 14
    assert model.execute(replace(GM, src=1 << 20)).rule == 23
    assert model.execute(GM).rule == 26
    assert model.execute(replace(GM, m=0)).rule == 26
