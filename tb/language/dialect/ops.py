# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that move data, and their normal form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    UnregisteredAttr,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def

from tb.language.dialect.forms import (
    BUFFER,
    CLIP,
    FILLS,
    FLAG,
    INTEGER,
    NUMBER,
    POINTER,
    Form,
    Group,
)
from tb.language.dialect.types import (
    PtrType,
    is_float,
    is_number,
    is_signless,
    pointer_of,
    type_name,
)

SEGMENTS = "operandSegmentSizes"
"""Property of the generic form: operands of each group."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in the text of one op.

    Attributes:
        message: A sentence.
        rule: Rule of the specification, or empty.
        at: Offset in the file of the part that is wrong, or -1 for the op itself.
        legal: The legal range, or empty.
    """

    message: str
    rule: str = ""
    at: int = -1
    legal: str = ""


class OpError(Exception):
    """An op that cannot be used; its text was read to its end."""

    def __init__(self, *faults: Fault) -> None:
        """Takes all that is wrong with it."""
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults


@dataclass(slots=True)
class Written:
    """A movement op, whatever form it was written in; clauses that are absent are empty or None.

    Attributes:
        name: Without ``pto.``.
        operands: By the field names of the op classes in :mod:`tb.isa`; what the text leaves out
            is not in it. Strides and counts of ``nburst`` are ``n_burst``, ``src_stride``,
            ``dst_stride`` (``src_gap``, ``dst_gap``), K of ``nz2dn`` is ``k``.
        loops: (count, src_stride, dst_stride) of each ``loop``, the innermost first.
        pad: The value, or the value and both counts.
        loop3: Count, source stride and destination stride, or empty.
        pre_quant: Mode and payload.
        pre_relu: Mode, payload and clip.
        words: ``mode``, ``layout``, ``sat``, ``ub_split``, ``atomic_type``, ``atomic_op``: those
            that the op has, ``""`` where the clause is absent. ``sat`` is ``""``, ``"sat"``,
            ``"preserve_nan"`` or ``"nosat"``. Of a load and a ``mad`` their properties.
        unit_flag: 0, 2 check_only, 3 check_and_clear, or a number as written.
        attributes: The other attributes as Python values: ``ub_sub``, ``pto_dv.gap``.
    """

    name: str
    operands: dict[str, SSAValue]
    loops: list[tuple[SSAValue, SSAValue, SSAValue]] = field(default_factory=list)
    pad: list[SSAValue] = field(default_factory=list)
    loop3: list[SSAValue] = field(default_factory=list)
    pre_quant: tuple[str, SSAValue | None] | None = None
    pre_relu: tuple[str, SSAValue | None, SSAValue | None] | None = None
    words: dict[str, Any] = field(default_factory=dict)
    unit_flag: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)

    def values(self) -> Iterator[SSAValue]:
        """Yields every operand in the order of the pretty form."""
        yield from self.operands.values()
        for loop in self.loops:
            yield from loop
        yield from (*self.pad, *self.loop3)
        for clause in (self.pre_quant, self.pre_relu):
            yield from (value for value in (clause or ())[1:] if isinstance(value, SSAValue))


def python_value(attribute: Attribute) -> Any:
    """Returns an attribute as int, bool, float, str or list, otherwise as text."""
    if isinstance(attribute, IntegerAttr):
        number = attribute.value.data
        return bool(number) if attribute.type == i1 else number
    if isinstance(attribute, StringAttr):
        return attribute.data
    if isinstance(attribute, UnitAttr):
        return True
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    if isinstance(attribute, DenseArrayBase):
        return list(attribute.get_values())
    if isinstance(attribute, UnregisteredAttr):
        return attribute.value.data.strip("<> ") or attribute.attr_name.data
    return str(attribute)


LOAD_GROUPS: dict[int, tuple[int, int]] = {4: (0, 2), 6: (0, 4), 8: (4, 10)}
"""Operands of a load of L0A or L0B without ``operandSegmentSizes`` to the range of those that it
has of the ten after its pointers: the extents of the old form, the shape form, the control form."""


class MoveOp(Operation):
    """An op of :data:`tb.language.dialect.forms.FORMS`; :func:`written` returns its operands."""

    name = "pto.move"
    form: ClassVar[Form]
    traits = traits_def()

    def verify_(self) -> None:
        """Refuses what no movement op has; :func:`written` refuses the rest."""
        if self.results or self.regions:
            raise OpError(Fault("has no results and no regions"))


@cache
def segment_sizes(sizes: tuple[int, ...]) -> DenseArrayBase:
    """Returns ``operandSegmentSizes``."""
    return DenseArrayBase.from_list(i32, sizes)


@cache
def string(text: str) -> StringAttr:
    """Returns a string attribute."""
    return StringAttr(text)


def parts(form: Form) -> str:
    """Returns the parts that ``operandSegmentSizes`` counts, with the numbers that are legal."""

    def number(group: Group) -> str:
        if group.most == group.least:
            return f"{group.least}"
        return f"{group.least}.." + (f"{group.most}" if group.most >= 0 else "")

    return ", ".join(f"{group.name} {number(group)}" for group in form.groups)


def _without_sizes(op: MoveOp) -> Fault:
    """Returns what is wrong with operands that nothing counts."""
    least, found = sum(group.least for group in op.form.groups), len(op.operands)
    if found < least:
        return Fault(f"has {found} operands, at least {least} are needed", legal=parts(op.form))
    message = f"lacks {SEGMENTS}: {found} operands, {least} without any clause"
    return Fault(message, legal=parts(op.form))


def _sizes(op: MoveOp) -> Sequence[int]:
    """Returns how many operands each group has."""
    form = op.form
    given = op.properties.get(SEGMENTS) or op.attributes.get(SEGMENTS)
    if given is None:
        sizes = [group.least for group in form.groups]
        if sum(sizes) == len(op.operands):
            return sizes
        if form.family == "load" and len(op.operands) in LOAD_GROUPS:
            first, end = LOAD_GROUPS[len(op.operands)]
            taken = range(first + 2, end + 2)
            return [int(place < 2 or place in taken) for place in range(len(sizes))]
        if form.open:
            raise OpError(_without_sizes(op))
        names = ", ".join(group.name for group in form.groups)
        raise OpError(Fault(f"takes {len(sizes)} operands, not {len(op.operands)}", legal=names))
    if not isinstance(given, DenseArrayBase):
        raise OpError(Fault(f"{SEGMENTS} is no array<i32: ...>"))
    sizes = [int(size) for size in given.get_values()]
    if len(sizes) != len(form.groups) or sum(sizes) != len(op.operands):
        message = (
            f"{SEGMENTS} of length {len(sizes)} counts {sum(sizes)} operands, the op has "
            f"{len(form.groups)} groups and {len(op.operands)} operands"
        )
        raise OpError(Fault(message, legal=f"a number each: {parts(form)}"))
    for group, size in zip(form.groups, sizes, strict=True):
        if size < group.least or (group.most >= 0 and size > group.most):
            raise OpError(
                Fault(f"{group.name} has {size} operands in {SEGMENTS}", legal=parts(form))
            )
    return sizes


def _is_no_bit(value: SSAValue) -> bool:
    """Returns whether a value is a constant that no i1 holds: an illegal op needs a wider type."""
    known = getattr(value.owner, "properties", {}).get("value")
    return (
        is_signless(value.type, 64)
        and isinstance(known, IntegerAttr)
        and known.value.data not in (0, 1)
    )


def _check_type(group: Group, value: SSAValue) -> None:
    kind = value.type
    if group.kind == POINTER:
        fits, wanted = isinstance(kind, PtrType), "a pointer"
    elif group.kind == BUFFER:
        fits, wanted = pointer_of(kind) is not None, "a pointer"
    elif group.kind == INTEGER:
        fits, wanted = is_signless(kind, 64), "i64"
    elif group.kind == FLAG:
        fits, wanted = is_signless(kind, 1) or _is_no_bit(value), "i1"
    elif group.kind == NUMBER:
        fits, wanted = is_number(kind), "a number"
    elif group.kind == CLIP:
        fits, wanted = is_number(kind) or isinstance(kind, PtrType), "a number"
    else:
        fits = is_signless(kind) or is_float(kind) or isinstance(kind, PtrType)
        wanted = "a signless integer, a float or a pointer"
    if not fits:
        raise OpError(
            Fault(f"type mismatch: {group.name} has type {type_name(kind)}, it takes {wanted}")
        )


def _word(op: MoveOp, name: str) -> Any:
    attribute = op.properties.get(name) or op.attributes.get(name)
    return "" if attribute is None else python_value(attribute)


def written(op: Operation) -> Written | None:
    """Returns the operands of a movement op, or None for every other op.

    The result is made once, kept and never changed.

    Raises:
        OpError: the generic form has wrong operands; ops that :func:`tb.language.reader.read`
            returns are never such.
    """
    if not isinstance(op, MoveOp):
        return None
    kept: Written | None = op.__dict__.get("_written")
    if kept is None:
        kept = op.__dict__["_written"] = _decode(op)
    return kept


def _decode(op: MoveOp) -> Written:
    form = op.form
    operands = tuple(op.operands)
    found: dict[str, SSAValue] = {}
    lists: dict[str, tuple[SSAValue, ...]] = {}
    start = 0
    for group, size in zip(form.groups, _sizes(op), strict=True):
        taken = operands[start : start + size]
        start += size
        for value in taken:
            _check_type(group, value)
        if group.most < 0:
            lists[group.name] = taken
        elif taken:
            found[group.name] = taken[0]
    result = Written(form.name, found)
    if form.family == "dma":
        _decode_dma(result, lists)
    elif form.family == "fix":
        _decode_fix(op, result)
    if form.family == "nz":
        result.words["mode"] = str(_word(op, "mode"))
    if form.family in ("load", "mad") or form.name.startswith(("load_cbuf_to_", *FILLS)):
        result.words = {name: _word(op, name) for name in form.words}
    hidden = (SEGMENTS, *form.words)
    result.attributes = {
        key: python_value(value) for key, value in op.attributes.items() if key not in hidden
    }
    return result


def _decode_dma(result: Written, lists: Mapping[str, tuple[SSAValue, ...]]) -> None:
    counts, sources, destinations = lists.values()
    if not len(counts) == len(sources) == len(destinations):
        raise OpError(
            Fault(
                f"loops have {len(counts)} counts, {len(sources)} source strides and "
                f"{len(destinations)} destination strides",
                "DMA-L01",
                legal="one triple for each loop",
            )
        )
    result.loops = list(zip(counts, sources, destinations, strict=True))
    pads = [
        result.operands.pop(name, None)
        for name in ("pad_value", "left_padding_count", "right_padding_count")
    ]
    result.pad = [value for value in pads if value is not None]
    if len(result.pad) == 2 or (result.pad and pads[0] is None):
        raise OpError(Fault("pad has not a value alone, nor a value and both counts", "DMA-L02"))


def _decode_fix(op: MoveOp, result: Written) -> None:
    take = result.operands.pop
    payload, alpha, clip = (
        take(name, None) for name in ("pre_quant_payload", "pre_relu_payload", "clip")
    )
    parts = [take(f"loop3_{part}", None) for part in ("count", "src_stride", "dst_stride")]
    result.loop3 = [value for value in parts if value is not None]
    if len(result.loop3) not in (0, 3):
        raise OpError(Fault(f"loop3 has {len(result.loop3)} operands of 3", "FIX-L01"))
    mode = str(_word(op, "pre_quant_mode"))
    if mode:
        result.pre_quant = (mode, payload)
    elif payload is not None:
        raise OpError(Fault("pre_quant has a payload and no mode", "FIX-L03"))
    mode = str(_word(op, "pre_relu_mode"))
    if mode:
        result.pre_relu = (mode, alpha, clip)
    elif clip is not None:
        raise OpError(Fault("clip is outside pre_relu", "FIX-L06"))
    elif alpha is not None:
        raise OpError(Fault("pre_relu has a payload and no mode", "FIX-L05"))
    for name in op.form.words:
        if not name.startswith(("pre_", "unit_")):
            result.words[name] = str(_word(op, name))
    flag = _word(op, "unit_flag")
    result.unit_flag = {"": 0, "check_only": 2, "check_and_clear": 3}.get(flag, flag)
    if not isinstance(result.unit_flag, int):
        raise OpError(
            Fault(f"unit_flag is {flag!r}", "FIX-L14", legal="check_only, check_and_clear")
        )
    if op.form.name == "mte_l0c_ub" and bool(result.words["ub_split"]) == (
        "sub_block" in result.operands
    ):
        raise OpError(Fault("takes either a sub-block or one of split_m, split_n"))
