# SPDX-License-Identifier: Apache-2.0
"""The worked values of the specification that are sent to engines (``data/*.toml``).

One list drives the reference model and every simulator. Images are those of the specification, by
CRC-32; all forms of an example must give the same image.
"""

from __future__ import annotations

from sequences.examples.conversions import (
    Conversion,
    Format,
    conversion_examples,
    conversions,
    formats,
)
from sequences.examples.example import (
    BACKGROUNDS,
    Data,
    Example,
    Fill,
    Image,
    RuleExample,
    pattern,
)
from sequences.examples.images import image_examples, rule_examples

_IMAGES = image_examples()

EXAMPLES: tuple[Example, ...] = (
    *(one for one in _IMAGES if isinstance(one, Example)),
    *conversion_examples(),
)
"""Every example with an image."""

RULE_EXAMPLES: tuple[RuleExample, ...] = (
    *(one for one in _IMAGES if isinstance(one, RuleExample)),
    *rule_examples(),
)
"""Every op that is issued and refused; copies that are not issued are in ``UBUF_RULE_EXAMPLES``."""

CONVERSIONS: tuple[Conversion, ...] = conversions()
"""Values of single accumulators by mode; each is also an example."""

FORMATS: tuple[Format, ...] = formats()
"""Codes of values by format; those with an op are also examples."""

UBUF_RULE_EXAMPLES: tuple[RuleExample, ...] = tuple(rule_examples(issued=False))
"""Rows about ``copy_ubuf_to_ubuf``: judged once, and not issued (A-67)."""

__all__ = [
    "BACKGROUNDS",
    "CONVERSIONS",
    "EXAMPLES",
    "FORMATS",
    "RULE_EXAMPLES",
    "UBUF_RULE_EXAMPLES",
    "Conversion",
    "Data",
    "Example",
    "Fill",
    "Format",
    "Image",
    "RuleExample",
    "pattern",
]
