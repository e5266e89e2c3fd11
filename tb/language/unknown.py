# SPDX-License-Identifier: Apache-2.0
"""An operand with a value unknown to the static check."""

from __future__ import annotations

from typing import Any, NoReturn


class UndecidedError(Exception):
    """A decision depends on a value that is not known."""


def _undecided(*_: Any) -> NoReturn:
    raise UndecidedError


class Unknown(int):
    """Operand of an op with an unknown value; may be stored and passed on, not used.

    Arithmetic, comparisons and tests of its truth raise :class:`UndecidedError`. Rules are
    decided with known operands alone.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "?"

    __str__ = __repr__
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return _undecided()

    __bool__ = __index__ = __int__ = __float__ = _undecided
    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _undecided
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _undecided
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __abs__ = _undecided
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _undecided
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = _undecided
    __truediv__ = __rtruediv__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = _undecided


UNKNOWN = Unknown()
"""The one such value."""
