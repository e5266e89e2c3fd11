# SPDX-License-Identifier: Apache-2.0
"""Manifests: those of the reference engines, and the errors of wrong ones."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sequences.streams.speed import stream_names
from tb.common.errors import PtoError
from tb.dut.filelist import read_file_list
from tb.dut.manifest import Capabilities, load_manifest, load_manifests, reference_manifests
from tb.dut.selection import exclusions
from tb.dut.widths import Widths
from tb.isa.ops import OPS, SLOTS
from tb.isa.profile import A5, SEED
from tb.prove.dut import prove_command
from tb.record.settings import RunSettings
from tb.run.plan import plan_run
from tb.run.testlist import planned_test
from tests.wording import pattern, says

GOOD = {
    "module": '"mine"',
    "slot": '"mte2"',
    "sources": '["*.v"]',
    "ops": '["mte_gm_ub"]',
    "d_rules": '["DMA-L05", "DMA-L09"]',
}


def write(folder: Path, **changes: str) -> Path:
    """Writes a manifest and a source; a key with an empty value is omitted."""
    (folder / "mine.v").write_text("module mine; endmodule\n")
    path = folder / "dut.toml"
    keys = {name: value for name, value in {**GOOD, **changes}.items() if value}
    able = {name: keys.pop(name) for name in tuple(keys) if name in Capabilities.model_fields}
    tables = (keys, {"[capabilities]": None}, able)
    path.write_text(
        "".join(
            f"{name}\n" if value is None else f"{name} = {value}\n"
            for table in tables
            for name, value in table.items()
        )
    )
    return path


def test_reference_engines_report_all_rules_of_their_ops() -> None:
    manifests = reference_manifests()
    slots = [manifest.slot for manifest in manifests]
    assert slots == sorted(set(slots), key=SLOTS.index)
    for manifest in manifests:
        names = {rule for op in manifest.ops for rule in OPS[op].rule_names}
        assert set(manifest.d_rules) == names


@pytest.mark.parametrize("folder", ["", "{}/"], ids=["relative", "absolute"])
@pytest.mark.parametrize("pattern", ["*.v", "mine.v", "**/*.v"])
def test_a_good_manifest(folder: str, pattern: str, tmp_path: Path) -> None:
    write(tmp_path, sources=f'["{folder.format(tmp_path)}{pattern}"]')
    manifest = load_manifest(tmp_path)  # A folder means its dut.toml.
    assert (manifest.module, manifest.d_rules) == ("mine", ("DMA-L05", "DMA-L09"))
    assert manifest.sources == (str((tmp_path / "mine.v").resolve()),)


def test_a_manifest_without_a_profile_claims_seed(tmp_path: Path) -> None:
    assert load_manifest(write(tmp_path)).claim == SEED
    assert load_manifest(write(tmp_path, profile='"a5"')).claim == A5
    single = load_manifest(write(tmp_path, profile='"a5,tail=keep"')).claim
    assert single == replace(A5, tail="keep")


def test_parameters_of_knobs_follow_the_profile(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        parameters="{ Depth = 4, TailFill = 0 }",
        knob_parameters='{ tail = "TailFill", len_bits = "LenBits" }',
    )
    manifest = load_manifest(path)
    assert manifest.parameters_under(SEED) == {"Depth": 4, "TailFill": 0, "LenBits": 16}
    assert manifest.parameters_under(A5) == {"Depth": 4, "TailFill": 1, "LenBits": 21}


def test_limits_of_streams_are_of_all_widths_or_of_each(tmp_path: Path) -> None:
    text = '{ "raw_fill_l1 8 KiB" = 2, "mte_gm_ub loops" = { 128 = 1.5, 512 = 1.1 } }'
    can = load_manifest(write(tmp_path, clocks=text)).capabilities
    assert can.clocks_at(128) == {"raw_fill_l1 8 KiB": 2, "mte_gm_ub loops": 1.5}
    assert can.clocks_at(256) == {"raw_fill_l1 8 KiB": 2}
    assert Capabilities.model_validate_json(can.model_dump_json()) == can


def test_every_stream_of_the_reference_engines_has_limits() -> None:
    for manifest in reference_manifests():
        for width in (128, 256, 512):
            assert set(manifest.capabilities.clocks_at(width)) == set(stream_names(manifest.slot))


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"d_rules": "[5]"}, 'd_rules.0 5 not a name "DMA-L05"'),
        ({"d_rules": '["DMA-L05", 12]'}, "d_rules.1 12 not a name"),
        ({"d_rules": '["5"]'}, r"D rule '5' slot mte2 DMA-L05,\sDMA-L06"),
        ({"d_rules": '["DMA-L11"]'}, "D rule 'DMA-L11' slot mte2"),
        ({"d_rules": '["DMA-L99"]'}, "D rule 'DMA-L99'"),
        ({"ops": ""}, "key capabilities.ops missing"),
        ({"ops": "[]"}, "ops empty mte_gm_ub"),
        ({"ops": '["mte_ub_gm"]'}, "op 'mte_ub_gm' not slot mte2 mte_gm_ub"),
        ({"slot": '"mte4"'}, r"slot 'mte4' mte1,\smte2,\smte3,\sfix"),
        ({"slot": ""}, "key slot missing"),
        ({"sources": '["no*.v"]'}, r"source 'no\*.v' no file"),
        ({"sources": '["no.v"]'}, "source 'no.v' no file"),
        ({"sources": ""}, "no source"),
        ({"filelists": '["no.f"]'}, "file list 'no.f' no file"),
        ({"include_dirs": '["no"]'}, "include folder 'no' no folder"),
        ({"include_dirs": '["mine.v"]'}, "include folder 'mine.v' no folder"),
        ({"waivers": '["no.vlt"]'}, "waiver 'no.vlt' no file"),
        ({"module": '"not a name"'}, "key module"),
        ({"gm_data_widths": "[64]"}, "gm_data_widths"),
        ({"gm_data_widths": "[]"}, "gm_data_widths at least 1"),
        ({"local_data_widths": "[]"}, "local_data_widths at least 1"),
        ({"local_data_widths": "[128, 128]"}, "local_data_widths 128 twice"),
        ({"ops": '["mte_gm_ub", "mte_gm_l1", "mte_gm_ub"]'}, "ops 'mte_gm_ub' twice"),
        ({"d_rules": '["DMA-L05", "DMA-L05"]'}, "d_rules 'DMA-L05' twice"),
        ({"sources": '["*.v", "*.v"]'}, r"sources '\*.v' twice"),
        ({"pad": "1"}, "key capabilities.pad is 1 true or false"),
        ({"error_address": '"yes"'}, "key capabilities.error_address 'yes' true or false"),
        ({"loops": '"3"'}, "key capabilities.loops integer"),
        ({"outstanding": "4.0"}, "key capabilities.outstanding integer"),
        ({"tag_widths": '["4", 8]'}, "tag_widths.0 integer"),
        ({"tag_widths": "[0, 8]"}, "tag_widths.0"),
        ({"tag_widths": "[8, 4]"}, r"tag_widths \[8, 4\]"),
        ({"loops": "4"}, "key capabilities.loops"),
        ({"errors": '["parity"]'}, "key capabilities.errors.0"),
        ({"clocks": '{ "mte_gm_ub long row" = 1.1 }'}, "stream mean mte_gm_ub long rows"),
        ({"clocks": '{ "mte_ub_gm short rows" = 1.1 }'}, "stream 'mte_ub_gm short rows' slot mte2"),
        ({"clocks": '{ "raw_fill_l1 8 KiB" = 0 }'}, "key capabilities.clocks.raw_fill_l1 8 KiB"),
        ({"clocks": '{ "raw_fill_l1 8 KiB" = "1" }'}, "key capabilities.clocks.raw_fill_l1 8 KiB"),
        ({"clocks": '{ "raw_fill_l1 8 KiB" = { 64 = 1.1 } }'}, "key capabilities.clocks 64"),
        ({"outstanding": "0"}, "key capabilities.outstanding"),
        ({"watchdog_clocks": "99"}, "watchdog_clocks"),
        ({"watchdog_clocks": "2.5"}, "watchdog_clocks"),
        ({"simulators": "[]"}, "key simulators at least 1"),
        ({"simulators": '"verilator"'}, "key simulators list"),
        ({"simulators": '["verilator", "verilator"]'}, "simulators 'verilator' twice"),
        ({"simulators": '["icarsu"]'}, "key simulators.0 'icarsu' verilator, icarus, questa"),
        ({"simulator_args": '{ icarsu = ["-v"] }'}, "key simulator_args.icarsu 'icarsu' icarus"),
        ({"parameters": "{ TagWidth = 4 }"}, "parameter TagWidth harness"),
        ({"defines": "{ A = 1.5 }"}, "key defines.A"),
        ({"profile": '"a6"'}, "profile 'a6' unknown seed a5"),
        ({"profile": '"a5, tial = keep"'}, "knob 'tial' unknown tail compact"),
        ({"profile": '"a5, tail = kept"'}, "tail keep or fill"),
        ({"profile": '"tail = fill, tail = keep"'}, "knob tail twice"),
        ({"profile": "5"}, "key profile is 5 a text"),
        ({"knob_parameters": '{ tial = "TailFill" }'}, "knob 'tial' unknown mean tail len_bits"),
        ({"knob_parameters": '{ alpha = "A" }'}, "slot mte2 knob 'alpha' len_bits pad_end tail"),
        ({"knob_parameters": '{ modes = "A" }'}, "slot mte2 knob 'modes' len_bits"),
        ({"knob_parameters": '{ tail = "TagWidth" }'}, "knob tail parameter TagWidth harness sets"),
        ({"knob_parameters": '{ tail = "a b" }'}, "key knob_parameters.tail"),
        (
            {"knob_parameters": '{ tail = "A", compact = "A" }'},
            "knobs tail and compact one parameter A",
        ),
        (
            {
                "profile": '"a5"',
                "parameters": "{ TailFill = 0 }",
                "knob_parameters": '{ tail = "TailFill" }',
            },
            "parameter TailFill 0 claims a5 knob tail fill 1 DMA-L18 0 for tail keep 1 for tail "
            "fill TailFill",
        ),
        (
            {"parameters": "{ TailFill = 1 }", "knob_parameters": '{ tail = "TailFill" }'},
            "parameter TailFill 1 claims seed knob tail keep 0",
        ),
        ({"extra": "1"}, "key extra unknown sources docs/plug-in.md"),
        ({"modul": '"x"'}, "key modul unknown mean module"),
        ({"slot": "mte2"}, "not TOML"),
    ],
)
def test_errors_of_manifests(tmp_path: Path, changes: dict[str, str], facts: str) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(PtoError) as refused:
        load_manifest(path)
    assert says(str(refused.value), facts), refused.value
    assert str(path) in str(refused.value)


def test_a_misplaced_key_of_capabilities(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text("loops = 2\n" + path.read_text())
    with pytest.raises(PtoError, match=pattern(r"key loops unknown loops \[capabilities\]")):
        load_manifest(path)
    path.write_text(path.read_text().removeprefix("loops = 2\n") + "lops = 2\n")
    with pytest.raises(PtoError, match=pattern("key capabilities.lops unknown mean loops")):
        load_manifest(path)


def test_two_manifests_for_one_slot_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path)
    with pytest.raises(PtoError, match=pattern("two manifests slot mte2 mine mine")):
        load_manifests([str(path), str(path)])


def test_manifests_are_in_the_order_of_the_slots(tmp_path: Path) -> None:
    for name, slot, op in (("a", "mte3", "mte_ub_gm"), ("b", "mte1", "mte_l1_ub")):
        (tmp_path / name).mkdir()
        write(tmp_path / name, slot=f'"{slot}"', ops=f'["{op}"]', d_rules="")
    found = load_manifests([str(tmp_path / "a"), str(tmp_path / "b" / "dut.toml")])
    assert [manifest.slot for manifest in found] == ["mte1", "mte3"]


def test_a_width_that_the_engine_lacks_is_refused(tmp_path: Path) -> None:
    manifest = load_manifest(write(tmp_path, gm_data_widths="[256]", tag_widths="[4, 8]"))
    manifest.check_run(256, 128, 8)
    with pytest.raises(PtoError, match=pattern("mine no GM_WIDTH 128 bits")):
        manifest.check_run(128, 256, 8)
    with pytest.raises(PtoError, match=pattern(r"mine no TAG_WIDTH 9 bits 4,\s5,\s6,\s7,\s8")):
        manifest.check_run(256, 256, 9)


def test_a_simulator_that_the_engine_does_not_support_is_refused(tmp_path: Path) -> None:
    load_manifest(write(tmp_path)).check_simulator("icarus")
    path = write(tmp_path, simulators='["verilator", "questa"]')
    settings = RunSettings(sim="icarus", duts=(str(path),))
    with pytest.raises(PtoError) as refused:
        plan_run(settings, planned_test("directed"), tmp_path / "run")
    facts = rf"mine SIM=icarus {path},\ssimulators verilator,\squesta manifest"
    assert says(str(refused.value), facts), refused.value


def test_a_black_box_without_a_model_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, black_boxes='["enc", "pll"]', sources='["mine.v", "enc.v"]')
    (tmp_path / "enc.v").write_text("module\tenc(); endmodule\n")
    with pytest.raises(PtoError) as refused:
        load_manifest(path).check_simulator("icarus")
    assert says(str(refused.value), "mine no model black box pll SIM=icarus simulator_args")
    with pytest.raises(PtoError, match=pattern("mine black boxes Yosys enc, pll")):
        prove_command(load_manifest(path), Widths(128, 128, 1), 1, 1, 1, "")
    table = '[simulator_args]\nxcelium = ["/ip/pll.vp"]\n[capabilities]'
    path.write_text(path.read_text().replace("[capabilities]", table))
    load_manifest(path).check_simulator("xcelium")
    with pytest.raises(PtoError, match="SIM=verilator"):
        load_manifest(path).check_simulator("verilator")


@pytest.mark.parametrize(
    ("source", "facts"),
    [
        ("mine.vhd", "mine.vhd VHDL SIM=icarus {path} ghdl --synth"),
        ("mine.VHDL", "mine.VHDL VHDL SIM=icarus {path} questa black_boxes"),
        ("model.cpp", "model.cpp not Verilog {path} simulator_args"),
    ],
)
def test_sources_that_are_no_verilog(source: str, facts: str, tmp_path: Path) -> None:
    (tmp_path / source).write_text("entity core is end;\n")
    keys = {"sources": f'["mine.v", "{source}"]', "black_boxes": '["core"]'}
    path = write(tmp_path, simulators='["questa", "icarus"]', **keys)
    with pytest.raises(PtoError) as refused:
        load_manifest(path)
    assert says(str(refused.value), facts.format(path=path)), refused.value
    path = write(tmp_path, simulators='["questa"]', **keys)
    if source == "model.cpp":
        with pytest.raises(PtoError):
            load_manifest(path)
    else:
        load_manifest(path).check_simulator("questa")


def test_the_exclusions_of_a_manifest(tmp_path: Path) -> None:
    path = write(tmp_path, loops="1", pad="false", errors='["read"]', outstanding="4")
    (sentence,) = exclusions([load_manifest(path)], 16)
    facts = (
        "mine mte2 ops mte_gm_l1, mte_gm_l1_frac more than 1 loops padded rows break DMA-L06 "
        "write, local errors more than 4 bursts in flight"
    )
    assert says(sentence, facts), sentence
    assert "DMA-L05" not in sentence
    path = write(tmp_path, pad="false", d_rules='["DMA-L05", "DMA-L06", "DMA-L10"]')
    (sentence,) = exclusions([load_manifest(path)], 16)
    assert "DMA-L10" in sentence, "claimed, but only padded rows break it"
    assert "DMA-L06" not in sentence
    assert exclusions(reference_manifests(), 64) == []


@pytest.mark.parametrize(("op", "told"), [("mte_l1_l0b", True), ("mte_l1_l0b_mx", False)])
def test_the_exclusions_of_a_loader(tmp_path: Path, op: str, told: bool) -> None:
    """Scales have neither widths nor transposition."""
    able = {"transpose": "false", "element_bits": "[16, 32]", "ops": f'["{op}"]', "d_rules": ""}
    (sentence,) = exclusions([load_manifest(write(tmp_path, slot='"mte1"', **able))], 16)
    for text in ("transposed loads", "loads of 4, 8-bit elements"):
        assert (text in sentence) == told


@pytest.mark.parametrize(
    ("keys", "facts"),
    [
        ({"sources": '["in/pipe.vh"]'}, "source 'in/pipe.vh' no file pipe"),
        ({"sources": '["in"]'}, "source 'in' no file folder"),
        ({"waivers": '["/dev/null"]'}, "waiver '/dev/null' no file device"),
        ({"include_dirs": '["mine.v"]'}, "include folder 'mine.v' no folder it is a file"),
        ({"include_dirs": '["/dev/zero"]'}, "include folder '/dev/zero' no folder device"),
        ({"filelists": '["in/pipe.vh"]'}, "file list 'in/pipe.vh' no file pipe"),
        ({"filelists": '["all.f"]'}, "source 'in/pipe.vh' pipe all.f:1"),
        ({"include_dirs": '["in"]'}, "pipe.vh pipe folder of sources or includes"),
        ({"filelists": '["library.f"]'}, "pipe.vh pipe folder of sources or includes"),
        ({"sources": '["in/x.v"]'}, "pipe.vh pipe folder of sources or includes"),
    ],
)
def test_pipes_and_folders_in_the_place_of_files(
    keys: dict[str, str], facts: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / "in/pipe.vh")
    (tmp_path / "in/x.v").touch()
    (tmp_path / "all.f").write_text("in/pipe.vh")
    (tmp_path / "library.f").write_text("-y in")
    with pytest.raises(PtoError) as refused:
        load_manifest(write(tmp_path, **keys))
    assert says(str(refused.value), facts), refused.value


def test_file_lists_are_read_nested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rtl", "inc", "ip"):
        (tmp_path / name).mkdir()
    for name in ("rtl/a.sv", "rtl/b.sv", "ip/c.v"):
        (tmp_path / name).write_text("module m; endmodule\n")
    (tmp_path / "rtl/all.f").write_text(
        "// a comment\n# another\n/* a long\n one */ a.sv  b.sv // the engine\n"
        "+incdir+../inc +define+FAST+DEPTH=4\n-f $IP_HOME/ip.f\n"
    )
    (tmp_path / "ip/ip.f").write_text("c.v\n")
    monkeypatch.setenv("IP_HOME", "../ip")
    path = write(tmp_path, filelists='["rtl/all.f"]', defines="{ DEPTH = 8 }")
    manifest = load_manifest(path)
    names = [str(Path(name).relative_to(tmp_path.resolve())) for name in manifest.sources]
    assert names == ["rtl/a.sv", "rtl/b.sv", "ip/c.v", "mine.v"]
    assert manifest.include_dirs == (str((tmp_path / "inc").resolve()),)
    assert manifest.defines == {"FAST": "", "DEPTH": 8}
    assert [Path(name).name for name in manifest.filelists] == ["all.f", "ip.f"]


def test_libraries_have_what_the_sources_lack(tmp_path: Path) -> None:
    """The first library with a module provides it, and what its file lacks in turn."""
    texts = {
        "top.sv": "module mine; a u_a(); generate if (0) b u_b(); endgenerate endmodule",
        "one/a.v": "module a; c u_c(); `ifdef DEEP d u_d(); `endif endmodule",
        "one/unused.v": "module unused; endmodule",
        "two/a.v": "module a; endmodule",
        "two/d.vlib": "module d; mine u_mine(); endmodule",
        "cells.v": "module b; endmodule module c; endmodule",
        "more.v": "module c; endmodule module e; endmodule",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    libraries = "-y one -v cells.v -y two -v more.v"

    def files(text: str) -> list[str]:
        (tmp_path / "all.f").write_text(text)
        path = write(tmp_path, sources="", filelists='["all.f"]')
        sources = load_manifest(path).sources
        return [str(Path(name).relative_to(tmp_path.resolve())) for name in sources]

    assert files(f"top.sv {libraries}") == ["top.sv", "one/a.v", "cells.v"]
    assert files(f"top.sv {libraries} +libext+.v+.vlib +define+DEEP")[3:] == ["two/d.vlib"]
    assert files("top.sv -y two -v more.v") == ["top.sv", "two/a.v"]
    (tmp_path / "own.v").write_text("module mine; c u_c(); e u_e(); endmodule")
    assert files("own.v -v more.v -v cells.v") == ["own.v", "more.v"]
    assert files(f"top.sv two/a.v {libraries}") == ["top.sv", "two/a.v", "cells.v"]
    (tmp_path / "all.f").write_text(f"top.sv {libraries}")
    path = write(tmp_path, sources="", filelists='["all.f"]', black_boxes='["a", "b"]')
    assert len(load_manifest(path).sources) == 1
    (tmp_path / "c.v").write_text(texts["more.v"])
    with pytest.raises(PtoError) as refused:
        files(f"top.sv c.v {libraries}")
    assert says(str(refused.value), "module b module c cells.v"), refused.value


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("a.v\nno.v\n", "source 'no.v' not exist {list}:2"),
        ("-f no.f\n", "cannot read file list No such file no.f"),
        ("-f all.f\n", "file list itself all.f all.f"),
        ("a.v\n\n-f\n", "-f without file {list}:3"),
        ("+incdir+no\n", "folder 'no' not exist"),
        ("-y lib\n", "folder 'lib' not exist {list}:1"),
        ("a.v -y\n", "-y without folder {list}:1"),
        ("-v no.v\n", "source 'no.v' not exist {list}:1"),
        ("+libverbose\n", r"option '\+libverbose' file list every simulator"),
        ("$PTO_NOT_SET/a.v\n", "variable PTO_NOT_SET not set"),
        ("'a.v\n", "No closing quotation"),
    ],
)
def test_errors_of_file_lists(tmp_path: Path, text: str, facts: str) -> None:
    (tmp_path / "a.v").write_text("module a; endmodule\n")
    path = tmp_path / "all.f"
    path.write_text(text)
    with pytest.raises(PtoError) as refused:
        read_file_list(path)
    assert says(str(refused.value), facts.format(list=path.resolve())), refused.value
