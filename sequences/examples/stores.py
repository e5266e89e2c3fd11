# SPDX-License-Identifier: Apache-2.0
"""Worked atomic stores of UB (spec/examples_v2.md, sections 5 and 8)."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

from sequences.examples.example import Data, Example, Fill, Op, RuleExample
from tb.isa.ctrl import SetCtrl
from tb.isa.dma.legacy import UBTOOUT, CopyUbufToGm, SetLoopSize, SetLoopStride
from tb.isa.dma.op import Loop, MteUbGm
from tb.isa.spaces import Space

_F32, _F16, _S16, _S32, _S8, _BF16 = (code << 6 for code in (1, 2, 3, 4, 5, 6))
_MAX, _MIN = 1 << 9, 2 << 9
_NOSAT = 1 << 48
_AGAIN = (
    SetLoopSize(UBTOOUT, 1, 1),
    SetLoopStride(UBTOOUT, 1, 0, 0),
    SetLoopStride(UBTOOUT, 2, 0, 0),
)
"""Loop registers of a legacy copy without loops."""


def _store(
    length: int, rows: tuple[int, int, int] = (1, 0, 0), loops: tuple[Loop, ...] = ()
) -> MteUbGm:
    return MteUbGm(0, 0, length, *rows, loops)


def _image(
    name: str, length: int, crc: int, ctrl: int, gm: bytes, ub: Data | Fill, *ops: Op
) -> Example:
    program = (SetCtrl(ctrl), *ops, SetCtrl(0))
    return Example(name, {"ctrl": program}, (Data(Space.GM, gm), ub), Space.GM, length, crc)


def _hex(name: str, crc: int, ctrl: int, gm: str, ub: str, *ops: Op) -> Example:
    """An image of 16 bytes; both memories as hexadecimal digits."""
    data = Data(Space.UB0, bytes.fromhex(ub))
    return _image(name, 16, crc, ctrl, bytes.fromhex(gm), data, *ops)


STORE_EXAMPLES: tuple[Example, ...] = (
    _hex("AS-E1", 0xE207534D, _S16, "0100 FFFF", "FF7F 0100", _store(4)),
    _hex("AS-E2", 0x7959E673, _F16, "FF7B 007C", "FF7B 00FC", _store(4)),
    _hex("AS-E2b", 0xAF3BA08A, _F16 | _NOSAT, "FF7B 007C", "FF7B 00FC", _store(4)),
    _hex(
        "AS-E3", 0x141C8B48, _S8 | _MAX, "807F 1122 00FF", f"0102 {'AA' * 30} FE01",
        *_AGAIN, CopyUbufToGm(0, 0, 0, 2, 2, 0, 4, 32),
    ),
    _hex("AS-E4", 0x417D84B5, _BF16 | _MIN, "0000 803F", "0080 0040", _store(4)),
    _image(
        "AS-E5", 128, 0x69982057, _F32, struct.pack("<32f", *range(32)), Fill(Space.UB0, 8, 128),
        _store(8, (2, 32, 16), (Loop(2, 64, 64),)),
    ),
    _image(
        "AS-E7", 32, 0x842D88CB, _S32 | _MAX, struct.pack("<8i", *range(-3, 5)),
        Data(Space.UB0, struct.pack("<16i", *range(5, -11, -1))), _store(12, (2, 32, 12)),
    ),
    _hex("AS-E8", 0x684A6B6C, _F16 | _MAX, "007E 003C 007C", "003C 0080 003C", _store(6)),
    _hex("AS-E9", 0x16B6CCBB, _MIN, "0000 0000", "0102 0304", _store(4)),
)  # fmt: skip
"""Section 5. AS-E6, a write-back by CTRL, is among those of the write-backs."""

STORE_LEGAL_EXAMPLES: tuple[Example, ...] = (
    _hex(
        "legal: ub_gm CTRL type 0, op 3", zlib.crc32(b"\1" * 4 + b"\x55" * 12), 3 << 9, "00" * 4,
        "01" * 4, _store(4),
    ),
)  # fmt: skip
"""Section 8: neighbours that retire without an error."""


def _rule(name: str, rule: int, ctrl: int, op: MteUbGm) -> RuleExample:
    return RuleExample(f"ub_gm CTRL {name}", op, rule, ctrl)


STORE_RULE_EXAMPLES: tuple[RuleExample, ...] = (
    _rule("f32, len 6", 16, _F32, _store(6)),
    _rule("s32, gm_dst 2", 16, _S32, replace(_store(4), gm_dst=2)),
    _rule("f16, len 4, dst_stride 5", 16, _F16, _store(4, (2, 32, 5))),
    _rule("f16, n 0, gm_dst 1", 16, _F16, replace(_store(2, (0, 0, 0)), gm_dst=1)),
    _rule("type 7", 17, 7 << 6, _store(4)),
    _rule("type 1, op 3", 17, _F32 | 3 << 9, _store(4)),
    _rule("type 7, len 0", 17, 7 << 6, _store(0)),
)
"""Section 8."""
