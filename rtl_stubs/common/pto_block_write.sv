// SPDX-License-Identifier: Apache-2.0
//
// Writes blocks of 32 bytes to an on-chip memory. A block is half a word of 512 bits, the other
// half not enabled, a word of 256 bits, or two of 128 bits.
// Throughput: one block per clock, or one word of 128 bits. Latency: one clock.
// A word of an op with a failed access is not written; a pending request waits for its grant.
// Spec: docs/contract.md, dst port and errors.
//
//   clk          _/~\_/~\_/~\_/~\_
//   block_valid  _/~~~\___________     last block of its op
//   dst_req      _____/~~~~~~~\___     stable until dst_gnt
//   fin          _________/~~~\___     with dst_gnt
`default_nettype none
`include "pto_records.vh"

module pto_block_write #(
  parameter integer WordBytes = 32           // bytes of a word: 16, 32 or 64
) (
  input  wire                       clk_i,         // clock
  input  wire                       rst_ni,        // asynchronous reset, active low
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,         // per op: an access failed
  input  wire                       block_valid_i, // a block is there
  output wire                       block_ready_o, // it is taken
  input  wire                       block_cut_i,   // it is a mere end of an op
  input  wire pto_block_t           block_at_i,    // its destination
  input  wire [255:0]               block_i,       // the block
  output wire                       dst_req_o,     // write
  input  wire                       dst_gnt_i,     // done
  output wire [19:0]                dst_addr_o,    // byte address, word aligned
  output wire [WordBytes-1:0]       dst_be_o,      // byte enables
  output wire [8*WordBytes-1:0]     dst_wdata_o,   // word
  output wire [3:0]                 out_id_o,      // op of the word
  output wire                       fin_valid_o    // last block of op out_id_o written or dropped
);
  reg         full_q, write_q;
  pto_block_t at_q;
  reg [255:0] block_q;

  wire last_word;                            // the word in work is the last of its block
  wire step = full_q && (!write_q || dst_gnt_i);           // it is written or dropped
  wire free = !full_q || (step && last_word);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) full_q <= 1'b0;
    else if (free) full_q <= block_valid_i;
  end

  always @(posedge clk_i) begin
    if (free) begin
      write_q <= !block_cut_i && !err_i[block_at_i.id];
      at_q    <= block_at_i;
      block_q <= block_i;
    end else if (step) begin
      write_q <= write_q && !err_i[at_q.id];
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
      assign dst_addr_o  = {at_q.addr, upper_q, 4'd0};
      assign dst_be_o    = {16{1'b1}};
      assign dst_wdata_o = upper_q ? block_q[255:128] : block_q[127:0];
    end else if (WordBytes == 32) begin : gen_one
      assign last_word   = 1'b1;
      assign dst_addr_o  = {at_q.addr, 5'd0};
      assign dst_be_o    = {32{1'b1}};
      assign dst_wdata_o = block_q;
    end else begin : gen_half
      assign last_word   = 1'b1;
      assign dst_addr_o  = {at_q.addr[14:1], 6'd0};
      assign dst_be_o    = {{32{at_q.addr[0]}}, {32{!at_q.addr[0]}}};
      assign dst_wdata_o = {block_q, block_q};
    end
  endgenerate

  assign block_ready_o = free;
  assign dst_req_o     = full_q && write_q;
  assign out_id_o      = at_q.id;
  assign fin_valid_o   = step && last_word && at_q.fin;
endmodule

`default_nettype wire
