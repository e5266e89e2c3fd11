# SPDX-License-Identifier: Apache-2.0
"""Workers of a farm file, and the command that checks one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tb.common.errors import PtoError
from tb.regress.workers import jobscript
from tb.regress.workers.cluster import DaskWorkers, connect, require
from tb.regress.workers.farm_file import Farm, OfJobSystem, OfScheduler, OnThisMachine, load_farm
from tb.regress.workers.local import LocalWorkers
from tb.regress.workers.pool import WORK, Workers


def open_workers(farm: Farm, jobs: int = 0, work: str = WORK) -> Workers:
    """Returns the workers of a farm.

    Args:
        farm: Who works.
        jobs: Most jobs at a time, 0 for that of the farm file.
        work: Function that does a job, ``module:name``.

    Raises:
        PtoError: the scheduler or the job system cannot be reached, no worker comes, packages
            are missing.
    """
    who = farm.workers
    if isinstance(who, OnThisMachine):
        return LocalWorkers(jobs or who.jobs or len(os.sched_getaffinity(0)), work)
    cluster, security = None, _security(farm)
    refusals: list[str] = []
    if isinstance(who, OfScheduler):
        where = address = who.address
    else:
        where, address = f"{who.kind}, {farm.path}", None
        cluster = address = jobscript.start_cluster(who, jobs, security, where, refusals)
    try:
        client = connect(address, where=where, security=security)
    except BaseException:
        if cluster is not None:
            cluster.close()
        raise
    return DaskWorkers(
        client,
        where=where,
        work=work,
        cluster=cluster,
        most=jobs,
        patience=who.patience,
        refusals=refusals,
    )


def _security(farm: Farm) -> Any:
    """Returns the TLS settings of ``distributed``, or None.

    Raises:
        PtoError: a file does not exist.
    """
    if farm.tls is None:
        return None
    for name, file in farm.tls:
        if not Path(file).is_file():
            raise PtoError(f"tls.{name}: {file} does not exist", where=farm.path)
    ca, cert, key = farm.tls.ca, farm.tls.cert, farm.tls.key
    ours = {
        f"tls_{role}_{kind}": file
        for role in ("client", "scheduler", "worker")
        for kind, file in (("cert", cert), ("key", key))
    }
    return require().security.Security(tls_ca_file=ca, require_encryption=True, **ours)


def farm_command(path: Path, script: bool) -> int:
    """Checks a farm file and prints what it means, or with ``script`` the job script alone."""
    farm = load_farm(path)
    who = farm.workers
    if script and not isinstance(who, OfJobSystem):
        raise PtoError(
            f"workers of kind {who.kind} have no job script",
            where=str(path),
            legal="slurm, lsf, sge, pbs",
        )
    if isinstance(who, OfJobSystem):
        text = jobscript.job_script(who, _security(farm))
        jobscript.check_script(who.kind, text)
        if script:
            print(text, end="")
            return 0
        print(f"{path}: {who.jobs} jobs of {who.kind} with {who.cores} cores and {who.memory} each")
        print("job script: complete; --script prints it")
        submit = jobscript.SUBMIT[who.kind]
        missing = jobscript.missing_command(who.kind)
        print(f"{submit}: {'not on the PATH of this host' if missing else 'found'}")
    elif isinstance(who, OfScheduler):
        client = connect(who.address, where=who.address, security=_security(farm))
        threads = client.nthreads()
        client.close()
        print(f"{path}: {len(threads)} workers at {who.address}, {sum(threads.values())} at a time")
    else:
        count = who.jobs or len(os.sched_getaffinity(0))
        print(f"{path}: on this machine, {count} at a time")
    place = farm.database.url.split("@")[-1] if farm.database.url else "a file of SQLite"
    print(f"database: {place}")
    return 0
