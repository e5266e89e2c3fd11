# SPDX-License-Identifier: Apache-2.0
"""Constraints of random ops: those of the manifests, and those of a user's file.

Where it is cheap the generators draw less (:meth:`Limits.narrowed`); for the rest there are
predicates that drop drawn ops (:attr:`Limits.filters`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sequences.constraints import ConstraintError, OpConstraints
from sequences.draw.traffic import TrafficGenerator
from sequences.op_filter import FilterChain, OpFilter, place_of
from tb.common.errors import PtoError
from tb.coverage.limits import FormLimits
from tb.dut.limits import capability_filters
from tb.dut.manifest import Capabilities
from tb.dut.user_code import import_file
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.ops import LEGACY_FORMS, OPS, SLOTS
from tb.record.settings import RunSettings

PROBE_OPS = 64
"""Ops that must be drawn before a build is worth its time."""


@dataclass(frozen=True)
class UserConstraints:
    """Constraints of random ops in a user's file.

    Attributes:
        path: The file.
        narrow: Its function ``constraints``, or None.
        filters: Its predicates, in their order.
    """

    path: str
    narrow: Callable[[OpConstraints], OpConstraints] | None
    filters: tuple[OpFilter, ...]

    def narrowed(self, default: OpConstraints) -> OpConstraints:
        """Returns ``default`` as the function ``constraints`` changes it.

        Raises:
            PtoError: it fails, returns something else, or a value that cannot be drawn from.
        """
        if self.narrow is None:
            return default
        try:
            found: Any = self.narrow(default)
        except ConstraintError as error:
            raise PtoError(
                error.what,
                where=f"{place_of(error, self.path) or self.path}: {error.where}",
                legal=error.legal,
                remedy=error.remedy,
            ) from None
        except PtoError:
            raise
        except Exception as error:
            raise PtoError(
                f"constraints() raised {type(error).__name__}: {error}",
                where=place_of(error, self.path) or self.path,
            ) from error
        if not isinstance(found, OpConstraints):
            raise PtoError(
                f"constraints() returned {type(found).__name__}",
                where=self.path,
                legal="a OpConstraints",
                remedy="return dataclasses.replace(default, ...) with the fields to change",
            )
        return found


def load_constraints(path: Path) -> UserConstraints:
    """Loads a user's constraints.

    Raises:
        PtoError: the file is missing, not Python, or defines neither ``constraints`` nor a
            predicate.
    """
    path = path.absolute()
    module = import_file(path, f"pto_constraints_{path.stem}")
    narrow = module.__dict__.get("constraints")
    filters = [item for item in vars(module).values() if isinstance(item, OpFilter)]
    if narrow is not None and not callable(narrow):
        raise PtoError(
            f"constraints is {type(narrow).__name__}",
            where=str(path),
            legal="a function: def constraints(default: OpConstraints) -> OpConstraints",
        )
    if narrow is None and not filters:
        raise PtoError(
            f"{path.name} defines no constraint",
            where=str(path),
            legal="def constraints(default), or functions decorated with @op_filter",
            remedy="follow the example in docs/uvm.md",
        )
    named = tuple(
        OpFilter(item.name, item.holds, f"{item.name} of {path.name} refuses them", str(path))
        for item in dict.fromkeys(filters)
    )
    return UserConstraints(str(path), narrow, named)


@dataclass(frozen=True)
class Limits:
    """Limits of the ops that a run may send.

    Attributes:
        capabilities: By slot; nothing for engines that can do everything.
        user: Constraints of the user, or None.
    """

    capabilities: Mapping[str, Capabilities] = field(default_factory=dict)
    user: UserConstraints | None = None

    @property
    def filters(self) -> tuple[OpFilter, ...]:
        """Predicates of random ops, those of the manifests first."""
        own = self.user.filters if self.user else ()
        return (*capability_filters(self.capabilities), *own)

    def narrowed(self, default: OpConstraints) -> OpConstraints:
        """Returns ``default`` as the manifests and then the user narrow it.

        Raises:
            PtoError: the user's code is wrong, or what it returns.
        """
        found = self._within(default)
        if self.user is not None:
            found = self._within(self.user.narrowed(found))
        return found

    def _within(self, limits: OpConstraints) -> OpConstraints:
        """Returns ``limits`` restricted to what the engines take."""
        if not self.capabilities:
            return limits
        strided = [
            can
            for can in self.capabilities.values()
            if any(OPS[name].layout.family == "dma" for name in can.ops)
        ]
        changes: dict[str, int | float] = {}
        most = max((can.loops for can in strided), default=MAX_LOOPS)
        if most < limits.max_loops and any(limits.loops[: most + 1]):
            changes["max_loops"] = most
        loads = self.capabilities.get("mte2")
        if loads is not None and not loads.pad:
            changes["pad"] = 0.0
        stores = self.capabilities.get("mte3")
        if stores is not None and not stores.atomic_stores:
            changes["update"] = 0.0
        fix = self.capabilities.get("fix")
        if fix is not None and not fix.loops:
            changes["loop3"] = 0.0
        return replace(limits, **changes) if changes else limits  # type: ignore[arg-type]

    def reports_rules(self, ops: Sequence[str]) -> bool:
        """Returns whether an engine reports any D rule that ``ops`` can break."""
        if not self.capabilities:
            return True
        return any(limits.rules for limits in self.forms(ops).values())

    def forms(self, ops: Sequence[str]) -> dict[str, FormLimits]:
        """Returns form to the limits of its engine, for the scope of the coverage."""
        found = {}
        for form in ops:
            spec = OPS[LEGACY_FORMS.get(form, form)]
            can = self.capabilities.get(spec.slot)
            if can is not None:
                rules = frozenset(can.d_rules)
                elements = can.transpose, can.element_bits
                found[form] = FormLimits(can.loops, can.pad, rules, can.atomic_stores, *elements)
        return found

    def shapes(self, ops: Sequence[str]) -> dict[str, tuple[int, bool]]:
        """Returns form to the most loops and whether pads are taken, of the v0.6 strided copies.

        Those that their engine takes in full are left out.
        """
        return {
            form: (limits.loops, limits.pad)
            for form, limits in self.forms(ops).items()
            if form in OPS
            and OPS[form].layout.family == "dma"
            and (limits.loops < MAX_LOOPS or not limits.pad)
        }

    def reports(self, ops: Sequence[str]) -> dict[str, frozenset[str]]:
        """Returns form to the D rules that its engine reports; forms with all are left out."""
        return {
            form: limits.rules
            for form, limits in self.forms(ops).items()
            if limits.rules is not None
            and set(OPS[LEGACY_FORMS.get(form, form)].rule_names) - limits.rules
        }

    def survives(self, slot: int, kind: str) -> bool:
        """Returns whether the engine of a slot survives errors of a kind: read, write or local."""
        can = self.capabilities.get(SLOTS[slot])
        return can is None or kind in can.errors


def user_limits(settings: RunSettings, capabilities: Mapping[str, Capabilities]) -> Limits:
    """Returns the limits of a run, with the user's constraints loaded.

    Raises:
        PtoError: their file cannot be used.
    """
    path = settings.constraints
    return Limits(capabilities, load_constraints(Path(path)) if path else None)


def probe(limits: Limits, seed: int, ops: Sequence[str], bus_bytes: int) -> None:
    """Draws a few ops under the constraints of a user, so that errors come before a build.

    Raises:
        PtoError: the user's code is wrong, or leaves nothing to draw.
    """
    if limits.user is None:
        return
    narrowed = limits.narrowed(OpConstraints(bus_bytes=bus_bytes))
    try:
        source = TrafficGenerator(seed, ops, narrowed)
        for _ in FilterChain(limits.filters).blocks(source.blocks, PROBE_OPS):
            pass
    except PtoError:
        raise
    except Exception as error:
        raise PtoError(
            f"nothing can be drawn under these constraints: {type(error).__name__}: {error}",
            where=limits.user.path,
            remedy="widen the constraints: sizes, windows and ranges must leave room for an op",
        ) from error
