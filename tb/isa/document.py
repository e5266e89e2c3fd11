# SPDX-License-Identifier: Apache-2.0
"""The op table as Markdown, from the tables: ``pto-dv explain --table`` prints it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tb.isa.fields import DESC_BITS, OPCODE_BITS, Layout, OpSpec
from tb.isa.fix.table import QUANT_MODES, QuantMode
from tb.isa.ops import LAYOUTS, LEGACY_FORMS, OPS
from tb.isa.rules import RULES

_KINDS = {"S": "front end", "D": "engine", "T": "stimulus: undefined when broken"}

_FAMILIES = {
    "dma": "Rows and up to three loops. `ext` is the GM side and `loc` the on-chip side, "
    "in either direction; for `mte_l1_ub` `ext` is L1.",
    "burst": "Bursts of `len` units with gaps between them, from on-chip memory to on-chip memory.",
    "nz": "Matrices repacked to NZ fractals.",
    "l0": "Loads from L1 to L0A, L0B and their scales; docs/spec/l0_loads.md, sections 2 and 4.",
    "fill": "Runs of L1 blocks filled with a pattern; docs/spec/dma.md, section 9.",
    "fix": "FIXPIPE write-back. Codes of `quant` and `relu`: docs/spec/fixpipe.md, sections 4 and "
    "6; a mode ignores the other fields.",
}


def _operand_rows(spec: OpSpec) -> list[str]:
    rows = ["| operand | bits | unit | legal | descriptor field | |", "|---|---|---|---|---|---|"]
    for operand in spec.operands:
        bits = "-" if operand.bits is None else str(operand.bits)
        legal = "inside its memory" if operand.maximum is None else f"0..{operand.maximum}"
        field = operand.field.replace("{k}", "*k*")
        rows.append(
            f"| `{operand.name}` | {bits} | {operand.unit} | {legal} | {field} | {operand.doc} |"
        )
    return rows


def _layout_rows(layout: Layout) -> list[str]:
    rows = ["| bits | field | |", "|---|---|---|"]
    rows.append(f"| {OPCODE_BITS - 1}:0 | opcode | opcode of every family |")
    for name, placed in layout.items():
        rows.append(f"| {placed.msb}:{placed.lsb} | {name} | {placed.field.doc} |")
    if layout.used_bits < DESC_BITS:
        rows.append(f"| {DESC_BITS - 1}:{layout.used_bits} | - | 0 |")
    return rows


def _mode_row(mode: QuantMode) -> str:
    types = " ".join(mode.dst) or "that of the accumulators"
    scale = ("per channel" if mode.vector else "scalar") if mode.scale else "-"
    return (
        f"| `{mode.name}` | {mode.code} | {mode.acc or 'f32 i32'} | {types} | {scale} | "
        f"{'yes' if mode.a5 else 'no'} |"
    )


def page_text(formulas: Callable[[OpSpec], Sequence[str]] | None = None) -> str:
    """Returns the page: operands of each op, descriptor layout, rules.

    Args:
        formulas: What an op does, as lines; they name descriptor fields.
    """
    lines = [
        "# Op table",
        "",
        "Operands, descriptor bits and rules of every op, from the tables in `tb/isa`.",
    ]
    for spec in OPS.values():
        forms = [f"`{form}`" for form, name in LEGACY_FORMS.items() if name == spec.name]
        way = f"{spec.source} to {spec.destination}".removeprefix(" ")
        legacy = f" Legacy form: {', '.join(forms)}." if forms else ""
        lines += [
            "",
            f"## `{spec.name}`",
            "",
            f"Opcode {spec.opcode}, slot {spec.slot}, {way}: {spec.doc}.{legacy} "
            f"D rules: {', '.join(spec.rule_names)}.",
            "",
            *([*(f"    {line}" for line in formulas(spec)), ""] if formulas else ()),
            *_operand_rows(spec),
        ]
    lines += [
        "",
        "## Descriptors",
        "",
        "A field is wider than every legal value. A value too large for the field is packed as all",
        "ones, so that it still breaks the width rule. Address fields then keep their low 5 to 7",
        "bits, and so their alignment.",
    ]
    for layout in LAYOUTS.values():
        names = ", ".join(f"`{spec.name}`" for spec in OPS.values() if spec.layout is layout)
        lines += [
            "",
            f"### Family {layout.family}",
            "",
            f"{_FAMILIES[layout.family]} Ops: {names}.",
            "",
            *_layout_rows(layout),
        ]
    lines += [
        "",
        "## Modes of `pre_quant`",
        "",
        "Code is that of the descriptor. Parameters per channel are records in fb, a scalar is an",
        "operand. Profile a5 refuses the modes that its list lacks (knob `modes`).",
        "",
        "| mode | code | accumulators | destination | scale | in a5 |",
        "|---|---|---|---|---|---|",
        *(_mode_row(mode) for mode in QUANT_MODES.values()),
        "",
        "## Rules",
        "",
        "| rule | decided by | |",
        "|---|---|---|",
    ]
    for rule in RULES.values():
        lines.append(f"| {rule.name} | {_KINDS[rule.kind]} | {rule.title} |")
    return "\n".join([*lines, ""])
