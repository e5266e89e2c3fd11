# SPDX-License-Identifier: Apache-2.0
"""Packing of descriptors into 512 bits and back; the tables hold the layouts."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tb.isa.dma.op import DmaLoop
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.fields import DESC_WORDS, OPCODE_BITS, Layout
from tb.isa.lower import DESCRIPTORS, Descriptor
from tb.isa.ops import LAYOUTS, OPS_BY_CODE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNUSED_LOOP = DmaLoop(1, 0, 0)
"""Field values of an absent loop group."""

_LOOP = attrgetter(*DmaLoop.__slots__)
_LOOP_FIELDS = tuple(
    tuple(f"loop{k}_{part}" for part in DmaLoop.__slots__) for k in range(MAX_LOOPS)
)

_OWN: dict[str, tuple[str, ...]] = {
    family: tuple(name for name in layout if name in DESCRIPTORS[family].__slots__)
    for family, layout in LAYOUTS.items()
}
"""Family to the fields that its descriptors hold under the same name: all but the element size,
which they hold in bytes, and the loop groups."""

_GETTERS = {family: attrgetter(*names) for family, names in _OWN.items()}


def field_values(desc: Descriptor) -> dict[str, int]:
    """Returns the unsaturated value of every field of the descriptor's layout."""
    layout = desc.spec.layout
    values: dict[str, int] = dict(
        zip(_OWN[layout.family], _GETTERS[layout.family](desc), strict=True)
    )
    if "elem_log2" in layout:
        values["elem_log2"] = desc.elem_bytes.bit_length() - 1  # type: ignore[union-attr]
    if "n_loops" in layout:
        loops: tuple[DmaLoop, ...] = desc.loops  # type: ignore[union-attr]
        values["n_loops"] = len(loops)
        for k, names in enumerate(_LOOP_FIELDS):
            loop = loops[k] if k < len(loops) else UNUSED_LOOP
            values.update(zip(names, _LOOP(loop), strict=True))
    return values


def packed(desc: Descriptor) -> int:
    """Returns the descriptor as a number of 512 bits.

    Raises:
        ValueError: a field is negative.
    """
    word = desc.spec.opcode
    values = field_values(desc)
    for name, lsb, limit, row in desc.spec.layout.places:
        value = values[name]
        word |= (value if 0 <= value <= limit else row.saturate(value)) << lsb
    return word


def pack(desc: Descriptor) -> NDArray[np.uint32]:
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
    family = spec.layout.family
    fields = unpack_fields(words, spec.layout)
    values: dict[str, Any] = {name: fields[name] for name in _OWN[family]}
    if "elem_log2" in fields:
        values["elem_bytes"] = 1 << fields["elem_log2"]
    if "n_loops" in fields:
        groups = _LOOP_FIELDS[: fields["n_loops"]]
        values["loops"] = tuple([DmaLoop(*[fields[name] for name in names]) for names in groups])
    made: Any = DESCRIPTORS[family]
    if "spec" in made.__slots__:
        values["spec"] = spec
    return made(**values)  # type: ignore[no-any-return]
