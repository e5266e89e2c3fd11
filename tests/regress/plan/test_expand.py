# SPDX-License-Identifier: Apache-2.0
"""Jobs of a regression run: names, builds, seeds, order, and the share of an engine under test."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.dut.profile_text import read_profile
from tb.dut.selection import SELECTABLE
from tb.record.settings import RunSettings
from tb.regress.plan.expand import config_name, derived_seed, expand, expected_seconds, left_out
from tb.regress.plan.testplan import TestPlan, load_testplan
from tb.regress.workers.job import Job
from tb.run.plan import BuildPlan
from tb.run.testlist import load_plan
from tests.wording import says

BEHAVIOUR = """\
[[behaviour]]
name = "rows"
milestone = "V1"
description = "Rows."
tests = ["random", "stress", "pytest:tests/house/test_docs.py"]
groups = ["mte_gm_ub", "rules"]
"""

RUNS = """\
[[regression]]
name = "short"
doc = "a few runs"

[[regression.runs]]
tests = ["random", "stress"]
transactions = 500

[[regression.runs]]
tests = ["illegal"]
sims = ["verilator", "icarus"]
widths = [[256, 256], [128, 512]]
seeds = 2
ops = ["copy_gm_to_ubuf", "mte_gm_ub"]

[[regression.runs]]
tests = ["directed"]
code_coverage = true
seeds = 1
seconds = 90
"""


def plan_of(tmp_path: Path, runs: str = RUNS) -> TestPlan:
    path = tmp_path / "plan.toml"
    path.write_text(BEHAVIOUR + runs)
    return load_testplan(path)


def keys(jobs: list[Job]) -> list[str]:
    return [job.key for job in jobs]


def seeds_of(plan: TestPlan, seeds: int, base: int) -> dict[str, int]:
    jobs = expand(plan, "short", seeds=seeds, base_seed=base)
    return {job.key: job.settings.seed for job in jobs}


def test_runs_are_named_by_test_build_and_number(tmp_path: Path) -> None:
    jobs = {job.key: job for job in expand(plan_of(tmp_path), "short", seeds=3, base_seed=1)}
    assert sorted(jobs) == sorted(
        [f"{test}-verilator-gm256-local256-s{n:04d}" for test in ("random", "stress")
         for n in (1, 2, 3)]
        + [f"illegal-{sim}-{widths}-s{n:04d}" for sim in ("verilator", "icarus")
           for widths in ("gm256-local256", "gm128-local512") for n in (1, 2)]
        + ["directed-verilator-gm256-local256-cov-s0001"]
    )  # fmt: skip
    job = jobs["illegal-icarus-gm128-local512-s0002"]
    assert (job.kind, job.config, job.folder) == ("run", "icarus-gm128-local512", "")
    settings = job.settings
    assert (settings.sim, settings.gm_width, settings.local_width) == ("icarus", 128, 512)
    assert settings.ops == ("mte_gm_ub", "copy_gm_to_ubuf")  # as in the table
    assert settings.transactions == load_plan()["illegal"].transactions
    assert jobs["stress-verilator-gm256-local256-s0001"].settings.options["resets"] == 0.1
    assert jobs["random-verilator-gm256-local256-s0001"].settings.transactions == 500
    assert jobs["directed-verilator-gm256-local256-cov-s0001"].settings.code_coverage
    assert all(re.fullmatch(r"[\w.-]+", key) for key in jobs)


PROFILES = """\
[[regression]]
name = "both"
doc = "two profiles"

[[regression.runs]]
tests = ["random"]
profiles = ["seed", "a5", "a5,alpha=sequential"]

[[regression.runs]]
tests = ["stress"]
seeds = 2

[[regression.runs]]
tests = ["stress"]
profiles = ["a5"]
seeds = 1
"""


def test_each_profile_of_a_set_is_a_run(tmp_path: Path) -> None:
    jobs = expand(plan_of(tmp_path, PROFILES), "both", seeds=2, base_seed=1)
    name = "random-verilator-gm256-local256"
    assert {job.key: job.settings.profile for job in jobs if job.key.startswith("random")} == {
        f"{name}-s0001": "seed",
        f"{name}-s0002": "seed",
        f"{name}-a5-s0001": "a5",
        f"{name}-a5-s0002": "a5",
        f"{name}-a5-alpha-sequential-s0001": "a5, alpha = sequential",
        f"{name}-a5-alpha-sequential-s0002": "a5, alpha = sequential",
    }
    assert len({job.config for job in jobs}) == 3
    assert [job.settings.profile for job in jobs if "stress" in job.key] == ["seed", "a5", "seed"]


def test_one_profile_for_all_runs(tmp_path: Path) -> None:
    """A combination that the plan has under several profiles is run once."""
    jobs = expand(plan_of(tmp_path, PROFILES), "both", seeds=2, base_seed=1, profile="tail = fill")
    suffix = "verilator-gm256-local256-seed-tail-fill"
    assert sorted(keys(jobs)) == [
        f"{test}-{suffix}-s{number:04d}" for test in ("random", "stress") for number in (1, 2)
    ]
    assert {job.settings.profile for job in jobs} == {"seed, tail = fill"}


def test_every_first_seed_comes_before_any_second_one() -> None:
    jobs = expand(load_testplan(), "nightly", seeds=20, base_seed=7)
    numbers = [int(job.key[-4:]) for job in jobs]
    assert numbers == sorted(numbers)
    assert len(set(keys(jobs))) == len(jobs)
    first = [job.expected_seconds for job in jobs if job.key.endswith("s0001")]
    assert first == sorted(first, reverse=True)


def test_seeds_depend_on_base_and_name_alone(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    few, many, other = seeds_of(plan, 2, 1), seeds_of(plan, 9, 1), seeds_of(plan, 2, 2)
    assert few.items() <= many.items()
    assert len(set(many.values())) == len(many)
    assert not set(few.values()) & set(other.values())
    again = '[[regression.runs]]\ntests = ["random"]\nlabel = "a"\n\n'
    at = RUNS.index("[[regression.runs]]")
    assert few.items() < seeds_of(plan_of(tmp_path, RUNS[:at] + again + RUNS[at:]), 2, 1).items()
    # A constant, so that no change of ours makes other seeds from the same base seed.
    assert derived_seed(1, "random-verilator-gm256-local256-s0001") == 1875460173


def test_nightly_fits_its_time() -> None:
    """Twenty seeds in 17 minutes on two workers, with builds of a minute each on one of them."""
    jobs = expand(load_testplan(), "nightly", seeds=20, base_seed=1)
    builds = {job.config for job in jobs}
    assert sum("verilator" in config for config in builds) == 6
    seconds = sum(job.expected_seconds for job in jobs)
    assert seconds / 2 + 60 * 6 < 1020
    first = sum(job.expected_seconds for job in jobs if job.key.endswith("s0001"))
    assert first / 2 + 60 * 6 < 500


def test_guesses_follow_simulator_and_length() -> None:
    def guess(**settings: object) -> float:
        return expected_seconds(RunSettings.model_validate({"transactions": 300, **settings}))

    assert guess() < guess(transactions=20000) < guess(transactions=20000, code_coverage=True)
    assert guess() < guess(sim="icarus") < guess(sim="icarus", gm="cocotbext")
    assert guess(sim="xcelium") == guess()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"sim": "icarus", "gm_width": 128, "local_width": 512},
        {"tag_width": 4, "outstanding": 2, "waves": True},
        {"gm": "cocotbext"},
        {"profile": "a5"},
        {"profile": "a5, alpha = sequential", "waves": True},
        {"code_coverage": True, "gm": "cocotbext"},
    ],
)
def test_a_build_is_called_as_its_folder(settings: dict[str, object]) -> None:
    chosen = RunSettings.model_validate(settings)
    build = BuildPlan(
        chosen.sim,
        (),
        chosen.gm_width,
        chosen.local_width,
        chosen.tag_width,
        chosen.outstanding,
        read_profile(chosen.profile or "seed", ""),
        waves=chosen.waves,
        axi_pins=chosen.gm == "cocotbext",
        code_coverage=chosen.code_coverage,
    )
    assert config_name(chosen) == build.folder.name
    assert config_name(chosen, axi_pins=True).count("-axi-pins") == 1


def test_simulators_can_be_chosen(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)

    def jobs(*sims: str) -> list[Job]:
        return expand(plan, "short", seeds=1, base_seed=1, sims=sims)

    assert {(job.settings.test, job.settings.sim) for job in jobs("icarus")} == {
        ("illegal", "icarus")
    }
    assert set(keys(jobs("icarus", "verilator"))) == set(seeds_of(plan, 1, 1))
    # Another simulator steps in for Verilator, but counts no code coverage.
    assert {job.settings.test for job in jobs("xcelium")} == {"random", "stress", "illegal"}
    with pytest.raises(PtoError, match="nothing of regression 'short' can run"):
        jobs()


def manifest(tmp_path: Path, ops: str, first: str = "", widths: str = "[128]") -> str:
    (tmp_path / "copier.v").write_text("module copier; endmodule\n")
    (tmp_path / "dut.toml").write_text(
        f'{first}module = "copier"\nslot = "mte2"\nsources = ["copier.v"]\n'
        f'[capabilities]\nops = ["{ops}"]\ngm_data_widths = {widths}\n'
    )
    return str(tmp_path)


def test_engines_under_test_have_the_profile_of_their_manifests(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, PROFILES)
    dut = manifest(tmp_path, "mte_gm_ub", 'profile = "a5"\n', "[256]")
    for profile, wanted in (("", "a5"), ("seed", "seed")):
        jobs = expand(plan, "both", seeds=1, base_seed=1, duts=(dut,), profile=profile)
        assert {job.settings.profile for job in jobs} == {wanted}


def test_engines_under_test_are_sent_what_they_take(tmp_path: Path) -> None:
    plan, dut = plan_of(tmp_path), manifest(tmp_path, "mte_gm_ub")
    jobs = expand(plan, "short", seeds=1, base_seed=1, duts=[dut])
    assert set(keys(jobs)) == {
        "random-verilator-gm128-local256-s0001",
        "stress-verilator-gm128-local256-s0001",
        "illegal-verilator-gm128-local256-s0001",
        "illegal-icarus-gm128-local256-s0001",
        "illegal-verilator-gm128-local512-s0001",
        "illegal-icarus-gm128-local512-s0001",
        "directed-verilator-gm128-local256-cov-s0001",
    }
    assert all(job.settings.duts == (dut,) for job in jobs)
    assert "DUT=" in jobs[0].settings.command()
    assert left_out(plan, "short", duts=[dut]) == left_out(plan, "short") == []


@pytest.mark.parametrize(
    ("claims", "width", "excluded"),
    [
        ("[128]", 128, []),
        ("[128, 512]", 512, []),
        ("[256, 512]", 256, [128]),
        ("[512]", 512, [128]),
    ],
)
def test_runs_at_the_default_widths_are_at_those_of_the_engines(
    claims: str, width: int, excluded: list[int], tmp_path: Path
) -> None:
    plan, dut = plan_of(tmp_path), manifest(tmp_path, "mte_gm_ub", widths=claims)
    jobs = expand(plan, "short", seeds=1, base_seed=1, duts=[dut])
    found = {(job.settings.gm_width, job.settings.local_width) for job in jobs}
    assert found == {(width, 256), *([] if excluded else [(128, 512)])}
    assert left_out(plan, "short", duts=[dut]) == [
        f"runs at GM {gm}, local 512, tag 8 bits left out: copier has no GM_WIDTH of {gm} bits"
        for gm in excluded
    ]


@pytest.mark.parametrize(
    ("claims", "turns"),
    [
        ("[128, 256, 512]", [(128, 256), (256, 128), (256, 512), (512, 256)]),
        ("[128, 256]", [(128, 256), (256, 128), (256, 512)]),
        ("[256]", [(256, 128), (256, 512)]),
        ("[512]", [(512, 256)]),
        ("[128]", [(128, 256)]),
    ],
)
def test_pairs_of_widths_take_turns_by_the_seed(
    claims: str, turns: list[tuple[int, int]], tmp_path: Path
) -> None:
    plan, dut = load_testplan(), manifest(tmp_path, "mte_gm_ub", widths=claims)
    others = []
    for seed in range(len(turns)):
        jobs = expand(plan, "nightly", seeds=5, base_seed=seed, duts=[dut])
        runs: Counter[tuple[int, int]] = Counter(
            (job.settings.gm_width, job.settings.local_width)
            for job in jobs
            if job.settings.test == "stress" and job.settings.sim == "verilator"
            and not job.settings.code_coverage
        )  # fmt: skip
        others += [pair for pair in turns if runs[pair] == 1]
        assert runs[128, 512] == (5 if "128" in claims else 0)
        assert runs[512, 128] == (3 if "512" in claims else 0)
    plain = [(512, 256)] * (claims == "[512]") + [(128, 256)] * (claims == "[128]")
    assert others == [pair for pair in turns if pair not in plain]


def test_engines_that_share_no_width_have_no_regression(tmp_path: Path) -> None:
    duts = []
    for slot, op, claims in (("mte2", "mte_gm_ub", "[128]"), ("mte3", "mte_ub_gm", "[512]")):
        (tmp_path / slot).mkdir()
        duts.append(manifest(tmp_path / slot, op, f'name = "of_{slot}"\n', claims))
        path = tmp_path / slot / "dut.toml"
        path.write_text(path.read_text().replace('slot = "mte2"', f'slot = "{slot}"'))
    with pytest.raises(PtoError) as caught:
        expand(load_testplan(), "nightly", seeds=1, base_seed=1, duts=duts)
    assert says(str(caught.value), "of_mte2 and of_mte3 no GM_WIDTH 128 bits 512 bits")


def test_runs_on_simulators_that_an_engine_does_not_support_are_left_out_and_told(
    tmp_path: Path,
) -> None:
    dut = manifest(tmp_path, "mte_gm_ub", 'simulators = ["verilator"]\n')
    jobs = expand(load_testplan(), "nightly", seeds=1, base_seed=1, duts=[dut])
    assert {job.settings.sim for job in jobs} == {"verilator"}
    told = left_out(load_testplan(), "nightly", duts=[dut])
    assert [line for line in told if "icarus" in line] == [
        "runs on icarus left out: copier does not support SIM=icarus"
    ]


def test_engines_that_take_nothing_of_it_are_told(tmp_path: Path) -> None:
    head, _, illegal, _ = RUNS.split("[[regression.runs]]")
    runs = f"[[regression.runs]]{illegal}"
    wide = '[[regression.runs]]\ntests = ["random"]\nwidths = [[512, 512]]\n'
    plan, dut = plan_of(tmp_path, head + runs + wide), manifest(tmp_path, "mte_gm_l1")
    with pytest.raises(PtoError) as caught:
        expand(plan, "short", seeds=1, base_seed=1, duts=[dut])
    assert "runs of mte_gm_ub, copy_gm_to_ubuf left out: no engine" in caught.value.remedy
    assert "copier has no GM_WIDTH of 512 bits" in caught.value.remedy


def test_examples_run_the_whole_regression() -> None:
    for name in ("axi_copy", "reg_dma", "stream_dma"):
        dut = str(ROOT / "examples" / name)
        assert left_out(load_testplan(), "nightly", duts=[dut]) == []
        assert expand(load_testplan(), "nightly", seeds=1, base_seed=1, duts=[dut])


@pytest.mark.parametrize(
    ("regression", "seeds", "what"),
    [("smoke", seeds, "1 to 9999") for seeds in (0, -1, 10000)]
    + [("hourly", 1, "regression 'hourly' is unknown")],
)
def test_what_cannot_be_expanded_is_refused(regression: str, seeds: int, what: str) -> None:
    with pytest.raises(PtoError, match=what):
        expand(load_testplan(), regression, seeds=seeds, base_seed=1)


def test_settings_of_jobs_can_be_repeated_by_hand() -> None:
    """A run has nothing that its command line cannot say, but for the options of its test."""
    tests = load_plan()
    for regression in ("nightly", "smoke", "weekly"):
        for job in expand(load_testplan(), regression, seeds=1, base_seed=1):
            settings = job.settings
            assert settings.options == tests[settings.test].options
            assert set(settings.ops) <= set(SELECTABLE)
            words = dict(word.split("=", 1) for word in shlex.split(settings.command())[1:])
            assert words.get("PROFILE", "seed") == settings.profile
            assert words["SEED"] == str(settings.seed)
            assert words["TEST"] == settings.test
