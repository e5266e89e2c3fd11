# SPDX-License-Identifier: Apache-2.0
"""A simulator process that is loaded once and forked for each run.

Most of a short run is spent on loading: the interpreter, numpy, cocotb and the environment. A
:class:`WarmSimulator` starts the simulator with :func:`serve` as an entry point of cocotb's, which
imports the module of the test and then forks once for each run, before cocotb is initialized and
before any Verilog is evaluated. Each fork takes over the environment, folder, log and plusargs of
its run, and goes on as the simulator does by itself.

For simulators in one process with one thread: Verilator's.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from tb.common.processes import end_with_parent

SOCKET_ENV = "PTO_WARM_SOCKET"
"""Environment variable with the number of the file descriptor that requests come through."""

_ENTRY_POINTS = (
    "tb.run.warm:serve",
    "cocotb_tools._coverage:start_cocotb_library_coverage",
    "cocotb.logging:_configure",
    "cocotb._init:init_package_from_simulation",
    "cocotb.regression:_run_regression",
)
"""Of a simulation, in order; all but the first are cocotb's own (``pygpi.entry``)."""

_LIMIT = 1 << 20
"""Bytes that a request may have."""


class WarmSimulator:
    """Starts simulations as forks of one loaded process, one at a time.

    The process is started by the first run, and again by a run of another program. It ends with
    :meth:`close`, or with this process.
    """

    def __init__(self) -> None:
        self._words: list[str] = []
        self._server: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def start(
        self, words: Sequence[str], folder: Path, env: Mapping[str, str], log: BinaryIO
    ) -> Forked:
        """Starts a simulation, see :func:`tb.run.launch.start_process`.

        Raises:
            OSError: the loaded process has ended; its output is in the log.
        """
        plusargs = [word for word in words if word.startswith("+")]
        loaded = [word for word in words if not word.startswith("+")]
        if self._socket is None or loaded != self._words:
            self.close()
            self._load(loaded, folder, env, log)
        request = {"env": dict(env), "folder": str(folder.resolve()), "plusargs": plusargs}
        assert self._socket is not None
        socket.send_fds(self._socket, [json.dumps(request).encode()], [log.fileno()])
        pid = self._socket.recv(_LIMIT)
        if not pid:
            self.close()
            raise ConnectionResetError(f"{words[0]} ended before it was forked; see {log.name}")
        return Forked(int(pid), self._socket)

    def _load(
        self, words: Sequence[str], folder: Path, env: Mapping[str, str], log: BinaryIO
    ) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        with theirs:
            self._server = subprocess.Popen(
                words,
                cwd=folder,
                env={
                    **env,
                    "PYGPI_USERS": ",".join(_ENTRY_POINTS),
                    SOCKET_ENV: str(theirs.fileno()),
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                preexec_fn=lambda: end_with_parent(parent),
            )
        self._words, self._socket = list(words), ours

    def close(self) -> None:
        """Ends the loaded process."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            self._server = None


class Forked:
    """A simulation that was forked; see :class:`tb.run.launch.Process`."""

    def __init__(self, pid: int, results: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._results = results

    def wait(self, timeout: float | None = None) -> int:
        """Returns the exit code, negative for a signal.

        Raises:
            subprocess.TimeoutExpired: the simulation goes on.
        """
        if self.returncode is None:
            self._results.settimeout(timeout)
            try:
                status = self._results.recv(_LIMIT)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(["simulation"], timeout or 0.0) from None
            finally:
                self._results.settimeout(None)
            self.returncode = int(status) if status else -signal.SIGKILL
        return self.returncode

    def poll(self) -> int | None:
        """Returns the exit code, or None while the simulation goes on."""
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None


def serve() -> None:
    """Forks this simulator for each request; returns in the forks.

    An entry point of the simulator process. The process itself ends when nothing more can come.
    """
    requests = socket.socket(fileno=int(os.environ.pop(SOCKET_ENV)))
    for name in os.environ["COCOTB_TEST_MODULES"].split(","):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a fork would copy the pages of all these objects
    server = os.getpid()
    while True:
        message, files, _, _ = socket.recv_fds(requests, _LIMIT, 1)
        if not message:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            requests.close()
            end_with_parent(server)
            os.setsid()
            _take_over(json.loads(message), files[0])
            return
        os.close(files[0])
        requests.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        requests.send(str(os.waitstatus_to_exitcode(status)).encode())


def _take_over(request: dict[str, object], log: int) -> None:
    """Makes this fork the simulation that was asked for."""
    for number in (1, 2):
        os.dup2(log, number)
    os.close(log)
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    os.chdir(str(request["folder"]))
    words = [word.encode() for word in request["plusargs"]]  # type: ignore[attr-defined]
    ctypes.CDLL(None).pto_forked(len(words), (ctypes.c_char_p * len(words))(*words))
