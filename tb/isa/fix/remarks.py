# SPDX-License-Identifier: Apache-2.0
"""Legal write-backs of which a remark is due: what they store may be unexpected."""

from __future__ import annotations

from tb.isa.fix.op import FixOp
from tb.isa.fix.table import DST_S8
from tb.isa.profile import current
from tb.isa.spaces import FB_SEGMENT_SHIFT, FB_SEGMENTS


def unsigned(desc: FixOp) -> bool:
    """Returns whether a signed 8-bit destination takes unsigned values (section 5, A-37)."""
    scalar_b8 = desc.mode.narrow == "b8" and not desc.mode.vector
    return scalar_b8 and desc.dst_code == DST_S8 and current().b8_scalar_sign == "unsigned"


def remarks(desc: FixOp) -> tuple[str, ...]:
    """Returns the remarks on a write-back under the profile of this process, one sentence each."""
    found = []
    if unsigned(desc):
        found.append(
            "the payload of a b8 mode is a scalar and the destination signed: the stored byte is "
            "the low 8 bits of 0..255 (A-37, knob b8_scalar_sign = unsigned)"
        )
    if desc.vector_relu and desc.relu_addr >> FB_SEGMENT_SHIFT != FB_SEGMENTS["pre_relu"]:
        found.append("the alphas are read from segment 0 of fb, that of pre_quant (A-24)")
    return tuple(found)
