# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that move no data: pointers, flags, barriers, sections, foreign ops."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.lexer import Span

from tb.isa.pipes import EVENTS, PIPE_ALIASES, PIPE_ALL, Pipe
from tb.language.dialect import Fault, OpError, python_value, string
from tb.language.dialect_types import OpaqueType, PtrType, is_integer, type_name
from tb.language.syntax import Scanner

PIPE_NAMES = tuple(pipe.value for pipe in Pipe)


def _operand(parser: Parser, scanner: Scanner) -> UnresolvedOperand:
    if scanner.kind != "value":
        scanner.fail(f"expected an SSA value, found {scanner.found()}")
    name, _, index = scanner.value.partition("#")
    span = Span(scanner.at, scanner.at + len(name), parser.lexer.input)
    scanner.advance()
    return UnresolvedOperand(span, int(index or 0))


def _known_type(parser: Parser, operand: UnresolvedOperand) -> Attribute:
    """Returns the type of a value that is defined."""
    values = parser.ssa_values.get(operand.operand_name)
    if values is None or operand.index >= len(values):
        return i64
    return values[operand.index].type


class CastPtrOp(Operation):
    """``%p = pto.castptr %x : T -> U``: between integers and pointers, or pointers of one space."""

    name = "pto.castptr"
    traits = traits_def()

    @property
    def source(self) -> SSAValue:
        """What is cast."""
        return self.operands[0]

    @classmethod
    def parse(cls, parser: Parser) -> CastPtrOp:
        """Reads what stands behind the name."""
        scanner = Scanner(parser)
        operand = _operand(parser, scanner)
        attributes = scanner.attribute_dictionary()
        scanner.expect(":", "and the type of the operand of pto.castptr")
        source = scanner.type()
        scanner.expect("->", "and the type of the result of pto.castptr")
        result = scanner.type()
        attributes |= scanner.attribute_dictionary()
        scanner.close()
        value = parser.resolve_operand(operand, source)
        op = cls.create(operands=[value], result_types=[result], attributes=attributes)
        op.verify_()
        return op

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_op_attributes(self.attributes)
        kinds = type_name(self.operands[0].type), type_name(self.results[0].type)
        printer.print_string(f" : {kinds[0]} -> {kinds[1]}")

    def verify_(self) -> None:
        """Refuses operands and types that it cannot have."""
        if len(self.operands) != 1 or len(self.results) != 1:
            raise OpError(Fault("takes one operand and has one result"))
        source, result = self.operands[0].type, self.results[0].type
        pointers = [kind for kind in (source, result) if isinstance(kind, PtrType)]
        others = [kind for kind in (source, result) if not isinstance(kind, PtrType)]
        if not pointers or not all(is_integer(kind) for kind in others):
            raise OpError(
                Fault(
                    f"type mismatch: a cast from {type_name(source)} to {type_name(result)}",
                    legal="an integer and a pointer, or two pointers",
                )
            )
        if len(pointers) == 2 and pointers[0].data.space != pointers[1].data.space:
            raise OpError(
                Fault(
                    f"a cast from space {pointers[0].data.space} to space "
                    f"{pointers[1].data.space}: a pointer stays in its memory",
                    legal=f"a pointer into {pointers[0].data.space}",
                )
            )


class AddPtrOp(Operation):
    """``%q = pto.addptr %p, %n : T``: the pointer ``n`` elements on."""

    name = "pto.addptr"
    traits = traits_def()

    @property
    def pointer(self) -> SSAValue:
        """Where it starts."""
        return self.operands[0]

    @property
    def offset(self) -> SSAValue:
        """Elements to go on."""
        return self.operands[1]

    @classmethod
    def parse(cls, parser: Parser) -> AddPtrOp:
        """Reads ``%p, %n : T``, ``: T, index``, ``: T -> T`` or ``: T, index -> T``."""
        scanner = Scanner(parser)
        pointer = _operand(parser, scanner)
        scanner.expect(",", "and the offset of pto.addptr")
        offset = _operand(parser, scanner)
        attributes = scanner.attribute_dictionary()
        scanner.expect(":", "and the type of the pointer of pto.addptr")
        kind = scanner.type()
        count = scanner.type() if scanner.take(",") else _known_type(parser, offset)
        result = scanner.type() if scanner.take("->") else kind
        attributes |= scanner.attribute_dictionary()
        scanner.close()
        values = [parser.resolve_operand(pointer, kind), parser.resolve_operand(offset, count)]
        op = cls.create(operands=values, result_types=[result], attributes=attributes)
        op.verify_()
        return op

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        kinds = ", ".join(type_name(value.type) for value in self.operands)
        printer.print_string(f" : {kinds} -> {type_name(self.results[0].type)}")

    def verify_(self) -> None:
        """Refuses operands and types that it cannot have."""
        if len(self.operands) != 2 or len(self.results) != 1:
            raise OpError(Fault("takes a pointer and an offset and has one result"))
        kind, count = (value.type for value in self.operands)
        if not isinstance(kind, PtrType) or not is_integer(count):
            raise OpError(
                Fault(
                    f"type mismatch: {type_name(kind)} and an offset of {type_name(count)}",
                    legal="a pointer and an integer or index",
                )
            )
        if self.results[0].type != kind:
            result = type_name(self.results[0].type)
            raise OpError(
                Fault(f"type mismatch: {type_name(kind)} plus an offset gives no {result}")
            )


def _pipe(name: str, *, every: bool = False) -> str:
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

    @property
    def src(self) -> Pipe:
        """Pipe that sets the flag."""
        return Pipe(_pipe(self._said("src_pipe")))

    @property
    def dst(self) -> Pipe:
        """Pipe that waits for the flag."""
        return Pipe(_pipe(self._said("dst_pipe")))

    @property
    def event(self) -> int:
        """Event id, 0 to 7."""
        return _event(self._said("event_id"))

    def _said(self, key: str) -> str:
        return _attribute(self, key)

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
                scanner.fail(f"{cls.name} with a computed event is not read here: EVENT_ID0 ...")
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

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_string(f'["{self.src.value}", "{self.dst.value}", "EVENT_ID{self.event}"]')
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        """Refuses pipes and events that are none."""
        _ = self.src, self.dst, self.event


class SetFlagOp(FlagOp):
    """``pto.set_flag[src, dst, event]``."""

    name = "pto.set_flag"


class WaitFlagOp(FlagOp):
    """``pto.wait_flag[src, dst, event]``."""

    name = "pto.wait_flag"


def _attribute(op: Operation, key: str) -> str:
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
        name = _pipe(_attribute(self, "pipe"), every=True)
        return None if name == PIPE_ALL else Pipe(name)

    @classmethod
    def parse(cls, parser: Parser) -> BarrierOp:
        """Reads a pipe, as a string, a word, ``<word>`` or ``#pto.pipe<word>``."""
        scanner = Scanner(parser)
        bracket = scanner.take("[")
        name = scanner.word("a pipe")
        if bracket:
            scanner.expect("]", f"behind {name}")
        attributes = scanner.attribute_dictionary()
        scanner.close()
        op = cls.create(properties={"pipe": string(name)}, attributes=attributes)
        op.verify_()
        return op

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_string(f' "{self.pipe.value if self.pipe else PIPE_ALL}"')
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        """Refuses a pipe that is none."""
        _ = self.pipe


class ShortBarrierOp(BarrierOp):
    """``pto.barrier #pto.pipe<PIPE_ALL>``."""

    name = "pto.barrier"


class SectionOp(Operation):
    """``pto.section.<kind> { ... }``: ops of one core."""

    name = "pto.section"
    traits = traits_def(NoTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> SectionOp:
        """Reads ``[attributes {...}] { ops } [{...}]``."""
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("attributes") is not None:
            attributes = parser.parse_optional_attr_dict()
        region = parser.parse_region()
        attributes |= parser.parse_optional_attr_dict()
        return cls.create(regions=[region], attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        if self.attributes:
            printer.print_string(" attributes")
            printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_region(self.regions[0])

    def verify_(self) -> None:
        """Checks nothing: any ops may stand in it."""


class CubeSectionOp(SectionOp):
    """``pto.section.cube { ... }``."""

    name = "pto.section.cube"


class VectorSectionOp(SectionOp):
    """``pto.section.vector { ... }``."""

    name = "pto.section.vector"


class BlockQueryOp(Operation):
    """``pto.get_block_idx`` and its like: which of how many blocks runs; here the only one."""

    name = "pto.get_block"
    value = 0
    traits = traits_def()

    @classmethod
    def parse(cls, parser: Parser) -> BlockQueryOp:
        """Reads ``: type`` or ``-> type``, or nothing for i64; parentheses may stand before."""
        scanner = Scanner(parser)
        if scanner.take("("):
            scanner.expect(")", f"in {cls.name}")
        attributes = scanner.attribute_dictionary()
        kind: Attribute = i64
        if scanner.take(":"):
            if scanner.take("("):
                scanner.expect(")", f"in {cls.name}")
                scanner.expect("->", f"in {cls.name}")
            kind = scanner.type()
        elif scanner.take("->"):
            kind = scanner.type()
        scanner.close()
        op = cls.create(result_types=[kind], attributes=attributes)
        op.verify_()
        return op

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" : {type_name(self.results[0].type)}")

    def verify_(self) -> None:
        """Refuses a result that is no integer."""
        if self.operands or len(self.results) != 1 or not is_integer(self.results[0].type):
            raise OpError(Fault("has one result, an integer, and no operands"))


class BlockIdxOp(BlockQueryOp):
    """``pto.get_block_idx``: 0."""

    name = "pto.get_block_idx"


class SubblockIdxOp(BlockQueryOp):
    """``pto.get_subblock_idx``: 0."""

    name = "pto.get_subblock_idx"


class BlockNumOp(BlockQueryOp):
    """``pto.get_block_num``: 1."""

    name = "pto.get_block_num"
    value = 1


class SubblockNumOp(BlockQueryOp):
    """``pto.get_subblock_num``: 1."""

    name = "pto.get_subblock_num"
    value = 1


class ForeignOp(Operation):
    """An op of the pto dialect whose grammar nobody here knows; its text is skipped."""

    name = "pto_dv.foreign"
    traits = traits_def(NoTerminator())

    @property
    def mnemonic(self) -> str:
        """Name as written, with ``pto.``."""
        attribute = self.properties.get("mnemonic") or self.attributes.get("mnemonic")
        return attribute.data if isinstance(attribute, StringAttr) else "pto.?"

    @property
    def holds_moves(self) -> bool:
        """Whether a data-movement op stands inside its braces."""
        return "holds_moves" in self.properties or "holds_moves" in self.attributes

    @staticmethod
    def make(
        mnemonic: str, result_types: list[Attribute], *, holds_moves: bool = False
    ) -> ForeignOp:
        """Returns the op of a name."""
        properties: dict[str, Attribute] = {"mnemonic": string(mnemonic)}
        if holds_moves:
            properties["holds_moves"] = UnitAttr()
        return ForeignOp.create(result_types=result_types, properties=properties)

    def verify_(self) -> None:
        """Checks nothing."""


class BrokenOp(Operation):
    """Stands for an op with an error, so that reading can go on."""

    name = "pto_dv.broken"
    traits = traits_def(NoTerminator())

    def verify_(self) -> None:
        """Checks nothing."""


def broken(results: int, name: str) -> BrokenOp:
    """Returns what stands for an op that has an error; its results have a type that fits any."""
    return BrokenOp.create(result_types=[OpaqueType(name)] * results)


OTHERS: tuple[type[Operation], ...] = (
    CastPtrOp,
    AddPtrOp,
    SetFlagOp,
    WaitFlagOp,
    BarrierOp,
    ShortBarrierOp,
    CubeSectionOp,
    VectorSectionOp,
    BlockIdxOp,
    SubblockIdxOp,
    BlockNumOp,
    SubblockNumOp,
    ForeignOp,
    BrokenOp,
)
"""Op classes of this module."""
