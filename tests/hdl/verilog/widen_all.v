// SPDX-License-Identifier: Apache-2.0
//
// Prints what pto_widen.vh makes of every 16-bit input, one line for each: f16 and bf16 result as
// hexadecimal. tests/hdl/test_widen.py compares the lines. Spec: bias_fb.md section 2.
`default_nettype none

module widen_all;
  `include "pto_widen.vh"

  integer k;
  initial begin
    for (k = 0; k < 65536; k = k + 1)
      $display("%h %h", pto_widen_f16(k[15:0]), pto_widen_bf16(k[15:0]));
    $finish;
  end
endmodule

`default_nettype wire
