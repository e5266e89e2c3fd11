// SPDX-License-Identifier: Apache-2.0
//
// Clock gate: clk_o follows clk_i in the clocks that were enabled in the half before. The enable is
// taken at the falling edge, so clk_o has no glitch. run_o is high when the next rising edge
// passes, and holds from falling edge to falling edge: a handshake with logic on clk_o counts only
// with run_o. In reset the clock runs. On silicon put the library's gate here.
// Throughput: one decision per clock. Latency: an enable before the falling edge passes the next
// rising edge. Limits: none. Spec: none; it saves power, and simulation time.
//
//   clk_i  _/~\_/~\_/~\_/~\_
//   en_i   ___/~~~~~~~\_____
//   run_o  ___/~~~~~~~\_____
//   clk_o  _____/~\_/~\_____
`default_nettype none

module pto_clock_gate (
  input  wire clk_i,  // clock
  input  wire rst_ni, // asynchronous reset, active low
  input  wire en_i,   // the next rising edge is wanted
  output wire run_o,  // it comes
  output wire clk_o   // gated clock
);
  reg en_q;
  always @(negedge clk_i or negedge rst_ni) begin
    if (!rst_ni) en_q <= 1'b1;
    else en_q <= en_i;
  end
  assign run_o = en_q;
  assign clk_o = clk_i && en_q;
endmodule

`default_nettype wire
