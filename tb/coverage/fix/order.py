# SPDX-License-Identifier: Apache-2.0
"""Sequences of write-backs on their slot, for state that a unit may keep between ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tb.coverage.fix.view import KINDS, WRITE_BACKS, FixPart
from tb.coverage.model import NOT_SAMPLED, Cross, Ints, point
from tb.coverage.sampled import Sampled, only
from tb.coverage.scope import Scope
from tb.coverage.view import Bools
from tb.isa.burst.table import MTE_L1_FB
from tb.isa.fix.table import FLAG_NONE, NZ2DN, NZ2NZ, VECTOR_RELU

Points = list[Sampled[FixPart]]

OPS: tuple[str, ...] = tuple(spec.name for spec in WRITE_BACKS)
PARAMETERS = ("none", "quant", "relu", "both")
FLAGS = ("none", "check", "clear")
ROWS = ("rows", "columns", "groups")
NOPS = ("live, live", "live, NOP", "NOP, live", "NOP, NOP")

_OP = np.full(256, NOT_SAMPLED)
_OP[[spec.opcode for spec in WRITE_BACKS]] = np.arange(len(OPS))

_PAIRS: dict[str, tuple[tuple[str, ...], Callable[[FixPart], Ints], str]] = {
    "kind": (KINDS, lambda v: v.kind, "kind of pre_quant mode"),
    "parameters": (
        PARAMETERS,
        lambda v: v.vector_quant + 2 * (v["relu"] == VECTOR_RELU),
        "what is read from fb",
    ),
    "flags": (
        FLAGS,
        lambda v: np.where(v["unit_flag"] == FLAG_NONE, 0, v["unit_flag"] - 1),
        "unit_flag",
    ),
    "rows": (
        ROWS,
        lambda v: np.where(v["layout"] >= NZ2DN, v["layout"] - 1, 0),
        "what lies in a row of the destination: omitted layout or nz2nd, nz2dn, nz2nz",
    ),
}
"""Property of an op and of its predecessor: bins, their index, and a description."""

assert NZ2DN + 1 == NZ2NZ


def _followed(view: FixPart) -> Bools:
    """Both the op and its predecessor move data."""
    return view.live & (view.before >= 0) & view.previous.live


def order_points() -> Points:
    """Returns the properties of an op and of its predecessor on the slot in the block."""

    def before(values: Callable[[FixPart], Ints]) -> Callable[[FixPart], Ints]:
        return lambda v: only(_followed(v), values(v.previous))

    def own(values: Callable[[FixPart], Ints]) -> Callable[[FixPart], Ints]:
        return lambda v: only(v.live, values(v))

    def again(vector: Callable[[FixPart], Bools], column: str) -> Callable[[FixPart], Ints]:
        def index(view: FixPart) -> Ints:
            both = _followed(view) & vector(view) & vector(view.previous)
            return only(both, (view[column] != view.previous[column]).astype(np.int64))

        return index

    def nops(view: FixPart) -> Ints:
        found = 2 * ~view.previous.live + ~view.live
        return only(view.before >= 0, found)

    def loaded(view: FixPart) -> Ints:
        return only(view.live & view.after_load, _PAIRS["parameters"][1](view))

    def op_before(view: FixPart) -> Ints:
        written = only(view.before >= 0, _OP[view.previous.opcode])
        return np.where(view.after_load, len(OPS), written)

    points: Points = [
        Sampled(point("op", OPS, "op"), lambda v: _OP[v.opcode]),
        Sampled(point("op_before", [*OPS, MTE_L1_FB.name], "op before on the slot"), op_before),
        Sampled(point("nops", NOPS, "the op before and this one"), nops),
        Sampled(
            point("loaded", PARAMETERS, f"parameters read from fb right after {MTE_L1_FB.name}"),
            loaded,
        ),
        Sampled(
            point("records", ["same", "others"], "records after those of the op before"),
            again(lambda v: v.vector_quant, "quant_addr"),
        ),
        Sampled(
            point("alphas", ["same", "others"], "alphas after those of the op before"),
            again(lambda v: v["relu"] == VECTOR_RELU, "relu_addr"),
        ),
    ]
    for name, (labels, values, doc) in _PAIRS.items():
        points.append(Sampled(point(name, labels, doc), own(values)))
        points.append(Sampled(point(f"{name}_before", labels, f"{doc}, op before"), before(values)))
    return points


def order_crosses() -> tuple[Cross, ...]:
    """Returns the cross of each property of an op with that of its predecessor."""
    pairs = [Cross(f"{name} x {name}_before", (name, f"{name}_before")) for name in _PAIRS]
    return (Cross("op x op_before", ("op", "op_before")), *pairs)


def order_scope(forms: Sequence[str]) -> Scope:
    """Returns the bins of these points that a run of ``forms`` can reach."""
    loads = MTE_L1_FB.name in forms
    ops = [name for name in OPS if name in forms]
    return Scope(
        points={
            "op": ops,
            "op_before": [*ops, MTE_L1_FB.name] if loads else ops,
            "loaded": PARAMETERS if loads else [],
        }
    )
