# SPDX-License-Identifier: Apache-2.0
"""Rules of the specification that the compiler's verifier does not check.

A program that breaks one of them is legal text for the compiler; the message notes it. Source:
docs/spec/dialect.md: what is class N there, and what class C does not name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacySet
from tb.isa.dma.op import MteGmUb
from tb.isa.dtypes import PAD_DTYPES, Ptr, element_bits
from tb.isa.fix.op import FixOp, MteL0cGm, MteL0cUb
from tb.isa.fix.table import ATOMIC_DST, ATOMIC_OPS, QUANT_MODES, UB_SPLITS
from tb.isa.mad import Mad
from tb.isa.ops import OPS
from tb.isa.rules import RULES
from tb.isa.spaces import UB_BLOCK
from tb.isa.text import AnyOp
from tb.language.unknown import UndecidedError

Accepts = Callable[[Any], bool]
"""Returns whether the compiler accepts an op that breaks a rule."""


def unchecked(name: str, op: AnyOp | Mad, rule: str) -> bool:
    """Returns whether the compiler accepts an op that breaks ``rule``.

    Args:
        name: Name as written, without ``pto.``.
        op: The op.
        rule: Rule that it breaks, such as ``DMA-L04``; nothing for what no rule covers.
    """
    if isinstance(op, Mad):  # What the compiler refuses is refused when the text is read.
        return True
    if not rule.partition("-L")[2].isdigit() or isinstance(op, CtrlOp | LegacySet):
        return False
    if rule in _CHECKED:
        return False
    if rule == "DMA-L04":
        return _accepts_pointers(name, op.src_type, op.dst_type)
    accepts = _PARTLY.get(rule)
    try:
        return accepts is None or accepts(op)
    except UndecidedError:
        return False


ATOMIC_RULE = "FIX-L11"
"""S rule about the type of an atomic, whose result is undefined when it is broken (A-47)."""


NOT_EXECUTED = (ATOMIC_RULE, "FIX-L27", "FIX-L24", "DMA-L14", "ND-L09", "LD-L07")
"""Rules whose breach leaves nothing that model and engine must agree on.

The update has no definition, or the order inside the op decides: programs with it do not run. Rows
of a strided copy are written in order, and the other T rules have results in the model.
"""


def undefined(name: str, op: AnyOp | Mad, rule: str) -> bool:
    """Returns whether the compiler accepts an op that ``rule`` leaves without a defined result.

    That is a warning in the text of others (OR-03). Arguments as of :func:`unchecked`.
    """
    known = RULES.get(rule)
    of_result = rule == ATOMIC_RULE or (known is not None and known.kind == "T")
    return of_result and unchecked(name, op, rule)


_CHECKED = frozenset(
    (
        *("DMA-L01", "DMA-L02", "ND-L02", "ND-L04", "ND-L05", "FB-L01", "RF-L01", "RF-L02"),
        *("FIX-L01", "FIX-L03", "FIX-L06", "FIX-L08", "FIX-L09", "FIX-L10", "FIX-L12", "FIX-L20"),
    )
)
"""Rules that the compiler checks, too."""


def _equal_widths(source: Ptr, destination: Ptr) -> bool:
    widths = [element_bits(one.dtype) // 8 for one in (source, destination)]
    return widths[0] == widths[1] and all(widths)


def _accepts_pointers(name: str, source: Ptr, destination: Ptr) -> bool:
    """Returns whether the compiler accepts the pointers of a copy (DI-12, sections 4 and 5)."""
    spaces, widths = (source.space, destination.space), _equal_widths(source, destination)
    if name == "copy_gm_to_ubuf" or (name in OPS and OPS[name].source == "gm"):
        return widths and spaces[0] != "ub" and spaces[1] != "gm"
    if name == "mte_ub_gm":
        return widths and spaces == ("ub", "gm")
    if name == "copy_ubuf_to_gm":
        return widths and spaces[0] != "gm" and spaces[1] != "ub"
    if name in ("mte_l1_ub", "copy_cbuf_to_ubuf"):
        return widths and spaces[0] not in ("gm", "ub") and spaces[1] == "ub"
    if name in ("mte_ub_ub", "copy_ubuf_to_ubuf"):
        return spaces == ("ub", "ub")
    if name in ("mte_ub_l1", "copy_ubuf_to_cbuf"):
        return spaces[0] == "ub" and spaces[1] != "gm"
    return name == "copy_gm_to_cbuf"


def _repack(op: Any) -> bool:
    return _accepts_pointers("mte_gm_l1", op.src_type, op.dst_type)


def _pad(op: Any) -> bool:
    return not isinstance(op, MteGmUb) or op.pad is None or op.pad.dtype in PAD_DTYPES


def _bias(op: Any) -> bool:
    integers = [_is_word(one.dtype) for one in (op.src_type, op.dst_type)]
    return (op.src_type.space, op.dst_type.space) == ("l1", "bt") and all(integers)


def _is_word(dtype: str) -> bool:
    return dtype in ("i32", "si32", "ui32")


def _accumulators(op: FixOp) -> bool:
    plain = op.pre_quant is None or op.pre_quant.mode == "no_convert"
    spaces = op.src_type.space == "l0c" and op.dst_type.space == op.spec.destination
    return spaces and plain and op.src_type.dtype in ("si32", "ui32")


_FP8 = ("hif8", "hif8x2", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ")
_FAMILIES: dict[str, tuple[str, ...]] = {
    "hif8": (*_FP8, "f8E5M2", "f8E5M2FNUZ"),
    "f8E4M3FN": (*_FP8, "f8E5M2", "f8E5M2FNUZ"),
    "i32": ("i32", "si32", "ui32"),
    "i16": ("i16", "si16"),
    "i8": ("i8", "si8", "ui8"),
    "i4": ("i4", "si4"),
}
"""Destination types that the compiler takes for one of a mode (DF-05)."""


def _row(op: FixOp) -> bool:
    """Returns whether the compiler accepts accumulators, mode and destination (DF-04 to DF-06)."""
    if op.pre_quant is None or op.pre_quant.mode == "no_convert":
        return True
    mode = QUANT_MODES.get(op.pre_quant.mode)
    if mode is None or mode.name.startswith("req4") or mode.acc != op.src_type.dtype:
        return False
    first = mode.dst[0]
    return op.dst_type.dtype in _FAMILIES.get(first, (first,))


def _relu(op: FixOp) -> bool:
    """Returns whether only a missing scale is wrong with a ReLU (FIX-L05)."""
    relu = op.pre_relu
    payload = {"scalar_relu": "Scalar", "vector_relu": "FbPtr"}
    named = relu is not None and payload.get(relu.mode) == type(relu.payload).__name__
    dtype = getattr(relu.payload, "dtype", "") if relu is not None else ""
    return named and dtype in ("f16", "bf16", "f32")


def _atomic(op: FixOp) -> bool:
    atomic = op.atomic if isinstance(op, MteL0cGm) else None
    return atomic is not None and atomic.op in ATOMIC_OPS and atomic.type in ATOMIC_DST


def _fields(op: FixOp) -> bool:
    """Returns whether a field other than the sub-block is out of range (FIX-L14)."""
    return not isinstance(op, MteL0cUb) or bool(op.ub_split) or op.sub_block in (0, 1)


def _halves(op: FixOp) -> bool:
    return not isinstance(op, MteL0cUb) or not UB_SPLITS.get(op.ub_split)


_PARTLY: dict[str, Accepts] = {
    "DMA-L03": _pad,
    "DMA-L15": lambda op: isinstance(op, MteGmUb),
    "ND-L01": _repack,
    "BT-L01": _bias,
    "FIX-L02": _accumulators,
    "FIX-L04": _row,
    "FIX-L05": _relu,
    "FIX-L11": _atomic,
    "FIX-L14": _fields,
    "FIX-L21": _halves,
    "RF-L03": lambda op: op.byte_offset % UB_BLOCK == 0,
}
"""Rules of which the compiler checks a part."""
