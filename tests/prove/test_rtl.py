# SPDX-License-Identifier: Apache-2.0
"""``make prove-rtl``: the first variant of each unit is proven, and injected bugs are refuted."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.prove import rtl, wave
from tests.bugs.campaign import load_bugs

UNITS = {path.stem: rtl.read_unit(path) for path in sorted(rtl.UNITS.glob("*.sv"))}
BUGS = {bug.name: bug for bug in load_bugs()}
NAMED = [
    (unit, label, name, BUGS[name].file, BUGS[name].find, BUGS[name].replace)
    for unit in UNITS.values()
    for line in re.findall(r"^// Bugs: (.*)$", (rtl.UNITS / f"{unit.name}.sv").read_text(), re.M)
    for name, label in (pair.split(":") for pair in line.split())
]
FAULTS = [
    (UNITS[unit], label, f"{unit}-{label}", f"rtl_stubs/{file}", find, replace)
    for unit, faults in tomllib.loads(
        Path(__file__).with_name("unit_faults.toml").read_text()
    ).items()
    for label, (file, find, replace) in faults.items()
]
PLANTED = [
    pytest.param(unit, label, Path(file), find, replace, id=name, marks=pytest.mark.share(file))
    for unit, label, name, file, find, replace in NAMED + FAULTS
]


def first(unit: rtl.Unit) -> rtl.Unit:
    return dataclasses.replace(unit, variants=unit.variants[:1])


@pytest.mark.usefixtures("yosys")
@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    [
        pytest.param(unit, id=name, marks=pytest.mark.share(*map(str, unit.sources)))
        for name, unit in UNITS.items()
    ],
)
def test_a_unit_is_proven(unit: rtl.Unit) -> None:
    findings = list(rtl.prove([first(unit)]))
    assert [finding.line() for finding in findings if not finding.ok] == []
    assert {finding.label for finding in findings} == set(unit.labels)


@pytest.mark.parametrize(
    ("step", "base", "verdict"),
    [
        ("snl_UNSAT -1", "snl_UNK 3", rtl.PROVEN),
        ("snl_UNSAT -1", "snl_UNK 1", rtl.UNDECIDED),
        ("snl_UNSAT -1", "snl_UNSAT -1", rtl.UNDECIDED),
        ("snl_UNK 3", "snl_UNK 3", rtl.UNDECIDED),
        ("snl_UNSAT -1", "snl_SAT 2", rtl.REFUTED),
    ],
)
def test_an_induction_needs_its_step_and_its_first_clocks(
    step: str, base: str, verdict: str
) -> None:
    assert rtl.by_induction(step, base) == verdict


def test_every_property_has_a_planted_bug() -> None:
    planted = {(unit.name, label) for unit, label, *_ in NAMED + FAULTS}
    for unit in UNITS.values():
        own = {label for label in unit.labels if not label.startswith((rtl.LEMMA, rtl.REACH))}
        assert own - {label for name, label in planted if name == unit.name} == set(), unit.name


@pytest.mark.usefixtures("yosys")
@pytest.mark.long
@pytest.mark.parametrize(("unit", "label", "source", "find", "replace"), PLANTED)
def test_a_planted_bug_is_refuted(
    unit: rtl.Unit, label: str, source: Path, find: str, replace: str
) -> None:
    """By the property named with it, in one variant at least, with a counterexample."""
    assert source in unit.sources
    text = (ROOT / source).read_text()
    assert text.count(find) == 1
    planted = rtl.REPORTS / "planted" / f"{unit.name}-{label}" / source.name
    (ROOT / planted).parent.mkdir(parents=True, exist_ok=True)
    (ROOT / planted).write_text(text.replace(find, replace))
    for variant in unit.variants:
        one = dataclasses.replace(unit, variants=(variant,), labels=(label,))
        (finding,) = rtl.prove([one], 10, {source: planted})
        if finding.verdict == rtl.REFUTED:
            break
    assert finding.verdict == rtl.REFUTED
    assert finding.story
    assert (ROOT / finding.story).read_text().count("clock") > finding.clocks
    circuit = wave.Circuit((ROOT / finding.story).with_suffix(".aig"))
    words = (ROOT / finding.story).with_suffix(".cex").read_text().split()
    *_, values = circuit.run([row for row in words if row.isdigit()][1:])
    (failed,) = circuit.bad
    assert values[failed >> 1] ^ (failed & 1)
    assert f"#{10 * finding.clocks}\n" in (ROOT / finding.story).with_suffix(".vcd").read_text()


def test_the_waveform_of_a_counterexample_ends_with_the_failure(tmp_path: Path) -> None:
    """Two latches, of which one is inverted, count an input: 2 of them are bad."""
    (tmp_path / "x.aig").write_bytes(b"aig 4 1 2 0 1 1\n2\n4\n8\n" + bytes([2, 2]))
    circuit = wave.Circuit(tmp_path / "x.aig")
    states = list(circuit.run(["1", "1", "1"]))
    bad = [[values[literal >> 1] for literal in circuit.bad] for values in states]
    assert bad == [[0], [0], [1]]
    wires = ("2 0 put", "5 0 u_x.none", "6 1 u_x.pair", "9 0 $x")
    (tmp_path / "x.map").write_text("".join(f"wire {wire}\n" for wire in wires))
    wave.write(tmp_path / "x.aig", tmp_path / "x.map", ["1", "1", "1"], tmp_path / "x.vcd")
    text = (tmp_path / "x.vcd").read_text()
    assert "$scope module u_x $end\n$var wire 1 s1 none $end" in text
    assert "#0\n1clk\nb1 s0\nb1 s1\nb0x s2\n" in text
    assert "#20\n1clk\nb1x s2\n" in text


@pytest.mark.parametrize(
    ("status", "unsat", "verdict"),
    [
        ("snl_UNSAT 10 unknown", rtl.PROVEN, rtl.PROVEN),
        ("snl_SAT 3 unknown", rtl.PROVEN, rtl.REFUTED),
        ("snl_SAT 3 unknown", rtl.BOUNDED, rtl.REFUTED),
        ("snl_UNK 19 unknown", rtl.PROVEN, rtl.UNDECIDED),
        ("snl_UNK 19 unknown", rtl.BOUNDED, rtl.BOUNDED),
        ("snl_UNK 18 unknown", rtl.BOUNDED, rtl.UNDECIDED),
        ("", rtl.BOUNDED, rtl.UNDECIDED),
    ],
)
def test_what_ended_early_is_neither_proven_nor_bounded(
    status: str, unsat: str, verdict: str
) -> None:
    assert rtl.judged(status, unsat) == verdict


def test_a_lemma_that_is_not_proven_takes_what_assumes_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lemmas before it stay proven, and so does a refutation; the exit code is 3."""
    known = {"lemma_granted": rtl.UNDECIDED, "reach_full": rtl.REFUTED}

    def decide(unit: rtl.Unit, variant: str, _: Path, __: float, label: str) -> rtl.Finding:
        return rtl.Finding(unit.name, variant, label, known.get(label, rtl.PROVEN), 0.0)

    monkeypatch.setattr(rtl, "decide", decide)
    monkeypatch.setattr(rtl, "prepare", lambda *_: None)
    found = {one.label: one.verdict for one in rtl.prove([UNITS["pto_local_read"]])}
    assert found["lemma_step"] == rtl.PROVEN
    assert found["lemma_kept"] == found["stable"] == rtl.UNDECIDED
    assert found["reach_full"] == rtl.REFUTED
    for label in ("reach_made_up", "reach_two_in_flight", "reach_second_error"):
        known[label] = rtl.REFUTED
    assert rtl.main(["pto_local_read"]) == 3
    assert "UNDECIDED 6 of 18 properties" in capsys.readouterr().out


def test_a_file_without_properties_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pto_x.sv"
    path.write_text("// Sources: common/pto_fifo.sv\nmodule prove; endmodule\n")
    with pytest.raises(PtoError, match="labelled assertions"):
        rtl.read_unit(path)


def test_an_unknown_unit_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert rtl.main(["pto_nothing"]) == 2
    assert "pto_fifo" in capsys.readouterr().err
