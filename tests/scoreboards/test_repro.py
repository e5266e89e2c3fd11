# SPDX-License-Identifier: Apache-2.0
"""Written programs of transactions: memory before the block, dependencies, registers."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scoreboards.before import Before
from scoreboards.faults import FaultKind
from scoreboards.repro import MOST
from scoreboards.repro_ops import items_of, needed
from scoreboards.repro_ranges import MOST_RANGES, ranges_of, sections_in
from scoreboards.repro_ranges import Section as At
from sequences.constraints import OpConstraints
from sequences.draw.traffic import TrafficGenerator
from sequences.illegal.generator import IllegalGenerator
from tb.dut.selection import SELECTABLE
from tb.harness.layout import WRITE
from tb.isa.block import OpBlock, from_descriptors, from_ops
from tb.isa.ctrl import SetAtomic, SetCtrl, write_ctrl
from tb.isa.descriptor import pack
from tb.isa.dma.legacy import DmaRegisters, LegacyCopy, LegacySet, lower_copy, write_registers
from tb.isa.dma.op import MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.footprint import Footprint
from tb.isa.lower import lower
from tb.isa.op import replace
from tb.isa.ops import SLOTS
from tb.isa.spaces import SEGMENTS, SIZES, Space, located, place_text
from tb.isa.status import Status
from tb.isa.text import AnyOp
from tb.language.order.order import order
from tb.language.reader import read_file
from tb.language.run.walk import trace
from tb.language.trace import Move
from tb.programs.command import Replay
from tb.programs.options import ProgramOptions
from tb.programs.request import read_setup
from tests.scoreboards.bench import Bench, noise
from tests.wording import says

TO_L1 = MteGmL1(1001, 4096, 50, 4, 60, 96)
TO_UB = MteL1Ub(4096, 8192, 96, 4, 96, 128)
BACK = MteUbGm(8192, 1 << 20, 50, 4, 128, 70)
OTHER = MteGmUb(1 << 21, 65536, 64, 4, 64, 64)


@pytest.fixture
def bench(bench: Bench, tmp_path: Path) -> Bench:
    bench.scoreboard.repro.folder = tmp_path / "repro"
    return bench


def chain() -> OpBlock:
    """Returns four ops, three of which copy the same bytes."""
    block = from_ops([TO_L1, OTHER, TO_UB, BACK])
    block.after[2], block.after[3] = 0, 2
    block.gap[3] = 9
    return block


def ops_in(path: Path) -> list[AnyOp]:
    return [x.op for x in trace(read_file(path)).steps if isinstance(x, Move)]


def loaded(path: Path, space: Space, start: int, length: int) -> bytes:
    """Returns bytes that a setup file loads."""
    for load in read_setup(path).setup.load:
        if Space[load.space.upper()] is space and load.address <= start:
            assert load.length is not None
            if start + length <= load.address + load.length:
                offset = load.offset + start - load.address
                return (path.parent / load.data).read_bytes()[offset : offset + length]
    raise AssertionError(f"{space.name} {start:#x} is not loaded")


def folders(bench: Bench) -> list[str]:
    assert bench.scoreboard.repro.folder is not None
    return sorted(path.name for path in bench.scoreboard.repro.folder.glob("*"))


def corrupted(bench: Bench) -> Path:
    """Checks the chain with a wrong byte after its last op; returns the folder."""
    bench.check(chain(), (Space.GM, (1 << 20) + 71))
    assert len(bench.failures) == 1
    assert bench.scoreboard.repro.folder is not None
    return bench.scoreboard.repro.folder / "3-mte_ub_gm"


def test_a_failure_writes_the_op_with_its_dependencies(bench: Bench) -> None:
    folder = corrupted(bench)
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.txt", "batch.pto", "batch.toml", "failing.pto", "failing.toml", "memory.bin"
    ]  # fmt: skip
    assert ops_in(folder / "failing.pto") == [TO_L1, TO_UB, BACK]
    assert ops_in(folder / "batch.pto") == [TO_L1, OTHER, TO_UB, BACK]
    steps = trace(read_file(folder / "failing.pto"))
    plan = order(steps)
    assert not plan.findings
    moves = [at for at, step in enumerate(steps.steps) if isinstance(step, Move)]
    assert [plan.after.get(at, ()) for at in moves] == [(), (moves[0],), (moves[1],)]
    assert [step.gap for step in steps.steps if isinstance(step, Move)] == [0, 0, 9]
    report = bench.failures[0]
    command = f"make program PROGRAM={folder / 'failing.pto'} SIM=verilator"
    assert report.endswith(f"\n  replay: {command}")
    readme = (folder / "README.txt").read_text()
    assert command in readme
    assert report.partition("\n  replay: ")[0] in readme


def test_the_readme_names_resets_and_errors_that_are_not_replayed(bench: Bench) -> None:
    bench.run.resets.append(40)
    batch = bench.batch([BACK])
    status = Status.WR_SLVERR
    bench.hit(batch, "mte3", Space.GM, 1 << 20, kind=FaultKind.SLVERR, side=WRITE, status=status)
    bench.write(batch)
    readme = (corrupted(bench) / "README.txt").read_text()
    for what in ("1 reset, the last at clock 40", "1 error, the last at clock 500 by op 0"):
        assert f"Not replayed, after {what}; the op alone may pass." in readme


def test_memory_is_that_before_the_block(bench: Bench) -> None:
    folder = corrupted(bench)
    for name in ("failing.toml", "batch.toml"):
        for space, start, length in (
            (Space.GM, 1001, 50 + 3 * 60),
            (Space.GM, 1 << 20, 50 + 3 * 70),
            (Space.L1, 4096, 50 + 3 * 96),
            (Space.UB0, 0, SIZES[Space.UB0]),
        ):
            expected = noise(space, start, length).tobytes()
            assert loaded(folder / name, space, start, length) == expected
    with pytest.raises(AssertionError, match="is not loaded"):
        loaded(folder / "failing.toml", Space.GM, 1 << 21, 1)
    # After the block they have the results of the ops, wrong bytes included.
    golden = bench.scoreboard.expected.golden[Space.L1]
    assert golden[4096 : 4096 + 50].tobytes() == noise(Space.GM, 1001, 50).tobytes()


def test_without_kept_bytes_the_memory_would_be_wrong(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Before, "keep", lambda self, region: None)
    folder = corrupted(bench)
    expected = noise(Space.L1, 4096, 50).tobytes()
    assert loaded(folder / "failing.toml", Space.L1, 4096, 50) != expected


@pytest.mark.parametrize("room", [1, 200, 1 << 20])
def test_bytes_are_kept_for_any_capacity(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr("scoreboards.before._ROOM", room)
    golden = bench.scoreboard.expected.golden
    before = Before()
    before.keep(Footprint(Space.L1, 0, 64, (1,), (0,)))  # no block has begun: nothing to keep
    before.begin(golden, bench.scoreboard.expected.model.registers, 1)
    regions = [
        Footprint(Space.L1, 96, 100, (1,), (0,)),
        Footprint(Space.UB0, 32, 32, (4, 2), (64, 1024)),
        Footprint(Space.L1, 128, 64, (1, 1), (0, 0)),  # once more, inside the first
    ]
    for value, region in enumerate(regions):
        before.keep(region)
        for start in region.row_starts().tolist():
            golden[region.space][start : start + region.length] = value
    with before.rewound():
        for space in (Space.L1, Space.UB0):
            assert golden[space][:4096].tobytes() == noise(space, 0, 4096).tobytes()
    assert (golden[Space.L1][128:192] == 2).all()
    assert (golden[Space.L1][96:128] == 0).all()


def test_setup_files_have_memories_and_flags_before_the_block(bench: Bench) -> None:
    setup = read_setup(corrupted(bench) / "batch.toml").setup
    assert (setup.seed, setup.stall_seed, setup.illegal) == (1, 7, "refuse")
    bits = np.frombuffer(bytes.fromhex(setup.unit_flags), np.uint8)
    flags = np.unpackbits(bits, bitorder="little")
    assert (flags == bench.memory.background_flags()).all()
    assert "stall_ar" in setup.knobs
    assert "seed" not in setup.knobs


def test_a_failure_found_later_reports_that_its_memory_has_changed(bench: Bench) -> None:
    """A store changes a byte far away; a comparison finds it when two more blocks are over."""
    blocks = [from_ops([BACK]), from_ops([TO_UB]), from_ops([OTHER])]
    for number, block in enumerate(blocks):
        batch = bench.batch(block)
        bench.write(replace(batch, number=number, first=number))
    bench.corrupt(Space.GM, 1 << 22)
    writer = SimpleNamespace(cycle=500, slot=SLOTS.index("mte3"))
    bench.memory.last_writer = lambda space, address: writer  # type: ignore[method-assign]
    assert not bench.failures
    bench.scoreboard.compare_everything()
    (report,) = bench.failures
    assert "failing.pto" in report
    (name,) = folders(bench)
    assert name == "0-mte_ub_gm"
    assert bench.scoreboard.repro.folder is not None
    folder = bench.scoreboard.repro.folder / name
    late = "found later memories, registers, unit flags knobs"
    assert says((folder / "README.txt").read_text(), late)
    for file in ("failing.pto", "failing.toml", "batch.pto", "batch.toml"):
        mark = "//" if file.endswith(".pto") else "#"
        comment = re.findall(rf"^{mark} (.*)$", (folder / file).read_text()[:400], re.MULTILINE)
        assert says("\n".join(comment), late), file
    assert ops_in(folder / "failing.pto") == [BACK]
    read_setup(folder / "failing.toml")


def test_a_failure_found_in_its_block_has_its_memory(bench: Bench) -> None:
    folder = corrupted(bench)
    for file in ("README.txt", "failing.pto", "batch.toml"):
        assert "later" not in (folder / file).read_text()


def test_the_number_of_written_failures_is_limited(bench: Bench) -> None:
    ops = [MteL1Ub(4096 * k, 4096 * k, 64, 1, 64, 64) for k in range(MOST + 2)]
    batch = bench.batch(ops)
    for k in range(MOST + 2):
        bench.corrupt(Space.UB0, 4096 * k)
    bench.write(batch)
    assert folders(bench) == [f"{k}-mte_l1_ub" for k in range(MOST)]
    replayed = ["\n  replay: " in report for report in bench.failures]
    assert replayed == [True] * MOST + [False] * 2


def test_requested_transactions_are_written_though_they_passed(bench: Bench) -> None:
    bench.scoreboard.repro.wanted = {2, 77}
    bench.check(chain())
    assert not bench.failures
    assert folders(bench) == ["2-mte_l1_ub"]
    assert bench.scoreboard.repro.folder is not None
    folder = bench.scoreboard.repro.folder / "2-mte_l1_ub"
    assert ops_in(folder / "transaction.pto") == [TO_L1, TO_UB]
    assert not (folder / "failing.pto").exists()
    bench.scoreboard.close()
    (note,) = bench.run.notes
    assert says(note, "REPRO no transaction 77")


def test_without_a_folder_nothing_is_written(bench: Bench, tmp_path: Path) -> None:
    bench.scoreboard.repro.folder = None
    bench.check(chain(), (Space.GM, (1 << 20) + 71))
    assert "replay" not in bench.failures[0]
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_reported(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "repro").write_text("a file")
    bench.check(chain(), (Space.GM, (1 << 20) + 71))
    assert "replay" not in bench.failures[0]
    assert says(bench.run.notes[0], "transaction 3 not written cannot write")


def test_a_hang_is_written(bench: Bench) -> None:
    assert "replay: make program PROGRAM=" in bench.hang(chain(), 900)
    assert len(folders(bench)) == 1


@pytest.mark.long
def test_registers_are_those_of_the_block(bench: Bench) -> None:
    """Copies that use registers set by copies of earlier blocks."""
    generator = TrafficGenerator(3, ("copy_gm_to_ubuf", "copy_ubuf_to_gm"))
    blocks = list(itertools.islice(generator.blocks(1 << 30), 6))
    number, firsts = 0, []
    for block in blocks:
        bench.scoreboard.repro.wanted.add(number)
        firsts.append(number)
        batch = bench.batch(block)
        batch.first = number
        bench.write(batch)
        number += len(block)
    assert not bench.failures
    assert bench.scoreboard.repro.folder is not None
    inherited = 0
    for first, block in zip(firsts, blocks, strict=True):
        (folder,) = bench.scoreboard.repro.folder.glob(f"{first}-*")
        registers, ctrl = DmaRegisters(), 0
        found = []
        for op in ops_in(folder / "batch.pto"):
            if isinstance(op, LegacySet):
                registers = write_registers(op, registers)
            elif isinstance(op, SetCtrl | SetAtomic):
                ctrl = write_ctrl(op, ctrl)
            else:
                assert isinstance(op, LegacyCopy)
                found.append(pack(lower_copy(op, registers, ctrl)))
        assert np.array_equal(np.array(found), block.pack())
        own = sum(len(ops) - 1 for ops in block.program())
        inherited += len(ops_in(folder / "batch.pto")) - len(block) > own
    assert inherited, "no block inherits registers"


# --- parts ---------------------------------------------------------------------------------------


def test_an_illegal_op_is_sent_and_needs_nothing(bench: Bench) -> None:
    block = next(
        block
        for block in IllegalGenerator(1, ("mte_gm_ub",)).blocks(400)
        if block.expected_rule is not None and (block.expected_rule > 0).any()
    )
    index = int(np.flatnonzero(block.expected_rule)[0])  # type: ignore[arg-type]
    items = items_of(block)
    assert items[index].illegal
    assert not items[index].touches
    assert list(needed(items, index)) == [index]
    bench.scoreboard.repro.wanted = {index}
    bench.check(block)
    (folder,) = bench.scoreboard.repro.folder.iterdir()  # type: ignore[union-attr]
    assert read_setup(folder / "transaction.toml").setup.illegal == "send"
    assert not read_setup(folder / "transaction.toml").setup.load


def test_an_op_without_a_text_is_omitted(bench: Bench) -> None:
    wide = replace(OTHER, pad=Pad("i8", 256))
    block = from_descriptors([lower(wide), lower(TO_L1)], expected_rule=[5, 0])
    bench.scoreboard.repro.wanted = {0}
    bench.check(block)
    assert not bench.failures
    (folder,) = bench.scoreboard.repro.folder.iterdir()  # type: ignore[union-attr]
    assert ops_in(folder / "batch.pto") == [TO_L1]
    assert not (folder / "transaction.pto").exists()
    readme = (folder / "README.txt").read_text()
    assert says(readme, "Left out transaction 0 mte2 no text 0x100")
    assert "batch.pto" in readme
    assert "transaction.pto" not in readme


def test_ranges_are_rows_of_gm_and_whole_memories() -> None:
    rows = Footprint(Space.GM, 1000, 50, (3, 2), (60, 1 << 20))
    l0b = Footprint(Space.L0, 0x23A00, 32, (), ())
    found = ranges_of([rows, Footprint(Space.L1, 64, 32, (), ()), l0b])
    assert found == {
        Space.GM: [(960, 1216), (960 + (1 << 20), 1216 + (1 << 20))],
        Space.L1: [(0, SIZES[Space.L1])],
        Space.L0: [(part.start, part.stop) for part in SEGMENTS[Space.L0]],
    }
    assert ranges_of([]) == {}


def test_there_are_never_too_many_ranges() -> None:
    far = Footprint(Space.GM, 0, 32, (50_000,), (1 << 16,))
    ((start, stop),) = ranges_of([far])[Space.GM]
    assert (start, stop) == (0, (49_999 << 16) + 64)
    apart = Footprint(Space.GM, 0, 32, (MOST_RANGES,), (1 << 16,))
    assert len(ranges_of([apart])[Space.GM]) == MOST_RANGES


def test_parts_of_a_file_are_found() -> None:
    sections = [At(Space.GM, 64, 128, 0), At(Space.GM, 512, 64, 128), At(Space.L1, 0, 640, 192)]
    wanted = {Space.GM: [(128, 192), (512, 576)], Space.L1: [(0, 640)]}
    assert sections_in(sections, wanted) == [
        At(Space.GM, 128, 64, 64), At(Space.GM, 512, 64, 128), At(Space.L1, 0, 640, 192)
    ]  # fmt: skip


def test_reading_does_not_change_golden_memories(bench: Bench) -> None:
    bench.check(chain())
    golden = bench.scoreboard.expected.golden
    now = {space: golden[space].copy() for space in (Space.L1, Space.UB0)}
    with bench.scoreboard.repro.before.rewound() as (before, _):
        for space in now:
            assert before[space].tobytes() == noise(space, 0, SIZES[space]).tobytes()
    for space, content in now.items():
        assert (golden[space] == content).all()


@pytest.mark.long
@pytest.mark.parametrize("op", SELECTABLE)
def test_every_op_of_the_table_is_replayed(bench: Bench, op: str) -> None:
    (block, *_) = TrafficGenerator(5, (op,), OpConstraints(nop=0.0)).draw(30)
    batch = bench.batch(block)
    at = next(n for n, outcome in enumerate(bench.outcomes) if outcome.regions)
    wrong = bench.outcomes[at].regions[0]
    bench.corrupt(wrong.space, wrong.base)
    bench.write(batch)
    (failure,) = bench.details
    name, address = located(wrong.space, wrong.base)
    assert (failure.op, failure.space, failure.address) == (op, name, address)
    assert place_text(wrong.space, wrong.base) in failure.text.splitlines()[0]
    folder = bench.scoreboard.repro.folder
    assert folder
    for program in sorted(folder.glob("*/*.pto")):
        assert Replay.make([str(program)], ProgramOptions(), {}).settings.transactions > 0
    assert len(list(folder.glob("*/*.pto"))) == 2
