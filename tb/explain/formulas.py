# SPDX-License-Identifier: Apache-2.0
"""What ops do, as formulas: with the values of one op, or for the op table with names of fields.

Fields are those of the descriptor; ``c0`` is C0, ``size`` and ``bits`` are those of an element.
"""

from __future__ import annotations

from tb.isa.burst.table import MTE_L1_BT, BurstSpec, unit_bytes
from tb.isa.dma.table import MTE_L1_UB, MTE_UB_GM
from tb.isa.fields import OpSpec
from tb.isa.fix.table import GROUP, L0C_WORD
from tb.isa.l0.table import C0_BYTES, FRACTAL_BYTES, FRACTAL_ROWS, SCALE_BYTES
from tb.isa.spaces import UB_BLOCK

NZ = (
    "element (g, n, d) at dst + 32*(g*{dst_loop4} + (d div {c0})*{dst_loop3} + n*{dst_loop2}) + "
    "(d mod {c0})*{size}"
)
SMALL_C0 = "element (g, n, d) at dst + 32*g*{dst_loop4} + (n*4 + d)*{size}"
L0C = (
    f"accumulator (r, m, n) at src + {L0C_WORD}*({{r}}(n div {GROUP})*{{src_stride}} + "
    f"m*{{row_step}}) + 4*(n mod {GROUP})"
)
INDEX = {
    "nz2nd": "{r}m*{dst_stride} + n",
    "nz2dn": "{r}n*{dst_stride} + m",
    "nz2nz": "{r}(n div {width})*{dst_stride} + m*{width} + (n mod {width})",
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
L0_TARGET = (
    f"element (p, q) to dst + {FRACTAL_BYTES}*(({{column}} div {{c0}})*{{dst_stride}} + {{row}} "
    f"div {FRACTAL_ROWS}) + ({{row}} mod {FRACTAL_ROWS})*{C0_BYTES} + "
    "({column} mod {c0})*{bits}/8"
)


class _Names(dict[str, str]):
    """The name of each field for its value."""

    def __missing__(self, name: str) -> str:
        return name


def _named(text: str, **values: str) -> str:
    return text.format_map(_Names(values))


def _of_rows(spec: OpSpec) -> tuple[str, ...]:
    loops = "".join(f" + i{k}*loop{k}_{{side}}_stride" for k in range(3))
    if spec is MTE_L1_UB:
        what, step = f"burst j: {UB_BLOCK}*len B", f"{UB_BLOCK}*(len + {{side}}_stride)"
    else:
        what, step = "row j: len B", "{side}_stride"
    sides = ("loc", "ext") if spec is MTE_UB_GM else ("ext", "loc")
    source, target = (
        f"{side}_addr + j*{step.format(side=side)}{loops.format(side=side)}" for side in sides
    )
    return (f"{what} from {source}", f"to {target}, 0 <= j < n_burst, 0 <= ik < loopk_count")


def _of_bursts(spec: BurstSpec) -> tuple[str, ...]:
    read, written = map(str, unit_bytes(spec))
    if spec is MTE_L1_BT:
        read = "size"
    return (
        f"burst j: {read}*len B from src_addr + j*{read}*(len + src_gap)",
        f"to dst_addr + j*{written}*(len + dst_gap), 0 <= j < n_burst",
    )


def _of_write_back() -> tuple[str, ...]:
    source = _named(L0C, r="r*loop3_src + ", row_step="(k of nz2dn, else 1)")
    indices = (f"{name}: element {_named(text, r='r*loop3_dst + ', width='16')}"
               for name, text in INDEX.items())  # fmt: skip
    return (source, *indices, "8 for 16 in nz2nz with the channel split")


def formulas(spec: OpSpec) -> tuple[str, ...]:
    """Returns what an op does, with names of fields."""
    if isinstance(spec, BurstSpec):
        return _of_bursts(spec)
    match spec.layout.family:
        case "dma":
            return _of_rows(spec)
        case "nz":
            return (_named(NZ), f"small-C0: {_named(SMALL_C0)}")
        case "fix":
            return _of_write_back()
        case "fill":
            step = f"j*{UB_BLOCK}*(len + dst_gap)"
            return (
                f"repeat j: {UB_BLOCK}*len B of raw, its low 16 bits or all 32,",
                f"to dst_addr + offset + {step}, 0 <= j < n_burst",
            )
    if getattr(spec, "scales", False):
        return (_named(SCALES),)
    return (
        _named(L0_SOURCE),
        _named(L0_TARGET, row="p", column="q"),
        f"transposed: {_named(L0_TARGET, row='q', column='p')}",
    )
