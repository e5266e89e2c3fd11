// SPDX-License-Identifier: Apache-2.0
//
// The end of what an op reaches: base + tail + sum of (count - 1) * stride, exact. The counts less
// 1 come as digits of 8 bits, lowest first; each clock adds the product of one digit that is not
// zero and its stride. Stages: select a digit, multiply, add.
// Throughput: one digit per clock, also across ops; an op without digits takes one clock.
// Latency: 3 clocks after the last digit was selected. Limits: sums wait in a queue of Depth words,
// and nothing stops the stages before it: an op may be offered when fewer than Depth are inside.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   in_valid   _/~~~~~~~\___________________     two digits: taken in the second clock
//   in_last    _____/~~~\___________________
//   out_valid  _________________/~~~\_______     stays until out_ready
`default_nettype none

module pto_extent #(
  parameter integer Strides     = 4,         // strides of an op
  parameter integer PerStride   = 4,         // digits of the count of each
  parameter integer StrideWidth = 40,        // bits of a stride
  parameter integer BaseWidth   = 44,        // bits of the base
  parameter integer TailWidth   = 22,        // bits of the tail, at most those of the base
  parameter integer SumWidth    = 64,        // bits of the sum, all that it can need
  parameter integer Depth       = 4          // ops inside, a power of two
) (
  input  wire                           clk_i,        // clock
  input  wire                           rst_ni,       // asynchronous reset, active low
  input  wire                           in_valid_i,   // an op is there
  output wire                           in_last_o,    // it is taken: this is its last digit
  input  wire                           in_skip_i,    // its digits do not count
  input  wire [BaseWidth-1:0]           in_base_i,    // its first address
  input  wire [TailWidth-1:0]           in_tail_i,    // bytes after the last stride
  input  wire [8*Strides*PerStride-1:0] in_digits_i,  // digits of its counts less 1
  input  wire [Strides*StrideWidth-1:0] in_strides_i, // its strides, that of the low digits low
  output wire                           out_valid_o,  // a sum is there
  input  wire                           out_ready_i,  // it is taken
  output wire [SumWidth-1:0]            out_sum_o     // the sum of the oldest op
);
  localparam integer Digits    = Strides * PerStride;
  localparam integer ProdWidth = StrideWidth + 8;

  // ---- select: functions, for which a simulator needs no time between ops ----
  reg [Digits-1:0] seen_q;                   // digits of this op already selected
  reg [Digits-1:0] todo;
  integer k;
  always @* begin
    for (k = 0; k < Digits; k = k + 1)
      todo[k] = !in_skip_i && |in_digits_i[8*k +: 8] && !seen_q[k];
  end
  wire [Digits-1:0] pick = todo & (~todo + 1'b1);          // the lowest one, or none

  function [7:0] digit_of;                   // 0 without one
    input [Digits-1:0]   one;
    input [8*Digits-1:0] digits;
    integer i;
    begin
      digit_of = 8'd0;
      for (i = 0; i < Digits; i = i + 1) digit_of = digit_of | (digits[8*i +: 8] & {8{one[i]}});
    end
  endfunction

  function [StrideWidth-1:0] stride_of;
    input [Digits-1:0]              one;
    input [Strides*StrideWidth-1:0] strides;
    integer i;
    begin
      stride_of = {StrideWidth{1'b0}};
      for (i = 0; i < Strides; i = i + 1)
        stride_of = stride_of | (strides[StrideWidth*i +: StrideWidth]
                                 & {StrideWidth{|one[PerStride*i +: PerStride]}});
    end
  endfunction

  function [PerStride-1:0] place_of;         // of the digit in its count, one bit
    input [Digits-1:0] one;
    integer i;
    begin
      place_of = {PerStride{1'b0}};
      for (i = 0; i < Strides; i = i + 1) place_of = place_of | one[PerStride*i +: PerStride];
    end
  endfunction

  wire last = pick == todo;

  assign in_last_o = last;

  // ---- multiply, add ----
  reg                   sel_q, sel_first_q, sel_last_q, mul_q, mul_first_q, mul_last_q;
  reg [7:0]             digit_q;
  reg [StrideWidth-1:0] stride_q;
  reg [PerStride-1:0]   sel_place_q, mul_place_q;
  reg [BaseWidth-1:0]   base_q;
  reg [TailWidth-1:0]   tail_q;
  reg [BaseWidth:0]     from_q;              // base and tail
  reg [ProdWidth-1:0]   prod_q;
  reg [SumWidth-1:0]    sum_q;               // so far
  reg [SumWidth-1:0]    term;
  integer j;
  always @* begin
    term = {SumWidth{1'b0}};
    for (j = 0; j < PerStride; j = j + 1)
      if (mul_place_q[j]) term = term | ({{(SumWidth - ProdWidth){1'b0}}, prod_q} << (8 * j));
  end

  wire [SumWidth-1:0] from = mul_first_q ? {{(SumWidth - BaseWidth - 1){1'b0}}, from_q} : sum_q;
  wire [SumWidth-1:0] sum  = from + term;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      seen_q <= {Digits{1'b0}};
      sel_q  <= 1'b0;
      mul_q  <= 1'b0;
    end else begin
      if (in_valid_i) seen_q <= last ? {Digits{1'b0}} : seen_q | pick;
      sel_q  <= in_valid_i;
      mul_q  <= sel_q;
    end
  end

  always @(posedge clk_i) begin
    if (in_valid_i) begin
      sel_first_q <= seen_q == {Digits{1'b0}};
      sel_last_q  <= last;
      sel_place_q <= place_of(pick);
      digit_q     <= digit_of(pick, in_digits_i);
      stride_q    <= stride_of(pick, in_strides_i);
      base_q      <= in_base_i;
      tail_q      <= in_tail_i;
    end
    if (sel_q) begin
      mul_first_q <= sel_first_q;
      mul_last_q  <= sel_last_q;
      mul_place_q <= sel_place_q;
      prod_q      <= {{StrideWidth{1'b0}}, digit_q} * {8'd0, stride_q};
      from_q      <= {1'b0, base_q} + {{(BaseWidth + 1 - TailWidth){1'b0}}, tail_q};
    end
    if (mul_q) sum_q <= sum;
  end

  wire room;
  pto_fifo #(
    .Width(SumWidth),
    .Depth(Depth)
  ) u_sums (
    .clk_i, .rst_ni,
    .wr_valid_i (mul_q && mul_last_q),
    .wr_ready_o (room),
    .wr_data_i  (sum),
    .rd_valid_o (out_valid_o),
    .rd_ready_i (out_ready_i),
    .rd_data_o  (out_sum_o)
  );
  wire unused = &{1'b0, room};               // never full, see Limits
endmodule

`default_nettype wire
