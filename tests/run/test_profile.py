# SPDX-License-Identifier: Apache-2.0
"""The profile of a run: settings, build, record, and the processes that make ops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tb.dut.constraints
from tb.common.errors import PtoError
from tb.common.files import write_json
from tb.dut.manifest import load_manifests
from tb.env import base_test
from tb.env.base_test import PtoTestBase
from tb.isa.profile import A5, SEED, current, use
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run import plan as plan_module
from tb.run import run as run_module
from tb.run.build import _configuration
from tb.run.console import Console
from tb.run.exchange import SimSettings
from tb.run.folder import LOCK, RECORD, load_record, run_folder
from tb.run.plan import BuildPlan, RunPlan, plan_run
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tests.wording import says


def engine(folder: Path, keys: str = "", slot: str = "mte2", op: str = "mte_gm_ub") -> str:
    """Writes a manifest and returns its path."""
    folder.mkdir(exist_ok=True)
    (folder / "mine.v").write_text("module mine; endmodule\n")
    path = folder / "dut.toml"
    path.write_text(
        f'name = "my_{slot}"\nmodule = "mine"\nslot = "{slot}"\nsources = ["mine.v"]\n{keys}\n'
        f'[capabilities]\nops = ["{op}"]\n'
    )
    return str(path)


def planned(folder: Path, *duts: str, profile: str = "", test: str = "directed") -> RunPlan:
    """Returns the plan of a run of engines whose ports are not checked."""
    settings = RunSettings(duts=duts, profile=profile, sim="icarus", transactions=5)
    return plan_run(settings, planned_test(test), folder, check=False)


def test_a_run_has_the_profile_of_its_manifests(tmp_path: Path) -> None:
    plan = planned(tmp_path, engine(tmp_path / "a", 'profile = "a5"'))
    assert plan.build.profile == A5
    assert plan.settings.profile == "a5"
    assert plan.claims == []
    assert plan.settings.command().endswith(" PROFILE=a5")


def test_a_run_without_a_claim_is_seed(tmp_path: Path) -> None:
    plan = planned(tmp_path, engine(tmp_path / "a"))
    assert (plan.build.profile, plan.settings.profile) == (SEED, "seed")


def test_a_named_profile_overrides_the_claim_and_the_plan_says_so(tmp_path: Path) -> None:
    plan = planned(tmp_path, engine(tmp_path / "a", 'profile = "a5"'), profile="a5,tail=keep")
    assert plan.settings.profile == "a5, tail = keep"
    (sentence,) = plan.claims
    assert says(sentence, "my_mte2 mte2 claims tail fill a5 run a5, tail keep")


def test_manifests_that_disagree_leave_a_record_and_no_build(tmp_path: Path) -> None:
    duts = (
        engine(tmp_path / "load", 'profile = "a5"'),
        engine(tmp_path / "store", slot="mte3", op="mte_ub_gm"),
    )
    settings = RunSettings(sim="icarus", duts=duts)
    with pytest.raises(PtoError) as refused:
        run_once(
            settings, planned_test("directed"), folder=tmp_path / "run", console=Console(quiet=True)
        )
    text = str(refused.value)
    assert says(text, "my_mte2 len_bits 21 my_mte3 len_bits 16")
    assert all(path in text for path in duts)
    assert load_record(tmp_path / "run" / RECORD).status == "error"
    assert {path.name for path in (tmp_path / "run").iterdir()} == {LOCK, RECORD}


def test_a_build_sets_the_parameters_of_the_knobs(tmp_path: Path) -> None:
    keys = 'parameters = { Depth = 4 }\nknob_parameters = { tail = "Fill", len_bits = "Bits" }'
    manifests = load_manifests([engine(tmp_path / "a", keys)])
    for profile, parameters in (
        (SEED, ".Depth(4), .Fill(0), .Bits(16)"),
        (A5, ".Depth(4), .Fill(1), .Bits(21)"),
    ):
        text = _configuration(BuildPlan("icarus", manifests, profile=profile))
        assert f"`define PTO_MTE2_PARAMETERS , {parameters}\n" in text


def test_builds_of_two_profiles_have_two_folders(tmp_path: Path) -> None:
    manifests = load_manifests([engine(tmp_path / "a")])
    folders = [BuildPlan("icarus", manifests, profile=one).folder.name for one in (SEED, A5)]
    assert folders == ["icarus-gm256-local256", "icarus-gm256-local256-a5"]


def test_runs_of_two_profiles_have_two_folders() -> None:
    names = [run_folder(RunSettings(profile=one)).name for one in ("", "seed", "a5, tail = keep")]
    assert names == ["verilator-random-1"] * 2 + ["verilator-random-1-a5_tail_keep"]


def test_the_trial_of_constraints_is_made_under_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(tb.dut.constraints, "probe", lambda *_: seen.append(current()))
    planned(tmp_path, engine(tmp_path / "a", 'profile = "a5"'), test="random")
    assert seen == [A5]
    assert current() == SEED


def test_the_runner_uses_the_profile_while_it_carries_out_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(plan_module, "check_ports", lambda _: [])

    def carried_out(*_: object) -> list[str]:
        seen.append(current())
        return []

    monkeypatch.setattr(run_module, "_run", carried_out)
    settings = RunSettings(sim="icarus", duts=(engine(tmp_path / "a", 'profile = "a5"'),))
    record = run_once(
        settings, planned_test("directed"), folder=tmp_path / "run", console=Console(quiet=True)
    )
    assert (seen, current()) == ([A5], SEED)
    assert record.settings.profile == "a5"
    assert record.command.endswith(" PROFILE=a5")


def test_the_simulator_process_uses_the_profile_before_anything_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class ReachedError(Exception):
        pass

    def user_limits(*_: object) -> None:
        raise ReachedError

    config = SimSettings(
        run=RunSettings(profile="a5, alpha = sequential"),
        command="make",
        slots=(),
        dut_ops=(),
        d_rules=(),
    )
    monkeypatch.setattr(base_test, "load_settings", lambda: config)
    monkeypatch.setattr(base_test, "user_limits", user_limits)
    test: Any = object.__new__(PtoTestBase)
    try:
        with pytest.raises(ReachedError):
            test.build_phase()
        assert str(current()) == "a5, alpha = sequential"
    finally:
        use(SEED)


def test_record_and_summary_have_the_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = RunRecord(settings=RunSettings(profile="a5"), command="make", claims=["x claims y"])
    record.explained = "all 9 failed ops agree under tail = fill"
    write_json(tmp_path / RECORD, record)
    assert load_record(tmp_path / RECORD) == record
    Console().show(record, (), tmp_path / RECORD, tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert "  profile           a5" in lines
    assert "  claimed           x claims y" in lines
    assert "  explained         all 9 failed ops agree under tail = fill" in lines
    assert "profile a5; repeat: make" in lines[-1]
