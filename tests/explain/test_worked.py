# SPDX-License-Identifier: Apache-2.0
"""Worked values of the specification: images of the byte map, register words, forms, other ops."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sequences.examples.catalog import EXAMPLES, Example
from sequences.examples.worked import rows
from tb.common.paths import ROOT
from tb.explain.command import Options, explain_command
from tb.explain.forms import RAW_FORMS
from tb.explain.others import sentence
from tb.isa.document import page_text
from tb.isa.grammar import KNOWN_ROWS, ROWS
from tb.isa.spaces import Space
from tb.language.dialect.sync import SYNC, QuietOp
from tb.language.run.inputs import MADS
from tests.explain.records import output, record, records
from tests.explain.test_command import ELEMENTS, EVERY_OP, line_of, program

TEXTS = {name: row for file in ("copies", "loads") for name, row in rows(file)}
"""Rows of the worked values, with the text of their ops."""

MAPPED = [
    example
    for example in EXAMPLES
    if example.name in TEXTS and "ctrl" not in example.forms and example.space is not Space.BT
    if "f4E2M1x2" not in TEXTS[example.name].get("types", "") and example.name != "PK-1b"
]
"""Those whose map is one of whole bytes that are moved or made, and lists all of them."""


def profile_of(example: Example) -> str:
    return ", ".join(["seed", *(f"{name} = {value}" for name, value in example.knobs.items())])


@pytest.mark.parametrize("example", MAPPED, ids=lambda example: example.name)
def test_images_of_the_examples(example: Example) -> None:
    """The byte map of every form makes the image, and says that it is complete."""
    row, image = TEXTS[example.name], example.images[-1]
    (source,) = {fill.space for fill in example.fills} or {Space.L1}
    given = example.initial(source, 0, 1 << 18)
    for form in example.forms:
        found = record(row[form], element=row.get("types", ""), profile=profile_of(example))
        data = example.initial(image.space, image.start, image.length)
        assert all(memory["complete"] for memory in found["memories"].values())
        for part in found["parts"] if image.length else ():
            fill_part(data, part, given, 0 if image.space is Space.L0 else image.start)
        assert image.matches(data)


def fill_part(
    data: NDArray[np.uint8], part: dict[str, Any], given: NDArray[np.uint8], start: int
) -> None:
    """Writes a part of a byte map into an image that begins at ``start``."""
    size = part["size"]
    for offset_src, offset_dst in _offsets(part["axes"]):
        dst = part["dst"] + offset_dst
        if part["source"]:
            moved = given[part["src"] + offset_src :][:size]
        else:
            made = bytes.fromhex(part["pattern"])
            moved = np.frombuffer((made * (size + 1))[dst % len(made) :][:size], dtype=np.uint8)
        data[dst - start :][:size] = moved


def _offsets(axes: list[dict[str, int]]) -> list[tuple[int, int]]:
    found = [(0, 0)]
    for axis in axes:
        found = [
            (src + k * axis["src"], dst + k * axis["dst"])
            for src, dst in found
            for k in range(axis["count"])
        ]
    return found


WORDS: dict[tuple[str, str], dict[str, int]] = {
    # docs/spec/dma.md, section 4, and docs/spec/profiles.md (n [24:4], len [45:25])
    ("", TEXTS["EX6"]["legacy"]): {
        "LOOP_SIZE": 0x0020_0004, "LOOP1_STRIDE": 0x0008_0000_0000_0800, "LOOP2_STRIDE": 0,
        "copy configuration": 0x2_0000_0080,
    },
    ("", "set_loop_size_ubtoout 3, 2; set_loop2_stride_ubtoout 4096, 0x123456; "
     "copy_ubuf_to_gm 0, 0, 0, 1, 32, 0, 0, 0"): {
        "LOOP_SIZE": 0x0040_0003, "LOOP1_STRIDE": 0, "LOOP2_STRIDE": 0x0010_0000_0012_3456,
        "copy configuration": 32 << 25 | 1 << 4,
    },
    ("", "mte_ub_gm 0, 0, 8 nburst(1, 0, 0) loop(3, 64, 4096)"): {
        "LOOP_SIZE": 1 << 21 | 3, "LOOP1_STRIDE": 64 << 40 | 4096, "LOOP2_STRIDE": 0,
        "copy configuration": 8 << 25 | 1 << 4,
    },
    # docs/spec/nd2nz.md, section 1
    ("", EVERY_OP["mte_gm_l1_frac"]): {"MTE2_NZ_PARA": 48 << 32 | 1 << 16 | 1},
    # docs/spec/fixpipe.md, section 12
    ("i32,bf16", "mte_l0c_gm 0, 0, 18, 40, 32, 48, 1, 3, "
     "pre_quant(0x80, mode = qs322bf16_pre_vec), pre_relu(0x10040, mode = vector_relu), nz2dn(2), "
     "loop3(2, 16, 4096), nosat"): {
        "Xm": 48 << 32 | 18 << 16 | 40 << 4 | 1,
        "Xt": 1 << 62 | 3 << 39 | (35 & 31) << 34 | 1 << 29 | 3 << 16 | 32,
        "LOOP3_PARA": 4096 << 32 | 16 << 16 | 2, "CHANNEL_PARA": 2 << 48, "FPC": 1 << 8 | 1,
        "CTRL": 1 << 48,
    },
    # docs/spec/order_and_atomics.md, section 5: bit 48 nosat, 10:9 the operation, 8:6 the type
    ("", "set_ctrl 0x1000000000a80; mte_ub_gm 0x20, 0x1000, 24 nburst(2, 64, 100)"): {
        "LOOP_SIZE": 1 << 21 | 1, "LOOP1_STRIDE": 0, "LOOP2_STRIDE": 0,
        "copy configuration": 24 << 25 | 2 << 4, "CTRL": 1 << 48 | 1 << 9 | 2 << 6,
    },
}  # fmt: skip
"""Element types and an op to its words, by hand."""


@pytest.mark.parametrize("case", WORDS, ids=str)
def test_worked_words(case: tuple[str, str]) -> None:
    element, text = case
    found = record(text, element=element)["words"]
    assert {word["name"]: int(word["value"], 16) for word in found} == WORDS[case]


REGISTERS: dict[str, tuple[str, int]] = {
    "set_loop_size_outtoub 5, 7": ("LOOP_SIZE", 7 << 21 | 5),
    "set_loop1_stride_outtoub 0x99, 0x40": ("LOOP1_STRIDE", 0x40 << 40 | 0x99),
    "set_loop2_stride_ubtoout 0x40, 0x99": ("LOOP2_STRIDE", 0x40 << 40 | 0x99),
    "set_mov_pad_val 1.0 : f16": ("MOV_PAD_VAL", 0x3C00),
    "set_ctrl 0x4000000000001": ("CTRL", 1 << 50 | 1),
    "set_ctrl 0x2C0; set_atomic_none": ("CTRL", 0x200),
    "set_atomic_bf16; set_atomic_min": ("CTRL", 2 << 9 | 6 << 6),
}


@pytest.mark.parametrize("text", REGISTERS)
def test_an_op_that_writes_a_register_has_its_word(text: str) -> None:
    found = records(text)[-1]
    (word,) = found["words"]
    assert (word["name"], int(word["value"], 16)) == REGISTERS[text]
    assert (found["status"], found["pipe"], found["parts"]) == ("no bytes", "PIPE_S", [])
    shown = output(text)
    assert "bytes\n" not in shown
    assert "descriptor\n" not in shown


def test_a_register_keeps_its_value_when_an_operand_does_not_fit() -> None:
    found = record("set_loop_size_outtoub 0x200000, 1")
    assert found["status"] == "error"
    assert [(one["rule"], one["state"]) for one in found["rules"]] == [("DMA-L05", "broken")]
    assert int(found["words"][0]["value"], 16) == 1 << 21 | 1


def test_a_word_is_shown_where_another_register_is_not_known() -> None:
    stride = "pto.set_loop1_stride_outtoub %n, %c1_i64 : I64x2\n"
    text = program(f"{stride}pto.set_loop_size_outtoub %c2_i64, %c1_i64 : I64x2\n")
    (word,) = record(text, lines=(line_of(text, "pto.set_loop_size"),))["words"]
    assert (word["name"], int(word["value"], 16)) == ("LOOP_SIZE", 1 << 21 | 2)


@pytest.mark.long
def test_expansions_are_those_of_the_dialect() -> None:
    """Operands of docs/spec/dialect.md, section 5; words of two operands: low 40 bits, high 24."""
    for raw in RAW_FORMS:
        form = {**ROWS, **KNOWN_ROWS}[raw.name]
        own = len(raw.operands) + sum(not name for name, _ in raw.words)
        assert own == len(form.groups), raw.name
        assert all(name in {**ROWS, **KNOWN_ROWS} for name, _ in raw.words if name)
    op = "mte_l0c_gm 0, 0, 18, 32, 32, 48, 0, 0, nz2dn(2), loop3(2, 16, 4096)"
    (form_,) = record(op)["forms"]
    assert form_["lines"][:2] == [
        "set_loop3_para low 0x100002, high 0x10",
        "set_channel_para low 0x0, high 0x200",
    ]


TEXT_ONLY = {
    "copy_gm_to_cbuf 0x20, 64, 2, 40, 100, 64": "mte_gm_l1 0x20, 64, 40 nburst(2, 100, 64)",
    "copy_cbuf_to_ubuf 0, 64, 0, 2, 1, 3, 4": "mte_l1_ub 0, 64, 1 nburst(2, 3, 4)",
    "copy_ubuf_to_cbuf 0, 64, 0, 2, 1, 3, 4": "mte_ub_l1 0, 64, 1 nburst(2, 3, 4)",
    "copy_cbuf_to_fbuf 0, 64, 2, 1, 3, 4": "mte_l1_fb 0, 64, 1 nburst(2, 3, 4)",
    "load_cbuf_to_ca 0x400, 0x200, 1, 0, 2, 1, 3, 2": "mte_l1_l0a 0x400, 0x200, 1, 0, 2, 1, 3, 2",
    "load_cbuf_to_cb 0, 0, 0, 1, 1, 2, 2, 1": "mte_l1_l0b 0, 0, 0, 1, 1, 2, 2, 1",
    # The destination is that of the scales, 1/16 of that of their data.
    "load_cbuf_to_ca_mx 0, 64, 1, 1, 2, 2, 4, 3": "mte_l1_l0a_mx 0, 1024, 1, 1, 2, 2, 4, 3",
    "load_cbuf_to_cb_mx 0, 32, 0, 0, 1, 1, 1, 1": "mte_l1_l0b_mx 0, 512, 0, 0, 1, 1, 1, 1",
}


@pytest.mark.parametrize("text", TEXT_ONLY)
def test_register_forms_of_text_are_the_grouped_op(text: str) -> None:
    """Also in a program, where the mnemonic has no row of its own in the table of pipes."""
    raw, grouped = record(text), record(TEXT_ONLY[text])
    for key in ("text", "pipe", "memories", "words", "forms", "descriptor", "rules"):
        assert raw[key] == grouped[key], key
    name, operands = text.split(" ", 1)
    pointers = re.findall(r"!pto\.ptr<[^<>]*>", raw["text"])
    source, target, *numbers = [int(one, 0) for one in operands.split(",")]
    line = next(form["lines"][0] for form in grouped["forms"] if form["lines"])
    assert line.startswith(f"{name} ")
    assert [int(one.split()[-1], 0) for one in line.split(", ")] == [source, target, *numbers]
    names = ", ".join([f"%s_at_{source}", f"%d_at_{target}", *(f"%c{k}_i64" for k in numbers)])
    whole = program(f"pto.{name} {names} : {', '.join(pointers)}, I64x{len(numbers)}\n")
    assert record(whole)["memories"] == raw["memories"]


OTHERS = {
    'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]': "orders two pipes",
    "pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %id]": "orders two pipes",
    "pto.barrier <PIPE_ALL>": "earlier ops",
    "pto.record_event[TLOAD, TVEC, EVENT_ID0]": "orders two pipes",
    "pto.barrier_sync[TVEC]": "earlier ops",
    "pto.set_intra_block <PIPE_FIX>, 17": "orders the cores of a block; in a run it is executed",
    "pto.sync.set <PIPE_MTE2>, 3": "orders the cores of a block, in mode 0 of all blocks",
    "pto.set_cross_block <PIPE_MTE2>, 3": "orders the cores of all blocks; in a run it is executed",
    "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>":
        "executed between the cube core and the vector cores of the one block",
    'pto.mem_bar "VST_VLD"': "no effect on pipes",
    "pto.set_ffts %p : <i64, gm>": "no effect on pipes",
    "pto.fence.barrier_all": "no effect on pipes",
    "pto.get_buf \"PIPE_MTE2\", 3, 0": "orders the pipes of a core",
    "mad %a, %b, %c, %m, %n, %k": "writes C[m][n] = sum over k of A[m][k]*B[k][n];",
    "mad_acc %a, %b, %c, %m, %n, %k": "no engine executes it and no descriptor holds it; in a run "
    "the host computes it",
    "mad_mx_bias %a, %b, %c, %d, %m, %n, %k": "= bias[n] + sum over k of A[m][k]*B[k][n], each "
    "factor times its scale in L0A_MX, L0B_MX; A is in L0A, B in L0B, C in L0C and the bias in BT;",
    "pto.mad_raw %a, %b, %c, %xt": "= I + sum over k of A[m][k]*B[k][n]; A is in L0A",
    "pto.set_fix_clip_relu 3": "register of the raw write-backs",
    "%v = pto.load_scalar %p[%i] : <f32, ub> -> f32": "accesses one element",
    "%r = pto.vadd %a, %b": "foreign",
}  # fmt: skip


@pytest.mark.parametrize("text", OTHERS)
def test_an_op_without_a_byte_map_is_one_sentence(text: str, tmp_path: Path) -> None:
    found = record(text)
    assert found["status"] == "no bytes"
    assert OTHERS[text] in found["verdict"]
    lines = output(text).splitlines()
    assert len(lines) == 3
    picture = tmp_path / "x.svg"
    explain_command(text, Options(picture=str(picture)))
    silent = "touches no byte" not in found["verdict"]
    words = "no byte map" if silent else "no byte is read or written"
    assert words in picture.read_text()


def test_every_op_of_the_dialect_has_a_sentence_or_a_map() -> None:
    for name in KNOWN_ROWS:
        assert "known and not executed" in sentence(name), name
    for kind in SYNC:
        name = kind.name.removeprefix("pto.")
        assert "not executed" not in sentence(name), name
        assert ("no effect on pipes" in sentence(name)) == issubclass(kind, QuietOp), name
    for name in MADS:
        assert "in a run the host computes it" in sentence(name), name
        assert ("old C[m][n] +" in sentence(name)) == name.endswith("acc"), name
        assert ("in BT" in sentence(name)) == ("bias" in name), name
        assert ("L0A_MX" in sentence(name)) == ("mx" in name), name
    for name in EVERY_OP:
        assert not sentence(name, foreign=True)
    for name in ("mte_gm_xx", "mad_xx", "load_cbuf_to_xx"):
        assert not sentence(name, foreign=True)
    assert not sentence("vadd")


def test_flags_between_copies_are_no_ops_of_their_own() -> None:
    text = (
        f'pto.{EVERY_OP["mte_gm_l1"]}\npto.set_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]\n'
        'pto.wait_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]\npto.set_fpc 3\n'
        f"pto.mad %a, %b, %c, %m, %n, %k\npto.fence.barrier_all\n"
        f"pto.{EVERY_OP['mte_l1_ub']}\n"
    )
    ops = records(text)
    assert [one["op"] for one in ops] == ["mte_gm_l1", "mte_l1_ub"]
    assert ops[0]["notes"] == ["not executed: pto.set_fpc"]


def test_the_op_table_has_every_mode_of_the_write_back() -> None:
    section = (ROOT / "docs/spec/fixpipe.md").read_text().partition("\n## 4. ")[2]
    rows = re.findall(r"^\| (\d+)(?: / \d+)? \| (\w+)", section.split("\n## ")[0], re.MULTILINE)
    page = page_text()
    assert len(rows) == 20
    for code, name in rows:
        assert f"\n| `{name}` | {code} |" in page or f"\n| `{name}_vec` | {code} |" in page, name


def test_descriptor_bits_are_those_of_the_op_table() -> None:
    page = page_text()
    for name in ("mte_gm_ub", "mte_l1_bt", "mte_gm_l1_frac", "mte_l0c_gm"):
        fields: list[Any] = record(EVERY_OP[name], element=ELEMENTS.get(name, ""))["descriptor"][
            "fields"
        ]
        for field in fields[1:]:
            bits = f"{field['msb']}:{field['lsb']}"
            assert f"\n| {bits} | {field['name']} | " in page, field
