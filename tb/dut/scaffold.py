# SPDX-License-Identifier: Apache-2.0
"""Writes the folder of a new DUT: manifest, wrapper and a README with the next steps.

The wrapper has every port of the contract and reports each descriptor as not implemented, so that
it builds at once and fails its first transaction with the message that the README promises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pyslang.syntax import SyntaxTree

from tb.common.errors import PtoError
from tb.common.paths import ROOT, resolved
from tb.common.text import comma_list
from tb.dut.contract import Port, parameters_of, ports_of
from tb.dut.manifest import refuse_unknown
from tb.dut.profile_text import read_profile
from tb.dut.selection import has_elements
from tb.isa.dma.table import UPDATED
from tb.isa.fields import OPCODE_BITS
from tb.isa.ops import LAYOUTS, LEGACY_FORMS, OPS, SLOTS
from tb.isa.profile import SEED
from tb.isa.status import Status

Language = Literal["sv", "v"]

LANGUAGES: tuple[Language, ...] = ("sv", "v")

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)

FIRST_FAILURE = (
    f"MISMATCH: retired with status {Status.RULE:d} {Status.RULE.name}, "
    "rule 0, which no rule of this op has, "
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
    operands = {operand.name for op in chosen for operand in OPS[op].operands}
    values = {
        "name": name,
        "slot": slot,
        "source": source,
        "manifest": _from_root(folder / "dut.toml"),
        "profile": claim,
        "op": chosen[0],
        "quoted_ops": _quoted(chosen),
        "all_ops": _quoted(every),
        "rules": _quoted(rules),
        "loops": any(operand.startswith("loop") for operand in operands),
        "pad": any(operand.startswith("pad") for operand in operands),
        "elements": has_elements(chosen),
        "atomic": not UPDATED.isdisjoint(chosen),
        "legacy": not set(chosen).isdisjoint(LEGACY_FORMS.values()),
        "failure": f"{FIRST_FAILURE}\n  transaction 0 on {slot}:",
        "sv": language == "sv",
        "parameters": parameters_of(slot),
        "groups": [(prefix, [*ports]) for prefix, ports in groupby(ports_of(slot), _group)],
        "last": ports_of(slot)[-1],
        "comments": GROUPS,
        "opcode_bits": OPCODE_BITS,
        "ops": [OPS[op] for op in chosen],
        "layouts": {OPS[op].layout.family: LAYOUTS[OPS[op].layout.family] for op in chosen},
        "status": f"{Status.RULE:d}",
    }
    templates = {source: "wrapper.v", "dut.toml": "dut.toml", "README.md": "README.md"}
    files = {
        file: TEMPLATES.get_template(f"{template}.j2").render(values)
        for file, template in templates.items()
    }
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


def new_dut_command(
    name: str,
    slot: str,
    ops: str,
    folder: Path | None = None,
    language: str = "sv",
    profile: str = "",
) -> int:
    """Writes the folder, prints its contents and the next step; ``ops`` are separated by commas.

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
            remedy="--folder PATH writes it elsewhere",
        )
    if name.lower().startswith("pto_") or _is_keyword(name):
        owner = (
            "the bench's own names begin so"
            if name.lower().startswith("pto_")
            else "a word of SystemVerilog"
        )
        raise PtoError(
            f"{name!r} cannot be the name of a module: {owner}",
            where="NAME",
            remedy=f"choose another name, such as my_{name.lower().removeprefix('pto_')}",
        )
    if slot not in SLOTS:
        raise PtoError(f"slot is {slot!r}", where="--slot", legal=", ".join(SLOTS))
    served = [op.name for op in OPS.values() if op.slot == slot]
    refuse_unknown("op", ops, served, slot, "--ops")
    if language not in LANGUAGES:
        raise PtoError(f"language is {language!r}", where="--language", legal=", ".join(LANGUAGES))


def _from_root(path: Path) -> Path:
    """Returns a path as the commands of the README take it, which are for the project's folder."""
    path = resolved(path)
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def _is_keyword(name: str) -> bool:
    return bool(SyntaxTree.fromText(f"module {name}; endmodule").diagnostics)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _group(port: Port) -> str:
    """Returns the group of a port: a key of GROUPS."""
    name = "clk" if port.name == "rst_ni" else port.name
    return max((prefix for prefix in GROUPS if name.startswith(prefix)), key=len)
