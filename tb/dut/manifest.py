# SPDX-License-Identifier: Apache-2.0
"""DUT manifests: module, slot, sources and capabilities.

Reference engines are described the same way as a user's block: by a TOML file in the folder of the
sources. The bench sends a slot only the ops that its manifest lists. docs/plug-in.md explains every
key.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from tb.common.errors import PtoError
from tb.common.files import is_special, read_toml, unfit
from tb.common.paths import ROOT, resolved
from tb.common.schema import breach
from tb.common.text import meant
from tb.dut.contract import PARAMETERS
from tb.dut.filelist import VHDL_SUFFIXES, FileList, read_file_list
from tb.dut.profile_text import read_profile
from tb.isa.ops import OPS, SLOTS
from tb.isa.profile import KNOBS, SEED, Profile
from tb.record.settings import MIXED_LANGUAGES, SIMULATOR_NAMES, DataWidth, SimulatorName

REFERENCE_MANIFESTS = tuple(ROOT / f"rtl_stubs/pto_{slot}/manifest.toml" for slot in SLOTS)
"""Manifests of the reference engines, one per slot."""

MANIFEST_NAME = "dut.toml"
"""Name of a manifest if only its folder is given."""

MIN_TAG_WIDTH, MAX_TAG_WIDTH = 1, 16
"""Widths of a tag that a run may set, bits."""

MAX_OUTSTANDING = 64
"""Most AXI bursts in flight in each direction: the memory model takes no more."""

_INCLUDED = (".v", ".vh", ".sv", ".svh", ".inc")

_NO_HDL = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".o", ".a", ".so")

STANDARD_PARAMETERS = tuple(item.name for item in PARAMETERS if item.passed)
"""Parameters that the harness sets; ``SrcDataWidth`` on slot fix alone."""


def _no_number(value: object) -> object:
    """Refuses a rule's number, which several families may have, and names the right form."""
    if isinstance(value, int):
        raise PydanticCustomError(
            "rule_number",
            '{number} is not a name of a rule: names are like "DMA-L05"',
            {"number": value},
        )
    return value


def _as_number(key: object) -> object:
    """Returns the number that a key of TOML, always text, stands for; other keys as they are."""
    return int(key) if isinstance(key, str) and key.isascii() and key.isdecimal() else key


def _at_each_width(value: object) -> object:
    """Returns a table by width as it is, and any other value for each width."""
    return value if isinstance(value, dict) else dict.fromkeys(get_args(DataWidth), value)


def _each_once(values: tuple[str | int, ...]) -> tuple[str | int, ...]:
    for at, value in enumerate(values):
        if value in values[:at]:
            raise PydanticCustomError("twice", "{value} is given twice", {"value": repr(value)})
    return values


Once = AfterValidator(_each_once)
RuleName = Annotated[str, BeforeValidator(_no_number)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_$]*$")]
ErrorKind = Literal["read", "write", "local"]
DataWidths = Annotated[tuple[DataWidth, ...], Field(min_length=1), Once]
TagWidth = Annotated[int, Field(ge=MIN_TAG_WIDTH, le=MAX_TAG_WIDTH, strict=True)]
WidthKey = Annotated[DataWidth, BeforeValidator(_as_number)]
Limit = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]
Clocks = Annotated[dict[WidthKey, Limit], BeforeValidator(_at_each_width)]
MessagePart = Annotated[str, Field(min_length=3, strict=True)]
Texts = Annotated[tuple[str, ...], Once]
PlainValue = Annotated[int, Field(strict=True)] | Annotated[str, Field(strict=True)]


class Capabilities(BaseModel):
    """Capabilities of an engine; the bench never sends or injects anything beyond them.

    Attributes:
        ops: v0.6 ops it takes.
        d_rules: Names of the D rules it reports; illegal traffic keeps to these.
        gm_data_widths, local_data_widths: Data widths it supports, bits.
        tag_widths: Least and most width of a tag, bits.
        loops: Most loop groups of an op, 0 to 3.
        pad: It takes loads with padded rows.
        legacy: It takes descriptors lowered from the legacy forms of its ops.
        atomic_stores: It takes stores that CTRL makes updates of GM, for which it reads GM.
        transpose: It takes transposed loads to L0.
        element_bits: Bits of the elements that its loads to L0 take; scales have none.
        errors: Errors of memories that it survives and reports: of GM reads, of GM writes, of
            local ports.
        error_address: ``done_addr_o`` of an error is right; otherwise it is not compared.
        stops_after_error: No burst starts after an error of its op; otherwise bursts go on.
        read_bytes: Aligned bytes that it reads whole around each byte that it needs.
        outstanding: Most AXI bursts it has in flight in each direction.
        clocks: Stream of ``TEST=speed`` to the most clocks for one of its units, where GM bus and
            local ports have the same width: one number, or one for each width in bits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ops: Texts
    d_rules: Annotated[tuple[RuleName, ...], Once] = ()
    gm_data_widths: DataWidths = get_args(DataWidth)
    local_data_widths: DataWidths = get_args(DataWidth)
    tag_widths: tuple[TagWidth, TagWidth] = (MIN_TAG_WIDTH, MAX_TAG_WIDTH)
    loops: Annotated[int, Field(ge=0, le=3, strict=True)] = 3
    pad: StrictBool = True
    legacy: StrictBool = True
    atomic_stores: StrictBool = False
    transpose: StrictBool = True
    element_bits: Annotated[tuple[Literal[4, 8, 16, 32], ...], Field(min_length=1), Once] = (
        *(4, 8, 16, 32),
    )
    errors: Annotated[tuple[ErrorKind, ...], Once] = ("read", "write", "local")
    error_address: StrictBool = True
    stops_after_error: StrictBool = True
    read_bytes: Literal[16, 32, 64, 128, 256, 512, 1024, 2048, 4096] = 16
    outstanding: Annotated[int, Field(ge=1, le=MAX_OUTSTANDING, strict=True)] = MAX_OUTSTANDING
    clocks: dict[str, Clocks] = Field(default_factory=dict)

    def clocks_at(self, width: DataWidth) -> dict[str, float]:
        """Returns the limits at a width of both ports in bits, by stream."""
        return {name: limits[width] for name, limits in self.clocks.items() if width in limits}


class Manifest(BaseModel):
    """One engine for one slot.

    Attributes:
        name: Its name in messages; the module unless given.
        module: Verilog module name of its top.
        slot: Slot it serves.
        sources: Verilog, SystemVerilog and VHDL files, absolute once loaded, those of file lists
            first, those of libraries last.
        filelists: File lists, absolute once loaded.
        include_dirs: Include folders, absolute once loaded, those of file lists first.
        defines: Macros for its build, those of file lists with them.
        parameters: Parameters of the module in addition to those that the harness sets.
        profile: Profile that it claims to follow, as it was written; empty for ``seed``.
        knob_parameters: Knob of the profile to the parameter of the module that selects it.
        waivers: Verilator control files, absolute once loaded.
        black_boxes: Modules below it that cannot be read: encrypted, or models without source.
        simulators: Simulators that it builds on.
        simulator_args: More arguments of the build, by simulator.
        watchdog_clocks: Clocks in which nothing moves that count as a hang, or None.
        expected_messages: Parts of the texts of errors and warnings of the design that are no
            failures.
        capabilities: Its capabilities.
        path: The manifest file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    module: Identifier
    slot: str
    sources: Texts = ()
    filelists: Texts = ()
    include_dirs: Texts = ()
    defines: dict[Identifier, PlainValue] = Field(default_factory=dict)
    parameters: dict[Identifier, PlainValue] = Field(default_factory=dict)
    profile: str = ""
    knob_parameters: dict[str, Identifier] = Field(default_factory=dict)
    waivers: Texts = ()
    black_boxes: Annotated[tuple[Identifier, ...], Once] = ()
    simulators: Annotated[tuple[SimulatorName, ...], Field(min_length=1), Once] = SIMULATOR_NAMES
    simulator_args: dict[SimulatorName, tuple[str, ...]] = Field(default_factory=dict)
    watchdog_clocks: Annotated[int, Field(strict=True, ge=100, lt=1 << 31)] | None = None
    expected_messages: Annotated[tuple[MessagePart, ...], Once] = ()
    capabilities: Capabilities
    path: str = ""

    @property
    def title(self) -> str:
        """Name of the engine in messages."""
        return self.name or self.module

    @property
    def ops(self) -> tuple[str, ...]:
        """Ops it takes."""
        return self.capabilities.ops

    @property
    def d_rules(self) -> tuple[str, ...]:
        """Names of the D rules it reports."""
        return self.capabilities.d_rules

    @property
    def widths(self) -> dict[str, Sequence[int]]:
        """Widths that it claims, in bits, by the variables that set those of a run."""
        can = self.capabilities
        return {
            "GM_WIDTH": can.gm_data_widths,
            "LOCAL_WIDTH": can.local_data_widths,
            "TAG_WIDTH": range(can.tag_widths[0], can.tag_widths[1] + 1),
        }

    @property
    def claim(self) -> Profile:
        """The profile that it claims to follow."""
        return read_profile(self.profile, f"{self.path}, profile") if self.profile else SEED

    @property
    def knobs(self) -> tuple[str, ...]:
        """Knobs of the profile that concern its slot."""
        return tuple(knob.name for knob in KNOBS.values() if self.slot in knob.slots)

    def parameters_under(self, profile: Profile) -> dict[str, int | str]:
        """Returns the parameters of its module in a run under a profile."""
        chosen = {
            parameter: KNOBS[knob].code(getattr(profile, knob))
            for knob, parameter in self.knob_parameters.items()
        }
        return {**self.parameters, **chosen}

    def check_simulator(self, sim: str) -> None:
        """Raises PtoError when the engine does not support a simulator, or lacks models for it."""
        if sim not in self.simulators:
            raise PtoError(
                f"{self.title} does not support SIM={sim}",
                where=f"{self.path}, simulators",
                legal=", ".join(self.simulators),
                remedy="choose SIM from these, or add the simulator to the manifest",
            )

        texts = [Path(name).read_bytes() for name in self.sources if self.black_boxes]
        lacking = [
            name
            for name in self.black_boxes
            if not any(
                re.search(rf"\b(?:module|(?i:entity))\s+{re.escape(name)}\b".encode(), text)
                for text in texts
            )
        ]
        if lacking and not self.simulator_args.get(sim):
            raise PtoError(
                f"{self.title} has no model of black box {', '.join(lacking)} for SIM={sim}",
                where=f"{self.path}, black_boxes",
                legal="a source with the module, or a file of the model in [simulator_args]",
                remedy=f'add it, as in [simulator_args] {sim} = ["/path/to/model"], or list in '
                "`simulators` those that have it; docs/plug-in.md#black-boxes",
            )

    def check_run(self, gm_width: int, local_width: int, tag_width: int) -> None:
        """Raises PtoError when the engine does not have these widths, in bits."""
        given = (gm_width, local_width, tag_width)
        for width, (name, widths) in zip(given, self.widths.items(), strict=True):
            if width not in widths:
                raise PtoError(
                    f"{self.title} has no {name} of {width} bits",
                    where=self.path,
                    legal=", ".join(map(str, widths)),
                    remedy=f"choose {name} from these, or add the width to the manifest",
                )


def load_manifest(path: Path) -> Manifest:
    """Reads a manifest; patterns and paths in it are relative to its folder.

    Raises:
        PtoError: the file is missing, no TOML, breaks the schema, or names files, ops, rules or a
            slot that do not exist.
    """
    if path.is_dir():
        path = path / MANIFEST_NAME
    remedy = f"name a manifest file, or a folder with a {MANIFEST_NAME}"
    _, data = read_toml(path, "the manifest", remedy)
    try:
        manifest = Manifest.model_validate({**data, "path": str(path)})
    except ValidationError as error:
        raise _of_schema(error, path) from None
    _check_slot(manifest)
    return _with_files(manifest)


def load_manifests(paths: Sequence[str]) -> tuple[Manifest, ...]:
    """Reads the manifests of a run, in the order of their slots.

    Args:
        paths: Files, or folders with a dut.toml.

    Raises:
        PtoError: one cannot be used, or two have the same slot.
    """
    taken: dict[str, Manifest] = {}
    for path in paths:
        manifest = load_manifest(Path(path))
        if manifest.slot in taken:
            raise PtoError(
                f"two manifests want slot {manifest.slot}: {taken[manifest.slot].title} and "
                f"{manifest.title}",
                where=", ".join((taken[manifest.slot].path, manifest.path)),
                remedy="leave one of them out of DUT: a slot has one engine",
            )
        taken[manifest.slot] = manifest
    return tuple(taken[slot] for slot in SLOTS if slot in taken)


def reference_manifests() -> tuple[Manifest, ...]:
    """Returns the manifests of the reference engines."""
    return tuple(load_manifest(path) for path in REFERENCE_MANIFESTS)


def _of_schema(error: ValidationError, path: Path) -> PtoError:
    """Returns the first breach of the schema as one sentence."""
    first = error.errors()[0]
    key, name = ".".join(map(str, first["loc"])), str(first["loc"][-1])
    inside = first["loc"][:-1] == ("capabilities",)
    model = Capabilities if inside else Manifest
    what, legal = breach(first, f"manifest key {key}", model)
    if what.endswith("is unknown") and name in Capabilities.model_fields:
        what += f"; {key} belongs into [capabilities]"
    remedy = "docs/plug-in.md lists the keys of a manifest"
    return PtoError(what, where=str(path), legal=legal, remedy=remedy)


def refuse_unknown(
    kind: str, names: Iterable[str], legal: Sequence[str], slot: str, where: str
) -> None:
    """Raises PtoError for a name that a slot does not have."""
    for name in names:
        if name not in legal:
            raise PtoError(
                f"{kind} {name!r} is not one of slot {slot}{meant(name, legal)}",
                where=where,
                legal=", ".join(legal),
            )


def _check_slot(manifest: Manifest) -> None:
    """Checks slot, ops and rules against the tables."""
    path, slot = manifest.path, manifest.slot
    if slot not in SLOTS:
        raise PtoError(f"slot is {slot!r}", where=path, legal=", ".join(SLOTS))
    ops = [op for op in OPS.values() if op.slot == slot]
    served = [op.name for op in ops]
    if not manifest.ops:
        raise PtoError("ops is empty", where=path, legal=", ".join(served))
    refuse_unknown("op", manifest.ops, served, slot, path)
    rules = sorted({rule for op in ops for rule in op.rule_names})
    refuse_unknown("D rule", manifest.d_rules, rules, slot, path)
    if clocks := manifest.capabilities.clocks:
        # Imported here: commands that load no manifest start without the stimulus.
        from sequences.streams.speed import stream_names

        where = f"{path}, [capabilities.clocks]"
        refuse_unknown("stream", clocks, stream_names(slot), slot, where)
    least, most = manifest.capabilities.tag_widths
    if least > most:
        raise PtoError(
            f"tag_widths is [{least}, {most}]", where=path, legal="the least width, then the most"
        )
    for name in manifest.parameters:
        if name in STANDARD_PARAMETERS:
            raise PtoError(
                f"parameter {name} is set by the harness",
                where=f"{path}, [parameters]",
                remedy="take it out; GM_WIDTH, LOCAL_WIDTH, TAG_WIDTH and OUTSTANDING choose it",
            )
    _check_profile(manifest)


def _check_profile(manifest: Manifest) -> None:
    """Checks the profile and the parameters that select its knobs."""
    claim, slot = manifest.claim, manifest.slot
    where, remedy = f"{manifest.path}, [knob_parameters]", "give the knob a parameter of its own"
    taken: dict[str, str] = {}
    for name, parameter in manifest.knob_parameters.items():
        if name not in manifest.knobs:
            what = f"no engine of slot {slot} has knob {name!r}"
            if name not in KNOBS:
                what = f"knob {name!r} is unknown{meant(name, KNOBS)}"
            legal = ", ".join(manifest.knobs) or f"none: slot {slot} has no knobs"
            raise PtoError(what, where=where, legal=legal)
        if parameter in STANDARD_PARAMETERS:
            what = f"knob {name} names parameter {parameter}, which the harness sets"
            raise PtoError(what, where=where, remedy=remedy)
        other = taken.setdefault(parameter, name)
        if other != name:
            what = f"knobs {other} and {name} name one parameter, {parameter}"
            raise PtoError(what, where=where, remedy=remedy)
        knob, value = KNOBS[name], getattr(claim, name)
        fixed = manifest.parameters.get(parameter, knob.code(value))
        if fixed != knob.code(value):
            rules = f" ({', '.join(knob.rules)})" if knob.rules else ""
            codes = zip(knob.codes, knob.values, strict=True)
            raise PtoError(
                f"parameter {parameter} is {fixed!r}, but the profile that the manifest claims, "
                f"{claim}, has knob {name} = {value}, which is {knob.code(value)}{rules}",
                where=f"{manifest.path}, [parameters]",
                legal=" or ".join(f"{code} for {name} = {one}" for code, one in codes),
                remedy=f"take {parameter} out of [parameters], or correct `profile`",
            )


def _with_files(manifest: Manifest) -> Manifest:
    """Returns the manifest with the absolute paths of all its files."""
    found = FileList()
    for name in manifest.filelists:
        for path in _named(manifest, "file list", name):
            read_file_list(path, found)
    for name in manifest.sources:
        found.sources += _named(manifest, "source", name)
    for name in manifest.include_dirs:
        found.include_dirs += _named(manifest, "include folder", name)
    if not found.sources:
        raise PtoError(
            "the manifest names no source",
            where=manifest.path,
            remedy="give `sources`, `filelists` or both",
        )
    read = (*found.sources, *found.libraries)
    for path in read:
        _check_language(manifest, path)
    folders = *found.include_dirs, *(x if x.is_dir() else x.parent for x in read)
    _check_includes(manifest, dict.fromkeys(folders))
    defines = {**found.defines, **manifest.defines}
    if found.libraries:
        # Imported here: most manifests name no library, and load without a parser of Verilog.
        from tb.dut.sources import library_sources

        found.sources += library_sources(manifest.module, found, defines, manifest.black_boxes)
    waivers = [file for name in manifest.waivers for file in _named(manifest, "waiver", name)]
    return manifest.model_copy(
        update={
            "sources": _texts(found.sources),
            "include_dirs": _texts(found.include_dirs),
            "filelists": _texts(found.lists),
            "waivers": _texts(waivers),
            "defines": defines,
        }
    )


def _check_language(manifest: Manifest, path: Path) -> None:
    """Raises PtoError for a source that is not Verilog, or VHDL that a simulator does not take."""
    if path.suffix.lower() in _NO_HDL:
        raise PtoError(
            f"source {path.name} is not a Verilog",
            where=manifest.path,
            legal="Verilog and SystemVerilog",
            remedy="name C++, objects and libraries in [simulator_args], by absolute path",
        )
    alone = [sim for sim in manifest.simulators if sim not in MIXED_LANGUAGES]
    if path.suffix.lower() in VHDL_SUFFIXES and alone:
        raise PtoError(
            f"source {path.name} is VHDL, which SIM={alone[0]} cannot compile",
            where=manifest.path,
            legal=f"Verilog; VHDL where `simulators` are among {', '.join(MIXED_LANGUAGES)}",
            remedy="convert it, `ghdl --synth --out=verilog ENTITY > ENTITY.v` after `ghdl -a`, or "
            "choose such simulators, with a Verilog wrapper and the entity in `black_boxes`",
        )


def _named(manifest: Manifest, what: str, pattern: str) -> list[Path]:
    """Returns the files, or the folder, that a manifest names.

    Raises:
        PtoError: there is none.
    """
    folder = resolved(Path(manifest.path)).parent
    place = str(folder / pattern)  # an absolute pattern replaces the folder
    found = glob.glob(place, recursive=True) if "*" in pattern else [place]  # noqa: PTH207 - Path.glob takes no absolute pattern
    folders = what == "include folder"
    paths = sorted(resolved(path) for path in map(Path, found) if not unfit(path, folder=folders))
    if not paths:
        why = unfit(Path(place), folder=folders) if Path(place).exists() else ""
        raise PtoError(
            f"{what} {pattern!r} {'matches no folder' if folders else 'matches no file'}"
            + (f": it {why}" if why else ""),
            where=manifest.path,
            remedy=f"look in {folder}",
        )
    return paths


def _check_includes(manifest: Manifest, folders: Iterable[Path]) -> None:
    """Raises PtoError for a pipe or a device that an ``include`` would wait for without an end."""
    for path in (file for folder in folders for file in folder.glob("*.*")):
        if path.suffix in _INCLUDED and is_special(path):
            raise PtoError(
                f"{path.name} is a device or a pipe, in a folder of sources or includes",
                where=f"{manifest.path}: {path}",
                legal="regular files",
                remedy="take it out: no tool comes to an end of it",
            )


def _texts(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(item) for item in paths))
