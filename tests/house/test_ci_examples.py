# SPDX-License-Identifier: Apache-2.0
"""The examples for CI services and cron: their calls exist. Nothing is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tb.common.paths import ROOT
from tb.nightly.command import NIGHTLY, seconds
from tb.regress.plan.testplan import load_testplan

WORKFLOW = ROOT / "examples/ci/nightly.yml"
CRONTAB = ROOT / "examples/ci/crontab"

MAKEFILE = (ROOT / "Makefile").read_text().replace("\\\n", " ")
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
VARIABLES = {
    name
    for words in re.findall(r"^(?:\w+_)?VARIABLES := (.*)$", MAKEFILE, re.MULTILINE)
    for name in words.split()
}
NIGHTLY_VARIABLES = {
    "REGRESSION",
    "SEEDS",
    "SEED",
    "JOBS",
    "BUDGET",
    "DUT",
    "PROFILE",
    "FARM",
    "RESULTS",
    "FRESH",
    "KEEP",
}

SETTING = re.compile(r"^([A-Z_]+)=(.*)$")
MADE = ("report", "junit.xml", "code", "runs")
"""Files of a regression run to keep, see tb/nightly/publish.py."""


def calls(script: str) -> Iterator[list[str]]:
    """Yields the words after each call of make in a shell script."""
    for line in script.splitlines():
        for part in re.split(r"&&|\|\||\||;|>", line):
            words = shlex.split(part, comments=True)
            if "make" in words:
                yield words[words.index("make") + 1 :]


def wrong(words: list[str]) -> list[str]:
    """Returns the words of a call of make that the Makefile does not have."""
    found = []
    for word in words:
        setting = SETTING.match(word)
        if setting is None:
            found += [] if word in TARGETS else [f"target {word}"]
        elif setting.group(1) not in VARIABLES:
            found.append(f"variable {setting.group(1)}")
        elif "nightly" in words and setting.group(1) not in NIGHTLY_VARIABLES:
            found.append(f"variable {setting.group(1)} of nightly")
        elif not setting.group(2):
            found.append(f"{word} without a value")
    return found


def settings_of(words: list[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words if SETTING.match(word))


def cron_lines() -> list[tuple[list[str], str]]:
    """Returns times and command of each entry of the crontab."""
    found = []
    for line in CRONTAB.read_text().splitlines():
        if line and not line.startswith("#") and not re.match(r"^\w+=", line):
            *times, command = line.split(None, 5)
            found.append((times, command))
    return found


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with the farm extra")
    loaded = yaml.safe_load(WORKFLOW.read_text())
    assert isinstance(loaded, dict)
    return loaded


@pytest.fixture(scope="module")
def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    (job,) = workflow["jobs"].values()
    return list(job["steps"])


def using(steps: list[dict[str, Any]], action: str) -> dict[str, Any]:
    """Returns the arguments of the one step that uses an action."""
    (found,) = [step for step in steps if step.get("uses", "").startswith(f"{action}@")]
    return dict(found.get("with", {}))


def test_wrong_calls_are_found() -> None:
    script = (
        'cd x && flock -n y make nigthly SEDS=3 >log\nmake run N= | tee log\nmake nightly N="$N"'
    )
    assert [wrong(words) for words in calls(script)] == [
        ["target nigthly", "variable SEDS"],
        ["N= without a value"],
        ["variable N of nightly"],
    ]
    assert {"run", "nightly", "test"} <= TARGETS
    assert NIGHTLY_VARIABLES | {"SIM", "ARGS"} <= VARIABLES


def test_the_calls_of_the_workflow_exist(steps: list[dict[str, Any]]) -> None:
    made = [words for step in steps for words in calls(step.get("run", ""))]
    (nightly,) = [words for words in made if "nightly" in words]
    assert not wrong(nightly)


@pytest.mark.long
def test_the_values_of_the_workflow_are_legal(
    workflow: dict[Any, Any], steps: list[dict[str, Any]]
) -> None:
    # `on` is a truth value in YAML 1.1.
    inputs = workflow[True]["workflow_dispatch"]["inputs"]
    (nightly,) = [step for step in steps if "make nightly" in step.get("run", "")]
    assert nightly["shell"] == "bash", "without pipefail the log would hide a failed run"
    for name, text in nightly["env"].items():
        key, default = re.fullmatch(r"\$\{\{ inputs\.(\w+) \|\| '(.*)' \}\}", text).groups()  # type: ignore[union-attr]
        assert key == name.lower()
        assert default == inputs[key]["default"], "a schedule has no inputs"
        assert f'{name}="${name}"' in nightly["run"]
    load_testplan().find(inputs["regression"]["default"])
    assert int(inputs["seeds"]["default"]) > 0
    (job,) = workflow["jobs"].values()
    assert job["timeout-minutes"] * 60 > seconds(inputs["budget"]["default"]) + 1800


def test_the_workflow_runs_by_schedule_and_on_demand(workflow: dict[Any, Any]) -> None:
    assert set(workflow[True]) == {"schedule", "workflow_dispatch"}
    (when,) = workflow[True]["schedule"]
    assert len(when["cron"].split()) == 5


def test_the_workflow_installs_what_ci_installs(steps: list[dict[str, Any]]) -> None:
    needed = set(re.findall(r"^need (\S+)", (ROOT / ".ci/run").read_text(), re.MULTILINE))
    (install,) = [step["run"] for step in steps if "apt-get install" in step.get("run", "")]
    # Python comes from an action of its own.
    assert {name for name in needed if not name.startswith("python")} <= set(install.split())
    assert using(steps, "actions/setup-python")["python-version"] == "3.11"


def test_the_workflow_keeps_database_and_pages(steps: list[dict[str, Any]]) -> None:
    home = NIGHTLY.relative_to(ROOT).as_posix()
    restore, save = (using(steps, f"actions/cache/{word}") for word in ("restore", "save"))
    assert restore["path"] == save["path"] == f"{home}/results.db*", "with its log"
    assert restore["key"] == save["key"]
    assert save["key"].startswith(restore["restore-keys"])
    kept = using(steps, "actions/upload-artifact")["path"].split()
    assert kept == [f"{home}/*/{name}" for name in MADE]
    for step in steps:
        if step.get("uses", "").startswith(("actions/cache/save", "actions/upload")):
            assert step["if"] == "always()", "also of a failed run"


def test_the_calls_of_the_crontab_exist() -> None:
    scheduled = [words for _, command in cron_lines() for words in calls(command)]
    assert len(scheduled) == 2
    for words in scheduled:
        assert not wrong(words)
        settings = settings_of(words)
        load_testplan().find(settings.get("REGRESSION", "nightly"))
        assert seconds(settings["BUDGET"]) < 86400


def test_the_crontab_has_valid_times() -> None:
    entries = cron_lines()
    assert len(entries) == 3
    for times, command in entries:
        assert all(re.fullmatch(r"[\d*/,-]+", field) for field in times), times
        assert "%" not in command, "cron replaces it by a line end"
        assert "make nightly" not in command or "flock -n" in command


def test_both_are_named_in_the_docs() -> None:
    page = (ROOT / "docs/nightly.md").read_text()
    for path in (WORKFLOW, CRONTAB):
        assert f"](../{path.relative_to(ROOT).as_posix()})" in page
    assert not re.findall(r"/(?:work|tmp|home|root)/\w", Path(CRONTAB).read_text())
