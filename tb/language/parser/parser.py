# SPDX-License-Identifier: Apache-2.0
"""The parser of programs: ops in their pretty and generic form, values, regions, recovery."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.utils.exceptions import ParseError, VerifyException

from tb.language.dialect.moves import verify_move
from tb.language.dialect.names import unknown_names
from tb.language.dialect.ops import MoveOp, string
from tb.language.dialect.others import BrokenOp, ForeignOp, broken
from tb.language.dialect.sections import SectionOp, StrictVecScopeOp, VecScopeOp
from tb.language.dialect.sync import ORDERING
from tb.language.dialect.types import (
    UNKNOWN_TYPE_LEGAL,
    OpaqueType,
    misspelled,
    type_name,
    unknown_type,
)
from tb.language.foreign import moves_tiles
from tb.language.grammar.fault import Fault, OpError
from tb.language.grammar.tokens import TextError
from tb.language.parser.builtin import READERS
from tb.language.parser.constants import keep_bits
from tb.language.parser.foreign import UnclosedError, closing, skip
from tb.language.parser.known import (
    RESUMABLE,
    context,
    is_foreign,
    moves_data,
    not_read,
    unknown_op,
)
from tb.language.parser.messages import check_literal, fault_of
from tb.language.parser.scopes import captured, holds_ops, refused_ops
from tb.language.parser.text import Argument, ProgramText, Use
from tb.language.parser.verified import OURS, verified

_LABEL = re.compile(r"\^[\w$.-]+", re.ASCII)
_FAILURES = (TextError, ParseError, VerifyException, ValueError, ArithmeticError)


class StoppedError(Exception):
    """Reading cannot continue, and the reason is among the faults."""


class ProgramParser(ProgramText):
    """Reads one program.

    Attributes:
        offsets: Offset of the name of each op.
        faults: Errors so far, with the name of the op.
        lost: Whether the last op is unknown, so that its end is unknown.
    """

    def __init__(self, text: str, file: str) -> None:
        """Begins at the start of the text."""
        self.offsets: dict[Operation, int] = {}
        self.faults: list[tuple[str, Fault]] = []
        self.lost = False
        self._undefined: dict[str, int] = {}
        self._dialects = ["builtin"]
        self._context = context()
        super().__init__(text, file, self._context)

    def read_module(self) -> ModuleOp:
        """Reads everything.

        Raises:
            TextError, ParseError: reading cannot go on.
        """
        ops: list[Operation] = []
        while self.kind != "end":
            if self.text.startswith("{-#", self.at):
                self._metadata()
            elif self.kind in ("hash", "bang"):
                self._alias()
            elif self.kind in ("value", "word", "string"):
                ops.append(self.operation())
            else:
                self._no_op("expected an op")
        if not ops:
            self.fail("the file has no op", 0)
        alone = ops[0] if len(ops) == 1 else None
        module = alone if isinstance(alone, ModuleOp) else ModuleOp(ops)
        if not self.faults:
            for op in module.walk():
                for name, fault in verified(op, self.offsets, self.text):
                    self._fault(name, fault, self.offsets.get(op, 0))
        return module

    def _no_op(self, message: str) -> None:
        """Refuses what begins no op."""
        if self.value in ("!", "#"):
            legal = "a comment begins with //" if self.value == "#" else ""
            message = f"expected a name right after the sign {self.value!r}"
            raise TextError(message, self.at, legal)
        self.fail(f"{message}, found {self.found()}")

    def _alias(self) -> None:
        """Reads ``!name = type`` or ``#name = attribute``."""
        name, at = self.value, self.at
        self.advance()
        if name in self.attribute_aliases:
            self.fail(f"alias {name} is defined twice", at)
        self.expect("=", "after the name of an alias")
        if not self.skip_location():
            self.attribute_aliases[name] = self.attribute()

    def _metadata(self) -> None:
        """Skips ``{-# ... #-}``: resources of dialects, which programs do not use."""
        end = self.text.find("#-}", self.at)
        if end < 0:
            self.fail("'{-#' is never closed")
        self.go_to(end + 3)

    # --- regions ---------------------------------------------------------------------------------

    def region(self, arguments: Sequence[Argument] = ()) -> Region:
        """Reads ``{ ops }``; its first block has the arguments."""
        self.expect("{", "and the ops of a region")
        outer, self.ssa_values = self.ssa_values, dict(self.ssa_values)
        region, block = Region(), None
        if arguments and self.value == "^":
            self.fail("the first block has no label: its arguments are those of the op")
        if arguments or self.value not in ("^", "}"):
            block = self._block(region, arguments)
        while not self.take("}"):
            if self.value == "^":
                block = self._block(region, self._label())
            elif block is not None and self.kind in ("value", "word", "string"):
                block.add_op(self.operation())
            else:
                self._no_op("expected an op or '}'")
        self.ssa_values = outer
        return region

    def _block(self, region: Region, arguments: Sequence[Argument]) -> Block:
        block = Block(arg_types=[one.type for one in arguments])
        region.add_block(block)
        for one, value in zip(arguments, block.args, strict=True):
            self._define(one.name, one.at, (value,))
        return block

    def _label(self) -> list[Argument]:
        """Reads ``^name[(%a: T, ...)]:`` and returns the arguments."""
        found = _LABEL.match(self.text, self.at)
        if found is None:
            self.expected("the label of a block")
        self.go_to(found.end())
        arguments: list[Argument] = []
        if self.take("("):
            while not self.take(")"):
                if arguments:
                    self.expect(",", "or ')' after an argument")
                use = self.use()
                self.expect(":", "and the type of the argument")
                arguments.append(Argument(use.name, self.any_type(), use.at))
                self.skip_location()
        self.expect(":", "after the label of a block")
        return arguments

    # --- one op ----------------------------------------------------------------------------------

    def operation(self) -> Operation:
        """Reads an op, in its pretty or in the generic form."""
        self.lost = False
        bound = self._bound()
        at = self.at
        if self.kind == "word":
            name = self.value
            self.advance()
            op = self._pretty(name, at, sum(use.number for use in bound))
        elif self.kind == "string":
            name = self.value.strip('"')
            self.advance()
            op = self._generic(name, at)
        else:
            self.expected("the name of an op")
        self.offsets[op] = at
        self._bind(op, name, bound)
        if isinstance(op, VecScopeOp):
            for inner, fault in refused_ops(op):
                self._fault(op.name, fault, self.offsets.get(inner, 0))
        if isinstance(op, StrictVecScopeOp):
            for fault in captured(self.text, at, self.at, self.ssa_values):
                self._fault(op.name, fault, at)
        return op

    def _bound(self) -> list[Use]:
        """Reads ``%a, %b:2 =``; the numbers are those of the results of a name."""
        found: list[Use] = []
        while self.kind == "value" or found:
            use = self.use()
            count = 1
            if self.take(":"):
                if self.kind != "number" or not self.value.isdigit():
                    self.expected("a number of results")
                count = int(self.value)
                self.advance()
            found.append(Use(use.name, count, use.at))
            if not self.take(","):
                self.expect("=", "after the results of an op")
                break
        return found

    def _bind(self, op: Operation, name: str, bound: list[Use]) -> None:
        """Gives the results of an op their names."""
        count = sum(use.number for use in bound)
        results: Sequence[SSAValue] = op.results
        if count and len(results) != count:
            message = f"{name} has {len(results)} results, not {count}"
            self._fault(name, Fault(message, at=bound[0].at))
            results = broken(count, name).results
        start = 0
        for use in bound:
            self._define(use.name, use.at, tuple(results[start : start + use.number]))
            start += use.number

    def _define(self, name: str, at: int, values: Sequence[SSAValue]) -> None:
        if name in self.ssa_values:
            self._fault("", self._twice(name, at))
            return
        self.ssa_values[name] = tuple(values)
        if SSAValue.is_valid_name(name):
            for value in values:
                value.name_hint = name

    def _pretty(self, name: str, at: int, results: int) -> Operation:
        known = self._context._get_known_op(name)
        if known is None and "." not in name:
            found = (self._context._get_known_op(f"{x}.{name}") for x in reversed(self._dialects))
            known = next((kind for kind in found if kind), None)
        if known is None or known in (ForeignOp, BrokenOp) or not_read(known):
            return self._unknown(name if known is None else known.name, at, results, len(name))
        if known is VecScopeOp and not holds_ops(self.text, at + len(name)):
            return self._skip(name, at, results)
        dialect = known.dialect_name()
        self._dialects.append(dialect)
        outer = self.ssa_values
        try:
            if name == "arith.constant":
                check_literal(self.text, at)
            self.op_at = at
            read = READERS.get(known.name)
            op: Operation = read(self) if read else known.read(self)  # type: ignore[attr-defined]
            if op.attributes:
                self._names(op, name, at)
            keep_bits(op, self.text, at, self.at)
        except OpError as error:
            if dialect not in RESUMABLE:
                fault = error.faults[0]
                where = fault.at if fault.at >= 0 else at
                raise TextError(fault.message, where, fault.legal) from None
            for fault in error.faults:
                self._fault(name, fault, at)
            op = broken(results, name)
            if dialect != "pto":
                self._skip(name, at, results)
        except _FAILURES as error:
            fault = fault_of(error, at)
            if issubclass(known, SectionOp) or dialect not in RESUMABLE:
                raise TextError(fault.message, fault.at, fault.legal) from None
            self._fault(name, fault)
            self._skip(name, at, results)
            op = broken(results, name)
        finally:
            self._dialects.pop()
            self.ssa_values = outer
        self.skip_location()
        return op

    def _names(self, op: Operation, name: str, at: int) -> None:
        """Notes attributes of an op, read to its end, that it does not have."""
        faults, notes = unknown_names(op, self.text, at, self.at)
        for fault in faults:
            self._fault(name, fault, at)
        self.notes += [(name, message, where) for message, where in notes]

    def _generic(self, name: str, at: int) -> Operation:
        known = self._context._get_known_op(name)
        foreign = is_foreign(name) and (known is None or not_read(known))
        if known is None or not_read(known):
            if not foreign:
                self._fault(name, unknown_op(name), at)
            known = ForeignOp
        self._dialects.append(name.partition(".")[0])
        try:
            op = self._generic_op(known, at)
        except OpError as error:
            fault = error.faults[0]
            where = fault.at if fault.at >= 0 else at
            raise TextError(fault.message, where, fault.legal) from None
        except _FAILURES as error:
            fault = fault_of(error, at)
            raise TextError(fault.message, fault.at, fault.legal) from None
        finally:
            self._dialects.pop()
        if op.properties or op.attributes:
            self._names(op, name, at)
        keep_bits(op, self.text, at, self.at)
        if isinstance(op, ForeignOp) and "mnemonic" not in op.properties:
            op.properties["mnemonic"] = string(name)
            inside = [inner for inner in op.walk() if inner is not op]
            if any(map(_moves, inside)):
                op.properties["holds_moves"] = string("moves")
            if any(isinstance(inner, ForeignOp) and inner.moves_tiles for inner in inside):
                op.properties["holds_tiles"] = string("moves")
        if type(op) in OURS and not isinstance(op, ForeignOp | SectionOp | BrokenOp):
            try:
                kinds = (each.type for each in (*op.operands, *op.results))
                if unknown := next(filter(None, map(unknown_type, kinds)), ""):
                    raise OpError(Fault(f"type {unknown}", legal=UNKNOWN_TYPE_LEGAL))
                if isinstance(op, MoveOp):
                    verify_move(op)
                op.verify_()
            except OpError as error:
                for fault in error.faults:
                    self._fault(name, fault, at)
                op = broken(len(op.results), name)
        return op

    def _generic_op(self, kind: type[Operation], at: int) -> Operation:
        """Reads ``(operands) [^labels] <{..}> ({..}, ..) {..} : (types) -> types``."""
        self.expect("(", "and the operands of the generic form")
        uses = self.uses(")")
        if self.value == "[":
            self.go_to(closing(self.text, self.at))
        properties = self.properties()
        regions: list[Region] = []
        if self.take("("):
            while not self.take(")"):
                if regions:
                    self.expect(",", "or ')' after a region")
                regions.append(self.region())
        attributes = self.attribute_dictionary()
        if not self.take(":"):
            self.fail("expected ':' and the types of the op: (operands) -> (results)", at)
        where = self.at
        if self.value != "(":
            self.expected("'(' and the types of the operands")
        kinds = self.types()
        self.expect("->", "and the types of the results")
        results = self.types()
        self.skip_location()
        if issubclass(kind, IRDLOperation):
            for name in kind.get_irdl_definition().properties:
                if name in attributes and name not in properties:
                    properties[name] = attributes.pop(name)
        return kind.create(
            operands=self.resolved(uses, kinds, where),
            result_types=results,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )

    # --- unknown ops ------------------------------------------------------------------------------

    def _unknown(self, name: str, at: int, results: int, length: int) -> Operation:
        """Skips an op: a foreign one, or one that is an error."""
        if is_foreign(name):
            return self._skip(name, at, results, length)
        if "." not in name:
            self.fail(f"expected an op, found {name!r}", at)
        self._fault(name, unknown_op(name), at)
        self._skip(name, at, results, length)
        self.lost = True
        return broken(results, name)

    def _skip(self, name: str, at: int, results: int, length: int = 0) -> ForeignOp:
        """Goes to the next op; the types of the results are those in the text."""
        failed = len(self.faults)
        try:
            skipped = skip(self.text, at + (length or len(name)), _reported)
        except UnclosedError as error:
            if failed and self.faults[-1][1].at >= at:
                raise StoppedError from None
            self.fail(str(error), error.at)
        types = self._result_types(skipped.types, skipped.end, skipped.arrow, results)
        self.go_to(skipped.end)
        kinds = types or [OpaqueType(name)] * results
        held = {"holds_moves" if moves_data(one) else "holds_tiles" for one in skipped.names}
        return ForeignOp.make(name, kinds, holds=held)

    def _result_types(self, at: int, end: int, arrow: bool, results: int) -> list[Attribute]:
        """Reads result types at an offset; none when they are not there or not understood."""
        if not results or at < 0:
            return []
        kinds: list[Attribute] = []
        try:
            self.go_to(at)
            paren = self.take("(")
            kinds.append(self.any_type())
            while self.take(","):
                kinds.append(self.any_type())
            if paren:
                self.expect(")", "after the types")
        except (TextError, ParseError, VerifyException, ValueError):
            return []
        if self.at < end and self.value not in ("{", "loc"):
            return []
        if len(kinds) == results:
            return kinds
        same = not arrow and all(kind == kinds[0] for kind in kinds)
        return kinds[:1] * results if same else []

    def _twice(self, name: str, at: int) -> Fault:
        """Returns what is wrong with a second definition of a value."""
        owner = self.ssa_values[name][0].owner
        first = self.offsets.get(owner) if isinstance(owner, Operation) else None
        where = ""
        if first is not None:
            line = self.text.count("\n", 0, first) + 1
            where = f", first in line {line}"
        return Fault(f"%{name} is defined twice{where}", at=at)

    # --- values -----------------------------------------------------------------------------------

    def resolve(self, use: Use, kind: Attribute) -> SSAValue:
        """Returns the value of a use; one that is not defined is noted once."""
        name, number, at = use
        values = self.ssa_values.get(name)
        if values is None:
            if name not in self._undefined:
                self._undefined[name] = at
                self._fault("", Fault(f"%{name} is not defined", at=at))
            return ForwardDeclaredValue(kind)
        if number >= len(values):
            message = f"%{name}#{number} is not defined: %{name} has {len(values)}"
            raise OpError(Fault(message, at=at))
        value = values[number]
        if value.type == kind:
            return value
        if isinstance(value.type, OpaqueType):
            value._type = kind
            return value
        raise OpError(
            Fault(
                f"type mismatch: %{name} has type {type_name(value.type)} and is written with "
                f"type {type_name(kind)}" + misspelled(type_name(kind)),
                at=at,
                legal=f"{type_name(value.type)} here, or another operand",
            )
        )

    # --- errors -----------------------------------------------------------------------------------

    def _fault(self, name: str, fault: Fault, at: int = -1) -> None:
        place = fault.at if fault.at >= 0 else at
        self.faults.append((name, Fault(fault.message, fault.rule, place, fault.legal)))


def _reported(name: str) -> bool:
    """Returns whether an op that is skipped with the one around it has to be noted."""
    return moves_data(name) or moves_tiles(name)


def _moves(op: Operation) -> bool:
    """Returns whether an op inside a foreign one must not be skipped."""
    if isinstance(op, ForeignOp):
        return op.holds_moves or moves_data(op.mnemonic)
    return isinstance(op, MoveOp) or op.name in ORDERING
