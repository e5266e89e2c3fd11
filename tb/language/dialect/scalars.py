# SPDX-License-Identifier: Apache-2.0
"""Scalar accesses of the pto dialect: read, checked, and not executed.

Offsets count elements. A load has the type of its pointer, a colon, and that of its result after
``->``; a store has the type of its value last.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def

from tb.language.dialect.pointers import known_type
from tb.language.dialect.types import PtrType, is_integer, pointer_of, type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.parser.text import ProgramText, Use


class ScalarOp(Operation):
    """A load or store of one element at a pointer and an offset.

    Attributes:
        stores: Whether it writes memory.
        in_gm: Whether the pointer must be in GM.
    """

    name = "pto.scalar"
    traits = traits_def()
    stores: ClassVar[bool] = False
    in_gm: ClassVar[bool] = False

    @classmethod
    def read(cls, text: ProgramText) -> ScalarOp:
        """Reads ``[%v,] %p[%i] : T [-> | ,] type``; the offset may follow a comma, or be absent."""
        value = text.use() if cls.stores else None
        if cls.stores:
            text.expect(",", f"and the pointer of {cls.name}")
        pointer = text.use()
        offset = _offset(text, cls.name)
        attributes = text.attribute_dictionary()
        text.expect(":", f"and the type of the pointer of {cls.name}")
        kinds = [text.type()]
        while text.take(","):
            kinds.append(text.type())
        results: list[Attribute] = []
        if not cls.stores:
            text.expect("->", f"and the type of the result of {cls.name}")
            results = [text.type()]
        attributes |= text.attribute_dictionary()
        values = cls._resolved(text, (value, pointer, offset), kinds)
        op = cls.create(operands=values, result_types=results, attributes=attributes)
        op.verify_()
        return op

    @classmethod
    def _resolved(
        cls,
        text: ProgramText,
        taken: tuple[Use | None, Use, Use | None],
        kinds: list[Attribute],
    ) -> list[SSAValue]:
        """Returns the pointer, the offset if there is one, and the value that is stored."""
        value, pointer, offset = taken
        own = None
        if value is not None:
            if len(kinds) == 1:
                raise OpError(Fault("lacks the type of the value", legal="<T, space>, T"))
            first = isinstance(kinds[0], PtrType) or pointer_of(kinds[0]) is not None
            own = kinds.pop() if first else kinds.pop(0)
        values: list[SSAValue] = [text.resolve(pointer, kinds[0])]
        if offset is not None:
            kind = kinds[1] if len(kinds) > 1 else known_type(text, offset)
            values.append(text.resolve(offset, kind))
        if value is not None and own is not None:
            values.append(text.resolve(value, own))
        return values

    def verify_(self) -> None:
        """Refuses operands and types that it cannot have."""
        least = 2 if self.stores else 1
        if not least <= len(self.operands) <= least + 1 or len(self.results) != 2 - least:
            raise OpError(Fault(f"takes {least} operands and an offset"))
        pointer = pointer_of(self.operands[0].type)
        if pointer is None:
            given = type_name(self.operands[0].type)
            raise OpError(Fault(f"type mismatch: {given} is not a pointer"))
        if self.in_gm and pointer.space != "gm":
            raise OpError(Fault(f"pointer is in {pointer.space}", legal="gm"))
        if len(self.operands) > least and not is_integer(self.operands[1].type):
            kind = type_name(self.operands[1].type)
            raise OpError(Fault(f"type mismatch: an offset of type {kind}", legal="index"))
        value = (self.operands[-1] if self.stores else self.results[0]).type
        if self.in_gm and not is_integer(value):
            raise OpError(
                Fault(f"type mismatch: a value of type {type_name(value)}", legal="i8 to i64")
            )


def _offset(text: ProgramText, name: str) -> Use | None:
    if text.take("["):
        offset = text.use()
        text.expect("]", f"after the offset of {name}")
        return offset
    return text.use() if text.take(",") else None


class LoadScalarOp(ScalarOp):
    """``%v = pto.load_scalar %p[%i] : <f32, ub> -> f32``."""

    name = "pto.load_scalar"


class StoreScalarOp(ScalarOp):
    """``pto.store_scalar %v, %p[%i] : <f32, ub>, f32``."""

    name = "pto.store_scalar"
    stores = True


class LoadDeviceOp(ScalarOp):
    """``pto.ld_dev``: a load from GM past the local cache."""

    name = "pto.ld_dev"
    in_gm = True


class StoreDeviceOp(ScalarOp):
    """``pto.st_dev``: a store to GM past the local cache."""

    name = "pto.st_dev"
    stores = True
    in_gm = True
