# SPDX-License-Identifier: Apache-2.0
"""Which rules a write-back breaks: the verdict of the rule tables on the op as written.

The descriptor that D rules look at is put together here from the op's own operands, not by the
lowering that the engine's descriptors come from: the two must agree.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tb.isa.fix.op import FbPtr, FixDescriptor, FixOp, MteL0cGm, MteL0cUb, Scalar
from tb.isa.fix.table import DST_CODES, LAYOUTS_BY_NAME, QUANT_MODES, RELU_MODES, UB_SPLITS
from tb.isa.rules import first_d_violation, s_violations

_HINT_RULE = "FIX-L13"  # of constants; an engine sees the value all the same (FIX-L14)
_NARROW_CLIPS = {"i4": 4, "si4": 4, "i8": 8, "si8": 8}


def broken_rule(op: FixOp) -> int:
    """Returns the lowest D rule the op breaks, or 0.

    Raises:
        ValueError: the op breaks an S rule, so that no front end lets it through.
    """
    for broken in s_violations(op):
        if broken.rule.name != _HINT_RULE:
            raise ValueError(str(broken))
    violation = first_d_violation(_descriptor(op))
    return 0 if violation is None else violation.rule.number


def _descriptor(op: FixOp) -> FixDescriptor:
    """Returns what D rules look at of an op that keeps the S rules; values are left out."""
    quant, relu, loop3 = op.pre_quant, op.pre_relu, op.loop3
    clip = None if relu is None else relu.clip
    repeat: dict[str, Any] = {}
    if loop3 is not None:
        repeat = {
            "loop3_en": 1,
            "loop3_count": loop3.count,
            "loop3_src": loop3.src_stride,
            "loop3_dst": loop3.dst_stride,
        }
    place: dict[str, Any] = {}
    if isinstance(op, MteL0cGm):
        place = {"sid": op.sid, "l2": op.l2_cache_ctrl}
    elif isinstance(op, MteL0cUb):
        place = {"ub_mode": UB_SPLITS[op.ub_split], "ub_sub": op.sub_block}
    desc = FixDescriptor(
        op.spec,
        op.src,
        op.dst,
        op.m,
        op.n,
        op.src_stride,
        op.dst_stride,
        dst_type=DST_CODES[op.dst_type.dtype],
        quant=0 if quant is None else QUANT_MODES[quant.mode].code,
        quant_addr=0 if quant is None else _address(quant.payload),
        relu=0 if relu is None else RELU_MODES[relu.mode],
        relu_addr=0 if relu is None else _address(relu.payload),
        clip_en=int(clip is not None),
        clip=0 if clip is None else _clip(clip),
        unit_flag=op.unit_flag,
        layout=LAYOUTS_BY_NAME[op.layout],
        split=op.split or 0,
        k=op.k or 0,
    )
    return replace(desc, **repeat, **place)


def _address(payload: Scalar | FbPtr | None) -> int:
    return payload.address if isinstance(payload, FbPtr) else 0


def _clip(clip: Scalar) -> int:
    """Returns a clip as 16 bits; integers are sign-extended, so that -1 is out of range."""
    bits = _NARROW_CLIPS.get(clip.dtype, 16)
    value = clip.bits & (1 << bits) - 1
    return value | 0xFFFF << bits & 0xFFFF if value >> bits - 1 else value
