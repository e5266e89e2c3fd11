# SPDX-License-Identifier: Apache-2.0
"""Mutants of engines: their sources with many small faults, of which a plusarg selects one.

pyslang reads the sources, so that only what decides or computes is changed: operators, constants,
conditions, assignments. An expression is written in both forms, ``(see(N, fault !== as it was) ?
(fault) : (as it was))``, of one width and sign; a statement that is dropped stands after a
condition. So one build has all mutants. Without a fault it reports which of them would make a
difference where they are; a digest of the outputs of the engines shows whether one has come there.
What has to be constant (parameters, ranges, generate conditions, bounds of loops) and the left
sides of assignments stay as they are.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyslang import DiagnosticEngine
from pyslang.parsing import Token
from pyslang.syntax import SyntaxNode

from tb.common.errors import PtoError
from tb.common.paths import ROOT, relative
from tb.dut.contract import ports_of
from tb.dut.manifest import Manifest
from tb.dut.ports import parse

PLUSARG = "pto_mutant"
"""Plusarg with the number of the mutant; 0 and absent is none."""

MOST = 20_000
"""Mutants of a build."""

MOST_BITS = 4096
"""Bits of outputs of an engine that are followed."""

LINT = "// verilator lint_off IMPURE\n"
"""First line of a source with mutants."""

PACKAGE = f"""\
package pto_mutants;
  function automatic int chosen();
    int number;
    if (!$value$plusargs("{PLUSARG}=%d", number)) number = 0;
    return number;
  endfunction
  int number = chosen();

  // The flags stay in C++: the model would look for changes of a variable after each step.
  function automatic bit see(input int mutant, input bit differs);
    if (differs && number == 0)
      $c("{{ static bool seen[{MOST + 1}]; if (!seen[", mutant, "]) VL_PRINTF(\\"{PLUSARG} %d ",
         "differs\\\\n\\", ", mutant, "); seen[", mutant, "] = true; }}");
    return number == mutant;
  endfunction

  longint digest = 0;
  function automatic void outputs(input int bits, input bit [{MOST_BITS - 1}:0] value);
    for (int at = 0; at < bits; at += 64)
      digest = {{digest[62:0], digest[63]}} ^ (value[at+:64] * 64'h9e3779b97f4a7c15);
  endfunction
endpackage
"""
SEE, OUTPUTS = "pto_mutants::see", "pto_mutants::outputs"
FINAL = f'final $display("{PLUSARG} outputs %h", pto_mutants::digest);'

_BINARY = {
    "LessThan": ("relational", ("<=", ">=")),
    "LessThanEqual": ("relational", ("<", ">")),
    "GreaterThan": ("relational", (">=", "<=")),
    "GreaterThanEqual": ("relational", (">", "<")),
    "Equality": ("relational", ("!=",)),
    "Inequality": ("relational", ("==",)),
    "Add": ("arithmetic", ("-",)),
    "Subtract": ("arithmetic", ("+",)),
    "Multiply": ("arithmetic", ("+",)),
    "LogicalAnd": ("logical", ("||",)),
    "LogicalOr": ("logical", ("&&",)),
    "BinaryAnd": ("bitwise", ("|",)),
    "BinaryOr": ("bitwise", ("&", "^")),
    "BinaryXor": ("bitwise", ("|",)),
    "LogicalShiftLeft": ("shift", (">>",)),
    "LogicalShiftRight": ("shift", ("<<",)),
}
"""Operators by the name of their syntax: the kind of a fault, and what takes their place."""

_NEGATIONS = ("UnaryLogicalNotExpression", "UnaryBitwiseNotExpression")
_LITERALS = ("IntegerLiteralExpression", "IntegerVectorExpression")
_ASSIGNMENTS = ("AssignmentExpression", "NonblockingAssignmentExpression")

KINDS = (
    *("relational", "arithmetic", "logical", "bitwise", "shift", "negation", "constant"),
    *("condition", "ternary", "assignment"),
)

_CONSTANT = {
    *("ParameterDeclaration", "ParameterDeclarationStatement", "ParameterPortList"),
    *("VariableDimension", "ParameterValueAssignment", "SimpleRangeSelect", "TypedefDeclaration"),
    *("EventControlWithExpression", "ImplicitEventControl", "SignalEventExpression"),
    *("StructType", "UnionType", "EnumType", "NamedType", "CastExpression", "AttributeInstance"),
    *("InitialBlock", "FinalBlock", "SpecifyBlock", "PackageDeclaration", "ClassDeclaration"),
    *("ImmediateAssertStatement", "ConcurrentAssertionStatement", "DelayExpression", "Delay3"),
    *("StreamingConcatenationExpression", "AssignmentPatternExpression"),
}
"""Syntax in which nothing is changed."""

BYTES = "latin-1"
"""Encoding in which a character is a byte, as pyslang counts them."""

_LITERAL = re.compile(r"(?:(\d+)?\s*'\s*(s?)([bodhBODH])\s*)?([0-9a-fA-F_]+)")
_BASES = {"b": 2, "o": 8, "d": 10, "h": 16}


@dataclass(frozen=True)
class Mutant:
    """A fault.

    Attributes:
        number: Its number, from 1 in the mutants that are built.
        name: File, line and change, unique among the mutants of an engine.
        file: Source, relative to the project where it lies there.
        line: Line, from 1.
        kind: One of :data:`KINDS`.
        modules: Modules that it stands in: more than one for a file that several include.
        start, end: Characters of the source that it changes.
        text: What takes their place; empty for a statement that is dropped.
        slots: Slots whose engines have it.
    """

    number: int
    name: str
    file: str
    line: int
    kind: str
    modules: tuple[str, ...]
    start: int
    end: int
    text: str
    slots: tuple[str, ...] = ()

    def applied(self, source: str) -> str:
        """Returns the source with this fault alone."""
        return source[: self.start] + (self.text or ";") + source[self.end :]


class Sources:
    """The sources of engines that are in one build, and every mutant of them.

    Attributes:
        manifests: The engines.
        texts: Sources and files that they include, by absolute path.
        points: Mutants in the order of the sources, with number 0.
        ends: What follows the outputs of engines, and where, for each file that ends an engine.

    Raises:
        PtoError: a source cannot be parsed.
    """

    def __init__(self, manifests: Sequence[Manifest]) -> None:
        self.manifests = tuple(manifests)
        self.files = list(dict.fromkeys(name for one in manifests for name in one.sources))
        tree, self._sources = parse(manifests)
        broken = [item for item in tree.diagnostics if item.isError()]
        if broken:
            diagnostic = (
                DiagnosticEngine.reportAll(self._sources, broken[:1]).strip().splitlines()[0]
            )
            raise PtoError(
                f"{self.title} cannot be parsed: {diagnostic}",
                where=", ".join(str(one.path) for one in manifests),
                legal="the SystemVerilog that `pto-dv check-dut` takes",
                remedy="correct the source, or leave the engine out",
            )
        self.texts: dict[str, str] = {}
        self._module = ""
        self.ends: dict[str, list[tuple[int, str]]] = {}
        self._uses: dict[str, set[str]] = {}
        every = list(self._points(tree.root, changes=False, target=False))
        below = {one.slot: self._needed(one.module) for one in self.manifests}
        used = frozenset[str]().union(*below.values())
        found: dict[tuple[str, int, int, str], Mutant] = {}
        for mutant in every:
            if mutant.modules[0] in used:
                key = mutant.file, mutant.start, mutant.end, mutant.text
                modules = (*found[key].modules, *mutant.modules) if key in found else mutant.modules
                found[key] = replace(mutant, modules=tuple(dict.fromkeys(modules)))
        taken: Counter[str] = Counter()
        self.points: list[Mutant] = []
        for mutant in found.values():
            taken[mutant.name] += 1
            more = f" ({taken[mutant.name]})" if taken[mutant.name] > 1 else ""
            slots = tuple(slot for slot in below if below[slot].intersection(mutant.modules))
            file = relative(Path(mutant.file))
            self.points.append(replace(mutant, name=mutant.name + more, file=file, slots=slots))

    @property
    def title(self) -> str:
        """Names of the engines in messages."""
        return ", ".join(one.title for one in self.manifests)

    def _needed(self, top: str) -> set[str]:
        """Returns the modules that one needs, itself included."""
        found, new = set[str](), {top}
        while new:
            found |= new
            new = {name for one in new for name in self._uses.get(one, ())} - found
        return found

    def _end(self, module: Any) -> None:
        """Notes the end of an engine, where its outputs can be followed."""
        place = self._place(module.endmodule)
        for one in self.manifests:
            if place and one.module == self._module:
                names = set(_words(module.header))
                outputs = [port.name for port in ports_of(one.slot) if port.direction == "output"]
                value = f"{{{', '.join(name for name in outputs if name in names)}}}"
                text = f"always @(posedge clk_i) {OUTPUTS}($bits({value}), {value});\n{FINAL}\n"
                self.ends.setdefault(place[0], []).append((place[1], text))

    def _place(self, node: SyntaxNode | Token) -> tuple[str, int, int] | None:
        """Returns file and characters of a node, None where a macro makes part of it."""
        first = node if isinstance(node, Token) else node.getFirstToken()
        last = node if isinstance(node, Token) else node.getLastToken()
        begin = first.location
        if not self._sources.isFileLoc(begin) or first.isMissing or last.isMissing:
            return None
        path = str(self._sources.getFullPath(begin.buffer))
        text = self.texts.get(path)
        if text is None:
            text = self.texts[path] = Path(path).read_text(BYTES)
        if self._sources.isFileLoc(last.location):
            end, buffer = last.location.offset + len(last.rawText), last.location.buffer
        else:  # The name of a macro without arguments ends it.
            used = self._sources.getFullyExpandedLoc(last.location)
            name = re.compile(r"`\w+(?!\s*\()").match(text, used.offset)
            if name is None:
                return None
            end, buffer = name.end(), used.buffer
        return (path, begin.offset, end) if buffer == begin.buffer else None

    def _points(self, node: SyntaxNode, *, changes: bool, target: bool) -> Iterator[Mutant]:
        """Yields the mutants of a node and of those below it.

        Args:
            node: The node.
            changes: It is in a module, where it can be changed.
            target: It may be what an output drives: only what is below an operator is changed.
        """
        kind = node.kind.name
        if kind in _CONSTANT:
            return
        if kind == "ModuleDeclaration":
            self._module, changes = str(node.header.name.rawText), True  # type: ignore[attr-defined]
            self._end(node)
        if kind == "HierarchyInstantiation":
            used = str(node.type.rawText)  # type: ignore[attr-defined]
            self._uses.setdefault(self._module, set()).add(used)
        if kind in ("NamedPortConnection", "OrderedPortConnection"):
            target = True
        elif kind.removesuffix("Expression") in (*_BINARY, "Conditional", "UnaryLogicalNot"):
            target = False
        if changes and not target:
            yield from self._of(node, kind)
        for child in self._below(node, kind):
            yield from self._points(child, changes=changes, target=target)

    @staticmethod
    def _below(node: SyntaxNode, kind: str) -> Iterator[SyntaxNode]:
        """Yields the nodes below a node that may be changed."""
        below = [child for child in node if isinstance(child, SyntaxNode)]
        if kind in ("LoopGenerate", "IfGenerate", "CaseGenerate", "ForLoopStatement"):
            last = {"IfGenerate": 2, "CaseGenerate": 2}.get(kind, 1)
            below = [child for child in below if not _is_expression(child)][-last:]
        elif kind.endswith("AssignmentExpression") or kind in (
            *("StandardCaseItem", "MultipleConcatenationExpression"),
        ):
            below = below[1:]
        elif kind in ("AscendingRangeSelect", "DescendingRangeSelect"):
            below = below[:1]
        elif kind == "ScopedName":
            below = below[-1:]  # An index before a dot may choose an instance.
        yield from below

    def _of(self, node: SyntaxNode, kind: str) -> Iterator[Mutant]:
        """Yields the mutants of a node itself."""
        place = self._place(node)
        if place is None:
            return
        path, start, end = place
        text = self.texts[path]
        parts: list[SyntaxNode | Token] = list(node)  # type: ignore[arg-type]
        operators = [part for part in parts if isinstance(part, Token)]
        if (known := _BINARY.get(kind.removesuffix("Expression"))) and operators:
            at = self._place(operators[0])
            if at is not None:
                for operator in known[1]:
                    changed = text[start : at[1]] + operator + text[at[2] : end]
                    shown = f"{operators[0].rawText} -> {operator} in {_short(text[start:end])}"
                    yield self._mutant(known[0], place, changed, shown)
        elif kind in _NEGATIONS and operators:
            changed = text[start + len(operators[0].rawText) : end]
            shown = f"{_short(text[start:end])} -> {_short(changed)}"
            if kind == "UnaryLogicalNotExpression":
                changed = f"!({text[start:end]})"  # of one bit, as before
            yield self._mutant("negation", place, changed, shown)
        elif kind in _LITERALS:
            for changed in neighbours(text[start:end]):
                yield self._mutant("constant", place, changed)
        elif kind == "ConditionalExpression":
            yield from self._condition(parts, "ternary", ("!({})",))
        elif kind == "ConditionalStatement":
            yield from self._condition(parts, "condition", ("!({})", "1'b1", "1'b0"))
        elif kind == "ExpressionStatement" and _assigns(node):
            yield self._mutant("assignment", place, "")

    def _condition(
        self, parts: Sequence[SyntaxNode | Token], kind: str, forms: Iterable[str]
    ) -> Iterator[Mutant]:
        (condition,) = (
            part
            for part in parts
            if isinstance(part, SyntaxNode) and part.kind.name == "ConditionalPredicate"
        )
        if place := self._place(condition):
            path, start, end = place
            for form in forms:
                yield self._mutant(kind, place, form.format(self.texts[path][start:end]))

    def _mutant(
        self, kind: str, place: tuple[str, int, int], changed: str, shown: str = ""
    ) -> Mutant:
        path, start, end = place
        text = self.texts[path]
        line = text.count("\n", 0, start) + 1
        change = shown or f"{_short(text[start:end])} -> {_short(changed) or '(dropped)'}"
        name = f"{relative(Path(path))}:{line} {kind}: {change}"
        return Mutant(0, name, path, line, kind, (self._module,), start, end, changed)


def _is_expression(node: SyntaxNode) -> bool:
    return node.kind.name.endswith(("Expression", "Name", "SyntaxList", "SeparatedList"))


def _words(node: SyntaxNode) -> Iterator[str]:
    """Yields the text of each token of a node."""
    for part in node:
        if isinstance(part, SyntaxNode):
            yield from _words(part)
        elif isinstance(part, Token):
            yield str(part.rawText)


def _assigns(node: SyntaxNode) -> bool:
    return any(isinstance(part, SyntaxNode) and part.kind.name in _ASSIGNMENTS for part in node)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 48 else f"{words[:22]} ... {words[-22:]}"


def neighbours(literal: str) -> tuple[str, ...]:
    """Returns a number of Verilog plus 1 and less 1, of the same width; none of x, z and '?'."""
    found = _LITERAL.fullmatch(literal.strip())
    if found is None:
        return ()
    width, sign, base, digits = found.groups()
    try:
        value = int(digits.replace("_", ""), _BASES[(base or "d").lower()])
    except ValueError:
        return ()
    head = f"{width or ''}'{sign}d" if base else ""
    values = {value + 1, value - 1} if value else {value + 1}
    if width:
        values = {one % (1 << int(width)) for one in values}
    return tuple(f"{head}{one}" for one in sorted(values - {value}))


@dataclass(frozen=True)
class Mutated:
    """Engines with mutants.

    Attributes:
        manifests: Manifests of the sources that have them.
        mutants: The mutants, numbered from 1.
        folder: Folder of the sources, relative to the project.
        token: Digest of the sources without mutants.
    """

    manifests: tuple[Manifest, ...]
    mutants: tuple[Mutant, ...]
    folder: Path
    token: str


def draw(sources: Sources, count: int, seed: int) -> tuple[Mutant, ...]:
    """Returns mutants drawn by chance, each place as often as any other, in their order."""
    chosen = random.Random(seed).sample(range(len(sources.points)), min(count, len(sources.points)))
    return tuple(
        replace(sources.points[at], number=number) for number, at in enumerate(sorted(chosen), 1)
    )


def plant(
    sources: Sources,
    mutants: Sequence[Mutant],
    folder: Path,
    *,
    alone: bool = False,
) -> Mutated:
    """Writes the sources of engines with mutants in them.

    Args:
        sources: The sources.
        mutants: Mutants with numbers.
        folder: Folder of the files, relative to the project; what is there is removed.
        alone: There is one mutant, and it is not switched.
    """
    tree = ROOT / folder / "sources"
    shutil.rmtree(tree, ignore_errors=True)
    files = {*sources.texts, *sources.files}
    top = os.path.commonpath([Path(path).parent for path in files])

    def moved(path: str) -> str:
        return str(tree / os.path.relpath(path, top))

    token = hashlib.sha256()
    for path in sorted(files):
        text = sources.texts.get(path) or Path(path).read_text(BYTES)
        token.update(text.encode(BYTES))
        here = [mutant for mutant in mutants if mutant.file == relative(Path(path))]
        ends = sources.ends.get(path, [])
        target = Path(moved(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        if alone:
            target.write_text(here[0].applied(text) if here else text, BYTES)
        else:
            target.write_text(LINT + switched(text, here, ends), BYTES)
    (tree / "pto_mutants.sv").write_text(PACKAGE)
    head = [] if alone else [str(tree / "pto_mutants.sv")]
    changed = []
    for manifest in sources.manifests:
        inside = [moved(name) for name in manifest.include_dirs if Path(name).is_relative_to(top)]
        update: dict[str, object] = {
            "sources": (*head, *map(moved, manifest.sources)),
            "include_dirs": (*inside, *manifest.include_dirs),
            "waivers": (),
        }
        changed.append(manifest.model_copy(update=update))
    return Mutated(tuple(changed), tuple(mutants), folder, token.hexdigest())


def switched(text: str, mutants: Sequence[Mutant], ends: Sequence[tuple[int, str]] = ()) -> str:
    """Returns a source in which each of its mutants is chosen by its number.

    Args:
        text: The source.
        mutants: Its mutants.
        ends: Texts that are added, and the characters before which they stand.
    """
    order = sorted(mutants, key=lambda one: (one.start, -one.end))
    parts, at = [], 0
    for end, added in (*sorted(ends), (len(text), "")):
        here = [one for one in order if at <= one.start < end]
        parts += [_switched(text, at, end, here), added]
        at = end
    return "".join(parts)


def _switched(text: str, start: int, end: int, mutants: Sequence[Mutant]) -> str:
    parts, at, rest = [], start, list(mutants)
    while rest:
        first = rest[0]
        own = [one for one in rest if (one.start, one.end) == (first.start, first.end)]
        inside = [one for one in rest if one.start < first.end and one not in own]
        rest = [one for one in rest if one not in own and one not in inside]
        form = _switched(text, first.start, first.end, inside)
        as_it_was = text[first.start : first.end]
        for mutant in own:
            if mutant.text:
                differs = f"({mutant.text}) !== ({as_it_was})"
                form = f"({SEE}({mutant.number}, {differs}) ? ({mutant.text}) : ({form}))"
            else:
                form = f"begin if (!{SEE}({mutant.number}, 1'b1)) {form} end"
        parts += [text[at : first.start], form]
        at = first.end
    return "".join([*parts, text[at:end]])
