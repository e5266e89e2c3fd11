# SPDX-License-Identifier: Apache-2.0
"""Text of an op becomes an op of :mod:`tb.isa` with every operand in its field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.ctrl import SetAtomic, SetCtrl
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
)
from tb.isa.l0.op import LOAD_CLASSES, Shape, shaped
from tb.isa.mad import Mad
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.ops import TEXT_FORMS
from tb.isa.pipes import PIPES, Pipe
from tb.language.place import ProgramError
from tb.language.reader import read
from tb.language.run.build import CLASSES
from tb.language.run.cube import CUBE_OPS
from tb.language.run.walk import trace
from tb.language.trace import Compute, Move, Trace
from tb.language.unknown import UNKNOWN
from tests.wording import says

SPACES = ("gm", "ub", "l1", "l0a", "l0b", "l0c", "bt", "fb")


def _pointer(space: str, address: int, dtype: str = "i8") -> str:
    return (
        f"%{space}_a = arith.constant {address} : i64\n"
        f"%{space} = pto.castptr %{space}_a : i64 -> !pto.ptr<{dtype}, {space}>\n"
    )


def walk(op: str, *, static: bool = False, types: dict[str, str] | None = None) -> Trace:
    """Returns the trace of one op.

    It may use ``%1`` to ``%9`` as i64 and pointers ``%gm`` ... at 0x100 x number of the space.
    """
    dtypes = types or {}
    text = "func.func @k(%unknown: i64) {\n"
    text += "".join(f"%c{n} = arith.constant {n} : i64\n" for n in range(12))
    text += (
        "%m1 = arith.constant -1 : i64\n%no = arith.constant false\n%yes = arith.constant true\n"
    )
    text += "%f16 = arith.constant 1.0 : f16\n%f32 = arith.constant -2.0 : f32\n"
    text += "%i8 = arith.constant -3 : i8\n%i32 = arith.constant 7 : i32\n"
    text += "%ui8 = builtin.unrealized_conversion_cast %i8 : i8 to ui8\n"
    text += "".join(
        _pointer(space, 0x100 * (k + 1), dtypes.get(space, "i8")) for k, space in enumerate(SPACES)
    )
    return trace(read(f"{text}{op}\nfunc.return\n}}\n", "x.pto"), static=static)


def _types(*spaces: str, dtypes: dict[str, str] | None = None) -> str:
    known = dtypes or {}
    return ", ".join(f"!pto.ptr<{known.get(space, 'i8')}, {space}>" for space in spaces)


def _i64(count: int) -> str:
    return ", ".join(["i64"] * count)


GM, UB, L1, L0A, L0B, L0C, BT, FB = (Ptr("i8", space) for space in SPACES)

ACC = {"l0c": "f32", "gm": "f32", "ub": "f32", "l1": "f32"}
GM32, UB32, L132, L0C32 = (Ptr("f32", space) for space in ("gm", "ub", "l1", "l0c"))


def _dtypes(text: str) -> dict[str, str]:
    """Returns the element types of the pointers of a case, by space; others are i8."""
    name = _name(text)
    if name.endswith("_s4"):
        return dict.fromkeys(("l1", "l0a", "l0b"), "!pto.f4E1M2x2")
    if not name.startswith("mad"):
        return ACC if "l0c" in text else {}
    found = {**ACC, "bt": "f32"}
    return found | dict.fromkeys(("l0a", "l0b"), "f8E5M2") if "_mx" in name else found


def _name(text: str) -> str:
    return text.split()[0].removeprefix("pto.")


CONTROL = "%c1, %c2, %c3, %c4, %c5, %c6"
PAIRS = [Ptr("f4E1M2x2", space) for space in ("l1", "l0a", "l0b")]
SIDES = {"l0a": (0x400, L0A, "ca"), "l0b": (0x500, L0B, "cb")}


def _scale_loads() -> Iterator[tuple[str, Any]]:
    for space, (address, pointer, _) in SIDES.items():
        name = f"mte_l1_{space}_mx"
        text = f"pto.{name} %l1, %{space}, {CONTROL} : {_types('l1', space)}, {_i64(6)}"
        yield text, LOAD_CLASSES[name](0x300, address, 1, 2, 3, 4, 5, 6, 0, L1, pointer)


def _register_loads() -> Iterator[tuple[str, Any]]:
    for k, (space, (address, pointer, to)) in enumerate(SIDES.items()):
        name = f"mte_l1_{space}"
        values = (1, 2, 3, 4, 5, 6)
        text = f"pto.load_cbuf_to_{to} %l1, %{space}, {CONTROL}"
        types = f"{_types('l1', space)}, {_i64(6)}"
        op = LOAD_CLASSES[name](0x300, address, *values, 1, L1, pointer)
        yield f"{text} {{transpose = true}} : {types}", op
        # The address of scales is a sixteenth of that of their data.
        scales = LOAD_CLASSES[f"{name}_mx"](0x300, 16 * address, *values, 0, L1, pointer)
        yield f"{text.replace(f'_to_{to}', f'_to_{to}_mx')} : {types}", scales
        four = _types("l1", space, dtypes=dict.fromkeys(("l1", space), "!pto.f4E1M2x2"))
        pairs = LOAD_CLASSES[name](0x300, address, *values, 1, PAIRS[0], PAIRS[k + 1])
        yield f"{text.replace(f'_to_{to}', f'_to_{to}_s4')}, %c1 : {four}, {_i64(7)}", pairs


def _fills() -> Iterator[tuple[str, Any]]:
    words = "{fill_word_bits = 16 : i64}"
    op = RawFillL1(0x300, 1, 7, 2, 3, 4, 16, L1)
    text = f"pto.raw_fill_l1 %l1, %c1, %i32, %c2, %c3, %c4 {words}"
    yield f"{text} : {_types('l1')}, i64, i32, {_i64(3)}", op


def _products() -> Iterator[tuple[str, Any]]:
    for mx in ("", "_mx"):
        for what in ("", "_acc", "_bias", "_raw", "_bias_raw"):
            name, bias = f"mad{mx}{what}", "_bias" in what
            spaces = ("l0a", "l0b", "l0c", *(("bt",) if bias else ()))
            dtypes = _dtypes(f"pto.{name} ")
            numbers = "%c5" if "raw" in what else "%c1, %c2, %c3"
            pointers = ", ".join(f"%{space}" for space in spaces)
            text = f"pto.{name} {pointers}, {numbers} : {_types(*spaces, dtypes=dtypes)}"
            left, right = (Ptr(dtypes.get(space, "i8"), space) for space in ("l0a", "l0b"))
            m, n, k = (5, 0, 0) if "raw" in what else (1, 2, 3)
            acc = what in ("_acc", "_raw")
            initial = "bias" if bias else "acc" if acc else ""
            op = Mad(0x400, 0x500, 0x600, m, n, k, left, right, L0C32, initial, mx=bool(mx))
            op = replace(op, ctrl=1 << 48)  # nothing has written CTRL
            if bias:
                op = replace(op, bias=0x700, bias_type=Ptr("f32", "bt"))
            yield f"{text}, {_i64(numbers.count('%'))}", op


CASES: list[tuple[str, Any]] = [
    (
        f"pto.mte_gm_ub %gm, %ub, %c1, %c2 nburst(%c3, %c4, %c5) loop(%c6, %c7, %c8) "
        f"loop(%c9, %c10, %c11) pad(%i8, %c1, %c2) : {_types('gm', 'ub')}, {_i64(5)}, "
        "loop i64, i64, i64, loop i64, i64, i64, pad i8, i64, i64",
        MteGmUb(
            0x100, 0x200, 2, 3, 4, 5, (Loop(6, 7, 8), Loop(9, 10, 11)), Pad("i8", 0xFD, 1, 2), 1,
            GM, UB,
        ),
    ),
    (
        f"pto.mte_gm_ub %gm, %ub, %c1, %c2 nburst(%c3, %c4, %c5) pad(%f16) : "
        f"{_types('gm', 'ub')}, {_i64(5)}, pad f16 {{ub_sub = 1}}",
        MteGmUb(0x100, 0x200, 2, 3, 4, 5, (), Pad("f16", 0x3C00), 1, GM, UB, 1),
    ),
    (
        f"pto.mte_ub_gm %ub, %gm, %c2 nburst(%c3, %c4, %c5) l2_cache_ctl(%c1) "
        "loop(%c6, %c7, %c8) : "
        f"{_types('ub', 'gm')}, {_i64(5)}, loop i64, i64, i64",
        MteUbGm(0x200, 0x100, 2, 3, 4, 5, (Loop(6, 7, 8),), 1, UB, GM),
    ),
    (
        f"pto.mte_ub_gm %ub, %gm, %c2 nburst(%c3, %c4, %c5) : {_types('ub', 'gm')}, {_i64(4)}",
        MteUbGm(0x200, 0x100, 2, 3, 4, 5, (), 0, UB, GM),
    ),
    (
        f"pto.mte_gm_l1 %gm, %l1, %c2 nburst(%c3, %c4, %c5) : {_types('gm', 'l1')}, {_i64(4)}",
        MteGmL1(0x100, 0x300, 2, 3, 4, 5, (), GM, L1),
    ),
    (
        f"pto.mte_l1_ub %l1, %ub, %c2 nburst(%c3, %c4, %c5) : {_types('l1', 'ub')}, {_i64(4)}",
        MteL1Ub(0x300, 0x200, 2, 3, 4, 5, (), L1, UB),
    ),
    (
        f"pto.mte_ub_ub %ub, %ub, %c2 nburst(%c3, %c4, %c5) : {_types('ub', 'ub')}, {_i64(4)}",
        MteUbUb(0x200, 0x200, 2, 3, 4, 5, UB, UB),
    ),
    (
        f"pto.mte_ub_l1 %ub, %l1, %c2 nburst(%c3, %c4, %c5) : {_types('ub', 'l1')}, {_i64(4)}",
        MteUbL1(0x200, 0x300, 2, 3, 4, 5, UB, L1),
    ),
    (
        f"pto.mte_l1_bt %l1, %bt, %c2 nburst(%c3, %c4, %c5) : {_types('l1', 'bt')}, {_i64(4)}",
        MteL1Bt(0x300, 0x700, 2, 3, 4, 5, L1, BT),
    ),
    (
        f"pto.mte_l1_fb %l1, %fb, %c2 nburst(%c3, %c4, %c5) : {_types('l1', 'fb')}, {_i64(4)}",
        MteL1Fb(0x300, 0x800, 2, 3, 4, 5, L1, FB),
    ),
    (
        "pto.mte_gm_l1_frac %gm, %l1, dn2nz, shape(%c1, %c2), src_layout(%c3, %c4), "
        f"dst_group(%c5, %c6, %c7, %c8), ctrl(%c9, %yes) : {_types('gm', 'l1')}, dn2nz, "
        f"shape i64, i64, src_layout(i64, i64), dst_group {_i64(4)}, ctrl i64, i1",
        MteGmL1Frac(0x100, 0x300, "dn2nz", 1, 2, 3, 5, 6, 7, 8, 4, 9, 1, GM, L1),
    ),
    (
        "pto.mte_gm_l1_frac %gm, %l1, nd2nz, shape(%c1, %c2), src_layout(%c3), "
        f"dst_group(%c5, %c6, %c7, %c8), ctrl(%c9, %no) : {_types('gm', 'l1')}, nd2nz, "
        f"shape i64, i64, src_layout(i64), dst_group {_i64(4)}, ctrl i64, i1",
        MteGmL1Frac(0x100, 0x300, "nd2nz", 1, 2, 3, 5, 6, 7, 8, None, 9, 0, GM, L1),
    ),
    (
        "pto.mte_l0c_gm %l0c, %gm, %c1, %c2, %c3, %c4, %c5, %c6, unit_flag(check_and_clear), "
        "pre_quant(%fb, mode = vqf322b8_pre), pre_relu(%f32, mode = scalar_relu, clip = %f16), "
        "nz2dn(%c7), loop3(%c8, %c9, %c10), sat(preserve_nan), atomic(type = f32, op = add) : "
        f"{_types('l0c', 'gm', dtypes=ACC)}, {_i64(6)}, !pto.ptr<i8, fb>, f32, f16, {_i64(4)}",
        MteL0cGm(
            0x600, 0x100, 1, 2, 3, 4, 5, 6, 3, PreQuant("vqf322b8_pre", FbPtr("i8", 0x800)),
            PreRelu("scalar_relu", Scalar("f32", 0xC0000000), Scalar("f16", 0x3C00)),
            "nz2dn", 7, None, Loop3(8, 9, 10), "preserve_nan", Atomic("f32", "add"), L0C32, GM32,
        ),
    ),
    (
        "pto.mte_l0c_l1 %l0c, %l1, %c1, %c2, %c3, %c4, pre_quant(mode = f322f16), "
        f"pre_relu(mode = normal_relu), nz2nz(%c1), nosat : {_types('l0c', 'l1', dtypes=ACC)}, "
        f"{_i64(5)}",
        MteL0cL1(
            0x600, 0x300, 1, 2, 3, 4, 0, PreQuant("f322f16", None), PreRelu("normal_relu"),
            "nz2nz", None, 1, None, "nosat", L0C32, L132,
        ),
    ),
    (
        f"pto.mte_l0c_ub %l0c, %ub, %c1, %c2, %c3, %c4, dst_mode(split_m) : "
        f"{_types('l0c', 'ub', dtypes=ACC)}, {_i64(4)}",
        MteL0cUb(0x600, 0x200, 1, 2, 3, 4, ub_split="split_m", src_type=L0C32, dst_type=UB32),
    ),
    (
        f"pto.mte_l0c_ub %l0c, %ub, %c1, %c2, %c3, %c4, dst_mode(%c1), nz2nd, sat : "
        f"{_types('l0c', 'ub', dtypes=ACC)}, {_i64(5)}",
        MteL0cUb(
            0x600, 0x200, 1, 2, 3, 4, 1, layout="nz2nd", sat="sat", src_type=L0C32, dst_type=UB32
        ),
    ),
    (
        f"pto.copy_gm_to_ubuf %gm, %ub, %c1, %c2, %c3, %c4, %c5, %yes, %c6, %c7, %c8 : "
        f"{_types('gm', 'ub')}, {_i64(5)}, i1, {_i64(3)}",
        CopyGmToUbuf(0x100, 0x200, 1, 2, 3, 4, 5, 1, 6, 7, 8, GM, UB),
    ),
    (
        f"pto.copy_ubuf_to_gm %ub, %gm, %c1, %c2, %c3, %c4, %c5, %c6 : {_types('ub', 'gm')}, "
        f"{_i64(6)}",
        CopyUbufToGm(0x200, 0x100, 1, 2, 3, 4, 5, 6, UB, GM),
    ),
    (
        f"pto.copy_ubuf_to_ubuf %ub, %ub, %c1, %c2, %c3, %c4, %c5 : {_types('ub', 'ub')}, "
        f"{_i64(5)}",
        CopyUbufToUbuf(0x200, 0x200, 1, 2, 3, 4, 5, UB, UB),
    ),
    ("pto.set_loop_size_outtoub %c1, %c2 : i64, i64", SetLoopSize("outtoub", 1, 2)),
    ("pto.set_loop_size_ubtoout %c1, %c2 : i64, i64", SetLoopSize("ubtoout", 1, 2)),
    ("pto.set_loop1_stride_outtoub %c1, %c2 : i64, i64", SetLoopStride("outtoub", 1, 1, 2)),
    ("pto.set_loop2_stride_outtoub %c1, %c2 : i64, i64", SetLoopStride("outtoub", 2, 1, 2)),
    ("pto.set_loop1_stride_ubtoout %c1, %c2 : i64, i64", SetLoopStride("ubtoout", 1, 1, 2)),
    ("pto.set_loop2_stride_ubtoout %c1, %c2 : i64, i64", SetLoopStride("ubtoout", 2, 1, 2)),
    ("pto.set_mov_pad_val %i8 : i8", SetMovPadVal("i8", 0xFD)),
    (
        f"pto.mte_l1_l0a %l1, %l0a, %c1, %c2 : {_types('l1', 'l0a')}, i64, i64",
        shaped("mte_l1_l0a", 0x300, 0x400, Shape(1, 2), L1, L0A),
    ),
    (
        f"pto.mte_l1_l0b %l1, %l0b, %c1, %c2 : {_types('l1', 'l0b')}, i64, i64",
        shaped("mte_l1_l0b", 0x300, 0x500, Shape(1, 2), L1, L0B, 1),
    ),
    *_fills(),
    *_scale_loads(),
    *_register_loads(),
    *_products(),
]  # fmt: skip
"""An op with a different value in each operand, and the expected op."""


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[_name(text) for text, _ in CASES])
def test_operands_reach_their_fields(text: str, expected: Any) -> None:
    """Each op, each clause: values, types, words."""
    (step,) = walk(text, types=_dtypes(text)).steps
    assert isinstance(step, Compute if _name(text).startswith("mad") else Move)
    assert step.op == expected
    assert step.name == _name(text)
    assert step.pipe is PIPES[step.name]


def test_every_op_is_built_here() -> None:
    """No op of a pipe lacks a case above, or a class."""
    cases = {_name(text) for text, _ in CASES}
    assert cases == {name for name in PIPES if not name.startswith(("set_ctrl", "set_atomic"))}
    others = ("set_", *CUBE_OPS)
    forms = {*TEXT_FORMS} - CUBE_OPS
    assert set(CLASSES) - CUBE_OPS == forms | {x for x in PIPES if not x.startswith(others)}


def test_ops_that_write_ctrl() -> None:
    """A negative number is a bit pattern; an op samples CTRL at its issue, where it needs it."""
    store = (
        f"pto.mte_l0c_gm %l0c, %gm, %c1, %c2, %c3, %c4, %c5, %c6 : "
        f"!pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, {_i64(6)}"
    )
    clauses = store.replace("%c6 :", "%c6, sat, atomic(type = f32, op = add) :")
    text = "\n".join(("pto.set_ctrl %m1 : i64", "pto.set_atomic_none", "pto.set_atomic_max",
                      store, clauses))  # fmt: skip
    *writes, omitted, written = walk(text, types=ACC).steps
    assert [step.op for step in writes if isinstance(step, Move)] == [
        SetCtrl((1 << 64) - 1), SetAtomic("none"), SetAtomic("max"),
    ]  # fmt: skip
    assert all(step.pipe is Pipe.S for step in writes)
    assert isinstance(omitted, Move)
    assert isinstance(written, Move)
    assert omitted.ctrl == (1 << 64) - 1 & ~(7 << 6) & ~(3 << 9) | 1 << 9
    assert written.ctrl == 0, "its clauses leave nothing to CTRL"
    with pytest.raises(ProgramError, match="takes i64"):
        walk("pto.set_ctrl %yes : i1")


def _load(length: str = "%c2", count: str = "%c3", l2: str = "%c1", tail: str = "") -> str:
    return (
        f"pto.mte_gm_ub %gm, %ub, {l2}, {length} nburst({count}, %c4, %c5) : "
        f"{_types('gm', 'ub')}, {_i64(5)}{tail}"
    )


NEGATIVE = [
    (_load("%m1"), "DMA-L05: len_burst (%m1) is -1: counts, sizes and strides", "0..65535"),
    (_load(l2="%m1"), "DMA-L15: l2_cache_ctl (%m1) is -1", "0..3"),
    (
        _load().replace("%c5) :", "%c5) loop(%c1, %c2, %m1) :") + ", loop i64, i64, i64",
        "DMA-L05: loop_dst_stride (%m1) is -1",
        "0..2097151",
    ),
    (
        "pto.mte_gm_l1_frac %gm, %l1, nd2nz, shape(%m1, %c2), src_layout(%c3), "
        f"dst_group(%c5, %c6, %c7, %c8), ctrl(%c9, %no) : {_types('gm', 'l1')}, nd2nz, "
        f"shape i64, i64, src_layout(i64), dst_group {_i64(4)}, ctrl i64, i1",
        "ND-L03: n_value (%m1) is -1",
        "0..65535",
    ),
    (
        f"pto.mte_l1_bt %l1, %bt, %m1 nburst(%c3, %c4, %c5) : {_types('l1', 'bt')}, {_i64(4)}",
        "BT-L02: len_burst (%m1) is -1",
        "0..65535",
    ),
    (
        f"pto.mte_l1_fb %l1, %fb, %c1 nburst(%m1, %c4, %c5) : {_types('l1', 'fb')}, {_i64(4)}",
        "FB-L02: n_burst (%m1) is -1",
        "0..4095",
    ),
    (
        f"pto.mte_l0c_gm %l0c, %gm, %m1, %c2, %c3, %c4, %c5, %c6 : "
        f"{_types('l0c', 'gm')}, {_i64(6)}",
        "FIX-L14: m (%m1) is -1",
        "0..65535",
    ),
    (
        f"pto.mte_l0c_gm %l0c, %gm, %c1, %c2, %c3, %c4, %m1, %c6 : "
        f"{_types('l0c', 'gm')}, {_i64(6)}",
        "FIX-L13: sid (%m1) is -1",
        "0..3",
    ),
    ("pto.set_loop_size_outtoub %m1, %c2 : i64, i64", "DMA-L05: loop1_count (%m1) is -1", "0 and"),
    (
        "%low = pto.castptr %m1 : i64 -> !pto.ptr<i8, ub>\n" + _load().replace("%ub", "%low"),
        "DMA-L12: ub_dst (%low) is -1: addresses are unsigned",
        "0 and above",
    ),
]


@pytest.mark.parametrize(("text", "message", "legal"), NEGATIVE)
def test_negative_operands_break_the_rule_of_the_width(text: str, message: str, legal: str) -> None:
    """An error in a run; a finding in a static walk, which continues."""
    with pytest.raises(ProgramError) as caught:
        walk(text)
    (found,) = caught.value.findings
    assert f"{found.rule}: {found.message}".startswith(message)
    assert found.legal.startswith(legal)
    trace = walk(text, static=True)
    assert trace.findings == (found,)
    (step,) = trace.steps
    assert isinstance(step, Move)


@pytest.mark.parametrize("kind", ["i1", "i8", "i16", "i32", "index", "si64", "ui64"])
def test_counts_are_i64(kind: str) -> None:
    load = "pto.mte_gm_ub %gm, %ub, %c1, %n nburst(%c1, %c4, %c5) : "
    types = f"{_types('gm', 'ub')}, i64, {kind}, i64, i64, i64"
    with pytest.raises(ProgramError, match=f"len_burst has type {kind}, it takes i64"):
        walk(f"%n = pto.get_block_idx : {kind}\n{load}{types}")


@pytest.mark.parametrize(("kind", "value"), [("i1", "true"), ("i64", "2")])
def test_a_flag_is_an_i1_or_holds_what_no_i1_does(kind: str, value: str) -> None:
    kinds = f"i64, i64, i64, i64, i64, {kind}, i64, i64, i64"
    copy = f"pto.copy_gm_to_ubuf %gm, %ub, {'%c1, ' * 5}%n, %c1, %c1, %c1 : {_types('gm', 'ub')}, "
    literal = value if kind == "i1" else f"{value} : {kind}"
    (step,) = walk(f"%n = arith.constant {literal}\n{copy}{kinds}").steps
    assert isinstance(step, Move)
    assert isinstance(step.op, CopyGmToUbuf)
    assert step.op.data_select_bit == (1 if kind == "i1" else 2)
    with pytest.raises(ProgramError, match="data_select_bit has type i64, it takes i1"):
        walk(f"%n = arith.constant 1 : i64\n{copy}{kinds.replace('i1,', 'i64,')}")


def test_an_unknown_operand_leaves_the_others_known() -> None:
    (step,) = walk(_load("%unknown"), static=True).steps
    assert isinstance(step, Move)
    assert isinstance(step.op, MteGmUb)
    assert step.op.len_burst is UNKNOWN
    assert (step.op.gm_src, step.op.n_burst, step.op.src_stride) == (0x100, 3, 4)


def _back(clauses: str, types: str, op: str = "mte_l0c_gm") -> str:
    return (
        f"pto.{op} %l0c, %gm, %c1, %c2, %c3, %c4, %c5, %c6, {clauses} : "
        f"{_types('l0c', 'gm')}, {_i64(6)}{types}"
    )


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            _back("pre_quant(%ub, mode = vqf322b8_pre)", ", !pto.ptr<i8, ub>"),
            "FIX-L03 pre_quant pointer ub fb",
        ),
        (
            _back("pre_relu(%l1, mode = vector_relu)", ", !pto.ptr<i8, l1>"),
            "FIX-L05 pre_relu pointer l1 fb",
        ),
        (_load(tail=" {ub_sub = 2}"), "ub_sub 2 sub-block 0 1"),
        (_load(tail=" {pto_dv.gap = -4}"), "pto_dv.gap -4"),
        (
            f"pto.mte_gm_l1 %gm, %l1, %c2 nburst(%c3, %c4, %c5) : {_types('gm', 'l1')}, "
            f"{_i64(4)} {{ub_sub = 1}}",
            "ub_sub without sub-block",
        ),
        ("pto.set_mov_pad_val %ui8 : ui8", "DMA-L03 pad type ui8"),
    ],
)
def test_values_that_no_op_has_are_errors(text: str, facts: str) -> None:
    """Payloads in other memories, sub-blocks that do not exist, pad types."""
    with pytest.raises(ProgramError) as caught:
        walk(text)
    assert says(str(caught.value), facts), caught.value


def test_register_forms_are_ops_of_the_grouped_form() -> None:
    text = (
        f"pto.copy_gm_to_cbuf %gm, %l1, %c1, %c2, %c3, %c4 : {GM}, {L1}, {_i64(4)}\n"
        f"pto.copy_cbuf_to_ubuf %l1, %ub, %c3, %c1, %c2, %c6, %c7 : {L1}, {UB}, {_i64(5)}\n"
        f"pto.copy_ubuf_to_cbuf %ub, %l1, %c3, %c1, %c2, %c6, %c7 : {UB}, {L1}, {_i64(5)}\n"
        f"pto.copy_cbuf_to_fbuf %l1, %fb, %c1, %c2, %c6, %c7 : {L1}, {FB}, {_i64(4)}\n"
    )
    steps = walk(text).steps
    assert [step.op for step in steps if isinstance(step, Move)] == [
        MteGmL1(0x100, 0x300, 2, 1, 3, 4, (), GM, L1),
        MteL1Ub(0x300, 0x200, 2, 1, 6, 7, (), L1, UB, 1),
        MteUbL1(0x200, 0x300, 2, 1, 6, 7, UB, L1),
        MteL1Fb(0x300, 0x800, 2, 1, 6, 7, L1, FB),
    ]
    names = ["mte_gm_l1", "mte_l1_ub", "mte_ub_l1", "mte_l1_fb"]
    assert [step.pipe for step in steps if isinstance(step, Move)] == [PIPES[x] for x in names]


def test_bits_of_ctrl_are_set_and_cleared() -> None:
    text = (
        "%bit = arith.constant 63 : i64\n"
        "%a = pto.get_ctrl : i64\n"
        "%b = pto.sbitset1 %a, %bit : i64, i64 -> i64\n"
        "pto.set_ctrl %b : i64\n"
        "pto.set_atomic_f16\n"
        "%c = pto.get_ctrl : i64\n"
        "%d = pto.sbitset0 %c, %bit : i64, i64 -> i64\n"
        "pto.set_ctrl %d : i64\n"
    )
    steps = [step.op for step in walk(text).steps if isinstance(step, Move)]
    assert steps == [SetCtrl(1 << 63), SetAtomic("f16"), SetCtrl(2 << 6)]


def test_a_bit_that_no_word_has() -> None:
    text = "%a = pto.get_ctrl : i64\n%b = pto.sbitset1 %a, %n : i64, i64 -> i64\n"
    with pytest.raises(ProgramError, match="bit 64 of a word of 64 bits"):
        walk(f"%n = arith.constant 64 : i64\n{text}")


def test_known_ops_are_read_and_not_run() -> None:
    text = "pto.set_fpc %c1 : i64\n"
    assert [each.name for each in walk(text, static=True).skipped] == ["pto.set_fpc"]
    with pytest.raises(ProgramError, match="known and not executed: later ops may read"):
        walk(text)
