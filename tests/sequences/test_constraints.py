# SPDX-License-Identifier: Apache-2.0
"""Impossible constraints are errors with the value and the legal range."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sequences.constraints import ConstraintError, GmWindow, OpConstraints, SizeClass
from sequences.draw.copies import CopyGenerator
from sequences.draw.traffic import TrafficGenerator
from sequences.examples.blocks import example_blocks
from sequences.examples.catalog import EXAMPLES
from sequences.illegal.generator import IllegalGenerator
from sequences.uvm import (
    BlockItem,
    BlockSeq,
    CornerSeq,
    DirectedSeq,
    IllegalSeq,
    RandomSeq,
)
from tb.common.errors import PtoError
from tb.isa.profile import A5, using


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bus_bytes": 8}, "bus_bytes is 8"),
        ({"block_ops": 0}, "block_ops is 0"),
        ({"block_ops": True}, "block_ops is True"),
        ({"max_bytes": 0}, "max_bytes is 0"),
        ({"max_ub_bytes": 262145}, "max_ub_bytes is 262145"),
        ({"max_bytes": 4096, "max_gm_bytes": 4095}, "max_gm_bytes is 4095"),
        ({"max_loops": 4}, "max_loops is 4"),
        ({"pad": 1.5}, "pad is 1.5"),
        ({"legacy": -0.1}, "legacy is -0.1"),
        ({"loops": (0.0, 0.0, 0.0, 1.0), "max_loops": 2}, "loops is"),
        ({"loops": (1.0, -1.0, 0.0, 0.0)}, "loops is"),
        ({"loops": "3"}, "loops is '3'"),
        ({"loops": (True, 0.0, 0.0, 0.0)}, "loops is"),
        ({"loops": (1.0, float("nan"), 0.0, 0.0)}, "loops is"),
        ({"sizes": 3}, "sizes is 3"),
        ({"sizes": (SizeClass(1, 2.5, 1.0),)}, "SizeClass"),  # type: ignore[arg-type]
        ({"sizes": (SizeClass(1, 2, 1.0), SizeClass(1, 2, float("nan")))}, "SizeClass"),
        ({"windows": GmWindow(0, 4 << 20)}, "windows is GmWindow"),
        ({"windows": (GmWindow(0.0, 4 << 20),)}, "windows is"),  # type: ignore[arg-type]
        ({"ub_range": (0, 8192)}, "ub_range is"),
        ({"fb_range": GmWindow(0, 1024.0)}, "fb_range is"),  # type: ignore[arg-type]
        ({"sizes": ()}, "sizes has no class"),
        ({"sizes": (SizeClass(5, 4, 1.0),)}, "SizeClass"),
        ({"sizes": (SizeClass(100, 200, 1.0),), "max_bytes": 50}, "above max_bytes 50"),
        ({"windows": ()}, "windows is empty"),
        ({"ub_range": GmWindow(16, 8192)}, "ub_range is 0x10"),
        ({"l1_range": GmWindow(0, 1 << 20)}, "l1_range is 0x0"),
        ({"ub_range": GmWindow(0, 2048)}, "ub_range is 0x0"),
        ({"ub_range": GmWindow(0, 8192)}, "lower max_ub_bytes"),
        ({"l1_range": GmWindow(64, 8192)}, "lower max_l1_bytes"),
        ({"max_l1_bytes": 100}, "max_l1_bytes is 100"),
        ({"mixed": 1.1}, "mixed is 1.1"),
        ({"l0c_range": GmWindow(64, 65536)}, "l0c_range is 0x40"),
        ({"l0c_range": GmWindow(0, 4096)}, "l0c_range is 0x0"),
        ({"fb_range": GmWindow(0, 4224)}, "fb_range is 0x0"),
        ({"fb_range": GmWindow(64, 1024)}, "fb_range is 0x40"),
        ({"bt_range": GmWindow(0, 256)}, "bt_range is 0x0"),
        ({"tile_rows": 8193}, "tile_rows is 8193"),
        ({"tile_columns": 0}, "tile_columns is 0"),
        ({"max_flag_delay": -1}, "max_flag_delay is -1"),
        ({"atomic": 1.5}, "atomic is 1.5"),
        ({"saturate": -0.5}, "saturate is -0.5"),
        ({"windows": (GmWindow(0, 4096),)}, "window 0x0"),
        ({"windows": (GmWindow((1 << 40) - 4096, 4 << 20),)}, "window 0xfffffff000"),
        ({"windows": (GmWindow(0, 4 << 20), GmWindow(1 << 20, 4 << 20))}, "overlap"),
    ],
)
def test_impossible_constraints(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConstraintError, match=message) as caught:
        OpConstraints(**values)
    assert isinstance(caught.value, PtoError)
    assert "OpConstraints" in str(caught.value)


@pytest.mark.parametrize(("ops", "message"), [((), "no op"), (("mte_l0c_gm",), "'mte_l0c_gm'")])
def test_unknown_ops(ops: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConstraintError, match=message) as caught:
        CopyGenerator(1, ops)
    assert "copy_ubuf_to_gm" in str(caught.value)


@pytest.mark.parametrize("make", [CopyGenerator, TrafficGenerator, IllegalGenerator])
def test_unknown_ops_of_other_generators(make: type[CopyGenerator]) -> None:
    for ops in ((), ("mte_l0c_bt",)):
        with pytest.raises(ConstraintError, match="mte_l0c_bt" if ops else "no op"):
            make(1, ops)
    if make is CopyGenerator:
        with pytest.raises(ConstraintError, match="mte_l0c_gm"):
            make(1, ("mte_l0c_gm",))


# --- Sequences send every block once, in order, as items with unique ids


class Recorder:
    """A fake sequencer."""

    def __init__(self) -> None:
        self.started: list[BlockItem] = []
        self.finished: list[BlockItem] = []

    async def start_item(self, item: BlockItem) -> None:
        self.started.append(item)

    async def finish_item(self, item: BlockItem) -> None:
        self.finished.append(item)


def send(sequence: BlockSeq) -> list[BlockItem]:
    recorder = Recorder()
    sequence.sequencer = recorder
    asyncio.run(sequence.body())
    assert recorder.started == recorder.finished
    return recorder.finished


@pytest.mark.long
@pytest.mark.parametrize("kind", [RandomSeq, IllegalSeq])
def test_transactions(kind: type[RandomSeq]) -> None:
    sequence = kind(seed=3, transactions=400)
    items = send(sequence)
    assert sum(len(item.block) for item in items) == sequence.sent == 400
    numbers = [item.number for item in items]
    assert numbers == sorted(set(numbers))
    assert items[0].get_name() == f"block_{numbers[0]}"


@pytest.mark.long
def test_directed_form() -> None:
    assert len(send(DirectedSeq(form="legacy"))) == 19
    applying = [example for example in EXAMPLES if example.applies]
    for form, least in (("v06", 70), ("ctrl", 8), ("vector", 25), ("scalar", 10)):
        assert len(send(DirectedSeq(form=form))) >= least
    every = sum(len(blocks) for each in applying for blocks in example_blocks(each).values())
    assert len(send(DirectedSeq())) == every > 150
    with using(A5):
        assert 100 < len(send(DirectedSeq())) < every


@pytest.mark.long
def test_corner() -> None:
    assert sum(len(item.block) for item in send(CornerSeq(bus_bytes=16))) > 1000


@pytest.mark.long
def test_given_blocks() -> None:
    blocks = list(RandomSeq(transactions=100).blocks())
    assert [item.block for item in send(BlockSeq(source=blocks))] == blocks
