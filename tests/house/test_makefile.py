# SPDX-License-Identifier: Apache-2.0
"""The Makefile in a copy of its own, with a fake Python in ``.venv``: nothing is installed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tb.record.settings import RunSettings
from tb.setup import install
from tests.house.test_docs import PAGES, fences, prose

ROOT = Path(__file__).parents[2]
LOCKS = tuple(path.name for path in sorted(ROOT.glob("requirements*.lock")))
STAMPS = tuple(f".pto-dv-{name}" for name in ("base", "verilator", "lint", "farm", "tests"))
VARIABLES = (
    *("SIM", "TEST", "SEED", "N", "OPS", "DUT", "PROFILE", "GM", "CONSTRAINTS"),
    *("REPRO", "WAVES"),
    *("TIMELINE", "CODE_COVERAGE", "WAVES_FROM", "WAVES_TO"),
    *("GM_WIDTH", "LOCAL_WIDTH", "TAG_WIDTH", "OUTSTANDING", "WATCHDOG", "JSON"),
    "PROGRAM",
    *("REGRESSION", "SEEDS", "JOBS", "BUDGET", "FARM", "RESULTS", "PLAN", "FRESH", "KEEP"),
    *("FULL", "SINCE", "PTO_SHARE", "ARGS"),
)

WORKERS = ("-n", "2", "--dist", "worksteal")

FAKE_PYTHON = """#!/bin/sh
printf '%s|' "$@" >>"$PTO_FAKE_LOG"
echo >>"$PTO_FAKE_LOG"
env | grep -E '^(MAKE|SIM=|WAVES=|N=|TEST=)' >>"$PTO_FAKE_LOG.env"
case "$*" in *"$PTO_FAKE_FAIL"*) exit "${PTO_FAKE_CODE:-3}" ;; esac
"""


class Project:
    """A folder with the Makefile, set up according to the stamps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        for name in ("Makefile", "pyproject.toml", *LOCKS):
            shutil.copy(ROOT / name, folder / name)
        python = folder / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(FAKE_PYTHON)
        python.chmod(0o755)
        for stamp in STAMPS:  # the base first: the others depend on it
            (folder / ".venv" / stamp).write_text(f"{folder}\n")

    def make(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Call make as a user would, without the variables of a make around these tests."""
        clean = {
            name: value
            for name, value in os.environ.items()
            if name not in VARIABLES and not name.startswith(("MAKE", "MFLAGS"))
        }
        fake = {"PTO_FAKE_LOG": str(self.log), "PTO_FAKE_FAIL": "no such argument"}
        return subprocess.run(
            ["make", *arguments],
            cwd=self.folder,
            env={**clean, **fake, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> list[list[str]]:
        """Return the arguments of every call of the fake Python."""
        return [line.split("|")[:-1] for line in self.log.read_text().splitlines()]


def add_checks(project: Project) -> None:
    """Copies the checks of variables, and nothing that could install: a link would reach .venv."""
    for name in ("common/errors.py", "common/files.py", "common/paths.py", "setup/arguments.py"):
        (project.folder / "tb" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tb" / name, project.folder / "tb" / name)
    units = project.folder / "tb/prove/units"
    units.mkdir(parents=True)
    (units / "pto_fifo.sv").touch()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_help_lists_every_variable_with_its_default(project: Project) -> None:
    text = project.make("help").stdout
    for variable in (*VARIABLES, "ARGS", "PYTHON", "PTO_NO_INSTALL"):
        assert re.search(rf"^  {variable} +\S.*\[.+\]$", text, re.MULTILINE), variable
    for target in (
        "run",
        "program",
        "test",
        "nightly",
        "bench",
        "prove-arith",
        "prove-rtl",
        "qualify",
        "lint",
        "synth",
        "doctor",
        "licenses",
        "setup",
        "clean",
        "help",
    ):
        assert re.search(rf"^  {target} +\S", text, re.MULTILINE), target


def test_plain_make_runs_the_main_job_on_verilator(project: Project) -> None:
    assert project.make().returncode == 0
    assert project.calls() == [["-m", "tb", "run", "--sim", "verilator"]]


def test_all_variables_are_passed_on(project: Project) -> None:
    done = project.make(
        *("SIM=icarus", "TEST=random", "SEED=7", "N=300", "OPS=mte_gm_ub,mte_ub_gm"),
        *(
            "PROFILE=a5, alpha = sequential",
            "WAVES=1",
            "WAVES_FROM=5",
            "TIMELINE=1",
            "CODE_COVERAGE=0",
            "GM_WIDTH=128",
            "LOCAL_WIDTH=512",
            "JSON=out/a b'c.json",
        ),
    )
    assert done.returncode == 0
    assert project.calls() == [
        ["-m", "tb.setup.install", "icarus"],
        [
            *("-m", "tb", "run", "--sim", "icarus", "--test", "random", "--seed", "7"),
            *("--n", "300", "--ops", "mte_gm_ub,mte_ub_gm"),
            *("--profile", "a5, alpha = sequential", "--waves", "--timeline"),
            *("--waves-from", "5", "--gm-width", "128", "--local-width", "512"),
            *("--json", "out/a b'c.json"),
        ],
    ]


def test_variables_may_come_from_the_environment(project: Project) -> None:
    project.make(SEED="9", WAVES="0")
    assert project.calls() == [["-m", "tb", "run", "--sim", "verilator", "--seed", "9"]]


def test_variables_do_not_reach_the_simulators(project: Project) -> None:
    project.make("-j2", "SIM=verilator", "WAVES=1", "N=3", "TEST=x", MAKEFLAGS="k")
    assert project.log.with_name("log.env").read_text() == ""


def test_unknown_simulator_is_left_to_the_command_line(project: Project) -> None:
    project.make("SIM=modelsim")
    assert project.calls() == [["-m", "tb", "run", "--sim", "modelsim"]]


def test_waves_is_zero_or_one(project: Project) -> None:
    done = project.make("WAVES=yes")
    assert done.returncode != 0
    assert "WAVES=1 enables it" in done.stderr


def test_program_takes_files_options_and_the_variables_of_a_run(project: Project) -> None:
    done = project.make(
        *("program", "PROGRAM=a.pto 'b c.pto'", "ARGS=--arg '0=x y.npy' --out 1=o.bin"),
        *("SIM=icarus", "SEED=7", "WAVES=1", "DUT=a,b", "GM_WIDTH=512", "PROFILE=a5"),
    )
    assert done.returncode == 0, done.stderr
    assert project.calls()[-1] == [
        *("-m", "tb", "program", "a.pto", "b c.pto", "--sim", "icarus", "--seed", "7"),
        *("--dut", "a,b", "--profile", "a5", "--waves", "--gm-width", "512", "--arg", "0=x y.npy"),
        *("--out", "1=o.bin"),
    ]


def test_the_command_that_repeats_a_program_has_its_options(project: Project) -> None:
    words = ("--arg", "0=it's $HOME/x#1.npy", "--knobs", "stall_r=3")
    settings = RunSettings(programs=("a b.pto", "$c.pto"), program_options=words)
    assert project.make(*shlex.split(settings.command())[1:]).returncode == 0
    expected = ["-m", "tb", "program", *settings.programs, "--sim", "verilator", *words]
    assert project.calls()[-1] == expected


def test_the_command_that_repeats_a_run_has_its_profile(project: Project) -> None:
    settings = RunSettings(profile="a5, alpha = sequential")
    assert project.make(*shlex.split(settings.command())[1:]).returncode == 0
    assert project.calls()[-1][-2:] == ["--profile", "a5, alpha = sequential"]


def test_nightly_has_variables_of_its_own(project: Project) -> None:
    done = project.make(
        *("nightly", "SEEDS=20", "JOBS=2", "BUDGET=10m", "DUT=a,b", "SEED=3"),
        *("KEEP=1", "RESULTS=postgresql+psycopg://x/y", "PROFILE=a5,tail=keep"),
    )
    assert done.returncode == 0, done.stderr
    assert [call[2] for call in project.calls()] == ["icarus", "fst", "nightly"]
    assert project.calls()[-1] == [
        *("-m", "tb", "nightly", "--seeds", "20", "--jobs", "2", "--budget", "10m"),
        *("--db", "postgresql+psycopg://x/y", "--keep", "--seed", "3", "--dut", "a,b"),
        *("--profile", "a5,tail=keep"),
    ]


@pytest.mark.parametrize("variable", ["FARM=farm.toml", "RESULTS=postgresql+psycopg://x/y"])
def test_a_farm_is_installed_on_request(project: Project, variable: str) -> None:
    _make_newer(project.folder / "requirements-farm.lock")
    assert "-m tb.setup.install farm" not in project.make("-n", "nightly").stdout
    assert "-m tb.setup.install farm" in project.make("-n", "nightly", variable).stdout


def test_clean_keeps_results_of_regression_runs(project: Project) -> None:
    for name in ("nightly/results.db", "runs/a/record.json"):
        (project.folder / "sim_build" / name).parent.mkdir(parents=True)
        (project.folder / "sim_build" / name).write_text("")
    assert project.make("clean").returncode == 0
    assert [path.name for path in (project.folder / "sim_build").iterdir()] == ["nightly"]
    assert project.make("distclean").returncode == 0
    assert not (project.folder / "sim_build").exists()
    assert project.make("clean").returncode == 0


@pytest.mark.parametrize(
    ("words", "last"),
    [
        (["test", "ARGS=-k isa", "SINCE=a b"], ["tests", *WORKERS, "--since", "a b", "-k", "isa"]),
        (["check", "ARGS=-k isa"], ["tests", *WORKERS, "--check", "-k", "isa"]),
        (["lint", "ARGS=-k isa"], ["tb.setup.lint", "-k", "isa"]),
        (["bench", "SEED=5", "JSON=x.json"], ["tb", "bench", "--seed", "5", "--json", "x.json"]),
        (["bench", "STRICT=1"], ["tb", "bench", "--strict"]),
        (["doctor", "JSON=x.json"], ["tb", "doctor", "--json", "x.json"]),
    ],
)
def test_other_targets(project: Project, words: list[str], last: list[str]) -> None:
    done = project.make(*words)
    assert done.returncode == 0, done.stderr
    assert [word for word in project.calls()[-1] if word not in ("-m", "pytest")] == last


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["PROFLE=a5"], "make run has no variable PROFLE; did you mean PROFILE?"),
        (["sim=icarus"], "no variable sim; did you mean SIM?"),
        (["n=5"], "no variable n; did you mean N?"),
        (["run", "ARGS=-v"], "make run has no variable ARGS. It takes CODE_COVERAGE "),
        (["program", "PROGRAM=a.pto", "TEST=legal"], "make program has no variable TEST"),
        (["nightly", "SIM=icarus"], "make nightly has no variable SIM"),
        (["help", "a'b=1"], "make help has no variable a'b."),
    ],
)
def test_a_variable_without_effect_is_refused(
    project: Project, words: list[str], facts: str
) -> None:
    done = project.make(*words)
    assert done.returncode == 2
    assert facts in done.stderr
    assert not project.log.exists(), "nothing runs"


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["runn"], "no target runn; did you mean run?"),
        (["PYTHON=/bin/false"], "PYTHON is '/bin/false' 3.11"),
        (["PYTHON=no python"], "PYTHON is 'no python' 3.11"),
        (["JSON=/proc/x.json"], "JSON= legal do"),
        (["JSON=/dev/full"], "JSON= device legal do"),
        (["JSON=loop"], "JSON= circle legal do"),
        (["doctor", "JSON=tb"], "JSON= folder legal do"),
        (["PTO_BUILDS=Makefile"], "PTO_BUILDS= file legal do"),
        (["PTO_BUILDS=/proc/x"], "PTO_BUILDS= legal do"),
        (["CONSTRAINTS=none.py"], "CONSTRAINTS= exist legal do"),
        (["CONSTRAINTS=loop"], "CONSTRAINTS= circle legal do"),
        (["test", "PTO_SHARE=9/8"], "PTO_SHARE= 1/8 to 8/8 do"),
        (["test", "PTO_SHARE=0/8"], "PTO_SHARE= 1/8 to 8/8 do"),
        (["check", "SINCE=nosuch"], "SINCE= nosuch commit branch legal do"),
        (["test", "SINCE=--all"], "SINCE= --all commit branch legal do"),
        (["lint", "ARGS=rufff"], "ARGS= ruff, mypy do"),
        (["prove-rtl", "ARGS=pto_fif"], "ARGS= pto_fifo do"),
    ],
)
def test_a_bad_value_is_refused_before_anything_is_installed(
    project: Project, words: list[str], facts: str
) -> None:
    (project.folder / ".venv" / STAMPS[0]).unlink()
    add_checks(project)
    (project.folder / "loop").symlink_to("loop")
    before = sorted(project.folder.rglob("*"))
    done = project.make(*words)
    assert done.returncode == 2
    assert all(fact in done.stderr for fact in facts.split()), done.stderr
    assert "Traceback" not in done.stderr
    assert not project.log.exists(), "nothing runs"
    assert sorted(project.folder.rglob("*")) == before


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "target"),
    [(["lint", "ARGS=ruff mypy"], "lint"), (["prove-rtl", "ARGS=pto_fifo --seconds 9"], "rtl"),
     (["test", "PTO_SHARE=8/8"], "pytest"), (["JSON=/dev/null"], "run"),
     (["check", "SINCE=HEAD^{/ }"], "pytest"),
     (["JSON=new/x.json"], "run"), (["PTO_BUILDS=new/builds"], "run")],
    ids=str,
)  # fmt: skip
def test_a_good_value_is_taken(project: Project, words: list[str], target: str) -> None:
    add_checks(project)
    name = ("-c", "user.name=n", "-c", "user.email=n@example.com")
    for git in (["init", "-q"], [*name, "commit", "-q", "--allow-empty", "-m", "one commit"]):
        subprocess.run(["git", *git], cwd=project.folder, check=True)
    done = project.make(*words)
    assert done.returncode == 0, done.stderr
    assert target in " ".join(project.calls()[-1])
    assert not (project.folder / "new").exists()


@pytest.mark.long
@pytest.mark.parametrize("name", ["a b", "a'b", "a$b", 'a"b', "a;b", "a:b", "a#b"])
def test_a_checkout_in_a_path_that_tools_cannot_take(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    project = Project(tmp_path / name)
    done = project.make("setup")
    assert done.returncode == 2
    assert "path of the checkout" in done.stderr
    assert not project.log.exists(), "nothing runs"


@pytest.mark.long
def test_make_takes_the_variables_of_every_documented_command(project: Project) -> None:
    lines = {
        line.removeprefix("$ ").partition(" # ")[0]
        for page in PAGES
        for text in (*fences(page), *fences(page, "bash"), *fences(page, "sh"))
        for line in text.splitlines()
        if re.match(r"(\$ )?make\b.*=", line)
    }
    lines |= {line for page in PAGES for line in re.findall(r"`(make [^`]*=[^`]*)`", prose(page))}
    assert len(lines) > 40
    for line in sorted(lines):
        done = project.make("-n", *shlex.split(line.split(" && ")[0])[1:])
        assert "has no variable" not in done.stderr, line


def test_test_needs_both_simulators(project: Project) -> None:
    project.make("test")
    assert [call[2] for call in project.calls()] == ["icarus", "fst", "tests"]


@pytest.mark.parametrize(
    ("failing", "code"),
    [("", "1"), ("tb nightly", "1"), ("pytest", "1"), ("tb qualify", "1"), ("tb qualify", "2")],
)
def test_a_full_regression_plants_faults_and_runs_all_tests_and_shows_the_results(
    project: Project, failing: str, code: str
) -> None:
    """Planted faults that are not found fail no regression; those that cannot be planted do."""
    done = project.make("nightly", "FULL=1", PTO_FAKE_FAIL=failing or "none", PTO_FAKE_CODE=code)
    assert (done.returncode == 0) == ((failing, code) in (("", "1"), ("tb qualify", "1")))
    *_, night, faults, tests, page = project.calls()
    assert (night[1:3], faults[1:3], tests[1], page[1:4]) == (
        ["tb", "nightly"],
        ["tb", "qualify"],
        "pytest",
        ["tb", "report", "--tests"],
    )
    assert f"--junitxml={page[4]}" in tests
    assert ("--faults" in page) == ((failing, code) != ("tb qualify", "2"))


def test_a_regression_that_did_not_begin_takes_in_no_results(project: Project) -> None:
    done = project.make("nightly", "FULL=1", PTO_FAKE_FAIL="tb nightly", PTO_FAKE_CODE="2")
    assert done.returncode != 0
    assert [call[1] for call in project.calls()[-3:]] == ["tb", "tb", "pytest"]


@pytest.mark.parametrize("failing", ["tb run", "tb.setup.install icarus"])
def test_failures_propagate(project: Project, failing: str) -> None:
    done = project.make("SIM=icarus", PTO_FAKE_FAIL=failing)
    assert done.returncode != 0
    assert " ".join(project.calls()[-1]).startswith(f"-m {failing}"), "nothing runs after a failure"


def test_doctor_reports_even_without_verilator(project: Project) -> None:
    done = project.make("doctor", PTO_FAKE_FAIL="tb.setup.install verilator")
    assert done.returncode == 0
    assert project.calls()[-1] == ["-m", "tb", "doctor"]


def test_second_setup_installs_nothing(project: Project) -> None:
    done = project.make("-n", "setup")
    assert "Nothing to be done" in done.stdout
    assert "tb.setup.install" not in done.stdout


def test_packages_are_installed_once_by_the_line_for_contributors_or_by_make(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (line,) = re.findall(
        r"^make setup.*\n\S+ -m tb\.setup\.install ([a-z ]+) #", text, re.MULTILINE
    )
    installed: list[str] = []
    monkeypatch.setattr(sys, "prefix", str(project.folder / ".venv"))
    monkeypatch.setattr(install, "ROOT", project.folder)
    monkeypatch.setattr(install, "_pip", lambda _python, *arguments: installed.append(arguments[1]))
    locks = ["requirements-test.lock", "requirements-lint.lock", "requirements-farm.lock"]

    def by_line() -> list[str]:
        installed.clear()
        assert install.main(line.split()) == 0
        return installed

    assert by_line() == []
    for stamp in STAMPS[2:]:
        (project.folder / ".venv" / stamp).unlink()
    assert by_line() == locks
    for target in ("check", "test", "lint", "synth", "qualify", "prove-rtl", "licenses", "nightly"):
        commands = project.make("-n", target, *(["FULL=1"] if target == "nightly" else [])).stdout
        assert set(re.findall(r"setup\.install (\w+)", commands)) <= {"icarus", "fst"}, target
    assert by_line() == []
    _make_newer(project.folder / locks[1])
    assert by_line() == [locks[1]]
    _make_newer(project.folder / ".venv" / STAMPS[0])
    assert by_line() == locks, "a new .venv has none"


def _make_newer(file: Path) -> None:
    future = time.time() + 10
    os.utime(file, (future, future))


@pytest.mark.parametrize("file", ["requirements.lock", "pyproject.toml"])
def test_changed_pins_are_installed(project: Project, file: str) -> None:
    _make_newer(project.folder / file)
    assert "-m tb.setup.install venv" in project.make("-n", "setup").stdout


def test_changed_verilator_pin_installs_verilator_alone(project: Project) -> None:
    _make_newer(project.folder / "requirements-verilator.lock")
    text = project.make("-n", "setup").stdout
    assert "-m tb.setup.install verilator" in text
    assert "-m tb.setup.install venv" not in text


def test_copied_or_broken_venv_is_set_up_again(project: Project) -> None:
    (project.folder / ".venv" / STAMPS[0]).write_text("/somewhere/else\n")
    assert "-m tb.setup.install venv" in project.make("-n", "setup").stdout
    (project.folder / ".venv" / STAMPS[0]).write_text(f"{project.folder}\n")
    (project.folder / ".venv" / "bin" / "python").unlink()
    assert "-m tb.setup.install venv" in project.make("-n", "setup").stdout


def test_no_python_is_one_clear_error(project: Project, tmp_path: Path) -> None:
    (project.folder / ".venv" / STAMPS[0]).unlink()
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("make", "sh", "env"):
        (tools / name).symlink_to(str(shutil.which(name)))
    done = project.make("setup", PATH=str(tools))
    assert done.returncode != 0
    assert "no Python 3.11 or newer found" in done.stderr
    assert not (project.folder / ".venv" / STAMPS[0]).exists()
