# SPDX-License-Identifier: Apache-2.0
"""Declarative operand and descriptor tables: the only source of widths of the ISA.

An op's operands are listed once, as :class:`Operand` rows; the fields of a descriptor family
once, as :class:`Field` rows. Python packing, the generated Verilog header, the port
documentation, the width rule and the stimulus all read these rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

DESC_BITS = 512
"""Width of a descriptor on a slot's descriptor port."""

DESC_WORDS = DESC_BITS // 32
"""32-bit words in a packed descriptor, least significant first."""

OPCODE_BITS = 8
"""Bits 7:0 of every descriptor hold the opcode, whatever the family."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of an op.

    Attributes:
        name: Name in the PTO text and in the Python op class.
        bits: Legal width in bits; None where the spec gives no width rule (base addresses).
        unit: Unit of a count: ``"B"``, ``"elements"``, ``"rows"`` ...
        field: Descriptor field that carries it, ``""`` when no descriptor holds it.
        doc: Description.
    """

    name: str
    bits: int | None
    unit: str
    field: str
    doc: str

    @property
    def maximum(self) -> int | None:
        """Largest legal value, or None without a width rule."""
        return None if self.bits is None else (1 << self.bits) - 1


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a descriptor family.

    The container is wider than any legal value, so that a value which breaks the width rule
    (DMA-L05) reaches the engine as one that breaks it: larger values are packed as all ones.
    An address field keeps the low ``keep_low`` bits when it saturates, so that its alignment is
    kept and only its extent leaves the memory (DMA-L06 before DMA-L12).
    """

    name: str
    container: int
    doc: str
    keep_low: int = 0

    @property
    def limit(self) -> int:
        """Largest value the container holds."""
        return (1 << self.container) - 1

    def saturate(self, value: int) -> int:
        """Returns ``value``, or for one that does not fit the saturated value.

        Raises:
            ValueError: ``value`` is negative; operands of the ISA are unsigned.
        """
        if value < 0:
            raise ValueError(f"{self.name} is {value}: operands are unsigned, 0..{self.limit}")
        if value <= self.limit:
            return value
        low = (1 << self.keep_low) - 1
        return (self.limit & ~low) | (value & low)


@dataclass(frozen=True, slots=True)
class PlacedField:
    """A field with its position in the descriptor: bits ``lsb + container - 1 : lsb``."""

    field: Field
    lsb: int

    @property
    def msb(self) -> int:
        """Highest bit position of the field."""
        return self.lsb + self.field.container - 1


class Layout(Mapping[str, PlacedField]):
    """Fields of one descriptor family in ascending bit order, after the opcode."""

    def __init__(self, family: str, fields: tuple[Field, ...]) -> None:
        """Places ``fields`` one after the other from bit 8 on.

        Raises:
            ValueError: two fields share a name, or they need more than ``DESC_BITS`` bits.
        """
        self.family = family
        self._placed: dict[str, PlacedField] = {}
        lsb = OPCODE_BITS
        for field in fields:
            if field.name in self._placed:
                raise ValueError(f"{family}: field {field.name} is listed twice")
            self._placed[field.name] = PlacedField(field, lsb)
            lsb += field.container
        if lsb > DESC_BITS:
            raise ValueError(f"{family}: fields need {lsb} bits, a descriptor has {DESC_BITS}")
        self.used_bits = lsb
        self.places = tuple(
            (name, placed.lsb, placed.field.limit, placed.field)
            for name, placed in self._placed.items()
        )
        """Name, lowest bit, largest value and row of each field, for packing."""

    def __getitem__(self, name: str) -> PlacedField:
        return self._placed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._placed)

    def __len__(self) -> int:
        return len(self._placed)


def rule_name(family: str, number: int) -> str:
    """Returns the identifier of a rule as in the spec: family ``DMA``, number 5: ``DMA-L05``."""
    return f"{family}-L{number:02d}"


@dataclass(frozen=True, slots=True)
class OpSpec:
    """Table row of one op.

    Attributes:
        name: PTO mnemonic without the ``pto.`` prefix.
        opcode: Code in bits 7:0 of its descriptor.
        slot: Slot (pipe) that executes it.
        source, destination: Keywords of its address spaces.
        operands: Operands in the order of the PTO text; loops and pad as their clauses.
        layout: Descriptor family.
        rules: Family of its rules: ``"DMA"``, ``"ND"``, ``"BT"``, ``"FB"`` or ``"FIX"``.
        d_rules: Numbers in that family of the D rules an engine checks for it.
        doc: One line.
        pipe: Pipe that orders it in a program where that is not the one of its slot, or empty.
        unit: Bytes of a unit of its lengths and gaps; of an op that widens, at the destination.
        updates: CTRL at the issue may combine its elements with those of the destination.
    """

    name: str
    opcode: int
    slot: str
    source: str
    destination: str
    operands: tuple[Operand, ...]
    layout: Layout
    rules: str
    d_rules: tuple[int, ...]
    doc: str
    pipe: str = ""
    unit: int = 1
    updates: bool = False

    @property
    def family(self) -> str:
        """Descriptor family."""
        return self.layout.family

    @property
    def within(self) -> bool:
        """Source and destination lie in the same memory."""
        return self.source == self.destination

    @property
    def gaps(self) -> bool:
        """Rows are bursts of units: a gap counts from the end of one to the start of the next."""
        return self.unit > 1

    def has(self, name: str) -> bool:
        """Returns whether the op has an operand of that name."""
        return any(operand.name == name for operand in self.operands)

    @property
    def rule_names(self) -> tuple[str, ...]:
        """Names of the D rules an engine checks for it, ``"DMA-L05"`` ..."""
        return tuple(rule_name(self.rules, number) for number in self.d_rules)

    def operand(self, name: str) -> Operand:
        """Returns the operand called ``name``.

        Raises:
            KeyError: the op has none of that name.
        """
        for operand in self.operands:
            if operand.name == name:
                return operand
        raise KeyError(f"{self.name} has no operand {name}")
