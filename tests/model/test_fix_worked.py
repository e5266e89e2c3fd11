# SPDX-License-Identifier: Apache-2.0
"""The worked values of docs/spec/fixpipe.md one by one: conversions, formats, payloads, atomic
sums.

Those with an image, and the refused ops, are in test_examples.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from scoreboards.model.fixpipe_atomic import combine
from scoreboards.model.fixpipe_float import (
    BF16,
    E4M3,
    F16,
    Saturation,
    from_i32,
    half_stage,
    to_float,
    to_hif8,
)
from sequences.examples.catalog import CONVERSIONS, EXAMPLES, FORMATS, Conversion, Format
from sequences.examples.conversions import Value
from sequences.examples.encode import BITS, f32_bits, pack, record
from sequences.examples.worked import table
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import FbPtr, FixOp, MteL0cGm, MteL0cUb, PreQuant, PreRelu, Scalar
from tb.isa.op import replace
from tb.isa.profile import using
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.model.test_examples import profile_of

FUNCTIONS = table("functions")
BY_NAME = {example.name: example for example in EXAMPLES}
SIGNED = {"i4": "si4", "i8": "si8", "i16": "si16", "i32": "si32"}
"""Types with the same results."""


def memory(background: int = 0x55) -> tuple[GoldenMemory, ReferenceModel]:
    golden = GoldenMemory(lambda _space, _start, length: bytes([background]) * length)
    return golden, ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )


def one(table: Conversion, value: Value, vector: bool) -> bytes:
    """Writes one accumulator back to GM, and returns its bytes; two of 4 bits, both the same."""
    count = 2 if BITS.get(table.to) == 4 else 1
    row = replace(table, values=(value,) * count)
    golden, model = memory()
    for fill in row.fills(row.values):
        golden[fill.space][fill.start : fill.start + fill.length] = fill.content()
    outcome = model.execute(row.op(count, vector))
    assert outcome.status is Status.OK
    return golden[Space.GM][: outcome.bytes_written].tobytes()


def check(table: Conversion, vector: bool) -> None:
    """Checks the values of a table, also with the signed type of the same results."""
    for to in {table.to, SIGNED.get(table.to, table.to)}:
        for value in table.values:
            expected = pack([value.result] * (2 if BITS.get(table.to) == 4 else 1), table.to)
            with using(profile_of(table.knobs or {})):
                assert one(replace(table, to=to), value, vector) == expected, (to, value)


@pytest.mark.parametrize("table", CONVERSIONS, ids=lambda one: one.name)
def test_values_of_the_conversions(table: Conversion) -> None:
    check(table, vector=True)
    plain = [value for value in table.values if replace(table, values=(value,)).alike]
    check(replace(table, values=tuple(plain)), vector=False)


@pytest.mark.parametrize("table", CONVERSIONS, ids=lambda one: one.name)
def test_offsets_are_for_integers(table: Conversion) -> None:
    if table.to in ("f16", "bf16", "f32", "f8E4M3FN", "hif8"):
        moved = tuple(replace(value, offset=77) for value in table.values)
        check(replace(table, values=moved), vector=True)


def test_scalar_forms_have_the_sign_of_the_type() -> None:
    rows = [Value(acc, 1.0, 0, want, True) for acc, want in ((-300.0, -128), (300.0, 127))]
    check(Conversion("limits", "qf322b8_pre", "si8", tuple(rows)), vector=False)
    rows = [Value(acc, 1.0, 0, want, False) for acc, want in ((-3.0, 0), (300.0, 255))]
    check(Conversion("limits", "qf322b8_pre", "ui8", tuple(rows)), vector=False)


def test_preserve_nan_saturates() -> None:
    row = Conversion("", "deqf16", "f16", (Value(200000, 1.0, 0, 0x7BFF, True),))
    check(replace(row, sat="preserve_nan"), vector=True)


@pytest.mark.parametrize("form", FORMATS, ids=lambda one: one.name)
def test_codes_of_the_formats(form: Format) -> None:
    """The function alone; of a format without an op in both roundings of hif8."""
    sats = (Saturation.SAT, Saturation.PRESERVE_NAN, Saturation.NOSAT)
    for value, codes in form.codes:
        number = np.array([value], dtype=np.float32)
        for sat, code in zip(sats, codes, strict=True):
            if form.to == "hif8":
                hybrids = {"hybrid" in form.mode, "hybrid" in form.mode or not form.mode}
                found = [to_hif8(number, sat, hybrid=hybrid)[0] for hybrid in hybrids]
            else:
                kind = {"f16": F16, "bf16": BF16, "f8E4M3FN": E4M3}[form.to]
                found = [to_float(number, kind, sat)[0]]
            assert all(int(each[0]) == code for each in found), (value, sat)


def test_i32_accumulators_become_f32_by_nearest_even() -> None:
    values, expected = zip(*FUNCTIONS["i32_to_f32"], strict=True)
    found = from_i32(np.array(values, dtype=np.int32).view(np.uint32)).view(np.uint32)
    assert found.tolist() == list(expected)


def test_half_stage_of_the_spec() -> None:
    values, expected = zip(*FUNCTIONS["half_stage"], strict=True)
    found = half_stage(np.array(values, dtype=np.float32))
    assert found.astype("<f2").view("<u2").tolist() == list(expected)


# --- payloads (section 5) ---


def to_f32(acc: float, scale: float, offset: int | None, relu: PreRelu | None = None) -> int:
    """Returns the bits of an accumulator that qf322f32 scales."""
    row = Conversion("", "qf322f32_pre", "f32", (Value(acc, scale, offset or 0, 0, True),))
    golden, model = memory()
    for fill in row.fills(row.values):
        golden[fill.space][: fill.length] = fill.content()
    model.execute(replace(row.op(1, offset is not None), pre_relu=relu))
    return int(golden[Space.GM][:4].view("<u4")[0])


@pytest.mark.parametrize(("word", "used"), FUNCTIONS["scales"])
def test_scales_lose_their_low_13_bits(word: int, used: int) -> None:
    scale = float(np.array([word], dtype=np.uint32).view(np.float32)[0])
    assert to_f32(1.0, scale, None) == used
    assert to_f32(1.0, scale, 0) == used
    alpha = PreRelu("scalar_relu", Scalar("f32", word))
    assert to_f32(-1.0, 1.0, None, alpha) == used | 0x80000000


@pytest.mark.parametrize(("target", "scale", "offset", "word"), FUNCTIONS["records"])
def test_records_of_the_spec(target: str, scale: float, offset: int, word: int) -> None:
    assert record(scale, offset, target != "ui8", target) == word


@pytest.mark.parametrize(("dtype", "number"), [("f16", 0x3800), ("bf16", 0x3F00), ("f16", 0x0001)])
def test_narrow_scalars_widen_exactly(dtype: str, number: int) -> None:
    golden, model = memory()
    golden[Space.L0C][:4].view("<f4")[0] = 2.0**24
    quant = PreQuant("qf322f32_pre_scalar", Scalar(dtype, number))
    model.execute(MteL0cGm(0, 0, 1, 1, 1, 1, pre_quant=quant))
    expected = 2.0**23 if number != 1 else 1.0
    assert golden[Space.GM][:4].view("<f4")[0] == expected


def test_ignored_bits_of_a_record_and_of_an_alpha_are_ignored() -> None:
    for noise in (0, 0x8000_0000_0000_0000, 0xFFFF_801F_0000_1FFF):
        golden, model = memory()
        golden[Space.L0C][:4].view("<f4")[0] = -8.0
        golden[Space.FB][:8].view("<u8")[0] = record(0.5, 3) | noise
        golden[Space.FB][64:68].view("<u4")[0] = f32_bits(0.5) | noise & 0x1FFF
        op = MteL0cGm(
            0, 0, 1, 1, 1, 1, pre_quant=PreQuant("qf322b8_pre_vec", FbPtr("bf16", 0)),
            pre_relu=PreRelu("vector_relu", FbPtr("f16", 64)), dst_type=Ptr("i8", "gm"),
        )  # fmt: skip
        model.execute(op)
        assert golden[Space.GM][:1].view("i1")[0] == -2 + 3


# --- layouts and atomics ---


def op_of(name: str) -> FixOp:
    """Returns the op of a worked image."""
    ((op,),) = BY_NAME[name].forms.values()
    assert isinstance(op, FixOp)
    return op


def test_a_clause_that_is_left_out_gives_the_same_image() -> None:
    for name, op in (
        ("FX-E1", replace(op_of("FX-E1"), layout="")),
        ("FX-E3", replace(op_of("FX-E3"), split=None)),
    ):
        example = BY_NAME[name]
        golden = GoldenMemory(example.initial)
        ReferenceModel(
            golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
        ).execute(op)
        assert example.matches(golden[Space.GM][: example.length])


def test_memories_of_a_split_and_of_an_atomic_update() -> None:
    for name in ("FX-E8", "FX-E9"):
        op = op_of(name)
        assert isinstance(op, MteL0cUb)
        outcome = memory()[1].execute(op)
        assert [region.space for region in outcome.regions] == [Space.UB0, Space.UB1]
        assert outcome.bytes_written == 1024
    golden, model = memory()
    golden.ensure(Space.GM, 0, 1024)
    outcome = model.execute(op_of("S-L0CGM"))
    assert [region.space for region in outcome.reads] == [Space.L0C, Space.GM]


@pytest.mark.parametrize(
    ("kind", "op", "one", "two", "finite", "ieee"), FUNCTIONS["atomics"], ids=str
)
def test_atomic_examples(kind: str, op: str, one: int, two: int, finite: int, ieee: int) -> None:
    dtype = np.uint32 if kind == "f32" else np.uint16
    for old, new in ((one, two), (two, one)):
        elements = np.array([old], dtype=dtype), np.array([new], dtype=dtype)
        assert int(combine(kind, op, *elements)[0][0]) == ieee
        assert int(combine(kind, op, *elements, ieee=False)[0][0]) == finite
