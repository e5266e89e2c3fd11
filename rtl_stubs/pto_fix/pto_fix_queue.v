// SPDX-License-Identifier: Apache-2.0
//
// pto_ram_fifo with a ready: the queue of records that wait in parallel to the data for many
// clocks. One word in and one word out per clock; a word is visible one clock after it was written.
// Limits: Depth is a power of two, at least 2. Spec: none.
//
//   clk       _/~\_/~\_/~\_/~\_
//   wr_valid  _/~~~\___________      wr_ready is 1: the word is taken
//   rd_valid  _____/~~~~~~~\___      stays, with its data, until rd_ready
//   rd_ready  _________/~~~\___
`default_nettype none

module pto_fix_queue #(
  parameter integer Width = 8,               // bits of a word
  parameter integer Depth = 64               // words, a power of two, at least 2
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
  localparam integer CountBits = $clog2(Depth) + 1;
  localparam [CountBits-1:0] DEPTH = Depth[CountBits-1:0];

  reg [CountBits-1:0] free_q;
  wire push = wr_valid_i && wr_ready_o;
  wire pop  = rd_valid_o && rd_ready_i;
  assign wr_ready_o = free_q != {CountBits{1'b0}};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) free_q <= DEPTH;
    else free_q <= free_q - {{(CountBits - 1){1'b0}}, push} + {{(CountBits - 1){1'b0}}, pop};
  end

  pto_ram_fifo #(
    .Width(Width),
    .Depth(Depth)
  ) u_words (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_en_i    (push),
    .wr_data_i  (wr_data_i),
    .rd_valid_o (rd_valid_o),
    .rd_ready_i (rd_ready_i),
    .rd_data_o  (rd_data_o)
  );
endmodule

`default_nettype wire
