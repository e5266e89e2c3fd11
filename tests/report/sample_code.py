# SPDX-License-Identifier: Apache-2.0
"""Code coverage of the made-up regression run: invented counts on the project's own sources."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb.common.paths import ROOT
from tb.regress.queries.views import CodeFile, CodeLine, CodeView

KINDS = ("line", "branch", "expression", "toggle")

REASON = "no op takes it: a rule refuses the type"
"""Why points of the sample do not count."""

_SOURCES = {
    "mte1": ("pto_mte1/pto_mte1.sv", "pto_mte1/pto_l0_load.sv", "common/pto_fifo.sv"),
    "mte2": (
        "pto_mte2/pto_gm_load.sv",
        "pto_mte2/pto_nz_place.sv",
        "pto_mte2/pto_nz_tile.sv",
        "common/pto_axi_read.sv",
        "common/pto_fifo.sv",
    ),
    "mte3": ("pto_mte3/pto_gm_store.sv", "common/pto_axi_write.sv"),
    "fix": (
        "pto_fix/pto_fix_check.sv",
        "pto_fix/write/pto_fix_gm.sv",
        "pto_fix/plan/pto_fix_walk.sv",
    ),
}


def _line(number: int, text: str, draw: np.random.Generator) -> CodeLine:
    """Returns a source line with counts where a simulator would count."""
    words = text.split("//")[0]
    points: list[tuple[str, str, int]] = []
    line = None
    if any(mark in words for mark in ("<=", "if (", "else", "case")):
        line = 0 if draw.random() < 0.08 else int(draw.lognormal(8, 2))
    if "if (" in words or "?" in words:
        points += [
            ("branch", "if", line or 0),
            ("branch", "else", 0 if draw.random() < 0.2 else 321),
        ]
    if "&&" in words or "||" in words:
        points += [
            ("expression", "(a && b) => 1", int(draw.integers(0, 2)) * 4711),
            ("expression", "(a == 0) => 0", 17),
        ]
    if "reg " in words or "wire " in words:
        points += [("toggle", f"signal[{bit}]", int(draw.integers(0, 3)) * 95) for bit in range(2)]
    excluded = (("branch", "else", REASON),) if "default:" in words else ()
    return CodeLine(number, text, line, tuple(points), excluded)


def _kinds(lines: Sequence[CodeLine]) -> dict[str, tuple[int, int]]:
    counts = {kind: [0, 0] for kind in KINDS}
    for line in lines:
        met = [*line.points, *([("line", "", line.line)] if line.line is not None else [])]
        for kind, _, hits in met:
            counts[kind][0] += hits > 0
            counts[kind][1] += 1
    return {kind: (covered, total) for kind, (covered, total) in counts.items()}


def sample_code() -> CodeView:
    """Returns invented counts on real sources; one file has no source."""
    draw = np.random.default_rng(3)
    files = []
    for engine, paths in _SOURCES.items():
        for path in paths:
            text = (ROOT / "rtl_stubs" / path).read_text().splitlines()
            lines = tuple(_line(number, row, draw) for number, row in enumerate(text, 1))
            files.append(CodeFile(engine, f"rtl_stubs/{path}", _kinds(lines), lines))
    gone = dict.fromkeys(KINDS, (3, 4))
    files.append(CodeFile("mte3", "/elsewhere/vendor_fifo.sv", gone))
    engines = {
        engine: {
            kind: (
                sum(file.totals[kind][0] for file in files if file.engine == engine),
                sum(file.totals[kind][1] for file in files if file.engine == engine),
            )
            for kind in KINDS
        }
        for engine in _SOURCES
    }
    return CodeView(engines, tuple(files), 25)
