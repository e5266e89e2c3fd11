// SPDX-License-Identifier: Apache-2.0
//
// Holds the bus words of GM writes that are planned or in progress, in order, so that an atomic
// op does not read a word before the writes to it have their responses. Writes are entered when
// they are planned; they leave with their response, or when they are cancelled after an error.
// Throughput: one write in and out per clock; the result is combinational.
// Limits: Entries is a power of two; new_ready_o is low while all places are taken.
// Spec: fixpipe.md section 9; README, order of accesses.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_
//   new_valid  _/~~~\_______________     write A is planned
//   hit        _____/~~~~~~~~~~~\___     for a burst with a word of A, until the response of A
//   b_valid    _____________/~~~\___
`default_nettype none

module pto_gm_guard #(
  parameter integer AddrWidth = 40,          // bits of a byte address
  parameter integer BeatBits  = 7,           // bits of a bus word number within 4 KiB
  parameter integer IndexBits = 5            // log2 of the places
) (
  input  wire                  clk_i,         // clock
  input  wire                  rst_ni,        // asynchronous reset, active low
  input  wire                  new_valid_i,   // a write is planned
  output wire                  new_ready_o,   // there is a place
  output wire [IndexBits-1:0]  new_index_o,   // that place
  input  wire [AddrWidth-1:12] new_page_i,    // 4 KiB page of the burst
  input  wire [BeatBits-1:0]   new_first_i,   // its first bus word
  input  wire [BeatBits-1:0]   new_final_i,   // its last bus word
  input  wire                  probe_i,       // is the burst clear of the writes
  input  wire [BeatBits-1:0]   probe_first_i, // from this bus word on
  output reg                   hit_o,         // it is not
  input  wire                  drop_valid_i,  // a write is given up
  input  wire [IndexBits-1:0]  drop_index_i,  // its place
  input  wire                  issue_valid_i, // a write is issued
  input  wire [IndexBits-1:0]  issue_index_i, // its place
  input  wire                  b_valid_i      // the oldest issued write has its response
);
  localparam integer Entries = 1 << IndexBits;
  localparam integer PageBits = AddrWidth - 12;
  localparam [Entries-1:0] ONE = {{(Entries - 1){1'b0}}, 1'b1};

  reg [Entries-1:0]   held_q;
  reg [IndexBits-1:0] index_q;
  // One vector each, not arrays: all places are compared at once.
  reg [Entries*PageBits-1:0] page_q;
  reg [Entries*BeatBits-1:0] first_q;
  reg [Entries*BeatBits-1:0] final_q;

  wire                 order_ready_unused, order_valid_unused;
  wire [IndexBits-1:0] b_index;

  pto_fifo #(
    .Width(IndexBits),
    .Depth(Entries)
  ) u_order (
    .clk_i, .rst_ni,
    .wr_valid_i (issue_valid_i),
    .wr_ready_o (order_ready_unused),        // as many places as writes
    .wr_data_i  (issue_index_i),
    .rd_valid_o (order_valid_unused),        // a response always has a write
    .rd_ready_i (b_valid_i),
    .rd_data_o  (b_index)
  );

  wire take = new_valid_i && new_ready_o;
  assign new_ready_o = !held_q[index_q];
  assign new_index_o = index_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q  <= {Entries{1'b0}};
      index_q <= {IndexBits{1'b0}};
    end else begin
      if (take) index_q <= index_q + 1'b1;
      if (take || drop_valid_i || b_valid_i)
        held_q <= (held_q & ~(drop_valid_i ? ONE << drop_index_i : {Entries{1'b0}})
                          & ~(b_valid_i ? ONE << b_index : {Entries{1'b0}}))
                | (take ? ONE << index_q : {Entries{1'b0}});
    end
  end

  always @(posedge clk_i) begin
    if (take) begin
      page_q[index_q*PageBits +: PageBits]  <= new_page_i;
      first_q[index_q*BeatBits +: BeatBits] <= new_first_i;
      final_q[index_q*BeatBits +: BeatBits] <= new_final_i;
    end
  end

  function overlaps;                         // a place holds a bus word of the burst
    input [Entries-1:0]          held;
    input [Entries*PageBits-1:0] pages;
    input [Entries*BeatBits-1:0] firsts;
    input [Entries*BeatBits-1:0] finals;
    input [PageBits-1:0]         page;
    input [BeatBits-1:0]         first;
    input [BeatBits-1:0]         final_beat;
    reg [Entries-1:0] meets;
    integer k;
    begin
      for (k = 0; k < Entries; k = k + 1)
        meets[k] = held[k] && pages[k*PageBits +: PageBits] == page
                && firsts[k*BeatBits +: BeatBits] <= final_beat
                && finals[k*BeatBits +: BeatBits] >= first;
      overlaps = |meets;
    end
  endfunction

  always @(*) begin
    hit_o = 1'b0;
    if (probe_i)
      hit_o = overlaps(held_q, page_q, first_q, final_q, new_page_i, probe_first_i, new_final_i);
  end
endmodule

`default_nettype wire
