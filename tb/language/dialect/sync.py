# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that order pipes and cores, other than flags with a constant event.

Source: spec/dialect.md, section 9; spec/order_and_atomics.md, sections 2 to 4.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import traits_def
from xdsl.parser import Parser, UnresolvedOperand

from tb.isa.pipes import BUFFER_IDS, Pipe
from tb.language.dialect.flags import (
    BarrierOp,
    SetFlagOp,
    WaitFlagOp,
    attribute_text,
    pipe_named,
)
from tb.language.dialect.ops import Fault, OpError, string
from tb.language.dialect.pointers import operand
from tb.language.dialect.types import type_name
from tb.language.parser.syntax import Scanner

EVENT_TYPES: dict[str, str] = {
    "TLOAD": "PIPE_MTE2",
    "TSTORE_VEC": "PIPE_MTE3",
    **dict.fromkeys(("TSTORE_ACC", "TMOV_M2S", "TMOV_V2M"), "PIPE_FIX"),
    **dict.fromkeys(("TMOV_M2L", "TMOV_M2B"), "PIPE_MTE1"),
    **dict.fromkeys(("TMOV_M2V", "TVEC", "TVECWAIT_EVENT"), "PIPE_V"),
    "TMATMUL": "PIPE_M",
}
"""Event types of the tile level to the pipes that they stand for."""

QUIET = (
    *("pto.mem_bar", "pto.set_ffts", "pto.dsb", "pto.dcci", "pto.cmo.cacheinvalid"),
    "pto.fence.barrier_all",
)
"""Ops on caches, on accesses of the scalar and vector units, on workspaces: without effect."""


def _event_pipe(name: str) -> str:
    if name in EVENT_TYPES:
        return EVENT_TYPES[name]
    return pipe_named(name)


class RecordEventOp(SetFlagOp):
    """``pto.record_event[op, op, event]``: a flag between the pipes of two event types."""

    name = "pto.record_event"
    named = staticmethod(_event_pipe)


class WaitEventOp(WaitFlagOp):
    """``pto.wait_event[op, op, event]``."""

    name = "pto.wait_event"
    named = staticmethod(_event_pipe)


class BarrierSyncOp(BarrierOp):
    """``pto.barrier_sync[op]``: a barrier of the pipe of an event type."""

    name = "pto.barrier_sync"

    @property
    def pipe(self) -> Pipe | None:
        """The pipe."""
        return Pipe(_event_pipe(attribute_text(self, "pipe")))


class DynamicFlagOp(Operation):
    """``pto.set_flag_dyn`` or ``pto.wait_flag_dyn``: ``[src, dst, %event]``."""

    name = "pto.flag_dyn"
    traits = traits_def()

    @property
    def src(self) -> Pipe:
        """Pipe that sets the flag."""
        return Pipe(pipe_named(attribute_text(self, "src_pipe")))

    @property
    def dst(self) -> Pipe:
        """Pipe that waits for the flag."""
        return Pipe(pipe_named(attribute_text(self, "dst_pipe")))

    @classmethod
    def parse(cls, parser: Parser) -> DynamicFlagOp:
        """Reads ``[src, dst, %event]``."""
        scanner = Scanner(parser)
        scanner.expect("[", f"and the pipes of {cls.name}")
        source = scanner.word("a pipe")
        scanner.expect(",", f"after {source}")
        target = scanner.word("a pipe")
        scanner.expect(",", f"after {target}")
        event = operand(parser, scanner)
        scanner.expect("]", f"at the end of {cls.name}")
        attributes = scanner.attribute_dictionary()
        scanner.close()
        properties: dict[str, Attribute] = {"src_pipe": string(source), "dst_pipe": string(target)}
        value = parser.resolve_operand(event, IndexType())
        op = cls.create(operands=[value], properties=properties, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses pipes that are none, and an event that is no index."""
        _ = self.src, self.dst
        _one_index(self)


class SetFlagDynOp(DynamicFlagOp):
    """``pto.set_flag_dyn[src, dst, %event]``."""

    name = "pto.set_flag_dyn"


class WaitFlagDynOp(DynamicFlagOp):
    """``pto.wait_flag_dyn[src, dst, %event]``."""

    name = "pto.wait_flag_dyn"


def _one_index(op: Operation) -> None:
    kinds = [type_name(each.type) for each in op.operands]
    if kinds != ["index"]:
        raise OpError(Fault(f"type mismatch: ({', '.join(kinds)})", legal="one index"))


def _number(op: Operation, key: str, count: int) -> int:
    attribute = op.properties.get(key)
    if attribute is None:
        attribute = op.attributes.get(key)
    value = attribute.value.data if isinstance(attribute, IntegerAttr) else -1
    if value not in range(count):
        raise OpError(Fault(f"{key} is {value}", legal=f"0 to {count - 1}"))
    return value


class BufferOp(Operation):
    """``pto.get_buf`` or ``pto.rls_buf``: ``"PIPE", id[, mode]``, also ``[event type, id, mode]``.

    The forms with ``_dyn`` take the id as an operand.
    """

    name = "pto.buf"
    traits = traits_def()
    dynamic: ClassVar[bool] = False

    @property
    def pipe(self) -> Pipe:
        """The pipe."""
        return Pipe(_event_pipe(attribute_text(self, "pipe")))

    @property
    def event_type(self) -> str:
        """The event type that names the pipe, or empty."""
        word = attribute_text(self, "pipe")
        return word if word in EVENT_TYPES else ""

    @property
    def buffer(self) -> int:
        """The id, -1 of one that is an operand."""
        return -1 if self.operands else _number(self, "buf_id", BUFFER_IDS)

    @property
    def mode(self) -> int:
        """0 or 1."""
        return _number(self, "mode", 2)

    @classmethod
    def parse(cls, parser: Parser) -> BufferOp:
        """Reads the pipe, the id and the mode, in brackets or without."""
        scanner = Scanner(parser)
        bracket = scanner.take("[")
        properties: dict[str, Attribute] = {"pipe": string(scanner.word("a pipe"))}
        scanner.expect(",", f"and the id of {cls.name}")
        values = []
        if cls.dynamic:
            found = operand(parser, scanner)
            values.append(parser.resolve_operand(found, IndexType()))
        else:
            properties["buf_id"] = IntegerAttr(_integer(scanner, "a buffer id"), i64)
        mode = _integer(scanner, "a mode") if scanner.take(",") else 0
        properties["mode"] = IntegerAttr(mode, i64)
        if bracket:
            scanner.expect("]", f"at the end of {cls.name}")
        attributes = scanner.attribute_dictionary()
        scanner.close()
        op = cls.create(operands=values, properties=properties, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses a pipe that is none, and numbers out of range."""
        _ = self.pipe, self.buffer, self.mode
        if self.dynamic:
            _one_index(self)


def _integer(scanner: Scanner, what: str) -> int:
    if scanner.kind != "number":
        scanner.fail(f"expected {what}, found {scanner.found()}")
    text = scanner.value
    scanner.advance()
    return int(text, 0)


class GetBufOp(BufferOp):
    """``pto.get_buf``."""

    name = "pto.get_buf"


class ReleaseBufOp(BufferOp):
    """``pto.rls_buf``."""

    name = "pto.rls_buf"


class GetBufDynOp(BufferOp):
    """``pto.get_buf_dyn``."""

    name = "pto.get_buf_dyn"
    dynamic = True


class ReleaseBufDynOp(BufferOp):
    """``pto.rls_buf_dyn``."""

    name = "pto.rls_buf_dyn"
    dynamic = True


CORE_PIPES = (Pipe.FIX, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.V)
"""Pipes that signal to other cores."""


class CoreOp(Operation):
    """A signal between cores: ``<PIPE>, id``, the id a number or an index."""

    name = "pto.core"
    traits = traits_def()
    ids: ClassVar[int] = 16

    @property
    def pipe(self) -> Pipe:
        """The pipe."""
        return Pipe(pipe_named(attribute_text(self, "pipe")))

    @classmethod
    def parse(cls, parser: Parser) -> CoreOp:
        """Reads the pipe, the id and the attributes."""
        scanner = Scanner(parser)
        properties: dict[str, Attribute] = {"pipe": string(scanner.word("a pipe"))}
        scanner.expect(",", f"and the id of {cls.name}")
        values = []
        if scanner.kind == "value":
            values.append(parser.resolve_operand(operand(parser, scanner), IndexType()))
        else:
            properties["id"] = IntegerAttr(_integer(scanner, "an id"), i64)
        attributes = scanner.attribute_dictionary()
        scanner.close()
        op = cls.create(operands=values, properties=properties, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses ids, pipes and modes that the compiler refuses."""
        if self.operands:
            _one_index(self)
        else:
            _number(self, "id", self.ids)
        if self.pipe not in CORE_PIPES:
            legal = ", ".join(pipe.value for pipe in CORE_PIPES)
            raise OpError(Fault(f"pipe {self.pipe.value} signals to no core", legal=legal))
        if "ffts_mode" in self.attributes:
            _number(self, "ffts_mode", 3)
        if "mode" in self.attributes:
            _number(self, "mode", 1)


def _core(name: str, ids: int) -> type[CoreOp]:
    own = {"name": name, "ids": ids, "__doc__": f"``{name}``."}
    return type("".join(part.capitalize() for part in name.split("_")), (CoreOp,), own)


class SyncAllOp(Operation):
    """``pto.syncall([%gm[, %n] : types]) mode = ..., core_type = ...``."""

    name = "pto.syncall"
    traits = traits_def()

    @classmethod
    def parse(cls, parser: Parser) -> SyncAllOp:
        """Reads operands, mode and cores."""
        scanner = Scanner(parser)
        scanner.expect("(", f"and the operands of {cls.name}")
        found: list[UnresolvedOperand] = []
        kinds: list[Attribute] = []
        while not scanner.take(")"):
            if found:
                scanner.expect(",", "between the operands")
            found.append(operand(parser, scanner))
            if scanner.take(":"):
                kinds.append(scanner.type())
                while scanner.take(","):
                    kinds.append(scanner.type())
                scanner.expect(")", "after the types")
                break
        words: dict[str, Attribute] = {}
        while scanner.kind == "word" and scanner.value in ("mode", "core_type"):
            key = scanner.value
            scanner.advance()
            scanner.expect("=", f"after {key}")
            words[key] = string(scanner.word(key))
            if not scanner.take(","):
                break
        attributes = scanner.attribute_dictionary()
        scanner.close()
        if len(kinds) != len(found):
            raise OpError(Fault(f"{len(found)} operands are written with {len(kinds)} types"))
        values = [
            parser.resolve_operand(each, kind) for each, kind in zip(found, kinds, strict=True)
        ]
        op = cls.create(operands=values, properties=words, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses modes and cores that there are not."""
        for key, legal in (
            ("mode", ("hard", "soft")),
            ("core_type", ("aiv_only", "aic_only", "mix")),
        ):
            word = attribute_text(self, key)
            if word not in legal:
                raise OpError(Fault(f"{key} is {word}", legal=", ".join(legal)))


_SIGNALS = {
    **dict.fromkeys(("set_intra_block", "wait_intra_block"), 32),
    **dict.fromkeys(("set_cross_block", "wait_cross_block", "sync.set", "sync.wait"), 16),
}

CORE_OPS: tuple[type[Operation], ...] = (
    *[_core(f"pto.{name}", ids) for name, ids in _SIGNALS.items()],
    SyncAllOp,
)
"""Ops between cores, which are read and not executed."""

SYNC_OPS: tuple[type[Operation], ...] = (
    RecordEventOp,
    WaitEventOp,
    BarrierSyncOp,
    SetFlagDynOp,
    WaitFlagDynOp,
    GetBufOp,
    ReleaseBufOp,
    GetBufDynOp,
    ReleaseBufDynOp,
    *CORE_OPS,
)
"""Every op class of this module."""
