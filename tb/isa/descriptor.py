# SPDX-License-Identifier: Apache-2.0
"""Packing of descriptors into 512 bits and back; the layouts stand in the tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.isa.burst.op import BurstDescriptor
from tb.isa.burst.table import BURST_LAYOUT
from tb.isa.dma.op import DmaDescriptor, DmaLoop
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.fields import DESC_WORDS, OPCODE_BITS, Layout, OpSpec
from tb.isa.fix.op import FixDescriptor
from tb.isa.fix.table import FIX_LAYOUT
from tb.isa.lower import Descriptor
from tb.isa.nz.op import NzDescriptor
from tb.isa.nz.table import NZ_LAYOUT
from tb.isa.ops import OPS_BY_CODE

UNUSED_LOOP = DmaLoop(1, 0, 0)
"""What the fields of an absent loop group hold."""


def field_values(desc: Descriptor) -> dict[str, int]:
    """Returns the unsaturated value of every field of the descriptor's layout."""
    if isinstance(desc, NzDescriptor | BurstDescriptor | FixDescriptor):
        values = {name: getattr(desc, name) for name in desc.spec.layout if name in desc.__slots__}
        if isinstance(desc, NzDescriptor):
            values["elem_log2"] = desc.elem_bytes.bit_length() - 1
        return values
    values = {
        "elem_log2": desc.elem_bytes.bit_length() - 1,
        "ub_sub": desc.ub_sub,
        "n_loops": len(desc.loops),
        "pad_en": desc.pad_en,
        "pad_in_bytes": desc.pad_in_bytes,
        "reserved": desc.reserved,
        "l2": desc.l2,
        "pad_left": desc.pad_left,
        "pad_right": desc.pad_right,
        "pad_value": desc.pad_value,
        "len": desc.len,
        "n_burst": desc.n_burst,
        "ext_addr": desc.ext_addr,
        "loc_addr": desc.loc_addr,
        "ext_stride": desc.ext_stride,
        "loc_stride": desc.loc_stride,
    }
    loops = (*desc.loops, *(UNUSED_LOOP,) * (MAX_LOOPS - len(desc.loops)))
    for k, loop in enumerate(loops):
        values[f"loop{k}_count"] = loop.count
        values[f"loop{k}_ext_stride"] = loop.ext_stride
        values[f"loop{k}_loc_stride"] = loop.loc_stride
    return values


def pack(desc: Descriptor) -> NDArray[np.uint32]:
    """Returns the descriptor as ``uint32[16]``, least significant word first.

    Raises:
        ValueError: a field is negative.
    """
    word = desc.spec.opcode
    values = field_values(desc)
    for name, placed in desc.spec.layout.items():
        word |= placed.field.saturate(values[name]) << placed.lsb
    return np.frombuffer(word.to_bytes(4 * DESC_WORDS, "little"), dtype="<u4").copy()


def pack_columns(
    opcode: NDArray[np.integer], columns: Mapping[str, NDArray[np.integer]], layout: Layout
) -> NDArray[np.uint32]:
    """Packs many descriptors of one family at once.

    Args:
        opcode: ``int[N]`` opcodes.
        columns: Field name to ``int[N]`` of values that fit their containers; fields left out
            are 0.
        layout: Descriptor family.

    Returns:
        ``uint32[N, 16]``, least significant word first.

    Raises:
        ValueError: a value does not fit its container. Illegal values are packed one by one
            with :func:`pack`, which saturates them.
    """
    count = len(opcode)
    words = np.zeros((count, DESC_WORDS), dtype=np.uint64)
    words[:, 0] = opcode
    for name, column in columns.items():
        placed = layout[name]
        if not column.any():
            continue
        values = column.astype(np.uint64)
        if int(values.max()) > placed.field.limit:
            raise ValueError(f"{name}: {int(values.max())} exceeds the container {placed.field}")
        index, shift = divmod(placed.lsb, 32)
        width = placed.field.container
        # At most 32 bits of a value meet one word: shift the rest off first, never overflow.
        words[:, index] |= (values << np.uint64(shift)) & np.uint64(0xFFFFFFFF)
        taken = 32 - shift
        while taken < width:
            index += 1
            words[:, index] |= (values >> np.uint64(taken)) & np.uint64(0xFFFFFFFF)
            taken += 32
    return words.astype(np.uint32)


def unpack_fields(words: NDArray[np.uint32], layout: Layout) -> dict[str, int]:
    """Returns the field values of one packed descriptor of a family."""
    value = _number(words)
    return {name: value >> placed.lsb & placed.field.limit for name, placed in layout.items()}


def opcode_of(words: NDArray[np.uint32]) -> int:
    """Returns the opcode of a packed descriptor, known or not."""
    return int(words[0]) & ((1 << OPCODE_BITS) - 1)


def unpack(words: NDArray[np.uint32]) -> Descriptor:
    """Returns the descriptor that ``words`` (``uint32[16]``) hold.

    Raises:
        ValueError: no op has this opcode.
    """
    code = opcode_of(words)
    spec = OPS_BY_CODE.get(code)
    if spec is None:
        known = ", ".join(f"{code} {op.name}" for code, op in OPS_BY_CODE.items())
        raise ValueError(f"descriptor has opcode {code}: known are {known}")
    fields = unpack_fields(words, spec.layout)
    if spec.layout is BURST_LAYOUT:
        return BurstDescriptor(spec=spec, **fields)
    if spec.layout is FIX_LAYOUT:
        values: dict[str, Any] = {"spec": spec, **fields}
        return FixDescriptor(**values)
    elem_bytes = 1 << fields.pop("elem_log2")
    if spec.layout is NZ_LAYOUT:
        return NzDescriptor(elem_bytes=elem_bytes, **fields)
    return _unpack_dma(spec, elem_bytes, fields)


def _number(words: NDArray[np.uint32]) -> int:
    return int.from_bytes(np.ascontiguousarray(words, dtype="<u4").tobytes(), "little")


def _unpack_dma(spec: OpSpec, elem_bytes: int, fields: Mapping[str, int]) -> DmaDescriptor:
    return DmaDescriptor(
        spec=spec,
        elem_bytes=elem_bytes,
        ext_addr=fields["ext_addr"],
        loc_addr=fields["loc_addr"],
        len=fields["len"],
        n_burst=fields["n_burst"],
        ext_stride=fields["ext_stride"],
        loc_stride=fields["loc_stride"],
        loops=tuple(
            DmaLoop(
                fields[f"loop{k}_count"],
                fields[f"loop{k}_ext_stride"],
                fields[f"loop{k}_loc_stride"],
            )
            for k in range(fields["n_loops"])
        ),
        pad_en=fields["pad_en"],
        pad_in_bytes=fields["pad_in_bytes"],
        pad_left=fields["pad_left"],
        pad_right=fields["pad_right"],
        pad_value=fields["pad_value"],
        reserved=fields["reserved"],
        l2=fields["l2"],
        ub_sub=fields["ub_sub"],
    )
