// SPDX-License-Identifier: Apache-2.0
//
// Product of two f32 in three steps, one per clock: pure functions, to be included inside a module.
// RNE, subnormals are kept; inf * 0 and NaN give 7FC00000. Spec: fixpipe.md sections 4 and 6.
// Test: tests/prove (`make prove-arith`), all steps on constructed and random pairs.

// Product {NaN, infinite, sign, exponent of bit 47, product}; the exponent in two's complement.
function automatic [60:0] fix_mul_product;
  /*verilator no_inline_task*/
  input [31:0] a;
  input [31:0] b;
  reg   [7:0]  ea, eb;
  reg   [47:0] p;
  reg   [9:0]  e;
  reg          nan, inf;
  begin
    ea  = a[30:23];
    eb  = b[30:23];
    p   = {24'd0, ea != 8'd0, a[22:0]} * {24'd0, eb != 8'd0, b[22:0]};
    e   = {2'd0, ea} + {9'd0, ea == 8'd0} + {2'd0, eb} + {9'd0, eb == 8'd0} - 10'd126;
    inf = ea == 8'd255 || eb == 8'd255;
    nan = (ea == 8'd255 && a[22:0] != 23'd0) || (eb == 8'd255 && b[22:0] != 23'd0);
    fix_mul_product = {nan, inf, a[31] ^ b[31], e, p};
  end
endfunction

// Leading 1 of the product brought to bit 47, the exponent adapted to it. One leading-zero count
// covers subnormal operands. Bit 47 stays 0 in a product of 0 only.
function automatic [60:0] fix_mul_normal;
  /*verilator no_inline_task*/
  input [60:0] x;
  reg   [47:0] p;
  reg   [9:0]  e;
  begin
    {e, p} = x[57:0];
    if (p[47:46] == 2'd0) begin              // only with a subnormal operand
      if (p[47:16] == 32'd0) begin p = p << 32; e = e - 10'd32; end
      if (p[47:32] == 16'd0) begin p = p << 16; e = e - 10'd16; end
      if (p[47:40] == 8'd0)  begin p = p << 8;  e = e - 10'd8;  end
      if (p[47:44] == 4'd0)  begin p = p << 4;  e = e - 10'd4;  end
      if (p[47:46] == 2'd0)  begin p = p << 2;  e = e - 10'd2;  end
    end
    if (!p[47]) begin p = p << 1; e = e - 10'd1; end
    fix_mul_normal = {x[60:58], e, p};
  end
endfunction

// The product rounded to f32.
function automatic [31:0] fix_mul_round;
  /*verilator no_inline_task*/
  input [60:0] x;
  reg          nan, inf, s;
  reg   [47:0] p;
  reg   [9:0]  e;
  reg   [4:0]  shift;
  reg   [51:0] w;                            // 24 bits that stay, guard, sticky, shifted out
  begin
    {nan, inf, s, e, p} = x;
    shift = 5'd0;
    if ($signed(e) <= 10'sd0) begin          // to the subnormal step; 26 leaves only stickies
      shift = $signed(e) < -10'sd25 ? 5'd26 : 5'd1 - e[4:0];
      e     = 10'd1;
    end
    w = {p[47:23], p[22:0] != 23'd0, 26'd0} >> shift;
    if (nan || (inf && !p[47]))             fix_mul_round = 32'h7FC0_0000;
    else if (inf || $signed(e) >= 10'sd255) fix_mul_round = {s, 31'h7F80_0000};
    else if (!p[47])                        fix_mul_round = {s, 31'd0};
    // Bit 51 counts as one step of the exponent; rounding carries into it, up to inf.
    else fix_mul_round = {s, {e[7:0] - 8'd1, 23'd0} + {7'd0, w[51:28]}
                             + {30'd0, w[27] && (w[28] || w[26:0] != 27'd0)}};
  end
endfunction
