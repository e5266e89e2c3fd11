# SPDX-License-Identifier: Apache-2.0
"""Ops of a coverage group as arrays: columns, and values derived from them once for all points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.coverage.model import Ints
from tb.coverage.view import View
from tb.isa.nest import NESTS

Bools = NDArray[np.bool_]

Derived = dict[str, Callable[["Ops"], Any]]
"""Name of a value to the function that computes it from others."""

BASE: Derived = {
    "live": lambda v: np.ones(len(v.places), dtype=bool),
    "dead": lambda v: ~v.live,
    "zero": lambda v: np.zeros(len(v.places), dtype=np.int64),
}
"""Values of every group; the groups of single ops define ``live``, which moves at least a byte."""


def sides(family: str) -> Derived:
    """Returns the rows of both sides of a family's ops: ``read`` and ``written``."""
    nest = NESTS[family]
    return {"read": nest.read, "written": nest.written}


RESERVED = frozenset(("size", "view", "places", "spec", "at"))
"""Names that no derived value can have: attributes of :class:`Ops`."""


class Ops:
    """M ops of a view; values are read as attributes or, by a computed name, as items.

    A value is one of the group (``derived``), an array of :class:`tb.coverage.view.View`
    (``dtype``, ``gap``, ``program``, ...), or else a descriptor column; ``int64[M]`` or
    ``bool[M]``. It is computed when it is first read.

    Attributes:
        size: M.
        view: The view.
        places: Places of the ops in the view, ``int64[M]``.
        spec: Properties of the op of the group, None in groups of several ops.
    """

    def __init__(self, view: View, places: Ints, derived: Derived, spec: Any = None) -> None:
        """Takes the ops ``places`` (``int64[M]``) of ``view``."""
        self.size: int = len(places)
        self.view: View = view
        self.places: Ints = places
        self.spec = spec
        self._derived = derived

    def __getattr__(self, name: str) -> Any:
        """Computes a value.

        Raises:
            AttributeError: there is none of that name.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._derived:
            value = self._derived[name](self)
        elif name in View.PER_OP:
            value = getattr(self.view, name)[self.places]
        else:
            try:
                value = self.view.raw(name)[self.places]
            except KeyError as error:
                raise AttributeError(error.args[0]) from None
        self.__dict__[name] = value
        return value

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def at(self, places: Ints) -> Ops:
        """Returns other ops of the view, ``int64[M]`` places, with the same derived values."""
        return Ops(self.view, places, self._derived, self.spec)
