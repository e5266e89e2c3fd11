# SPDX-License-Identifier: Apache-2.0
"""A simulator ends with its runner, even one that cannot clean up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tb.common.paths import ROOT

pytestmark = pytest.mark.long

RUN = """
import sys
from pathlib import Path
from tb.run.launch import Watch, new_runner
runner = new_runner("icarus")
runner.env = {}
runner.watch = Watch(Path(sys.argv[1]) / "log")
code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
runner._execute_cmds([[sys.executable, "-S", "-u", "-c", code]], sys.argv[1])
"""


def test_a_simulator_dies_with_its_runner(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as runner:
        end = time.monotonic() + 60
        while not (log.exists() and log.read_text().strip()):
            assert time.monotonic() < end
            assert runner.poll() is None
            time.sleep(0.01)
        simulator = Path(f"/proc/{log.read_text().strip()}/stat")
        assert simulator.exists()
        runner.send_signal(signal.SIGKILL)
    end = time.monotonic() + 60
    while simulator.exists() and simulator.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < end
        time.sleep(0.01)
