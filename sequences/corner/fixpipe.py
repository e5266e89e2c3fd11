# SPDX-License-Identifier: Apache-2.0
"""Hand-written corners of the write-backs: tails, edges of words, flags, parameters, values."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product

from sequences.constraints import FB_SIZE, FIX_NAMES
from sequences.corner.limits import limit_ops
from sequences.corner.spots import up
from sequences.corner.tiles import (
    ANY,
    BLOCK_OPS,
    GM_ORIGIN,
    Builder,
    Corner,
    bits_of,
    tile,
)
from sequences.fixpipe.ctrl import STORED_BITS, ctrl_of
from sequences.fixpipe.kinds import KINDS, legal_codes
from sequences.fixpipe.plain_ops import ALPHAS
from tb.isa.block import OpBlock
from tb.isa.dtypes import ALL_DTYPES
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixOp,
    Loop3,
    PreQuant,
    PreRelu,
    Scalar,
)
from tb.isa.fix.rules import l20
from tb.isa.fix.table import (
    ATOMIC_DST,
    ATOMIC_OPS,
    ATOMIC_TYPES,
    DST_CODES,
    FLAG_BLOCK,
    FLOAT_DSTS,
    L0C_WORD,
    QUANT_BY_CODE,
    QUANT_MODES,
)
from tb.isa.lower import lower
from tb.isa.op import replace

PAGE = 4096
_DOWN = PreRelu("scalar_relu", Scalar("f32", 0xBE800000))
_GM, _L1, _UB = FIX_NAMES
_SATS = ("sat", "preserve_nan", "nosat")
_ATOMIC_FROM: dict[str, tuple[str, int]] = {
    "f32": ("f32", 0), "s32": ("i32", 0), "f16": ("f32", 1), "bf16": ("f32", 16),
    "s16": ("i32", 28), "s8": ("f32", 24),
}  # fmt: skip
"""Type of an atomic to an accumulator type and a pre_quant code that give its elements."""


def _kinds() -> Iterator[tuple[int, str, str]]:
    """Yields every code, accumulator type and destination type as written."""
    for code in legal_codes():
        for acc, dst in KINDS[code]:
            yield code, ("f32", "i32")[acc], ALL_DTYPES[dst]


def _smallest(form: str) -> Iterator[FixOp]:
    """One element (two where they are nibbles) of each kind, and with every clause."""
    for code, acc, dtype in _kinds():
        n = 2 if bits_of(dtype) == 4 else 1
        yield tile(form, 1, n, code, dtype, acc)
        yield tile(form, n, 1, code, dtype, acc, layout="nz2dn", k=1)
        if QUANT_BY_CODE[code].scale or acc == "f32":
            yield tile(form, 2, 18, code, dtype, acc, pre_relu=_DOWN, sat="nosat")
            vector = PreRelu("vector_relu", FbPtr("bf16", ALPHAS))
            yield tile(form, 3, 20, code, dtype, acc, pre_relu=vector, sat="preserve_nan")
    for split in (0, 1):
        yield tile(form, 1, 16 if not split else 8, layout="nz2nz", split=split)


def _tails(form: str) -> Iterator[FixOp]:
    """Every remainder of columns, few rows, each layout, elements of each size."""
    for (code, dtype), n, m in product(
        ((0, "f32"), (31, "f16"), (24, "ui8")), range(1, 34), (1, 2)
    ):
        yield tile(form, m + n % 2, n, code, dtype)
        yield tile(form, n, m + n % 3, code, dtype, layout="nz2dn", k=1 + n % 2)
        yield tile(form, m + 1, n, code, dtype, layout="nz2dn", k=1)
    for n, m in product(range(2, 36, 2), (1, 3)):
        yield tile(form, m, n, 26, "i4")
        yield tile(form, n, m, 20, "si4", layout="nz2dn", k=1)
    for m, groups in product((1, 2, 15, 16, 17, 31, 33), (1, 2, 3)):
        yield tile(form, m, 16 * groups, 15, layout="nz2nz", split=0)
        yield tile(form, m, 8 * groups, layout="nz2nz", split=1)
    yield tile(form, 128, 512, layout="nz2nz", split=1)  # All of L0C.
    yield tile(form, 1, 4095, 32, "f16", src_stride=16)


def _sources(form: str) -> Iterator[FixOp]:
    """Strides of the source: none, overlapping, loose; rows and repeats apart or the same."""
    for stride in (0, 16, 32, 48, 128):
        yield tile(form, 20, 40, src_stride=stride)
        yield tile(form, 20, 48, 14, layout="nz2nz", src_stride=stride)
    for k in (1, 2, 3, 7, 16, 17, 100):
        yield tile(form, 9, 20, 33, "bf16", layout="nz2dn", k=k)
    yield tile(form, 2, 2, layout="nz2dn", k=4095)
    for count, apart in product((1, 2, 5), (0, 1, 4, 32, 35)):
        far = (up(20, 16) + 16) * 4
        yield tile(form, 4, 20, layout="nz2nd", loop3=Loop3(count, apart, far), dst_stride=32)
        far = 20 * 16
        apart_dn = Loop3(count, apart, far)
        yield tile(form, 4, 20, layout="nz2dn", k=1, dst_stride=16, loop3=apart_dn)
        # Repeats between the rows of each other.
        between = Loop3(count, apart, 32)
        yield tile(form, 4, 20, layout="nz2nd", loop3=between, dst_stride=32 * count)
    # Several parts of 64 rows in each repeat.
    for m, count in ((65, 2), (150, 3)):
        parts = Loop3(count, 4, 3 * 160)
        yield tile(form, m, 3, layout="nz2dn", k=1, dst_stride=160, loop3=parts)
    yield tile(form, 1, 16, layout="nz2nd", loop3=Loop3(200, 1, 16))
    yield tile(form, 1, 16, layout="nz2nd", loop3=Loop3(100, 0, 32), unit_flag=2)


def _hops(form: str) -> Iterator[FixOp]:
    """Rows and repeats apart by their own length and a power of two: not adjacent."""
    for power in (8, 12, 16, 20, 24, 31) if form == _GM else (8, 12):
        step = 1 << power
        yield tile(form, 3, 32, dst_stride=32 + step)
        yield tile(form, 2, 64, 24, "ui8", layout="nz2nd", dst_stride=64 + step)
        yield tile(form, 3, 64, 26, "i4", dst_stride=64 + step)
        yield tile(form, 32, 3, 31, "f16", layout="nz2dn", k=1, dst_stride=32 + step)
        yield tile(form, 4, 48, 15, layout="nz2nz", split=0, dst_stride=64 + step)
        yield tile(form, 4, 24, layout="nz2nz", split=1, dst_stride=32 + step)
        yield tile(form, 3, 32, layout="nz2nd", loop3=Loop3(3, 2, 96 + step))
        yield tile(form, 32, 2, layout="nz2dn", k=1, loop3=Loop3(2, 2, 64 + step))
        if form == _UB:
            yield tile(form, 4, 32, ub_split="split_m", dst_stride=32 + step)
            yield tile(form, 2, 64, ub_split="split_n", dst_stride=32 + step)
        if power < 31:
            twice = Loop3(2, 4, 3 * step + 64)
            yield tile(form, 2, 32, layout="nz2nd", dst_stride=32 + step, loop3=twice)


def _gm_edges(bus: int) -> Iterator[Corner]:
    """Every place in a bus word for every size of element; 4 KiB edges after each byte."""
    for (code, dtype), n in product(((0, "f32"), (1, "f16"), (24, "i8"), (26, "i4")), (2, 34)):
        size = max(1, bits_of(dtype) // 8)
        for residue in range(0, bus, size):
            yield tile(_GM, 3, n, code, dtype, dst_stride=n + 2 * (residue % 3)), (bus, residue)
    for before in range(67):
        yield tile(_GM, 2, 33, 24, "ui8"), (PAGE, -before % PAGE)
        if before % 2 == 0:
            yield tile(_GM, 2, 33, 16, "bf16", dst_stride=34), (PAGE, -before % PAGE)
        if before % 4 == 0:
            yield tile(_GM, 33, 2, layout="nz2dn", k=1), (PAGE, -before % PAGE)
    for stride in (PAGE // 4 - 1, PAGE // 4, PAGE // 4 + 1):
        yield tile(_GM, 5, 17, dst_stride=stride), (PAGE, PAGE - 8)
        yield tile(_GM, 4, 16, layout="nz2nz", dst_stride=stride), (PAGE, PAGE - 8)
    for dtype, (name, types) in product(ATOMIC_OPS, ATOMIC_DST.items()):
        acc, code = _ATOMIC_FROM[name]
        for to, residue in product(types, (0, 4, bus - 4)):
            yield (
                tile(_GM, 3, 19, code, to, acc, atomic=Atomic(name, dtype)),
                (bus, residue),
            )


def _halves() -> Iterator[FixOp]:
    """Both sub-blocks: few rows, few columns, types that are copied."""
    types = (("f32", "f32"), ("i32", "i32"), ("i32", "si32"))
    for (acc, dtype), m, n in product(types, (2, 4, 34), (1, 16, 33)):
        yield tile(_UB, m, n, 0, dtype, acc, ub_split="split_m")
    for (acc, dtype), m, n in product(types, (1, 2, 17), (32, 64, 96)):
        yield tile(_UB, m, n, 0, dtype, acc, ub_split="split_n", layout="nz2nd")


def _flag_chains(form: str) -> Iterator[tuple[list[FixOp], list[int]]]:
    """Ops and delays: flags on the same and on neighbouring blocks of L0C."""
    unit = 1024 if form == _GM else 4096
    op = tile(form, 8, 16)
    for flags in ((2, 2, 3), (0, 2, 3), (2, 0, 3), (0, 0, 3), (2, 2, 2)):
        yield [replace(op, dst=k * unit, unit_flag=f) for k, f in enumerate(flags)], [-1, -1, -1]
    row = [replace(op, src=k * FLAG_BLOCK, dst=k * unit, unit_flag=3) for k in range(8)]
    yield row, [-1] * 8
    yield row, [900 - 100 * k for k in range(8)]
    yield row, [100 * k for k in range(8)]
    yield row, [-1 if k % 2 else 300 for k in range(8)]
    mixed = [replace(each, unit_flag=(0, 2, 3)[k % 3]) for k, each in enumerate(row)]
    yield mixed, [(-1, 500, 0)[k % 3] for k in range(8)]
    # One word of many blocks, all of them, the last word of one and the first of the next.
    apart = tile(form, 32, 16, layout="nz2dn", k=1, unit_flag=3)
    yield [apart, replace(op, src=apart.m * L0C_WORD, dst=16 * unit, unit_flag=2)], [700, 100]
    wide = tile(form, 1, 4080, 32, "f16", src_stride=16, unit_flag=3)
    yield [wide], [250]
    yield [tile(form, 256, 256, 32, "f16", unit_flag=3)], [400]
    across = replace(tile(form, 2, 16, unit_flag=3), src=FLAG_BLOCK - L0C_WORD)
    yield [across, replace(op, src=2 * FLAG_BLOCK, dst=unit)], [2000, -1]
    nop = replace(op, m=0, unit_flag=3)
    yield [nop, replace(op, unit_flag=2), replace(nop, m=8, n=0, unit_flag=2)], [-1, 60, -1]


def _again_chains(form: str) -> Iterator[tuple[list[FixOp], list[int]]]:
    """Ops and delays: tiles with flags set again after an op has cleared them."""
    unit = 1024 if form == _GM else 4096
    op = tile(form, 8, 16)
    for flags, delay in product(
        ((3, 2), (3, 3), (3, 3, 3), (3, 2, 2, 3, 2), (2, 3, 2, 3), (2, 3, 0, 2)),
        (-1, 0, 1, 40, 2000),
    ):
        ops = [replace(op, dst=k * unit, unit_flag=flag) for k, flag in enumerate(flags)]
        if 0 in flags:
            # One between them that reads another tile, and checks no flag.
            ops[2] = replace(ops[2], src=4 * FLAG_BLOCK)
        again = [3 in flags[:k] and flags[k - 1] != 2 and flags[k] > 0 for k in range(len(ops))]
        yield ops, [delay if late else -1 for late in again]
    # The first is late itself; a large tile, of many words of flags, with a part of it before.
    yield [replace(op, unit_flag=3), replace(op, dst=unit, unit_flag=3)], [600, 300]
    large = tile(form, 64, 64, unit_flag=3)
    end = 64 * 64 * 4
    for flag, delay in product((2, 3), (-1, 0, 100, 1000)):
        yield [large, replace(large, dst=end, unit_flag=flag)], [-1, delay]
        part = replace(op, src=8 * FLAG_BLOCK, dst=2 * end, unit_flag=3)
        yield [part, replace(large, dst=end, unit_flag=flag), replace(part, dst=0)], [-1, delay, -1]
    # Two tiles in turn, as with a double-buffered producer.
    turns = [
        replace(op, src=k % 2 * FLAG_BLOCK, dst=k * unit, unit_flag=3) for k in range(BLOCK_OPS)
    ]
    for delay in (0, 30, 200):
        yield turns, [-1, -1] + [delay] * (BLOCK_OPS - 2)


def _parameter_changes(form: str) -> Iterator[FixOp]:
    """Equal shapes one after the other, with parameters or modes that change from op to op."""
    codes = ((23, "i8"), (24, "i8"), (23, "ui8"), (31, "f16"), (32, "f16"), (25, "i4"), (1, "f16"))
    for number, (code, dtype) in enumerate(codes * 4):
        op = tile(form, 2, 32, code, dtype)
        if QUANT_BY_CODE[code].vector:
            # The same rows, the next ones, and rows that overlap.
            address = 128 * (0, 0, 1, 2, 1, 6, 0)[number % 7]
            quant = PreQuant(QUANT_BY_CODE[code].name, FbPtr("f16", address))
            base = (ALPHAS, 0)[number // 2 % 2]
            relu = PreRelu("vector_relu", FbPtr("f32", base + 64 * (number % 3)))
            op = replace(op, pre_quant=quant, pre_relu=relu if number % 2 else None)
        yield op
    for number in range(16):
        scale = Scalar("f32", (0x3F000000, 0xBF000000, 0x40000000, 0x3DCCCCCD)[number % 4])
        alpha = Scalar("f32", (0, 0x80000000, 0x3F800000, 0xC0000000)[number // 4])
        op = tile(form, 1, 16, 24, "i8", pre_relu=PreRelu("scalar_relu", alpha))
        yield replace(op, pre_quant=PreQuant("qf322b8_pre_scalar", scale))
    for rows in (1, 7, 16, 33):
        op = tile(form, 1, 16, 23, "i8")
        last = PreQuant("qf322b8_pre_vec", FbPtr("f32", FB_SIZE - 128))
        op = replace(op, pre_quant=last, m=rows, src_stride=up(rows, 16))
        for base in (ALPHAS, 0):
            relu = PreRelu("vector_relu", FbPtr("f32", base + FB_SIZE - 64))
            yield replace(op, pre_relu=relu)


def _values(form: str) -> Iterator[FixOp]:
    """Tiles for the stages and offsets of integers, for alphas and signs, for overflows."""
    for code, acc, dtype in _kinds():
        mode = QUANT_BY_CODE[code]
        if mode.vector and DST_CODES[dtype] not in FLOAT_DSTS:
            yield tile(form, 8, 48, code, dtype, acc)
            yield tile(form, 8, 48, code, dtype, acc, pre_relu=PreRelu("normal_relu"))
    kinds = ((15, "f32", "f32"), (32, "f16", "f32"), (24, "i8", "f32"), (9, "i8", "i32"),
             (11, "f16", "i32"), (36, "bf16", "i32"), (18, "ui8", "f32"))  # fmt: skip
    scales = (0x3F000000, 0xBF000000, 0x80000000, 0x7F000000)
    alphas = (0x3E800000, 0xBE800000, 0, 0x80000000, 0x49800000)
    for (code, dtype, acc), scale, alpha in product(kinds, scales, alphas):
        relu = PreRelu("scalar_relu", Scalar("f32", alpha))
        quant = PreQuant(QUANT_BY_CODE[code].name, Scalar("f32", scale))
        sat = _SATS[(scale >> 20) % 3]
        op = tile(form, 4, 16, code, dtype, acc, pre_relu=relu, sat=sat)
        yield replace(op, pre_quant=quant)
    for code, dtype, acc in kinds:
        relu = PreRelu("vector_relu", FbPtr("f16", ALPHAS + 64))
        if code - 1 in QUANT_BY_CODE:
            yield tile(form, 8, 32, code - 1, dtype, acc, pre_relu=relu, sat="preserve_nan")
    for sat, (code, dtype) in product(
        _SATS,
        ((13, "f8E4M3FN"), (1, "f16"), (16, "bf16"), (3, "hif8"), (5, "hif8")),
    ):
        yield tile(form, 8, 32, code, dtype, sat=sat)
    if form == _GM:
        for name, sat, what in product(("f16", "bf16", "f32"), ("nosat", "sat"), ATOMIC_OPS):
            code = {"f16": 1, "bf16": 16, "f32": 0}[name]
            yield tile(_GM, 8, 32, code, name, sat=sat, atomic=Atomic(name, what))


def _under_ctrl(form: str) -> Iterator[tuple[FixOp, int]]:
    """Ops and CTRL: every default of saturation and atomics, and clauses that replace it."""
    stored = ((1 << STORED_BITS) - 1) & ~ctrl_of("nosat", 7, 3, keep_nan=1)
    narrow = ((1, "f16", "f32"), (13, "f8E4M3FN", "f32"), (11, "f16", "i32"), (24, "i8", "f32"))
    for (code, dtype, acc), sat, keep in product(narrow, _SATS, (0, 1)):
        kind, what = (0, 3) if form == _GM else (7, 3)
        ctrl = ctrl_of(sat, kind, what, keep_nan=keep)
        for word in ("", *_SATS):
            yield tile(form, 2, 16, code, dtype, acc, sat=word), ctrl
        yield tile(form, 2, 16, code, dtype, acc), ctrl | stored
    if form != _GM:
        yield from ((tile(form, 2, 16), ctrl_of("", k, what)) for k in range(8) for what in (0, 3))
        return
    for (name, types), (word, number), sat in product(
        ATOMIC_DST.items(), ATOMIC_OPS.items(), ("sat", "nosat")
    ):
        acc, code = _ATOMIC_FROM[name]
        kind = ATOMIC_TYPES[name]
        op = tile(_GM, 2, 16, code, types[-1], acc)
        yield op, ctrl_of(sat, kind, number)
        yield op, ctrl_of(sat, 0, number)
        clause = replace(op, atomic=Atomic(name, word))
        yield clause, ctrl_of(sat, 7, 3)
        yield clause, ctrl_of(sat, 7 - kind, (number + 1) % 3) | stored
        yield replace(clause, atomic=None, sat=sat), ctrl_of("nosat", kind, number) | stored
    for zero in ("m", "n"):
        yield replace(tile(_GM, 2, 16), **{zero: 0}), ctrl_of("", 1, 2)


def _updates() -> Iterator[tuple[list[FixOp], list[int]]]:
    """Atomic updates one after the other: on neighbouring elements, and on the same ones."""
    for name, code, acc in (
        ("f32", 0, "f32"),
        ("f16", 1, "f32"),
        ("s8", 24, "f32"),
        ("s32", 0, "i32"),
    ):
        dtype = ATOMIC_DST[name][0]
        size = bits_of(dtype) // 8
        op = tile(_GM, 1, 5, code, dtype, acc, atomic=Atomic(name, "add"))
        row = [replace(op, src=FLAG_BLOCK * k, dst=GM_ORIGIN + 8 + 5 * size * k) for k in range(12)]
        yield row, [-1] * 12
        same = [replace(each, dst=row[0].dst) for each in row[:6]]
        kinds = [
            replace(each, atomic=Atomic(name, tuple(ATOMIC_OPS)[k % 3]))
            for k, each in enumerate(same)
        ]
        yield kinds, [k - 1 for k in range(6)]
        # Other ops between the two that overlap.
        others = [same[0], row[2], row[3], same[4], row[5]]
        yield others, [-1, -1, -1, 0, -1]


def _exists(op: FixOp) -> bool:
    """Returns whether the profile has the mode and the layout of an op (knob ``modes``)."""
    if op.pre_quant is not None and QUANT_MODES[op.pre_quant.mode].code not in legal_codes():
        return False
    return not op.split or l20(lower(op)) is None


def fix_blocks(bus_bytes: int, names: Collection[str]) -> Iterator[OpBlock]:
    """Yields the corners of those write-backs that ``names`` has, for a GM bus of ``bus_bytes``."""
    forms = [form for form in FIX_NAMES if form in names]
    build = Builder() if forms else None
    for form in forms:
        assert build is not None
        groups = (_smallest, _tails, _sources, _hops, _parameter_changes, _values)
        yield from build.packed((op, ANY) for group in groups for op in group(form) if _exists(op))
        under, ctrls = zip(*(x for x in _under_ctrl(form) if _exists(x[0])), strict=True)
        yield from build.packed(((op, ANY) for op in under), ctrls)
        if form == _GM:
            yield from build.packed((op, wish) for op, wish in _gm_edges(bus_bytes) if _exists(op))
            for ops, after in _updates():
                yield build.block(ops, after)
        if form == _UB:
            yield from build.packed((op, ANY) for op in _halves())
        yield from (build.block([op]) for op in limit_ops(form))
        for ops, delay in (*_flag_chains(form), *_again_chains(form)):
            yield build.block(ops, (), delay)
