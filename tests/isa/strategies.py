# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for ops, legal or not."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st

from tb.isa.burst.op import BurstOp, MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.burst.table import BIAS_TYPES
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.op import (
    DMA_CLASSES,
    DmaOp,
    Loop,
    MteGmL1,
    MteGmUb,
    MteL1Ub,
    MteUbGm,
    Pad,
)
from tb.isa.dma.table import DMA_LAYOUT, MAX_LOOPS
from tb.isa.dtypes import DTYPES, ELEMENT_BYTES, PAD_DTYPES, Ptr
from tb.isa.fields import Layout
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixOp,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
)
from tb.isa.fix.table import (
    ATOMIC_DST,
    ATOMIC_OPS,
    CLIP_TYPES,
    DST_CODES,
    NO_CONVERT,
    NUMBER_TYPES,
    QUANT_BY_CODE,
    QUANT_MODES,
    QuantMode,
)
from tb.isa.lower import OP_CLASSES
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.nz.table import MODES
from tb.isa.op import Op


def container(name: str, layout: Layout = DMA_LAYOUT) -> st.SearchStrategy[int]:
    """Values that fit the container of a descriptor field, with its limits favoured."""
    limit = layout[name].field.limit
    return st.one_of(st.sampled_from((0, 1, limit)), st.integers(0, limit))


def _fields(cls: type[Op]) -> st.SearchStrategy[Op]:
    """Ops with any value in each field, of types that fit."""
    values = {name: container(name, cls.spec.layout) for name in cls.spec.layout}
    if "n_loops" in values:
        values = {**values, "n_loops": st.just(MAX_LOOPS)}  # absent ones have fixed values
    if "quant" in values:
        values |= {"quant": st.sampled_from(tuple(QUANT_BY_CODE)), "dst_type": st.integers(0, 9)}
    return st.fixed_dictionaries(values).map(lambda found: cls.built(found, *cls.fitting(found)))


DMA_DESCRIPTORS = st.one_of([_fields(cls) for cls in DMA_CLASSES])
DESCRIPTORS: st.SearchStrategy[Op] = st.one_of([_fields(cls) for cls in OP_CLASSES.values()])

_NUMBER = st.integers(0, 1 << 48)
_SIX = cast("st.SearchStrategy[tuple[int, int, int, int, int, int]]", st.tuples(*[_NUMBER] * 6))
_COUNTS: st.SearchStrategy[tuple[int | None, int | None]] = st.one_of(
    st.just((None, None)), st.tuples(_NUMBER, _NUMBER)
)
_LOOPS = st.lists(st.builds(Loop, _NUMBER, _NUMBER, _NUMBER), max_size=3).map(tuple)


@st.composite
def gm_ub_ops(draw: st.DrawFn) -> MteGmUb | MteUbGm:
    """Copies between GM and UB with any operands and a correct type list."""
    dtype = draw(st.sampled_from(DTYPES))
    source, destination, length, rows, src_stride, dst_stride = draw(_SIX)
    loops = draw(_LOOPS)
    gm, ub = Ptr(dtype, "gm"), Ptr(dtype, "ub")
    sub, l2 = draw(st.integers(0, 1)), draw(st.integers(0, 40))
    if draw(st.booleans()):
        return MteUbGm(
            source, destination, length, rows, src_stride, dst_stride, loops, l2, ub, gm, sub
        )
    pad = None
    fitting = [name for name in PAD_DTYPES if ELEMENT_BYTES[name] == ELEMENT_BYTES[dtype]]
    padded = bool(fitting) and draw(st.booleans())
    if padded:
        counts = draw(_COUNTS)
        pad = Pad(draw(st.sampled_from(tuple(fitting))), draw(st.integers(0, 1 << 33)), *counts)
    return MteGmUb(
        source, destination, length, rows, src_stride, dst_stride, loops, pad, l2, gm, ub, sub
    )


@st.composite
def strided_ops(draw: st.DrawFn) -> DmaOp:
    """``mte_gm_l1`` and ``mte_l1_ub`` with any operands."""
    dtype = draw(st.sampled_from(DTYPES))
    operands, loops = draw(_SIX), draw(_LOOPS)
    l1 = Ptr(dtype, "l1")
    if draw(st.booleans()):
        return MteGmL1(*operands, loops, Ptr(dtype, "gm"), l1)
    return MteL1Ub(*operands, loops, l1, Ptr(dtype, "ub"), draw(st.integers(0, 1)))


@st.composite
def burst_ops(draw: st.DrawFn) -> BurstOp:
    """Gap-based ops with any operands and legal types."""
    operands = draw(_SIX)
    kind = draw(st.sampled_from((MteUbUb, MteUbL1, MteL1Bt, MteL1Fb)))
    dtype = draw(st.sampled_from(DTYPES))
    sub = draw(st.integers(0, 1))
    if kind is MteL1Bt:
        source = draw(st.sampled_from(tuple(BIAS_TYPES)))
        return MteL1Bt(*operands, Ptr(source, "l1"), Ptr(BIAS_TYPES[source][0], "bt"))
    if kind is MteL1Fb:
        return MteL1Fb(*operands, Ptr(dtype, "l1"), Ptr(dtype, "fb"))
    if kind is MteUbL1:
        return MteUbL1(*operands, Ptr(dtype, "ub"), Ptr(dtype, "l1"), sub)
    return MteUbUb(*operands, Ptr(dtype, "ub"), Ptr(dtype, "ub"), sub)


@st.composite
def nz_ops(draw: st.DrawFn) -> MteGmL1Frac:
    """NZ repacks with any operands."""
    dtype = draw(st.sampled_from([name for name in DTYPES if ELEMENT_BYTES[name] < 8]))
    source, destination, n, d, inner, groups = draw(_SIX)
    return MteGmL1Frac(
        source,
        destination,
        draw(st.sampled_from(MODES)),
        n,
        d,
        inner,
        groups,
        *draw(st.tuples(_NUMBER, _NUMBER, _NUMBER)),
        draw(st.one_of(st.none(), _NUMBER)),
        draw(st.integers(0, 40)),
        draw(st.integers(0, 3)),
        Ptr(dtype, "gm"),
        Ptr(dtype, "l1"),
    )


_NUMBERS = st.sampled_from(NUMBER_TYPES).flatmap(
    lambda dtype: st.builds(
        Scalar, st.just(dtype), st.integers(0, 0x7F7F if dtype != "f32" else 0xFFFFFFFF)
    )
)
"""Scales and alphas; no 16-bit NaN, since f32 changes its payload."""

_FB_PTRS = st.builds(FbPtr, st.sampled_from(NUMBER_TYPES), _NUMBER)
_CLIP_BITS = {"i4": 4, "si4": 4, "i8": 8, "si8": 8}


@st.composite
def _pre_relus(draw: st.DrawFn, dst: str, *, alphas: bool) -> PreRelu | None:
    modes = ["", "no_relu", "normal_relu"] + ["scalar_relu", "vector_relu"] * alphas
    mode = draw(st.sampled_from(modes))
    if not mode:
        return None
    payload: Scalar | FbPtr | None = None
    if mode == "scalar_relu":
        payload = draw(_NUMBERS)
    elif mode == "vector_relu":
        payload = draw(_FB_PTRS)
    kinds = CLIP_TYPES.get(DST_CODES[dst], ())
    clip = None
    if draw(st.booleans()) and kinds:
        kind = draw(st.sampled_from(kinds))
        limit = (1 << _CLIP_BITS.get(kind, 16)) - 1
        clip = Scalar(kind, draw(st.integers(0, limit)))
    return PreRelu(mode, payload, clip)


@st.composite
def fix_ops(draw: st.DrawFn) -> FixOp:
    """Write-backs that keep every S rule, with any operands."""
    mode: QuantMode = draw(st.sampled_from(tuple(QUANT_MODES.values())))
    acc = mode.acc or draw(st.sampled_from(("f32", "i32")))
    dst = draw(st.sampled_from(mode.dst or (("f32",) if acc == "f32" else ("i32", "si32", "ui32"))))
    src, to, m, n, src_stride, dst_stride = draw(_SIX)
    quant = None
    if mode is not NO_CONVERT or draw(st.booleans()):
        pointer = mode.vector or (mode is NO_CONVERT and draw(st.booleans()))
        # An ignored pointer of 0 is the same op as an ignored number.
        payloads: st.SearchStrategy[Scalar | FbPtr] = _NUMBERS
        if pointer:
            payloads = _FB_PTRS.filter(lambda x: mode.vector or x.address > 0)
        payload = draw(payloads)
        quant = PreQuant(mode.name, payload)
    relu = draw(_pre_relus(dst, alphas=acc == "f32" or mode.scale))
    split = draw(st.sampled_from(("", "split_m", "split_n")))
    kind = draw(st.sampled_from((MteL0cGm, MteL0cL1, MteL0cUb)))
    halves = kind is MteL0cUb and split and quant is None and relu is None
    layouts = ["", "nz2nd"] if halves else ["", "nz2nd", "nz2dn"] + ["nz2nz"] * (dst == "f32")
    layout = draw(st.sampled_from(layouts))
    loop3 = None
    if layout in ("nz2nd", "nz2dn") and not halves and draw(st.booleans()):
        loop3 = Loop3(*draw(st.tuples(_NUMBER, _NUMBER, _NUMBER)))
    common: dict[str, Any] = {
        "unit_flag": draw(st.integers(0, 3)),
        "pre_quant": quant,
        "pre_relu": relu,
        "layout": layout,
        "k": draw(_NUMBER) if layout == "nz2dn" else None,
        "split": draw(st.integers(0, 3)) if layout == "nz2nz" else None,
        "loop3": loop3,
        "sat": draw(st.sampled_from(("", "sat", "preserve_nan", "nosat"))),
        "src_type": Ptr(acc, "l0c"),
        "dst_type": Ptr(dst, kind(0, 0, 0, 0, 0, 0).spec.destination),
    }
    operands = (src, to, m, n, src_stride, dst_stride)
    if kind is MteL0cL1:
        return MteL0cL1(*operands, **common)
    if kind is MteL0cUb:
        block = 0 if halves else draw(st.integers(0, 3))
        return MteL0cUb(*operands, block, split if halves else "", **common)
    types = [name for name, legal in ATOMIC_DST.items() if dst in legal]
    atomic = None
    if draw(st.booleans()) and types:
        atomic = Atomic(types[0], draw(st.sampled_from(tuple(ATOMIC_OPS))))
    hints = draw(st.tuples(st.integers(0, 7), st.integers(0, 31)))
    return MteL0cGm(*operands, *hints, atomic=atomic, **common)


def v06_ops() -> st.SearchStrategy[Op]:
    """v0.6 ops of every family with any operands and a correct type list."""
    return st.one_of(gm_ub_ops(), strided_ops(), burst_ops(), nz_ops(), fix_ops())


UBUF_COPIES = st.builds(
    CopyUbufToUbuf,
    src=_NUMBER,
    dst=_NUMBER,
    sid=st.integers(0, 15),
    n_burst=st.integers(0, 1 << 17),
    len_burst=st.one_of(st.integers(0, 1 << 17), st.integers(0, 40).map(lambda x: 32 * x)),
    src_stride=st.one_of(st.integers(0, 1 << 22), st.integers(0, 99).map(lambda x: 32 * x)),
    dst_stride=st.one_of(st.integers(0, 1 << 22), st.integers(0, 99).map(lambda x: 32 * x)),
    ub_sub=st.integers(0, 1),
)
"""Legacy UB copies, some of which are issued."""
