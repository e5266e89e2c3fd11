# SPDX-License-Identifier: Apache-2.0
"""What ops do, as formulas, and the layouts and tiles of one op as sentences.

A formula has the values of one op, or for the op table names of fields: those of the descriptor;
``c0`` is C0, ``size`` and ``bits`` are those of an element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tb.common.text import counted
from tb.explain.fix import steps, update
from tb.isa.burst.op import BurstOp
from tb.isa.burst.table import BurstSpec
from tb.isa.descriptor import field_values
from tb.isa.dma.op import DmaOp
from tb.isa.dma.table import SOURCE_SIDE
from tb.isa.fields import OpSpec
from tb.isa.fill.op import FillOp
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import ATOMIC_BYTES, GROUP, L0C_WORD, LAYOUTS_BY_NAME, UB_SPLIT_M, UB_WHOLE
from tb.isa.l0.op import L0Load
from tb.isa.l0.table import C0_BYTES, FRACTAL_BYTES, FRACTAL_ROWS, SCALE_BYTES
from tb.isa.nz.op import NzOp
from tb.isa.nz.table import DN2NZ
from tb.isa.op import Op
from tb.isa.spaces import UB_BLOCK

NZ = (
    "element (g, n, d) at dst + 32*(g*{dst_loop4} + (d div {c0})*{dst_loop3} + n*{dst_loop2}) + "
    "(d mod {c0})*{size}"
)
SMALL_C0 = "element (g, n, d) at dst + 32*g*{dst_loop4} + (n*4 + d)*{size}"
L0C = (
    f"accumulator (r, m, n) at src + {L0C_WORD}*({{r_src}}(n div {GROUP})*{{src_stride}} + "
    f"m*{{row_step}}) + 4*(n mod {GROUP})"
)
INDEX = {
    "nz2nd": "{r_dst}m*{dst_stride} + n",
    "nz2dn": "{r_dst}n*{dst_stride} + m",
    "nz2nz": "{r_dst}(n div {width})*{dst_stride} + m*{width} + (n mod {width})",
}
SCALES = (
    f"fragment (x, y) at src + {SCALE_BYTES}*(({{m_start}} + x)*{{src_stride}} + {{k_start}} + y), "
    f"to dst/16 + {SCALE_BYTES}*(x*{{dst_stride}} + y)"
)
L0_SOURCE = (
    f"element (p, q) at src + {FRACTAL_BYTES}*(({{k_start}} + q div {{c0}})*{{src_stride}} + "
    f"{{m_start}} + p div {FRACTAL_ROWS}) + (p mod {FRACTAL_ROWS})*{C0_BYTES} + "
    "(q mod {c0})*{bits}/8"
)
L0_TARGET, L0_TURNED = (
    f"element (p, q) to dst + {FRACTAL_BYTES}*(({column} div {{c0}})*{{dst_stride}} + {row} "
    f"div {FRACTAL_ROWS}) + ({row} mod {FRACTAL_ROWS})*{C0_BYTES} + "
    f"({column} mod {{c0}})*{{bits}}/8"
    for row, column in ("pq", "qp")
)


def _dma(desc: DmaOp) -> Iterator[str]:
    if desc.spec.gaps:
        yield f"{counted(desc.n_burst, 'burst')} of {desc.len} blocks of {UB_BLOCK} B, with gaps"
    else:
        yield f"{counted(desc.n_burst, 'row')} of {desc.len} B"
    counts = [loop.count for loop in reversed(desc.loops)]
    if any(count != 1 for count in counts):
        times = " x ".join(map(str, counts))
        yield f"loops: {times} iterations" + (", the innermost last" if len(counts) > 1 else "")
    if desc.compact:
        total = desc.n_burst * desc.len
        yield f"a compact group: the rows follow each other without a gap, {total} B together"
    if desc.atomic_type:
        size = ATOMIC_BYTES[desc.atomic_type]
        what = update(desc.atomic_type, desc.atomic_op, bool(desc.nosat))
        yield f"read-modify-write of GM, elements of {size} B: {what}"
    if desc.padded and desc.compact:
        yield "each group padded to the end of its last 32-byte block"
    elif desc.padded:
        yield (
            f"each row padded: {desc.left_bytes} B before the data, at least {desc.right_bytes} B "
            "after it"
        )


def _burst(desc: BurstOp) -> Iterator[str]:
    read, written = desc.units
    unit = f"{read} B" if read == written else f"{read} B at the source, {written} B written"
    yield f"{counted(desc.n_burst, 'burst')} of {counted(desc.len, 'unit')} ({unit})"
    if desc.n_burst > 1:
        gap = counted(desc.src_gap, "unit")
        yield f"gaps of {gap} at the source and {desc.dst_gap} at the destination"


def _nz(desc: NzOp) -> Iterator[str]:
    source = "src[d][n]" if desc.mode == DN2NZ else "src[n][d]"
    size = desc.elem_bytes
    values = {**field_values(desc), "c0": desc.c0, "size": size}
    yield (
        f"{desc.group_count} x {source}, N = {desc.n_value}, D = {desc.d_value}, elements of "
        f"{size} B, C0 = {desc.c0}"
    )
    if desc.small_c0:
        yield f"small-C0: a row is 4 lanes of {size} B, rows back to back"
        yield SMALL_C0.format(**values)
        return
    yield NZ.format(**values)
    tile = C0_BYTES * GROUP
    rest = desc.d_value % desc.c0
    lanes = f", of which the last has {counted(rest, 'lane')}" if rest else ""
    yield f"NZ tiles: {counted(desc.columns, 'C0 column')} of {desc.n_value} rows{lanes}"
    if desc.dst_loop2 == 1:
        fractals = -(-desc.n_value // GROUP)
        yield f"a column is {counted(fractals, 'fractal')} of {GROUP} rows ({tile} B each)"


def _fix(desc: FixOp) -> Iterator[str]:
    values = {
        **field_values(desc),
        "r_src": f"r*{desc.loop3_src} + " if desc.loop3_en else "",
        "r_dst": f"r*{desc.loop3_dst} + " if desc.loop3_en else "",
        "row_step": desc.row_step,
        "width": desc.nz_columns,
    }
    yield f"source: L0C words of {L0C_WORD} B, N1 M N0: {L0C.format(**values)}"
    layout = view_of(desc)
    index = INDEX[layout].format(**values)
    written = layout if desc.layout else f"omitted, as {layout}"
    yield f"destination: layout {written}: element {index}, of {_size(desc.dst_bits)}"
    if desc.spec.destination == "ub" and desc.ub_mode != UB_WHOLE:
        m, n = desc.halves
        what = f"rows 0..{m - 1} and {m}..{desc.m - 1}"
        if desc.ub_mode != UB_SPLIT_M:
            what = f"columns 0..{n - 1} and {n}..{desc.n - 1}"
        yield f"split: {what} go to sub-blocks 0 and 1, each from its own index 0 on"
    yield f"value: {' -> '.join(steps(desc))}"


def _size(bits: int) -> str:
    return f"{bits // 8} B" if bits >= 8 else "4 bits, the even index in the low half"


def _l0(desc: L0Load) -> Iterator[str]:
    c0, bits = 8 * C0_BYTES // desc.elem_bits, desc.elem_bits
    values = {**field_values(desc), "c0": c0, "bits": bits}
    if desc.spec.scales:
        yield (
            f"{desc.m_step} x {desc.k_step} fragments of {SCALE_BYTES} B, 16 rows of two groups "
            f"of 32 k, to {desc.spec.memory}"
        )
        yield SCALES.format(**values)
        return
    yield (
        f"{counted(desc.k_step, 'C0 column')} of {counted(desc.m_step, 'fractal')}: P = "
        f"{FRACTAL_ROWS * desc.m_step} rows, Q = {c0 * desc.k_step} elements of {_size(bits)}, "
        f"C0 = {c0}, to {desc.spec.memory}"
    )
    yield f"source: {L0_SOURCE.format(**values)}"
    place = f"transposed: {L0_TURNED}" if desc.transpose else L0_TARGET
    yield f"destination: {place.format(**values)}"


def _fill(desc: FillOp) -> Iterator[str]:
    gap = f", {desc.dst_gap * UB_BLOCK} B between two" if desc.n_burst > 1 else ""
    size = desc.len * UB_BLOCK
    yield f"{desc.n_burst} runs of {size} B from L1 {desc.first:#x} on{gap}; nothing is read"
    if desc.word_bits < 32:
        yield "the low 16 bits of raw count, the others are ignored"


LAYOUTS: dict[str, Callable[[Any], Iterator[str]]] = {
    "dma": _dma,
    "burst": _burst,
    "nz": _nz,
    "fix": _fix,
    "l0": _l0,
    "fill": _fill,
}
"""Family of a descriptor to the function that yields its sentences."""


def layout_lines(desc: Op) -> tuple[str, ...]:
    """Returns how an op that moves something lays out its bytes."""
    return tuple(LAYOUTS[desc.spec.layout.family](desc))


def view_of(desc: Op) -> str:
    """Returns how a picture of the op places its bytes: a row of :data:`tb.explain.tiles.VIEWS`."""
    if isinstance(desc, NzOp):
        return ("small " if desc.small_c0 else "") + ("dn2nz" if desc.mode == DN2NZ else "nd2nz")
    if isinstance(desc, FixOp):
        return tuple(LAYOUTS_BY_NAME)[desc.layout or 1]
    if isinstance(desc, L0Load):
        return "scales" if desc.spec.scales else "transposed" if desc.transpose else "fractals"
    return "rows"


FORMULAS: dict[str, tuple[str, ...]] = {
    "burst": (
        "burst j: {read}*len B from src_addr + j*{read}*(len + src_gap)",
        "to dst_addr + j*{unit}*(len + dst_gap), 0 <= j < n_burst",
    ),
    "nz": (NZ, f"small-C0: {SMALL_C0}"),
    "fix": (
        L0C,
        *(f"{name}: element {text}" for name, text in INDEX.items()),
        "8 for 16 in nz2nz with the channel split",
    ),
    "l0": (L0_SOURCE, L0_TARGET, f"transposed: {L0_TURNED}"),
    "scales": (SCALES,),
    "fill": (
        f"repeat j: {UB_BLOCK}*len B of raw, its low 16 bits or all 32,",
        f"to dst_addr + offset + j*{UB_BLOCK}*(len + dst_gap), 0 <= j < n_burst",
    ),
}
"""Family of a descriptor, or ``scales``, to the formulas of the op table."""


class _Names(dict[str, str]):
    """Values of the op table; of a field its name."""

    def __missing__(self, name: str) -> str:
        return name


def _of_rows(spec: OpSpec) -> tuple[str, ...]:
    loops = "".join(f" + i{k}*loop{k}_{{side}}_stride" for k in range(3))
    if spec.gaps:
        what, step = f"burst j: {UB_BLOCK}*len B", f"{UB_BLOCK}*(len + {{side}}_stride)"
    else:
        what, step = "row j: len B", "{side}_stride"
    text = f"{{side}}_addr + j*{step}{loops}"
    sides = ("loc", "ext") if SOURCE_SIDE[spec.name] == "loc" else ("ext", "loc")
    source, target = (text.format(side=side) for side in sides)
    return (f"{what} from {source}", f"to {target}, 0 <= j < n_burst, 0 <= ik < loopk_count")


def formulas(spec: OpSpec) -> tuple[str, ...]:
    """Returns what an op does, with names of fields."""
    family = "scales" if getattr(spec, "scales", False) else spec.layout.family
    if family == "dma":
        return _of_rows(spec)
    values = _Names(
        r_src="r*loop3_src + ", r_dst="r*loop3_dst + ", width="16",
        row_step="(k of nz2dn, else 1)",
    )  # fmt: skip
    if isinstance(spec, BurstSpec):
        values |= {"unit": str(spec.unit), "read": "size" if spec.widens else str(spec.unit)}
    return tuple(text.format_map(values) for text in FORMULAS[family])
