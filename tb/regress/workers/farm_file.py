# SPDX-License-Identifier: Apache-2.0
"""Farm files (docs/farm.md): their schema, read and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from tb.common.errors import PtoError
from tb.common.files import read_toml
from tb.common.schema import breach
from tb.regress.workers.cluster import PATIENCE_SECONDS

Patience = Annotated[float, Field(gt=0, strict=True)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OnThisMachine(_Table):
    """``kind = "local"``: ``jobs`` at a time, 0 for one for each processor core."""

    kind: Literal["local"] = "local"
    jobs: Annotated[int, Field(ge=0, le=1024, strict=True)] = 0


class OfScheduler(_Table):
    """``kind = "dask"``: the workers of a Dask scheduler that runs already.

    Attributes:
        address: Of the scheduler, such as ``tcp://head:8786``.
        patience: Seconds that jobs may wait while there is no worker at all.
    """

    kind: Literal["dask"]
    address: Annotated[str, Field(pattern=r"^(tcp|tls)://[^:/\s]+:\d+$")]
    patience: Patience = PATIENCE_SECONDS


class OfJobSystem(_Table):
    """``kind`` names a job system that starts workers.

    Attributes:
        jobs: Jobs to request, each with one Dask worker.
        cores: Processor cores of each, as many runs at a time.
        memory: Of each, such as ``8GB``.
        walltime: Of each, ``HH:MM:SS``; of LSF ``HH:MM``.
        queue: Queue or partition.
        account: Account or project that pays.
        resources: Resource request of SGE or PBS, instead of the one made from cores and memory.
        directives: More lines for the head of the job script, without their prefix.
        prologue: Shell lines before the worker starts, such as ``module load verilator``.
        python: Interpreter of the workers; empty for this one.
        interface: Network interface of scheduler and workers, such as ``ib0``.
        host: Address that the scheduler listens on, instead of an interface.
        port: Its port, 0 for any.
        logs: Folder of the jobs' logs.
        patience: Seconds that jobs may wait while there is no worker at all.
    """

    kind: Literal["slurm", "lsf", "sge", "pbs"]
    jobs: Annotated[int, Field(ge=1, le=10_000, strict=True)]
    cores: Annotated[int, Field(ge=1, le=1024, strict=True)]
    memory: Annotated[str, Field(pattern=r"^\d+(\.\d+)? ?[kMGT]i?B$")]
    walltime: Annotated[str, Field(pattern=r"^\d+:\d\d(:\d\d)?$")]
    queue: str = ""
    account: str = ""
    resources: str = ""
    directives: tuple[str, ...] = ()
    prologue: tuple[str, ...] = ()
    python: str = ""
    interface: str = ""
    host: str = ""
    port: Annotated[int, Field(ge=0, le=65535, strict=True)] = 0
    logs: str = "sim_build/farm"
    patience: Patience = PATIENCE_SECONDS

    @model_validator(mode="after")
    def _fits(self) -> OfJobSystem:
        if (self.walltime.count(":") == 1) != (self.kind == "lsf"):
            form = "HH:MM" if self.kind == "lsf" else "HH:MM:SS"
            raise PydanticCustomError(
                "walltime", "walltime of {kind} is {form}", {"kind": self.kind, "form": form}
            )
        if self.resources and self.kind not in ("sge", "pbs"):
            raise PydanticCustomError(
                "resources", "resources are of SGE and PBS; use directives", {}
            )
        if self.host and self.interface:
            raise PydanticCustomError("host", "host and interface exclude each other", {})
        return self


class Database(_Table):
    """``url`` of SQLAlchemy; empty for a file of SQLite."""

    url: str = ""


class Tls(_Table):
    """Files in PEM format; with them all connections of the cluster are encrypted."""

    ca: str
    cert: str
    key: str


class Farm(_Table):
    """A farm file; without one, workers on this machine and results in a file."""

    workers: Annotated[OnThisMachine | OfScheduler | OfJobSystem, Field(discriminator="kind")] = (
        OnThisMachine()
    )
    database: Database = Database()
    tls: Tls | None = None
    path: str = ""


def load_farm(path: Path) -> Farm:
    """Reads a farm file.

    Raises:
        PtoError: it is missing, no TOML, or breaks the schema.
    """
    remedy = "examples/farm has a file for each kind of farm"
    _, data = read_toml(path, "the farm file", remedy)
    try:
        return Farm.model_validate({**data, "path": str(path)})
    except ValidationError as error:
        raise _of_schema(error, path) from None


def _of_schema(error: ValidationError, path: Path) -> PtoError:
    """Returns the first breach of the schema as one sentence."""
    first: dict[str, Any] = {**error.errors()[0]}
    tables: dict[str, type[BaseModel]] = {
        "local": OnThisMachine,
        "dask": OfScheduler,
        **dict.fromkeys(("slurm", "lsf", "sge", "pbs"), OfJobSystem),
        "database": Database,
        "tls": Tls,
    }
    place = [str(part) for part in first["loc"]]
    model: type[BaseModel] = next(
        (tables[name] for name in reversed(place) if name in tables), Farm
    )
    # The kind stands in the place, between the table and its key.
    words = [name for at, name in enumerate(place) if at != 1 or place[0] != "workers"]
    if "database" in place:
        first["input"] = None  # it may be a password
    what, legal = breach(first, ".".join(words), model)
    if first["type"].startswith("union_tag"):
        what = "workers.kind " + ("is missing" if "not_found" in first["type"] else "is unknown")
        legal = "local, dask, slurm, lsf, sge, pbs"
    return PtoError(what, where=str(path), legal=legal, remedy="take a key of docs/farm.md")
