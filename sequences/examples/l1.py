# SPDX-License-Identifier: Apache-2.0
"""Worked examples of the ops around L1, UB to UB, BT and FB.

Sections 3 to 5 and 7 of spec/examples.md, section 5 of spec/nd2nz.md and section 4 of
spec/bias_fb.md.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import replace

from sequences.examples.example import (
    BACKGROUNDS,
    Data,
    Example,
    Fill,
    Image,
    RuleExample,
    pattern,
)
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.op import Loop, MteGmL1, MteL1Ub
from tb.isa.dtypes import Ptr
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.spaces import FB_SEGMENT_SHIFT, UB_BLOCK, Space, ub_space

_NZ_BACKGROUNDS = {**BACKGROUNDS, Space.L1: 0xEE}
_HALFWORDS = (0x3C00, 0xC100, 0x3555, 0x7BFF, 0x0001, 0x8000, 0x7C00, 0x03FF)


def _words(space: Space, values: Iterable[int], size: int) -> Data:
    """Little-endian elements of ``size`` bytes at the start of a memory."""
    return Data(space, b"".join(value.to_bytes(size, "little") for value in values))


def _frac(
    name: str,
    length: int,
    crc: int,
    source: Fill | Data,
    dtype: str,
    mode: str,
    shape: tuple[int, int],
    strides: tuple[int, int | None],
    group: tuple[int, int, int, int],
    small: int = 0,
) -> Example:
    """An NZ repack from GM 0 to L1 0; ``group`` holds the count and loops 2, 3 and 4."""
    op = MteGmL1Frac(
        0, 0, mode, *shape, strides[0], *group, strides[1], 0, small, Ptr(dtype, "gm"),
        Ptr(dtype, "l1"),
    )  # fmt: skip
    return Example(name, {"v06": (op,)}, (source,), Space.L1, length, crc, _NZ_BACKGROUNDS)


def _running(count: int, size: int, first: int = 0) -> Data:
    return _words(Space.GM, range(first, first + count), size)


_ND, _DN = "nd2nz", "dn2nz"

NZ_EXAMPLES: tuple[Example, ...] = (
    _frac("S-FRAC", 4160, 0xDCB956BE, _running(1024, 2), "f16", _ND, (32, 16), (32, 1024),
          (2, 1, 16, 64)),
    _frac("ND-E1", 4160, 0xDCB956BE, _running(1024, 2), "f16", _ND, (32, 16), (32, 1024),
          (2, 1, 16, 64)),
    _frac("ND-E2", 6144, 0x007A0280, _running(2000, 2), "f16", _ND, (40, 50), (100, None),
          (1, 1, 48, 0)),
    _frac("ND-E3", 1024, 0x7EBA3C45, Fill(Space.GM, 4, 256), "i8", _ND, (3, 40), (40, None),
          (1, 1, 16, 0)),
    _frac("ND-E4", 1024, 0xD3C81485, _running(22, 4), "i32", _ND, (2, 11), (44, None),
          (1, 1, 16, 0)),
    _frac("ND-E5", 512, 0xBD245FDC, _running(160, 2), "f16", _DN, (16, 10), (32, None),
          (1, 1, 16, 16)),
    _frac("ND-E6", 8192, 0xE1941800, _running(80, 2), "f16", _DN, (16, 5), (32, 160),
          (1, 16, 80, 1)),
    _frac("ND-E7", 128, 0xD7EEF1B2, _running(48, 2), "f16", _DN, (1, 16), (2, 32),
          (3, 16, 16, 1)),
    _frac("ND-E8", 256, 0x51E234A4, _running(36, 2), "f16", _ND, (6, 3), (6, 36),
          (2, 0, 0, 4), 1),
    _frac("ND-E9", 64, 0x17BAC1DA, _running(20, 1, 1), "i8", _DN, (5, 4), (5, None),
          (1, 0, 0, 0), 1),
    _frac("ND-E10", 96, 0x7B1AFF3A, _running(6, 4, 1), "i32", _ND, (3, 2), (8, None),
          (1, 0, 0, 0), 1),
)  # fmt: skip
"""spec/nd2nz.md, section 5; the first is section 4 of spec/examples.md."""


def _bias(
    name: str, crc: int, halves: tuple[int, ...], dtype: str, burst: tuple[int, int, int, int]
) -> Example:
    op = MteL1Bt(0, 0, *burst, Ptr(dtype, "l1"), Ptr("f32", "bt"))
    return Example(name, {"v06": (op,)}, (_words(Space.L1, halves, 2),), Space.BT, 64, crc)


def _param(
    name: str, crc: int, burst: tuple[int, int, int, int], dst: int = 0, length: int = 1024
) -> Example:
    op = MteL1Fb(0, dst, *burst)
    return Example(name, {"v06": (op,)}, (Fill(Space.L1, 5, 0x10000),), Space.FB, length, crc)


def _legal(name: str, op: MteL1Ub, moved: int) -> Example:
    """A legal row of section 8 of spec/examples_v2.md: the first ``moved`` bytes, unchanged."""
    data = pattern(3, moved).tobytes()
    image = data + bytes([BACKGROUNDS[Space.UB0]]) * UB_BLOCK
    return Example(
        f"legal: {name}", {"v06": (op,)}, (Data(Space.L1, data),), Space.UB0, len(image),
        zlib.crc32(image),
    )  # fmt: skip


def _blocks(
    name: str,
    length: int,
    crc: int,
    burst: tuple[int, int, int, int],
    *loops: Loop,
    ub_sub: int = 0,
) -> Example:
    """A copy from L1 0 to UB 0: length, bursts and gaps in blocks of 32 bytes."""
    op = MteL1Ub(0, 0, *burst, loops, ub_sub=ub_sub)
    fills = (Fill(Space.L1, 3, 0x10000),)
    return Example(name, {"v06": (op,)}, fills, ub_space(ub_sub), length, crc)


COPY_EXAMPLES: tuple[Example, ...] = (
    Example(
        "UU-E1", {"v06": (MteUbUb(4096, 0, 2, 3, 1, 2),)}, (Fill(Space.UB0, 2, 0x10000, 4096),),
        Space.UB0, 512, 0x4D1B9306,
    ),
    Example(
        "UU-E2",
        {
            "legacy": (CopyUbufToUbuf(4096, 0, 0, 3, 64, 96, 128),),
            "v06": (MteUbUb(4096, 0, 2, 3, 1, 2),),
        },
        (Fill(Space.UB0, 2, 0x10000, 4096),), Space.UB0, 512, 0x4D1B9306,
    ),
    Example(
        # mte_ub_l1 is mte_ub_ub with an L1 destination (spec/README.md): the image of UU-E1 in L1.
        "UU-E1 in L1", {"v06": (MteUbL1(4096, 0, 2, 3, 1, 2),)},
        (Fill(Space.UB0, 2, 0x10000, 4096),), Space.L1, 512, 0x4D1B9306,
    ),
    Example(
        "GL-E1", {"v06": (MteGmL1(0, 0, 32, 4, 64, 32),)}, (Fill(Space.GM, 0, 0x20000),),
        Space.L1, 128, 0xF9539DFB,
    ),
    _blocks("LU-E1", 128, 0x3E678EC6, (2, 2, 2, 0)),
    _blocks("LU-E2", 512, 0xDEA35019, (2, 3, 1, 2)),
    _blocks("LU-E3", 1024, 0xA0DBA56F, (2, 3, 1, 2), Loop(2, 1024, 512)),
    _blocks("LU-E4", 10496, 0x0D541ADF, (64, 5, 0, 0)),
    _blocks("LU-E5", 512, 0xBF927F5D, (1, 2, 1, 0), Loop(2, 128, 64), Loop(2, 512, 128)),
    # The text form copy_cbuf_to_ubuf names the sub-block in its sid, the op in ub_sub.
    _blocks("LU-E6", 512, 0xDEA35019, (2, 3, 1, 2), ub_sub=1),
    _legal("l1_ub loop(1, 80, 64)", MteL1Ub(0, 0, 2, 1, 0, 0, (Loop(1, 80, 64),)), 64),
    _legal("l1_ub len 3, count 2", MteL1Ub(0, 0, 3, 2, 0, 0), 192),
)  # fmt: skip
"""spec/examples.md, section 3, spec/examples_v2.md, section 1, and UU-E1 in L1."""

PARAM_EXAMPLES: tuple[Example, ...] = (
    _bias("BT-E1", 0x0AC49D4A, _HALFWORDS, "f16", (1, 4, 0, 0)),
    _bias("BT-E2", 0xB9D4E39A, _HALFWORDS, "f16", (2, 3, 1, 2)),
    _bias("BT-E3", 0x6733E9B4, (0x3F80, 0xC000, 0x7FC1, 0x0001), "bf16", (4, 1, 0, 0)),
    _param("FB-E1", 0xE0D59CA7, (2, 4, 0, 0)),
    _param("FB-E2", 0xAB647B4D, (2, 2, 1, 3)),
    # The image of the document is that of segment 1; segment 0 is untouched.
    replace(
        _param(
            "FB-E3", zlib.crc32(bytes([BACKGROUNDS[Space.FB]]) * 256), (1, 1, 0, 0), 0x10040, 256
        ),
        others=(Image(Space.FB, 256, 0x9D3A3525, 1 << FB_SEGMENT_SHIFT),),
    ),
    _param("FB-E4", 0x5AA0DA77, (1, 1, 0, 0), 0x00FC0, 4096),
)
"""spec/bias_fb.md, section 4, and spec/examples_v2.md, section 1."""

L1_EXAMPLES: tuple[Example, ...] = (*COPY_EXAMPLES, *NZ_EXAMPLES, *PARAM_EXAMPLES)

L1_RULE_EXAMPLES: tuple[RuleExample, ...] = (
    RuleExample("l1_ub count 4096", MteL1Ub(0, 0, 1, 4096, 0, 0), 5),
    RuleExample("l1_ub src_gap 65536", MteL1Ub(0, 0, 1, 1, 65536, 0), 5),
    RuleExample("l1_ub src 16", MteL1Ub(16, 0, 1, 1, 0, 0), 6),
    RuleExample("l1_ub loop(2, 80, 64)", MteL1Ub(0, 0, 2, 1, 0, 0, (Loop(2, 80, 64),)), 7),
    RuleExample("l1_ub len 8192, count 2", MteL1Ub(0, 0, 8192, 2, 0, 0), 12),
    RuleExample("fb dst 0xFC0, len 2", MteL1Fb(0, 0xFC0, 2, 1, 0, 0), 4),
    RuleExample("fb dst 0x20000", MteL1Fb(0, 0x20000, 1, 1, 0, 0), 4),
    RuleExample("fb dst 0x11000", MteL1Fb(0, 0x11000, 1, 1, 0, 0), 4),
    RuleExample("fb dst 0x20000, len 0", MteL1Fb(0, 0x20000, 0, 1, 0, 0), 4),
    RuleExample("small-C0 with d 5", MteGmL1Frac(0, 0, _ND, 4, 5, 10, 1, 0, 0, 0, smallc0_en=1), 5),
    RuleExample("group_count 0", MteGmL1Frac(0, 0, _ND, 4, 16, 32, 0, 1, 16, 16), 4),
    RuleExample("bt dst 32", MteL1Bt(0, 32, 4, 1, 0, 0), 3),
)
"""Rows about these ops of section 7 of spec/examples.md and section 8 of spec/examples_v2.md."""
