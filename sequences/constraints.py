# SPDX-License-Identifier: Apache-2.0
"""Constraints of random traffic: weights, ranges and fractions, checked once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from types import UnionType
from typing import Any

from tb.common.errors import PtoError
from tb.isa.fix.table import FLAG_BLOCK, MAX_M, N_BITS
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.profile import A5
from tb.isa.spaces import FB_SEGMENT_BYTES, SIZES, UB_BLOCK, Space

GM_SIZE = SIZES[Space.GM]
UB_SIZE = SIZES[Space.UB0]
L1_SIZE = SIZES[Space.L1]
L0C_SIZE = SIZES[Space.L0C]
FB_SIZE = FB_SEGMENT_BYTES
"""Bytes of each segment of FB."""

BT_SIZE = SIZES[Space.BT]
MAX_COLUMNS = (1 << N_BITS) - 1
BUS_BYTES = (16, 32, 64)
"""GM bus widths of the engines in bytes (docs/contract.md)."""

MIN_RANGE = 4096
"""Least bytes of an on-chip memory for a generator."""

MAX_FAR_ROWS = 64
"""Most rows of an op with rows on separate pages: the first access to a page allocates it."""

OP_NAMES: tuple[str, ...] = (*OPS, *LEGACY_FORMS)
"""Op names of a generator: the v0.6 ops and their legacy forms."""

GM_UB_NAMES: tuple[str, ...] = ("mte_gm_ub", "mte_ub_gm", "copy_gm_to_ubuf", "copy_ubuf_to_gm")
"""Forms of the copies between GM and UB."""

NZ_NAMES: tuple[str, ...] = tuple(name for name, row in OPS.items() if row.family == "nz")
"""The NZ repack."""

FIX_NAMES: tuple[str, ...] = tuple(name for name, row in OPS.items() if row.family == "fix")
"""The FIXPIPE write-backs, drawn by :class:`sequences.fixpipe.generator.FixGenerator`."""

COPY_NAMES: tuple[str, ...] = tuple(
    name for name in OP_NAMES if name not in (*GM_UB_NAMES, *NZ_NAMES, *FIX_NAMES)
)
"""Forms of the copies from, to or within on-chip memories, but for those between GM and UB."""


class ConstraintError(PtoError, ValueError):
    """A constraint outside its range, or constraints that exclude every op."""


@dataclass(frozen=True, slots=True)
class GmWindow:
    """A range of a memory: ``start`` to ``start + size - 1``, bytes."""

    start: int
    size: int

    @property
    def end(self) -> int:
        """First byte address after the window."""
        return self.start + self.size


DEFAULT_WINDOWS: tuple[GmWindow, ...] = (
    GmWindow(0, 4 << 20),
    GmWindow((1 << 32) - (1 << 20), 2 << 20),
    GmWindow(GM_SIZE - (2 << 20), 2 << 20),
)
"""The start of GM, both sides of the 32-bit boundary, and the top of the 40-bit space."""


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Data bytes of an op, log-uniform in ``low..high``, drawn with ``weight``."""

    low: int
    high: int
    weight: float


DEFAULT_SIZES: tuple[SizeClass, ...] = (
    SizeClass(1, 64, 0.27),
    SizeClass(65, 512, 0.375),
    SizeClass(513, 4096, 0.33),
    SizeClass(4097, 65535, 0.024),
    SizeClass(65536, 131072, 0.001),
)
"""Many small ops and a few large ones: the mean is between 1 and 2 KiB."""


@dataclass(frozen=True)
class OpConstraints:
    """Constraints of every generator; each uses those of its ops.

    Attributes:
        block_ops: Most ops in a block.
        bus_bytes: GM bus width that address and length residues are spread over.
        max_bytes: Most data bytes of an op.
        max_ub_bytes: Most UB bytes between the first and last byte of an op, pads included.
        max_l1_bytes: The same for L1.
        max_gm_bytes: The same for GM, for all but far ops.
        max_rows: Most rows of an op over all loop iterations; an op has no more without loops than
            the profile allows.
        sizes: Size profile.
        windows: GM ranges for dense traffic, mutually disjoint.
        ub_range: Part of each UB sub-block to use, whole 32-byte blocks.
        l1_range: Part of L1 to use, whole 32-byte blocks.
        loops: Weights of 0, 1, 2 and 3 loop groups (v0.6 forms).
        max_loops: Most loop groups; legacy forms always carry two.
        update: Fraction of stores of UB with CTRL written before them, which makes most of them
            atomic updates of GM.
        store: Fraction of stores where both directions are drawn.
        legacy: Fraction of legacy forms where both forms are drawn.
        clone: Fraction of legacy copies that keep the loop registers of the one before.
        far: Fraction of ops with rows anywhere in GM.
        pad: Fraction of loads with padded rows.
        dependent: Fraction of ops offered a dependency on an op of the other slot.
        nop: Fraction of ops with a zero count or length.
        reread: Fraction of ops with source loops that read bytes again (stride 0 or small).
        interleave: Fraction of ops with loop iterations between the rows of other iterations.
        stretch: Fraction of ops with a local stride as long as the memory allows.
        small_c0: Fraction of NZ repacks in small-C0 mode.
        big_nz: Fraction of NZ repacks with a large shape: long rows, hundreds of groups.
        residue: Fraction of v0.6 copies between GM and UB that take the address and length
            residues modulo the bus width that occurred least so far, as far as they are free; with
            0 lengths stay as ``sizes`` draws them.
        edge: Fraction of the other ops with a length around a word, a burst or a page.
        cross_4k: Fraction of ops, among those with a free address, with the first row across or at
            a 4 KiB boundary of GM.
        gap: Fraction of ops that are offered late.
        max_gap: Longest idle time before an op is offered, clocks.
        mixed: Fraction of ops in blocks of several families at once.
        saturate: Fraction of ops in blocks of very many tiny ops without gaps and dependencies.
        tile_rows: Most rows of an ordinary write-back.
        tile_columns: Most columns of an ordinary write-back.
        big_tile: Fraction of write-backs with a large shape: thousands of rows or columns, or a
            whole L0C.
        l0c_range: Part of L0C to use, whole 512-byte blocks.
        fb_range: Part of each segment of FB to use, whole rows of 128 bytes.
        bt_range: Part of BT to use, multiples of 64 bytes.
        nz2nz: Fraction of write-backs with that layout.
        ub_split: Fraction of write-backs to UB that are split over both sub-blocks.
        loop3: Fraction of those with nz2nd or nz2dn that have a loop3.
        clip: Fraction of those with a clip, where the destination takes one.
        atomic: Fraction of atomic updates, where the destination takes one.
        ctrl: Fraction of write-backs with CTRL written before them, which decides where a clause is
            left out.
        flag: Fraction of write-backs that check unit flags.
        late_flag: Fraction of those with flags set while the block runs.
        max_flag_delay: Most clocks from the start of a block to a flag's setting.
        flag_again: Fraction of those that check flags which wait, where possible, for flags that
            another op of the block cleared and the producer sets again.
        share_l0c: Fraction of write-backs that read a tile, or a part of it, that another one of
            the block reads.
        share_fb: Fraction of parameter vectors at the place of another op's vectors in the block.
        corner_data: Fraction of tiles with data made for the mode: ties, limits, special values;
            the others hold random bits.

    Raises:
        ConstraintError: a value is outside its range, or two of them contradict.
    """

    block_ops: int = 64
    bus_bytes: int = 32
    max_bytes: int = 131072
    max_ub_bytes: int = UB_SIZE
    max_l1_bytes: int = L1_SIZE
    max_gm_bytes: int = 256 * 1024
    max_rows: int = 2048
    sizes: tuple[SizeClass, ...] = DEFAULT_SIZES
    windows: tuple[GmWindow, ...] = DEFAULT_WINDOWS
    ub_range: GmWindow = GmWindow(0, UB_SIZE)
    l1_range: GmWindow = GmWindow(0, L1_SIZE)
    loops: tuple[float, float, float, float] = (0.28, 0.27, 0.22, 0.23)
    max_loops: int = 3
    update: float = 0.25
    store: float = 0.5
    legacy: float = 0.45
    clone: float = 0.4
    far: float = 0.08
    pad: float = 0.4
    dependent: float = 0.6
    nop: float = 0.05
    reread: float = 0.12
    interleave: float = 0.25
    stretch: float = 0.015
    small_c0: float = 0.15
    big_nz: float = 0.02
    residue: float = 0.75
    edge: float = 0.18
    cross_4k: float = 0.35
    gap: float = 0.3
    max_gap: int = 200
    mixed: float = 0.5
    saturate: float = 0.05
    tile_rows: int = 64
    tile_columns: int = 64
    big_tile: float = 0.02
    l0c_range: GmWindow = GmWindow(0, L0C_SIZE)
    fb_range: GmWindow = GmWindow(0, FB_SIZE)
    bt_range: GmWindow = GmWindow(0, BT_SIZE)
    nz2nz: float = 0.1
    ub_split: float = 0.2
    loop3: float = 0.3
    clip: float = 0.45
    atomic: float = 0.5
    ctrl: float = 0.25
    flag: float = 0.3
    late_flag: float = 0.4
    max_flag_delay: int = 2000
    flag_again: float = 0.3
    share_l0c: float = 0.2
    share_fb: float = 0.35
    corner_data: float = 0.88

    def __post_init__(self) -> None:
        self._check_types()
        self._check_ranges()
        self._check_sizes()
        self._check_windows()
        self._check_local("ub_range", UB_SIZE, self.max_ub_bytes)
        self._check_local("l1_range", L1_SIZE, self.max_l1_bytes)
        _check_part("l0c_range", self.l0c_range, L0C_SIZE, FLAG_BLOCK, 16 * FLAG_BLOCK)
        _check_part("fb_range", self.fb_range, FB_SIZE, 128, 512)
        _check_part("bt_range", self.bt_range, BT_SIZE, 64, 512)

    def _check_types(self) -> None:
        for name in ("sizes", "windows", *_PARTS):
            value: Any = getattr(self, name)
            kind = SizeClass if name == "sizes" else GmWindow
            items = (value,) if name in _PARTS else value
            if isinstance(items, tuple | list) and all(_well_typed(one, kind) for one in items):
                continue
            raise ConstraintError(
                f"{name} is {value!r}",
                where="OpConstraints",
                legal=f"{kind.__name__}{'' if name in _PARTS else 's in a tuple'}; integers in it, "
                "weights also as fractions",
            )

    def _check_local(self, name: str, size: int, most: int) -> None:
        window: GmWindow = getattr(self, name)
        aligned = window.start % UB_BLOCK == 0 and window.size % UB_BLOCK == 0
        if not aligned or window.start < 0 or window.end > size or window.size < MIN_RANGE:
            raise ConstraintError(
                f"{name} is {window.start:#x}..{window.end:#x}",
                where="OpConstraints",
                legal=f"multiples of {UB_BLOCK} inside 0..{size:#x}, at least {MIN_RANGE} B",
            )
        if window.size < most:
            raise ConstraintError(
                f"{name} has {window.size} B, an op may need {most}",
                where="OpConstraints",
                remedy=f"lower max_{name[:2]}_bytes",
            )

    def _check_ranges(self) -> None:
        _in_range("block_ops", self.block_ops, 1, 4096)
        if self.bus_bytes not in BUS_BYTES:
            raise ConstraintError(
                f"bus_bytes is {self.bus_bytes!r}",
                where="OpConstraints",
                legal=", ".join(map(str, BUS_BYTES)),
            )
        _in_range("max_bytes", self.max_bytes, 1, UB_SIZE)
        _in_range("max_ub_bytes", self.max_ub_bytes, 256, UB_SIZE)
        _in_range("max_l1_bytes", self.max_l1_bytes, 256, L1_SIZE)
        _in_range("max_gm_bytes", self.max_gm_bytes, self.max_bytes, GM_SIZE)
        _in_range("max_rows", self.max_rows, 1, A5.longest)
        _in_range("max_loops", self.max_loops, 0, 3)
        _in_range("max_gap", self.max_gap, 1, 1 << 20)
        _in_range("tile_rows", self.tile_rows, 1, MAX_M)
        _in_range("tile_columns", self.tile_columns, 1, MAX_COLUMNS)
        _in_range("max_flag_delay", self.max_flag_delay, 0, 1 << 16)
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(item.default, float):
                continue
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0.0 <= value <= 1.0:
                raise ConstraintError(
                    f"{item.name} is {value!r}", where="OpConstraints", legal="a fraction 0..1"
                )
        weights: Any = self.loops
        typed = isinstance(weights, tuple | list) and all(_is_number(one) for one in weights)
        four = typed and len(weights) == 4 and min(weights) >= 0
        if not four or not sum(weights[: self.max_loops + 1]):
            raise ConstraintError(
                f"loops is {self.loops!r} with max_loops {self.max_loops}",
                where="OpConstraints",
                legal="four weights >= 0, one of the first max_loops + 1 above 0",
            )

    def _check_sizes(self) -> None:
        if not self.sizes or not any(size.weight > 0 for size in self.sizes):
            raise ConstraintError("sizes has no class with a weight above 0", where="OpConstraints")
        for size in self.sizes:
            if not 1 <= size.low <= size.high or size.weight < 0:
                raise ConstraintError(
                    f"sizes holds {size}",
                    where="OpConstraints",
                    legal="1 <= low <= high, weight >= 0",
                )
        if min(size.low for size in self.sizes) > self.max_bytes:
            raise ConstraintError(
                f"every size class starts above max_bytes {self.max_bytes}",
                where="OpConstraints",
                remedy="raise max_bytes or add a smaller class",
            )

    def _check_windows(self) -> None:
        if not self.windows:
            raise ConstraintError("windows is empty", where="OpConstraints")
        need = 2 * (self.max_gm_bytes + 8192)
        for window in self.windows:
            if window.start < 0 or window.end > GM_SIZE or window.size < need:
                raise ConstraintError(
                    f"window {window.start:#x}..{window.end:#x} ({window.size} B)",
                    where="OpConstraints.windows",
                    legal=f"inside 0..{GM_SIZE:#x} and at least {need} B, twice max_gm_bytes "
                    "and room to align",
                    remedy="widen the window or lower max_gm_bytes and max_bytes",
                )
        ordered = sorted(self.windows, key=lambda window: window.start)
        for one, other in pairwise(ordered):
            if one.end > other.start:
                raise ConstraintError(
                    f"windows at {one.start:#x} and {other.start:#x} overlap",
                    where="OpConstraints.windows",
                )


_PARTS = ("ub_range", "l1_range", "l0c_range", "fb_range", "bt_range")


def _is_number(value: object, kind: type | UnionType = int | float) -> bool:
    finite = isinstance(value, int | float) and abs(value) < float("inf")
    return finite and isinstance(value, kind) and not isinstance(value, bool)


def _well_typed(value: object, kind: type[SizeClass | GmWindow]) -> bool:
    """Returns whether a value is of a class, with integers in its fields and a number as weight."""
    return isinstance(value, kind) and all(
        _is_number(getattr(value, field.name), int | float if field.name == "weight" else int)
        for field in fields(kind)
    )


def _in_range(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ConstraintError(
            f"{name} is {value!r}", where="OpConstraints", legal=f"an integer {low}..{high}"
        )


def _check_part(name: str, part: GmWindow, size: int, unit: int, least: int) -> None:
    whole = part.start % unit == 0 and part.size % unit == 0
    if not whole or part.start < 0 or part.end > size or part.size < least:
        raise ConstraintError(
            f"{name} is {part.start:#x}..{part.end:#x}",
            where="OpConstraints",
            legal=f"multiples of {unit} inside 0..{size:#x}, at least {least} B",
        )


def check_ops(ops: tuple[str, ...], names: tuple[str, ...] = OP_NAMES) -> None:
    """Checks a choice out of ``names``.

    Raises:
        ConstraintError: nothing is chosen, or a name is unknown.
    """
    unknown = [name for name in ops if name not in names]
    if unknown or not ops:
        raise ConstraintError(
            f"ops {', '.join(map(repr, unknown))} unknown" if unknown else "no op is chosen",
            where="ops",
            legal=", ".join(names),
        )


__all__ = [
    "BT_SIZE",
    "BUS_BYTES",
    "COPY_NAMES",
    "DEFAULT_SIZES",
    "DEFAULT_WINDOWS",
    "FB_SIZE",
    "FIX_NAMES",
    "GM_SIZE",
    "GM_UB_NAMES",
    "L0C_SIZE",
    "L1_SIZE",
    "MAX_FAR_ROWS",
    "MIN_RANGE",
    "NZ_NAMES",
    "OP_NAMES",
    "UB_BLOCK",
    "UB_SIZE",
    "ConstraintError",
    "GmWindow",
    "OpConstraints",
    "SizeClass",
    "check_ops",
]
