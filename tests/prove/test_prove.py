# SPDX-License-Identifier: Apache-2.0
"""``make prove-arith`` around its program: division of the work, output, exit code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.prove import prove
from tests.command import pto_dv
from tests.wording import line_says

pytestmark = pytest.mark.long

FAKE = """#!{python}
import sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    print(*words, file=log)
if words == ["list"]:
    print("unit big 4294967296 7 3 a big one, 3 ways")
    print("unit small 1000 0 1 a small one")
elif words[0] == "check":
    print("done", words[1], words[1], {check}, 0.5)
elif words[0] == "corners":
    print("done 7 21 0 0.1")
elif words[1] == {ends!r}:
    sys.exit(3)
else:
    begin, end, stride = map(int, words[2:5])
    count = len(range(begin, end, stride))
    print("at", count // 2, flush=True)
    wrong = words[1] == {wrong!r} and begin == 0
    if wrong:
        print("wrong 2 00000012 80000000 00000007 000000000000beef 000000000000cafe")
    print("done", count, 3 * count, int(wrong), 1.25)
"""


class Fake:
    """A fake of the program: ``wrong`` names a unit that differs, ``ends`` one that crashes."""

    def __init__(self, folder: Path, *, wrong: str = "", ends: str = "", check: int = 0) -> None:
        self.log = folder / "calls"
        program = folder / "prove"
        program.write_text(
            FAKE.format(
                python=sys.executable, log=str(self.log), wrong=wrong, ends=ends, check=check
            )
        )
        program.chmod(0o755)
        self.program = prove.ProofProgram(program)

    def sweeps(self, unit: str) -> list[range]:
        """Return the indices that were asked for, in any order."""
        calls = [line.split() for line in self.log.read_text().splitlines()]
        return [range(*map(int, words[2:])) for words in calls if words[:2] == ["sweep", unit]]


def run(fake: Fake, monkeypatch: pytest.MonkeyPatch, units: str = "", *steps: int) -> int:
    monkeypatch.setattr(prove, "build", lambda folder: fake.program)
    return prove.prove_command(units, range(*(steps or (1 << 32,))), 2)


def test_every_input_is_assigned_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Fake(tmp_path)
    assert run(fake, monkeypatch) == 0
    parts = sorted(fake.sweeps("big"), key=lambda part: part.start)
    assert len(parts) == 2 * prove.PIECES_PER_JOB
    assert parts[0].start == 0
    assert [part.stop for part in parts] == [*(part.start for part in parts[1:]), 1 << 32]
    assert sum(len(part) for part in fake.sweeps("small")) == 1000
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-4:] for line in lines if line.startswith("  big")] == [
        [str((1 << 32) + 7), str(3 * (1 << 32) + 21), "0", "10.1"]
    ]
    assert lines[-1].startswith("PASS: 2 units, 0 differences")


def test_a_difference_is_shown_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Fake(tmp_path, wrong="big"), monkeypatch) == 1
    out = capsys.readouterr().out
    assert line_says(out, "big mode 2 inputs 00000012 80000000 00000007 RTL beef reference cafe")
    assert out.splitlines()[-1].startswith("FAIL: 2 units, 1 differences")


def test_a_wrong_reference_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(Fake(tmp_path, check=1), monkeypatch) == 1


def test_range_and_stride(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Fake(tmp_path)
    assert run(fake, monkeypatch, "", 500, 5_000_000, 7) == 0
    tried = sorted(index for part in fake.sweeps("big") for index in part)
    assert tried == list(range(500, 5_000_000, 7))
    assert sorted(index for part in fake.sweeps("small") for index in part) == [*range(500, 1000)]
    assert "indices 500..4999999 every 7" in capsys.readouterr().out.splitlines()[-1]


def test_only_the_units_that_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(tmp_path)
    assert run(fake, monkeypatch, "small, ") == 0
    assert not fake.sweeps("big")
    with pytest.raises(PtoError) as error:
        run(fake, monkeypatch, "small,tiny")
    assert "'tiny'" in str(error.value)
    assert "big, small" in str(error.value)


def test_a_broken_program_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PtoError, match="exit code 3"):
        run(Fake(tmp_path, ends="big"), monkeypatch)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--stride", "0"], "--stride is '0'"),
        (["--begin", "9", "--end", "9"], "--end is '9'"),
        (["--begin", "-1"], "--begin is '-1'"),
        (["--jobs", "none"], "--jobs is 'none'"),
    ],
)
def test_bad_options_are_refused_before_anything_is_built(arguments: list[str], word: str) -> None:
    done = pto_dv("prove-arith", *arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert not done.stdout
