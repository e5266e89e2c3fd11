# SPDX-License-Identifier: Apache-2.0
"""Writes the pretty form of the movement ops, as :mod:`tb.language.dialect.moves` reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import SSAValue
from xdsl.printer import Printer

from tb.isa.fix_table import FLAG_NAMES
from tb.language.dialect.ops import SEGMENTS, MoveOp, Written, written
from tb.language.dialect.types import type_name

_Clause = tuple[str, list["SSAValue | str"]]
"""Text before the parenthesis, and what stands in it; an empty list is a word alone."""

_NZ: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("shape", ("n_value", "d_value")),
    ("src_layout", ("src_inner_stride", "src_outer_stride")),
    ("dst_group", ("group_count", "dst_loop2_stride", "dst_loop3_stride", "dst_loop4_stride")),
    ("ctrl", ("l2_cache_ctrl", "smallc0_en")),
)


def _fix(said: Written) -> Iterator[_Clause]:
    if said.unit_flag:
        yield "unit_flag", [FLAG_NAMES.get(said.unit_flag, str(said.unit_flag))]
    if said.pre_quant:
        mode, payload = said.pre_quant
        yield "pre_quant", [*_some(payload), f"mode = {mode}"]
    if said.pre_relu:
        mode, alpha, clip = said.pre_relu
        parts: list[SSAValue | str] = [*_some(alpha), f"mode = {mode}"]
        if clip is not None:
            parts += ["clip = ", clip]
        yield "pre_relu", parts
    layout = said.words["layout"]
    if layout:
        yield layout, [said.operands[name] for name in ("k", "split") if name in said.operands]
    if said.loop3:
        yield "loop3", list(said.loop3)
    sat = said.words["sat"]
    if sat:
        yield ("sat", ["preserve_nan"]) if sat == "preserve_nan" else (sat, [])
    if said.words.get("atomic_type"):
        kind, op = said.words["atomic_type"], said.words["atomic_op"]
        yield "atomic", [f"type = {kind}", f"op = {op}"]


def _some(value: SSAValue | None) -> list[SSAValue | str]:
    return [] if value is None else [value]


def _clauses(said: Written, family: str) -> Iterator[_Clause]:
    take = said.operands
    if family in ("dma", "burst"):
        apart = "stride" if family == "dma" else "gap"
        names = ("n_burst", f"src_{apart}", f"dst_{apart}")
        yield "nburst", [take[name] for name in names]
        for loop in said.loops:
            yield "loop", list(loop)
        if said.pad:
            yield "pad", list(said.pad)
    elif family == "nz":
        for clause, inside in _NZ:
            yield clause, [take[name] for name in inside if name in take]
    elif family == "fix":
        yield from _fix(said)


def _print_parts(printer: Printer, parts: Sequence[SSAValue | str]) -> None:
    before = ""
    for number, part in enumerate(parts):
        if number and not before.endswith("= "):
            printer.print_string(", ")
        if isinstance(part, str):
            printer.print_string(part)
        else:
            printer.print_ssa_value(part)
        before = part if isinstance(part, str) else ""


def print_move(op: MoveOp, printer: Printer) -> None:
    """Writes what stands behind the name of a movement op."""
    said = written(op)
    assert said is not None, "a MoveOp always says something"
    form = op.form
    names = [name for name in form.head if name in said.operands]
    parts: list[SSAValue | str] = [said.operands[name] for name in names]
    parts += [said.words[word] for word in ("mode", "ub_split") if said.words.get(word)]
    printer.print_string(" ")
    _print_parts(printer, parts)
    comma = "," if form.family in ("nz", "fix") else ""
    types: list[str] = [type_name(said.operands[name].type) for name in names]
    if form.family == "nz":
        types.append(said.words["mode"])
    for name, inside in _clauses(said, form.family):
        printer.print_string(f"{comma} {name}")
        if inside:
            printer.print_string("(")
            _print_parts(printer, inside)
            printer.print_string(")")
        kinds = [type_name(part.type) for part in inside if isinstance(part, SSAValue)]
        if kinds and name in ("loop", "pad", "shape", "dst_group", "ctrl"):
            kinds[0] = f"{name} {kinds[0]}"
        if name == "src_layout":
            kinds = [f"src_layout({', '.join(kinds)})"]
        types += kinds
    hidden = (SEGMENTS, *form.words)
    attributes = {key: value for key, value in op.attributes.items() if key not in hidden}
    printer.print_op_attributes(attributes)
    printer.print_string(f" : {', '.join(types)}")
