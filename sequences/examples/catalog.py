# SPDX-License-Identifier: Apache-2.0
"""The directed examples of spec/examples.md as data: ops, initial bytes, expected image.

One list drives the reference model and every simulator. Images are those of the spec, by CRC-32;
all forms of an example must give the same image.
"""

from __future__ import annotations

from sequences.examples.example import (
    BACKGROUNDS,
    Data,
    Example,
    Fill,
    Image,
    Op,
    RuleExample,
    pattern,
)
from sequences.examples.fixpipe import FIX_EXAMPLES, FIX_RULE_EXAMPLES
from sequences.examples.knobs import (
    KNOB_EXAMPLES,
    KNOB_RULE_EXAMPLES,
    LEGACY_RULE_EXAMPLES,
    LEGAL_EXAMPLES,
    retold,
)
from sequences.examples.l0 import L0_EXAMPLES, L0_LEGAL_EXAMPLES, L0_RULE_EXAMPLES
from sequences.examples.l1 import L1_EXAMPLES, L1_RULE_EXAMPLES
from sequences.examples.stores import (
    STORE_EXAMPLES,
    STORE_LEGAL_EXAMPLES,
    STORE_RULE_EXAMPLES,
)
from tb.isa.dma.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    CopyUbufToGm,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.op import Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.spaces import Space

_F32 = Ptr("f32", "gm"), Ptr("f32", "ub")
_F16 = Ptr("f16", "gm"), Ptr("f16", "ub")
_I16 = Ptr("i16", "gm"), Ptr("i16", "ub")
_F16_ONE = 0x3C00
_F32_ONE = 0x3F800000
_GM_SOURCE = (Fill(Space.GM, 0, 0x20000),)
_UB_SOURCE = (Fill(Space.UB0, 1, 0x10000),)
_STRIDE = {"pad_end": "stride"}
_KEEP = {"tail": "keep"}


def _loops(
    count: int = 1, src: int = 0, dst: int = 0, direction: str = OUTTOUB
) -> tuple[LegacyOp, ...]:
    """Loop registers of a direction: loop1 as given, loop2 once."""
    return (
        SetLoopSize(direction, count, 1),
        SetLoopStride(direction, 1, src, dst),
        SetLoopStride(direction, 2, 0, 0),
    )


GM_UB_EXAMPLES: tuple[Example, ...] = (
    Example(
        "EX1",
        {
            "legacy": (*_loops(), CopyGmToUbuf(0, 0, 0, 32, 128, 0, 0, 0, 0, 128, 128, *_F32)),
            "v06": (MteGmUb(0, 0, 128, 32, 128, 128, (), None, 0, *_F32),),
        },
        _GM_SOURCE,
        Space.UB0,
        4096,
        0x3411E7F9,
    ),
    Example(
        "EX2",
        {
            "legacy": (
                *_loops(),
                CopyGmToUbuf(5 * 1024, 0, 0, 64, 256, 0, 0, 0, 0, 1024, 256, *_F16),
            ),
            "v06": (MteGmUb(5 * 1024, 0, 256, 64, 1024, 256, (), None, 0, *_F16),),
        },
        _GM_SOURCE,
        Space.UB0,
        16384,
        0xB8044D87,
    ),
    Example(
        "EX3",
        {
            "legacy": (
                *_loops(),
                SetMovPadVal("f16", 0),
                CopyGmToUbuf(0, 0, 0, 64, 200, 0, 0, 1, 0, 200, 256, *_F16),
            ),
            "v06": (MteGmUb(0, 0, 200, 64, 200, 256, (), Pad("f16", 0, 0, 0), 0, *_F16),),
        },
        _GM_SOURCE,
        Space.UB0,
        16384,
        0xF3771B43,
        knobs=_STRIDE,
    ),
    Example(
        "EX3b",
        {
            "legacy": (
                *_loops(),
                SetMovPadVal("i16", 0x1234),
                CopyGmToUbuf(0, 0, 0, 64, 200, 0, 0, 1, 0, 200, 256, *_I16),
            ),
            "v06": (MteGmUb(0, 0, 200, 64, 200, 256, (), Pad("i16", 0x1234), 0, *_I16),),
        },
        _GM_SOURCE,
        Space.UB0,
        16384,
        0xB7D42B96,
        knobs=_STRIDE,
    ),
    Example(
        "EX3c",
        {
            "legacy": (
                *_loops(),
                SetMovPadVal("f16", 0),
                CopyGmToUbuf(0, 0, 0, 64, 200, 0, 0, 0, 0, 200, 256, *_F16),
            ),
            "v06": (MteGmUb(0, 0, 200, 64, 200, 256, (), None, 0, *_F16),),
        },
        _GM_SOURCE,
        Space.UB0,
        16384,
        0xD0CFFF9A,
        knobs=_KEEP,
    ),
    Example(
        "EX4",
        {
            "legacy": (
                *_loops(direction=UBTOOUT),
                CopyUbufToGm(0, 0, 0, 32, 128, 0, 128, 128, *_F32[::-1]),
            ),
            "v06": (MteUbGm(0, 0, 128, 32, 128, 128, (), 0, *_F32[::-1]),),
        },
        _UB_SOURCE,
        Space.GM,
        4096,
        0xA55A16CA,
    ),
    Example(
        "EX5",
        {
            "legacy": (
                *_loops(direction=UBTOOUT),
                CopyUbufToGm(0, 0, 0, 64, 256, 0, 1024, 256, *_F16[::-1]),
            ),
            "v06": (MteUbGm(0, 0, 256, 64, 256, 1024, (), 0, *_F16[::-1]),),
        },
        _UB_SOURCE,
        Space.GM,
        65536,
        0x66C94EC3,
    ),
    Example(
        "EX6",
        {
            "legacy": (
                *_loops(4, 2048, 2048),
                CopyGmToUbuf(0, 0, 0, 8, 256, 0, 0, 0, 0, 256, 256, *_F16),
            ),
            "v06": (
                MteGmUb(
                    0,
                    0,
                    256,
                    8,
                    256,
                    256,
                    (Loop(4, 2048, 2048), Loop(1, 0, 0)),
                    None,
                    0,
                    *_F16,
                ),
            ),
        },
        _GM_SOURCE,
        Space.UB0,
        8192,
        0x8E0DC177,
    ),
    Example(
        "GU-E1",
        {
            "v06": (MteGmUb(0, 0, 40, 3, 64, 64, (), Pad("f16", _F16_ONE), 0, *_F16),),
            "legacy": (
                *_loops(),
                SetMovPadVal("f16", _F16_ONE),
                CopyGmToUbuf(0, 0, 0, 3, 40, 0, 0, 1, 0, 64, 64, *_F16),
            ),
        },
        _GM_SOURCE,
        Space.UB0,
        256,
        0x183875E9,
    ),
    Example(
        "GU-E2",
        {
            "v06": (
                MteGmUb(0, 0, 40, 3, 64, 64, (Loop(2, 256, 192),), Pad("f16", _F16_ONE), 0, *_F16),
            ),
            "legacy": (
                *_loops(2, 256, 192),
                SetMovPadVal("f16", _F16_ONE),
                CopyGmToUbuf(0, 0, 0, 3, 40, 0, 0, 1, 0, 64, 64, *_F16),
            ),
        },
        _GM_SOURCE,
        Space.UB0,
        512,
        0x922F90EE,
    ),
    Example(
        "GU-E3",
        {
            "v06": (MteGmUb(0, 0, 20, 2, 24, 64, (), Pad("f32", _F32_ONE, 2, 1), 0, *_F32),),
            "legacy": (
                *_loops(),
                SetMovPadVal("f32", _F32_ONE),
                CopyGmToUbuf(0, 0, 0, 2, 20, 8, 4, 1, 0, 24, 64, *_F32),
            ),
        },
        _GM_SOURCE,
        Space.UB0,
        128,
        0xC427217C,
        knobs=_STRIDE,
    ),
    Example(
        "GU-E4",
        {
            "v06": (
                MteGmUb(
                    0,
                    0,
                    224,
                    1,
                    224,
                    256,
                    (Loop(2, 224, 256), Loop(2, 448, 512), Loop(2, 896, 1024)),
                    Pad("f32", _F32_ONE, 0, 8),
                    0,
                    *_F32,
                ),
            ),
        },
        _GM_SOURCE,
        Space.UB0,
        2048,
        0x8840989E,
    ),
)
"""Sections 1 and 2 of spec/examples.md. GU-E4 has three loops, more than legacy registers hold."""


GM_UB_RULE_EXAMPLES: tuple[RuleExample, ...] = (
    RuleExample("ub_dst 16", MteGmUb(0, 16, 64, 1, 64, 64), 6),
    RuleExample("dst_stride 40", MteGmUb(0, 0, 32, 2, 64, 40), 7),
    RuleExample(
        "src_stride 64 below len 128",
        MteGmUb(0, 0, 128, 2, 64, 128),
        8,
        knobs={"row_repeat": "error"},
    ),
    RuleExample(
        "len 33 of f16", MteGmUb(0, 0, 33, 1, 64, 64, (), Pad("f16", _F16_ONE), 0, *_F16), 9
    ),
    RuleExample(
        "left 8, len 40, right 8 of f16 in 64 B",
        MteGmUb(0, 0, 40, 1, 64, 64, (), Pad("f16", _F16_ONE, 8, 8), 0, *_F16),
        10,
    ),
    RuleExample(
        "left 17 of f16", MteGmUb(0, 0, 40, 1, 64, 128, (), Pad("f16", 0, 17, 0), 0, *_F16), 9
    ),
    RuleExample("ub_src 262112, len 64", MteUbGm(262112, 0, 64, 1, 64, 64), 12),
)
"""Rows of section 7 of spec/examples.md about copies between GM and UB."""

_BY_NAME = {example.name: example for example in GM_UB_EXAMPLES}

BLOCK_EXAMPLES: tuple[Example, ...] = (
    retold(_BY_NAME["EX3"], "EX3-a5", 0x66B10886, {"pad_end": "block"}),
    retold(_BY_NAME["EX3b"], "EX3b-a5", 0xC541E728, {"pad_end": "block"}),
    retold(_BY_NAME["EX3c"], "EX3c-a5", 0x2C7B882B, {"tail": "fill"}),
    retold(_BY_NAME["GU-E3"], "GU-E3-a5", 0x5F4C9A43, {"pad_end": "block"}),
)
"""Examples of sections 1 and 2 with the other value of a knob (spec/examples_v2.md, section 7). The
others of section 2 hold for both: their rows end with their strides."""

EXAMPLES: tuple[Example, ...] = (
    *GM_UB_EXAMPLES,
    *BLOCK_EXAMPLES,
    *KNOB_EXAMPLES,
    *LEGAL_EXAMPLES,
    *L1_EXAMPLES,
    *L0_EXAMPLES,
    *L0_LEGAL_EXAMPLES,
    *STORE_EXAMPLES,
    *STORE_LEGAL_EXAMPLES,
    *FIX_EXAMPLES,
)
"""Every example: sections 1 to 6 of spec/examples.md, the worked values of spec/fixpipe.md, and
sections 1 to 5 and 7 of spec/examples_v2.md."""

RULE_EXAMPLES: tuple[RuleExample, ...] = (
    *GM_UB_RULE_EXAMPLES,
    *KNOB_RULE_EXAMPLES,
    *LEGACY_RULE_EXAMPLES,
    *L1_RULE_EXAMPLES,
    *L0_RULE_EXAMPLES,
    *STORE_RULE_EXAMPLES,
    *FIX_RULE_EXAMPLES,
)
"""Every row of section 7 of spec/examples.md and of section 8 of spec/examples_v2.md whose op is
issued; rows of copies that are not are in ``UBUF_RULE_EXAMPLES``."""

__all__ = [
    "BACKGROUNDS",
    "EXAMPLES",
    "FIX_EXAMPLES",
    "GM_UB_EXAMPLES",
    "L1_EXAMPLES",
    "RULE_EXAMPLES",
    "Data",
    "Example",
    "Fill",
    "Image",
    "Op",
    "RuleExample",
    "pattern",
]
