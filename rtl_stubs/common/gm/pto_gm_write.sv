// SPDX-License-Identifier: Apache-2.0
//
// GM side of units that store to GM, plainly or by atomic update: each burst becomes an AXI write
// burst, and of an atomic op a read burst before it, whose beats are combined with the words. A
// burst is read ahead of its data, as soon as none of its bus words belongs to a write of any op
// that has no response yet (pto_gm_guard); bursts that lie apart overlap.
// Throughput: one burst and one word per clock, also across ops. Latency: word to wvalid four
// clocks, or one for a plain word that follows no atomic one; burst to awvalid three clocks, to
// arvalid two clocks. Two bursts of 4 KiB, or NumOutstanding short ones, are read ahead. A burst
// that begins in the last bus word of the burst before, of the same op, reads only the words after
// it (pto_gm_merge). Other atomic bursts that share a bus word wait for each other's response.
// Errors: bursts that were issued finish, no new one starts; words not issued are dropped. After an
// error the rest of an op may be replaced by a record without a burst (cut).
// Limits: GmDataWidth 128, 256 or 512.
// Spec: docs/contract.md, m_axi rules; fixpipe.md section 9; dma.md section 6.
//
//   clk          _/~\_/~\_/~\_/~\_/~\_/~\_
//   burst_valid  _/~~~\___________________     atomic, burst_ready 1
//   arvalid      _________/~~~~~~~\_______     until arready
//   awvalid      _____________/~~~~~~~\___     until awready
`default_nettype none
`include "pto_records.vh"

module pto_gm_write #(
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer NumOutstanding = 16      // AXI bursts in flight in each direction
) (
  input  wire                       clk_i,         // clock
  input  wire                       rst_ni,        // asynchronous reset, active low
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,         // per op: an access failed, move no more
  input  wire [`PTO_NUM_ACTIVE*`PTO_ATOMIC_BITS-1:0] atomic_i,      // per op: update
  input  wire                       burst_valid_i, // a burst is to be written
  output wire                       burst_ready_o, // it is planned
  input  wire pto_burst_t           burst_i,       // the burst
  input  wire                       word_valid_i,  // a word is there, in the order of the bursts
  output wire                       word_ready_o,  // it is taken
  input  wire [3:0]                 word_id_i,     // op number
  input  wire [GmDataWidth-1:0]     word_i,        // the word
  input  wire [GmDataWidth/8-1:0]   word_strb_i,   // bytes to write
  input  wire                       word_last_i,   // last of its burst
  `include "pto_axi_read_ports.vh"
  `include "pto_axi_write_ports.vh"
  output wire pto_err_t             rd_err_o,      // a beat came with an error: its bus word
  output wire pto_err_t             wr_err_o,      // a response was an error: its burst
  output wire                       end_valid_o,   // last response of an op, or its dropped end
  output wire [3:0]                 end_id_o       // op number
);
  localparam integer GmBytes   = GmDataWidth / 8;
  localparam integer GmLane    = $clog2(GmBytes);
  localparam integer BeatBits  = 12 - GmLane;
  localparam integer IndexBits = 1 + $clog2(NumOutstanding);
  localparam integer Planned   = 1 << IndexBits;         // writes planned or in flight

  localparam [IndexBits:0] NONE = {(IndexBits + 1){1'b0}};

  // ---- rows of one op that meet inside a bus word ----
  // Of one op alone: when a burst of it is dropped, so are those after it. An op ends with its last
  // burst, or with an end.
  wire [3:0]             burst_id = burst_i.id;
  wire pto_atomic_t      burst_update = atomic_i[burst_id*`PTO_ATOMIC_BITS +: `PTO_ATOMIC_BITS];
  wire [BeatBits-1:0]    burst_first = burst_i.addr[11:GmLane];
  wire [BeatBits-1:0]    burst_final = burst_first + burst_i.beats[BeatBits-1:0]
                                     - {{(BeatBits - 1){1'b0}}, 1'b1};
  wire                   burst_atomic = !burst_i.cut && burst_update.kind != 3'd0;
  reg             joins_q;                   // the last burst was atomic, and not the end of its op
  reg [39:GmLane] joins_word_q;              // its last bus word
  wire                   burst_joins = burst_atomic && joins_q
                                    && burst_i.addr[39:GmLane] == joins_word_q;
  wire [8:0]             burst_reads = burst_i.beats - {8'd0, burst_joins};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) joins_q <= 1'b0;
    else if (burst_valid_i && burst_ready_o) joins_q <= burst_atomic && !burst_i.last;
  end

  always @(posedge clk_i) begin
    if (burst_valid_i && burst_ready_o)
      joins_word_q <= {burst_i.addr[39:12], burst_final};
  end

  // ---- the next burst, with the read that it needs ----
  wire                next_valid, next_joins, next_reads, put;
  wire pto_burst_t    next;
  wire [BeatBits-1:0] next_final, read_first;
  wire [8:0]          read_beats;

  pto_fifo #(
    .Width(2 + `PTO_BURST_BITS + 2*BeatBits + 9),
    .Depth(2)
  ) u_next (
    .clk_i, .rst_ni,
    .wr_valid_i (burst_valid_i),
    .wr_ready_o (burst_ready_o),
    .wr_data_i  ({burst_joins, burst_atomic && burst_reads != 9'd0, burst_i, burst_final,
                  burst_first + {{(BeatBits - 1){1'b0}}, burst_joins}, burst_reads}),
    .rd_valid_o (next_valid),
    .rd_ready_i (put),
    .rd_data_o  ({next_joins, next_reads, next, next_final, read_first, read_beats})
  );

  // ---- a burst goes to all consumers at once ----
  // An end has no place in the guard, so it is planned when no other plan waits, and none after it.
  wire             guard_ready, read_ready, hit, plan_valid;
  wire pto_burst_t plan;
  wire                   plan_open   = next.cut ? !plan_valid
                                     : guard_ready && !(plan_valid && plan.cut);
  assign put = next_valid && plan_open && (!next_reads || (read_ready && !hit));

  // ---- writes without a response ----
  wire [IndexBits-1:0] new_index, plan_index;
  wire                 plan_take, plan_drop, b_fire;

  pto_gm_guard #(
    .AddrWidth (40),
    .BeatBits  (BeatBits),
    .IndexBits (IndexBits)
  ) u_guard (
    .clk_i, .rst_ni,
    .new_valid_i   (put && !next.cut),
    .new_ready_o   (guard_ready),
    .new_index_o   (new_index),
    .new_page_i    (next.addr[39:12]),
    .new_first_i   (next.addr[11:GmLane]),
    .new_final_i   (next_final),
    .probe_i       (next_valid && next_reads),
    .probe_first_i (read_first),
    .hit_o         (hit),
    .drop_valid_i  (plan_take && plan_drop && !plan.cut),
    .drop_index_i  (plan_index),
    .issue_valid_i (plan_take && !plan_drop && !plan.cut),
    .issue_index_i (plan_index),
    .b_valid_i     (b_fire)
  );

  // ---- old values for atomic ops ----
  wire                   beat_valid, beat_ready;
  wire [GmDataWidth-1:0] beat;

  pto_axi_read #(
    .GmDataWidth    (GmDataWidth),
    .NumOutstanding (NumOutstanding),
    .FifoDepth      (8192 / GmBytes)
  ) u_read (
    .clk_i, .rst_ni,
    .cmd_valid_i   (next_valid && next_reads && plan_open && !hit),
    .cmd_ready_o   (read_ready),
    .cmd_drop_i    (err_i[next.id]),
    .cmd_i         ({next.cut, next.last, next.id, next.addr[39:12], read_first, {GmLane{1'b0}},
                     read_beats}),
    .m_axi_araddr, .m_axi_arlen, .m_axi_arvalid, .m_axi_arready,
    .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,
    .beat_valid_o  (beat_valid),
    .beat_ready_i  (beat_ready),
    .beat_o        (beat),
    .err_o         (rd_err_o)
  );

  // ---- write bursts; there is room for as many as the guard has places ----
  // The write of a burst that is read is not issued before the read was taken.
  reg [IndexBits:0] taken_q;                 // reads taken, with their write still planned
  wire              plan_ready, plan_waits, plan_joins, room_unused;
  wire                   plan_go     = plan_valid && !(plan_waits && taken_q == NONE);
  wire                   ar_fire     = m_axi_arvalid && m_axi_arready;
  wire go_valid, go_drop, go_joins, go_ready;
  assign plan_take = plan_go && plan_ready;
  assign plan_drop = err_i[plan.id];
  assign b_fire    = m_axi_bvalid && m_axi_bready;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) taken_q <= NONE;
    else taken_q <= taken_q + {{IndexBits{1'b0}}, ar_fire}
                            - {{IndexBits{1'b0}}, plan_take && plan_waits};
  end

  pto_fifo #(
    .Width(2 + IndexBits + `PTO_BURST_BITS),
    .Depth(Planned),
    .Ram(1)
  ) u_plans (
    .clk_i, .rst_ni,
    .wr_valid_i (put),
    .wr_ready_o (room_unused),
    .wr_data_i  ({next_joins, next_reads && !err_i[next.id], new_index, next}),
    .rd_valid_o (plan_valid),
    .rd_ready_i (plan_take),
    .rd_data_o  ({plan_joins, plan_waits, plan_index, plan})
  );

  pto_axi_write #(
    .NumOutstanding (NumOutstanding)
  ) u_write (
    .clk_i, .rst_ni,
    .cmd_valid_i   (plan_go),
    .cmd_ready_o   (plan_ready),
    .cmd_drop_i    (plan_drop),
    .cmd_joins_i   (plan_joins),
    .cmd_i         (plan),
    .m_axi_awaddr, .m_axi_awlen, .m_axi_awvalid, .m_axi_awready,
    .m_axi_bresp, .m_axi_bvalid, .m_axi_bready,
    .go_valid_o    (go_valid),
    .go_drop_o     (go_drop),
    .go_joins_o    (go_joins),
    .go_ready_i    (go_ready),
    .fin_valid_o   (end_valid_o),
    .fin_id_o      (end_id_o),
    .err_o         (wr_err_o)
  );

  // ---- words: whether a burst is sent is decided here, where its beats are available ----
  pto_gm_merge #(
    .DataWidth(GmDataWidth)
  ) u_merge (
    .clk_i, .rst_ni,
    .word_valid_i, .word_ready_o, .word_i, .word_strb_i, .word_last_i,
    .word_update_i (atomic_i[word_id_i*`PTO_ATOMIC_BITS +: `PTO_ATOMIC_BITS]),
    .go_valid_i   (go_valid),
    .go_drop_i    (go_drop),
    .go_joins_i   (go_joins),
    .go_ready_o   (go_ready),
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
    .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast
  );

  wire unused = &{1'b0, burst_update, room_unused};
endmodule

`default_nettype wire
