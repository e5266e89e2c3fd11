# SPDX-License-Identifier: Apache-2.0
"""Faults of one line to inject into the headers of the write-back arithmetic."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CONVERT = "pto_fix_convert.vh"
ARITH = "pto_fix_arith.vh"
MUL = "pto_fix_mul.vh"
ATOMIC = "pto_fix_atomic.vh"
MACROS = {
    CONVERT: "PROVE_CONVERT",
    ARITH: "PROVE_ARITH",
    MUL: "PROVE_MUL",
    ATOMIC: "PROVE_ATOMIC",
}
"""Header to the macro with its name."""

TEMPLATE = """
if (1) begin : fault_{variant}
  `include "prove_units.vh"
end
"""


@dataclass(frozen=True)
class Fault:
    """One change of a header.

    Attributes:
        name: Description of the fault.
        unit: The unit of the proof program that must find it.
        before: A text that the header has once, but for the amount of blanks.
        after: Its replacement.
        header: File name of the header.
    """

    name: str
    unit: str
    before: str
    after: str
    header: str = ARITH

    def planted(self, text: str) -> str:
        """Return a header's text with the fault in it."""
        pattern = r"\s+".join(map(re.escape, self.before.split()))
        changed, count = re.subn(pattern, lambda _: self.after, text)
        assert count == 1, f"{self.name}: {self.header} has changed, adapt the fault to it"
        return changed


FAULTS = (
    Fault("f16 tie away", "f16", "f[12] && (f[13] || f[11:0] != 12'd0)", "f[12]", CONVERT),
    Fault("f16 sticky bit lost", "f16", "f[11:0] != 12'd0", "f[11:1] != 11'd0", CONVERT),
    Fault(
        "f16 subnormals flushed",
        "f16",
        "else if (e >= 8'd102) r = fix_shift_rne({1'b1, f}, shift);",
        "else if (e >= 8'd102) r = 24'd0;",
        CONVERT,
    ),
    Fault(
        "f16 overflow before rounding", "f16", "r >= 24'h7C00 && sat", "e >= 8'd143 && sat", CONVERT
    ),
    Fault("f16 NaN with a sign", "f16", "16'd0 : 16'h7E00", "16'd0 : {x[31], 15'h7E00}", CONVERT),
    Fault(
        "f16 underflow to +0",
        "f16",
        "fix_f32_to_f16 = {x[31], r[14:0]}",
        "fix_f32_to_f16 = {x[31] && r != 24'd0, r[14:0]}",
        CONVERT,
    ),
    Fault(
        "bf16 inf for preserve_nan",
        "bf16",
        "16'h7F80 && sat != 2'd2",
        "16'h7F80 && sat == 0",
        CONVERT,
    ),
    Fault("bf16 inf let through", "bf16", "r >= 16'h7F80 &&", "r > 16'h7F80 &&", CONVERT),
    Fault("e4m3 tie away", "e4m3", "f[19] && (f[20] || f[18:0] != 19'd0)", "f[19]"),
    Fault("e4m3 -0 lost", "e4m3", "{x[31], r[6:0]}", "{x[31] && r != 24'd0, r[6:0]}"),
    Fault("e4m3 nosat with a sign", "e4m3", "sat == 2'd2 ? 8'h7F", "sat == 2'd2 ? {x[31], 7'h7F}"),
    Fault("e4m3 subnormal sticky lost", "e4m3", "w[23:0] != 24'd0", "w[23:5] != 19'd0", CONVERT),
    Fault("hif8 threshold above", "hif8", "f[20:7] >= f[13:0]", "f[20:7] > f[13:0]"),
    Fault("hif8 threshold off by one bit", "hif8", "f[21:8] >= f[13:0]", "f[20:7] >= f[13:0]"),
    Fault("hif8 exact values go up", "hif8", "f[21:0] != 22'd0 && ", ""),
    Fault("hif8 -0", "hif8", "up ? {s, 7'd1} : 8'h00", "{s, 6'd0, up}"),
    Fault("hif8 half down", "hif8", "up = f[19];", "up = f[19] && f[18:0] != 19'd0;"),
    Fault("H keeps NaN", "h", "fix_f32_to_f16(x, 2'd0)", "fix_f32_to_f16(x, 2'd1)"),
    Fault("HI to inf", "hi", "fix_f32_to_f16(x, 2'd0)", "fix_f32_to_f16(x, 2'd2)"),
    Fault(
        "widened subnormal",
        "f16_f32",
        "{8'd107, h[3:0], 19'd0}",
        "{8'd107, h[4:0], 18'd0}",
        CONVERT,
    ),
    Fault("i32 most negative", "i32_f32", "x[31] ? -x : x", "{1'b0, x[31] ? -x[30:0] : x[30:0]}"),
    Fault("i32 sticky bit lost", "i32_f32", "a[6:0] != 7'd0", "a[6:2] != 5'd0"),
    Fault("S9 clamp at 256", "s9", "3'd2: top = 35'sd255", "3'd2: top = 35'sd256"),
    Fault("S9 truncates below 1", "s9", "else if (e >= 8'd126)", "else if (e >= 8'd127)"),
    Fault("S5 of 4 bits", "s5", "top = 35'sd15", "top = 35'sd7"),
    Fault("S17 of 16 bits", "s17", "top = 35'sd65535", "top = 35'sd32767"),
    Fault("stage one too low", "s17", "q < ~top) fix_stage = ~top", "q < -top) fix_stage = -top"),
    Fault("WIDE of 32 bits", "wide", "35'h2_0000_0000", "35'h0_FFFF_FFFF"),
    Fault("WIDE NaN large", "wide", "r = 35'd0; else if (e >= 8'd160)", "r = 1; else if (e > 159)"),
    Fault("WIDE inf takes the offset", "tail_s32", "35'h2_0000_0000", "&e ? 2**31 - 1 : 2**33"),
    Fault("clip before offset", "u8", "sum > limit) sum", "q > limit) sum"),
    Fault("s4 most negative", "s4", "r < -35'sd8", "r < -35'sd9"),
    Fault("s8 keeps 128", "s8", "r > 35'sd127", "r > 35'sd128"),
    Fault("offset without sign", "s16", "{18{offset[16]}}", "18'd0"),
    Fault("s32 most positive", "s32", "r > 35'sd2147483647", "r > 35'sd2147483648"),
    Fault(
        "offset of 9 bits to s4",
        "tail_s4",
        "{{12{field[4]}}, field[4:0]}",
        "{{8{field[8]}}, field[8:0]}",
    ),
    Fault("offset of 9 bits to s16", "tail_s16", "fix_offset = field;", "fix_offset = field[8:0];"),
    Fault("inf takes the offset", "tail_u8", "23'd0 || inf_src)", "23'd0)"),
    Fault("product overflow is inf", "tail_s8", "(t[22:0] != 23'd0 || inf_src)", "1'b1"),
    Fault("ReLU of -0", "relu", "&& t[30:0] != 31'd0 &&", "&&"),
    Fault("ReLU NaN with payload", "relu", "fix_relu = 32'h7FC0_0000", "fix_relu = t"),
    Fault("i32 ReLU without sign", "relu_i32", "x[31] ? 32'd0 : x", "x"),
    Fault("NaN clipped", "clip_f16", "t > limit && t <= 32'h7F80_0000", "t > limit && !t[31]"),
    Fault("clip of equals", "clip_f16", "t > limit && t <=", "t[31:1] > limit[31:1] && t <="),
    Fault("product sticky lost", "mul", "p[22:0] != 23'd0", "p[22:1] != 22'd0", MUL),
    Fault("product tie away", "mul", "w[27] && (w[28] || w[26:0] != 27'd0)", "w[27]", MUL),
    Fault("product subnormals flushed", "mul", "5'd26 : 5'd1 - e[4:0]", "5'd26 : 5'd26", MUL),
    Fault("inf * 0 is inf", "mul", "nan || (inf && !p[47])", "nan", MUL),
    Fault("product overflow late", "mul", "$signed(e) >= 10'sd255", "$signed(e) >= 10'sd256", MUL),
    Fault("sum sticky lost", "atomic_f32", "w[27:0] != 28'd0", "1'b0", ATOMIC),
    Fault("x - x is -0", "atomic_f32", "b[30:0], !b[31]", "b[30:0], b[31]", ATOMIC),
    Fault(
        "max with one NaN",
        "atomic_f32",
        "x[30:0] > 31'h7F80_0000)",
        "other[30:0] > 31'h7F80_0000)",
        ATOMIC,
    ),
    Fault("zeros are equal", "atomic_f32", "{a[30:0], !a[31]}", "{a[30:0], !b[31]}", ATOMIC),
    Fault(
        "f16 sum of c48 = 0 to inf",
        "atomic_f16",
        "{fix_f32_to_f16({a[34:4], a[3:0] != 4'd0}, {nosat, 1'b0})",
        "{fix_f32_to_f16({a[34:4], a[3:0] != 4'd0}, 2'd2)",
        ATOMIC,
    ),
    Fault("f16 max keeps NaN", "atomic_f16", "32'h7FC0_0000 : 32'd0", "32'h7FC0_0000 : x", ATOMIC),
    Fault(
        "bf16 max of NaN",
        "atomic_bf16",
        "kind != ATOMIC_F16 || nosat ? 32'h7FC0_0000",
        "kind == ATOMIC_BF16 ? old : kind != ATOMIC_F16 || nosat ? 32'h7FC0_0000",
        ATOMIC,
    ),
    Fault(
        "s32 saturates",
        "atomic_s32",
        "fix_atomic_s32 = old + y",
        "fix_atomic_s32 = old | y",
        ATOMIC,
    ),
    Fault(
        "s16 max without sign",
        "atomic_s16",
        "($signed(old) < $signed(y)) ^ (op == 2'd2))  fix_atomic_s16",
        "(old < y) ^ (op == 2'd2))  fix_atomic_s16",
        ATOMIC,
    ),
    Fault(
        "s8 min is max",
        "atomic_s8",
        "(op == 2'd2))  fix_atomic_s8",
        "(op == 2'd3))  fix_atomic_s8",
        ATOMIC,
    ),
)


def plant(headers: Path, folder: Path, numbers: dict[str, int]) -> Path:
    """Write the headers with each fault, and the file that makes copies of the functions of them.

    Args:
        headers: The folder of the headers.
        folder: Where to write, of an absolute path.
        numbers: The number of each unit, from ``enum ref_unit``.

    Returns:
        The file for ``tb.prove.prove.build``; copy k + 1 has fault k.
    """
    blocks = []
    for variant, fault in enumerate(FAULTS, start=1):
        file = folder / f"fault_{variant}.vh"
        file.write_text(fault.planted((headers / fault.header).read_text()))
        number = numbers.get(fault.unit, numbers["tail" if "tail" in fault.unit else "narrow"])
        values = {macro: f'"{name}"' for name, macro in MACROS.items()}
        values |= {MACROS[fault.header]: f'"{file}"'}
        values |= {"PROVE_VARIANT": str(variant), "PROVE_ONLY": str(number)}
        blocks += [f"`undef {name}\n`define {name} {value}\n" for name, value in values.items()]
        blocks.append(TEMPLATE.format(variant=variant))
    list_file = folder / "faults.vh"
    list_file.write_text("".join(blocks))
    return list_file
