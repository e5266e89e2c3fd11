# SPDX-License-Identifier: Apache-2.0
"""Every D rule of the write-backs broken in many ways, and legal ops at the limits.

Illegal ops may wait for unit flags that are never set; they must retire.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from sequences.constraints import FB_SIZE, L0C_SIZE
from sequences.fixpipe.ctrl import STORED_BITS, ctrl_of
from sequences.fixpipe.kinds import legal_codes
from sequences.fixpipe.plain_ops import (
    ALPHAS,
    ENDS,
    at_end,
    dn,
    f32_rows,
    fb_rows,
    four_bit,
    nz,
    plain,
    scalar,
    split_m,
    split_n,
    to_type,
)
from sequences.illegal.cases import (
    Break,
    Case,
    Change,
    chain,
    changed,
    make_cases,
    put,
    shift,
    too_wide,
)
from tb.isa.ctrl import SetCtrl
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Atomic, FbPtr, FixOp, PreRelu, Scalar
from tb.isa.fix.table import MAX_M, MAX_M_NZ, QUANT_MODES
from tb.isa.profile import current
from tb.isa.program import moving
from tb.isa.spaces import FB_SEGMENT_SHIFT

_DS_MAX = (1 << 32) - 1


def _clip(dtype: str, bits: int) -> Change:
    """Returns a change of the clip; the mode of the ReLU is kept."""

    def change(op: FixOp) -> FixOp:
        assert op.pre_relu is not None
        return changed(op, pre_relu=replace(op.pre_relu, clip=Scalar(dtype, bits)))

    return change


def _loop(**values: int) -> Change:
    def change(op: FixOp) -> FixOp:
        assert op.loop3 is not None
        return changed(op, loop3=replace(op.loop3, **values))

    return change


def _quant_at(address: int) -> Change:
    def change(op: FixOp) -> FixOp:
        assert op.pre_quant is not None
        return changed(op, pre_quant=replace(op.pre_quant, payload=FbPtr("f32", address)))

    return change


def _relu_at(address: int) -> Change:
    def change(op: FixOp) -> FixOp:
        assert op.pre_relu is not None
        return changed(op, pre_relu=replace(op.pre_relu, payload=FbPtr("f16", address)))

    return change


_NOP = put("m", 0)


def _clips() -> Iterator[Break]:
    bad = {
        "f16": [("f16", x) for x in (0, 0x7C00, 0x7C01, 0x8000, 0xBC00, 0xFFFF)],
        "ui8": [("ui16", 0), ("ui16", 256), ("i16", 0xFFFF), ("i16", 0x8000), ("ui16", 0xFFFF)],
        "i4": [("si4", 0), ("si8", 8), ("i16", 0xFFFF), ("i4", 0xF), ("i8", 0x80), ("si16", 0x100)],
        "i8": [("i8", 0), ("i16", 128), ("si16", 0x8000), ("i4", 8), ("i8", 0xFF)],
        "i16": [("i16", 0), ("si16", 0x8000), ("i16", 0xFFFF), ("i8", 0x80), ("i4", 0xC)],
    }
    for dtype, values in bad.items():
        for of, bits in values:
            change = chain(to_type(dtype), _clip(of, bits))
            yield Break(f"clip {bits:#x} of {of} to {dtype}", 7, change)
    yield Break("clip 0, no rows", 7, chain(_NOP, _clip("f16", 0)))
    yield Break("clip 0, no columns", 7, chain(put("n", 0), _clip("f16", 0)))


def _widths(form: str) -> Iterator[Break]:
    fields = [("m", 16), ("n", 12), ("src_stride", 16), ("dst_stride", 32)]
    if form == "mte_l0c_gm":
        fields += [("sid", 2), ("l2_cache_ctrl", 4)]
    yield from too_wide(fields, 14)
    loops = (("count", 16), ("src_stride", 16), ("dst_stride", 32))
    for name, bits in loops:
        for value in (1 << bits, (1 << bits) + 32, 5 << bits, 1 << (bits + 20)):
            yield Break(f"loop3 {name} = {value}", 14, _loop(**{name: value}))
    for value in (1 << 16, (1 << 16) + 3, 1 << 40):
        yield Break(f"K = {value}", 14, chain(dn, put("k", value)))
    yield Break("K = 0", 14, chain(dn, put("k", 0)))
    yield Break("K = 0, no rows", 14, chain(dn, put("k", 0), _NOP))
    for value in (MAX_M + 1, 65535):
        yield Break(f"m = {value}", 14, put("m", value))
        yield Break(f"m = {value}, no columns", 14, chain(put("m", value), put("n", 0)))
        yield Break(f"m = {value} with nz2dn", 14, chain(dn, put("m", value)))
    yield Break("m = 65536 with nz2nz", 14, chain(nz, put("m", MAX_M_NZ + 1)))
    yield Break("dst_stride 0", 14, put("dst_stride", 0))
    yield Break("dst_stride 0, one row", 14, chain(put("m", 1), put("dst_stride", 0)))
    yield Break("dst_stride 0, no rows", 14, chain(_NOP, put("dst_stride", 0)))
    for value in (2, 3, 1 << 20):
        yield Break(f"split {value}", 14, chain(nz, put("split", value)))
        if form == "mte_l0c_ub":
            yield Break(f"sub-block {value}", 14, put("sub_block", value))
    for value in (1, 4, 5, 6, 7, 1 << 10):
        yield Break(f"unit_flag {value}", 14, put("unit_flag", value))
    yield Break("unit_flag 1, no rows", 14, chain(put("unit_flag", 1), _NOP))


def _alignment(form: str) -> Iterator[Break]:
    for by in (1, 2, 8, 15):
        yield Break(f"src_stride + {by}", 15, shift("src_stride", by))
    yield Break("n 17, src_stride 8", 15, chain(put("n", 17), put("src_stride", 8)))
    yield Break("src_stride 65535", 15, put("src_stride", 65535))
    yield Break("src_stride 24, no rows", 15, chain(put("src_stride", 24), _NOP))
    yield Break("src_stride + 8, nz2nz", 15, chain(nz, shift("src_stride", 8)))
    for by in (1, 4, 16, 32, 63):
        yield Break(f"src + {by}", 16, shift("src", by))
    yield Break("src + 32, no rows", 16, chain(shift("src", 32), _NOP))
    if form == "mte_l0c_gm":
        yield Break("f16 dst + 1", 16, shift("dst", 1))
        for by in (1, 2, 3):
            yield Break(f"f32 dst + {by}", 16, chain(f32_rows, shift("dst", by)))
        change = chain(to_type("i16"), shift("dst", 1), put("n", 0))
        yield Break("i16 dst + 1, no columns", 16, change)
        return
    for by in (1, 2, 4, 8, 16, 31):
        yield Break(f"dst + {by}", 16, shift("dst", by))
    yield Break("i8 dst + 16", 16, chain(to_type("i8"), shift("dst", 16)))
    yield Break("i4 dst + 16", 16, chain(four_bit, shift("dst", 16)))
    yield Break("dst + 16, no rows", 16, chain(shift("dst", 16), _NOP))
    for by in (1, 8, 15):
        yield Break(f"f16 dst_stride + {by}", 17, shift("dst_stride", by))
    yield Break("f16 dst_stride 24", 17, put("dst_stride", 24))
    yield Break("f32 dst_stride + 4", 17, chain(f32_rows, shift("dst_stride", 4)))
    yield Break("i8 dst_stride + 16", 17, chain(to_type("i8"), shift("dst_stride", 16)))
    yield Break("i4 dst_stride + 32", 17, chain(four_bit, shift("dst_stride", 32)))
    yield Break("i4 dst_stride + 1", 17, chain(four_bit, shift("dst_stride", 1)))
    yield Break("f16 D3 8", 17, _loop(dst_stride=8))
    yield Break("f16 D3 1, one repeat", 17, _loop(dst_stride=1, count=1))
    yield Break("nz2nz dst_stride + 4", 17, chain(nz, shift("dst_stride", 4)))
    yield Break("dst_stride + 8, one row", 17, chain(put("m", 1), shift("dst_stride", 8)))
    yield Break("dst_stride + 8, no rows", 17, chain(shift("dst_stride", 8), _NOP))


def _nibbles(form: str) -> Iterator[Break]:
    for n in (1, 15, 17, 33):
        yield Break(f"i4 n {n}", 18, chain(four_bit, put("n", n)))
    yield Break("i4 n odd, no rows", 18, chain(four_bit, put("n", 31), _NOP))
    for m in (1, 3, 7):
        yield Break(f"i4 nz2dn m {m}", 18, chain(four_bit, dn, put("m", m)))
    if form == "mte_l0c_gm":
        yield Break("i4 dst_stride odd", 18, chain(four_bit, shift("dst_stride", 1)))
        change = chain(four_bit, put("m", 1), put("dst_stride", 1))
        yield Break("i4 dst_stride 1, one row", 18, change)
        yield Break("i4 D3 odd", 18, chain(four_bit, _loop(dst_stride=1001)))
        yield Break("i4 D3 odd, one repeat", 18, chain(four_bit, _loop(dst_stride=1, count=1)))


def _layouts(form: str) -> Iterator[Break]:
    for n in (1, 8, 17, 24, 40):
        yield Break(f"nz2nz n {n}", 19, chain(nz, put("n", n)))
    left_out = chain(nz, put("n", 24), lambda op: changed(op, split=None))
    yield Break("nz2nz without split, n 24", 19, left_out)
    for n in (1, 4, 12, 28):
        yield Break(f"nz2nz(1) n {n}", 19, chain(nz, put("split", 1), put("n", n)))
    yield Break("nz2nz n 24, no rows", 19, chain(nz, put("n", 24), _NOP))
    for flag in (2, 3):
        check = put("unit_flag", flag)
        for k in (2, 3, 16, 65535):
            yield Break(f"unit_flag {flag}, K {k}", 20, chain(dn, put("k", k), check))
        yield Break(f"unit_flag {flag}, K 2, no rows", 20, chain(dn, put("k", 2), check, _NOP))
    if current().modes == "a5":
        for flag in (2, 3) if form == "mte_l0c_gm" else (0, 2, 3):
            split = chain(nz, put("split", 1), put("unit_flag", flag))
            yield Break(f"nz2nz(1), unit_flag {flag}", 20, split)
            yield Break(f"nz2nz(1), unit_flag {flag}, no rows", 20, chain(split, _NOP))
    if form == "mte_l0c_ub":
        for m in (1, 3, 7):
            yield Break(f"split_m m {m}", 21, chain(split_m, put("m", m)))
        for n in (1, 16, 48, 33):
            yield Break(f"split_n n {n}", 21, chain(split_n, put("n", n)))
        yield Break("split_m m 7, no columns", 21, chain(split_m, put("m", 7), put("n", 0)))
        yield Break("split_n n 16, no rows", 21, chain(split_n, put("n", 16), _NOP))


def _pointers() -> Iterator[Break]:
    for address in (64, 8, 1, 192, FB_SIZE - 64, 127, 0xF81):
        yield Break(f"records at {address:#x}", 22, _quant_at(address))
    for address in (32, 4, 2, 96, FB_SIZE - 32, ALPHAS + 32, ALPHAS + 1, ALPHAS + 0xFFF):
        yield Break(f"alphas at {address:#x}", 22, _relu_at(address))
    yield Break("records at 64, no rows", 22, chain(_quant_at(64), _NOP))
    yield Break("alphas at 32, no columns", 22, chain(_relu_at(32), put("n", 0)))
    last = 1 << FB_SEGMENT_SHIFT
    for address in (FB_SIZE - 128, FB_SIZE, 2 * FB_SIZE, last - 128):
        yield Break(f"records end past their segment from {address:#x}", 22, _quant_at(address))
        for base in (0, ALPHAS):
            at = base + address + 64
            yield Break(f"alphas end past their segment from {at:#x}", 22, _relu_at(at))
    # Segments that do not exist, or hold other parameters; the pointer of a NOP has one too.
    records = (1, 2, 3, 16, 128, 254, 255, 256, 257, 1 << 14, 1 << 24)
    for segment, offset in product(records, (0, FB_SIZE - 512)):
        address = (segment << FB_SEGMENT_SHIFT) + offset
        yield Break(f"records in segment {segment}, {address:#x}", 22, _quant_at(address))
        if segment > 1:
            yield Break(f"alphas in segment {segment}, {address:#x}", 22, _relu_at(address))
    for segment in (1, 2, 255):
        change = _quant_at(segment << FB_SEGMENT_SHIFT)
        yield Break(f"records in segment {segment}, no rows", 22, chain(change, _NOP))
    for segment in (2, 3, 255):
        change = _relu_at(segment << FB_SEGMENT_SHIFT)
        yield Break(f"alphas in segment {segment}, no columns", 22, chain(change, put("n", 0)))
    yield Break("513 channels", 22, chain(put("n", 513), _quant_at(0)))
    yield Break("1025 alphas", 22, chain(scalar, _with_alphas(ALPHAS), put("n", 1025)))
    yield Break("4095 channels", 22, chain(put("n", 4095), _quant_at(0), _relu_at(0)))


def _with_alphas(address: int) -> Change:
    """Returns the change to parameters per channel of the ReLU alone."""

    def change(op: FixOp) -> FixOp:
        assert op.pre_relu is not None
        return changed(
            op, pre_relu=replace(op.pre_relu, mode="vector_relu", payload=FbPtr("f32", address))
        )

    return change


def _outside(form: str) -> Iterator[Break]:
    size = ENDS[form]
    yield Break("source ends a word too far", 23, chain(at_end, shift("src", 64)))
    for base in (L0C_SIZE, L0C_SIZE + 64, 1 << 24, (1 << 32) + 64, 1 << 64):
        yield Break(f"src {base:#x}", 23, put("src", base))
    unit = 2 if form == "mte_l0c_gm" else 32
    for by in (unit, 2 * unit, 4096):
        yield Break(f"destination ends {by} too far", 23, chain(at_end, shift("dst", by)))
    bases = [size, size + 32, size << 4, (1 << 64) + 64]
    bases += [(1 << 43) + 64] if form == "mte_l0c_gm" else [1 << 24, (1 << 44) - 64]
    for base in bases:
        yield Break(f"dst {base:#x}", 23, put("dst", base))
    yield Break("groups far out", 23, put("src_stride", 65520))
    yield Break("repeats far out", 23, _loop(src_stride=65535))
    yield Break("most repeats", 23, _loop(count=65535))
    yield Break("rows far out", 23, chain(dn, put("k", 65535), put("unit_flag", 0)))
    yield Break("most rows", 23, put("m", MAX_M))
    yield Break("most rows, nz2nz", 23, chain(nz, put("m", MAX_M_NZ)))
    yield Break("most columns", 23, chain(scalar, put("n", 4080), put("src_stride", 2048)))
    far = _DS_MAX // 64 * 64
    yield Break("destination rows far out", 23, chain(at_end, put("dst_stride", far)))
    yield Break("destination repeats far out", 23, chain(at_end, _loop(dst_stride=far)))
    if form == "mte_l0c_ub":
        yield Break("split_m ends too far", 23, chain(split_m, at_end, shift("dst", 32)))
        yield Break("split_n ends too far", 23, chain(split_n, at_end, shift("dst", 32)))


def _combinations(form: str) -> tuple[Mapping[int, Change], ...]:
    """Returns groups of changes; those of a group can all be applied to one op, low rules last."""
    wide = put("unit_flag", 1)
    local = form != "mte_l0c_gm"
    last = chain(put("src", L0C_SIZE + 64), put("dst", ENDS[form] + 64))
    align = shift("src", 32)
    base: dict[int, Change] = {
        7: _clip("si8", 0), 14: wide, 15: shift("src_stride", 1), 16: align, 22: _quant_at(64),
        23: last,
    }  # fmt: skip
    stride: dict[int, Change] = {17: shift("dst_stride", 2)} if local else {}
    nibbles = {**base, **stride, 18: put("n", 31)}
    check = chain(dn, put("k", 2), put("unit_flag", 2))
    keep = {14: put("dst_stride", 0)}
    downs = {**base, **stride, 18: put("m", 3), **keep, 20: check}
    fractals = {
        **{rule: change for rule, change in base.items() if rule != 7},
        **({17: shift("dst_stride", 4)} if local else {}), 19: put("n", 24),
    }  # fmt: skip
    groups: list[Mapping[int, Change]] = [
        {0: four_bit, **nibbles}, {0: chain(four_bit, dn), **downs}, {0: nz, **fractals},
    ]  # fmt: skip
    if form == "mte_l0c_ub":
        halves = {
            14: wide, 15: shift("src_stride", 1), 16: align, 17: shift("dst_stride", 4),
            21: put("m", 7), 23: last,
        }  # fmt: skip
        groups.append({0: split_m, **halves})
        groups.append({0: split_n, **halves, 21: put("n", 48)})
    return tuple(groups)


def _near(rng: np.random.Generator, form: str) -> Iterator[tuple[str, FixOp]]:
    """Yields legal ops at a limit, by the name of the limit."""
    op, gm = plain(rng, form), form == "mte_l0c_gm"
    lone = chain(put("m", 1), put("n", 16), lambda x: changed(x, loop3=None, layout="nz2nd"))
    limits = {"f16": (1, 0x7BFF), "ui8": (1, 255), "i4": (1, 7), "i8": (1, 127), "i16": (1, 32767)}
    for dtype, values in limits.items():
        of = {"f16": "f16", "ui8": "ui16"}.get(dtype, "i16")
        for bits in values:
            yield f"clip {bits} to {dtype}", chain(to_type(dtype), _clip(of, bits))(op)
    yield "m 8192, no columns", changed(op, m=MAX_M, n=0)
    yield "m 65535 with nz2nz, no columns", changed(nz(op), m=MAX_M_NZ, n=0)
    wide = changed(scalar(op), m=1, n=4095, src_stride=16, src=0, loop3=None)
    yield "n 4095", changed(wide, dst_stride=4096)
    yield "n 4095, source stride 0", changed(wide, dst_stride=4096, src_stride=0)
    most = _DS_MAX if gm else _DS_MAX // 64 * 64
    yield "one row, dst_stride at most", changed(lone(op), dst_stride=most)
    yield "one repeat, most strides", _loop(count=1, src_stride=65535, dst_stride=most)(op)
    yield "no repeats", _loop(count=0)(op)
    yield "no repeats, most strides", _loop(count=0, src_stride=65535, dst_stride=most)(op)
    yield "one group, src_stride 65535", changed(lone(op), src_stride=65535)
    yield "one row, K 65535", changed(dn(lone(op)), k=65535, unit_flag=0)
    yield "K 1 with flags", changed(dn(op), k=1, unit_flag=2)
    yield "K 2 without flags", changed(dn(op), k=2, unit_flag=0)
    yield "K 1 with clear", changed(dn(op), k=1, unit_flag=3)
    if gm or current().modes == "all":
        yield "nz2nz(1) n 8", changed(nz(op), n=8, split=1, unit_flag=0)
    yield "nz2nz n 16", changed(nz(op), n=16)
    yield "i4 n 2", changed(four_bit(op), n=2)
    yield "i4 nz2dn m 2", changed(dn(four_bit(op)), m=2)
    yield "last bytes of all", at_end(op)
    yield "last bytes of all, nz2nz", at_end(nz(op))
    yield "last bytes of all, nz2dn", at_end(dn(op))
    last = (FB_SIZE - 128, FB_SIZE - 64)
    yield "last rows of a segment", chain(lone, _quant_at(last[0]), _relu_at(last[1]))(op)
    change = chain(lone, _quant_at(last[0]), _relu_at(ALPHAS + last[1]))
    yield "last rows of both segments", change(op)
    half = changed(op, m=1, n=512, src_stride=16, src=0, loop3=None, dst_stride=512)
    yield "all of a segment", chain(_quant_at(0), _relu_at(FB_SIZE // 2))(half)
    yield "records of a segment", chain(_quant_at(0), _relu_at(ALPHAS))(half)
    whole = changed(scalar(half), n=1024, dst_stride=1024)
    yield "alphas of a segment", _with_alphas(ALPHAS)(whole)
    yield "alphas of segment 0", _with_alphas(0)(whole)
    for past in (FB_SIZE, (1 << FB_SEGMENT_SHIFT) - 128):
        change = chain(_NOP, _quant_at(past), _relu_at(ALPHAS + past))
        yield f"no rows, channels past both segments from {past:#x}", change(op)
    outside = changed(op, n=0, src=(1 << 24) - 64, dst=(1 << 44) - 64 if gm else (1 << 24) - 32)
    yield "no columns, far outside", outside
    yield "check without rows", changed(op, m=0, unit_flag=2)
    yield "clear without columns", changed(op, n=0, unit_flag=3)
    # A payload that the mode ignores may be anything.
    unused: dict[str, Any] = {"payload": FbPtr("f32", 0xFFFFF3)}
    rows = f32_rows(op)
    words = changed(rows, src_type=Ptr("i32", "l0c"), pre_quant=None, pre_relu=None)
    yield "i32 to ui32", changed(words, dst_type=Ptr("ui32", form[-2:]))
    assert rows.pre_quant is not None
    quiet = changed(rows.pre_quant, mode="no_convert", **unused)
    yield "unused pointer", changed(rows, pre_quant=quiet, pre_relu=PreRelu("no_relu"))
    number = changed(rows.pre_quant, mode="no_convert", payload=Scalar("f32", 0x7FC00001))
    yield "unused NaN", changed(rows, pre_quant=number, pre_relu=None)
    if gm:
        yield "hints at most", changed(op, sid=3, l2_cache_ctrl=15)
        yield "i4 at an odd byte", changed(four_bit(op), dst=4097)
        yield "one i8 at an odd byte", changed(lone(to_type("i8")(op)), n=1, dst=4099)
    if form == "mte_l0c_ub":
        yield "split_m m 2", changed(split_m(op), m=2)
        yield "split_n n 32", changed(split_n(op), n=32)
        yield "split_m at the end", at_end(split_m(op))
        yield "split_n at the end", at_end(split_n(op))


def fix_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns every case of a write-back."""
    breaks = [
        *_clips(), *_widths(form), *_alignment(form), *_nibbles(form), *_layouts(form),
        *_pointers(), *_outside(form),
    ]  # fmt: skip

    def near(rng: np.random.Generator) -> Mapping[str, FixOp]:
        return dict(_near(rng, form))

    base, fills = partial(_flagged, form=form), fb_rows(rng)
    cases = make_cases(rng, form, base, breaks, _combinations(form), near, fills)
    return [case for case in cases if _exists(case)] + [*_ctrl_cases(rng, form)]


def _exists(case: Case) -> bool:
    """Tells whether the profile of the process has the pre_quant mode of a case (FIX-L04)."""
    quant = moving(case.program).pre_quant
    return quant is None or QUANT_MODES[quant.mode].code in legal_codes()


def _ctrl_cases(rng: np.random.Generator, form: str) -> Iterator[Case]:
    """Yields ops under CTRL with atomics of no meaning, and legal neighbours."""
    stored = (1 << STORED_BITS) - 1 & ~ctrl_of("nosat", 7, 3, keep_nan=1)
    gm = form == "mte_l0c_gm"
    bad = [(7, what) for what in range(4)] + [(kind, 3) for kind in range(1, 7)]
    for (kind, what), other in product(bad, (0, stored)):
        ctrl = ctrl_of("sat", kind, what) | other
        for name, change in (("", chain()), (", no rows", _NOP), (", no columns", put("n", 0))):
            case = f"CTRL {ctrl:#x}{name}"
            yield _under(case, form, 26 if gm else 0, change(_flags_ready(rng, form)), ctrl, rng)
    lower = {14: put("dst_stride", 0), 16: shift("src", 32), 22: _quant_at(64),
             23: put("src", L0C_SIZE)}  # fmt: skip
    for rule, change in lower.items() if gm else ():
        broken = change(_flagged(rng, form))
        yield _under(f"rules {rule}, 26", form, rule, broken, ctrl_of("", 7, 0), rng)
    if gm:
        ends = _last_group_outside(_flagged(rng, form))
        yield _under("rules 23 by the last columns, 26", form, 23, ends, ctrl_of("", 7, 0), rng)
    op = _flags_ready(rng, form)
    for what in range(4):
        yield _under(f"type 0 with op {what}", form, 0, op, ctrl_of("nosat", 0, what), rng)
        if gm:
            clause = changed(op, atomic=Atomic("f16", "add"))
            name = f"clause with CTRL 7 and op {what}"
            yield _under(name, form, 0, clause, ctrl_of("", 7, what) | stored, rng)
            clause = changed(op, atomic=Atomic("f16", "max"))
            yield _under(f"clause with CTRL 5 and op {what}", form, 0, clause,
                         ctrl_of("", 5, what), rng)  # fmt: skip
            if what < 3:
                name = f"f16 by CTRL and op {what}"
                yield _under(name, form, 0, op, ctrl_of("", 2, what) | stored, rng)


def _last_group_outside(op: FixOp) -> FixOp:
    """Returns the op with its last group of 16 columns alone behind the end of L0C."""
    assert op.loop3 is not None
    words = op.m + (op.loop3.count - 1) * op.loop3.src_stride + (op.n - 1) // 16 * op.src_stride
    return changed(op, src=L0C_SIZE - 64 * (words - op.src_stride // 2))


def _flags_ready(rng: np.random.Generator, form: str) -> FixOp:
    """Returns a base op that waits for no flag."""
    return changed(plain(rng, form), unit_flag=0)


def _under(name: str, form: str, rule: int, op: FixOp, ctrl: int, rng: np.random.Generator) -> Case:
    """Returns a case of an op that is issued under CTRL; legal ones have their parameters."""
    fills = () if rule else fb_rows(rng)
    return Case(name, form, rule, (SetCtrl(ctrl), op, SetCtrl(0)), fills)


def _flagged(rng: np.random.Generator, form: str) -> FixOp:
    """Returns a base op that may wait for flags, which are never set."""
    return changed(plain(rng, form), unit_flag=int(rng.choice((0, 2, 3))))
