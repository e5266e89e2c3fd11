# SPDX-License-Identifier: Apache-2.0
"""The strided DMA ops (docs/spec/dma.md, sections 1 to 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tb.isa import nest
from tb.isa.ctrl import atomic_of, nosat_of
from tb.isa.dma.table import MAX_LOOPS, SOURCE_SIDE, STRIDED
from tb.isa.dtypes import Ptr, element_bytes
from tb.isa.fields import OpSpec
from tb.isa.op import Op, OpT, Values, element_log2, op_class, replace

if TYPE_CHECKING:
    from tb.isa.operands import DmaOpValues as _Values
else:
    _Values = Op


@dataclass(frozen=True, slots=True)
class Loop:
    """One ``loop(count, src_stride, dst_stride)`` group; strides in bytes."""

    count: int
    src_stride: int
    dst_stride: int


@dataclass(frozen=True, slots=True)
class DmaLoop:
    """A loop group in terms of the descriptor: ``ext`` is GM, ``loc`` the on-chip side.

    Of ``mte_l1_ub`` ``ext`` is L1 and ``loc`` is UB.
    """

    count: int
    ext_stride: int
    loc_stride: int


NO_LOOP = DmaLoop(1, 0, 0)
"""Fields of a loop group that is absent."""


@dataclass(frozen=True, slots=True)
class Pad:
    """The ``pad(value[, left, right])`` clause of ``mte_gm_ub``.

    Attributes:
        dtype: Type of the value, one of ``PAD_DTYPES`` (DMA-L03).
        value: Bit pattern of one element.
        left, right: Counts in elements; both None when the clause holds the value alone.
    """

    dtype: str
    value: int
    left: int | None = None
    right: int | None = None


SAMPLED = ("atomic_type", "atomic_op", "nosat")
"""Fields of a store that hold CTRL at its issue (CT-02)."""


class DmaOp(_Values):
    """An op of the family.

    Addresses, lengths and strides are bytes; of ``mte_l1_ub`` ``len_burst`` and the gaps, which are
    in the fields of the row strides, are blocks of 32 bytes. ``loops`` are groups, the innermost
    first, and ``pad`` is a clause or None. CTRL is sampled when a store is issued.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        more_loops: tuple[Loop, ...]
        pad_type: str

    @classmethod
    def _clause(cls, name: str, value: Any, values: Values) -> None:
        if name == "loops":
            values.update(_loop_values(cls.spec, value))
        elif name == "pad" and "pad" in cls.names:
            values.update(_pad_values(value))
        else:
            super()._clause(name, value, values)

    @classmethod
    def _typed(cls, values: Values, src_type: Ptr, dst_type: Ptr) -> None:  # noqa: ARG003
        values["elem_log2"] = element_log2(src_type.dtype)

    @classmethod
    def _from_fields(cls, values: Values, second: str) -> Values:
        padded = values.get("pad_en") and not values.get("pad_legacy")
        return {**values, "pad_type": second, "pad_given": 3} if padded else values

    @property
    def second_type(self) -> str:
        """Type of the pad value where there is one."""
        return self.pad_type or self.src_type.dtype

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loop groups by source and destination."""
        if not self.values["n_loops"]:
            return self.more_loops
        found = self.field_loops
        if SOURCE_SIDE[self.spec.name] == "ext":
            loops = tuple([Loop(x.count, x.ext_stride, x.loc_stride) for x in found])
        else:
            loops = tuple([Loop(x.count, x.loc_stride, x.ext_stride) for x in found])
        return (*loops, *self.more_loops)

    @property
    def field_loops(self) -> tuple[DmaLoop, ...]:
        """The loop groups of the descriptor, 0 to 3."""
        values = self.values
        names = _LOOP_FIELDS[: values["n_loops"]]
        return tuple([DmaLoop(values[n], values[ext], values[loc]) for n, ext, loc in names])

    @property
    def pad(self) -> Pad | None:
        """The clause, or None: a legacy copy has no clause."""
        if not self.pad_type:
            return None
        left = self.pad_left if self.pad_given & 1 else None
        right = self.pad_right if self.pad_given & 2 else None
        return Pad(self.pad_type, self.pad_value, left, right)

    @property
    def unencodable(self) -> str:
        """More loop groups than a descriptor holds (A-08); an unknown type raises ValueError."""
        element_bytes(self.src_type.dtype)
        if not self.more_loops:
            return ""
        count = MAX_LOOPS + len(self.more_loops)
        return (
            f"{self.spec.name} has {count} loop groups: a descriptor holds 0..{MAX_LOOPS}; "
            "split the op"
        )

    def sampled(self: OpT, ctrl: int) -> OpT:
        """Returns a store with the fields that hold CTRL at its issue (CT-02); others as is."""
        if not ctrl or "atomic_type" not in self.values or self.spec.destination != "gm":
            return self
        found = (*atomic_of(ctrl), nosat_of(ctrl))
        return replace(self, **dict(zip(SAMPLED, found, strict=True)))

    @property
    def compact(self) -> bool:
        """The rows form a compact group: no gap between them (docs/spec/dma.md, section 2)."""
        return bool(nest.compact(self))

    @property
    def padded(self) -> bool:
        """Padding is selected (docs/spec/dma.md, section 3; knob ``pad_unselected``)."""
        return bool(nest.padded(self))

    @property
    def left_bytes(self) -> int:
        """L of docs/spec/dma.md section 3."""
        return int(nest.pad_bytes(self, self.pad_left))

    @property
    def right_bytes(self) -> int:
        """R of docs/spec/dma.md section 3."""
        return int(nest.pad_bytes(self, self.pad_right))

    @property
    def is_nop(self) -> bool:
        """A count that multiplies the work is zero (docs/spec/README.md, "Rule classes"; A-03)."""
        return not (self.len and self.n_burst and all(loop.count for loop in self.field_loops))


_LOOP_FIELDS = tuple(
    tuple(f"loop{k}_{part}" for part in DmaLoop.__slots__) for k in range(MAX_LOOPS)
)


def _loop_values(spec: OpSpec, loops: Sequence[Loop]) -> Values:
    """Returns the values of loop groups; absent ones count 1, with strides of 0."""
    turned = SOURCE_SIDE[spec.name] != "ext"
    values: Values = {"n_loops": min(len(loops), MAX_LOOPS), "more_loops": tuple(loops[MAX_LOOPS:])}
    for k, (count, ext, loc) in enumerate(_LOOP_FIELDS):
        loop = loops[k] if k < len(loops) else Loop(1, 0, 0)
        sides = (ext, loc) if not turned else (loc, ext)
        values |= {count: loop.count, sides[0]: loop.src_stride, sides[1]: loop.dst_stride}
    return values


def _pad_values(pad: Pad | None) -> Values:
    if pad is None:
        return dict.fromkeys(("pad_en", "pad_value", "pad_left", "pad_right", "pad_given"), 0) | {
            "pad_type": ""
        }
    return {
        "pad_en": 1, "pad_type": pad.dtype, "pad_value": pad.value,
        "pad_left": 0 if pad.left is None else pad.left,
        "pad_right": 0 if pad.right is None else pad.right,
        "pad_given": (pad.left is not None) | (pad.right is not None) << 1,
    }  # fmt: skip


_EXTRA: Mapping[str, Any] = {
    "more_loops": (), "pad_type": "", "pad_given": 0,
    **{names[0]: 1 for names in _LOOP_FIELDS},
}  # fmt: skip


def _class(spec: OpSpec, earlier: Sequence[type[DmaOp]]) -> type[DmaOp]:
    """Returns the class of a row; one of the operands of an earlier row extends its class."""
    defaults: dict[str, Any] = {"loops": ()}
    own = [operand.name for operand in spec.operands]
    clauses = own.index("loop_count")
    names = [name for name in own[:clauses] if name != "l2_cache_ctl"]
    if "pad_value" in own:
        defaults["pad"] = None
    if "l2_cache_ctl" in own:
        defaults["l2_cache_ctl"] = 0
    for role, space in (("src", spec.source), ("dst", spec.destination)):
        defaults[f"{role}_type"] = Ptr("i8", space)
    if "ub" in (spec.source, spec.destination):
        defaults["ub_sub"] = 0
    named = (*names, *defaults)
    base = next((cls for cls in earlier if cls.names == named), DmaOp)
    return op_class(base, spec, named, defaults, _EXTRA)


def _classes() -> tuple[type[DmaOp], ...]:
    found: list[type[DmaOp]] = []
    for row in STRIDED:
        found.append(_class(row, found))
    return tuple(found)


DMA_CLASSES: tuple[type[DmaOp], ...] = _classes()
"""Op classes in the order of the rows."""

if TYPE_CHECKING:
    from tb.isa.operands import MteGmL1 as MteGmL1
    from tb.isa.operands import MteGmUb as MteGmUb
    from tb.isa.operands import MteL1Ub as MteL1Ub
    from tb.isa.operands import MteUbGm as MteUbGm
