# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that order pipes: flags and barriers."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation
from xdsl.irdl import traits_def
from xdsl.parser import Parser

from tb.isa.pipes import EVENTS, PIPE_ALIASES, PIPE_ALL, Pipe
from tb.language.dialect.ops import Fault, OpError, python_value, string
from tb.language.parser.syntax import Scanner

PIPE_NAMES = tuple(pipe.value for pipe in Pipe)


def pipe_named(name: str, *, every: bool = False) -> str:
    """Returns the name of a pipe; raises OpError for a word that is none."""
    name = PIPE_ALIASES.get(name, name)
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

    @staticmethod
    def named(name: str) -> str:
        """Returns the pipe that a word of the op names."""
        return pipe_named(name)

    @property
    def src(self) -> Pipe:
        """Pipe that sets the flag."""
        return Pipe(self.named(self._said("src_pipe")))

    @property
    def dst(self) -> Pipe:
        """Pipe that waits for the flag."""
        return Pipe(self.named(self._said("dst_pipe")))

    @property
    def event(self) -> int:
        """Event id, 0 to 7."""
        return _event(self._said("event_id"))

    def _said(self, key: str) -> str:
        return attribute_text(self, key)

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
                scanner.fail(f"{cls.name} takes a constant event; {cls.name}_dyn a value")
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
        names = ("src_pipe", "dst_pipe", "event_id")
        properties = dict(zip(names, words, strict=True))
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


def attribute_text(op: Operation, key: str) -> str:
    """Returns an attribute of an op as text."""
    attribute = op.properties.get(key) or op.attributes.get(key)
    if attribute is None:
        raise OpError(Fault(f"attribute {key!r} is missing"))
    return str(python_value(attribute))


class BarrierOp(Operation):
    """``pto.pipe_barrier`` or ``pto.barrier``; ``PIPE_ALL`` is a barrier over every pipe."""

    name = "pto.pipe_barrier"
    traits = traits_def()

    @property
    def pipe(self) -> Pipe | None:
        """The pipe, or None for every one."""
        name = pipe_named(attribute_text(self, "pipe"), every=True)
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
        op = cls.create(properties={"pipe": string(name)}, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses a pipe that is none."""
        _ = self.pipe


class ShortBarrierOp(BarrierOp):
    """``pto.barrier #pto.pipe<PIPE_ALL>``."""

    name = "pto.barrier"
