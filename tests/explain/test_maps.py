# SPDX-License-Identifier: Apache-2.0
"""The byte map against the reference model, on memories of known bytes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tb.explain.command import op_table
from tb.explain.layouts import formulas
from tb.explain.maps import parts_of
from tb.explain.parts import Part, read_in
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbUb
from tb.isa.descriptor import field_values
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.op import Loop, MteGmUb, MteL1Ub, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.footprint import Footprint, destination, destinations, source
from tb.isa.lower import V06Op, lower
from tb.isa.ops import OPS
from tb.isa.profile import parse_profile, using
from tb.isa.rules import first_d_violation, lowering_violation, s_violations, t_violations
from tb.isa.status import Status
from tests.explain.drawn import KINDS, SMALL, Drawn, links_of, memories, predicted, run
from tests.explain.test_command import text_of, told

PROFILES = ("seed", "a5", "tail = fill", "a5, tail = keep, pad_end = stride")


def legal(drawn: Drawn) -> bool:
    """Tells whether an op is legal, defined, and inside the small memories."""
    op = drawn.op
    if isinstance(op, CopyUbufToUbuf):
        if lowering_violation(op):
            return False
    elif hasattr(op, "spec") and s_violations(op):
        return False
    desc = drawn.descriptor
    if desc is None or first_d_violation(desc) or t_violations(desc):
        return False
    parts = parts_of(desc)
    return all(part.end <= SMALL[part.space] for part in parts) and all(
        part.read is None or part.source is None or part.read[1] <= SMALL[part.source]
        for part in parts
    )


def wrong(drawn: Drawn, seed: int, change: Callable[[Part], Part] = lambda part: part) -> str:
    """Runs an op; returns where the image differs from that of the map, or nothing."""
    desc = drawn.descriptor
    assert desc is not None
    parts = tuple(map(change, parts_of(desc)))
    before = memories(drawn.op, seed)
    actual = {space: image.copy() for space, image in before.items()}
    outcome = run(drawn, actual)
    assert outcome.status is Status.OK
    expected = predicted(parts, before, drawn, outcome)
    for space, image in expected.items():
        places = np.flatnonzero(image != actual[space])
        if places.size:
            return f"{drawn.op}: {space.name} {int(places[0]):#x}"
    return ""


@pytest.mark.share("tb/explain", "scoreboards/model")
@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_byte_is_that_of_the_model(kind: str, profile: str) -> None:
    rng = np.random.default_rng([len(kind), len(profile)])
    count, seen = 0, set()
    wanted, tries = (40, 300) if kind == "write-backs" else (150, 3000)
    with using(parse_profile(profile)):
        for seed in range(tries):
            drawn = KINDS[kind](rng)
            if count == wanted:
                break
            if not legal(drawn):
                continue
            assert not wrong(drawn, seed), drawn
            desc = drawn.descriptor
            assert desc is not None
            # The footprint, another reading, has the same bytes.
            mine = {(one.part.space, at) for one in links_of(parts_of(desc)) for at in span(one)}
            if desc.is_nop:
                assert not mine
                continue
            theirs = {
                (region.space, int(start) + byte)
                for region in destinations(desc)
                for start in region.row_starts()
                for byte in range(region.length)
            }
            assert mine == theirs, drawn
            seen |= {part.kind for part in parts_of(desc)}
            count += 1
    assert count == wanted
    if kind == "copies between gm and ub":
        assert {"data", "left pad", "pad"} <= seen
        assert ("tail" in seen) == (parse_profile(profile).tail == "fill")


def span(link: object) -> range:
    return range(link.dst, link.dst + link.size)  # type: ignore[attr-defined]


CHANGES: dict[str, Callable[[Part], Part]] = {
    "a destination one byte on": lambda part: replace(part, dst=part.dst + 1),
    "a source one byte on": lambda part: replace(part, src=part.src + 1),
    "a pad of other bytes": lambda part: replace(
        part, pattern=bytes(255 - byte for byte in part.pattern)
    ),
    "a row less": lambda part: replace(
        part, axes=tuple(replace(axis, count=max(1, axis.count - 1)) for axis in part.axes)
    ),
    "another stride at the source": lambda part: replace(
        part, axes=tuple(replace(axis, src=axis.src + 1) for axis in part.axes)
    ),
    "another stride at the destination": lambda part: replace(
        part, axes=tuple(replace(axis, dst=axis.dst + 1) for axis in part.axes)
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_map_is_found(kind: str, change: str) -> None:
    """A planted error is seen for most ops; a part of one row has no stride to be wrong."""
    rng = np.random.default_rng(3)
    found = tried = 0
    for seed in range(400):
        drawn = KINDS[kind](rng)
        if not legal(drawn):
            continue
        desc = drawn.descriptor
        assert desc is not None
        if desc.is_nop or tuple(map(CHANGES[change], parts_of(desc))) == parts_of(desc):
            continue
        tried += 1
        found += bool(wrong(drawn, seed, CHANGES[change]))
        if tried == 20:
            break
    assert found > tried // 3 or (not tried and "pad" in change), (found, tried)


@pytest.mark.parametrize("kind", KINDS)
def test_where_source_bytes_go_is_where_destination_bytes_come_from(kind: str) -> None:
    rng = np.random.default_rng(17)
    for _ in range(60):
        drawn = KINDS[kind](rng)
        if not legal(drawn):
            continue
        desc = drawn.descriptor
        assert desc is not None
        parts = parts_of(desc)
        for space in {part.source for part in parts} - {None}:
            assert space is not None
            forth = {
                (at, one.part.space, one.dst + (k if one.part.moved else byte))
                for one in links_of(parts)
                if one.part.source is space
                for start, size in one.sources
                for k, at in enumerate(range(start, start + size))
                for byte in ([0] if one.part.moved else range(one.size))
            }
            low, high = sorted(int(x) for x in rng.integers(0, 2000, 2))
            back = {
                (at, one.part.space, one.dst + (k if one.part.moved else byte))
                for one in read_in(parts, space, low, high + 1)
                for start, size in one.sources
                for k, at in enumerate(range(start, start + size))
                for byte in ([0] if one.part.moved else range(one.size))
                if low <= at <= high
            }
            assert back == {each for each in forth if low <= each[0] <= high}, drawn


# --- Atomic stores from UB, by hand from spec/order_and_atomics.md, sections 5 and 6

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
def test_an_atomic_store_names_its_type_and_operation(
    before: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store, size, words = UPDATES[before]
    found = told(f"{before}; {store}", capsys, bytes=("gm:0x1064..0x1067",))
    line = f"read-modify-write of GM, elements of {size} B: {words}"
    assert (found["status"], found["pipe"]) == ("legal", "PIPE_MTE3")
    assert line in found["layout"]
    assert f"  {line}\n" in text_of(f"{before}; {store}", capsys, show="bytes")
    (part,) = found["parts"]
    assert (part["size"], part["bytes"], part["moved"], part["how"]) == (size, 48, False, words)
    # Row 1 begins at 0x1000 + 100 and at 0x20 + 64; neighbours are one range.
    (one,) = found["answers"][0]["written"]
    assert (one["start"], one["size"], one["from"]) == (0x1064, 4, [[0x60, 4]])


def test_the_words_of_an_atomic_store_have_ctrl(capsys: pytest.CaptureFixture[str]) -> None:
    """Bit 48 nosat, 10:9 the operation, 8:6 the type; other bits are not those of the store."""
    found = told(f"set_ctrl 0x1000000000a80; {STORE}", capsys)
    words = {word["name"]: int(word["value"], 16) for word in found["words"]}
    assert words["CTRL"] == 1 << 48 | 1 << 9 | 2 << 6
    fields = {one["name"]: one["value"] for one in found["descriptor"]["fields"]}
    assert (fields["atomic_type"], fields["atomic_op"], fields["nosat"]) == (2, 1, 1)
    plain = told(f"set_ctrl 0x1000000000200; {STORE}", capsys)
    assert "CTRL" not in {word["name"] for word in plain["words"]}
    assert plain["parts"][0]["moved"]


@pytest.mark.parametrize(
    ("before", "rule"), [("set_ctrl 0x1c0", "DMA-L17"), ("set_ctrl 0x640", "DMA-L17")]
)
def test_a_type_or_operation_without_a_meaning_writes_nothing(
    before: str, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(f"{before}; {STORE}", capsys)
    assert (found["status"], found["verdict"].partition(":")[0]) == ("error", rule)
    assert found["parts"] == []


def test_rows_of_an_atomic_store_are_whole_elements(capsys: pytest.CaptureFixture[str]) -> None:
    store = STORE.replace(" 24 ", " 26 ")
    assert told(f"set_atomic_f16; {store}", capsys)["status"] == "legal"
    found = told(f"set_atomic_s32; {store}", capsys)
    assert (found["status"], found["verdict"].partition(":")[0]) == ("error", "DMA-L16")


# --- formulas of the op table ---------------------------------------------------------------------


LOOPS = (Loop(2, 4096, 8192), Loop(3, 512, 1024))
MOVES: tuple[V06Op, ...] = (
    MteGmUb(1000, 64, 20, 3, 50, 64, LOOPS),
    MteUbGm(64, 1000, 20, 3, 32, 70, LOOPS),
    MteL1Ub(64, 128, 2, 3, 1, 4, LOOPS),
    MteUbUb(64, 4096, 2, 3, 1, 4),
    MteL1Bt(64, 128, 3, 4, 1, 5, Ptr("f16", "l1"), Ptr("f32", "bt")),
    MteL1Fb(64, 128, 3, 4, 1, 5),
)


@pytest.mark.parametrize("op", MOVES, ids=lambda op: op.spec.name)
def test_formulas_of_moves_give_their_rows(op: V06Op) -> None:
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
