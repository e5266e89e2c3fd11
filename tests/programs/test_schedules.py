# SPDX-License-Identifier: Apache-2.0
"""Schedules: drawn from seed and number alone, they keep every dependency of a program."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from sequences.replay import schedule
from tb.harness.knobs import RANGES
from tb.harness.memory import SimMemory
from tb.isa.pipes import Pipe
from tb.isa.spaces import L0_SEGMENTS, SIZES, Space, memory_range
from tb.language.order.order import order
from tb.language.order.races import races
from tb.language.reader import read
from tb.language.run.walk import trace
from tb.language.trace import Compute, Move, Trace
from tb.programs.command import Replay
from tb.programs.images import FLAGS, Image, difference_report, differences, explain, image_of
from tb.programs.job import read_programs
from tb.programs.options import ProgramOptions
from tb.programs.schedules import Basis, Schedule, scheduled
from tests.language.steps import load, program, store
from tests.language.test_races import some_steps
from tests.programs.copies import ARGS, COPY, refused
from tests.programs.test_replay_sim import MATMUL
from tests.programs.test_schedules_sim import ADDS

BASIS = Basis(7, 11)


def pipe(trace: Trace, index: int) -> Pipe:
    step = trace.steps[index]
    assert isinstance(step, Move | Compute)
    return step.pipe


def test_a_schedule_depends_on_seed_and_number() -> None:
    drawn = [BASIS.schedule(number) for number in range(40)]
    assert drawn == [Basis(7, 11).schedule(number) for number in range(40)]
    others = [Basis(8, 11).schedule(number) for number in range(1, 40)]
    assert all(one != other for one, other in zip(drawn[1:], others, strict=True))
    assert len({one.stall_seed for one in drawn}) == 40


def test_schedule_0_draws_nothing() -> None:
    plain = BASIS.schedule(0)
    assert (plain.pipes, plain.serial, plain.lead, plain.stall_seed) == ((), False, 0, 11)
    assert plain.profile.values == {name: one.rest for name, one in RANGES.items()}


def test_the_knobs_of_the_user_stay() -> None:
    basis = Basis(7, 11, {"axi_read_latency": 123})
    assert all(basis.schedule(n).knobs["axi_read_latency"] == 123 for n in range(9))


def test_schedules_come_in_pairs_with_opposite_orders_of_the_pipes() -> None:
    for number in range(1, 40, 2):
        one, other = BASIS.schedule(number), BASIS.schedule(number + 1)
        assert one.pipes == other.pipes[::-1]
        assert one.serial == other.serial == (number % 4 == 1)
        assert not (one.serial and (one.lead or other.lead))
        assert one.knobs != other.knobs


@pytest.mark.parametrize("seed", range(40))
def test_every_dependency_is_kept(seed: int) -> None:
    trace = program(some_steps(random.Random(seed)))
    found = order(trace)
    for number in range(5):
        drawn = BASIS.schedule(number)
        other = scheduled(trace, found, drawn)
        assert sorted(other.sequence) == sorted(found.sequence)
        place = {index: at for at, index in enumerate(other.sequence)}
        for index, links in found.after.items():
            assert all(place[one] < place[index] for one in links)
        for of in Pipe:
            mine = [index for index in other.sequence if pipe(trace, index) is of]
            assert mine == sorted(mine)
        if drawn.serial:
            assert all(other.after[late] == (early,) for early, late in pairwise(other.sequence))
        else:
            assert other.after == found.after


def test_a_pair_of_schedules_issues_a_race_both_ways() -> None:
    trace = program([load(0), store(0)])
    found = order(trace)
    sequences = {scheduled(trace, found, BASIS.schedule(number)).sequence for number in (1, 2)}
    assert sequences == {(0, 1), (1, 0)}


def races_of_host(source: str, target: str) -> Trace:
    """Returns the steps of a product of which one wait is missing."""
    flags = [f'  pto.{way}_flag["{source}", "{target}", "EVENT_ID0"]\n' for way in ("set", "wait")]
    text = MATMUL
    for flag in flags:
        assert flag in text
        text = text.replace(flag, "")
    return trace(read(text, "x.pto"), arguments={0: 0, 1: 1 << 20, 2: 1 << 21})


@pytest.mark.parametrize("number", [1, 3, 5, 7])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("source", "target", "other"),
    [("PIPE_M", "PIPE_FIX", "mte_l0c_gm"), ("PIPE_MTE1", "PIPE_M", "mte_l1_l0a")],
)
def test_a_product_of_the_host_is_before_and_behind_an_op_that_races_with_it(
    number: int, seed: int, source: str, target: str, other: str
) -> None:
    """In each pair of schedules, whether ops overlap or not."""
    found = races_of_host(source, target)
    sequence = order(found, hazard="warn")
    assert sequence.held
    first = []
    for each in (number, number + 1):
        rounds = schedule(found, scheduled(found, sequence, Basis(seed, 1).schedule(each)))
        ops = [index for item in rounds for index in (*item.host_steps, *item.steps)]
        names = [step.name for step in map(found.steps.__getitem__, ops) if hasattr(step, "name")]
        first.append(names.index("mad") < names.index(other))
    assert sorted(first) == [False, True]


@pytest.mark.parametrize(("kind", "free"), [("s32", True), ("f32", False)])
def test_integer_atomic_adds_of_two_pipes_keep_their_order(kind: str, free: bool) -> None:
    """AT-05: the engines need not be atomic against each other; sums of floats depend on it."""
    text = ADDS if kind == "s32" else ADDS.replace("i32,", "f32,").replace("s32", "f32")
    made = trace(read(text, "x.pto"), arguments={0: 1 << 20})
    found = order(made)
    assert (found.findings == ()) is free
    assert (races(made, found) == ()) is free
    drawn = [scheduled(made, found, BASIS.schedule(number)) for number in range(9)]
    assert (len({one.sequence for one in drawn}) == 1) is free
    (later,), (earlier,) = found.held, *found.held.values()
    assert all(earlier in one.waits(later) for one in drawn) is free


def image(**local: bytes) -> Image:
    return Image({name: np.frombuffer(data, np.uint8) for name, data in local.items()}, {})


def test_a_difference_without_a_race_blames_the_engine() -> None:
    trace = program([load(0), store(0)])
    found = order(trace)
    wrong = {"gm": np.array([[0x10000, 0x10010]]), "ub0": np.array([[4096, 4100]])}
    explained = explain(trace, found, races(trace, found), wrong)
    assert [(one.earlier, one.later) for one in explained.races] == [(0, 1)]
    assert list(explained.rest) == ["ub0"]
    text = difference_report(
        "x.pto",
        (Schedule(0, {}, {}, 1), BASIS.schedule(1)),
        wrong,
        explained,
        trace=trace,
        lines=["first op", "second op"],
        commands=["repeat 0", "repeat 1"],
    )
    for part in (
        "schedules 0 and 1 leave different images",
        "20 bytes differ: gm 0x10000..0x1000f (16 B); ub0 0x1000..0x1003 (4 B)",
        "race: two ops that nothing orders touch ub0 0x0..0xff (256 B)",
        "first op",
        "no race: flags and barriers order all ops that touch ub0 0x1000..0x1003 (4 B)",
        "an engine or the harness",
        "repeat: repeat 1",
    ):
        assert part in text
    assert explain(trace, found, (), wrong).races == ()
    assert dict(explain(trace, found, (), wrong).rest) == wrong


class Memories:
    """On-chip memories of zeros, in which nothing was written to GM."""

    def __init__(self) -> None:
        self.unit_flags = np.zeros(4, np.uint8)
        self._views = {
            space: np.zeros(0 if space is Space.GM else SIZES[space], np.uint8) for space in Space
        }

    def view(self, space: Space) -> NDArray[np.uint8]:
        """Returns a memory."""
        return self._views[space]

    def dirty_gm_pages(self) -> list[int]:
        """Returns none."""
        return []


@pytest.mark.parametrize("name", [*L0_SEGMENTS])
def test_a_race_in_l0_explains_its_bytes(name: str) -> None:
    """The images have the four memories by the names of the races."""
    memory = Memories()
    before = image_of(cast(SimMemory, memory))
    space, addresses = memory_range(name)
    memory.view(space)[addresses.start + 32] = 1
    wrong = differences(before, image_of(cast(SimMemory, memory)), cast(SimMemory, memory))
    assert {one: ranges.tolist() for one, ranges in wrong.items()} == {name: [[32, 33]]}


def test_unit_flags_that_differ_are_named() -> None:
    trace = program([load(0), store(0)])
    found = order(trace)
    explained = explain(trace, found, (), {FLAGS: np.array([[3, 4]])})
    assert list(explained.rest) == [FLAGS]


def test_images_with_a_byte_of_difference_have_other_sums() -> None:
    one, other = image(ub0=b"abc"), image(ub0=b"abd")
    assert one.crc32() != other.crc32()
    assert one.crc32() == image(ub0=b"abc").crc32()


def test_programs_with_memory_errors_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "copy.pto").write_text(COPY)
    (tmp_path / "copy.toml").write_text(
        '[[fault]]\narg = 0\naddress = 64\nkind = "slverr"\nsides = "read"\n'
    )
    monkeypatch.chdir(tmp_path)
    text = refused(capsys, monkeypatch, "copy.pto", *ARGS, "--schedules", "4")
    assert all(part in text for part in ("copy.toml", "undefined bytes", "[[fault]]")), text


def test_the_options_repeat_themselves() -> None:
    assert ProgramOptions(schedules=(0, 1, 2)).words() == ("--schedules", "3")
    assert ProgramOptions(schedules=(5,)).words() == ("--schedule", "5")


# --- Programs that a command hands to its simulation

EXAMPLES = sorted(Path("examples/programs").glob("*.pto"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_program_comes_back_as_it_was(path: Path, tmp_path: Path) -> None:
    """Every example: job, steps, order, and the blocks that are sent."""
    made = Replay.make([str(path)], ProgramOptions(), {})
    made.files.stage(tmp_path)
    (one,) = made.files.programs
    (found,) = read_programs(tmp_path)
    assert (found.job, found.trace, found.order) == (one.job, one.trace, one.order)
    sent, again = schedule(found.trace, found.order), schedule(one.trace, one.order)
    assert [item.block.pack().tolist() for item in sent] == [
        item.block.pack().tolist() for item in again
    ]
