# SPDX-License-Identifier: Apache-2.0
"""Compares the ports of a DUT with the contract before the build.

The sources are elaborated with pyslang at the widths that the manifest claims. No simulator is
needed. What a simulator may see otherwise (types, implicit nets) is only a warning; what the
harness cannot work with is an error.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pyslang import (
    Bag,
    DiagCode,
    Diagnostic,
    DiagnosticEngine,
    Diags,
    SourceLocation,
    SourceManager,
    SourceRange,
)
from pyslang.ast import (
    ArgumentDirection,
    Compilation,
    CompilationFlags,
    CompilationOptions,
    DefinitionKind,
    InstanceSymbol,
    SymbolKind,
)
from pyslang.syntax import SyntaxTree

from tb.common.errors import PtoError
from tb.common.paths import resolved
from tb.common.text import counted, meant
from tb.dut.contract import PARAMETERS, Port, parameters_of, ports_of
from tb.dut.drivers import Drivers, at
from tb.dut.manifest import STANDARD_PARAMETERS, Manifest, load_manifest
from tb.dut.sources import parse_files
from tb.dut.widths import Widths, run_widths, without_default
from tb.record.settings import SIMULATOR_NAMES

SHOWN = 5
"""Most findings of one kind that slang makes (syntax, elaboration, names, widths) for one DUT."""

ALIKE = 0.7
"""How much alike two names are, 0 to 1, before one is suggested for the other."""

# Names and widths that simulators take in silence, those first that more often are mistakes.
_NAMES = (Diags.UsedBeforeDeclared, Diags.ImplicitNet)
_WIDTHS = (Diags.PortWidthTruncate, Diags.PortWidthExpand, Diags.WidthTruncate, Diags.WidthExpand)

_NEVER_DRIVEN = (Diags.UndrivenNet, Diags.UndrivenPort, Diags.UnassignedVariable)

# What the simulators accept although the standard does not.
_RELAXED = (
    CompilationFlags.AllowUseBeforeDeclare
    | CompilationFlags.AllowHierarchicalConst
    | CompilationFlags.AllowUnnamedGenerate
    | CompilationFlags.AllowMergingAnsiPorts
    | CompilationFlags.AllowBareValParamAssignment
    | CompilationFlags.AllowSelfDeterminedStreamConcat
    | CompilationFlags.RelaxEnumConversions
    | CompilationFlags.RelaxStringConversions
    | CompilationFlags.DisableInstanceCaching
)

_DIRECTIONS = {
    ArgumentDirection.In: "an input",
    ArgumentDirection.Out: "an output",
    ArgumentDirection.InOut: "an inout",
    ArgumentDirection.Ref: "a ref",
}

_INTERFACE = "is an interface: the harness has plain wires only"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a DUT that is not as the contract has it.

    Attributes:
        severity: An error keeps a run from being started.
        where: File and line.
        what: One sentence: the port, what was found, what is expected.
    """

    severity: Literal["error", "warning"]
    where: str
    what: str

    def __str__(self) -> str:
        """Returns it as a compiler would print it."""
        return f"{self.where}: {self.severity}: {self.what}"


def claimed_widths(manifest: Manifest) -> tuple[Widths, ...]:
    """Returns the combinations of widths that the manifest claims: all, at extreme tag widths."""
    can = manifest.capabilities
    least, most = can.tag_widths
    plain = run_widths([manifest])
    tags = sorted({least, plain.tag, most})
    found = [
        Widths(gm, local, tag)
        for gm, local, tag in product(can.gm_data_widths, can.local_data_widths, tags)
    ]
    # The combination of a plain run first: it is the one that messages name.
    return tuple(sorted(found, key=lambda item: item != plain))


def check_ports(manifest: Manifest, widths: Sequence[Widths] = ()) -> list[Finding]:
    """Compares the top module of a manifest with the contract.

    Args:
        manifest: A loaded manifest.
        widths: Combinations to check at; none for all that the manifest claims.

    Returns:
        The findings, errors first; none if the ports are correct.
    """
    found = _Check(manifest).findings(widths or claimed_widths(manifest))
    return sorted(dict.fromkeys(found), key=lambda item: item.severity)


def require_ports(manifests: Iterable[Manifest], widths: Widths) -> list[Finding]:
    """Checks the engines of a run at its widths and returns the warnings.

    Raises:
        PtoError: one does not keep the contract: the first finding, and all of them in a list.
    """
    warnings: list[Finding] = []
    for manifest in manifests:
        found = check_ports(manifest, (widths,))
        errors = [item for item in found if item.severity == "error"]
        if errors:
            first, *others = errors
            more = "".join(f"\n    {item.where}: {item.what}" for item in others)
            raise PtoError(
                f"{manifest.title} ({manifest.slot}) does not fit its slot: {first.what}"
                + (f"; and {len(others)} more:{more}" if others else ""),
                where=first.where,
                remedy=f"correct it; `pto-dv check-dut {_shown(Path(manifest.path))}` checks all "
                "widths, docs/contract.md has every port",
            )
        warnings += found
    return warnings


def check_command(paths: Sequence[str]) -> int:
    """Checks the named manifests, prints findings and the next step; returns 1 for an error.

    Raises:
        PtoError: a manifest cannot be used.
    """
    manifests = [load_manifest(Path(path)) for path in paths]
    if [manifest for manifest in manifests if not _check_one(manifest)]:
        print("next: correct these and check again; docs/contract.md has every port")
        return 1
    chosen = manifests if len({one.slot for one in manifests}) == len(manifests) else manifests[:1]
    try:
        widths = run_widths(chosen)
    except PtoError as error:
        print(f"not together: {error.what}: {error.legal}")
        chosen = manifests[:1]
        widths = run_widths(chosen)
    for sentence in without_default(chosen, widths):
        print(f"claimed: {sentence}")
    shared = [x for x in chosen[0].simulators if all(x in one.simulators for one in chosen)]
    sim, names = (shared or chosen[0].simulators)[0], ",".join(paths[: len(chosen)])
    print(f"next: make SIM={sim} TEST=directed DUT={names}")
    return 0


def _check_one(manifest: Manifest) -> bool:
    """Prints the findings and what is correct; returns whether there is no error."""
    widths = claimed_widths(manifest)
    found = check_ports(manifest, widths)
    print(*found, sep="\n", end="\n" if found else "")
    count = Counter(item.severity for item in found)
    summary = ", ".join(counted(number, severity) for severity, number in count.items())
    lines = [summary]
    if not count["error"]:
        ports = f"{len(ports_of(manifest.slot))} ports as the contract has them"
        at = f"at {counted(len(widths), 'combination')} of widths"
        lines = [", ".join(filter(None, (ports, at, summary))), _profile(manifest)]
        if manifest.black_boxes:
            lines.append(f"did not look into black boxes {', '.join(manifest.black_boxes)}")
        if manifest.simulators != SIMULATOR_NAMES:
            lines.append(f"builds on {', '.join(manifest.simulators)} alone")
    for line in lines:
        print(f"{manifest.title} ({manifest.slot}): {line}")
    return not count["error"]


def _profile(manifest: Manifest) -> str:
    """Returns the claim of a manifest about the profile as a sentence."""
    if not manifest.knobs:
        return f"no knob of a profile concerns slot {manifest.slot}"
    claim = manifest.claim
    values = ", ".join(f"{name} = {getattr(claim, name)}" for name in manifest.knobs)
    summary = f"claims profile {claim} ({values})"
    if not manifest.profile:
        summary = f"names no profile, which claims {claim} ({values})"
    if manifest.knob_parameters:
        summary += f"; a run sets {', '.join(manifest.knob_parameters)} by parameters"
    return summary


def _shown(path: Path) -> str:
    """Returns a path as a user would write it."""
    try:
        return str(resolved(path).relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _bare(name: str) -> str:
    """Returns a port's name without what people write differently."""
    name = name.lower().removeprefix("m_axi_").removeprefix("axi_")
    return name.removesuffix("_i").removesuffix("_o").replace("_", "")


def parse(manifests: Sequence[Manifest]) -> tuple[SyntaxTree, SourceManager]:
    """Parses the Verilog of engines that are in one build."""
    return parse_files(
        (name for one in manifests for name in one.sources),
        (name for one in manifests for name in one.include_dirs),
        (item for one in manifests for item in one.defines.items()),
    )


class _Check:
    """The check of one manifest; its sources are parsed once and elaborated for each widths."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.tree, self.sources = parse([manifest])
        self.engine = DiagnosticEngine(self.sources)
        self.boxes: list[SourceRange] = []

    def findings(self, widths: Sequence[Widths]) -> Iterator[Finding]:
        """Yields what is wrong; errors of one kind keep those that they would cause silent."""
        broken = [item for item in self.tree.diagnostics if item.isError()]
        if broken:
            yield from (self._complaint("error", item) for item in broken[:SHOWN])
            return
        compilation = self._compiled(widths[0])
        modules = [
            item
            for item in compilation.getDefinitions()
            if getattr(item, "definitionKind", None) == DefinitionKind.Module
        ]
        names = [item.name for item in modules]
        boxes = [item.syntax for item in modules if item.name in self.manifest.black_boxes]
        self.boxes = [syntax.sourceRange for syntax in boxes if syntax]
        module = self.manifest.module
        if module not in names:
            yield self._of_manifest(
                f"module {module} is in none of the sources{meant(module, names)}; "
                f"they have {', '.join(sorted(names)) or 'no module'}"
            )
            return
        top = self._top(compilation)
        if top is None:
            yield from self._complaints(compilation, set())
            return
        if not set(self._there(top)) & {port.name for port in ports_of(self.manifest.slot)}:
            yield self._error(
                top.body.definition,
                f"module {module} has no port of the contract: it needs a wrapper, and `module` of "
                "the manifest names that; `pto-dv new-dut` writes one",
            )
            return
        lacking = yield from self._parameters(top)
        missing = yield from self._names(top)
        yield from self._shapes(widths, lacking)
        # Generate blocks may differ with the widths: look inside at the first, least and most.
        ends = (min(widths, key=_size), max(widths, key=_size))
        inside = [self._compiled(item) for item in dict.fromkeys((widths[0], *ends))]
        for compilation in inside:
            yield from self._inside(compilation, missing)
        ordered = self._compiled(widths[0], _RELAXED & ~CompilationFlags.AllowUseBeforeDeclare)
        yield from self._doubts([ordered, compilation], _NAMES)
        yield from self._doubts(inside, _WIDTHS)

    def _compiled(self, widths: Widths, flags: CompilationFlags = _RELAXED) -> Compilation:
        options = CompilationOptions()
        options.topModules = {self.manifest.module}
        options.flags = flags
        values: Mapping[str, object] = {
            **{
                name: value
                for name, value in widths.parameters(self.manifest.slot).items()
                if name in STANDARD_PARAMETERS
            },
            **self.manifest.parameters_under(self.manifest.claim),
        }
        options.paramOverrides = [f"{name}={value}" for name, value in values.items()]
        bag = Bag()
        bag.compilationOptions = options
        compilation = Compilation(bag)
        compilation.addSyntaxTree(self.tree)
        return compilation

    def _top(self, compilation: Compilation) -> InstanceSymbol | None:
        tops = [
            item for item in compilation.getRoot().topInstances if item.name == self.manifest.module
        ]
        return tops[0] if tops else None

    @staticmethod
    def _there(top: InstanceSymbol) -> dict[str, Any]:
        """Returns the ports of the module by name."""
        return {port.name: port for port in top.body.portList if port.name}

    def _parameters(self, top: InstanceSymbol) -> Generator[Finding, None, set[str]]:
        """Yields wrong parameters; returns the names of those that the harness cannot set."""
        can_set = [item.name for item in top.body.parameters if not item.isLocalParam]
        local = [item.name for item in top.body.parameters if item.isLocalParam]
        lacking = set()
        for parameter in parameters_of(self.manifest.slot):
            if parameter.name in can_set or not parameter.passed:
                continue
            lacking.add(parameter.name)
            how = "is local and cannot be set" if parameter.name in local else "is missing"
            free = [name for name in can_set if name not in {item.name for item in PARAMETERS}]
            yield self._error(
                top.body.definition,
                f"parameter {parameter.name} {how}: the harness sets it, {parameter.doc}"
                + meant(parameter.name, free, ALIKE),
            )
        named = [(f"[parameters] sets {name}", name) for name in self.manifest.parameters]
        named += [
            (f"[knob_parameters] {knob} names {name}", name)
            for knob, name in self.manifest.knob_parameters.items()
        ]
        for what, name in named:
            if name not in can_set:
                how = "is local there" if name in local else "is none of its parameters"
                yield self._of_manifest(
                    f"{what} of {self.manifest.module}, which {how}{meant(name, can_set)}"
                )
        return lacking

    def _names(self, top: InstanceSymbol) -> Generator[Finding, None, set[str]]:
        """Yields missing, misnamed and extra ports; returns the names of those that are missing."""
        slot = self.manifest.slot
        wanted = {port.name: port for port in ports_of(slot)}
        there = self._there(top)
        missing = [name for name in wanted if name not in there]
        extra = [name for name in there if name not in wanted]
        renamed = dict(_pairs(extra, missing))
        for name in extra:
            port = there[name]
            if name in renamed:
                what = f"is not in the contract: did you mean {renamed[name]}?"
            elif port.kind == SymbolKind.InterfacePort:
                what = _INTERFACE
            elif port.direction == ArgumentDirection.Out:
                what = "is an output that the contract does not have: nothing listens to it"
                yield Finding("warning", self._line(port.location), f"port {name} {what}")
                continue
            elif getattr(port, "initializer", None) is not None:
                continue
            else:
                what = (
                    f"is {_DIRECTIONS[port.direction]} that the contract does not have: "
                    "it would float; tie it off in a wrapper"
                )
            yield self._error(port, f"port {name} {what}")
        for name in missing:
            if name not in renamed.values():
                port = wanted[name]
                width = port.width_in(slot)
                bits = counted(int(width), "bit") if width.isdecimal() else f"{width} bits"
                yield self._error(
                    top.body.definition,
                    f"port {name} is missing: an {port.direction} of {bits}, {port.doc}",
                )
        return set(missing)

    def _shapes(self, widths: Sequence[Widths], lacking: set[str]) -> Iterator[Finding]:
        """Yields ports of a wrong direction, type or width, each once."""
        slot = self.manifest.slot
        reported: set[str] = set()
        for combination in widths:
            top = self._top(self._compiled(combination))
            there = self._there(top) if top else {}
            for wanted in ports_of(slot):
                port = there.get(wanted.name)
                if port is None or wanted.name in reported:
                    continue
                what = self._shape(port, wanted, combination, lacking)
                if what:
                    reported.add(wanted.name)
                    yield self._error(port, f"port {wanted.name} {what}")

    def _shape(self, port: Any, wanted: Port, widths: Widths, lacking: set[str]) -> str:
        """Returns what is wrong with a port at these widths, or nothing."""
        if port.kind == SymbolKind.InterfacePort:
            return _INTERFACE
        direction = _DIRECTIONS[port.direction]
        if direction != f"an {wanted.direction}":
            return f"is {direction}: an {wanted.direction} is expected"
        if port.type.isError:
            return ""  # what makes it so is among the complaints of elaboration
        if not port.type.isIntegral:
            return f"is of type {port.type}: a plain vector is expected"
        slot, found = self.manifest.slot, port.type.bitWidth
        expression, values = wanted.width_in(slot), widths.parameters(slot)
        expected = wanted.bits(slot, values)
        name = expression.partition("/")[0]
        if found == expected or name in lacking:
            return ""  # a missing parameter has a finding of its own
        at = f" at {name} {values[name]}" if name in STANDARD_PARAMETERS else ""
        formula = "" if name.isdecimal() else f", {expression}"
        return f"has {counted(found, 'bit')}{at}: {expected} expected{formula}"

    def _inside(self, compilation: Compilation, missing: set[str]) -> Iterator[Finding]:
        """Yields modules that are not there, other complaints, and outputs without a driver."""
        yield from self._complaints(compilation, missing)
        top = self._top(compilation)
        if top is None or any(item.isError() for item in self._diagnostics(compilation)):
            return  # what drives an output may be what could not be elaborated
        drivers = Drivers(compilation, top, self.manifest.black_boxes, self._line)
        outputs = {port.name for port in ports_of(self.manifest.slot) if port.direction == "output"}
        for port in top.body.portList:
            symbol = getattr(port, "internalSymbol", None)
            if port.name in outputs and port.direction == ArgumentDirection.Out and symbol:
                what = drivers.undriven(symbol)
                if what:
                    yield self._error(port, f"port {port.name} {what}")
        never = [
            item
            for item in drivers.manager.getDiagnostics()
            if item.code in _NEVER_DRIVEN
            and not self._of_top(item, top)
            and not self._in_box(item)
            and at(item) not in drivers.unknown
        ]
        yield from (self._complaint("warning", item) for item in never[:SHOWN])
        ports = {port.name for port in top.body.portList}
        parts = [
            Finding("warning", self._line(net.location), f"'{net.name}' {what}")
            for net in top.body
            if net.kind in (SymbolKind.Net, SymbolKind.Variable) and net.name not in ports
            if (what := drivers.in_part(net))
        ]
        yield from parts[:SHOWN]

    def _diagnostics(self, compilation: Compilation) -> list[Diagnostic]:
        """Returns the diagnostics of slang but for black boxes."""
        return [
            item
            for item in compilation.getAllDiagnostics()
            if not self._in_box(item)
            and not (
                item.code == Diags.UnknownModule and str(item.args[0]) in self.manifest.black_boxes
            )
        ]

    def _in_box(self, item: Diagnostic) -> bool:
        """True for a diagnosis of what is in a black box that the sources have."""
        place = self.sources.getFullyExpandedLoc(item.location)
        return any(
            one.start.buffer == place.buffer and one.start.offset <= place.offset < one.end.offset
            for one in self.boxes
        )

    def _complaints(self, compilation: Compilation, missing: set[str]) -> Iterator[Finding]:
        """Yields the errors of elaboration, less those that follow from missing ports."""
        reported = 0
        for item in self._diagnostics(compilation):
            if not item.isError() and item.code != Diags.Redefinition:
                continue
            if item.code == Diags.UndeclaredIdentifier and str(item.args[0]) in missing:
                continue
            if item.code == Diags.UnknownModule:
                yield self._error(
                    item,
                    f"module {item.args[0]} is in none of the sources: "
                    "name its file in `sources` or in a file list, or it in `black_boxes`",
                )
            elif reported < SHOWN:
                reported += 1
                yield self._complaint("warning", item)

    def _doubts(
        self, compilations: Iterable[Compilation], codes: Sequence[DiagCode]
    ) -> Iterator[Finding]:
        """Yields the first diagnostics of some kinds, each place once, and how many more are where.

        Those of the first kind come first, then those of the first source.
        """
        files = {_shown(Path(name)): at for at, name in enumerate(self.manifest.sources)}
        found: dict[tuple[int, ...], Finding] = {}
        for item in (x for one in compilations for x in self._diagnostics(one) if x.code in codes):
            finding = self._complaint("warning", item)
            if codes == _WIDTHS and self.sources.isFileLoc(item.location):
                text = self.sources.getSourceText(item.location.buffer)
                text = text[item.ranges[0].start.offset : item.ranges[0].end.offset]
                finding = replace(finding, what=f"{finding.what}: {text}")
            file = finding.where.rpartition(":")[0]
            key = codes.index(item.code), files.get(file, -1), *at(item)
            found.setdefault(key, finding)
        ordered = [found[key] for key in sorted(found)]
        yield from ordered[:SHOWN]
        if more := Counter(item.where.rpartition(":")[0] for item in ordered[SHOWN:]):
            where = ", ".join(f"{number} in {file}" for file, number in more.items())
            what = f"{more.total()} more like these: {where}"
            yield Finding("warning", ordered[SHOWN].where, what)

    def _of_top(self, item: Diagnostic, top: InstanceSymbol) -> bool:
        """True for a diagnosis of a port of the top module, which has a sentence of its own."""
        return any(port.location == item.location for port in top.body.portList)

    def _error(self, place: Any, what: str) -> Finding:
        """Returns an error at a symbol or a diagnostic."""
        return Finding("error", self._line(place.location), what)

    def _of_manifest(self, what: str) -> Finding:
        return Finding("error", _shown(Path(self.manifest.path)), what)

    def _complaint(self, severity: Literal["error", "warning"], item: Diagnostic) -> Finding:
        return Finding(severity, self._line(item.location), self.engine.formatMessage(item))

    def _line(self, location: SourceLocation) -> str:
        place = self.sources.getFullyExpandedLoc(location)
        name = _shown(Path(self.sources.getFileName(place)))
        return f"{name}:{self.sources.getLineNumber(place)}"


def _size(widths: Widths) -> tuple[int, int, int]:
    return widths.gm, widths.local, widths.tag


def _pairs(extra: Sequence[str], missing: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields extra and missing names that are much alike, the most alike first, each once."""
    alike = []
    for name, other in product(extra, missing):
        ratio = difflib.SequenceMatcher(None, _bare(name), _bare(other)).ratio()
        if ratio >= ALIKE:
            alike.append((-ratio, name, other))
    used: set[str] = set()
    for _, name, other in sorted(alike):
        if name not in used and other not in used:
            used |= {name, other}
            yield name, other
