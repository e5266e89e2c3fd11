# SPDX-License-Identifier: Apache-2.0
"""``mte_gm_l1_frac`` (docs/spec/nd2nz.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tb.isa.dtypes import Ptr, element_bytes
from tb.isa.nz.table import C0_BYTES, MODES, REPACKS
from tb.isa.op import Op, Values, code_of, element_log2, op_class

if TYPE_CHECKING:
    from tb.isa.operands import NzOpValues as _Values
else:
    _Values = Op


class NzOp(_Values):
    """Matrices from GM to NZ fractals in L1.

    Source strides are bytes, destination strides 32-byte blocks. ``mode`` is given as a keyword and
    is its code; a ``src_outer_stride`` that the clause leaves out is given as None and is 0.
    """

    __slots__ = ()

    @classmethod
    def _clause(cls, name: str, value: Any, values: Values) -> None:
        if name == "src_outer_stride":
            values["outer_stride"] = 0 if value is None else value
            values["src_outer_stride_given"] = int(value is not None)
        elif name == "mode":
            values["mode"] = code_of("mode", value, {word: k for k, word in enumerate(MODES)})
        else:
            super()._clause(name, value, values)

    @classmethod
    def _from_fields(cls, values: Values, second: str) -> Values:  # noqa: ARG003
        return {**values, "src_outer_stride_given": int(values.get("outer_stride", 0) > 0)}

    @classmethod
    def _typed(cls, values: Values, src_type: Ptr, dst_type: Ptr) -> None:  # noqa: ARG003
        values["elem_log2"] = element_log2(src_type.dtype)

    @property
    def unencodable(self) -> str:
        """Elements of an unknown type or of 8 bytes (ND-L01)."""
        size = element_bytes(self.src_type.dtype)
        if size <= 4:
            return ""
        return f"ND-L01: elements of {self.src_type.dtype} have {size} B: 1, 2 or 4"

    @property
    def mode_name(self) -> str:
        """Keyword of the source layout."""
        return MODES[self.mode]

    @property
    def is_nop(self) -> bool:
        """N or D is zero: nothing is moved (docs/spec/nd2nz.md, section 6)."""
        return not (self.n_value and self.d_value)

    @property
    def c0(self) -> int:
        """Elements in a C0 block."""
        return C0_BYTES // self.elem_bytes

    @property
    def columns(self) -> int:
        """C0 columns of a group in normal mode, ceil(D / C0)."""
        return -(-self.d_value // self.c0)


_DEFAULTS: dict[str, Any] = {
    "src_outer_stride": None, "l2_cache_ctrl": 0, "smallc0_en": 0,
    "src_type": Ptr("f16", "gm"), "dst_type": Ptr("f16", "l1"),
}  # fmt: skip
_NAMES = (
    "gm_src", "l1_dst", "mode", "n_value", "d_value", "src_inner_stride", "group_count",
    "dst_loop2_stride", "dst_loop3_stride", "dst_loop4_stride",
)  # fmt: skip

NZ_CLASSES: tuple[type[NzOp], ...] = tuple(
    op_class(
        NzOp, row, (*_NAMES, *_DEFAULTS), _DEFAULTS, {"src_outer_stride_given": 0},
        ("mode", "src_outer_stride"),
    )
    for row in REPACKS
)  # fmt: skip
"""Op classes in the order of the rows."""

if TYPE_CHECKING:
    from tb.isa.operands import MteGmL1Frac as MteGmL1Frac
