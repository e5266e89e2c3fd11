# SPDX-License-Identifier: Apache-2.0
"""Ops: a row of the table, the values of its descriptor fields, and the types of its pointers.

Each row has a class, made from the row by :func:`op_class`. A value has the name of its field, as
the column of a block has; operands with another name in PTO text can be read and given by that name
too. An engine gets the values packed (:mod:`tb.isa.descriptor`); they may break any width.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from functools import cache
from operator import attrgetter, index
from typing import Any, ClassVar, NoReturn, TypeVar

from tb.isa.dtypes import ELEMENT_BYTES, Ptr
from tb.isa.fields import OpSpec

Values = dict[str, Any]
"""Field of a descriptor, or of its family's ``extra``, to its value."""


class Op:
    """An op as it is written, and as an engine gets it; frozen.

    Operands are given in the order of ``names``, or by name. Each family class declares what its
    ops have beside the fields of their descriptors.

    Attributes:
        spec: Table row of the op.
        names: Operands in the order in which they are given, types and ``ub_sub`` last.
        defaults: Operands that may be left out, and their values.
        column_names: Values that a block has columns of.
        zeros: Values of an op without operands.
        src_type, dst_type: Pointer types.
    """

    __slots__ = ("__dict__", "dst_type", "src_type")

    spec: ClassVar[OpSpec]
    names: ClassVar[tuple[str, ...]] = ()
    defaults: ClassVar[Mapping[str, Any]] = {}
    column_names: ClassVar[tuple[str, ...]] = ()
    _field_of: ClassVar[Mapping[str, str]] = {}
    zeros: ClassVar[Values] = {}

    src_type: Ptr
    dst_type: Ptr

    def __init__(self, *operands: Any, **named: Any) -> None:
        """Takes the operands.

        Raises:
            TypeError: one is missing, given twice, or none of the op's.
        """
        given = dict(zip(self.names, operands, strict=False))
        twice = sorted(given.keys() & named)
        if twice or len(operands) > len(self.names):
            raise TypeError(f"{self.spec.name}: {', '.join(twice) or 'too many operands'}: twice")
        given = {**self.defaults, **given, **named}
        fields = {self._field_of.get(name, name) for name in given}
        missing = [x for x in self.names if self._field_of.get(x, x) not in fields]
        if missing:
            raise TypeError(f"{self.spec.name}: {', '.join(missing)} missing")
        self._set(dict(self.zeros), given)

    def _set(self, values: Values, given: Mapping[str, Any], held: Op | None = None) -> None:
        types = [given.get(name, getattr(held, name, None)) for name in _TYPES]
        for name, value in given.items():
            if name in _TYPES:
                continue
            field, value = self._field_of.get(name), whole(value)
            if field is None:
                self._clause(name, value, values)
            else:
                values[field] = value
        if any(name in given for name in _TYPES):
            self._typed(values, *types)
        _fill(self, values, *types)

    @classmethod
    def _clause(cls, name: str, value: Any, values: Values) -> None:  # noqa: ARG003
        """Sets the values of an operand that is not one number."""
        raise TypeError(f"{cls.spec.name} has no operand {name}")

    @classmethod
    def _typed(cls, values: Values, src_type: Ptr, dst_type: Ptr) -> None:
        """Sets the values that follow from the types."""

    @classmethod
    def _from_fields(cls, values: Values, second: str) -> Values:  # noqa: ARG003
        """Returns the values of an op that has these of its columns: see :meth:`built`."""
        return values

    @classmethod
    def fitting(cls, values: Values) -> tuple[str, str]:
        """Returns an element type of the source, and a second type, for the fields of an op."""
        dtype = f"i{8 << values['elem_log2']}"
        return dtype, dtype

    @classmethod
    def target(cls, dtype: str, second: str) -> str:  # noqa: ARG003
        """Returns the element type of the destination for those types; "" for none."""
        return dtype

    @classmethod
    def built(cls: type[OpT], values: Values, dtype: str, second: str) -> OpT:
        """Returns the op with these values of its columns, which it keeps.

        Args:
            values: Column to value; those left out are 0.
            dtype: Element type of the source.
            second: Type of a pad value; of a write-back the element type of the destination.
        """
        types = _pointers(cls, dtype, second)  # type: ignore[arg-type]  # classes are hashable
        return cls.of(cls._from_fields(values, second), *types)

    @classmethod
    def of(cls: type[OpT], values: Values, src_type: Ptr, dst_type: Ptr) -> OpT:
        """Returns the op with these values, which it keeps; fields left out are 0."""
        made = object.__new__(cls)
        _fill(made, {**cls.zeros, **values}, src_type, dst_type)
        return made

    @property
    def family(self) -> str:
        """Descriptor family."""
        return self.spec.layout.family

    def is_given(self, name: str) -> bool:
        """Returns whether an operand is there; one that the text may leave out has a value too."""
        return bool(self.values.get(f"{name}_given", True))

    @property
    def second_type(self) -> str:
        """The type that a block has beside that of the source: see :meth:`built`."""
        return self.src_type.dtype

    @property
    def values(self) -> Values:
        """The value of each field, and of the family's ``extra``; not to be changed."""
        return self.__dict__

    @property
    def is_nop(self) -> bool:
        """Whether nothing is moved (docs/spec/README.md, "Rule classes"; A-03)."""
        raise NotImplementedError  # abstract: each family has its own; ABC would slow isinstance

    @property
    def elem_bytes(self) -> int:
        """Bytes of an element, where the descriptor has the field ``elem_log2``."""
        log2: int = self.values["elem_log2"]
        return 1 << log2

    @property
    def unencodable(self) -> str:
        """Why no descriptor holds the op, an S rule first; empty for one that has a descriptor."""
        return ""

    def sampled(self: OpT, ctrl: int) -> OpT:  # noqa: ARG002
        """Returns the op as it is issued with this value of CTRL, where that decides about it."""
        return self

    def __replace__(self: OpT, /, **changes: Any) -> OpT:
        made = object.__new__(type(self))
        made._set(dict(self.__dict__), changes, self)
        return made

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (
            self.__dict__ == other.__dict__
            and self.src_type == other.src_type
            and self.dst_type == other.dst_type
        )

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values(), self.src_type, self.dst_type))

    def __repr__(self) -> str:
        texts = {name: repr(value) for name, value in self.__dict__.items()}
        used = [f"{x}={y}" for x, y in texts.items() if y not in ("0", "''", "()", "None")]
        types = [f"{name}={getattr(self, name)}" for name in _TYPES]
        return f"{type(self).__name__}({', '.join(used + types)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.__dict__, self.src_type, self.dst_type)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"cannot assign to {name}")


def whole(value: Any) -> Any:
    """Returns an integer of numpy as an int, since a descriptor is wider; others as they are."""
    if isinstance(value, int) or not hasattr(value, "__index__"):
        return value
    return index(value)


def code_of(what: str, word: str, codes: Mapping[str, int]) -> int:
    """Returns the code of a keyword.

    Raises:
        ValueError: there is none.
    """
    if word not in codes:
        raise ValueError(f"{what} is {word!r}: one of {', '.join(filter(None, codes))}")
    return codes[word]


def element_log2(dtype: str) -> int:
    """Returns the field ``elem_log2`` of an element type; 0 for one that no op moves."""
    return ELEMENT_BYTES.get(dtype, 1).bit_length() - 1


OpT = TypeVar("OpT", bound=Op)

_TYPES = ("src_type", "dst_type")


@cache
def _pointers(cls: Any, dtype: str, second: str) -> tuple[Ptr, Ptr]:
    """Returns the pointer types of an op with these element types: see :meth:`Op.built`."""
    target = Ptr(cls.target(dtype, second), cls.spec.destination)
    return Ptr(dtype, cls.spec.source), target


def _fill(op: Op, values: Values, src_type: Ptr, dst_type: Ptr) -> None:
    _put(op, "__dict__", values)
    _put(op, "src_type", src_type if "src_type" in op.defaults else dst_type)
    _put(op, "dst_type", dst_type)


_put = object.__setattr__


def _restored(cls: type[Op], values: Values, src_type: Ptr, dst_type: Ptr) -> Op:
    return cls.of(values, src_type, dst_type)


def op_class(
    base: type[OpT],
    spec: OpSpec,
    names: tuple[str, ...],
    defaults: Mapping[str, Any],
    extra: Mapping[str, Any] | None = None,
    clauses: tuple[str, ...] = (),
    columns: tuple[str, ...] = (),
) -> type[OpT]:
    """Returns the class of a row.

    Args:
        base: Class of the family.
        spec: The row.
        names: As :attr:`Op.names`.
        defaults: As :attr:`Op.defaults`; ``src_type`` and ``dst_type`` of those that ``of`` makes.
        extra: Values beside the fields of the descriptor, and what they are unless given.
        clauses: Operands that are not given as the value of their field.
        columns: Values beside the fields of the descriptor that a block has columns of.
    """
    zeros: Values = {**dict.fromkeys(spec.layout, 0), **(extra or {})}
    fields = {name: name for name in zeros}
    fields |= {row.name: row.field for row in spec.operands if row.field in spec.layout}
    module = sys.modules[base.__module__]
    name = "".join(part.capitalize() for part in spec.name.split("_"))
    readers = {
        name: property(attrgetter(field), doc=f"Field ``{field}``.")
        for name, field in fields.items()
        if name != field and not hasattr(base, name)
    }
    fields = {name: field for name, field in fields.items() if name not in clauses}
    members = {
        "__slots__": (), "__module__": base.__module__, "__doc__": f"``pto.{spec.name}``.",
        "spec": spec, "names": names, "defaults": defaults, "_field_of": fields,
        "column_names": (*spec.layout, *columns), "zeros": zeros, **readers,
    }  # fmt: skip
    made: type[OpT] = type(name, (base,), members)
    setattr(module, name, made)  # pickle finds classes by name
    return made


def operand_names(kind: Any) -> tuple[str, ...]:
    """Returns what the ops of a class, or other frozen dataclasses, are made with."""
    if issubclass(kind, Op):
        names: tuple[str, ...] = kind.names
        return names
    return tuple(one.name for one in dataclasses.fields(kind) if one.init)


ReplaceableT = TypeVar("ReplaceableT")


def replace(op: ReplaceableT, /, **changes: Any) -> ReplaceableT:
    """Returns a copy of an op, or of a frozen dataclass, with other operands."""
    if isinstance(op, Op):
        return op.__replace__(**changes)
    return dataclasses.replace(op, **changes)  # type: ignore[type-var]
