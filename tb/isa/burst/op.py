# SPDX-License-Identifier: Apache-2.0
"""The gap-based burst copies and the descriptor they become.

``mte_ub_ub`` and ``mte_ub_l1`` are those of spec/dma.md, section 2; ``mte_l1_bt`` and
``mte_l1_fb`` those of spec/bias_fb.md. Addresses are bytes, lengths and gaps units of the op.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, make_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tb.isa.burst.table import BIAS_TYPES, BURSTS, WIDEN_RAW, BurstSpec, unit_bytes
from tb.isa.dtypes import Ptr


class BurstOp:
    """An op of the family. Each row of the table has a class, made from the row.

    The fields are the operands in the order of the row, then ``src_type`` and ``dst_type``, and
    ``ub_sub`` where a side is UB. The pointer types of an op that widens decide the widening: see
    ``BIAS_TYPES`` (BT-L01).

    Attributes:
        spec: Table row of the op.
    """

    __slots__ = ()
    spec: ClassVar[BurstSpec]

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
        len_burst: int
        n_burst: int
        src_gap: int
        dst_gap: int
        src_type: Ptr
        dst_type: Ptr
        ub_sub: int

        def __init__(
            self,
            src: int,
            dst: int,
            len_burst: int,
            n_burst: int,
            src_gap: int,
            dst_gap: int,
            src_type: Ptr = ...,
            dst_type: Ptr = ...,
            ub_sub: int = 0,
        ) -> None: ...

        def __getattr__(self, name: str) -> int: ...

    @property
    def addresses(self) -> tuple[int, int]:
        """Source and destination address, under any operand name."""
        source, destination = self.spec.operands[:2]
        return getattr(self, source.name), getattr(self, destination.name)


def _fields(row: BurstSpec) -> Iterator[tuple[str, Any] | tuple[str, Any, Any]]:
    yield from ((operand.name, int) for operand in row.operands)
    yield "src_type", Ptr, field(default=Ptr(row.dtype, row.source))
    yield "dst_type", Ptr, field(default=Ptr(row.dtype, row.destination))
    if row.has_ub_side:
        yield "ub_sub", int, field(default=0)


def _class_of(row: BurstSpec) -> type[BurstOp]:
    own = {"spec": row, "__module__": __name__, "__doc__": f"``pto.{row.name}``: {row.doc}."}
    name = "".join(part.capitalize() for part in row.name.split("_"))
    return make_dataclass(
        name, _fields(row), bases=(BurstOp,), namespace=own, frozen=True, slots=True
    )


BURST_CLASSES: dict[str, type[BurstOp]] = {name: _class_of(row) for name, row in BURSTS.items()}
"""Op classes by mnemonic."""

if TYPE_CHECKING:
    # For code that uses these ops by name. A new row needs no line here.
    class MteUbUb(BurstOp): ...  # noqa: D101

    class MteUbL1(BurstOp): ...  # noqa: D101

    class MteL1Bt(BurstOp): ...  # noqa: D101

    class MteL1Fb(BurstOp): ...  # noqa: D101
else:
    MteUbUb, MteUbL1, MteL1Bt, MteL1Fb = (
        BURST_CLASSES[name] for name in ("mte_ub_ub", "mte_ub_l1", "mte_l1_bt", "mte_l1_fb")
    )


@dataclass(frozen=True, slots=True)
class BurstDescriptor:
    """Field values of a burst descriptor before they are packed; they may break any width."""

    spec: BurstSpec
    src_addr: int
    dst_addr: int
    len: int
    n_burst: int
    src_gap: int
    dst_gap: int
    widen: int = WIDEN_RAW
    ub_sub: int = 0

    @property
    def units(self) -> tuple[int, int]:
        """Bytes of one unit at the source and at the destination."""
        return unit_bytes(self.spec, self.widen)

    @property
    def is_nop(self) -> bool:
        """Nothing is copied (spec/README.md, "Rule classes"; A-03)."""
        return not (self.len and self.n_burst)


def widening(op: BurstOp) -> int:
    """Returns the ``widen`` code of an op that widens.

    Raises:
        ValueError: the types are none of the four pairs (BT-L01).
    """
    source, target = op.src_type.dtype, op.dst_type.dtype
    pair = BIAS_TYPES.get(source)
    if pair is None or pair[0] != target:
        legal = ", ".join(f"{t} -> {u}" for t, (u, _) in BIAS_TYPES.items())
        raise ValueError(f"BT-L01: {op.spec.name} from {source} to {target}: one of {legal}")
    return pair[1]


def lower_burst(op: BurstOp) -> BurstDescriptor:
    """Returns the descriptor of a burst op.

    Raises:
        ValueError: the types of an op that widens are none of the four pairs (BT-L01).
    """
    spec = op.spec
    return BurstDescriptor(
        spec,
        *op.addresses,
        op.len_burst,
        op.n_burst,
        op.src_gap,
        op.dst_gap,
        widening(op) if spec.widens else WIDEN_RAW,
        op.ub_sub if spec.has_ub_side else 0,
    )
