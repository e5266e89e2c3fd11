# SPDX-License-Identifier: Apache-2.0
"""Worked examples of copies with a GM side by the knobs that they hold for, and of legacy copies.

Sections 7 and 8 of spec/examples_v2.md, without the write-backs.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

from sequences.examples.example import Data, Example, Fill, Knobs, RuleExample, pattern
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm, CopyUbufToUbuf
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.spaces import Space

_GM_SOURCE = (Fill(Space.GM, 0, 0x21000),)
_F16 = Ptr("f16", "gm"), Ptr("f16", "ub")
_F32 = Ptr("f32", "gm"), Ptr("f32", "ub")
_F16_L1 = Ptr("f16", "gm"), Ptr("f16", "l1")
_I64 = Ptr("i64", "gm"), Ptr("i64", "ub")
_ONE = Pad("f16", 0x3C00)

_LONG: Knobs = {"len_bits": 21}
_SHORT: Knobs = {"len_bits": 16}
_STRIDE: Knobs = {"pad_end": "stride"}
_BLOCK: Knobs = {"pad_end": "block"}
_KEEP: Knobs = {"tail": "keep"}
_FILL: Knobs = {"tail": "fill"}
_AGAIN: Knobs = {"row_repeat": "legal"}
_ONCE: Knobs = {"row_repeat": "error"}
_GROUP: Knobs = {"compact": "legal", "tail": "fill"}
_APART: Knobs = {"compact": "error"}


def retold(example: Example, name: str, crc: int, knobs: Knobs) -> Example:
    """Returns an example with another image, for other values of the knobs."""
    return replace(example, name=name, crc=crc, knobs=knobs)


def _load(name: str, op: MteGmUb | MteGmL1, length: int, crc: int, knobs: Knobs) -> Example:
    space = Space.L1 if isinstance(op, MteGmL1) else Space.UB0
    return Example(name, {"v06": (op,)}, _GM_SOURCE, space, length, crc, knobs=knobs)


def _both(
    name: str, op: MteGmUb | MteGmL1, crcs: tuple[int, int], ends: tuple[Knobs, Knobs]
) -> tuple[Example, ...]:
    """Returns an example of 128 bytes for both values of a knob."""
    ((knob, value),) = ends[1].items()
    pairs = zip((name, f"{name}, {knob} = {value}"), crcs, ends, strict=True)
    return tuple(_load(title, op, 128, crc, knobs) for title, crc, knobs in pairs)


_PK_1 = MteGmUb(0, 0, 65536, 1, 0, 0)
_PK_1B = MteGmUb(0, 0, 1, 65537, 2, 1)
_PK_1C = MteUbGm(0, 0, 70000, 1, 0, 0)
_PK_8 = MteGmUb(0, 0, 32, 3, 0, 32)
_PK_8B = MteGmL1(0, 0, 64, 3, 16, 64)
_PK_9 = MteGmUb(0, 0, 5, 3, 8, 5)
_PK_10 = MteGmUb(0, 0, 6, 3, 6, 6, (), None, 0, *_F16)
_PK_10B = replace(_PK_10, loops=(Loop(2, 100, 32),))
_PK_11 = MteGmL1(0, 0, 6, 3, 6, 6, (), *_F16_L1)

KNOB_EXAMPLES: tuple[Example, ...] = (
    _load("PK-1", _PK_1, 65536, 0x5B784B5F, _LONG),
    _load("PK-1b", _PK_1B, 65600, 0x838E7D59, {**_LONG, **_GROUP}),
    Example(
        "PK-1c", {"v06": (_PK_1C,)}, (Fill(Space.UB0, 1, 0x20000),), Space.GM, 70016, 0x3A73AD1C,
        knobs=_LONG,
    ),
    *_both("PK-2", MteGmUb(0, 0, 10, 2, 16, 64, (), _ONE, 0, *_F16), (0x202712F7, 0xF615E18C),
           (_STRIDE, _BLOCK)),
    *_both(
        "PK-3", MteGmUb(0, 0, 30, 1, 32, 96, (), Pad("f16", 0x3C00, 0, 2), 0, *_F16),
        (0xA817D1EA, 0x27A7BD87), (_STRIDE, _BLOCK),
    ),
    *_both("PK-4", MteGmUb(0, 0, 12, 2, 16, 32, (), None, 0, *_F32), (0x9088CF6A, 0xC049B823),
           (_KEEP, _FILL)),
    *_both("PK-5", MteGmUb(0, 0, 5, 1, 0, 0, (), None, 0, *_F16), (0x9EC45FFF, 0x6FEEDF60),
           (_KEEP, _FILL)),
    *_both("PK-6", MteGmL1(0, 0, 20, 1, 0, 0, (), *_F16_L1), (0x5E853391, 0x3C4D4AE0),
           (_KEEP, _FILL)),
    *_both("PK-7", MteGmUb(0, 0, 33, 1, 0, 0, (Loop(2, 40, 64),)), (0xB9BF8F65, 0xC9156F33),
           (_KEEP, _FILL)),
    _load("PK-8", _PK_8, 128, 0x6F69953E, _AGAIN),
    _load("PK-8b", _PK_8B, 256, 0x68E35EEE, _AGAIN),
    _load("PK-9", _PK_9, 128, 0xCFDA78DE, _GROUP),
    _load("PK-10", _PK_10, 128, 0xC0E7B2A2, _GROUP),
    _load("PK-10b", _PK_10B, 128, 0x15D47E4B, _GROUP),
    _load("PK-11", _PK_11, 128, 0x17F8A6FC, _GROUP),
)  # fmt: skip
"""PK-1 to PK-11: those that are illegal under the other value of their knob are also rule
examples."""

_ROW = pattern(1, 64).tobytes()

LEGAL_EXAMPLES: tuple[Example, ...] = (
    Example(
        "legal: ubuf_to_gm l2 15", {"legacy": (CopyUbufToGm(0, 0, 0, 1, 64, 15, 64, 64),)},
        (Data(Space.UB0, _ROW),), Space.GM, 64, zlib.crc32(_ROW),
    ),
)  # fmt: skip
"""Legal rows of section 8 of spec/examples_v2.md."""

_LEN_6 = MteGmUb(0, 0, 5, 3, 8, 6)

KNOB_RULE_EXAMPLES: tuple[RuleExample, ...] = (
    RuleExample("PK-1", _PK_1, 5, knobs=_SHORT),
    RuleExample("PK-1b", _PK_1B, 5, knobs=_SHORT),
    RuleExample("PK-1c", _PK_1C, 5, knobs=_SHORT),
    RuleExample("PK-8", _PK_8, 8, knobs=_ONCE),
    RuleExample("PK-8b", _PK_8B, 8, knobs=_ONCE),
    RuleExample("PK-9", _PK_9, 7, knobs=_APART),
    RuleExample("PK-10", _PK_10, 7, knobs=_APART),
    RuleExample("PK-10b", _PK_10B, 7, knobs=_APART),
    RuleExample("PK-11", _PK_11, 7, knobs=_APART),
    RuleExample("gm_ub len 2097152", MteGmUb(0, 0, 1 << 21, 1, 0, 0), 5),
    RuleExample("gm_ub len 5, dst_stride 6", _LEN_6, 7),
    RuleExample("gm_ub src_stride 0, dst_stride 32 below len 64", MteGmUb(0, 0, 64, 2, 0, 32), 8),
    RuleExample("ub_gm dst_stride 0 below len 64", MteUbGm(0, 0, 64, 2, 64, 0), 8),
)
"""Rows of sections 7 and 8 that a knob decides, and those of section 8 that hold for any."""


def _select(select: int, rows: int = 1, ub_dst: int = 0) -> CopyGmToUbuf:
    return CopyGmToUbuf(0, ub_dst, 0, rows, 64, 0, 0, select, 0, 64, 64, *_I64)


LEGACY_RULE_EXAMPLES: tuple[RuleExample, ...] = (
    RuleExample("ubuf_to_gm l2 16, ub_src 16", CopyUbufToGm(16, 0, 0, 1, 64, 16, 64, 64), 5),
    RuleExample("gm_to_ubuf 8-byte elements, select 1", _select(1), 3),
    RuleExample("gm_to_ubuf 8-byte elements, select 1, n 0, ub_dst 16", _select(1, 0, 16), 3),
    RuleExample("gm_to_ubuf 8-byte elements, select 0, ub_dst 16", _select(0, 1, 16), 6),
)
"""Rows of section 8 about legacy copies that read registers."""

UBUF_RULE_EXAMPLES: tuple[RuleExample, ...] = (
    RuleExample("src 16, n 2, len 40", CopyUbufToUbuf(16, 4096, 0, 2, 40, 40, 40), 6),
    RuleExample("n 2, len 40, strides 32 / 64", CopyUbufToUbuf(0, 4096, 0, 2, 40, 32, 64), 8),
    RuleExample("n 1, len 40", CopyUbufToUbuf(0, 4096, 0, 1, 40, 0, 0), 11),
    RuleExample("n 2, len 64, dst 262080", CopyUbufToUbuf(0, 262080, 0, 2, 64, 64, 64), 12),
)
"""Rows of section 8 about ``copy_ubuf_to_ubuf``: judged once, and not issued (A-67)."""
