// SPDX-License-Identifier: Apache-2.0
//
// Parts that a proof of a rule check puts in the place of pto_extent and pto_fifo, with the same
// ports. They have no memory: an op leaves in the clock in which it is taken, its sum is free, and
// the word that leaves a queue is named `out`. A proof has two copies of the check: `u_in` takes the
// descriptor, and its words and sums leave `u_out`, at whose input stands another descriptor. So the
// verdict can depend on nothing but the words and sums of its own op. Both real parts keep the order
// of ops, which is proven of them alone.
module pto_extent #(
  parameter integer Strides     = 4,
  parameter integer PerStride   = 4,
  parameter integer StrideWidth = 40,
  parameter integer BaseWidth   = 44,
  parameter integer TailWidth   = 22,
  parameter integer SumWidth    = 64,
  parameter integer Depth       = 4
) (
  input  wire                           clk_i,
  input  wire                           rst_ni,
  input  wire                           in_valid_i,
  output wire                           in_last_o,
  input  wire                           in_skip_i,
  input  wire [BaseWidth-1:0]           in_base_i,
  input  wire [TailWidth-1:0]           in_tail_i,
  input  wire [8*Strides*PerStride-1:0] in_digits_i,
  input  wire [Strides*StrideWidth-1:0] in_strides_i,
  output wire                           out_valid_o,
  input  wire                           out_ready_i,
  output wire [SumWidth-1:0]            out_sum_o
);
  (* anyseq *) wire last;
  (* anyseq *) wire [SumWidth-1:0] sum;
  assign in_last_o   = last;
  assign out_valid_o = in_valid_i && last;
  assign out_sum_o   = sum;
endmodule

module pto_fifo #(
  parameter integer Width = 8,
  parameter integer Depth = 4,
  parameter integer Ram   = 0
) (
  input  wire             clk_i,
  input  wire             rst_ni,
  input  wire             wr_valid_i,
  output wire             wr_ready_o,
  input  wire [Width-1:0] wr_data_i,
  output wire             rd_valid_o,
  input  wire             rd_ready_i,
  output wire [Width-1:0] rd_data_o
);
  (* anyseq *) wire room;
  wire [Width-1:0] out;                      // driven by the proof where it matters
  assign wr_ready_o = room;
  assign rd_valid_o = wr_valid_i && room;
  assign rd_data_o  = out;
endmodule
