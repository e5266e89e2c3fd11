# SPDX-License-Identifier: Apache-2.0
"""The cache of Verilator's runtime: an object is used again only for equal inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.run.object_cache import main

COMPILER = """\
#!/bin/sh
echo "$*" >>"$LOG"
[ -z "$FAIL" ] || exit 3
for source; do :; done
while [ $# -gt 1 ]; do
  if [ "$1" = -o ]; then echo "made with $*" >"$2"; echo "needs $source" >"${2%.o}.d"; fi
  shift
done
"""


class Place:
    """A compiler that logs its calls, a source with a header, a cache."""

    def __init__(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log, self.cache, self.include = top / "log", top / "cache", top / "include"
        self.include.mkdir()
        self.source = self.include / "verilated.cpp"
        for name in ("verilated.cpp", "verilated.h", "other.cpp"):
            (self.include / name).write_text("one\n")
        self.compiler = top / "cc"
        self.compiler.write_text(COMPILER)
        self.compiler.chmod(0o755)
        self.build = top / "build"
        self.build.mkdir()
        monkeypatch.chdir(self.build)
        monkeypatch.setenv("LOG", str(self.log))
        monkeypatch.setenv("FAIL", "")

    def compile(self, source: str = "verilated.cpp", flag: str = "-O2") -> int:
        target = self.build / "verilated.o"
        target.unlink(missing_ok=True)
        words = [str(self.compiler), flag, "-c", "-o", target.name, str(self.include / source)]
        code = main(self.cache, words)
        assert target.exists() == (code == 0)
        return code

    @property
    def calls(self) -> int:
        return len(self.log.read_text().splitlines())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def test_same_command_is_compiled_once(place: Place) -> None:
    assert place.compile() == 0
    made = (place.build / "verilated.o").read_text()
    (place.build / "verilated.d").unlink()
    assert place.compile() == 0
    assert place.calls == 1
    assert (place.build / "verilated.o").read_text() == made
    assert (place.build / "verilated.d").read_text() == f"needs {place.source}\n"


def test_the_same_sources_elsewhere_are_not_compiled_again(place: Place, tmp_path: Path) -> None:
    """Nor are those of the first place needed, which may be gone: make would end without them."""
    place.compile()
    place.include = place.include.rename(tmp_path / "elsewhere")
    place.compile()
    assert place.calls == 1
    needs = place.include / place.source.name
    assert (place.build / "verilated.d").read_text() == f"needs {needs}\n"


@pytest.mark.parametrize("changed", ["verilated.cpp", "verilated.h", "compiler", "flag"])
def test_changed_inputs_are_compiled_again(changed: str, place: Place) -> None:
    place.compile()
    if changed == "compiler":
        place.compiler.write_text(COMPILER + "# newer\n")
    elif changed != "flag":
        (place.include / changed).write_text("another\n")
    place.compile(flag="-O0" if changed == "flag" else "-O2")
    assert place.calls == 2


def test_sources_of_the_design_are_never_cached(place: Place) -> None:
    for _ in range(2):
        assert place.compile("other.cpp") == 0
    assert place.calls == 2
    assert not place.cache.exists()


def test_failure_is_returned_and_not_cached(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", "1")
    assert place.compile() == 3
    monkeypatch.setenv("FAIL", "")
    assert place.compile() == 0
    assert place.calls == 2
