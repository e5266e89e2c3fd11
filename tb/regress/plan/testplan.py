# SPDX-License-Identifier: Apache-2.0
"""Reads ``tb/regress/plan/testplan.toml``: behaviours to verify, and regressions.

A behaviour names the tests, coverage groups and rules that prove it; a regression reports which
tests run on which simulators and widths with how many seeds. ``pto-dv testplan`` prints it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, ValidationError

from tb.common.errors import PtoError
from tb.common.files import read_toml
from tb.common.paths import ROOT
from tb.common.schema import breach
from tb.common.text import meant
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.stress import GROUPS
from tb.coverage.view import FORMS
from tb.dut.manifest import MAX_OUTSTANDING, MAX_TAG_WIDTH, MIN_TAG_WIDTH
from tb.dut.profile_text import read_profile
from tb.dut.selection import SELECTABLE
from tb.isa.ops import OPS
from tb.isa.rules import RULES
from tb.record.settings import DEFAULT_PROFILE, DEFAULT_TAG_WIDTH, DEFAULT_WIDTH, DataWidth
from tb.run.recipes import SIMULATORS
from tb.run.testlist import PlannedTest

TESTPLAN = ROOT / "tb/regress/plan/testplan.toml"
"""The plan of this project."""

WRITE_BACKS = "fixpipe"
"""Coverage group of all write-backs."""

PYTEST = "pytest:"
"""Before the file of a test that ``make test`` runs, in a behaviour's tests."""

CODE_COVERAGE = ("verilator",)
"""Simulators that count the code coverage of engines."""

Milestone = Literal["V1", "V2", "V3"]
_MODEL = ConfigDict(frozen=True, extra="forbid")
_HEADER = re.compile(
    r"^\s*\[\[\s*(behaviour|known|regression|regression\.runs)\s*\]\]", re.MULTILINE
)


class Need(BaseModel):
    """Settings of a run without which a behaviour is not proven; None is any."""

    model_config = _MODEL

    sim: str | None = None
    gm_width: DataWidth | None = None
    local_width: DataWidth | None = None
    profile: str | None = None
    gm: Literal["hdl", "cocotbext"] | None = None
    tag_width: StrictInt | None = None
    outstanding: StrictInt | None = None

    @property
    def text(self) -> str:
        """The settings as words."""
        return ", ".join(f"{x} = {y}" for x, y in self.model_dump(exclude_none=True).items())

    def is_met_by(self, run: Any) -> bool:
        """Returns whether a run has these settings."""
        wanted = self.model_dump(exclude_none=True)
        return all(getattr(run, name) == value for name, value in wanted.items())


class Behaviour(BaseModel):
    """Something that engines must do, and what proves it.

    Attributes:
        name: Its name, unique.
        milestone: ``V1``, ``V2`` or ``V3``: how early it has to hold.
        description: What is checked, in a few sentences.
        tests: Names of planned tests; ``pytest:path/to/test_file.py``, with or without
            ``::test_name``, for those that run without a simulator.
        groups: Coverage groups that measure it. Those of ops are its scope.
        rules: Rules of the specification that it covers.
        needs: Settings, each of which a run of its tests must have passed with.
    """

    model_config = _MODEL

    name: str = Field(min_length=1)
    milestone: Milestone
    description: str = Field(min_length=1)
    tests: tuple[str, ...] = Field(min_length=1)
    groups: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()

    @property
    def scope(self) -> frozenset[str] | None:
        """Ops and legacy forms that it is about; None for all, as it is with any other group."""
        ops: set[str] = set()
        for group in self.groups:
            if group == WRITE_BACKS:
                ops |= {name for name, spec in OPS.items() if spec.rules == "FIX"}
            elif group in FORMS:
                ops.add(group)
            else:
                return None
        return frozenset(ops) or None


class RunSet(BaseModel):
    """Runs of a regression that differ in test, simulator, widths, profile and seed alone.

    Attributes:
        tests: Names of planned tests.
        sims: Simulators.
        widths: Pairs of GM and local data width, in bits. The default pair stands for the widths of
            the engines under test (:func:`tb.dut.widths.run_widths`).
        in_turn: A regression run takes one of the pairs, by its seed.
        profiles: Profiles, as ``PROFILE=`` takes them.
        seeds: Most seeds of each combination, ``"all"`` for as many as are requested.
        transactions: Instead of the number of the planned test.
        ops: Ops and legacy forms to draw from; all by default.
        tag_width: Width of a tag in bits.
        outstanding: Most AXI bursts in flight in each direction.
        gm: Who plays the GM.
        code_coverage: Count the code coverage of the engines.
        seconds: How long a run takes, as a guess for budgets; 0 goes by the transactions.
        label: Distinguishes sets that are else alike, in the names of their runs.
    """

    model_config = _MODEL

    tests: tuple[str, ...] = Field(min_length=1)
    sims: tuple[str, ...] = Field(("verilator",), min_length=1)
    widths: tuple[tuple[DataWidth, DataWidth], ...] = Field(
        ((DEFAULT_WIDTH, DEFAULT_WIDTH),), min_length=1
    )
    in_turn: StrictBool = False
    profiles: tuple[str, ...] = Field((DEFAULT_PROFILE,), min_length=1)
    seeds: Literal["all"] | StrictInt = "all"
    transactions: int | None = Field(None, ge=1, le=100_000_000, strict=True)
    ops: tuple[str, ...] = ()
    tag_width: int = Field(DEFAULT_TAG_WIDTH, ge=MIN_TAG_WIDTH, le=MAX_TAG_WIDTH, strict=True)
    outstanding: int = Field(16, ge=1, le=MAX_OUTSTANDING, strict=True)
    gm: Literal["hdl", "cocotbext"] = "hdl"
    code_coverage: StrictBool = False
    seconds: float = Field(0.0, ge=0, strict=True)
    label: str = Field("", pattern=r"^[a-z0-9]*$")


class Gates(BaseModel):
    """What a regression run has to reach, beside runs that pass.

    Attributes:
        coverage: Least functional coverage in percent, after exclusions.
        proven: Least part of the behaviours that are proven, in percent.
        lost_bins: Most bins that the last comparable regression run hit of which all runs were
            done, and this one did not.
    """

    model_config = _MODEL

    coverage: float = Field(0.0, ge=0, le=100, strict=True)
    proven: float = Field(0.0, ge=0, le=100, strict=True)
    lost_bins: int | None = Field(None, ge=0, strict=True)


class Known(BaseModel):
    """What is known of a bucket of failures, for all regression runs.

    Attributes:
        bucket: Its name.
        reason: What is wrong.
        owner: Who works on it.
        link: Its entry in an issue tracker.
        until: Its runs fail no regression run up to this day; without it they do.
    """

    model_config = _MODEL

    bucket: str = Field(pattern=r"^B[0-9a-f]{10}$")
    reason: str = Field(min_length=1)
    owner: str = ""
    link: str = Field("", pattern=r"^(https?://\S+)?$")
    until: date | None = None

    @property
    def text(self) -> str:
        """The entry as one phrase."""
        until = f"until {self.until}" if self.until else ""
        return ", ".join(filter(None, [self.reason, self.owner, self.link, until]))


class Regression(BaseModel):
    """Named sets of runs, and the gates of their results; ``doc`` is one line."""

    model_config = _MODEL

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    doc: str
    runs: tuple[RunSet, ...] = Field(min_length=1)
    gates: Gates = Gates()


class TestPlan(BaseModel):
    """The whole file; ``path`` is where it was read from."""

    __test__: ClassVar[bool] = False  # no test class, whatever pytest thinks of the name
    model_config = _MODEL

    behaviour: tuple[Behaviour, ...] = Field(min_length=1)
    regression: tuple[Regression, ...] = Field(min_length=1)
    known: tuple[Known, ...] = ()
    path: str = ""

    def find(self, name: str) -> Regression:
        """Returns the regression of this name.

        Raises:
            PtoError: there is none.
        """
        for found in self.regression:
            if found.name == name:
                return found
        names = [found.name for found in self.regression]
        raise PtoError(
            f"regression {name!r} is unknown{meant(name, names)}",
            where=self.path,
            legal=", ".join(names),
        )


@cache
def coverage_groups() -> tuple[str, ...]:
    """Returns the names of all coverage groups."""
    return tuple(FunctionalCoverage(forms=FORMS, illegal=True, stress=GROUPS).groups)


def load_testplan(
    path: Path = TESTPLAN, planned: Mapping[str, PlannedTest] | None = None, root: Path = ROOT
) -> TestPlan:
    """Reads and checks a testplan.

    Args:
        path: The file.
        planned: Tests that may be named; those of ``tb/run/testlist.toml`` by default.
        root: What the files of pytest are relative to.

    Raises:
        PtoError: the file cannot be read or is not TOML, an entry lacks a key or has an unknown
        one,
            or names what does not exist; two entries have one name.
    """
    if planned is None:
        from tb.run.testlist import load_plan

        planned = load_plan()
    remedy = "leave out --plan for tb/regress/plan/testplan.toml of the project"
    text, data = read_toml(path, "the testplan", remedy)
    lines = _Lines(path, text)
    try:
        plan = TestPlan.model_validate({**data, "path": str(path)})
    except ValidationError as error:
        raise _of_schema(error, data, lines) from None
    _check_behaviours(plan.behaviour, planned, root, lines)
    _check_regressions(plan.regression, planned, lines)
    return plan


def unclaimed(plan: TestPlan, planned: Iterable[str]) -> list[str]:
    """Returns a sentence for each test, group and rule that no behaviour names."""
    claimed = {
        "test": {name for one in plan.behaviour for name in one.tests},
        "coverage group": {name for one in plan.behaviour for name in one.groups},
        "rule": {name for one in plan.behaviour for name in one.rules},
    }
    there: dict[str, Iterable[str]] = {
        "test": planned,
        "coverage group": coverage_groups(),
        "rule": RULES,
    }
    return [
        f"{kind} {name} is claimed by no behaviour"
        for kind, names in there.items()
        for name in names
        if name not in claimed[kind]
    ]


class _Lines:
    """Finds the lines of entries in the text of a plan, for messages."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self._lines = text.splitlines()
        self._starts: dict[str, list[int]] = {kind: [] for kind in _MODELS}
        self._runs: dict[tuple[int, int], int] = {}
        self._headers: list[int] = []
        for found in _HEADER.finditer(text):
            line = text.count("\n", 0, found.start(1)) + 1
            self._headers.append(line)
            if found.group(1) == "regression.runs":
                owner = len(self._starts["regression"]) - 1
                number = sum(1 for one, _ in self._runs if one == owner)
                self._runs[owner, number] = line
            else:
                self._starts[found.group(1)].append(line)

    def where(self, kind: str, number: int, name: str, what: str = "", runs: int = -1) -> str:
        """Returns file, line and name of an entry; the line of ``what`` where it is quoted."""
        starts = self._starts.get(kind, [])
        line = starts[number] if number < len(starts) else 0
        if runs >= 0:
            line = self._runs.get((number, runs), line)
        if line and what:
            word = re.compile(rf"(?<![\w-]){re.escape(what)}(?![\w-])")
            stop = next((one for one in self._headers if one > line), len(self._lines) + 1)
            found = (one for one in range(line, stop) if word.search(self._lines[one - 1]))
            line = next(found, line)
        place = f"{self.path}, line {line}" if line else str(self.path)
        return f"{place}, {kind} {name}" + (f", runs {runs + 1}" if runs >= 0 else "")


def _name_of(data: Mapping[str, Any], kind: str, number: int) -> str:
    try:
        return repr(str(data[kind][number]["name"]))
    except (KeyError, IndexError, TypeError):
        return f"number {number + 1}"


_MODELS: dict[str, type[BaseModel]] = {
    "behaviour": Behaviour, "known": Known, "regression": Regression,
}  # fmt: skip


def _of_schema(error: ValidationError, data: Mapping[str, Any], lines: _Lines) -> PtoError:
    """Returns the first breach of the schema as one sentence, with its entry."""
    first = error.errors()[0]
    place = first["loc"]
    kind = str(place[0])
    where, model, runs = str(lines.path), _MODELS.get(kind, TestPlan), -1
    keys: Sequence[int | str] = place
    if kind in _MODELS and len(place) > 1 and isinstance(place[1], int):
        keys = place[2:]
        if len(keys) > 1 and keys[0] == "gates":
            keys, model = keys[1:], Gates
        elif len(keys) > 1 and keys[0] == "runs" and isinstance(keys[1], int):
            runs, keys, model = keys[1], keys[2:], RunSet
        word = str(keys[0]) if keys else ""
        where = lines.where(kind, place[1], _name_of(data, kind, place[1]), word, runs)
    key = str(keys[0]) if keys else kind
    what, legal = breach(first, f"key {key}", model)
    return PtoError(what, where=where, legal=legal)


def _unknown(what: str, word: str, legal: Collection[str], where: str) -> NoReturn:
    raise PtoError(
        f"{what} {word!r} is unknown{meant(word, list(legal))}", where=where, legal=", ".join(legal)
    )


def _check_behaviours(
    behaviours: Sequence[Behaviour],
    planned: Mapping[str, PlannedTest],
    root: Path,
    lines: _Lines,
) -> None:
    """Raises PtoError for a name that does not exist, or that two behaviours have."""
    seen: set[str] = set()
    for number, one in enumerate(behaviours):

        def where(word: str, number: int = number, name: str = one.name) -> str:
            return lines.where("behaviour", number, repr(name), word)

        if one.name in seen:
            raise PtoError(f"two behaviours are called {one.name!r}", where=where(one.name))
        seen.add(one.name)
        for test in one.tests:
            if test.startswith(PYTEST):
                _check_pytest(test, root, where(test))
            elif test not in planned:
                _unknown("test", test, [*planned, f"{PYTEST}path/to/test_file.py"], where(test))
        for group in one.groups:
            if group not in coverage_groups():
                _unknown("coverage group", group, coverage_groups(), where(group))
        for rule in one.rules:
            if rule not in RULES:
                _unknown("rule", rule, RULES, where(rule))


def _check_pytest(test: str, root: Path, where: str) -> None:
    """Raises PtoError where a file of pytest, or a function in it, does not exist."""
    name, _, function = test.removeprefix(PYTEST).partition("::")
    file = root / name
    if not file.is_file():
        raise PtoError(f"test file {name} does not exist", where=where, remedy=f"look in {root}")
    if function and not re.search(
        rf"^\s*(?:async )?def {re.escape(function)}\(", file.read_text(), re.MULTILINE
    ):
        raise PtoError(f"{name} has no function {function!r}", where=where)


def _check_regressions(
    regressions: Sequence[Regression], planned: Mapping[str, PlannedTest], lines: _Lines
) -> None:
    """Raises PtoError for a name that does not exist, and for runs that have one name."""
    seen: set[str] = set()
    for number, one in enumerate(regressions):
        if one.name in seen:
            where = lines.where("regression", number, repr(one.name), one.name)
            raise PtoError(f"two regressions are called {one.name!r}", where=where)
        seen.add(one.name)
        taken: dict[tuple[object, ...], int] = {}
        for place, runs in enumerate(one.runs):

            def where_of(word: str, n: int = number, p: int = place, name: str = one.name) -> str:
                return lines.where("regression", n, repr(name), word, p)

            _check_runs(runs, planned, where_of)
            for key in _combinations(runs):
                if key in taken:
                    raise PtoError(
                        f"runs of {key[0]} on {key[1]} at GM {key[2]}, local {key[3]} are planned "
                        f"twice under profile {key[4]}, by runs {taken[key] + 1} and {place + 1}",
                        where=where_of(str(key[0])),
                        remedy='give one of them a label, such as label = "long"',
                    )
                taken[key] = place


def _combinations(runs: RunSet) -> set[tuple[object, ...]]:
    """Returns what the names of these runs are made from, seeds apart."""
    rest = (runs.tag_width, runs.outstanding, runs.gm, runs.code_coverage, runs.label)
    return {
        (test, sim, gm, local, str(read_profile(profile, "")), *rest)
        for test in runs.tests
        for sim in runs.sims
        for gm, local in runs.widths
        for profile in runs.profiles
    }


def _check_runs(runs: RunSet, planned: Mapping[str, PlannedTest], where: Any) -> None:
    for test in runs.tests:
        if test not in planned:
            _unknown("test", test, planned, where(test))
    for profile in runs.profiles:
        read_profile(profile, where(profile.partition(",")[0]))
    for sim in runs.sims:
        if sim not in SIMULATORS:
            _unknown("simulator", sim, SIMULATORS, where(sim))
        if runs.code_coverage and sim not in CODE_COVERAGE:
            raise PtoError(
                f"simulator {sim} counts no code coverage",
                where=where(sim),
                legal=", ".join(CODE_COVERAGE),
            )
    for op in runs.ops:
        if op not in SELECTABLE:
            _unknown("op", op, SELECTABLE, where(op))
    if runs.seeds != "all" and runs.seeds < 1:
        raise PtoError(
            f"seeds is {runs.seeds}", where=where("seeds"), legal='"all", or a number from 1'
        )
