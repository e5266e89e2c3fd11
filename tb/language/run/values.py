# SPDX-License-Identifier: Apache-2.0
"""Values of a program during execution.

A value is an ``int``: a signless integer and an ``index`` by its two's complement, an ``i1`` and
an unsigned integer as they are, a float by its bits, a pointer by its byte address. What is not
known, and a pointer that belongs to an argument, are subclasses of
:class:`tb.language.unknown.Unknown`: arithmetic on them raises and is then done the slow way, so
that known values cost nothing more.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass, replace
from fractions import Fraction

from tb.isa.dtypes import Ptr
from tb.language.unknown import Unknown

INDEX_BITS = 64
"""Width of ``index``."""

ADDRESS_BITS = 64
"""Width of an address."""

NUMBER = "number"
FLOAT = "float"
POINTER = "pointer"
OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Kind:
    """How values of a type are held.

    Attributes:
        sort: ``NUMBER``, ``FLOAT``, ``POINTER`` or ``OPAQUE``: of types without arithmetic.
        name: The type as text; the element type's name where it is one.
        bits: Width, 0 for opaque values.
        low, high: Least and greatest value.
        pointer: Of a pointer.
    """

    sort: str
    name: str
    bits: int = 0
    low: int = 0
    high: int = 0
    pointer: Ptr | None = None

    @property
    def mask(self) -> int:
        """All bits of the width."""
        return (1 << self.bits) - 1

    def wrap(self, value: int) -> int:
        """Returns ``value`` modulo the width, as values of this type are held."""
        value &= self.mask
        return value if value <= self.high else value - (1 << self.bits)

    def signed(self, value: int) -> int:
        """Returns a held value as two's complement; that of an ``i1`` is 0 or -1."""
        return value - (1 << self.bits) if value > self.mask >> 1 else value


def number_kind(name: str, bits: int, *, signed: bool) -> Kind:
    """Returns the kind of an integer type."""
    if signed and bits > 1:
        return Kind(NUMBER, name, bits, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return Kind(NUMBER, name, bits, 0, (1 << bits) - 1)


class Missing(Unknown):
    """A value that is not known, and why.

    Attributes:
        why: Where it comes from, such as ``argument 2 (%n) is not given``.
        remedy: Remedy for the user, or empty.
    """

    why: str
    remedy: str

    def __new__(cls, why: str, remedy: str = "") -> Missing:
        """Takes the reason."""
        self = super().__new__(cls)
        self.why, self.remedy = why, remedy
        return self


UNDEFINED = Missing("it is used before it is defined")


class Frame(dict[int, int]):
    """Values of a run of a function, by the ``id`` of their SSA value.

    An SSA value as the key takes longer: its hash is computed by Python code.
    """

    def __missing__(self, key: int) -> int:
        return UNDEFINED


class Located(Unknown):
    """An address relative to the buffer of an argument.

    Attributes:
        argument: Number of the argument.
        offset: Bytes from the begin of its buffer.
        base: Address of the buffer, None where it is not known.
        missing: Substitute for the address then.
    """

    argument: int
    offset: int
    base: int | None
    missing: Missing

    def __new__(cls, argument: int, offset: int, base: int | None, missing: Missing) -> Located:
        """Takes the argument and the distance."""
        self = super().__new__(cls)
        self.argument, self.offset, self.base, self.missing = argument, offset, base, missing
        return self

    def moved(self, distance: int) -> Located:
        """Returns the address ``distance`` bytes further on."""
        return Located(self.argument, self.offset + distance, self.base, self.missing)

    @property
    def address(self) -> int:
        """The address, or the substitute for one that is not known."""
        return self.missing if self.base is None else self.base + self.offset


def plain(value: int) -> int:
    """Returns ``value`` without the argument it belongs to."""
    return value.address if isinstance(value, Located) else value


def unknown_of(*values: int) -> Missing | None:
    """Returns the first of ``values`` that is not known, or None."""
    for value in values:
        known = plain(value)
        if isinstance(known, Missing):
            return known
    return None


def _bf16_bits(value: float) -> int:
    """Returns ``value`` rounded once, to nearest and ties to even."""
    if not math.isfinite(value) or value == 0:
        return rounded(value, "<f") >> 16
    sign = 0x8000 if value < 0 else 0
    size = Fraction(abs(value))
    exponent = max(math.frexp(abs(value))[1] - 1, -126)
    steps = round(size / Fraction(2) ** (exponent - 7))
    bits = ((exponent + 126) << 7) + steps
    return sign | min(bits, 0x7F80)


def rounded_bits(value: float, name: str) -> int | None:
    """Returns the bits of the nearest float of a type, ties to even; None for one without bits."""
    if name == "bf16":
        return _bf16_bits(value)
    if name == "f64":
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    if name in _FORMATS:
        return rounded(value, _FORMATS[name])
    return None


_FORMATS = {"f16": "<e", "f32": "<f"}
_UNSIGNED = {"<e": "<H", "<f": "<I"}


def rounded(value: float, form: str) -> int:
    """Returns the bits of the nearest float of a ``struct`` format; too large is infinite."""
    if form == "<e" and math.isnan(value):  # struct loses the payload of this one.
        bits = int(struct.unpack("<Q", struct.pack("<d", value))[0])
        return (bits >> 48 & 0x8000) | 0x7C00 | (bits >> 42 & 0x3FF or 1)
    try:
        data = struct.pack(form, value)
    except OverflowError:
        data = struct.pack(form, math.copysign(math.inf, value))
    return int(struct.unpack(_UNSIGNED[form], data)[0])


_SCALAR = re.compile(r"(?:(?P<sign>[su]?)i|(?P<float>b?f|tf))(?P<bits>\d+)(?:E\w+)?")


def kind_of(name: str, pointer: Ptr | None = None) -> Kind:
    """Returns the kind of a type by its text; ``pointer`` is what it points to, if it does."""
    if pointer is not None:
        return replace(number_kind("", ADDRESS_BITS, signed=True), sort=POINTER, name=name,
                       pointer=pointer)  # fmt: skip
    found = _SCALAR.fullmatch(name)
    if name == "index" or (found and not found["float"]):
        bits = int(found["bits"]) if found else INDEX_BITS
        return number_kind(name, bits, signed=found is None or found["sign"] != "u")
    if found:
        bits = int(found["bits"])
        return Kind(FLOAT, name, bits, 0, (1 << bits) - 1)
    return Kind(OPAQUE, name)
