// SPDX-License-Identifier: Apache-2.0
//
// Writes 32-byte blocks to L1 from two sources; source a has priority. A block is one word, half a
// word of 512 bits (the other half not enabled), or two words of 128 bits.
// Throughput: one block per clock, every second clock at 128 bits. Latency: one clock.
// A block of an op with a failed access is not written. Spec: CONTRACT, dst port and errors.
//
//   clk      _/~\_/~\_/~\_/~\_
//   a_valid  _/~~~\___________      last block of its op
//   dst_req  _____/~~~~~~~\___      stable until dst_gnt
//   fin      _________/~~~\___      with dst_gnt
`default_nettype none

module pto_nz_write #(
  parameter integer WordBytes  = 32,         // bytes of an L1 word: 16, 32 or 64
  parameter integer AddrWidth  = 20,         // bits of a byte address in L1
  parameter integer NumActive  = 16,         // ops in flight
  parameter integer IdWidth    = 4           // bits of an op number
) (
  input  wire                   clk_i,       // clock
  input  wire                   rst_ni,      // asynchronous reset, active low
  input  wire [NumActive-1:0]   err_i,       // per op: an access failed
  input  wire                   a_valid_i,   // a block of source a is there
  output wire                   a_ready_o,   // it is taken
  input  wire                   a_write_i,   // it is to be written, else a mere end of an op
  input  wire                   a_fin_i,     // last block of its op
  input  wire [IdWidth-1:0]     a_id_i,      // op number
  input  wire [AddrWidth-6:0]   a_addr_i,    // block number
  input  wire [255:0]           a_block_i,   // the block
  input  wire                   b_valid_i,   // source b, as a
  output wire                   b_ready_o,   // taken
  input  wire                   b_write_i,   // to be written
  input  wire                   b_fin_i,     // last of its op
  input  wire [IdWidth-1:0]     b_id_i,      // op number
  input  wire [AddrWidth-6:0]   b_addr_i,    // block number
  input  wire [255:0]           b_block_i,   // the block
  output wire                   dst_req_o,   // write
  input  wire                   dst_gnt_i,   // done
  output wire [AddrWidth-1:0]   dst_addr_o,  // byte address, word aligned
  output wire [WordBytes-1:0]   dst_be_o,    // byte enables
  output wire [8*WordBytes-1:0] dst_wdata_o, // word
  output wire [IdWidth-1:0]     out_id_o,    // op of the word
  output wire                   fin_valid_o  // the last block of op out_id_o is written or dropped
);
  reg                 full_q;
  reg                 write_q;
  reg                 fin_q;
  reg [IdWidth-1:0]   id_q;
  reg [AddrWidth-6:0] addr_q;
  reg [255:0]         block_q;

  wire last_word;                            // the requested word is the last of its block
  wire done = full_q && (!write_q || (dst_gnt_i && last_word));
  wire free = !full_q || done;

  assign a_ready_o = free;
  assign b_ready_o = free && !a_valid_i;
  wire               in_valid = a_valid_i || b_valid_i;
  wire [IdWidth-1:0] in_id    = a_valid_i ? a_id_i : b_id_i;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) full_q <= 1'b0;
    else if (free) full_q <= in_valid;
  end

  always @(posedge clk_i) begin
    if (free) begin
      write_q <= (a_valid_i ? a_write_i : b_write_i) && !err_i[in_id];
      fin_q   <= a_valid_i ? a_fin_i : b_fin_i;
      id_q    <= in_id;
      addr_q  <= a_valid_i ? a_addr_i : b_addr_i;
      block_q <= a_valid_i ? a_block_i : b_block_i;
    end
  end

  generate
    if (WordBytes == 16) begin : gen_half
      reg upper_q;
      always @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) upper_q <= 1'b0;
        else if (dst_req_o && dst_gnt_i) upper_q <= !upper_q;
      end
      assign last_word   = upper_q;
      assign dst_addr_o  = {addr_q, upper_q, 4'd0};
      assign dst_be_o    = {16{1'b1}};
      assign dst_wdata_o = upper_q ? block_q[255:128] : block_q[127:0];
    end else if (WordBytes == 32) begin : gen_whole
      assign last_word   = 1'b1;
      assign dst_addr_o  = {addr_q, 5'd0};
      assign dst_be_o    = {32{1'b1}};
      assign dst_wdata_o = block_q;
    end else begin : gen_double
      assign last_word   = 1'b1;
      assign dst_addr_o  = {addr_q[AddrWidth-6:1], 6'd0};
      assign dst_be_o    = {{32{addr_q[0]}}, {32{!addr_q[0]}}};
      assign dst_wdata_o = {block_q, block_q};
    end
  endgenerate

  assign dst_req_o   = full_q && write_q;
  assign out_id_o    = id_q;
  assign fin_valid_o = done && fin_q;
endmodule

`default_nettype wire
