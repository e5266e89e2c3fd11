# SPDX-License-Identifier: Apache-2.0
"""Sequences of write-backs on their slot, for state that a unit may keep between ops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from tb.coverage.fix.values import FLAGS, KINDS
from tb.coverage.model import Cross, Ints, crossed
from tb.coverage.ops import Bools, Derived, Ops
from tb.coverage.points import ALL, Row, codes, entry, only
from tb.coverage.scope import Scope
from tb.isa.burst.table import BURSTS
from tb.isa.fix.table import NZ2DN, NZ2NZ, WRITE_BACKS

OPS: tuple[str, ...] = tuple(spec.name for spec in WRITE_BACKS)
LOADS: tuple[str, ...] = tuple(name for name, row in BURSTS.items() if row.destination == "fb")
PARAMETERS = ("none", "quant", "relu", "both")
NOPS = ("live, live", "live, NOP", "NOP, live", "NOP, NOP")

_OP = np.full(256, -1)
_OP[[spec.opcode for spec in WRITE_BACKS]] = np.arange(len(OPS))

_PAIRS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "kind": (KINDS, "kind", "kind of pre_quant mode"),
    "parameters": (PARAMETERS, "parameters", "what is read from fb"),
    "flags": (FLAGS, "flag_mode", "unit_flag"),
    "rows": (("rows", "columns", "groups"), "row_kind",
             "what lies in a row of the destination: omitted layout or nz2nd, nz2dn, nz2nz"),
}  # fmt: skip
"""Property of an op and of its predecessor: bins, their index, and a description."""

assert NZ2DN + 1 == NZ2NZ

DERIVED: Derived = {
    "parameters": lambda v: v.vector_quant + 2 * v.vector_relu,
    "row_kind": lambda v: np.where(v.layout >= NZ2DN, v.layout - 1, 0),
    # The op before is a write-back; both of them move data.
    "after": lambda v: v.before >= 0,
    "followed": lambda v: v.live & v.after & v.previous.live,
}


def _again(vector: str, v: Ops) -> Bools:
    return v.followed & v[vector] & v.previous[vector]


def _of_previous(name: str, v: Ops) -> Ints:
    return v.previous[name]


def _op_before(v: Ops) -> Ints:
    return np.where(v.after_load, len(OPS), only(v.after, _OP[v.previous.opcode]))


ORDER_POINTS: list[Row] = [
    codes("op", OPS, entry(_OP, "opcode"), "op", ops=ALL),
    codes("op_before", [*OPS, LOADS[0]], _op_before, "op before on the slot", ops=ALL),
    codes("nops", NOPS, lambda v: 2 * ~v.previous.live + ~v.live, "the op before and this one",
          ops="after"),
    codes("loaded", PARAMETERS, "parameters",
          f"parameters read from fb right after {LOADS[0]}",
          ops=lambda v: v.live & v.after_load),
    codes("records", ["same", "others"], lambda v: v.quant_addr != v.previous.quant_addr,
          "records after those of the op before", ops=partial(_again, "vector_quant")),
    codes("alphas", ["same", "others"], lambda v: v.relu_addr != v.previous.relu_addr,
          "alphas after those of the op before", ops=partial(_again, "vector_relu")),
    *[row for name, (labels, value, doc) in _PAIRS.items() for row in (
        codes(name, labels, value, doc),
        codes(f"{name}_before", labels, partial(_of_previous, value), f"{doc}, op before",
              ops="followed"),
    )],
]  # fmt: skip
"""Properties of an op and of its predecessor on the slot in the block."""


def order_crosses() -> tuple[Cross, ...]:
    """Returns the cross of each property of an op with that of its predecessor."""
    pairs = [Cross(f"{name} x {name}_before", (name, f"{name}_before")) for name in _PAIRS]
    return (crossed("op x op_before"), *pairs)


def order_scope(forms: Sequence[str]) -> Scope:
    """Returns the bins of these points that a run of ``forms`` can reach."""
    loads = any(name in forms for name in LOADS)
    ops = [name for name in OPS if name in forms]
    return Scope(
        points={
            "op": ops,
            "op_before": [*ops, LOADS[0]] if loads else ops,
            "loaded": PARAMETERS if loads else [],
        }
    )
