# SPDX-License-Identifier: Apache-2.0
"""Selects the ops of a run: the OPS list, restricted to the engines of the build."""

from __future__ import annotations

from collections.abc import Collection

from tb.common.errors import PtoError
from tb.isa.ops import LEGACY_FORMS, OPS

SELECTABLE: tuple[str, ...] = (*OPS, *LEGACY_FORMS)
"""Names that ``OPS=`` may list: v0.6 ops and legacy copies."""


def parse_ops(text: str) -> tuple[str, ...]:
    """Returns the ops of a comma list, each once, in table order; empty for all.

    Raises:
        PtoError: a name is no op.
    """
    names = [name for name in (part.strip() for part in text.split(",")) if name]
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
