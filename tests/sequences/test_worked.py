# SPDX-License-Identifier: Apache-2.0
"""The files of worked values: every key is one that is read, and rows agree with their ops."""

from __future__ import annotations

import pytest

from sequences.blocks import lower_program
from sequences.examples.blocks import example_blocks
from sequences.examples.catalog import CONVERSIONS, FORMATS, RULE_EXAMPLES
from sequences.examples.images import FORMS
from sequences.examples.long_rows import LONG_ROWS
from sequences.examples.worked import EXAMPLES, items, rows, table
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.fields import rule_name
from tb.isa.nest import NESTS
from tb.isa.ops import OPS
from tb.isa.profile import parse_profile, using

GROUP = {"where", "fills", "to", "backgrounds"}
ROW = {"text", "types", *FORMS, "fills", "to", "size", "crc", "images", "want", "knobs", "acc"}
OUTCOMES = {"seed", "a5"}
FILL = {"in", "start", "pattern", "size", "hex", "dtype", "values", "first", "count"}
CONVERSION = {"mode", "to", "rows", "relu", "alpha", "clip", "sat", "knobs"}


@pytest.mark.parametrize("file", EXAMPLES)
def test_keys_of_images(file: str) -> None:
    for group in table(file)["group"]:
        assert set(group) - {"values"} <= GROUP | {"size", "crc"}
        for name, row in group["values"].items():
            assert set(row) <= ROW | OUTCOMES | {"records"}, name
    for name, row in rows(file):
        assert any(form in row for form in FORMS), name
        assert all(set(fill) <= FILL for fill in row.get("fills", ())), name
        assert set(row.get("records", ())) <= {"scale", "offsets", "signs"}, name
        one_of = [key for key in ("crc", "images", "want", "seed") if key in row]
        assert len(one_of) == 1, name
        assert ("seed" in row) == ("a5" in row), name


def test_keys_of_the_other_files() -> None:
    for name, row in rows("rules"):
        assert set(row) <= {"where", "text", "types", "op", "rule", "knobs", "issued"}, name
        assert row.get("text") or not row.get("issued", True), name
    for row in (
        *table("conversions")["conversions"].values(),
        *table("conversions")["formats"].values(),
    ):
        assert set(row) <= CONVERSION
    assert set(table("conversions")) == {"text", "conversions", "formats"}
    assert set(table("functions")) == {"scales", "records", "i32_to_f32", "half_stage", "atomics"}


def test_names_are_unique() -> None:
    names = [name for file in EXAMPLES for name, _ in rows(file)]
    names += [each.name for each in CONVERSIONS] + [each.name for each in FORMATS]
    assert len(set(names)) == len(names)
    assert len({item.name for item in items()}) == len(items()) > 220


def test_rules_are_of_the_family_of_the_op() -> None:
    written = {name: {row["rule"]} for name, row in rows("rules")}
    written |= {
        name: {row["seed"], row["a5"]}
        for file in EXAMPLES
        for name, row in rows(file)
        if str in (type(row.get("seed")), type(row.get("a5")))
    }
    for example in RULE_EXAMPLES:
        knobs = ", ".join(["seed", *(f"{key} = {value}" for key, value in example.knobs.items())])
        with using(parse_profile(knobs)):
            lowered, _ = lower_program(example.program, DmaRegisters(), example.rule)
        family = lowered.descriptor.spec.rules
        assert rule_name(family, example.rule) in written[example.name], example.name


def test_long_rows_end_inside_of_a_word_of_any_width() -> None:
    found = set()
    for example in LONG_ROWS:
        (block,) = example_blocks(example)["v06"]
        op = block.issued(0)
        nest = NESTS[op.spec.layout.family]
        longest = max(
            nest.read(op), nest.written(op), key=lambda side: (side.length, side.end % 64)
        )
        assert longest.length > 4095, op
        assert longest.end % 64, op
        found.add(op.spec.name)
    copies = {spec.name for spec in OPS.values() if spec.destination in ("gm", "ub", "l1")}
    assert found == copies - {"raw_fill_l1"}
