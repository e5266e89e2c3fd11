# SPDX-License-Identifier: Apache-2.0
"""``mte_l0c_gm``, ``mte_l0c_l1`` and ``mte_l0c_ub``: accumulators converted and written back.

Spec: fixpipe.md. Values take the stages of :mod:`~scoreboards.model.fixpipe_stages`, addresses
those of :mod:`~scoreboards.model.fixpipe_layout`. Everything is read from the op as written, not
from the descriptor that the engine gets: the two must agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.fixpipe_atomic import UPDATED, combine
from scoreboards.model.fixpipe_float import Floats, Saturation
from scoreboards.model.fixpipe_layout import Place, Source, Target
from scoreboards.model.fixpipe_stages import (
    CONTAINERS,
    KEPT,
    MODES,
    OFFSET_BITS,
    PACKED,
    Mode,
    Parameters,
    Pipeline,
)
from scoreboards.model.outcome import NOTHING, Explanation, FlagUse, Memory, Outcome
from scoreboards.model.registers import Registers
from scoreboards.model.widen import WIDENINGS
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixOp,
    MteL0cGm,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
)
from tb.isa.footprint import Footprint
from tb.isa.op import replace
from tb.isa.profile import current
from tb.isa.rules import first_d_violation, s_violations
from tb.isa.spaces import Space, ub_space
from tb.isa.status import Status

RECORD_BYTES = 8
ALPHA_BYTES = 4
"""Bytes of a channel's pre_quant record and of its pre_relu word in FB (sections 5 and 6)."""

CHECK_ONLY, CHECK_AND_CLEAR = 2, 3

_SCALE_BITS = 0xFFFFE000  # the low 13 fraction bits are cleared
_SATURATION = {
    "": Saturation.SAT,
    "sat": Saturation.SAT,
    "preserve_nan": Saturation.PRESERVE_NAN,
    "nosat": Saturation.NOSAT,
}
_RELUS = ("no_relu", "normal_relu", "scalar_relu", "vector_relu")
_HINT_RULE = "FIX-L13"  # of constants; the engine checks the value as well (FIX-L14)
_CLIP_BITS = {"i4": 4, "si4": 4, "i8": 8, "si8": 8, "i16": 16, "si16": 16}


@dataclass(slots=True)
class _Seen:
    """State at the time of execution that an explanation needs."""

    memories: Mapping[Space, Memory] = field(default_factory=dict)
    parameters: Parameters = field(default_factory=Parameters)
    old: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True)
class WriteBack:
    """Operands of a legal write-back that moves something.

    Attributes:
        pipeline: Conversion of the values.
        source: Place of the accumulators.
        targets: Destinations: one memory, or both UB sub-blocks.
        scale: M1 as f32 bits, or the FB address of the records; None without a scale.
        alpha: Slope of the ReLU as f32 bits, or the FB address of the words; None without one.
        atomic: Atomic update of GM, or None.
        ieee: c48 of the op: its atomic of f16 keeps inf and NaN (section 9; A-65).
    """

    pipeline: Pipeline
    source: Source
    targets: tuple[Target, ...]
    scale: int | FbPtr | None = None
    alpha: int | FbPtr | None = None
    atomic: Atomic | None = None
    ieee: bool = False
    seen: _Seen = field(default_factory=_Seen, compare=False, repr=False)

    @property
    def parameters(self) -> tuple[Footprint, ...]:
        """Bytes of FB that are read, pre_quant records first."""
        found = []
        for payload, size in ((self.scale, RECORD_BYTES), (self.alpha, ALPHA_BYTES)):
            if isinstance(payload, FbPtr):
                found.append(Footprint(Space.FB, payload.address, size * self.source.n, (), ()))
        return tuple(found)

    def move(self, memories: Mapping[Space, Memory]) -> int:
        """Converts and writes every element; returns the events."""
        values = self._parameters(memories)
        seen = self.seen
        seen.memories, seen.parameters, seen.old = memories, values, None
        container = CONTAINERS[self.pipeline.target]
        accumulators, events, chunks = memories[Space.L0C], 0, 0
        for chunk in self.source.chunks():
            words = self.source.gather(accumulators, chunk)
            elements, met = self.pipeline.run(words, values)
            events, chunks = events | met, chunks + 1
            for target in self.targets:
                mine = elements
                if len(self.targets) > 1:
                    mine = elements[target.part(chunk, elements.shape[1])]
                where = target.view(memories[target.space], chunk, container)
                new = target.shaped(mine)
                if self.atomic is not None:
                    old = where.copy()
                    seen.old = old if chunks == 1 else None
                    new, met = combine(self.atomic.type, self.atomic.op, old, new, ieee=self.ieee)
                    events |= met
                where[...] = new
        return events

    def _parameters(self, memories: Mapping[Space, Memory]) -> Parameters:
        """Returns scale, offset, sign and alpha, from FB where they are vectors."""
        n, target = self.source.n, self.pipeline.target
        by_type = current().b8_scalar_sign == "type"
        scale, offset, signed = None, None, np.array([target != "ui8" and by_type])
        if isinstance(self.scale, FbPtr):
            start = self.scale.address
            records = memories[Space.FB][start : start + RECORD_BYTES * n].view("<u8")
            scale = _single(records & np.uint64(_SCALE_BITS))
            bits = OFFSET_BITS.get(self.pipeline.mode.narrow)
            if bits is not None:
                sign = 1 << bits - 1
                field = (records >> np.uint64(37) & np.uint64(2 * sign - 1)).astype(np.int32)
                offset = (field ^ sign) - sign
            signed = (records >> np.uint64(46) & np.uint64(1)) != 0
        elif self.scale is not None:
            scale = _single(np.array([self.scale & _SCALE_BITS], dtype=np.uint64))
        alpha = None
        if isinstance(self.alpha, FbPtr):
            start = self.alpha.address
            slopes = memories[Space.FB][start : start + ALPHA_BYTES * n].view("<u4")
            alpha = _single(slopes & np.uint32(_SCALE_BITS))
        elif self.alpha is not None:
            alpha = _single(np.array([self.alpha & _SCALE_BITS], dtype=np.uint64))
        return Parameters(scale, offset, signed, alpha)

    def explain(self, index: tuple[int, ...], byte: int | None, region: int = 0) -> Explanation:
        """Names row, channel and repeat of a byte, and the steps that computed its value."""
        target = self.targets[region]
        if byte is None:
            return Explanation(_row_name(target, index))
        places = target.places(index, byte)
        first, size = places[0], target.bits // 8
        label = f"row m {first.m}, channel n {first.n}"
        if len(places) > 1:
            second = places[1]
            label += f" (low nibble) and row m {second.m}, channel n {second.n} (high nibble)"
        if self.source.repeats > 1:
            label += f", repeat {first.r} of {self.source.repeats}"
        if size > 1:
            label += f", byte {byte % size} of {size}"
        values: tuple[str, ...] = ()
        if self.seen.memories:
            values = tuple([self._trace(place) for place in places])
        return Explanation(label, self.source.address(first), values)

    def _trace(self, place: Place) -> str:
        """Returns the stages of one element as text, with the values it had when it was run."""
        source, pipeline = self.source, self.pipeline
        start = source.address(place)
        word = self.seen.memories[Space.L0C][start : start + 4].view("<u4").copy()
        values = self.seen.parameters.channel(place.n)
        floating = pipeline.mode.accumulator == "f32"
        steps = [f"acc {_shown(word.view(np.float32 if floating else np.int32))}"]
        details = {
            "* M1": "" if values.scale is None else f" {_shown(values.scale)}",
            "+ offset": "" if values.offset is None else f" {int(values.offset[0])}",
            "scalar_relu": "" if values.alpha is None else f" alpha {_shown(values.alpha)}",
            "vector_relu": "" if values.alpha is None else f" alpha {_shown(values.alpha)}",
            "clip": f" {pipeline.clip}",
        }

        def note(stage: str, value: Any) -> None:
            steps.append(f"{stage}{details.get(stage, '')}: {_shown(value)}")

        element, _ = pipeline.run(word, values, note)
        target = pipeline.target
        digits = 1 if target in PACKED else 2 * CONTAINERS[target].itemsize
        steps.append(f"{target} {int(element[0]):#0{digits + 2}x}")
        if self.atomic is not None:
            steps.append(self._atomic_step(self.atomic, place, element, digits))
        return " -> ".join(steps)

    def _atomic_step(self, atomic: Atomic, place: Place, element: Any, digits: int) -> str:
        old, target = self.seen.old, self.targets[0]
        if old is None:
            return f"atomic {atomic.op}"
        index: tuple[int, ...] = (place.r, place.m, place.n)
        if target.columns:
            index = (place.r, place.m, *divmod(place.n, target.columns))
        before = old[index].reshape(1)
        after, _ = combine(atomic.type, atomic.op, before, element, ieee=self.ieee)
        return f"{atomic.op} to {int(before[0]):#0{digits + 2}x}: {int(after[0]):#0{digits + 2}x}"


def _single(bits: NDArray[Any]) -> Floats:
    return bits.astype(np.uint32).view(np.float32)


def _shown(values: NDArray[Any]) -> str:
    """Returns a value as a number, floats with their bits."""
    value = values.reshape(-1)[0]
    if values.dtype.kind != "f":
        return str(int(value))
    return f"{float(value):.9g} ({int(values.reshape(-1).view(np.uint32)[0]):#010x})"


def _row_name(target: Target, index: tuple[int, ...]) -> str:
    if target.columns:
        return f"column group {index[0]} of {target.n // target.columns}"
    repeat, row = index
    if target.transposed:
        name = f"channel n {row + target.first_n}"
    else:
        name = f"row m {row + target.first_m}"
    return name if target.repeats < 2 else f"{name}, repeat {repeat} of {target.repeats}"


def write_back(op: FixOp, legal: bool, state: Registers) -> Outcome:
    """Returns the outcome of a write-back that samples CTRL as it is now.

    Raises:
        ValueError: the op breaks an S rule, or, with ``legal``, one without which it means nothing.
    """
    if not legal:
        rule = broken_rule(op) or _broken_ctrl(op, state)
        if rule:
            return Outcome(Status.RULE, rule)
    pipeline, scale, alpha = _pipeline(op, state)
    repeats = 1 if op.loop3 is None else op.loop3.count
    if not op.m or not op.n or not repeats:
        return NOTHING
    row = op.k if op.layout_name == "nz2dn" else 1
    repeat = 0 if op.loop3 is None else op.loop3.src_stride
    source = Source(op.src, op.m, op.n, repeats, op.src_stride, row, repeat)
    atomic = _atomic(op, state)
    ieee = _saturation(op, state) is Saturation.NOSAT
    transfer = WriteBack(pipeline, source, _targets(op, repeats), scale, alpha, atomic, ieee)
    written = tuple([target.written for target in transfer.targets])
    also_read = transfer.parameters
    if atomic is not None:
        also_read = (*also_read, written[0])
    flags = None
    if op.unit_flag in (CHECK_ONLY, CHECK_AND_CLEAR):
        flags = FlagUse(source.blocks, op.unit_flag == CHECK_AND_CLEAR)
    return Outcome(
        Status.OK,
        0,
        source.read,
        written[0],
        transfer=transfer,
        also_read=also_read,
        also_written=written[1:],
        flags=flags,
    )


_ATOMIC_TYPES = {1: "f32", 2: "f16", 3: "s16", 4: "s32", 5: "s8", 6: "bf16"}
_ATOMIC_OPS = {0: "add", 1: "max", 2: "min"}
_CTRL_RULE = 26  # FIX-L26


def _broken_ctrl(op: FixOp, state: Registers) -> int:
    """Returns the rule that CTRL breaks, or 0; it has the highest number of the D rules."""
    if not isinstance(op, MteL0cGm) or op.atomic is not None or not state.atomic_type:
        return 0
    legal = state.atomic_type in _ATOMIC_TYPES and state.atomic_op in _ATOMIC_OPS
    return 0 if legal else _CTRL_RULE


def _atomic(op: FixOp, state: Registers) -> Atomic | None:
    """Returns the atomic update: that of the clause, else that of CTRL (CT-05)."""
    if not isinstance(op, MteL0cGm):
        return None
    if op.atomic is not None or not state.atomic_type:
        return op.atomic
    found = Atomic(_ATOMIC_TYPES[state.atomic_type], _ATOMIC_OPS[state.atomic_op])
    if op.dst_type.dtype not in UPDATED[found.type]:
        raise ValueError(f"FIX-L27: CTRL has atomic {found.type}, elements are {op.dst_type}")
    return found


def _saturation(op: FixOp, state: Registers) -> Saturation:
    """Returns the clause, else that of CTRL (CT-04)."""
    if op.sat_name:
        return _SATURATION[op.sat_name]
    if state.ctrl >> 48 & 1:
        return Saturation.NOSAT
    return Saturation.PRESERVE_NAN if state.ctrl >> 50 & 1 else Saturation.SAT


def _scoped(name: str, target: str, clause: Saturation) -> Saturation:
    """Returns the saturation of a conversion, not of an atomic update (knob ``sat_scope``; A-45).

    Args:
        name: Mode without its suffix.
        target: Destination element type.
        clause: That of the op or of CTRL.
    """
    if current().sat_scope == "all" or target not in ("f16", "bf16"):
        return clause
    if name in ("f32_bf16", "deqf16") or clause is Saturation.PRESERVE_NAN:
        return Saturation.SAT
    return clause


def _pipeline(
    op: FixOp, state: Registers
) -> tuple[Pipeline, int | FbPtr | None, int | FbPtr | None]:
    """Returns the conversion of values by an op, its scale and its alpha."""
    mode, scale = _mode(op.pre_quant, op.src_type.dtype)
    target = op.dst_type.dtype
    if mode.accumulator != op.src_type.dtype or target not in mode.targets:
        name = "no pre_quant" if op.pre_quant is None else op.pre_quant.mode
        raise ValueError(
            f"FIX-L04: {name} from {op.src_type.dtype} to {target}: {mode.accumulator} to "
            f"{' or '.join(sorted(mode.targets))}"
        )
    relu, alpha = _relu(op.pre_relu)
    if mode.narrow == "i32" and relu not in ("", "no_relu", "normal_relu"):
        raise ValueError(f"FIX-L05: {relu} of i32 without a scale: no_relu or normal_relu")
    clip = None if op.pre_relu is None else op.pre_relu.clip
    limit = None if clip is None else _number_of_clip(clip)
    replaces = alpha is not None and current().alpha == "replace"
    name = "" if op.pre_quant is None else op.pre_quant.mode.removesuffix("_vec")
    sat = _scoped(name.removesuffix("_scalar"), target, _saturation(op, state))
    return Pipeline(mode, target, relu, limit, sat, replaces), scale, alpha


def _mode(quant: PreQuant | None, accumulator: str) -> tuple[Mode, int | FbPtr | None]:
    """Returns the row of section 4 and the source of the scale."""
    if accumulator not in KEPT:
        raise ValueError(f"FIX-L02: accumulators are {accumulator}: f32 or i32")
    if quant is None or quant.mode == "no_convert":
        return KEPT[accumulator], None
    vector = quant.mode.endswith("_vec")
    name = quant.mode.removesuffix("_vec" if vector else "_scalar")
    mode = MODES.get(name)
    if mode is None or mode.scaled == (name == quant.mode):
        raise ValueError(f"FIX-L03: pre_quant has no mode {quant.mode!r}")
    if not mode.scaled:
        return mode, None
    return mode, _payload(f"FIX-L03: {quant.mode}", quant.payload, vector)


def _relu(relu: PreRelu | None) -> tuple[str, int | FbPtr | None]:
    """Returns the kind of ReLU and the source of its alpha."""
    if relu is None:
        return "", None
    if relu.mode not in _RELUS:
        raise ValueError(f"FIX-L05: pre_relu mode {relu.mode!r}: one of {', '.join(_RELUS)}")
    if relu.mode in ("no_relu", "normal_relu"):
        return relu.mode, None
    vector = relu.mode == "vector_relu"
    return relu.mode, _payload(f"FIX-L05: {relu.mode}", relu.payload, vector)


def _payload(what: str, payload: Scalar | FbPtr | None, vector: bool) -> int | FbPtr:
    """Returns a scalar widened to f32 bits, or the pointer to a vector."""
    if vector:
        if not isinstance(payload, FbPtr):
            raise ValueError(f"{what} wants an fb pointer")
        return payload
    if not isinstance(payload, Scalar) or payload.dtype not in ("f32", "f16", "bf16"):
        raise ValueError(f"{what} wants a number of type f32, f16 or bf16")
    if payload.dtype == "f32":
        return payload.bits
    return _widened(payload)


def _widened(number: Scalar) -> int:
    """Returns a f16 or bf16 number as f32 bits, exactly."""
    words = WIDENINGS[number.dtype].words
    assert words is not None
    return int(words[number.bits & 0xFFFF])


def _number_of_clip(clip: Scalar) -> float:
    """Returns a clip payload as a number."""
    if clip.dtype == "f16":
        return float(np.uint32(_widened(clip)).view(np.float32))
    if clip.dtype == "ui16":
        return clip.bits
    bits = _CLIP_BITS.get(clip.dtype)
    if bits is None:
        raise ValueError(f"FIX-L06: a clip of type {clip.dtype}: one of f16, ui16, {_CLIP_BITS}")
    sign = 1 << (bits - 1)
    return (clip.bits & (2 * sign - 1) ^ sign) - sign


def _targets(op: FixOp, repeats: int) -> tuple[Target, ...]:
    """Returns the destinations of the tile."""
    element = op.dst_type.dtype
    bits = 4 if element in PACKED else 8 * CONTAINERS[element].itemsize
    loop3 = op.loop3
    columns = (8 if op.split else 16) if op.layout_name == "nz2nz" else 0
    space = Space.GM if isinstance(op, MteL0cGm) else Space.L1
    if isinstance(op, MteL0cUb) and not op.ub_split:
        space = ub_space(op.sub_block)
    whole = Target(
        space,
        op.dst,
        bits,
        op.m,
        op.n,
        repeats,
        op.dst_stride,
        0 if loop3 is None else loop3.dst_stride,
        op.layout_name == "nz2dn",
        columns,
    )
    if not isinstance(op, MteL0cUb) or not op.ub_split:
        return (whole,)
    if op.ub_split == "split_m":
        m = op.m // 2
        lower, upper = replace(whole, m=m), replace(whole, m=m, first_m=m)
    else:
        n = op.n // 2
        lower, upper = replace(whole, n=n), replace(whole, n=n, first_n=n)
    return replace(lower, space=Space.UB0), replace(upper, space=Space.UB1)


def broken_rule(op: FixOp) -> int:
    """Returns the lowest D rule the op breaks, or 0: the verdict is that of the rule tables.

    Raises:
        ValueError: the op breaks an S rule, so that a front end rejects it.
    """
    for broken in s_violations(op):
        if broken.rule.name != _HINT_RULE:
            raise ValueError(str(broken))
    violation = first_d_violation(op)
    return 0 if violation is None else violation.rule.number
