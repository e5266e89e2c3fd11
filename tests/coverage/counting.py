# SPDX-License-Identifier: Apache-2.0
"""What the coverage tests share: collecting blocks and reading counts back by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sequences.constraints import DmaConstraints
from sequences.traffic import TrafficGenerator
from tb.coverage.dma import DmaCoverage
from tb.coverage.model import GroupCounts
from tb.coverage.view import FORM_SPECS, FORMS
from tb.isa.block import OpBlock, from_ops
from tb.isa.descriptor import unpack
from tb.isa.lower import Descriptor, V06Op
from tb.isa.ops import LEGACY_FORMS, OPS_BY_CODE

GM_UB = ("mte_gm_ub", "mte_ub_gm", "copy_gm_to_ubuf", "copy_ubuf_to_gm")
"""Forms between GM and UB."""

Classify = Callable[[Descriptor], dict[str, str]]
SlowCounts = dict[str, Counter[tuple[str, str]]]
"""Form to how often each (point, bin) is hit."""


def collect(
    blocks: Iterable[OpBlock],
    bus: int = 32,
    forms: Sequence[str] = FORMS,
    *,
    illegal: bool = False,
    seed: int = 0,
) -> DmaCoverage:
    """Returns the coverage of ``blocks``, each op with random events of its data."""
    rng = np.random.default_rng(seed)
    coverage = DmaCoverage(bus, forms, illegal=illegal)
    for block in blocks:
        coverage.sample(block, None, rng.integers(0, 256, len(block)))
    coverage.flush()
    return coverage


def traffic(seed: int, count: int, forms: Sequence[str] = FORMS, bus: int = 32) -> list[OpBlock]:
    """Returns random legal blocks of ``forms``."""
    limits = DmaConstraints(bus_bytes=bus)
    return list(TrafficGenerator(seed, forms, limits).blocks(count))


def hits(counts: GroupCounts, name: str) -> dict[str, int]:
    """Returns bin name to count, bins of no hits left out."""
    labels = [counts.group.label(name, k) for k in range(len(counts.hits[name]))]
    return {x: n for x, n in zip(labels, counts.hits[name].tolist(), strict=True) if n}


def one(op: V06Op) -> dict[str, str]:
    """Returns coverpoint to the bin that one op falls into."""
    coverage = DmaCoverage()
    coverage.sample(from_ops([op]))
    coverage.flush()
    counts = coverage.groups[op.spec.name]
    found = {item.name: hits(counts, item.name) for item in counts.group.points}
    assert all(sum(bins.values()) <= 1 for bins in found.values())
    return {name: next(iter(bins)) for name, bins in found.items() if bins}


def form_of(block: OpBlock, number: int) -> str:
    """Returns the form that an op of a block is written in."""
    name = OPS_BY_CODE[int(block.opcode[number])].name
    if number in block.legacy:
        return next(form for form, op in LEGACY_FORMS.items() if op == name)
    return name


def slow_counts(blocks: Iterable[OpBlock], classify: Classify) -> SlowCounts:
    """Returns per form how often each bin is hit by what ``classify`` says of one descriptor."""
    found: SlowCounts = {form: Counter() for form in FORM_SPECS}
    for block in blocks:
        for number, words in enumerate(block.pack()):
            found[form_of(block, number)].update(classify(unpack(words)).items())
    return found


def compare(coverage: DmaCoverage, slow: SlowCounts, form: str) -> None:
    """Checks the points that ``slow`` knows of ``form``, bin by bin."""
    names = {name for name, _ in slow[form]}
    assert len(names) >= 7, form
    for name in names:
        want = {label: n for (key, label), n in slow[form].items() if key == name}
        assert hits(coverage.groups[form], name) == want, (form, name)


def range_label(value: int, labels: Iterable[str]) -> str:
    """Returns the label ``a``, ``a..b`` or ``a..`` that holds ``value``."""
    for label in labels:
        low, dots, high = label.partition("..")
        if value == int(low) or (dots and value > int(low) and (not high or value <= int(high))):
            return label
    raise AssertionError(f"{value} is in none of {list(labels)}")
