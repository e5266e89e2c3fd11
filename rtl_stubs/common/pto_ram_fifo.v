// SPDX-License-Identifier: Apache-2.0
//
// Queue of data words in a RAM with a registered read port. One word in and one word out per
// clock; a word is visible one clock after it was written. There is no full flag: the writer
// reserves room before it requests data, because neither a requested AXI beat nor a local reply may
// be stalled (CONTRACT: "the engine requests only what it can take").
// Limits: Depth is a power of two, at least 2.
//
//   clk       _/~\_/~\_/~\_/~\_
//   wr_en     _/~~~~~~~\_______      words A, B
//   rd_valid  _____/~~~~~~~\___      A then B: the RAM is read one word ahead, and a word
//   rd_ready  _____/~~~~~~~\___      written in the clock of its own read is bypassed
`default_nettype none

module pto_ram_fifo #(
  parameter integer Width = 256,             // bits of a word
  parameter integer Depth = 256              // words, a power of two, at least 2
) (
  input  wire             clk_i,             // clock
  input  wire             rst_ni,            // asynchronous reset, active low
  input  wire             wr_en_i,           // write a word; room was reserved before
  input  wire [Width-1:0] wr_data_i,         // the word written
  output wire             rd_valid_o,        // a word is there
  input  wire             rd_ready_i,        // it is taken
  output wire [Width-1:0] rd_data_o          // the oldest word
);
  localparam integer PtrWidth = $clog2(Depth);

  reg [PtrWidth:0] wr_ptr_q;
  reg [PtrWidth:0] rd_ptr_q;
  reg              bypass_q;
  reg [Width-1:0]  wr_data_q;

  wire [Width-1:0] ram_data;
  wire             pop       = rd_valid_o && rd_ready_i;
  wire [PtrWidth:0] rd_ptr_d = pop ? rd_ptr_q + 1'b1 : rd_ptr_q;

  assign rd_valid_o = wr_ptr_q != rd_ptr_q;
  assign rd_data_o  = bypass_q ? wr_data_q : ram_data;

  pto_ram #(
    .Width(Width),
    .Depth(Depth)
  ) u_ram (
    .clk_i     (clk_i),
    .wr_en_i   (wr_en_i),
    .wr_addr_i (wr_ptr_q[PtrWidth-1:0]),
    .wr_data_i (wr_data_i),
    .rd_addr_i (rd_ptr_d[PtrWidth-1:0]),
    .rd_data_o (ram_data)
  );

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_ptr_q <= {(PtrWidth + 1){1'b0}};
      rd_ptr_q <= {(PtrWidth + 1){1'b0}};
    end else begin
      if (wr_en_i) wr_ptr_q <= wr_ptr_q + 1'b1;
      rd_ptr_q <= rd_ptr_d;
    end
  end

  always @(posedge clk_i) begin
    bypass_q <= wr_en_i && (wr_ptr_q[PtrWidth-1:0] == rd_ptr_d[PtrWidth-1:0]);
    if (wr_en_i) wr_data_q <= wr_data_i;
  end
endmodule

`default_nettype wire
