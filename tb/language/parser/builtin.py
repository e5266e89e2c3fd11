# SPDX-License-Identifier: Apache-2.0
"""Ops of the dialects builtin, func, scf and arith that programs are made of.

Results of one type after ``->`` need no parentheses, attributes may precede a body, and
``arith.select`` may name the type of its condition (docs/spec/dialect.md, section 2). Flags of
overflow and of fast arithmetic are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TypedAttribute,
    UnrealizedConversionCastOp,
    i1,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tb.language.dialect.types import WORD_TYPES
from tb.language.parser.text import Argument, ProgramText, Use

Read = Callable[[ProgramText], Operation]


@irdl_op_definition
class IndexCastUIOp(IRDLOperation):
    """``arith.index_castui``, which xdsl lacks: ``index`` to an integer or back, zeros added."""

    name = "arith.index_castui"
    input = operand_def(base(IntegerType) | base(IndexType))
    result = result_def(base(IntegerType) | base(IndexType))
    traits = traits_def(Pure())

    def verify_(self) -> None:
        """Refuses a cast that does not have ``index`` at exactly one side."""
        kinds = self.input.type, self.result.type
        if sum(isinstance(kind, IndexType) for kind in kinds) != 1:
            raise VerifyException(
                f"operand type {kinds[0]} and result type {kinds[1]} are cast incompatible"
            )


# --- modules and functions -----------------------------------------------------------------------


def _attributes(text: ProgramText) -> dict[str, Attribute]:
    """Reads ``attributes {...}`` if it is here."""
    return text.attribute_dictionary() if text.keyword("attributes") else {}


def _results(text: ProgramText) -> list[Attribute]:
    """Reads ``-> T`` or ``-> (T, ...)`` if it is here."""
    return text.types() if text.take("->") else []


def read_module(text: ProgramText) -> ModuleOp:
    """Reads ``[@name] [attributes {...}] { ops }``."""
    name = StringAttr(text.symbol()) if text.value == "@" else None
    attributes = _attributes(text)
    region = text.region()
    if not region.blocks:
        region.add_block(Block())
    return ModuleOp(region, attributes, name)


def _argument(text: ProgramText) -> Argument:
    """Reads ``%name: T {...}``, or a type alone, whose name is empty."""
    at, name = text.at, ""
    if text.kind == "value":
        name = text.use().name
        text.expect(":", "and the type of the argument")
    kind = text.any_type()
    text.attribute_dictionary()
    text.skip_location()
    return Argument(name, kind, at)


def _arguments(text: ProgramText) -> list[Argument]:
    """Reads the arguments of a function up to ``)``, or its results."""
    found: list[Argument] = []
    while not text.take(")"):
        if found:
            text.expect(",", "or ')' after an argument")
        found.append(_argument(text))
    return found


def read_function(text: ProgramText) -> FuncOp:
    """Reads ``[visibility] @name(arguments) [-> types] [attributes {...}] [{ body }]``."""
    visibility = None
    if text.kind == "word":
        visibility = StringAttr(text.word("the visibility of a function"))
    name = text.symbol()
    text.expect("(", f"after @{name}")
    arguments = _arguments(text)
    if len({bool(one.name) for one in arguments}) > 1:
        text.fail("either all arguments have names or none", arguments[0].at)
    outputs: list[Attribute] = []
    if text.take("->"):
        outputs = [x.type for x in _arguments(text)] if text.take("(") else [text.any_type()]
    attributes = _attributes(text)
    region = Region()
    if text.value == "{":
        region = text.region(arguments)
        if not region.blocks:
            region.add_block(Block(arg_types=[one.type for one in arguments]))
    kind = FunctionType.from_lists([one.type for one in arguments], outputs)
    op = FuncOp(name, kind, region, visibility)
    op.attributes |= attributes
    return op


def read_call(text: ProgramText) -> CallOp:
    """Reads ``@name(operands) : (types) -> results``."""
    name = text.symbol()
    text.expect("(", f"after @{name}")
    uses = text.uses(")")
    attributes = text.attribute_dictionary()
    text.expect(":", "and the types of the call")
    at, kinds = text.at, text.types()
    text.expect("->", "and the types of the results")
    return CallOp.create(
        operands=text.resolved(uses, kinds, at),
        result_types=text.types(),
        properties={"callee": SymbolRefAttr(name)},
        attributes=attributes,
    )


def _read_end(kind: type[Operation], text: ProgramText) -> Operation:
    """Reads ``[{...}] [operands : types]``."""
    attributes = text.attribute_dictionary()
    return kind.create(operands=text.types_of(text.uses()), attributes=attributes)


# --- scf -----------------------------------------------------------------------------------------


def _body(text: ProgramText, arguments: Sequence[Argument] = ()) -> Region:
    """Reads a region of one block, whose ``scf.yield`` may be left out."""
    region = text.region(arguments)
    if not region.blocks:
        region.add_block(Block(arg_types=[one.type for one in arguments]))
    last = region.blocks.last
    assert last is not None, "it has a block"
    if last.last_op is None or last.last_op.name not in ("scf.yield", "func.return"):
        last.add_op(scf.YieldOp())
    return region


def _assignments(text: ProgramText) -> list[tuple[Use, Use]]:
    """Reads ``(%a = %b, ...)``."""
    found: list[tuple[Use, Use]] = []
    text.expect("(", "and the values that are carried")
    while not text.take(")"):
        if found:
            text.expect(",", "or ')' after a value")
        name = text.use()
        text.expect("=", "after the name of a value that is carried")
        found.append((name, text.use()))
    return found


def read_for(text: ProgramText) -> scf.ForOp:
    """Reads ``%i = %lo to %hi step %s [iter_args(%a = %b, ...) [-> types]] [: type] { ... }``.

    The type of the bounds may be before or after the values that the loop carries.
    """
    variable = text.use()
    text.expect("=", "after the variable of a loop")
    bounds = [text.use()]
    for word in ("to", "step"):
        if not text.keyword(word):
            text.expected(f"'{word}' in a loop")
        bounds.append(text.use())
    kind = text.any_type() if text.take(":") else None
    carried: list[tuple[Use, Use]] = []
    kinds: list[Attribute] = []
    at = text.at
    if text.keyword("iter_args"):
        carried, kinds = _assignments(text), _results(text)
        if len(kinds) != len(carried):
            text.fail(f"{len(carried)} values are carried and {len(kinds)} types are written", at)
    if text.take(":"):
        kind = text.any_type()
    kind = kind or IndexType()
    low, high, step = (text.resolve(each, kind) for each in bounds)
    initial = text.resolved([use for _, use in carried], kinds, at)
    arguments = [Argument(variable.name, kind, variable.at)]
    arguments += [Argument(x.name, y, x.at) for (x, _), y in zip(carried, kinds, strict=True)]
    body = text.region(arguments) if carried else _body(text, arguments)
    made = scf.ForOp(low, high, step, initial, body)
    made.attributes |= text.attribute_dictionary()
    return made


def read_if(text: ProgramText) -> scf.IfOp:
    """Reads ``%c [-> types] { ... } [else { ... }]``."""
    condition, kinds = text.operand(i1), _results(text)
    then = _body(text)
    other = _body(text) if text.keyword("else") else None
    return scf.IfOp(condition, kinds, then, other, text.attribute_dictionary())


def read_while(text: ProgramText) -> scf.WhileOp:
    """Reads ``(%a = %b, ...) : (types) -> types { ... } do { ... } [attributes {...}]``."""
    carried = _assignments(text)
    text.expect(":", "and the types of the values that are carried")
    at, kinds = text.at, text.types()
    text.expect("->", "and the types of the results")
    results = text.types()
    initial = text.resolved([use for _, use in carried], kinds, at)
    pairs = zip(carried, kinds, strict=True)
    before = text.region([Argument(name.name, kind, name.at) for (name, _), kind in pairs])
    if not text.keyword("do"):
        text.expected("'do' in a loop")
    made = scf.WhileOp(initial, results, before, text.region())
    made.attributes |= _attributes(text)
    return made


def read_condition(text: ProgramText) -> scf.ConditionOp:
    """Reads ``(%c) [operands : types]``."""
    text.expect("(", "and the condition of a loop")
    condition = text.operand(i1)
    text.expect(")", "after the condition of a loop")
    attributes = text.attribute_dictionary()
    values = text.types_of(text.uses())
    return scf.ConditionOp.create(operands=[condition, *values], attributes=attributes)


def read_execute_region(text: ProgramText) -> scf.ExecuteRegionOp:
    """Reads ``[-> types] { ... }``."""
    kinds = _results(text)
    return scf.ExecuteRegionOp(kinds, text.region(), text.attribute_dictionary())


def read_switch(text: ProgramText) -> scf.IndexSwitchOp:
    """Reads ``%i [{...}] [-> types] case 0 { ... } ... default { ... }``."""
    chosen, attributes = text.operand(IndexType()), text.attribute_dictionary()
    kinds = []
    if text.take("->"):
        kinds = text.types()
        while text.take(","):
            kinds.append(text.any_type())
    numbers, regions = [], []
    while text.keyword("case"):
        if text.kind != "number":
            text.expected("the number of a case")
        numbers.append(int(text.value, 0))
        text.advance()
        regions.append(_body(text))
    if not text.keyword("default"):
        text.expected("'case' or 'default'")
    cases = DenseArrayBase.from_list(i64, numbers)
    return scf.IndexSwitchOp(chosen, cases, _body(text), regions, kinds, attributes)


# --- arith ---------------------------------------------------------------------------------------


@cache
def _defaults(kind: type[IRDLOperation]) -> dict[str, Attribute]:
    found = kind.get_irdl_definition().properties.items()
    return {name: row.default_value for name, row in found if row.default_value is not None}


def _read_arith(kind: type[IRDLOperation], count: int, text: ProgramText) -> Operation:
    """Reads ``[predicate,] %a, ... [flags] : T``, ``: T, U`` or ``: T to U``.

    Most ops have operands and a result of one type. A second type is that of the second result,
    of ``arith.select`` the first one is that of the condition.
    """
    predicate = ""
    if issubclass(kind, arith.CmpiOp | arith.CmpfOp):
        predicate = text.word("a predicate")
        text.expect(",", f"and the operands of {kind.name}")
    at, uses = text.at, text.uses()
    if len(uses) != count:
        text.fail(f"{kind.name} takes {count} operands, not {len(uses)}", at)
    while text.kind == "word":  # overflow<...>, fastmath<...>
        text.advance()
        if text.take("<"):
            while not text.take(">"):
                text.word("a flag")
                text.take(",")
    attributes = text.attribute_dictionary()
    text.expect(":", f"and the type of {kind.name}")
    first = text.any_type()
    second = text.any_type() if text.take(",") else None
    kinds, results = [first] * count, [first]
    if kind.name.endswith("_extended"):
        results = [first, second or first]
    elif kind is arith.SelectOp:
        kinds, results = [first if second else i1, *[second or first] * 2], [second or first]
    elif count == 1 and kind is not arith.NegfOp:
        if not text.keyword("to"):
            text.expected(f"'to' and the type of the result of {kind.name}")
        results = [text.any_type()]
    values = text.resolved(uses, kinds, at)
    if predicate:
        made: Operation = kind(*values, predicate)  # type: ignore[call-arg,arg-type]
        made.attributes |= attributes
        return made
    return kind.create(
        operands=values,
        result_types=results,
        properties=_defaults(kind),
        attributes=attributes,
    )


@cache
def _integer(value: int, kind: IntegerType | IndexType) -> Attribute:
    return IntegerAttr(value, kind)


def _plain(text: ProgramText) -> Attribute | None:
    """Reads an integer and its type; goes back before anything else, which xdsl reads."""
    at = text.at
    if text.kind == "number" and text.value.lstrip("-").isdigit():
        value = int(text.value)
        text.advance()
        kind = WORD_TYPES.get(text.value) if text.take(":") else None
        if isinstance(kind, IntegerType | IndexType):
            bits = kind.width.data if isinstance(kind, IntegerType) else 64
            if -(1 << (bits - 1)) <= value < 1 << (bits - 1):
                text.advance()
                return _integer(value, kind)
        text.go_to(at)
    return None


def read_constant(text: ProgramText) -> arith.ConstantOp:
    """Reads ``[{...}] value : type``."""
    attributes = text.attribute_dictionary()
    value = _plain(text)  # The attribute of 0 is false.
    value = text.attribute() if value is None else value
    if not isinstance(value, TypedAttribute):
        text.expected("a constant with its type")
    op = arith.ConstantOp.create(result_types=[value.get_type()], properties={"value": value})
    op.attributes |= attributes
    return op


def read_cast(text: ProgramText) -> UnrealizedConversionCastOp:
    """Reads ``operands : types to types``."""
    values = text.types_of(text.uses())
    if not text.keyword("to"):
        text.expected("'to' and the types of the results")
    kinds = [text.any_type()]
    while text.take(","):
        kinds.append(text.any_type())
    attributes = text.attribute_dictionary()
    return UnrealizedConversionCastOp.create(
        operands=values, result_types=kinds, attributes=attributes
    )


_CASTS = (
    *("extui", "extsi", "extf", "trunci", "truncf", "sitofp", "uitofp", "fptosi", "fptoui"),
    *("index_cast", "index_castui", "bitcast"),
)


def _arith(kind: type[Operation]) -> Read:
    """Returns what reads an op of arith."""
    name = kind.name.removeprefix("arith.")
    assert issubclass(kind, IRDLOperation), "all of xdsl's are"
    if name == "constant":
        return read_constant
    count = 3 if name == "select" else 1 if name in (*_CASTS, "negf") else 2
    return partial(_read_arith, kind, count)


READERS: dict[str, Read] = {
    "builtin.module": read_module,
    "builtin.unrealized_conversion_cast": read_cast,
    "func.func": read_function,
    "func.call": read_call,
    "func.return": partial(_read_end, ReturnOp),
    "scf.for": read_for,
    "scf.if": read_if,
    "scf.while": read_while,
    "scf.condition": read_condition,
    "scf.yield": partial(_read_end, scf.YieldOp),
    "scf.execute_region": read_execute_region,
    "scf.index_switch": read_switch,
    **{kind.name: _arith(kind) for kind in arith.Arith.operations},
    IndexCastUIOp.name: _arith(IndexCastUIOp),
}
"""Ops that are read here, by name."""
