# SPDX-License-Identifier: Apache-2.0
"""Ops of a program that the engines of a run do not take by their manifests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tb.dut.manifest import Capabilities, Manifest
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacyOp, LegacySet
from tb.isa.dma.op import DmaOp
from tb.isa.fix.op import FixOp
from tb.isa.l0.op import L0Load
from tb.isa.ops import LEGACY_FORMS, OPS, TEXT_FORMS
from tb.language.place import Finding
from tb.language.trace import Move, Trace


def unserved(trace: Trace, manifests: Iterable[Manifest]) -> list[Finding]:
    """Returns ops that no engine of the run takes, each place once.

    Args:
        trace: The program with its arguments bound.
        manifests: Engines of the run.
    """
    engines = tuple(manifests)
    served = {name: one for one in engines for name in one.ops}
    found: dict[tuple[object, str], Finding] = {}
    for step in trace.steps:
        if not isinstance(step, Move) or isinstance(step.op, LegacySet | CtrlOp):
            continue
        name = (LEGACY_FORMS | TEXT_FORMS).get(step.name, step.name)
        engine = served.get(name)
        if engine is None:
            message = f"no engine of this run takes {name}"
            legal = ", ".join(op for op in OPS if op in served)
        else:
            message = _lacks(step, engine.capabilities)
            if not message:
                continue
            message = f"the engine {engine.title} of {engine.slot} {message}"
            legal = f"what {engine.path or engine.title} lists"
        key = (step.place, message)
        found.setdefault(key, Finding(step.place, f"pto.{step.name}", "", message, legal))
    return list(found.values())


def _lacks(step: Move, can: Capabilities) -> str:
    """Returns the parts of an op that an engine does not support, as text; empty if none."""
    if isinstance(step.op, LegacyOp) and not can.legacy:
        return "takes no legacy forms"
    desc = step.lowering.descriptor
    if isinstance(desc, DmaOp):
        if len(desc.loops) > can.loops:
            return f"takes at most {can.loops} loops, the op has {len(desc.loops)}"
        if desc.padded and not can.pad:
            return "takes no padded rows"
    if isinstance(desc, FixOp) and desc.loop3_en and not can.loops:
        return "takes no loops"
    if isinstance(desc, L0Load) and not desc.spec.scales:
        if desc.transpose and not can.transpose:
            return "takes no transposed loads"
        if desc.elem_bits not in can.element_bits:
            return f"takes no loads of {desc.elem_bits}-bit elements"
    broken = [one.rule.name for one in step.lowering.broken]
    silent = [name for name in broken if name not in can.d_rules]
    if silent:
        return f"does not report {', '.join(silent)}, which the op breaks"
    return ""


def op_counts(trace: Trace) -> Mapping[str, int]:
    """Returns pipe to its data movements, without ops that write registers."""
    counts: dict[str, int] = {}
    for step in trace.steps:
        if isinstance(step, Move) and not isinstance(step.op, LegacySet | CtrlOp):
            name = step.pipe.value.removeprefix("PIPE_")
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))
