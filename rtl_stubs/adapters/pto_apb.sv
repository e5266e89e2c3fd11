// SPDX-License-Identifier: Apache-2.0
//
// Adapter: an APB3 manager, one transfer after the other. A request is taken when no transfer runs,
// and at read_o the bus has the value. Throughput: a transfer takes two clocks and the wait states.
// Spec: AMBA APB3.
//
//   clk   _/~\_/~\_/~\_/~\_
//   req   _/~~~\___________     any request while free
//   psel  _____/~~~~~~~\___     penable in the second clock
//   end   _________/~~~\___     with pready
`default_nettype none

module pto_apb #(
  parameter integer AddrWidth = 8            // bits of an address
) (
  input  wire                 clk_i,         // clock
  input  wire                 rst_ni,        // asynchronous reset, active low
  input  wire                 req_valid_i,   // a transfer is wanted
  input  wire                 req_write_i,   // it writes
  input  wire [AddrWidth-1:0] req_addr_i,    // its register
  input  wire [31:0]          req_data_i,    // value to write
  output wire                 free_o,        // no transfer runs: a request is taken
  output wire                 read_o,        // a read ends
  output wire                 wrote_o,       // a write ends
  output wire                 error_o,       // it ends with PSLVERR
  output reg                  psel_o,
  output reg                  penable_o,
  output reg                  pwrite_o,
  output reg  [AddrWidth-1:0] paddr_o,
  output reg  [31:0]          pwdata_o,
  input  wire                 pready_i,
  input  wire                 pslverr_i
);
  wire ends = psel_o && penable_o && pready_i;
  assign free_o  = !psel_o;
  assign read_o  = ends && !pwrite_o;
  assign wrote_o = ends && pwrite_o;
  assign error_o = ends && pslverr_i;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {psel_o, penable_o} <= 2'b00;
    else begin
      psel_o    <= psel_o ? !ends : req_valid_i;
      penable_o <= psel_o && !ends;
    end
  end

  always @(posedge clk_i) begin
    if (!psel_o) {pwrite_o, paddr_o, pwdata_o} <= {req_write_i, req_addr_i, req_data_i};
  end
endmodule

`default_nettype wire
