# SPDX-License-Identifier: Apache-2.0
"""Prepares the functions of a program: code of each op, slots of each value.

Errors of an op that do not depend on a run are found here, in the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tb.language.dialect.ops import MoveOp, written
from tb.language.dialect.others import (
    BlockQueryOp,
    BrokenOp,
    ForeignOp,
    SubblockIdxOp,
    SubblockNumOp,
)
from tb.language.dialect.scalars import ScalarOp
from tb.language.dialect.sections import SectionOp, VectorSectionOp
from tb.language.dialect.sync import (
    BarrierOp,
    BufferOp,
    FlagOp,
    OrderOp,
    QuietOp,
    SignalOp,
    SyncAllOp,
)
from tb.language.dialect.types import element_stride, kind_of_type, type_name
from tb.language.foreign import foreign_words
from tb.language.parser.known import meant, seems_to_move
from tb.language.place import Finding, Place, refuse
from tb.language.reader import Source
from tb.language.run import arith
from tb.language.run.arith import ArithmeticFaultError, Code, Frame
from tb.language.run.build import BuildError, recipe
from tb.language.run.execution import (
    Branch,
    Execution,
    Loop,
    Movement,
    Routine,
    While,
    block_code,
    branch_code,
    call_code,
    constant_step,
    loop_code,
    move_code,
    raw_code,
    while_code,
)
from tb.language.run.sync import meeting_code, order_code, signal_code
from tb.language.run.values import (
    NUMBER,
    Kind,
    Missing,
)
from tb.language.trace import Barrier, Raw, SetFlag, Skipped, WaitFlag

_UNDEFINED = Missing("it is used before it is defined")
_ENDS = ("func.return", "scf.yield", "scf.condition")


@dataclass(frozen=True, slots=True)
class Stream:
    """The instruction stream of one core (spec/order_and_atomics.md, section 4).

    Attributes:
        core: ``cube`` or ``vector``; empty for all sections in the order of the text.
        sub_block: Number of the vector core.
        running: Numbers of the cores that run, indices into :data:`tb.language.trace.CORES`.
    """

    core: str = ""
    sub_block: int = 0
    running: tuple[int, ...] = (0,)

    @property
    def number(self) -> int:
        """The number of the core."""
        return FIRST_VECTOR + self.sub_block if self.core == "vector" else 0

    @property
    def sub_blocks(self) -> int:
        """``get_subblock_num``: the vector cores that run, 1 on any other core."""
        both = {FIRST_VECTOR, FIRST_VECTOR + 1} <= set(self.running)
        return 2 if both and self.core == "vector" else 1

    def leaves_out(self, section: str, sub_block: int | None = None) -> bool:
        """Returns whether a section is of another core; ``sub_block`` is that which it names."""
        kind = section.removeprefix("pto.section.")
        if not self.core or kind not in ("cube", "vector"):
            return False
        other = kind == "vector" and sub_block is not None and sub_block != self.sub_block
        return kind != self.core or other


EVERY_STREAM = Stream()

FIRST_VECTOR = 1
"""Number of the vector core of sub-block 0."""

KNOWN: tuple[str, ...] = (
    "builtin.module",
    "func.func",
    "func.call",
    "func.return",
    "scf.for",
    "scf.if",
    "scf.yield",
    *arith.KNOWN,
)
"""Ops outside the pto dialect that a program may hold."""


@dataclass
class _Scope:
    """A function during its preparation: slots of its values, and those known before it runs."""

    template: Frame = field(default_factory=list)
    slots: dict[SSAValue, int] = field(default_factory=dict)
    fixed: set[int] = field(default_factory=set)
    ub_sub: int = 0
    ub_chosen: int | None = None

    def slot(self, value: SSAValue) -> int:
        """Returns the slot of a value."""
        found = self.slots.get(value)
        if found is None:
            found = self.slots[value] = self.add(_UNDEFINED)
        return found

    def add(self, known: int) -> int:
        """Returns a new slot, of a value that is known before the function runs."""
        self.template.append(known)
        return len(self.template) - 1

    def many(self, values: object) -> tuple[int, ...]:
        """Returns the slots of some values."""
        return tuple(self.slot(value) for value in values)  # type: ignore[attr-defined]

    def fix(self, value: SSAValue, known: int) -> None:
        """Gives a value that every run of the function has."""
        slot = self.slot(value)
        self.template[slot] = known
        self.fixed.add(slot)


def attribute_of(op: Operation, name: str) -> Attribute | None:
    """Returns a property or attribute of an op, or None."""
    return op.properties.get(name, op.attributes.get(name))


def given_sub_block(op: Operation) -> Attribute | None:
    """Returns the sub-block that a function or a section names, None where it names none."""
    given = attribute_of(op, "pto.ub_sub")
    return attribute_of(op, "ub_sub") if given is None else given


def sub_block_of(op: Operation) -> int | None:
    """Returns the number of that sub-block; None where it is none, or not named."""
    given = given_sub_block(op)
    if isinstance(given, IntegerAttr) and given.value.data in (0, 1):
        return given.value.data
    return None


def _name(op: Operation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


class Preparation:
    """Makes functions ready to run."""

    def __init__(
        self,
        source: Source,
        run: Execution,
        *,
        skip_foreign: bool,
        ubuf_blocks: bool = False,
        stream: Stream = EVERY_STREAM,
        signals: bool = False,
    ) -> None:
        self.stream, self.signals = stream, signals
        self.source, self.run, self.skip_foreign = source, run, skip_foreign
        self.ubuf_blocks = ubuf_blocks
        self.problems: list[Finding] = []
        self.moves: list[tuple[Movement, Frame]] = []
        self.skipped: dict[Place, Skipped] = {}
        self.one_sub_block: dict[Place, None] = {}
        self.routines: dict[FuncOp, Routine] = {}
        self._codes: dict[str, Callable[[Operation, _Scope], Code | None]] = {
            "arith.constant": self._constant,
            "arith.select": self._select,
            "scf.for": self._for,
            "scf.if": self._if,
            "scf.index_switch": self._if,
            "scf.while": self._while,
            "scf.execute_region": self._region,
            "func.call": self._call,
            "pto.castptr": self._cast,
            "pto.addptr": self._addptr,
            "pto.ptrtoint": self._cast,
            "pto.get_ctrl": self._get_ctrl,
            "pto.sbitset0": self._set_bit,
            "pto.sbitset1": self._set_bit,
            "pto.set_flag": self._flag,
            "pto.wait_flag": self._flag,
            "pto.pipe_barrier": self._barrier,
            "pto.barrier": self._barrier,
            "pto.record_event": self._flag,
            "pto.wait_event": self._flag,
            "pto.barrier_sync": self._barrier,
        }

    def kind(self, value: SSAValue) -> Kind:
        """Returns how a value is held."""
        return kind_of_type(value.type)

    def problem(self, op: Operation, message: str, rule: str = "", legal: str = "") -> None:
        """Notes what is wrong with an op."""
        self.problems.append(Finding(self.source.place(op), _name(op), rule, message, legal))

    # --- functions and blocks --------------------------------------------------------------------

    def routine(self, function: FuncOp) -> Routine:
        """Returns a function made ready to run."""
        known = self.routines.get(function)
        if known is not None:
            return known
        name = function.sym_name.data
        routine = self.routines[function] = Routine(self.source.place(function), name)
        ub_sub = self._ub_sub(function, self.stream.sub_block)
        scope = _Scope(ub_sub=ub_sub, ub_chosen=sub_block_of(function))
        block, *others = function.body.blocks
        if others and not self.run.static:
            count = len(others) + 1
            self.problem(
                function, f"@{name} has {count} blocks: branches are known and not executed"
            )
            return routine
        routine.arguments = scope.many(block.args)
        routine.body = self._block(block, scope)
        for each in others:
            routine.body += (self._reached(each, function, scope),)
        end = block.last_op
        if end is not None and end.name == "func.return" and not others:
            routine.results = scope.many(end.operands)
        else:
            why = Missing(f"it is a result of @{name}, which has several blocks")
            routine.results = tuple(map(scope.add, [why] * len(function.function_type.outputs)))
        routine.template = scope.template
        return routine

    def _reached(self, block: Block, function: FuncOp, scope: _Scope) -> Code:
        """Returns the code of a block that branches reach or not: it is walked once."""
        before = block.prev_block
        place = self.source.place((before and before.last_op) or function)
        for argument in block.args:
            scope.fix(argument, Missing("the argument of a block that branches reach"))
        return block_code(self.run, place, self._block(block, scope))

    def _ub_sub(self, op: Operation, outer: int) -> int:
        given, number = given_sub_block(op), sub_block_of(op)
        if given is not None and number is None:
            self.problem(op, f"ub_sub is {given}: a vector sub-block is 0 or 1")
        return outer if number is None else number

    def _block(self, block: Block, scope: _Scope) -> tuple[Code, ...]:
        codes: list[Code] = []
        for op in block.ops:
            name = _name(op)
            if name in _ENDS:
                continue
            if isinstance(op, SectionOp):
                codes += self._section(op, scope)
                continue
            code = self._code(op, name, scope)
            if code is not None:
                codes.append(code)
        return tuple(codes)

    def _section(self, op: Operation, scope: _Scope) -> tuple[Code, ...]:
        """Returns the code of a section; one of both sub-blocks is run for sub-block 0 alone."""
        named = sub_block_of(op)
        chosen = scope.ub_chosen if named is None else named
        if self.stream.leaves_out(op.name, chosen):
            return ()
        outer = scope.ub_sub
        if isinstance(op, VectorSectionOp):
            scope.ub_sub = self.stream.sub_block or outer
        scope.ub_sub = self._ub_sub(op, scope.ub_sub)
        both = isinstance(op, VectorSectionOp) and chosen is None
        if both and any(isinstance(each, MoveOp) for each in op.walk()):
            self.one_sub_block.setdefault(self.source.place(op))
        codes: list[Code] = []
        for region in op.regions:
            for block in region.blocks:
                for inside, given in zip(block.args, op.operands, strict=True):
                    scope.slots[inside] = scope.slot(given)
                codes += self._block(block, scope)
        scope.ub_sub = outer
        return tuple(codes)

    def _code(self, op: Operation, name: str, scope: _Scope) -> Code | None:
        """Returns the code of one op, None for one that needs none."""
        make = self._codes.get(name)
        if make is not None:
            return make(op, scope)
        if isinstance(op, BlockQueryOp):
            number = op.value
            if isinstance(op, SubblockIdxOp):
                number = self.stream.sub_block
            elif isinstance(op, SubblockNumOp):
                number = self.stream.sub_blocks
            scope.fix(op.results[0], number)
            return None
        if isinstance(op, BrokenOp):
            self._broken(op, scope)
            return None
        if isinstance(op, MoveOp):
            if op.row.executed:
                return self._move(op, scope)
            self._known(op, "later ops may read what it writes", "the grouped form of the op")
            return self._raw(op, scope)
        if isinstance(op, ScalarOp):
            self._scalar(op, scope)
            return None
        if isinstance(op, OrderOp):
            return self._order(op, scope)
        if isinstance(op, SignalOp):
            return self._signal(op, scope)
        if isinstance(op, SyncAllOp):
            if self.run.static and not self.signals:
                return None
            place = self.source.place(op)
            return meeting_code(self.run, op, place, self.stream.number, self.stream.running)
        if isinstance(op, QuietOp):
            return None
        if name.startswith("pto.") or name == "pto_dv.foreign":
            self._foreign(op, scope)
            return None
        if name.startswith("arith.") or name == "builtin.unrealized_conversion_cast":
            return self._arithmetic(op, scope)
        self.problem(op, "this op is unknown here", legal=", ".join(KNOWN))
        return None

    # --- arithmetic ------------------------------------------------------------------------------

    def _pure(self, op: Operation, code: Code, scope: _Scope) -> Code | None:
        """Returns the code of an op without effect; None when its result is known at once."""
        operands, results = scope.many(op.operands), scope.many(op.results)

        def checked(frame: Frame) -> None:
            try:
                code(frame)
            except ArithmeticFaultError as error:
                raise refuse(self.source.place(op), str(error), op=op.name) from None

        if scope.fixed.issuperset(operands):
            try:
                code(scope.template)
            except ArithmeticFaultError:
                return checked
            scope.fixed.update(results)
            return None
        return checked if op.name in (*arith.FAULTY, "pto.sbitset0", "pto.sbitset1") else code

    def _constant(self, op: Operation, scope: _Scope) -> None:
        scope.fix(op.results[0], arith.constant(op, self.kind(op.results[0])))

    def _select(self, op: Operation, scope: _Scope) -> Code | None:
        slots = scope.many((*op.operands, op.results[0]))
        return self._pure(op, arith.select(slots), scope)  # type: ignore[arg-type]

    def _arithmetic(self, op: Operation, scope: _Scope) -> Code | None:
        code = None
        if len(op.results) == 1 and len(op.operands) == 2:
            first, second = op.operands
            result = op.results[0]
            kinds = (self.kind(first), self.kind(result))
            if kinds[0].sort == kinds[1].sort == NUMBER:
                slots = (scope.slot(first), scope.slot(second), scope.slot(result))
                code = arith.binary(op, kinds, slots)
        elif len(op.results) == len(op.operands) == 1:
            return self._cast(op, scope)
        if code is None:
            self._uncomputed(op, scope)
            return None
        return self._pure(op, code, scope)

    def _uncomputed(self, op: Operation, scope: _Scope) -> None:
        place = self.source.place(op)
        for result in op.results:
            scope.fix(result, Missing(f"it is the result of {_name(op)} at {place}, not computed"))

    def _cast(self, op: Operation, scope: _Scope) -> Code | None:
        source, result = op.operands[0], op.results[0]
        slots = (scope.slot(source), scope.slot(result))
        code = arith.cast(op.name, self.kind(source), self.kind(result), slots)
        if code is None:
            self._uncomputed(op, scope)
            return None
        return self._pure(op, code, scope)

    def _addptr(self, op: Operation, scope: _Scope) -> Code | None:
        pointer = self.kind(op.operands[0]).pointer
        assert pointer is not None, "the reader checks the types of pto.addptr"
        size = element_stride(pointer.dtype)
        if not size:
            self.problem(
                op,
                f"elements of {pointer.dtype} have no size in bytes",
                legal="a pointer to elements of whole bytes",
            )
            return None
        slots = (*scope.many(op.operands), scope.slot(op.results[0]))
        return self._pure(op, arith.addptr(size, slots), scope)

    # --- CTRL ------------------------------------------------------------------------------------

    def _get_ctrl(self, op: Operation, scope: _Scope) -> Code:
        return arith.read_ctrl(self.run.registers, scope.slot(op.results[0]))

    def _set_bit(self, op: Operation, scope: _Scope) -> Code | None:
        slots = scope.many((*op.operands, op.results[0]))
        code = arith.set_bit(op.name == "pto.sbitset1", slots)  # type: ignore[arg-type]
        return self._pure(op, code, scope)

    # --- control flow ----------------------------------------------------------------------------

    def _for(self, op: Operation, scope: _Scope) -> Code:
        lower, upper, step, *start = op.operands
        block = op.regions[0].block
        variable, *carried = block.args
        loop = Loop(
            self.source.place(op),
            scope.slot(lower),
            scope.slot(upper),
            scope.slot(step),
            scope.slot(variable),
            scope.many(start),
            scope.many(carried),
            self._yielded(block, scope),
            scope.many(op.results),
        )
        return loop_code(self.run, loop, self._block(block, scope))

    def _yielded(self, block: Block, scope: _Scope) -> tuple[int, ...]:
        end = block.last_op
        return scope.many(end.operands) if end is not None and end.name == "scf.yield" else ()

    def _if(self, op: Operation, scope: _Scope) -> Code:
        def way(region: Region) -> Branch:
            if not region.blocks:
                return Branch()
            return Branch(self._block(region.block, scope), self._yielded(region.block, scope))

        condition, results = scope.slot(op.operands[0]), scope.many(op.results)
        ways: dict[int | None, Branch] = {}
        if op.name == "scf.if":
            ways = {1: way(op.regions[0]), None: way(op.regions[1])}
        else:
            cases = attribute_of(op, "cases")
            assert isinstance(cases, DenseArrayBase), "xdsl reads the cases of a switch"
            for value, region in zip(cases.iter_values(), op.regions[1:], strict=True):
                ways[int(value)] = way(region)
            ways[None] = way(op.regions[0])
        if any(len(each.yielded) != len(results) for each in ways.values()):
            self.problem(op, f"both branches have to yield {len(results)} values")
        self._check_yields(op, op.regions)
        return branch_code(self.run, self.source.place(op), condition, ways, results)

    def _check_yields(self, op: Operation, regions: Iterable[Region]) -> None:
        """Notes yields of other types than those of the results."""
        wanted = [type_name(each.type) for each in op.results]
        for region in regions:
            end = region.block.last_op if region.blocks else None
            if end is None or end.name != "scf.yield" or len(end.operands) != len(wanted):
                continue
            given = [type_name(each.type) for each in end.operands]
            if given != wanted:
                message = f"type mismatch: ({', '.join(given)}) is yielded"
                self.problem(op, message, legal=f"({', '.join(wanted)}), the types of the results")

    def _while(self, op: Operation, scope: _Scope) -> Code | None:
        first, second = (region.block for region in op.regions)
        end = first.last_op
        if end is None or end.name != "scf.condition":
            self.problem(op, "its first region does not end with scf.condition")
            return None
        loop = While(
            self.source.place(op),
            scope.many(op.operands),
            scope.many(first.args),
            scope.slot(end.operands[0]),
            scope.many(end.operands[1:]),
            scope.many(second.args),
            self._yielded(second, scope),
            scope.many(op.results),
            self._block(first, scope),
            self._block(second, scope),
        )
        return while_code(self.run, loop)

    def _region(self, op: Operation, scope: _Scope) -> Code | None:
        """Returns the code of ``scf.execute_region``."""
        blocks = [*op.regions[0].blocks]
        if len(blocks) != 1:
            self.problem(op, f"its region has {len(blocks)} blocks: 1 is executed")
            return None
        branch = Branch(self._block(blocks[0], scope), self._yielded(blocks[0], scope))
        return branch_code(
            self.run, self.source.place(op), self._zero(scope), {None: branch},
            scope.many(op.results),
        )  # fmt: skip

    def _zero(self, scope: _Scope) -> int:
        scope.template.append(0)
        return len(scope.template) - 1

    def _call(self, op: Operation, scope: _Scope) -> Code | None:
        function = self.source.callee(op)
        if function is None:
            self.problem(op, f"there is no function {attribute_of(op, 'callee')} in this file")
            return None
        name = function.sym_name.data
        types = tuple(function.function_type.inputs), tuple(function.function_type.outputs)
        given = tuple(x.type for x in op.operands), tuple(x.type for x in op.results)
        if types != given:
            self.problem(op, f"operands or results of the call do not have the types of @{name}")
            return None
        if not function.body.blocks:
            self._external(op, name, scope)
            return None
        routine, place = self.routine(function), self.source.place(op)
        return call_code(self.run, place, routine, scope.many(op.operands), scope.many(op.results))

    def _external(self, op: Operation, name: str, scope: _Scope) -> None:
        """Continues after the call of a function without a body; a run needs to know its effect."""
        place = self.source.place(op)
        if not self.run.static:
            self.problem(op, f"@{name} has no body in this file: what it does is not known")
        self.skipped.setdefault(place, Skipped(place, f"func.call @{name}"))
        for result in op.results:
            scope.fix(result, Missing(f"it is the result of @{name}, which has no body here"))

    # --- pipes -----------------------------------------------------------------------------------

    def _flag(self, op: Operation, _scope: _Scope) -> Code:
        assert isinstance(op, FlagOp), "dispatched by name"
        place = self.source.place(op)
        if op.name in ("pto.set_flag", "pto.record_event"):
            return constant_step(self.run, SetFlag(place, op.src, op.dst, op.event))
        return constant_step(self.run, WaitFlag(place, op.dst, op.src, op.event))

    def _barrier(self, op: Operation, _scope: _Scope) -> Code:
        assert isinstance(op, BarrierOp), "dispatched by name"
        return constant_step(self.run, Barrier(self.source.place(op), op.pipe))

    def _order(self, op: OrderOp, scope: _Scope) -> Code | None:
        if isinstance(op, BufferOp) and op.mode > 1:
            self._known(op, f"mode {op.mode}", "mode 0 or 1")
            return None
        slot = None if op.number is None else scope.slot(op.number)
        return order_code(self.run, op, self.source.place(op), slot)

    def _signal(self, op: SignalOp, scope: _Scope) -> Code | None:
        """Returns the code of a signal between cores; a core that is checked alone has none."""
        if self.run.static and not self.signals:
            return None
        slot = scope.slot(op.operands[0]) if op.operands else None
        stream, place = self.stream, self.source.place(op)
        return signal_code(self.run, op, place, slot, stream.number, stream.running)

    # --- ops of the pto dialect ------------------------------------------------------------------

    def _broken(self, op: BrokenOp, scope: _Scope) -> None:
        """Continues after an op with an error that the reader has reported."""
        place = self.source.place(op)
        self.run.undecided.setdefault(place)
        for result in op.results:
            scope.fix(result, Missing(f"it is the result of the op at {place}, which has an error"))

    def _foreign(self, op: Operation, scope: _Scope) -> None:
        name = op.mnemonic if isinstance(op, ForeignOp) else _name(op)
        moves = isinstance(op, ForeignOp) and op.moves_tiles
        place = self.source.place(op)
        if isinstance(op, ForeignOp) and op.holds_moves:
            message = "data movement, or a flag, is inside an op that is not executed"
            self.problems.append(Finding(place, name, "", message))
        elif seems_to_move(name):
            message = "unknown op: by its name it moves data or orders it, so it is never skipped"
            self.problems.append(Finding(place, name, "", message + meant(name)))
        elif not self.skip_foreign:
            message = f"this op is {foreign_words(name, moves=moves)}"
            self.problems.append(Finding(place, name, "", message + meant(name)))
        self.skipped.setdefault(place, Skipped(place, name, moves=moves))
        for result in op.results:
            scope.fix(result, Missing(f"it is the result of foreign op {name} at {place}"))

    def _scalar(self, op: ScalarOp, scope: _Scope) -> None:
        """Continues after a scalar access; a run leaves it out if it may leave out foreign ops."""
        place = self.source.place(op)
        if not self.run.static and not self.skip_foreign:
            self.problem(op, f"this op is {foreign_words(op.name)}")
        self.skipped.setdefault(place, Skipped(place, op.name))
        for result in op.results:
            scope.fix(result, Missing(f"it is the result of {op.name} at {place}, not executed"))

    def _known(self, op: Operation, why: str = "", legal: str = "") -> None:
        """Continues after an op that is read and not executed; no run may leave it out."""
        place = self.source.place(op)
        if not self.run.static:
            message = f"this op is known and not executed: {why}"
            self.problem(op, message, legal=legal)
        self.skipped.setdefault(place, Skipped(place, op.name, known=True))

    def _raw(self, op: Operation, scope: _Scope) -> Code:
        """Returns the code of a register form, which notes its operands."""
        text = written(op)
        assert text is not None, "the caller has asked"
        pointers = (self.kind(value).pointer for value in text.operands.values())
        noted = Raw(self.source.place(op), text.name, {}, tuple(filter(None, pointers)), 0)
        slots = {name: scope.slot(value) for name, value in text.operands.items()}
        return raw_code(self.run, noted, slots)

    def _move(self, op: Operation, scope: _Scope) -> Code | None:
        text = written(op)
        assert text is not None, "the caller has asked"
        try:
            made = recipe(text, self.kind, ub_sub=scope.ub_sub, ubuf_blocks=self.ubuf_blocks)
            timing = [_count(text.attributes, key) for key in ("pto_dv.gap", "pto_dv.flag_delay")]
        except BuildError as error:
            self.problem(op, error.message, error.rule, error.legal)
            return None
        slots = scope.many(each.value for each in made.inputs)
        gap, delay = timing
        movement = Movement(self.source.place(op), made, slots, max(gap, 0), delay)
        self.moves.append((movement, scope.template))
        return move_code(self.run, movement)


def _count(attributes: Mapping[str, object], key: str) -> int:
    """Returns an attribute that counts clocks, -1 where it is absent."""
    value = attributes.get(key, -1)
    if not isinstance(value, int) or value < -1:
        raise BuildError(f"{key} is {value}: clocks, 0 and above")
    return value
