// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_gm_guard with two places: a burst that has a bus word of a write which is
// planned, or issued and without response, is seen to have one, and no burst is where no write is; a
// place is given to one write at a time. One write is followed.
// Sources: common/gm/pto_gm_guard.sv common/pto_fifo.sv common/pto_ram.sv
// Bugs: fix_atomic_shared_word:seen fix_atomic_guard_page:seen guard_forgets_the_first_place:seen
// Bugs: guard_without_page:only_where_it_is
module prove #(
  parameter integer Bits = 1                 // of the number of a place
) (
  input wire            clk,
  input wire            new_valid,
  input wire [1:0]      page,
  input wire [1:0]      from,
  input wire [1:0]      to,
  input wire            probe,
  input wire [1:0]      probe_from,
  input wire            drop,
  input wire [Bits-1:0] drop_index,
  input wire            issue,
  input wire [Bits-1:0] issue_index,
  input wire            b_valid,
  input wire            mark                 // follow this write
);
  localparam integer Places = 1 << Bits;
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire            new_ready, hit;
  wire [Bits-1:0] new_index;
  pto_gm_guard #(.AddrWidth(14), .BeatBits(2), .IndexBits(Bits)) u_guard (
    .clk_i(clk), .rst_ni(rst_n), .new_valid_i(new_valid), .new_ready_o(new_ready),
    .new_index_o(new_index), .new_page_i(page), .new_first_i(from), .new_final_i(to),
    .probe_i(probe), .probe_first_i(probe_from), .hit_o(hit), .drop_valid_i(drop),
    .drop_index_i(drop_index), .issue_valid_i(issue), .issue_index_i(issue_index),
    .b_valid_i(b_valid)
  );
  (* hierconn *) wire [Places-1:0] \u_guard.held_q ;
  (* hierconn *) wire [Bits:0]     \u_guard.u_order.wr_ptr_q ;
  (* hierconn *) wire [Bits:0]     \u_guard.u_order.rd_ptr_q ;

  // Places of writes that are planned; writes that are issued and without response.
  reg  [Places-1:0] planned = {Places{1'b0}};
  reg  [Bits:0]     flying = {(Bits + 1){1'b0}};
  reg  [Bits:0]     count = {(Bits + 1){1'b0}};  // writes
  wire              take = rst_n && new_valid && new_ready;
  always @(posedge clk) if (rst_n) begin
    if (drop) planned[drop_index] <= 1'b0;
    if (issue) planned[issue_index] <= 1'b0;
    if (take) planned[new_index] <= 1'b1;
    flying <= flying + issue - b_valid;
    count  <= count + take - b_valid - drop;
  end

  // Writes leave in the order in which they were planned.
  reg            orderly = 1'b1;
  reg [Bits-1:0] next = {Bits{1'b0}};        // place of the next write that is issued
  always @(posedge clk) if (rst_n) begin
    if (drop || (issue && issue_index != next)) orderly <= 1'b0;
    if (issue) next <= next + 1'b1;
  end

  // The followed write.
  reg            marked = 1'b0;
  reg            issued;
  reg [Bits:0]   before;                     // responses before its own
  reg [Bits-1:0] its_index;
  reg [1:0]      its_page, its_from, its_to;
  wire           ends = (drop && its_index == drop_index)
                      || (b_valid && issued && before == {(Bits + 1){1'b0}});
  always @(posedge clk) if (rst_n) begin
    if (!marked && take && mark) begin
      {marked, issued, its_index}  <= {1'b1, 1'b0, new_index};
      {its_page, its_from, its_to} <= {page, from, to};
    end else if (marked) begin
      if (ends) marked <= 1'b0;
      if (issue && issue_index == its_index) begin
        issued <= 1'b1;
        before <= flying - b_valid;
      end else if (b_valid && issued) begin
        before <= before - 1'b1;
      end
    end
  end

  integer      k;
  reg [Bits:0] held, waiting;                // number of places
  wire overlap = probe && its_page == page && its_from <= to && its_to >= probe_from;
  always @* begin
    held    = {(Bits + 1){1'b0}};
    waiting = {(Bits + 1){1'b0}};
    for (k = 0; k < Places; k = k + 1) begin
      held    = held + \u_guard.held_q [k];
      waiting = waiting + planned[k];
    end
    // A planned write is issued or given up, once; a response is of an issued one.
    assume(!issue || planned[issue_index]);
    assume(!drop || planned[drop_index]);
    assume(!issue || !drop || issue_index != drop_index);
    assume(!b_valid || flying != {(Bits + 1){1'b0}});
    assume(from <= to);
    if (rst_n) begin
      lemma_order: assert(\u_guard.u_order.wr_ptr_q - \u_guard.u_order.rd_ptr_q == flying);
      lemma_planned: assert((planned & ~\u_guard.held_q ) == {Places{1'b0}});
      lemma_before: assert(!marked || (issued ? before < flying : planned[its_index]));
      lemma_held: assert(!marked || \u_guard.held_q [its_index]);
      lemma_count: assert(count == flying + waiting);
      lemma_places: assert(held == count);
      seen: assert(!marked || !overlap || hit);
      only_where_it_is: assert(!marked || count != 1 || hit == overlap);
      none: assert(count != 0 || !hit);
      own_place: assert(!marked || !take || new_index != its_index);
      room: assert(count <= Places);
      ready_when_empty: assert(count != 0 || new_ready);
      ready_when_orderly: assert(!orderly || new_ready == (count != Places));
      reach_full: assert(count != Places);
      reach_two_issued: assert(!(marked && issued && before == 1));
      reach_clear: assert(!(marked && probe && !hit && issued));
    end
  end
endmodule
