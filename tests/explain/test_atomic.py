# SPDX-License-Identifier: Apache-2.0
"""Atomic stores from UB, by hand from spec/order_and_atomics.md, sections 5 and 6."""

from __future__ import annotations

import pytest

from tests.explain.test_command import text_of, told

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
