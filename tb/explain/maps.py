# SPDX-License-Identifier: Apache-2.0
"""The byte map of an op: one row of a table for each family of descriptors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tb.explain.burst import burst_parts
from tb.explain.dma import dma_parts
from tb.explain.fill import fill_parts
from tb.explain.fix import fix_parts
from tb.explain.l0 import l0_parts
from tb.explain.nz import nz_parts
from tb.explain.parts import Part, existing
from tb.isa.lower import Descriptor

MAPS: dict[str, Callable[[Any], Iterator[Part]]] = {
    "dma": dma_parts,
    "burst": burst_parts,
    "nz": nz_parts,
    "fix": fix_parts,
    "l0": l0_parts,
    "fill": fill_parts,
}
"""Family of a descriptor to the function that yields what it writes."""


def parts_of(desc: Descriptor) -> tuple[Part, ...]:
    """Returns what a legal op writes under the profile of this process; nothing for a NOP."""
    if desc.is_nop:
        return ()
    return existing(MAPS[desc.spec.layout.family](desc))
