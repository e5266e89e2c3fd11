# SPDX-License-Identifier: Apache-2.0
"""Packing of descriptors into 512 bits and back; the tables hold the layouts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tb.isa.fields import DESC_WORDS, OPCODE_BITS, Layout
from tb.isa.lower import OP_CLASSES
from tb.isa.op import Op
from tb.isa.ops import OPS_BY_CODE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def field_values(desc: Op) -> dict[str, int]:
    """Returns the unsaturated value of every field of the descriptor's layout."""
    values = desc.values
    return {name: values[name] for name in desc.spec.layout}


def packed(desc: Op) -> int:
    """Returns the descriptor as a number of 512 bits.

    Raises:
        ValueError: a field is negative.
    """
    word = desc.spec.opcode
    values = desc.values
    for name, lsb, limit, row in desc.spec.layout.places:
        value = values[name]
        word |= (value if 0 <= value <= limit else row.saturate(value)) << lsb
    return word


def pack(desc: Op) -> NDArray[np.uint32]:
    """Returns the descriptor as ``uint32[16]``, least significant word first.

    Raises:
        ValueError: a field is negative.
    """
    import numpy as np

    data = packed(desc).to_bytes(4 * DESC_WORDS, "little")
    return np.frombuffer(data, dtype="<u4").copy()


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
    import numpy as np

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
        # At most 32 bits of a value go into one word: shift the rest off first to avoid overflow.
        words[:, index] |= (values << np.uint64(shift)) & np.uint64(0xFFFFFFFF)
        taken = 32 - shift
        while taken < width:
            index += 1
            words[:, index] |= (values >> np.uint64(taken)) & np.uint64(0xFFFFFFFF)
            taken += 32
    return words.astype(np.uint32)


def unpack_fields(words: NDArray[np.uint32], layout: Layout) -> dict[str, int]:
    """Returns the field values of one packed descriptor of a family."""
    import numpy as np

    word = int.from_bytes(np.ascontiguousarray(words, dtype="<u4").tobytes(), "little")
    return {name: word >> lsb & limit for name, lsb, limit, _ in layout.places}


def opcode_of(words: NDArray[np.uint32]) -> int:
    """Returns the opcode of a packed descriptor, known or not."""
    return int(words[0]) & ((1 << OPCODE_BITS) - 1)


def unpack(words: NDArray[np.uint32]) -> Op:
    """Returns the op that ``words`` (``uint32[16]``) hold, with types that fit its fields.

    Raises:
        ValueError: no op has this opcode.
    """
    code = opcode_of(words)
    spec = OPS_BY_CODE.get(code)
    if spec is None:
        known = ", ".join(f"{code} {op.name}" for code, op in OPS_BY_CODE.items())
        raise ValueError(f"descriptor has opcode {code}: known are {known}")
    cls, values = OP_CLASSES[spec.name], unpack_fields(words, spec.layout)
    return cls.built(values, *cls.fitting(values))
