# SPDX-License-Identifier: Apache-2.0
"""Commands about ``.pto`` programs: ``program``, ``shrink`` and ``verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tb.cli import options as opt
from tb.common.errors import PtoError

HazardOption = Annotated[
    str,
    typer.Option("--hazard", help="error, warn or off; otherwise warn inside a pipe, else error"),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="every warning is an error")]
CtrlOption = Annotated[
    str,
    typer.Option("--ctrl", help="CTRL at the start, such as 0; otherwise mad runs nosat, others 0"),
]


MOST_SCHEDULES = 10_000
"""Schedules of a program at most."""


def chosen_schedules(count: str, number: str) -> tuple[int, ...]:
    """Returns the numbers of the schedules that ``--schedules`` or ``--schedule`` names.

    Raises:
        PtoError: one is not a number in its range, or both are given.
    """
    both = "--schedules N replays under N schedules, --schedule K under one of them alone"
    if count and number:
        raise PtoError("--schedules and --schedule", where="--schedule", remedy=both)
    if number:
        return (opt.integer("--schedule", number, 0, MOST_SCHEDULES - 1, both),)
    return tuple(range(opt.integer("--schedules", count, 2, MOST_SCHEDULES, both) if count else 0))


def program(
    files: Annotated[
        list[str] | None, typer.Argument(help="programs, or folders with programs")
    ] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg",
            help="N=VALUE for argument N: a number, a file, zeros:BYTES, ones:BYTES, empty:BYTES, "
            "random:BYTES, pattern:SEED:BYTES or hex:DIGITS; @ADDRESS after it fixes a buffer",
        ),
    ] = None,
    out: Annotated[
        list[str] | None, typer.Option("--out", help="N=FILE: where the buffer of N is written")
    ] = None,
    load: Annotated[
        list[str] | None, typer.Option("--load", help="MEMORY@ADDRESS=DATA, data as of --arg")
    ] = None,
    dump: Annotated[
        list[str] | None, typer.Option("--dump", help="MEMORY@ADDRESS:LENGTH=FILE")
    ] = None,
    knobs: Annotated[
        list[str] | None, typer.Option("--knobs", help="a=1,b=2: latencies and stalls")
    ] = None,
    function: Annotated[str, typer.Option("--function", help="the function to run")] = "",
    foreign: Annotated[str, typer.Option("--foreign", help="refuse or skip foreign ops")] = "",
    illegal: Annotated[
        str, typer.Option("--illegal", help="refuse or send ops that break a D rule")
    ] = "",
    ubuf_to_ubuf: opt.UbufToUbuf = "",
    hazard: HazardOption = "",
    strict: StrictOption = False,
    ctrl: CtrlOption = "",
    setup: Annotated[
        str, typer.Option("--setup", help="setup file; otherwise NAME.toml beside NAME.pto")
    ] = "",
    schedules: Annotated[
        str,
        typer.Option(
            "--schedules",
            help="number of drawn latencies and issue orders to replay under; all must leave the "
            "same bytes",
        ),
    ] = "",
    schedule: Annotated[
        str, typer.Option("--schedule", help="replay under this one of --schedules alone, from 0")
    ] = "",
    sim: opt.Sim = "verilator",
    seed: Annotated[
        str, typer.Option("--seed", help="seed; otherwise that of the setup file, or 1")
    ] = "",
    waves: opt.Waves = False,
    waves_from: opt.WavesFrom = "0",
    waves_to: opt.WavesTo = "0",
    timeline: opt.Timeline = False,
    code_coverage: opt.CodeCoverage = False,
    gm_width: opt.GmWidth = "",
    local_width: opt.LocalWidth = "",
    tag_width: opt.TagWidth = "",
    outstanding: opt.Outstanding = "16",
    dut: opt.Dut = None,
    profile: opt.Profile = "",
    gm: opt.Gm = "hdl",
    json: opt.Json = None,
    wall_limit: opt.WallLimit = 120.0,
    watchdog_clocks: opt.Watchdog = None,
    mismatch_limit: opt.MismatchLimit = 10,
) -> None:
    """Replay programs on engines and model; exit code 0 only when everything matched."""
    from tb.programs.command import program_command
    from tb.programs.options import ProgramOptions

    fields = opt.machine(
        sim,
        gm_width,
        local_width,
        tag_width,
        outstanding,
        dut,
        gm,
        waves_from,
        waves_to,
        profile,
        waves=waves,
    )
    fields.update(
        waves=waves,
        timeline=timeline,
        code_coverage=code_coverage,
        wall_limit=wall_limit,
        watchdog_clocks=watchdog_clocks,
        mismatch_limit=mismatch_limit,
    )
    options = ProgramOptions(
        args=tuple(arg or ()),
        out=tuple(out or ()),
        load=tuple(load or ()),
        dump=tuple(dump or ()),
        knobs=tuple(knobs or ()),
        function=function,
        foreign=foreign,
        illegal=illegal,
        ubuf_to_ubuf=ubuf_to_ubuf,
        hazard=hazard,
        strict=strict,
        ctrl=ctrl,
        setup=setup,
        schedules=chosen_schedules(schedules, schedule),
        seed=opt.integer("SEED", seed, 0, 2**63 - 1, "SEED=7 repeats run 7") if seed else None,
    )
    with opt.settings_errors():
        code = program_command(files or (), options, fields, json)
    raise typer.Exit(code)


def shrink(
    failure: Annotated[
        str,
        typer.Argument(help="a failing program, the folder of a failing run, or its record"),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="the small program; otherwise shrunk.pto beside it", callback=opt.target
        ),
    ] = None,
    limit: Annotated[
        float, typer.Option("--limit", help="seconds after which the search ends")
    ] = 60.0,
    arg: Annotated[
        list[str] | None, typer.Option("--arg", help="N=VALUE, as of pto-dv program")
    ] = None,
    setup: Annotated[
        str, typer.Option("--setup", help="setup file; otherwise NAME.toml beside NAME.pto")
    ] = "",
    sim: opt.Sim = "verilator",
    gm_width: opt.GmWidth = "",
    local_width: opt.LocalWidth = "",
    tag_width: opt.TagWidth = "",
    outstanding: opt.Outstanding = "16",
    dut: opt.Dut = None,
    profile: opt.Profile = "",
    gm: opt.Gm = "hdl",
    wall_limit: opt.WallLimit = 120.0,
    watchdog_clocks: opt.Watchdog = None,
) -> None:
    """Make a failure small: fewer ops, smaller operands; options of a run are its own."""
    from tb.programs.options import ProgramOptions
    from tb.programs.shrink_command import shrink_command

    fields = opt.machine(
        sim, gm_width, local_width, tag_width, outstanding, dut, gm, "0", "0", profile
    )
    fields.update(wall_limit=wall_limit, watchdog_clocks=watchdog_clocks)
    options = ProgramOptions(args=tuple(arg or ()), setup=setup)
    with opt.settings_errors():
        shrink_command(failure, options, fields, out, limit)


def verify(
    files: Annotated[list[str], typer.Argument(help=".pto files, or folders that hold some")],
    arg: Annotated[
        list[str] | None,
        typer.Option("--arg", help="N=VALUE: argument N of the functions that have it"),
    ] = None,
    foreign: Annotated[
        str, typer.Option("--foreign", help="refuse: foreign ops are errors, else counted")
    ] = "",
    ubuf_to_ubuf: opt.UbufToUbuf = "bytes",
    profile: opt.Profile = "",
    hazard: HazardOption = "",
    strict: StrictOption = False,
    ctrl: CtrlOption = "",
    json: opt.Json = None,
) -> None:
    """Check programs without a simulator: text, rules, flags and hazards that constants decide."""
    from tb.programs.verify import verify_command

    code = verify_command(
        files, arg or (), foreign, json, profile, ubuf_to_ubuf, hazard, strict=strict, ctrl=ctrl
    )
    raise typer.Exit(code)
