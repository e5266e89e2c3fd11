# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of single modules, changed or not, without the bench."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from cocotb_tools.runner import get_runner

from tb.common.paths import ROOT


def by_pins(
    test: Path,
    top: str,
    sources: Sequence[Path],
    folder: Path,
    change: tuple[str, str, str] = ("", "", ""),
    **parameters: int,
) -> str:
    """Runs a file of cocotb tests on one module with Icarus; returns the log.

    Args:
        test: The file.
        top: The module.
        sources: Its files.
        folder: Folder of the build and of ``results.xml``.
        change: Stem of a source, a text that it has once, and its replacement.
        parameters: Values of parameters of the module.
    """
    copies = []
    for file in sources:
        text = file.read_text()
        if file.stem == change[0]:
            assert text.count(change[1]) == 1
            text = text.replace(change[1], change[2])
        copies.append(folder / file.name)
        copies[-1].write_text(text)
    runner = get_runner("icarus")
    runner.build(
        sources=copies,
        includes=[ROOT / "rtl_stubs/common"],
        build_args=["-g2012"],
        hdl_toplevel=top,
        parameters=parameters,
        build_dir=folder,
        timescale=("1ns", "1ps"),
        log_file=folder / "build.log",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(test.parent))
        with suppress(SystemExit, RuntimeError):
            runner.test(
                test_module=test.stem,
                hdl_toplevel=top,
                plusargs=["+seed=1"],
                results_xml=str(folder / "results.xml"),
                log_file=folder / "test.log",
            )
    return (folder / "test.log").read_text()
