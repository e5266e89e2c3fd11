# SPDX-License-Identifier: Apache-2.0
"""Writes the folder of a new DUT: manifest, wrapper and a README with the next steps.

The wrapper has every port of the contract and reports each descriptor as not implemented, so that
it builds at once and fails its first transaction with the message that the README promises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Literal

from pyslang.syntax import SyntaxTree

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.common.text import comma_list
from tb.dut.contract import Port, parameters_of, ports_of
from tb.dut.profile_text import read_profile
from tb.dut.selection import has_elements
from tb.isa.dma.table import MTE_UB_GM
from tb.isa.fields import OPCODE_BITS
from tb.isa.ops import LAYOUTS, LEGACY_FORMS, OPS, SLOTS
from tb.isa.profile import SEED
from tb.isa.status import Status

Language = Literal["sv", "v"]

LANGUAGES: tuple[Language, ...] = ("sv", "v")

TEMPLATES = Path(__file__).parent / "templates"

FIRST_FAILURE = (
    f"MISMATCH: retired with status {Status.RULE:d} {Status.RULE.name}, "
    f"expected {Status.OK:d} {Status.OK.name}"
)
"""How a run of the fresh wrapper fails."""

GROUPS: dict[str, str] = {
    "clk": "Clock and reset.",
    "desc": "Descriptors. Queue at least two, so that ops follow each other without a gap.",
    "done": "One done for each descriptor, in order, after its last write is there.",
    "busy": "High from a descriptor's handshake to its done's.",
    "src": "Local reads: each grant is answered once, in order, and cannot be stalled.",
    "dst": "Local writes.",
    "par": "Reads of parameters in FB.",
    "flag": "Unit flags.",
    "m_axi_ar": "AXI4 reads of GM: INCR, full width, none across 4 KiB.",
    "m_axi_r": "AXI4 read data.",
    "m_axi_aw": "AXI4 writes of GM: INCR, full width, none across 4 KiB.",
    "m_axi_w": "AXI4 write data.",
    "m_axi_b": "AXI4 write responses.",
}
"""Comment above the ports of a group in the wrapper, by the prefix of their names."""

_QUEUE = ("desc", "done", "busy")


def new_dut(
    name: str,
    slot: str,
    ops: Sequence[str] = (),
    folder: Path | None = None,
    language: str = "sv",
    profile: str = "",
) -> Path:
    """Writes the folder of a new DUT and returns its manifest.

    Args:
        name: Of the DUT, its module and, unless given, its folder.
        slot: Slot it is for.
        ops: Ops to begin with; none for the first one of the slot.
        folder: Where it goes; it must not exist.
        language: ``"sv"`` for SystemVerilog, ``"v"`` for Verilog-2005.
        profile: Profile that it will follow; empty for ``seed``.

    Raises:
        PtoError: name, slot, op, language or profile cannot be used, or the folder is there
            already.
    """
    _check(name, slot, ops, language)
    claim = read_profile(profile, "--profile") if profile.strip() else SEED
    folder = folder or Path(name)
    every = [op.name for op in OPS.values() if op.slot == slot]
    chosen = [op for op in every if op in ops] or every[:1]
    source = f"{name}.{language}"
    rules = dict.fromkeys(rule for op in chosen for rule in OPS[op].rule_names)
    values = {
        "name": name,
        "slot": slot,
        "source": source,
        "manifest": _from_root(folder / "dut.toml"),
        "profile": claim,
        "op": chosen[0],
        "ops": _quoted(chosen),
        "all_ops": _quoted(every),
        "rules": _quoted(rules),
        "failure": f"{FIRST_FAILURE}\n  transaction 0 on {slot}:",
    }
    files = {source: _wrapper(name, slot, chosen, language)}
    for file in ("dut.toml", "README.md"):
        files[file] = Template((TEMPLATES / f"{file}.txt").read_text()).substitute(values)
    kept = [row for row in files["dut.toml"].splitlines(True) if _concerns(row, chosen)]
    files["dut.toml"] = "".join(kept)
    try:
        folder.mkdir(parents=True)
        for file, text in files.items():
            (folder / file).write_text(text)
    except FileExistsError:
        raise PtoError(
            f"{folder} is there already",
            where="--folder" if folder != Path(name) else "NAME",
            remedy="choose another name, or --folder PATH; nothing was changed",
        ) from None
    except OSError as error:
        raise PtoError(
            f"cannot write the new DUT: {error.strerror}",
            where=str(error.filename or folder),
            remedy="choose a writable place with --folder",
        ) from None
    return folder / "dut.toml"


def _concerns(row: str, ops: Sequence[str]) -> bool:
    """Tells whether a line of a manifest is of use for ops; other keys are those of any op."""
    key = row.partition(" ")[0]
    if key in ("transpose", "element_bits"):
        return has_elements(ops)
    if key == "legacy":
        return not set(ops).isdisjoint(LEGACY_FORMS.values())
    if key == "atomic_stores":
        return MTE_UB_GM.name in ops
    operands = {operand.name for name in ops for operand in OPS[name].operands}
    if key in ("loops", "pad"):
        return any(name.startswith(key.removesuffix("s")) for name in operands)
    return True


def new_dut_command(
    name: str,
    slot: str,
    ops: str,
    folder: Path | None = None,
    language: str = "sv",
    profile: str = "",
) -> int:
    """Writes the folder, prints its contents and the next step.

    Args:
        name: Of the DUT.
        slot: Slot it is for.
        ops: Ops to begin with, separated by commas.
        folder: Where it goes.
        language: Of the wrapper.
        profile: That it will follow.

    Raises:
        PtoError: as for :func:`new_dut`.
    """
    names = comma_list(ops, "--ops", "--ops", f"ops of slot {slot}")
    manifest = new_dut(name, slot, names, folder, language, profile)
    files = sorted(item.name for item in manifest.parent.iterdir())
    print(f"wrote {manifest.parent}: {', '.join(files)}")
    print(f"next: read {manifest.parent / 'README.md'}")
    return 0


def _check(name: str, slot: str, ops: Iterable[str], language: str) -> None:
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise PtoError(
            f"{name!r} cannot be the name of a module",
            where="NAME",
            legal="letters, digits and _, no digit first",
            remedy="--folder PATH says where it goes",
        )
    if name.lower().startswith("pto_") or _is_keyword(name):
        whose = (
            "the bench's own names begin so"
            if name.lower().startswith("pto_")
            else "a word of SystemVerilog"
        )
        raise PtoError(
            f"{name!r} cannot be the name of a module: {whose}",
            where="NAME",
            remedy=f"choose another name, such as my_{name.lower().removeprefix('pto_')}",
        )
    if slot not in SLOTS:
        raise PtoError(f"slot is {slot!r}", where="--slot", legal=", ".join(SLOTS))
    served = [op.name for op in OPS.values() if op.slot == slot]
    for op in ops:
        if op not in served:
            raise PtoError(
                f"op {op!r} is not one of slot {slot}", where="--ops", legal=", ".join(served)
            )
    if language not in LANGUAGES:
        raise PtoError(f"language is {language!r}", where="--language", legal=", ".join(LANGUAGES))


def _from_root(path: Path) -> Path:
    """Returns a path as the commands of the README take it, which are for the project's folder."""
    path = path.resolve()
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def _is_keyword(name: str) -> bool:
    return bool(SyntaxTree.fromText(f"module {name}; endmodule").diagnostics)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _group(port: Port) -> str:
    """Returns the group of a port: a key of GROUPS."""
    name = "clk" if port.name == "rst_ni" else port.name
    return max((prefix for prefix in GROUPS if name.startswith(prefix)), key=len)


def _wrapper(name: str, slot: str, ops: Sequence[str], language: str) -> str:
    """Returns the text of the wrapper."""
    lines = [
        f"// {name}: an engine for slot {slot} of PTO-DV, made by `pto-dv new-dut`.",
        "//",
        "// Every port of the contract (docs/contract.md). Until your engine is added, outputs",
        "// are tied off and each descriptor is reported as not implemented: status 1, rule 0.",
        "`default_nettype none",
        "",
        f"module {name} #(",
        *_parameters(slot, language),
        ") (",
        *_ports(slot),
        ");",
        "",
        *_fields(ops),
        "",
        *_engine(language),
        "",
        *_tied(slot),
        "endmodule",
        "",
        "`default_nettype wire",
    ]
    return "\n".join([*lines, ""])


def _parameters(slot: str, language: str) -> Iterator[str]:
    rows = parameters_of(slot)
    kind = "int" if language == "sv" else "integer"
    for row in rows:
        end = "" if row is rows[-1] else ","
        text = f"  parameter {kind} {row.name} = {row.default}{end}"
        yield f"{text:<40} // {row.doc.replace('`', '')}"


def _range(port: Port, slot: str) -> str:
    width = port.width_in(slot)
    if width == "1":
        return ""
    return f"[{int(width) - 1}:0]" if width.isdecimal() else f"[{width}-1:0]"


def _ports(slot: str) -> Iterator[str]:
    rows = ports_of(slot)
    group = ""
    for row in rows:
        if _group(row) != group:
            group = _group(row)
            yield f"  // {GROUPS[group]}"
        end = "" if row is rows[-1] else ","
        text = f"  {row.direction:<6} wire {_range(row, slot):<22} {row.name}{end}"
        yield f"{text:<52} // {row.doc}"


def _fields(ops: Sequence[str]) -> Iterator[str]:
    yield f"  wire [{OPCODE_BITS - 1}:0] opcode = desc_i[{OPCODE_BITS - 1}:0];"
    for op in ops:
        spec = OPS[op]
        yield f"  localparam [{OPCODE_BITS - 1}:0] Op{_camel(op)} = {OPCODE_BITS}'d{spec.opcode};"
        yield f"  // {spec.doc}"
    for family in dict.fromkeys(OPS[op].layout.family for op in ops):
        yield ""
        yield f"  // Fields of a descriptor of layout {family}, valid during its handshake."
        for name, placed in LAYOUTS[family].items():
            bits = f"[{placed.msb}:{placed.lsb}]"
            span = f"[{placed.field.container - 1}:0]" if placed.field.container > 1 else ""
            text = f"  wire {span:<7} {family}_{name} = desc_i{bits};"
            yield f"{text:<56} // {placed.field.doc}"


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _engine(language: str) -> Iterator[str]:
    reg, always = ("logic", "always_ff") if language == "sv" else ("reg  ", "always")
    yield from (
        "  // Your engine takes the place of what follows: a queue of one descriptor, and a done",
        "  // that says that the opcode is unknown.",
        f"  {reg} held_q;",
        f"  {reg} [TagWidth-1:0] tag_q;",
        "",
        f"  {always} @(posedge clk_i or negedge rst_ni) begin",
        "    if (!rst_ni) begin",
        "      held_q <= 1'b0;",
        "      tag_q  <= {TagWidth{1'b0}};",
        "    end else if (desc_valid_i && desc_ready_o) begin",
        "      held_q <= 1'b1;",
        "      tag_q  <= desc_tag_i;",
        "    end else if (done_ready_i) begin",
        "      held_q <= 1'b0;",
        "    end",
        "  end",
        "",
        "  assign desc_ready_o  = !held_q;",
        "  assign done_valid_o  = held_q;",
        "  assign done_tag_o    = tag_q;",
        f"  assign done_status_o = 3'd{Status.RULE:d};",
        "  assign done_rule_o   = 8'd0;",
        "  assign done_addr_o   = {GmAddrWidth{1'b0}};",
        "  assign busy_o        = held_q;",
    )


def _tied(slot: str) -> Iterator[str]:
    yield "  // Outputs that are tied off."
    group = ""
    for row in ports_of(slot):
        if row.direction != "output" or _group(row) in _QUEUE:
            continue
        if group and _group(row) != group:
            yield ""
        group = _group(row)
        width = row.width_in(slot)
        zero = f"{width}'d0" if width.isdecimal() else f"{{{width}{{1'b0}}}}"
        yield f"  assign {row.name} = {zero};"
