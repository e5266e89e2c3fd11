// SPDX-License-Identifier: Apache-2.0
//
// Conversions that the pipeline of the write-back and atomic stores share: pure functions, to be
// included inside a module before pto_fix_arith.vh and pto_fix_atomic.vh. Their rules are those of
// pto_fix_arith.vh. A module includes only headers whose functions it calls: code coverage counts
// every function of a header in the slot of the module. Spec: fixpipe.md sections 4 and 7.

// m * 2^-shift as an integer, RNE; exact for shift 0, 0 from shift 25 on.
// Test: tests/arith, through the five conversions that call it.
function automatic [23:0] fix_shift_rne;
  input [23:0] m;
  input [4:0]  shift;
  reg   [48:0] w;                            // integer part, then what is shifted out
  begin
    w = {m, 25'd0} >> shift;
    fix_shift_rne = w[48:25] + {23'd0, w[24] && (w[25] || w[23:0] != 24'd0)};
  end
endfunction

// f32 to f16: RNE, gradual underflow, overflow decided after rounding. Overflow and inf: +-65504
// for sat and preserve_nan, inf for nosat. NaN: +0 for sat, else 7E00.
// Test: tests/arith, all 2^32 inputs with each sat.
function automatic [15:0] fix_f32_to_f16;
  input [31:0] x;
  input [1:0]  sat;
  reg   [7:0]  e;
  reg   [22:0] f;
  reg   [4:0]  e5, shift;
  reg   [23:0] r;                            // exponent and fraction; 7C00 and above: overflow
  begin
    {e, f} = x[30:0];
    e5     = e[4:0] - 5'd16;                 // e - 112, the exponent of a normal result
    shift  = 5'd30 - e[4:0];                 // 126 - e, to the subnormal step 2^-24
    if (e >= 8'd143)      r = 24'h7C00;      // 2^16 and above
    else if (e >= 8'd113)                    // normal; the carry runs into the exponent
      r = {9'd0, e5, f[22:13]} + {23'd0, f[12] && (f[13] || f[11:0] != 12'd0)};
    else if (e >= 8'd102) r = fix_shift_rne({1'b1, f}, shift);
    else                  r = 24'd0;         // below half of the subnormal step
    if (e == 8'd255 && f != 23'd0)          fix_f32_to_f16 = sat == 2'd0 ? 16'd0 : 16'h7E00;
    else if (r >= 24'h7C00 && sat != 2'd2)  fix_f32_to_f16 = {x[31], 15'h7BFF};
    else                                    fix_f32_to_f16 = {x[31], r[14:0]};
  end
endfunction

// f32 to bf16: RNE. Overflow and inf: +-7F7F for sat and preserve_nan, inf for nosat.
// NaN: +0 for sat, else 7FC0. Test: tests/arith, all 2^32 inputs with each sat.
function automatic [15:0] fix_f32_to_bf16;
  input [31:0] x;
  input [1:0]  sat;
  reg   [15:0] r;                            // exponent and fraction; 7F80 and above: overflow
  begin
    r = {1'b0, x[30:16]} + {15'd0, x[15] && (x[16] || x[14:0] != 15'd0)};
    if (x[30:23] == 8'd255 && x[22:0] != 23'd0) fix_f32_to_bf16 = sat == 2'd0 ? 16'd0 : 16'h7FC0;
    else if (r >= 16'h7F80 && sat != 2'd2)      fix_f32_to_bf16 = {x[31], 15'h7F7F};
    else                                        fix_f32_to_bf16 = {x[31], r[14:0]};
  end
endfunction

// f16 as f32, exact. Test: tests/arith, all 2^16 inputs.
function automatic [31:0] fix_f16_to_f32;
  /*verilator no_inline_task*/
  input [15:0] h;
  reg   [30:0] r;
  begin
    if (h[14:10] == 5'd31)     r = {8'd255, h[9:0], 13'd0};   // inf, NaN: only in atomics
    else if (h[14:10] != 5'd0) r = {{3'd0, h[14:10]} + 8'd112, h[9:0], 13'd0};
    else begin
      casez (h[9:0])                         // leading 1 at bit p: exponent p + 103
        10'b1?????????: r = {8'd112, h[8:0], 14'd0};
        10'b01????????: r = {8'd111, h[7:0], 15'd0};
        10'b001???????: r = {8'd110, h[6:0], 16'd0};
        10'b0001??????: r = {8'd109, h[5:0], 17'd0};
        10'b00001?????: r = {8'd108, h[4:0], 18'd0};
        10'b000001????: r = {8'd107, h[3:0], 19'd0};
        10'b0000001???: r = {8'd106, h[2:0], 20'd0};
        10'b00000001??: r = {8'd105, h[1:0], 21'd0};
        10'b000000001?: r = {8'd104, h[0], 22'd0};
        10'b0000000001: r = {8'd103, 23'd0};
        default:        r = 31'd0;
      endcase
    end
    fix_f16_to_f32 = {h[15], r};
  end
endfunction
