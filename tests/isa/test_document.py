# SPDX-License-Identifier: Apache-2.0
"""`pto-dv explain --table` prints every op with its operands, descriptor bits and rules."""

from __future__ import annotations

from typer.testing import CliRunner

from tb.cli.main import app
from tb.isa.ops import LAYOUTS, OPS
from tb.isa.rules import RULES


def test_the_table_has_every_op_field_and_rule() -> None:
    done = CliRunner().invoke(app, ["explain", "--table"])
    assert done.exit_code == 0
    _, *sections = done.stdout.split("\n## ")
    *ops, descriptors, rules = sections
    assert [text.splitlines()[0] for text in ops] == [f"`{name}`" for name in OPS]
    for text, spec in zip(ops, OPS.values(), strict=True):
        assert f"Opcode {spec.opcode}, slot {spec.slot}, " in text
        shown = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
        assert shown == [operand.name for operand in spec.operands]
        assert all(name in text for name in spec.rule_names)
    families = descriptors.split("\n### ")[1:]
    for text, layout in zip(families, LAYOUTS.values(), strict=True):
        for name, placed in layout.items():
            assert f"\n| {placed.msb}:{placed.lsb} | {name} | " in text
    shown = [line.split(" ")[1] for line in rules.splitlines() if line.startswith("| ")]
    assert shown == ["rule", *(rule.name for rule in RULES.values())]
