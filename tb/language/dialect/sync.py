# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that synchronize, but for static flags and barriers.

Source: spec/dialect.md, section 9. Numbers that are written are properties, a computed number is
the operand, an ``index``. Pipes are kept as written.
"""

from __future__ import annotations

import re
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser, UnresolvedOperand

from tb.isa.pipes import BUFFERS, EVENTS, Pipe
from tb.language.dialect.flags import (
    BarrierSyncOp,
    RecordEventOp,
    WaitEventOp,
    attribute_text,
    pipe_name,
)
from tb.language.dialect.ops import python_value, string
from tb.language.dialect.pointers import known_type, operand
from tb.language.dialect.types import OpaqueType, pointer_of, type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.parser.foreign import UnclosedError, skip
from tb.language.parser.syntax import Scanner, standing

CORE_PIPES = ("PIPE_FIX", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_V")
"""Pipes that signals between cores are queued on."""

SYNC_MODES = ("hard", "soft")
CORE_TYPES = ("aiv_only", "aic_only", "mix")
"""Words of ``pto.syncall``."""

_MEM_BAR = re.compile(r"(?:VV|VS|SV|SS)_ALL|V?(?:ST|LD)_V?(?:ST|LD)")
"""Accesses that ``pto.mem_bar`` orders: vector and scalar loads and stores."""

_SCOPES = ("pto.vecscope", "pto.strict_vecscope")


class SyncOp(Operation):
    """An op that synchronizes.

    Attributes:
        own: Its properties.
    """

    name = "pto.sync"
    traits = traits_def()
    own: ClassVar[tuple[str, ...]] = ()


class OrderOp(SyncOp):
    """One that orders pipes of one core, and is executed."""

    name = "pto.order"

    @property
    def number(self) -> SSAValue | None:
        """The computed event or buffer, None for one that is written."""
        return self.operands[0] if self.operands else None


class CoreOp(SyncOp):
    """One that orders cores: read, checked and not executed."""

    name = "pto.cores"


class QuietOp(SyncOp):
    """One without an effect on pipes: a fence of scalar or vector accesses, or of a cache."""

    name = "pto.quiet"


def _number(op: Operation, key: str, default: int | None = None) -> int:
    """Returns a property that is an integer."""
    # The attribute of 0 is false.
    attribute = op.properties.get(key, op.attributes.get(key))
    if attribute is None and default is not None:
        return default
    if attribute is None:
        raise OpError(Fault(f"attribute {key!r} is missing"))
    value = python_value(attribute)
    if not isinstance(value, int):
        raise OpError(Fault(f"{key} is {value!r}", legal="an integer"))
    return value


def _written(scanner: Scanner, what: str) -> IntegerAttr[IntegerType]:
    """Reads a number."""
    if scanner.kind != "number" or not scanner.value.lstrip("-").isdigit():
        scanner.fail(f"expected {what}, found {scanner.found()}")
    value = int(scanner.value)
    scanner.advance()
    return IntegerAttr(value, 32)


def _index(parser: Parser, taken: UnresolvedOperand | None) -> list[SSAValue]:
    """Returns the value of a computed number, if there is one."""
    if taken is None:
        return []
    kind = known_type(parser, taken)
    if taken.operand_name in parser.ssa_values and not isinstance(kind, IndexType | OpaqueType):
        message = f"type mismatch: %{taken.operand_name} has type {type_name(kind)}"
        raise OpError(Fault(message, at=taken.span.start, legal="index"))
    return [parser.resolve_operand(taken, IndexType())]


def _check_index(op: Operation, least: int, most: int) -> None:
    """Refuses results, and operands other than an index."""
    if op.results or not least <= len(op.operands) <= most:
        wanted = "an index" if least else "no operands" if not most else "an index or a number"
        raise OpError(Fault(f"has {len(op.operands)} operands", legal=wanted))
    for value in op.operands:
        if not isinstance(value.type, IndexType):
            kind = type_name(value.type)
            raise OpError(Fault(f"type mismatch: an id of type {kind}", legal="index"))


# --- flags ----------------------------------------------------------------------------------------


class DynamicFlagOp(OrderOp):
    """``pto.set_flag_dyn`` or ``pto.wait_flag_dyn``: ``[src, dst, %id]``."""

    name = "pto.flag_dyn"
    own: ClassVar[tuple[str, ...]] = ("src_pipe", "dst_pipe")
    rule, legal = "FL-01", EVENTS

    @property
    def src(self) -> Pipe:
        """Pipe that sets the flag."""
        return Pipe(pipe_name(attribute_text(self, "src_pipe")))

    @property
    def dst(self) -> Pipe:
        """Pipe that waits for the flag."""
        return Pipe(pipe_name(attribute_text(self, "dst_pipe")))

    @classmethod
    def parse(cls, parser: Parser) -> DynamicFlagOp:
        """Reads ``[src, dst, %id]``."""
        scanner = Scanner(parser)
        scanner.expect("[", f"and the pipes of {cls.name}")
        words: dict[str, Attribute] = {}
        for key in cls.own:
            words[key] = string(scanner.word("a pipe"))
            scanner.expect(",", f"in {cls.name}")
        if scanner.kind != "value":
            static = cls.name.removesuffix("_dyn")
            scanner.fail(f"the event of {cls.name} is a value: {static} takes {scanner.found()}")
        taken = operand(parser, scanner)
        scanner.expect("]", f"after the event of {cls.name}")
        attributes = scanner.attribute_dictionary()
        scanner.close()
        op = cls.create(operands=_index(parser, taken), properties=words, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses pipes that are none, and an event that is no index."""
        _check_index(self, 1, 1)
        _ = self.src, self.dst


class SetFlagDynOp(DynamicFlagOp):
    """``pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %id]``."""

    name = "pto.set_flag_dyn"


class WaitFlagDynOp(DynamicFlagOp):
    """``pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %id]``."""

    name = "pto.wait_flag_dyn"


# --- buffers --------------------------------------------------------------------------------------


class BufferOp(OrderOp):
    """``pto.get_buf`` or ``pto.rls_buf``: pipe, id and mode; with brackets around them or not."""

    name = "pto.buf"
    own: ClassVar[tuple[str, ...]] = ("op_type", "buf_id", "mode")
    rule, legal = "BF-06", BUFFERS
    dynamic: ClassVar[bool] = False

    @property
    def pipe(self) -> Pipe:
        """The pipe, also that of an event-type word."""
        return Pipe(pipe_name(attribute_text(self, "op_type"), typed=True))

    @property
    def buffer(self) -> int:
        """The id, 0 to 31, of one that is written."""
        return _number(self, "buf_id")

    @property
    def mode(self) -> int:
        """The mode, 0 when it is left out."""
        return _number(self, "mode", 0)

    @classmethod
    def parse(cls, parser: Parser) -> BufferOp:
        """Reads ``pipe, id [, mode]``, or the same in brackets."""
        scanner = Scanner(parser)
        if scanner.is_next_op():
            scanner.fail(
                f"expected a pipe after {cls.name}, found {scanner.found()}", scanner.before
            )
        bracket = scanner.take("[")
        words: dict[str, Attribute] = {"op_type": string(scanner.word("a pipe"))}
        scanner.expect(",", f"and the id of {cls.name}")
        taken = None
        if cls.dynamic:
            taken = operand(parser, scanner)
        elif scanner.kind == "value":
            scanner.fail(f"{cls.name} takes a number: pto.{cls.name[4:]}_dyn takes a value")
        else:
            words["buf_id"] = _written(scanner, "the id of a buffer")
        mode = scanner.take(",")
        words["mode"] = _written(scanner, "a mode") if mode else IntegerAttr(0, 32)
        if bracket:
            scanner.expect("]", f"in {cls.name}")
        attributes = scanner.attribute_dictionary()
        scanner.close()
        op = cls.create(operands=_index(parser, taken), properties=words, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses a pipe that is none, or all, and numbers out of range."""
        _check_index(self, int(self.dynamic), int(self.dynamic))
        _ = self.pipe
        if self.mode < 0:
            raise OpError(Fault(f"mode is {self.mode}", legal="0 and above"))
        if not self.dynamic and not 0 <= self.buffer < BUFFERS:
            raise OpError(Fault(f"buffer is {self.buffer}", legal=f"0..{BUFFERS - 1}"))


class GetBufOp(BufferOp):
    """``pto.get_buf "PIPE_MTE2", 3, 0``."""

    name = "pto.get_buf"


class RlsBufOp(BufferOp):
    """``pto.rls_buf "PIPE_MTE2", 3, 0``."""

    name = "pto.rls_buf"


class GetBufDynOp(GetBufOp):
    """``pto.get_buf_dyn "PIPE_MTE2", %id, 0``."""

    name = "pto.get_buf_dyn"
    own: ClassVar[tuple[str, ...]] = ("op_type", "mode")
    dynamic = True


class RlsBufDynOp(RlsBufOp):
    """``pto.rls_buf_dyn "PIPE_MTE2", %id, 0``."""

    name = "pto.rls_buf_dyn"
    own: ClassVar[tuple[str, ...]] = ("op_type", "mode")
    dynamic = True


# --- cores ----------------------------------------------------------------------------------------


class SignalOp(CoreOp):
    """A signal between cores: ``<pipe>, id``.

    Attributes:
        ids: How many ids there are.
        modes: Name of the attribute with its mode, and how many modes there are; 0 for no mode.
        usual: The mode where none is written.
    """

    name = "pto.signal"
    own: ClassVar[tuple[str, ...]] = ("pipe", "event_id")
    ids: ClassVar[int] = 16
    modes: ClassVar[tuple[str, int]] = ("", 0)
    usual: ClassVar[int] = 0

    @property
    def pipe(self) -> str:
        """The pipe that it is queued on."""
        return attribute_text(self, "pipe")

    @property
    def number(self) -> int:
        """The id as written; of one with a value none is."""
        return _number(self, "event_id")

    @property
    def mode(self) -> int:
        """Which cores take part, where the op has modes."""
        key = self.modes[0]
        return _number(self, key, self.usual) if key else 0

    @classmethod
    def parse(cls, parser: Parser) -> SignalOp:
        """Reads ``<pipe>, id [{mode}]``; the id is a number or a value."""
        scanner = Scanner(parser)
        if scanner.is_next_op():
            scanner.fail(
                f"expected a pipe after {cls.name}, found {scanner.found()}", scanner.before
            )
        words: dict[str, Attribute] = {"pipe": string(scanner.word("a pipe"))}
        scanner.expect(",", f"and the id of {cls.name}")
        taken = None
        if scanner.kind == "value":
            taken = operand(parser, scanner)
        else:
            words["event_id"] = _written(scanner, "the id of a signal")
        attributes = scanner.attribute_dictionary()
        scanner.close()
        key = cls.modes[0]
        if key in attributes:
            words[key] = attributes.pop(key)
        op = cls.create(operands=_index(parser, taken), properties=words, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses pipes without signals, and ids and modes out of range."""
        _check_index(self, 0, 1)
        pipe = attribute_text(self, "pipe")
        if pipe not in CORE_PIPES:
            raise OpError(Fault(f"pipe {pipe!r} has no signals", legal=", ".join(CORE_PIPES)))
        if not self.operands:
            number = _number(self, "event_id")
            if not 0 <= number < self.ids:
                raise OpError(Fault(f"id is {number}", legal=f"0..{self.ids - 1}"))
        key, count = self.modes
        if key:
            mode = _number(self, key, 0)
            if not 0 <= mode < count:
                legal = f"0..{count - 1}" if count > 1 else "0"
                raise OpError(Fault(f"{key} is {mode}", legal=legal))


class SetIntraBlockOp(SignalOp):
    """``pto.set_intra_block <PIPE_FIX>, 17``."""

    name = "pto.set_intra_block"
    ids = 32


class WaitIntraBlockOp(SignalOp):
    """``pto.wait_intra_block <PIPE_MTE1>, 17``."""

    name = "pto.wait_intra_block"
    ids = 32


class SetCrossBlockOp(SignalOp):
    """``pto.set_cross_block <PIPE_MTE3>, 3``."""

    name = "pto.set_cross_block"
    own: ClassVar[tuple[str, ...]] = ("pipe", "event_id", "mode")
    modes = ("mode", 1)


class WaitCrossBlockOp(SignalOp):
    """``pto.wait_cross_block <PIPE_MTE2>, 3``."""

    name = "pto.wait_cross_block"
    own: ClassVar[tuple[str, ...]] = SetCrossBlockOp.own
    modes = SetCrossBlockOp.modes


class SyncSetOp(SignalOp):
    """``pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 1 : i32}``."""

    name = "pto.sync.set"
    own: ClassVar[tuple[str, ...]] = ("pipe", "event_id", "ffts_mode")
    modes = ("ffts_mode", 3)
    usual = 2


class SyncWaitOp(SignalOp):
    """``pto.sync.wait <PIPE_V>, 3``."""

    name = "pto.sync.wait"
    own: ClassVar[tuple[str, ...]] = SyncSetOp.own
    modes = SyncSetOp.modes
    usual = SyncSetOp.usual


class SyncAllOp(CoreOp):
    """``pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>``."""

    name = "pto.syncall"
    own: ClassVar[tuple[str, ...]] = ("mode", "core_type", "operandSegmentSizes")

    @classmethod
    def parse(cls, parser: Parser) -> SyncAllOp:
        """Reads ``([%gm [, %n]... : types]) mode = .., core_type = ..``, both in any order."""
        scanner = Scanner(parser)
        scanner.expect("(", f"after {cls.name}")
        taken: list[UnresolvedOperand] = []
        kinds: list[Attribute] = []
        while not scanner.take(")"):
            if taken:
                scanner.expect(",", f"or ')' in {cls.name}")
            taken.append(operand(parser, scanner))
            if scanner.take(":"):
                kinds.append(scanner.type())
                while scanner.take(","):
                    kinds.append(scanner.type())
                scanner.expect(")", f"after the types of {cls.name}")
                break
        words: dict[str, Attribute] = {}
        while scanner.kind == "word" and scanner.value in cls.own and scanner.value not in words:
            key = scanner.value
            scanner.advance()
            scanner.expect("=", f"after {key}")
            words[key] = string(scanner.word(f"the {key}"))
            if not scanner.take(","):
                break
        attributes = scanner.attribute_dictionary()
        scanner.close()
        if len(kinds) != len(taken):
            raise OpError(Fault(f"has {len(taken)} operands and {len(kinds)} types"))
        values = [parser.resolve_operand(x, kind) for x, kind in zip(taken, kinds, strict=True)]
        op = cls.create(operands=values, properties=words, attributes=attributes)
        op.verify_()
        return op

    @property
    def core_type(self) -> str:
        """``mix``, ``aic_only`` or ``aiv_only``: the cores that meet."""
        return attribute_text(self, "core_type")

    def verify_(self) -> None:
        """Refuses other words, and operands that do not go with the mode."""
        mode, cores = (attribute_text(self, key) for key in ("mode", "core_type"))
        for key, word, known in (("mode", mode, SYNC_MODES), ("core_type", cores, CORE_TYPES)):
            if word not in known:
                raise OpError(Fault(f"{key} {word!r} is unknown", legal=", ".join(known)))
        if bool(self.operands) != (mode == "soft"):
            count = len(self.operands)
            legal = "soft: a pointer into GM and a count, hard: none"
            raise OpError(Fault(f"mode {mode} has {count} operands", legal=legal))
        if self.operands:
            pointer = pointer_of(self.operands[0].type)
            if pointer is None or pointer.space != "gm":
                kind = type_name(self.operands[0].type)
                raise OpError(Fault(f"type mismatch: {kind} is no pointer into GM"))


# --- ops without an effect on pipes ---------------------------------------------------------------


class SetFftsOp(QuietOp):
    """``pto.set_ffts %p : <i64, gm>``: the workspace of signals between blocks."""

    name = "pto.set_ffts"

    @classmethod
    def parse(cls, parser: Parser) -> SetFftsOp:
        """Reads a pointer and its type."""
        scanner = Scanner(parser)
        taken = operand(parser, scanner)
        attributes = scanner.attribute_dictionary()
        scanner.expect(":", f"and the type of the pointer of {cls.name}")
        kind = scanner.type()
        attributes |= scanner.attribute_dictionary()
        scanner.close()
        value = parser.resolve_operand(taken, kind)
        op = cls.create(operands=[value], attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses what is no pointer."""
        if len(self.operands) != 1 or self.results:
            raise OpError(Fault("takes one operand"))
        kind = self.operands[0].type
        if pointer_of(kind) is None:
            raise OpError(Fault(f"type mismatch: {type_name(kind)} is no pointer"))


class MemBarOp(QuietOp):
    """``pto.mem_bar "VST_VLD"``: orders accesses of UB inside a vector scope."""

    name = "pto.mem_bar"
    own: ClassVar[tuple[str, ...]] = ("kind",)

    @classmethod
    def parse(cls, parser: Parser) -> MemBarOp:
        """Reads a kind, as a string, a word, ``<word>`` or ``#pto.mem_bar<word>``."""
        scanner = Scanner(parser)
        if scanner.is_next_op():
            scanner.fail(
                f"expected a kind after {cls.name}, found {scanner.found()}", scanner.before
            )
        words: dict[str, Attribute] = {"kind": string(scanner.word("a kind"))}
        attributes = scanner.attribute_dictionary()
        scanner.close()
        op = cls.create(properties=words, attributes=attributes)
        op.verify_()
        return op

    def verify_(self) -> None:
        """Refuses other words."""
        known = [*self.properties.values(), *self.attributes.values()]
        kind = str(python_value(known[0])) if known else ""
        if not _MEM_BAR.fullmatch(kind):
            raise OpError(Fault(f"kind {kind!r} is unknown", legal="VST_VLD, VV_ALL, ..."))


class FenceOp(QuietOp):
    """A fence of the scalar unit or of a cache; its operands are not looked at."""

    name = "pto.fence"

    @classmethod
    def parse(cls, parser: Parser) -> FenceOp:
        """Skips the text up to the next op."""
        scanner = Scanner(parser)
        try:
            end = skip(parser.lexer.input.content, standing(parser)).end
        except UnclosedError as error:
            scanner.fail(str(error), error.at)
        parser._resume_from(end)
        return cls.create()

    def verify_(self) -> None:
        """Checks nothing."""


class DsbOp(FenceOp):
    """``pto.dsb``: a barrier of the scalar unit's memory accesses."""

    name = "pto.dsb"


class DcciOp(FenceOp):
    """``pto.dcci``: cleans and invalidates the data cache."""

    name = "pto.dcci"


class CacheInvalidOp(FenceOp):
    """``pto.cmo.cacheinvalid``: invalidates the data cache."""

    name = "pto.cmo.cacheinvalid"


class FenceAllOp(FenceOp):
    """``pto.fence.barrier_all``: a fence of all memory accesses."""

    name = "pto.fence.barrier_all"


SYNC: tuple[type[Operation], ...] = (
    RecordEventOp,
    WaitEventOp,
    BarrierSyncOp,
    SetFlagDynOp,
    WaitFlagDynOp,
    GetBufOp,
    RlsBufOp,
    GetBufDynOp,
    RlsBufDynOp,
    SetIntraBlockOp,
    WaitIntraBlockOp,
    SetCrossBlockOp,
    WaitCrossBlockOp,
    SyncSetOp,
    SyncWaitOp,
    SyncAllOp,
    SetFftsOp,
    MemBarOp,
    DsbOp,
    DcciOp,
    CacheInvalidOp,
    FenceAllOp,
)
"""Op classes of this file, and the tile ops' names of flags."""

ORDERING = frozenset(kind.name for kind in SYNC if not issubclass(kind, QuietOp))
"""Ops that no program may leave out."""
