# SPDX-License-Identifier: Apache-2.0
"""Databases to test on: a new SQLite file, and a new database of a real PostgreSQL server.

The server is one of the system's packages (Debian and Ubuntu: ``postgresql``), started for the
tests alone in a temporary folder and reached by a Unix socket there. It refuses to run as root, so
root starts it as another user. Without its programs these tests are skipped.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tb.common.processes import end_with_parent
from tb.regress.results.store import Store

PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
START_SECONDS = 120.0

_NUMBERS = count(1)


def server_programs() -> Path | None:
    """Returns the folder of ``initdb`` and ``postgres``, the newest there is, or None."""
    found = [path for place in PLACES for path in Path("/").glob(f"{place.lstrip('/')}/initdb")]
    if found:
        return max(
            found, key=lambda path: [int(part) for part in re.findall(r"\d+", str(path))]
        ).parent
    which = shutil.which("initdb")
    return Path(which).resolve().parent if which else None


def server_user() -> str | None:
    """Returns who is to run the server when we are root, otherwise None."""
    if os.geteuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


class Server:
    """A PostgreSQL server of ours in ``folder``; access to the folder is access to its socket."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self._programs = programs
        user = server_user()
        self._as: dict[str, Any] = {}
        if user:
            entry = pwd.getpwnam(user)
            self._as = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
            os.chown(folder, entry.pw_uid, entry.pw_gid)
        subprocess.run(
            [programs / "initdb", "-D", folder / "data", "-U", "pto", "--auth=trust", "--no-sync",
             "--encoding=UTF8", "--locale=C"],
            cwd=folder, check=True, stdout=subprocess.DEVNULL, **self._as,
        )  # fmt: skip

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        options = [
            "listen_addresses=",
            "fsync=off",
            "full_page_writes=off",
            "unix_socket_permissions=0777",
        ]
        words = ["-D", str(self.folder / "data"), "-k", str(self.folder)]
        words += [word for option in options for word in ("-c", option)]
        parent = os.getpid()
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [self._programs / "postgres", *words],
                cwd=self.folder, stdout=log, stderr=log,
                preexec_fn=lambda: end_with_parent(parent), **self._as,
            )  # fmt: skip
        end = time.monotonic() + START_SECONDS
        while subprocess.run(
            [self._programs / "pg_isready", "-q", "-h", self.folder], check=False
        ).returncode:
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.05)

    def stop(self) -> None:
        """Ends the server and its connections; committed data is there when it starts again."""
        if self.process is not None:
            # At once: what was written can be recovered, and tables of tests need no clean end.
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(timeout=START_SECONDS)
            self.process = None

    def url(self, schema: str) -> str:
        """Returns the URL of the database, for tables in a schema of their own."""
        return f"postgresql://pto@/postgres?host={self.folder}&options=-csearch_path%3D{schema}"

    def make(self) -> str:
        """Makes an empty schema, which takes less time than a database; returns its URL."""
        import psycopg

        name = f"regression{next(_NUMBERS)}"
        with psycopg.connect(
            host=str(self.folder), user="pto", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return self.url(name)


@pytest.fixture(scope="session")
def new_server() -> Iterator[Callable[[], Server]]:
    """Starts a server each time it is called; all are ended after the tests."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: make test installs it")
    programs = server_programs()
    if programs is None:
        # A server is too much to ask of everyone who runs `make test`; .ci/run installs one.
        pytest.skip("no PostgreSQL server here: install the package postgresql")
    servers: list[Server] = []
    # Not below pytest's own folders, which no other user may enter.
    with tempfile.TemporaryDirectory(prefix="pto-pg-", dir=tempfile.gettempdir()) as top:
        Path(top).chmod(0o755)

        def start() -> Server:
            folder = Path(top) / str(len(servers))
            folder.mkdir()
            server = Server(programs, folder)
            servers.append(server)
            server.start()
            return server

        yield start
        for server in servers:
            server.stop()


@pytest.fixture(scope="session")
def server(new_server: Callable[[], Server]) -> Server:
    """The server that the tests share."""
    return new_server()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a database that is new to the test."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/results.db"
    found: Server = request.getfixturevalue("server")
    return found.make()


@pytest.fixture
def nowhere() -> Iterator[str]:
    """Address of a scheduler that is not there: its port is taken, and nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"tcp://127.0.0.1:{held.getsockname()[1]}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """The same, open."""
    with Store.open(url) as found:
        yield found
