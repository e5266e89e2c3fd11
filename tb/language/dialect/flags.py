# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that order pipes: flags and barriers, also by the names of tile ops."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute, Operation
from xdsl.irdl import traits_def
from xdsl.parser import Parser

from tb.isa.pipes import EVENT_TYPES, EVENTS, PIPE_ALIASES, PIPE_ALL, Pipe
from tb.language.dialect.ops import python_value, string
from tb.language.grammar.fault import Fault, OpError
from tb.language.parser.syntax import Scanner

PIPE_NAMES = tuple(pipe.value for pipe in Pipe)


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
    name = PIPE_ALIASES.get(name, name)
    if typed and name not in PIPE_NAMES:
        words = ", ".join((*PIPE_NAMES, *EVENT_TYPES))
        raise OpError(Fault(f"pipe {name!r} is unknown", legal=words))
    if name not in PIPE_NAMES and not (every and name == PIPE_ALL):
        legal = (*PIPE_NAMES, PIPE_ALL) if every else PIPE_NAMES
        raise OpError(Fault(f"pipe {name!r} is unknown", legal=", ".join(legal)))
    return name


def _event(value: object) -> int:
    text = str(value)
    number = text.removeprefix("EVENT_ID")
    if not number.isdigit() or int(number) >= EVENTS:
        raise OpError(
            Fault(f"event {text!r} is unknown", legal=f"EVENT_ID0 to EVENT_ID{EVENTS - 1}")
        )
    return int(number)


class FlagOp(Operation):
    """``pto.set_flag`` or ``pto.wait_flag``: ``[src, dst, event]``."""

    name = "pto.flag"
    traits = traits_def()
    own: ClassVar[tuple[str, ...]] = ("src_pipe", "dst_pipe", "event_id")
    typed: ClassVar[bool] = False

    @property
    def src(self) -> Pipe:
        """Pipe that sets the flag."""
        return self._pipe(0)

    @property
    def dst(self) -> Pipe:
        """Pipe that waits for the flag."""
        return self._pipe(1)

    @property
    def event(self) -> int:
        """Event id, 0 to 7."""
        return _event(attribute_text(self, self.own[2]))

    def _pipe(self, number: int) -> Pipe:
        return Pipe(pipe_name(attribute_text(self, self.own[number]), typed=self.typed))

    @classmethod
    def parse(cls, parser: Parser) -> FlagOp:
        """Reads ``[src, dst, event]``, each a string, a word, ``<word>`` or ``#pto.x<word>``."""
        scanner = Scanner(parser)
        scanner.expect("[", f"and the pipes of {cls.name}")
        words: list[Attribute] = []
        while not scanner.take("]"):
            if words:
                scanner.expect(",", f"or ']' in {cls.name}")
            if scanner.kind == "value":
                scanner.fail(
                    f"{cls.name} has no computed event: EVENT_ID0 ..., or pto.set_flag_dyn and "
                    "pto.wait_flag_dyn"
                )
            if scanner.kind == "number":
                words.append(string(scanner.value))
                scanner.advance()
            else:
                words.append(string(scanner.word("a pipe or an event")))
        attributes = scanner.attribute_dictionary()
        scanner.close()
        if len(words) != 3:
            raise OpError(
                Fault(f"has {len(words)} parts of 3", legal="[source pipe, pipe, event id]")
            )
        properties = dict(zip(cls.own, words, strict=True))
        op = cls.create(properties=properties, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses pipes and events that are none."""
        _ = self.src, self.dst, self.event


class SetFlagOp(FlagOp):
    """``pto.set_flag[src, dst, event]``."""

    name = "pto.set_flag"


class WaitFlagOp(FlagOp):
    """``pto.wait_flag[src, dst, event]``."""

    name = "pto.wait_flag"


class RecordEventOp(SetFlagOp):
    """``pto.record_event[TLOAD, TVEC, EVENT_ID0]``: a ``set_flag`` of tile ops' pipes."""

    name = "pto.record_event"
    own = ("src_op", "dst_op", "event_id")
    typed = True


class WaitEventOp(WaitFlagOp):
    """``pto.wait_event[TLOAD, TVEC, EVENT_ID0]``: a ``wait_flag`` of tile ops' pipes."""

    name = "pto.wait_event"
    own = RecordEventOp.own
    typed = True


def attribute_text(op: Operation, key: str) -> str:
    """Returns a property or attribute that an op must have, as text."""
    attribute = op.properties.get(key, op.attributes.get(key))
    if attribute is None:
        raise OpError(Fault(f"attribute {key!r} is missing"))
    return str(python_value(attribute))


class BarrierOp(Operation):
    """``pto.pipe_barrier`` or ``pto.barrier``; ``PIPE_ALL`` is a barrier over every pipe."""

    name = "pto.pipe_barrier"
    traits = traits_def()
    own: ClassVar[tuple[str, ...]] = ("pipe",)
    typed: ClassVar[bool] = False

    @property
    def pipe(self) -> Pipe | None:
        """The pipe, or None for every one."""
        name = pipe_name(attribute_text(self, self.own[0]), every=not self.typed, typed=self.typed)
        return None if name == PIPE_ALL else Pipe(name)

    @classmethod
    def parse(cls, parser: Parser) -> BarrierOp:
        """Reads a pipe, as a string, a word, ``<word>`` or ``#pto.pipe<word>``."""
        scanner = Scanner(parser)
        if scanner.is_next_op():
            scanner.fail(
                f"expected a pipe after {cls.name}, found {scanner.found()}", scanner.before
            )
        bracket = scanner.take("[")
        name = scanner.word("a pipe")
        if bracket:
            scanner.expect("]", f"after {name}")
        attributes = scanner.attribute_dictionary()
        scanner.close()
        op = cls.create(properties={cls.own[0]: string(name)}, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses a pipe that is none."""
        _ = self.pipe


class ShortBarrierOp(BarrierOp):
    """``pto.barrier #pto.pipe<PIPE_ALL>``."""

    name = "pto.barrier"


class BarrierSyncOp(BarrierOp):
    """``pto.barrier_sync[TVEC]``: a barrier on the pipe of a tile op."""

    name = "pto.barrier_sync"
    own = ("op_type",)
    typed = True
