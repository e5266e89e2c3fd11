# SPDX-License-Identifier: Apache-2.0
"""Farm files, the job scripts made from them, and a job system that a script stands for."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.regress.workers.farm import farm_command, open_workers
from tb.regress.workers.farm_file import Farm, OfJobSystem, load_farm
from tb.regress.workers.job import Outcome
from tb.regress.workers.jobscript import PREFIX, check_script, job_script
from tb.regress.workers.local import LocalWorkers
from tests.regress.fake_work import job
from tests.regress.workers.test_local import FAKE, alive, collect, read_pid, until

EXAMPLES = sorted((ROOT / "examples/farm").glob("*.toml"))
SYSTEMS = ("slurm", "lsf", "sge", "pbs")
MINIMAL = '[workers]\nkind = "{}"\njobs = 1\ncores = 1\nmemory = "1GB"\nwalltime = "{}"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "farm.toml"
    path.write_text(text)
    return path


def minimal(folder: Path, kind: str, more: str = "") -> Path:
    return write(folder, MINIMAL.format(kind, "1:00" if kind == "lsf" else "1:00:00") + more)


def test_examples_are_right() -> None:
    assert [load_farm(path).workers.kind for path in EXAMPLES] == [path.stem for path in EXAMPLES]
    assert {path.stem for path in EXAMPLES} == {"local", "dask", *SYSTEMS}


@pytest.mark.long
def test_without_a_file_workers_are_on_this_machine() -> None:
    farm = Farm()
    assert (farm.workers.kind, farm.database.url) == ("local", "")
    with open_workers(farm, 3, FAKE) as workers:  # type: ignore[attr-defined]
        assert isinstance(workers, LocalWorkers)
        assert workers.size == 3


LOCAL = '[workers]\nkind = "local"\n'
SGE, PBS, SLURM = (MINIMAL.format(kind, "1:00:00") for kind in ("sge", "pbs", "slurm"))
BROKEN = [
    ("workers = ", "not TOML", ""),
    ("[workers]\njobs = 2\n", "workers.kind is missing", "slurm"),
    ('[workers]\nkind = "condor"\n', "workers.kind is unknown", "slurm"),
    (LOCAL + "job = 2\n", "workers.job is unknown; did you mean jobs?", "jobs"),
    (LOCAL + "jobs = -1\n", "workers.jobs is -1", "0..1024"),
    (LOCAL + 'jobs = "2"\n', "workers.jobs is '2'", "an integer"),
    (SGE + "port = true\n", "workers.port is True", "an integer"),
    (SGE + 'patience = "9"\n', "workers.patience is '9'", "a number"),
    (SGE.replace("1GB", "lots"), "workers.memory is 'lots'", "a text that matches"),
    ('[workers]\nkind = "dask"\n', "workers.address is missing", ""),
    (
        '[workers]\nkind = "dask"\naddress = "head"\n',
        "workers.address is 'head'",
        "a text that matches",
    ),
    ('[worker]\nkind = "local"\n', "worker is unknown; did you mean workers?", "database"),
    ('[database]\nurls = ""\n', "database.urls is unknown; did you mean url?", "url"),
    (MINIMAL.format("lsf", "1:00:00"), "walltime of lsf is HH:MM", ""),
    (MINIMAL.format("slurm", "1:00"), "walltime of slurm is HH:MM:SS", ""),
    (SLURM + 'resources = "x"\n', "of SGE and PBS", ""),
    (PBS + 'host = "h"\ninterface = "i"\n', "exclude", ""),
]


@pytest.mark.parametrize(("text", "words", "legal"), BROKEN)
def test_broken_files(tmp_path: Path, text: str, words: str, legal: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(PtoError, match=re.escape(words)) as info:
        load_farm(path)
    assert info.value.where == str(path)
    assert legal in info.value.legal


def test_dask_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PtoError, match="need Dask") as info:
        open_workers(load_farm(ROOT / "examples/farm/dask.toml"))
    command = ".venv/bin/python -m tb.setup.install farm"
    assert command in info.value.remedy
    # The page installs Dask before the first command that needs it.
    text = (ROOT / "docs/farm.md").read_text()
    assert "make setup" in text.partition(command)[0]
    assert command in text.partition("pto-dv farm")[0]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(PtoError, match="cannot read the farm file"):
        load_farm(tmp_path / "none.toml")
    path = minimal(tmp_path, "slurm", '[tls]\nca = "a"\ncert = "b"\nkey = "c"\n')
    with pytest.raises(PtoError, match=re.escape("tls.ca: a does not exist")):
        farm_command(path, script=True)


# --- job scripts -------------------------------------------------------------------------------


@pytest.fixture(name="queued")
def _queued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to submit from, so that logs land there."""
    pytest.importorskip("dask_jobqueue", reason="requirements-farm.lock is not installed")
    folder = tmp_path / "a folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


HEADS = {
    "slurm": ("-p regress", "-A chip", "--cpus-per-task=4", "--mem=8G", "-t 04:00:00"),
    "lsf": ("-q regress", '-P "chip"', "-n 4", "-M 8000000", "-W 04:00", "-sla nightly"),
    "sge": ("-q regress", "-P chip", "-l mem_free=2G", "-l h_rt=04:00:00", "-pe smp 4"),
    "pbs": ("-q regress", "-A chip", "-l select=1:ncpus=4:mem=7630MB", "-l walltime=04:00:00"),
}


@pytest.mark.long
def test_ctrl_c_stays_ours(queued: Path) -> None:
    """The package for job systems takes it over when it is imported."""
    code = (
        "import signal; from pathlib import Path\n"
        "from tb.regress.workers.farm import farm_command\n"
        f"farm_command(Path({str(ROOT / 'examples/farm/slurm.toml')!r}), True)\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


@pytest.mark.parametrize("kind", SYSTEMS)
def test_job_scripts(queued: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert farm_command(ROOT / f"examples/farm/{kind}.toml", script=True) == 0
    text = capsys.readouterr().out
    check_script(kind, text)
    for words in HEADS[kind]:
        assert f"{PREFIX[kind]} {words}\n" in text
    lines = text.splitlines()
    assert f"cd '{queued}'" in lines  # jobs name their files from there
    assert lines.index("module load verilator") < len(lines) - 1
    worker = lines[-1].split()
    command = f"{sys.executable} -m distributed.cli.dask_worker tcp://SCHEDULER:PORT"
    assert worker[:4] == command.split()
    assert worker[worker.index("--nthreads") + 1] == "4"
    assert worker[worker.index("--interface") + 1] == "ib0"


@pytest.mark.parametrize(
    ("kind", "old", "new", "words"),
    [
        ("slurm", "#!/usr", "/usr", "no shebang"),
        ("pbs", "#PBS", "#SBATCH", "no directive #PBS"),
        ("sge", "dask_worker", "sleep", "does not end with a worker"),
        ("lsf", "cd ", "if cd ", "refused by bash"),
    ],
)
def test_broken_job_scripts(queued: Path, kind: str, old: str, new: str, words: str) -> None:
    farm = load_farm(ROOT / f"examples/farm/{kind}.toml")
    assert isinstance(farm.workers, OfJobSystem)
    text = job_script(farm.workers)
    check_script(kind, text)
    with pytest.raises(PtoError, match=words):
        check_script(kind, text.replace(old, new))


def test_a_broken_prologue_is_found_before_anything_is_submitted(queued: Path) -> None:
    path = minimal(queued, "slurm", 'prologue = ["echo \'open"]\n')
    with pytest.raises(PtoError, match="refused by bash") as info:
        farm_command(path, script=False)
    assert "prologue" in info.value.remedy


@pytest.mark.parametrize("kind", ["local", "dask"])
def test_only_job_systems_have_scripts(kind: str) -> None:
    with pytest.raises(PtoError, match="have no job script"):
        farm_command(ROOT / f"examples/farm/{kind}.toml", script=True)


def test_a_file_is_explained(queued: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert farm_command(ROOT / "examples/farm/local.toml", script=False) == 0
    out = capsys.readouterr().out
    assert "on this machine, 8 at a time" in out
    assert "database: db.example/pto\n" in out  # no user, no password
    assert farm_command(minimal(queued, "sge"), script=False) == 0
    assert "1 jobs of sge" in capsys.readouterr().out


def programs(folder: Path, **texts: str) -> Path:
    """Returns a folder of programs."""
    place = folder / "bin"
    place.mkdir()
    for name, text in texts.items():
        (place / name).write_text(text)
        (place / name).chmod(stat.S_IRWXU)
    return place


def test_a_host_that_cannot_submit(queued: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    farm = load_farm(minimal(queued, "slurm"))
    place = programs(queued)
    (place / "bash").symlink_to(shutil.which("bash") or "")
    monkeypatch.setenv("PATH", str(place))
    with pytest.raises(PtoError, match="sbatch is not on the PATH"):
        open_workers(farm, 0, FAKE)


SUBMIT = """#!/bin/bash
# Stands for a job system: runs the job here, at once.
script=${1:-job.$$}
[[ $# == 0 ]] && cat >"$script"
cp "$script" submitted
bash submitted >>jobs.log 2>&1 </dev/null &
echo $! >>pids
echo "Submitted batch job $!"
"""
CANCEL = """#!/bin/bash
echo "$@" >>cancelled
kill "$@"
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "submit", "cancel"), [("slurm", "sbatch", "scancel"), ("pbs", "qsub", "qdel")]
)
def test_workers_of_a_job_system(
    queued: Path, monkeypatch: pytest.MonkeyPatch, kind: str, submit: str, cancel: str
) -> None:
    """Everything but the job system itself, which a script stands for."""
    place = programs(queued, **{submit: SUBMIT, cancel: CANCEL})
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    path = minimal(queued, kind, 'host = "127.0.0.1"\nprologue = ["echo begun"]\n')
    workers = open_workers(load_farm(path), 0, FAKE)
    try:
        for key in ("a", "b"):
            workers.submit(job(key, queued))
        found = collect(workers, 2)
        assert all(isinstance(item, Outcome) and item.passed for item in found)
        workers.submit(job("c", queued, sleep=30.0, simulator="loose"))
        pids = [read_pid(queued / "c/1" / name) for name in ("simulator", "begun")]
    finally:
        workers.close()
    until(lambda: not any(alive(pid) for pid in pids))
    (number,) = (queued / "pids").read_text().split()
    assert (queued / "cancelled").read_text().split() == [number]
    assert (queued / "jobs.log").read_text().startswith("begun\n")
    check_script(kind, (queued / "submitted").read_text())


def test_a_job_system_that_refuses(queued: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = programs(queued, sbatch="#!/bin/bash\necho 'no such partition' >&2; exit 1\n")
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    path = minimal(queued, "slurm", 'host = "127.0.0.1"\n')
    with pytest.raises(PtoError, match="gives no worker: no such partition") as info:
        open_workers(load_farm(path), 0, FAKE)
    assert info.value.where == f"slurm, {path}"
