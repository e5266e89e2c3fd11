# SPDX-License-Identifier: Apache-2.0
"""Rows of ops that synchronize: their parts in the order of the text, read and checked here."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def

from tb.isa.pipes import EVENT_TYPES, PIPE_ALIASES, PIPE_ALL, Pipe
from tb.language.dialect.ops import python_value, string
from tb.language.dialect.pointers import known_type
from tb.language.dialect.types import OpaqueType, type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.parser.text import ProgramText, Use

PIPE_NAMES = tuple(pipe.value for pipe in Pipe)

WORD, EVENT, NUMBER, VALUE, EITHER = "word", "event", "number", "value", "number or value"
"""Kinds of a part: a pipe or another word; an event as a word or a number; a number; a computed
number; either of two."""


def pipe_name(name: str, *, every: bool = False, typed: bool = False) -> str:
    """Returns the name of a pipe.

    Args:
        name: As written.
        every: ``PIPE_ALL`` is one.
        typed: Event-type words are names of pipes, too.

    Raises:
        OpError: it is none.
    """
    if typed and name in EVENT_TYPES:
        return str(EVENT_TYPES[name].value)
    found = PIPE_ALIASES.get(name, name)
    legal = (*PIPE_NAMES, *(EVENT_TYPES if typed else ()), *((PIPE_ALL,) if every else ()))
    if found not in legal:
        raise OpError(Fault(f"pipe {found!r} is unknown", legal=", ".join(legal)))
    return found


def attribute_text(op: Operation, key: str) -> str:
    """Returns a property or attribute that an op must have, as text."""
    attribute = op.properties.get(key, op.attributes.get(key))
    if attribute is None:
        raise OpError(Fault(f"attribute {key!r} is missing"))
    return str(python_value(attribute))


class SyncOp(Operation):
    """An op that synchronizes.

    Attributes:
        parts: Property and kind of each part, in the order of the text.
        brackets: ``"["`` around the parts, ``"?"`` where they may be absent, else none.
        typed: Whether pipes may have the names of tile ops.
        last: Parts that may be absent, the last ones; a number is then 0.
    """

    name = "pto.sync"
    traits = traits_def()
    parts: ClassVar[tuple[tuple[str, str], ...]] = ()
    brackets: ClassVar[str] = ""
    typed: ClassVar[bool] = False
    last: ClassVar[int] = 0

    @classmethod
    def own(cls) -> tuple[str, ...]:
        """Returns its properties."""
        return tuple(key for key, kind in cls.parts if kind != VALUE)

    @classmethod
    def read(cls, text: ProgramText) -> SyncOp:
        """Reads the parts, then attributes."""
        if text.is_next_op():
            message = f"expected a pipe after {cls.name}, found {text.found()}"
            text.fail(message, text.before)
        bracket = bool(cls.brackets) and text.take("[")
        if cls.brackets == "[" and not bracket:
            text.expect("[", f"and the pipes of {cls.name}")
        words: dict[str, Attribute] = {}
        taken: list[Use] = []
        for number, (key, kind) in enumerate(cls.parts):
            if number and number >= len(cls.parts) - cls.last and text.value != ",":
                words[key] = IntegerAttr(0, 32)
                continue
            if number:
                text.expect(",", f"and {key} in {cls.name}, which has {len(cls.parts)} parts")
            if kind == VALUE or (kind == EITHER and text.kind == "value"):
                taken.append(cls._computed(text, key))
            else:
                words[key] = cls._written(text, key, kind)
        if bracket:
            text.expect("]", f"after the {len(cls.parts)} parts of {cls.name}")
        attributes = text.attribute_dictionary()
        words |= {key: attributes.pop(key) for key in cls.own() if key in attributes}
        values = [_index(text, one) for one in taken]
        op = cls.create(operands=values, properties=words, attributes=attributes)
        op.verify_()
        return op

    @classmethod
    def _computed(cls, text: ProgramText, key: str) -> Use:
        if text.kind != "value":
            static = cls.name.removesuffix("_dyn")
            text.fail(f"{key} of {cls.name} is a value: {static} takes {text.found()}")
        return text.use()

    @classmethod
    def _written(cls, text: ProgramText, key: str, kind: str) -> Attribute:
        """Reads a part that is not a value."""
        if text.kind == "value":
            text.fail(f"{key} of {cls.name} is a word or a number: {cls.name}_dyn takes a value")
        if text.kind == "number" and kind != WORD:
            number = text.value
            if kind != EVENT and not number.lstrip("-").isdigit():
                text.fail(f"expected a number, found {text.found()}")
            text.advance()
            return string(number) if kind == EVENT else IntegerAttr(int(number), 32)
        if kind in (NUMBER, EITHER):
            text.fail(f"expected the number {key}, found {text.found()}")
        return string(text.word("an event" if kind == EVENT else "a pipe"))

    def number_of(self, key: str, default: int | None = None) -> int:
        """Returns a property that is an integer."""
        # The attribute of 0 is false.
        attribute = self.properties.get(key, self.attributes.get(key))
        if attribute is None and default is not None:
            return default
        if attribute is None:
            raise OpError(Fault(f"attribute {key!r} is missing"))
        value = python_value(attribute)
        if not isinstance(value, int):
            raise OpError(Fault(f"{key} is {value!r}", legal="an integer"))
        return value

    def pipe_of(self, key: str, *, every: bool = False) -> str:
        """Returns the name of a pipe that a property has."""
        return pipe_name(attribute_text(self, key), every=every, typed=self.typed)

    def verify_(self) -> None:
        """Refuses results, and operands other than the computed number."""
        kinds = [kind for _, kind in self.parts]
        least, most = kinds.count(VALUE), kinds.count(VALUE) + kinds.count(EITHER)
        if self.results or not least <= len(self.operands) <= most:
            wanted = "an index" if least else "no operands" if not most else "an index or a number"
            raise OpError(Fault(f"has {len(self.operands)} operands", legal=wanted))
        for value in self.operands:
            if not isinstance(value.type, IndexType):
                kind = type_name(value.type)
                raise OpError(Fault(f"type mismatch: an id of type {kind}", legal="index"))
        self.check()

    def check(self) -> None:
        """Refuses words and numbers that are none."""


def _index(text: ProgramText, taken: Use) -> SSAValue:
    """Returns the value of a computed number."""
    kind = known_type(text, taken)
    if taken.name in text.ssa_values and not isinstance(kind, IndexType | OpaqueType):
        message = f"type mismatch: %{taken.name} has type {type_name(kind)}"
        raise OpError(Fault(message, at=taken.at, legal="index"))
    return text.resolve(taken, IndexType())
