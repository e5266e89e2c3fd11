# SPDX-License-Identifier: Apache-2.0
"""Worked examples of the ops around L1, UB to UB, BT and FB.

Sections 3 to 5 and 7 of spec/examples.md, section 5 of spec/nd2nz.md and section 4 of
spec/bias_fb.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from sequences.examples.example import BACKGROUNDS, Data, Example, Fill, RuleExample
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.op import MteGmL1, MteL1Ub
from tb.isa.dtypes import Ptr
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.spaces import Space

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


def _param(name: str, crc: int, burst: tuple[int, int, int, int]) -> Example:
    op = MteL1Fb(0, 0, *burst)
    return Example(name, {"v06": (op,)}, (Fill(Space.L1, 5, 0x10000),), Space.FB, 1024, crc)


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
    Example(
        "LU-E1", {"v06": (MteL1Ub(0, 0, 64, 2, 128, 64),)}, (Fill(Space.L1, 3, 0x10000),),
        Space.UB0, 128, 0x3E678EC6,
    ),
)  # fmt: skip
"""spec/examples.md, section 3, and UU-E1 in L1."""

PARAM_EXAMPLES: tuple[Example, ...] = (
    _bias("BT-E1", 0x0AC49D4A, _HALFWORDS, "f16", (1, 4, 0, 0)),
    _bias("BT-E2", 0xB9D4E39A, _HALFWORDS, "f16", (2, 3, 1, 2)),
    _bias("BT-E3", 0x6733E9B4, (0x3F80, 0xC000, 0x7FC1, 0x0001), "bf16", (4, 1, 0, 0)),
    _param("FB-E1", 0xE0D59CA7, (2, 4, 0, 0)),
    _param("FB-E2", 0xAB647B4D, (2, 2, 1, 3)),
)
"""spec/bias_fb.md, section 4."""

L1_EXAMPLES: tuple[Example, ...] = (*COPY_EXAMPLES, *NZ_EXAMPLES, *PARAM_EXAMPLES)

L1_RULE_EXAMPLES: tuple[RuleExample, ...] = (
    RuleExample("l1_ub len 40", MteL1Ub(0, 0, 40, 1, 64, 64), 11),
    RuleExample("small-C0 with d 5", MteGmL1Frac(0, 0, _ND, 4, 5, 10, 1, 0, 0, 0, smallc0_en=1), 5),
    RuleExample("group_count 0", MteGmL1Frac(0, 0, _ND, 4, 16, 32, 0, 1, 16, 16), 4),
    RuleExample("bt dst 32", MteL1Bt(0, 32, 4, 1, 0, 0), 3),
)
"""Rows of section 7 of spec/examples.md about these ops."""
