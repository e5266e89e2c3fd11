# SPDX-License-Identifier: Apache-2.0
"""Groups of the strided copies, one for each form: ``mte_gm_ub`` to ``mte_l1_ub`` and legacy."""

from __future__ import annotations

from tb.coverage.dma import atomic
from tb.coverage.dma import points as p
from tb.coverage.dma.values import DERIVED, Shape, shape_of
from tb.coverage.model import Cross, Exclusion, crossed, excluding, lone
from tb.coverage.points import Group, range_labels
from tb.coverage.view import form_doc

_PAGES = "each row of a far op touches a page of its own: stimulus keeps to 64"
_DENSE = "65 rows this far apart do not fit a dense window"


def _both_strides(shape: Shape) -> tuple[Exclusion, ...]:
    reason = "both sides have the same rows"
    ext, loc = (shape.between(side) for side in ("ext", "loc"))
    one, *_ = p.row_strides(shape, "ext")
    more = [p.row_strides(shape, side)[1:] for side in ("ext", "loc")]
    return (
        excluding(reason, **{ext: one, loc: more[1]}),
        excluding(reason, **{ext: more[0], loc: one}),
    )


def _one_row(shape: Shape) -> tuple[Exclusion, ...]:
    strides = {shape.between("ext"): p.row_strides(shape, "ext")}
    one, others = "a single row has no stride", "several rows have one"
    found = lone(one, others, rows=range_labels(p.ROW_LOWS), **strides)
    if shape.ext != "gm":
        return found
    far = excluding(_PAGES, rows="65..", gm_row_stride="2^32..")
    return (*found, far, excluding(_DENSE, rows="65..", gm_row_stride="+4096.."))


def _crosses(shape: Shape) -> tuple[Cross, ...]:
    ext, loc = shape.name("ext"), shape.name("loc")
    nesting = "loops_active" if shape.legacy else "n_loops"
    strides = (shape.between("ext"), shape.between("loc"))
    what = "gap" if shape.gaps else "row stride"
    crosses = [
        Cross(f"rows x nesting x {what.split()[-1]}", (nesting, "rows", strides[0]),
              _one_row(shape)),
        Cross(f"{ext} x {loc} {what}", strides, _both_strides(shape)),
    ]  # fmt: skip
    if ext == "gm":
        # A legacy copy reaches the engine as a descriptor of the v0.6 op; that group has all bins.
        size = "size" if shape.legacy else "len"
        crosses += [crossed(f"{size} x gm_align"), Cross("page x nesting", ("page", nesting))]
    else:
        crosses.append(Cross("alignment", (f"{ext}_mod", f"{loc}_mod", "len_mod")))
    if "ub" in (shape.ext, shape.loc):
        crosses.append(crossed("elem x ub_sub"))
    if not shape.legacy:
        if (ext, loc) == ("gm", "ub"):
            doc = "every address and length"
            crosses.append(Cross("alignment", ("gm_mod", "len_mod"), doc=doc))
        crosses.append(Cross("loops x rows", ("loops_active", "rows")))
    if shape.padded:
        crosses += [
            Cross("pad width x left x right", ("pad_elem", "pad_left", "pad_right")),
            Cross("pad x nesting", ("pad", nesting)),
            crossed("pad_end x pad_moved"),
        ]
    if shape.loads:
        crosses += [
            crossed("fill x rows"),
            Cross("fill x nesting", ("fill", nesting)),
            Cross("compact x nesting", ("compact", nesting)),
            Cross("compact x rows", ("compact", "compact_rows")),
        ]
        if shape.padded and not shape.legacy:
            crosses.append(Cross("fill x length", ("fill", "fill_mod")))
    return tuple(crosses)


def strided_group(form: str, bus_bytes: int) -> Group:
    """Returns the group of a strided form; residues of GM addresses are modulo ``bus_bytes``."""
    shape = shape_of(form)
    points = [
        *p.length_points(shape, bus_bytes),
        *p.count_points(shape),
        *p.stride_points(shape),
        *p.place_points(shape),
        *p.operand_points(shape),
    ]
    if shape.padded:
        points += p.PAD_POINTS
    if shape.loads:
        points += p.fill_points(shape)
    if shape.legacy:
        points += p.legacy_points(store=shape.store)
    crosses = _crosses(shape)
    if shape.updates:
        points += atomic.atomic_points(bus_bytes)
        crosses += atomic.atomic_crosses()
    derived = DERIVED | atomic.DERIVED
    return Group(form, points, crosses, derived, form_doc(form), shape)
