# SPDX-License-Identifier: Apache-2.0
"""Options of several commands, and checks of their texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from tb.common.errors import PtoError
from tb.common.files import unwritable
from tb.common.paths import BUILD_ROOT, resolved
from tb.common.schema import breach
from tb.common.text import comma_list

DEFAULT_SEED = 1

Sim = Annotated[str, typer.Option("--sim", help="simulator, such as verilator or icarus")]
Test = Annotated[
    str, typer.Option("--test", help="a test of tb/run/testlist.toml, or path/to/file.py:ClassName")
]
Dut = Annotated[
    list[str] | None, typer.Option("--dut", help="manifests of your engines, separated by commas")
]
Profile = Annotated[
    str, typer.Option("--profile", help="seed, a5, or with single knobs: a5, alpha = sequential")
]
Seed = Annotated[str, typer.Option("--seed", help="seed of everything random")]
Count = Annotated[str | None, typer.Option("--n", help="transactions to send")]
Ops = Annotated[str, typer.Option("--ops", help="ops to draw from, separated by commas")]
Waves = Annotated[bool, typer.Option("--waves", help="record waveforms")]
_BITS = "bits; otherwise the manifests decide"
GmWidth = Annotated[str, typer.Option("--gm-width", help=f"128, 256 or 512 {_BITS}")]
LocalWidth = Annotated[str, typer.Option("--local-width", help=f"128, 256 or 512 {_BITS}")]
TagWidth = Annotated[str, typer.Option("--tag-width", help=f"1 to 16 {_BITS}")]
Outstanding = Annotated[
    str, typer.Option("--outstanding", help="most AXI bursts in flight in each direction, 1 to 64")
]
Gm = Annotated[str, typer.Option("--gm", help="GM: hdl or cocotbext")]
Constraints = Annotated[
    str, typer.Option("--constraints", help="Python file that narrows or reweights random ops")
]
Repro = Annotated[
    str, typer.Option("--repro", help="transactions to write down as programs, by number: 17,250")
]


UbufToUbuf = Annotated[
    str, typer.Option("--ubuf-to-ubuf", help="operands of copy_ubuf_to_ubuf: bytes or blocks")
]


def given(context: typer.Context, param: typer.CallbackParam, value: Any) -> Any:
    """Returns the text of an option, unless the option is there and its text is empty.

    Raises:
        PtoError: it is.
    """
    source = context.get_parameter_source(str(param.name))
    if value == "" and source is not None and source.name == "COMMANDLINE":
        raise PtoError(
            f"{param.opts[0]} is ''",
            where=param.opts[0],
            legal=f"a text: {getattr(param, 'help', '')}",
            remedy="leave it out for the default",
        )
    return value


def target(param: typer.CallbackParam, value: Any) -> Any:
    """Returns the file that an option names, if it can be written; its folder may be missing.

    Raises:
        PtoError: it is a folder, a device but the null device or a terminal, or the folder cannot
            be written, or is missing and lies neither below the current one nor in sim_build.
    """
    if value is None or value in ("", "-"):
        return value
    path, where = Path(value), param.opts[0]
    if reason := unwritable(path):
        raise PtoError(
            f"cannot write {value}: {reason}",
            where=where,
            legal="a file in a folder that can be written",
            remedy=f"name another file, such as {where} sim_build/name",
        )
    folder = path.absolute().parent
    ours = (Path.cwd(), BUILD_ROOT)
    if not folder.is_dir() and not any(resolved(folder).is_relative_to(one) for one in ours):
        raise PtoError(
            f"there is no folder {folder}",
            where=param.opts[0],
            legal="a folder that exists, or one below the current folder or below sim_build",
            remedy="make the folder first",
        )
    return value


Json = Annotated[
    Path | None, typer.Option("--json", help="where to write the record", callback=target)
]

WavesFrom = Annotated[str, typer.Option(help="clock that waves begin with")]
WavesTo = Annotated[str, typer.Option(help="clock that waves end with, 0 for the end")]
Timeline = Annotated[bool, typer.Option("--timeline", help="write a timeline of all transactions")]
CodeCoverage = Annotated[
    bool, typer.Option("--code-coverage", help="count code coverage of the engines")
]
WallLimit = Annotated[
    float, typer.Option(help="seconds without progress after which the simulator is ended")
]
Watchdog = Annotated[
    int | None, typer.Option(help="clocks in which nothing moves that count as a hang")
]
MismatchLimit = Annotated[int, typer.Option(help="stop after so many mismatching transactions")]


def integer(name: str, text: str, low: int, high: int, remedy: str) -> int:
    """Returns ``text`` as an integer within ``low..high``.

    Raises:
        PtoError: it is none, or out of range.
    """
    try:
        value = int(text, 0) if text.isascii() else low - 1
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise PtoError(
            f"{name} is {text!r}", where=name, legal=f"an integer {low}..{high}", remedy=remedy
        )
    return value


def transaction_numbers(text: str, count: int | None = None) -> str:
    """Returns the numbers of transactions in ``text``, separated by commas alone.

    Args:
        text: The text.
        count: Transactions of the run; None where only its test has their number.

    Raises:
        PtoError: there is something else in it, or a number that no transaction has.
    """
    legal = "numbers of transactions, separated by commas"
    words = comma_list(text, "REPRO", "REPRO= or --repro", legal)
    if not all(word.isascii() and word.isdigit() for word in words):
        raise PtoError(
            f"REPRO is {text!r}",
            where="REPRO= or --repro",
            legal=legal,
            remedy="name numbers below N: REPRO=17,250 writes two programs",
        )
    if count is not None and (late := [word for word in words if int(word) >= count]):
        raise PtoError(
            f"REPRO names transaction {late[0]}, the run has {count}",
            where="REPRO= or --repro",
            legal=f"0..{count - 1}",
            remedy="name a transaction of the run, or raise N",
        )
    return ",".join(words)


def manifest_names(dut: list[str] | None) -> tuple[str, ...]:
    """Returns the manifests that all ``--dut`` name together.

    Raises:
        PtoError: one of them is commas alone.
    """
    where, legal = "DUT= or --dut", "manifests, separated by commas"
    return tuple(name for text in dut or () for name in comma_list(text, "DUT", where, legal))


def width_numbers(gm: str, local: str, tag: str) -> tuple[int | None, int | None, int | None]:
    """Returns the widths of the options in bits, None for one that is not given.

    Raises:
        PtoError: one is illegal.
    """
    for name, text in (("GM_WIDTH", gm), ("LOCAL_WIDTH", local)):
        if text not in ("", "128", "256", "512"):
            raise PtoError(f"{name} is {text!r}", where=name, legal="128, 256, 512")
    bits = integer("TAG_WIDTH", tag, 1, 16, "leave it out for the default") if tag else None
    return int(gm) if gm else None, int(local) if local else None, bits


def machine(
    sim: str,
    gm_width: str,
    local_width: str,
    tag_width: str,
    outstanding: str,
    dut: list[str] | None,
    gm: str,
    waves_from: str,
    waves_to: str,
    profile: str = "",
    *,
    waves: bool = False,
) -> dict[str, Any]:
    """Returns the fields of a run's settings that select engines, simulator and widths.

    Raises:
        PtoError: a value is illegal, or the engines share no width.
    """
    from tb.dut.manifest import load_manifests
    from tb.dut.profiles import profile_text
    from tb.dut.widths import run_widths
    from tb.run.recipes import simulator

    simulator(sim)
    chosen = profile_text(profile)
    given = width_numbers(gm_width, local_width, tag_width)
    duts = manifest_names(dut)
    if gm not in ("hdl", "cocotbext"):
        raise PtoError(f"GM is {gm!r}", where="GM= or --gm", legal="hdl, cocotbext")
    first = integer("WAVES_FROM", waves_from, 0, 2**63 - 1, "0 is the start")
    last = integer("WAVES_TO", waves_to, 0, 2**63 - 1, "0 is the end")
    for name, clock in (("WAVES_FROM", first), ("WAVES_TO", last)):
        if clock and not waves:
            raise PtoError(
                f"{name} is '{clock}', and no waves are recorded",
                where=f"{name}= or --{name.lower().replace('_', '-')}",
                legal=f"{name} together with WAVES",
                remedy="add WAVES=1 or --waves, which records them",
            )
    if last:
        integer("WAVES_TO", waves_to, first, 2**63 - 1, "WAVES_FROM is the least, 0 the end")
    try:
        manifests = load_manifests(duts)
    except PtoError:
        manifests = ()  # the run reports it, in its record
    widths = run_widths(manifests, *given)
    return {
        "sim": sim,
        "gm_width": widths.gm,
        "local_width": widths.local,
        "tag_width": widths.tag,
        "outstanding": integer("OUTSTANDING", outstanding, 1, 64, "the default is 16"),
        "duts": duts,
        "profile": chosen,
        "gm": gm,
        "waves_from": first,
        "waves_to": last,
    }


@contextmanager
def settings_errors() -> Iterator[None]:
    """Converts an error of the settings to an error of the options."""
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        from tb.record.settings import RunSettings

        first = error.errors()[0]
        field = str(first["loc"][0])
        option = f"--{field.replace('_', '-')}"
        what, legal = breach(first, option, RunSettings)
        variable = {"watchdog_clocks": "WATCHDOG= or "}.get(field, "")
        raise PtoError(
            what,
            where=f"{variable}{option}",
            legal=legal,
            remedy="give a legal value, or leave it out for the default",
        ) from None
