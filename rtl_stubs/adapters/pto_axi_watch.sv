// SPDX-License-Identifier: Apache-2.0
//
// Adapter: the status and bus word of each failed beat of AXI reads, for blocks that report the
// burst or nothing. Bursts of one id, in order; it only listens. Limits: DataWidth a power of two.
// Spec: docs/contract.md, done port.
//
//   clk     _/~\_/~\_/~\_
//   rvalid  _/~~~\_______      with SLVERR or DECERR
//   err     _/~~~\_______      status and address, in the same clock
`default_nettype none
`include "pto_desc.vh"

module pto_axi_watch #(
  parameter integer DataWidth = 256,         // bits of the bus
  parameter integer Bursts    = 16           // most reads in flight
) (
  input  wire        clk_i,     // clock
  input  wire        rst_ni,    // asynchronous reset, active low
  input  wire        arvalid_i, // burst offered
  input  wire        arready_i, // burst taken
  input  wire [39:0] araddr_i,  // its address
  input  wire        rvalid_i,  // beat offered
  input  wire        rready_i,  // beat taken
  input  wire        rlast_i,   // last of its burst
  input  wire [1:0]  rresp_i,   // response
  output wire [42:0] err_o      // status of a failed beat, else 0; address
);
  localparam integer Lane = $clog2(DataWidth / 8);

  wire [39:0] burst;
  wire        room_unused, known_unused;
  wire        beat = rvalid_i && rready_i;
  reg  [7:0]  beat_q;                        // beats of this burst before this one

  pto_fifo #(
    .Width (40),
    .Depth ((Bursts < 2) ? 2 : 1 << $clog2(Bursts))
  ) u_bursts (
    .clk_i, .rst_ni,
    .wr_valid_i (arvalid_i && arready_i),
    .wr_ready_o (room_unused),
    .wr_data_i  (araddr_i),
    .rd_valid_o (known_unused),
    .rd_ready_i (beat && rlast_i),
    .rd_data_o  (burst)
  );

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_q <= 8'd0;
    else if (beat) beat_q <= rlast_i ? 8'd0 : beat_q + 8'd1;
  end

  wire [39:0] word   = {burst[39:Lane], {Lane{1'b0}}} + ({32'd0, beat_q} << Lane);
  wire [2:0]  status = rresp_i[0] ? `PTO_ST_RD_DECERR : `PTO_ST_RD_SLVERR;
  assign err_o = (beat && rresp_i[1]) ? {status, word} : 43'd0;

  wire unused = &{1'b0, room_unused, known_unused, burst[Lane-1:0]};
endmodule

`default_nettype wire
