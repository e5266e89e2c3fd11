# SPDX-License-Identifier: Apache-2.0
"""Names of operands in PTO text.

Logs name an operand by its value, so a line is complete by itself: ``%c128_i64`` is the integer
128, ``%gm_0x40`` a pointer, ``%f16_0x3C00`` a typed bit pattern. The printer of whole programs,
which defines the values, has other names (:mod:`tb.language.printer`).
"""

from __future__ import annotations

from tb.isa.dtypes import Ptr


class Names:
    """Names by value, without state. Each method returns a name with ``%``."""

    def integer(self, value: int) -> str:
        """Returns the name of an integer."""
        return f"%c{value}_i64"

    def integer_type(self, value: int) -> str:
        """Returns the type of an integer operand, without ``%``."""
        del value
        return "i64"

    def flag(self, value: int) -> str:
        """Returns the name of an operand of one bit; a wider one is an integer."""
        return {0: "%false", 1: "%true"}.get(value) or self.integer(value)

    def flag_type(self, value: int) -> str:
        """Returns the type of an operand of one bit, without ``%``."""
        return "i1" if value in (0, 1) else self.integer_type(value)

    def bits(self, dtype: str, value: int) -> str:
        """Returns the name of a bit pattern of type ``dtype``."""
        return f"%{dtype}_0x{value:X}"

    def pointer(self, pointer: Ptr, address: int) -> str:
        """Returns the name of a pointer."""
        return f"%{pointer.space}_{address:#x}"


LOG = Names()
"""Names in logs and failure reports."""
