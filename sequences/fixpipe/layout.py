# SPDX-License-Identifier: Apache-2.0
"""Places the write-backs of a block side by side, and fills their sources.

L0C tiles and FB rows may be shared. A tile with flags set while the block runs belongs to one op;
after its flags are cleared, only ops that wait until they are set again may read it. Destinations
are never shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import GM_SIZE, L0C_SIZE, OpConstraints
from sequences.draw.shapes import Bools
from sequences.fixpipe.allocator import Arena, place_in_both
from sequences.fixpipe.data import MODES, POOL, Pools, spread
from sequences.fixpipe.kinds import GM, L1, UB
from sequences.fixpipe.links import FB_UNIT, MOST_BIAS, MOST_READ, Links
from sequences.fixpipe.parameters import Records, alphas_of, offset_bits, split_records
from sequences.fixpipe.tiles import Tile, draw_tile
from sequences.place.allocator import PAGE
from tb.isa.block import Fill
from tb.isa.fix.table import FLAG_BLOCK, FLAG_CLEAR, FLOAT_DSTS, GROUP, L0C_WORD
from tb.isa.footprint import Footprint
from tb.isa.nest import NESTS, Rows
from tb.isa.spaces import FB_SEGMENT_SHIFT, FB_SEGMENTS, SEGMENTS, SIZES, UB_BLOCK, Space

Lists = Mapping[str, list[int]]

UNIT_FLAGS = L0C_SIZE // FLAG_BLOCK

_ALPHAS = FB_SEGMENTS["pre_relu"]
_ALPHAS_APART = 0.8
"""Fraction of alphas in their own segment; the others are among the records."""

_FAR_TRIES = 8
_EDGE = 1 << 32


@dataclass
class Region:
    """Part of L0C that holds a tile.

    Attributes:
        start, words: Address, and number of 64 B words.
        acc: 1 for i32 accumulators.
        whole: Whether it shares no 512-byte block.
    """

    start: int
    words: int
    acc: int
    whole: bool


@dataclass(eq=False)
class Cleared:
    """A tile with flags cleared by an op: others may wait until its producer sets them again.

    Attributes:
        region: Its place.
        i, src: The op, and its source address.
        gone: ``bool[UNIT_FLAGS]``, flags not set again so far; None before another op reads the
            tile.
    """

    region: Region
    i: int
    src: int
    gone: Bools | None = None


@dataclass
class Layout:
    """A block being laid out.

    Attributes:
        x: Columns of the draw.
        limits, pools, records, rng: Inputs of the draw.
        links: Ops around it, see :mod:`sequences.fixpipe.links`.
        src, dst, quant, relu: Addresses of the ops so far.
        waits: The op that each op waits for, numbered as in :class:`.links.Links`, or None.
        delay: Clocks until the flags of each op are set, -1 for none.
        fills: Bytes to write to memories.
    """

    x: Lists
    limits: OpConstraints
    pools: Pools
    records: Records
    rng: Random
    links: Links
    src: list[int] = field(default_factory=list)
    dst: list[int] = field(default_factory=list)
    quant: list[int] = field(default_factory=list)
    relu: list[int] = field(default_factory=list)
    waits: list[int | None] = field(default_factory=list)
    delay: list[int] = field(default_factory=list)
    fills: list[Fill] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Opens the memories."""
        limits = self.limits
        self.l0c = Arena(limits.l0c_range.start, limits.l0c_range.end)
        self.fb = [
            Arena(part.start + limits.fb_range.start, part.start + limits.fb_range.end)
            for part in SEGMENTS[Space.FB]
        ]
        self.l1 = Arena(limits.l1_range.start, limits.l1_range.end)
        self.bt = Arena(limits.bt_range.start, limits.bt_range.end)
        self.ub = [Arena(limits.ub_range.start, limits.ub_range.end) for _ in range(2)]
        self.gm = [Arena(window.start, window.end) for window in limits.windows]
        self.far: list[tuple[NDArray[np.int64], int]] = []
        self.regions: list[Region] = []
        self.cleared: list[Cleared] = []
        # By address, with the hole between the segments.
        self.known = np.zeros(SIZES[Space.FB], dtype=np.bool_)
        self.image = np.zeros(SIZES[Space.FB] // 4, dtype=np.uint32)
        self.bases: list[int] = []
        # Origin of the FB rows, by 64 bytes: the number of a loading op, or None for a fill.
        self.loader: list[int | None] = [None] * (SIZES[Space.FB] // FB_UNIT)
        self.wait: int | None = None
        self.handed = False
        self.last = -2

    # --- places ----------------------------------------------------------------------------------

    def add(self, i: int) -> bool:
        """Places op ``i``; returns False if there is no room, so that the block is full."""
        self.handed = False
        if self.x["nop"][i]:
            self._add_nop(i)
            self._added(i)
            return True
        self.wait = None
        again = self.x["again"][i] and self.last == i - 1 and self.waits[-1] is None
        if again:
            # The same elements once more, when the op before is done with them.
            dst: int | None = self.dst[-1]
            self.wait = len(self.waits) - 1
        else:
            dst = self._destination(i)
        source = None if dst is None else self._source(i)
        params = None if source is None else self._parameters(i)
        if dst is None or source is None or params is None:
            return False
        src, filled = source
        self.src.append(src)
        self.dst.append(dst)
        self.quant.append(params[0])
        self.relu.append(params[1])
        if not filled:
            self._fill_tile(i, src, *params)
        if self.x["atomic_type"][i] and not again:
            self._fill_old(i, dst)
        self._added(i)
        return True

    def _added(self, i: int) -> None:
        number = len(self.waits)
        live = not self.x["nop"][i]
        self.delay.append(-1 if self.handed else self.x["delay"][i])
        self.waits.append(self.wait if live else None)
        self.links.op(number)
        self.last = i
        if live and self.links.readers and self.rng.random() < self.limits.dependent * 0.3:
            self._read_back(i, number)

    def _read_back(self, i: int, number: int) -> None:
        """Adds a copy of the op's result by another pipe, unless an update of it follows."""
        x, rng = self.x, self.rng
        following = i + 1 < len(x["again"]) and x["again"][i + 1]
        if following or x["far"][i] or x["ub_mode"][i] or self.wait is not None:
            return
        reader = self.links.reader(rng, x["opcode"][i])
        if reader is None:
            return
        size = min(x["reach"][i], MOST_READ)
        if x["opcode"][i] != GM:
            size = _whole(size)
        if reader == "mte_l1_bt":
            size = min(size, MOST_BIAS)
        sub = x["ub_sub"][i] if x["opcode"][i] == UB else rng.randrange(2)
        to = self._place_for(reader, size, sub)
        if to is not None:
            self.links.read(rng, number, reader, self.dst[-1], to, size, sub)

    def _place_for(self, reader: str, size: int, sub: int) -> int | None:
        """Allocates the bytes that ``reader`` writes."""
        rng, to = self.rng, reader[reader.index("_", 4) + 1 :]
        if to == "gm":
            return rng.choice(self.gm).place(rng, size, 1)
        if to == "bt":
            return self.bt.place(rng, -(-size // 64) * 64, 64)
        arena = self.ub[sub] if to == "ub" else self.l1
        return arena.place(rng, _whole(size), UB_BLOCK)

    def _add_nop(self, i: int) -> None:
        """NOPs touch nothing: their addresses may point anywhere, even outside (A-18)."""
        rng = self.rng
        to_gm = self.x["opcode"][i] == GM
        wide = rng.random() < 0.3
        self.src.append(rng.randrange(1 << (24 if wide else 18)) // L0C_WORD * L0C_WORD)
        unit = max(1, self.x["dst_bits"][i] // 8) if to_gm else UB_BLOCK
        inside = {GM: 40, L1: 19, UB: 18}[self.x["opcode"][i]]
        top = (44 if to_gm else 24) if rng.random() < 0.3 else inside
        self.dst.append(rng.randrange(1 << top) // unit * unit)
        # Of a pointer into fb only segment and alignment count (FIX-L22).
        anywhere = rng.randrange(1 << (FB_SEGMENT_SHIFT if wide else 12))
        segment = rng.choice((_ALPHAS, _ALPHAS, 0)) << FB_SEGMENT_SHIFT
        self.quant.append(anywhere // 128 * 128 if self.x["vector_quant"][i] else -1)
        self.relu.append(segment + anywhere // 64 * 64 if self.x["vector_relu"][i] else 0)

    def _destination(self, i: int) -> int | None:
        x, rng = self.x, self.rng
        opcode, reach = x["opcode"][i], x["reach"][i]
        if opcode == L1:
            return self.l1.place(rng, _whole(reach), UB_BLOCK)
        if opcode == UB:
            if x["ub_mode"][i]:
                return place_in_both(self.ub[0], self.ub[1], rng, _whole(reach), UB_BLOCK)
            return self.ub[x["ub_sub"][i]].place(rng, _whole(reach), UB_BLOCK)
        if x["far"][i]:
            return self._far_place(i)
        arena = rng.choice(self.gm)
        elem = max(1, x["dst_bits"][i] // 8)
        bus = self.limits.bus_bytes
        if arena.start < _EDGE < arena.end and rng.random() < 0.3:
            at = _EDGE - rng.randrange(min(reach, 256) + elem) // elem * elem
            if arena.free(at, at + reach):
                arena.take(at, at + reach)
                return at
        if rng.random() < self.limits.cross_4k * 0.7:
            before = rng.randrange(min(x["row"][i], PAGE) + 1) // elem * elem
            return arena.place(rng, reach, PAGE, -before % PAGE)
        return arena.place(rng, reach, bus, rng.randrange(0, bus, elem))

    def _far_place(self, i: int) -> int | None:
        """Finds a base with free rows; dense ops stay in their windows."""
        x, rng = self.x, self.rng
        offsets = np.sort(_row_starts(x, i, "written"))
        row, reach = x["row"][i], x["reach"][i]
        elem = max(1, x["dst_bits"][i] // 8)
        for _ in range(_FAR_TRIES):
            kind = rng.random()
            base = rng.randrange(GM_SIZE - reach + 1)
            if kind < 0.15:
                base = GM_SIZE - reach
            elif kind < 0.3:
                base = max((1 << rng.randrange(32, 40)) - rng.randrange(row + 1), 0)
            base -= base % elem
            starts = offsets + base
            if starts[-1] + row <= GM_SIZE and self._alone(starts, row):
                self.far.append((starts, row))
                return base
        return None

    def _alone(self, starts: NDArray[np.int64], row: int) -> bool:
        for arena in self.gm:
            if ((starts < arena.end) & (starts + row > arena.start)).any():
                return False
        for other, length in self.far:
            at = np.searchsorted(other, starts)
            if ((at < len(other)) & (other[np.minimum(at, len(other) - 1)] < starts + row)).any():
                return False
            if ((at > 0) & (other[np.maximum(at, 1) - 1] + length > starts)).any():
                return False
        return True

    def _source(self, i: int) -> tuple[int, bool] | None:
        """Returns the address in L0C, and whether its tile is filled already."""
        x, rng = self.x, self.rng
        words, acc = x["words"][i], x["acc"][i]
        late = x["delay"][i] >= 0
        clear = x["unit_flag"][i] == FLAG_CLEAR
        again = self._follows(i) or rng.random() < self.limits.flag_again
        if self.cleared and x["unit_flag"][i] and again:
            found = self._cleared(i)
            if found is not None:
                return found, True
        if not late and rng.random() < self.limits.share_l0c:
            found = self._shared(i, clear)
            if found is not None:
                return found, True
        whole = late or clear or rng.random() < 0.6
        # Any address in its first block of flags.
        skip = rng.randrange(8) if whole and rng.random() < 0.5 else 0
        size = (skip + words) * L0C_WORD
        unit = FLAG_BLOCK if whole else L0C_WORD
        at = self.l0c.place(rng, -(-size // unit) * unit, unit)
        if at is None and skip:
            skip, size = 0, words * L0C_WORD
            at = self.l0c.place(rng, -(-size // unit) * unit, unit)
        if at is None:
            found = None if late else self._shared(i, clear)
            return None if found is None else (found, True)
        src = at + skip * L0C_WORD
        region = Region(src, words, acc, whole)
        if clear:
            self.cleared.append(Cleared(region, i, src))
        elif not late:
            self.regions.append(region)
        return src, False

    def _cleared(self, i: int) -> int | None:
        """Returns the source of op ``i`` in a tile that is produced again, None without any."""
        x, rng = self.x, self.rng
        words, acc = x["words"][i], x["acc"][i]
        if self._follows(i):
            tile, src = self.cleared[-1], self.src[-1]
        else:
            fits = [c for c in self.cleared if c.region.acc == acc and c.region.words >= words]
            if not fits:
                return None
            tile = rng.choice(fits)
            src = _inside(rng, tile.region, words)
        if tile.gone is None:
            tile.gone = np.zeros(UNIT_FLAGS, dtype=np.bool_)
            tile.gone[_flags_of(x, tile.i, tile.src)] = True
        flags = _flags_of(x, i, src)
        # Flags that are set again count from their clear; without one of them none is late.
        self.handed = not tile.gone[flags].any()
        tile.gone[flags] = x["unit_flag"][i] == FLAG_CLEAR
        # The last entry was read last.
        self.cleared.remove(tile)
        self.cleared.append(tile)
        return src

    def _follows(self, i: int) -> bool:
        """Returns whether op ``i`` reads the tile of the op before, which has cleared its flags."""
        return bool(self.x["follow"][i]) and self.last == i - 1

    def _shared(self, i: int, clear: bool) -> int | None:
        rng = self.rng
        words, acc = self.x["words"][i], self.x["acc"][i]
        fits = [
            region
            for region in self.regions
            if region.acc == acc and region.words >= words and (region.whole or not clear)
        ]
        if not fits:
            return None
        region = rng.choice(fits)
        src = _inside(rng, region, words)
        if clear:
            self.regions.remove(region)
            self.cleared.append(Cleared(region, i, src))
        return src

    # --- parameters ------------------------------------------------------------------------------

    def _parameters(self, i: int) -> tuple[int, int] | None:
        """Returns the addresses of records and alphas, -1 and 0 where there are none."""
        x = self.x
        quant, relu, columns = -1, 0, x["n"][i]
        if x["vector_quant"][i]:
            data = self.records.quant[offset_bits(MODES[x["quant"][i]][1])]
            found = self._rows(data.view(np.uint32), 8 * columns, 128, (0,))
            if found is None:
                return None
            quant = found
        if x["vector_relu"][i]:
            segments = (_ALPHAS, 0) if self.rng.random() < _ALPHAS_APART else (0, _ALPHAS)
            found = self._rows(self.records.alpha, 4 * columns, 64, segments)
            if found is None:
                return None
            relu = found
        return quant, relu

    def _rows(
        self, pool: NDArray[np.uint32], size: int, unit: int, segments: Sequence[int]
    ) -> int | None:
        """Returns the address of ``size`` bytes of parameters, in the first segment with room."""
        rng = self.rng
        if rng.random() < self.limits.share_fb:
            found = self._known(size, unit, segments)
            if found is not None:
                return found
        whole = -(-size // unit) * unit
        places = (self.fb[segment].place(rng, whole, unit) for segment in segments)
        at = next((place for place in places if place is not None), None)
        if at is None:
            return self._known(size, unit, segments)
        # Words of a channel stay together.
        channels = unit // GROUP
        start = rng.randrange(POOL)
        data = spread(pool.reshape(-1, channels // 4), start, whole // channels).ravel()
        self.image[at // 4 : (at + whole) // 4] = data
        self.known[at : at + whole] = True
        self.bases.append(at)
        if not self._loaded(at, data.view(np.uint8)):
            self.fills.append(Fill(Space.FB, at, data.view(np.uint8)))
        return at

    def _loaded(self, at: int, data: NDArray[np.uint8]) -> bool:
        """Puts rows into L1, for an op of the block to load; returns False if none can."""
        rng, links = self.rng, self.links
        if self.wait is not None or not links.loads or rng.random() >= self.limits.dependent / 3:
            return False
        units, gap = len(data) // FB_UNIT, 0
        if units > 1 and rng.random() < 0.4:
            gap = rng.randrange(1, 4)
        size = len(data) + (units - 1) * gap * FB_UNIT
        src = self.l1.place(rng, size, UB_BLOCK)
        if src is None:
            return False
        image = data
        if gap:
            rows = spread(self.pools.noise, rng.randrange(POOL), units * (1 + gap) * 16)
            rows = rows.reshape(units, 1 + gap, 16).copy()
            rows[:, 0] = data.view(np.uint32).reshape(units, 16)
            image = rows.view(np.uint8).ravel()[:size]
        self.fills.append(Fill(Space.L1, src, image))
        self.wait = links.load(src, at, units, gap)
        for unit in range(at // FB_UNIT, (at + len(data)) // FB_UNIT):
            self.loader[unit] = self.wait
        return True

    def _known(self, size: int, unit: int, segments: Sequence[int]) -> int | None:
        """Returns a place with rows filled already, or loaded by one op to wait for."""
        mine = [at for at in self.bases if at >> FB_SEGMENT_SHIFT in segments]
        for at in self.rng.sample(mine, min(len(mine), 6)):
            low = -(-at // unit) * unit
            high = low + size
            if high > len(self.known) or not self.known[low:high].all():
                continue
            loaders = set(self.loader[low // FB_UNIT : -(-high // FB_UNIT)]) - {None, self.wait}
            if not loaders:
                return low
            if len(loaders) == 1 and self.wait is None:
                self.wait = loaders.pop()
                return low
        return None

    # --- data ------------------------------------------------------------------------------------

    def _fill_tile(self, i: int, src: int, quant: int, relu: int) -> None:
        x, rng = self.x, self.rng
        words, columns = x["words"][i], x["n"][i]
        if rng.random() >= self.limits.corner_data:
            data = spread(self.pools.noise, rng.randrange(POOL), 16 * words).view(np.uint8)
            self.fills.append(Fill(Space.L0C, src, data))
            return
        scale = offset = alpha = None
        if x["vector_quant"][i]:
            words_at = slice(quant // 4, quant // 4 + 2 * columns)
            scale, offset = split_records(self.image[words_at], MODES[x["quant"][i]][1])
            if x["dst_type"][i] in FLOAT_DSTS:
                offset = None
        elif x["scale"][i]:
            scale = alphas_of(np.array([x["quant_scale"][i]], dtype=np.uint32))
        if x["vector_relu"][i]:
            alpha = alphas_of(self.image[relu // 4 : relu // 4 + columns])
        elif x["relu"][i] == 2:
            alpha = alphas_of(np.array([x["relu_alpha"][i]], dtype=np.uint32))
        tile = Tile(
            x["quant"][i], x["acc"][i], x["dst_type"][i], words, columns, x["src_stride"][i],
            x["loop3_src"][i] if x["loop3_count"][i] > 1 else 0, scale, offset, alpha,
            x["clip"][i], x["atomic_type"][i],
        )  # fmt: skip
        self.fills.append(Fill(Space.L0C, src, draw_tile(tile, self.pools, rng)))

    def _fill_old(self, i: int, dst: int) -> None:
        """Writes corner data as old values of an atomic update."""
        x, rng = self.x, self.rng
        pool = self.pools.old[x["atomic_type"][i]]
        size = pool.itemsize
        starts, length = np.array([dst]), x["reach"][i]
        if x["far"][i]:
            starts, length = np.sort(_row_starts(x, i, "written")) + dst, x["row"][i]
        for start in starts.tolist():
            data = spread(pool, rng.randrange(POOL), length // size).view(np.uint8)
            self.fills.append(Fill(Space.GM, start, data))


def _inside(rng: Random, region: Region, words: int) -> int:
    """Returns the start of ``words`` words in a region, often the region's start."""
    spare = region.words - words
    return region.start + L0C_WORD * (rng.randrange(spare + 1) if rng.random() < 0.5 else 0)


def _row_starts(x: Lists, i: int, side: str) -> NDArray[np.int64]:
    """Returns where op ``i``'s rows begin, from its address on: of side ``read`` or ``written``."""
    v = SimpleNamespace(**{name: column[i] for name, column in x.items()}, src_addr=0, dst_addr=0)
    rows: Rows = getattr(NESTS["fix"], side)(v)
    return Footprint(Space.GM, *rows).row_starts()


def _flags_of(x: Lists, i: int, src: int) -> NDArray[np.int64]:
    """Returns the blocks of L0C that op ``i`` reads from, ``int64[k]``, ascending."""
    return np.unique((_row_starts(x, i, "read") + src) // FLAG_BLOCK)


def _whole(size: int) -> int:
    return -(-size // UB_BLOCK) * UB_BLOCK
