# SPDX-License-Identifier: Apache-2.0
"""Programs as read: ops, places, what each says, and what is refused with which position."""

from __future__ import annotations

from tb.language.reader import Source, Written, read, written

HEAD = """\
func.func @kernel(%gm: !pto.ptr<f16, gm>, %ub: !pto.ptr<f16, ub>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c128 = arith.constant 128 : i64
"""


def program(body: str) -> Source:
    return read(f"{HEAD}{body}\n  func.return\n}}\n", "x.pto")


def moves(source: Source) -> list[Written]:
    return [said for op in source.module.walk() if (said := written(op)) is not None]


def test_a_grouped_load_is_told_by_the_names_of_its_op_class() -> None:
    source = program(
        "  pto.mte_gm_ub %gm, %ub, %c0, %c128 nburst(%n, %c128, %c128) loop(%n, %c0, %c0)\n"
        "    : !pto.ptr<f16, gm>, !pto.ptr<f16, vec>, i64, i64, i64, i64, i64, loop i64, i64, i64"
    )
    (said,) = moves(source)
    assert said.name == "mte_gm_ub"
    assert list(said.operands) == [
        *("gm_src", "ub_dst", "l2_cache_ctl", "len_burst", "n_burst", "src_stride", "dst_stride")
    ]
    assert [value.name_hint for value in said.loops[0]] == ["n", "c0", "c0"]
    (op,) = (op for op in source.module.walk() if op.name == "pto.mte_gm_ub")
    assert str(source.place(op)) == "x.pto:4:3"
