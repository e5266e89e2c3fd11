// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of the write-back pipeline: pure functions, to be included inside a module after
// pto_fix_convert.vh. Rounding is to nearest, ties to even (RNE), unless a function has another;
// subnormals are kept on both sides; a NaN that arithmetic produces is the canonical one. Each
// function names its rule. tests/arith (`make prove-arith`) compares every function with an
// independent reference: those of one f32 or i32 over all 2^32 inputs, ReLU and clip with a partner
// for each of them. Functions that a pipeline calls in turn are compared as one, too.
// sat is the sat clause: 0 sat, 1 preserve_nan, 2 nosat. The largest functions are not inlined
// by the simulator (no_inline_task): a third of the C++ to compile, at the same speed.
// Spec: fixpipe.md sections 3, 4, 6 and 7; A-34 to A-46, A-51, A-76.

// ---- to float destinations: section 7 ----

// f32 to f8 e4m3fn: RNE, subnormal step 2^-9, largest 448. Overflow and inf: +-448 for sat and
// preserve_nan; for nosat 7F, the NaN, for both signs (A-44). NaN: 00 for sat, else 7F.
// Test: tests/arith, all 2^32 inputs with each sat.
function automatic [7:0] fix_f32_to_e4m3;
  input [31:0] x;
  input [1:0]  sat;
  reg   [7:0]  e;
  reg   [22:0] f;
  reg   [3:0]  e4;
  reg   [4:0]  shift;
  reg   [23:0] r;                            // exponent and fraction; 7F and above: overflow
  begin
    {e, f} = x[30:0];
    e4     = e[3:0] + 4'd8;                  // e - 120, the exponent of a normal result
    shift  = 5'd13 - e[4:0];                 // 141 - e, to the subnormal step 2^-9
    if (e >= 8'd136)      r = 24'h7F;        // 512 and above
    else if (e >= 8'd121)                    // normal; the carry runs into the exponent
      r = {17'd0, e4, f[22:20]} + {23'd0, f[19] && (f[20] || f[18:0] != 19'd0)};
    else if (e >= 8'd117) r = fix_shift_rne({1'b1, f}, shift);
    else                  r = 24'd0;         // below half of the subnormal step
    if (e == 8'd255 && f != 23'd0) fix_f32_to_e4m3 = sat == 2'd0 ? 8'h00 : 8'h7F;
    else if (r >= 24'h7F)          fix_f32_to_e4m3 = sat == 2'd2 ? 8'h7F : {x[31], 7'h7E};
    else                           fix_f32_to_e4m3 = {x[31], r[6:0]};
  end
endfunction

// f32 to hif8: the encoder of section 7. Rounding is half away from zero; with hybrid, codes of
// less than 3 mantissa bits (and subnormals) go up when the 14 bits below the last one kept reach
// the threshold f[13:0], exact values never (A-43). Overflow and inf: +-32768 for sat and
// preserve_nan, inf for nosat. NaN: 00 for sat, else 80.
// Test: tests/arith, all 2^32 inputs with each sat and hybrid.
function automatic [7:0] fix_f32_to_hif8;
  /*verilator no_inline_task*/
  input [31:0] x;
  input [1:0]  sat;
  input        hybrid;
  reg          s, up;
  reg   [7:0]  e, r;                         // r: exponent after rounding, biased like e
  reg   [22:0] f;
  reg   [3:0]  m, d;                         // carry and mantissa; magnitude of the exponent
  begin
    {s, e, f} = x;
    up = 1'b0;
    m  = 4'd0;
    d  = 4'd0;
    r  = e;
    if (e == 8'd255 && f != 23'd0) fix_f32_to_hif8 = sat == 2'd0 ? 8'h00 : 8'h80;
    else if (e < 8'd104) fix_f32_to_hif8 = 8'h00;          // below 2^-23
    else if (e == 8'd104) begin                            // 2^-23 to 2^-22
      up = !hybrid || {1'b1, f[22:10]} >= f[13:0];
      fix_f32_to_hif8 = up ? {s, 7'd1} : 8'h00;
    end else if (e <= 8'd111) begin                        // 2^-22 to 2^-15: subnormal codes
      up = hybrid ? f != 23'd0 && f[22:9] >= f[13:0] : f[22];
      m  = e[3:0] - 4'd8 + {3'd0, up};                     // exponent + 23
      fix_f32_to_hif8 = {s, m == 4'd8 ? 7'h7E : {3'd0, m}};
    end else begin
      d = e >= 8'd127 ? e[3:0] + 4'd1 : 4'd15 - e[3:0];    // of no use above 15: overflow
      if (d[3]) begin                                      // 1 mantissa bit
        up = hybrid ? f[21:0] != 22'd0 && f[21:8] >= f[13:0] : f[21];
        m  = {f[22], 3'd0} + {up, 3'd0};
        r  = e + {7'd0, f[22] && up};
      end else if (d[2]) begin                             // 2
        up = hybrid ? f[20:0] != 21'd0 && f[20:7] >= f[13:0] : f[20];
        m  = {f[22:21], 2'd0} + {1'b0, up, 2'd0};
        r  = e + {7'd0, f[22:21] == 2'd3 && up};
      end else begin                                       // 3
        up = f[19];
        m  = {f[22:20], 1'b0} + {2'd0, up, 1'b0};
        r  = e + {7'd0, f[22:20] == 3'd7 && up};
      end
      d = r >= 8'd127 ? r[3:0] + 4'd1 : 4'd15 - r[3:0];    // m holds the mantissa from its top on
      if (r > 8'd142 || (r == 8'd142 && m[3])) fix_f32_to_hif8 = {s, sat == 2'd2 ? 7'h6F : 7'h6E};
      else if (d[3])       fix_f32_to_hif8 = {s, 2'd3, r < 8'd127, d[2:0], m[3]};
      else if (d[2])       fix_f32_to_hif8 = {s, 2'd2, r < 8'd127, d[1:0], m[3:2]};
      else if (d[1])       fix_f32_to_hif8 = {s, 2'd1, r < 8'd127, d[0], m[3:1]};
      else if (d[0])       fix_f32_to_hif8 = {s, 3'd1, r < 8'd127, m[3:1]};
      else                 fix_f32_to_hif8 = {s, 4'd1, m[3:1]};
    end
  end
endfunction

// ---- source stages and scale: section 4 ----

// i32 to f32, RNE of the exact integer. Test: tests/arith, all 2^32 inputs.
function automatic [31:0] fix_i32_to_f32;
  /*verilator no_inline_task*/
  input [31:0] x;
  reg   [31:0] a;                            // magnitude, its leading 1 brought to bit 31
  reg   [7:0]  e;
  begin
    a = x[31] ? -x : x;
    e = 8'd158;
    if (a[31:16] == 16'd0) begin a = a << 16; e = e - 8'd16; end
    if (a[31:24] == 8'd0)  begin a = a << 8;  e = e - 8'd8;  end
    if (a[31:28] == 4'd0)  begin a = a << 4;  e = e - 8'd4;  end
    if (a[31:30] == 2'd0)  begin a = a << 2;  e = e - 8'd2;  end
    if (!a[31])            begin a = a << 1;  e = e - 8'd1;  end
    if (!a[31]) fix_i32_to_f32 = 32'd0;
    else fix_i32_to_f32 = {x[31], {e, a[30:8]} + {30'd0, a[7] && (a[8] || a[6:0] != 7'd0)}};
  end
endfunction

// Step H: f32 to f16, RNE, overflow and inf to +-65504, NaN to +0: the conversion with sat. Step
// HI, i32 to f16 with one rounding, is fix_i32_to_f32 and then this function: f32 holds every
// integer up to 2^24, and all larger ones overflow. Test: tests/arith, each step, all 2^32 inputs.
function automatic [15:0] fix_f32_to_h;
  input [31:0] x;
  fix_f32_to_h = fix_f32_to_f16(x, 2'd0);
endfunction

// ---- relu and clip: section 6 ----

// normal_relu of an i32 that is not converted: signed max(x, 0). Test: tests/arith.
function automatic [31:0] fix_relu_i32;
  input [31:0] x;
  fix_relu_i32 = x[31] ? 32'd0 : x;
endfunction

// Relu of f32 without its product: code 0 t; 1 normal: t > 0 ? t : +0; 2 scalar, 3 vector: t.
// NaN gives 7FC00000 except with code 0. Test: tests/arith, all 2^32 inputs with code 1.
function automatic [31:0] fix_relu;
  input [31:0] t;
  input [2:0]  code;
  begin
    if (code == 3'd0)                                    fix_relu = t;
    else if (t[30:23] == 8'd255 && t[22:0] != 23'd0)     fix_relu = 32'h7FC0_0000;
    else if (code == 3'd1 && t[31])                      fix_relu = 32'd0;
    else                                                 fix_relu = t;
  end
endfunction

// Relu is RNE(alpha * t): scalar or vector (by_alpha), and t < 0, not -0 or NaN. The low 13 bits of
// alpha are cleared. Test: tests/arith, all 2^32 inputs with a partner for each.
function automatic fix_relu_scales;
  input [31:0] t;
  input        by_alpha;
  fix_relu_scales = by_alpha && t[31] && t[30:0] != 31'd0 && t[30:0] <= 31'h7F80_0000;
endfunction

// Clip for f16: min(t, clip) on f32, clip a finite f16 above 0; NaN stays as it is.
// Test: tests/arith, all 2^32 inputs with several clips.
function automatic [31:0] fix_clip_f16;
  input [31:0] t;
  input [15:0] clip;
  reg   [31:0] limit;
  begin
    limit = fix_f16_to_f32(clip);
    if (t > limit && t <= 32'h7F80_0000) fix_clip_f16 = limit;   // negative t: bit 31 is set
    else                                 fix_clip_f16 = t;
  end
endfunction

// ---- to integer destinations: section 4 ----

// Step WIDE: NaN to 0; RNE to an integer. From 2^33 on, and of an infinity, the result is +-2^33:
// more than any offset beyond every clamp. Test: tests/arith, all 2^32 inputs.
function automatic signed [34:0] fix_round_wide;
  input [31:0] t;
  reg   [7:0]  e;
  reg   [4:0]  right;
  reg   [3:0]  left;
  reg   [34:0] r;                            // magnitude
  begin
    e     = t[30:23];
    right = 5'd22 - e[4:0];                  // 150 - e
    left  = e[3:0] - 4'd6;                   // e - 150
    if (e == 8'd255 && t[22:0] != 23'd0) r = 35'd0;
    else if (e >= 8'd160)                r = 35'h2_0000_0000;
    else if (e >= 8'd150)                r = {11'd0, 1'b1, t[22:0]} << left;
    else if (e >= 8'd126)                r = {11'd0, fix_shift_rne({1'b1, t[22:0]}, right)};
    else                                 r = 35'd0;        // below 0.5
    fix_round_wide = t[31] ? -$signed(r) : $signed(r);
  end
endfunction

// Stage of an integer from fix_round_wide, kind as in fix_clamp: s4 S5, [-16, 15]; u8, s8 S9,
// [-256, 255]; s16 S17, [-65536, 65535]; s32 WIDE, as it is.
// Test: tests/arith, after fix_round_wide, all 2^32 inputs with each kind.
function automatic signed [34:0] fix_stage;
  input signed [34:0] q;
  input        [2:0]  kind;
  reg   signed [34:0] top;                   // the bottom is -top - 1
  begin
    case (kind)
      3'd0:       top = 35'sd15;
      3'd1, 3'd2: top = 35'sd255;
      3'd3:       top = 35'sd65535;
      default:    top = 35'sh3_FFFF_FFFF;
    endcase
    if (q > top)       fix_stage = top;
    else if (q < ~top) fix_stage = ~top;
    else               fix_stage = q;
  end
endfunction

// Offset of an integer, kind as in fix_clamp. field: bits 53 to 37 of a record, of which the kind
// takes: s4 the low 5 bits, s16 all 17, the others 9. NaN, and an inf that comes from an infinite
// source (inf_src), take no offset: the results are 0 and the end of the kind's range. An inf from
// the product of a finite source takes it after the stage; that of s32 is unbounded, so that no
// offset brings the inf back. Test: tests/arith, constructed and random operands.
function automatic signed [16:0] fix_offset;
  input [30:0] t;                            // before fix_round_wide, without sign
  input        inf_src;
  input [16:0] field;
  input [2:0]  kind;
  reg          bypass;
  begin
    bypass = t[30:23] == 8'd255 && (t[22:0] != 23'd0 || inf_src);
    case (kind)
      3'd0:    fix_offset = {{12{field[4]}}, field[4:0]};
      3'd3:    fix_offset = field;
      default: fix_offset = {{8{field[8]}}, field[8:0]};
    endcase
    if (bypass) fix_offset = 17'sd0;
  end
endfunction

// Offset and clip: q + offset, exact; at most clip when clip_en.
// Test: tests/arith, constructed and random operands.
function automatic signed [34:0] fix_clip_int;
  input signed [34:0] q;                     // within +-2^33
  input signed [16:0] offset;
  input               clip_en;
  input        [15:0] clip;                  // two's complement
  reg   signed [34:0] sum, limit;
  begin
    sum   = q + $signed({{18{offset[16]}}, offset});
    limit = $signed({{19{clip[15]}}, clip});
    if (clip_en && sum > limit) sum = limit;
    fix_clip_int = sum;
  end
endfunction

// Clamp to the kind's range: 0 s4, 1 u8, 2 s8, 3 s16, 4 s32. The result's low bits, the ones above
// are 0. Test: tests/arith, after fix_clip_int, constructed and random operands.
function automatic [31:0] fix_clamp;
  input signed [34:0] sum;
  input        [2:0]  kind;
  reg   signed [34:0] r;
  begin
    r = sum;
    case (kind)
      3'd0: begin
        if (r > 35'sd7) r = 35'sd7;
        if (r < -35'sd8) r = -35'sd8;
        fix_clamp = {28'd0, r[3:0]};
      end
      3'd1: begin
        if (r > 35'sd255) r = 35'sd255;
        if (r < 35'sd0) r = 35'sd0;
        fix_clamp = {24'd0, r[7:0]};
      end
      3'd2: begin
        if (r > 35'sd127) r = 35'sd127;
        if (r < -35'sd128) r = -35'sd128;
        fix_clamp = {24'd0, r[7:0]};
      end
      3'd3: begin
        if (r > 35'sd32767) r = 35'sd32767;
        if (r < -35'sd32768) r = -35'sd32768;
        fix_clamp = {16'd0, r[15:0]};
      end
      default: begin
        if (r > 35'sd2147483647) r = 35'sd2147483647;
        if (r < -35'sd2147483648) r = -35'sd2147483648;
        fix_clamp = r[31:0];
      end
    endcase
  end
endfunction
