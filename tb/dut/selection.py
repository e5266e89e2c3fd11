# SPDX-License-Identifier: Apache-2.0
"""Selects the ops of a run: the OPS list, restricted to the engines of the build.

The exclusions of the manifests are listed in words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from tb.common.errors import PtoError
from tb.common.text import comma_list
from tb.dut.manifest import Capabilities, ErrorKind, Manifest
from tb.isa.dma.table import MAX_LOOPS, OF_PADS, OF_UPDATES, UPDATED
from tb.isa.l0.table import ELEMENT_CODES, LOADS
from tb.isa.ops import LEGACY_FORMS, OPS

SELECTABLE: tuple[str, ...] = (*OPS, *LEGACY_FORMS)
"""Names that ``OPS=`` may list: v0.6 ops and legacy copies."""


def parse_ops(text: str) -> tuple[str, ...]:
    """Returns the ops of a comma list, each once, in table order; empty for all.

    Raises:
        PtoError: a name is not an op, or there is none but commas.
    """
    names = comma_list(text, "OPS", "OPS= or --ops", ", ".join(SELECTABLE))
    for name in names:
        if name not in SELECTABLE:
            raise PtoError(
                f"op {name!r} is unknown", where="OPS= or --ops", legal=", ".join(SELECTABLE)
            )
    return tuple(name for name in SELECTABLE if name in names)


def sendable(
    wanted: tuple[str, ...], dut_ops: tuple[str, ...], modern: Collection[str] = ()
) -> tuple[str, ...]:
    """Returns the wanted ops (all when empty) that the engines take.

    Args:
        wanted: Ops and legacy forms.
        dut_ops: v0.6 ops that the engines take.
        modern: Those among them that are not sent in their legacy forms.

    Raises:
        PtoError: nothing is left.
    """
    served = tuple(
        name
        for name in SELECTABLE
        if name in dut_ops
        or (LEGACY_FORMS.get(name) in dut_ops and LEGACY_FORMS[name] not in modern)
    )
    chosen = tuple(name for name in served if not wanted or name in wanted)
    if not chosen:
        raise PtoError(
            f"no engine of this build takes {', '.join(wanted) or 'any op'}",
            where="OPS=",
            legal=", ".join(served) or "none",
            remedy="name an op that a manifest lists",
        )
    return chosen


def without_legacy(capabilities: Mapping[str, Capabilities]) -> frozenset[str]:
    """Returns the v0.6 ops that are not sent in their legacy forms.

    A legacy copy between GM and UB always comes with two loops.
    """
    found = set()
    for can in capabilities.values():
        for name in can.ops:
            if not can.legacy or (can.loops < 2 and OPS[name].layout.family == "dma"):
                found.add(name)
    return frozenset(found)


def has_elements(ops: Iterable[str]) -> bool:
    """Returns whether loads of elements to L0, with widths and transposition, are among ops."""
    return any(name in LOADS and not LOADS[name].scales for name in ops)


def refusals(can: Capabilities) -> dict[str, str]:
    """Returns the kinds of ops that an engine does not take: names of REFUSED, each in words."""
    loads = has_elements(can.ops)
    bits = ", ".join(str(size) for size in sorted(ELEMENT_CODES) if size not in can.element_bits)
    found = (
        ("loops", can.loops < MAX_LOOPS, f"more than {can.loops} loops" if can.loops else "loops"),
        ("pad", not can.pad, "padded rows"),
        ("legacy", not can.legacy, "legacy forms"),
        ("atomic", not (can.atomic_stores or UPDATED.isdisjoint(can.ops)), "atomic stores"),
        ("transpose", loads and not can.transpose, "transposed loads"),
        ("elements", loads and bool(bits), f"loads of {bits}-bit elements"),
    )
    return {name: words for name, refused, words in found if refused}


def unreported(can: Capabilities) -> list[str]:
    """Returns the D rules of its ops that an engine does not report."""
    return sorted({rule for op in can.ops for rule in OPS[op].rule_names} - set(can.d_rules))


def unsent(can: Capabilities) -> list[str]:
    """Returns the D rules of its ops that no op of a run breaks, reported or not."""
    refused = refusals(can)
    kinds = (("pad", OF_PADS), ("atomic", OF_UPDATES))
    alone = {rule for kind, rules in kinds if kind in refused for rule in rules}
    of_ops = {rule for op in can.ops for rule in OPS[op].rule_names}
    return sorted((of_ops & alone) | set(unreported(can)))


def exclusions(manifests: Iterable[Manifest], outstanding: int = 1) -> list[str]:
    """Returns the exclusions of each manifest, in words, for the summary of a run.

    Args:
        manifests: Engines of the run.
        outstanding: Bursts in flight by the settings of the run.
    """
    found = []
    for manifest in manifests:
        can = manifest.capabilities
        of_slot = [op.name for op in OPS.values() if op.slot == manifest.slot]
        missing = ", ".join(name for name in of_slot if name not in manifest.ops)
        silent = ", ".join(unsent(can))
        kinds = ", ".join(kind for kind in get_args(ErrorKind) if kind not in can.errors)
        facts = (
            (missing, f"ops {missing}"),
            *((True, words) for words in refusals(can).values()),
            (silent, f"ops that break {silent}"),
            (kinds, f"{kinds} errors"),
            (can.errors and not can.error_address, "addresses of errors"),
            (can.errors and not can.stops_after_error, "bursts after an error"),
            (can.outstanding < outstanding, f"more than {can.outstanding} bursts in flight"),
        )
        if parts := [words for excluded, words in facts if excluded]:
            found.append(f"{manifest.title} ({manifest.slot}): {'; '.join(parts)}")
    return found


@dataclass(frozen=True)
class Selection:
    """The ops of a run.

    Attributes:
        ops: Ops and legacy forms that the run may send.
        served: Those that the engines take.
        left_out: Sentences about the exclusions of the manifests.
    """

    ops: tuple[str, ...]
    served: tuple[str, ...]
    left_out: list[str]


def select(wanted: tuple[str, ...], manifests: Sequence[Manifest], outstanding: int) -> Selection:
    """Returns the ops of a run.

    Args:
        wanted: Ops and legacy forms; empty for all.
        manifests: Engines of the run.
        outstanding: Bursts in flight by the settings of the run.

    Raises:
        PtoError: no engine takes any wanted op.
    """
    modern = without_legacy({item.slot: item.capabilities for item in manifests})
    taken = tuple(op for manifest in manifests for op in manifest.ops)
    return Selection(
        sendable(wanted, taken, modern),
        sendable((), taken, modern),
        exclusions(manifests, outstanding),
    )
