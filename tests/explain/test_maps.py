# SPDX-License-Identifier: Apache-2.0
"""The byte map against the reference model, on memories of known bytes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from sequences.constraints import OP_NAMES
from tb.explain.command import op_table
from tb.explain.layouts import formulas
from tb.explain.maps import parts_of
from tb.explain.parts import Link, Part, read_in
from tb.explain.steps import of_text
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbUb
from tb.isa.descriptor import field_values
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dma.op import Loop, MteGmUb, MteL1Ub, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.footprint import Footprint, destination, destinations, source
from tb.isa.lower import lower
from tb.isa.op import Op, replace
from tb.isa.ops import OPS
from tb.isa.profile import parse_profile, using
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.explain.drawn import Drawn, drawn, links_of, memories, predicted, run
from tests.explain.records import output, record

PROFILES = ("seed", "a5", "tail = fill", "a5, tail = keep, pad_end = stride")


def wrong(one: Drawn, seed: int, parts: tuple[Part, ...]) -> str:
    """Runs an op; returns where the image differs from that of its map, or nothing."""
    before = memories(one.op, seed)
    actual = {space: image.copy() for space, image in before.items()}
    outcome = run(one, actual)
    assert outcome.status is Status.OK
    for space, image in predicted(parts, before, one, outcome).items():
        places = np.flatnonzero(image != actual[space])
        if places.size:
            return f"{one.op}: {space.name} {int(places[0]):#x}"
    return ""


@pytest.mark.share("tb/explain", "scoreboards/model")
@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("form", OP_NAMES)
def test_every_byte_is_that_of_the_model(form: str, profile: str) -> None:
    seen = set()
    with using(parse_profile(profile)):
        for seed, one in enumerate(drawn(form, 60, 1)):
            desc, parts = one.descriptor, parts_of(one.descriptor)
            assert not wrong(one, seed, parts), one
            # The footprint, another reading, has the same bytes.
            mine = {(link.part.space, at) for link in links_of(parts) for at in span(link)}
            theirs = {
                (region.space, int(start) + byte)
                for region in (() if desc.is_nop else destinations(desc))
                for start in region.row_starts()
                for byte in range(region.length)
            }
            assert mine == theirs, one
            seen |= {part.kind for part in parts}
    assert "data" in seen
    if form == "mte_gm_ub":
        assert {"left pad", "pad"} <= seen
        assert ("tail" in seen) == (parse_profile(profile).tail == "fill")


WORDS = (
    "mte_l0c_gm 0, 8, 5, 20, 32, 24, 0, 0, nz2dn(2), loop3(2, 9, 600)",
    "mte_l0c_l1 64, 0, 8, 17, 16, 8, nz2dn(1)",
    "mte_l0c_ub 0, 32, 8, 33, 32, 16, 1, nz2dn(3)",
    "mte_l0c_gm 0, 4, 6, 35, 16, 40, 0, 0, nz2nd, loop3(3, 50, 300)",
)
"""Write-backs of accumulators as they are: few that are drawn."""


@pytest.mark.parametrize("text", WORDS)
def test_accumulators_that_are_moved_are_those_of_the_model(text: str) -> None:
    (chosen,) = of_text(text, {})
    one = Drawn(chosen.op, (), DmaRegisters(), 0)
    parts = parts_of(one.descriptor)
    assert all(part.moved for part in parts)
    assert not wrong(one, 1, parts)
    assert wrong(one, 1, tuple(map(CHANGES["another stride at the source"], parts)))


def span(link: Link) -> range:
    return range(link.dst, link.dst + link.size)


CHANGES: dict[str, Callable[[Part], Part]] = {
    "a destination one byte on": lambda part: replace(part, dst=part.dst + 1),
    "a source one byte on": lambda part: replace(part, src=part.src + bool(part.piece)),
    "a pad of other bytes": lambda part: replace(
        part, pattern=bytes(255 - byte for byte in part.pattern)
    ),
    "a row less": lambda part: replace(
        part, axes=tuple(replace(axis, count=max(1, axis.count - 1)) for axis in part.axes)
    ),
    "another stride at the source": lambda part: replace(
        part,
        axes=tuple(
            replace(axis, src=axis.src + (part.piece > 0 and axis.count > 1)) for axis in part.axes
        ),
    ),
    "another stride at the destination": lambda part: replace(
        part, axes=tuple(replace(axis, dst=axis.dst + (axis.count > 1)) for axis in part.axes)
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", OP_NAMES)
def test_a_wrong_map_is_found(form: str, change: str) -> None:
    """A planted error is seen for most ops; a part of one row has no stride to be wrong."""
    found = tried = 0
    for seed, one in enumerate(drawn(form, 15, 3)):
        parts = parts_of(one.descriptor)
        changed = tuple(map(CHANGES[change], parts))
        if changed != parts:
            tried += 1
            found += bool(wrong(one, seed, changed))
    made = form == "raw_fill_l1" and "source" in change
    assert found > tried // 3 or (not tried and ("pad" in change or made)), (found, tried)


@pytest.mark.parametrize("form", OP_NAMES)
def test_where_source_bytes_go_is_where_destination_bytes_come_from(form: str) -> None:
    rng = np.random.default_rng(17)
    for one in drawn(form, 30, 17):
        parts = parts_of(one.descriptor)
        for space in {part.source for part in parts if part.source is not None}:
            forth = pairs(link for link in links_of(parts) if link.part.source is space)
            low, high = sorted(int(x) for x in rng.integers(0, 2000, 2))
            back = pairs(read_in(parts, space, low, high + 1))
            wanted, found = (
                {each for each in both if low <= each[0] <= high} for both in (forth, back)
            )
            assert found == wanted, one


def pairs(links: Iterable[Link]) -> set[tuple[int, Space, int]]:
    """Returns bytes of the source and those made of them: of computed units each of each."""
    return {
        (at, link.part.space, link.dst + (k if link.part.moved else byte))
        for link in links
        for start, size in link.sources
        for k, at in enumerate(range(start, start + size))
        for byte in range(1 if link.part.moved else link.size)
    }


# --- Atomic stores from UB, by hand from docs/spec/order_and_atomics.md, sections 5 and 6

STORE = "mte_ub_gm 0x20, 0x1000, 24 nburst(2, 64, 100)"
LEGACY = "copy_ubuf_to_gm 0x20, 0x1000, 0, 2, 24, 0, 100, 64"

UPDATES: dict[str, tuple[str, int, str]] = {
    "set_atomic_f32": (STORE, 4, "atomic add as f32 to the old value"),
    "set_ctrl 0x240": (STORE, 4, "atomic max as f32 to the old value"),
    "set_atomic_s8; set_atomic_min": (LEGACY, 1, "atomic min as s8 to the old value"),
    "set_ctrl 0x80": (LEGACY, 2, "atomic add as f16 to the old value, saturated"),
    "set_ctrl 0x1000000000080": (STORE, 2, "atomic add as f16 to the old value, inf and NaN kept"),
}
"""Ops before a store to the store, the bytes of an element, and what is said of it."""


@pytest.mark.parametrize("before", UPDATES)
def test_an_atomic_store_names_its_type_and_operation(before: str) -> None:
    store, size, words = UPDATES[before]
    found = record(f"{before}; {store}", bytes=("gm:0x1064..0x1067",))
    line = f"read-modify-write of GM, elements of {size} B: {words}"
    assert (found["status"], found["pipe"]) == ("legal", "PIPE_MTE3")
    assert line in found["layout"]
    assert f"  {line}\n" in output(f"{before}; {store}", show="bytes")
    (part,) = found["parts"]
    assert (part["size"], part["bytes"], part["moved"], part["how"]) == (size, 48, False, words)
    # Row 1 begins at 0x1000 + 100 and at 0x20 + 64; neighbours are one range.
    (one,) = found["answers"][0]["written"]
    assert (one["start"], one["size"], one["from"]) == (0x1064, 4, [[0x60, 4]])


def test_ctrl_without_a_type_is_a_plain_store() -> None:
    plain = record(f"set_ctrl 0x1000000000200; {STORE}")
    assert "CTRL" not in {word["name"] for word in plain["words"]}
    assert plain["parts"][0]["moved"]


ODD = STORE.replace(" 24 ", " 26 ")
ILLEGAL = {
    f"set_ctrl 0x1c0; {STORE}": "DMA-L17",
    f"set_ctrl 0x640; {STORE}": "DMA-L17",
    f"set_atomic_s32; {ODD}": "DMA-L16",
}
"""Types and operations without a meaning, and rows that are not whole elements."""


@pytest.mark.parametrize("text", ILLEGAL)
def test_an_illegal_atomic_store_writes_nothing(text: str) -> None:
    found = record(text)
    assert (found["status"], found["verdict"].partition(":")[0]) == ("error", ILLEGAL[text])
    assert found["parts"] == []
    assert record(f"set_atomic_f16; {ODD}")["status"] == "legal"


# --- formulas of the op table ---------------------------------------------------------------------


LOOPS = (Loop(2, 4096, 8192), Loop(3, 512, 1024))
MOVES: tuple[Op, ...] = (
    MteGmUb(1000, 64, 20, 3, 50, 64, LOOPS),
    MteUbGm(64, 1000, 20, 3, 32, 70, LOOPS),
    MteL1Ub(64, 128, 2, 3, 1, 4, LOOPS),
    MteUbUb(64, 4096, 2, 3, 1, 4),
    MteL1Bt(64, 128, 3, 4, 1, 5, Ptr("f16", "l1"), Ptr("f32", "bt")),
    MteL1Fb(64, 128, 3, 4, 1, 5),
)


@pytest.mark.parametrize("op", MOVES, ids=lambda op: op.spec.name)
def test_formulas_of_moves_give_their_rows(op: Op) -> None:
    desc = lower(op)
    values = {**field_values(desc), "size": 2}
    read, written = formulas(op.spec)
    length, start = re.search(r"(\S+) B from (.*)", read).groups()  # type: ignore[union-attr]
    to = written.removeprefix("to ").partition(", ")[0]
    counts = [range(max(1, values.get(f"loop{k}_count", 1))) for k in range(3)]
    steps = itertools.product(range(values["n_burst"]), *counts)
    rows = [dict(zip(("j", "i0", "i1", "i2"), step, strict=True)) for step in steps]

    def starts(formula: str) -> list[int]:
        return sorted(eval(formula, {**values, **row}) for row in rows)

    def of(region: Footprint) -> list[int]:
        return sorted(region.row_starts().tolist())

    assert starts(start) == of(source(desc))
    assert starts(to) == of(destination(desc))
    assert eval(length, dict(values)) == source(desc).length


def test_the_op_table_has_the_formulas_of_each_op() -> None:
    parts = op_table().split("\n## `")
    for spec in OPS.values():
        (part,) = (part for part in parts if part.startswith(f"{spec.name}`"))
        assert formulas(spec)
        assert all(f"\n    {line}\n" in part for line in formulas(spec))
