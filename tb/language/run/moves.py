# SPDX-License-Identifier: Apache-2.0
"""Code of data movements, ``set_*`` ops and ops of the host: they become steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import DmaRegisters, LegacySet
from tb.isa.footprint import destinations, source
from tb.isa.mad import Mad
from tb.isa.op import replace
from tb.isa.spaces import Space
from tb.isa.text import AnyOp
from tb.language.dialect.ops import MoveOp, written
from tb.language.lowered import Lowering
from tb.language.place import Finding, Place, refuse
from tb.language.run.build import recipe
from tb.language.run.inputs import MADS, BuildError, Input, Recipe, negative
from tb.language.run.interpreter import Code, Ids, Interpreter, Routine, ids, kind_of
from tb.language.run.others import known
from tb.language.run.values import Frame, Located, Missing, plain
from tb.language.trace import Compute, Move, Raw
from tb.language.unknown import UNKNOWN, UndecidedError


def move(run: Interpreter, op: MoveOp, routine: Routine) -> Code | None:
    """Returns the code of an op that moves data; one that is not executed is noted."""
    if not op.row.executed:
        known(run, op, "later ops may read what it writes", "the grouped form of the op")
        return _raw(run, op)
    text = written(op)
    assert text is not None, "it is a movement"
    try:
        made = recipe(text, kind_of, ub_sub=routine.ub_sub, ubuf_blocks=run.ubuf_blocks)
        gap, delay = (_clocks(text.attributes, f"pto_dv.{x}") for x in ("gap", "flag_delay"))
    except BuildError as error:
        run.problem(op, error.message, error.rule, error.legal)
        return None
    keys = ids(each.value for each in made.inputs)
    movement = Movement(run, run.place(op), made, keys, max(gap, 0), delay)
    run.moves.append((movement.place, partial(movement.never_executed, routine.known)))
    return movement.code


def _clocks(attributes: Mapping[str, object], key: str) -> int:
    """Returns an attribute that counts clocks, -1 where it is absent."""
    value = attributes.get(key, -1)
    if not isinstance(value, int) or value < -1:
        raise BuildError(f"{key} is {value}: clocks, 0 and above")
    return value


@dataclass(slots=True)
class Movement:
    """An op with its place, the keys of its operands and the attributes of its text.

    Steps and extents in GM are made once for each set of operands.
    """

    run: Interpreter
    place: Place
    recipe: Recipe
    keys: Ids
    gap: int = 0
    flag_delay: int = -1
    copies: bool = field(init=False)
    product: bool = field(init=False)
    writes: bool = field(init=False)
    scalars: list[int] = field(init=False)
    masks: list[tuple[int, int]] = field(init=False)
    made: dict[tuple[object, ...], tuple[Move | Compute, int]] = field(
        init=False, default_factory=dict
    )
    extents: dict[tuple[object, ...], int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Decides what all executions have in common."""
        self.copies = self.recipe.name in ("copy_gm_to_ubuf", "copy_ubuf_to_gm")
        self.product = self.recipe.name in MADS
        self.writes = self.recipe.name.startswith("set_")
        self.scalars = [k for k, one in enumerate(self.recipe.inputs) if not one.pointer]
        self.masks = [(k, one.mask) for k, one in enumerate(self.recipe.inputs) if one.mask]

    def code(self, frame: Frame) -> None:
        """Executes the op: a step more."""
        run, recipe = self.run, self.recipe
        numbers = [*map(frame.__getitem__, self.keys)]
        located, argument = None, -1
        if recipe.gm >= 0:
            address = numbers[recipe.gm]
            if isinstance(address, Located):
                located, numbers[recipe.gm] = address, address.address
                argument = address.argument
        state = run.registers
        registers = state.now
        ctrl = state.product_ctrl if self.product else state.ctrl if recipe.ctrl else 0
        read = (id(registers) if self.copies else 0, _text(ctrl))
        try:
            for index, mask in self.masks:
                numbers[index] &= mask
            if numbers and min(numbers) < 0:
                raise UndecidedError
            key: tuple[object, ...] = (argument, *read, *numbers)
        except UndecidedError:
            numbers = self._numbers(frame)
            key = (argument, *read, *map(_text, numbers))
        found = self.made.get(key)
        if found is None:
            step = self.step(recipe.make(numbers), registers, argument, ctrl)
            extent = 0 if located is None else self._extent(numbers)
            found = self.made[key] = step, extent
        step, extent = found
        run.steps.append(step)
        if located is not None:
            self._touch(located, extent)
        elif self.writes:
            self._write(step)

    def step(
        self, op: AnyOp | Mad, registers: DmaRegisters, argument: int = -1, ctrl: int = 0
    ) -> Move | Compute:
        """Returns the step that executes ``op``, with the registers at its issue."""
        name, pipe = self.recipe.name, self.recipe.pipe
        if isinstance(op, Mad):
            return Compute(self.place, name, pipe, replace(op, ctrl=ctrl))
        read = registers if self.copies else None
        return Move(self.place, name, pipe, op, self.gap, self.flag_delay, read, argument, ctrl)

    def never_executed(self, known: Frame) -> Move | Compute:
        """Returns the step of an op that no run reached: only its constants are known."""
        numbers = []
        for each, key in zip(self.recipe.inputs, self.keys, strict=True):
            value = plain(known[key])
            number = None if isinstance(value, Missing) else each.taken(value)
            numbers.append(UNKNOWN if number is None else number)
        if self.product:
            numbers = [UNKNOWN] * len(numbers)
        return self.step(self.recipe.make(numbers), DmaRegisters())

    def _write(self, step: Move | Compute) -> None:
        """Executes an op that writes registers."""
        op = step.op if isinstance(step, Move) else None
        if isinstance(op, LegacySet):
            self.run.registers.write(op)
        elif isinstance(op, CtrlOp):
            self.run.registers.write_ctrl(op)

    def _numbers(self, frame: Frame) -> list[int]:
        """Returns the operands, with substitutes for those that are not known or negative."""
        numbers: list[int] = []
        for each, key in zip(self.recipe.inputs, self.keys, strict=True):
            value = plain(frame[key])
            if isinstance(value, Missing):
                self._missing(each, value)
                numbers.append(UNKNOWN)
                continue
            number = each.taken(value)
            if number is None:
                error = negative(self.recipe.name, each, value)
                self._report(error.message, error.rule, error.legal)
            numbers.append(UNKNOWN if number is None else number)
        return numbers

    def _missing(self, each: Input, value: Missing) -> None:
        """Notes an operand that is not known."""
        if not self.run.static:
            message = f"{each.text} is not known: {value.why}"
            raise refuse(self.place, message, op=f"pto.{self.recipe.name}")
        self.run.unknown.setdefault(self.place)

    def _report(self, message: str, rule: str = "", legal: str = "") -> None:
        self.run.report(Finding(self.place, f"pto.{self.recipe.name}", rule, message, legal))

    def _touch(self, located: Located, extent: int) -> None:
        """Notes the bytes of an argument's buffer that the op touches."""
        if not extent:
            return
        argument, offset = located.argument, located.offset
        if offset < 0:
            self._report(
                f"{self.recipe.inputs[self.recipe.gm].text} points {-offset} bytes before the "
                f"buffer of argument {argument}"
            )
        reach, end = self.run.reach, offset + extent
        if end > reach.get(argument, 0):
            reach[argument] = end

    def _extent(self, numbers: Sequence[int]) -> int:
        """Returns the bytes of GM from its address on that the op touches.

        0 for an op that an engine refuses, for one that moves nothing, and where operands are not
        known.
        """
        state = self.run.registers
        ctrl = state.ctrl if self.recipe.ctrl else 0
        key = (id(state.now), _text(ctrl), *[_text(numbers[k]) for k in self.scalars])
        if key not in self.extents:
            at_zero = [x if k in self.scalars else 0 for k, x in enumerate(numbers)]
            lowering = Lowering(self.recipe.make(at_zero), state.now, ctrl)
            self.extents[key] = _end_in_gm(lowering)
        return self.extents[key]


def _text(number: int) -> object:
    """Returns a number as a key: an unknown value equals no other, but its text may."""
    return "?" if number is UNKNOWN else number


def _end_in_gm(lowered: Lowering) -> int:
    try:
        desc = lowered.descriptor
        if desc is None or desc.is_nop or lowered.refused:
            return 0
        sides = (source(desc), *destinations(desc))
        return next((side.end for side in sides if side.space is Space.GM), 0)
    except UndecidedError:
        return 0


def _raw(run: Interpreter, op: MoveOp) -> Code:
    """Returns the code of a register form that is not executed: its operands are noted."""
    text = written(op)
    assert text is not None, "it is a movement"
    pointers = tuple(filter(None, (kind_of(x).pointer for x in text.operands.values())))
    place, keys = run.place(op), {name: id(value) for name, value in text.operands.items()}

    def code(frame: Frame) -> None:
        values = {name: plain(frame[key]) for name, key in keys.items()}
        operands = {x: UNKNOWN if isinstance(y, Missing) else y for x, y in values.items()}
        run.raw.append(Raw(place, text.name, operands, pointers, run.registers.ctrl))

    return code
