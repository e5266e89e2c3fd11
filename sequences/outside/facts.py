# SPDX-License-Identifier: Apache-2.0
"""Rows of dma_facts.csv as ops and bytes, each translated by hand.

The source of every load is P(0) of docs/spec/examples.md from address 0 on. Where a row leaves an
operand open, the operand here is one that decides it: a stride beyond the last block of a row, a
length that ends inside of a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sequences.examples.example import BACKGROUNDS, Fill, pattern
from sequences.outside.case import ZEROS, Bytes, Case, Expected, Kept, Row, Written
from sequences.outside.files import DATA, project, read
from tb.isa.burst.op import MteUbL1
from tb.isa.dma.legacy import CopyGmToUbuf, SetMovPadVal
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import RawFillL1
from tb.isa.op import replace
from tb.isa.spaces import Space
from tb.isa.text import AnyOp

FILE = "dma_facts"
_COLUMNS = ("id", "op", "operands", "written", "value", "untouched", "source", "confidence")
_BACKGROUND = BACKGROUNDS[Space.UB0]
_F16_ONE = b"\x00\x3c"
_F32_ONE = b"\x00\x00\x80\x3f"

Part = tuple[int, bytes]
"""Start and bytes of a part of a memory."""


@dataclass(frozen=True, slots=True)
class _Fact:
    """Ops of a row, and what it states about memories.

    Attributes:
        ops: The program.
        expected: Bytes after it.
        cleared: The memories are zero before it, as in the source.
        size: Bytes of the source pattern.
        source: Memory of the source pattern.
    """

    ops: tuple[AnyOp, ...]
    expected: tuple[Expected, ...]
    cleared: bool = False
    size: int = 4096
    source: Space = Space.GM


def _source(start: int, length: int, size: int = 1 << 18) -> bytes:
    """Returns bytes of the source pattern."""
    return pattern(0, size)[start : start + length].tobytes()


def _image(length: int, background: int, parts: Iterable[Part]) -> bytes:
    """Returns ``length`` bytes of ``background`` with parts in them."""
    image = np.full(length, background, dtype=np.uint8)
    for start, data in parts:
        if start + len(data) > length:
            raise ValueError(f"a part ends at {start + len(data)} of {length} bytes")
        image[start : start + len(data)] = np.frombuffer(data, dtype=np.uint8)
    return image.tobytes()


def _ub(length: int, parts: Iterable[Part], background: int = _BACKGROUND) -> Bytes:
    """Returns an image from UB 0 on."""
    return Bytes(Space.UB0, 0, _image(length, background, parts))


def _ptrs(dtype: str, destination: str = "ub") -> tuple[Ptr, Ptr]:
    return Ptr(dtype, "gm"), Ptr(dtype, destination)


def _load(
    dtype: str,
    length: int,
    nburst: tuple[int, int, int],
    loops: Sequence[tuple[int, int, int]] = (),
    pad: Pad | None = None,
    dst: int = 0,
) -> MteGmUb:
    """Returns a load of rows from GM 0 to UB."""
    made = tuple(Loop(*one) for one in loops)
    return MteGmUb(0, dst, length, *nburst, made, pad, 0, *_ptrs(dtype))


def _padded(start: int, source: int, length: int, fill: bytes, stop: int) -> list[Part]:
    """Returns a row of data and the fill after it, up to byte ``stop`` of the row."""
    size = stop - length
    return [
        (start, _source(source, length)),
        (start + length, (fill * size)[:size]),
    ]


def _pad_1() -> _Fact:
    op = _load("i8", 40, (2, 40, 64), ((2, 80, 128), (2, 160, 288)), Pad("i8", 0xFF, 0, 0))
    parts = [
        part
        for j in range(2)
        for i in range(2)
        for r in range(2)
        for part in _padded(288 * j + 128 * i + 64 * r, 160 * j + 80 * i + 40 * r, 40, b"\xff", 64)
    ]
    return _Fact((op,), (_ub(576, parts, 0),), cleared=True)


def _pad_2() -> _Fact:
    op = _load("f32", 236, (32, 236, 256), (), Pad("f32", 0, 0, 5))
    parts = [part for r in range(32) for part in _padded(256 * r, 236 * r, 236, b"\0", 256)]
    return _Fact((op,), (_ub(8192, parts),), size=8192)


def _pad_3() -> _Fact:
    loops = ((2, 16128, 8192), (2, 48384, 16384))
    op = _load("i8", 126, (64, 126, 128), loops, Pad("i8", 0, 0, 0))
    parts = [
        part
        for j in range(2)
        for i in range(2)
        for r in range(64)
        for part in _padded(
            16384 * j + 8192 * i + 128 * r, 48384 * j + 16128 * i + 126 * r, 126, b"\0", 128
        )
    ]
    return _Fact((op,), (_ub(32768, parts, 0),), cleared=True, size=1 << 17)


def _pad_5() -> _Fact:
    """The value alone, then counts that move the end of the row to a later block."""
    alone = _load("f16", 40, (3, 48, 128), (), Pad("f16", 0x3C00))
    counts = _load("f16", 40, (3, 48, 128), (), Pad("f16", 0x3C00, 2, 12), dst=384)
    parts: list[Part] = []
    for r in range(3):
        parts += _padded(128 * r, 48 * r, 40, _F16_ONE, 64)
        parts.append((384 + 128 * r, _F16_ONE * 2))
        parts += _padded(384 + 128 * r + 4, 48 * r, 40, _F16_ONE, 96 - 4)
    return _Fact((alone, counts), (_ub(768, parts),))


def _pad_6() -> _Fact:
    op = _load("f16", 200, (2, 200, 256), (), Pad("f16", 0x3C00))
    parts = [part for r in range(2) for part in _padded(256 * r, 200 * r, 200, _F16_ONE, 256)]
    return _Fact((op,), (_ub(512, parts),))


def _pad_7() -> _Fact:
    op = _load("bf16", 8, (4, 16, 64), (), Pad("bf16", 0, 0, 0))
    parts = [part for r in range(4) for part in _padded(64 * r, 16 * r, 8, b"\0", 32)]
    return _Fact((op,), (_ub(256, parts, 0),), cleared=True)


def _pad_8() -> _Fact:
    op = _load("f32", 40, (3, 40, 128), (), Pad("f32", 0x3F800000))
    parts = [part for r in range(3) for part in _padded(128 * r, 40 * r, 40, _F32_ONE, 128)]
    return _Fact((op,), (_ub(384, parts),))


def _legacy(dtype: str, length: int, left: int, right: int, select: int) -> tuple[AnyOp, ...]:
    """Returns a copy of one row without strides but that of the UB, with 1.0 as pad value."""
    copy = CopyGmToUbuf(0, 0, 0, 1, length, left, right, select, 0, 0, 0, *_ptrs(dtype))
    return SetMovPadVal(dtype, 0x3C00), copy


def _pad_4() -> _Fact:
    return _Fact(_legacy("f16", 40, 0, 12, 0), (_ub(64, _padded(0, 0, 40, _F16_ONE, 64)),))


def _pad_9() -> _Fact:
    value, copy = _legacy("f16", 20, 4, 2, 1)
    parts = [(0, _F16_ONE * 4), *_padded(8, 0, 20, _F16_ONE, 24)]
    return _Fact((value, replace(copy, dst_stride=32)), (_ub(64, parts),))


def _pad_10() -> _Fact:
    op = _load("f16", 40, (1, 0, 0), (), Pad("f16", 0x3C00))
    return _Fact((op,), (_ub(96, _padded(0, 0, 40, _F16_ONE, 64)),))


def _pad_11() -> _Fact:
    return _Fact(_legacy("f16", 40, 0, 0, 0), (_ub(96, _padded(0, 0, 40, _source(0, 2), 64)),))


def _block_of(length: int) -> _Fact:
    """A row of f32 that writes 96 bytes; those after ``length`` have no stated value."""
    row = Bytes(Space.UB0, 0, _source(0, length))
    rest = (Written(Space.UB0, length, 96 - length),) if length < 96 else ()
    return _Fact((_load("f32", length, (1, length, 128)),), (row, *rest, Kept(Space.UB0, 96, 160)))


def _tails(dtype: str, size: int, length: int, base: int) -> tuple[MteGmUb, list[Part]]:
    """Two rows whose last blocks are filled with their first elements."""
    op = _load(dtype, length, (2, 96, 128), dst=base)
    stop = -(-length // 32) * 32
    parts = [
        part
        for r in range(2)
        for part in _padded(base + 128 * r, 96 * r, length, _source(96 * r, size), stop)
    ]
    return op, parts


def _tail_4() -> _Fact:
    made = [_tails("i8", 1, 33, 0), _tails("f16", 2, 10, 256), _tails("f32", 4, 72, 512)]
    parts = [part for _, found in made for part in found]
    return _Fact(tuple(op for op, _ in made), (_ub(768, parts),))


def _tail_5() -> _Fact:
    """Bursts in a loop; the row in each of them has a first element of its own."""
    op = _load("f32", 44, (2, 48, 64), ((2, 160, 256),))
    parts = [
        part
        for i in range(2)
        for r in range(2)
        for part in _padded(
            256 * i + 64 * r, 160 * i + 48 * r, 44, _source(160 * i + 48 * r, 4), 64
        )
    ]
    return _Fact((op,), (_ub(512, parts),))


def _tail_6() -> _Fact:
    op = MteGmL1(0, 0, 20, 2, 32, 64, (), *_ptrs("f16", "l1"))
    parts = [part for r in range(2) for part in _padded(64 * r, 32 * r, 20, b"\0", 32)]
    return _Fact((op,), (Bytes(Space.L1, 0, _image(128, BACKGROUNDS[Space.L1], parts)),))


def _tail_7() -> _Fact:
    op = _load("f16", 10, (3, 16, 64))
    return _Fact((op,), (_ub(192, [(64 * r, _source(16 * r, 10)) for r in range(3)]),))


def _cmp_1() -> _Fact:
    op = _load("f16", 48, (3, 48, 48), (), Pad("f16", 0))
    return _Fact((op,), (_ub(192, _padded(0, 0, 144, b"\0", 160)),))


def _cmp_2() -> _Fact:
    """A group of two rows per burst, each with one fill after it."""
    op = _load("i8", 40, (2, 40, 40), ((2, 80, 128), (2, 160, 288)), Pad("i8", 0xFF, 0, 0))
    parts = [
        part
        for j in range(2)
        for i in range(2)
        for part in _padded(288 * j + 128 * i, 160 * j + 80 * i, 80, b"\xff", 96)
    ]
    return _Fact((op,), (_ub(576, parts, 0),), cleared=True)


def _cmp_3() -> _Fact:
    op = _load("f16", 2, (16, 64, 2))
    return _Fact((op,), (_ub(32, [(2 * r, _source(64 * r, 2)) for r in range(16)]),))


def _cmp_4() -> _Fact:
    """Rows that repeat, then rows that overlap."""
    repeat, overlap = _load("i8", 64, (3, 0, 64)), _load("i8", 64, (3, 24, 64), dst=192)
    parts = [(64 * r, _source(0, 64)) for r in range(3)]
    parts += [(192 + 64 * r, _source(24 * r, 64)) for r in range(3)]
    return _Fact((repeat, overlap), (_ub(384, parts),))


def _cmp_5() -> _Fact:
    """Rows of 40 bytes: slots of 64 bytes in UB without a gap, of 96 bytes with one of a block."""
    types = Ptr("i8", "ub"), Ptr("i8", "gm")
    base = 4096
    ops = (
        MteUbGm(0, base, 40, 3, 64, 40, (), 0, *types),
        MteUbGm(0, base + 256, 40, 3, 96, 48, (), 0, *types),
    )
    parts = [(40 * r, _source(64 * r, 40)) for r in range(3)]
    parts += [(256 + 48 * r, _source(96 * r, 40)) for r in range(3)]
    image = _image(512, BACKGROUNDS[Space.GM], parts)
    return _Fact(ops, (Bytes(Space.GM, base, image),), source=Space.UB0)


def _cmp_6() -> _Fact:
    """A group of rows of 5 bytes in UB, spread on GM."""
    base = 4096
    op = MteUbGm(0, base, 5, 3, 5, 8, (), 0)
    parts = [(8 * r, _source(5 * r, 5)) for r in range(3)]
    image = _image(64, BACKGROUNDS[Space.GM], parts)
    return _Fact((op,), (Bytes(Space.GM, base, image),), source=Space.UB0)


def _fill_1() -> _Fact:
    parts = [(32 + 96 * k, b"\x34\x12" * 16) for k in range(3)]
    image = _image(320, BACKGROUNDS[Space.L1], parts)
    return _Fact((RawFillL1(0, 32, 0x1234, 3, 1, 2),), (Bytes(Space.L1, 0, image),))


def _fill_2() -> _Fact:
    """No repeat, then repeats without a block."""
    ops = RawFillL1(0, 0, 0x1234, 0, 1, 0), RawFillL1(0, 0, 0x1234, 3, 0, 2)
    return _Fact(ops, (Kept(Space.L1, 0, 512),))


def _l1ub_4() -> _Fact:
    """One burst without gaps, bursts with a gap on both sides, bursts with none."""
    base = (0, 256, 1024)
    ops = (
        MteL1Ub(32, base[0], 3, 1, 0, 0),
        MteL1Ub(64, base[1], 2, 3, 1, 2),
        MteL1Ub(96, base[2], 1, 4, 0, 0),
    )
    parts = [(base[0], _source(32, 96))]
    parts += [(base[1] + 32 * k * 4, _source(64 + 32 * k * 3, 64)) for k in range(3)]
    parts += [(base[2] + 32 * k, _source(96 + 32 * k, 32)) for k in range(4)]
    return _Fact(ops, (_ub(1280, parts),), source=Space.L1)


def _l1ub_5() -> _Fact:
    op = MteL1Ub(0, 0, 1, 2, 1, 2, (Loop(3, 1024, 512),))
    parts = [(512 * i + 96 * k, _source(1024 * i + 64 * k, 32)) for i in range(3) for k in range(2)]
    return _Fact((op,), (_ub(1536, parts),), source=Space.L1)


def _facts() -> dict[str, _Fact]:
    f32 = Ptr("f32", "l1"), Ptr("f32", "ub")
    i16 = Ptr("i16", "l1"), Ptr("i16", "ub")
    burst = _source(0, 512)
    return {
        "L1UB-1": _Fact(
            (MteL1Ub(0, 0, 16, 1, 0, 0, (), *i16),),
            (Bytes(Space.UB0, 0, burst), Kept(Space.UB0, 512, 2048)),
            source=Space.L1,
        ),
        "UBL1-1": _Fact(
            (MteUbL1(0, 0, 16, 1, 0, 0, *i16[::-1]),),
            (Bytes(Space.L1, 0, burst),),
            source=Space.UB0,
        ),
        "L1UB-2": _Fact(
            (MteL1Ub(0, 0, 64, 40, 0, 0, (), *f32),),
            (Bytes(Space.UB0, 0, _source(0, 10240)),),
            size=81920,
            source=Space.L1,
        ),
        "L1UB-4": _l1ub_4(),
        "L1UB-5": _l1ub_5(),
        "L1UB-6": _Fact(  # a tile of 16 rows and 32 columns
            (MteL1Ub(0, 0, 16, 4, 0, 0, (), *f32),),
            (Bytes(Space.UB0, 0, _source(0, 2048)),),
            source=Space.L1,
        ),
        "PAD-1": _pad_1(),
        "PAD-2": _pad_2(),
        "PAD-3": _pad_3(),
        "PAD-4": _pad_4(),
        "PAD-5": _pad_5(),
        "PAD-6": _pad_6(),
        "PAD-7": _pad_7(),
        "PAD-8": _pad_8(),
        "PAD-9": _pad_9(),
        "PAD-10": _pad_10(),
        "PAD-11": _pad_11(),
        "TAIL-1": _block_of(72),
        "TAIL-2": _block_of(76),
        "TAIL-3": _block_of(96),
        "TAIL-4": _tail_4(),
        "TAIL-5": _tail_5(),
        "TAIL-6": _tail_6(),
        "TAIL-7": _tail_7(),
        "CMP-1": _cmp_1(),
        "CMP-2": _cmp_2(),
        "CMP-3": _cmp_3(),
        "CMP-4": _cmp_4(),
        "CMP-5": _cmp_5(),
        "CMP-6": _cmp_6(),
        "FILL-1": _fill_1(),
        "FILL-2": _fill_2(),
    }


_UNKNOWN: dict[str, str] = {
    "L1UB-3": "fields of an instruction word, no bytes: the specification defines operands only",
    "L1UB-7": "text in bytes and strides that L1UB-1 to L1UB-6 refute; operands are in 32 bytes",
}
"""Rows that the specification leaves out or contradicts, with the reason."""


def fact_cases() -> list[Case]:
    """Returns a case for each row of the file, in its order.

    Raises:
        ValueError: a row is neither translated nor known to be outside of the specification.
    """
    facts, cases = _facts(), []
    rows = read(DATA / f"{FILE}.csv", _COLUMNS)
    names = [row["id"] for row in rows]
    if sorted(names) != sorted([*facts, *_UNKNOWN]):
        raise ValueError(f"{FILE}: rows and translations differ: {sorted(names)}")
    for row in rows:
        name = row["id"]
        text = f"{row['op']} {row['operands']}"
        if states := " = ".join(row[key] for key in ("written", "value") if row[key] != "-"):
            text += f": {states}"
        if untouched := row["untouched"]:
            text += f"; untouched: {untouched}"
        fact = facts.get(name)
        made = Row(
            FILE,
            project(row["source"]),
            name,
            text,
            fact.expected if fact else (),
            _UNKNOWN.get(name, ""),
        )
        if fact is None:
            cases.append(Case(name, (made,)))
            continue
        cases.append(
            Case(
                name,
                (made,),
                fact.ops,
                (Fill(fact.source, 0, fact.size),),
                ZEROS if fact.cleared else BACKGROUNDS,
            )
        )
    return cases
