# SPDX-License-Identifier: Apache-2.0
"""Parses Verilog sources; finds the files of libraries that have the modules they lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pyslang import Bag, SourceManager
from pyslang.ast import VisitAction
from pyslang.parsing import PreprocessorOptions
from pyslang.syntax import (
    ContinuousAssignSyntax,
    DataDeclarationSyntax,
    FunctionDeclarationSyntax,
    HierarchyInstantiationSyntax,
    ModuleDeclarationSyntax,
    PortDeclarationSyntax,
    PrimitiveInstantiationSyntax,
    ProceduralBlockSyntax,
    SpecifyBlockSyntax,
    SyntaxTree,
    UdpDeclarationSyntax,
)

from tb.common.errors import PtoError
from tb.common.paths import HDL
from tb.dut.filelist import VHDL_SUFFIXES, FileList

LIBRARY_SUFFIXES = (".v", ".sv")
"""Suffixes of the files in a library folder, where no ``+libext+`` names others."""

_WITHOUT_INSTANCES = (
    ContinuousAssignSyntax,
    DataDeclarationSyntax,
    FunctionDeclarationSyntax,
    HierarchyInstantiationSyntax,
    PortDeclarationSyntax,
    PrimitiveInstantiationSyntax,
    ProceduralBlockSyntax,
    SpecifyBlockSyntax,
    UdpDeclarationSyntax,
)


def verilog_of(files: Iterable[str]) -> list[str]:
    """Returns the Verilog among the sources of a manifest, which may also name VHDL."""
    return [name for name in files if Path(name).suffix.lower() not in VHDL_SUFFIXES]


def parse_files(
    files: Iterable[str], folders: Iterable[str], defines: Iterable[tuple[str, object]]
) -> tuple[SyntaxTree, SourceManager]:
    """Parses the Verilog among some files.

    It is one unit, as for the simulators: macros of a file hold in those after it.

    Args:
        files: Absolute paths.
        folders: Include folders, after that of the harness.
        defines: Macros and their values.
    """
    sources, options, bag = SourceManager(), PreprocessorOptions(), Bag()
    sources.setDisableProximatePaths(True)
    for folder in (str(HDL), *folders):
        sources.addUserDirectories(folder)
    options.predefines = [f"{name}={value}" for name, value in defines]
    bag.preprocessorOptions = options
    return SyntaxTree.fromFiles(verilog_of(dict.fromkeys(files)), sources, bag), sources


def included_files(
    files: Iterable[str], folders: Iterable[str], defines: Mapping[str, object]
) -> list[Path]:
    """Returns the files that some sources include, at any depth; see :func:`parse_files`."""
    _, sources = parse_files(files, folders, defines.items())
    paths = (str(sources.getFullPath(buffer)) for buffer in sources.getAllBuffers())
    return sorted({Path(path) for path in paths if path}.difference(map(Path, files)))


def library_sources(
    module: str, found: FileList, defines: Mapping[str, object], without: Iterable[str] = ()
) -> list[Path]:
    """Returns the files of libraries that have the modules which the sources lack.

    A library is searched for each missing module, then for those that its file lacks in turn. The
    first library that has one provides it. So every tool gets the same files.

    Args:
        module: Top module.
        found: The sources and the libraries.
        defines: Macros.
        without: Modules that are not looked for.

    Raises:
        PtoError: a file that is needed has another module that is there already.
    """

    @cache
    def modules(*files: Path) -> tuple[set[str], set[str]]:
        tree, _ = parse_files(map(str, files), map(str, found.include_dirs), defines.items())
        return _modules(tree)

    held = {path: modules(path)[0] for path in found.libraries if path.is_file()}
    suffixes = found.suffixes or LIBRARY_SUFFIXES
    there, lacking = modules(*found.sources)
    chosen: list[Path] = []
    sought, lacking = set(without), lacking | {module}
    while new := sorted(lacking - there - sought):
        sought.update(new)
        for name in new:
            if name in there:  # the file of another one had it
                continue
            places = [
                [path] if name in held.get(path, ()) else [path / f"{name}{x}" for x in suffixes]
                for path in found.libraries
            ]
            path = next((file for group in places for file in group if file.is_file()), None)
            if path and path not in chosen:
                has, needs = modules(path)
                if twice := has & there:
                    raise PtoError(
                        f"the library file with module {name} has module {min(twice)}, too, which "
                        "is in another source",
                        where=str(path),
                        remedy="take one of the two out, or put each module into a file of its own",
                    )
                chosen.append(path)
                there, lacking = there | has, lacking | needs
    return chosen


def _modules(tree: SyntaxTree) -> tuple[set[str], set[str]]:
    """Returns the names of the modules and interfaces that a tree has, and of those it uses."""
    has, uses = set[str](), set[str]()

    def visit(node: Any) -> VisitAction:
        if isinstance(node, ModuleDeclarationSyntax):
            has.add(str(node.header.name.valueText))
        elif isinstance(node, UdpDeclarationSyntax):
            has.add(str(node.name.valueText))
        elif isinstance(node, HierarchyInstantiationSyntax):
            uses.add(str(node.type.valueText))
        skipped = isinstance(node, _WITHOUT_INSTANCES)
        return VisitAction.Skip if skipped else VisitAction.Advance

    tree.root.visit(visit)
    return has, uses
