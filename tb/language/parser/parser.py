# SPDX-License-Identifier: Apache-2.0
"""The parser of programs: xdsl's, with the pto dialect, places, and error recovery."""

from __future__ import annotations

import re
from typing import cast

from xdsl.dialects.builtin import (
    LocationAttr,
    ModuleOp,
    UnknownLoc,
)
from xdsl.ir import Attribute, AttributeInvT, Block, Operation, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Lexer, Span, Token
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tb.language.dialect.control import SPELLINGS
from tb.language.dialect.moves import verify_move
from tb.language.dialect.names import unknown_names
from tb.language.dialect.ops import MoveOp, string
from tb.language.dialect.others import BrokenOp, ForeignOp, broken
from tb.language.dialect.sections import (
    SectionOp,
    StrictVecScopeOp,
    VecScopeOp,
)
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
from tb.language.parser.constants import Plain, keep_bits, plain_constant
from tb.language.parser.foreign import UnclosedError, closing, skip
from tb.language.parser.known import (
    RESUMABLE,
    WALKED,
    context,
    is_foreign,
    moves_data,
    not_read,
    unknown_op,
)
from tb.language.parser.lexer import ProgramLexer
from tb.language.parser.messages import check_literal, fault_of
from tb.language.parser.scopes import captured, holds_ops, refused_ops
from tb.language.parser.verified import OURS, verified

LOCATION = re.compile(r"(?>(?:\s+|//[^\n]*)*)loc\s*\(", re.ASCII)


class StoppedError(Exception):
    """Reading cannot continue, and the reason is among the faults."""


class LazyState(ParserState[MLIRTokenKind, str]):
    """The lexer, and the next token once it is needed.

    xdsl's own state lexes a token ahead: an op that is read or skipped by its text would pay for a
    token that is never used, or fail on one.
    """

    def __init__(self, lexer: Lexer[MLIRTokenKind, str]) -> None:
        """Begins at the start of the text."""
        self.lexer = lexer
        self.lexer.pos = 0
        self.dialect_stack = ["builtin"]
        self._token: Token[MLIRTokenKind, str] | None = None

    @property
    def current_token(self) -> Token[MLIRTokenKind, str]:
        """The next token."""
        if self._token is None:
            self._token = self.lexer.lex()
        return self._token

    @current_token.setter
    def current_token(self, token: Token[MLIRTokenKind, str]) -> None:
        self._token = token

    def go_to(self, offset: int) -> None:
        """Continues with the token at or after an offset."""
        self.lexer.pos = offset
        self._token = None

    @property
    def offset(self) -> int:
        """Offset of the next token, or of the blanks before it."""
        return self.lexer.pos if self._token is None else self._token.span.start


class ProgramParser(Parser):
    """Reads one program.

    Attributes:
        offsets: Offset of the name of each op.
        faults: Errors so far, with the name of the op.
        notes: Remarks on ops without an error: name of the op, sentence, offset.
        lost: Whether the last op is unknown, so that its end is unknown.
    """

    def __init__(self, text: str, file: str) -> None:
        """Begins at the start of the text."""
        self.offsets: dict[Operation, int] = {}
        self.faults: list[tuple[str, Fault]] = []
        self.notes: list[tuple[str, str, int]] = []
        self.lost = False
        self._undefined: dict[str, int] = {}
        # xdsl's own state would lex the first token here, outside of read_module.
        super().__init__(context(), "", file)
        self._lazy = LazyState(ProgramLexer(Input(text, file)))
        self._parser_state = self._lazy
        self._text = text

    def read_module(self) -> ModuleOp:
        """Reads everything.

        Raises:
            ParseError: reading cannot go on.
        """
        ops: list[Operation] = []
        aliases = (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT)
        while True:
            op = self.parse_optional_operation()
            if op is not None:
                ops.append(op)
            elif self._current_token.kind in aliases:
                self._alias()
            elif self._text.startswith("{-#", self._current_token.span.start):
                self._metadata()
            elif self._current_token.kind == MLIRTokenKind.EOF:
                break
            else:
                self.raise_error(f"expected an op, found {self._found()}")
        if not ops:
            self.raise_error("the file has no op", 0)
        alone = ops[0] if len(ops) == 1 else None
        module = alone if isinstance(alone, ModuleOp) else ModuleOp(ops)
        if not self.faults:
            for op in module.walk():
                for name, fault in verified(op, self.offsets, self._text):
                    self._fault(name, fault, self.offsets.get(op, 0))
        return module

    def _alias(self) -> None:
        """Reads ``!name = type`` or ``#name = attribute``."""
        name, at = self._current_token.text, self.offset
        self._lazy.go_to(self._current_token.span.end)
        if name in self.attribute_aliases:
            self.raise_error(f"alias {name} is defined twice", at)
        self.parse_punctuation("=", " after the name of an alias")
        self.attribute_aliases[name] = self.parse_optional_location() or self.parse_attribute()

    def _metadata(self) -> None:
        """Skips ``{-# ... #-}``: resources of dialects, which programs do not use."""
        end = self._text.find("#-}", self.offset)
        if end < 0:
            self.raise_error("'{-#' is never closed", self.offset)
        self._lazy.go_to(end + 3)

    def _parse_block(self) -> Block:
        if self._current_token.kind != MLIRTokenKind.CARET_IDENT:
            self.raise_error(f"expected an op or '}}', found {self._found()}")
        return super()._parse_block()

    @property
    def offset(self) -> int:
        """Offset of the next token, or of the blanks before it."""
        return self._lazy.offset

    @property
    def _current_token(self) -> Token[MLIRTokenKind, str]:
        token = self._lazy._token
        return self._lazy.current_token if token is None else token

    def _resume_from(self, pos: object) -> None:
        assert isinstance(pos, int), "states are not exchanged"
        self._lazy.go_to(pos)

    # --- one op ----------------------------------------------------------------------------------

    def parse_operation(self) -> Operation:
        """Reads an op, in its pretty or in the generic form."""
        self.lost = False
        plain = plain_constant(self._text, self.offset)
        if plain is not None:
            return self._constant(plain)
        bound = self._parse_op_result_list()
        token = self._current_token
        at = token.span.start
        if token.kind == MLIRTokenKind.BARE_IDENT:
            name = token.text
            self._lazy.go_to(token.span.end)
            op = self._pretty(name, at, sum(size for _, size in bound))
        elif token.kind == MLIRTokenKind.STRING_LIT:
            name = token.text.strip('"')
            op = self._generic(name, at)
        else:
            self.raise_error(f"expected the name of an op, found {self._found()}", at)
        self.offsets[op] = at
        self._bind(op, name, bound)
        if isinstance(op, VecScopeOp):
            for inner, fault in refused_ops(op):
                self._fault(op.name, fault, self.offsets.get(inner, 0))
        if isinstance(op, StrictVecScopeOp):
            for fault in captured(self._text, at, self.offset, self.ssa_values):
                self._fault(op.name, fault, at)
        return op

    def _constant(self, plain: Plain) -> Operation:
        """Takes a constant that was read by its text."""
        start = self.offset
        self._lazy.go_to(plain.end)
        self.offsets[plain.op] = plain.at
        span = Span(start, start + 1 + len(plain.name), self.lexer.input)
        self._define(span, plain.op.results)
        self.parse_optional_location()
        return plain.op

    def _bind(self, op: Operation, name: str, bound: list[tuple[Span, int]]) -> None:
        """Gives the results of an op their names."""
        count = sum(size for _, size in bound)
        results = op.results
        if count and len(results) != count:
            message = f"{name} has {len(results)} results, not {count}"
            self._fault(name, Fault(message, at=bound[0][0].start))
            results = broken(count, name).results
        start = 0
        for span, size in bound:
            self._define(span, tuple(results[start : start + size]))
            start += size

    def _define(self, span: Span, values: tuple[SSAValue, ...]) -> None:
        name = span.text[1:]
        if name in self.ssa_values:
            self._fault("", self._twice(name, span.start))
            return
        self._register_ssa_definition(name, values, span)

    def _pretty(self, name: str, at: int, results: int) -> Operation:
        known = self.ctx._get_known_op(name)
        if known is None and "." not in name:
            stack = reversed(self._parser_state.dialect_stack)
            found = (self.ctx._get_known_op(f"{dialect}.{name}") for dialect in stack)
            known = next((kind for kind in found if kind), None)
        walked = known is not None and known.name in WALKED
        if known is None or known in (ForeignOp, BrokenOp) or (not_read(known) and not walked):
            return self._unknown(name if known is None else known.name, at, results, len(name))
        if known is VecScopeOp and not holds_ops(self._text, at + len(name)):
            return self._skip(name, at, results)
        dialect = known.dialect_name()
        self._parser_state.dialect_stack.append(dialect)
        try:
            if name == "arith.constant":
                check_literal(self._text, at)
            op = SPELLINGS.get(known.name, known.parse)(self)
            if op.attributes:
                self._names(op, name, at)
            keep_bits(op, self._text, at, self.offset)
        except OpError as error:
            if dialect not in RESUMABLE:
                fault = error.faults[0]
                where = self._span(fault.at if fault.at >= 0 else at)
                raise ParseError(where, fault.message) from None
            for fault in error.faults:
                self._fault(name, fault, at)
            op = broken(results, name)
            if dialect != "pto":
                self._skip(name, at, results)
        except (ParseError, VerifyException, ValueError, ArithmeticError) as error:
            if not self._goes_on(known):
                raise self._as_parse_error(error, at) from None
            self._fault(name, fault_of(error, at))
            self._skip(name, at, results)
            op = broken(results, name)
        finally:
            self._parser_state.dialect_stack.pop()
        self.parse_optional_location()
        return op

    def _names(self, op: Operation, name: str, at: int) -> None:
        """Notes attributes of an op, read to its end, that it does not have."""
        faults, notes = unknown_names(op, self._text, at, self.offset)
        for fault in faults:
            self._fault(name, fault, at)
        self.notes += [(name, message, where) for message, where in notes]

    def parse_optional_location(self) -> LocationAttr | None:
        """Skips ``loc(...)`` if it is here: places are those of the file that is read."""
        match = LOCATION.match(self._text, self.offset)
        if match is None:
            return None
        try:
            self._lazy.go_to(closing(self._text, match.end() - 1))
        except UnclosedError as error:
            self.raise_error(str(error), error.at)
        return UnknownLoc()

    def _generic(self, name: str, at: int) -> Operation:
        known = self.ctx._get_known_op(name)
        self._consume_token()
        foreign = is_foreign(name) and (known is None or not_read(known))
        if known is None or not_read(known):
            if not foreign:
                self._fault(name, unknown_op(name), at)
            known = ForeignOp
        dialect = name.partition(".")[0]
        self._parser_state.dialect_stack.append(dialect)
        try:
            op = self._parse_generic_operation(known)
        except OpError as error:
            fault = error.faults[0]
            raise ParseError(self._span(fault.at if fault.at >= 0 else at), fault.message) from None
        except ParseError as error:
            if "function type signature" in error.msg:
                raise ParseError(self._span(at), error.msg) from None
            raise
        except (VerifyException, ValueError, ArithmeticError) as error:
            raise self._as_parse_error(error, at) from None
        finally:
            self._parser_state.dialect_stack.pop()
        if op.properties or op.attributes:
            self._names(op, name, at)
        keep_bits(op, self._text, at, self.offset)
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

    # --- unknown ops ------------------------------------------------------------------------------

    def _unknown(self, name: str, at: int, results: int, length: int) -> Operation:
        """Skips an op: a foreign one, or one that is an error."""
        if is_foreign(name):
            return self._skip(name, at, results, length)
        if "." not in name:
            self.raise_error(f"expected an op, found {name!r}", at)
        self._fault(name, unknown_op(name), at)
        self._skip(name, at, results, length)
        self.lost = True
        return broken(results, name)

    def _skip(self, name: str, at: int, results: int, length: int = 0) -> ForeignOp:
        """Goes to the next op; the types of the results are those in the text."""
        failed = len(self.faults)
        try:
            skipped = skip(self._text, at + (length or len(name)), _told)
        except UnclosedError as error:
            if failed and self.faults[-1][1].at >= at:
                raise StoppedError from None
            self.raise_error(str(error), error.at)
        types = self._result_types(skipped.types, skipped.end, skipped.arrow, results)
        self._resume_from(skipped.end)
        kinds = types or [OpaqueType(name)] * results
        held = {"holds_moves" if moves_data(one) else "holds_tiles" for one in skipped.names}
        return ForeignOp.make(name, kinds, holds=held)

    def _result_types(self, at: int, end: int, arrow: bool, results: int) -> list[Attribute]:
        """Reads result types at an offset; none when they are not there or not understood."""
        if not results or at < 0:
            return []
        kinds: list[Attribute] = []
        try:
            self._resume_from(at)
            paren = self.parse_optional_punctuation("(") is not None
            kinds.append(self.parse_type())
            while self.parse_optional_punctuation(",") is not None:
                kinds.append(self.parse_type())
            if paren:
                self.parse_punctuation(")")
        except (ParseError, VerifyException, ValueError):
            return []
        if self.pos < end and self._current_token.text not in ("{", "loc"):
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
            line = self._text.count("\n", 0, first) + 1
            where = f", first in line {line}"
        return Fault(f"%{name} is defined twice{where}", at=at)

    # --- values -----------------------------------------------------------------------------------

    def resolve_operand(
        self,
        operand: UnresolvedOperand,
        type: AttributeInvT,  # noqa: A002
    ) -> SSAValue[AttributeInvT]:
        """Returns the value of an operand; one that is not defined is noted once."""
        name = operand.operand_name
        values = self.ssa_values.get(name)
        at = operand.span.start
        if values is None:
            if name not in self._undefined:
                self._undefined[name] = at
                self._fault("", Fault(f"%{name} is not defined", at=at))
            return ForwardDeclaredValue(type)
        if operand.index >= len(values):
            raise OpError(
                Fault(f"%{name}#{operand.index} is not defined: %{name} has {len(values)}", at=at)
            )
        value = values[operand.index]
        if value.type == type:
            return cast(SSAValue[AttributeInvT], value)
        if isinstance(value.type, OpaqueType):
            value._type = type
            return cast(SSAValue[AttributeInvT], value)
        raise OpError(
            Fault(
                f"type mismatch: %{name} has type {type_name(value.type)} and is written with "
                f"type {type_name(type)}" + misspelled(type_name(type)),
                at=at,
                legal=f"{type_name(value.type)} here, or another operand",
            )
        )

    # --- errors -----------------------------------------------------------------------------------

    def _goes_on(self, known: type[Operation]) -> bool:
        """Returns whether an op with an error can be skipped: it has no region that was entered."""
        return not issubclass(known, SectionOp) and known.dialect_name() in RESUMABLE

    def _fault(self, name: str, fault: Fault, at: int = -1) -> None:
        place = fault.at if fault.at >= 0 else at
        self.faults.append((name, Fault(fault.message, fault.rule, place, fault.legal)))

    def _as_parse_error(self, error: Exception, at: int) -> ParseError:
        if isinstance(error, ParseError):
            return error
        fault = fault_of(error, at)
        return ParseError(self._span(fault.at), fault.message)

    def _span(self, at: int) -> Span:
        return Span(at, at, self.lexer.input)

    def _found(self) -> str:
        text = self._current_token.text
        return repr(text) if text else "the end of the file"


def _told(name: str) -> bool:
    """Returns whether an op that is skipped with the one around it has to be told of."""
    return moves_data(name) or moves_tiles(name)


def _moves(op: Operation) -> bool:
    """Returns whether an op inside a foreign one must not be skipped."""
    if isinstance(op, ForeignOp):
        return op.holds_moves or moves_data(op.mnemonic)
    return isinstance(op, MoveOp) or op.name in ORDERING
