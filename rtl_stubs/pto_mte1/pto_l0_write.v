// SPDX-License-Identifier: Apache-2.0
//
// Writes lines of 32 bytes to L0. A line is half a word of 512 bits, the other half not enabled, a
// word of 256 bits, or two of 128 bits.
// Throughput: one line per clock, or one word of 128 bits. Latency: one clock.
// A line of an op with a failed access is not written; a pending request waits for its grant.
// Spec: CONTRACT, dst port and errors.
//
//   clk         _/~\_/~\_/~\_/~\_
//   line_valid  _/~~~\___________     last line of its op
//   dst_req     _____/~~~~~~~\___     stable until dst_gnt
//   fin         _________/~~~\___     with dst_gnt
`default_nettype none

module pto_l0_write #(
  parameter integer WordBytes = 32,          // bytes of a word: 16, 32 or 64
  parameter integer AddrWidth = 20,          // bits of a byte address
  parameter integer NumActive = 16,          // ops in flight
  parameter integer IdWidth   = 4            // bits of an op number
) (
  input  wire                   clk_i,        // clock
  input  wire                   rst_ni,       // asynchronous reset, active low
  input  wire [NumActive-1:0]   err_i,        // per op: an access failed, this clock included
  input  wire                   line_valid_i, // a line is there
  output wire                   line_ready_o, // it is taken
  input  wire [IdWidth-1:0]     line_id_i,    // op number
  input  wire                   line_fin_i,   // the last of its op
  input  wire [AddrWidth-6:0]   line_block_i, // block number
  input  wire [255:0]           line_i,       // the line
  output wire                   dst_req_o,    // write
  input  wire                   dst_gnt_i,    // done
  output wire [AddrWidth-1:0]   dst_addr_o,   // byte address, word aligned
  output wire [WordBytes-1:0]   dst_be_o,     // byte enables
  output wire [8*WordBytes-1:0] dst_wdata_o,  // word
  output wire [IdWidth-1:0]     out_id_o,     // op of the word
  output wire                   fin_valid_o   // the last line of op out_id_o is written or dropped
);
  reg                 full_q, write_q, fin_q;
  reg [IdWidth-1:0]   id_q;
  reg [AddrWidth-6:0] block_q;
  reg [255:0]         line_q;

  wire last_word;                            // the word in work is the last of its line
  wire step = full_q && (!write_q || dst_gnt_i);           // it is written or dropped
  wire free = !full_q || (step && last_word);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) full_q <= 1'b0;
    else if (free) full_q <= line_valid_i;
  end

  always @(posedge clk_i) begin
    if (free) begin
      write_q <= !err_i[line_id_i];
      fin_q   <= line_fin_i;
      id_q    <= line_id_i;
      block_q <= line_block_i;
      line_q  <= line_i;
    end else if (step) begin
      write_q <= !err_i[id_q];
    end
  end

  generate
    if (WordBytes == 16) begin : gen_two
      reg upper_q;
      always @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) upper_q <= 1'b0;
        else if (step) upper_q <= !upper_q;
      end
      assign last_word   = upper_q;
      assign dst_addr_o  = {block_q, upper_q, 4'd0};
      assign dst_be_o    = {16{1'b1}};
      assign dst_wdata_o = upper_q ? line_q[255:128] : line_q[127:0];
    end else if (WordBytes == 32) begin : gen_one
      assign last_word   = 1'b1;
      assign dst_addr_o  = {block_q, 5'd0};
      assign dst_be_o    = {32{1'b1}};
      assign dst_wdata_o = line_q;
    end else begin : gen_half
      assign last_word   = 1'b1;
      assign dst_addr_o  = {block_q[AddrWidth-6:1], 6'd0};
      assign dst_be_o    = {{32{block_q[0]}}, {32{!block_q[0]}}};
      assign dst_wdata_o = {line_q, line_q};
    end
  endgenerate

  assign line_ready_o = free;
  assign dst_req_o    = full_q && write_q;
  assign out_id_o     = id_q;
  assign fin_valid_o  = step && last_word && fin_q;
endmodule

`default_nettype wire
