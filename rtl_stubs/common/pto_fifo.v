// SPDX-License-Identifier: Apache-2.0
//
// Small queue in registers with a read port that needs no clock (first word falls through).
// One word in and one word out per clock at any fill level; a word is visible one clock after it
// was written. Neither ready nor valid depends on the other side of the queue, so a queue cuts
// every combinational path. Limits: Depth is a power of two, at least 2.
// Used for descriptors and row records (CONTRACT: "at least 2 descriptors queued").
//
//   clk       _/~\_/~\_/~\_/~\_
//   wr_valid  _/~~~\___________      wr_ready is 1: the word is taken
//   rd_valid  _____/~~~~~~~\___      stays, with its data, until rd_ready
//   rd_ready  _________/~~~\___
`default_nettype none

module pto_fifo #(
  parameter integer Width = 8,               // bits of a word
  parameter integer Depth = 4                // words, a power of two, at least 2
) (
  input  wire             clk_i,             // clock
  input  wire             rst_ni,            // asynchronous reset, active low
  input  wire             wr_valid_i,        // a word is offered
  output wire             wr_ready_o,        // there is room
  input  wire [Width-1:0] wr_data_i,         // the word offered
  output wire             rd_valid_o,        // a word is there
  input  wire             rd_ready_i,        // it is taken
  output wire [Width-1:0] rd_data_o          // the oldest word
);
  localparam integer PtrWidth = $clog2(Depth);

  reg [Width-1:0]  mem_q [0:Depth-1];
  reg [PtrWidth:0] wr_ptr_q;                 // one bit more than an index: tells full from empty
  reg [PtrWidth:0] rd_ptr_q;

  assign wr_ready_o = wr_ptr_q != {~rd_ptr_q[PtrWidth], rd_ptr_q[PtrWidth-1:0]};
  assign rd_valid_o = wr_ptr_q != rd_ptr_q;
  assign rd_data_o  = mem_q[rd_ptr_q[PtrWidth-1:0]];

  wire push = wr_valid_i && wr_ready_o;
  wire pop  = rd_valid_o && rd_ready_i;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_ptr_q <= {(PtrWidth + 1){1'b0}};
      rd_ptr_q <= {(PtrWidth + 1){1'b0}};
    end else begin
      if (push) wr_ptr_q <= wr_ptr_q + 1'b1;
      if (pop)  rd_ptr_q <= rd_ptr_q + 1'b1;
    end
  end

  always @(posedge clk_i) begin
    if (push) mem_q[wr_ptr_q[PtrWidth-1:0]] <= wr_data_i;
  end
endmodule

`default_nettype wire
