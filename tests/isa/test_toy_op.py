# SPDX-License-Identifier: Apache-2.0
"""A burst op is one row of a table: a row added here is an op in every room but in Verilog.

Most tables of the project are derived from the rows at import. Therefore the rows
are added to freshly imported modules, separate from the modules of all other tests.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from xdsl.printer import Printer

from tb.common.paths import ROOT
from tb.isa.ops import OPS, OPS_BY_CODE
from tests.wording import line_says

OWN = ("tb", "sequences", "scoreboards")
"""Packages that are imported again for the toy ops."""

TOYS: dict[str, dict[str, Any]] = {
    "mte_ub_ubx": {"opcode": 200, "slot": "mte3", "source": "ub", "destination": "ub",
                   "pipe": "PIPE_V", "doc": "toy: bursts of pairs of UB blocks", "unit": 32},
    "mte_l1_l1": {"opcode": 201, "slot": "mte1", "source": "l1", "destination": "l1",
                  "doc": "toy: bursts of L1 blocks inside L1", "dtype": "f16"},
    "mte_l1_fb2": {"opcode": 202, "slot": "fix", "source": "l1", "destination": "fb",
                   "doc": "toy: parameter rows on a second way", "unit": 64, "dtype": "i64"},
}  # fmt: skip
"""Operands of ``burst_row``: inside UB, inside another memory, and into a parameter memory."""

PIPES = {"mte_ub_ubx": "PIPE_V", "mte_l1_l1": "PIPE_MTE1", "mte_l1_fb2": "PIPE_FIX"}


def own_modules() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.split(".")[0] in OWN}


def of(module: str, name: str) -> Any:
    """Returns an attribute of a module with the toy ops."""
    return getattr(import_module(module), name)


@contextmanager
def added(toys: dict[str, dict[str, Any]]) -> Iterator[None]:
    """Adds rows to modules imported again, and restores the old modules at the end."""
    before = own_modules()
    for name in before:
        del sys.modules[name]
    try:
        rows, row = of("tb.isa.burst.table", "BURSTS"), of("tb.isa.burst.table", "burst_row")
        rows |= {name: row(name, **toy) for name, toy in toys.items()}
        yield
    finally:
        for name in own_modules():
            del sys.modules[name]
        sys.modules.update(before)


@pytest.fixture(scope="module")
def table() -> Iterator[None]:
    with added(TOYS):
        yield


pytestmark = pytest.mark.usefixtures("table")
every = pytest.mark.parametrize("toy", TOYS)


def some(toy: str, **changes: Any) -> Any:
    """Returns a toy op of three bursts."""
    make = of("tb.isa.burst.op", "BURST_CLASSES")[toy]
    destination = 128 if TOYS[toy]["destination"] == "fb" else 8192
    return of("tb.isa.op", "replace")(make(64, destination, 2, 3, 1, 4), **changes)


def moved(op: Any) -> list[tuple[int, int]]:
    """Returns (source, destination) of every byte, by the text of the row alone."""
    unit = 64 if op.spec.destination == "fb" else 32
    found = []
    for burst in range(op.n_burst):
        src = op.src_addr + burst * (op.len_burst + op.src_gap) * unit
        dst = op.dst_addr + burst * (op.len_burst + op.dst_gap) * unit
        found += [(src + byte, dst + byte) for byte in range(op.len_burst * unit)]
    return found


@pytest.mark.long
@every
def test_the_row_is_in_every_table(toy: str) -> None:
    text, page = of("tb.isa.verilog", "header_text")(), of("tb.isa.document", "page_text")()
    assert f"`define PTO_OP_{toy.upper():<29} 8'd{TOYS[toy]['opcode']}" in text
    assert f"PTO_W_{toy.upper()}_SRC_GAP" in text
    assert f"## `{toy}`" in page
    assert f"{TOYS[toy]['source']}_src" in page.split(f"## `{toy}`")[1].split("##")[0]
    assert of("tb.isa.pipes", "PIPES")[toy].value == PIPES[toy]
    assert toy in of("tb.dut.selection", "SELECTABLE")
    assert f"## `{toy}`" in of("tb.coverage.document", "page_text")()


@every
def test_it_is_packed_and_unpacked(toy: str) -> None:
    op = some(toy)
    desc = of("tb.isa.lower", "lower")(op)
    words = of("tb.isa.descriptor", "pack")(desc)
    assert words[0] & 255 == TOYS[toy]["opcode"]
    assert of("tb.isa.descriptor", "unpack")(words) == desc
    block = of("tb.isa.block", "from_ops")([op, op])
    assert np.array_equal(block.pack(), [words, words])
    assert block.program() == [(op,), (op,)]
    assert of("tb.isa.block", "from_descriptors")([desc]).program() == [(op,)]
    assert of("tb.isa.footprint", "source")(desc).length == 2 * op.spec.unit


@every
def test_its_text_is_read_as_the_same_op(toy: str) -> None:
    op = some(toy)
    addresses = f"{TOYS[toy]['source']}_0x40"
    line = of("tb.isa.text", "to_text")(op)
    assert line.startswith(f"pto.{toy} %{addresses}, ")
    assert "nburst(%c3_i64, %c1_i64, %c4_i64)" in line
    steps = of("tb.language.linked", "linked_steps")([of("tb.language.linked", "Linked")((op,))])
    source = of("tb.language.printer", "program_text")(steps)
    for form in ("pretty", "generic"):
        if form == "generic":
            source = _generic(source)
        trace = of("tb.language.run.walk", "trace")
        found = trace(of("tb.language.reader", "read")(source, "x.pto"), foreign="refuse")
        move = of("tb.language.trace", "Move")
        assert [step.op for step in found.steps if isinstance(step, move)] == [op]


def _generic(source: str) -> str:
    text = StringIO()
    module = of("tb.language.reader", "read")(source, "x.pto").module
    Printer(stream=text, print_generic_format=True).print_op(module)
    return text.getvalue() + "\n"


@every
def test_rules_are_checked(toy: str) -> None:
    parameters = TOYS[toy]["destination"] == "fb"
    names = ("FB-L02", "FB-L03", "FB-L04") if parameters else ("DMA-L05", "DMA-L06", "DMA-L12")
    destination = some(toy).spec.operands[1].name
    first, lower = of("tb.isa.rules", "first_d_violation"), of("tb.isa.lower", "lower")
    assert first(lower(some(toy))) is None
    breaks = (
        (0, {"src_gap": 1 << 16}),
        (0, {"n_burst": 1 << (12 if parameters else 16), "len_burst": 0}),
        (1, {destination: 33}),
        (2, {destination: 1 << 19}),
    )
    for number, changes in breaks:
        violation = first(lower(some(toy, **changes)))
        assert violation is not None
        assert violation.rule.name == names[number]
        outcome = _model().issue(some(toy, **changes))
        assert outcome.rule == violation.rule.number
    wrong = some(toy, src_type=of("tb.isa.dtypes", "Ptr")("i8", "gm"))
    (broken,) = of("tb.isa.rules", "s_violations")(wrong)
    assert broken.rule.name == ("FB-L01" if parameters else "DMA-L04")


@every
def test_every_illegal_variant_is_sent(toy: str) -> None:
    cases = of("sequences.illegal.cases", "all_cases")(np.random.default_rng(1), toy)
    lower, first = of("tb.isa.lower", "lower"), of("tb.isa.rules", "first_d_violation")
    for case in cases:
        violation = first(lower(case.program[-1]))
        assert (violation.rule.number if violation else 0) == case.rule, case.name
    broken = {case.rule for case in cases}
    assert broken == {0, *some(toy).spec.d_rules}


@every
@pytest.mark.parametrize("others", [(), ("mte_gm_ub", "mte_gm_l1", "mte_ub_l1")])
def test_it_is_drawn_and_covered(toy: str, others: tuple[str, ...]) -> None:
    """Alone and in chains: legal, moving bytes, most bins hit; side by side inside a memory."""
    coverage = of("tb.coverage.functional", "FunctionalCoverage")(32, (toy,))
    code, live, waits = TOYS[toy]["opcode"], 0, 0
    generator = of("sequences.draw.traffic", "TrafficGenerator")(5, (toy, *others))
    first, unpack = of("tb.isa.rules", "first_d_violation"), of("tb.isa.descriptor", "unpack")
    for block in generator.blocks(3000):
        mine = block.opcode == code
        for words in block.pack()[mine]:
            assert first(unpack(words)) is None
        waits += int((mine & (block.after >= 0)).sum())
        live += int((mine & (block.column("len") * block.column("n_burst") > 0)).sum())
        coverage.sample(block, None, np.zeros(len(block), np.int64))
    coverage.flush()
    assert live > (500 if others else 2500)
    assert (waits > 20) == bool(others)
    assert coverage.summary().groups[toy] > 60
    counts = coverage.groups[toy]
    inside = TOYS[toy]["source"] == TOYS[toy]["destination"]
    assert ("order" in counts.hits) == inside
    if inside and not others:
        labels = [counts.group.label("order", k) for k in range(len(counts.hits["order"]))]
        assert counts.hits["order"][labels.index("between")] > 50
    assert len(counts.hits["len_mod"]) == 128 // (64 if TOYS[toy].get("unit") == 64 else 32)


@every
def test_its_corners_are_sent(toy: str) -> None:
    blocks = list(of("sequences.corner.blocks", "corner_blocks")(32, (toy,)))
    assert sum(len(block) for block in blocks) > 100
    for block in blocks:
        assert (block.opcode == TOYS[toy]["opcode"]).all()
        assert not of("tb.isa.rules", "first_d_violation")(block.descriptors[0])


def _model() -> Any:
    rng = np.random.default_rng(3)
    spaces, sizes = of("tb.isa.spaces", "Space"), of("tb.isa.spaces", "SIZES")
    memories = {
        space: rng.integers(0, 256, sizes[space], np.uint8)
        for space in spaces
        if space.name != "GM"
    }
    return of("scoreboards.model.dma", "ReferenceModel")(memories)


@every
def test_the_model_moves_its_bytes(toy: str) -> None:
    """Byte by byte as in the row, inside the footprint of the op."""
    op, model = some(toy), _model()
    memories = model._memories
    footprint = import_module("tb.isa.footprint")
    desc = of("tb.isa.lower", "lower")(op)
    read, written = footprint.source(desc), footprint.destination(desc)
    expected = memories[written.space].copy()
    for src, dst in moved(op):
        expected[dst] = memories[read.space][src]
    outcome = model.execute(op)
    assert np.array_equal(memories[written.space], expected)
    assert (outcome.read, outcome.written) == (read, written)


@contextmanager
def inside_l1() -> Iterator[str]:
    """Adds a strided copy with both sides in L1, as the guide does."""
    before = own_modules()
    for name in before:
        del sys.modules[name]
    try:
        rows = import_module("tb.isa.dma.table")
        row = rows.strided_row(
            "mte_l1_l1", 203, "mte1", "l1", "l1", d_rules=(5, 6, 7, 12), doc="toy", unit=32
        )
        vars(rows)["STRIDED"] = (*rows.STRIDED, row)
        rows.SOURCE_SIDE[row.name] = "ext"
        yield str(row.name)
    finally:
        for name in own_modules():
            del sys.modules[name]
        sys.modules.update(before)


def test_both_sides_of_a_strided_copy_fit_one_memory() -> None:
    """Also where a side takes most of it: no address is negative, sides are disjoint."""
    with inside_l1() as name:
        generator = of("sequences.draw.traffic", "TrafficGenerator")(1, (name,))
        broken, unpack = of("tb.isa.rules", "t_violations"), of("tb.isa.descriptor", "unpack")
        count = 0
        for block in generator.blocks(6000):
            for words in block.pack():
                assert not broken(unpack(words))
                count += 1
        assert count == 6000


def test_the_toy_ops_are_removed() -> None:
    """The old modules are restored and have no toy op."""
    before, ops = own_modules(), of("tb.isa.ops", "OPS")
    with added({"mte_ub_uby": {**TOYS["mte_ub_ubx"], "opcode": 210}}):
        assert "mte_ub_uby" in of("tb.isa.ops", "OPS")
        assert not set(TOYS) & set(of("tb.isa.ops", "OPS"))
    assert own_modules() == before
    assert of("tb.isa.ops", "OPS") is ops
    assert "mte_ub_uby" not in ops


@pytest.mark.parametrize("code", [spec.opcode for spec in OPS.values()][::5])
def test_two_ops_never_have_one_opcode(code: int) -> None:
    toy = {"mte_ub_uby": {**TOYS["mte_ub_ubx"], "opcode": code}}
    name = OPS_BY_CODE[code].name
    with added(toy), pytest.raises(ValueError, match=rf"opcode {code} .*: 18 is free"):
        of("tb.isa.ops", "OPS")
    assert OPS_BY_CODE[code].name == name


_MTE2 = 'ops = ["mte_gm_ub", "mte_gm_l1", "mte_gm_l1_frac", "raw_fill_l1"'

SECOND_CODES: dict[str, list[tuple[str, str, str]]] = {
    "mte_gm_l1_frac2": [
        ("tb/isa/nz/table.py", "REPACKS: tuple[OpSpec, ...] = (MTE_GM_L1_FRAC,)",
         "from dataclasses import replace\n"
         "SECOND = replace(MTE_GM_L1_FRAC, name='mte_gm_l1_frac2', opcode=35)\n"
         "REPACKS: tuple[OpSpec, ...] = (MTE_GM_L1_FRAC, SECOND)"),
        ("rtl_stubs/pto_mte2/pto_mte2.sv", "256'd1 << `PTO_OP_MTE_GM_L1_FRAC;",
         "(256'd1 << `PTO_OP_MTE_GM_L1_FRAC) | (256'd1 << `PTO_OP_MTE_GM_L1_FRAC2);"),
        ("rtl_stubs/pto_mte2/pto_nz_check.sv", "!= `PTO_OP_MTE_GM_L1_FRAC)",
         "!= `PTO_OP_MTE_GM_L1_FRAC\n"
         "        && desc_i[`PTO_DESC_OPCODE] != `PTO_OP_MTE_GM_L1_FRAC2)"),
        ("rtl_stubs/pto_mte2/manifest.toml", _MTE2, f'{_MTE2}, "mte_gm_l1_frac2"'),
    ],
    "raw_fill_l1b": [
        ("tb/isa/fill/op.py", "FILLS: tuple[OpSpec, ...] = (RAW_FILL_L1,)",
         "from dataclasses import replace\n"
         "SECOND = replace(RAW_FILL_L1, name='raw_fill_l1b', opcode=36)\n"
         "FILLS: tuple[OpSpec, ...] = (RAW_FILL_L1, SECOND)"),
        ("rtl_stubs/pto_mte2/pto_gm_load.sv", "| (256'd1 << `PTO_OP_RAW_FILL_L1)",
         "| (256'd1 << `PTO_OP_RAW_FILL_L1) | (256'd1 << `PTO_OP_RAW_FILL_L1B)"),
        ("rtl_stubs/common/dma/pto_dma_check.sv", "        | ({17{is[`PTO_OP_RAW_FILL_L1]}} ",
         "        | ({17{is[`PTO_OP_RAW_FILL_L1B]}} "
         "& {FILL,    GM, L1, 3'd5, 1'b0, 1'b0, 1'b0, 1'b1})\n"
         "        | ({17{is[`PTO_OP_RAW_FILL_L1]}} "),
        ("rtl_stubs/pto_mte2/manifest.toml", _MTE2, f'{_MTE2}, "raw_fill_l1b"'),
    ],
}  # fmt: skip
"""Op of a family with one op so far to its edits: file, text before, text after."""


def worked_diff(op: str) -> list[tuple[str, str, str]]:
    """Returns the edits that add an op, those of docs/architecture.md or of ``SECOND_CODES``."""
    if op in SECOND_CODES:
        return SECOND_CODES[op]
    page = (ROOT / "docs/architecture.md").read_text()
    (diff,) = (x for x in re.findall(r"```diff\n(.*?)```", page, re.DOTALL) if f'"{op}"' in x)
    edits = []
    for part in diff.split("--- ")[1:]:
        name, _, text = part.partition("\n")
        lines = [(line[:1], f"{line[1:]}\n") for line in text.splitlines()]
        before = "".join(line for mark, line in lines if mark != "+")
        edits.append((name, before, "".join(line for mark, line in lines if mark != "-")))
    return edits


@pytest.mark.sim
@pytest.mark.parametrize(
    ("op", "most", "tests", "number", "percent"),
    [
        ("mte_ub_ub2", 4, ("random", "corner", "illegal"), 100, 0.0),
        ("mte_l1_l1", 5, ("random", "corner", "illegal"), 1500, 95.0),
        # Corners of these take minutes with Icarus.
        ("mte_l1_l0a2", 4, ("random", "illegal"), 100, 0.0),
        ("mte_gm_l1_frac2", 4, ("random", "illegal"), 100, 0.0),
        ("raw_fill_l1b", 4, ("random", "corner", "illegal"), 100, 0.0),
    ],
)
def test_the_op_of_a_worked_diff_is_sent_and_checked(
    op: str, most: int, tests: tuple[str, ...], number: int, percent: float, tmp_path: Path
) -> None:
    ignore = shutil.ignore_patterns("__pycache__")
    for name in (*OWN, "rtl_stubs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignore)
    edits = worked_diff(op)
    assert len(edits) <= most
    for file, before, after in edits:
        text = (tmp_path / file).read_text()
        assert text.count(before) == 1, before
        (tmp_path / file).write_text(text.replace(before, after))

    def called(*words: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    assert line_says(called("tb", "doctor", "--op", op, code=1), "MISSING header tb.isa.verilog")

    called("tb.isa.verilog")
    for test in tests:
        sent = number if test == "random" else 100
        output = called(
            "tb", "run", "--sim", "icarus", "--ops", op, "--n", f"{sent}", "--test", test
        )
        match = re.search(r"\nPASS (\d+) transactions, 0 mismatches, coverage ([0-9.]+) %", output)
        assert match, output
        assert int(match[1]) >= sent
        assert re.search(rf"{op} +{match[1]} sent +{match[1]} passed", output)
        assert test != "random" or float(match[2]) >= percent
    lost = re.findall(r"MISSING +(\w+)", called("tb", "doctor", "--op", op, code=1))
    assert lost == ["testplan", "worked", "text"], "what the guide leaves to the author of a test"
