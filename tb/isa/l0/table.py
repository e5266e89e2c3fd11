# SPDX-License-Identifier: Apache-2.0
"""Operand tables and descriptor layout of the loads from L1 to L0A, L0B and their scales.

A load has the control form, whose operands the descriptor holds, and the shape form, which derives
them from the extents of a tile (docs/spec/l0_loads.md, sections 2 to 4). A row defines an op
completely.
"""

from __future__ import annotations

from dataclasses import dataclass

from tb.isa.fields import Field, Layout, Operand, OpSpec

START_BITS = 16
STEP_BITS = 8
STRIDE_BITS = 16
"""Legal widths of the control form (LD-L03)."""

FRACTAL_ROWS = 16
"""Rows of a fractal."""

C0_BYTES = 32
"""Bytes of a row of a fractal: C0 elements."""

FRACTAL_BYTES = FRACTAL_ROWS * C0_BYTES
"""Bytes of a fractal, the unit of the strides of a load."""

SCALE_BYTES = 32
"""Bytes of a fragment of scales: 16 rows of two groups of 32 k."""

SCALE_RATIO = 16
"""Data address in L0A or L0B to the address of its scales."""

NIBBLE_DTYPES: tuple[str, ...] = ("f4E2M1x2", "f4E1M2x2")
"""Pairs of 4-bit elements, the even index in the low nibble."""

SCALE_DTYPE = "f8E8M0"
"""Element type of scales."""

ELEMENT_CODES: dict[int, int] = {8: 0, 16: 1, 32: 2, 4: 3}
"""Bits of an element to the field ``elem``."""

LOAD_LAYOUT = Layout(
    "l0",
    (
        Field("elem", 2, "element: 0 1 byte, 1 2 bytes, 2 4 bytes, 3 4 bits; 0 for scales"),
        Field("transpose", 1, "1 exchanges rows and columns of the tile; 0 for scales"),
        Field("src_addr", 24, "L1 byte address", keep_low=5),
        Field("dst_addr", 28, "byte address in l0a or l0b, of scales that of their data",
              keep_low=9),
        Field("m_start", START_BITS + 1, "first fractal row; of scales the first x"),
        Field("k_start", START_BITS + 1, "first 32 B column; of scales the first y"),
        Field("m_step", STEP_BITS + 1, "fractal rows; of scales x steps"),
        Field("k_step", STEP_BITS + 1, "32 B columns; of scales y steps"),
        Field("src_stride", STRIDE_BITS + 1, "fractals from column to column in L1; of scales "
              "fragments from x to x"),
        Field("dst_stride", STRIDE_BITS + 1, "the same in the destination"),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoadSpec(OpSpec):
    """Table row of a load.

    Attributes:
        extents: Names of the two extents of the shape form.
        scales: It loads E8M0 scales in fragments, not elements in fractals.
    """

    extents: tuple[str, str] = ("m", "k")
    scales: bool = False

    @property
    def memory(self) -> str:
        """Keyword of the memory that it writes: that of the data with ``_mx`` for scales."""
        return f"{self.destination}_mx" if self.scales else self.destination

    @property
    def shape(self) -> tuple[str, str, str, str]:
        """Names of the operands of the shape form."""
        return (*self.extents, "start_row", "start_col")


_AXES = {False: ("m", "k"), True: ("x", "y")}


def _row(name: str, opcode: int, doc: str, memory: str) -> LoadSpec:
    """Returns the row of a load; ``memory`` is ``l0a`` or ``l0b``, also of scales."""
    scales = name.endswith("_mx")
    rows, columns = _AXES[scales]
    units = ("32 B", "fragments") if scales else ("16 rows", "512 B")
    data = "its data in " if scales else ""
    return LoadSpec(
        name=name,
        opcode=opcode,
        slot="mte1",
        source="l1",
        destination=memory,
        operands=(
            Operand("src", None, "B", "src_addr", "L1 address, multiple of 32"),
            Operand("dst", None, "B", "dst_addr", f"address of {data}{memory}, multiple of 512"),
            Operand(f"{rows}_start", START_BITS, units[0], "m_start", "first row of the source"),
            Operand(f"{columns}_start", START_BITS, "32 B", "k_start", "first column"),
            Operand(f"{rows}_step", STEP_BITS, units[0], "m_step", "rows; 0 moves nothing"),
            Operand(f"{columns}_step", STEP_BITS, "32 B", "k_step", "columns; 0 moves nothing"),
            Operand("src_stride", STRIDE_BITS, units[1], "src_stride", "source, at least 1"),
            Operand("dst_stride", STRIDE_BITS, units[1], "dst_stride", "destination, at least 1"),
        ),
        layout=LOAD_LAYOUT,
        rules="LD",
        d_rules=(3, 4, 6) if scales else (3, 4, 5, 6),
        doc=doc,
        extents=("m", "k") if memory == "l0a" else ("k", "n"),
        scales=scales,
    )


LOADS: dict[str, LoadSpec] = {
    row.name: row
    for row in (
        _row("mte_l1_l0a", 13, "fractals of the left operand, as they are or transposed", "l0a"),
        _row("mte_l1_l0b", 14, "fractals of the right operand, as they are or transposed", "l0b"),
        _row("mte_l1_l0a_mx", 15, "scales of the left operand", "l0a"),
        _row("mte_l1_l0b_mx", 16, "scales of the right operand", "l0b"),
    )
}
"""Rows by mnemonic."""

LOAD_FORMS: dict[str, str] = {
    "load_cbuf_to_ca": "mte_l1_l0a",
    "load_cbuf_to_cb": "mte_l1_l0b",
    "load_cbuf_to_ca_s4": "mte_l1_l0a",
    "load_cbuf_to_cb_s4": "mte_l1_l0b",
    "load_cbuf_to_ca_mx": "mte_l1_l0a_mx",
    "load_cbuf_to_cb_mx": "mte_l1_l0b_mx",
}
"""Register forms to the op that they are (docs/spec/dialect.md, section 5). Those of scales name
the address of the scales, not of the data."""
