# SPDX-License-Identifier: Apache-2.0
"""Rows of writeback.csv and formats.csv: accumulators in, elements out.

The elements of rows with equal clauses are the columns of one op of one row; the parameters of
vector modes are those of the row in each channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sequences.examples.example import BACKGROUNDS, Data
from sequences.outside.case import Bytes, Case, Element, Row
from sequences.outside.files import DATA, project, read
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixOp,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
)
from tb.isa.spaces import FB_SEGMENT_BYTES, FB_SEGMENT_SHIFT, FB_SEGMENTS, Space

_COLUMNS = (
    *("source", "case", "op", "acc", "dst", "mode", "param", "scale_bits", "relu", "alpha_bits"),
    *("clip_bits", "sat", "atomic", "old_bits", "m", "n", "acc_bits", "out_bits", "note"),
)
_OPS: dict[str, tuple[type[FixOp], Space]] = {
    "any": (MteL0cGm, Space.GM),
    "mte_l0c_gm": (MteL0cGm, Space.GM),
    "mte_l0c_l1": (MteL0cL1, Space.L1),
    "mte_l0c_ub": (MteL0cUb, Space.UB0),
}
_DTYPES = {"e4m3fn": "f8E4M3FN"}
_BITS = {"f32": 32, "i32": 32, "f16": 16, "bf16": 16}
_SINGLE = "round_twice:single="
_ONE = 0x3F800000
_RELU_FB = FB_SEGMENTS["pre_relu"] << FB_SEGMENT_SHIFT
_MOST = FB_SEGMENT_BYTES // 8
"""Channels with a record each that fit into segment 0."""
_GROUP = 16
_STRIDE = 16
_FLOATS = ("f32", "f16", "bf16", "f8E4M3FN", "hif8")


def _tile(bits: Sequence[int]) -> Data:
    """Returns L0C with accumulators in row 0, a group of 16 columns every 16 words."""
    words = np.zeros((-(-len(bits) // _GROUP), _STRIDE, _GROUP), dtype="<u4")
    for column, value in enumerate(bits):
        words[column // _GROUP, 0, column % _GROUP] = value
    return Data(Space.L0C, words.tobytes())


def _expected(space: Space, column: int, dtype: str, code: int) -> Bytes | Element:
    size = _BITS.get(dtype, 8) // 8
    if dtype in _FLOATS:
        return Element(space, column * size, dtype, code)
    return Bytes(space, column * size, code.to_bytes(size, "little"))


def _columns(count: int) -> int:
    """Returns a row pitch in elements that every destination allows."""
    return -(-count // 32) * 32


_Key = tuple[str, ...]


def _key(row: dict[str, str]) -> _Key:
    """Returns what the rows of one op have in common: its clauses and scalars."""
    names = ["source", "case", "op", "acc", "dst", "mode", "param", "relu", "clip_bits", "sat"]
    names.append("atomic")
    if row["param"] != "fb":
        names.append("scale_bits")
    if row["relu"] == "scalar_relu":
        names.append("alpha_bits")
    return tuple(row[name] for name in names)


def writeback_cases(path: Path | None = None) -> list[Case]:
    """Returns cases of the elements of a file.

    Args:
        path: The file; None for that of the repository.
    """
    groups: dict[_Key, list[dict[str, str]]] = {}
    for line, row in enumerate(read(path or DATA / "writeback.csv", _COLUMNS), 2):
        groups.setdefault(_key(row), []).append({**row, "line": str(line)})
    return [
        _case(rows[start : start + _MOST])
        for rows in groups.values()
        for start in range(0, len(rows), _MOST)
    ]


def _case(rows: list[dict[str, str]]) -> Case:
    """Returns the case of rows with equal clauses, at most as many as there are records."""
    row = rows[0]
    kind, space = _OPS[row["op"]]
    dtype = _DTYPES.get(row["dst"], row["dst"])
    size = _BITS.get(dtype, 8) // 8
    fills = [_tile([int(one["acc_bits"], 16) for one in rows])]
    if row["param"] == "fb":
        fills.append(_words(0, "<u8", (int(one["scale_bits"], 16) for one in rows)))
    if row["relu"] == "vector_relu":
        fills.append(_words(_RELU_FB, "<u4", (int(one["alpha_bits"], 16) for one in rows)))
    clauses: dict[str, Any] = {
        "pre_quant": _pre_quant(row),
        "pre_relu": _pre_relu(row),
        "sat": row["sat"],
        "src_type": Ptr(row["acc"], "l0c"),
        "dst_type": Ptr(dtype, space.keyword),
    }
    if row["atomic"]:
        clauses["atomic"] = Atomic(*row["atomic"].split("."))
        old = b"".join(int(one["old_bits"], 16).to_bytes(size, "little") for one in rows)
        fills.append(Data(space, old))
    op = kind(0, 0, 1, len(rows), _STRIDE, _columns(len(rows)), **clauses)
    facts = []
    for column, one in enumerate(rows):
        # A source that rounds twice also states the result of one rounding.
        once = one["note"].removeprefix(_SINGLE) if one["note"].startswith(_SINGLE) else ""
        code = int(once or one["out_bits"], 16)
        text = f"{one['mode']} {one['acc']} {one['acc_bits']} -> {one['dst']} {code:0{2 * size}X}"
        folder = one["source"].rpartition(":")[2] if ":" in one["source"] else ""
        name = " ".join(filter(None, [folder, one["case"], f"line {one['line']}"]))
        expected = (_expected(space, column, dtype, code),)
        facts.append(Row("writeback", project(one["source"]), name, text, expected))
    return Case(f"writeback {row['case']} {row['mode']}", tuple(facts), (op,), tuple(fills))


def _words(start: int, dtype: str, values: Iterable[int]) -> Data:
    return Data(Space.FB, np.array(list(values), dtype=dtype).tobytes(), start)


def _pre_quant(row: dict[str, str]) -> PreQuant | None:
    mode, param = row["mode"], row["param"]
    if mode == "none":
        return None
    if not param:  # a mode without a scale, whose payload has no effect
        return PreQuant(mode, Scalar("f32", _ONE))
    if param == "fb":
        return PreQuant(f"{mode}_vec", FbPtr("f32", 0))
    return PreQuant(f"{mode}_scalar", Scalar(param, int(row["scale_bits"], 16)))


def _pre_relu(row: dict[str, str]) -> PreRelu | None:
    mode = row["relu"]
    if not mode:
        return None
    clip = Scalar("f16", int(row["clip_bits"], 16)) if row["clip_bits"] else None
    payload: Scalar | FbPtr | None = None
    if mode == "vector_relu":
        payload = FbPtr("f32", _RELU_FB)
    elif mode == "scalar_relu":
        payload = Scalar(row["param"] or "f32", int(row["alpha_bits"], 16))
    return PreRelu(mode, payload, clip)


_ENCODERS: dict[str, tuple[str, str, str]] = {
    "hif8_en_dtypes": ("en_dtypes 0.0.4", "hif8", "qf322hif8_pre_scalar"),
    "e4m3fn_nosat_ml_dtypes": ("ml_dtypes 0.6.0", "f8E4M3FN", "qf322fp8_pre_scalar"),
    "bf16_nosat_ml_dtypes": ("ml_dtypes 0.6.0", "bf16", "f32_bf16"),
    "f16_nosat_numpy": ("numpy 2.4.6", "f16", "f32_f16"),
}
"""Column of formats.csv to the package, the element type, and the mode that converts to it."""


def format_cases() -> list[Case]:
    """Returns a case for each encoder of formats.csv: every f32 value without saturation."""
    rows = read(DATA / "formats.csv", ("f32_bits", *_ENCODERS))
    source = _tile([int(row["f32_bits"], 16) for row in rows])
    cases = []
    for column, (package, dtype, mode) in _ENCODERS.items():
        op = MteL0cGm(
            0, 0, 1, len(rows), _STRIDE, _columns(len(rows)),
            pre_quant=PreQuant(mode, Scalar("f32", _ONE)), sat="nosat", dst_type=Ptr(dtype, "gm"),
        )  # fmt: skip
        facts = [
            Row(
                "formats",
                package,
                f"{dtype} of {row['f32_bits']}",
                f"{mode} f32 {row['f32_bits']} -> {dtype} {row[column]}",
                (_expected(Space.GM, number, dtype, int(row[column], 16)),),
            )
            for number, row in enumerate(rows)
        ]
        cases.append(Case(f"formats {dtype}", tuple(facts), (op,), (source,), BACKGROUNDS))
    return cases
