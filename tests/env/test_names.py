# SPDX-License-Identifier: Apache-2.0
"""The names of docs/uvm.md that users may rely on: each exists and has its kind or type."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest

from tb.common.paths import ROOT
from tb.env import base_test
from tb.isa.block import OpBlock, from_ops
from tb.isa.dma.op import Loop, MteGmUb, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Atomic, Loop3, MteL0cGm, PreQuant, PreRelu, Scalar
from tb.isa.l0.op import Shape, shaped
from tb.isa.lower import OP_CLASSES
from tb.isa.op import Op


def _bare(cls: type[Op]) -> Op:
    operands: dict[str, Any] = {name: 1 for name in cls.names if name not in cls.defaults}
    return cls(**{**operands, **({"mode": "nd2nz"} if "mode" in operands else {})})


BARE = {cls.__name__: _bare(cls) for cls in OP_CLASSES.values()}
COPY = MteGmUb(0, 0, 32, 1, 32, 32, (Loop(2, 64, 64),), Pad("i8", 7, 0, 0))
WRITE_BACK = MteL0cGm(
    0, 0, 16, 16, 16, 16, pre_quant=PreQuant("qf322f16_pre_scalar", Scalar("f32", 0)),
    pre_relu=PreRelu("normal_relu"), loop3=Loop3(1, 1, 1), atomic=Atomic("f16", "add"),
    layout="nz2nd", sat="nosat",
)  # fmt: skip
LOAD = shaped("mte_l1_l0a", 0, 0, Shape(16, 16), Ptr("f16", "l1"), Ptr("f16", "l0a"))
FULL = {type(op).__name__: op for op in (COPY, WRITE_BACK, LOAD)}
OBJECTS = {"PtoTestBase": base_test.PtoTestBase, "OpBlock": OpBlock, "a block": from_ops([COPY])}
"""What names are read from; of an op without its clauses and with them."""

ROWS = [
    (owner.replace("`", ""), kind.replace("`", ""), re.findall(r"`(\w+)`", names))
    for owner, kind, names in re.findall(
        r"^\| (.+?) \| (.+?) \| (.+?) \|$",
        (ROOT / "docs/uvm.md")
        .read_text()
        .partition("## Names to rely on")[2]
        .partition("\n## ")[0],
        re.MULTILINE,
    )[1:]
]


def kind_of(value: Any) -> str:
    """Returns the kind of a name: a class, a function, or the type of its value."""
    if isinstance(value, type):
        return "class"
    return "function" if callable(value) else type(value).__name__


def check(value: Any, kind: str, name: str) -> None:
    """Compares the kind of a name with the listed one."""
    assert kind_of(value) == kind, f"{name} is of kind {kind_of(value)}, docs/uvm.md: {kind}"


@pytest.mark.parametrize(("owner", "kind", "names"), ROWS, ids=lambda cell: str(cell)[:40])
def test_names_of_users(owner: str, kind: str, names: list[str]) -> None:
    if owner == "any op":
        for name, op in BARE.items():
            for one in names if kind != "int" else _numbers(op):
                check(getattr(op, one), kind, f"{name}.{one}")
        return
    assert names
    holders: list[Any] = (
        [import_module(owner)] if "." in owner else [OBJECTS.get(owner) or BARE[owner]]
    )
    if owner in FULL:
        holders.append(FULL[owner])
    kind, _, none = kind.partition(" or ")
    for holder, name in ((holder, name) for holder in holders for name in names):
        found = getattr(holder, name)
        wanted = "NoneType" if none and holder is BARE.get(owner) else kind
        check(found, wanted, f"{owner}.{name}")


def _numbers(op: Op) -> list[str]:
    rows = [row.name for row in op.spec.operands if row.field in op.spec.layout]
    fields = [name for name in op.spec.layout if name not in ("src_type", "dst_type")]
    return [name for name in (*rows, *fields) if name not in ("src_type", "dst_type")]


def test_the_list_is_complete() -> None:
    listed = {(owner, name) for owner, _, names in ROWS for name in names}
    assert {name for owner, name in listed if owner == "tb.env.base_test"} == set(base_test.__all__)
    assert {name for owner, name in listed if owner.startswith("tb.isa")} >= set(BARE)


def test_a_retyped_name_is_found() -> None:
    with pytest.raises(AssertionError, match="layout is of kind int"):
        test_names_of_users("MteL0cGm", "str", ["layout"])
    with pytest.raises(AttributeError):
        test_names_of_users("MteL0cGm", "str", ["layout_word"])
