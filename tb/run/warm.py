# SPDX-License-Identifier: Apache-2.0
"""A simulator process that is loaded once and forked for each run.

Most of a short run is spent on loading: the interpreter, numpy, cocotb and the environment. A
:class:`WarmSimulator` starts the simulator with :func:`serve` as an entry point of cocotb's, which
imports the module of the test and then forks once for each run, before cocotb is initialized and
before any Verilog is evaluated. Each fork takes over the environment, folder, log and plusargs of
its run, and goes on as the simulator does by itself.

For Verilator and Icarus, which simulate in one process with one thread.
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
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from tb.common.processes import end_with_parent
from tb.run.launch import ENTRY_POINTS

SOCKET_ENV = "PTO_WARM_SOCKET"
"""Environment variable with the number of the file descriptor that requests come through."""

_LIMIT = 1 << 20
"""Bytes that a request may have."""


class WarmSimulator:
    """Starts simulations as forks of a loaded process, one at a time.

    A process is loaded for each program and module of tests; the ``most`` that were used last
    stay. They end with :meth:`close`, or with this process.
    """

    def __init__(self, most: int = 1) -> None:
        self._most = most
        self._loaded: dict[tuple[str, ...], _Loaded] = {}
        self._last: Forked | None = None

    @property
    def seconds(self) -> float:
        """Processor time of the last simulation, known when it has ended."""
        return self._last.seconds if self._last else 0.0

    def start(
        self, words: Sequence[str], folder: Path, env: Mapping[str, str], log: BinaryIO
    ) -> Forked:
        """Starts a simulation, see :func:`tb.run.launch.start_process`.

        Raises:
            OSError: the loaded process has ended; its output is in the log.
        """
        # Icarus has read its own when it is loaded.
        added = [word for word in words if word.startswith("+")] if _takes_plusargs(words) else []
        program = [word for word in words if word not in added]
        # What a fork cannot take over any more: the program, its modules, and where it found them.
        stamps = (str(path.stat().st_mtime_ns) for path in map(Path, program) if path.is_file())
        key = (*program, *stamps, env["COCOTB_TEST_MODULES"], env.get("PYTHONPATH", ""))
        loaded = self._loaded.pop(key, None)
        if loaded is None:
            while len(self._loaded) >= self._most:
                self._loaded.pop(next(iter(self._loaded))).close()
            loaded = _Loaded(program, folder, env, log)
        request = {"env": dict(env), "folder": str(folder.resolve()), "plusargs": added}
        try:
            forked = loaded.fork(request, log)
        except OSError:
            loaded.close()
            raise
        self._loaded[key], self._last = loaded, forked
        return forked

    def close(self) -> None:
        """Ends the loaded processes."""
        while self._loaded:
            self._loaded.popitem()[1].close()


def _takes_plusargs(words: Sequence[str]) -> bool:
    """Returns whether a fork of a simulator may get plusargs: one with our main loop."""
    return Path(words[0]).name != "vvp"


class _Loaded:
    """A loaded process, the server of its forks."""

    def __init__(
        self, words: Sequence[str], folder: Path, env: Mapping[str, str], log: BinaryIO
    ) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        with theirs:
            self._server = subprocess.Popen(
                words,
                cwd=folder,
                env={
                    **env,
                    "PYGPI_USERS": ",".join(("tb.run.warm:serve", *ENTRY_POINTS)),
                    SOCKET_ENV: str(theirs.fileno()),
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                preexec_fn=lambda: end_with_parent(parent),
            )

    def fork(self, request: Mapping[str, object], log: BinaryIO) -> Forked:
        """Starts a simulation."""
        pid = b""
        with suppress(ConnectionError):
            socket.send_fds(self._socket, [json.dumps(request).encode()], [log.fileno()])
            pid = self._socket.recv(_LIMIT)
        if not pid:
            raise ConnectionResetError(f"the simulator ended before its fork; see {log.name}")
        return Forked(int(pid), self._socket)

    def close(self) -> None:
        """Ends the process."""
        self._socket.close()
        self._server.kill()
        self._server.wait()


class Forked:
    """A simulation that was forked; see :class:`tb.run.launch.Process`.

    Attributes:
        seconds: Its processor time, known when it has ended.
    """

    def __init__(self, pid: int, results: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.seconds = 0.0
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
            code, seconds = status.split() or (-signal.SIGKILL, 0)
            self.returncode, self.seconds = int(code), float(seconds)
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
        _, status, used = os.wait4(pid, 0)
        seconds = used.ru_utime + used.ru_stime
        requests.send(f"{os.waitstatus_to_exitcode(status)} {seconds}".encode())


def _take_over(request: dict[str, object], log: int) -> None:
    """Makes this fork the simulation that was requested."""
    for number in (1, 2):
        os.dup2(log, number)
    os.close(log)
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    os.chdir(str(request["folder"]))
    words = [word.encode() for word in request["plusargs"]]  # type: ignore[attr-defined]
    program = ctypes.CDLL(None)
    if hasattr(program, "pto_forked"):  # not of Icarus
        program.pto_forked(len(words), (ctypes.c_char_p * len(words))(*words))
