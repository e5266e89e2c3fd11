// SPDX-License-Identifier: Apache-2.0
//
// Adapter: the reset of a block that wants it synchronous, or active high. It begins with rst_ni,
// at any time, and lasts two clock edges longer, so that the block sees at least one. Give rst_no
// to the adapters of the block, too: they keep its outputs away from the contract, which may be
// undefined until then. Spec: docs/contract.md, rst_ni.
//
//   clk     _/~\_/~\_/~\_/~\_
//   rst_ni  ~~\____/~~~~~~~~~
//   rst_o   __/~~~~~~~~~\____     rst_no is its inverse
`default_nettype none

module pto_reset (
  input  wire clk_i,  // clock
  input  wire rst_ni, // asynchronous reset, active low
  output wire rst_o,  // reset, active high
  output wire rst_no  // reset, active low
);
  reg [1:0] out_q;
  assign rst_no = out_q[1];
  assign rst_o  = !out_q[1];

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_q <= 2'b00;
    else out_q <= {out_q[0], 1'b1};
  end
endmodule

`default_nettype wire
