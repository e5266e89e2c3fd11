# SPDX-License-Identifier: Apache-2.0
"""The gap-based burst copies.

``mte_ub_ub`` and ``mte_ub_l1`` are those of docs/spec/dma.md, section 2; ``mte_l1_bt`` and
``mte_l1_fb`` those of docs/spec/bias_fb.md. Addresses are bytes, lengths and gaps units of the op.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tb.isa.burst.table import BIAS_TYPES, BURSTS, WIDEN_RAW, BurstSpec
from tb.isa.dtypes import Ptr
from tb.isa.nest import units
from tb.isa.op import Op, Values, op_class

if TYPE_CHECKING:
    from tb.isa.operands import BurstOpValues as _Values
else:
    _Values = Op


class BurstOp(_Values):
    """An op of the family.

    The pointer types of an op that widens decide the widening: see ``BIAS_TYPES`` (BT-L01).
    """

    __slots__ = ()
    spec: ClassVar[BurstSpec]

    @classmethod
    def _typed(cls, values: Values, src_type: Ptr, dst_type: Ptr) -> None:
        widens = cls.spec.widens and cls.target(src_type.dtype) == dst_type.dtype
        values["widen"] = BIAS_TYPES[src_type.dtype][1] if widens else WIDEN_RAW

    @classmethod
    def fitting(cls, values: Values) -> tuple[str, str]:
        """Returns the type that the field ``widen`` selects, or that of the row."""
        by_code = {code: name for name, (_, code) in reversed(BIAS_TYPES.items())}
        dtype = by_code.get(values["widen"], "f32") if cls.spec.widens else cls.spec.dtype
        return dtype, dtype

    @classmethod
    def target(cls, dtype: str, second: str = "") -> str:  # noqa: ARG003
        """Returns the type of what is written: slots of 32 bits for an op that widens."""
        return BIAS_TYPES.get(dtype, ("",))[0] if cls.spec.widens else dtype

    @property
    def unencodable(self) -> str:
        """Types that are none of the pairs of an op that widens (BT-L01)."""
        source, target = self.src_type.dtype, self.dst_type.dtype
        if not self.spec.widens or self.target(source) == target:
            return ""
        legal = ", ".join(f"{t} -> {u}" for t, (u, _) in BIAS_TYPES.items())
        return f"BT-L01: {self.spec.name} from {source} to {target}: one of {legal}"

    @property
    def units(self) -> tuple[int, int]:
        """Bytes of one unit at the source and at the destination."""
        return units(self)

    @property
    def is_nop(self) -> bool:
        """Nothing is copied (docs/spec/README.md, "Rule classes"; A-03)."""
        return not (self.len and self.n_burst)


def _class_of(row: BurstSpec) -> type[BurstOp]:
    defaults: dict[str, Any] = {
        "src_type": Ptr(row.dtype, row.source), "dst_type": Ptr(row.dtype, row.destination)
    }  # fmt: skip
    names = (*(operand.name for operand in row.operands), *defaults)
    if row.has_ub_side:
        names, defaults = (*names, "ub_sub"), {**defaults, "ub_sub": 0}
    return op_class(BurstOp, row, names, defaults)


BURST_CLASSES: dict[str, type[BurstOp]] = {name: _class_of(row) for name, row in BURSTS.items()}
"""Op classes by mnemonic."""

if TYPE_CHECKING:
    from tb.isa.operands import MteL1Bt as MteL1Bt
    from tb.isa.operands import MteL1Fb as MteL1Fb
    from tb.isa.operands import MteUbL1 as MteUbL1
    from tb.isa.operands import MteUbUb as MteUbUb
