# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that synchronize: flags, barriers, buffers, signals between cores, fences.

Each has a row: its parts in the order of the text. Pipes are kept as written, numbers that are
written are properties, a computed number is the operand, an ``index``. Source:
docs/spec/dialect.md, section 9.
"""

from __future__ import annotations

import re
from typing import ClassVar

from xdsl.ir import Attribute, SSAValue

from tb.isa.pipes import BUFFERS, EVENTS, PIPE_ALL, Pipe
from tb.language.dialect.ops import python_value, string
from tb.language.dialect.parts import EITHER, EVENT, NUMBER, VALUE, WORD, SyncOp, attribute_text
from tb.language.dialect.pointers import ValuesOp
from tb.language.dialect.types import pointer_of, type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.parser.foreign import UnclosedError, skip
from tb.language.parser.text import ProgramText, Use

CORE_PIPES = ("PIPE_FIX", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_V")
"""Pipes that signals between cores are queued on."""

SYNC_MODES = ("hard", "soft")
CORE_TYPES = ("aiv_only", "aic_only", "mix")
"""Words of ``pto.syncall``."""

_MEM_BAR = re.compile(r"(?:VV|VS|SV|SS)_ALL|V?(?:ST|LD)_V?(?:ST|LD)")
"""Accesses that ``pto.mem_bar`` orders: vector and scalar loads and stores."""


class OrderOp(SyncOp):
    """One that orders pipes of one core, and is executed."""

    name = "pto.order"

    @property
    def number(self) -> SSAValue | None:
        """The computed event or buffer, None for one that is written."""
        return self.operands[0] if self.operands else None


class CoreOp(SyncOp):
    """One that orders cores."""

    name = "pto.cores"


class QuietOp(SyncOp):
    """One without an effect on pipes: a fence of scalar or vector accesses, or of a cache."""

    name = "pto.quiet"


# --- flags and barriers ---------------------------------------------------------------------------


class AnyFlagOp(OrderOp):
    """A flag: ``[src, dst, event]``."""

    name = "pto.any_flag"
    brackets = "["
    rule, legal = "FL-01", EVENTS

    @property
    def src(self) -> Pipe:
        """Pipe that sets the flag."""
        return Pipe(self.pipe_of(self.parts[0][0]))

    @property
    def dst(self) -> Pipe:
        """Pipe that waits for the flag."""
        return Pipe(self.pipe_of(self.parts[1][0]))

    def check(self) -> None:
        """Refuses pipes that are none."""
        _ = self.src, self.dst


class FlagOp(AnyFlagOp):
    """``pto.set_flag`` or ``pto.wait_flag``; each part is a string, a word or ``#pto.x<word>``."""

    name = "pto.flag"
    parts = (("src_pipe", WORD), ("dst_pipe", WORD), ("event_id", EVENT))

    @property
    def event(self) -> int:
        """Event id, 0 to 7."""
        text = attribute_text(self, self.parts[2][0])
        number = text.removeprefix("EVENT_ID")
        if not number.isdigit() or int(number) >= EVENTS:
            legal = f"EVENT_ID0 to EVENT_ID{EVENTS - 1}"
            raise OpError(Fault(f"event {text!r} is unknown", legal=legal))
        return int(number)

    def check(self) -> None:
        """Refuses pipes and events that are none."""
        _ = self.src, self.dst, self.event


class DynamicFlagOp(AnyFlagOp):
    """``pto.set_flag_dyn`` or ``pto.wait_flag_dyn``: ``[src, dst, %id]``."""

    name = "pto.flag_dyn"
    parts = (*FlagOp.parts[:2], ("the event", VALUE))


class BarrierOp(SyncOp):
    """``pto.pipe_barrier``, ``pto.barrier``; ``PIPE_ALL`` is a barrier over every pipe."""

    name = "pto.pipe_barrier"
    brackets = "?"
    parts = (("pipe", WORD),)

    @property
    def pipe(self) -> Pipe | None:
        """The pipe, or None for every one."""
        name = self.pipe_of(self.parts[0][0], every=not self.typed)
        return None if name == PIPE_ALL else Pipe(name)

    def check(self) -> None:
        """Refuses a pipe that is none."""
        _ = self.pipe


# --- buffers --------------------------------------------------------------------------------------


class BufferOp(OrderOp):
    """``pto.get_buf`` or ``pto.rls_buf``: pipe, id and mode; with brackets around them or not."""

    name = "pto.buf"
    brackets, typed, last = "?", True, 1
    parts = (("op_type", WORD), ("buf_id", NUMBER), ("mode", NUMBER))
    rule, legal = "BF-06", BUFFERS

    @property
    def pipe(self) -> Pipe:
        """The pipe, also that of an event-type word."""
        return Pipe(self.pipe_of("op_type"))

    @property
    def buffer(self) -> int:
        """The id, 0 to 31, of one that is written."""
        return self.number_of("buf_id")

    @property
    def mode(self) -> int:
        """The mode, 0 when it is left out."""
        return self.number_of("mode", 0)

    def check(self) -> None:
        """Refuses a pipe that is none, or all, and numbers out of range."""
        _ = self.pipe
        if self.mode < 0:
            raise OpError(Fault(f"mode is {self.mode}", legal="0 and above"))
        if not self.operands and not 0 <= self.buffer < BUFFERS:
            raise OpError(Fault(f"buffer is {self.buffer}", legal=f"0..{BUFFERS - 1}"))


# --- cores ----------------------------------------------------------------------------------------


class SignalOp(CoreOp):
    """A signal between cores: ``<pipe>, id``; the id is a number or a value.

    Attributes:
        ids: Number of ids.
        modes: Name of the attribute with its mode, the number of modes, and the usual one.
    """

    name = "pto.signal"
    parts = (("pipe", WORD), ("event_id", EITHER))
    ids: ClassVar[int] = 16
    modes: ClassVar[tuple[str, int, int]] = ("", 0, 0)

    @classmethod
    def own(cls) -> tuple[str, ...]:
        """Returns its properties."""
        return (*super().own(), *filter(None, cls.modes[:1]))

    @property
    def pipe(self) -> str:
        """The pipe that it is queued on."""
        return attribute_text(self, "pipe")

    @property
    def number(self) -> int:
        """The id as written; one that is computed has none."""
        return self.number_of("event_id")

    @property
    def mode(self) -> int:
        """Which cores take part, where the op has modes."""
        key, _, usual = self.modes
        return self.number_of(key, usual) if key else 0

    def check(self) -> None:
        """Refuses pipes without signals, and ids and modes out of range."""
        if self.pipe not in CORE_PIPES:
            raise OpError(Fault(f"pipe {self.pipe!r} has no signals", legal=", ".join(CORE_PIPES)))
        if not self.operands and not 0 <= self.number < self.ids:
            raise OpError(Fault(f"id is {self.number}", legal=f"0..{self.ids - 1}"))
        key, count, _ = self.modes
        if key and not 0 <= self.mode < count:
            legal = f"0..{count - 1}" if count > 1 else "0"
            raise OpError(Fault(f"{key} is {self.mode}", legal=legal))


class SyncAllOp(CoreOp):
    """``pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>``."""

    name = "pto.syncall"
    keys: ClassVar[tuple[str, ...]] = ("mode", "core_type", "operandSegmentSizes")

    @classmethod
    def own(cls) -> tuple[str, ...]:
        """Returns its properties."""
        return cls.keys

    @classmethod
    def read(cls, text: ProgramText) -> SyncAllOp:
        """Reads ``([%gm [, %n]... : types]) mode = .., core_type = ..``, both in any order."""
        text.expect("(", f"after {cls.name}")
        taken: list[Use] = []
        kinds: list[Attribute] = []
        while not text.take(")"):
            if taken:
                text.expect(",", f"or ')' in {cls.name}")
            taken.append(text.use())
            if text.take(":"):
                kinds.append(text.type())
                while text.take(","):
                    kinds.append(text.type())
                text.expect(")", f"after the types of {cls.name}")
                break
        words: dict[str, Attribute] = {}
        while text.kind == "word" and text.value in cls.keys and text.value not in words:
            key = text.value
            text.advance()
            text.expect("=", f"after {key}")
            words[key] = string(text.word(f"the {key}"))
            if not text.take(","):
                break
        attributes = text.attribute_dictionary()
        if len(kinds) != len(taken):
            raise OpError(Fault(f"has {len(taken)} operands and {len(kinds)} types"))
        values = [text.resolve(x, kind) for x, kind in zip(taken, kinds, strict=True)]
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
                raise OpError(Fault(f"type mismatch: {kind} is not a pointer into GM"))


# --- ops without an effect on pipes ---------------------------------------------------------------


class SetFftsOp(ValuesOp, QuietOp):  # type: ignore[misc]
    """``pto.set_ffts %p : <i64, gm>``: the workspace of signals between blocks."""

    name = "pto.set_ffts"
    takes = 1

    def check(self) -> None:
        """Refuses what is not a pointer."""
        kind = self.operands[0].type
        if pointer_of(kind) is None:
            raise OpError(Fault(f"type mismatch: {type_name(kind)} is not a pointer"))


class MemBarOp(QuietOp):
    """``pto.mem_bar "VST_VLD"``: orders accesses of UB inside a vector scope."""

    name = "pto.mem_bar"
    parts = (("kind", WORD),)

    def check(self) -> None:
        """Refuses other words."""
        known = [*self.properties.values(), *self.attributes.values()]
        kind = str(python_value(known[0])) if known else ""
        if not _MEM_BAR.fullmatch(kind):
            raise OpError(Fault(f"kind {kind!r} is unknown", legal="VST_VLD, VV_ALL, ..."))


class FenceOp(QuietOp):
    """A fence of the scalar unit or of a cache; its operands are not looked at."""

    name = "pto.fence"

    @classmethod
    def read(cls, text: ProgramText) -> FenceOp:
        """Skips the text up to the next op."""
        try:
            end = skip(text.text, text.before).end
        except UnclosedError as error:
            text.fail(str(error), error.at)
        text.go_to(end)
        return cls.create()

    def verify_(self) -> None:
        """Checks nothing."""


def _make(base: type[SyncOp], name: str, **members: object) -> type[SyncOp]:
    """Returns the class of an op that differs from another one by its name and its row."""
    title = "".join(part.capitalize() for part in re.split(r"[_.]", name))
    doc = f"``pto.{name}``."
    return type(f"{title}Op", (base,), {"name": f"pto.{name}", "__doc__": doc, **members})


_TILES = (("src_op", WORD), ("dst_op", WORD), ("event_id", EVENT))
_DYNAMIC = (("op_type", WORD), ("the buffer", VALUE), ("mode", NUMBER))
_CROSS = {"modes": ("mode", 1, 0)}
_SYNC = {"modes": ("ffts_mode", 3, 2)}

SYNC: tuple[type[SyncOp], ...] = (
    *(_make(FlagOp, name) for name in ("set_flag", "wait_flag")),
    *(_make(FlagOp, name, parts=_TILES, typed=True) for name in ("record_event", "wait_event")),
    *(_make(DynamicFlagOp, f"{name}_flag_dyn") for name in ("set", "wait")),
    BarrierOp,
    _make(BarrierOp, "barrier"),
    _make(BarrierOp, "barrier_sync", parts=(("op_type", WORD),), typed=True),
    *(_make(BufferOp, name) for name in ("get_buf", "rls_buf")),
    *(_make(BufferOp, f"{name}_buf_dyn", parts=_DYNAMIC) for name in ("get", "rls")),
    *(_make(SignalOp, f"{name}_intra_block", ids=32) for name in ("set", "wait")),
    *(_make(SignalOp, f"{name}_cross_block", **_CROSS) for name in ("set", "wait")),
    *(_make(SignalOp, f"sync.{name}", **_SYNC) for name in ("set", "wait")),
    SyncAllOp,
    SetFftsOp,
    MemBarOp,
    *(_make(FenceOp, name) for name in ("dsb", "dcci", "cmo.cacheinvalid", "fence.barrier_all")),
)
"""Op classes of this file."""

ORDERING = frozenset(
    kind.name
    for kind in SYNC
    if not issubclass(kind, QuietOp) and kind.name not in ("pto.pipe_barrier", "pto.barrier")
)
"""Ops that no program may leave out with what is around them."""
