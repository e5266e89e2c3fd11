# SPDX-License-Identifier: Apache-2.0
"""Random legal ops of every form in small memories, and the image that a byte map predicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.dma import DmaOp, ReferenceModel
from sequences.constraints import GmWindow, OpConstraints, SizeClass
from sequences.draw.traffic import TrafficGenerator
from tb.explain.parts import Link, Part, written_in
from tb.isa.ctrl import CtrlOp, SetCtrl
from tb.isa.dma.legacy import OUTTOUB, UBTOOUT, CopyGmToUbuf, DmaRegisters, writes_between
from tb.isa.lower import Descriptor
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
    def descriptor(self) -> Descriptor:
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


def predicted(parts: tuple[Part, ...], before: Images, actual: Images) -> Images:
    """Returns the memories after an op whose bytes are those of the map.

    Values that the op computes are those of ``actual``.
    """
    after = {space: image.copy() for space, image in before.items()}
    for link in links_of(parts):
        part, here = link.part, slice(link.dst, link.dst + link.size)
        if part.source is None:
            pattern = (part.pattern * (link.size + 1))[link.dst % len(part.pattern) :]
            after[part.space][here] = np.frombuffer(pattern[: link.size], dtype=np.uint8)
        elif part.moved:
            ((start, size),) = link.sources
            after[part.space][here] = before[part.source][start : start + size]
        else:
            after[part.space][here] = actual[part.space][here]
    return after


def misread(parts: tuple[Part, ...], before: Images, actual: Images, drawn: Drawn) -> list[Link]:
    """Returns computed units whose value is not made of the sources that the map has alone.

    Half of the units keep their sources; all other bytes of the memory that is read are others.
    """
    rng = np.random.default_rng(len(parts))
    computed = [link for link in links_of(parts) if not link.part.moved]
    kept = [link for link in computed if rng.integers(2)]
    again = {space: image.copy() for space, image in before.items()}
    for space in {link.part.source for link in kept if link.part.source is not None}:
        again[space][:] = rng.integers(0, 256, again[space].size, dtype=np.uint8)
        for link in kept:
            for start, size in link.sources:
                again[space][start : start + size] = before[space][start : start + size]
    run(drawn, again)
    return [link for link in kept if (bytes_of(again, link) != bytes_of(actual, link)).any()]


def bytes_of(images: Images, link: Link) -> NDArray[np.uint8]:
    return images[link.part.space][link.dst : link.dst + link.size]
