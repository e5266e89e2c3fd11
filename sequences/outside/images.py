# SPDX-License-Identifier: Apache-2.0
"""Rows of layout.csv and nz.csv: whole images by CRC-32."""

from __future__ import annotations

import re
import zlib
from typing import Any

import numpy as np

from sequences.examples.example import Data, Image, pattern
from sequences.outside.case import ZEROS, Case, Crc, Row
from sequences.outside.files import DATA, project, read
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import FixOp, MteL0cGm, MteL0cUb, PreQuant, Scalar
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.spaces import Space

_LAYOUT = (
    *("source", "case", "op", "acc", "dst", "mode", "layout", "m", "n", "src_stride_64B"),
    *("dst_stride_elems", "image_bytes", "image_crc32"),
)
_NZ = (
    *("source", "case", "op_index", "elem", "mode", "src_off", "dst_off", "n_value", "d_value"),
    *("src_inner_stride", "src_outer_stride", "group_count", "dst_loop2", "dst_loop3", "dst_loop4"),
    *("smallc0", "src_bytes", "image_bytes", "src_crc32", "image_crc32"),
)
_SHAPE = ("m", "n", "src_stride_64B", "dst_stride_elems")
_ELEMENTS = {"b8": "i8", "b16": "f16", "b32": "f32"}
_OPERANDS = {
    "gm_src": "src_off",
    "l1_dst": "dst_off",
    "dst_loop2_stride": "dst_loop2",
    "dst_loop3_stride": "dst_loop3",
    "dst_loop4_stride": "dst_loop4",
    "n_value": "n_value",
    "d_value": "d_value",
    "src_inner_stride": "src_inner_stride",
    "src_outer_stride": "src_outer_stride",
    "group_count": "group_count",
}
"""Operand to its column of nz.csv."""
_GROUP = 16


def _accumulators(m: int, n: int, src_stride: int) -> bytes:
    """Returns L0C with acc(m, n) = 100 m + n as f32, groups of 16 columns."""
    groups = -(-n // _GROUP)
    words = np.zeros((groups * src_stride, _GROUP), dtype="<f4")
    for row in range(m):
        for column in range(n):
            group, lane = divmod(column, _GROUP)
            words[group * src_stride + row, lane] = 100 * row + column
    return words.tobytes()


def layout_cases() -> list[Case]:
    """Returns a case for each write-back image.

    Raises:
        ValueError: a row has a layout, an op or a mode that the file did not have so far.
    """
    cases = []
    for row in read(DATA / "layout.csv", _LAYOUT):
        m, n, stride, pitch = (int(row[name]) for name in _SHAPE)
        found = re.fullmatch(r"(nz2nd|nz2dn|nz2nz)(?:\((\d)\))?", row["layout"])
        if found is None or row["acc"] != "f32" or row["mode"] not in ("none", "f32_f16"):
            raise ValueError(f"layout.csv: {row['case']} is of a kind without a translation")
        layout, argument = found.groups()
        op: FixOp
        quant = PreQuant(row["mode"], Scalar("f32", 0x3F800000)) if row["mode"] != "none" else None
        clauses: dict[str, Any] = {
            "pre_quant": quant,
            "layout": layout,
            "k": int(argument) if layout == "nz2dn" else None,
            "split": int(argument) if layout == "nz2nz" else None,
            "dst_type": Ptr(row["dst"], row["op"].rpartition("_")[2]),
        }
        if row["op"] == MteL0cGm.spec.name:
            space, op = Space.GM, MteL0cGm(0, 0, m, n, stride, pitch, **clauses)
        else:
            space, op = Space.UB0, MteL0cUb(0, 0, m, n, stride, pitch, **clauses)
        image = Image(space, int(row["image_bytes"]), int(row["image_crc32"], 16))
        text = f"{row['op']} {row['dst']} {row['layout']} {m} x {n}"
        fact = Row("layout", project(row["source"]), row["case"], text, (Crc(image),))
        source = Data(Space.L0C, _accumulators(m, n, stride))
        cases.append(Case(f"layout {row['case']}", (fact,), (op,), (source,), ZEROS))
    return cases


def nz_cases() -> list[Case]:
    """Returns a case for each NZ image; the ops of a case build one image together.

    Raises:
        ValueError: the source pattern is not that of the file.
    """
    by_case: dict[str, list[dict[str, str]]] = {}
    for row in read(DATA / "nz.csv", _NZ):
        by_case.setdefault(row["case"], []).append(row)
    cases = []
    for name, rows in by_case.items():
        first = rows[0]
        source = pattern(0, int(first["src_bytes"])).tobytes()
        if zlib.crc32(source) != int(first["src_crc32"], 16):
            raise ValueError(f"nz.csv: {name} has a source of another CRC-32")
        image = Image(Space.L1, int(first["image_bytes"]), int(first["image_crc32"], 16))
        ops = tuple(_frac(row) for row in rows)
        facts = tuple(
            Row(
                "nz",
                project(row["source"]),
                name if len(rows) == 1 else f"{name} op {row['op_index']}",
                f"mte_gm_l1_frac {row['mode']} {row['elem']} N {row['n_value']} "
                f"D {row['d_value']}, groups {row['group_count']}",
                (Crc(image),),
            )
            for row in rows
        )
        cases.append(Case(f"nz {name}", facts, ops, (Data(Space.GM, source),), ZEROS))
    return cases


def _frac(row: dict[str, str]) -> MteGmL1Frac:
    dtype = _ELEMENTS[row["elem"]]
    operands: dict[str, Any] = {
        "mode": row["mode"],
        "smallc0_en": int(row["smallc0"]),
        "src_type": Ptr(dtype, "gm"),
        "dst_type": Ptr(dtype, "l1"),
        **{operand: int(row[column]) for operand, column in _OPERANDS.items()},
    }
    return MteGmL1Frac(**operands)
