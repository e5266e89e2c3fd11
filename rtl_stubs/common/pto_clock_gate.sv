// SPDX-License-Identifier: Apache-2.0
//
// Clock gate: clk_o follows clk_i, or stays high. The enable is taken at the rising edge and acts
// while clk_i is high, so clk_o has no glitch. run_o is high when the next rising edge passes, and
// holds from rising edge to rising edge: a handshake with logic on clk_o counts only with run_o. In
// reset the clock runs. On silicon put the library's gate here, after en_q.
// Throughput: one decision per clock. Latency: an enable at a rising edge passes the next one.
// Limits: none. Spec: none; it saves power, and simulation time: nothing happens at the falling edge.
//
//   clk_i  _/~\_/~\_/~\_/~\_
//   en_i   __/~~~~~~~\______
//   run_o  ______/~~~~~~~\__
//   clk_o  ~~~~~~~\_/~\_/~~~
`default_nettype none

module pto_clock_gate (
  input  wire clk_i,  // clock
  input  wire rst_ni, // asynchronous reset, active low
  input  wire en_i,   // the next rising edge is wanted
  output wire run_o,  // it comes
  output wire clk_o   // gated clock
);
  reg en_q;
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) en_q <= 1'b1;
    else en_q <= en_i;
  end
  assign run_o = en_q;
  assign clk_o = clk_i || !en_q;
endmodule

`default_nettype wire
