# SPDX-License-Identifier: Apache-2.0
"""Random legal ops of every form in small memories, and the image that a byte map predicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.atomic_store import AtomicStore
from scoreboards.model.dma import DmaOp, ReferenceModel
from scoreboards.model.fixpipe import WriteBack
from scoreboards.model.fixpipe_atomic import combine
from scoreboards.model.fixpipe_stages import CONTAINERS
from scoreboards.model.widen import WIDENINGS
from sequences.constraints import GmWindow, OpConstraints, SizeClass
from sequences.draw.traffic import TrafficGenerator
from tb.explain.parts import Link, Part, written_in
from tb.isa.burst.op import BurstOp
from tb.isa.ctrl import CtrlOp, SetCtrl
from tb.isa.dma.legacy import OUTTOUB, UBTOOUT, CopyGmToUbuf, DmaRegisters, writes_between
from tb.isa.l0.op import L0Load
from tb.isa.op import Op
from tb.isa.program import moving_at
from tb.isa.spaces import SIZES, Space
from tb.language.lowered import descriptor
from tb.language.run.registers import RegisterState
from tests.model.test_fix_ops import Side

Images = dict[Space, NDArray[np.uint8]]

USED = GmWindow(0, 1 << 15)
"""The part of GM, UB, L1 and L0C that ops use."""

MARGIN = 4096
"""Bytes after the end of memories, for maps that are wrong."""

LIMITS = OpConstraints(
    max_bytes=512, max_ub_bytes=4096, max_l1_bytes=4096, max_gm_bytes=4096, max_rows=32,
    sizes=(SizeClass(1, 64, 0.5), SizeClass(65, 512, 0.5)), windows=(USED,),
    ub_range=USED, l1_range=USED, l0c_range=USED, far=0.0, stretch=0.0, big_nz=0.0, saturate=0.0,
    tile_rows=8, tile_columns=40, big_tile=0.0, nz2nz=0.3, atomic=0.2, clip=0.1, ctrl=0.1,
    update=0.5, share_fb=0.0,
)  # fmt: skip
"""Small ops at the start of every memory."""


@dataclass(frozen=True)
class Drawn:
    """An op, the ops before it that write registers, and what these leave there."""

    op: Any
    before: tuple[DmaOp, ...]
    registers: DmaRegisters
    ctrl: int

    @property
    def descriptor(self) -> Op:
        """The descriptor."""
        found = descriptor(self.op, self.registers, self.ctrl)
        assert found is not None
        return found


def drawn(form: str, count: int, seed: int) -> Iterator[Drawn]:
    """Yields ``count`` ops of a form, each with all the writes that it needs."""
    state = RegisterState()
    for block in TrafficGenerator(seed, (form,), LIMITS).blocks(count):
        for entry in block.program():
            place = moving_at(entry)
            _write(state, entry[:place])
            op, ctrl = entry[place], (SetCtrl(state.ctrl),) if state.ctrl else ()
            way = OUTTOUB if isinstance(op, CopyGmToUbuf) else UBTOOUT
            registers = writes_between(DmaRegisters(), state.now, (way,))
            yield Drawn(op, (*registers, *ctrl), state.now, state.ctrl)
            _write(state, entry[place + 1 :])


def _write(state: RegisterState, ops: Sequence[Any]) -> None:
    for one in ops:
        if isinstance(one, CtrlOp):
            state.write_ctrl(one)
        else:
            state.write(one)


def memories(op: Any, seed: int) -> Images:
    """Returns memories of known bytes; no byte is that of its neighbours."""
    if op.src_type.space == "l0c":
        side = Side(seed, SIZES[Space.FB])
        if op.src_type.dtype == "i32":
            side.integers()
        return side.images
    rng = np.random.default_rng(seed)
    sizes = {space: min(size, USED.end) for space, size in SIZES.items()}
    sizes |= {space: SIZES[space] for space in (Space.FB, Space.L0)}
    return {s: rng.integers(0, 256, size + MARGIN, dtype=np.uint8) for s, size in sizes.items()}


def run(drawn: Drawn, images: Images) -> Any:
    """Executes an op on the model; returns its outcome, applied to the images."""
    model = ReferenceModel(images, unit_flags=np.ones(512, dtype=np.uint8))
    for one in drawn.before:
        model.execute(one)
    return model.execute(drawn.op)


def links_of(parts: tuple[Part, ...]) -> Iterator[Link]:
    for space in {part.space for part in parts}:
        yield from written_in(parts, space, 0, SIZES[space] + MARGIN)


def predicted(parts: tuple[Part, ...], before: Images, drawn: Drawn, outcome: Any) -> Images:
    """Returns the memories after an op whose bytes are those of the map.

    Values that an op computes are those of the model, of the bytes that the map names.
    """
    after = {space: image.copy() for space, image in before.items()}
    for link in links_of(parts):
        part = link.part
        if part.source is None:
            places = range(link.dst, link.dst + link.size)
            data = bytes(part.pattern[at % len(part.pattern)] for at in places)
        else:
            image = before[part.source]
            read = [image[at : at + size].copy() for at, size in link.sources]
            data = read[0].tobytes()
            if not part.moved:
                old = before[part.space][link.dst : link.dst + link.size].copy()
                data = _computed(link, read, old, drawn, before, outcome)
        assert len(data) == link.size
        after[part.space][link.dst : link.dst + link.size] = np.frombuffer(data, dtype=np.uint8)
    return after


def _computed(
    link: Link, read: list[Any], old: Any, drawn: Drawn, before: Images, outcome: Any
) -> bytes:
    """Returns a unit of computed bytes."""
    if isinstance(drawn.op, BurstOp):
        rule = WIDENINGS[drawn.op.src_type.dtype]
        assert rule.words is not None
        return bytes(rule.words[read[0].view(rule.element)].astype("<u4").tobytes())
    transfer = outcome.transfer
    if isinstance(drawn.op, L0Load):
        names = [axis.name for axis in link.part.axes]
        shift = 4 * link.index[names.index("nibble")]
        low, high = (int(one[0]) >> shift & 15 for one in read)
        return bytes([low | high << 4])
    if isinstance(transfer, AtomicStore):
        kind = f"<u{transfer.size}"
        new, _ = combine(
            transfer.kind, transfer.op, old.view(kind), read[0].view(kind), ieee=transfer.ieee
        )
        return new.tobytes()
    assert isinstance(transfer, WriteBack)
    values = transfer._parameters(before)
    container = CONTAINERS[transfer.pipeline.target]
    nibbles = [(old[0] >> shift & 15).reshape(1) for shift in (0, 4)]
    found = []
    for number, bytes_ in enumerate(read):
        channel = channels(link)[number]
        element, _ = transfer.pipeline.run(bytes_.view("<u4"), values.channel(channel))
        if transfer.atomic is not None:
            previous = old.view(container) if len(read) == 1 else nibbles[number]
            atomic = transfer.atomic
            element, _ = combine(atomic.type, atomic.op, previous, element, ieee=transfer.ieee)
        found.append(element.reshape(-1))
    if len(found) == 1:
        return bytes(found[0].astype(container).tobytes())
    return bytes([int(found[0][0]) | int(found[1][0]) << 4])


def channels(link: Link) -> list[int]:
    """Returns the channel of each accumulator of a unit, from the names of the axes."""
    at = {axis.name: k for axis, k in zip(link.part.axes, link.index, strict=True)}
    first = 16 * at["group"] + 8 * at.get("half", 0)
    if "lane pair" in at:
        return [first + 2 * at["lane pair"], first + 2 * at["lane pair"] + 1]
    return [first + at["lane"]] * len(link.sources)
