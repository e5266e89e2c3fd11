// SPDX-License-Identifier: Apache-2.0
//
// Bias elements of 16 bits as f32 bits, exact: pure functions, to be included inside a module.
// Signalling NaNs stay signalling, payloads are kept (no quieting). Nothing is rounded: f32 holds
// every f16 and every bf16 value. Spec: bias_fb.md section 2, its table row at each case; A-23.
// All 65536 inputs of both are compared with an oracle by tests/hdl/test_widen.py.

function [31:0] pto_widen_bf16;              // "bits << 16 (NaN payload kept)"
  input [15:0] bits;
  pto_widen_bf16 = {bits, 16'd0};
endfunction

function [31:0] pto_widen_f16;
  input [15:0] bits;
  reg        s;
  reg [4:0]  e;
  reg [9:0]  f;
  reg [30:0] value;                          // exponent and fraction of the result
  begin
    {s, e, f} = bits;
    if (e == 5'd31) begin                    // e = 31: exponent 255, f << 13
      value = {8'd255, f, 13'd0};
    end else if (e != 5'd0) begin            // 1 <= e <= 30: exponent e + 112, f << 13
      value = {{3'd0, e} + 8'd112, f, 13'd0};
    end else begin
      casez (f)                              // e = 0, f != 0: p = index of the leading 1 of f,
        10'b1?????????: value = {8'd112, f[8:0], 14'd0};   // exponent p + 103, f << (23 - p);
        10'b01????????: value = {8'd111, f[7:0], 15'd0};   // here p = 8, above p = 9
        10'b001???????: value = {8'd110, f[6:0], 16'd0};
        10'b0001??????: value = {8'd109, f[5:0], 17'd0};
        10'b00001?????: value = {8'd108, f[4:0], 18'd0};
        10'b000001????: value = {8'd107, f[3:0], 19'd0};
        10'b0000001???: value = {8'd106, f[2:0], 20'd0};
        10'b00000001??: value = {8'd105, f[1:0], 21'd0};
        10'b000000001?: value = {8'd104, f[0], 22'd0};
        10'b0000000001: value = {8'd103, 23'd0};
        default:        value = 31'd0;                     // e = 0, f = 0: signed zero
      endcase
    end
    pto_widen_f16 = {s, value};
  end
endfunction
