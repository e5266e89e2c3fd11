# SPDX-License-Identifier: Apache-2.0
"""Setup files, commands and ``README.txt`` for programs that replay a transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from scoreboards.faults import ALL_SLOTS, READS, WRITES, Fault
from scoreboards.repro_ranges import Section
from tb.common.paths import ROOT, resolved
from tb.isa.ops import SLOTS
from tb.isa.spaces import Space, located
from tb.record.settings import RunSettings

MEMORY = "memory.bin"
"""File with the initial memory bytes of the programs of a folder."""

MACHINE = ("sim", "gm_width", "local_width", "tag_width", "outstanding", "duts", "profile", "gm")
"""Settings of a run that a replay of its ops needs."""

_SIDES = {READS: "read", WRITES: "write", READS | WRITES: "both"}


def setup_text(
    *,
    header: str,
    loads: Iterable[Section],
    knobs: Mapping[str, int],
    faults: Iterable[Fault],
    seed: int,
    stall_seed: int,
    unit_flags: str,
    illegal: bool,
    memory: str = MEMORY,
    backgrounds: Mapping[str, int] | None = None,
    keys: Mapping[str, str | int] | None = None,
) -> str:
    """Returns a setup file (:mod:`tb.programs.setup`).

    Args:
        header: Lines for a comment at the top.
        loads: What memories hold.
        knobs: Knobs of the memories.
        faults: Memory errors to inject.
        seed: Seed of the bytes that are not loaded.
        stall_seed: Seed of the stalls.
        unit_flags: Hexadecimal digits, as the setup file has them; empty for none.
        illegal: Ops that break a D rule are sent.
        memory: File with the bytes of the loads.
        backgrounds: Memory to the byte that it is filled with.
        keys: Other keys.
    """
    lines = [f"# {line}" for line in header.splitlines()]
    lines += [f"seed = {seed}", f"stall_seed = {stall_seed}"]
    if illegal:
        lines.append('illegal = "send"')
    if unit_flags:
        lines.append(f'unit_flags = "{unit_flags}"')
    lines += [f"{name} = {json.dumps(value)}" for name, value in (keys or {}).items()]
    if backgrounds:
        lines += ["", "[backgrounds]", *(f"{name} = {x}" for name, x in backgrounds.items())]
    if knobs:
        lines += ["", "[knobs]", *(f"{name} = {value}" for name, value in knobs.items())]
    for section in loads:
        lines += [
            *("", "[[load]]", *_place(section.space, section.start)),
            f"data = {json.dumps(memory)}",
            f"offset = {section.offset}",
            f"length = {section.length}",
        ]
    for fault in faults:
        lines += [
            *("", "[[fault]]", *_place(fault.space, fault.address)),
            f"length = {fault.length}",
            f'kind = "{fault.kind.name.lower()}"',
            f'sides = "{_SIDES[fault.sides]}"',
            f"nth = {fault.nth}",
        ]
        if fault.slots & ALL_SLOTS != ALL_SLOTS:
            names = [f'"{name}"' for bit, name in enumerate(SLOTS) if fault.slots >> bit & 1]
            lines.append(f"slots = [{', '.join(names)}]")
    return "\n".join([*lines, ""])


def _place(space: Space, address: int) -> tuple[str, str]:
    """Returns the keys of a place; setup files know the memories of l0, not l0."""
    name, offset = located(space, address)
    return f'space = "{name}"', f"address = {offset:#x}"


def replay_command(settings: RunSettings, program: Path) -> str:
    """Returns the command that replays a program on the engines and widths of a run."""
    try:
        path = str(resolved(program).relative_to(ROOT))
    except ValueError:
        path = str(program)
    of_run = {name: getattr(settings, name) for name in MACHINE}
    return RunSettings(test="program", programs=(path,), **of_run).command()


def readme_text(
    *, title: str, why: str, programs: Mapping[str, str], notes: Iterable[str], repeat: str
) -> str:
    """Returns the text of ``README.txt``.

    Args:
        title: The transaction, in a few words.
        why: Report of its failure, or nothing.
        programs: Command of each program to its contents.
        notes: Limits of the programs.
        repeat: Command that repeats the original run.
    """
    lines = [title, ""]
    for command, what in programs.items():
        lines += [f"{what}:", f"  {command}", ""]
    for note in notes:
        lines += [note, ""]
    lines += ["The run that it is from:", f"  {repeat}"]
    if why:
        lines += ["", "What was found:", "", why]
    return "\n".join([*lines, ""])
