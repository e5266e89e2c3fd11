# SPDX-License-Identifier: Apache-2.0
"""Rules of the FIXPIPE write-back as numbered predicates (docs/spec/fixpipe.md, section 10).

Predicates return None when a rule holds and a sentence when it does not. FIX-L01 is decided where
text is read (:mod:`tb.language.reader`); FIX-L25 concerns parameters in memory, which stimulus
obeys.
"""

from __future__ import annotations

from collections.abc import Callable

from tb.isa.fix.op import FbPtr, FixOp, MteL0cGm, MteL0cUb, PreQuant, Scalar
from tb.isa.fix.table import (
    ALPHA_WORD,
    ATOMIC_DST,
    ATOMIC_OPS,
    ATOMIC_TYPES,
    CLIP_LIMITS,
    CLIP_TYPES,
    DST_CODES,
    DST_S4,
    FLAG_CHECK,
    FLAG_CLEAR,
    FLAG_NONE,
    L0C_WORD,
    MAX_M,
    MAX_M_NZ,
    NO_CONVERT,
    NUMBER_TYPES,
    NZ2DN,
    NZ2NZ,
    QUANT_MODES,
    QUANT_RECORD,
    RELU_MODES,
    UB_SPLIT_M,
    UB_SPLIT_N,
    UB_WHOLE,
    QuantMode,
)
from tb.isa.footprint import destinations, row_overlap, source
from tb.isa.profile import current
from tb.isa.rule import Breach, Rule, not_multiple, operands_fit, reaches, wrong_for
from tb.isa.spaces import FB_SEGMENT_BYTES, FB_SEGMENT_SHIFT, FB_SEGMENTS, SIZES, UB_BLOCK

DPredicate = Callable[[FixOp], "str | None"]
SPredicate = Callable[[FixOp], "str | None"]


def _mode(op: FixOp) -> QuantMode:
    """Returns the pre_quant mode, ``no_convert`` when the clause is absent or its mode unknown."""
    return NO_CONVERT if op.pre_quant is None else QUANT_MODES.get(op.pre_quant.mode, NO_CONVERT)


def _bad_pointer(what: str, payload: Scalar | FbPtr | None) -> str | None:
    if not isinstance(payload, FbPtr):
        return f"{what} wants an fb pointer"
    if payload.dtype not in NUMBER_TYPES:
        return Breach(f"{what} points to {payload.dtype}", f"one of {', '.join(NUMBER_TYPES)}")
    return None


def _bad_number(what: str, payload: Scalar | FbPtr | None) -> str | None:
    if not isinstance(payload, Scalar):
        return f"{what} wants a scalar"
    if payload.dtype not in NUMBER_TYPES:
        return Breach(f"{what} has type {payload.dtype}", f"one of {', '.join(NUMBER_TYPES)}")
    return None


def l02(op: FixOp) -> str | None:
    """Source in l0c with f32 or i32 elements, destination in the space of the op."""
    if op.src_type.space != "l0c" or op.src_type.dtype not in ("f32", "i32"):
        return Breach(f"source is {op.src_type}", "f32 or i32 in l0c")
    if op.dst_type.space != op.spec.destination:
        wanted = op.spec.destination
        return Breach(
            f"destination pointer is in {op.dst_type.space}", f"{op.spec.name} wants {wanted}"
        )
    return None


def l03(op: FixOp) -> str | None:
    """pre_quant has a mode and the payload that goes with it."""
    quant = op.pre_quant
    if quant is None:
        return None
    if quant.mode not in QUANT_MODES:
        return Breach(
            f"pre_quant mode {quant.mode!r} is unknown", f"one of {', '.join(QUANT_MODES)}"
        )
    if quant.payload is None:
        return f"pre_quant {quant.mode} has no payload"
    return _bad_quant_payload(quant)


def _bad_quant_payload(quant: PreQuant) -> str | None:
    mode = QUANT_MODES[quant.mode]
    # no_convert takes a payload of either kind.
    if mode.vector or (mode is NO_CONVERT and isinstance(quant.payload, FbPtr)):
        return _bad_pointer(f"pre_quant {mode.name}", quant.payload)
    return _bad_number(f"pre_quant {mode.name}", quant.payload)


def l04(op: FixOp) -> str | None:
    """Accumulator type, mode and destination type are a row of section 4, legal in the profile."""
    mode, acc, dst = _mode(op), op.src_type.dtype, op.dst_type.dtype
    if not mode.a5 and current().modes == "a5":
        listed = ", ".join(one.name for one in QUANT_MODES.values() if one.a5)
        return Breach(f"{mode.name} is not in the list of A5 (knob modes = a5)", f"one of {listed}")
    if mode.acc not in (None, acc):
        return wrong_for(f"{mode.name} takes", f"{mode.acc} accumulators", acc)
    legal = mode.dst or (("f32",) if acc == "f32" else ("i32", "si32", "ui32"))
    if dst not in legal:
        return wrong_for(f"{mode.name} of {acc} writes", " or ".join(legal), dst)
    return None


def l05(op: FixOp) -> str | None:
    """pre_relu has the payload of its mode; integers without a scale have no alpha."""
    relu = op.pre_relu
    if relu is None:
        return None
    if relu.mode not in RELU_MODES:
        return Breach(f"pre_relu mode {relu.mode!r} is unknown", f"one of {', '.join(RELU_MODES)}")
    if relu.mode == "pwl":
        return "pre_relu pwl is illegal"
    if relu.mode in ("no_relu", "normal_relu"):
        return f"{relu.mode} takes no payload" if relu.payload is not None else None
    bad = _bad_number if relu.mode == "scalar_relu" else _bad_pointer
    message = bad(f"pre_relu {relu.mode}", relu.payload)
    if message is None and op.src_type.dtype == "i32" and not _mode(op).scale:
        return wrong_for("i32 without a scale takes", "no_relu or normal_relu", relu.mode)
    return message


def l06(op: FixOp) -> str | None:
    """A clip has a destination that takes one, and its type."""
    clip = op.pre_relu.clip if op.pre_relu else None
    if clip is None:
        return None
    legal = CLIP_TYPES.get(DST_CODES.get(op.dst_type.dtype, -1), ())
    if clip.dtype not in legal:
        wanted = f"one of {', '.join(legal)}" if legal else "no clip at all"
        return Breach(f"clip of type {clip.dtype} to {op.dst_type.dtype}", wanted)
    return None


def l08(op: FixOp) -> str | None:
    """nz2dn has K and no other layout has; split goes with nz2nz."""
    if (op.layout == NZ2DN) != op.k_given:
        return "nz2dn takes K, and no other layout does"
    if op.split_given and op.layout != NZ2NZ:
        return f"split goes with nz2nz, not with {op.layout_name or 'an omitted layout'}"
    return None


def l09(op: FixOp) -> str | None:
    """nz2nz writes f32 and has no loop3."""
    if op.layout != NZ2NZ:
        return None
    if op.dst_type.dtype != "f32":
        return wrong_for("nz2nz writes", "f32", op.dst_type.dtype)
    return "nz2nz takes no loop3" if op.loop3_en else None


def l10(op: FixOp) -> str | None:
    """loop3 goes with nz2nd or nz2dn; saturation is one of its alternatives."""
    if op.loop3_en and op.layout_name not in ("nz2nd", "nz2dn"):
        return f"loop3 goes with nz2nd or nz2dn, not with {op.layout_name or 'an omitted layout'}"
    return None


def l11(op: FixOp) -> str | None:
    """An atomic has a type that matches the destination element, and an op."""
    atomic = op.atomic if isinstance(op, MteL0cGm) else None
    if atomic is None:
        return None
    if atomic.op not in ATOMIC_OPS:
        return Breach(f"atomic op {atomic.op!r} is unknown", f"one of {', '.join(ATOMIC_OPS)}")
    if atomic.type not in ATOMIC_DST:
        return Breach(f"atomic type {atomic.type!r} is unknown", f"one of {', '.join(ATOMIC_DST)}")
    legal = ATOMIC_DST[atomic.type]
    if op.dst_type.dtype not in legal:
        return wrong_for(f"atomic {atomic.type} updates", " or ".join(legal), op.dst_type.dtype)
    return None


def l12(op: FixOp) -> str | None:
    """A split over both sub-blocks converts nothing and keeps rows."""
    if not isinstance(op, MteL0cUb) or not op.ub_split:
        return None
    if op.layout_name not in ("", "nz2nd"):
        return f"{op.ub_split} does not go with {op.layout_name}"
    for name, clause in (
        ("pre_quant", op.pre_quant),
        ("pre_relu", op.pre_relu),
        ("loop3", op.loop3),
    ):
        if clause is not None:
            return f"{op.ub_split} does not go with {name}"
    return None


def l13(op: FixOp) -> str | None:
    """Constant hints fit their ranges."""
    if not isinstance(op, MteL0cGm):
        return None
    for name, value, most in (("sid", op.sid, 3), ("l2_cache_ctrl", op.l2_cache_ctrl, 15)):
        if value > most:
            return Breach(f"{name} is {value}", f"at most {most}")
    return None


def l07(desc: FixOp) -> str | None:
    """The clip value is positive, finite and inside the range of its destination."""
    if not desc.clip_en:
        return None
    most = CLIP_LIMITS.get(desc.dst_code, 0)
    if not 1 <= desc.clip <= most:
        return Breach(f"clip is {desc.clip:#x}", f"0x1..{most:#x}")
    return None


def l14(desc: FixOp) -> str | None:
    """Fields fit their widths and the ranges of section 1."""
    values = {
        operand.field: getattr(desc, operand.field)
        for operand in desc.spec.operands
        if operand.bits is not None
    }
    message = operands_fit(desc.spec, values)
    if message:
        return message
    most = MAX_M_NZ if desc.layout == NZ2NZ else MAX_M
    if desc.m > most:
        return Breach(f"m is {desc.m}", f"at most {most} with this layout")
    if not desc.dst_stride:
        return Breach("dst_stride is 0", "at least 1")
    if desc.layout == NZ2DN and not desc.k:
        return Breach("K of nz2dn is 0", "at least 1")
    if desc.layout == NZ2NZ and desc.split > 1:
        return Breach(f"split is {desc.split}", "0 or 1")
    if desc.spec.destination == "ub" and desc.ub_mode == UB_WHOLE and desc.ub_sub > 1:
        return Breach(f"sub-block id is {desc.ub_sub}", "0 or 1")
    if desc.unit_flag not in (FLAG_NONE, FLAG_CHECK, FLAG_CLEAR):
        return Breach(f"unit_flag is {desc.unit_flag}", "0, 2 or 3")
    return None


def l15(desc: FixOp) -> str | None:
    """More than one group needs a source stride of whole fractals."""
    if desc.n > 16 and desc.src_stride % 16:
        return Breach(f"src_stride is {desc.src_stride} with n {desc.n}", "a multiple of 16")
    return None


def l16(desc: FixOp) -> str | None:
    """Source a multiple of 64; destination of its element, on chip of 32."""
    message = not_multiple("L0C address", desc.src_addr, L0C_WORD)
    if message:
        return message
    unit = max(1, desc.dst_bits // 8) if desc.spec.destination == "gm" else UB_BLOCK
    return not_multiple("destination address", desc.dst_addr, unit)


def l17(desc: FixOp) -> str | None:
    """On chip the destination strides are whole 32-byte blocks."""
    strides = [("dst_stride", desc.dst_stride)]
    if desc.loop3_en:
        strides.append(("loop3 dst_stride", desc.loop3_dst))
    for name, value in strides:
        if value * desc.dst_bits % (8 * UB_BLOCK):
            what = f"{name} is {value} elements of {desc.dst_bits} bits"
            return Breach(what, "a multiple of 32 B", f"{what}: no multiple of 32 B")
    return None


def l18(desc: FixOp) -> str | None:
    """4-bit rows are whole bytes at whole bytes."""
    if desc.dst_code != DST_S4:
        return None
    values = [("dst_stride", desc.dst_stride)]
    if desc.loop3_en:
        values.append(("loop3 dst_stride", desc.loop3_dst))
    values.append(("m", desc.m) if desc.layout == NZ2DN else ("n", desc.n))
    for name, value in values:
        if value % 2:
            return Breach(f"{name} is {value} with a 4-bit destination", "an even number")
    return None


def l19(desc: FixOp) -> str | None:
    """nz2nz writes whole groups of columns."""
    if desc.layout == NZ2NZ and desc.n % desc.nz_columns:
        return Breach(f"n is {desc.n} with nz2nz({desc.split})", f"a multiple of {desc.nz_columns}")
    return None


def l20(desc: FixOp) -> str | None:
    """Unit flags are checked for contiguous rows only, channel splits by knob ``modes``.

    Those of A5 are the ones of ``mte_l0c_gm`` without unit flags (A-32).
    """
    split = desc.layout == NZ2NZ and desc.split == 1 and current().modes == "a5"
    if split and desc.spec.destination != "gm":
        return Breach(f"nz2nz(1) on {desc.spec.name} with knob modes = a5", "mte_l0c_gm")
    if split and desc.unit_flag:
        return Breach(f"nz2nz(1) with unit_flag {desc.unit_flag} and knob modes = a5", "none")
    if desc.unit_flag in (FLAG_CHECK, FLAG_CLEAR) and desc.layout == NZ2DN and desc.k != 1:
        return Breach(f"unit_flag {desc.unit_flag} with nz2dn and K {desc.k}", "K 1")
    return None


def l21(desc: FixOp) -> str | None:
    """Halves are equal; those of the columns are whole groups."""
    if desc.ub_mode == UB_SPLIT_M and desc.m % 2:
        return Breach(f"m is {desc.m} with split_m", "an even number")
    if desc.ub_mode == UB_SPLIT_N and desc.n % 32:
        return Breach(f"n is {desc.n} with split_n", "a multiple of 32")
    return None


def l22(desc: FixOp) -> str | None:
    """Parameters of every channel lie in a segment of fb that has them, at whole rows."""
    rows: list[tuple[str, int, int, tuple[int, ...]]] = []
    if desc.vector_quant:
        segments: tuple[int, ...] = (FB_SEGMENTS["pre_quant"],)
        rows.append(("pre_quant pointer", desc.quant_addr, QUANT_RECORD, segments))
    if desc.vector_relu:
        segments = tuple(FB_SEGMENTS.values())
        rows.append(("pre_relu pointer", desc.relu_addr, ALPHA_WORD, segments))
    for name, address, size, segments in rows:
        segment, offset = divmod(address, 1 << FB_SEGMENT_SHIFT)
        if segment not in segments:
            return Breach(f"{name} is in segment {segment}", " or ".join(map(str, segments)))
        message = not_multiple(name, address, 16 * size)
        if message:
            return message
        end = offset + size * desc.n
        if not desc.is_nop and end > FB_SEGMENT_BYTES:
            what = f"{name}: {desc.n} channels reach offset {end:#x} of segment {segment}"
            return Breach(what, f"offsets below {FB_SEGMENT_BYTES:#x}")
    return None


def l26(desc: FixOp) -> str | None:
    """Type and op of an atomic that CTRL decides have a meaning (CT-05)."""
    if desc.atomic_type not in (0, *ATOMIC_TYPES.values()):
        return Breach(f"atomic type in CTRL is {desc.atomic_type}", "0 to 6")
    if desc.atomic_type and desc.atomic_op not in ATOMIC_OPS.values():
        return Breach(f"atomic op in CTRL is {desc.atomic_op}", "0 to 2 while a type is set")
    return None


def l27(desc: FixOp) -> str | None:
    """The atomic type fits the destination element; only CTRL can break it."""
    name = next((name for name, code in ATOMIC_TYPES.items() if code == desc.atomic_type), "")
    legal = {DST_CODES[dtype] for dtype in ATOMIC_DST.get(name, ())}
    if desc.spec.destination == "gm" and name and desc.dst_code not in legal:
        return f"atomic {name} on elements of another type: the result is undefined"
    return None


def l23(desc: FixOp) -> str | None:
    """Every accumulator read lies in l0c, every byte written in the destination."""
    if desc.is_nop:
        return None
    for footprint in (source(desc), *destinations(desc)):
        size = SIZES[footprint.space]
        if footprint.end > size:
            return reaches(footprint.space.name, footprint.end, size)
    return None


def l24(desc: FixOp) -> str | None:
    """No destination element is written twice."""
    if not desc.is_nop and row_overlap(destinations(desc)[0]):
        return "rows of the destination overlap: the result is undefined"
    return None


S_RULES: dict[Rule, SPredicate | None] = {
    Rule(1, "S", "clauses in order, each at most once, loop3 complete", "FIX"): None,
    Rule(2, "S", "source in l0c with f32 or i32, destination in the op's space", "FIX"): l02,
    Rule(3, "S", "pre_quant has a mode and its payload", "FIX"): l03,
    Rule(4, "S", "accumulator, mode and destination type are a row of the table", "FIX"): l04,
    Rule(5, "S", "pre_relu has the payload of its mode", "FIX"): l05,
    Rule(6, "S", "clip inside pre_relu, destination and payload type of the table", "FIX"): l06,
    Rule(8, "S", "K with nz2dn and split with nz2nz only", "FIX"): l08,
    Rule(9, "S", "nz2nz: destination f32, no loop3", "FIX"): l09,
    Rule(10, "S", "loop3 with nz2nd or nz2dn only, one saturation", "FIX"): l10,
    Rule(11, "S", "atomic type matches the destination, gm only", "FIX"): l11,
    Rule(12, "S", "split over sub-blocks: plain rows, no conversion", "FIX"): l12,
    Rule(13, "S", "constant sid 0..3, l2 0..15", "FIX"): l13,
}
"""Front-end rules. FIX-L01 is decided where text is read (:mod:`tb.language.reader`)."""

D_RULES: dict[Rule, DPredicate] = {
    Rule(7, "D", "clip value inside its range", "FIX"): l07,
    Rule(14, "D", "fields fit their widths and ranges", "FIX"): l14,
    Rule(15, "D", "n > 16: src_stride a multiple of 16", "FIX"): l15,
    Rule(16, "D", "alignment of source and destination", "FIX"): l16,
    Rule(17, "D", "on chip: destination strides multiples of 32 bytes", "FIX"): l17,
    Rule(18, "D", "4-bit destination: even strides and rows", "FIX"): l18,
    Rule(19, "D", "nz2nz: n a multiple of 16, or of 8 with the split", "FIX"): l19,
    Rule(20, "D", "unit_flag with nz2dn: K 1; nz2nz(1) where A5 has it (modes = a5)", "FIX"): l20,
    Rule(21, "D", "split_m: m even; split_n: n a multiple of 32", "FIX"): l21,
    Rule(22, "D", "fb pointers aligned, parameters inside their segment of fb", "FIX"): l22,
    Rule(23, "D", "accumulators inside l0c, bytes written inside the destination", "FIX"): l23,
    Rule(26, "D", "atomic type and op of CTRL are legal", "FIX"): l26,
}
"""Engine rules in ascending number; an op has those of ``OpSpec.d_rules``."""

T_RULES: dict[Rule, DPredicate] = {
    Rule(24, "T", "no destination element is written twice", "FIX"): l24,
    Rule(27, "T", "atomic type of CTRL matches the destination element", "FIX"): l27,
}
"""Rules with undefined behaviour when broken that can be decided from the descriptor."""

PARAMETER_RULE = Rule(25, "T", "scales and alphas are finite", "FIX")
"""Undefined too; the descriptor holds scalars, memory holds vectors."""
