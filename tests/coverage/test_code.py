# SPDX-License-Identifier: Apache-2.0
"""Code coverage: reading Verilator's counts, adding them up, totals, and lines for pages."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tb.common import paths
from tb.common.errors import PtoError
from tb.coverage.export.code import KINDS, CodeCounts, CodePoint, code_view
from tb.coverage.export.code_files import HEADER, fold, merged, merged_readable, read, write
from tests.wording import pattern, says

ROOT = Path("/project")

SOURCE = """\
module unit (input clk_i, input go_i);
  reg [3:0] q;
  always @(posedge clk_i) begin
    if (go_i && q != 4'd9) begin
      q <= q + 4'd1;
    end else q <= 4'd0;
  end
endmodule
"""


def dat(*points: str, header: str = HEADER) -> str:
    """Returns a file in Verilator's format, from points ``count kind line column text span``."""
    lines = [header]
    for item in points:
        count, where, kind, line, column, text, *span = item.split("|")
        path, hierarchy = where.split("@")
        keys = {"f": path, "l": line, "n": column, "t": kind, "page": f"v_{kind}/unit"}
        keys |= {"o": text} | ({"S": span[0]} if span else {}) | {"h": hierarchy}
        body = "".join(f"\x01{key}\x02{value}" for key, value in keys.items())
        lines.append(f"C '{body}' {count}")
    return "\n".join(lines) + "\n"


UNIT = "/project/rtl/unit.v"
ONE, TWO, FIX = (
    f"{UNIT}@pto_harness.mte2.u_engine.u_one",
    f"{UNIT}@pto_harness.mte2.u_engine.u_two",
    f"{UNIT}@pto_harness.fix.u_engine",
)
POINTS = (
    f"10|{ONE}|line|3|3|block|3",
    f"12|{TWO}|line|3|3|block|3",
    f"4|{ONE}|branch|4|5|if|4-5",
    f"0|{TWO}|branch|4|5|if|4-5",
    f"6|{ONE}|branch|4|6|else|6",
    f"12|{TWO}|branch|4|6|else|6",
    f"0|{ONE}|expr|4|14|(q != 4'h9)==0 => 0",
    f"3|{ONE}|expr|4|14|(go_i==1 && (q != 4'h9)==1) => 1",
    f"5|{ONE}|toggle|2|13|q[0]:0->1",
    f"2|{ONE}|toggle|2|13|q[1]:0->1",
    f"0|{ONE}|toggle|2|13|q[2]:0->1",
    f"0|{ONE}|toggle|2|13|q[3]:0->1",
    f"7|{ONE}|toggle|1|27|go_i:0->1",
    f"0|{FIX}|line|3|3|block|3",
    f"0|{FIX}|branch|4|5|if|4-5",
)


TEXT = dat(*POINTS)


def loaded(tmp_path: Path, text: str) -> CodeCounts:
    """Returns the counts of a file with some text."""
    path = tmp_path / "coverage.dat"
    path.write_text(text)
    return read(path, ROOT)


@pytest.fixture
def counts(tmp_path: Path) -> CodeCounts:
    return loaded(tmp_path, TEXT)


def of(counts: CodeCounts, engine: str, kind: str) -> dict[str, int]:
    """Returns text to count of the points of an engine."""
    return {
        f"{point.line} {point.text}": count
        for point, count in counts.counts.items()
        if (point.engine, point.kind) == (engine, kind)
    }


def test_instances_of_an_engine_are_added_up_and_engines_are_not(counts: CodeCounts) -> None:
    assert counts.runs == 1
    assert of(counts, "mte2", "line") == {"3 block": 22}
    assert of(counts, "mte2", "branch") == {"4 if": 4, "4 else": 18}
    assert of(counts, "fix", "line") == {"3 block": 0}
    assert {point.path for point in counts.counts} == {"rtl/unit.v"}


def test_totals_are_separate_by_kind(counts: CodeCounts) -> None:
    assert counts.by_engine() == {
        "mte2": {"line": (4, 4), "branch": (2, 2), "expression": (1, 2), "toggle": (3, 5)},
        "fix": {"line": (0, 3), "branch": (0, 1), "expression": (0, 0), "toggle": (0, 0)},
    }
    assert counts.lines()["mte2", "rtl/unit.v"] == {3: 22, 4: 4, 5: 4, 6: 18}
    percent = counts.percent()
    assert list(percent) == list(KINDS)
    assert percent == pytest.approx(
        {"line": 400 / 7, "branch": 200 / 3, "expression": 50, "toggle": 60}
    )


def test_harness_and_others_are_left_out(tmp_path: Path) -> None:
    others = (
        "1|/project/tb/hdl/pto_axi_mem.v@pto_harness.mte2.u_mem|line|1|1|block|1",
        f"1|{UNIT}@pto_harness.u_unit|line|1|1|block|1",
        f"1|{UNIT}@other.mte2|line|1|1|block|1",
        f"1|{ONE}|user|1|1|cover|1",
    )
    found = loaded(tmp_path, dat(*others, f"1|{ONE}|line|2|1|block|2"))
    assert [point.line for point in found.counts] == [2]
    with pytest.raises(PtoError, match=pattern("no counts any engine")):
        loaded(tmp_path, dat(*others))


def test_parameters_of_a_module_make_no_separate_point(tmp_path: Path) -> None:
    text = dat(f"1|{ONE}|line|3|3|block|3", f"2|{TWO}|line|3|3|block|3")
    found = loaded(tmp_path, text.replace("v_line/unit", "v_line/unit__I3", 1))
    assert list(found.counts.values()) == [3]


def test_sources_outside_the_project_keep_their_path(tmp_path: Path) -> None:
    found = loaded(tmp_path, dat("1|/elsewhere/x.v@pto_harness.fix.u|line|3|3|block|3"))
    assert [point.path for point in found.counts] == ["/elsewhere/x.v"]


@pytest.mark.parametrize("name", ["merged.dat", "merged.dat.gz"])
def test_written_counts_are_read_back(tmp_path: Path, counts: CodeCounts, name: str) -> None:
    counts.runs = 7
    write(counts, tmp_path / name)
    assert read(tmp_path / name, ROOT) == counts
    data = (tmp_path / name).read_bytes()
    assert data.startswith(b"\x1f\x8b") == name.endswith(".gz")
    write(counts, tmp_path / name)
    assert (tmp_path / name).read_bytes() == data


def test_folding_keeps_all_counts(tmp_path: Path, counts: CodeCounts) -> None:
    path, target = tmp_path / "coverage.dat", tmp_path / "coverage.dat.gz"
    assert fold(path, target, ROOT) == counts
    assert read(target, ROOT) == counts
    assert not path.exists()


def test_merging_adds_every_count_in_any_order(tmp_path: Path) -> None:
    """Against a plain sum over all lines of all files."""
    draw = random.Random(5)
    paths = []
    expected: dict[tuple[str, int], int] = {}
    for number in range(12):
        points = []
        for line in draw.sample(range(1, 40), 25):
            for place in (ONE, TWO, FIX):
                count = draw.choice((0, 0, 1, draw.randrange(1 << 40)))
                points.append(f"{count}|{place}|line|{line}|3|block|{line}")
                key = place.split("@")[1].split(".")[1], line
                expected[key] = expected.get(key, 0) + count
        paths.append(tmp_path / f"{number}.dat")
        paths[-1].write_text(dat(*points))
    for order in (paths, paths[::-1]):
        total = merged(order, ROOT)
        assert total.runs == 12
        found = {(point.engine, point.line): n for point, n in total.counts.items()}
        assert found == expected
    write(merged(paths[:5], ROOT), tmp_path / "part.dat.gz")
    assert merged([tmp_path / "part.dat.gz", *paths[5:]], ROOT) == total


def test_a_damaged_file_does_not_affect_the_others(tmp_path: Path, counts: CodeCounts) -> None:
    good, bad = tmp_path / "coverage.dat", tmp_path / "bad.dat"
    bad.write_text(good.read_text()[:-5])
    total, problems = merged_readable([good, bad, good], ROOT)
    assert total.runs == 2
    assert of(total, "mte2", "line") == {"3 block": 44}
    assert total.by_engine() == counts.by_engine()
    (problem,) = problems
    assert says(problem, f"{bad}:{len(POINTS) + 1} cut off damaged")


DAMAGE = (("\x01l\x02", "\x01k\x02"), ("\x01l\x023", "\x01l\x02x"), ("' 4", "' x"), ("C '", "D '"))


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (dat(f"1|{UNIT}@pto_harness.*.u_engine|line|3|3|block|3"), "several instances", ":2"),
        *[(TEXT[:-cut], "cut off", f":{len(POINTS) + 1}") for cut in (1, 5, 40)],
        *[(TEXT.replace(*change, 1), "cut off or damaged", "") for change in DAMAGE],
        ("something else\n", "not a file of Verilator's", ""),
        ("", "not a file of Verilator's", ""),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str, line: str) -> None:
    with pytest.raises(PtoError, match=message) as caught:
        loaded(tmp_path, text)
    assert caught.value.where.startswith(f"{tmp_path / 'coverage.dat'}")
    assert caught.value.where.endswith(line)


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_packed_file_that_is_cut_off(tmp_path: Path, counts: CodeCounts, cut: int) -> None:
    packed = tmp_path / "coverage.dat.gz"
    write(counts, packed)
    packed.write_bytes(packed.read_bytes()[:-cut])
    with pytest.raises(PtoError, match="cut off"):
        read(packed, ROOT)


def test_places_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(PtoError, match="cannot be read"):
        read(tmp_path / "none.dat", ROOT)
    (tmp_path / "a file").touch()
    with pytest.raises(PtoError, match="cannot write"):
        write(CodeCounts(), tmp_path / "a file/below.dat")


def test_the_view_has_every_line_of_the_source(tmp_path: Path, counts: CodeCounts) -> None:
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl/unit.v").write_text(SOURCE)
    view = code_view(counts, tmp_path)
    assert view.engines == counts.by_engine()
    assert [(x.engine, x.path) for x in view.files] == [(x, "rtl/unit.v") for x in ("mte2", "fix")]
    mine = view.files[0]
    assert mine.totals == view.engines["mte2"]
    assert [line.line for line in mine.lines] == [None, None, 22, 4, 4, 18, None, None]
    assert "\n".join(line.text for line in mine.lines) + "\n" == SOURCE
    assert mine.lines[0].points == (("toggle", "go_i:0->1", 7),)
    assert mine.lines[1].points == (("toggle", "q[3:2]:0->1", 0), ("toggle", "q[1:0]:0->1", 2))
    assert mine.lines[3].points == (
        ("branch", "if", 4),
        ("branch", "else", 18),
        ("expression", "(go_i==1 && (q != 4'h9)==1) => 1", 3),
        ("expression", "(q != 4'h9)==0 => 0", 0),
    )
    assert [line.line for line in view.files[1].lines][2:5] == [0, 0, 0]


def test_the_view_without_sources_has_the_totals(tmp_path: Path, counts: CodeCounts) -> None:
    view = code_view(counts, tmp_path)
    assert [file.lines for file in view.files] == [(), ()]
    assert view.files[0].totals == counts.by_engine()["mte2"]


def test_neighbouring_bits_are_one_entry_only_if_they_are_alike(tmp_path: Path) -> None:
    (tmp_path / "x.v").write_text("wire [9:0] w;\n")
    hits = {9: 1, 8: 4, 6: 2, 5: 0, 4: 0, 2: 0, 1: 3, 0: 1}
    counts = CodeCounts(
        {CodePoint("fix", "x.v", 1, 12, "toggle", f"w[{b}]:1->0", ""): n for b, n in hits.items()}
    )
    (line,) = code_view(counts, tmp_path).files[0].lines
    assert [(text.removesuffix(":1->0"), count) for _, text, count in line.points] == [
        ("w[9:8]", 1), ("w[6]", 2), ("w[5:4]", 0), ("w[2]", 0), ("w[1:0]", 1)
    ]  # fmt: skip


def uncalled(text: str) -> set[str]:
    """Returns the functions of the headers of a module that the module never calls."""
    headers = paths.ROOT / "rtl_stubs/common"
    included = (headers / name for name in re.findall(r'`include "(\w+\.vh)"', text))
    code = re.sub(r"//.*", "", "".join(path.read_text() for path in included))
    functions = re.findall(r"\bfunction\b[^;]*?(\w+);(.*?)\bendfunction\b", code, re.DOTALL)
    left = dict(functions)
    seen = re.sub(r"//.*", "", text)
    while called := {name for name in left if re.search(rf"\b{name}\b", seen)}:
        seen = "".join(left.pop(name) for name in called)
    return set(left)


def test_an_engine_has_only_functions_that_it_calls() -> None:
    """Others would be holes in the code coverage of its slot forever."""
    modules = list((paths.ROOT / "rtl_stubs").rglob("*.sv"))
    found = {path.name: uncalled(path.read_text()) for path in modules}
    assert {name: names for name, names in found.items() if names} == {}
    (lane,) = [path.read_text() for path in modules if path.name == "pto_fix_lane.sv"]
    # A chain of calls ends at the conversion.
    assert uncalled(lane.replace("fix_f16_to_f32(fix_f32_to_h(", "other(")) == {"fix_f32_to_h"}
