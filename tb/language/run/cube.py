# SPDX-License-Identifier: Apache-2.0
"""Recipes of the loads to L0 and of the ``mad`` family: from their text to ops.

Sources: spec/l0_loads.md, sections 2 to 4 and 6; spec/dialect.md, sections 6 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from tb.isa.dtypes import Ptr
from tb.isa.grammar import CONTROLS, SCALE_CONTROLS, TRANSPOSE
from tb.isa.l0.op import LOAD_CLASSES, L0Load, Shape, shaped
from tb.isa.l0.table import LOAD_FORMS, LOADS, SCALE_RATIO
from tb.isa.mad import ACC, BIAS, FLAG_CODES, ZERO, Mad
from tb.language.grammar.written import Written
from tb.language.unknown import UNKNOWN, UndecidedError

MAKES = Callable[[Sequence[int]], Any]

MADS: tuple[str, ...] = (
    *(f"mad{what}" for what in ("", "_acc", "_bias", "_mx", "_mx_acc", "_mx_bias")),
    *(f"mad{what}_raw" for what in ("", "_bias", "_mx", "_mx_bias")),
)
"""Ops of the matrix unit, grouped and expanded."""

CUBE_OPS: frozenset[str] = frozenset((*LOADS, *LOAD_FORMS, *MADS))
"""Ops whose recipes are here."""


def load_maker(written: Written, number: Callable[[str], int], types: tuple[Ptr, Ptr]) -> MAKES:
    """Returns how to build a load from the numbers of its operands.

    Args:
        written: The load.
        number: Takes an operand by its name and returns its index.
        types: Pointer types of source and destination.
    """
    name = LOAD_FORMS.get(written.name, written.name)
    src, dst = number("src"), number("dst")
    turned = bool(written.words.get(TRANSPOSE))
    extents = LOADS[name].extents
    if written.name in LOADS and extents[0] in written.operands:
        old = "start_row" not in written.operands
        shape = [number(each) for each in extents]
        shape += [] if old else [number("start_row"), number("start_col")]
        # The older form, two extents alone, of L0B means a transposed load.
        turn = int(turned or (old and LOADS[name].destination == "l0b"))

        def make_shape(numbers: Sequence[int]) -> L0Load:
            chosen = Shape(*[numbers[index] for index in shape])
            try:
                return shaped(name, numbers[src], numbers[dst], chosen, *types, turn)
            except UndecidedError:
                made: Any = LOAD_CLASSES[name]
                unknown = made(numbers[src], numbers[dst], *[UNKNOWN] * 6, turn, *types, chosen)
                return cast("L0Load", unknown)

        return make_shape
    names = SCALE_CONTROLS if LOADS[name].scales else CONTROLS
    control = [number(each) for each in names]
    flag = number(TRANSPOSE) if TRANSPOSE in written.operands else -1
    # Expanded loads of scales have the address of the scales, not of their data.
    ratio = SCALE_RATIO if written.name in LOAD_FORMS and LOADS[name].scales else 1

    def make(numbers: Sequence[int]) -> L0Load:
        turn = int(turned) if flag < 0 else numbers[flag]
        address = numbers[dst] if ratio == 1 else _times(numbers[dst], ratio)
        values = [numbers[index] for index in control]
        made: Any = LOAD_CLASSES[name]
        return cast("L0Load", made(numbers[src], address, *values, turn, *types))

    return make


def _times(value: int, factor: int) -> int:
    try:
        return value * factor
    except UndecidedError:
        return UNKNOWN


def mad_maker(written: Written, number: Callable[[str], int], types: Sequence[Ptr]) -> MAKES:
    """Returns how to build a product; arguments as of :func:`load_maker`.

    ``types`` are those of the factors, the result, and the bias if it has one.
    """
    pointers = [name for name in ("lhs", "rhs", "dst", "bias") if name in written.operands]
    places = [number(name) for name in pointers]
    fixed: dict[str, Any] = dict(
        zip(("lhs_type", "rhs_type", "dst_type", "bias_type"), types, strict=False)
    )
    fixed["mx"] = "_mx" in written.name

    def addresses(numbers: Sequence[int]) -> dict[str, Any]:
        return {name: numbers[at] for name, at in zip(pointers, places, strict=True)}

    if written.name.endswith("_raw"):
        word = number("xt")

        def make_raw(numbers: Sequence[int]) -> Mad:
            return Mad(**addresses(numbers), **fixed, **_of_word(numbers[word], fixed))

        return make_raw
    fixed |= {
        "initial": next((x for x in (ACC, BIAS) if written.name.endswith(x)), ZERO),
        "unit_flag": str(written.words.get("unit_flag") or ""),
        "disable_gemv": bool(written.words.get("disable_gemv")),
        "sat": str(written.words.get("sat") or ""),
        "tf32": str(written.words.get("tf32_mode") or ""),
        "n_dir": bool(written.words.get("n_dir")),
    }
    extents = {name: number(name) for name in ("m", "n", "k")}

    def make(numbers: Sequence[int]) -> Mad:
        sizes: dict[str, Any] = {name: numbers[at] for name, at in extents.items()}
        return Mad(**addresses(numbers), **sizes, **fixed)

    return make


def _of_word(xt: int, fixed: dict[str, Any]) -> dict[str, Any]:
    """Returns the operands in an Xt word (spec/l0_loads.md, section 6)."""
    try:
        initial = ZERO if xt >> 63 & 1 else BIAS if xt >> 62 & 1 else ACC
        return {
            "m": xt & 0xFFF,
            "k": xt >> 12 & 0xFFF,
            "n": xt >> 24 & 0xFFF,
            "unit_flag": _flag_of(xt >> 55 & 3),
            "disable_gemv": bool(xt >> 61 & 1),
            "initial": BIAS if initial == ACC and fixed.get("bias_type") else initial,
        }
    except UndecidedError:
        return {"m": UNKNOWN, "n": UNKNOWN, "k": UNKNOWN}


def _flag_of(code: int) -> str:
    """Returns the clause ``unit_flag`` of a code; one without a name breaks MD-L01."""
    return FLAG_CODES.get(code, str(code)) if code else ""
