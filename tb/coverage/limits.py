# SPDX-License-Identifier: Apache-2.0
"""Bins that an engine cannot reach because its manifest excludes them.

A manifest may limit its engine to fewer loops than the ISA has, to unpadded rows, or to reports of
some D rules. Ops that are therefore never sent are not holes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tb.coverage.dma.atomic import atomic_points
from tb.coverage.dma.points import loop_sets
from tb.coverage.dma.values import shape_of
from tb.coverage.fix.values import FLAGS, LAYOUTS
from tb.coverage.l0 import ELEMENTS, TYPES
from tb.coverage.rules import LOWERED, rules_of
from tb.coverage.scope import Scope
from tb.coverage.view import FORM_SPECS
from tb.isa.dma.table import MAX_LOOPS, OF_UPDATES
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.l0.table import ELEMENT_CODES, LOADS, NIBBLE_DTYPES
from tb.isa.ops import LEGACY_FORMS
from tb.isa.profile import current

FEWEST_BYTES = 16
"""Narrowest GM bus; points have the same names for every width."""

OF_SQUARES = "LD-L05"
"""Rule of transposed loads alone, and of elements of another width than 16 bits."""

UNDER_CTRL = (
    *("set_ctrl", "set_atomic_type", "set_atomic_op", "set_atomic_none", "restored"),
    "atomic_idle",
)
"""Points of stores under a CTRL without a type, which are plain ones."""


@dataclass(frozen=True)
class FormLimits:
    """Limits of an engine for a form.

    Attributes:
        loops: Most loop groups.
        pad: It takes padded rows.
        rules: Names of the D rules it reports; None for all.
        atomic_stores: It takes stores that CTRL makes updates.
        transpose: It takes transposed loads to L0.
        element_bits: Bits of elements that its loads to L0 take.
    """

    loops: int = MAX_LOOPS
    pad: bool = True
    rules: frozenset[str] | None = None
    atomic_stores: bool = True
    transpose: bool = True
    element_bits: tuple[int, ...] = tuple(ELEMENT_CODES)


def form_scope(form: str, limits: FormLimits) -> Scope:
    """Returns the bins of the group of ``form`` that an engine with such limits can reach."""
    family = FORM_SPECS[form].layout.family
    points: dict[str, Sequence[str]] = {}
    if family == "fix" and not limits.loops:
        points |= {"loop3": ["absent"], "loop3_src": [], "loop3_dst": []}
    if family == "l0" and form in LOADS and not LOADS[form].scales:
        points["elem"] = [ELEMENTS[ELEMENT_CODES[bits]] for bits in limits.element_bits]
        points["dtype"] = [name for name in TYPES if _bits(name) in limits.element_bits]
        points["transpose"] = ["no", *["yes"] * limits.transpose]
    if family == "fix" and FORM_SPECS[form].updates and current().modes == "a5":
        # A channel split checks no unit flags (FIX-L20).
        plain = {"layout": [name for name in LAYOUTS if name != LAYOUTS[-1]]}
        free = {"layout": [LAYOUTS[-1]], "flag": [FLAGS[0]]}
        return Scope(points, {"layout x flag": [plain, free]})
    if family != "dma":
        return Scope(points)
    if FORM_SPECS[form].updates and not limits.atomic_stores:
        names = [item.point.name for item in atomic_points(FEWEST_BYTES)]
        points |= {name: () for name in names if name not in UNDER_CTRL}
    shape = shape_of(form)
    if limits.loops < shape.loops:
        points |= _looped(form, limits.loops)
    if shape.padded and not limits.pad:
        points["pad"] = ["off"]
        names = ["elem", "left", "right", "tail", "end", "moved", "single"]
        names += ["register", "select"] * shape.legacy
        points |= dict.fromkeys([f"pad_{name}" for name in names], ())
        points["compact"] = ["fill", "kept", "whole blocks"]
    return Scope(points)


def _bits(dtype: str) -> int:
    """Returns the bits of an element of a load to L0."""
    return 4 if dtype in NIBBLE_DTYPES else 8 * ELEMENT_BYTES[dtype]


def _looped(form: str, most: int) -> dict[str, Sequence[str]]:
    """Returns the bins of ops of at most ``most`` loop groups."""
    shape = shape_of(form)
    zeros = [f"loop{k} 0" for k in range(most)]
    tops = [f"loop{k} 2^21-1" for k in range(most)]
    points: dict[str, Sequence[str]] = {
        "loops_active": loop_sets(most),
        "nop": ["several zeros", "len 0", "n_burst 0", *zeros, "live"],
        "nop_max": [*shape.top_rows, *tops, "smaller"],
    }
    if form not in LEGACY_FORMS:
        points["n_loops"] = [str(k) for k in range(most + 1)]
    for k in range(most, shape.loops):
        points[f"loop{k}_count"] = ["absent"]
        for side in ("ext", "loc"):
            points[f"{shape.name(side)}_loop{k}_stride"] = ["one iteration"]
    return points


def reported(forms: Mapping[str, FormLimits]) -> Mapping[str, Sequence[str]]:
    """Returns form to the names of the D rules that its engine reports."""
    found = {}
    for form, limits in forms.items():
        every = limits.rules is None or form in LOWERED
        found[form] = [name for name in rules_of(form) if every or name in (limits.rules or ())]
        if FORM_SPECS[form].updates and not limits.atomic_stores:
            found[form] = [name for name in found[form] if name not in OF_UPDATES]
        spec = FORM_SPECS[form]
        if spec.family == "dma" and spec.gaps and not limits.loops:
            # Strides are in its loops only.
            found[form] = [name for name in found[form] if name != "DMA-L07"]
        if OF_SQUARES in found[form] and (not limits.transpose or limits.element_bits == (16,)):
            found[form].remove(OF_SQUARES)
    return found
