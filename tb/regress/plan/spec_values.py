# SPDX-License-Identifier: Apache-2.0
"""Catalogue of the worked values of the specification.

Names are those of the specification where it gives one. Rows of its tables that have none are
named by table and mode: ``FX-V`` and ``FX-T`` are the conversions of spec/fixpipe.md section 11,
``rule check`` the rows of spec/examples.md section 7. Names of examples in the stimulus
(:mod:`sequences.examples.catalog`) are these names, or have more words behind them.
"""

from __future__ import annotations

from dataclasses import dataclass

_EXAMPLES, _NZ = "spec/examples.md", "spec/nd2nz.md"
_V2 = "spec/examples_v2.md"
_BT, _FIX, _DMA = "spec/bias_fb.md", "spec/fixpipe.md", "spec/dma.md"
_WORKED = "tests/model/test_fix_worked.py::"


@dataclass(frozen=True, slots=True)
class Value:
    """One worked value.

    Attributes:
        name: Its name.
        text: What it shows.
        where: File of the specification, and section.
        unit_tests: Tests of pytest that check it without naming it.
    """

    name: str
    text: str
    where: str
    unit_tests: tuple[str, ...] = ()


def _values(
    where: str, texts: dict[str, str], prefix: str = "", *unit_tests: str
) -> tuple[Value, ...]:
    return tuple(Value(prefix + name, text, where, unit_tests) for name, text in texts.items())


VALUES: tuple[Value, ...] = (
    *_values(f"{_EXAMPLES}, section 1", {
        "EX1": "a tile of 32 x 32 f32 from GM to UB",
        "EX2": "a tile of a wider matrix: GM rows of 1024 bytes apart",
        "EX3": "rows of 200 bytes padded to 256 with zero",
        "EX3b": "the same with a 16-bit pattern",
        "EX3c": "the same with padding off: the tails stay",
        "EX4": "a tile of 32 x 32 f32 from UB to GM",
        "EX5": "a tile into a wider matrix in GM",
        "EX6": "four batches by the inner loop register",
    }),
    *_values(f"{_EXAMPLES}, section 2", {
        "GU-E1": "three rows padded with f16 1.0",
        "GU-E2": "the same tile twice, by a loop",
        "GU-E3": "left and right pads of f32",
        "GU-E4": "three loops around one padded row",
    }),
    *_values(f"{_EXAMPLES}, section 3", {
        "UU-E1": "bursts inside UB with gaps on both sides",
        "UU-E2": "the same image by the legacy form, in bytes and strides",
        "GL-E1": "rows from GM to L1, packed",
        "LU-E1": "rows from L1 to UB",
    }),
    *_values(f"{_EXAMPLES}, section 4", {
        "S-FRAC": "two matrices of 32 x 16 f16 to NZ, byte by byte",
    }),
    *_values(f"{_NZ}, section 5", {
        "ND-E1": "two whole f16 matrices, one C0 column each",
        "ND-E2": "40 x 50 f16: a last column of two lanes and zeros",
        "ND-E3": "8-bit elements with a tail of zeros",
        "ND-E4": "32-bit elements with a tail of zeros",
        "ND-E5": "a column-major source with a tail of zeros",
        "ND-E6": "rows far apart in the destination",
        "ND-E7": "three matrices of one row each, column-major",
        "ND-E8": "small C0, f16, two groups, missing rows of the last block zero",
        "ND-E9": "small C0 of 8-bit elements, column-major",
        "ND-E10": "small C0 of 32-bit elements, two of four channels",
    }),
    *_values(f"{_BT}, section 4", {
        "BT-E1": "four f16 become f32 slots",
        "BT-E2": "three bursts with gaps on both sides, specials among them",
        "BT-E3": "bf16 keeps NaN payloads and subnormals",
        "FB-E1": "512 bytes of parameter rows, no gaps",
        "FB-E2": "two bursts with gaps of 64-byte units",
    }),
    *_values(f"{_BT}, section 2", {
        "check values of widening": "eleven f16: normals, subnormals, zero, infinity, NaN",
    }, "", "tests/model/test_widen.py::test_check_values_of_the_spec"),
    *_values(f"{_DMA}, section 3", {
        "pad patterns": "bytes that pads of 1, 2 and 4 bytes write",
    }, "", "tests/model/test_dma.py::test_pad_patterns_of_the_spec"),
    *_values(f"{_EXAMPLES}, section 6", {
        "S-L0CGM": "an f16 tile added to GM",
    }),
    *_values(f"{_FIX}, section 11, layouts", {
        "FX-E1": "row-major, 18 x 40",
        "FX-E2": "column-major, 18 x 40",
        "FX-E3": "fractals of 16 columns",
        "FX-E4": "fractals of 8 columns",
        "FX-E5": "column-major from rows two apart in L0C",
        "FX-E6": "a third loop of two repeats",
        "FX-E7": "4-bit results, two in a byte",
        "FX-E8": "halves by rows in both sub-blocks",
        "FX-E9": "halves by columns in both sub-blocks",
    }),
    *_values(f"{_V2}, section 1", {
        "LU-E2": "three bursts with gaps on both sides",
        "LU-E3": "the same twice, by a loop of byte strides",
        "LU-E4": "bursts without gaps",
        "LU-E5": "bursts of one block in two loops",
        "LU-E6": "the bytes of LU-E2 in sub-block 1",
        "FB-E3": "a row of alphas in segment 1 of fb",
        "FB-E4": "the last 64 bytes of segment 0",
    }),
    *_values(f"{_V2}, section 2", {
        "LA-E1": "control form with starts and strides, gaps in L0A",
        "LA-E2": "shape form of 40 x 50 f16",
        "LA-E3": "i8 with a source stride above the rows",
        "LA-E4": "shape form of 20 x 12 f32",
        "LA-E6": "f16 transposed, two squares",
        "LA-E7": "shape form of 20 x 100 FP4",
        "LA-E8": "i8 transposed, squares of 32 x 32",
        "LA-E9": "one row of fractals to every second place",
        "LB-E1": "f16 transposed to L0B",
        "LB-E2": "i8 transposed to L0B",
        "LB-E3": "f32 transposed, squares of two columns",
        "LB-E4": "FP4 transposed, a square of 64 x 64 nibbles",
        "LB-E5": "an N x K source, not transposed",
        "LB-E6": "f16 transposed with starts and strides",
        "LB-E7": "f32 transposed with gaps between the columns",
        "LB-E8": "i8 transposed from the middle of a matrix",
        "LX-E1": "a fragment of scales at a 16th of the data address",
        "LX-E2": "scales with starts and strides",
        "LX-E3": "scales of 40 columns and 192 k",
    }),
    *_values(f"{_V2}, section 3", {
        "FV-S4": "4-bit results: stage of five bits, offsets of five bits, NaN, infinities",
        "FV-S16": "16-bit results: stage and offsets of 17 bits, overflow of the product",
        "FV-B8": "8-bit results: NaN and infinities take no offset",
        "FV-E4": "e4m3fn overflow of both signs under each saturation clause",
        "FV-CT": "saturation by CTRL, and a clause that replaces it",
        "FV-AT": "f16 sums that overflow, under both values of CTRL[48]",
        "FV-I32": "i32 to si32 and ui32 without a mode",
    }),
    *_values(f"{_V2}, section 4", {
        "FX-E10": "4-bit: stage first, then offsets of five bits",
        "FX-E10b": "4-bit: rounding first, then the offset",
        "FX-E11": "16-bit: offsets of 17 bits push past both ends",
        "FX-E12": "8-bit: NaN and infinities without offset, -0 with it",
        "FX-E13": "e4m3fn: overflow of both signs with nosat",
        "FX-E14": "f16 sums by CTRL that saturate",
        "FX-E14b": "f16 sums by CTRL that overflow to infinity",
        "FX-E15": "alphas in segment 1 of fb",
    }),
    *_values(f"{_V2}, section 5", {
        "AS-E1": "s16 sums that wrap",
        "AS-E2": "f16 sums: overflow saturates, NaN is 0",
        "AS-E2b": "f16 sums with CTRL[48]: infinity and NaN",
        "AS-E3": "s8 maxima of two rows, by the legacy form",
        "AS-E4": "bf16 minima of both zeros",
        "AS-E5": "f32 sums of rows in a loop",
        "AS-E6": "an f16 tile added to GM, by CTRL",
        "AS-E7": "s32 maxima of rows that meet inside a word",
        "AS-E8": "f16 maxima of NaN, zeros and infinity",
        "AS-E9": "no type in CTRL: a plain store",
    }),
    *_values(f"{_V2}, section 7", {
        "PK-1": "knob len_bits: a row of 65536 bytes",
        "PK-1b": "knobs len_bits and compact: 65537 rows of one byte",
        "PK-1c": "knob len_bits: a store of 70000 bytes",
        "PK-2": "knob pad_end: two rows of 10 bytes, 64 apart",
        "PK-3": "knob pad_end: a right pad that moves the end of the block",
        "PK-4": "knob tail: two rows of three f32",
        "PK-5": "knob tail: two and a half elements, phase from the start of the row",
        "PK-6": "knob tail: zeros in L1",
        "PK-7": "knob tail: two blocks a row, in a loop",
        "PK-8": "knob row_repeat: the same GM row three times",
        "PK-8b": "knob row_repeat: GM rows that overlap, to L1",
        "PK-9": "knob compact: three rows of 5 bytes, one fill behind them",
        "PK-10": "knob compact: the fill is the first element of the last row",
        "PK-10b": "knob compact: two groups, by a loop",
        "PK-11": "knob compact: zeros behind a group in L1",
        "EX3-a5": "EX3 under a5: pads end with their block",
        "EX3b-a5": "EX3b under a5",
        "EX3c-a5": "EX3c under a5: tails are filled",
        "GU-E3-a5": "GU-E3 under a5",
        "PK-12": "knob alpha: 8 bit with an offset",
        "PK-12b": "knob alpha: i32 accumulators of both signs, both sign bits",
        "PK-12c": "knob alpha: a negative scale",
        "PK-13": "knob modes: deqs16",
        "PK-13b": "knob modes: qf162b8",
    }),
    *_values(f"{_V2}, section 8", {
        "legal: no_convert with an fb pointer": "a payload that is ignored",
        "legal: alphas in segment 0": "alphas among the records",
        "legal: i32 to ui32": "a copy of 32 bits",
        "legal: ubuf_to_gm l2 15": "the largest L2 hint of a legacy store",
        "legal: l1_ub loop(1, 80, 64)": "strides of a loop that runs once are free",
        "legal: l1_ub len 3, count 2": "any number of blocks",
        "legal: l1_l0a src 524288, m_step 0": "a NOP at the end of L1",
        "legal: ub_gm CTRL type 0, op 3": "an op code without a type is free",
        "legal: atomic clause with CTRL 7": "a clause replaces an illegal type in CTRL",
    }),
    *_values("spec/ambiguities.md", {
        "A-76 deqs32": "an infinite product of a finite value takes the offset, to 32 bits too",
    }),
    *_values(f"{_FIX}, section 9", {
        "FX-A": "sums and maxima of f16 and bf16: ties, zeros, NaN",
    }),
    *_values(f"{_FIX}, section 11, conversions", {
        "qf322b8": "f32 to 8 bit: ties, offsets of both signs, clamps, NaN, infinity",
        "qf322s4": "f32 to 4 bit",
        "qf162b8": "f32 through f16 to 8 bit",
        "req8": "i32 to 8 bit, signed and unsigned",
        "deqs16": "i32 to 16 bit: ties and both clamps",
        "deqs32": "i32 to 32 bit: f32 rounding of large values, both clamps",
        "qf162s16": "i32 through f16 to 16 bit",
    }, "FX-V ", f"{_WORKED}test_integer_rows_of_the_conversions"),
    *_values(f"{_FIX}, section 11, conversions", {
        "qf322b8 normal_relu": "ReLU before rounding and offset",
        "qf322b8 scalar_relu": "a slope before rounding and offset",
    }, "FX-V ", f"{_WORKED}test_relu_rows_of_the_conversions"),
    *_values(f"{_FIX}, section 11, conversions", {
        "i32 to f32": "i32 beyond 24 bits round to nearest even",
    }, "FX-V ", f"{_WORKED}test_i32_accumulators_become_f32_by_nearest_even"),
    *_values(f"{_FIX}, section 11, conversions", {
        "deqf16": "i32 to f16, with overflow under each saturation clause",
        "qs322bf16": "i32 to bf16",
        "qf322f32": "f32 to f32, with a scale of 19 bits",
        "qf322f16": "f32 to f16, scaled",
        "qf322bf16": "f32 to bf16, scaled",
        "qf322fp8": "f32 to e4m3fn, scaled",
        "qf322hif8": "f32 to hif8, scaled, half away",
        "qf322hif8 hybrid": "f32 to hif8, scaled, hybrid rounding",
    }, "FX-V ", f"{_WORKED}test_float_rows_of_the_conversions"),
    *_values(f"{_FIX}, section 11, conversions", {
        "f16": "overflow at 65520, NaN, underflow, ties; each saturation clause",
        "bf16": "overflow and ties",
        "e4m3fn": "448 and 464 in range, subnormals, signed zero, ties",
    }, "FX-T ", f"{_WORKED}test_to_table"),
    *_values(f"{_FIX}, section 11, conversions", {
        "hif8": "rounding half away, overflow at 40960, underflow",
        "hif8 hybrid": "rounding by the threshold",
    }, "FX-T ", f"{_WORKED}test_hif8_row_of_the_to_table"),
    *_values(f"{_FIX}, section 5", {
        "scales": "five f32 and what is left of them in 19 bits",
    }, "", f"{_WORKED}test_scales_lose_their_low_13_bits"),
    *_values(f"{_FIX}, section 5", {
        "records": "three records of scale, offset and sign",
    }, "", f"{_WORKED}test_records_of_the_spec"),
    *_values(f"{_FIX}, section 7", {
        "codes of hif8": "ten codes and their values",
    }, "", "tests/model/test_fix_values.py::test_every_hif8_code_has_the_value_of_the_table"),
    *_values(f"{_FIX}, section 9", {
        "atomic sums": "six of f16 and three of bf16: ties, overflow, zeros, infinities",
    }, "", f"{_WORKED}test_atomic_examples"),
    *_values(f"{_EXAMPLES}, section 7", {
        "ub_dst 16": "a UB address inside a block: DMA-L06",
        "dst_stride 40": "a UB stride that is no multiple of 32: DMA-L07",
        "src_stride 64 below len 128": "rows that overlap in GM: DMA-L08",
        "len 33 of f16": "half an element: DMA-L09",
        "left 8, len 40, right 8 of f16 in 64 B": "a padded row that does not fit: DMA-L10",
        "left 17 of f16": "a left pad of 34 bytes: DMA-L09",
        "l1_ub count 4096": "a burst count of 13 bits: DMA-L05",
        "l1_ub loop(2, 80, 64)": "a loop stride that is no multiple of 32: DMA-L07",
        "l1_ub len 8192, count 2": "a source as long as L1, a UB half as long: DMA-L12",
        "ub_src 262112, len 64": "a row over the end of UB: DMA-L12",
        "small-C0 with d 5": "five channels in small C0: ND-L05",
        "group_count 0": "no matrix at all: ND-L04",
        "bt dst 32": "half a BT line: BT-L03",
        "l0c_gm DS 0": "a destination stride of 0: FIX-L14",
        "l0c_gm n 32, src_stride 20": "column groups that are no whole fractals: FIX-L15",
        "l0c_l1 f16, DS 24": "an L1 pitch of 48 bytes: FIX-L17",
        "l0c_gm nz2nz n 24": "one and a half fractals: FIX-L19",
        "l0c_gm check_only, K 2": "a flag check with spread rows: FIX-L20",
        "l0c_ub split_m m 7": "an odd number of rows in halves: FIX-L21",
        "l0c_gm fb pointer 64": "a parameter pointer inside a row: FIX-L22",
    }, "rule check "),
    *_values(f"{_V2}, section 7", {
        "PK-1": "a row of 65536 bytes under seed: DMA-L05",
        "PK-1b": "65537 rows under seed: DMA-L05",
        "PK-1c": "a store of 70000 bytes under seed: DMA-L05",
        "PK-8": "a GM stride of 0 under seed: DMA-L08",
        "PK-8b": "a GM stride of 16 below 64 under seed: DMA-L08",
        "PK-9": "rows of 5 bytes without a gap under seed: DMA-L07",
        "PK-10": "rows of 6 bytes without a gap under seed: DMA-L07",
        "PK-10b": "the same in a loop: DMA-L07",
        "PK-11": "the same to L1: DMA-L07",
    }, "rule check "),
    *_values(f"{_V2}, section 8", {
        "gm_ub len 2097152": "a length of 22 bits under a5: DMA-L05",
        "gm_ub len 5, dst_stride 6": "rows with a gap of one byte under a5: DMA-L07",
        "gm_ub src_stride 0, dst_stride 32 below len 64": "rows that overlap in UB, a5: DMA-L08",
        "ub_gm dst_stride 0 below len 64": "rows of a store that overlap, a5: DMA-L08",
        "ubuf_to_gm l2 16, ub_src 16": "an L2 hint of five bits, before the address: DMA-L05",
        "gm_to_ubuf 8-byte elements, select 1": "padding of 8-byte elements: DMA-L03",
        "gm_to_ubuf 8-byte elements, select 1, n 0, ub_dst 16": "the same for a NOP: DMA-L03",
        "gm_to_ubuf 8-byte elements, select 0, ub_dst 16": "without padding: DMA-L06",
        "l1_ub src_gap 65536": "a gap of 17 bits: DMA-L05",
        "l1_ub src 16": "an L1 address inside a block: DMA-L06",
        "fb dst 0xFC0, len 2": "a copy over the end of a segment: FB-L04",
        "fb dst 0x20000": "a segment that does not exist: FB-L04",
        "fb dst 0x11000": "an offset past the end of segment 1: FB-L04",
        "fb dst 0x20000, len 0": "the segment of a NOP: FB-L04",
        "l0c_gm fb pointer 0x10000": "records in the segment of alphas: FIX-L22",
        "l0c_gm fb pointer 0xF80, n 17": "records over the end of their segment: FIX-L22",
        "l0c_gm vector_relu pointer 0x20000": "alphas in a segment that does not exist: FIX-L22",
        "l0c_gm vector_relu pointer 0x10020": "an alpha pointer inside a row: FIX-L22",
        "l0c_gm CTRL type 1, op 3": "an atomic op without meaning in CTRL: FIX-L26",
        "l0c_gm CTRL type 7": "an atomic type without meaning in CTRL: FIX-L26",
        "l0c_gm CTRL type 7, n 0": "the same for a NOP: FIX-L26",
        "ub_gm CTRL f32, len 6": "one and a half elements: DMA-L16",
        "ub_gm CTRL s32, gm_dst 2": "a GM address inside an element: DMA-L16",
        "ub_gm CTRL f16, len 4, dst_stride 5": "a GM stride of two and a half elements: DMA-L16",
        "ub_gm CTRL f16, n 0, gm_dst 1": "the address of a NOP: DMA-L16",
        "ub_gm CTRL type 7": "an atomic type without meaning: DMA-L17",
        "ub_gm CTRL type 1, op 3": "an atomic op without meaning: DMA-L17",
        "ub_gm CTRL type 7, len 0": "the same for a NOP: DMA-L17",
        "l1_l0a m_step 256": "a step of nine bits: LD-L03",
        "l1_l0a dst_stride 0": "a stride of 0: LD-L03",
        "l1_l0a shape m 4081": "a shape of 256 fractal rows: LD-L03",
        "l1_l0a src 16": "an L1 address inside a block: LD-L04",
        "l1_l0a dst 256": "half a fractal: LD-L04",
        "l1_l0b i8 transpose, m_step 3": "one and a half squares of bytes: LD-L05",
        "l1_l0a f32 transpose, k_step 1": "half a square of words: LD-L05",
        "l1_l0a FP4 transpose, m_step 2": "half a square of nibbles: LD-L05",
        "l1_l0a dst 65024, m_step 2": "a fractal over the end of L0A: LD-L06",
        "l1_l0a k_step 2, src_stride 1024": "a column behind L1: LD-L06",
        "l1_l0a_mx x_step 256": "a step of nine bits: LD-L03",
        "l1_l0a_mx dst 16": "scale address 1: LD-L04",
        "l1_l0a_mx dst 65536": "scale address 4096: LD-L06",
        "l1_l0a_mx src 16": "an L1 address inside a block: LD-L04",
    }, "rule check "),
)  # fmt: skip
"""Every worked value, in the order of the specification's families."""
