// SPDX-License-Identifier: Apache-2.0
//
// Atomic combines of the write-back to GM: pure functions, to be included inside a module after
// pto_fix_convert.vh. old is what memory holds, y the result of the op; op: 0 add, 1 max, 2 min.
// Float sums are rounded once to nearest even, with subnormals, overflow to inf and canonical NaN;
// max and min give the canonical NaN for a NaN in either operand and take +0 as above -0. Integer
// sums wrap. Only f16 depends on the saturation mode (A-65): without nosat NaN becomes +0 and an
// infinite sum +-65504.
// Test of every function: tests/arith (`make prove-arith`), all pairs of the 8- and 16-bit ones,
// constructed and random pairs of the others. Spec: fixpipe.md section 9; A-47, A-51.

// Sum of two f32, RNE; inf - inf and NaN give 7FC00000, x - x gives +0.
function automatic [31:0] fix_f32_add;
  input [31:0] a;
  input [31:0] b;
  reg   [31:0] x, y;                         // the operand of larger magnitude, and the other
  reg   [7:0]  ex, ey, d;                    // exponents, subnormals as 1, and their difference
  reg   [27:0] m, n;                         // carry, 24 bits, guard, round, sticky
  reg   [54:0] w;
  reg   [8:0]  e;
  begin
    {x, y} = a[30:0] < b[30:0] ? {b, a} : {a, b};
    ex = x[30:23] == 8'd0 ? 8'd1 : x[30:23];
    ey = y[30:23] == 8'd0 ? 8'd1 : y[30:23];
    d  = ex - ey;
    e  = {1'b0, ex};
    m  = {1'b0, x[30:23] != 8'd0, x[22:0], 3'd0};
    w  = {1'b0, y[30:23] != 8'd0, y[22:0], 30'd0} >> (d > 8'd28 ? 5'd28 : d[4:0]);
    n  = {w[54:28], w[27:0] != 28'd0};
    m  = x[31] == y[31] ? m + n : m - n;
    if (x[30:23] == 8'd255) begin
      if (x[22:0] != 23'd0 || (y[30:23] == 8'd255 && (y[22:0] != 23'd0 || x[31] != y[31])))
        fix_f32_add = 32'h7FC0_0000;
      else
        fix_f32_add = x;
    end else if (m == 28'd0) begin
      fix_f32_add = {x[31] && y[31], 31'd0};
    end else begin
      if (m[27]) begin
        m = {1'b0, m[27:2], m[1] || m[0]};
        e = e + 9'd1;
      end else if (!m[26]) begin             // up to bit 26, but not below exponent 1
        if (m[26:11] == 16'd0 && e > 9'd16) begin m = m << 16; e = e - 9'd16; end
        if (m[26:19] == 8'd0 && e > 9'd8)   begin m = m << 8;  e = e - 9'd8;  end
        if (m[26:23] == 4'd0 && e > 9'd4)   begin m = m << 4;  e = e - 9'd4;  end
        if (m[26:25] == 2'd0 && e > 9'd2)   begin m = m << 2;  e = e - 9'd2;  end
        if (!m[26] && e > 9'd1)             begin m = m << 1;  e = e - 9'd1;  end
      end
      if (e == 9'd255) fix_f32_add = {x[31], 31'h7F80_0000};
      else fix_f32_add = {x[31], {e[7:0] - 8'd1, 23'd0} + {6'd0, m[27:3]}
                                 + {30'd0, m[2] && (m[3] || m[1:0] != 2'd0)}};
    end
  end
endfunction

// 1 when a is below b as sign and magnitude in the upper bits of a word: -0 is below +0.
function automatic fix_below;
  input [31:0] a;
  input [31:0] b;
  fix_below = (a[31] ? ~a : {1'b1, a[30:0]}) < (b[31] ? ~b : {1'b1, b[30:0]});
endfunction

function automatic [31:0] fix_atomic_f32;
  input [31:0] old;
  input [31:0] y;
  input [1:0]  op;
  begin
    if (op == 2'd0)                                fix_atomic_f32 = fix_f32_add(old, y);
    else if (old[30:0] > 31'h7F80_0000 || y[30:0] > 31'h7F80_0000)
                                                   fix_atomic_f32 = 32'h7FC0_0000;
    else if (fix_below(old, y) ^ (op == 2'd2))     fix_atomic_f32 = y;
    else                                           fix_atomic_f32 = old;
  end
endfunction

// The f32 sum rounds once more to f16: the same as one rounding, as 24 >= 2 * 11 + 2. An infinite
// operand saturates a sum, too, but not a maximum or a minimum.
function automatic [15:0] fix_atomic_f16;
  input [15:0] old;
  input [15:0] y;
  input [1:0]  op;
  input        nosat;                        // sat is 2
  begin
    if (op == 2'd0)
      fix_atomic_f16 = fix_f32_to_f16(fix_f32_add(fix_f16_to_f32(old), fix_f16_to_f32(y)),
                                      {nosat, 1'b0});
    else if (old[14:0] > 15'h7C00 || y[14:0] > 15'h7C00)
      fix_atomic_f16 = nosat ? 16'h7E00 : 16'd0;
    else if (fix_below({old, 16'd0}, {y, 16'd0}) ^ (op == 2'd2))
      fix_atomic_f16 = y;
    else
      fix_atomic_f16 = old;
  end
endfunction

// As f16: 24 >= 2 * 8 + 2, and subnormal sums are exact in f32.
function automatic [15:0] fix_atomic_bf16;
  input [15:0] old;
  input [15:0] y;
  input [1:0]  op;
  begin
    if (op == 2'd0)
      fix_atomic_bf16 = fix_f32_to_bf16(fix_f32_add({old, 16'd0}, {y, 16'd0}), 2'd2);
    else if (old[14:0] > 15'h7F80 || y[14:0] > 15'h7F80)
      fix_atomic_bf16 = 16'h7FC0;
    else if (fix_below({old, 16'd0}, {y, 16'd0}) ^ (op == 2'd2))
      fix_atomic_bf16 = y;
    else
      fix_atomic_bf16 = old;
  end
endfunction

function automatic [31:0] fix_atomic_s32;
  input [31:0] old;
  input [31:0] y;
  input [1:0]  op;
  begin
    if (op == 2'd0)                                       fix_atomic_s32 = old + y;
    else if (($signed(old) < $signed(y)) ^ (op == 2'd2))  fix_atomic_s32 = y;
    else                                                  fix_atomic_s32 = old;
  end
endfunction

function automatic [15:0] fix_atomic_s16;
  input [15:0] old;
  input [15:0] y;
  input [1:0]  op;
  begin
    if (op == 2'd0)                                       fix_atomic_s16 = old + y;
    else if (($signed(old) < $signed(y)) ^ (op == 2'd2))  fix_atomic_s16 = y;
    else                                                  fix_atomic_s16 = old;
  end
endfunction

function automatic [7:0] fix_atomic_s8;
  input [7:0] old;
  input [7:0] y;
  input [1:0] op;
  begin
    if (op == 2'd0)                                       fix_atomic_s8 = old + y;
    else if (($signed(old) < $signed(y)) ^ (op == 2'd2))  fix_atomic_s8 = y;
    else                                                  fix_atomic_s8 = old;
  end
endfunction
