# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for ops, legal or not."""

from __future__ import annotations

from hypothesis import strategies as st

from tb.isa.dma import DmaDescriptor, DmaLoop, Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dma_table import DMA_LAYOUT, MTE_GM_UB, MTE_UB_GM
from tb.isa.dtypes import DTYPES, ELEMENT_BYTES, PAD_DTYPES, Ptr

SIZES = st.sampled_from((1, 2, 4, 8))


def container(name: str) -> st.SearchStrategy[int]:
    """Values that fit the container of a descriptor field, with its limits favoured."""
    limit = DMA_LAYOUT[name].field.limit
    return st.one_of(st.sampled_from((0, 1, limit)), st.integers(0, limit))


DMA_LOOPS = st.lists(
    st.builds(
        DmaLoop,
        container("loop0_count"),
        container("loop0_ext_stride"),
        container("loop0_loc_stride"),
    ),
    max_size=3,
).map(tuple)

DESCRIPTORS = st.builds(
    DmaDescriptor,
    spec=st.sampled_from((MTE_GM_UB, MTE_UB_GM)),
    elem_bytes=SIZES,
    ext_addr=container("ext_addr"),
    loc_addr=container("loc_addr"),
    len=container("len"),
    n_burst=container("n_burst"),
    ext_stride=container("ext_stride"),
    loc_stride=container("loc_stride"),
    loops=DMA_LOOPS,
    pad_en=st.integers(0, 3),
    pad_in_bytes=st.integers(0, 1),
    pad_left=container("pad_left"),
    pad_right=container("pad_right"),
    pad_value=container("pad_value"),
    reserved=st.integers(0, 1),
    l2=container("l2"),
    ub_sub=st.integers(0, 1),
)

_NUMBER = st.integers(0, 1 << 48)
_SIX = st.tuples(*[_NUMBER] * 6)
_COUNTS: st.SearchStrategy[tuple[int | None, int | None]] = st.one_of(
    st.just((None, None)), st.tuples(_NUMBER, _NUMBER)
)
_LOOPS = st.lists(st.builds(Loop, _NUMBER, _NUMBER, _NUMBER), max_size=3).map(tuple)


@st.composite
def v06_ops(draw: st.DrawFn) -> MteGmUb | MteUbGm:
    """v0.6 ops with any operands and a correct type list."""
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
