# SPDX-License-Identifier: Apache-2.0
"""Random legal ops of every kind in small memories, and the image that a byte map predicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.atomic_store import AtomicStore
from scoreboards.model.dma import DmaOp, ReferenceModel
from scoreboards.model.fixpipe import WriteBack
from scoreboards.model.fixpipe_atomic import combine
from scoreboards.model.fixpipe_stages import CONTAINERS
from scoreboards.model.widen import WIDENINGS
from tb.explain.parts import Link, Part, written_in
from tb.isa.burst.op import BurstOp, MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.ctrl import SetCtrl
from tb.isa.dma.legacy import CopyUbufToUbuf, DmaRegisters, LegacySet, write_registers
from tb.isa.dma.op import Loop, MteGmL1, MteL1Ub, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.fix.table import ATOMIC_BYTES
from tb.isa.l0.op import LOAD_CLASSES, L0Load
from tb.isa.lower import Descriptor
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.spaces import SIZES, Space
from tb.language.lowered import descriptor
from tests.model.test_dma import draw as draw_copy
from tests.model.test_fix_ops import Side
from tests.model.test_fix_ops import drawn as draw_write_back

Images = dict[Space, NDArray[np.uint8]]

TYPES = {1: "i8", 2: "f16", 4: "i32"}
SMALL = {space: min(size, 1 << 14) for space, size in SIZES.items()} | {
    space: SIZES[space] for space in (Space.FB, Space.L0)
}


@dataclass(frozen=True)
class Drawn:
    """An op, the ops before it that write registers, and what these leave there."""

    op: Any
    before: tuple[DmaOp, ...] = ()
    registers: DmaRegisters = field(default_factory=DmaRegisters)
    ctrl: int = 0

    @property
    def descriptor(self) -> Descriptor | None:
        """The descriptor, None for an op that has none."""
        return descriptor(self.op, self.registers, self.ctrl)


def _copies(rng: np.random.Generator) -> Drawn:
    op, _, before = draw_copy(rng)
    registers = DmaRegisters()
    for one in before:
        if isinstance(one, LegacySet):
            registers = write_registers(one, registers)
    return Drawn(op, before, registers)


def _block(rng: np.random.Generator) -> int:
    return 32 * int(rng.integers(0, 13))


def _loads(rng: np.random.Generator) -> Drawn:
    loops = tuple(
        Loop(int(rng.integers(1, 4)), int(rng.integers(0, 300)), _block(rng))
        for _ in range(rng.integers(0, 4))
    )
    length = int(rng.choice([1, 5, 31, 32, 33, 64, 100]))
    size = int(rng.choice([1, 2, 4]))
    types = Ptr(TYPES[size], "gm"), Ptr(TYPES[size], "l1")
    step = length if rng.integers(2) else _block(rng)
    rows = (int(rng.integers(1, 5)), int(rng.integers(0, 300)), step)
    return Drawn(MteGmL1(int(rng.integers(99)), _block(rng), length, *rows, loops, *types))


def _l1_ub(rng: np.random.Generator) -> Drawn:
    loops = tuple(
        Loop(int(rng.integers(1, 4)), _block(rng), _block(rng)) for _ in range(rng.integers(0, 4))
    )
    few: Any = rng.integers(1, 5, 4).tolist()
    sub = int(rng.integers(2))
    return Drawn(
        MteL1Ub(_block(rng), _block(rng), few[0], few[1], few[2], few[3], loops, ub_sub=sub)
    )


def _bursts(rng: np.random.Generator) -> Drawn:
    few: list[int] = [*rng.integers(1, 6, 2).tolist(), *rng.integers(0, 5, 2).tolist()]
    length, count, src_gap, dst_gap = few
    gaps = (length, count, src_gap, dst_gap)
    kind, sub = int(rng.integers(4)), int(rng.integers(2))
    if kind == 0:
        dst = (int(rng.integers(2)) << 16) + 64 * int(rng.integers(4))
        return Drawn(MteL1Fb(_block(rng), dst, *gaps))
    if kind == 1:
        return Drawn(MteUbL1(_block(rng), _block(rng), *gaps, ub_sub=sub))
    if kind == 2:
        return Drawn(MteUbUb(_block(rng), 4096 + _block(rng), *gaps, ub_sub=sub))
    dtype = str(rng.choice(["f32", "i32", "bf16", "f16"]))
    types = Ptr(dtype, "l1"), Ptr("i32" if dtype == "i32" else "f32", "bt")
    return Drawn(MteL1Bt(_block(rng), 64 * int(rng.integers(4)), *gaps, *types))


def _ubuf(rng: np.random.Generator) -> Drawn:
    length, n = 32 * int(rng.integers(1, 5)), int(rng.integers(1, 5))
    steps: Any = (length + 32 * rng.integers(0, 5, 2)).tolist()
    sub = int(rng.integers(2))
    return Drawn(
        CopyUbufToUbuf(
            _block(rng), 4096 + _block(rng), 7, n, length, steps[0], steps[1], ub_sub=sub
        )
    )


def _nz(rng: np.random.Generator) -> Drawn:
    size = int(rng.choice([1, 2, 4]))
    small = bool(rng.integers(4) == 0)
    mode = str(rng.choice(["nd2nz", "dn2nz"]))
    n, d = int(rng.integers(1, 10)), int(rng.integers(1, 5 if small else 96 // size + 2))
    least = size * (d if mode == "nd2nz" else n)
    inner = least + int(rng.integers(0, 9))
    loop2 = int(rng.choice([1, 1, 2, 5]))
    loop3 = loop2 * n + int(rng.integers(0, 3))
    loop4 = loop3 * -(-d * size // 32) + int(rng.integers(0, 3))
    outer = None if rng.integers(2) else int(rng.integers(0, 400))
    return Drawn(
        MteGmL1Frac(
            int(rng.integers(0, 40)), _block(rng), mode, n, d, inner, int(rng.integers(1, 4)),
            loop2, loop3, loop4, outer, 0, int(small),
            Ptr(TYPES[size], "gm"), Ptr(TYPES[size], "l1"),
        )
    )  # fmt: skip


def _write_back(rng: np.random.Generator) -> Drawn:
    return Drawn(draw_write_back(rng))


def _l0(rng: np.random.Generator) -> Drawn:
    name = str(rng.choice(list(LOAD_CLASSES)))
    spec = LOAD_CLASSES[name].spec
    dtype = "f8E8M0" if spec.scales else str(rng.choice(["f4E2M1x2", "i8", "f16", "f32"]))
    turn = 0 if spec.scales else int(rng.integers(2))
    few: list[int] = rng.integers(0, 3, 4).tolist()
    m_step, k_step = few[2], few[3]
    if turn:
        m_step *= {"f4E2M1x2": 4, "i8": 2}.get(dtype, 1)
        k_step *= 2 if dtype == "f32" else 1
    steps = (few[0], few[1], m_step, k_step, int(rng.integers(1, 5)), int(rng.integers(1, 20)))
    types = Ptr(dtype, "l1"), Ptr(dtype, spec.destination)
    return Drawn(LOAD_CLASSES[name](_block(rng), 512 * int(rng.integers(3)), *steps, turn, *types))


def _atomic(rng: np.random.Generator) -> Drawn:
    kind = int(rng.integers(1, 7))
    size = ATOMIC_BYTES[kind]
    ctrl = kind << 6 | int(rng.integers(3)) << 9 | int(rng.integers(2)) << 48
    length = size * int(rng.integers(1, 20))
    row = length + size * int(rng.integers(3))
    rows = (int(rng.integers(1, 4)), 96, row)
    loops = (Loop(2, 512, 4 * row),) if rng.integers(2) else ()
    return Drawn(
        MteUbGm(_block(rng), size * int(rng.integers(9)), length, *rows, loops),
        (SetCtrl(ctrl),),
        ctrl=ctrl,
    )


KINDS = {
    "copies between gm and ub": _copies,
    "mte_gm_l1": _loads,
    "mte_l1_ub": _l1_ub,
    "bursts": _bursts,
    "copy_ubuf_to_ubuf": _ubuf,
    "mte_gm_l1_frac": _nz,
    "write-backs": _write_back,
    "loads of l0": _l0,
    "atomic stores": _atomic,
}
"""Name of a kind of ops to the function that draws one."""


def memories(op: Any, seed: int) -> Images:
    """Returns memories of known bytes; no byte is that of its neighbours."""
    if op.src_type.space == "l0c":
        side = Side(seed)
        if op.src_type.dtype == "i32":
            side.integers()
        return side.images
    rng = np.random.default_rng(seed)
    return {s: rng.integers(0, 256, size, dtype=np.uint8) for s, size in SMALL.items()}


def run(drawn: Drawn, images: Images) -> Any:
    """Executes an op on the model; returns its outcome, applied to the images."""
    model = ReferenceModel(images, unit_flags=np.ones(512, dtype=np.uint8))
    for one in drawn.before:
        model.execute(one)
    return model.execute(drawn.op)


def links_of(parts: tuple[Part, ...]) -> Iterator[Link]:
    for space in {part.space for part in parts}:
        yield from written_in(parts, space, 0, SIZES[space])


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
