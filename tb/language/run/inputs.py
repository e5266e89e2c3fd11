# SPDX-License-Identifier: Apache-2.0
"""Operands of an op as written: their sorts, and their places in the op that is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tb.isa.ctrl import CTRL_BITS
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import FbPtr, Scalar
from tb.isa.ops import LEGACY_FORMS, OPS, TEXT_FORMS
from tb.isa.pipes import Pipe
from tb.isa.profile import current
from tb.language.grammar.written import Written
from tb.language.run.values import FLOAT, INDEX_BITS, NUMBER, POINTER, Kind

MADS: tuple[str, ...] = (
    *(f"mad{what}" for what in ("", "_acc", "_bias", "_mx", "_mx_acc", "_mx_bias")),
    *(f"mad{what}_raw" for what in ("", "_bias", "_mx", "_mx_bias")),
)
"""Ops of the matrix unit, grouped and expanded."""

_WIDTH_RULES = {
    "DMA": "DMA-L05",
    "ND": "ND-L03",
    "BT": "BT-L02",
    "FB": "FB-L02",
    "FIX": "FIX-L14",
    "LD": "LD-L03",
    "RF": "RF-L02",
}
_RANGE_RULES = {
    "DMA": "DMA-L12",
    "ND": "ND-L08",
    "BT": "BT-L04",
    "FB": "FB-L04",
    "FIX": "FIX-L23",
    "LD": "LD-L06",
    "RF": "RF-L04",
}
_HINT_RULES = {"DMA": "DMA-L15", "FIX": "FIX-L13"}
_BY_KNOB = ("len", "n_burst")
"""Fields of copies with a GM side whose maximum is that of the knob ``len_bits``."""
_HINTS = ("l2_cache_ctl", "l2_cache_ctrl", "sid")

Value = Any
"""An operand: an SSA value, or the text of an operand of a single op."""

KindOf = Callable[[Value], Kind]


class BuildError(ValueError):
    """An op that cannot be built; ``rule`` is the broken one, or empty."""

    def __init__(self, message: str, *, rule: str = "", legal: str = "") -> None:
        """Takes the sentence."""
        super().__init__(message)
        self.message, self.rule, self.legal = message, rule, legal


@dataclass(frozen=True, slots=True)
class Input:
    """One value that an op takes.

    Attributes:
        name: Operand, such as ``len_burst``.
        value: SSA value.
        rule: Rule that a negative one breaks, or empty.
        mask: Bits of its type where these are its value, 0 where a negative one is a mistake, as
            of an ``i64`` or ``index``: bit patterns, and integers without a sign in their type
            that are narrower than an operand.
        pointer: Whether it is an address.
    """

    name: str
    value: Value
    rule: str
    mask: int = 0
    pointer: bool = False

    def taken(self, value: int) -> int | None:
        """Returns a value as the op takes it, None for a negative one that is a mistake."""
        if self.mask:
            return value & self.mask
        return value if value >= 0 else None

    @property
    def text(self) -> str:
        """The operand as messages call it."""
        hint = self.value.name_hint
        return f"{self.name} (%{hint})" if hint else self.name


def _rules_of(name: str) -> str:
    """Returns the family of rules of an op; the forms that came before v0.6 have DMA rules."""
    if name in MADS:
        return ""
    name = TEXT_FORMS.get(name, name)
    return OPS[name].rules if name in OPS else "DMA"


def legal_numbers(name: str, operand: str) -> str:
    """Returns the legal values of an unsigned operand of an op as text."""
    spec = OPS.get((LEGACY_FORMS | TEXT_FORMS).get(name, name))
    for each in spec.operands if spec else ():
        if each.name == operand and each.maximum is not None:
            most = each.maximum
            if spec and "gm" in (spec.source, spec.destination) and each.field in _BY_KNOB:
                most = min(most, current().longest)
            return f"0..{most}"
    return "0 and above"


def negative(op: str, operand: Input, value: int) -> BuildError:
    """Returns the error of an operand below 0 of an op."""
    what = "addresses are" if operand.pointer else "counts, sizes and strides are"
    message = f"{operand.text} is {value}: {what} unsigned"
    return BuildError(message, rule=operand.rule, legal=legal_numbers(op, operand.name))


@dataclass(frozen=True, slots=True)
class At:
    """An operand that is a number: its index among the inputs."""

    index: int


@dataclass(frozen=True, slots=True)
class Made:
    """An op or a clause that is made of its parts: numbers, clauses, and what the text gives."""

    make: Callable[..., Any]
    parts: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)
    nested: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Finds the parts that are clauses."""
        nested = [name for name, one in self.named.items() if isinstance(one, Made | tuple)]
        object.__setattr__(self, "nested", nested)


def _filled(part: Any, numbers: Sequence[int]) -> Any:
    """Returns a part of an op with the numbers of its inputs."""
    kind = type(part)
    if kind is At:
        return numbers[part.index]
    if kind is Made:
        named = {
            name: numbers[one.index] if type(one) is At else one for name, one in part.named.items()
        }
        named |= {name: _filled(part.named[name], numbers) for name in part.nested}
        return part.make(*[_filled(one, numbers) for one in part.parts], **named)
    if kind is tuple:
        return tuple([_filled(one, numbers) for one in part])
    return part


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to build an op.

    Attributes:
        name: Name without ``pto.``.
        pipe: Its pipe.
        inputs: Values it takes.
        op: The op, with the places of its inputs.
        gm: Index in ``inputs`` of its address in GM, -1 where it has none.
        ctrl: Whether CTRL decides clauses that the op leaves out, or whether it is atomic.
    """

    name: str
    pipe: Pipe
    inputs: tuple[Input, ...]
    op: Made
    gm: int = -1
    ctrl: bool = False

    def make(self, numbers: Sequence[int]) -> Any:
        """Returns the op with the numbers of ``inputs``."""
        return _filled(self.op, numbers)


class Inputs:
    """Collects the inputs of one op, in the order in which their values are checked."""

    def __init__(self, written: Written, kind_of: KindOf) -> None:
        self.written, self.kind_of = written, kind_of
        self.family = _rules_of(written.name)
        self.listed: list[Input] = []
        self.types: dict[str, Ptr] = {}

    def given(self, name: str) -> bool:
        """Returns whether the text has an operand."""
        return name in self.written.operands

    def _add(self, one: Input) -> At:
        self.listed.append(one)
        return At(len(self.listed) - 1)

    def value(self, name: str, value: Value) -> At:
        """Adds an unsigned number or an address."""
        kind = self.kind_of(value)
        if kind.sort not in (NUMBER, POINTER):
            raise BuildError(f"{name} has type {kind.name}: an integer")
        rules = _WIDTH_RULES
        if kind.sort == POINTER:
            rules = _RANGE_RULES
        elif name in _HINTS and not self.written.name.startswith("copy_"):
            rules = _HINT_RULES
        rule = rules.get(self.family, "")
        narrow = kind.name.startswith("i") and kind.bits < INDEX_BITS
        bits = kind.mask if narrow else 0
        return self._add(Input(name, value, rule, bits, kind.sort == POINTER))

    def number(self, name: str) -> At:
        """Adds an operand that is an unsigned number."""
        return self.value(name, self.written.operands[name])

    def word(self, name: str) -> At:
        """Adds an operand that is a pattern of 64 bits: a negative number has bit 63 set."""
        return self._add(Input(name, self.written.operands[name], "", mask=(1 << CTRL_BITS) - 1))

    def bits(self, name: str, operand: str, rule: str) -> tuple[str, At]:
        """Adds an operand that is a typed bit pattern; returns its type, too."""
        value = self.written.operands[operand]
        kind = self.kind_of(value)
        if kind.sort not in (NUMBER, FLOAT) or kind.name == "index":
            raise BuildError(f"{name} has type {kind.name}: a typed constant", rule=rule)
        return kind.name, self._add(Input(name, value, "", mask=kind.mask))

    def payload(self, name: str, operand: str, rule: str) -> Made | None:
        """Adds an operand that is a typed number or a pointer into fb; None if it is left out."""
        value = self.written.operands.get(operand)
        if value is None:
            return None
        pointer = self.kind_of(value).pointer
        if pointer is None:
            return Made(Scalar, self.bits(name, operand, rule))
        if pointer.space != "fb":
            raise BuildError(f"{name} is a pointer into {pointer.space}: fb", rule=rule)
        return Made(FbPtr, (pointer.dtype, self.value(name, value)))

    def address(self, name: str, operand: str = "") -> At:
        """Adds an operand that is a pointer, and its type."""
        value = self.written.operands[operand or name]
        kind = self.kind_of(value)
        if kind.pointer is None:
            raise BuildError(f"{name} has type {kind.name}: a pointer")
        self.types[name] = kind.pointer
        return self.value(name, value)

    @property
    def gm(self) -> int:
        """Index of the address in GM, -1 where there is none."""
        spaces = [getattr(self.kind_of(one.value).pointer, "space", "") for one in self.listed]
        return spaces.index("gm") if "gm" in spaces else -1
