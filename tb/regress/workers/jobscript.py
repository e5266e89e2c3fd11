# SPDX-License-Identifier: Apache-2.0
"""Clusters of a job system, by ``dask-jobqueue``: Slurm, LSF, SGE, PBS."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.regress.workers.cluster import require

if TYPE_CHECKING:
    from tb.regress.workers.farm_file import OfJobSystem

SUBMIT = {"slurm": "sbatch", "lsf": "bsub", "sge": "qsub", "pbs": "qsub"}
"""Command that takes a job script."""

PREFIX = {"slurm": "#SBATCH", "lsf": "#BSUB", "sge": "#$", "pbs": "#PBS"}
"""What the directives in a job script begin with."""

WORKER_COMMAND = "distributed.cli.dask_worker"
_ACCOUNT = {"slurm": "account", "lsf": "project", "sge": "project", "pbs": "account"}
_CLASSES = {"slurm": "SLURM", "lsf": "LSF", "sge": "SGE", "pbs": "PBS"}


def _options(who: OfJobSystem) -> dict[str, Any]:
    """Returns what ``dask-jobqueue`` calls the keys of a farm file."""
    Path(who.logs).mkdir(parents=True, exist_ok=True)
    begin = (
        f"cd {shlex.quote(str(Path.cwd()))}",
        f'export PYTHONPATH={shlex.quote(str(ROOT))}"${{PYTHONPATH:+:$PYTHONPATH}}"',
    )
    options: dict[str, Any] = {
        "cores": who.cores,
        "memory": who.memory,
        "processes": 1,
        "job_name": "pto-dv",
        "walltime": who.walltime,
        "log_directory": who.logs,
        "job_script_prologue": [*begin, *who.prologue],
        "job_extra_directives": list(who.directives),
        "worker_extra_args": ["--no-dashboard"],
        "python": shlex.quote(who.python or sys.executable),
    }
    given = {
        "queue": who.queue,
        _ACCOUNT[who.kind]: who.account,
        "resource_spec": who.resources,
        "interface": who.interface,
    }
    return options | {key: value for key, value in given.items() if value}


def _package() -> Any:
    """Returns ``dask_jobqueue``, which would make Ctrl-C end this process without cleaning up."""
    require()
    before = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue
    except ImportError as error:
        raise PtoError(
            f"job systems need dask-jobqueue: {error}",
            remedy="install them: .venv/bin/python -m tb.setup.install farm",
        ) from None
    finally:
        signal.signal(signal.SIGINT, before)
    return dask_jobqueue


def job_script(who: OfJobSystem, security: Any = None) -> str:
    """Returns the job script of one worker; the scheduler's address is known when it runs.

    Raises:
        PtoError: packages are missing, or an option is refused.
    """
    kind = getattr(_package(), f"{_CLASSES[who.kind]}Cluster").job_cls
    options = {**_options(who), "security": security}
    protocol = "tls" if security else "tcp"
    script: str = kind(f"{protocol}://SCHEDULER:PORT", name="pto-dv", **options).job_script()
    return script


def check_script(kind: str, text: str) -> None:
    """Checks a job script by what a job system and a shell make of it.

    Raises:
        PtoError: it has no shebang, no directive of the job system, no worker, or shell syntax
            that bash refuses.
    """
    lines = text.splitlines()
    body = [line for line in lines if line.strip() and not line.startswith("#")]
    if not lines or not lines[0].startswith("#!/"):
        what = "has no shebang in its first line"
    elif not any(line.startswith(f"{PREFIX[kind]} ") for line in lines):
        what = f"has no directive {PREFIX[kind]}"
    elif not body or WORKER_COMMAND not in body[-1]:
        what = "does not end with a worker"
    else:
        shell = subprocess.run(
            ["bash", "-n"], input=text, capture_output=True, text=True, check=False
        )
        if not shell.returncode:
            return
        what = f"is refused by bash: {shell.stderr.strip()}"
    raise PtoError(
        f"the job script {what}",
        where=kind,
        remedy="look at `prologue` and `directives` of the farm file, and at the defaults in "
        "Dask's own configuration files",
    )


def missing_command(kind: str) -> bool:
    """True where the job system's command is not on the PATH."""
    return shutil.which(SUBMIT[kind]) is None


def _noting_refusals(job_class: Any, refusals: list[str]) -> Any:
    """Returns a class of jobs that note why they were refused, instead of an error in a log."""
    running = require().core.Status.running

    class Job(job_class):
        async def start(self) -> None:
            try:
                await super().start()
            except (OSError, RuntimeError, ValueError) as error:
                refusals.append(str(error).rpartition("stderr:")[2].strip())
                self.status = running  # and closed like one that runs

    return Job


def start_cluster(
    who: OfJobSystem, most: int, security: Any, where: str, refusals: list[str]
) -> Any:
    """Starts a scheduler in this process and requests workers from the job system.

    Args:
        who: The job system.
        most: Most jobs of ours at a time, 0 for that of ``who``.
        security: TLS settings, or None.
        where: What messages call the cluster.
        refusals: Gets the answer of the job system when it takes no job.

    Raises:
        PtoError: packages or the job system's commands are missing, or an option is refused.
    """
    cluster_class = getattr(_package(), f"{_CLASSES[who.kind]}Cluster")
    check_script(who.kind, job_script(who, security))
    if missing_command(who.kind):
        raise PtoError(
            f"{SUBMIT[who.kind]} is not on the PATH",
            where=where,
            remedy="call from a host that may submit jobs",
        )
    # A port for its figures is opened in any case; nobody beyond this host needs it.
    scheduler: dict[str, Any] = {
        "port": who.port,
        "dashboard": False,
        "dashboard_address": "127.0.0.1:0",
    }
    if who.host:
        scheduler["host"] = who.host
    options = _options(who)
    try:
        cluster = cluster_class(
            scheduler_options=scheduler,
            security=security,
            job_cls=_noting_refusals(cluster_class.job_cls, refusals),
            **options,
        )
        cluster.scale(jobs=min(who.jobs, -(-most // who.cores)) if most else who.jobs)
    except (OSError, RuntimeError, ValueError) as error:
        raise PtoError(
            f"the job system cannot be used: {error}", where=where, remedy="see docs/farm.md"
        ) from None
    return cluster
