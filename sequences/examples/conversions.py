# SPDX-License-Identifier: Apache-2.0
"""Worked values of single accumulators (``data/conversions.toml``) as ops of one row.

The values of a mode are side by side: with parameters per channel, and as a scalar too if all
channels have the same value (docs/spec/fixpipe.md, section 11; docs/spec/examples_v2.md, section
3).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from sequences.examples.encode import BITS, accumulators, f32_bits, pack, record, records
from sequences.examples.example import BACKGROUNDS, Data, Example, Knobs
from sequences.examples.images import WORD
from sequences.examples.worked import table
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import FbPtr, MteL0cGm, PreQuant, PreRelu, Scalar
from tb.isa.fix.table import QUANT_MODES
from tb.isa.spaces import Space
from tb.isa.text import AnyOp

SATS = ("sat", "preserve_nan", "nosat")
"""Saturation clauses in the order of the codes of a format."""


@dataclass(frozen=True, slots=True)
class Value:
    """A row of a conversion.

    Attributes:
        acc: Accumulator.
        scale: M1 before its low bits are cleared.
        offset: Offset of the record.
        result: Value or code of the result.
        signed: Sign bit of the record.
    """

    acc: float
    scale: float
    offset: int
    result: int
    signed: bool


@dataclass(frozen=True, slots=True)
class Conversion:
    """Values of one mode and destination type.

    Attributes:
        name: Its name.
        mode: Mode without ``_scalar`` and ``_vec``.
        to: Destination type.
        values: The values.
        relu: ReLU mode, or empty.
        alpha: Factor of scalar_relu.
        clip: Clip of the result, or None.
        sat: Saturation clause, or empty.
        knobs: Values of knobs that it holds for.
    """

    name: str
    mode: str
    to: str
    values: tuple[Value, ...]
    relu: str = ""
    alpha: float = 0.0
    clip: int | None = None
    sat: str = ""
    knobs: Knobs | None = None

    @property
    def acc(self) -> str:
        """Type of the accumulators."""
        return QUANT_MODES[f"{self.mode}_vec"].acc or "f32"

    @property
    def alike(self) -> bool:
        """Whether a scalar gives the same: one scale, no offset, the sign of the type."""
        scales = {value.scale for value in self.values}
        plain = (not v.offset and v.signed == (self.to != "ui8") for v in self.values)
        return len(scales) == 1 and all(plain)

    @property
    def pre_relu(self) -> PreRelu | None:
        """The clause with ReLU and clip."""
        if not self.relu and self.clip is None:
            return None
        clip = None if self.clip is None else Scalar("i16", self.clip)
        alpha = Scalar("f32", f32_bits(self.alpha)) if self.alpha else None
        return PreRelu(self.relu or "no_relu", alpha, clip)

    def op(self, count: int, vector: bool) -> MteL0cGm:
        """Returns the op of ``count`` values of the row, with records or with a scalar."""
        scalar = Scalar("f32", f32_bits(self.values[0].scale))
        vec = PreQuant(f"{self.mode}_vec", FbPtr("f32", 0))
        return MteL0cGm(
            0, 0, 1, count, 16, count, sat=self.sat, pre_relu=self.pre_relu,
            pre_quant=vec if vector else PreQuant(f"{self.mode}_scalar", scalar),
            src_type=Ptr(self.acc, "l0c"), dst_type=Ptr(self.to, "gm"),
        )  # fmt: skip

    def fills(self, values: tuple[Value, ...]) -> tuple[Data, ...]:
        """Returns accumulators and records of values."""
        words = (record(v.scale, v.offset, v.signed, self.to) for v in values)
        cells = accumulators([value.acc for value in values], self.acc)
        return Data(Space.L0C, cells), Data(Space.FB, records(words))


@dataclass(frozen=True, slots=True)
class Format:
    """Codes of values in one format.

    Attributes:
        name: Its name.
        mode: Mode with its suffix, or empty where the example names no op.
        to: Destination type.
        codes: Pairs of a value and its codes for each of ``SATS``.
        knobs: Values of knobs that the op holds for.
    """

    name: str
    mode: str
    to: str
    codes: tuple[tuple[float, tuple[int, int, int]], ...]
    knobs: Knobs


def _value(row: list[Any], to: str) -> Value:
    natural = "u" if to == "ui8" else "s"
    acc, scale, offset, result, sign = (*row, natural)[:5]
    return Value(acc, scale, offset, result, sign == "s")


@cache
def conversions() -> tuple[Conversion, ...]:
    """Returns the conversions in the order of the file."""
    found = table("conversions")["conversions"]
    return tuple(Conversion(name, **_parts(row)) for name, row in found.items())


def _parts(row: Mapping[str, Any]) -> dict[str, Any]:
    parts = {key: value for key, value in row.items() if key != "rows"}
    if "alpha" in row:
        parts["relu"] = "scalar_relu"
    return {**parts, "values": tuple(_value(each, row["to"]) for each in row["rows"])}


@cache
def formats() -> tuple[Format, ...]:
    """Returns the formats in the order of the file."""
    return tuple(
        Format(
            name,
            row.get("mode", ""),
            row["to"],
            tuple(map(_codes, row["rows"])),
            row.get("knobs", {}),
        )
        for name, row in table("conversions")["formats"].items()
    )


def _codes(row: list[Any]) -> tuple[float, tuple[int, int, int]]:
    value, *codes = row
    sat, preserve, nosat = codes * 3 if len(codes) == 1 else codes
    return value, (sat, preserve, nosat)


def _modes(mode: str) -> Knobs:
    """Returns the value of knob ``modes`` that an op of this mode needs."""
    return {} if QUANT_MODES[mode].a5 else {"modes": "all"}


def _image(
    name: str,
    forms: Mapping[str, tuple[AnyOp, ...]],
    fills: tuple[Data, ...],
    expected: bytes,
    knobs: Knobs,
) -> Example:
    crc = zlib.crc32(expected)
    return Example(name, forms, fills, Space.GM, len(expected), crc, knobs=knobs)


def _conversion_example(conversion: Conversion) -> Example:
    values = conversion.values
    if BITS.get(conversion.to) == 4 and len(values) % 2:
        values = (*values, values[-1])
    forms = {"vector": (conversion.op(len(values), True),)}
    if conversion.alike:
        forms["scalar"] = (conversion.op(len(values), False),)
    expected = pack([value.result for value in values], conversion.to)
    knobs = {**_modes(f"{conversion.mode}_vec"), **(conversion.knobs or {})}
    return _image(conversion.name, forms, conversion.fills(values), expected, knobs)


def _format_example(form: Format) -> Example:
    """Returns an example of three ops, one per saturation mode, 64 bytes apart."""
    count = len(form.codes)
    ops, expected = [], b""
    for row, sat in enumerate(SATS):
        ops.append(
            MteL0cGm(
                0, WORD * row, 1, count, 16, count, sat=sat, dst_type=Ptr(form.to, "gm"),
                pre_quant=PreQuant(form.mode, Scalar("f32", f32_bits(1.0))),
            )
        )  # fmt: skip
        codes = pack([each[row] for _, each in form.codes], form.to)
        expected += codes.ljust(WORD, bytes([BACKGROUNDS[Space.GM]]))
    fills = (Data(Space.L0C, accumulators([value for value, _ in form.codes], "f32")),)
    knobs = {**_modes(form.mode), **form.knobs}
    return _image(form.name, {"v06": tuple(ops)}, fills, expected, knobs)


def conversion_examples() -> Iterator[Example]:
    """Yields the examples of all conversions, then of the formats for which an op is named."""
    yield from map(_conversion_example, conversions())
    yield from (_format_example(form) for form in formats() if form.mode)
