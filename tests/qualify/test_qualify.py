# SPDX-License-Identifier: Apache-2.0
"""``pto-dv qualify``: mutants of a netlist, their verdicts, and the figures made of these."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.dut.manifest import Manifest, load_manifest, reference_manifests
from tb.dut.widths import Widths
from tb.isa.profile import SEED
from tb.qualify import command, equal, judge, mutants
from tb.qualify.judge import BROKEN, EQUIVALENT, KILLED, SURVIVED, Verdict
from tb.qualify.page import write_page
from tb.qualify.summary import Summary, rate
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.warm import WarmSimulator
from tests.report.browser import PHONE, TABLET, Visitor, contrast_problems, out_of_sight, too_wide

RAM, FIFO = "rtl_stubs/common/pto_ram.sv", "rtl_stubs/common/pto_fifo.sv"
WIDTHS = Widths(128, 128, 4)
FOLDER = Path("sim_build/qualify-tests")

SMALL = """\
module axi_copy_mte2 #(parameter integer W = 4 + 4, localparam integer L = W - 1) (
  input wire clk_i, input wire a, input wire [W-1:0] b, output reg y, output wire [3:0] z
);
  `include "small.vh"
  wire [W-1:0] sum = twice(b) + 8'd255;
  part #(.N(2 + 1)) u_part (.i(a && b[0]), .o(z[1]));
  genvar g;
  generate
    for (g = 0; g < 2; g = g + 1) begin : gen
      assign z[g+2] = b[g] == a;
    end
  endgenerate
  always @(posedge clk_i) begin
    if (a) y <= b[W-1:0] > `LIMIT;
    else y <= !sum[0];
  end
endmodule
module part #(parameter N = 1) (input wire i, output wire o);
  assign o = i;
endmodule
module unused (input wire i, output wire o);
  assign o = i && 1'b1;
endmodule
"""
INCLUDED = """\
`define LIMIT 8'd3  // größer
function [7:0] twice(input [7:0] value);
  twice = value << 1;
endfunction
"""


@pytest.fixture
def small(tmp_path: Path) -> Manifest:
    """An engine of one file and one that it includes."""
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl/small.sv").write_text(SMALL)
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc/small.vh").write_text(INCLUDED)
    copy = load_manifest(ROOT / "examples/axi_copy/dut.toml")
    (tmp_path / "rtl/model.vhd").write_text("entity model is end;\n")  # no Verilog
    changes = {"sources": (str(tmp_path / "rtl/small.sv"), str(tmp_path / "rtl/model.vhd"))}
    return copy.model_copy(update={**changes, "include_dirs": (str(tmp_path / "inc"),)})


def changes(manifest: Manifest) -> list[str]:
    """Returns line, kind and change of each mutant."""
    return [point.name.partition(":")[2] for point in mutants.Sources([manifest]).points]


def test_what_computes_and_decides_is_changed_and_no_constant(small: Manifest) -> None:
    """Neither parameters, ranges, generate loops, outputs and targets, nor modules without use."""
    assert changes(small) == [
        "3 assignment: twice = value << 1; -> (dropped)",
        "3 shift: << -> >> in value << 1",
        "3 constant: 1 -> 0",
        "3 constant: 1 -> 2",
        "5 arithmetic: + -> - in twice(b) + 8'd255",
        "5 constant: 8'd255 -> 8'd0",
        "5 constant: 8'd255 -> 8'd254",
        "6 logical: && -> || in a && b[0]",
        "6 constant: 0 -> 1",
        "10 relational: == -> != in b[g] == a",
        "14 condition: a -> !(a)",
        "14 condition: a -> 1'b1",
        "14 condition: a -> 1'b0",
        "14 assignment: y <= b[W-1:0] > `LIMIT; -> (dropped)",
        "14 relational: > -> >= in b[W-1:0] > `LIMIT",
        "14 relational: > -> <= in b[W-1:0] > `LIMIT",
        "15 assignment: y <= !sum[0]; -> (dropped)",
        "15 negation: !sum[0] -> sum[0]",
        "15 constant: 0 -> 1",
    ]


def test_a_fault_changes_one_place_and_all_can_be_switched(small: Manifest) -> None:
    sources = mutants.Sources([small])
    every = mutants.draw(sources, 1000, 1)
    assert [mutant.number for mutant in every] == list(range(1, len(every) + 1))
    text = mutants.switched(SMALL, [one for one in every if one.file.endswith("small.sv")])
    negated = next(one for one in every if "!sum[0]" in one.name and one.kind == "negation")
    seen = f"({mutants.SEE}({negated.number}, (!(!sum[0])) !== (!sum[0])) ? (!(!sum[0])) : ("
    assert seen in text
    assert negated.applied(SMALL) == SMALL.replace("!sum[0]", "!(!sum[0])")
    dropped = next(one for one in every if one.kind == "assignment" and "!sum" in one.name)
    assert f"else begin if (!{mutants.SEE}({dropped.number}, 1'b1)) y <= " in text
    ends = [(SMALL.index("endmodule"), "always @(posedge clk_i) followed;\n")]
    assert "  end\nalways @(posedge clk_i) followed;\nendmodule\nmodule part" in mutants.switched(
        SMALL, every[-2:], ends
    )
    assert "else ;" in dropped.applied(SMALL)
    shift = next(one for one in every if one.kind == "shift")
    (included,) = (text for path, text in sources.texts.items() if path.endswith("small.vh"))
    assert shift.applied(included) == included.replace("<<", ">>")
    assert mutants.draw(sources, 5, 7) == mutants.draw(sources, 5, 7) != mutants.draw(sources, 5, 8)


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("8'd255", ("8'd0", "8'd254")),
        ("1'b0", ("1'd1",)),
        ("4'hf", ("4'd0", "4'd14")),
        ("2'sb10", ("2'sd1", "2'sd3")),
        ("0", ("1",)),
        ("12", ("11", "13")),
        ("4'b1x01", ()),
        ("8'b???", ()),
    ],
)
def test_a_constant_has_two_neighbours_of_its_width(
    literal: str, expected: tuple[str, ...]
) -> None:
    assert mutants.neighbours(literal) == expected


def test_every_listed_equivalent_is_a_mutant_of_the_reference_engines() -> None:
    """A source that changed makes its entry stale: look at the mutant again."""
    listed = tomllib.loads(command.EQUIVALENTS.read_text())
    assert set(listed) <= {point.name for point in mutants.Sources(reference_manifests()).points}


def test_a_rate_has_the_interval_of_wilson() -> None:
    """10 of 10 leaves 72 to 100 %; what changes nothing and what is broken does not count."""
    killed = [Verdict(str(n), KILLED) for n in range(10)]
    found = rate([*killed, Verdict("e", EQUIVALENT), Verdict("b", BROKEN)])
    assert (found.killed, found.judged, found.high) == (10, 10, 1.0)
    assert found.low == pytest.approx(0.7225, abs=1e-4)
    half = rate([*killed[:5], *(Verdict(str(n), SURVIVED) for n in range(5))])
    assert (half.low, half.high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert str(rate([])) == "none judged"


def test_verdicts_are_read_again_unless_the_netlist_differs(tmp_path: Path) -> None:
    """A line that was cut off by an end of the process is left out."""
    path = tmp_path / "verdicts.jsonl"
    one = Verdict("a", KILLED, "random", "hang", 3, 0.5)
    assert judge.read_verdicts(path, "t") == {}
    judge.begin_file(path, "t", {})
    judge.append(path, one)
    judge.append(path, replace(one, result=SURVIVED))
    assert judge.read_verdicts(path, "t") == {"a": replace(one, result=SURVIVED)}
    path.write_text(path.read_text() + '{"name": "b", "resul')
    assert set(judge.read_verdicts(path, "t")) == {"a"}
    assert judge.read_verdicts(path, "u") == {}


@pytest.fixture(name="campaign")
def _campaign(tmp_path: Path) -> Path:
    """The page of a campaign with two faults killed, one survivor, and one not judged."""
    found = [
        mutants.Mutant(
            at, f"{file}:{line} constant: 1 -> 2", file, line, "constant", ("m",), 0, 1, "2"
        )
        for at, (file, line) in enumerate(((RAM, 24), (FIFO, 37), (FIFO, 37)), 1)
    ]
    found[2] = replace(found[2], name=f"{FIFO}:37 logical: && -> ||", kind="logical")
    results = [KILLED, KILLED, SURVIVED]
    verdicts = {m.name: Verdict(m.name, r, "random") for m, r in zip(found, results, strict=True)}
    write_page(tmp_path / "index.html", 1, Summary("pto_x", 4, found, verdicts))
    return tmp_path / "index.html"


def test_a_page_shows_survivors_and_marks_lines(campaign: Path) -> None:
    text = campaign.read_text()
    assert "2 of 3 killed, 66.7 % (20.8 to 93.9 %)" in text
    assert "1 not judged yet" in text
    assert "pto_fifo.sv:37</td><td><code>logical: &amp;&amp; -&gt; ||" in text
    assert '<tr class="part"><td class="num">37</td><td class="num">1/2' in text
    assert '<tr class="hit"><td class="num">24</td><td class="num">1/1' in text


@pytest.mark.long
def test_the_page_of_a_campaign_is_readable_in_a_narrow_window(
    campaign: Path, visit: Visitor
) -> None:
    for size in (TABLET, PHONE):
        page = visit(campaign, size=size)
        page.locator("summary").first.click()
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert too_wide(page) <= 0
        assert contrast_problems(page) == []
        tables = out_of_sight(page)
        assert all(shows for _, _, shows in tables)
        assert bool(tables) == (size == PHONE)


def test_an_unknown_test_and_a_source_that_does_not_parse_are_errors(tmp_path: Path) -> None:
    copy = load_manifest(ROOT / "examples/axi_copy/dut.toml")
    with pytest.raises(PtoError, match="no test 'illega' for mutants; did you mean illegal"):
        command.qualify_command((copy,), WIDTHS, "", 1, 1, 0.0, 1, ["illega"])
    broken = tmp_path / "broken.sv"
    broken.write_text("module axi_copy_mte2 (input wire a;\nendmodule\n")
    with pytest.raises(PtoError, match=r"axi_copy cannot be parsed: .*broken\.sv:1"):
        mutants.Sources([copy.model_copy(update={"sources": (str(broken),)})])


def test_engines_that_fail_without_a_fault_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = RunRecord(settings=RunSettings(), status="fail")
    monkeypatch.setattr(judge.Campaign, "run", lambda *_: failed)
    manifest = load_manifest(ROOT / "examples/axi_copy/dut.toml")
    campaign = judge.Campaign(mutants.Mutated((manifest,), (), FOLDER, ""), WIDTHS, (SEED,), 1)
    with pytest.raises(PtoError, match="without a fault does not pass TEST=legal: FAIL"):
        judge.plain(campaign, judge.Stage(SEED, "legal"), WarmSimulator())


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        ("aa", "aa", "differs in legal, at no output"),
        ("aa", "bb", "reaches an output in legal"),
        ("", "", "differs in legal"),
    ],
)
def test_how_far_a_survivor_comes_is_said_where_outputs_are_followed(
    before: str, after: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = RunRecord(settings=RunSettings(), status="pass")
    monkeypatch.setattr(judge.Campaign, "run", lambda *_: passed)
    monkeypatch.setattr(judge.Campaign, "plain_run", lambda _: judge.Plain(frozenset(), after))
    campaign = judge.Campaign(mutants.Mutated((), (), FOLDER, ""), WIDTHS, (SEED,), 1)
    mutant = mutants.Mutant(1, "one", RAM, 1, "constant", ("m",), 0, 1, "2")
    stages = {judge.Stage(SEED, "legal"): judge.Plain(frozenset({1}), before)}
    assert judge.judge(campaign, stages, mutant, WarmSimulator()).how == how
    assert judge.judge(campaign, {}, mutant, WarmSimulator()).how == "differs in no test"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_command_with_its_code(
    number: signal.Signals,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command, "_qualify", lambda *_: signal.raise_signal(number))
    manifest = load_manifest(ROOT / "examples/axi_copy/dut.toml")
    assert command.qualify_command((manifest,), WIDTHS, "", 1, 1, 0.0, 1) == code
    assert "the same command goes on" in capsys.readouterr().out


CAMPAIGN = """\
from pathlib import Path
from tb.common.paths import ROOT
from tb.dut.manifest import load_manifest
from tb.dut.widths import Widths
from tb.qualify import command

if __name__ == "__main__":
    command.FOLDER = Path("sim_build/qualify-tests")
    copy = load_manifest(ROOT / "examples/axi_copy/dut.toml")
    tests = ["legal", "errors"]
    raise SystemExit(
        command.qualify_command((copy,), Widths(128, 128, 4), "", 8, 1, 0.0, 2, tests)
    )
"""


@pytest.mark.sim
@pytest.mark.long
@pytest.mark.usefixtures("yosys")
def test_a_campaign_that_is_interrupted_goes_on_and_finds_the_same(tmp_path: Path) -> None:
    """The signal comes after the second verdict; a campaign of one go has the same verdicts."""
    (tmp_path / "campaign.py").write_text(CAMPAIGN)
    words = [sys.executable, str(tmp_path / "campaign.py")]
    folder = ROOT / "sim_build/qualify-tests"
    shutil.rmtree(folder, ignore_errors=True)

    def run(verdicts: int = 100) -> tuple[int, str]:
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT) as ran:
            lines, found = [], 0
            for line in ran.stdout or ():
                lines.append(line)
                found += " of 8 " in line
                if found == verdicts:
                    ran.send_signal(signal.SIGTERM)
                    verdicts = 100
        return ran.returncode, "".join(lines)

    def judged() -> dict[str, tuple[str, str, str]]:
        found = json.loads((folder / "qualify.json").read_text())
        assert found["drawn"] == len(found["mutants"]) == 8
        return {one["name"]: (one["result"], one["test"], one["how"]) for one in found["mutants"]}

    code, printed = run(verdicts=2)
    assert (code, "the same command goes on" in printed) == (143, True), printed
    assert not list(folder.glob("qualify.json"))
    kept = (folder / "axi_copy/verdicts.jsonl").read_text().splitlines()[1:]
    assert len(kept) >= 2
    code, printed = run()
    assert f"  {len(kept)} have a verdict of an earlier command" in printed
    first = judged()
    results = [result for result, _, _ in first.values()]
    assert results.count(KILLED) >= 3, printed
    assert code == int(SURVIVED in results)
    shutil.rmtree(folder)
    assert run()[0] == code
    assert judged() == first


@pytest.mark.sim
@pytest.mark.long
def test_a_mutant_that_does_not_build_breaks_no_other() -> None:
    """It is counted as broken, and the simulator builds the engine without it."""
    sources = mutants.Sources([load_manifest(ROOT / "examples/axi_copy/dut.toml")])
    one, two = mutants.draw(sources, 2, 1)
    bad = replace(two, text="not_declared")
    folder = FOLDER / "unbuildable"
    campaign = judge.Campaign(mutants.plant(sources, [one, bad], folder), WIDTHS, (SEED,), 1)
    built, broken = judge.buildable(campaign, sources)
    assert [(verdict.name, verdict.result) for verdict in broken] == [(bad.name, BROKEN)]
    assert built.engine.mutants == (one,)


@pytest.mark.long
@pytest.mark.usefixtures("yosys")
def test_what_changes_nothing_is_proven_and_what_changes_is_not(
    small: Manifest, tmp_path: Path
) -> None:
    """A sum of 0 is never below 0; a register whose value is dropped at one of two places is."""
    path = Path(small.sources[0])
    path.write_text(
        "module axi_copy_mte2 (input wire clk_i, input wire [7:0] b, output reg y);\n"
        "  reg [7:0] x;\n"
        "  always @(posedge clk_i) x <= b | (b & 8'd3);\n"
        "  always @(posedge clk_i) y <= x >= 8'd7;\n"
        "endmodule\n"
    )
    sources = mutants.Sources([small])
    every = mutants.draw(sources, 100, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equal, "STANDARD_PARAMETERS", ())
        patch.setattr(equal, "SECONDS", 100)
        told = list(equal.equivalent(sources, every, WIDTHS, [SEED], FOLDER / "small"))
    same = {mutant.name.partition(": ")[2] for mutant, proven in told if proven}
    assert same == {"8'd3 -> 8'd2", "8'd3 -> 8'd4"}
