# SPDX-License-Identifier: Apache-2.0
"""Catalogue of the worked values of the specification.

Names are those of the specification where it gives one. Rows of its tables that have none are
named by table and mode: ``FX-V`` and ``FX-T`` are the conversions of docs/spec/fixpipe.md section
11, ``rule check`` the rows of docs/spec/examples.md section 7 and docs/spec/examples_v2.md section
8. Names of examples in the stimulus (:mod:`sequences.examples.catalog`) are these names, or have
more words after them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sequences.examples.worked import items


@dataclass(frozen=True, slots=True)
class Value:
    """One worked value.

    Attributes:
        name: Its name.
        text: What it shows.
        where: File of the specification, and section.
        unit_tests: Tests of pytest that check it without naming it.
    """

    name: str
    text: str
    where: str
    unit_tests: tuple[str, ...] = ()


_NOT_SENT: tuple[Value, ...] = (
    Value(
        "check values of widening",
        "eleven f16: normals, subnormals, zero, infinity, NaN",
        "docs/spec/bias_fb.md, section 2",
        ("tests/model/test_widen.py::test_check_values_of_the_spec",),
    ),
    Value(
        "pad patterns",
        "bytes that pads of 1, 2 and 4 bytes write",
        "docs/spec/dma.md, section 3",
        ("tests/model/test_dma.py::test_pad_patterns_of_the_spec",),
    ),
    Value(
        "scales",
        "five f32 and what is left of them in 19 bits",
        "docs/spec/fixpipe.md, section 5",
        ("tests/model/test_fix_worked.py::test_scales_lose_their_low_13_bits",),
    ),
    Value(
        "records",
        "seven records of scale, offset and sign",
        "docs/spec/fixpipe.md, section 5",
        ("tests/model/test_fix_worked.py::test_records_of_the_spec",),
    ),
    Value(
        "codes of hif8",
        "ten codes and their values",
        "docs/spec/fixpipe.md, section 7",
        ("tests/model/test_fix_values.py::test_every_hif8_code_has_the_value_of_the_table",),
    ),
    Value(
        "atomic sums",
        "six of f16 and three of bf16: ties, overflow, zeros, infinities",
        "docs/spec/fixpipe.md, section 9",
        ("tests/model/test_fix_worked.py::test_atomic_examples",),
    ),
)
"""Values that are not op with an image."""


@cache
def values() -> tuple[Value, ...]:
    """Returns every worked value: those that are sent to engines, then the others."""
    sent = (Value(item.name, item.text, item.where) for item in items())
    return (*sent, *_NOT_SENT)
