// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_extent with two counts of two digits and strides of 2 bits: the sum of each op
// is base + tail + the sum of its counts, less 1, times their strides, and sums leave in the order
// of the ops, once; an op without digits that count takes one clock, another one as many as it has
// digits that are not 0, and no sum finds the queue full. One op is followed; of the
// sum in the queue, two bits are compared.
// Sources: common/pto_extent.sv common/pto_fifo.sv common/pto_ram.sv
// Bugs: product_of_a_repack_outlives_reset:valid_exact partial_products_outlive_reset:sum_exact
module prove (
  input wire        clk,
  input wire        in_valid,
  input wire        skip,
  input wire [2:0]  base,
  input wire [1:0]  tail,
  input wire [31:0] digits,                  // of count 1, high and low, and of count 0
  input wire [3:0]  strides,
  input wire        out_ready,
  input wire        mark                     // follow the op at the input
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire        last, out_valid;
  wire [19:0] sum;
  pto_extent #(.Strides(2), .PerStride(2), .StrideWidth(2), .BaseWidth(3), .TailWidth(2),
               .SumWidth(20), .Depth(4)) u_extent (
    .clk_i(clk), .rst_ni(rst_n), .in_valid_i(in_valid), .in_last_o(last), .in_skip_i(skip),
    .in_base_i(base), .in_tail_i(tail), .in_digits_i(digits), .in_strides_i(strides),
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_sum_o(sum)
  );
  (* hierconn *) wire [3:0]  \u_extent.seen_q ;
  (* hierconn *) wire        \u_extent.sel_q ;
  (* hierconn *) wire        \u_extent.sel_first_q ;
  (* hierconn *) wire        \u_extent.sel_last_q ;
  (* hierconn *) wire        \u_extent.mul_q ;
  (* hierconn *) wire        \u_extent.mul_first_q ;
  (* hierconn *) wire        \u_extent.mul_last_q ;
  (* hierconn *) wire [7:0]  \u_extent.digit_q ;
  (* hierconn *) wire [1:0]  \u_extent.stride_q ;
  (* hierconn *) wire [1:0]  \u_extent.sel_place_q ;
  (* hierconn *) wire [2:0]  \u_extent.base_q ;
  (* hierconn *) wire [1:0]  \u_extent.tail_q ;
  (* hierconn *) wire [1:0]  \u_extent.mul_place_q ;
  (* hierconn *) wire [9:0]  \u_extent.prod_q ;
  (* hierconn *) wire [3:0]  \u_extent.from_q ;
  (* hierconn *) wire [19:0] \u_extent.sum_q ;
  (* hierconn *) wire [19:0] \u_extent.sum ;
  (* hierconn *) wire        \u_extent.room ;
  (* hierconn *) wire [2:0]  \u_extent.u_sums.wr_ptr_q ;
  (* hierconn *) wire [2:0]  \u_extent.u_sums.rd_ptr_q ;

  // The op at the input, and how many have been taken and when.
  reg        begun = 1'b0;                   // it was there in the clock before
  reg [41:0] held;                           // its operands
  reg [1:0]  clocks = 2'd0;                  // that it has been there
  reg        taken_1 = 1'b0;                 // one was taken a clock ago, two clocks ago
  reg        taken_2 = 1'b0;
  reg [2:0]  inside = 3'd0;
  reg [2:0]  queued = 3'd0;                  // sums that are there
  wire       take = rst_n && in_valid && last;
  wire       pop  = rst_n && out_valid && out_ready;
  wire [3:0] some = skip ? 4'd0 : {|digits[31:24], |digits[23:16], |digits[15:8], |digits[7:0]};
  wire [2:0] number = ones(some);

  function [2:0] ones;
    input [3:0] set;
    ones = {2'd0, set[0]} + {2'd0, set[1]} + {2'd0, set[2]} + {2'd0, set[3]};
  endfunction

  always @(posedge clk) if (rst_n) begin
    begun   <= in_valid && !last;
    held    <= {skip, base, tail, digits, strides};
    clocks  <= in_valid && !last ? clocks + 2'd1 : 2'd0;
    taken_1 <= take;
    taken_2 <= taken_1;
    inside  <= inside + {2'd0, take} - {2'd0, pop};
    queued  <= queued + {2'd0, taken_2} - {2'd0, pop};
  end

  // The followed op: what it has, the digits that count, and the product of one of them.
  reg         its_skip;
  reg  [2:0]  its_base;
  reg  [1:0]  its_tail;
  reg  [31:0] its_digits;
  reg  [3:0]  its_strides;
  wire [3:0]  its_some = its_skip ? 4'd0 : {|its_digits[31:24], |its_digits[23:16],
                                            |its_digits[15:8], |its_digits[7:0]};

  function [7:0] digit_at;
    input [1:0] place;
    digit_at = its_some == 4'd0 ? 8'd0 : its_digits[8*place +: 8];
  endfunction

  function [1:0] stride_at;
    input [1:0] place;
    stride_at = its_strides[2*place[1] +: 2];
  endfunction

  function none_before;                      // no digit counts before this place
    input [1:0] place;
    none_before = (its_some & ~(4'd15 << place)) == 4'd0;
  endfunction

  // Its digit in each stage.
  reg         marked = 1'b0;                 // it is followed
  reg         in_it = 1'b0;                  // it is at the input
  reg         sel = 1'b0;
  reg         mul = 1'b0;
  reg  [1:0]  at, sel_at, mul_at;            // place of a digit
  reg         out = 1'b0;                    // its sum is queued
  reg  [2:0]  before;                        // sums that leave before it
  reg  [9:0]  product;
  reg  [19:0] so_far, its_sum;
  reg  [3:0]  added;                         // digits in so_far
  wire [19:0] more = mul_at[0] ? {2'd0, product, 8'd0} : {10'd0, product};
  wire [19:0] total = (added == 4'd0 ? {17'd0, its_base} + {18'd0, its_tail} : so_far)
                      + (its_some == 4'd0 ? 20'd0 : more);
  wire [3:0]  all = added | (its_some == 4'd0 ? 4'd0 : 4'd1 << mul_at);
  wire        now = rst_n && in_valid && (in_it || (mark && !marked && !begun));
  wire [3:0]  todo = some & ~\u_extent.seen_q ;
  wire [1:0]  next = todo[0] ? 2'd0 : todo[1] ? 2'd1 : todo[2] ? 2'd2 : 2'd3;
  wire        final_one = its_some >> mul_at <= 4'd1;
  wire        push = mul && final_one;
  always @(posedge clk) if (rst_n) begin
    if (now) marked <= 1'b1;
    if (in_valid) in_it <= now && !last;
    sel <= now;
    mul <= sel;
    {sel_at, mul_at} <= {next, sel_at};
    product <= {2'd0, digit_at(sel_at)} * {8'd0, stride_at(sel_at)};
    if (now && !in_it) added <= 4'd0;
    else if (mul) {so_far, added} <= {total, all};
    if (now && !in_it) begin
      {its_skip, its_base, its_tail}  <= {skip, base, tail};
      {its_digits, its_strides}       <= {digits, strides};
      before <= inside - {2'd0, pop};
    end else if (pop && before != 3'd0) before <= before - 3'd1;
    if (push) {out, its_sum} <= {1'b1, \u_extent.sum };
    else if (pop && before == 3'd0) out <= 1'b0;
  end
  wire there = out && before == 3'd0;

  always @* begin
    // An op stays until it is taken, and is offered when fewer than 4 are inside.
    assume(!begun || (in_valid && held == {skip, base, tail, digits, strides}));
    assume(!in_valid || inside < 3'd4);
    if (rst_n) begin
      lemma_seen: assert(begun == (\u_extent.seen_q != 4'd0)
                         && {1'b0, clocks} == ones(\u_extent.seen_q )
                         && (!begun || (\u_extent.seen_q & ~some) == 4'd0));
      lemma_stages: assert((\u_extent.sel_q && \u_extent.sel_last_q ) == taken_1
                           && (\u_extent.mul_q && \u_extent.mul_last_q ) == taken_2);
      lemma_inside: assert(\u_extent.u_sums.wr_ptr_q - \u_extent.u_sums.rd_ptr_q == queued
                           && inside == queued + {2'd0, taken_1} + {2'd0, taken_2}
                           && inside <= 3'd4);
      lemma_its: assert(!in_it || (begun && {skip, base, tail, digits, strides}
                        == {its_skip, its_base, its_tail, its_digits, its_strides}));
      lemma_sel: assert(!sel || (\u_extent.sel_q && \u_extent.sel_first_q == none_before(sel_at)
                                 && \u_extent.sel_last_q == (its_some >> sel_at <= 4'd1)
                                 && (its_some == 4'd0 || its_some[sel_at])
                                 && in_it == !\u_extent.sel_last_q
                                 && (!in_it
                                     || \u_extent.seen_q == (its_some & ~(4'd14 << sel_at)))));
      lemma_terms: assert(!sel || (\u_extent.base_q == its_base && \u_extent.tail_q == its_tail
                                   && \u_extent.digit_q == digit_at(sel_at)
                                   && (its_some == 4'd0
                                       ? \u_extent.sel_place_q == 2'd0
                                       : \u_extent.stride_q == stride_at(sel_at)
                                         && \u_extent.sel_place_q == 2'd1 << sel_at[0])));
      lemma_mul: assert(!mul || (\u_extent.mul_q && \u_extent.mul_first_q == none_before(mul_at)
                                 && (its_some == 4'd0 || its_some[mul_at])
                                 && sel == !push
                                 && (!sel || (its_some & ~(4'd14 << mul_at))
                                             == (its_some & ~(4'd15 << sel_at)))));
      lemma_product: assert(!mul || (\u_extent.from_q == {1'b0, its_base} + {2'd0, its_tail}
                                     && (its_some == 4'd0 ? \u_extent.mul_place_q == 2'd0
                                         : \u_extent.prod_q == product
                                           && \u_extent.mul_place_q == 2'd1 << mul_at[0])));
      lemma_added: assert(!(mul || sel)
                          || added == (its_some & ~(4'd15 << (mul ? mul_at : sel_at))));
      lemma_sum: assert(!mul || added == 4'd0 || \u_extent.sum_q == so_far);
      lemma_before: assert((!in_it || before == inside)
                           && (!(sel && !in_it) || before == queued + {2'd0, taken_2})
                           && (!push || before == queued) && (!out || before < queued));
      taken_exact: assert(!in_valid || last == ({1'b0, clocks} + 3'd1 >= number));
      valid_exact: assert(out_valid == (queued != 3'd0));
      room: assert(!taken_2 || \u_extent.room );
      sum_exact: assert(!push || (\u_extent.sum == total && all == its_some));
      sum_kept: assert(!there || (out_valid && {sum[19], sum[0]} == {its_sum[19], its_sum[0]}));
      reach_four: assert(!(take && number == 3'd4));
      reach_full: assert(queued != 3'd4);
      reach_last_of_four: assert(!(there && pop && its_some == 4'd15));
    end
  end
endmodule
