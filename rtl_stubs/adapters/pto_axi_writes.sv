// SPDX-License-Identifier: Apache-2.0
//
// Takes the AXI4 writes of a block: the beats of its bursts become words with byte enables, in the
// order of their addresses. Any size up to the bus, any alignment, any ids, and buses wider and
// narrower than a word; responses come in the order of the bursts, when fin_i has had their ends.
// Bursts that are not legal, or not INCR, fail (pto_axi_bursts). Throughput: one beat or one word
// per clock. Latency: W beat to word one clock, fin to B one clock. Limits: 16 bursts; DataWidth 8
// to 1024; WordWidth 128, 256 or 512; beats follow awsize_i, and wlast_i comes with the last one.
// Spec: AMBA AXI4.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   awvalid     _/~~~\_______________     awready with room for the burst
//   wvalid      _____/~~~\___________     not taken before its burst
//   word_valid  _________/~~~\_______     until word_ready
//   fin_valid   _____________/~~~\___
//   bvalid      _________________/~~~     until bready
`default_nettype none
`include "pto_records.vh"

module pto_axi_writes #(
  parameter integer DataWidth = 64,          // bits of the block's bus
  parameter integer IdWidth   = 1,           // bits of its ids
  parameter integer WordWidth = 256          // bits of a word
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  `include "pto_block_writes.vh"
  output reg                        word_valid_o, // a word
  input  wire                       word_ready_i, // it is taken
  output reg  [3:0]                 word_id_o,    // its burst
  output reg  [39:0]                word_addr_o,  // its first byte
  output reg  [WordWidth/8-1:0]     word_be_o,    // byte enables
  output reg  [WordWidth-1:0]       word_o,       // the word
  output reg                        word_last_o,  // the last of its burst
  input  wire                       fin_valid_i,  // the oldest burst without an end has ended
  input  wire pto_err_t             word_err_i,   // an access of a burst failed
  output wire [`PTO_NUM_ACTIVE-1:0] drop_o,       // per burst: write no more of it
  output wire [42:0]                err_o         // a failed access: status, address; else 0
);
  localparam integer WordBytes = WordWidth / 8;
  localparam integer WordLane  = $clog2(WordBytes);
  localparam integer DataBytes = DataWidth / 8;
  localparam integer Parts     = (DataWidth > WordWidth) ? DataWidth / WordWidth : 1;
  localparam integer Copies    = (WordWidth > DataWidth) ? WordWidth / DataWidth : 1;

  // ---- bursts ----
  wire                       room, answers, row_unused;
  wire [3:0]                 number;
  wire [15:0]                len_unused;
  wire [`PTO_NUM_ACTIVE-1:0] failed, decode;
  wire                       take = awvalid_i && awready_o;
  assign drop_o = failed | {`PTO_NUM_ACTIVE{stop_i}};

  pto_axi_bursts #(
    .Failed    (`PTO_ST_WR_SLVERR),
    .DataWidth (DataWidth)
  ) u_numbers (
    .clk_i, .rst_ni, .err_o,
    .valid_i     (awvalid_i),
    .ready_o     (awready_o),
    .addr_i      (awaddr_i),
    .len_i       (awlen_i),
    .size_i      (awsize_i),
    .burst_i     (awburst_i),
    .row_valid_o (row_unused),
    .row_ready_i (room && answers),
    .row_id_o    (number),
    .row_len_o   (len_unused),
    .err_i       (word_err_i),
    .drop_o      (failed),
    .decode_o    (decode)
  );

  // ---- the burst whose beats come ----
  wire        open;
  wire [3:0]  slot;
  wire [39:0] first;
  wire [2:0]  size;
  wire        step, burst_end;

  pto_fifo #(
    .Width (4 + 40 + 3),
    .Depth (`PTO_NUM_ACTIVE)
  ) u_bursts (
    .clk_i, .rst_ni,
    .wr_valid_i (take),
    .wr_ready_o (room),
    .wr_data_i  ({number, awaddr_i, awsize_i}),
    .rd_valid_o (open),
    .rd_ready_i (step && burst_end),
    .rd_data_o  ({slot, first, size})
  );

  // A step is a whole beat, or a word of a beat that is wider.
  reg         begun_q;
  reg  [39:0] place_q;                       // of the next step
  wire [39:0] place     = begun_q ? place_q : first;
  wire [2:0]  unit      = (size < WordLane[2:0]) ? size : WordLane[2:0];
  wire [39:0] next      = (place >> unit << unit) + (40'd1 << unit);
  wire        beat_end  = (next[6:0] & ~(7'h7F << size)) == 7'd0;
  wire        word_end  = next[WordLane-1:0] == {WordLane{1'b0}};
  assign      burst_end = beat_end && wlast_i;
  wire        put       = word_end || burst_end;
  assign      step      = open && wvalid_i && (!put || !word_valid_o || word_ready_i);
  assign wready_o       = step && beat_end;

  // ---- lanes of this step; those of the word so far ----
  wire [WordBytes-1:0] be;
  wire [WordWidth-1:0] data;
  reg  [WordBytes-1:0] be_q, merged_be;
  reg  [WordWidth-1:0] data_q, merged;

  generate
    if (Parts > 1) begin : gen_slice
      wire [$clog2(Parts)-1:0] part = place[WordLane+:$clog2(Parts)];
      assign be   = wstrb_i[part*WordBytes +: WordBytes];
      assign data = wdata_i[part*WordWidth +: WordWidth];
    end else if (Copies > 1) begin : gen_lanes
      wire [$clog2(Copies)-1:0] part = place[WordLane-1:WordLane-$clog2(Copies)];
      assign be   = {{(WordBytes - DataBytes){1'b0}}, wstrb_i} << (part * DataBytes);
      assign data = {Copies{wdata_i}};
    end else begin : gen_same
      assign be   = wstrb_i;
      assign data = wdata_i;
    end
  endgenerate

  integer k;
  always @* begin
    merged_be = be_q | be;
    for (k = 0; k < WordBytes; k = k + 1)
      merged[8*k +: 8] = (be_q[k] && !be[k]) ? data_q[8*k +: 8] : data[8*k +: 8];
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q      <= 1'b0;
      be_q         <= {WordBytes{1'b0}};
      word_valid_o <= 1'b0;
    end else begin
      if (step) begin
        begun_q <= !burst_end;
        be_q    <= put ? {WordBytes{1'b0}} : merged_be;
      end
      if (step && put) word_valid_o <= 1'b1;
      else if (word_ready_i) word_valid_o <= 1'b0;
    end
  end

  always @(posedge clk_i) begin
    if (step) begin
      place_q <= next;
      data_q  <= merged;
    end
    if (step && put) begin
      word_id_o   <= slot;
      word_addr_o <= {place[39:WordLane], {WordLane{1'b0}}};
      word_be_o   <= merged_be;
      word_o      <= merged;
      word_last_o <= burst_end;
    end
  end

  // ---- responses ----
  reg  [4:0] ended_q;                        // bursts that have ended and wait for their response
  reg  [3:0] answer_q;                       // the oldest burst without a response
  wire       waits_unused;

  pto_fifo #(
    .Width (IdWidth),
    .Depth (`PTO_NUM_ACTIVE)
  ) u_answers (
    .clk_i, .rst_ni,
    .wr_valid_i (take),
    .wr_ready_o (answers),
    .wr_data_i  (awid_i),
    .rd_valid_o (waits_unused),              // a burst that has ended was taken
    .rd_ready_i (bvalid_o && bready_i),
    .rd_data_o  (bid_o)
  );
  assign bvalid_o = ended_q != 5'd0;
  assign bresp_o  = {failed[answer_q], decode[answer_q]};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ended_q  <= 5'd0;
      answer_q <= 4'd0;
    end else begin
      ended_q <= ended_q + {4'd0, fin_valid_i} - {4'd0, bvalid_o && bready_i};
      if (bvalid_o && bready_i) answer_q <= answer_q + 4'd1;
    end
  end

  wire unused = &{1'b0, waits_unused, row_unused, len_unused};
endmodule

`default_nettype wire
