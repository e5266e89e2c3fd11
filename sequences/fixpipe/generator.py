# SPDX-License-Identifier: Apache-2.0
"""Random write-backs of accumulators: every mode, type, layout and clause, with data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random

import numpy as np

from sequences.constraints import FIX_NAMES, OpConstraints, check_ops
from sequences.draw.shapes import Bools, Ints, pick
from sequences.fixpipe.ctrl import with_ctrl
from sequences.fixpipe.data import Pools
from sequences.fixpipe.kinds import CyclicKinds, Kinds, draw_kinds
from sequences.fixpipe.layout import Layout
from sequences.fixpipe.links import LINK_NAMES, Links
from sequences.fixpipe.parameters import F32, Records, draw_numbers, ignored_numbers, needs_scalar
from sequences.fixpipe.shapes import Shapes, draw_shapes, sides
from tb.isa.block import OpBlock
from tb.isa.fix.table import FLAG_CHECK, FLAG_CLEAR, L0C_WORD, QUANT_BY_CODE, SCALAR_RELU
from tb.isa.ops import OPS

BATCH = 2048
"""Ops drawn at once by :meth:`FixGenerator.blocks`."""

_FOLLOWERS = 3
"""Most successive ops that read the tile of the op before, with flags set again for each."""

_HUGE = np.array([code in (7, 28, 30) for code in range(len(QUANT_BY_CODE))])
_WIDE = np.array([QUANT_BY_CODE[code].acc == "f32" for code in range(len(QUANT_BY_CODE))])


class FixGenerator:
    """Draws blocks of legal write-backs.

    A block is a batch: all of its ops may be in flight at once. Only ops with a dependency on it in
    ``after`` touch the destination of an op. Tiles in L0C and rows in FB may be read by
    several ops. ``fills`` of a block must be written before it is issued; they hold all source data
    of its ops except the padding between rows.

    Args:
        seed: Seed or generator; the same seed, ops and constraints draw the same blocks.
        ops: Names out of ``sequences.constraints.FIX_NAMES``.
        constraints: What to draw.
        links: Other ops that may be added around write-backs: those in ``LINK_NAMES`` load
            parameters, or copy the results.

    Raises:
        ConstraintError: an op is unknown or none is given.
    """

    def __init__(
        self,
        seed: int | np.random.Generator,
        ops: Sequence[str] = FIX_NAMES,
        constraints: OpConstraints | None = None,
        links: Iterable[str] = (),
    ) -> None:
        self.ops = tuple(ops)
        check_ops(self.ops, FIX_NAMES)
        self.constraints = constraints or OpConstraints()
        self._links = tuple(name for name in links if name in LINK_NAMES)
        self._rng = rng = np.random.default_rng(seed)
        self._random = Random(int(rng.integers(1 << 62)))
        self._cycles = CyclicKinds.of([OPS[name].opcode for name in self.ops])
        self._pools = Pools(rng)
        self._records = Records(rng)

    def blocks(self, count: int) -> Iterator[OpBlock]:
        """Yields blocks that hold ``count`` ops in all, drawn in batches."""
        left = count
        while left > 0:
            batch = min(left, BATCH)
            yield from self.draw(batch)
            left -= batch

    def draw(self, count: int) -> list[OpBlock]:
        """Returns blocks that hold ``count`` ops in all.

        Raises:
            ValueError: ``count`` is negative.
        """
        if count < 0:
            raise ValueError(f"count is {count}: at least 0")
        blocks: list[OpBlock] = []
        while count > 0:
            for block in self._drawn(count):
                # Ops around write-backs count too, so the last ones may be too many.
                part = block if len(block) <= count else block.take(0, count)
                count -= len(part)
                blocks.append(part)
                if not count:
                    break
        return blocks

    def _drawn(self, count: int) -> Iterator[OpBlock]:
        """Yields blocks of ``count`` write-backs and the ops around them."""
        rng, limits = self._rng, self.constraints
        kinds = draw_kinds(rng, count, self._cycles, limits)
        shapes = draw_shapes(rng, kinds, limits)
        x = {**kinds.columns, **shapes.columns}
        self._payloads(kinds, x)
        again = self._repeat(kinds, shapes, x)
        follow = self._follow(kinds, shapes, x, again)
        delay = self._delays(x, shapes)
        late = rng.random(count) < limits.gap
        gap = np.where(late, rng.integers(1, limits.max_gap + 1, count), 0)
        follows = {"again": again, "follow": follow}
        yield from self._lay_out(kinds, shapes, x, delay, gap, follows)

    def _repeat(self, kinds: Kinds, shapes: Shapes, x: dict[str, Ints]) -> Bools:
        """Makes some ops update the elements of the atomic op before them; returns which."""
        rng, count = self._rng, len(kinds)
        again = np.zeros(count, dtype=bool)
        first = (x["atomic_type"] > 0) & ~shapes.nop
        first &= rng.random(count) < self.constraints.dependent / 5
        index = np.flatnonzero(first[:-1]) + 1
        # Never two in a row: the second would repeat an op that has changed.
        index = index[~np.isin(index - 1, index)]
        again[index] = True
        _copy_before(kinds, shapes, x, index)
        x["atomic_op"][index] = rng.integers(0, 3, len(index))
        return again

    def _follow(self, kinds: Kinds, shapes: Shapes, x: dict[str, Ints], again: Bools) -> Bools:
        """Makes some ops read the tile of the op before, which clears its flags; returns which."""
        rng, count = self._rng, len(kinds)
        follow = np.zeros(count, dtype=bool)
        # An op that is repeated, or repeats another, does not change.
        fixed = again.copy()
        fixed[:-1] |= again[1:]
        first = (x["unit_flag"] == FLAG_CLEAR) & ~shapes.nop & ~again
        first &= rng.random(count) < self.constraints.flag_again / 2
        index = np.flatnonzero(first[:-1]) + 1
        index = index[~np.isin(index - 1, index)]
        for _ in range(_FOLLOWERS):
            # Nor does one that another op follows.
            followed = np.append(follow[1:], False)
            index = index[~(fixed | follow | followed)[index]]
            _copy_before(kinds, shapes, x, index)
            x["unit_flag"][index] = rng.choice((FLAG_CHECK, FLAG_CLEAR), len(index))
            follow[index] = True
            more = (x["unit_flag"][index] == FLAG_CLEAR) & (rng.random(len(index)) < 0.5)
            index = index[more & (index < count - 1)] + 1
        return follow

    def _payloads(self, kinds: Kinds, x: dict[str, Ints]) -> None:
        """Draws scalars, and the payloads that a mode ignores."""
        rng, count = self._rng, len(kinds)
        scalar = needs_scalar(kinds.vector_quant, kinds.scale)
        corner = np.where(_WIDE[x["quant"]], 0.08, 0.03).mean()
        number = draw_numbers(rng, x["quant_type"], 0.15, float(corner))
        unused = ~kinds.scale & (x["quant_type"] > 0)
        pointer = unused & (x["quant"] == 0) & (rng.random(count) < 0.5)
        x["quant_scale"] = np.where(scalar, number, 0)
        index = np.flatnonzero(unused & ~pointer)
        number = ignored_numbers(rng, x["quant_type"][index])
        x["quant_scale"][index] = np.where(rng.random(len(index)) < 0.15, 0, number)
        x["quant_addr"] = np.where(pointer, rng.integers(1, 1 << 24, count), 0)
        alpha = draw_numbers(rng, x["relu_type"], 0.35, 0.1)
        x["relu_alpha"] = np.where(x["relu"] == SCALAR_RELU, alpha, 0)
        # For i16 and i32 destinations this is the only NaN: a large number scaled to -inf, times 0.
        index = np.flatnonzero(_HUGE[x["quant"]] & (x["relu"] == SCALAR_RELU))
        index = index[rng.random(len(index)) < 0.15]
        x["quant_scale"][index], x["relu_alpha"][index] = 0x7F000000, 0
        x["quant_type"][index] = x["relu_type"][index] = F32

    def _delays(self, x: dict[str, Ints], shapes: Shapes) -> Ints:
        """Returns clocks until flags are set, -1 for flags set before the block starts."""
        rng, limits = self._rng, self.constraints
        count = len(shapes.nop)
        late = (x["unit_flag"] > 0) & ~shapes.nop & (rng.random(count) < limits.late_flag)
        most = limits.max_flag_delay
        kind = pick(rng, count, np.array([0.15, 0.45, 0.4]))
        soon = rng.integers(0, min(most, 200) + 1, count)
        clocks = np.choose(kind, (0 * soon, soon, rng.integers(0, most + 1, count)))
        return np.where(late, clocks, -1)

    def _lay_out(
        self,
        kinds: Kinds,
        shapes: Shapes,
        x: dict[str, Ints],
        delay: Ints,
        gap: Ints,
        follows: dict[str, Bools],
    ) -> Iterator[OpBlock]:
        """Cuts the draw into blocks and places every op of each."""
        rng, limits, count = self._rng, self.constraints, len(kinds)
        read, written = sides(kinds, x)
        live = ~shapes.nop
        extra = {
            "opcode": kinds.opcode, "dst_bits": kinds.bits, "nop": shapes.nop, "far": shapes.far,
            "words": live * read.hulls[-1] // L0C_WORD, "reach": live * written.hulls[-1],
            "row": written.length, "vector_quant": kinds.vector_quant,
            "vector_relu": kinds.vector_relu, "scale": kinds.scale, "delay": delay, **follows,
        }  # fmt: skip
        lists = {name: column.tolist() for name, column in (*x.items(), *extra.items())}
        most = limits.block_ops
        sizes = np.where(rng.random(count) < 0.15, rng.integers(1, most + 1, count), most).tolist()
        start = 0
        while start < count:
            layout = self._layout(lists)
            stop, last = start, min(count, start + sizes[start])
            while stop < last and layout.add(stop):
                stop += 1
            if stop == start:
                raise AssertionError(f"op {start} fits no memory: {self._describe(lists, start)}")
            yield self._block(kinds, x, gap, layout, start, stop)
            start = stop

    def _layout(self, lists: dict[str, list[int]]) -> Layout:
        return Layout(
            lists, self.constraints, self._pools, self._records, self._random, Links(self._links)
        )

    def _describe(self, lists: dict[str, list[int]], i: int) -> dict[str, int]:
        return {name: column[i] for name, column in lists.items()}

    def _block(
        self,
        kinds: Kinds,
        x: dict[str, Ints],
        gap: Ints,
        layout: Layout,
        start: int,
        stop: int,
    ) -> OpBlock:
        part = slice(start, stop)
        columns = {name: column[part] for name, column in x.items()}
        placed = stop - start
        quant = np.array(layout.quant[:placed], dtype=np.int64)
        columns["src_addr"] = np.array(layout.src[:placed], dtype=np.int64)
        columns["dst_addr"] = np.array(layout.dst[:placed], dtype=np.int64)
        columns["quant_addr"] = np.where(quant >= 0, quant, columns["quant_addr"])
        columns["relu_addr"] = np.array(layout.relu[:placed], dtype=np.int64)
        block = OpBlock(
            kinds.opcode[part], columns, kinds.dtype[part], kinds.pad_dtype[part], gap[part],
            np.full(placed, -1, dtype=np.int64), {}, {}, np.zeros(placed, dtype=np.int64),
            tuple(layout.fills), np.array(layout.delay[:placed], dtype=np.int64),
        )  # fmt: skip
        block = with_ctrl(self._random, block, self.constraints.ctrl)
        return layout.links.woven(block, layout.waits)


def _copy_before(kinds: Kinds, shapes: Shapes, x: dict[str, Ints], index: Ints) -> None:
    """Makes the ops at ``index`` like the op before each, none of which is at ``index`` itself."""
    for column in (
        *x.values(), kinds.opcode, kinds.dtype, kinds.pad_dtype, kinds.bits, kinds.scale,
        kinds.vector_quant, kinds.vector_relu, shapes.nop, shapes.far,
    ):  # fmt: skip
        column[index] = column[index - 1]
